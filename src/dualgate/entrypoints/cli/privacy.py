"""Commands about the whole of a memory: erase, export, import [P3]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from dualgate.entrypoints.cli.frame import Frame, common, for_anybody
from dualgate.entrypoints.cli.render import Page
from dualgate.errors import InvalidInputError

if TYPE_CHECKING:
    from dualgate import Memory


@click.command()
@click.argument("item_id", required=False)
@click.option("--session", help="Erase this conversation, with what rests on it alone.")
@click.option("--everything", is_flag=True, help="Erase all that is kept of the user.")
@click.option("--yes", is_flag=True, help="Do not ask; it cannot be undone.")
@common
def erase(
    frame: Frame, item_id: str | None, session: str | None, everything: bool, yes: bool
) -> None:
    """Erase an item, a conversation or everything, for ever: no byte is left in the file."""
    if sum((item_id is not None, session is not None, everything)) != 1:
        raise InvalidInputError("ITEM_ID", "name an item, or --session, or --everything")
    if not yes:
        if frame.json:
            raise InvalidInputError("--yes", "is needed with --json: erasing cannot be undone")
        click.confirm(frame.word("erase for ever? it cannot be undone"), abort=True, err=True)

    async def work(memory: Memory) -> Any:
        if everything:
            return await memory.erase_user(frame.user)
        return await memory.erase(frame.user, item_id, session_id=session)

    report = frame.run(work)

    def page(out: Page) -> None:
        out.line(_told(frame, "erased", report.removed))
        if report.changed:
            out.line(_told(frame, "words taken out of", report.changed))
        for item in report.kept_items:
            out.line(f"{frame.word('other conversations speak for it as well')}: {item}")
        for item in report.mentioned_in:
            out.line(f"{frame.word('says the same words')}: {item}")
        said = "no byte is left" if report.bytes_gone else "the file waits for dualgate scrub"
        out.line(frame.word(said))

    frame.show(report, page)


@click.command()
@click.argument("path", type=click.Path())
@common
def export(frame: Frame, path: str) -> None:
    """Write all that is kept of the user to PATH: a new folder, or a .zip file."""

    async def work(memory: Memory) -> Any:
        return await memory.export(frame.user, path)

    report = frame.run(work)
    frame.show(report, lambda out: out.line(_told(frame, "exported", report.counts)))


@click.command("import")
@click.argument("path", type=click.Path())
@common
def import_(frame: Frame, path: str) -> None:
    """Read back what `export` wrote; doing it twice changes nothing."""

    async def work(memory: Memory) -> Any:
        return await memory.import_(frame.user, path)

    report = frame.run(work)

    def page(out: Page) -> None:
        out.line(_told(frame, "imported", report.added))
        if report.known:
            out.line(_told(frame, "known already", report.known))
        if report.erased:
            out.line(f"{frame.word('erased before, left out')}: {report.erased}")

    frame.show(report, page)


@click.command()
@for_anybody
def scrub(frame: Frame) -> None:
    """Rewrite the database file, so that nothing erased can be read in it."""

    async def work(memory: Memory) -> Any:
        return await memory.scrub()

    gone = frame.run(work)
    said = frame.word("no byte is left" if gone else "another process reads the file; try again")
    frame.show({"bytes_gone": gone}, lambda out: out.line(said))


def _told(frame: Frame, what: str, counts: Mapping[str, int]) -> str:
    """Return counts as one line, what is 0 left out."""
    named = [
        f"{frame.word(name.replace('_', ' '))} {count}" for name, count in counts.items() if count
    ]
    return f"{frame.word(what)}: {', '.join(named) or frame.word('nothing')}"
