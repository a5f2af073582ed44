"""What a page of the demo is made of: data, no layout."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Something that was said or kept, and why."""

    what: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one kind; dated ones begin with a date, which needs little room."""

    heading: str
    rows: tuple[Row, ...]
    dated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """One question a reader has, answered; quoted is text handed to the assistant as it is."""

    title: str
    note: str = ""
    groups: tuple[Group, ...] = ()
    quoted: str = ""
    footer: str = ""
