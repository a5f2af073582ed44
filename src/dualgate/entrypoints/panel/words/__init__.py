"""What the panel says, in two languages; one TOML file each, so that a translator needs no code.

Rule: phrases only. What users said is never translated, and never part of a phrase's own text: it
comes in as a part, and the template escapes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import datetime, tzinfo
from decimal import ROUND_DOWN, Decimal
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

LANGUAGES = ("en", "zh")
# Not strftime: that speaks the machine's language.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@cache
def phrases(lang: str) -> Mapping[str, str]:
    """Return every phrase of a language by its name, such as "memory.title"."""
    text = files(__package__).joinpath(f"{lang}.toml").read_text(encoding="utf-8")
    return {
        f"{section}.{name}": phrase
        for section, table in tomllib.loads(text).items()
        for name, phrase in table.items()
    }


class Words:
    """The phrases of one language; dates are those of one time zone."""

    def __init__(self, lang: str, zone: tzinfo | None = None) -> None:
        self.lang = lang
        self._zone = ZoneInfo("UTC") if zone is None else zone
        self._phrases = phrases(lang)

    def __call__(self, name: str, **parts: object) -> str:
        """Return a phrase with its parts filled in."""
        return self._phrases[name].format(**{k: self.number(v) for k, v in parts.items()})

    def knows(self, name: str) -> bool:
        """Return whether there is such a phrase."""
        return name in self._phrases

    def day(self, moment: datetime) -> str:
        """Return a date as people say it.

        >>> from datetime import UTC
        >>> when = datetime(2026, 3, 2, 9, 5, tzinfo=UTC)
        >>> Words("en").day(when), Words("zh").day(when)
        ('2 Mar 2026', '2026年3月2日')
        """
        here = self._here(moment)
        if self.lang == "zh":
            return f"{here.year}年{here.month}月{here.day}日"
        return f"{here.day} {_MONTHS[here.month - 1]} {here.year}"

    def time(self, moment: datetime) -> str:
        """Return a date with hours and minutes."""
        here = self._here(moment)
        return f"{self.day(moment)} {here.hour:02}:{here.minute:02}"

    def _here(self, moment: datetime) -> datetime:
        try:
            return moment.astimezone(self._zone)
        except OverflowError:
            # The calendar ends in UTC: "never" is often its last second.
            return moment

    def number(self, value: object) -> object:
        """Return a number as it is shown: cut, not rounded, so that 0.699 never reads as 0.70.

        >>> Words("en").number(0.699), Words("en").number(3.0), Words("en").number(True)
        ('0.69', '3', True)
        """
        if isinstance(value, bool) or not isinstance(value, float):
            return value
        if value == int(value):
            return str(int(value))
        return str(Decimal(str(value)).quantize(Decimal("0.01"), ROUND_DOWN))

    def together(self, sentences: list[str]) -> str:
        """Return sentences one after the other, as the language spaces them."""
        return ("" if self.lang == "zh" else " ").join(sentences)
