"""One thing that was looked at, and how it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """How something stands."""

    OK = "ok"
    WARNING = "warning"  # it works, and could be better
    WRONG = "wrong"  # it does not work


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found: `said` in a sentence, `advice` what to do, `numbers` what was measured.

    Seconds, bytes and tokens are in the names of numbers.
    """

    check: str
    verdict: Verdict
    said: str
    advice: str = ""
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)


def healthy(findings: Iterable[Finding]) -> bool:
    """Whether nothing is wrong.

    >>> healthy([Finding(check="disk", verdict=Verdict.WARNING, said="little is free")])
    True
    """
    return all(one.verdict is not Verdict.WRONG for one in findings)
