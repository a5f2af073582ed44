"""Facts about queries, words and the topic gate [R2, R3]."""

from __future__ import annotations

import pytest

from dualgate.domain.query import first_sentence, is_courtesy, read_query
from dualgate.domain.relevance import Fit, TopicGate, accompanies, answers, fit
from dualgate.domain.terms import overlap, terms
from dualgate.domain.types import ItemType
from dualgate.testing.builders import an_item

GATE = TopicGate()


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("我家宠物叫什么？", "用户家宠物叫什么？"),
        ("我的生日是哪天", "用户的生日是哪天"),
        ("What's my pet called?", "What's the user's pet called?"),
        ("Am I planning to move?", "is the user planning to move?"),
        ("我们的数据库", "我们的数据库"),
    ],
)
def test_the_first_person_becomes_the_stored_subject(said, stored):
    assert read_query(said).statement == stored


@pytest.mark.parametrize(
    "said",
    ["Tell me a joke", "帮我写一首诗", "How do I roast a chicken", "法国大革命是哪一年开始的"],
)
def test_who_is_merely_served_is_not_what_the_question_is_about(said):
    assert not read_query(said).personal


@pytest.mark.parametrize(
    "said", ["我叫什么名字？", "How do I manage my time?", "上次选了哪个方案", "what did you say?"]
)
def test_a_question_about_the_user_or_a_shared_past_is_personal(said):
    assert read_query(said).personal


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("上次我们为什么选了那个方案？", ItemType.DECISION),
        ("What did we decide?", ItemType.DECISION),
        ("你上次答应了什么", ItemType.COMMITMENT),
        ("What are my deadlines?", ItemType.COMMITMENT),
        ("我喜欢什么", ItemType.PREFERENCE),
    ],
)
def test_a_question_hints_at_the_type_of_its_answer(said, expected):
    assert expected in read_query(said).intents


@pytest.mark.parametrize(
    "said",
    [
        "谢谢",
        "好的，谢谢你！",
        "Thank you so much!",
        "👍",
        "",
        " \n",
        "ok, got it",
        "嗯嗯嗯",
        "早上好",
    ],
)
def test_courtesy_has_no_topic(said):
    assert is_courtesy(said)


@pytest.mark.parametrize(
    "said",
    [
        "好的数据库是什么",
        "hi-fi",
        "谢谢你推荐的书，书名是什么",
        "thanksgiving plans",
        "okra",
        "在吗？项目呢",
    ],
)
def test_a_question_that_begins_politely_is_a_question(said):
    assert not is_courtesy(said)


def test_the_opening_is_the_first_sentence_that_says_something():
    assert (
        first_sentence("你好！我们的数据库现在用什么？另外，明天开会。")
        == "我们的数据库现在用什么？"
    )
    assert first_sentence("Hi. Hello!") == ""
    assert len(first_sentence("无标点" * 100_000)) == 300


def test_a_name_in_a_long_question_is_enough():
    item = an_item("The user's boss is Karen, who is strict about approvals")
    asked = "Please write an email to Karen that asks about a new laptop for the office next week"

    assert overlap(asked, item) >= GATE.entity


def test_one_common_word_is_not_enough():
    item = an_item("项目预算不能超过五万元")

    assert overlap("这个项目的前端框架和测试覆盖率分别怎么样", item) < GATE.entity


def test_a_small_number_is_no_name_but_a_part_number_is():
    item = an_item("例会定在周三下午 3 点，会议号 8841772")

    assert overlap("3 点提醒买牛奶和鸡蛋", item) < GATE.entity
    assert overlap("8841772 是什么", item) >= GATE.entity


def test_an_entity_of_the_item_counts_as_a_name_only_as_a_whole_word():
    item = an_item("The user uses R", entities=("Ra",))

    assert overlap("Will it rain tomorrow over there", item) == 0.0


def test_words_of_every_script_are_read():
    assert "Москве".casefold() in terms("Живёт в Москве")
    assert terms("😀!!") == {}


def test_someone_elses_fact_counts_less_unless_that_person_is_asked_about():
    item = an_item("张伟对花生过敏", subject="张伟", item_type=ItemType.FACT)
    mine = fit(read_query("我对什么过敏"), item, 0.6, GATE)
    his = fit(read_query("张伟对什么过敏，我忘了"), item, 0.6, GATE)

    assert mine.cosine == pytest.approx(0.6 * GATE.other_subject)
    assert his.cosine == 0.6


def test_nearness_that_every_statement_about_the_user_has_is_taken_off():
    query = read_query("我会游泳吗")
    item = an_item("用户养了一只猫", item_type=ItemType.FACT)

    assert answers(query, fit(query, item, 0.3, GATE, to_subject=0.0), GATE)
    assert not answers(query, fit(query, item, 0.3, GATE, to_subject=0.5), GATE)


def test_the_expected_type_alone_never_makes_a_hit():
    query = read_query("What did we decide?")
    item = an_item("Option B was chosen", item_type=ItemType.DECISION)

    assert not answers(query, fit(query, item, 0.0, GATE), GATE)
    assert any("type_lift" in p for p in TopicGate(type_lift=0.4).problems())


def test_on_an_unknown_subject_only_identity_and_preference_come_along():
    query = read_query("写一段快速排序的代码")
    near = Fit(cosine=0.27, strength=0.27, overlap=0.0)
    kinds = {kind for kind in ItemType if accompanies(query, an_item(item_type=kind), near, GATE)}

    assert not answers(query, near, GATE)
    assert kinds == {ItemType.IDENTITY, ItemType.PREFERENCE}


def test_all_problems_of_a_gate_are_named_at_once():
    assert len(TopicGate(semantic=2, entity=-1, full_cosine=0).problems()) == 3


def test_what_others_have_never_comes_before_what_the_user_has_on_any_path():
    query = read_query("What is the budget of this project?")
    own = fit(query, an_item("The project budget is 5000 dollars"), 0.5, GATE)
    theirs = fit(query, an_item("Kevin's project budget is 8000", subject="Kevin"), 0.5, GATE)

    assert theirs.cosine < own.cosine
    assert theirs.entity < own.entity


def test_a_question_about_anybody_may_be_answered_by_what_another_has():
    query = read_query("Which hotel has the pool?")
    item = an_item("The pool is in Hotel Astra", subject="Astra")

    assert answers(query, fit(query, item, 0.35, GATE), GATE)


def test_nearness_alone_needs_more_than_nearness_with_a_shared_word():
    query = read_query("How tall is the tower")
    cosine = (GATE.semantic + GATE.semantic + GATE.alone) / 2

    assert not answers(query, fit(query, an_item("答应给老周看原型"), cosine, GATE), GATE)
    assert answers(query, fit(query, an_item("The tower stands in Leeds, by the river, and was "
                                             "painted green"), cosine, GATE), GATE)  # fmt: skip


def test_an_item_that_holds_the_kind_asked_for_fits_better():
    query = read_query("我家宠物叫什么？")
    item = an_item("用户养了一只橘猫")

    assert fit(query, item, 0.3, GATE, meant=1.0).strength > fit(query, item, 0.3, GATE).strength


def test_shared_work_and_the_stored_subject_are_personal_and_the_immune_system_is_not():
    assert read_query("这个项目最多能花多少钱？").personal
    assert read_query("用户做什么工作").personal
    assert read_query("When does the team meet?").personal
    assert not read_query("Explain the immune system").personal
    assert not read_query("怎么画用户画像").personal
    assert not read_query("How long should I boil an egg").personal


def test_of_a_talk_the_last_line_counts_most_and_the_first_ones_give_way():
    talk = read_query("\n".join(f"turn {n} " + "word " * 30 for n in range(40)))

    assert talk.lines[-1].startswith("turn 39")
    assert talk.shares()[-1] == 1.0
    assert talk.shares() == sorted(talk.shares())
    assert sum(len(line) for line in talk.lines) <= 1_000
    assert read_query("one line").lines == ()


def test_an_item_that_answers_one_line_of_a_talk_is_not_hidden_by_the_others():
    item = an_item("The parrot is called Kiwi")
    line = "Is Kiwi the parrot"
    talk = read_query("We went for a long walk by the sea yesterday\n" + line)

    assert fit(talk, item, 0.0, GATE).overlap == overlap(line, item)


PERSONAL, WORLDLY = read_query("What is my budget?"), read_query("How tall is the tower")


@pytest.mark.parametrize(
    ("query", "strength", "shared", "expected"),
    [
        # A question about the user or a shared past has a lower bar than one about the world.
        (PERSONAL, GATE.semantic_personal, 0.0, True),
        (PERSONAL, GATE.semantic_personal - 0.001, 0.0, False),
        (WORLDLY, GATE.semantic, 0.1, True),
        (WORLDLY, GATE.semantic - 0.001, 0.1, False),
        # Nearness alone must be greater, but only where the question is about the world.
        (WORLDLY, GATE.semantic + GATE.alone, 0.0, True),
        (WORLDLY, GATE.semantic + GATE.alone - 0.001, 0.0, False),
        # Half of the words is an answer by itself.
        (WORLDLY, 0.0, GATE.entity, True),
        (WORLDLY, 0.0, GATE.entity - 0.001, False),
    ],
)
def test_what_answers_reaches_its_bar_by_meaning_or_by_words(query, strength, shared, expected):
    """[R3]"""
    assert answers(query, Fit(strength, strength, shared), GATE) is expected


def test_what_accompanies_an_unknown_subject_reaches_the_lower_bar():
    """[R3]"""
    bar = GATE.semantic * GATE.general_share
    item = an_item(item_type=ItemType.PREFERENCE)

    assert accompanies(WORLDLY, item, Fit(bar, bar, 0.0), GATE)
    assert not accompanies(WORLDLY, item, Fit(bar, bar - 0.001, 0.0), GATE)


def test_of_another_persons_item_everything_is_discounted_in_a_question_about_the_user():
    """[R2]: cosine, words and what is meant alike; the subject's nearness is taken off whole"""
    query = read_query("What is my budget for flowers?")
    item = an_item("The budget of Kevin is 8000", subject="Kevin", item_type=ItemType.FACT)
    words, factor = overlap(query.text, item), GATE.other_subject

    found = fit(query, item, 0.5, GATE, to_subject=0.2, meant=1.0)

    assert 0 < words < GATE.meant
    assert found.cosine == pytest.approx(0.5 * factor)
    assert found.overlap == pytest.approx(words * factor)
    assert found.entity == pytest.approx(GATE.meant * factor)
    assert found.factor == factor
    assert found.strength == pytest.approx(
        0.5 * factor + GATE.overlap_lift * GATE.meant * factor - GATE.subject_share * 0.2
    )


def test_in_a_question_about_anybody_the_discount_only_orders():
    """[R2]"""
    query = read_query("Which flowers grow in the shade?")
    item = an_item("Kevin grows flowers", subject="Kevin", item_type=ItemType.FACT)
    words = overlap(query.text, item)

    found = fit(query, item, 0.5, GATE, to_subject=0.2)

    assert words > 0
    assert found.strength == pytest.approx(0.5 + GATE.overlap_lift * words)
    assert (found.cosine, found.factor) == (0.5 * GATE.other_subject, GATE.other_subject)


def test_the_item_type_that_a_question_hints_at_lifts_the_fit():
    """[R2]"""
    query = read_query("What did we decide?")
    fits = {
        kind: fit(query, an_item("Option B", item_type=kind), 0.3, GATE).strength
        for kind in (ItemType.DECISION, ItemType.FACT)
    }

    assert fits[ItemType.FACT] == pytest.approx(0.3)
    assert fits[ItemType.DECISION] == pytest.approx(0.3 + GATE.type_lift)
