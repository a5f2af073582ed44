"""What a context block is worth, measured from its lines alone.

Rule: knows lives, lines and their meanings, no design. Sums only, so that results of many users
add up; ratios are made by `page.py`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from designs import Block
from lives import TRUE_KINDS, Life, Session
from reading import Meaning, Reading

# What is no noise: true statements, also old ones, and traits of others said as theirs.
_FINE = TRUE_KINDS | {"past", "part", "about others"}


@dataclass
class Tally:
    """Sums over one life under one design; see `MEASURES` in page.py for what they make."""

    life: Life
    reading: Reading
    sums: Counter[str] = field(default_factory=Counter)
    weeks: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    noise: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    _frozen: set[str] = field(default_factory=set)
    _settled: set[int] = field(default_factory=set)
    _previous: Session | None = None

    def open(self, session: Session, block: Block) -> None:
        """Measure what a session starts with."""
        week = (session.at - self.life.sessions[0].at).days // 7
        sums: Counter[str] = Counter(sessions=1, tokens=block.tokens)
        sums["over_budget"] = int(block.tokens > 1_600)
        plain: dict[str, dict[str, Meaning]] = defaultdict(dict)
        asked: set[str] = set()
        for line in block.lines:
            meaning = self.reading.meaning(line.text)
            sums["shown"] += 1
            if meaning.kind not in _FINE:
                sums["noise"] += 1
                self.noise[meaning.kind] += 1
            sums["others"] += meaning.kind == "about others"
            if meaning.value and line.contested:
                asked.add(meaning.slot)
            elif meaning.value:
                known = plain[meaning.slot].get(meaning.value)
                plain[meaning.slot][meaning.value] = (
                    known if known is not None and known.true_origin else meaning
                )
            if line.frozen:
                self._freeze(line.text, meaning, session, sums)
        self._needs(session, plain, asked, sums)
        self._core(session, plain, sums)
        self._changes(session, plain, sums)
        sums["contradictions"] = sum(len(values) > 1 for values in plain.values())
        self.sums.update(sums)
        self.weeks[week].update(sums)
        self.sums["tokens_max"] = max(self.sums["tokens_max"], block.tokens)
        self._previous = session

    def _freeze(self, text: str, meaning: Meaning, session: Session, sums: Counter[str]) -> None:
        if text in self._frozen:
            return
        self._frozen.add(text)
        true = self.life.value(meaning.slot, session.at) if meaning.slot else None
        sums["frozen"] += 1
        sums["frozen_false"] += not (meaning.value and meaning.value == true)
        if not (meaning.value and meaning.value == true):
            self.missed[f"frozen: {meaning.kind}"] += 1

    def _needs(
        self, session: Session, plain: dict[str, Any], asked: set[str], sums: Counter[str]
    ) -> None:
        for slot in session.needs:
            true = self.life.value(slot, session.at)
            if true is None:
                continue
            sums["needed"] += 1
            if true in plain[slot] and len(plain[slot]) == 1:
                continue
            sums["explained"] += 1
            self.missed["contested" if slot in asked else
                        "both shown" if true in plain[slot] else
                        "other value" if plain[slot] else "not shown"] += 1  # fmt: skip

    def _core(self, session: Session, plain: dict[str, Any], sums: Counter[str]) -> None:
        for slot in self.life.core:
            true = self.life.value(slot, session.at)
            if true is None or self.life.in_transition(slot, session.at):
                continue
            sums["core"] += 1
            shown = plain[slot]
            if shown and true not in shown and any(not m.true_origin for m in shown.values()):
                sums["drifted"] += 1
                days = 0.0
                if self._previous is not None:
                    days = (session.at - self._previous.at).total_seconds() / 86_400
                sums["drift_days"] += min(days, 14.0)  # type: ignore[assignment]

    def _changes(self, session: Session, plain: dict[str, Any], sums: Counter[str]) -> None:
        for number, change in enumerate(self.life.changes):
            if number in self._settled or change.at >= session.at:
                continue
            shown = plain[change.slot]
            in_effect = change.new in shown and change.old not in shown
            if change.how == "explicit":
                if (session.id, change.slot) not in self.life.tried:
                    continue
                self._settled.add(number)
                sums["corrections"] += 1
                sums["corrections_lost"] += not in_effect
                if not in_effect:
                    self.missed["correction: " + ("both shown" if change.new in shown else
                                                  "old shown" if change.old in shown else
                                                  "not shown")] += 1  # fmt: skip
            elif in_effect:
                self._settled.add(number)
                sums["lived_seen"] += 1
                sums["lag_days"] += (session.at - change.at).total_seconds() / 86_400  # type: ignore[assignment]

    def close(self) -> dict[str, Any]:
        """Return the sums as plain data."""
        last = self.life.sessions[-1].at
        lived = [(n, c) for n, c in enumerate(self.life.changes) if c.how == "lived"]
        self.sums["lived"] = len(lived)
        for number, change in lived:
            if number not in self._settled:  # it counts as long as the life went on
                self.sums["lag_days"] += (last - change.at).total_seconds() / 86_400  # type: ignore[assignment]
        return {"sums": dict(self.sums), "noise": dict(self.noise), "missed": dict(self.missed),
                "weeks": {str(w): dict(c) for w, c in self.weeks.items()}}  # fmt: skip
