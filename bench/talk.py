"""A user with years of talk, alone in a file and among others who talk as much: for speed.py.

Rule: nothing here is measured. Turns are the statements of population.py in a row, indexed as the
worker would, with vectors mixed from those of the statements; sessions have 20 turns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
from population import MAIN, NOW, Dictionary, Statement

from dualgate.adapters.local.lexer import SnowballLexer
from dualgate.adapters.sql import open_sqlite
from dualgate.domain.types import Role
from dualgate.pipeline.ports import IndexedTurn, StoredTurn
from dualgate.pipeline.transcripts import index_name

TALK = 20_000
OTHERS, TALK_OF_OTHERS = 20, 10_000
_BATCH, _SESSION = 1_000, 20


async def add_talk(path: Path, known: list[Statement], vectors: Dictionary, others: int) -> None:
    """Give the main user 20,000 turns, and that many others 10,000 each."""
    backend = await open_sqlite(path, vector_model=vectors.model)
    texts = [text for s in known for text in (s.candidate.content, s.again)]
    people = [(MAIN, TALK), *((f"talker-{n:03d}", TALK_OF_OTHERS) for n in range(others))]
    lexer = SnowballLexer()
    words = {text: lexer.words(text) for text in texts}
    made_by = index_name(lexer, vectors)
    for place, (user_id, count) in enumerate(people):
        said = list(_said(user_id, itertools.islice(itertools.cycle(texts), place, place + count)))
        for start in range(0, count, _BATCH):
            part = said[start : start + _BATCH]
            entries = [
                IndexedTurn(
                    turn_id=turn.id, made_by=made_by,
                    words=frozenset((*words[before.content], *words[turn.content])),
                    vector=_unit(vectors[before.content] + vectors[turn.content]),
                )
                for before, turn in zip((part[0], *part), part, strict=False)
            ]  # fmt: skip
            async with backend.store.begin(user_id) as tx:
                await tx.add_turns(part)
                await tx.index_turns(entries, NOW)
    await backend.close()


def _said(user_id: str, texts: Iterator[str]) -> Iterator[StoredTurn]:
    for n, text in enumerate(texts):
        yield StoredTurn(
            id=f"{user_id}-{n:06d}", user_id=user_id, session_id=f"talk-{n // _SESSION:05d}",
            role=Role.ASSISTANT if n % 2 else Role.USER, content=text,
            at=NOW - timedelta(days=365) + timedelta(minutes=25 * n),
        )  # fmt: skip


def _unit(vector: np.ndarray) -> np.ndarray:
    return (vector / np.linalg.norm(vector)).astype(np.float32)
