"""What one user's raw turns are found by, in process [R6]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from dualgate.adapters.memory.vectors import VectorRows
from dualgate.domain.transcript import rarity
from dualgate.pipeline.ports import IndexedTurn, PlacedTurn, StoredTurn, Vector, WordedTurns

ASKED_WORDS = 24  # of a question, the rarest


class TurnIndex:
    """The words, vectors and storing times of turns. Vectors of two models lie apart [T3]."""

    def __init__(self) -> None:
        self._entries: dict[str, IndexedTurn] = {}
        self._stored_at: dict[str, datetime] = {}
        self._holders: dict[str, set[str]] = {}
        self._rows: dict[str, VectorRows] = {}

    def put(self, entry: IndexedTurn, now: datetime) -> None:
        """Index a turn in place of what it was found by; it keeps its storing time."""
        stored_at = self._stored_at.get(entry.turn_id, now)
        self.drop(entry.turn_id)
        self._entries[entry.turn_id] = entry
        self._stored_at[entry.turn_id] = stored_at
        for word in entry.words:
            self._holders.setdefault(word, set()).add(entry.turn_id)
        if entry.vector is not None:
            self._rows.setdefault(entry.made_by, VectorRows()).put(entry.turn_id, entry.vector)

    def drop(self, turn_id: str) -> None:
        """Forget the turn, if it is known."""
        entry = self._entries.pop(turn_id, None)
        self._stored_at.pop(turn_id, None)
        if entry is None:
            return
        for word in entry.words:
            self._holders[word].discard(turn_id)
            if not self._holders[word]:
                del self._holders[word]
        if entry.made_by in self._rows:
            self._rows[entry.made_by].drop(turn_id)

    def make_stale(self, turn_id: str) -> None:
        """Take what the turn is found by; it keeps its storing time, and waits for a new index."""
        stored_at = self._stored_at.get(turn_id)
        self.drop(turn_id)
        if stored_at is not None:
            self.keep_time(turn_id, stored_at)

    def keep_time(self, turn_id: str, stored_at: datetime) -> None:
        """Keep since when a turn is stored that nothing finds yet."""
        self._stored_at[turn_id] = stored_at

    def stored_at(self, turn_id: str) -> datetime | None:
        """Return since when a turn is stored; None if upkeep has not seen it yet."""
        return self._stored_at.get(turn_id)

    def has(self, turn_id: str, made_by: str) -> bool:
        """Return whether this index holds the turn."""
        entry = self._entries.get(turn_id)
        return entry is not None and entry.made_by == made_by

    def stored_before(self, moment: datetime) -> list[str]:
        """Return the turns stored before that moment, oldest first."""
        old = [(at, turn_id) for turn_id, at in self._stored_at.items() if at < moment]
        return [turn_id for _, turn_id in sorted(old)]

    def by_words(self, words: Sequence[str], limit: int) -> WordedTurns:
        """Return the turns that hold the rarest of these words."""
        kept = len(self._entries)
        holders = {word: len(self._holders.get(word, ())) for word in words}
        weights = {word: rarity(count, kept) for word, count in holders.items() if count}
        summed: dict[str, float] = {}
        for word in sorted(weights, key=lambda word: (-weights[word], word))[:ASKED_WORDS]:
            for turn_id in self._holders[word]:
                summed[turn_id] = summed.get(turn_id, 0.0) + weights[word]
        best = sorted(summed.items(), key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)]
        return WordedTurns(kept=kept, holders=holders, turns=tuple(best))

    def near(
        self, vector: Vector, made_by: str, limit: int, gate: float
    ) -> list[tuple[str, float]]:
        """Return (turn id, cosine) of the closest turns of this index, best first."""
        rows = self._rows.get(made_by)
        found = {} if rows is None else rows.cosines(vector, gate)
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)]


def placed(
    turn: StoredTurn, session: Iterable[StoredTurn], before: int, after: int
) -> PlacedTurn:
    """Return the turn with its neighbours among its session's turns, given as they were stored."""
    order = [one for one in sorted(session, key=lambda one: one.at) if one.content]
    at = next(place for place, one in enumerate(order) if one.id == turn.id)
    return PlacedTurn(
        turn=turn,
        before=tuple(order[max(0, at - before) : at]),
        after=tuple(order[at + 1 : at + 1 + after]),
    )
