"""Which slot a statement fills, and with which value, where no pattern of the lexicon says so [C1].

Rules of this file:
- Two models name the slot, for closed slots with the value ("layout=prose"): a head of the encoder, and
  a linear one over the sentence vector and the words; a third finds the words of an open value.
- It is asked for precision: under `SURE_AT` it says nothing, since a shared slot lets a newer
  value replace an older one.
- Synchronous, deterministic, numpy alone.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dualgate.adapters.local.concepts import simplified
from dualgate.adapters.local.extraction import encoder
from dualgate.adapters.local.extraction.classes import classes
from dualgate.adapters.local.extraction.features import statement_ids
from dualgate.adapters.local.extraction.model import TINY, Array, Head, head_of
from dualgate.adapters.local.statements import leaves
from dualgate.pipeline.ports import Vectors

WEIGHTS = "weights/slots.npz"
SURE_AT = 0.35
CLOSED_AT = 0.5  # a wrong value of a closed slot contradicts what was said rightly
LEANING_AT = 0.15  # where a correction of this very slot asks whether a statement may fill it
PART_AT = 0.5  # a token is part of the value, or of what it belongs to
CACHE_SIZE = 4_096  # sentences whose probabilities are kept, of some six hundred bytes each
READ_LIMIT = 200  # characters; a longer text is no plain statement of one thing
TOKEN_BUCKETS = 1 << 16
NONE, VALUE, OWNER = "-", "value", "owner"

_TOKEN = re.compile(r"[A-Za-zÀ-ž][\w'’+#.-]*|\d+(?:[.,:/-]\d+)*|[\u3400-\u9fff]+|[^\w\s]")
# What is no sentence fills no slot, whatever words stand in it.
_MARKUP = re.compile(r"</?\w[^>]*>|[{}=;<>|\\]{2}|\{\{|\w=['\"\w]|\w\(.*\)|;\s*$")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
# In a slot of hours the hour is the value, in whatever words it stands.
HOURS = frozenset({"unavailable_time", "working_hours", "wake_time", "bed_time", "gym_time"})
_CLOCK = re.compile(
    r"(?:早上|上午|中午|下午|晚上|夜里|凌晨)?(?:\d{1,2}|[一二三四五六七八九十两]{1,3})点半?(?:以前|以后|之前|之后|前|后)?"
    r"|\b(?:before|after|past|until|till|by|from|at)\s+(?:\d{1,2}(?::\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)\b(?:\s?[ap]\.?m)?",
    re.IGNORECASE,
)
_CHANGED_TO = re.compile(r"(?:改成|改为|换成)(?=.{4})")


class Vectoriser(Protocol):
    """Makes vectors in the calling thread."""

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """A filled slot. value: as the sentence has it, or the name of a closed slot's value."""

    slot: str
    value: str
    denied: bool
    owner: str | None
    sure: float


@dataclass(frozen=True, slots=True)
class Token:
    """A word at text[start:end]."""

    text: str
    start: int
    end: int


class SlotReader:
    """Reads slots out of plain sentences, in the calling thread."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        self._vectoriser = vectoriser
        self._line = lru_cache(maxsize=CACHE_SIZE)(self._probabilities)

    def read(self, content: str) -> Found | None:
        """Return the slot that a sentence fills; None where the model is not sure of one."""
        text = content.strip()
        if not text or len(text) > READ_LIMIT or _MARKUP.search(text):
            return None
        line = self._line(text)
        best = int(line.argmax())
        label, sure = heads()[0].labels[best], float(line[best])
        if label == NONE or sure < SURE_AT:
            return None
        return self._filled(text, label, sure)

    def leaning(self, content: str, slots: Collection[str]) -> Found | None:
        """Return how a sentence fills one of these slots, if it may well do so at all."""
        text = content.strip()
        if not text or len(text) > READ_LIMIT or _MARKUP.search(text):
            return None
        line, labels = self._line(text), heads()[0].labels
        own = [place for place, label in enumerate(labels) if _slot_of(label) in slots]
        if not own or float(line[own].sum()) < LEANING_AT:
            return None
        best = max(own, key=lambda place: float(line[place]))
        return self._filled(text, labels[best], 1.0)

    def likelihood(self, content: str, label: str) -> float:
        """Return how likely a sentence has this label, 0-1."""
        return float(self._line(content.strip())[heads()[0].labels.index(label)])

    def _probabilities(self, text: str) -> Array:
        worded = heads()[0].probabilities([statement_ids(text)], self._vectoriser.embed_now([text]))
        return mixed(worded[0], encoder.load().slots(text), shares())

    def _filled(self, text: str, label: str, sure: float) -> Found | None:
        parts = heads()[1]
        denied = label.endswith(" -")
        slot, _, value = label.removesuffix(" -").partition("=")
        changed = _CHANGED_TO.search(text)
        if value and changed is not None:
            # "不用照旧了，改成直接做": what holds now is what the change leads to.
            return self.read(text[changed.end() :])
        if value and sure < CLOSED_AT:
            return None
        found = tokens(text)
        marks = parts.probabilities(token_ids(found, slot), None)
        owner = _whole(text, _stretch(text, found, marks[:, parts.labels.index(OWNER)]))
        if not value:
            line = marks[:, parts.labels.index(VALUE)].copy()
            value = _stretch(text, found, line) or _hour(text, slot)
            if value and leaves(text, value):
                # "Zed 不用了，现在是 Geany": what is left is named first, what holds comes after.
                at = text.find(value)
                line[[at <= token.start < at + len(value) for token in found]] = 0.0
                value = _stretch(text, found, line) or value
        return Found(slot, value, denied, owner, sure) if value else None


def _slot_of(label: str) -> str:
    return label.removesuffix(" -").partition("=")[0]


def mixed(worded: Array, seen: Array, shares: Array) -> Array:
    """Return what both models say together, each as sure as its share: the weighted geometric mean."""
    logits = shares[0] * np.log(worded + TINY) + shares[1] * np.log(seen + TINY)
    odds = np.exp(logits - logits.max())
    return np.asarray(odds / odds.sum(), dtype=np.float32)


def _stretch(text: str, found: Sequence[Token], line: Array) -> str | None:
    """Return the run of tokens that most surely belongs to a part; None where none does."""
    odds = np.log(np.clip(line, 1e-4, 1 - 1e-4) / np.clip(1 - line, 1e-4, 1))
    best, first, last, start, total = 0.0, 0, -1, 0, 0.0
    for place, each in enumerate(odds):
        if total <= 0:
            start, total = place, 0.0
        total += float(each)
        if total > best:
            best, first, last = total, start, place
    if last < 0 or float(line[first : last + 1].max()) < PART_AT:
        return None
    return text[found[first].start : found[last].end]


def _hour(text: str, slot: str) -> str:
    """Return the hour that a sentence names, where the slot is one of hours; "" elsewhere."""
    found = _CLOCK.search(text) if slot in HOURS else None
    return found.group() if found else ""


def _whole(text: str, owner: str | None) -> str | None:
    """Return a Chinese name with the character that the dictionary cut from its end: 火绒盒."""
    if owner is None or not _CHINESE.match(owner[-1]):
        return owner
    more = _TAIL.match(text, text.find(owner) + len(owner))
    return owner + more[1] if more else owner


# One character between a name and what is plainly another word.
_TAIL = re.compile(
    r"([\u3400-\u9fff])(?<![的用在是跑和不从把部搬改将换了也都还就现由归到有没要这那新前后已延推提走放存选采])"
    r"(?=后端|前端|数据库|的|用|在|跑|部署|采用|项目|现在|不|由|归|必须|要|延期|截止|，|[A-Za-z])"
)


def tokens(text: str) -> list[Token]:
    """Cut a sentence into words, Chinese by the dictionary.

    >>> [token.text for token in tokens("用户住在杭州, uses Zed.")]
    ['用户', '住', '在', '杭州', ',', 'uses', 'Zed', '.']
    """
    found = []
    for match in _TOKEN.finditer(text):
        run, start = match.group(), match.start()
        if not _CHINESE.match(run):
            run = run.rstrip(".-'’") or run
            found.append(Token(run, start, start + len(run)))
            if match.end() > start + len(run):
                found.append(Token(match.group()[len(run) :], start + len(run), match.end()))
            continue
        for word in _words_of(run):
            found.append(Token(word, start, start + len(word)))
            start += len(word)
    return found


def _words_of(run: str) -> list[str]:
    # Its dictionary takes a fifth of a second to load: only where there is Chinese to read.
    import rjieba

    cut: list[str] = rjieba.cut(run, True)  # noqa: FBT003
    return cut


def token_ids(found: Sequence[Token], slot: str) -> list[NDArray[np.int32]]:
    """Describe every token of a sentence of this slot: itself, its classes, its neighbours."""
    words = [simplified(token.text.lower()) for token in found]
    kinds = _kinds(found)
    shapes = [_shape(token.text) for token in found]

    def at(line: Sequence[str], place: int) -> str:
        return line[place] if 0 <= place < len(line) else "^" if place < 0 else "$"

    described = []
    for place in range(len(found)):
        own = {f"w:{words[place]}", f"s:{shapes[place]}", f"k:{kinds[place]}"}
        near = {
            f"{step}:{at(words, place + step)}" for step in (-3, -2, -1, 1, 2)
        } | {
            f"k{step}:{at(kinds, place + step)}:{at(shapes, place + step)}" for step in (-1, 1)
        } | {
            f"-2-1:{at(words, place - 2)} {at(words, place - 1)}",
            f"-1+1:{at(words, place - 1)} {at(words, place + 1)}",
            f"1 2:{at(words, place + 1)} {at(words, place + 2)}",
            f"sk:{shapes[place]}:{kinds[place]}",
            f"-1s:{at(words, place - 1)}:{shapes[place]}",
        }  # fmt: skip
        names = own | near | {f"{slot}|{name}" for name in (*own, *near)}
        names |= {f"at:{min(place, 5)}", f"left:{min(len(found) - place, 5)}"}
        hashed = {zlib.crc32(name.encode("utf-8", "replace")) % TOKEN_BUCKETS for name in names}
        described.append(np.fromiter(sorted(hashed), dtype=np.int32, count=len(hashed)))
    return described


def _kinds(found: Sequence[Token]) -> list[str]:
    """Return the class of each token, by the lexicon; Chinese words count by their characters."""
    pieces: list[str] = []
    owners: list[int] = []
    for place, token in enumerate(found):
        run = token.text.lower()
        own = list(run) if _CHINESE.match(run) else [run]
        pieces += own
        owners += [place] * len(own)
    kinds = ["-"] * len(found)
    for start, end, names in classes().named(pieces):
        for piece in range(start, end):
            kinds[owners[piece]] = names[0]
    return kinds


def _shape(text: str) -> str:
    if _CHINESE.match(text):
        return f"zh{min(len(text), 3)}"
    if text[0].isdigit():
        return "0"
    if not text[0].isalpha():
        return text
    return "Aa" if text[0].isupper() else "a"


@cache
def heads() -> tuple[Head, Head]:
    """Read the weights that come with the package: what names the slot, what finds its parts."""
    arrays = _stored()
    return head_of(arrays, "slot"), head_of(arrays, "part", TOKEN_BUCKETS)


@cache
def shares() -> Array:
    """Return how much the linear model and the encoder count, (2,)."""
    return np.asarray(_stored()["shares"], dtype=np.float32)


@cache
def _stored() -> dict[str, NDArray[np.generic]]:
    with files(__package__).joinpath(WEIGHTS).open("rb") as file, np.load(file) as stored:
        return {name: stored[name] for name in stored.files}
