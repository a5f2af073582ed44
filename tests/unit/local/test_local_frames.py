"""Conventions and numbers of things as slots [C1]."""

from __future__ import annotations

import pytest

from dualgate.adapters.local.frames import convention, one_by_one
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.domain.items import Candidate

SLOTS = LexiconStructurer()


def slot(text: str) -> tuple[str, str, str, tuple[str, ...]] | None:
    found = SLOTS.read(text)
    return None if found is None else (
        found.attribute, found.value, found.polarity.value, found.qualifiers
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("End all branch names with '-wip'", "end of branch name", "-wip"),
        ("The user wants every test name to start with 'check_'", "start of test name", "check_"),
        ("For modules, begin the names with 'mod_'.", "start of module name", "mod_"),
        ("when naming constants, always start with 'K_'", "start of constant name", "k_"),
        ("Start the assistant's replies with \"Ahoy\"", "start of reply", "ahoy"),
        ("Use Jitsi for stand-ups", "tool for stand-up", "jitsi"),
        ("Use kebab-case for branch names", "case of branch name", "kebabcase"),
        ("以后分支名一律用'_临时'做后缀", "end of 分支名", "_临时"),
        ("变量名以“v_”开头", "start of 变量名", "v_"),
        ("用飞书开评审会", "tool for 评审会", "飞书"),
    ],
)
def test_the_frame_of_a_rule_is_the_slot(text: str, attribute: str, value: str) -> None:
    assert slot(text) == (f"convention: {attribute}", value, "+", ())


@pytest.mark.parametrize(
    "text",
    [
        "Start test names with 't_' and class names with 'C_'",  # two rules, two values
        "Use type hints for functions",  # stands beside other things that are used
        "The talk starts with a joke",
        "The user ran 10 km",
        "The user is German",
    ],
)
def test_what_holds_no_single_value_has_no_slot(text: str) -> None:
    assert slot(text) is None


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("The user's chair is set to 48 cm", "chair length", "48 cm"),
        ("The user raised the chair, it stays at 52 cm from now on", "chair length", "52 cm"),
        ("用户的椅子调到四十八厘米", "椅子 length", "48 cm"),
        ("椅子用户调高了，以后就五十二厘米", "椅子 length", "52 cm"),
        ("用户的学号是三零二五", "学号", "3025"),
        ("My parking number is 0815", "parking number", "0815"),
    ],
)
def test_a_number_of_a_thing_is_a_slot_of_that_thing(
    text: str, attribute: str, value: str
) -> None:
    assert slot(text) == (attribute, value, "+", ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The user has a walnut allergy", ("allergy", "walnut", "+", ())),
        ("用户不能吃核桃，会过敏", ("allergy", "核桃", "+", ())),
        ("用户不吃肉的，只吃素菜", ("diet", "vegetarian", "+", ())),
        ("The user is Marit", ("name", "marit", "+", ())),
        ("用户养了一只叫汤圆的猫", ("cat_name", "汤圆", "+", ())),
        ("The user's brother lives in York", ("home", "york", "+", ("brother",))),
        ("Invoice 12 is due on 3 May", ("deadline", "3 may", "+", ("invoice 12",))),
        ("The billing service uses MySQL", ("database", "mysql", "+", ("billing",))),
        ("项目数据库用 MySQL", ("database", "mysql", "+", ())),
        ("订单服务改用 PostgreSQL", ("database", "postgresql", "+", ("订单",))),
        ("The service uses MySQL", ("database", "mysql", "+", ())),
        ("Mara's birthday is on 3 May", ("birthday", "3 may", "+", ("mara",))),
    ],
)
def test_slots_people_state_in_passing(
    text: str, expected: tuple[str, str, str, tuple[str, ...]]
) -> None:
    assert slot(text) == expected


def test_the_same_job_in_two_places_is_not_the_same_value() -> None:
    one, other = slot("用户在杭州做护士"), slot("The user works as a nurse in Leeds")

    assert one is not None
    assert other is not None
    assert one[0] == other[0] == "job"
    assert one[1] != other[1]


@pytest.mark.parametrize(
    ("attribute", "slot_name"),
    [
        ("response length", "reply_length"),
        ("Verbosity", "reply_length"),
        ("回复长度", "reply_length"),
        ("answer-language", "reply_language"),
        ("boat_name", "boat_name"),  # nothing the lexicon knows: as it was given
    ],
)
def test_another_name_of_a_slot_means_that_slot(attribute: str, slot_name: str) -> None:
    assert SLOTS.slot_of(attribute) == slot_name


@pytest.mark.parametrize("attribute", ["Verbosity", "reply_length", "boat_name"])
def test_what_a_host_calls_a_slot_and_its_value_stays_as_given(attribute: str) -> None:
    told = Candidate(
        "preference", "As told by the host", attribute=attribute, value="Brief", confidence=0.9
    )

    assert SLOTS.complete(told) == told


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("The user doesn't eat meat, only greens and vegetarian food", "vegetarian"),
        ("用户不能吃核桃，会过敏", "核桃"),
        ("Vim 用户已经不用了，现在换成 Zed 了", "zed"),
    ],
)
def test_a_denial_beside_the_value_does_not_deny_it(content: str, value: str) -> None:
    made = Candidate("preference", content, polarity="-", confidence=0.9)

    completed = SLOTS.complete(made)

    assert (completed.value, completed.polarity) == (value, "+")


def test_a_polarity_without_a_denial_in_the_words_is_the_hosts_own() -> None:
    made = Candidate("preference", "Tables in answers: use them", polarity="-", confidence=0.9)

    assert SLOTS.complete(made).polarity == "-"


def test_two_rules_in_one_sentence_can_be_told_apart() -> None:
    text = "The user wants test names to start with 't_'"

    assert one_by_one("Start test names with 't_' and class names with 'C_'") == (
        "Start test names with 't_'",
        "Start class names with 'C_'",
    )
    assert one_by_one(text) == (text,)


@pytest.mark.parametrize("text", ["用户喜欢做陶艺", "用户最近在学做甜点", "用户负责开会记录", "用户常画水彩画"])
def test_the_first_character_of_the_word_for_user_is_no_use(text: str) -> None:
    """用 in 用户 is not "use": a liking is no convention that the next one replaces [C1]"""
    assert convention(text) is None


def test_a_tool_for_a_purpose_is_still_one_in_chinese() -> None:
    found = convention("以后用飞书做会议纪要")

    assert found is not None
    assert found.value == "飞书"
