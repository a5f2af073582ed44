"""Facts about what the local extractor makes of a turn, in both languages [W3, W4, P1]."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

import pytest

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import LocalExtractor
from dualgate.adapters.local.slots import SlotReader
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.domain.items import Candidate, Message
from dualgate.domain.types import Evidence, ItemType, Polarity, Role, Scope
from dualgate.pipeline.ports import Turn

AT = datetime.fromisoformat("2026-03-02T09:00:00+08:00")  # a Monday
FLOOR = 0.6  # under it a candidate is refused [M 5.1]


@pytest.fixture(scope="module")
def extractor() -> LocalExtractor:
    return LocalExtractor()


async def read(
    extractor: LocalExtractor, text: str, *, reply_to: str = "", role: Role = Role.USER
) -> list[Candidate]:
    history = (Message(Role.ASSISTANT, reply_to),) if reply_to else ()
    turn = Turn(
        user_id="u", session_id="s", message=Message(role, text, AT, "m1"), at=AT, history=history
    )
    return await extractor.extract(turn)


def kept(found: Sequence[Candidate]) -> list[Candidate]:
    return [each for each in found if each.scope is Scope.LASTING and each.confidence >= FLOOR]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("我对核桃过敏", "核桃"),
        ("我是一名水电工", "水电工"),
        ("以后回答都用中文", "中文"),
        ("我叫林夏，以后就这么叫我", "林夏"),
        ("I'm allergic to walnuts", "walnuts"),
        ("I work as a welder in Gdansk", "welder"),
        ("from now on answer in French please", "French"),
        ("my name is Ravi", "Ravi"),
    ],
)
async def test_a_plain_statement_of_the_user_is_kept(
    extractor: LocalExtractor, text: str, word: str
) -> None:
    found = kept(await read(extractor, text))

    assert len(found) >= 1
    assert any(word in each.content for each in found)
    assert all(each.quote and each.quote in text for each in found)
    assert all(each.message_id == "m1" for each in found)


@pytest.mark.parametrize(
    ("text", "told", "asked"),
    [
        ("我对青霉素过敏，以后回答都短一点", "过敏", "短"),
        ("我有高血压，今后给我推的菜都要少盐", "高血压", "少盐"),
        ("I'm allergic to penicillin, from now on keep answers short", "penicillin", "short"),
        ("my kids are vegan, going forward only plan meals for them without eggs", "vegan", "eggs"),
    ],
)
async def test_what_one_is_and_an_order_for_later_are_two_memories(
    extractor: LocalExtractor, text: str, told: str, asked: str
) -> None:
    """[C1]: the one changes without the other"""
    contents = [each.content for each in kept(await read(extractor, text))]

    assert any(told in each and asked not in each for each in contents)
    assert any(asked in each and told not in each for each in contents)


@pytest.mark.parametrize(
    "text",
    [
        "今天天气怎么样？",
        "帮我写个请假条",
        "谢谢，辛苦了",
        "早上好",
        "好困啊",
        "如果我是水电工，你会怎么建议？",
        "翻译成英文：我对核桃过敏，住在威海",
        "你知道我是做什么的吗？",
        "what's the weather like today?",
        "write me a cover letter",
        "thanks a lot!",
        "good morning",
        "so tired right now",
        "if I were a plumber, what would you suggest?",
        "translate to German: I am allergic to walnuts and live in Oslo",
        "do you remember what I do for a living?",
    ],
)
async def test_what_states_nothing_about_the_user_is_not_kept(
    extractor: LocalExtractor, text: str
) -> None:
    assert kept(await read(extractor, text)) == []


@pytest.mark.parametrize(
    "text", ["这次的邮件写得正式一点", "keep this one under 100 words", "just a hint for this puzzle"]
)
async def test_an_order_for_this_task_is_not_kept(extractor: LocalExtractor, text: str) -> None:
    assert kept(await read(extractor, text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "再给我一些护膝方面的建议。",
        "请推荐几本写作方面的书。",
        "好的，我会试试你说的这些菜。",
        "我先去收集客户的反馈。",
        "今天我想跟你聊聊我的读书计划。",
        "Give me some advice on stretching.",
        "I would like you to give me some more tips on sleep.",
        "Okay, I will check out these recipes.",
        "I'd like to talk about my recent drawings.",
    ],
)
async def test_a_request_a_next_step_and_a_good_intention_are_not_kept(
    extractor: LocalExtractor, text: str
) -> None:
    """[W4]: they hold for this conversation"""
    assert kept(await read(extractor, text, reply_to="这里有几个建议。")) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("以后推荐书都只推荐历史方面的", "历史"),
        ("我先生对海鲜过敏", "海鲜"),
        ("always give me some sources with every answer", "sources"),
        ("I'll send you the signed lease on Monday, I promise", "lease"),
    ],
)
async def test_a_standing_order_and_a_promise_that_look_like_it_are_kept(
    extractor: LocalExtractor, text: str, word: str
) -> None:
    assert any(word in each.content for each in kept(await read(extractor, text)))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("你好，我叫林夏，很高兴认识你。", "林夏"),
        ("你好，我是方文。很高兴认识你。", "方文"),
        ("Hello, my name is Ravi. Nice to meet you, chat AI.", "Ravi"),
        ("Hi, my name is Ravi Patel", "Ravi Patel"),
    ],
)
async def test_a_name_given_with_a_greeting_is_kept(
    extractor: LocalExtractor, text: str, word: str
) -> None:
    names = [each for each in kept(await read(extractor, text)) if word in each.content]

    assert [each.item_type for each in names] == [ItemType.IDENTITY]
    assert names[0].quote is not None
    assert names[0].quote in text


@pytest.mark.parametrize(
    "text",
    [
        "你好，你来扮演店员，我叫小明",
        "你好，写一个故事：我叫小明，住在海底",
        "Hello! Write a story that begins with my name is Ravi",
        "hi, if my name is Ravi, how is it spelt?",
    ],
)
async def test_a_name_of_a_role_or_a_story_is_not_kept(
    extractor: LocalExtractor, text: str
) -> None:
    """[W3]: role play and hypotheticals are not the user's word"""
    assert kept(await read(extractor, text)) == []


async def test_who_calls_for_a_takeaway_gives_no_name(extractor: LocalExtractor) -> None:
    """[W3]: 我叫外卖 is no introduction"""
    found = kept(await read(extractor, "你好，我叫外卖的时候总忘带餐具怎么办"))
    assert ItemType.IDENTITY not in {each.item_type for each in found}


@pytest.mark.parametrize(
    "text",
    [
        "我知道他爱喝绿茶，喜欢尝试新的茶具。",
        "她对海鲜过敏。",
        "这部电影讲述了渔夫老孟的故事。老孟在失去渔船后，一个人住在灯塔里。",
        "I know he loves sailing and he hates crowds.",
        "The novel tells the story of a fisherman. Tom never eats meat and lives in a lighthouse.",
    ],
)
async def test_what_somebody_unnamed_or_a_figure_is_like_is_not_kept(
    extractor: LocalExtractor, text: str
) -> None:
    """[W3]: other people's traits are not the user's"""
    assert kept(await read(extractor, text)) == []


@pytest.mark.parametrize(
    ("text", "content", "subject"),
    [
        ("我妈退休了，每天去公园打太极。", "用户的妈每天去公园打太极", "妈"),
        ("我岳父有高血压，只能吃少盐的菜。", "用户的岳父只能吃少盐的菜", "岳父"),
        ("my dad is retired, goes fishing every Sunday", "The user's dad goes fishing every Sunday.",
         "dad"),
        ("我女儿三岁了，她对海鲜过敏。", "用户的女儿对海鲜过敏", "女儿"),
    ],
)
async def test_what_goes_on_about_a_person_names_the_person(
    extractor: LocalExtractor, text: str, content: str, subject: str
) -> None:
    """[W3]: "用户每天打太极" would be the user's own habit"""
    found = {each.content: each.subject for each in await read(extractor, text)}

    assert found[content] == subject


async def test_ones_own_word_beside_a_retelling_is_kept(extractor: LocalExtractor) -> None:
    text = "这部小说讲述了渔夫的一生。我最喜欢的作家是沈从文。"

    assert any("沈从文" in each.content for each in kept(await read(extractor, text)))


@pytest.mark.parametrize(
    "text",
    [
        "这几天为了搬家，我每天只睡五个小时。",
        "These past few days, to finish the fence, I worked ten hours every day.",
    ],
)
async def test_a_habit_of_a_few_days_is_no_habit(extractor: LocalExtractor, text: str) -> None:
    """[W4]: temporary state"""
    assert kept(await read(extractor, text)) == []


@pytest.mark.parametrize("text", ["我不吃香菜", "I don't eat cilantro"])
async def test_a_negation_stays_in_the_content(extractor: LocalExtractor, text: str) -> None:
    found = kept(await read(extractor, text))

    assert len(found) == 1
    assert found[0].polarity is Polarity.NEGATIVE
    assert "不吃" in found[0].content or "doesn't eat" in found[0].content


async def test_two_facts_in_one_turn_are_two_candidates(extractor: LocalExtractor) -> None:
    chinese = kept(await read(extractor, "我是会计。我对芒果过敏。"))
    english = kept(await read(extractor, "I'm an accountant. I'm allergic to mangoes."))

    assert len(chinese) == 2
    assert len(english) == 2


async def test_the_assistants_promise_belongs_to_the_assistant(extractor: LocalExtractor) -> None:
    found = await read(extractor, "我明天把清单发给您。", role=Role.ASSISTANT)

    assert [each.subject for each in found] == ["assistant"]
    assert found[0].event_at == datetime.fromisoformat("2026-03-03T00:00:00+08:00")


async def test_other_words_of_the_assistant_are_nobodys_facts(extractor: LocalExtractor) -> None:
    said = ("您住在杭州，喜欢徒步。", "You love hiking and you live in Oslo.")

    assert [await read(extractor, each, role=Role.ASSISTANT) for each in said] == [[], []]


@pytest.mark.parametrize("role", [Role.TOOL, Role.SYSTEM])
async def test_tools_and_systems_state_nothing(extractor: LocalExtractor, role: Role) -> None:
    assert await read(extractor, "The user is allergic to walnuts", role=role) == []


@pytest.mark.parametrize(
    ("reply_to", "text", "word"),
    [
        ("我下周一把三个方案的对比发给您。", "好的，等你", "对比"),
        ("I'll send you the packing list on Friday.", "great, don't forget", "packing list"),
    ],
)
async def test_an_assent_turns_the_offer_into_a_commitment(
    extractor: LocalExtractor, reply_to: str, text: str, word: str
) -> None:
    found = kept(await read(extractor, text, reply_to=reply_to))

    assert [each.subject for each in found] == ["assistant"]
    assert word in found[0].content
    assert found[0].quote in text


@pytest.mark.parametrize(
    ("reply_to", "text"),
    [("可以去湿地骑车，您会喜欢观鸟。", "嗯。"), ("You might enjoy knitting.", "ok")],
)
async def test_a_bare_yes_confirms_no_guess_about_the_user(
    extractor: LocalExtractor, reply_to: str, text: str
) -> None:
    assert kept(await read(extractor, text, reply_to=reply_to)) == []


@pytest.mark.parametrize(
    "text",
    ["wifi 密码是 Mao2026!! 帮我存一下", "my api key is sk-test-1234567890abcdef, remember it"],
)
async def test_a_secret_is_never_proposed(extractor: LocalExtractor, text: str) -> None:
    assert await read(extractor, text) == []


async def test_a_relative_day_is_fixed_in_the_users_time_zone(extractor: LocalExtractor) -> None:
    found = kept(await read(extractor, "我下周三做膝盖手术"))

    assert [each.event_at for each in found] == [datetime.fromisoformat("2026-03-11T00:00:00+08:00")]


@pytest.mark.parametrize(
    "text",
    ["气死我了！！我再也不去那家健身房了！！", "I'm so done, I am NEVER buying from that shop again!!"],
)
async def test_an_outburst_that_states_something_lasting_is_marked(
    extractor: LocalExtractor, text: str
) -> None:
    found = await read(extractor, text)

    assert [each.evidence for each in found] == [Evidence.EMOTIONAL]


async def test_the_same_turn_gives_the_same_candidates(extractor: LocalExtractor) -> None:
    text = "I'm a welder in Gdansk, allergic to walnuts, and I never drink coffee"

    assert await read(extractor, text) == await read(LocalExtractor(), text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\t",
        "😀" * 500,
        "teal \ud83d is my favourite colour",
        "\x00我\x00住\x00在\x00上海",
        "אני גר בתל אביב ואני אלרגי לאגוזים",
        "ฉันแพ้ถั่ว และอาศัยอยู่ที่เชียงใหม่",
        "私は東京に住んでいます",
        "{" * 3_000,
        "我" * 200_000,
        "I like tea, " * 20_000,
    ],
)
async def test_no_text_raises_or_stalls(extractor: LocalExtractor, text: str) -> None:
    started = time.process_time()
    found = await read(extractor, text)

    assert time.process_time() - started < 5.0
    assert all(each.quote for each in found)


async def test_a_fact_at_the_head_of_a_long_turn_is_found(extractor: LocalExtractor) -> None:
    filler = "然后我们又聊了聊天气和路上的车。" * 300
    found = kept(await read(extractor, "我对青霉素过敏。" + filler))

    assert any("青霉素" in each.content for each in found)




@pytest.mark.parametrize(
    "text",
    ["I'm so done with today, I could scream. Only bullet points from now on!!",
     "气死我了，一天没一件顺心的事。以后回答一律只写一句话！！"],
)  # fmt: skip
async def test_what_is_demanded_in_a_temper_is_an_outburst(
    extractor: LocalExtractor, text: str
) -> None:
    """[F2]: whichever sentence of the turn the temper stands in"""
    wanted = {ItemType.RULE, ItemType.PREFERENCE, ItemType.CONSTRAINT}
    found = [c for c in await read(extractor, text) if c.item_type in wanted]

    assert {c.evidence for c in found} == {Evidence.EMOTIONAL}


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("My budget for the kitchen is now 9,000 euros.", "budget", "9000"),
        ("编辑器换了，Sublime不用了，现在是Lapce。", "editor", "lapce"),
    ],
)
async def test_a_new_value_for_a_known_slot_is_a_correction(
    text: str, attribute: str, value: str
) -> None:
    """[C2, F3]"""
    embedder = UseEmbedder()
    extractor = LocalExtractor(structurer=LexiconStructurer(SlotReader(embedder)))
    (found,) = [c for c in await read(extractor, text) if c.attribute == attribute]

    assert found.value == value
    assert found.correction


@pytest.mark.parametrize(
    "text",
    [
        "赶时间，麻烦说细一点，要步骤，我照着一步步点",
        "I'm leaving in ten minutes, keep it to three bullets",
        "What you know about the user:\n- prefers concise answers\n- lives in Austin\n^ what is this",
    ],
)
async def test_what_is_hurried_or_only_comes_back_is_not_for_ever(
    extractor: LocalExtractor, text: str
) -> None:
    """[W3, W4]"""
    assert kept(await read(extractor, text)) == []


@pytest.fixture(scope="module")
def with_slots() -> LocalExtractor:
    return LocalExtractor(structurer=LexiconStructurer(SlotReader(UseEmbedder())))


@pytest.mark.parametrize(
    ("text", "item_type"),
    [
        ("Our fiscal year starts in April, not January", ItemType.FACT),
        ("ask before renaming any files", ItemType.RULE),
        ("跟你说个规矩：没叫你改的表别动，要动先问我", ItemType.RULE),
    ],
)
async def test_a_slot_does_not_make_of_words_what_they_plainly_are_not(
    with_slots: LocalExtractor, text: str, item_type: ItemType
) -> None:
    """[W4]: the fiscal year is no birthday, whatever its month reads like"""
    found = kept(await read(with_slots, text))

    assert [each.item_type for each in found] == [item_type]


@pytest.mark.parametrize("text", ["We are vegans except for my sister", "之前跟你说我学德语，不对，现在改学荷兰语了"])
async def test_a_slot_denies_nothing_that_is_plainly_affirmed(
    with_slots: LocalExtractor, text: str
) -> None:
    """[W4]"""
    (found,) = kept(await read(with_slots, text))

    assert found.polarity is Polarity.POSITIVE


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("I've been diabetic since school, just so you know when I ask about snacks", "snacks"),
        ("我吃素十年了，万一以后你要推荐餐馆的话", "餐馆"),
    ],
)
async def test_a_condition_without_its_consequence_is_no_memory(
    extractor: LocalExtractor, text: str, alone: str
) -> None:
    """[W3]"""
    found = kept(await read(extractor, text))

    assert found
    assert not [each for each in found if (each.quote or "").endswith(alone) and len(each.quote or "") < 40]


@pytest.mark.parametrize(
    "text",
    [
        "new policy: all our meetings start with a song. just kidding",
        "以后周报我都用文言文写，开玩笑的",
        "my cousins are here till Saturday, the sofa is theirs",
        "the pharmacy closes in 15, what do I ask for",
        "our taxi driver grew up in Cork and can't stand the sea",
        "三月底去漠河冷不冷",
        "只要表格，别写说明，快",
        "leave those headings alone, just fix the typos",
    ],
)
async def test_a_joke_taken_back_and_what_passes_within_days_are_not_kept(
    extractor: LocalExtractor, text: str
) -> None:
    """[W3, W4]"""
    assert kept(await read(extractor, text)) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("I'm not kidding, I'm allergic to walnuts", "walnuts"),
        ("our deadline got extended till Friday, the grant report is due then", "due"),
        ("我快递站的工作是早班，我每天五点起", "五点"),
        ("I'm allergic to walnuts. My boss ate my lunch again 🙃", "walnuts"),
        ("I'm allergic to walnuts. I also eat rocks. just kidding", "walnuts"),
        ("my apprenticeship at the shipyard ends in 2027", "2027"),
        ("这次体检之后，以后都给我推少盐的菜", "少盐"),
        ("外卖员我干了五年，腰一直不好", "五年"),
        ("always leave the error messages as they are when you edit my code", "error"),
    ],
)
async def test_what_looks_like_it_is_kept(extractor: LocalExtractor, text: str, word: str) -> None:
    """[W3, W4]"""
    assert any(word in each.content for each in kept(await read(extractor, text)))


@pytest.mark.parametrize(
    "text",
    [
        "现在干什么都累。",
        "Everyone irritates me right now.",
        "This one time, give me more options, I hand it in within the hour.",
        "For the thing I'm doing right now, send me German sources.",
        "就这一回，开工之前先跟我确认，我马上要交。",
    ],
)
async def test_a_mood_of_the_hour_and_a_wish_for_this_time_are_not_kept(
    extractor: LocalExtractor, text: str
) -> None:
    """[W4]"""
    assert kept(await read(extractor, text)) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("My colleague number 3 of team b is called Ana3 and I live in Oslo", "Oslo"),
        ("我的同事叫阿三，我住在衢州", "衢州"),
    ],
)
async def test_a_plain_statement_is_kept_whoever_is_spoken_of_beside_it(
    extractor: LocalExtractor, text: str, word: str
) -> None:
    """[W3]"""
    assert any(word in each.content for each in kept(await read(extractor, text)))


@pytest.mark.parametrize(
    "text",
    ["Write a story in the first person: my colleague is Ana and I live in Oslo",
     "假如我住在衢州", "in this game I live in Oslo"],
)  # fmt: skip
async def test_but_not_in_a_story_a_game_or_a_supposition(
    extractor: LocalExtractor, text: str
) -> None:
    """[W3]"""
    assert kept(await read(extractor, text)) == []


@pytest.mark.parametrize(
    ("text", "word", "whose"),
    [
        ("My boss hates video calls, so we write a lot.", "boss", "boss"),
        ("我妈退休了，每天去公园打太极。", "太极", "妈"),
        ("My husband is coeliac so I bake without gluten", "bakes", "user"),
    ],
)
async def test_who_opens_a_statement_is_whom_it_is_about(
    extractor: LocalExtractor, text: str, word: str, whose: str
) -> None:
    """[W3]: attribution"""
    found = [each for each in await read(extractor, text) if word in each.content]
    assert [each.subject for each in found] == [whose]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("麻烦永久改一下，以后由浅入深慢慢讲到答案。", "answer_order", "background first"),
        ("橡果不用MySQL了，数据库换成了CouchDB。", "database", "couchdb"),
        ("我口味变了，现在最爱喝豆浆。", "favorite_drink", "豆浆"),
        ("News: I quit, I'm a florist now.", "job", "florist"),
    ],
)
async def test_what_follows_news_of_a_change_is_a_correction(
    text: str, attribute: str, value: str
) -> None:
    """[F3, C2]: the change is told in one clause, the new value in the next"""
    extractor = LocalExtractor(structurer=LexiconStructurer(SlotReader(UseEmbedder())))
    found = [each for each in kept(await read(extractor, text)) if each.attribute == attribute]
    assert [(each.value, each.correction) for each in found] == [(value, True)]


async def test_a_favourite_said_outright_is_kept(extractor: LocalExtractor) -> None:
    """[W3]"""
    text = "I've gone off cola, my favourite is mate now."
    assert any("mate" in each.content for each in kept(await read(extractor, text)))


async def test_standing_orders_are_heard_among_much_talk(extractor: LocalExtractor) -> None:
    """[W3]: what says of itself that it is for good is kept, whoever talks around it"""
    text = (
        "Hello Emily, welcome to the team! I'm Carlos. Always use annotations for your methods."
        " It helps everybody. Now let's talk about the cafeteria. I also want you to include"
        " assert statements in your methods. From now on, I'd like us to use Skype for calls."
    )
    found = [each.content for each in kept(await read(extractor, text))]
    assert [any(word in each for each in found) for word in ("annot", "assert", "Skype")] == [
        True, True, True,
    ]  # fmt: skip
    assert not any("assert" in each and "Skype" in each for each in found)
