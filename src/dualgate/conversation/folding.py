"""Folding: some turns are read for what must outlive them, and a summary takes their place [L1].

Rule: the summary never costs more than what it replaces. Lasting lines are all kept, or, unless a
budget presses, the turns stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dualgate.conversation.shapes import HostMessage, counted_text
from dualgate.conversation.summary import (
    Form,
    Summary,
    as_message,
    form_for,
    price,
    quoted_line,
    written,
)
from dualgate.conversation.units import Layout, Unit, as_turns
from dualgate.domain.compaction import (
    LASTING,
    Choice,
    CompactionPolicy,
    Cost,
    Digest,
    Keep,
    Line,
    choose,
    distinct,
    missing,
)
from dualgate.domain.items import Message
from dualgate.pipeline.ports import Redactor, Summarizer, TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactPorts:
    """What compaction asks. reference: a reader without a model that checks the summarizer."""

    summarizer: Summarizer
    redactor: Redactor
    tokens: TokenCounter
    policy: CompactionPolicy
    reference: Summarizer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A conversation with some turns folded; what was kept of them, and what was not."""

    messages: list[HostMessage]
    turns: int
    summarized: bool
    digest: Digest
    left_out: tuple[Line, ...]
    repeated: int
    restored: int


async def fold(
    now: Sequence[HostMessage],
    layout: Layout,
    units: Sequence[Unit],
    ports: CompactPorts,
    *,
    room: int,
    strict: bool,
) -> Folded | None:
    """Put a summary in the place of the oldest units and of the summary before them.

    room: tokens that the summary may take. strict: None, rather than lose a lasting line only
    because the summary would then cost more than the turns.
    """
    end = _end(now, layout, units) if strict else len(now)
    old = [summary for place, summary in layout.summaries if place < end]
    places = {place for unit in units for place in unit.places}
    unread = [now[place] for place in sorted(places)]
    places |= {place for place, _ in layout.summaries if place < end}
    if not places:
        return None
    digest, restored = await _read(as_turns(unread), ports)
    fresh = [_safe(line, ports.redactor) for line in digest.lines]
    said = [line for summary in old for line in summary.lines]
    said += [line for line in fresh if line.text]
    lines = distinct(said)
    replaced = [now[place] for place in sorted(places)]
    turns = sum(unit.turns for unit in units)
    summary = Summary(turns + sum(each.turns for each in old), tuple(lines))
    most = sum((cost_of(message, ports.tokens) for message in replaced), Cost())
    text, choice = _worded(summary, Cost(room, most.characters), most, ports.tokens)
    lost = [lines[place] for place in choice.left]
    if strict and any(line.keep in LASTING for line in _unpaid(summary, lost, room, ports.tokens)):
        return None
    return Folded(
        messages=_put(now, places, replaced, text),
        turns=turns,
        summarized=bool(text),
        digest=digest,
        left_out=tuple(lost),
        repeated=len(said) - len(lines),
        restored=restored,
    )


def cost_of(message: HostMessage, tokens: TokenCounter) -> Cost:
    """Return what a message costs: its text, without media."""
    return price(counted_text(message), tokens)


def _end(now: Sequence[HostMessage], layout: Layout, units: Sequence[Unit]) -> int:
    """Return where the turns begin that stay."""
    rest = layout.units[len(units) :]
    return min((unit.places[0] for unit in rest), default=len(now))


async def _read(turns: Sequence[Message], ports: CompactPorts) -> tuple[Digest, int]:
    """Return what a summarizer keeps of the turns, and how many lines it had to be reminded of."""
    parts = [
        await ports.summarizer.summarize(part)
        for part in _parts(turns, ports.summarizer.input_tokens, ports.tokens)
    ]
    lines = [line for part in parts for line in part.lines]
    lacking: list[Line] = []
    if ports.reference is not None:
        lacking = missing((await ports.reference.summarize(turns)).lines, lines)
    digest = Digest(
        lines=(*lines, *lacking),
        courtesy=sum(part.courtesy for part in parts),
        passing=sum(part.passing for part in parts),
        cut=sum(part.cut for part in parts),
    )
    return digest, len(lacking)


def _parts(
    turns: Sequence[Message], limit: int | None, tokens: TokenCounter
) -> Iterator[list[Message]]:
    """Yield the turns in parts of at most `limit` tokens; a turn beyond it is cut into pieces."""
    if limit is None:
        if turns:
            yield list(turns)
        return
    part: list[Message] = []
    spent = 0
    for piece in (piece for turn in turns for piece in _pieces(turn, limit, tokens)):
        cost = tokens.count(piece.content)
        if part and spent + cost > limit:
            yield part
            part, spent = [], 0
        part.append(piece)
        spent += cost
    if part:
        yield part


def _pieces(turn: Message, limit: int, tokens: TokenCounter) -> Iterator[Message]:
    if len(turn.content) < 2 or tokens.count(turn.content) <= limit:  # noqa: PLR2004
        yield turn
        return
    middle = len(turn.content) // 2
    at = turn.content.rfind("\n", middle // 2, middle) + 1 or middle
    for half in (turn.content[:at], turn.content[at:]):
        yield from _pieces(replace(turn, content=half), limit, tokens)


def _safe(line: Line, redactor: Redactor) -> Line:
    return quoted_line(Line(line.keep, redactor.redact(line.text), line.speaker))


def _worded(
    summary: Summary, room: Cost, most: Cost, tokens: TokenCounter
) -> tuple[str, Choice]:
    """Return the summary's text within the room, and the lines in it; "" if none fits.

    The note is left away where a lasting line would else not fit.
    """
    within = Cost(min(room.tokens, most.tokens), min(room.characters, most.characters))
    form = form_for(summary.lines)
    choice = _chosen(summary, form, within, tokens)
    if any(summary.lines[place].keep in LASTING for place in choice.left) or not choice.taken:
        form = replace(form, noted=False)
        choice = _chosen(summary, form, within, tokens)
    taken = choice.taken
    while taken:
        text = written(Summary(summary.turns, taken), form)
        if price(text, tokens).within(within):
            break
        taken = taken[1:]  # a counter whose counts do not add up; never seen with ours
    if not taken:
        return "", Choice((), tuple(range(len(summary.lines))))
    return text, Choice(taken, choice.left)


def _unpaid(
    summary: Summary, lost: Sequence[Line], room: int, tokens: TokenCounter
) -> list[Line]:
    """Return the lost lines for which the policy has room; what they stand for is too short."""
    form = form_for(summary.lines)
    allowed = set(_chosen(summary, form, Cost(room, _ENDLESS), tokens).taken)
    return [line for line in lost if line in allowed]


_ENDLESS = 1 << 60


def _chosen(summary: Summary, form: Form, room: Cost, tokens: TokenCounter) -> Choice:
    costs = [price(form.line(line), tokens) for line in summary.lines]
    headings = {keep: price(form.heading(keep), tokens) for keep in Keep}
    frame = written(Summary(summary.turns, ()), form)
    return choose(summary.lines, costs, headings, price(frame, tokens), room)


def _put(
    now: Sequence[HostMessage], places: set[int], replaced: Sequence[HostMessage], text: str
) -> list[HostMessage]:
    times = [message.at for message in replaced if isinstance(message, Message) and message.at]
    first = min(places)
    kept: list[HostMessage] = []
    for place, message in enumerate(now):
        if place == first and text:
            kept.append(as_message(text, replaced[0], times[-1] if times else None))
        if place not in places:
            kept.append(message)
    return kept
