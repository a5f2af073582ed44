"""One candidate before the gates: who stands nearest to it, and how its case ends [W2]."""

from __future__ import annotations

import pytest

from dualgate.domain.case import Case
from dualgate.domain.conflict import Relation
from dualgate.domain.draft import Draft
from dualgate.domain.plan import Actor, Decision, Outcome
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Status
from dualgate.domain.view import Likeness, Partner, Snapshot, View
from dualgate.testing.builders import MONDAY, SESSION, USER, a_proposal, an_item

POLICY = GatePolicy()


def case_of(*partners, **fields):
    """Return the case of a candidate without structure: the likeness alone relates it."""
    snapshot = Snapshot(user_id=USER)
    draft = Draft(snapshot, POLICY, MONDAY, Actor.CONVERSATION)
    view = View(snapshot=snapshot, partners=partners)
    return Case(a_proposal(**fields), view, POLICY, draft)


def partner(item_id, *, same=0.0, conflicting=0.0, status=Status.CANDIDATE):
    item = an_item(f"said as {item_id}", id=item_id, status=status)
    return Partner(
        item=item, likeness=Likeness(same=same, conflicting=conflicting, cosine=0.9)
    )


@pytest.mark.parametrize(
    ("relation", "weak", "strong"),
    [
        (Relation.DUPLICATE, {"same": 0.96}, {"same": 0.97}),
        (
            Relation.EXCLUSIVE,
            {"same": 0.5, "conflicting": 0.91},
            {"same": 0.1, "conflicting": 0.95},
        ),
        (
            Relation.OVERLAP,
            {"same": 0.8, "conflicting": 0.1},
            {"same": 0.75, "conflicting": 0.2},
        ),
    ],
)
def test_the_likeliest_comes_first_and_what_is_hot_before_what_is_not(relation, weak, strong):
    """[C1]: of duplicates the one most surely the same, else the one most surely in conflict"""
    case = case_of(
        partner("weak", **weak),
        partner("archived", **strong, status=Status.ARCHIVED),
        partner("strong", **strong),
        partner("unlike"),
    )

    assert [r.item.id for r in case.of(relation)] == ["strong", "weak", "archived"]


@pytest.mark.parametrize(
    ("frozen", "expected"), [(None, ["hot", "cold"]), (True, ["cold"]), (False, ["hot"])]
)
def test_frozen_and_others_can_be_asked_for_apart(frozen, expected):
    case = case_of(
        partner("cold", same=0.99, status=Status.FROZEN), partner("hot", same=0.96)
    )

    assert [r.item.id for r in case.of(Relation.DUPLICATE, frozen=frozen)] == expected


def test_a_case_ends_with_all_that_was_known_when_it_was_decided():
    """[W2]"""
    case = case_of(job_id="job-1")

    plan = case.end(Outcome.HELD, "frozen_held", {"sessions": 1}, "item-9", "pending-9")

    assert plan.decision == Decision(
        id="proposal-1", user_id=USER, session_id=SESSION, at=MONDAY, outcome=Outcome.HELD,
        reason="frozen_held", candidate=case.candidate, item_id="item-9",
        pending_id="pending-9", job_id="job-1", numbers={"confidence": 0.9, "sessions": 1},
    )  # fmt: skip
