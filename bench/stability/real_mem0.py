"""The real mem0, where it is installed: raw turns (`infer=False`), the same embedder, no key.

    python -m venv /path/to/venv && /path/to/venv/bin/pip install mem0ai "langchain<1"
    MEM0_SITE=/path/to/venv/lib/python3.x/site-packages python bench/stability …

Rule: it is optional. Its packages are looked for after our own; without them `available` says why
not, and the table has no such row.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from datetime import datetime
from typing import Any, Self

from designs import BUDGET, Block, Design, Line, counter
from lives import Life, Session
from reading import Reading

SHOWN = 100  # more than the budget holds


def available() -> str | None:
    """Return why mem0 cannot be run; None if it can."""
    site = os.environ.get("MEM0_SITE")
    if site and site not in sys.path:
        sys.path.append(site)
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    try:
        for name in ("mem0", "langchain", "qdrant_client"):
            importlib.import_module(name)
    except ImportError as error:
        return f"mem0 is left out: {error}; see bench/stability/real_mem0.py"
    return None


class RealMem0(Design):
    """Every user turn goes to mem0; what it finds for the opening is shown."""

    name = "mem0, infer=False"

    def __init__(self, life: Life, reading: Reading) -> None:
        super().__init__(life, reading)
        self._folder = tempfile.TemporaryDirectory()
        self._memory: Any = None

    async def __aenter__(self) -> Self:
        from langchain_core.embeddings import Embeddings

        vectors = self.vectors

        class Ours(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return [[float(x) for x in v] for v in vectors.embed_now(texts)]

            def embed_query(self, text: str) -> list[float]:
                return self.embed_documents([text])[0]

        folder = self._folder.name
        self._memory = sys.modules["mem0"].Memory.from_config({
            "embedder": {"provider": "langchain", "config": {"model": Ours()}},
            "vector_store": {"provider": "qdrant", "config": {
                "path": f"{folder}/qdrant", "embedding_model_dims": vectors.dim}},
            # Made at once, never asked: with infer=False no model reads anything.
            "llm": {"provider": "openai", "config": {"api_key": "not-used"}},
            "history_db_path": f"{folder}/history.db",
        })  # fmt: skip
        return self

    async def __aexit__(self, *_: object) -> None:
        self._folder.cleanup()

    def take(self, turn_id: str, text: str, at: datetime) -> None:
        del turn_id, at
        turn = [{"role": "user", "content": text}]
        self._memory.add(turn, user_id=self.life.user, infer=False)

    async def open(self, session: Session) -> Block:
        found = self._memory.search(
            session.turns[0].text, filters={"user_id": self.life.user}, top_k=SHOWN, threshold=0.0
        )
        lines, tokens = [], 0
        for one in found["results"]:
            size = counter().count(f"- {one['memory']}\n")
            if tokens + size > BUDGET:
                break
            lines.append(Line(one["memory"]))
            tokens += size
        return Block(lines, tokens)
