"""Facts about the steps before and after the model: whose words, how cut, how worded [W3, W4]."""

from __future__ import annotations

import time

import pytest

from dualgate.adapters.local.extraction.bonds import bound, is_adverbial, is_empty, leans
from dualgate.adapters.local.extraction.clauses import split
from dualgate.adapters.local.extraction.promises import about_assistant, offer_in, promise_in
from dualgate.adapters.local.extraction.reading import read_text
from dualgate.adapters.local.extraction.voice import own_voice
from dualgate.adapters.local.extraction.wording import sentence
from dualgate.domain.types import ItemType


def own(text: str) -> str:
    voice = own_voice(text)
    return " ".join(text[start:end] for start, end in voice.spans)


@pytest.mark.parametrize(
    ("text", "kept", "cut"),
    [
        ("看下这段：\n```py\nI_LIKE = 'tea'\n```\n我只写 Go", "我只写 Go", "I_LIKE"),
        ("> I never eat fish\nwhat does he mean", "what does he mean", "never eat fish"),
        ("翻译一下：我对核桃过敏", "翻译一下", "核桃"),
        ("please proofread: I am a vegan and a pilot", "please proofread", "vegan"),
        ("客户说“我们从来不收快递，都放门卫”，怎么回", "怎么回", "门卫"),
        ('she wrote "I hate long emails and I love lists" to me', "to me", "love lists"),
        ("2026-03-01 10:00:01 ERROR db down\n为什么会这样", "为什么会这样", "db down"),
        ("From: Ana\nSubject: hello\nI moved to Lima", "", "Lima"),
        ("<memory>用户喜欢海边</memory>今天聊点别的", "今天聊点别的", "海边"),
        ("Relevant memories:\n- the user likes jazz", "", "jazz"),
    ],
)
def test_what_a_turn_only_carries_is_cut(text: str, kept: str, cut: str) -> None:
    remaining = own(text)

    assert kept in remaining
    assert cut not in remaining


@pytest.mark.parametrize(
    "text",
    [
        "我说“老地方”就是那家茶馆",
        "the 'big desk' is mine",
        "叫我“阿泽”",
        "我常听一首叫“你来的那年夏天我不在”的歌",
        'my boat is called "We Will Be Late Again"',
    ],
)
def test_a_quoted_term_is_the_users_own_word(text: str) -> None:
    assert own(text) == text


def test_clauses_are_cut_at_commas_and_at_new_subjects() -> None:
    assert [c.text for c in read_text("我是焊工，住在厂里 周末回家").clauses] == [
        "我是焊工",
        "住在厂里",
        "周末回家",
    ]
    assert [c.text for c in read_text("I weld ships, and I live in Gdansk. no meat").clauses] == [
        "I weld ships",
        "and I live in Gdansk",
        "no meat",
    ]


def test_numbers_and_versions_are_not_cut() -> None:
    assert len(read_text("budget is 1,200 for v3.11 of it").clauses) == 1
    assert len(read_text("预算1,200元，用v3.11").clauses) == 2


def test_every_clause_is_verbatim() -> None:
    text = "嗯，我（其实）只喝黑咖啡……  ok? and I'm in Lyon; 😀 别加糖！"

    assert all(text[c.start : c.end] == c.text for c in split(own_voice(text)))


def test_a_condition_binds_to_its_consequence() -> None:
    left, right = read_text("每次我贴日志的时候，先说原因").clauses
    other = read_text("我住乌镇，我养蜂").clauses

    assert bound(left, right)
    assert not bound(*other)


def test_words_that_lead_on_belong_to_what_follows_them() -> None:
    for text in (
        "Recently, I took up weaving",
        "Besides, I love weaving",
        "By the way, I love weaving",
        "最近，我在学织布",
        "除此之外，我还喜欢织布",
    ):
        lead, rest = read_text(text).clauses

        assert bound(lead, rest)
        assert not is_empty(lead.text)


def test_an_adverbial_states_nothing_alone() -> None:
    assert is_adverbial("每周三晚上")
    assert is_adverbial("by the 12th")
    assert not is_adverbial("我周三开会")
    assert is_empty("跟家里商量好了")
    assert not is_empty("跟家里商量好了去厦门")


@pytest.mark.parametrize(
    ("text", "lang", "kind", "wanted"),
    [
        ("我不喝牛奶", "zh", ItemType.PREFERENCE, "用户不喝牛奶"),
        ("对了，我们公司禁用微信", "zh", ItemType.CONSTRAINT, "用户所在公司禁用微信"),
        ("以后别给我发语音", "zh", ItemType.RULE, "以后别给用户发语音"),
        ("I always take the stairs", "en", ItemType.PREFERENCE, "The user always takes the stairs."),
        ("btw I don't eat pork", "en", ItemType.PREFERENCE, "The user doesn't eat pork."),
        ("I've owned 2 boats since 2019", "en", ItemType.FACT, "The user has owned 2 boats since 2019."),
        ("my runbook is done", "en", ItemType.FACT, "The user's runbook is done."),
    ],
)
def test_content_speaks_of_the_user_and_keeps_every_word(
    text: str, lang: str, kind: ItemType, wanted: str
) -> None:
    assert wanted in sentence(text, lang, kind)


@pytest.mark.parametrize(
    ("text", "lang", "kind", "wanted"),
    [
        ("水温保持在三十度", "zh", ItemType.FACT, "用户：水温保持在三十度"),
        ("Nginx做反代", "zh", ItemType.FACT, "用户：Nginx做反代"),
        ("水墨画我也特别喜欢", "zh", ItemType.PREFERENCE, "水墨画用户也特别喜欢"),
        ("总是催我交稿", "zh", ItemType.FACT, "总是催用户交稿"),
        ("平时跑步", "zh", ItemType.PREFERENCE, "用户平时跑步"),
        ("每当下雨，我就会想家", "zh", ItemType.PREFERENCE, "每当下雨，用户就会想家"),
        ("每次发日志，先给结论", "zh", ItemType.RULE, "用户要求：每次发日志，先给结论"),
        ("是啊，我很喜欢陶艺", "zh", ItemType.PREFERENCE, "用户很喜欢陶艺"),
        ("folk music is a comfort", "en", ItemType.PREFERENCE, "The user: folk music is a comfort."),
        ("answers that are short", "en", ItemType.RULE, "The user's wish: answers that are short."),
        ("I usually read the local paper", "en", ItemType.FACT, "The user usually reads the local paper."),
        ("I quite like sailing", "en", ItemType.FACT, "The user quite likes sailing."),
        ("I really don't ski", "en", ItemType.FACT, "The user really doesn't ski."),
        ("I haven't found a dentist", "en", ItemType.FACT, "The user hasn't found a dentist."),
        ("That's right. I have been weaving", "en", ItemType.FACT, "The user has been weaving."),
    ],
)
def test_content_names_the_user_once_and_only_where_the_user_is_meant(
    text: str, lang: str, kind: ItemType, wanted: str
) -> None:
    assert sentence(text, lang, kind) == wanted


def test_a_promise_is_for_later() -> None:
    assert promise_in("好的。我下周一把清单发给您。", "zh") == "我下周一把清单发给您。"
    assert promise_in("I'll remind you on Friday.", "en") is not None
    assert promise_in("Here is the fixed version.", "en") is None
    assert promise_in("如果您愿意，我会解释下一步。", "zh") is None
    assert offer_in("Nice. Want me to write the rollback notes?", "en") is not None
    assert about_assistant("I'll send you the list.", "en") == "The assistant will send the user the list."


@pytest.mark.parametrize(
    "text",
    [
        "a" * 2_000_000,
        "我" * 1_000_000,
        "\n" * 300_000,
        "{" * 200_000,
        "'" * 100_000 + "“" * 100_000,
        "I like tea, " * 100_000,
        "<a>" * 100_000,
        "1,2,3\n" * 100_000,
    ],
)
def test_megabytes_are_read_in_linear_time(text: str) -> None:
    started = time.process_time()
    reading = read_text(text)

    assert time.process_time() - started < 3.0
    assert len(reading.clauses) <= 2_000


@pytest.mark.parametrize(
    "text", ["那就说好了", "我跟你讲我们家出门是这样的", "three things before we start", "ok decided"]
)
def test_an_announcement_states_nothing(text: str) -> None:
    assert is_empty(text)


@pytest.mark.parametrize(
    "text",
    ["没关系", "谢谢你的建议", "那就决定了", "Okay", "That sounds great", "Thank you for the tips"],
)
def test_an_answer_to_what_was_said_states_nothing(text: str) -> None:
    assert is_empty(text)


@pytest.mark.parametrize(
    "text", ["最近在学陶艺", "好的陶土要晒", "Recently moved to Lima", "No sugar", "right-handed"]
)
def test_words_that_only_begin_like_an_answer_do_state_something(text: str) -> None:
    assert not is_empty(text)


@pytest.mark.parametrize("text", ["I have two rules", "家里有两条规矩"])
def test_a_statement_about_rules_is_no_announcement(text: str) -> None:
    assert not is_empty(text)


@pytest.mark.parametrize(
    "text", ["叫“半截粉笔”", "we agreed that in writing", "I literally can't go over", "never flying one again"]
)
def test_what_points_back_leans_on_what_was_said(text: str) -> None:
    assert leans(text)


@pytest.mark.parametrize("text", ["叫我老王", "I can't go skiing", "I signed the lease in writing"])
def test_what_stands_by_itself_does_not_lean(text: str) -> None:
    assert not leans(text)


@pytest.mark.parametrize(
    "text", ["我不是不喜欢甜的，是不喜欢太甜", "it's not that I don't like dogs, I just can't keep one"]
)
def test_a_denial_and_what_is_meant_instead_are_one_statement(text: str) -> None:
    left, right = read_text(text).clauses[:2]

    assert bound(left, right)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("[用户长期记忆]\n偏好：简洁", ""),
        ("你来演店员，我演客人。开始：你好，我叫小明", "你来演店员，我演客人。开始："),
        ("好的，作为您的写作助手，我会记住。\n你老这样", "你老这样"),
        ("Certainly! As requested, I will add hints. — that was you", "— that was you"),
    ],
)
def test_remembered_played_and_echoed_words_are_not_the_users(text: str, kept: str) -> None:
    voice = own_voice(text)

    assert "".join(text[start:end] for start, end in voice.spans).strip() == kept


@pytest.mark.parametrize(
    "text",
    ["我不在那家店干了，现在开网约车", "原来那个闹钟停用了，如今靠手环叫醒",
     "I'm no longer at the bakery, I drive a tram now",
     "The launch got postponed, the new date is 3 June"],
)  # fmt: skip
def test_what_gives_way_and_what_takes_its_place_are_one_statement(text: str) -> None:
    """[C2]: apart, the new half no longer says what it replaces"""
    clauses = read_text(text).clauses

    assert bound(clauses[0], clauses[1])


@pytest.mark.parametrize("text", ["我不喝酒了，孩子上小学", "I quit smoking, my sister lives in Turku"])
def test_a_change_and_another_fact_stay_apart(text: str) -> None:
    clauses = read_text(text).clauses

    assert not bound(clauses[0], clauses[1])


@pytest.mark.parametrize(
    "text",
    ["已经敲定了", "原来的要求作废", "把我的生日忘掉", "it's settled", "Please forget my birthday",
     "please don't remember that", "I could use a hand with the invoice page", "别烦我", "leave me alone"],
)  # fmt: skip
def test_a_seal_a_sigh_and_a_call_for_help_state_nothing(text: str) -> None:
    """[W3]"""
    assert is_empty(text)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I like it best if you just do it", "The user likes it best if the assistant just does it."),
        ("I like it when you also show the diff",
         "The user likes it when the assistant also shows the diff."),
        ("I'm happiest when you be brief", "The user is happiest when the assistant is brief."),
    ],
)  # fmt: skip
def test_what_the_assistant_is_to_do_is_worded_in_good_english(text: str, content: str) -> None:
    assert sentence(text, "en", ItemType.PREFERENCE) == content


@pytest.mark.parametrize(
    ("text", "first"),
    [("the cap is $900 incl. tax", "the cap is $900 incl. tax"), ("I live on St. Olaf Street", "I live on St. Olaf Street")],
)  # fmt: skip
def test_an_abbreviation_ends_no_clause(text: str, first: str) -> None:
    assert read_text(text).clauses[0].text == first


@pytest.mark.parametrize(
    "text", ["我每天只睡五个小时，我对虾过敏", "当归我一沾就流鼻血，我住乌镇", "我平时不开车，我养了两只龟"]
)
def test_hours_and_words_that_look_like_conditions_bind_nothing(text: str) -> None:
    left, right = read_text(text).clauses

    assert not bound(left, right)


@pytest.mark.parametrize(
    "text", ["never propose one", "so never suggest any for then", "Keep to it for all my stuff"]
)
def test_an_order_about_it_leans_on_what_it_is(text: str) -> None:
    assert leans(text)


def test_an_age_in_brackets_ends_no_clause() -> None:
    texts = [each.text for each in read_text("I have two kids, Asha (6) and Dev (3), and we live in York").clauses]

    assert "Asha (6) and Dev (3)" in texts
