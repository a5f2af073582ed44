r"""Read the short markup in which turns and templates are written.

One turn a line, parts divided by " @@ ":

    domain @@ note @@ [U: earlier user turn @@] [A: earlier assistant turn @@] turn

Inside the turn, "\n" is a line break and <<quote|codes|content>> marks a statement. Codes are
one item type and any of: - (polarity), imp, emo (evidence), c (correction), per, sen
(sensitivity), T, M (scope task, moment), as (subject assistant), s=WORD (subject), d=WHEN
(event date, see `dates`). "{D}" in the content becomes that date in words. Empty content of a
task or moment statement is filled with the quote. Lines that begin with ## are comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from en.dates import in_words, resolve

TYPES = {
    "identity", "preference", "constraint", "rule", "project",
    "decision", "commitment", "event", "fact",
}  # fmt: skip
_MARK = re.compile(r"<<(.+?)>>", re.DOTALL)
_SWITCHES = {
    "-": ("polarity", "-"),
    "imp": ("evidence", "implied"),
    "emo": ("evidence", "emotional"),
    "c": ("correction", True),
    "per": ("sensitivity", "personal"),
    "sen": ("sensitivity", "sensitive"),
    "T": ("scope", "task"),
    "M": ("scope", "moment"),
    "as": ("subject", "assistant"),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said about one piece of a turn."""

    item_type: str
    content: str
    scope: str = "lasting"
    polarity: str = "+"
    evidence: str = "explicit"
    correction: bool = False
    subject: str = "user"
    sensitivity: str = "normal"
    when: str | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a turn; without a mark it is noise."""

    text: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """One turn as it was written, not yet placed in time."""

    domain: str
    note: str
    history: tuple[tuple[str, str], ...]
    pieces: tuple[Piece, ...]


def read_mark(text: str) -> Piece:
    """Read the inside of << >>."""
    quote, codes, content = text.split("|", 2)
    fields: dict[str, Any] = {"content": content.strip()}
    for code in codes.split():
        if code in TYPES:
            fields["item_type"] = code
        elif code in _SWITCHES:
            name, value = _SWITCHES[code]
            fields[name] = value
        elif code.startswith("s="):
            fields["subject"] = code[2:]
        elif code.startswith("d="):
            fields["when"] = code[2:]
        else:
            raise ValueError(f"unknown code {code!r} in <<{text}>>")
    mark = Mark(**fields)
    if not mark.content:
        if mark.scope == "lasting":
            raise ValueError(f"a lasting statement needs content: <<{text}>>")
        when = "this task" if mark.scope == "task" else "the moment"
        mark = replace(mark, content=f"The user says, for {when} only: {quote.strip()}")
    return Piece(quote, mark)


def read_pieces(text: str) -> tuple[Piece, ...]:
    """Divide a turn into marked and unmarked pieces."""
    parts = _MARK.split(text.replace("\\n", "\n"))
    pieces = [read_mark(part) if index % 2 else Piece(part) for index, part in enumerate(parts)]
    return tuple(piece for piece in pieces if piece.text)


def read_line(line: str) -> Draft:
    """Read one line of the markup."""
    domain, note, *said = line.split(" @@ ")
    roles = {"U: ": "user", "A: ": "assistant"}
    history = tuple((roles[part[:3]], part[3:].replace("\\n", "\n")) for part in said[:-1])
    return Draft(domain.strip(), note.strip(), history, read_pieces(said[-1].strip()))


def read_text(text: str) -> list[Draft]:
    """Read a file of the markup."""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("##")]
    return [read_line(line) for line in lines]


def as_record(draft: Draft, record_id: str, at: datetime) -> dict[str, Any]:
    """Place a draft in time and give it the shape of the training files."""
    spans = [
        span_record(piece.text, piece.mark, at) for piece in draft.pieces if piece.mark is not None
    ]
    return {
        "id": record_id,
        "lang": "en",
        "domain": draft.domain,
        "history": [{"role": role, "content": content} for role, content in draft.history],
        "turn": "".join(piece.text for piece in draft.pieces),
        "at": at.isoformat(),
        "spans": spans,
        "note": draft.note,
    }


def span_record(quote: str, mark: Mark, at: datetime) -> dict[str, Any]:
    """Give one marked piece the shape of the training files."""
    day = resolve(mark.when, at.date()) if mark.when else None
    content = mark.content.replace("{D}", in_words(day)) if day else mark.content
    content = content[0].upper() + content[1:]
    return {
        "quote": quote,
        "scope": mark.scope,
        "item_type": mark.item_type,
        "polarity": mark.polarity,
        "evidence": mark.evidence,
        "correction": mark.correction,
        "subject": mark.subject,
        "sensitivity": mark.sensitivity,
        "content": content,
        "event_date": day.isoformat() if day else None,
    }
