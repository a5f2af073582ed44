"""Simulated users: a true, slowly changing profile, and the sessions in which it shows.

Rule: everything follows from the seed; what is true at each moment is known, and so is what each
turn is: a confirmation, a mood, a request for once, somebody else's trait, …
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from words import Slot, Words, words

START = datetime(2026, 3, 2, tzinfo=UTC)
ZONES = {"zh": ZoneInfo("Asia/Shanghai"), "en": ZoneInfo("Europe/Berlin")}
# Turns that state what holds; every other kind is noise for a long-term memory.
TRUE_KINDS = frozenset({"state", "change", "lived"})
# Noise that pulls a slot to another value.
PULL_KINDS = frozenset({"once", "push", "rant"})


@dataclass(frozen=True)
class Label:
    """What a turn really is. keys: words one of which a line must hold to state the value."""

    kind: str
    slot: str = ""
    value: str = ""
    keys: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    item_type: str = ""
    about: str = ""


@dataclass(frozen=True)
class Said:
    """One turn."""

    id: str
    role: str
    text: str
    label: Label


@dataclass
class Session:
    """One session: the first turn is its opening; needs: slots the assistant has to know."""

    id: str
    at: datetime
    turns: list[Said] = field(default_factory=list)
    needs: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Change:
    """A real change: explicit (said clearly) or lived. at: the first turn that shows it."""

    how: str
    slot: str
    at: datetime
    old: str
    new: str


@dataclass
class Life:
    """One user's months. truth: slot -> [(since, value), …]; until: slots that end."""

    user: str
    lang: str
    days: int
    sessions: list[Session] = field(default_factory=list)
    truth: dict[str, list[tuple[datetime, str]]] = field(default_factory=dict)
    until: dict[str, datetime] = field(default_factory=dict)
    core: set[str] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    # (session, slot): where an explicit change has to be in effect for the first time.
    tried: list[tuple[str, str]] = field(default_factory=list)

    def value(self, slot: str, at: datetime) -> str | None:
        """Return what is true and was told before `at`, if anything."""
        if slot in self.until and at >= self.until[slot]:
            return None
        known = [value for since, value in self.truth.get(slot, ()) if since < at]
        return known[-1] if known else None

    def in_transition(self, slot: str, at: datetime, days: float = 45) -> bool:
        """Whether a lived change of the slot began within the last `days`."""
        return any(
            c.how == "lived" and c.slot == slot and c.at <= at < c.at + timedelta(days=days)
            for c in self.changes
        )


def live(seed: int, number: int, days: int, pool: str) -> Life:
    """Return one user's life; even numbers speak Chinese, odd ones English."""
    lang = "zh" if number % 2 == 0 else "en"
    chance = random.Random(f"{seed}:{number}:{days}:{pool}")
    life = Life(f"user-{seed}-{number}", lang, days)
    return _Writer(life, words(lang, pool), chance).write()


class _Writer:
    def __init__(self, life: Life, said: Words, chance: random.Random) -> None:
        self.life, self.words, self.chance = life, said, chance
        self.mine: dict[str, Slot] = {}  # slot name in this life -> its words
        self.project: dict[str, str] = {}  # slot name -> project name
        self.current: list[str] = []  # per session: the project it may be about
        self.busy: dict[str, list[tuple[int, int]]] = {}  # slot -> sessions taken by an arc
        self.plans: list[list[tuple[str, str, str]]] = []  # per session: (act, slot, value)

    # --- the plan

    def write(self) -> Life:
        self._calendar()
        self.plans = [[] for _ in self.life.sessions]
        self._profile()
        self._projects()
        self._promises()
        self._changes()
        self._pulls()
        self._confirmations()
        for index, session in enumerate(self.life.sessions):
            self._speak(index, session)
        self._needs()
        return self.life

    def _calendar(self) -> None:
        zone, day, n = ZONES[self.life.lang], 0.0, 0
        while True:
            day += self.chance.choice((1, 1, 1, 2, 2, 3)) if n else 0
            if self.life.days > 30 and self.chance.random() < 0.02:
                day += 14  # a break: whoever comes back wants to be known
            if day >= self.life.days:
                return
            late = self.chance.random() < 0.15
            hour = self.chance.choice((23, 23, 22) if late else range(8, 20))
            start = (START + timedelta(days=day)).replace(tzinfo=zone)
            at = start.replace(hour=hour, minute=self.chance.randrange(60))
            self.life.sessions.append(Session(f"s{n:03d}", at))
            n += 1

    def _profile(self) -> None:
        wishes = [s for s in self.words.slots.values() if s.orders]
        own = [s for s in self.words.slots.values()
               if not s.orders and not s.of_project and s.name != "promise"]  # fmt: skip
        chosen = [*self.chance.sample(wishes, 6), *self.chance.sample(own, 6)]
        self.chance.shuffle(chosen)
        total = len(self.life.sessions)
        for n, slot in enumerate(chosen):
            # Two thirds of it in the first sessions, the rest in the first half.
            told = n // 2 if n < 8 else self.chance.randrange(4, max(5, total // 2))
            self._begin(slot.name, slot, min(told, total - 1), self.chance.choice(slot.values))
            self.life.core.add(slot.name)

    def _begin(self, name: str, slot: Slot, told: int, value: str) -> None:
        self.mine[name] = slot
        self.life.truth[name] = [(self.life.sessions[told].at, value)]
        self.plans[told].append(("state", name, value))

    def _projects(self) -> None:
        total = len(self.life.sessions)
        names = self.chance.sample(self.words.sentences["project names"],
                                   max(1, self.life.days // 42))  # fmt: skip
        each = -(-total // len(names))
        kinds = [s for s in self.words.slots.values() if s.of_project]
        self.current = [names[i // each] for i in range(total)]
        for n, project in enumerate(names):
            first, last = n * each, min(total, (n + 1) * each) - 1
            for k, kind in enumerate(kinds):
                told = min(last, first if k == 0 else first + self.chance.randrange(6))
                name = f"{project}:{kind.name}"
                self.project[name] = project
                self._begin(name, kind, told, self.chance.choice(kind.values))
                if last + 1 < total:
                    self.life.until[name] = self.life.sessions[last].at + timedelta(hours=1)

    def _promises(self) -> None:
        slot = self.words.slots["promise"]
        values = self.chance.sample(slot.values, min(len(slot.values), self.life.days // 14 + 1))
        for n, value in enumerate(values):
            told = self.chance.randrange(len(self.life.sessions))
            self._begin(f"promise{n}", slot, told, value)
            self.life.until[f"promise{n}"] = self.life.sessions[told].at + timedelta(days=10)

    def _changes(self) -> None:
        months = self.life.days / 30
        for how, rate in (("explicit", 1.6), ("lived", 0.5)):
            count = int(months * rate + self.chance.random())
            for _ in range(count):
                self._change(how)

    def _change(self, how: str) -> None:
        total = len(self.life.sessions)
        arc = 1 if how == "explicit" else min(20, total)
        open_ones = [n for n, s in self.mine.items()
                     if not s.fixed and n not in self.busy and not n.startswith("promise")
                     and (how == "explicit" or n in self.life.core)
                     and (s.orders or "change" in s.sentences)]  # fmt: skip
        if not open_ones:
            return
        name = self.chance.choice(sorted(open_ones))
        told = self._session_after(self.life.truth[name][0][0])
        end = self._session_after(self.life.until.get(name, self.life.sessions[-1].at)) - 1
        if end - told < 6:
            return
        at = self.chance.randrange(told + 4, end)
        slot, old = self.mine[name], self.life.truth[name][-1][1]
        new = self.chance.choice([v for v in slot.values if v != old])
        moment = self.life.sessions[at].at
        self.life.truth[name].append((moment, new))
        self.life.changes.append(Change(how, name, moment, old, new))
        self.busy[name] = [(max(0, at - 3), min(total, at + arc))]
        self.plans[at].append(("change" if how == "explicit" else "lived", name, new))
        if how == "lived":
            for later in range(at + 1, min(total, at + arc)):
                if self.chance.random() < 0.4:
                    self.plans[later].append(("lived", name, new))

    def _session_after(self, at: datetime) -> int:
        return next((i for i, s in enumerate(self.life.sessions) if s.at > at),
                    len(self.life.sessions))  # fmt: skip

    def _pulls(self) -> None:
        """Late-night rants, requests for once, and pressure in one direction over days."""
        for index, session in enumerate(self.life.sessions):
            late = session.at.hour >= 22
            if late and self.chance.random() < 0.7:
                self._pull("rant", index)
            elif self.chance.random() < 0.2:
                self._pull("once", index)
        for _ in range(max(1, self.life.days // 30)):
            first = self.chance.randrange(2, max(3, len(self.life.sessions) - 4))
            slot = self._pull("push", first)
            for index in range(first + 1, min(first + 4, len(self.life.sessions))):
                if slot:
                    self._pull(self.chance.choice(("push", "once")), index, slot)

    def _pull(self, act: str, index: int, slot: str | None = None) -> str | None:
        at = self.life.sessions[index].at
        wished = sorted(n for n in self.life.core if self.mine[n].orders
                        and self.life.value(n, at)
                        and not any(a <= index <= b for a, b in self.busy.get(n, ())))  # fmt: skip
        if slot is None and wished:
            slot = self.chance.choice(wished)
        if slot is None or slot not in wished:
            return None
        true = self.life.value(slot, at)
        other = self.chance.choice([v for v in self.mine[slot].values if v != true])
        self.plans[index].append((act, slot, other))
        return slot

    def _confirmations(self) -> None:
        for index, session in enumerate(self.life.sessions):
            planned = {slot for _, slot, _ in self.plans[index]}
            for name in sorted(self.mine):
                value = self.life.value(name, session.at)
                rate = 0.13 if name in self.life.core else 0.07
                if value is None or name in planned or self.life.in_transition(name, session.at):
                    continue
                if not name.startswith("promise") and self.chance.random() < rate:
                    self.plans[index].append(("state", name, value))

    def _needs(self) -> None:
        """What the assistant has to know: the same for every design, known from the start."""
        settled: set[str] = set()
        for session in self.life.sessions:
            about = session.turns[0].label.about
            for name in sorted(self.mine):
                if self.life.value(name, session.at) is None:
                    continue
                mine = self.project.get(name)
                bears = mine == about if mine else True
                if bears and self.chance.random() < (0.6 if mine else 0.5):
                    session.needs.add(name)
            # A change is needed the next time that it bears on what is talked about.
            for change in self.life.changes:
                mine = self.project.get(change.slot)
                bears = mine is None or mine == about
                said = change.how == "explicit" and change.at < session.at
                if said and bears and change.slot not in settled:
                    settled.add(change.slot)
                    session.needs.add(change.slot)
                    self.life.tried.append((session.id, change.slot))

    # --- the words

    def _speak(self, index: int, session: Session) -> None:
        turns = [self._planned(*plan) for plan in self.plans[index]]
        for kind, rate in (("task", 0.8), ("task", 0.5), ("chat", 0.7), ("chat", 0.4),
                           ("mood", 0.25), ("other", 0.2), ("pasted", 0.07), ("planted", 0.06),
                           ("secret", 0.04)):  # fmt: skip
            if self.chance.random() < rate:
                turns.append(self._noise(kind))
        self.chance.shuffle(turns)
        turns.insert(min(2, len(turns)), ("assistant", *self._noise("assistant")[1:]))
        # Nobody begins with nothing said: the opening is the query of the session.
        turns.insert(0, self._opening(self.current[index]))
        session.turns = [
            Said(f"{session.id}-{n}", role, text, label)
            for n, (role, text, label) in enumerate(turns)
        ]

    def _planned(self, act: str, name: str, value: str) -> tuple[str, str, Label]:
        slot = self.mine[name]
        kind = slot.item_type
        if slot.orders:
            order = self.chance.choice(slot.orders[value])
            frame = self.chance.choice(self.words.frames["state" if act == "lived" else act])
            text = frame.replace("{x}", order.text).replace("{X}", _capital(order.text))
            return "user", text, Label(act, name, value, (order.key,), item_type=kind)
        sentence = self.chance.choice(slot.sentences["change" if act == "change" else "state"])
        old = self.life.truth[name][0][1]
        text = (sentence.replace("{x}", value).replace("{X}", _capital(value))
                .replace("{p}", self.project.get(name, "")).replace("{old}", old)
                .replace("{who}", self.chance.choice(slot.lists.get("who", [""]))))  # fmt: skip
        past = (old,) if act == "change" else ()
        about = self.project.get(name, "")
        return "user", text, Label(act, name, value, _keys(value), past, kind, about)

    def _opening(self, project: str) -> tuple[str, str, Label]:
        about = project if self.chance.random() < 0.6 else ""
        kind = "opening project" if about else "opening other"
        text = self.chance.choice(self.words.sentences[kind])
        return "user", self._filled(text, {"p": [project]}), Label("opening", about=about)

    def _noise(self, kind: str) -> tuple[str, str, Label]:
        lists = {**self.words.lists.get("other", {}), **self.words.lists.get(kind, {})}
        lists["n"] = [str(self.chance.randrange(100, 999))]
        who = self.chance.choice(lists["rel"])
        lists["rel"] = [who]
        text = self._filled(self.chance.choice(self.words.sentences[kind]), lists)
        return "user", text, Label(kind, about=who if kind == "other" else "")

    def _filled(self, text: str, lists: dict[str, list[str]]) -> str:
        lists = {**lists, "thing": self.words.sentences["thing"],
                 "topic": self.words.sentences["topic"]}  # fmt: skip
        for name, values in lists.items():
            text = text.replace("{" + name + "}", self.chance.choice(values))
        return text


_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august")
_DAY = re.compile(r"(?:(\d+)月(\d+)日|(\d+) ([A-Z][a-z]+))$")


def _keys(value: str) -> tuple[str, ...]:
    """Return the words that tell a value; an extractor may write a day as a date.

    >>> _keys("14 April")
    ('14 April', '-04-14')
    """
    day = _DAY.match(value)
    if day is None:
        return (value,)
    month = int(day[1]) if day[1] else _MONTHS.index(day[4].lower()) + 1
    return value, f"-{month:02d}-{int(day[2] or day[3]):02d}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
