"""Raw turns as text for a model: apart from items, quoted, marked as merely said [R4, R6].

Rule: whatever a turn says, it stays on its line, as an item does (render.py); a line of ours looks
like one, so that `strip_injected` takes it out again [W3].
"""

from __future__ import annotations

from collections.abc import Sequence

from dualgate.domain.transcript import excerpt
from dualgate.domain.types import Role
from dualgate.pipeline.ports import StoredTurn, TokenCounter
from dualgate.pipeline.render import CLOSING, ITEM_MARK, opening_lines, quoted
from dualgate.pipeline.transcripts import Passage

CHARACTERS = 400  # of a turn that fits; a longer one is shown around what was asked
BESIDE_CHARACTERS = 160  # of a turn beside it

_HEADING = {
    "zh": "## 对话原文（未经核实，可能已过时）：只供参考\n",
    "en": "## Raw transcript (unchecked, may be out of date): reference only\n",
}
_ROLES = {
    "zh": {Role.USER: "用户", Role.ASSISTANT: "助手", Role.TOOL: "工具", Role.SYSTEM: "系统"},
    "en": {Role.USER: "user", Role.ASSISTANT: "assistant", Role.TOOL: "tool",
           Role.SYSTEM: "system"},
}  # fmt: skip
_SESSION = {"zh": "会话", "en": "session"}


def with_passages(
    text: str,
    passages: Sequence[Passage],
    lang: str,
    tokens: TokenCounter,
    budget: int,
    asked: Sequence[str] = (),
) -> str:
    """Return a recall's block with the passages under a heading of their own, best first.

    budget: tokens that the passages may take; whole passages go in or stay out. asked: words
    around which long turns are shown.
    """
    opening = opening_lines(lang, "recall")
    room = budget - tokens.count(_HEADING[lang])
    if not text:
        room -= tokens.count(opening) + tokens.count(CLOSING)
    taken: list[str] = []
    for passage in passages:
        line = _line(passage, lang, asked)
        cost = tokens.count(line)
        if cost <= room:
            taken.append(line)
            room -= cost
    if not taken:
        return text
    begun = text.removesuffix(CLOSING) or opening
    return f"{begun}{_HEADING[lang]}{''.join(taken)}{CLOSING}"


def _line(passage: Passage, lang: str, asked: Sequence[str]) -> str:
    where = f"{passage.at:%Y-%m-%d %H:%M} · {_SESSION[lang]} {quoted(passage.session_id[:80])}"
    told = [_beside(turn, lang) for turn in passage.before]
    told.append(_said(passage.role, excerpt(passage.content, CHARACTERS, asked), lang))
    told += [_beside(turn, lang) for turn in passage.after]
    return f"{ITEM_MARK}[{where}] {' / '.join(told)}\n"


def _beside(turn: StoredTurn, lang: str) -> str:
    return f"({_said(turn.role, excerpt(turn.content, BESIDE_CHARACTERS), lang)})"


def _said(role: Role, text: str, lang: str) -> str:
    return f"{_ROLES[lang][role]}: “{quoted(text)}”"
