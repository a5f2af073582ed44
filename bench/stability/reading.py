"""What is read out of the turns, once for all designs: candidates, vectors, and what each means.

Rule: every design gets the same candidates and vectors; they are kept in `bench/out/stability`.
"""

from __future__ import annotations

import asyncio
import hashlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from lives import PULL_KINDS, TRUE_KINDS, Label, Life, Said

from dualgate import Candidate, Message
from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import LocalExtractor
from dualgate.adapters.local.slots import SlotReader
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.domain.items import folded
from dualgate.domain.types import Source
from dualgate.pipeline.ports import Turn, Vectors

# A line that carries its own limit misleads nobody: it is noise, but no wrong profile.
_LIMITED = ("just for this", "for this question", "this time", "exceptionally", "this once",
            "only for", "this one time", "right now", "today", "handout", "report", "ticket",
            "slides", "workshop", "this draft", "this page", "in this file",
            "就这", "这回", "仅限", "今天", "这一次", "眼下", "单这", "今晚", "明天",
            "这份", "这个报告", "这个文件", "这张", "这版", "这一页")  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """What a shown line means: which kind it comes from, and what it states as lasting."""

    kind: str
    slot: str = ""
    value: str = ""

    @property
    def true_origin(self) -> bool:
        """Whether it comes from a turn that stated what held then."""
        return self.kind in TRUE_KINDS


@dataclass
class Reading:
    """One life as read: message id -> candidates; lines -> meanings in order of saying."""

    candidates: dict[str, list[Candidate]] = field(default_factory=dict)
    meanings: dict[str, list[Meaning]] = field(default_factory=dict)
    vectors: dict[str, np.ndarray] = field(default_factory=dict)

    def meaning(self, line: str) -> Meaning:
        """Return what a line means; of several turns that gave it, the first with a value."""
        known = self.meanings.get(line)
        if known is None:
            return Meaning("unknown")
        return next((m for m in known if m.true_origin and m.slot), known[0])


@cache
def embedder() -> UseEmbedder:
    """Return the embedder of this process."""
    return UseEmbedder()


@cache
def _extractor() -> LocalExtractor:
    return LocalExtractor(structurer=structurer())


@cache
def structurer() -> LexiconStructurer:
    """Return what reads slots, wired as in the product."""
    return LexiconStructurer(SlotReader(embedder()))


def read(life: Life, mode: str, folder: Path, digest: str) -> Reading:
    """Return the candidates of every turn; mode: "local" (the extractor) or "perfect"."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(t.text + s.at.isoformat() for s in life.sessions for t in s.turns)
    name = hashlib.blake2b(f"{digest}{mode}{text}".encode(), digest_size=10).hexdigest()
    path = folder / f"{name}.pickle"
    if path.exists():
        return pickle.loads(path.read_bytes())  # noqa: S301 - our own file
    found = Reading()
    found.candidates = perfect(life) if mode == "perfect" else asyncio.run(_extracted(life))
    for session in life.sessions:
        for said in session.turns:
            for candidate in found.candidates.get(said.id, ()):
                note(found, candidate.content, meaning_of(candidate, said))
            note(found, said.text, raw_meaning(said))
    texts = list(found.meanings)
    vectors = embedder().embed_now(texts)
    found.vectors = {t: v.astype(np.float16) for t, v in zip(texts, vectors, strict=True)}
    partial = path.with_suffix(f".{id(found)}.part")
    partial.write_bytes(pickle.dumps(found))
    partial.rename(path)
    return found


def note(found: Reading, line: str, meaning: Meaning) -> None:
    """Note one more thing that a line may mean."""
    known = found.meanings.setdefault(line, [])
    if meaning not in known:
        known.append(meaning)


async def _extracted(life: Life) -> dict[str, list[Candidate]]:
    found: dict[str, list[Candidate]] = {}
    for session in life.sessions:
        history: list[Message] = []
        for said in session.turns:
            message = Message(said.role, said.text, session.at, said.id)
            turn = Turn(user_id=life.user, session_id=session.id, message=message, at=session.at,
                        history=tuple(history[-4:]))  # fmt: skip
            given = await _extractor().extract(turn)
            found[said.id] = [replace(c, message_id=said.id) for c in given]
            history.append(message)
    return found


def perfect(life: Life) -> dict[str, list[Candidate]]:
    """Return what an extractor without faults would propose, in the user's own words."""
    return {said.id: _perfect(said) for s in life.sessions for said in s.turns}


def _perfect(said: Said) -> list[Candidate]:
    label = said.label
    if label.kind not in TRUE_KINDS | PULL_KINDS:
        return []
    # Of likes there may be many; what the simulated user names is the one favourite.
    attribute = "favourite_music" if label.slot == "music" else label.slot
    denied = label.value.startswith("no ")
    common = {"attribute": attribute, "value": label.value.removeprefix("no "),
              "polarity": "-" if denied else "+", "quote": said.text, "message_id": said.id,
              "entities": (label.about,) if label.about else ()}  # fmt: skip
    kind = {"rant": {"evidence": "emotional", "confidence": 0.8},
            "once": {"scope": "moment", "confidence": 0.9},
            "push": {"scope": "task", "confidence": 0.85},
            "change": {"correction": True, "confidence": 0.96}}.get(
                label.kind, {"confidence": 0.9})  # fmt: skip
    return [Candidate(label.item_type, said.text, **common, **kind)]


def meaning_of(candidate: Candidate, said: Said) -> Meaning:
    """Return what one extracted line means, by the turn it was read from."""
    label, line = said.label, folded(candidate.content)
    if label.kind in TRUE_KINDS:
        return _true_meaning(label, line)
    if label.kind == "other":
        who = label.about.removeprefix("My ").removeprefix("Our ").removeprefix("我")
        told = candidate.subject != "user" or folded(who) in line
        return Meaning("about others" if told else "other")
    pulls = label.kind in PULL_KINDS and any(folded(key) in line for key in label.keys)
    if pulls and not any(mark in line for mark in _LIMITED):
        return Meaning(label.kind, label.slot, label.value)
    return Meaning(label.kind)


def _true_meaning(label: Label, line: str) -> Meaning:
    if any(folded(key) in line for key in label.keys):
        return Meaning(label.kind, label.slot, label.value)
    if any(folded(past) in line for past in label.past):
        return Meaning("past", label.slot)
    if label.about and folded(label.about) in line:
        return Meaning("part")  # true, if not all: "is working on Halyard"
    return Meaning("stray")


def raw_meaning(said: Said) -> Meaning:
    """Return what a turn means when it is shown as it was said."""
    label = said.label
    if label.kind in TRUE_KINDS:
        return Meaning(label.kind, label.slot, label.value)
    if label.kind == "other":
        return Meaning("about others")
    if label.kind in PULL_KINDS and not any(mark in folded(said.text) for mark in _LIMITED):
        return Meaning(label.kind, label.slot, label.value)
    return Meaning(label.kind)


class KnownCandidates:
    """An extractor that looks up what was read before, by message id."""

    source = Source.LOCAL
    structures = True

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    async def extract(self, turn: Turn) -> Sequence[Candidate]:
        """Return the candidates of this turn."""
        return self._reading.candidates[str(turn.message.id)]


class KnownVectors:
    """The real embedder, asked only for what is not known."""

    def __init__(self, reading: Reading) -> None:
        self.model, self.dim = embedder().model, embedder().dim
        self._vectors = reading.vectors

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text."""
        new = [t for t in dict.fromkeys(texts) if t not in self._vectors]
        if new:
            made = embedder().embed_now(new)
            self._vectors.update(zip(new, made.astype(np.float16), strict=True))
        return np.stack([self._vectors[t] for t in texts]).astype(np.float32)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text."""
        return self.embed_now(texts)


