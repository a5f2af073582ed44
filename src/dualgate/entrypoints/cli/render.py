"""How results look: one JSON document for programs, a calm page for people.

On a terminal a page has tables and colours; in a pipe it is plain lines with tabs. Text of users
is shown as text: it cannot colour, move the cursor or break a row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if code not in {9, 10}}


def to_plain(value: object) -> Any:  # noqa: PLR0911  one line a kind
    """Return dataclasses, enums, times and sets as what JSON knows.

    >>> to_plain({"at": datetime(2025, 3, 1), "of": frozenset({2, 1})})
    {'at': '2025-03-01T00:00:00', 'of': [1, 2]}
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {str(to_plain(key)): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((to_plain(entry) for entry in value), key=str)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(entry) for name, entry in _members(value)}
    if isinstance(value, Iterable):
        return [to_plain(entry) for entry in value]
    return str(value)


def _members(value: Any) -> Iterator[tuple[str, object]]:
    for member in fields(value):
        if not member.name.startswith("_"):
            yield member.name, getattr(value, member.name)
    # What is computed belongs to the value as well: MemoryItem.contested, say.
    for name, member in vars(type(value)).items():
        if isinstance(member, property) and not name.startswith("_"):
            yield name, getattr(value, name)


def as_json(value: object) -> str:
    """Return one JSON document; lone surrogates are escaped, so that any stream takes it."""
    text = json.dumps(to_plain(value), ensure_ascii=False, indent=2)
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def shown(value: object) -> str:  # noqa: PLR0911  one line a kind
    """Return a cell's text: times to the minute, numbers short, nothing as a dash.

    >>> shown(0.81234), shown(None), shown(datetime(2025, 3, 1, 9, 30, 12))
    ('0.81', '-', '2025-03-01 09:30')
    """
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, Mapping):
        return ", ".join(f"{to_plain(k)} {shown(v)}" for k, v in value.items()) or "-"
    if isinstance(value, tuple | list | set | frozenset):
        return ", ".join(shown(entry) for entry in value) or "-"
    return str(to_plain(value))


def safe(text: str) -> str:
    """Return text without control characters and lone surrogates."""
    clean = text.translate(_CONTROLS)
    return clean.encode("utf-8", "replace").decode("utf-8")


def _named(name: str, cell: object) -> str:
    """Return a number or a time with its name; words and named numbers tell what they are."""
    text = shown(cell)
    bare = isinstance(cell, int | float | datetime) and not isinstance(cell, bool)
    return f"{name} {text}" if bare else text


class Page:
    """Prints to one stream, richly on a terminal and plainly elsewhere."""

    def __init__(self, *, stderr: bool = False) -> None:
        stream = sys.stderr if stderr else sys.stdout
        self._stream = stream
        self.rich = stream.isatty()
        self.console = Console(file=stream, highlight=False, markup=False, emoji=False)

    def line(self, text: str = "", style: str = "") -> None:
        """Print a line."""
        if self.rich:
            self.console.print(Text(safe(text), style))
        else:
            click.echo(safe(text), file=self._stream)

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print a table; in a pipe, a row a line with tabs between the cells."""
        cells = [[safe(shown(cell)) for cell in row] for row in rows]
        if not self.rich:
            for row in [list(columns), *cells]:
                click.echo("\t".join(" ".join(c.split()) for c in row), file=self._stream)
            return
        table = Table(title=Text(title), box=box.SIMPLE_HEAD, title_justify="left")
        for name in columns:
            table.add_column(Text(name), overflow="fold")
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        self.console.print(table)

    def entries(
        self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, head: int
    ) -> None:
        """Print a table whose rows are too wide for a terminal.

        There a row is the text of column `head`, and below it the other cells, each in one piece:
        an id that is broken over three lines cannot be copied.
        """
        if not self.rich:
            self.table(title, columns, rows)
            return
        rows = list(rows)
        self.console.print(Text(f"{title}: {len(rows)}", "dim italic"))
        for row in rows:
            self.console.print(Text(safe(shown(row[head])), "bold"))
            told = [
                _named(name, cell)
                for place, (name, cell) in enumerate(zip(columns, row, strict=True))
                if place != head and shown(cell) != "-"
            ]
            self.console.print(Padding(Text(safe(" · ".join(told)), "dim"), (0, 0, 0, 2)))

    def panel(self, title: str, text: str) -> None:
        """Print a text under its title."""
        if self.rich:
            self.console.print(Panel(Text(safe(text)), title=Text(title), title_align="left"))
        else:
            click.echo(f"{title}\n{safe(text)}", file=self._stream)

    def facts(self, title: str, pairs: Iterable[tuple[str, object]]) -> None:
        """Print names with their values, a pair a line."""
        kept = [(name, safe(shown(value))) for name, value in pairs]
        if not self.rich:
            for name, value in kept:
                click.echo(f"{name}: {value}", file=self._stream)
            return
        grid = Table.grid(padding=(0, 2))
        for name, value in kept:
            grid.add_row(Text(name, "dim"), Text(value))
        self.console.print(Panel(grid, title=Text(title), title_align="left"))
