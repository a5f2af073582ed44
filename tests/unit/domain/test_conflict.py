"""How two statements relate: the table of [C1], row by row."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.domain.conflict import (
    Relation,
    SimilarityPolicy,
    cardinality,
    corrects,
    follows,
    is_explicit_correction,
    relate,
    slot_of,
)
from dualgate.domain.types import Cardinality, ItemType, Polarity
from dualgate.domain.view import Likeness
from dualgate.testing.builders import MONDAY, a_candidate, a_proposal, an_item

POLICY = SimilarityPolicy(conflict=0.70)  # the default is fitted, and moves with the judge
SLOT = {"attribute": "reply_length", "value": "short"}


def relation(said, stored, *, same=0.0, conflicting=0.0, cosine=0.99):
    """Relate a candidate to an item; the cosine is high throughout, and decides nothing."""
    candidate = a_candidate("The user said so", **said)
    item = an_item("The user once said this", **stored)
    likeness = Likeness(same=same, conflicting=conflicting, cosine=cosine)
    return relate(candidate, item, likeness, POLICY)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Relation.DUPLICATE),
        ({"value": "SHORT。"}, Relation.DUPLICATE),
        ({"attribute": "Reply_Length"}, Relation.DUPLICATE),
        ({"value": "long"}, Relation.EXCLUSIVE),
        ({"polarity": "-"}, Relation.EXCLUSIVE),
        ({"value": "long", "polarity": "-"}, Relation.COMPATIBLE),
        ({"qualifiers": ("in chats",)}, Relation.COMPATIBLE),
        ({"value": "long", "qualifiers": ("in chats",)}, Relation.COMPATIBLE),
        ({"attribute": "tone"}, Relation.COMPATIBLE),
        ({"subject": "sister"}, Relation.UNRELATED),
        ({"item_type": "constraint"}, Relation.COMPATIBLE),
    ],
)
def test_where_both_have_structure_it_decides(changes, expected):
    assert relation({**SLOT, **changes}, SLOT) is expected


@pytest.mark.parametrize(
    ("same", "expected"),
    [
        (0.85, Relation.DUPLICATE),
        (0.8499, Relation.OVERLAP),
        (0.70, Relation.OVERLAP),
        (0.6999, Relation.EXCLUSIVE),
    ],
)
def test_two_wordings_of_one_value_merge_exactly_from_the_duplicate_limit_on(same, expected):
    assert relation({**SLOT, "value": "brief"}, SLOT, same=same) is expected


def test_opposite_polarity_never_merges_whatever_the_likeness():
    """[C1]: every embedder scores the opposite above the paraphrase"""
    assert relation({**SLOT, "polarity": "-"}, SLOT, same=1.0) is Relation.EXCLUSIVE


def test_short_code_examples_are_not_code_examples():
    """G 5.4"""
    plain = {"attribute": "examples", "value": "code"}

    assert relation({**plain, "qualifiers": ("short",)}, plain, same=1.0) is Relation.COMPATIBLE


def test_qualifiers_are_compared_as_a_set_and_folded():
    said, stored = ("Short", "typed "), ("typed", "short")

    found = relation({**SLOT, "qualifiers": said}, {**SLOT, "qualifiers": stored})
    assert found is Relation.DUPLICATE


def test_hobbies_live_side_by_side():
    hobby = {"attribute": "hobby", "value": "chess"}

    assert relation({**hobby, "value": "tea"}, hobby) is Relation.COMPATIBLE
    assert relation({**hobby, "polarity": "-"}, hobby) is Relation.EXCLUSIVE
    assert cardinality(" Hobby ", POLICY) is Cardinality.MANY
    assert cardinality("city", POLICY) is Cardinality.ONE


def test_two_things_denied_can_both_be_denied():
    no = {"polarity": Polarity.NEGATIVE}

    assert relation({**SLOT, "value": "long", **no}, {**SLOT, **no}) is Relation.COMPATIBLE


@pytest.mark.parametrize(
    ("same", "conflicting", "expected"),
    [
        (0.95, 0.0, Relation.DUPLICATE),
        (0.9499, 0.0, Relation.OVERLAP),
        (0.70, 0.0, Relation.OVERLAP),
        (0.6999, 0.0, Relation.COMPATIBLE),
        (0.1, 0.70, Relation.EXCLUSIVE),
        (0.1, 0.6999, Relation.COMPATIBLE),
        (0.8, 0.75, Relation.OVERLAP),
        (0.75, 0.75, Relation.EXCLUSIVE),
    ],
)
@pytest.mark.parametrize("stored", [{}, {"attribute": "reply_length"}])
def test_where_structure_is_missing_the_likeness_decides(same, conflicting, expected, stored):
    assert relation(SLOT, stored, same=same, conflicting=conflicting) is expected


@pytest.mark.parametrize(
    "difference", [{"item_type": "fact"}, {"polarity": "-"}, {"qualifiers": ("loud",)}]
)
def test_without_structure_another_type_polarity_or_qualifier_never_merges(difference):
    assert relation(difference, {}, same=1.0) is not Relation.DUPLICATE


def test_the_same_sentence_is_the_same_statement_though_nothing_was_read_out_of_it():
    candidate, item = a_candidate("用户喜欢茶。"), an_item("用户喜欢茶")
    unlike = Likeness(same=0.0, conflicting=0.0, cosine=0.0)

    assert relate(candidate, item, unlike, POLICY) is Relation.DUPLICATE


def test_a_trait_does_not_exclude_a_state():
    assert relation({"item_type": "fact"}, {}, conflicting=0.9) is Relation.COMPATIBLE


# --- corrections and order


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"correction": True}, True),
        ({"correction": False}, False),
        ({"correction": True, "evidence": "implied"}, False),
        ({"correction": True, "evidence": "emotional"}, False),
    ],
)
def test_only_what_is_said_plainly_corrects(fields, expected):
    assert is_explicit_correction(a_candidate(**fields)) is expected


@pytest.mark.parametrize(("seconds", "expected"), [(-1, False), (0, True), (1, True)])
def test_a_correction_corrects_what_was_last_said_before_it(seconds, expected):
    proposal = a_proposal(
        a_candidate(correction=True), at=MONDAY + timedelta(seconds=seconds)
    )

    assert corrects(proposal, an_item(last_seen_at=MONDAY)) is expected


@pytest.mark.parametrize("stored", list(ItemType))
@pytest.mark.parametrize("said", list(ItemType))
def test_states_follow_and_traits_resist(said, stored):
    """[C2]"""
    traits = {ItemType.IDENTITY, ItemType.PREFERENCE, ItemType.CONSTRAINT}
    candidate, item = a_candidate(item_type=said), an_item(item_type=stored)

    assert follows(candidate, item) is (not {said, stored} & traits)


@pytest.mark.parametrize("evidence", ["implied", "emotional"])
def test_a_state_follows_explicit_words_only(evidence):
    candidate = a_candidate(item_type=ItemType.FACT, evidence=evidence)

    assert not follows(candidate, an_item(item_type=ItemType.FACT))


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"overlap": 0.9}, "overlap"),
        ({"duplicate": 0.99}, "duplicate"),
        ({"conflict": 1.1}, "conflict"),
        ({"partner_gate": -1.1}, "partner_gate"),
        ({"partner_limit": 0}, "partner_limit"),
        ({"settle_lead": 0}, "settle_lead"),
    ],
)
def test_numbers_that_make_no_sense_are_named(fields, word):
    (problem,) = SimilarityPolicy(**fields).problems()

    assert word in problem


# --- a correction that names what it leaves, and a value that only says more


LEFT = {"attribute": "database", "value": "MySQL", "qualifiers": ("Bluebird",)}
NAMED = {"attribute": "database", "value": "PostgreSQL", "correction": True}


@pytest.mark.parametrize(
    ("said", "content", "stored", "expected"),
    [
        ({}, "We left MySQL for PostgreSQL", {}, Relation.EXCLUSIVE),
        ({"correction": False}, "We left MySQL for PostgreSQL", {}, Relation.COMPATIBLE),
        ({}, "We use PostgreSQL from now on", {}, Relation.COMPATIBLE),
        ({"qualifiers": ("Heron",)}, "We left MySQL", {}, Relation.COMPATIBLE),
        ({"polarity": "-"}, "We left MySQL", {}, Relation.COMPATIBLE),
        ({"value": "mysql"}, "It is MySQL everywhere now", {}, Relation.COMPATIBLE),
        ({"qualifiers": ("Heron",)}, "We left MySQL", {"qualifiers": ()}, Relation.EXCLUSIVE),
    ],
)
def test_a_correction_that_names_the_value_it_leaves_means_it_without_its_qualifier(
    said, content, stored, expected
):
    """[C1, C2]: unless the correction has a qualifier of its own"""
    candidate = a_candidate(content, **{**NAMED, **said})
    item = an_item("The project uses MySQL", **{**LEFT, **stored})
    apart = Likeness(same=0.0, conflicting=0.0, cosine=0.0)

    assert relate(candidate, item, apart, POLICY) is expected


@pytest.mark.parametrize(
    ("said", "stored", "expected"),
    [
        ("nurse in Leeds", "nurse", Relation.OVERLAP),
        ("nurse", "nurse in Leeds", Relation.OVERLAP),
        ("nurse in Leeds", "nurse in York", Relation.EXCLUSIVE),
        ("man beats dog", "dog beats man", Relation.EXCLUSIVE),
        ("?!", "nurse", Relation.EXCLUSIVE),
        ("nurse", "?!", Relation.EXCLUSIVE),
    ],
)
def test_a_value_that_only_says_more_is_an_overlap(said, stored, expected):
    """[C1]: a nurse in Leeds is still a nurse"""
    slot = {"attribute": "occupation"}

    assert relation({**slot, "value": said}, {**slot, "value": stored}) is expected


def test_a_slot_has_one_name_whatever_it_is_called():
    """[C1]"""
    policy = SimilarityPolicy(
        aliases={"response_length": "reply_length", "pastime": "hobby"},
        many_valued=frozenset({"hobby", "side project"}),
    )

    assert slot_of("Response length", policy) == slot_of("reply-length", policy) == "reply_length"
    assert cardinality("pastime", policy) is Cardinality.MANY
    assert cardinality("Side project", policy) is Cardinality.MANY
    assert cardinality("Response length", policy) is Cardinality.ONE
