"""Resolve the short date codes of the markup against the day of the turn.

+3, -1: days from today. fri: the coming Friday, lfri: the one just past (today is neither).
m25: the next 25th (today counts). 12-01: the next 1 December, p12-01: the last one. Or ISO.
"""

from __future__ import annotations

from datetime import date, timedelta

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def in_words(day: date) -> str:
    """Write a date the way a content sentence does."""
    return f"{day.day} {day:%B %Y}"


def next_day_of_month(number: int, today: date) -> date:
    """Find the next day with this number, this month or later."""
    day = today
    while day.day != number:
        day += timedelta(days=1)
    return day


def weekday(name: str, today: date, past: bool) -> date:
    """Find the nearest such weekday before or after today, never today."""
    ahead = DAYS.index(name) - today.weekday()
    if past:
        return today - timedelta(days=(-ahead - 1) % 7 + 1)
    return today + timedelta(days=(ahead - 1) % 7 + 1)


def resolve(code: str, today: date) -> date:
    """Turn a code into a day; an unknown code is a ValueError."""
    if code[0] in "+-":
        return today + timedelta(days=int(code))
    if code.removeprefix("l") in DAYS:
        return weekday(code.removeprefix("l"), today, past=code.startswith("l"))
    if code[0] == "m":
        return next_day_of_month(int(code[1:]), today)
    if len(code.removeprefix("p")) == 5:
        return anniversary(code.removeprefix("p"), today, past=code.startswith("p"))
    return date.fromisoformat(code)


def anniversary(month_day: str, today: date, past: bool) -> date:
    """Find the nearest such date on the wanted side of today; today itself counts."""
    day = date.fromisoformat(f"{today.year}-{month_day}")
    if past:
        return day.replace(year=day.year - 1) if day > today else day
    return day.replace(year=day.year + 1) if day < today else day
