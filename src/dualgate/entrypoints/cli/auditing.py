"""The command that looks through the frozen pool [U2]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dualgate.entrypoints.cli.frame import Frame, common
from dualgate.entrypoints.cli.render import Page

if TYPE_CHECKING:
    from dualgate import Memory


@click.command()
@click.option("--settle", metavar="ID", help="Say that this finding may stand; audits nothing.")
@common
def audit(frame: Frame, settle: str | None) -> None:
    """Look through the frozen memories for contradictions and what can hardly be meant."""

    async def work(memory: Memory) -> Any:
        if settle is not None:
            return [await memory.settle_finding(frame.user, settle)]
        return await memory.audit(frame.user)

    findings = frame.run(work)

    def page(out: Page) -> None:
        if not findings:
            out.line(frame.word("nothing found"))
            return
        columns = frame.words("id", "finding", "item", "item", "reason", "who", "status")
        rows = [(f.id, f.kind, f.item_id, f.other_id, f.said, f.by, f.state) for f in findings]
        out.table(frame.word("findings"), columns, rows)

    frame.show(findings, page)
