"""Do two statements that read alike speak of two different things? [C1]

Rules of this file:
- "Locker 12 holds the rope" and "Locker 14 holds the lamp" differ in what they are about before
  they differ in what they say of it: neither can replace the other.
- What is done and over adds up: who passed one test can pass another.
- It only ever says "two things". Where the two differ in one place alone ("Ana is the lead",
  "Ben is the lead"), that place may be the value, and the fitted judge decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from dualgate.adapters.local.concepts import simplified
from dualgate.domain.terms import is_stop_word

READ_LIMIT = 240  # characters
CACHE_SIZE = 4_096

_PIECE = re.compile(r"[\u3400-\u9fff]+|'s\b|[A-Za-z0-9](?:[\w.+#@/-]*\w)?(?:'(?!s\b)\w+)?|[+#]+")
_SPEAKER = re.compile(r"^(?:the )?(?:user|i)\b(?!['’]s)|^(?:用户|我)(?!们?的|家的)", re.IGNORECASE)
_OWN = re.compile(r"^(?:the )?(?:user['’]s|my|our)\s+|^(?:用户|我们?)的?", re.IGNORECASE)
_PASSING = frozenset("now currently already just still again 现在 目前 又 以后 就 了".split())
_DETERMINERS = frozenset(
    "the a an this that our my their his her its all each every new old 的 这 那 这个 那个 我们 该".split()
)
# What stands after these is whom or what it is about; "in", "on", "to" may lead the value itself.
_TIES = frozenset("with for of by between about 和 跟 与 给 借给 送给 替 对".split())
_MEETING = frozenset(
    "met meets lent lends gave gives owes owed pays paid visited called helps helped teaches taught"
    " tutors mentors told promised owns".split()
)
_VERBS = frozenset(
    "is are was were be has have had will would can must should runs run uses use holds contains"
    " keeps likes wants prefers lives works costs takes needs starts ends opens closes begins stays"
    " goes gets means ships sits stands belongs use prefer try call write answer reply start keep take put send choose run"
    " deploy make set get start begin end like want 是 在 为 有 用 跑 放 叫 要 住 装 存".split()
)
_TITLES = frozenset("小 老 阿 mr mrs ms dr".split())
_CALENDAR = frozenset(
    "january february march april may june july august september october november december monday"
    " tuesday wednesday thursday friday saturday sunday".split()
)
_LABEL = re.compile(r"^(?:#?\d[\w.-]*|[A-Za-z]|[甲乙丙丁戊己]|[一二三四五六七八九十]{1,3}[号栋层室]?"
                    r"|alpha|beta|gamma|delta|one|two|three|four|five|six|seven|eight|nine|ten)$", re.IGNORECASE)
_DONE = re.compile(
    r"\b(?P<en>passed|won|finished|completed|visited|attended|met|watched|climbed|bought|published|shipped"
    r"|released|tested|celebrated|received|read|repaired|presented|delivered|lent|gave|hiked|sailed)\b"
    r"|(?P<zh>通过|完成|赢|获得|去|参加|读完|看完|看|买|发布|上线|见|修好|借给|送给|爬)(?:了|过)",
    re.IGNORECASE,
)


def about_two_things(one: str, other: str) -> bool:
    """Return whether the two surely are about different things, so that neither ousts the other.

    >>> about_two_things("Locker 12 holds the rope", "Locker 14 holds the lamp")
    True
    >>> about_two_things("The server runs Debian 11", "The server runs Debian 12 now")
    False
    """
    if _add_up(one, other):
        return True
    left, right = _tokens(one), _tokens(other)
    if _shares_names_alone(left, right):
        return True
    folded_left = [token.lower() for token in left]
    folded_right = [token.lower() for token in right]
    steps = SequenceMatcher(None, folded_left, folded_right, autojunk=False).get_opcodes()
    swaps = [step for step in steps if step[0] == "replace"]
    if len(swaps) < 2:  # noqa: PLR2004
        return False
    _, start, end, other_start, other_end = swaps[0]
    pairs = ((left, start, end), (right, other_start, other_end))
    speaks_of_self = any(_SPEAKER.match(text.strip()) for text in (one, other))
    return all(_anchored(*each, speaks_of_self=speaks_of_self) for each in pairs)


def _shares_names_alone(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two English statements share a name and not a word of what they say of it.

    "Rampart is no longer at OVH" leaves "Rampart goes out under AGPL" as it is.
    """
    one, other = _contents(left), _contents(right)
    shared = one.keys() & other.keys()
    names = {word for word in shared if one[word] and other[word]}
    if not names or names != shared or _STANCES & (one.keys() | other.keys()):
        return False  # what is liked or used is itself what is spoken of
    return min(len(one), len(other)) > len(names)


def _contents(tokens: Sequence[str]) -> dict[str, bool]:
    """Return the words that carry meaning, and of each whether it is a name."""
    return {
        token.lower(): (token[0].isupper() and place > 0) or token[1:] != token[1:].lower()
        for place, token in enumerate(tokens)
        if token.isascii() and not is_stop_word(token.lower()) and token.lower() not in _HOLLOW
    }


_HOLLOW = _VERBS | _DETERMINERS | _PASSING | frozenset("user user's 's longer no not".split())
_STANCES = frozenset(
    "love loves loved hate hates hated like likes dislike dislikes prefer prefers enjoy enjoys favourite favorite avoid avoids"
    " stop stops stopped quit quits drop dropped drops use uses used using switch switched switches move moved moves migrate"
    " migrated replace replaced replaces left leave leaves choose chose picked changed became join joined".split()
)


def _anchored(tokens: Sequence[str], start: int, end: int, *, speaks_of_self: bool) -> bool:
    """Return whether the first difference stands where the thing itself is named."""
    before = [token.lower() for token in tokens[:start]]
    changed = tokens[start:end]
    while before and before[-1] in _TITLES:
        before.pop()
    if before and (before[-1] in _TIES or before[-1] in _MEETING):
        return _is_name(changed)
    if speaks_of_self or any(token in _VERBS for token in before):
        return False
    if all(token in _DETERMINERS for token in before):
        return True
    if len(before) == 1 and before[0].isascii() and _is_name(changed):
        return True  # "Team Falcon meets on Mondays"
    return len(before) <= 3 and all(_LABEL.match(token) for token in changed)  # noqa: PLR2004


def _is_name(changed: Sequence[str]) -> bool:
    if any(token.lower() in _CALENDAR or token[0].isdigit() for token in changed):
        return False
    return any(token[0].isupper() or not token.isascii() for token in changed)


def _add_up(one: str, other: str) -> bool:
    left, right = _DONE.search(one[:READ_LIMIT]), _DONE.search(other[:READ_LIMIT])
    if left is None or right is None:
        return False
    same = (left["en"] or left["zh"]).lower() == (right["en"] or right["zh"]).lower()
    return same and _denied(one) == _denied(other)


def _denied(text: str) -> bool:
    return bool(re.search(r"\b(?:not|never|no longer)\b|n['’]t\b|没|不|未", text, re.IGNORECASE))


@lru_cache(maxsize=CACHE_SIZE)
def _tokens(text: str) -> tuple[str, ...]:
    """Return the words of a statement without its speaker and words of passing time."""
    plain = _OWN.sub("", simplified(text.strip())[:READ_LIMIT].replace("’", "'"))
    found: list[str] = []
    for piece in _PIECE.findall(plain):
        found += [piece] if piece.isascii() else _cut(piece)
    return tuple(token for token in found if token.lower() not in _PASSING)


def _cut(run: str) -> list[str]:
    import rjieba  # its dictionary takes a fifth of a second to load

    words: list[str] = rjieba.cut(run, False)  # noqa: FBT003
    return words
