"""Commands for the notes of a task: working memory, which never becomes long-term [L2]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dualgate.entrypoints.cli.frame import Frame, common
from dualgate.entrypoints.cli.render import Page

if TYPE_CHECKING:
    from dualgate import Memory


def _of_task(command: Any) -> Any:
    task = click.option("--task", required=True, help="The task.")(command)
    return click.option("--session", required=True, help="The conversation.")(task)


@click.group()
def working() -> None:
    """Keep notes of a task; they go when the task or the session ends."""


@working.command("set")
@click.argument("key")
@click.argument("value")
@_of_task
@common
def set_note(frame: Frame, key: str, value: str, session: str, task: str) -> None:
    """Set a note."""

    async def work(memory: Memory) -> None:
        await (await memory.working(frame.user, session, task)).set(key, value)

    frame.run(work)
    frame.done(frame.word("done"))


@working.command("get")
@click.argument("key")
@_of_task
@common
def get_note(frame: Frame, key: str, session: str, task: str) -> None:
    """Show one note."""

    async def work(memory: Memory) -> str | None:
        return await (await memory.working(frame.user, session, task)).get(key)

    value = frame.run(work)
    frame.show({"key": key, "value": value}, lambda out: out.line(value or frame.word("nothing")))


@working.command("all")
@_of_task
@common
def all_notes(frame: Frame, session: str, task: str) -> None:
    """Show all notes of the task."""

    async def work(memory: Memory) -> dict[str, str]:
        return await (await memory.working(frame.user, session, task)).all()

    notes = frame.run(work)

    def page(out: Page) -> None:
        if notes:
            out.facts(frame.word("notes"), notes.items())
        else:
            out.line(frame.word("nothing"))

    frame.show(notes, page)


@working.command("clear")
@_of_task
@common
def clear_notes(frame: Frame, session: str, task: str) -> None:
    """Remove all notes of the task."""

    async def work(memory: Memory) -> None:
        await (await memory.working(frame.user, session, task)).clear()

    frame.run(work)
    frame.done(frame.word("done"))
