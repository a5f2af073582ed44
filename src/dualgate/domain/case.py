"""One candidate before the gates: how it stands to what is stored, and how its case ends [W2]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dualgate.domain.conflict import Relation, relate
from dualgate.domain.draft import Draft
from dualgate.domain.items import MemoryItem, Proposal
from dualgate.domain.plan import Decision, Outcome, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import HOT, Status
from dualgate.domain.view import Partner, View


@dataclass(frozen=True, slots=True)
class Related:
    """A partner and how the candidate stands to it."""

    partner: Partner
    relation: Relation

    @property
    def item(self) -> MemoryItem:
        """The stored item."""
        return self.partner.item

    @property
    def numbers(self) -> dict[str, float | str]:
        """What the comparison measured."""
        likeness = self.partner.likeness
        return {
            "same": likeness.same,
            "conflicting": likeness.conflicting,
            "cosine": likeness.cosine,
            "relation": self.relation,
        }


class Case:
    """One candidate before the gates: what it is, and how it stands to what is stored."""

    def __init__(
        self, proposal: Proposal, view: View, policy: GatePolicy, draft: Draft
    ) -> None:
        self.proposal = proposal
        self.candidate = proposal.candidate
        self.view = view
        self.policy = policy
        self.draft = draft
        self.related = [
            Related(partner, relate(self.candidate, partner.item, partner.likeness,
                                    policy.similarity))
            for partner in view.partners
        ]  # fmt: skip

    def of(self, relation: Relation, *, frozen: bool | None = None) -> list[Related]:
        """Return the related items of this kind, the likeliest first."""
        found = [
            r
            for r in self.related
            if r.relation is relation
            and (frozen is None or (r.item.status is Status.FROZEN) == frozen)
        ]
        strength = "same" if relation is Relation.DUPLICATE else "conflicting"
        found.sort(
            key=lambda r: (r.item.status in HOT, getattr(r.partner.likeness, strength)),
            reverse=True,
        )
        return found

    def end(
        self,
        outcome: Outcome,
        reason: str,
        numbers: Mapping[str, Any],
        item_id: str | None = None,
        pending_id: str | None = None,
    ) -> Plan:
        """Return the plan with its recorded decision."""
        decision = Decision(
            id=self.proposal.id,
            user_id=self.proposal.user_id,
            session_id=self.proposal.session_id,
            at=self.draft.now,
            outcome=outcome,
            reason=reason,
            candidate=self.candidate,
            item_id=item_id,
            pending_id=pending_id,
            job_id=self.proposal.job_id,
            numbers={"confidence": self.candidate.confidence, **numbers},
        )
        return self.draft.plan(decision)
