"""The ingest command: old conversations into memory, with their original times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, tzinfo
from itertools import chain
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dualgate.entrypoints.cli.frame import Frame, for_anybody
from dualgate.entrypoints.cli.render import Page
from dualgate.errors import InvalidInputError
from dualgate.pipeline import ingest as pipeline
from dualgate.pipeline.ingest import IngestSummary, LogSession, ReadReport

if TYPE_CHECKING:
    from dualgate import Memory

_BAD_SHOWN = 20


class Zone(click.ParamType[tzinfo]):
    """The name of a time zone, such as Asia/Shanghai."""

    name = "ZONE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tzinfo:
        """Return the zone."""
        if isinstance(value, tzinfo):
            return value
        try:
            return ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.fail(f"{value!r} is no time zone such as Asia/Shanghai", param, ctx)


@click.command()
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--format", "log_format", metavar="FORMAT", help="Found out if unset.")
@click.option("--dry-run", is_flag=True, help="Read and count; store nothing.")
@click.option("--zone", type=Zone(), default=UTC, help="Of times without one; UTC by default.")
@click.option("--person", help="Whose log it is, where a file holds several people's.")
@click.option("--all-people", is_flag=True, help="Each person of the log as a user of their own.")
@for_anybody
def ingest(frame: Frame, paths: Sequence[str], person: str | None, **options: Any) -> None:
    """Read conversation logs into memory; a FILE may be a folder. Doing it twice changes nothing.

    Formats: JSON Lines of messages, the exports of ChatGPT and Claude (zip or conversations.json),
    transcripts of Claude Code and Codex, pasted "[date] - memory" lines, MemoryBank, EverMemOS.
    With --all-people the user ids are the people's names, or USER/NAME if --user is given.
    """
    from dualgate.bootstrap import read_logs

    report = ReadReport()
    sessions = list(
        chain.from_iterable(
            read_logs(path, options["log_format"], zone=options["zone"], report=report)
            for path in paths
        )
    )
    logs = _by_user(frame, sessions, person, all_people=options["all_people"])

    async def work(memory: Memory) -> list[IngestSummary]:
        summaries = []
        for user_id, theirs in logs.items():
            with _progress(user_id) as progress:
                summary = await pipeline.ingest(
                    memory, user_id, theirs, report=report, progress=progress
                )
            summaries.append(summary)
        return summaries

    if options["dry_run"]:
        # Opening the memory would make its file.
        summaries = [pipeline.counted(user, theirs, report) for user, theirs in logs.items()]
    else:
        summaries = frame.run(work, as_worker=True)

    def page(out: Page) -> None:
        for summary in summaries:
            _show(frame, out, summary)
        _show_bad(frame, out, report)

    frame.show({"summaries": summaries} if options["all_people"] else summaries[0], page)


def _by_user(
    frame: Frame, sessions: Sequence[LogSession], person: str | None, *, all_people: bool
) -> dict[str, list[LogSession]]:
    people = sorted({s.person for s in sessions if s.person is not None})
    if all_people:
        if not people:
            raise InvalidInputError("--all-people", "the log does not tell people apart")
        prefix = "" if frame.given_user is None else f"{frame.given_user}/"
        return {f"{prefix}{name}": [s for s in sessions if s.person == name] for name in people}
    if person is not None:
        if person not in people:
            rule = f"must be one of {', '.join(people) or 'nobody: the log tells none apart'}"
            raise InvalidInputError("--person", rule, person)
        sessions = [s for s in sessions if s.person == person]
    elif len(people) > 1:
        # Mixing people would store one's traits as another's [W3].
        rule = f"is needed (or --all-people), the log holds {', '.join(people)}"
        raise InvalidInputError("--person", rule)
    return {frame.user: list(sessions)}


@contextmanager
def _progress(user_id: str) -> Iterator[pipeline.Progress]:
    page = Page(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=page.console, transient=True, disable=not page.rich) as bar:
        task = bar.add_task(user_id, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(frame: Frame, out: Page, summary: IngestSummary) -> None:
    span = (
        f"{summary.first_at:%Y-%m-%d} … {summary.last_at:%Y-%m-%d}" if summary.first_at else None
    )
    pairs: dict[str, object] = {
        "user": summary.user_id,
        "sessions": summary.sessions,
        "messages": summary.messages,
        "user messages": summary.user_messages,
        "time span": span,
    }
    if not summary.dry_run:
        pairs |= {
            "new messages": summary.new_messages,
            "not stored": summary.unstored_messages,
            "candidates": summary.candidates,
            "items": summary.items,
            "seconds": round(summary.seconds, 1),
        }
    out.facts(frame.word("sessions"), frame.facts(pairs))
    for failed in summary.failed:
        out.line(f"{frame.word('failed')}: {failed.session_id}: {failed.error}", "red")
    if summary.dry_run:
        out.line(frame.word("dry run: nothing was stored, candidates were not extracted"))


def _show_bad(frame: Frame, out: Page, report: ReadReport) -> None:
    counts = [
        ("files", report.files),
        ("other files", len(report.ignored)),
        ("bad entries", len(report.bad)),
    ]
    out.line(" · ".join(f"{frame.word(name)}: {count}" for name, count in counts if count))
    for entry in report.bad[:_BAD_SHOWN]:
        place = entry.path if entry.line is None else f"{entry.path}:{entry.line}"
        out.line(f"  {place}: {entry.reason}")
    if len(report.bad) > _BAD_SHOWN:
        out.line(f"  … {len(report.bad) - _BAD_SHOWN}")
