"""One item's whole life, as its history tells it: versions, signals with quotes, moves."""

from __future__ import annotations

from datetime import datetime

from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Move
from dualgate.domain.signals import Signal
from dualgate.domain.types import Evidence
from dualgate.entrypoints.demo.pages import Chapter, Group, Row
from dualgate.entrypoints.demo.replay import Story
from dualgate.entrypoints.demo.words import Words, short


def richest(story: Story) -> MemoryItem:
    """Return the item that has been through the most; of one lineage, the newest version."""

    def lived(item: MemoryItem) -> tuple[int, int, str]:
        history = story.histories[item.id]
        events = len(history.versions) + len(history.signals) + len(history.moves)
        return events, item.version, item.id

    return max(story.items, key=lived)


def life(story: Story, say: Words) -> Chapter:
    """Return the chapter about the item that has been through the most."""
    history = story.histories[richest(story).id]
    numbers = {item.id: item.version for item in history.versions}
    note = say(
        "life_note", versions=len(history.versions), signals=len(history.signals),
        moves=len(history.moves),
    )  # fmt: skip
    versions = tuple(
        Row(say("version", n=item.version, content=item.content,
                status=say(f"status_{item.status}")))
        for item in history.versions
    )  # fmt: skip
    events = [
        *((signal.at, 0, _heard(signal, numbers, say)) for signal in history.signals),
        *((move.at, 1, _moved(move, numbers, say)) for move in history.moves),
    ]
    events.sort(key=lambda event: event[:2])  # stable: the log's own order breaks ties
    rows = tuple(row for _, _, row in events)
    return Chapter(
        title=say("life"), note=note, groups=(Group("", versions), Group("", rows, dated=True))
    )


def _heard(signal: Signal, numbers: dict[str, int], say: Words) -> Row:
    mood = say("in_anger") if signal.evidence is Evidence.EMOTIONAL else ""
    told = say(
        "agrees" if signal.agrees else "disagrees",
        quote=short(signal.quote or ""), confidence=signal.confidence, mood=mood,
    )  # fmt: skip
    return Row(_stamp(signal.at, signal.item_id, numbers, say), told)


def _moved(move: Move, numbers: dict[str, int], say: Words) -> Row:
    name = f"cause_{move.cause}"
    # A confirmation without a count is the user's own word.
    if name == "cause_confirmed" and "confirm_count" not in move.numbers:
        name = "cause_own_word"
    cause = say(name, **move.numbers) if say.knows(name) else str(move.cause)
    told = say("moved", status=say(f"status_{move.after}"), cause=cause)
    return Row(_stamp(move.at, move.item_id, numbers, say), told)


def _stamp(at: datetime, item_id: str, numbers: dict[str, int], say: Words) -> str:
    return f"{say.day(at)} · {say('v', n=numbers[item_id])}"
