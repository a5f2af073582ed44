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


def resolve(code: str, today: date) -> date:
    """Turn a code into a day; an unknown code is a ValueError."""
    if code[0] in "+-":
        return today + timedelta(days=int(code))
    if code in DAYS:
        return today + timedelta(days=(DAYS.index(code) - today.weekday() - 1) % 7 + 1)
    if code[0] == "l" and code[1:] in DAYS:
        return today - timedelta(days=(today.weekday() - DAYS.index(code[1:]) - 1) % 7 + 1)
    if code[0] == "m":
        return next_day_of_month(int(code[1:]), today)
    past = code.startswith("p")
    if len(code.removeprefix("p")) == 5:
        day = date.fromisoformat(f"{today.year}-{code.removeprefix('p')}")
        if past and day > today:
            return day.replace(year=day.year - 1)
        if not past and day < today:
            return day.replace(year=day.year + 1)
        return day
    return date.fromisoformat(code)
