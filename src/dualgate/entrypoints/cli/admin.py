"""Commands for whoever runs dualgate: upkeep, figures, the worker."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

from dualgate.entrypoints.cli.frame import Frame, for_anybody
from dualgate.entrypoints.cli.render import Page, to_plain

if TYPE_CHECKING:
    from dualgate import Memory


@click.command()
@for_anybody
def maintain(frame: Frame) -> None:
    """Weather, fade and expire what is due, of --user or of everybody."""

    async def work(memory: Memory) -> Any:
        return await memory.maintain(frame.given_user)

    moves = frame.run(work)

    def page(out: Page) -> None:
        if not moves:
            out.line(frame.word("nothing moved"))
            return
        columns = frame.words("user", "item", "from", "to", "cause")
        rows = [(m.user_id, m.item_id, m.before, m.after, m.cause) for m in moves]
        out.table(frame.word("moves"), columns, rows)

    frame.show(moves, page)


@click.command()
@for_anybody
def stats(frame: Frame) -> None:
    """Show counts, of --user or of everybody."""

    async def work(memory: Memory) -> Any:
        return await memory.stats(frame.given_user)

    found = frame.run(work)

    def page(out: Page) -> None:
        plain: dict[str, Any] = to_plain(found)
        models = plain.pop("models")
        # The counts of the queue and the pools stand beside the others.
        for part in ("pools", "queue"):
            plain |= plain.pop(part) or {}
        named = {name.replace("_", " "): value for name, value in plain.items()}
        known = {name: value for name, value in named.items() if value is not None}
        out.facts(frame.word("stats"), frame.facts(known))
        if models:
            _models(frame, out, models)

    frame.show(found, page)


def _models(frame: Frame, out: Page, lines: Sequence[dict[str, Any]]) -> None:
    columns = frame.words("day", "task", "model", "calls", "tokens in", "tokens out", "turns",
                          "skipped", "fell back")  # fmt: skip
    rows = [
        (
            line["day"], line["task"], line["model"], line["usage"]["calls"],
            line["usage"]["input_tokens"], line["usage"]["output_tokens"], line["turns"],
            line["skipped"], line["fell_back"],
        )
        for line in lines
    ]  # fmt: skip
    out.table(frame.word("models"), columns, rows)


@click.command()
@for_anybody
def worker(frame: Frame) -> None:
    """Run the queue until stopped (Ctrl-C or SIGTERM); any number may run at once."""

    async def work(_: Memory) -> None:
        # Closing the memory finishes the job in hand first.
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(name, stopped.set)
            except NotImplementedError:
                # Windows has no such handlers; there Ctrl-C cancels this task instead.
                break
        Page(stderr=True).line("worker: running")
        await stopped.wait()

    frame.run(work, as_worker=True)
    frame.done("stopped")


@click.command()
@for_anybody
def version(frame: Frame) -> None:
    """Show the version."""
    number = metadata.version("dualgate")
    frame.show({"version": number}, lambda out: out.line(number))
