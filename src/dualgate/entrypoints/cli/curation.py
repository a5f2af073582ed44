"""Commands by which a person governs the own memory; their word always wins [F6]."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from dualgate.entrypoints.cli.frame import Frame, common
from dualgate.entrypoints.cli.memories import show_item
from dualgate.entrypoints.cli.render import Page
from dualgate.errors import InvalidInputError

if TYPE_CHECKING:
    from dualgate import Memory


def _show_changed(frame: Frame, changed: Any) -> None:
    def page(out: Page) -> None:
        if changed is None:
            out.line(frame.word("done"))
        else:
            show_item(frame, out, changed)

    frame.show({"ok": True} if changed is None else changed, page)


def _verb(name: str, purpose: str) -> click.Command:
    """Return a command that applies a verb of Memory to one item."""

    @click.command(name, help=purpose)
    @click.argument("item_id")
    @common
    def command(frame: Frame, item_id: str) -> None:
        async def work(memory: Memory) -> Any:
            verb: Callable[[str, str], Any] = getattr(memory, name)
            return await verb(frame.user, item_id)

        _show_changed(frame, frame.run(work))

    return command


like = _verb("like", "Confirm an item: one explicit confirmation a day.")
dislike = _verb("dislike", "Say that an item is not right.")
pin = _verb("pin", "Protect an item: it freezes as soon as there is a place.")
unpin = _verb("unpin", "Take the protection away.")
restore = _verb("restore", "Bring back a forgotten or archived item.")


@click.command()
@click.argument("item_id")
@click.argument("content")
@common
def correct(frame: Frame, item_id: str, content: str) -> None:
    """Replace what an item says by CONTENT; the old wording stays in its history."""

    async def work(memory: Memory) -> Any:
        return await memory.correct(frame.user, item_id, content)

    _show_changed(frame, frame.run(work))


@click.command()
@click.argument("item_id")
@click.option("--confirm", is_flag=True, help="Yes, even if it is frozen.")
@common
def forget(frame: Frame, item_id: str, confirm: bool) -> None:
    """Forget an item; `restore` undoes it for 30 days."""

    async def work(memory: Memory) -> Any:
        return await memory.forget(frame.user, item_id, confirm=confirm)

    _show_changed(frame, frame.run(work))


@click.command()
@common
def pending(frame: Frame) -> None:
    """List challenges to frozen items that wait for your word."""

    async def work(memory: Memory) -> Any:
        return await memory.pending(frame.user)

    found = frame.run(work)

    def page(out: Page) -> None:
        if not found:
            out.line(frame.word("nothing"))
            return
        columns = frame.words("new value", "sessions", "last seen", "item", "id")
        rows = [
            (p.candidate.content, len(p.challenges), p.last_at, p.item_id, p.id) for p in found
        ]
        out.entries(frame.word("pending"), columns, rows, head=0)

    frame.show(found, page)


@click.command()
@click.argument("pending_id")
@click.option("--accept/--reject", default=None, help="Take the new value, or not.")
@common
def settle(frame: Frame, pending_id: str, accept: bool | None) -> None:
    """Accept or reject a pending challenge."""
    if accept is None:
        raise InvalidInputError("--accept", "or --reject is needed")

    async def work(memory: Memory) -> Any:
        return await memory.settle(frame.user, pending_id, accept=accept)

    result = frame.run(work)
    frame.show(
        {"ok": True} if result is None else result, lambda out: out.line(frame.word("done"))
    )


@click.command()
@click.option("--capture/--no-capture", default=True, help="Stop writing.")
@click.option("--recall/--no-recall", default=False, help="Stop reading.")
@common
def pause(frame: Frame, capture: bool, recall: bool) -> None:
    """Pause: nothing more is written (and, with --recall, nothing handed out)."""

    async def work(memory: Memory) -> Any:
        return await memory.pause(frame.user, capture=capture, recall=recall)

    frame.run(work)
    frame.done(frame.word("done"))


@click.command()
@common
def resume(frame: Frame) -> None:
    """End the pause."""

    async def work(memory: Memory) -> Any:
        return await memory.resume(frame.user)

    frame.run(work)
    frame.done(frame.word("done"))


@click.command("end-session")
@click.argument("session")
@common
def end_session(frame: Frame, session: str) -> None:
    """End a conversation; its temporary notes go."""

    async def work(memory: Memory) -> Any:
        return await memory.end_session(frame.user, session)

    frame.run(work)
    frame.done(frame.word("done"))
