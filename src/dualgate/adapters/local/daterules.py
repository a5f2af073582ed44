"""What the date rules of both languages share: the setting, a finding, and choosing the year."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from datetime import date as Day  # noqa: N812  (a field of the same name hides it)

from dualgate.adapters.local.almanac import feast, last_of_month, valid


@dataclass(frozen=True, slots=True)
class Setting:
    """The text that is read and the speaker's today."""

    today: date
    text: str

    def on(self, year: int, month: int, day: int) -> date | None:
        """Return the date, None where there is no such day."""
        return valid(year, month, day)

    def month_day(self, month: int, day: int, past: bool | None) -> date | None:
        """Choose the year of a day without one: ahead, or behind if the clause says so.

        Without a word on tense, a day that has just passed is meant as passed.
        """
        days = [
            found
            for year in (self.today.year - 1, self.today.year, self.today.year + 1)
            if (found := valid(year, month, day)) is not None
        ]
        return self._choose(days, past)

    def feast(self, name: str, past: bool | None) -> date | None:
        """Choose the year of a feast."""
        years = (self.today.year - 1, self.today.year, self.today.year + 1)
        return self._choose([found for year in years if (found := feast(name, year))], past)

    def _choose(self, days: list[date], past: bool | None) -> date | None:
        if not days:
            return None
        if past is True:
            behind = [day for day in days if day <= self.today]
            return max(behind, default=days[0])
        grace = timedelta(days=0 if past is False else 45)
        ahead = [day for day in days if day >= self.today - grace]
        return min(ahead, default=days[-1])

    def day_of_month(self, day: int, past: bool | None) -> date | None:
        """Choose the month of a bare day: the next such day, or the last one in the past."""
        step = -1 if past is True else 1
        year, month = self.today.year, self.today.month
        for _ in range(3):
            found = valid(year, month, day)
            if found is not None and (found - self.today).days * step >= 0:
                return found
            year, month = divmod(year * 12 + month - 1 + step, 12)
            month += 1
        return None

    def weekday(self, weekday: int, past: bool | None) -> date:
        """Return the coming such weekday (today counts), or the last one in the past."""
        if past is True:
            return self.today - timedelta(days=(self.today.weekday() - weekday) % 7)
        return self.today + timedelta(days=(weekday - self.today.weekday()) % 7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding. word_end is where the day's own words end, before any clock time.

    said: the words that stand for it timelessly; None leaves the text as it is. day_named: a day
    number was said, so that "to 5" may follow. clock: only a time of day.
    """

    start: int
    end: int
    word_end: int
    date: Day
    last: Day
    precision: str
    said: str | None = None
    recurring: bool = False
    day_named: bool = False
    clock: bool = False
    zh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a rule makes of its match, before it is placed in the text."""

    date: Day
    last: Day | None = None
    precision: str = "day"
    said: str | None = None
    recurring: bool = False
    day_named: bool = False
    clock: bool = False
    keep: bool = False  # the words are timeless already


Handler = Callable[[re.Match[str], Setting, bool | None], Reading | None]
Rule = tuple[re.Pattern[str], Handler]


def run(
    rules: tuple[Rule, ...], setting: Setting, past: Callable[[int, int], bool | None], *, zh: bool
) -> Iterator[Found]:
    """Yield what the rules find; an earlier rule owns its stretch of the text."""
    taken: list[tuple[int, int]] = []
    for pattern, read in rules:
        for match in pattern.finditer(setting.text):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            try:
                reading = read(match, setting, past(start, end))
            except (ValueError, OverflowError):
                continue  # "last year" in the year 1: the calendar has no such day
            if reading is None:
                continue
            taken.append((start, end))
            yield _placed(_yearly(reading, match, setting.text), match, zh=zh)


_BIRTH = re.compile(r"生日|出生|纪念日|生于|\bborn\b|\bbirthday\b|\banniversary\b", re.IGNORECASE)
_TURNED = re.compile(r"[上下这本去今明前后]|\b(?:last|this|next|end|early|late)\b", re.IGNORECASE)


def _yearly(reading: Reading, match: re.Match[str], text: str) -> Reading:
    """A birthday comes every year; which year somebody was born in March nobody said."""
    dated = reading.day_named or reading.precision == "month"
    near = text[max(0, match.start() - 24) : match.end() + 24]
    if dated and not reading.keep and not _TURNED.search(match[0]) and _BIRTH.search(near):
        return replace(reading, recurring=True)
    return reading


def _placed(reading: Reading, match: re.Match[str], *, zh: bool) -> Found:
    said = None if reading.keep else reading.said or written(reading, zh=zh)
    return Found(
        start=match.start(), end=match.end(), word_end=match.end(), date=reading.date,
        last=reading.last or reading.date, precision=reading.precision, said=said,
        recurring=reading.recurring, day_named=reading.day_named, clock=reading.clock, zh=zh,
    )  # fmt: skip


def written(reading: Reading, *, zh: bool) -> str:
    """Write a reading without reference to today."""
    first, last = reading.date, reading.last or reading.date
    if reading.precision == "year" and (first.month, first.day) == (1, 1):
        return f"{first.year}年" if zh else f"{first.year}"
    if reading.precision == "month" and first.day == 1 and last == last_of_month(first):
        return f"{first.year}年{first.month}月" if zh else f"{first:%B %Y}"
    if first == last:
        return str(first)
    return f"{first} 至 {last}" if zh else f"{first} to {last}"


def with_rest(reading: Reading | None, rest: str) -> Reading | None:
    """Return the reading with a part of the day written after it: 昨晚 → 2026-03-01晚上."""
    if reading is None or not rest:
        return reading
    return replace(reading, said=f"{reading.date}{rest}", precision="time")
