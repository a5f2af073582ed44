"""Commands that put things into memory and read them back."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

import click

from dualgate.domain.items import Candidate, MemoryItem, Message
from dualgate.domain.plan import Decision
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType, Role
from dualgate.entrypoints.cli.frame import Frame, common, for_anybody
from dualgate.entrypoints.cli.render import Page
from dualgate.entrypoints.cli.words import reason_told
from dualgate.errors import InvalidInputError

if TYPE_CHECKING:
    from dualgate import Memory

_ITEM_TYPES = click.Choice([str(kind) for kind in ItemType])
_CANDIDATE_FIELDS = frozenset(member.name for member in fields(Candidate))


class Moment(click.ParamType[datetime]):
    """An ISO 8601 date or time; without a zone it is UTC."""

    name = "TIME"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the aware datetime."""
        if isinstance(value, datetime):
            return value
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            self.fail(f"{value!r} is no ISO 8601 time such as 2025-03-01T09:30+08:00", param, ctx)
        return found if found.tzinfo else found.replace(tzinfo=UTC)


@click.command()
@click.argument("text")
@click.option("--session", required=True, help="The conversation it was said in.")
@click.option("--role", type=click.Choice([str(r) for r in Role]), default="user", help="Speaker.")
@click.option("--at", type=Moment(), help="When it was said; now by default.")
@click.option("--id", "message_id", help="Your id of the message; the same id is stored once.")
@click.option("--task", help="The task that temporary notes belong to.")
@click.option("--parent", help="The session that this one resumes or forks.")
@click.option("--private", is_flag=True, help="Write nothing of it.")
@click.option("--wait/--no-wait", default=True, help="Wait for the decisions, or only queue it.")
@common
def observe(frame: Frame, text: str, session: str, wait: bool, **more: Any) -> None:
    """Hand in one message ("-" reads it from standard input)."""
    said = sys.stdin.read() if text == "-" else text
    message = Message(Role(more["role"]), said, more["at"], more["message_id"])

    async def work(memory: Memory) -> Any:
        return await memory.observe(
            frame.user,
            session,
            [message],
            wait=wait,
            private=more["private"],
            task_id=more["task"],
            parent_session_id=more["parent"],
        )

    _show_receipt(frame, frame.run(work, as_worker=wait), waited=wait)


@click.command()
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--session", required=True, help="The conversation they come from.")
@click.option("--wait/--no-wait", default=True, help="Wait for the decisions, or only queue them.")
@common
def propose(frame: Frame, file: IO[bytes], session: str, wait: bool) -> None:
    """Hand in candidates: JSON from FILE ("-": standard input), one, a list, or one a line."""
    candidates = candidates_of(file.read())

    async def work(memory: Memory) -> Any:
        return await memory.propose(frame.user, session, candidates, wait=wait)

    _show_receipt(frame, frame.run(work, as_worker=wait), waited=wait)


@click.command()
@click.option("--timeout", type=click.FloatRange(min=0), help="Seconds to wait at most.")
@for_anybody
def drain(frame: Frame, timeout: float | None) -> None:
    """Wait until nothing is queued or running."""

    async def work(memory: Memory) -> None:
        try:
            await memory.drain(timeout=timeout)
        except TimeoutError:
            left = (await memory.stats()).queue.waiting
            raise click.ClickException(f"{left} jobs still wait") from None

    frame.run(work, as_worker=True)
    frame.done(frame.word("done"))


@click.command()
@click.argument("query", default="")
@click.option("--session", required=True, help="The conversation that begins.")
@click.option("--token-budget", type=click.IntRange(min=0), help="Tokens in all, at most.")
@click.option("--window-tokens", type=click.IntRange(min=1), help="Size of the model's window.")
@common
def context(
    frame: Frame, query: str, session: str, token_budget: int | None, window_tokens: int | None
) -> None:
    """Show what a session would start with; QUERY is the user's first sentence."""

    async def work(memory: Memory) -> Any:
        return await memory.context(
            frame.user,
            session,
            query,
            token_budget=token_budget,
            window_tokens=window_tokens,
            lang=frame.lang,
        )

    block = frame.run(work)

    def page(out: Page) -> None:
        out.panel(frame.word("context"), block.text or frame.word("nothing"))
        counts = [(frame.word(n), len(getattr(block, n))) for n in ("core", "active", "recalled")]
        out.line(
            f"{frame.word('tokens')} {block.tokens}" + "".join(f" · {n} {c}" for n, c in counts)
        )

    frame.show(block, page)


@click.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(min=1), default=10, help="Hits at most.")
@click.option("--type", "item_types", type=_ITEM_TYPES, multiple=True, help="Only these types.")
@click.option("--archived/--no-archived", default=True, help="Look into the archive as well.")
@click.option("--sensitive", is_flag=True, help="Include sensitive items.")
@click.option("--transcripts", is_flag=True, help="Search the raw conversation turns as well.")
@click.option("--as-of", type=Moment(), help="What was believed then.")
@common
def recall(frame: Frame, query: str, item_types: Sequence[str], **more: Any) -> None:
    """Find what memory knows about QUERY."""
    wanted = [ItemType(kind) for kind in item_types] or None

    async def work(memory: Memory) -> Any:
        return await memory.recall(frame.user, query, item_types=wanted, lang=frame.lang, **more)

    found = frame.run(work)

    def page(out: Page) -> None:
        columns = frame.words("relevance", "type", "status", "content", "paths", "id")
        rows = [
            (h.relevance, h.item.item_type, h.item.status, h.item.content, h.paths, h.item.id)
            for h in found.hits
        ]
        if rows:
            out.entries(frame.word("recalled"), columns, rows, head=3)
        if found.passages:
            columns = frame.words("relevance", "role", "content", "time", "session")
            said = [(p.relevance, p.role, p.content, p.at, p.session_id) for p in found.passages]
            out.entries(frame.word("transcript"), columns, said, head=2)
        if not (rows or found.passages):
            out.line(frame.word("nothing"))
        if found.degraded:
            out.line(f"{frame.word('found by words only')}: {found.degraded}")

    frame.show(found, page)


@click.command()
@click.option("--status", type=click.Choice([str(s) for s in Status]), help="Only this status.")
@click.option("--type", "item_type", type=_ITEM_TYPES, help="Only this type.")
@click.option("--text", help="Only items that contain this.")
@click.option("--limit", type=click.IntRange(min=1), default=100, help="Items a page.")
@click.option("--cursor", help="Where the page begins: the last page's cursor.")
@common
def items(frame: Frame, **wanted: Any) -> None:
    """List what is remembered, newest first."""

    async def work(memory: Memory) -> Any:
        return await memory.items(frame.user, **wanted)

    found = frame.run(work)

    def page(out: Page) -> None:
        columns = frame.words("status", "type", "content", "score", "confirmations", "last seen")
        rows = [
            (i.status, i.item_type, i.content, i.score, i.confirm_count, i.last_seen_at, i.id)
            for i in found.items
        ]
        if rows:
            out.entries(frame.word("items"), [*columns, frame.word("id")], rows, head=2)
        else:
            out.line(frame.word("nothing"))
        if found.cursor:
            out.line(f"{frame.word('next page')}: --cursor {found.cursor}")

    frame.show(found, page)


@click.command()
@click.argument("item_id")
@common
def item(frame: Frame, item_id: str) -> None:
    """Show one item with all its numbers."""

    async def work(memory: Memory) -> MemoryItem:
        return await memory.item(frame.user, item_id)

    found = frame.run(work)
    frame.show(found, lambda out: show_item(frame, out, found))


@click.command()
@click.argument("item_id")
@common
def history(frame: Frame, item_id: str) -> None:
    """Show an item's moves, signals, versions and when it was recalled."""

    async def work(memory: Memory) -> Any:
        return await memory.history(frame.user, item_id)

    found = frame.run(work)

    def page(out: Page) -> None:
        columns = frame.words("time", "from", "to", "cause", "who", "numbers")
        moves = [(m.at, m.before, m.after, m.cause, m.actor, m.numbers) for m in found.moves]
        out.table(frame.word("moves"), columns, moves)
        columns = frame.words("time", "session", "confidence", "evidence", "quote")
        signals = [
            (s.at, s.session_id, s.confidence if s.agrees else -s.confidence, s.evidence, s.quote)
            for s in found.signals
        ]
        out.table(frame.word("signals"), columns, signals)
        columns = frame.words("version", "status", "content", "created", "id")
        versions = [(v.version, v.status, v.content, v.created_at, v.id) for v in found.versions]
        out.entries(frame.word("versions"), columns, versions, head=2)
        columns = frame.words("time", "session", "relevance")
        uses = [(u.at, u.session_id, u.query_relevance) for u in found.recalls]
        out.table(frame.word("recalls"), columns, uses)

    frame.show(found, page)


@click.command()
@click.argument("text", required=False)
@click.option("--job", "job_id", help="The decisions of one job.")
@common
def why(frame: Frame, text: str | None, job_id: str | None) -> None:
    """Show the recorded decisions about TEXT, refused ones too."""

    async def work(memory: Memory) -> Sequence[Decision]:
        return await memory.why(frame.user, text=text, job_id=job_id)

    decisions = frame.run(work)
    frame.show(decisions, lambda out: show_decisions(frame, out, decisions))


def candidates_of(raw: bytes) -> list[Candidate]:
    """Return the candidates in a JSON object, a JSON array, or JSON Lines."""
    try:
        text = raw.decode("utf-8-sig")
        try:
            given = json.loads(text)
        except json.JSONDecodeError:
            given = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError("candidates", f"must be JSON ({exc})") from exc
    if not text.strip():
        raise InvalidInputError("candidates", "must be JSON, but nothing was given")
    return [_candidate(entry) for entry in (given if isinstance(given, list) else [given])]


def _candidate(entry: object) -> Candidate:
    if not isinstance(entry, Mapping):
        raise InvalidInputError("candidates", "each must be a JSON object", entry)
    unknown = sorted(entry.keys() - _CANDIDATE_FIELDS)
    if unknown:
        allowed = ", ".join(sorted(_CANDIDATE_FIELDS))
        raise InvalidInputError("candidates", f"have only the fields {allowed}", unknown)
    for needed in ("item_type", "content", "confidence"):
        if needed not in entry:
            raise InvalidInputError(needed, "is needed in every candidate")
    times = {
        name: Moment().convert(entry[name], None, None)
        for name in ("event_at", "expires_at")
        if isinstance(entry.get(name), str)
    }
    return Candidate(**{**entry, **times})


def show_item(frame: Frame, out: Page, found: MemoryItem) -> None:
    """Print one item."""
    pairs = {
        "id": found.id,
        "content": found.content,
        "type": found.item_type,
        "status": found.status,
        "subject": found.subject,
        "attribute": found.attribute,
        "value": found.value,
        "score": found.score,
        "importance": found.importance,
        "confidence": found.confidence,
        "support": found.support,
        "confirmations": found.confirm_count,
        "evidence": found.evidence,
        "sensitivity": found.sensitivity,
        "contested": found.contested,
        "pinned": found.pinned,
        "created": found.created_at,
        "last seen": found.last_seen_at,
        "expires": found.expires_at,
        "access count": found.access_count,
        "session": found.source_session_id,
        "version": found.version,
    }
    out.facts(frame.word("item"), frame.facts(pairs))


def show_decisions(frame: Frame, out: Page, decisions: Sequence[Decision]) -> None:
    """Print decisions, one a row."""
    if not decisions:
        out.line(frame.word("nothing"))
        return
    columns = frame.words("outcome", "reason", "type", "content", "numbers", "item", "time")
    rows = [
        (
            d.outcome,
            # For people in plain words; programs read a pipe, and the code is what is documented.
            f"{reason_told(d.reason, frame.lang)} ({d.reason})" if out.rich else d.reason,
            d.candidate.item_type,
            d.candidate.content,
            d.numbers,
            d.item_id,
            d.at,
        )
        for d in decisions
    ]
    out.entries(frame.word("decisions"), columns, rows, head=3)


def _show_receipt(frame: Frame, receipt: Any, *, waited: bool) -> None:
    def page(out: Page) -> None:
        if receipt.job_id is None:
            out.line(frame.word("nothing was stored: capture is paused, or nothing is left of it"))
        elif waited:
            show_decisions(frame, out, receipt.decisions)
        else:
            out.line(f"{frame.word('queued')}: {receipt.job_id}")

    frame.show(receipt, page)
