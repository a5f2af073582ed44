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
    forms_for,
    price,
    quoted_line,
    written,
)
from dualgate.conversation.units import Layout, Unit, as_turns
from dualgate.domain.compaction import (
    LASTING,
    CompactionPolicy,
    Cost,
    Digest,
    Keep,
    Line,
    choose,
    distinct,
    missing,
    rank,
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
    writing = _Writing(summary, room, most, ports.tokens)
    text, taken, form = writing.worded(pressed=not strict)
    if strict and not writing.lasting(form) <= set(taken):
        return None
    return Folded(
        messages=_put(now, places, replaced, text),
        turns=turns,
        summarized=bool(text),
        digest=digest,
        left_out=tuple(line for place, line in enumerate(lines) if place not in taken),
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


@dataclass(frozen=True, slots=True)
class _Writing:
    """A summary to be worded: what it may cost, and what it must not cost more than."""

    summary: Summary
    room: int
    most: Cost
    tokens: TokenCounter

    def worded(self, *, pressed: bool) -> tuple[str, list[int], Form]:
        """Return the text, the places of its lines, and its form; "" and none if no line fits.

        The note, then the headings are left away for the sake of a line that would else not fit:
        for any that there is room for, or, where a budget presses, for a lasting one.
        """
        forms = forms_for(self.summary.lines)
        within = Cost(min(self.room, self.most.tokens), self.most.characters)
        at_ease = self._fitting(forms[0], self._policy_room)
        wanted = self.lasting(forms[-1]) if pressed else set(at_ease)
        best: tuple[str, list[int], Form] = "", [], forms[-1]
        for form in forms:
            taken = self._fitting(form, within)
            text = self._written(form, taken)
            while taken and not price(text, self.tokens).within(within):
                # A counter whose counts do not add up line by line.
                taken.remove(max(taken, key=lambda place: rank(self.summary.lines[place])))
                text = self._written(form, taken)
            if taken and (not best[1] or len(wanted & set(taken)) > len(wanted & set(best[1]))):
                best = text, taken, form
            if wanted <= set(best[1]):
                break
        return best

    def lasting(self, form: Form) -> set[int]:
        """Return the places of the lasting lines that there is room for in this form."""
        places = self._fitting(form, self._policy_room)
        return {place for place in places if self.summary.lines[place].keep in LASTING}

    @property
    def _policy_room(self) -> Cost:
        return Cost(self.room, _ENDLESS)

    def _written(self, form: Form, taken: Sequence[int]) -> str:
        lines = tuple(self.summary.lines[place] for place in taken)
        return written(Summary(self.summary.turns, lines), form)

    def _fitting(self, form: Form, room: Cost) -> list[int]:
        lines = self.summary.lines
        costs = [price(form.line(line), self.tokens) for line in lines]
        headings = {keep: price(form.heading(keep), self.tokens) for keep in Keep}
        frame = price(self._written(form, ()), self.tokens)
        return choose(lines, costs, headings, frame, room)


_ENDLESS = 1 << 60  # characters: only tokens are limited


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
