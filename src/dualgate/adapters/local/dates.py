"""Dates in what people say, in their own time zone, and the same sentence made timeless [W4].

Rules of this file:
- It joins what the rules of dates_zh.py and dates_en.py find; which words mean what stands there.
- A bare weekday or month-day points to what lies ahead, unless its clause speaks of the past.
- "next Friday" and 下周五 are the Friday of the next week, weeks beginning on Monday; "last
  Friday" is the most recent one before today; 上周五 is that of the week before.
- Vague words (最近, recently, some day) are no dates: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from datetime import date as Day  # noqa: N812  (a field of the same name hides it)

from dualgate.adapters.local import dates_en, dates_zh
from dualgate.adapters.local.daterules import Found, Setting
from dualgate.domain.items import require_aware


@dataclass(frozen=True, slots=True)
class DateMention:
    """A stretch text[start:end] that names a day or a longer time.

    date is its first day, last its last one; when is the instant that day begins where the speaker
    is. precision is day, week, month, year or time (a day
    with a time of it). recurring: every such day; `date` is then the next one. anchored is False
    for a bare clock time ("at 3 pm"), whose day nothing tells: today is assumed.
    """

    start: int
    end: int
    date: Day
    last: Day
    when: datetime
    precision: str
    recurring: bool = False
    anchored: bool = True


# Pastes of megabytes hold no date we want, and a statement is short.
READING_LIMIT = 20_000

_RANGE = re.compile(r"\s*(?:到|至|[-–—~～]|to|through|until|till|and|和)\s*(?:the\s+)?", re.IGNORECASE)
_DAY_ONLY = re.compile(r"\s*(?:到|至|[-–—~～]|to|through)\s*(\d{1,2})(?:\s*[号日]|st|nd|rd|th)?(?![\d:点:.%])")


def resolve(text: str, at: datetime) -> tuple[DateMention, ...]:
    """Return every date in `text`, in order, relative to `at` in its own offset.

    >>> monday = datetime.fromisoformat("2026-03-02T09:00:00+08:00")
    >>> [str(found.date) for found in resolve("昨天开会，下周三交报告", monday)]
    ['2026-03-01', '2026-03-11']
    """
    return tuple(_mention(found, at) for found in _found(text, at))


def absolute(text: str, at: datetime) -> str:
    """Return the same statement without words that only make sense today.

    >>> monday = datetime.fromisoformat("2026-03-02T09:00:00+08:00")
    >>> absolute("用户昨天升职", monday), absolute("User quit last Friday", monday)
    ('用户2026-03-01升职', 'User quit on 2026-02-27')
    """
    parts: list[str] = []
    position = 0
    for found in _found(text, at):
        if found.said is not None and not found.recurring:
            parts += text[position : found.start], found.said
            position = found.word_end
    return "".join([*parts, text[position:]])


def _found(text: str, at: datetime) -> list[Found]:
    require_aware("at", at)
    read = text[:READING_LIMIT]
    setting = Setting(today=at.date(), text=dates_zh.simplified(read))
    found = [*dates_zh.find(setting), *dates_en.find(setting)]
    # The longest reading of a stretch wins: "下周三下午" over "周三".
    found.sort(key=lambda one: (one.start, -one.word_end))
    apart: list[Found] = []
    for one in found:
        if not apart or one.start >= apart[-1].word_end:
            apart.append(one)
    return list(_ranges(_timed(apart), setting))


def _timed(found: list[Found]) -> list[Found]:
    """Join a day and the clock time right after it: "明天" + "下午三点"."""
    joined: list[Found] = []
    for one in found:
        before = joined[-1] if joined else None
        close = before is not None and one.start - before.end <= 4  # noqa: PLR2004  " at "
        if one.clock and before is not None and close and not before.clock:
            joined[-1] = replace(before, end=one.end, precision="time")
        else:
            joined.append(one)
    return joined


def _ranges(found: list[Found], setting: Setting) -> Iterator[Found]:
    """Join the two ends of a range: "3月1日到5日", "from March 3 to March 5"."""
    index = 0
    while index < len(found):
        one = found[index]
        after = found[index + 1] if index + 1 < len(found) else None
        tail = _DAY_ONLY.match(setting.text, one.end)
        if after is not None and _joins(one, after, setting.text):
            yield replace(
                one, end=after.end, word_end=after.word_end, last=after.last,
                said=None if one.said is after.said is None else _span(one.date, after.last, one.zh),
            )  # fmt: skip
            index += 2
            continue
        if tail and one.day_named and one.date.day < int(tail[1]) <= 31:  # noqa: PLR2004
            last = setting.on(one.date.year, one.date.month, int(tail[1]))
            if last is not None:
                one = replace(
                    one, end=tail.end(), word_end=tail.end(), last=last,
                    said=_span(one.date, last, one.zh),
                )  # fmt: skip
                while index + 1 < len(found) and found[index + 1].start < one.end:
                    index += 1
        yield one
        index += 1


def _joins(one: Found, after: Found, text: str) -> bool:
    between = _RANGE.fullmatch(text, one.end, after.start)
    listed = between is not None and between[0].strip() in {"and", "和"}
    return (
        between is not None
        and not listed
        and one.last < after.date
        and not one.clock
        and not after.clock
        and one.recurring == after.recurring is False
    )


def _span(first: date, last: date, zh: bool) -> str:
    return f"{first} 至 {last}" if zh else f"{first} to {last}"


def _mention(found: Found, at: datetime) -> DateMention:
    return DateMention(
        start=found.start,
        end=found.end,
        date=found.date,
        last=found.last,
        when=datetime.combine(found.date, time.min, tzinfo=at.tzinfo),
        precision=found.precision,
        recurring=found.recurring,
        anchored=not found.clock,
    )
