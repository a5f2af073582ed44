"""A user's memory as a page to read: what is remembered, why, and what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from dualgate.domain.items import MemoryItem
from dualgate.domain.signals import Signal
from dualgate.domain.status import Status
from dualgate.pipeline.dossier import Dossier
from dualgate.pipeline.render import language_of

_ORDER = (
    Status.FROZEN, Status.CONFIRMED, Status.CANDIDATE, Status.ARCHIVED, Status.SUPERSEDED,
    Status.FORGOTTEN,
)  # fmt: skip
_WORDS = {
    "en": {
        "title": "Memory of {0}", "as_of": "As of {0:%Y-%m-%d %H:%M} UTC.",
        Status.FROZEN: "Frozen", Status.CONFIRMED: "Confirmed", Status.CANDIDATE: "Candidates",
        Status.ARCHIVED: "Archived", Status.SUPERSEDED: "Earlier versions",
        Status.FORGOTTEN: "Forgotten (can still be restored)",
        "facts": "{0}, since {1:%Y-%m-%d}, last {2:%Y-%m-%d}, confirmations: {3:g}, version {4}",
        "turns": "Conversations", "none": "Nothing is remembered.",
    },
    "zh": {
        "title": "{0} 的记忆", "as_of": "截至 {0:%Y-%m-%d %H:%M} UTC。",
        Status.FROZEN: "冻结", Status.CONFIRMED: "已确认", Status.CANDIDATE: "候选",
        Status.ARCHIVED: "归档", Status.SUPERSEDED: "旧版本",
        Status.FORGOTTEN: "已遗忘（仍可恢复）",
        "facts": "{0}，始于 {1:%Y-%m-%d}，最近 {2:%Y-%m-%d}，确认 {3:g} 次，第 {4} 版",
        "turns": "对话", "none": "没有记忆。",
    },
}  # fmt: skip


def as_markdown(dossier: Dossier, now: datetime) -> str:
    """Return the page, in the language most of it is in."""
    words = _WORDS[language_of(item.content for item in dossier.items)]
    lines = [f"# {_one_line(words['title'].format(dossier.user_id))}", ""]
    lines += [words["as_of"].format(now), ""]
    quotes: dict[str, list[Signal]] = {}
    for signal in dossier.signals:
        quotes.setdefault(signal.item_id, []).append(signal)
    for status in _ORDER:
        items = [item for item in dossier.items if item.status is status]
        if items:
            lines += [f"## {words[status]}", ""]
            for item in items:
                lines += _told(item, quotes.get(item.id, ()), words["facts"])
            lines.append("")
    if not dossier.items:
        lines += [words["none"], ""]
    return "\n".join([*lines, *_talk(dossier, words["turns"])]).rstrip("\n") + "\n"


def _told(item: MemoryItem, signals: Iterable[Signal], facts: str) -> Iterator[str]:
    yield f"- {_one_line(item.content)}"
    numbers = (item.created_at, item.last_seen_at, item.confirm_count, item.version)
    yield f"  - {facts.format(item.item_type, *numbers)}"
    for signal in signals:
        if signal.quote:
            yield f"  - {signal.at:%Y-%m-%d} “{_one_line(signal.quote)}”"


def _talk(dossier: Dossier, heading: str) -> Iterator[str]:
    spoken = [kept.turn for kept in dossier.turns if kept.turn.content]
    if not spoken:
        return
    yield f"## {heading}"
    session = None
    for turn in spoken:
        if turn.session_id != session:
            session = turn.session_id
            yield from ("", f"### {_one_line(session)}", "")
        yield f"- {turn.at:%Y-%m-%d %H:%M} **{turn.role}**: {_one_line(turn.content)}"


def _one_line(text: str) -> str:
    """Return text that cannot open a line, a tag or a link of its own."""
    plain = " ".join(text.split())
    for mark in ("\\", "`", "*", "_", "[", "]", "<", ">", "#", "|"):
        plain = plain.replace(mark, f"\\{mark}")
    return plain
