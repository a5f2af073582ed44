"""The user's own verbs: they always win, and are logged like any other move [F6].

Each verb takes the item and a snapshot and returns a Plan. What a verb adds counts as said by the
user in a session of its own, one a day, so that a like counts once a day.
"""

from __future__ import annotations

from datetime import datetime

from dualgate.domain import challenge
from dualgate.domain.draft import Draft
from dualgate.domain.freezing import may_freeze
from dualgate.domain.items import MemoryItem, folded
from dualgate.domain.merging import raise_status, settle, stand_by, supersede
from dualgate.domain.plan import Actor, Pending, PendingState, Plan
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal, added_support
from dualgate.domain.status import ACTIVE, HOT, LIVE, Cause, Status
from dualgate.domain.types import Evidence, Polarity, Source
from dualgate.domain.view import Snapshot
from dualgate.errors import ConfirmationRequiredError, InvalidInputError


def own_session(now: datetime) -> str:
    """Return the session of the user's own verbs on that day."""
    return f"own:{now.date().isoformat()}"


def like(
    item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime, signal_id: str
) -> Plan:
    """Count one explicit confirmation, once a day [F6]."""
    draft = _draft(item, snapshot, policy, now, LIVE, "like")
    item = _kept(draft.current(item))
    if item.liked_at is None or item.liked_at.date() != now.date():
        draft.hear(_own_signal(item, now, signal_id, agrees=True))
        item = item.with_(
            confirm_count=item.confirm_count + 1,
            spaced_count=item.spaced_count + (item.last_seen_at.date() != now.date()),
            support=added_support(item.support, 0.0, 1.0),
            last_seen_at=max(item.last_seen_at, now),
            liked_at=now,
        )
        stand_by(draft, item, now)
    item = _vouched(draft, item)
    settle(draft, item)
    return draft.plan()


def dislike(
    item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime, signal_id: str
) -> Plan:
    """Take one confirmation off; a frozen item thaws, one that nothing speaks for is archived."""
    draft = _draft(item, snapshot, policy, now, LIVE, "dislike")
    item = draft.current(item)
    draft.hear(_own_signal(item, now, signal_id, agrees=False))
    item = draft.put(item.with_(confirm_count=max(0.0, item.confirm_count - 1), pinned=False))
    numbers = {"confirm_count": item.confirm_count}
    if item.status is Status.FROZEN:
        draft.thaw(item, Cause.DISLIKED, numbers)
    elif item.status in HOT and item.confirm_count == 0:
        draft.archive(item, Cause.DISLIKED, numbers)
    return draft.plan()


def pin(item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime) -> Plan:
    """Protect an item: it freezes as soon as there is a place, and never weathers [F6]."""
    draft = _draft(item, snapshot, policy, now, LIVE, "pin")
    item = _kept(draft.current(item)).with_(pinned=True)
    for rival_id in item.contested_with:
        rival = draft.hot.get(rival_id)
        if rival is not None:
            supersede(draft, rival, item.id, {"pinned": True})
    item = draft.current(draft.put(item.with_(contested_with=())))
    _vouched(draft, item)
    return draft.plan()


def unpin(item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime) -> Plan:
    """Take the protection back; a frozen item stays frozen only if it earned that itself."""
    draft = _draft(item, snapshot, policy, now, LIVE, "unpin")
    item = draft.put(draft.current(item).with_(pinned=False))
    earned = may_freeze(item.with_(status=Status.CONFIRMED, thawed_at=None), policy.freeze)
    if item.status is Status.FROZEN and not earned:
        draft.thaw(item, Cause.THAWED, {"unpinned": True})
    return draft.plan()


def choose(item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime) -> Plan:
    """Settle a contest for this item by its user's word: the others give way to it [C2]."""
    draft = _draft(item, snapshot, policy, now, HOT, "choose")
    item = _contested(draft.current(item))
    losers = [rival for i in item.contested_with if (rival := draft.hot.get(i)) is not None]
    for loser in losers:
        supersede(draft, loser, item.id, {"chosen": True})
    item = _kept(draft.current(item)).with_(contested_with=())
    if item.override_of is None and losers:
        last = max(losers, key=lambda loser: loser.version)
        item = item.with_(override_of=last.id, version=max(item.version, last.version + 1))
    _vouched(draft, item)
    return draft.plan()


def keep_both(item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime) -> Plan:
    """End a contest without a loser: its user says that all of them hold [C2]."""
    draft = _draft(item, snapshot, policy, now, HOT, "keep_both")
    item = _contested(draft.current(item))
    together = [item, *(r for i in item.contested_with if (r := draft.hot.get(i)) is not None)]
    ids = {one.id for one in together}
    for one in together:
        left = () if one.id == item.id else tuple(i for i in one.contested_with if i not in ids)
        _vouched(draft, _kept(draft.current(one)).with_(contested_with=left))
    return draft.plan()


def correct(
    item: MemoryItem,
    content: str,
    snapshot: Snapshot,
    policy: GatePolicy,
    now: datetime,
    version_id: str,
    structure: tuple[str | None, str | None, Polarity, tuple[str, ...]],
) -> Plan:
    """Reword an item: it keeps its id, place, counts and pin; the old version is kept aside.

    version_id names the row that keeps the old wording. structure is (attribute, value, polarity,
    qualifiers) as read from the new content.
    """
    draft = _draft(item, snapshot, policy, now, LIVE, "correct")
    item = draft.current(item)
    if content == item.content:
        _vouched(draft, _kept(item))  # nothing to keep aside: the user has read it and agrees
        return draft.plan()
    old = item.with_(
        id=version_id, superseded_by=item.id, contested_with=(), pinned=False
    )
    draft.shift(
        old, Cause.CORRECTED, Status.SUPERSEDED, {"successor": item.id}, is_new=True
    )
    for rival_id in item.contested_with:
        rival = draft.hot.get(rival_id)
        if rival is not None:
            supersede(draft, rival, item.id, {"correction": True})
    challenge.end_all(draft, item.id)
    twins = _twins(draft, item, content, structure)
    for twin in twins:
        challenge.end_all(draft, twin.id)
        supersede(draft, twin, item.id, {"correction": True})
    attribute, value, polarity, qualifiers = structure
    item = _kept(draft.current(item)).with_(
        pinned=item.pinned or any(twin.pinned for twin in twins),
        confirm_count=max(each.confirm_count for each in (item, *twins)),
        content=content,
        # The slot stays where the new wording does not name another one.
        attribute=attribute or item.attribute,
        value=value,
        polarity=polarity,
        qualifiers=qualifiers,
        # A name that is not in the new wording would go on finding the item [R2].
        entities=tuple(e for e in item.entities if folded(e) in folded(content)),
        override_of=version_id,
        version=item.version + 1,
        contested_with=(),
        last_seen_at=max(item.last_seen_at, now),
    )
    _vouched(draft, item)
    return draft.plan()


def _twins(
    draft: Draft,
    item: MemoryItem,
    content: str,
    structure: tuple[str | None, str | None, Polarity, tuple[str, ...]],
) -> list[MemoryItem]:
    """Return the active items that say already what the item is to say [C1]."""
    others = (
        each
        for each in (*draft.hot.values(), *draft.frozen.values())
        if each.id != item.id and each.subject == item.subject
    )
    return [
        each
        for each in others
        if folded(each.content) == folded(content)
        or (
            None not in structure[:2]
            and (each.attribute, each.value, each.polarity, each.qualifiers) == structure
        )
    ]


def forget(
    item: MemoryItem,
    snapshot: Snapshot,
    policy: GatePolicy,
    now: datetime,
    *,
    confirmed: bool,
) -> Plan:
    """Remove an item, undoably; a frozen one asks once more [F6, P3]."""
    draft = _draft(item, snapshot, policy, now, LIVE | {Status.SUPERSEDED}, "forget")
    item = draft.current(item)
    if item.status is Status.FROZEN and not confirmed:
        raise ConfirmationRequiredError(item.id)
    challenge.end_all(draft, item.id)
    draft.shift(item.with_(pinned=False), Cause.FORGOT)
    return draft.plan()


def restore(item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime) -> Plan:
    """Take a forget back, or bring an archived item back to the hot pool."""
    allowed = frozenset({Status.FORGOTTEN, Status.ARCHIVED})
    draft = _draft(item, snapshot, policy, now, allowed, "restore")
    if item.superseded_by is not None:
        draft.shift(item, Cause.RESTORED, Status.SUPERSEDED)
        return draft.plan()
    to = Status.CONFIRMED if item.was_confirmed else Status.CANDIDATE
    kept = _kept(item).with_(accessed_day=draft.own_day())
    draft.enter_hot(kept, Cause.RESTORED, to, force=True)
    return draft.plan()


def accept(
    pending: Pending, item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime
) -> Plan:
    """Let a pending override win: the frozen item is superseded, the new value confirmed [F3]."""
    draft = _draft(item, snapshot, policy, now, ACTIVE, "accept")
    draft.end_challenge(pending, PendingState.ACCEPTED)
    risen = _kept(challenge.risen_from(draft, pending, own_session(now), now)).with_(
        override_of=item.id, version=item.version + 1, support=1.0, last_seen_at=now
    )
    supersede(draft, draft.current(item), risen.id, {"accepted": True})
    draft.hear(_own_signal(risen, now, pending.id, agrees=True))
    draft.enter_hot(
        risen, Cause.REPLACED_ANOTHER, Status.CONFIRMED, {"accepted": True},
        is_new=True, force=True,
    )  # fmt: skip
    return draft.plan()


def admit(
    pending: Pending, item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime
) -> Plan:
    """Let the frozen item stand and the new value too: its user says that both hold [F6]."""
    draft = _draft(item, snapshot, policy, now, ACTIVE, "keep_both")
    draft.end_challenge(pending, PendingState.ACCEPTED)
    risen = _kept(challenge.risen_from(draft, pending, own_session(now), now)).with_(
        support=1.0, last_seen_at=now
    )
    draft.hear(_own_signal(risen, now, pending.id, agrees=True))
    entered = draft.enter_hot(
        risen, Cause.ADMITTED, Status.CANDIDATE, {"own_word": True}, is_new=True, force=True
    )
    _vouched(draft, entered or risen)
    current = draft.current(item)
    draft.put(current.with_(last_seen_at=max(current.last_seen_at, now)))
    stand_by(draft, current, now)
    return draft.plan()


def reject(
    pending: Pending, item: MemoryItem, snapshot: Snapshot, policy: GatePolicy, now: datetime
) -> Plan:
    """Let the frozen item stand; its user has just spoken for it [F3]."""
    draft = Draft(snapshot, policy, now, Actor.USER)
    draft.end_challenge(pending, PendingState.REJECTED)
    current = draft.current(item)
    if current.status is Status.FROZEN:
        draft.put(current.with_(last_seen_at=max(current.last_seen_at, now)))
        stand_by(draft, current, now)
    return draft.plan()


def _draft(
    item: MemoryItem,
    snapshot: Snapshot,
    policy: GatePolicy,
    now: datetime,
    allowed: frozenset[Status],
    verb: str,
) -> Draft:
    if item.status not in allowed:
        words = " | ".join(sorted(allowed))
        rule = f"{verb} needs an item that is {words}"
        raise InvalidInputError("item_id", rule, str(item.status))
    return Draft(snapshot, policy, now, Actor.USER)


def _contested(item: MemoryItem) -> MemoryItem:
    if not item.contested_with:
        raise InvalidInputError("item_id", "must be a contested item", item.id)
    return item


def _kept(item: MemoryItem) -> MemoryItem:
    """What the user keeps has no time limit any more [P1], and is as sure as can be."""
    return item.with_(
        expires_at=None,
        confidence=1.0,
        calm_confidence=1.0,
        evidence=Evidence.EXPLICIT,
        thawed_at=None,
    )


def _vouched(draft: Draft, item: MemoryItem) -> MemoryItem:
    """The user's own word confirms at once [F1], is a use [D1], and brings an item back."""
    item = draft.put(item.with_(accessed_day=max(item.accessed_day, draft.own_day())))
    if item.status is Status.ARCHIVED:
        entered = draft.enter_hot(item, Cause.REACTIVATED, Status.CONFIRMED, force=True)
        return entered or item
    if item.status is Status.CANDIDATE:
        return draft.shift(item, Cause.CONFIRMED, numbers={"own_word": True})
    return raise_status(draft, item)


def _own_signal(item: MemoryItem, now: datetime, signal_id: str, *, agrees: bool) -> Signal:
    return Signal(
        id=signal_id,
        user_id=item.user_id,
        item_id=item.id,
        session_id=own_session(now),
        at=now,
        confidence=1.0,
        evidence=Evidence.EXPLICIT,
        agrees=agrees,
        source=Source.USER,
    )

