"""decide: both gates in order for one candidate. Read the two articles beside it.

    message → extract → admission gate → dedupe → conflict → freeze gate → status → persist

The order below differs in one point, by [A4]: the admission gate judges *entry*, so a candidate
is first compared with what is stored. A restatement is a signal and asks for no entry; a challenge
to a frozen item meets the freeze gate; only a statement that is new comes before the admission
gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from dualgate.domain import admission, challenge
from dualgate.domain.case import Case, Related
from dualgate.domain.conflict import Relation, corrects, follows, relate
from dualgate.domain.draft import Draft, numbers_of
from dualgate.domain.items import MemoryItem, Proposal, folded
from dualgate.domain.merging import (
    confirm,
    contradict,
    new_item,
    reactivate,
    settle,
    signal_of,
    supersede,
)
from dualgate.domain.plan import Actor, Note, Outcome, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.score import live_score
from dualgate.domain.status import HOT, LIVE, Cause, Status
from dualgate.domain.types import Evidence, Scope
from dualgate.domain.view import Partner, View
from dualgate.domain.weathering import weathers


def decide(proposal: Proposal, view: View, policy: GatePolicy, now: datetime) -> Plan:
    """Return what happens to one candidate, with the numbers that decided it [W2]."""
    draft = Draft(view.snapshot, policy, now, Actor.CONVERSATION)
    case = Case(proposal, _weathered(draft, view, proposal), policy, draft)
    for step in (
        _refuse_at_the_door,
        _keep_for_the_task,
        _meet_the_freeze_gate,
        _merge,
        _follow_or_contest,
    ):
        plan = step(case)
        if plan is not None:
            return plan
    return _ask_for_entry(case)


def _weathered(draft: Draft, view: View, proposal: Proposal) -> View:
    """Let go what went unused for too long before it is challenged, upkeep or not [F5].

    Who comes back after months speaks before the upkeep runs; what he says must not be parked
    against an item that is frozen by oversight.
    """
    policy = draft.policy
    for partner in view.partners:
        item = draft.current(partner.item)
        if item.status is Status.FROZEN and weathers(item, draft.now, policy.weathering):
            relation = relate(proposal.candidate, item, partner.likeness, policy.similarity)
            if relation is Relation.EXCLUSIVE:
                draft.weather(item)
    now = tuple(_current(p, draft) for p in view.partners)
    return replace(view, partners=now)


def _current(partner: Partner, draft: Draft) -> Partner:
    item = draft.current(partner.item)
    return partner if item is partner.item else replace(partner, item=item)


def _refuse_at_the_door(case: Case) -> Plan | None:
    """Too unsure, already over, or an echo of what we said ourselves [M 5.1, W3]."""
    candidate, policy = case.candidate, case.policy
    limit = policy.admission.min_confidence
    if candidate.confidence < limit:
        return case.end(Outcome.REFUSED, "low_confidence", {"min_confidence": limit})
    if candidate.expires_at is not None and candidate.expires_at <= case.draft.now:
        return case.end(Outcome.REFUSED, "expired", {"expires_at": str(candidate.expires_at)})
    quote = folded(candidate.quote)
    for partner in case.view.partners:
        # Nobody speaks of himself in our stored wording: this is context() coming back.
        if quote and quote == folded(partner.item.content) and _is_third_person(quote):
            return case.end(Outcome.IGNORED, "echo", {}, partner.item.id)
    return None


def _keep_for_the_task(case: Case) -> Plan | None:
    """What holds for the task or the moment goes to working memory, never long-term [W4, L2]."""
    if case.candidate.scope is Scope.LASTING:
        return None
    proposal = case.proposal
    case.draft.note(
        Note(
            user_id=proposal.user_id,
            session_id=proposal.session_id,
            key=case.candidate.attribute or proposal.id,
            text=case.candidate.content,
            at=proposal.at,
            task_id=proposal.task_id,
            expires_at=proposal.at + timedelta(hours=case.policy.working.ttl_hours),
        )
    )
    against = case.of(Relation.EXCLUSIVE, frozen=True)
    if against:
        return case.end(
            Outcome.IGNORED, "frozen_not_lasting", against[0].numbers, against[0].item.id
        )
    return case.end(Outcome.WORKING_MEMORY, "not_lasting", {"scope": case.candidate.scope})


def _meet_the_freeze_gate(case: Case) -> Plan | None:
    """A challenge to a frozen item is ignored, held, or overrides it [F3]."""
    against = case.of(Relation.EXCLUSIVE, frozen=True)
    if not against or case.of(Relation.DUPLICATE, frozen=True):
        return None
    verdict = challenge.meet(case.draft, case.proposal, against[0].partner, case.view.challenges)
    if verdict.outcome is not None:
        numbers = {**against[0].numbers, **verdict.numbers}
        return case.end(
            verdict.outcome, verdict.reason, numbers, against[0].item.id, verdict.pending_id
        )
    # An explicit correction: the new version replaces every frozen and unfrozen rival at once.
    return _replace(case, [*against, *case.of(Relation.EXCLUSIVE, frozen=False)],
                    verdict.reason, Status.CONFIRMED)  # fmt: skip


def _merge(case: Case) -> Plan | None:
    """A restatement is a signal, whatever its score [A4, C1]."""
    same = case.of(Relation.DUPLICATE, frozen=True) or case.of(Relation.DUPLICATE)
    if not same:
        return None
    found, draft = same[0], case.draft
    item = confirm(draft, found.item, case.proposal, found.partner.signals_here)
    item = reactivate(draft, item, case.candidate.confidence)
    for rival in _rivals(case, item):
        rival_now, item = draft.current(rival.item), draft.current(item)
        if rival_now.status not in LIVE:
            continue  # settled a moment ago
        if corrects(case.proposal, rival_now):
            supersede(draft, rival_now, item.id, {"correction": True})
        elif follows(case.candidate, rival_now) and case.proposal.at >= rival_now.last_seen_at:
            supersede(draft, rival_now, item.id, {"newer": True})
        elif rival_now.id in item.contested_with:
            contradict(draft, rival_now, case.proposal, rival.partner.signals_here)
        elif found.item.status is Status.ARCHIVED and {item.status, rival_now.status} <= HOT:
            # It comes back to a slot that another value has taken meanwhile.
            draft.contest(item, rival_now)
    item = settle(draft, draft.current(item))
    numbers = {
        **found.numbers,
        "confirm_count": item.confirm_count,
        "support": item.support,
        "status": item.status,
    }
    return case.end(Outcome.MERGED, "restated", numbers, item.id)


def _follow_or_contest(case: Case) -> Plan | None:
    """States follow the newer word, traits resist [C1, C2]."""
    rivals = case.of(Relation.EXCLUSIVE, frozen=False)
    if not rivals:
        return None
    if all(corrects(case.proposal, r.item) for r in rivals):
        return _replace(case, rivals, "correction", Status.CONFIRMED)
    latest = max(r.item.last_seen_at for r in rivals)
    if all(follows(case.candidate, r.item) for r in rivals):
        if case.proposal.at < latest:
            return case.end(
                Outcome.REFUSED, "outdated", {"known_since": str(latest)}, rivals[0].item.id
            )
        return _replace(case, rivals, "newer_value", Status.CANDIDATE)
    calm = [r for r in rivals if r.item.calm_confidence > 0]
    outburst = case.candidate.evidence is Evidence.EMOTIONAL
    if outburst and calm and not case.policy.similarity.outbursts_contest:
        return _hear_out(case, calm)
    return _contest(case, rivals)


def _hear_out(case: Case, rivals: Sequence[Related]) -> Plan:
    """An outburst against what was said calmly costs it half a confirmation, and no more [F2]."""
    for rival in rivals:
        now = case.draft.current(rival.item)
        contradict(case.draft, now, case.proposal, rival.partner.signals_here)
    return case.end(Outcome.IGNORED, "outburst", rivals[0].numbers, rivals[0].item.id)


def _contest(case: Case, rivals: Sequence[Related]) -> Plan:
    """Both stay, marked; the older loses one confirmation [C1].

    Only what is hot takes part: a contest with the archive could not be settled by either side's
    confirmations, and would bar the newcomer from freezing for ever [F1]. It is not settled at
    once, either: the lead of [C2] is one that is shown first.
    """
    draft = case.draft
    item = new_item(draft, case.proposal)
    numbers = {**rivals[0].numbers, **_entry_numbers(case, item), "rivals": len(rivals)}
    refused = _entry(case, item)
    if refused is not None:
        return refused
    for rival in rivals:
        rival_now = draft.current(rival.item)
        rival_now = contradict(draft, rival_now, case.proposal, rival.partner.signals_here)
        if rival_now.status in HOT:
            draft.contest(draft.current(item), rival_now)
    if not draft.current(item).contested:
        return case.end(Outcome.ADMITTED, "new", numbers, item.id)
    return case.end(Outcome.CONTESTED, "contradiction", numbers, item.id)


def _replace(
    case: Case, rivals: Sequence[Related], reason: str, status: Status
) -> Plan:
    """The candidate becomes the new version of the first rival; all rivals are superseded."""
    draft, first = case.draft, rivals[0].item
    version = max(r.item.version for r in rivals) + 1
    item = new_item(draft, case.proposal, override_of=first.id, version=version)
    for rival in rivals:
        draft.hear(signal_of(case.proposal, rival.item.id, agrees=False))
        challenge.end_all(draft, rival.item.id)
        supersede(draft, draft.current(rival.item), item.id, {"reason": reason})
    same = case.of(Relation.DUPLICATE, frozen=False)
    if same:
        # The new value is known already, from before or from the other side of a contest.
        known = draft.current(same[0].item)
        item = confirm(draft, known, case.proposal, same[0].partner.signals_here)
        if item.status is Status.ARCHIVED:
            item = reactivate(draft, item, case.candidate.confidence, force=True)
        item = draft.put(item.with_(override_of=first.id, version=max(item.version, version)))
        if item.status is Status.CANDIDATE and status is Status.CONFIRMED:
            item = draft.shift(item, Cause.CONFIRMED, numbers={"correction": True})
        for rival in rivals:
            draft.put(draft.current(rival.item).with_(superseded_by=item.id))
    else:
        draft.hear(signal_of(case.proposal, item.id, agrees=True))
        # It takes the place of what it replaces: a clear change is never lost to a full pool.
        draft.enter_hot(item, Cause.REPLACED_ANOTHER, status, is_new=True, force=True)
    numbers = {**rivals[0].numbers, "replaced": first.id, "version": version,
               "was": first.status}  # fmt: skip
    return case.end(Outcome.SUPERSEDED, reason, numbers, item.id)


def _ask_for_entry(case: Case) -> Plan:
    """The bounded gate: a new statement enters, displaces the weakest, or is refused [A3-A5]."""
    item = new_item(case.draft, case.proposal)
    overlaps = case.of(Relation.OVERLAP)
    numbers: dict[str, Any] = dict(overlaps[0].numbers) if overlaps else {}
    # Before it enters: what is recorded is the threshold that it met [W2].
    numbers |= _entry_numbers(case, item)
    refused = _entry(case, item)
    if refused is not None:
        return refused
    # [C1] in doubt keep both.
    reason = "overlap_kept_apart" if overlaps else "new"
    return case.end(Outcome.ADMITTED, reason, numbers, item.id)


def _entry(case: Case, item: MemoryItem) -> Plan | None:
    """Bring a new item into the hot pool, or return the refusal."""
    draft, policy = case.draft, case.policy
    mine = live_score(item, draft.now, policy.score)
    verdict = admission.judge(mine, draft.scores(), draft.protected(), policy.admission)
    numbers = _entry_numbers(case, item)
    if isinstance(verdict, admission.Refuse):
        return case.end(Outcome.REFUSED, verdict.reason, numbers)
    draft.hear(signal_of(case.proposal, item.id, agrees=True))
    draft.enter_hot(item, Cause.ADMITTED, Status.CANDIDATE, numbers, is_new=True)
    return None


def _entry_numbers(case: Case, item: MemoryItem) -> dict[str, Any]:
    mine = live_score(item, case.draft.now, case.policy.score)
    parts = {"score": mine, "importance": item.importance, "support": item.support}
    return numbers_of(case.draft, parts)


def _rivals(case: Case, item: MemoryItem) -> list[Related]:
    """Return the live items that say otherwise and are not frozen."""
    return [r for r in case.of(Relation.EXCLUSIVE, frozen=False) if r.item.id != item.id]


def _is_third_person(text: str) -> bool:
    return text.startswith(("用户", "user ", "the user"))
