"""English date words, in one table [W4].

Rule: earlier rows own their stretch of the text, so longer and surer readings stand first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

from dualgate.adapters.local.almanac import (
    days_away,
    last_of_month,
    monday_of,
    month_after,
    months_away,
    valid,
)
from dualgate.adapters.local.daterules import Found, Reading, Rule, Setting, run
from dualgate.adapters.local.datewords_en import (
    AHEAD,
    BEHIND,
    FEASTS,
    MONTH,
    MONTHS,
    NEAR,
    NO_DAY,
    NUMBERS,
    PART,
    TH,
    UNIT,
    WEEKDAYS,
    WHOLE_MONTH,
    WHOLE_WEEKDAY,
    N,
    worded,
)


def find(setting: Setting) -> Iterator[Found]:
    """Yield the English dates of the text."""
    if any(character.isascii() and character.isalnum() for character in setting.text):
        for found in run(
            _RULES, setting, lambda start, end: _past(setting.text, start, end), zh=False
        ):
            yield worded(found, setting.text)


def _past(text: str, start: int, end: int) -> bool | None:
    """Whether the clause around a word speaks of the past, of the future, or does not say."""
    before = re.split(r"[.!?;:\n]|, (?:and|but|so)\b", text[max(0, start - 60) : start])[-1]
    after = re.split(r"[.!?;:,\n]", text[end : end + 30], maxsplit=1)[0]
    clause = f"{before} {after}"
    if AHEAD.search(clause):
        return False
    return True if BEHIND.search(clause) else None


def _month(word: str) -> int:
    return (
        "jan feb mar apr may jun jul aug sep oct nov dec".split().index(word[:3].casefold()) + 1
    )


def _weekday(word: str) -> int:
    return "mon tue wed thu fri sat sun".split().index(word[:3].casefold())


def _iso(match: re.Match[str], _setting: Setting, _past: bool | None) -> Reading | None:
    day = valid(int(match[1]), int(match[2]), int(match[3]))
    return None if day is None else Reading(date=day, keep=True)


def _slashed(match: re.Match[str], _setting: Setting, _past: bool | None) -> Reading | None:
    first, second, year = int(match[1]), int(match[2]), int(match[3])
    # 03/04/2026 is two different days on two sides of an ocean: only the sure ones are read.
    sure = first > 12 or second > 12 or first == second  # noqa: PLR2004
    day = valid(year, second, first) if first > 12 else valid(year, first, second)  # noqa: PLR2004
    return Reading(date=day) if sure and day is not None else None


def _dated(
    month: str, day: str, year: str | None, setting: Setting, past: bool | None
) -> Reading | None:
    found = (
        valid(int(year), _month(month), int(day))
        if year
        else setting.month_day(_month(month), int(day), past)
    )
    return None if found is None else Reading(date=found, day_named=True, keep=year is not None)


def _month_first(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    return _dated(match[1], match[2], match[3], setting, past)


def _day_first(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    return _dated(match[2], match[1], match[3], setting, past)


def _month_of_year(match: re.Match[str], _setting: Setting, _past: bool | None) -> Reading | None:
    first = valid(int(match[2]), _month(match[1]), 1)
    if first is None:
        return None
    return Reading(date=first, last=last_of_month(first), precision="month", keep=True)


_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()


def _spelled_day(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    day = _ORDINALS.index(match[1].casefold()) + 1
    return _dated(match[2], str(day), match[3], setting, past)


def _weekday_and_day(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    """Read "Thursday the 5th": the nearest month whose 5th is a Thursday."""
    weekday, number = _weekday(match[1]), int(match[2])
    firsts = [month_after(setting.today, months) for months in range(-6, 7)]
    days = [valid(first.year, first.month, number) for first in firsts]
    fitting = [day for day in days if day is not None and day.weekday() == weekday]
    nearest = min(fitting, key=lambda day: abs((day - setting.today).days), default=None)
    return None if nearest is None else Reading(date=nearest)


def _bare_day(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    turn = match.groupdict().get("turn")
    number = int(match["day"])
    if turn:
        first = month_after(setting.today, {"last": -1, "this": 0, "next": 1}[turn.casefold()])
        found = valid(first.year, first.month, number)
    else:
        found = setting.day_of_month(number, past)
    return None if found is None else Reading(date=found, day_named=True)


def _near_day(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    word = " ".join(match[1].casefold().split())
    found = setting.today + timedelta(days=NEAR[word])
    part = "night" if word in {"tonight", "tonite", "last night"} else match[2]
    if part:
        return Reading(date=found, precision="time", said=f"{found} at night" if part == "night" else
                       f"{found} in the {part}")  # fmt: skip
    return Reading(date=found)


def _this_part(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    said = f"{setting.today} in the {match[1].casefold()}"
    return Reading(date=setting.today, precision="time", said=said)


def _turned_weekday(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    turn, weekday = match[1].casefold(), _weekday(match[2])
    monday = monday_of(setting.today)
    if turn in {"last", "this past", "past"}:
        back = (setting.today.weekday() - weekday - 1) % 7 + 1
        found = setting.today - timedelta(days=back)
    elif turn == "next":
        found = monday + timedelta(days=7 + weekday)
    elif turn == "this":
        found = monday + timedelta(days=weekday)
    else:  # coming, this coming
        found = setting.weekday(weekday, past=False)
    return _part(Reading(date=found), match[3])


def _week_and_weekday(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    turn, weekday = match[2].casefold(), _weekday(match[1])
    shift = {"last": -1, "this": 0, "next": 1}[turn]
    return Reading(date=monday_of(setting.today) + timedelta(days=7 * shift + weekday))


def _plain_weekday(match: re.Match[str], setting: Setting, past: bool | None) -> Reading:
    return _part(Reading(date=setting.weekday(_weekday(match[1]), past)), match[2])


def _part(reading: Reading, part: str | None) -> Reading:
    if not part:
        return reading
    said = f"{reading.date} at {part}" if part in {"night", "noon"} else f"{reading.date} in the {part}"
    return replace(reading, precision="time", said=said)


NTH = "(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th)"


def _nth_weekday(match: re.Match[str], setting: Setting, past: bool | None) -> Reading:
    """Read "the first Tuesday of May"."""
    first = _month_near(_month(match[3]), setting, past)
    ahead = (_weekday(match["weekday"]) - first.weekday()) % 7
    nth = match["nth"].casefold()
    if nth == "last":
        end = last_of_month(first)
        return Reading(date=end - timedelta(days=(end.weekday() - _weekday(match["weekday"])) % 7))
    place = ["first", "second", "third", "fourth"].index(nth) if nth.isalpha() else int(nth[0]) - 1
    return Reading(date=first + timedelta(days=ahead + 7 * place))


def _recurring(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    weekday = match.groupdict().get("weekday")
    day = setting.weekday(_weekday(weekday), past=False) if weekday else setting.today
    return Reading(date=day, recurring=True)


def _turned_unit(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    shift = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}[match[1].casefold().split()[-1]]
    unit, today = match[2].casefold(), setting.today
    if unit in {"week", "weekend"}:
        monday = monday_of(today) + timedelta(weeks=shift)
        first = monday + timedelta(days=5 if unit == "weekend" else 0)
        said = f"the {unit} of {first}"
        return Reading(date=first, last=monday + timedelta(days=6), precision="week", said=said)
    if unit == "month":
        first = month_after(today, shift)
        return Reading(date=first, last=last_of_month(first), precision="month")
    if unit == "year":
        year = today.year + shift
        return Reading(date=date(year, 1, 1), last=date(year, 12, 31), precision="year")
    here = date(today.year, 3 * ((today.month - 1) // 3) + 1, 1)
    first = month_after(here, 3 * shift)
    said = f"Q{(first.month + 2) // 3} {first.year}"
    return Reading(date=first, last=last_of_month(month_after(first, 2)), precision="month", said=said)


_SEASONS = {"spring": (3, 5), "summer": (6, 8), "fall": (9, 11), "autumn": (9, 11), "winter": (12, 12)}


def _season(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    first, last = _SEASONS[match[2].casefold()]
    turn, today = match[1].casefold(), setting.today
    year = today.year
    if turn == "last" and date(year, last, 28) >= today:
        year -= 1
    if turn in {"next", "this coming"} and date(year, first, 1) <= today:
        year += 1
    return Reading(
        date=date(year, first, 1), last=last_of_month(date(year, last, 1)), precision="month",
        said=f"{match[2].casefold()} {year}",
    )  # fmt: skip


def _numbered_week(match: re.Match[str], setting: Setting, past: bool | None) -> Reading:
    first = _month_near(_month(match[2]), setting, past)
    start = {"first": 1, "second": 8, "third": 15, "last": last_of_month(first).day - 6}
    begin = first.replace(day=start[match[1].casefold()])
    return Reading(date=begin, last=begin + timedelta(days=6), precision="week")


def _weekend(_match: re.Match[str], setting: Setting, past: bool | None) -> Reading:
    first = setting.weekday(5, past)
    if past is not True and setting.today.weekday() == 6:  # noqa: PLR2004  it is Sunday
        first = setting.today - timedelta(days=1)
    return Reading(date=first, last=first + timedelta(days=1), precision="week")


def _week_after_next(_match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    first = monday_of(setting.today) + timedelta(weeks=2)
    said = f"the week of {first}"
    return Reading(date=first, last=first + timedelta(days=6), precision="week", said=said)


def _end_of(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    part, what = match[1].casefold(), match[2].casefold()
    today = setting.today
    shift = {"last": -1, "next": 1}.get(what.split()[0], 0)
    unit = what.split()[-1]
    if unit == "day":
        return Reading(date=today)
    if unit == "week":
        monday = monday_of(today) + timedelta(weeks=shift)
        return _pick(part, monday, monday + timedelta(days=4))
    if unit == "year":
        return _pick(part, date(today.year + shift, 1, 1), date(today.year + shift, 12, 31))
    if unit == "quarter":
        first = month_after(date(today.year, 3 * ((today.month - 1) // 3) + 1, 1), 3 * shift)
        return _pick(part, first, last_of_month(month_after(first, 2)))
    first = (
        month_after(today, shift)
        if unit == "month"
        else _month_near(_month(unit), setting, past)
    )
    return _pick(part, first, last_of_month(first))


def _pick(part: str, first: date, last: date) -> Reading:
    if part == "end":
        return Reading(date=last)
    if part in {"start", "beginning", "early"}:
        return Reading(date=first, last=min(last, first + timedelta(days=9)), precision="week")
    middle = first + (last - first) // 2
    return Reading(date=middle - timedelta(days=5), last=middle + timedelta(days=5), precision="week")


def _month_near(month: int, setting: Setting, past: bool | None) -> date:
    year = setting.today.year
    if past is True and month > setting.today.month:
        year -= 1
    elif past is not True and month < setting.today.month - (0 if past is False else 2):
        year += 1
    return date(year, month, 1)


def _in_month(match: re.Match[str], setting: Setting, past: bool | None) -> Reading:
    turn = match[1].casefold()
    first = _month_near(_month(match[2]), setting, past)
    if turn == "last" and first >= setting.today.replace(day=1):
        first = first.replace(year=first.year - 1)
    elif turn == "next" and first <= setting.today:
        first = first.replace(year=first.year + 1)
    return Reading(date=first, last=last_of_month(first), precision="month")


def _bare_month(match: re.Match[str], setting: Setting, past: bool | None) -> Reading:
    first = _month_near(_month(match[1]), setting, past)
    return Reading(date=first, last=last_of_month(first), precision="month")


def _part_of_month(match: re.Match[str], setting: Setting, past: bool | None) -> Reading:
    first = _month_near(_month(match[2]), setting, past)
    last = last_of_month(first)
    spans = {"early": (1, 10), "mid": (10, 20), "late": (21, last.day)}
    start, stop = spans[match[1].casefold()]
    return Reading(date=first.replace(day=start), last=first.replace(day=stop), precision="week")


def _offset(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading | None:
    groups = match.groupdict()
    number, unit = groups["n"].casefold(), groups["unit"].casefold().rstrip("s")
    sign = -1 if groups.get("ago") else 1
    half = number.startswith("half")
    amount = sign * (int(number) if number.isdigit() else 0 if half else NUMBERS[number])
    precision = {"day": "day", "night": "day", "week": "week", "fortnight": "week", "month": "month", "year": "year"}[unit]
    if unit in {"month", "year"}:
        step = 6 * sign if half and unit == "year" else amount * (12 if unit == "year" else 1)
        found: date | None = months_away(setting.today, step)
        precision = "month" if half else precision
    else:
        days = {"day": 1, "night": 1, "week": 7, "fortnight": 14}[unit]
        found = days_away(setting.today, amount * days)
    vague = number in {"a few", "several"}
    if found is None:
        return None
    return Reading(date=found, precision="week" if vague and precision == "day" else precision, said=str(found))


def _feast(match: re.Match[str], setting: Setting, past: bool | None) -> Reading | None:
    turn = (match[1] or "").casefold().strip()
    name = re.sub(r"[’]", "'", match[2].casefold()).replace("st.", "st")
    name = re.sub(r"(?<=\w)(?<!')s (day|eve)", r"'s \1", name) if "'" not in name else name
    when = True if turn == "last" else False if turn == "next" else past
    found = setting.feast(name, when)
    if found is None:
        return None
    return Reading(date=found, said=f"{match[2]} ({found})")


def _quarter(match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    year = int(match[2]) if match[2] else setting.today.year
    first = date(year, 3 * int(match[1]) - 2, 1)
    last = last_of_month(month_after(first, 2))
    return Reading(date=first, last=last, precision="month", said=f"Q{match[1]} {year}")


def _clock(_match: re.Match[str], setting: Setting, _past: bool | None) -> Reading:
    return Reading(date=setting.today, precision="time", keep=True, clock=True)


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_RULES: tuple[Rule, ...] = (
    (_rule(r"(?<![\d-])(\d{4})[-/](1[0-2]|0?[1-9])[-/]([0-3]?\d)(?![\d-])"), _iso),
    (_rule(r"(?<![\d/])([0-3]?\d)/([0-3]?\d)/(\d{4})(?![\d/])"), _slashed),
    (_rule(rf"\b{MONTH}\s+([0-3]?\d){TH}?\b(?:,?\s+(\d{{4}})\b)?(?!\s?(?:%|percent|users|people|am|pm)|:\d)"), _month_first),
    (_rule(rf"\b(?:the\s+)?([0-3]?\d){TH}?\s+(?:of\s+)?{MONTH}(?:,?\s+(\d{{4}})\b)?"), _day_first),
    (_rule(rf"\bthe\s+({'|'.join(_ORDINALS)})\s+of\s+{MONTH}(?:,?\s+(\d{{4}})\b)?"), _spelled_day),
    (_rule(rf"\b({WEEKDAYS}),?\s+(?:the\s+)?([0-3]?\d){TH}\b(?!\s+(?:{NO_DAY})|-|\s+of\b)"), _weekday_and_day),
    (_rule(rf"\b{MONTH}\s+(\d{{4}})\b"), _month_of_year),
    (_rule(r"\b(the day after tomorrow|day after tomorrow|the day before yesterday|day before yesterday|last night|the other day)\b" + PART), _near_day),
    (_rule(rf"\b(?:on\s+)?(?:the\s+)?{NTH}\s+(?P<weekday>{WEEKDAYS})\s+(?:of|in)\s+(?:the|each|every|a)\s+month\b"), _recurring),
    (_rule(rf"\b(?:on\s+)?(?:the\s+)?{NTH}\s+(?P<weekday>{WEEKDAYS})\s+(?:of|in)\s+{MONTH}\b"), _nth_weekday),
    (_rule(rf"\b(?:every|each|alternate)\s+(?:other\s+|second\s+|single\s+)?(?:(?P<weekday>{WEEKDAYS})s?|day|morning|night|evening|week|month|year|quarter|weekday|weekend|fortnight|{N}\s{UNIT})\b"), _recurring),
    (_rule(r"\b(?:on\s+)?(?P<weekday>mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays)\b"), _recurring),
    (_rule(r"\b(?:daily|weekly|monthly|yearly|annually|biweekly|fortnightly|nightly|on weekdays|on weekends)\b"), _recurring),
    (_rule(rf"\b(?P<n>{N[1:-1]})\s+(?P<unit>{UNIT[1:-1]})\s+(?P<ago>ago|earlier|back)\b"), _offset),
    (_rule(rf"\b(?:in|within)\s+(?:about\s+)?(?P<n>{N[1:-1]})\s+(?P<unit>{UNIT[1:-1]})(?:['’]\s?time)?\b(?!\s+of\b)"), _offset),
    (_rule(rf"\b(?P<n>{N[1:-1]})\s+(?P<unit>{UNIT[1:-1]})\s+(?:from now|from today|hence)\b"), _offset),
    (_rule(rf"\b{WHOLE_WEEKDAY}\s+(last|this|next)\s+week\b"), _week_and_weekday),
    (_rule(rf"\b(this past|this coming|last|this|next|coming|past)\s+({WEEKDAYS})\b" + PART), _turned_weekday),
    (_rule(rf"\b(?:the\s+)?(end|start|beginning|middle)\s+of\s+(?:the\s+)?((?:this |next |last )?(?:day|week|month|quarter|year)|{MONTHS})\b"), _end_of),
    (_rule(r"\b(?:the\s+)?(?P<day>[0-3]?\d)(?:st|nd|rd|th)\s+(?:of\s+)?(?P<turn>last|this|next)\s+month\b"), _bare_day),
    (_rule(rf"\bthe\s+(?P<day>[0-3]?\d){TH}\b(?!\s+(?:{NO_DAY})|-)"), _bare_day),
    (_rule(rf"\b(?:the\s+)?(first|second|third|last)\s+week\s+of\s+{WHOLE_MONTH}\b"), _numbered_week),
    (_rule(r"\bthe week after next\b"), _week_after_next),
    (_rule(r"\b(?:at|on|over) the weekend\b"), _weekend),
    (_rule(r"\b(this past|this coming|last|this|next|past|coming)\s+(weekend|week|month|quarter|year)\b(?!-|\s+or\b)"), _turned_unit),
    (_rule(r"\b(last|this|next|this coming)\s+(spring|summer|fall|autumn|winter)\b"), _season),
    (_rule(rf"\b(?:(last|this|next)\s+)?({FEASTS})\b"), _feast),
    (_rule(rf"\b(early|mid|late)[ -]{WHOLE_MONTH}\b"), _part_of_month),
    (_rule(rf"\b(last|this|next)\s+{WHOLE_MONTH}\b"), _in_month),
    (_rule(rf"(?:(?<=\bin )|(?<=\bby )|(?<=\bsince )|(?<=\buntil )|(?<=\bsince late )){WHOLE_MONTH}\b"), _bare_month),
    (_rule(r"\b(today|tonight|tonite|tomorrow|tmrw|yesterday)\b" + PART), _near_day),
    (_rule(r"\bthis (morning|afternoon|evening)\b"), _this_part),
    (_rule(r"\bq([1-4])(?:\s+(?:of\s+)?(20\d\d))?\b(?!\.)"), _quarter),
    (_rule(r"\b(sunday|monday|tuesday|wednesday|thursday|friday|saturday|(?<=on )(?:mon|tue|wed|thu|fri|sat|sun)|(?<=by )(?:mon|tue|wed|thu|fri|sat|sun))\b(?!s\b|\.com|\s+(?:blues|times|night football))" + PART), _plain_weekday),
    (_rule(r"\b(?:at\s+)?(?:[01]?\d(?::[0-5]\d)?\s?(?:am|pm|a\.m\.|p\.m\.)|noon\b|midnight\b|(?<![\d:.])(?:[01]?\d|2[0-3]):[0-5]\d(?![\d:]))"), _clock),
)  # fmt: skip
