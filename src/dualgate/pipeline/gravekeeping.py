"""What was erased is not read again out of old text: the last look, inside the deciding unit [P3].

`observe` looks before it queues (erasing.unerased). Here is what was queued before the erasure,
and what only shows when a text has been read: the erased statement in other words of the turn.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import chain, pairwise

from dualgate.pipeline.erasing import (
    candidate_blocked,
    candidate_marks,
    turn_blocked,
    turn_marks,
    without_words,
)
from dualgate.pipeline.hearing import Heard, Spoken
from dualgate.pipeline.ports import Session, Transaction


async def without_old_turns(tx: Transaction, read: Heard) -> Heard:
    """Return what was heard, less turns that repeat what was erased, and all read out of them."""
    found = await tx.erased(turn_marks(read.turns)) if read.turns else {}
    old = {turn.id for turn in read.turns if turn_blocked(turn, found)} if found else set()
    if not old:
        return read
    left = tuple(one for one in read.spoken if one.candidate.message_id not in old)
    return replace(_less(read, old), spoken=left)


async def without_old_statements(tx: Transaction, read: Heard, session: Session) -> Heard:
    """Return what was heard, with erased statements refused and their words taken out.

    The turn that says one is not kept either, or its words would be back; what else it states is
    decided as ever, without a quote from it.
    """
    marks = (candidate_marks(one.candidate, session.id) for one in read.spoken)
    found = await tx.erased(list(chain.from_iterable(marks))) if read.spoken else {}
    if not found:
        return read
    old = {
        place
        for place, one in enumerate(read.spoken)
        if candidate_blocked(one.candidate, one.at, one.source, session, found)
    }
    turns = {read.spoken[place].candidate.message_id for place in old} - {None}
    spoken = [
        _refused(one) if place in old else _unquoted(one, turns)
        for place, one in enumerate(read.spoken)
    ]
    return replace(_less(read, {str(turn_id) for turn_id in turns}), spoken=tuple(spoken))


def _less(read: Heard, old: Collection[str]) -> Heard:
    # A turn is found by the words of the one before it, too: upkeep indexes those that follow.
    order = [turn.id for turn in read.turns]
    stale = {after for before, after in pairwise(order) if before in old}
    return replace(
        read,
        turns=tuple(turn for turn in read.turns if turn.id not in old),
        entries=tuple(one for one in read.entries if one.turn_id not in {*old, *stale}),
    )


def _refused(one: Spoken) -> Spoken:
    reason = "erased"
    return replace(one, candidate=without_words(one.candidate), flaw=reason)


def _unquoted(one: Spoken, turns: Collection[str | None]) -> Spoken:
    if one.candidate.message_id not in turns or one.candidate.message_id is None:
        return one
    return replace(one, candidate=replace(one.candidate, quote=None))
