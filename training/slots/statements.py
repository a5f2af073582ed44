"""The statements by slot: how the files are read, and what of a sentence is which part.

    reply_length = concise | two sentences is plenty for me        a closed slot
    layout = bullets - | stop chopping everything into bullets     a value denied
    database | {{Larkspur}} is on [[CockroachDB]] these days       an open slot, and what it is of
    - | my brother lives in Oslo                                   fills no slot

The files `*-cores.txt` hold bare orders (`tone = formal | stay businesslike`) and frames they stand in
(`frame | I work best when you {x}`, `rant | …`): each order is composed with a few of them, so that
no wrapping tells a slot. Their `once` frames, which limit an order to one piece of work, are left out.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dualgate.adapters.local import slots
from dualgate.adapters.local.extraction.features import language
from dualgate.adapters.local.extraction.wording import sentence
from dualgate.domain.types import ItemType

HERE = Path(__file__).parent
TURNS = HERE.parent / "extraction" / "data"
BACKGROUND_SHARE = 0.5
KEPT = 10  # one statement in so many
_MARKED = re.compile(r"\[\[(.+?)\]\]")
_OWNED = re.compile(r"\{\{(.+?)\}\}")
# A statement reaches the reader worded by its type, which the extractor may see one way or another.
_WISHED = (ItemType.RULE, ItemType.PREFERENCE)
_STATED = (ItemType.FACT, ItemType.PREFERENCE)


@dataclass(frozen=True, slots=True)
class Case:
    """One statement as an item says it. said: as it was typed; again: the same in another form."""

    said: str
    text: str
    label: str
    value: str
    owner: str
    again: bool = False

    @property
    def slot(self) -> str:
        """Return the slot, without a closed value."""
        return self.label.removesuffix(" -").partition("=")[0]

    @property
    def denied(self) -> bool:
        """Whether the value is denied."""
        return self.label.endswith(" -")

    @property
    def named(self) -> str:
        """Return the value, closed or open."""
        return self.label.removesuffix(" -").partition("=")[2] or self.value

    @property
    def is_fitted(self) -> bool:
        """Whether it is fitted on; a tenth is kept, to weigh what was fitted against each other."""
        return zlib.crc32(f"weigh{self.said}".encode()) % KEPT != 0

    @property
    def lang(self) -> str:
        """Return zh or en."""
        return language(self.said)

    def mark(self, token: slots.Token) -> str:
        """Return which part of the statement a token belongs to."""
        for part, name in ((self.value, slots.VALUE), (self.owner, slots.OWNER)):
            start = self.text.find(part) if part else -1
            if start >= 0 and token.start < start + len(part) and token.end > start:
                return name
        return "other"


def cases() -> list[Case]:
    """Return every statement of the folder, as typed and as an item words it."""
    return [case for path in sorted(HERE.glob("*.txt")) for case in in_file(path)]


def in_file(path: Path) -> list[Case]:
    """Return the statements of one file."""
    lines = _lines(path)
    if path.stem.endswith("-cores"):
        return [case for line in _composed(lines) for case in _cases(line)[:1]]
    return [case for line in lines for case in _cases(line)]


def _lines(path: Path) -> list[str]:
    lines = path.read_text("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def _composed(lines: list[str]) -> Iterator[str]:
    """Yield every order alone, in a few frames, and in one outburst; which, a hash says."""
    pairs = [tuple(part.strip() for part in line.partition(" | ")[::2]) for line in lines]
    frames = {kind: [text for head, text in pairs if head == kind] for kind in _FRAMES}
    for head, core in pairs:
        if head in (*_FRAMES, "once"):
            continue
        yield f"{head} | {core}"
        for kind, count in _FRAMES.items():
            for number in range(count):
                place = zlib.crc32(f"{core}{kind}{number}".encode()) % len(frames[kind])
                text = frames[kind][place]
                text = text.replace("{x}", core).replace("{X}", core[:1].upper() + core[1:])
                yield f"{head} | {text}"


_FRAMES = {"frame": 3, "rant": 1}  # how many of each an order is put into


def _cases(line: str) -> list[Case]:
    head, _, text = (part.strip() for part in line.partition(" | "))
    label = re.sub(r"\s*=\s*", "=", head)
    value = next(iter(_MARKED.findall(text)), "")
    owner = next(iter(_OWNED.findall(text)), "")
    said = _OWNED.sub(r"\1", _MARKED.sub(r"\1", text))
    types = _WISHED if "=" in label else _STATED
    item_type = types[zlib.crc32(said.encode()) % len(types)]
    worded = sentence(said, language(said), item_type)
    forms = [worded] if worded == said else [worded, said]
    return [
        Case(said, form, label, value, owner, again=number > 0)
        for number, form in enumerate(forms)
        if value in form and owner in form
    ]


def background() -> list[str]:
    """Return what the extractor's hand-written turns state, as items word it."""
    found: dict[str, None] = {}
    for path in sorted(TURNS.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                for span in row["spans"]:
                    if span["scope"] == "lasting" and _kept(span["quote"]):
                        text = sentence(span["quote"], row["lang"], ItemType(span["item_type"]))
                        found[text] = None
    return list(found)


def labels(known: Sequence[Case]) -> list[str]:
    """Return every label there is, in order."""
    return sorted({case.label for case in known})


def _kept(text: str) -> bool:
    return zlib.crc32(text.encode()) % 100 < 100 * BACKGROUND_SHARE
