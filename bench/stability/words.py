"""The wordings of simulated users: three pools a language, two of them kept from tuning.

Rule: reads `words/*.txt`, knows no user. A line that begins with `*` belongs to the held-out pool
and to no other, one that begins with `+` to the final pool. Held out was for measuring while the
extractor was improved, and has been looked at since; final is for the last table alone.

Lists (values, names, things) and orders without a mark are shared; a marked list adds to the
shared one in its pool. The final pool says its own orders in place of the shared ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "words"
POOLS = ("main", "held-out", "final")
_MARKS = {"*": "held-out", "+": "final"}
_SECTION = re.compile(r"\[(?P<name>[a-z]+[^\]]*)\]\s*$")
_KEY = re.compile(r"\[(.+?)\]")
_LIST = re.compile(r"([a-z]+): (.+)$")


@dataclass(frozen=True)
class Order:
    """An order in words, and the part of it that tells the value."""

    text: str
    key: str


@dataclass
class Slot:
    """A dimension of a user: a wish (values with orders) or something of his own (sentences)."""

    name: str
    item_type: str
    of_project: bool = False
    fixed: bool = False
    orders: dict[str, list[Order]] = field(default_factory=dict)  # wishes: value -> orders
    values: list[str] = field(default_factory=list)
    sentences: dict[str, list[str]] = field(default_factory=dict)  # own: act -> sentences
    lists: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Words:
    """Everything one language can say, of one pool."""

    lang: str
    frames: dict[str, list[str]] = field(default_factory=dict)  # act -> frames that take an order
    slots: dict[str, Slot] = field(default_factory=dict)
    sentences: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, dict[str, list[str]]] = field(default_factory=dict)


@cache
def words(lang: str, pool: str) -> Words:
    """Return the wordings of a language ("zh", "en") and a pool, one of `POOLS`.

    Raises ValueError for a pool that is none, and for a line that its section does not allow.
    """
    if pool not in POOLS:
        raise ValueError(f"pool: {pool!r} is none of {', '.join(POOLS)}")
    found = Words(lang)
    section: list[str] = []
    value = ""
    for line in (FOLDER / f"{lang}.txt").read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        heading = _SECTION.match(line)
        if heading:
            section = heading["name"].split()
            _open(found, section)
        elif line.startswith("= "):
            value = line[2:]
            found.slots[section[1]].orders[value] = []
            found.slots[section[1]].values.append(value)
        else:
            _take(found, section, value, line, pool)
    return found


def _open(found: Words, section: list[str]) -> None:
    if section[0] in ("slot", "own"):
        found.slots[section[1]] = Slot(
            section[1], section[2], "project" in section[3:], "fixed" in section[3:]
        )


def _take(found: Words, section: list[str], value: str, line: str, pool: str) -> None:
    mark = _MARKS.get(line[0], "")
    line = line[1:] if mark else line
    spoken = (mark or "main") == pool  # sentences and frames: of one pool
    listable = not mark or spoken  # lists: the shared ones, and what the pool adds
    listed = _LIST.match(line)
    if section[0] == "slot":
        # Main and held-out share orders, new frames make them new; final has its own.
        if (mark == "final") != (pool == "final"):
            return
        key = _KEY.search(line)
        if key is None:
            raise ValueError(line)
        text = line.replace(f"[{key[1]}]", key[1])
        found.slots[section[1]].orders[value].append(Order(text, key[1]))
        return
    if section[0] == "own":
        _take_own(found.slots[section[1]], line, spoken=spoken, listable=listable)
        return
    name = " ".join(section)
    if name in ("project names", "thing", "topic"):
        if listable:
            found.sentences.setdefault(name, []).extend(_comma(line))
    elif section[0] != "wish" and listed and not mark and "," in line and "{" not in line:
        found.lists.setdefault(name, {})[listed[1]] = _comma(listed[2])
    elif spoken:
        place = found.frames if section[0] == "wish" else found.sentences
        place.setdefault(section[1] if section[0] == "wish" else name, []).append(line)


def _take_own(slot: Slot, line: str, *, spoken: bool, listable: bool) -> None:
    listed = _LIST.match(line)
    if listed is None:
        raise ValueError(line)
    if listed[1] in ("values", "who"):
        if listable:
            place = slot.values if listed[1] == "values" else slot.lists.setdefault("who", [])
            place.extend(_comma(listed[2]))
    elif spoken:
        slot.sentences.setdefault(listed[1], []).append(listed[2])


def _comma(line: str) -> list[str]:
    # "1,200 euros" is one value: only a comma before a blank parts two.
    return [each.strip() for each in line.split(", ")]
