"""The state machine of an item, as one table [S1].

Rules of this file:
- ARROWS holds every legal move and its cause; `move` is the only function that changes a status.
- Before an item exists its status is None; the first move brings it into being.
- FROZEN has no EVICTED row: a frozen item leaves only by weathering, thawing, correction or the
  user's own word, so capacity pressure cannot erode the profile [F4].
- Replaying the moves of an item from None gives its status again; `replay` does just that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from dualgate.errors import IllegalMoveError


class Status(StrEnum):
    """Where an item stands."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    FROZEN = "frozen"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


HOT = frozenset({Status.CANDIDATE, Status.CONFIRMED})
ACTIVE = HOT | {Status.FROZEN}
LIVE = ACTIVE | {Status.ARCHIVED}


class Cause(StrEnum):
    """Why an item moved. Past tense: it has happened."""

    ADMITTED = "admitted"  # passed the admission gate
    REPLACED_ANOTHER = "replaced_another"  # entered as the newer value of a known item
    CONFIRMED = "confirmed"  # enough confirmations, or the user's own word
    FROZE = "froze"  # all conditions of [F1], or pinned
    WEATHERED = "weathered"  # [F5]
    THAWED = "thawed"  # a long, steady challenge [F3], or unpinned
    DISLIKED = "disliked"  # the user's thumb down, on an item nothing else speaks for
    EVICTED = "evicted"  # lost its hot place to a better one [A5]
    FADED = "faded"  # retention under the limit [D1]
    EXPIRED = "expired"  # its time limit ran out
    REACTIVATED = "reactivated"  # a new strong signal brought it back [A7]
    SUPERSEDED = "superseded"  # a newer or stronger value took its place
    CORRECTED = "corrected"  # the user reworded it: this row keeps the old version
    CROWDED_OUT = "crowded_out"  # the archive is full [A7]
    FORGOT = "forgot"  # the user removed it [P3]
    RESTORED = "restored"  # the user took that back
    ERASED = "erased"  # its bytes are gone, for ever; only this line is left [P3]


_ANY_LIVE = (Status.CANDIDATE, Status.CONFIRMED, Status.FROZEN, Status.ARCHIVED)

ARROWS: Mapping[tuple[Status | None, Cause], frozenset[Status]] = MappingProxyType(
    {
        (None, Cause.ADMITTED): frozenset({Status.CANDIDATE}),
        (None, Cause.REPLACED_ANOTHER): frozenset({Status.CANDIDATE, Status.CONFIRMED}),
        (None, Cause.CORRECTED): frozenset({Status.SUPERSEDED}),
        (Status.CANDIDATE, Cause.CONFIRMED): frozenset({Status.CONFIRMED}),
        (Status.CANDIDATE, Cause.EVICTED): frozenset({Status.ARCHIVED}),
        (Status.CANDIDATE, Cause.FADED): frozenset({Status.ARCHIVED}),
        (Status.CANDIDATE, Cause.DISLIKED): frozenset({Status.ARCHIVED}),
        (Status.CONFIRMED, Cause.DISLIKED): frozenset({Status.ARCHIVED}),
        (Status.FROZEN, Cause.DISLIKED): frozenset({Status.CONFIRMED}),
        (Status.CONFIRMED, Cause.FROZE): frozenset({Status.FROZEN}),
        (Status.CONFIRMED, Cause.EVICTED): frozenset({Status.ARCHIVED}),
        (Status.CONFIRMED, Cause.FADED): frozenset({Status.ARCHIVED}),
        (Status.FROZEN, Cause.WEATHERED): frozenset({Status.CONFIRMED}),
        (Status.FROZEN, Cause.THAWED): frozenset({Status.CONFIRMED}),
        (Status.ARCHIVED, Cause.REACTIVATED): frozenset({Status.CANDIDATE, Status.CONFIRMED}),
        (Status.ARCHIVED, Cause.CROWDED_OUT): frozenset({Status.FORGOTTEN}),
        # A sensitive item whose time is over is forgotten, any other is archived, where [R5]
        # keeps it out of recall but `as_of` can still answer what was believed then.
        **{
            (status, Cause.EXPIRED): frozenset({Status.ARCHIVED, Status.FORGOTTEN})
            for status in (Status.CANDIDATE, Status.CONFIRMED, Status.FROZEN)
        },
        (Status.ARCHIVED, Cause.EXPIRED): frozenset({Status.FORGOTTEN}),
        **{(status, Cause.SUPERSEDED): frozenset({Status.SUPERSEDED}) for status in _ANY_LIVE},
        **{
            (status, Cause.FORGOT): frozenset({Status.FORGOTTEN})
            for status in (*_ANY_LIVE, Status.SUPERSEDED)
        },
        **{(status, Cause.ERASED): frozenset({Status.FORGOTTEN}) for status in Status},
        (Status.FORGOTTEN, Cause.RESTORED): frozenset(
            {Status.CANDIDATE, Status.CONFIRMED, Status.SUPERSEDED}
        ),
        (Status.ARCHIVED, Cause.RESTORED): frozenset({Status.CANDIDATE, Status.CONFIRMED}),
    }
)


def move(status: Status | None, cause: Cause, to: Status | None = None) -> Status:
    """Return the status after `cause`; `to` chooses where the table leaves a choice.

    >>> str(move(Status.CONFIRMED, Cause.FROZE))
    'frozen'
    """
    targets = ARROWS.get((status, cause), frozenset())
    if to is None and len(targets) == 1:
        return next(iter(targets))
    if to is None or to not in targets:
        raise IllegalMoveError("not there yet" if status is None else status, cause)
    return to


def replay(moves: Iterable[tuple[str, Cause, Status]]) -> dict[str, Status]:
    """Rebuild every item's status from (item id, cause, status after), oldest first [S1]."""
    statuses: dict[str, Status] = {}
    for item_id, cause, after in moves:
        statuses[item_id] = move(statuses.get(item_id), cause, after)
    return statuses
