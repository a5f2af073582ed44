"""What the rules find in the frozen pool [U2]."""

from __future__ import annotations

import pytest

from dualgate.domain.audit import (
    BY_RULES,
    Finding,
    FindingKind,
    FindingState,
    as_candidate,
    by_rules,
    finding_id,
)
from dualgate.domain.conflict import SimilarityPolicy
from dualgate.domain.items import Candidate
from dualgate.domain.types import Evidence, ItemType, Polarity
from dualgate.domain.view import Likeness
from dualgate.testing.builders import MONDAY, USER, an_item

APART = Likeness(same=0.0, conflicting=0.0, cosine=0.0)
LENGTH = {"attribute": "reply_length"}
COFFEE = {"attribute": "drink", "value": "coffee"}
DENIED = {**COFFEE, "polarity": Polarity.NEGATIVE}


def apart(_, others):
    return [APART] * len(others)


POLICY = SimilarityPolicy()


def found(*items, compare=apart, policy=POLICY):
    return by_rules(USER, items, compare, policy, MONDAY)


def kinds(*items, **given):
    return [(f.kind.value, f.item_id, f.other_id, f.said) for f in found(*items, **given)]


def a_finding(kind, said, item_id, other_id=None):
    return Finding(
        id=finding_id(kind, item_id, other_id), user_id=USER, kind=kind, item_id=item_id,
        other_id=other_id, said=said, found_at=MONDAY, by=BY_RULES, state=FindingState.OPEN,
    )  # fmt: skip


def test_a_finding_is_kept_under_one_id_whichever_item_comes_first():
    """[U2]: the same finding is kept once"""
    assert finding_id(FindingKind.REPETITION, "b", "a") == "repetition:a:b"
    assert finding_id(FindingKind.REPETITION, "a", "b") == "repetition:a:b"
    assert finding_id(FindingKind.PASSING, "a") == "passing:a"


def test_two_values_of_one_slot_cannot_both_hold():
    """[U2]"""
    items = [an_item(id="b", value="short", **LENGTH), an_item(id="a", value="long", **LENGTH)]

    assert found(*items) == [
        a_finding(FindingKind.CONTRADICTION, "both cannot hold", "b", "a")
    ]


def test_two_items_of_one_value_say_the_same():
    """[U2]"""
    items = [an_item(id="a", value="short", **LENGTH), an_item(id="b", value="Short", **LENGTH)]

    assert found(*items) == [a_finding(FindingKind.REPETITION, "both say the same", "a", "b")]


def test_what_has_nothing_to_do_with_each_other_is_in_order():
    items = [an_item(id="a", value="short", **LENGTH), an_item(id="b", **COFFEE)]

    assert found(*items) == []


@pytest.mark.parametrize(
    ("one", "other", "contradict"),
    [
        # Whoever never drinks coffee does not drink it in the morning, either.
        ({**COFFEE, "qualifiers": ("in the morning",)}, DENIED, True),
        (DENIED, {**COFFEE, "qualifiers": ("in the morning",)}, True),
        # But who drinks none in the evening may drink it.
        (COFFEE, {**DENIED, "qualifiers": ("in the evening",)}, False),
        ({**COFFEE, "qualifiers": ("a",)}, {**COFFEE, "qualifiers": ("b",)}, False),
        ({**COFFEE, "qualifiers": ("a",)}, {**DENIED, "value": "tea"}, False),
        ({**COFFEE, "qualifiers": ("a",)}, {**DENIED, "subject": "sister"}, False),
        ({**COFFEE, "qualifiers": ("a",)}, {**DENIED, "attribute": "smell"}, False),
        ({**COFFEE, "qualifiers": ("a",)}, {**DENIED, "attribute": None}, False),
        ({**COFFEE, "qualifiers": ("a",), "attribute": None}, DENIED, False),
        ({**COFFEE, "value": None, "qualifiers": ("a",)}, {**DENIED, "value": None}, False),
        ({**COFFEE, "qualifiers": ("a",), "attribute": "Drink "}, DENIED, True),
        ({**COFFEE, "qualifiers": ("a",), "subject": "User"}, DENIED, True),
    ],
)
def test_what_is_denied_without_a_qualifier_is_denied_with_any(one, other, contradict):
    """[U2, C1]"""
    items = [an_item("one", id="a", **one), an_item("other", id="b", **other)]

    assert [f.kind for f in found(*items)] == [FindingKind.CONTRADICTION] * contradict


def test_a_slot_is_compared_by_all_its_names():
    """[C1]"""
    policy = SimilarityPolicy(aliases={"beverage": "drink"})
    items = [
        an_item(id="a", **{**COFFEE, "attribute": "beverage"}, qualifiers=("x",)),
        an_item(id="b", **DENIED),
    ]

    assert [f.kind for f in found(*items, policy=policy)] == [FindingKind.CONTRADICTION]


def test_every_pair_is_compared_by_meaning_once():
    """[C1]: where structure is missing, the likeness decides"""
    items = [an_item(text, id=text) for text in ("quiet", "loud", "calm")]
    asked = []

    def compare(candidate, others):
        asked.append((candidate, [o.id for o in others]))
        pairs = {("quiet", "loud"): (0.0, 0.95), ("quiet", "calm"): (0.97, 0.0)}
        return [
            Likeness(same=same, conflicting=conflicting, cosine=0.9)
            for same, conflicting in (
                pairs.get((candidate.content, o.id), (0.0, 0.0)) for o in others
            )
        ]

    assert kinds(*items, compare=compare) == [
        ("contradiction", "quiet", "loud", "both cannot hold"),
        ("repetition", "quiet", "calm", "both say the same"),
    ]
    assert asked == [
        (as_candidate(items[0]), ["loud", "calm"]),
        (as_candidate(items[1]), ["calm"]),
        (as_candidate(items[2]), []),
    ]


def test_a_comparison_that_leaves_one_out_is_no_comparison():
    items = [an_item(id="a"), an_item(id="b")]

    with pytest.raises(ValueError, match="zip"):
        found(*items, compare=lambda _candidate, _others: [])


def test_an_item_is_compared_as_what_it_would_say_now():
    said = {
        "item_type": ItemType.RULE, "subject": "team", "attribute": "tests", "value": "nightly",
        "qualifiers": ("on main",), "polarity": Polarity.NEGATIVE, "confidence": 0.7,
        "evidence": Evidence.IMPLIED,
    }  # fmt: skip

    assert as_candidate(an_item("no nightly tests", **said)) == Candidate(
        content="no nightly tests", **said
    )


MOMENT, TEMPER = "it speaks of a moment or a mood", "it was only ever said in a temper"


@pytest.mark.parametrize(
    ("content", "fields", "expected"),
    [
        ("The user is tired today", {}, [("passing", MOMENT)]),
        ("用户今天心情不好", {}, [("passing", MOMENT)]),
        ("The user is tired today", {"evidence": Evidence.EMOTIONAL}, [("passing", MOMENT)]),
        ("The user hates mail", {"evidence": Evidence.EMOTIONAL}, [("passing", TEMPER)]),
        ("The user hates mail", {"evidence": Evidence.IMPLIED}, []),
        (
            "Does the user like tea?",
            {},
            [("not_a_statement", "it asks, it states nothing")],
        ),
        (
            "The user's sister is called Ann",
            {"item_type": ItemType.IDENTITY},
            [("somebody_else", "it is about somebody else")],
        ),
        (
            "用户的姐姐叫小安",
            {"item_type": ItemType.IDENTITY, "subject": "用户"},
            [("somebody_else", "it is about somebody else")],
        ),
        (
            "The user's sister is called Ann",
            {"item_type": ItemType.IDENTITY, "subject": ""},
            [("somebody_else", "it is about somebody else")],
        ),
        (
            "The user's sister is called Ann",
            {"item_type": ItemType.IDENTITY, "subject": "sister"},
            [],
        ),
        ("The user's sister is called Ann", {"item_type": ItemType.FACT}, []),
        ("The user is called Ann", {"item_type": ItemType.IDENTITY}, []),
        ("Is the user tired today?", {"pinned": True}, []),
        (
            "Is the user tired today?",
            {},
            [("passing", MOMENT), ("not_a_statement", "it asks, it states nothing")],
        ),
    ],
)
def test_an_item_that_is_no_lasting_statement_about_its_user_is_found(content, fields, expected):
    """[U2]: but not where the user has pinned it"""
    item = an_item(content, id="a", **fields)

    assert found(item) == [a_finding(FindingKind(k), said, "a") for k, said in expected]


def test_contradictions_come_first():
    items = [
        an_item("short today", id="a", value="short", **LENGTH),
        an_item("long", id="b", value="long", **LENGTH),
    ]

    assert [f.kind for f in found(*items)] == [FindingKind.CONTRADICTION, FindingKind.PASSING]
