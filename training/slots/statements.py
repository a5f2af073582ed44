"""The statements by slot: how the files are read, and what of a sentence is which part.

    reply_length = concise | two sentences is plenty for me        a closed slot
    layout = bullets - | stop chopping everything into bullets     a value denied
    database | {{Larkspur}} is on [[CockroachDB]] these days       an open slot, and what it is of
    - | my brother lives in Oslo                                   fills no slot
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from dualgate.adapters.local import slots
from dualgate.adapters.local.extraction.features import language
from dualgate.adapters.local.extraction.wording import sentence
from dualgate.domain.types import ItemType

HERE = Path(__file__).parent
TURNS = HERE.parent / "extraction" / "data"
BACKGROUND_SHARE = 0.5
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
    found = []
    for path in sorted(HERE.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                found += _cases(line)
    return found


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


def _kept(text: str) -> bool:
    return zlib.crc32(text.encode()) % 100 < 100 * BACKGROUND_SHARE
