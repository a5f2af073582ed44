"""Features: what the model sees of a clause or of a candidate.

Rule: one function per view, shared by training and use, so that the two cannot drift apart.
A view is a set of hashed feature ids (words, character n-grams, cues, context) and one dense vector
(sentence embeddings). crc32 is the hash: the same in every process and on every platform.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dualgate.adapters.local.extraction.classes import classes
from dualgate.adapters.local.extraction.clauses import Clause
from dualgate.adapters.local.extraction.cues import cues_in

WORDS = 1 << 17
BUCKETS = 2 * WORDS
_MARK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_WORDS = re.compile(r"[a-z][a-z'’+#.-]*|\d+(?:[.,:/]\d+)*|[\u3400-\u9fff]+|[^\w\s]")
_LONG = 400

# What colours a whole turn, wherever in it the words stand.
FRAMES = ("if", "play", "ask_mark", "joke", "sarcasm", "heard", "this_time", "from_now", "anger")

# Cues that say how a word is meant, wherever in the clause it stands.
BESIDE = frozenset(
    "first first_starts my my_kin second second_starts not stop third past habit has own_question"
    " task_order one_off moment from_now always dislikes likes decided promises undecided".split()
)

Ids = NDArray[np.int32]


def language(text: str) -> str:
    """zh if there are at least as many Chinese characters as Latin words, else en.

    >>> language("用 FastAPI 写"), language("I use 微信 at work")
    ('zh', 'en')
    """
    chinese = len(_MARK.findall(text[:4_000]))
    return "zh" if chinese and chinese >= len(re.findall(r"[A-Za-z]+", text[:4_000])) else "en"


def tokens(text: str) -> list[str]:
    """Split into lower-case words and single Chinese characters; numbers lose their digits."""
    found: list[str] = []
    for word in _WORDS.findall(text[:_LONG].lower().replace("’", "'")):
        if _MARK.match(word):
            found.extend(word)
        elif word[0].isdigit():
            found.append("0" * min(len(word), 4))
        else:
            found.append(word.rstrip(".-'"))
    return found


def _grams(text: str, longest: int) -> set[str]:
    words = ["^", *tokens(text), "$"]
    grams = set(words)
    for size in range(2, longest + 1):
        grams.update(" ".join(words[i : i + size]) for i in range(len(words) - size + 1))
    return grams


def _kinds(text: str, own: Sequence[str]) -> set[str]:
    """Name the classes of the words, alone, among their neighbours, and beside the cues."""
    words = tokens(text)
    found = classes().named(words)
    if not found:
        return set()
    names: set[str] = set()
    line = ["^"]
    last = 0
    places = []
    for start, end, kinds in found:
        line += words[last:start]
        places.append(len(line))
        line.append(f"<{kinds[0]}>")
        last = end
        names |= {f"k:{kind}" for kind in kinds}
        names |= {f"kc:{kind}:{cue}" for kind in kinds for cue in own if cue in BESIDE}
    line += [*words[last:], "$"]
    for place in places:
        for size in (2, 3):
            for start in range(max(0, place - size + 1), min(place, len(line) - size) + 1):
                names.add("kg:" + " ".join(line[start : start + size]))
    every = sorted({kind for _, _, kinds in found for kind in kinds})
    return names | {f"kk:{a}:{b}" for i, a in enumerate(every) for b in every[i + 1 :]}


def _ids(names: set[str]) -> Ids:
    """Hash names to buckets: the words of the text itself below WORDS, all else above it."""
    hashed = {
        zlib.crc32(name.encode("utf-8", "replace")) % WORDS + (0 if name.startswith("g:") else WORDS)
        for name in names
    }
    return np.fromiter(sorted(hashed), dtype=np.int32, count=len(hashed))


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds a clause: the whole own text, the last assistant turn, whether text was cut."""

    lang: str
    own: str
    reply_to: str
    carried: bool


def clause_ids(
    clauses: Sequence[Clause], setting: Setting, wanted: Sequence[int] | None = None
) -> list[Ids]:
    """Describe clauses of a turn, all or the wanted ones, with their neighbours and their turn."""
    wanted = range(len(clauses)) if wanted is None else wanted
    near = {place for index in wanted for place in (index - 1, index, index + 1)}
    cues = {place: cues_in(clauses[place].text) for place in near if 0 <= place < len(clauses)}
    turn = {cue for found in cues.values() for cue in found}
    shared = {f"t:{cue}" for cue in turn} | {f"lang:{setting.lang}"}
    shared |= {f"size:{min(len(clauses), 8)}", f"carried:{setting.carried}"}
    shared |= {f"a:{cue}" for cue in cues_in(setting.reply_to)} if setting.reply_to else {"a:none"}
    described = []
    for index in wanted:
        clause = clauses[index]
        names = {f"g:{gram}" for gram in _grams(clause.text, 4)}
        own = cues[index]
        names |= {f"c:{cue}" for cue in own} | _kinds(clause.text, own)
        names |= {f"cc:{a}:{b}" for i, a in enumerate(own) for b in own[i + 1 :]}
        names |= {f"ct:{a}:{b}" for a in own for b in FRAMES if b in turn}
        names |= _neighbour("p", clauses, cues, index - 1)
        names |= _neighbour("n", clauses, cues, index + 1)
        names |= {f"before:{clause.before}", f"mark:{clause.mark}", f"at:{min(index, 4)}"}
        names |= {f"len:{_length(clause.text, setting.lang)}", f"left:{min(len(clauses) - index, 3)}"}
        names |= {f"l:{setting.lang}:{cue}" for cue in own}
        described.append(_ids(names | shared))
    return described


def _length(text: str, lang: str) -> int:
    return min((len(text) if lang == "zh" else len(text) // 4) // 3, 10)


def _neighbour(
    side: str, clauses: Sequence[Clause], cues: Mapping[int, tuple[str, ...]], index: int
) -> set[str]:
    if not 0 <= index < len(clauses):
        return {f"{side}:edge"}
    words = tokens(clauses[index].text)
    near = words[-3:] if side == "p" else words[:3]
    return {f"{side}:{cue}" for cue in cues[index]} | {f"{side}w:{word}" for word in near}


def statement_ids(content: str) -> Ids:
    """Describe a plain sentence that stands alone, for the slot it fills."""
    content = content.translate(_NARROW)
    own = cues_in(content)
    names = {f"g:{gram}" for gram in _grams(content, 3)} | {f"c:{cue}" for cue in own}
    return _ids(names | _kinds(content, own) | {f"lang:{language(content)}"})


# Who types which comma tells nothing.
_NARROW = str.maketrans("，。；：！？、（）", ",.;:!?,()")
