"""Compaction: the oldest turns of a conversation become a summary, without the way there [L1].

    messages → units → (more than 20 turns, or over a budget) → turns to fold → lines → summary

Rule: steps in order. Each gives a smaller list, or none; they are repeated until none does, so
that what comes out stays as it is the next time. Nothing is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dualgate.conversation.folding import CompactPorts, Folded, cost_of, fold
from dualgate.conversation.shapes import HostMessage, checked, role_of, with_short_blocks
from dualgate.conversation.units import Layout, Unit, laid_out
from dualgate.domain.compaction import LASTING, SHORTEST_BLOCK, Cost, turns_to_fold
from dualgate.domain.types import Role
from dualgate.errors import InvalidInputError

SUMMARY_SHARE = 4  # a quarter of a budget is kept free for the summary


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReport:
    """What became of a conversation. Sizes are of text; media are not counted.

    folded: turns that are in the summary now and were not before. kept: lines of the summary by
    kind. left_out: lines there was no room for, by kind. courtesy, passing: sentences passed over
    as greetings and thanks, or as the way there. repeated: lines that were said again later.
    cut_characters: taken out of tool answers and pasted blocks. restored: lines that a model's
    summary lacked.
    """

    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int
    characters_before: int
    characters_after: int
    folded: int
    kept: Mapping[str, int]
    left_out: Mapping[str, int]
    courtesy: int
    passing: int
    repeated: int
    cut_characters: int
    restored: int


class Compacted(list[Any]):
    """The conversation, a list of the host's own messages; `report` says what was dropped.

    Messages that stay are the very objects that were given.
    """

    def __init__(self, messages: Sequence[HostMessage], report: CompactionReport) -> None:
        super().__init__(messages)
        self.report = report


async def compact(messages: object, ports: CompactPorts, budget: int | None = None) -> Compacted:
    """Return the same conversation, shorter; never longer, in tokens or in characters.

    budget: tokens at most, all messages together. Raises InvalidInputError where the system
    messages and the latest turn alone exceed it, however short its blocks are cut.
    """
    given = checked(messages)
    if budget is not None:
        _check_budget(budget)
    work = _Work(ports)
    now: list[HostMessage] = given
    while True:
        smaller = await work.fold_oldest(now)
        if smaller is None and budget is not None and work.size(now).tokens > budget:
            smaller = await work.squeeze(now, budget)
        if smaller is None:
            return Compacted(now, work.report(given, now))
        now = smaller


def _check_budget(budget: object) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        rule = "must be a number of tokens, at least 1, or None"
        raise InvalidInputError("budget", rule, budget)


class _Work:
    """One call: its steps, and what they have counted so far."""

    def __init__(self, ports: CompactPorts) -> None:
        self._ports = ports
        self._counts: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        # By identity; the message is kept beside its cost, so that no other takes its place.
        self._costs: dict[int, tuple[HostMessage, Cost]] = {}

    def size(self, messages: Sequence[HostMessage]) -> Cost:
        """Return what messages cost together."""
        return sum((self._cost(message) for message in messages), Cost())

    async def fold_oldest(self, now: Sequence[HostMessage]) -> list[HostMessage] | None:
        """Fold tens of the oldest turns; None where that gains nothing.

        Where they are too short to make room for what they say, ten more are folded, twice at
        most, while ten stay.
        """
        policy = self._ports.policy
        layout = laid_out(now)
        least = turns_to_fold(layout.turns, policy)
        if not least:
            return None
        # Reading costs time: what twenty more do not gain, all of them hardly will.
        for turns in range(least, least + 3 * policy.fold_turns, policy.fold_turns):
            if turns > max(least, layout.turns - policy.fold_turns):
                break
            folded = await self._fold_strictly(now, layout, _oldest(layout, turns))
            if folded is not None and self._is_smaller(folded.messages, now):
                self._count(folded)
                return folded.messages
        return None

    async def squeeze(self, now: Sequence[HostMessage], budget: int) -> list[HostMessage]:
        """Bring the conversation under a budget, in the order that the guide documents."""
        layout, short = laid_out(now), list(now)
        latest = self._ports.policy.latest_turns
        for place in [place for unit in layout.units[:-latest] for place in unit.places]:
            if self.size(short).tokens > budget:
                short[place] = self._shorter(short[place], self._ports.policy.block_characters)
        if self.size(short).tokens <= budget:
            self._count_cut(now, short)
            return short
        room = budget - self.size([short[place] for place in layout.system]).tokens
        stay = self._latest(short, layout, room)
        short = self._fitted(short, layout.units[len(layout.units) - stay :], room, budget)
        self._count_cut(now, short)
        while True:
            folded = await self._fold_but(short, layout, stay, room)
            if stay <= latest or folded is None or not _loses_lasting(folded):
                break
            stay = max(latest, stay // 2)
        if folded is None:
            return short
        self._count(folded)
        return folded.messages

    def report(self, before: list[HostMessage], after: list[HostMessage]) -> CompactionReport:
        """Return what was counted."""
        was, now = self.size(before), self.size(after)
        lines = Counter(
            str(line.keep)
            for _, summary in laid_out(after).summaries
            for line in summary.lines
        )
        return CompactionReport(
            messages_before=len(before),
            messages_after=len(after),
            tokens_before=was.tokens,
            tokens_after=now.tokens,
            characters_before=was.characters,
            characters_after=now.characters,
            kept=dict(lines),
            left_out=dict(self._left_out),
            **{name: self._counts[name] for name in _COUNTED},
        )

    # --- inside

    async def _fold_strictly(
        self, now: Sequence[HostMessage], layout: Layout, units: Sequence[Unit]
    ) -> Folded | None:
        folded = await self._fold(now, layout, units, strict=True) if units else None
        if folded is None or folded.summarized:
            return folded
        # Some hosts let only the user begin, and here no summary would.
        units = _until_user(now, layout, units)
        return await self._fold(now, layout, units, strict=True) if units else None

    async def _fold_but(
        self, now: Sequence[HostMessage], layout: Layout, stay: int, room: int
    ) -> Folded | None:
        """Fold all but the latest units; the summary has what room they leave."""
        units: Sequence[Unit] = layout.units[: len(layout.units) - stay]
        room -= self._size_of(now, layout.units[len(units) :])
        folded = await self._fold(now, layout, units, strict=False, room=room)
        if folded is None or folded.summarized:
            return folded
        units = _on_to_user(now, layout, units)
        return await self._fold(now, layout, units, strict=False, room=room)

    async def _fold(
        self,
        now: Sequence[HostMessage],
        layout: Layout,
        units: Sequence[Unit],
        *,
        strict: bool,
        room: int | None = None,
    ) -> Folded | None:
        most = self._ports.policy.summary_tokens
        room = most if room is None else min(room, most)
        return await fold(now, layout, units, self._ports, room=room, strict=strict)

    def _latest(self, now: Sequence[HostMessage], layout: Layout, room: int) -> int:
        """Return how many of the latest units stay as they are: what fits, one at least."""
        free = room - min(self._ports.policy.summary_tokens, room // SUMMARY_SHARE)
        kept = 0
        for unit in reversed(layout.units):
            free -= self._size_of(now, [unit])
            if kept and free < 0:
                break
            kept += 1
        return kept

    def _fitted(
        self, now: list[HostMessage], units: Sequence[Unit], room: int, budget: int
    ) -> list[HostMessage]:
        """Return the messages with the blocks of these units cut until they fit."""
        limit = self._ports.policy.block_characters
        short = now
        while (size := self._size_of(short, units)) > room:
            if limit < SHORTEST_BLOCK:
                least = budget - room + size
                raise InvalidInputError(
                    "budget",
                    f"must be at least {least} for these messages: their system messages and the"
                    " latest turn, its long blocks cut, take so many tokens",
                    budget,
                )
            short = list(now)
            for place in [place for unit in units for place in unit.places]:
                short[place] = self._shorter(now[place], limit)
            limit = SHORTEST_BLOCK if SHORTEST_BLOCK < limit < 2 * SHORTEST_BLOCK else limit // 2
        return short

    def _count_cut(self, before: Sequence[HostMessage], after: Sequence[HostMessage]) -> None:
        cut = self.size(before).characters - self.size(after).characters
        self._counts["cut_characters"] += cut

    def _shorter(self, message: HostMessage, limit: int) -> HostMessage:
        short = with_short_blocks(message, limit)
        gains = short is not message and self._cost(short).within(self._cost(message))
        return short if gains else message

    def _size_of(self, now: Sequence[HostMessage], units: Sequence[Unit]) -> int:
        return self.size([now[place] for unit in units for place in unit.places]).tokens

    def _cost(self, message: HostMessage) -> Cost:
        known = self._costs.get(id(message))
        if known is None:
            known = self._costs[id(message)] = message, cost_of(message, self._ports.tokens)
        return known[1]

    def _is_smaller(self, after: list[HostMessage], before: Sequence[HostMessage]) -> bool:
        now, was = self.size(after), self.size(before)
        return now.within(was) and (now != was or len(after) < len(before))

    def _count(self, folded: Folded) -> None:
        self._counts.update(
            folded=folded.turns,
            courtesy=folded.digest.courtesy,
            passing=folded.digest.passing,
            repeated=folded.repeated,
            cut_characters=folded.digest.cut,
            restored=folded.restored,
        )
        self._left_out.update(str(line.keep) for line in folded.left_out)


_COUNTED = ("folded", "courtesy", "passing", "repeated", "cut_characters", "restored")


def _loses_lasting(folded: Folded) -> bool:
    return any(line.keep in LASTING for line in folded.left_out)


def _oldest(layout: Layout, turns: int) -> list[Unit]:
    """Return the oldest units of so many turns; the last unit always stays."""
    units: list[Unit] = []
    for unit in layout.units[:-1]:
        turns -= unit.turns
        if turns < 0:
            break
        units.append(unit)
    return units


def _until_user(
    now: Sequence[HostMessage], layout: Layout, units: Sequence[Unit]
) -> list[Unit]:
    """Return fewer of the units, so that what stays begins with the user if it did before."""
    kept = list(units)
    if not kept or role_of(now[kept[0].places[0]]) is not Role.USER:
        return kept
    while kept and role_of(now[layout.units[len(kept)].places[0]]) is not Role.USER:
        kept.pop()
    return kept


def _on_to_user(
    now: Sequence[HostMessage], layout: Layout, units: Sequence[Unit]
) -> Sequence[Unit]:
    """Return more of the units, so that what stays begins with the user; the same if none does."""
    for count in range(len(units), len(layout.units)):
        if role_of(now[layout.units[count].places[0]]) is Role.USER:
            return layout.units[:count]
    return units
