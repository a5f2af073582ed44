"""Calendar arithmetic for dates.py: weeks, months, feasts, and the Chinese lunar calendar.

Rule: plain dates in, plain dates out; no text is read here.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import date, timedelta

from dateutil.easter import easter  # type: ignore[import-untyped]

# One number a lunar year, 2020-2035, in the widely used encoding: bits 16 to 5 tell whether month
# 1 to 12 has 30 days, the lowest four name the leap month, bit 17 whether that one has 30 days.
_LUNAR = (
    0x07954, 0x06AA0, 0x0AD50, 0x05B52, 0x04B60, 0x0A6E6, 0x0A4E0, 0x0D260,
    0x0EA65, 0x0D530, 0x05AA0, 0x076A3, 0x096D0, 0x04AFB, 0x04AD0, 0x0A4D0,
)  # fmt: skip
_FIRST_LUNAR_YEAR = 2020
_FIRST_NEW_YEAR = date(2020, 1, 25)

_THURSDAY = 3


def monday_of(day: date) -> date:
    """Return the Monday on or before `day`."""
    return day - timedelta(days=day.weekday())


def month_after(day: date, months: int) -> date:
    """Return the first of the month that lies `months` from that of `day`.

    >>> month_after(date(2026, 11, 30), 3)
    datetime.date(2027, 2, 1)
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(min(max(year, 1), 9999), month + 1, 1)


def last_of_month(day: date) -> date:
    """Return the last day of the month of `day`."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def months_away(day: date, months: int) -> date:
    """Return the same day some months away, cut to the month's length.

    >>> months_away(date(2026, 3, 31), -1)
    datetime.date(2026, 2, 28)
    """
    first = month_after(day, months)
    return first.replace(day=min(day.day, last_of_month(first).day))


def days_away(day: date, days: int) -> date | None:
    """Return the day some days away, None beyond what a date can hold."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def valid(year: int, month: int, day: int) -> date | None:
    """Return the date, None where there is no such day."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def lunar(year: int, month: int, day: int) -> date | None:
    """Return the solar date of a day of lunar `year`, None outside 2020-2035.

    >>> lunar(2026, 8, 15)
    datetime.date(2026, 9, 25)
    """
    place = year - _FIRST_LUNAR_YEAR
    if not 0 <= place < len(_LUNAR) or not 1 <= month <= 12 or not 1 <= day <= 30:  # noqa: PLR2004
        return None
    passed = sum(_lunar_year_days(info) for info in _LUNAR[:place])
    info = _LUNAR[place]
    passed += sum(_lunar_month_days(info, earlier) for earlier in range(1, month))
    if 0 < info & 0xF < month:
        passed += _leap_days(info)
    return _FIRST_NEW_YEAR + timedelta(days=passed + day - 1)


def lunar_new_years_eve(year: int) -> date | None:
    """Return the eve of the lunar new year that begins in solar `year`."""
    first = lunar(year, 1, 1)
    return None if first is None else first - timedelta(days=1)


def qingming(year: int) -> date:
    """Return Qingming; the fourth or fifth of April holds for 2020-2035."""
    return date(year, 4, 4 if year % 4 in (0, 1) else 5)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """Return the nth weekday of a month; -1 is the last one."""
    if nth < 0:
        last = last_of_month(date(year, month, 1))
        return last - timedelta(days=(last.weekday() - weekday) % 7)
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))


def feast(name: str, year: int) -> date | None:
    """Return a feast's (first) day in a year; None where the table does not reach.

    >>> feast("thanksgiving", 2026), feast("国庆", 2026)
    (datetime.date(2026, 11, 26), datetime.date(2026, 10, 1))
    """
    if name in _FIXED:
        return date(year, *_FIXED[name])
    if name in _LUNAR_FEASTS:
        return lunar(year, *_LUNAR_FEASTS[name])
    if name in _WEEKDAY_FEASTS:
        return nth_weekday(year, *_WEEKDAY_FEASTS[name])
    return _COMPUTED[name](year) if name in _COMPUTED else None


_FIXED = {
    "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "三八": (3, 8), "愚人节": (4, 1),
    "劳动节": (5, 1), "五一": (5, 1), "儿童节": (6, 1), "六一": (6, 1), "教师节": (9, 10),
    "国庆": (10, 1), "十一": (10, 1), "万圣节": (10, 31), "双十一": (11, 11), "双11": (11, 11),
    "平安夜": (12, 24), "圣诞": (12, 25), "双十二": (12, 12), "跨年": (12, 31), "618": (6, 18),
    "christmas eve": (12, 24), "christmas": (12, 25), "xmas": (12, 25), "boxing day": (12, 26),
    "new year's eve": (12, 31), "new year's day": (1, 1), "new year's": (1, 1),
    "valentine's day": (2, 14), "halloween": (10, 31), "independence day": (7, 4),
    "april fools": (4, 1), "st patrick's day": (3, 17),
}  # fmt: skip
_LUNAR_FEASTS = {
    "春节": (1, 1), "大年初一": (1, 1), "元宵": (1, 15), "端午": (5, 5), "七夕": (7, 7),
    "中秋": (8, 15), "重阳": (9, 9), "腊八": (12, 8), "chinese new year": (1, 1),
    "lunar new year": (1, 1), "mid-autumn festival": (8, 15), "dragon boat festival": (5, 5),
}  # fmt: skip
_WEEKDAY_FEASTS = {
    "thanksgiving": (11, _THURSDAY, 4), "labor day": (9, 0, 1), "memorial day": (5, 0, -1),
    "母亲节": (5, 6, 2), "父亲节": (6, 6, 3), "mother's day": (5, 6, 2), "father's day": (6, 6, 3),
}  # fmt: skip


def _lunar_month_days(info: int, month: int) -> int:
    return 30 if info & (0x10000 >> month) else 29


def _leap_days(info: int) -> int:
    return 0 if not info & 0xF else 30 if info & 0x10000 else 29


def _lunar_year_days(info: int) -> int:
    return sum(_lunar_month_days(info, month) for month in range(1, 13)) + _leap_days(info)


_COMPUTED: dict[str, Callable[[int], date | None]] = {
    "easter": lambda year: date.fromordinal(easter(year).toordinal()),
    "清明": qingming,
    "除夕": lunar_new_years_eve,
    "black friday": lambda year: nth_weekday(year, 11, _THURSDAY, 4) + timedelta(days=1),
}
