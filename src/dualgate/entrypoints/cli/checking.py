"""`dualgate doctor`: is everything as it must be, and if not, what to do."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from dualgate.entrypoints.cli.frame import Frame, for_anybody
from dualgate.entrypoints.cli.render import Page

SOMETHING_WRONG = 1


@click.command()
@for_anybody
def doctor(frame: Frame) -> None:
    """Check the setup: database, disk, weights, and endpoints for real; exit code 1 if wrong."""
    # Imported here, so that --help does not wait for the models' libraries.
    from dualgate import Settings
    from dualgate.doctor import Verdict, examine, healthy

    found = asyncio.run(examine(Settings.load(), frame.db))
    marks = {Verdict.OK: "✓", Verdict.WARNING: "!", Verdict.WRONG: "✗"}
    fine = healthy(found)
    result: dict[str, Any] = {"healthy": fine, "findings": found}

    def page(out: Page) -> None:
        for one in found:
            out.line(f"{marks[one.verdict]} {one.check}: {one.said}")
            if one.advice:
                out.line(f"    → {one.advice}")
        out.line(frame.word("all is well") if fine else frame.word("something is wrong"))

    frame.show(result, page)
    if not fine:
        click.get_current_context().exit(SOMETHING_WRONG)
