"""A Story as the four chapters of a page, in plain words: data, no layout.

Rule: every sentence is chosen and filled by a recorded decision, signal, move or number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Decision, Outcome
from dualgate.domain.signals import Signal
from dualgate.domain.status import Status
from dualgate.domain.types import Evidence, ItemType, Sensitivity
from dualgate.entrypoints.demo.lives import life
from dualgate.entrypoints.demo.pages import Chapter, Group, Row
from dualgate.entrypoints.demo.replay import Story
from dualgate.entrypoints.demo.words import Words, short

ROWS_SHOWN = 7  # of a group that is not kept; a page of three screens is read, a list is not
_LEFT = (Outcome.REFUSED, Outcome.WORKING_MEMORY, Outcome.IGNORED, Outcome.HELD)


def title(story: Story, say: Words) -> str:
    """Return the page's headline."""
    told = story.conversation
    live = sum(item.status not in (Status.SUPERSEDED, Status.FORGOTTEN) for item in story.items)
    weeks = round((told.next_at - told.starts_at).days / 7)
    return say("title", weeks=weeks, sessions=len(told.sessions), messages=told.messages,
               live=live)  # fmt: skip


def chapters(story: Story, say: Words) -> list[Chapter]:
    """Return the page: kept, not kept, the next context, one memory's life."""
    return [_kept(story, say), _left(story, say), _context(story, say), life(story, say)]


def _kept(story: Story, say: Words) -> Chapter:
    pools = story.pools
    sizes = {
        "frozen": ({Status.FROZEN}, pools.frozen, pools.frozen_capacity),
        "hot": ({Status.CONFIRMED, Status.CANDIDATE}, pools.hot, pools.hot_capacity),
        "archive": ({Status.ARCHIVED}, pools.archive, pools.archive_capacity),
        "replaced": ({Status.SUPERSEDED}, 0, 0),
    }
    groups = []
    for name, (statuses, count, capacity) in sizes.items():
        items = sorted(
            (item for item in story.items if item.status in statuses),
            key=lambda item: (-item.confirm_count, item.created_at),
        )
        rows = tuple(Row(item.content, _why_kept(item, story, say)) for item in items)
        if rows or name == "frozen":
            groups.append(Group(say(name, count=count, capacity=capacity), rows))
    note = say("intro", user=story.conversation.user)
    return Chapter(title=say("kept"), note=note, groups=tuple(groups))


def _why_kept(item: MemoryItem, story: Story, say: Words) -> str:
    """Return why the item stands where it stands: how it came, then what is special about it."""
    if item.status is Status.SUPERSEDED:
        new = story.item(item.superseded_by)
        day = say.day(item.updated_at)
        return say("gave_way", date=day) if new is None else say(
            "replaced_by", date=day, new=short(new.content))  # fmt: skip
    reasons = [_came(item, story, say)]
    angry = _sessions(s for s in _agreeing(item, story) if s.evidence is Evidence.EMOTIONAL)
    if angry:
        reasons.append(say("anger", n=angry))
    if item.contested:
        reasons.append(say("contested"))
    if item.sensitivity is Sensitivity.SENSITIVE:
        until = item.expires_at
        reasons.append(say("sensitive_kept") if until is None
                       else say("sensitive", date=say.day(until)))  # fmt: skip
    if item.subject == "assistant":
        reasons.append(say("assistant"))
    elif item.subject != "user":
        reasons.append(say("other_person", subject=item.subject))
    if item.item_type is ItemType.COMMITMENT and item.event_at is not None:
        reasons.append(say("due", date=say.day(item.event_at)))
    return ("；" if say.lang == "zh" else "; ").join(reasons)


def _came(item: MemoryItem, story: Story, say: Words) -> str:
    """Return how the item came to its place."""
    made = next((d for d in story.decisions if d.item_id == item.id), None)
    said = _sessions(_agreeing(item, story))
    if item.status is Status.FROZEN:
        return say("froze", n=said)
    if made is not None and made.outcome is Outcome.SUPERSEDED:
        return _took_over(made, item, story, say)
    if item.status is Status.CONFIRMED:
        return say("confirmed", n=said)
    if said > 1 or made is None or "score" not in made.numbers:
        return say("entered_often", n=said, count=item.confirm_count)
    return say("entered", **made.numbers)


def _took_over(made: Decision, item: MemoryItem, story: Story, say: Words) -> str:
    if made.reason == "explicit_correction":
        limit = story.settings.gates.override.override_at
        return say("corrected", confidence=made.candidate.confidence, override_at=limit)
    return say("corrected_plain" if made.candidate.correction else "newer", version=item.version)


def _agreeing(item: MemoryItem, story: Story) -> list[Signal]:
    signals = story.histories[item.id].signals
    return [signal for signal in signals if signal.item_id == item.id and signal.agrees]


def _sessions(signals: Iterable[Signal]) -> int:
    return len({signal.session_id for signal in signals})


def _left(story: Story, say: Words) -> Chapter:
    groups = []
    for outcome in _LEFT:
        # The near misses first: they show where the line runs.
        ended = sorted(
            (d for d in story.decisions if d.outcome is outcome),
            key=lambda d: -d.candidate.confidence if outcome is Outcome.REFUSED else 0.0,
        )
        if ended:
            groups.append(Group(say(outcome.value), _limited(
                [Row(_quote(d), _why_left(d, story, say)) for d in ended], say)))  # fmt: skip
    silent = sorted(story.silent(), key=lambda message: -len(message.content))
    hidden = [m for m in silent if story.conversation.secret in m.content]
    spoken = [m for m in silent if m not in hidden]
    told = " · ".join(f"“{short(message.content)}”" for message in spoken)
    groups.append(Group(say("silent", n=len(spoken)), (Row(told),)))
    groups.append(Group(say("secret"), (_secret(story, say),)))
    return Chapter(title=say("left"), groups=tuple(groups))


def _secret(story: Story, say: Words) -> Row:
    told, search = story.conversation, story.secret
    said = next(
        heard.message.content for heard in story.heard if told.secret in heard.message.content
    )
    why = say("redacted", size=search.searched // 1024, found=search.found)
    return Row(f"“{short(said.replace(told.secret, '•••••'))}”", why)


def _limited(rows: Sequence[Row], say: Words) -> tuple[Row, ...]:
    if len(rows) <= ROWS_SHOWN:
        return tuple(rows)
    return (*rows[: ROWS_SHOWN - 1], Row(say("more", n=len(rows) - ROWS_SHOWN + 1)))


def _quote(decision: Decision) -> str:
    return f"“{short(decision.candidate.quote or decision.candidate.content)}”"


def _why_left(decision: Decision, story: Story, say: Words) -> str:
    parts = dict(decision.numbers)
    item = story.item(decision.item_id)
    if item is not None:
        parts["item"] = short(item.content)
    if "scope" in parts:
        parts["scope"] = say(str(parts["scope"]))
    reason = decision.reason
    if reason == "frozen_held" and decision.candidate.correction:
        reason = "frozen_unsure"
    if say.knows(reason):
        return say(reason, **parts)
    return f"{decision.reason} ({parts})"


def _context(story: Story, say: Words) -> Chapter:
    told, block, limits = story.conversation, story.block, story.settings.read.limits
    return Chapter(
        title=say("context"),
        note=say("opening", date=say.day(told.next_at), says=told.next_says),
        quoted=block.text.strip(),
        footer=say(
            "tokens",
            core=block.core_tokens,
            core_limit=limits.core_tokens,
            active=block.active_tokens,
            active_limit=limits.active_tokens,
            recalled=block.recalled_tokens,
            recalled_limit=limits.recalled_tokens,
            total=block.tokens,
            total_limit=limits.total,
        ),
    )
