"""Does storing vectors as int8 lose answers? Recall@10 against float32, with the real embedder.

Run: python bench/int8.py FILE_OR_FOLDER... [--limit 4000] [--queries 400]

Reads the sentences out of any JSON files given; every n-th sentence is the query, all others are
searched, exactly, by cosine. One scale a vector: x ≈ q · scale with q in -127..127.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgate.adapters.local.embedder import UseEmbedder

TOP = 10


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def sentences(paths: list[Path], limit: int) -> list[str]:
    """Return real sentences of 8 to 200 characters, evenly over the files, in a fixed order."""
    files = sorted(
        file for path in paths for file in ([path] if path.is_file() else path.rglob("*.json*"))
    )
    each = max(1, limit // max(1, len(files)) * 2)
    found: dict[str, None] = {}
    for file in files:
        text = file.read_text("utf-8")
        rows = (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if file.suffix == ".jsonl"
            else json.loads(text)
        )
        parts = (
            part.strip()
            for said in strings(rows)
            for part in re.split(r"(?<=[.!?。！？])\s*", said)
        )
        fitting = list(dict.fromkeys(part for part in parts if 8 <= len(part) <= 200))
        step = max(1, len(fitting) // each)
        found.update(dict.fromkeys(fitting[::step][:each]))
    everything = list(found)
    return everything[:: max(1, len(everything) // limit)][:limit]


def quantised(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    scale = np.abs(vectors).max(axis=1) / 127.0
    return np.round(vectors / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=4_000)
    parser.add_argument("--queries", type=int, default=400)
    arguments = parser.parse_args()
    texts = sentences(arguments.paths, arguments.limit)
    chinese = sum(any("\u4e00" <= c <= "\u9fff" for c in text) for text in texts)
    embedder = UseEmbedder(cache_size=0)
    started = time.process_time()
    vectors = np.concatenate(
        [embedder.embed_now(texts[i : i + 64]) for i in range(0, len(texts), 64)]
    )
    spent = (time.process_time() - started) / len(texts) * 1e3
    small, scale = quantised(vectors)
    asked = np.arange(0, len(texts), max(1, len(texts) // arguments.queries))
    exact = vectors[asked] @ vectors.T
    # The query stays float: only what is stored is int8.
    coarse = (vectors[asked] @ small.T.astype(np.float32)) * scale[None, :]
    both = (
        (small[asked].astype(np.float32) @ small.T.astype(np.float32))
        * scale[asked][:, None]
        * scale[None, :]
    )
    print(
        f"{len(texts)} sentences ({chinese} Chinese), {len(asked)} queries,"
        f" {spent:.2f} ms CPU a sentence"
    )
    print(f"bytes a vector: float32 {vectors[0].nbytes}, int8 {small[0].nbytes + 4}")
    for name, near in (("int8 stored, float query", coarse), ("int8 both sides", both)):
        report(name, exact.copy(), near.copy(), asked)


def report(
    name: str, exact: NDArray[np.float32], near: NDArray[np.float32], asked: NDArray[np.int_]
) -> None:
    rows = np.arange(len(asked))
    exact[rows, asked] = near[rows, asked] = -2.0  # a sentence does not find itself
    best, found = (np.argsort(-scores, axis=1)[:, :TOP] for scores in (exact, near))
    shared = [len(set(a) & set(b)) / TOP for a, b in zip(best, found, strict=True)]
    off = np.abs(exact - near)[exact > -1.5]
    # What is lost stands at the edge: how much worse is the worst answer than the true tenth?
    lost = exact[rows, best[:, -1]] - exact[rows[:, None], found].min(axis=1)
    print(
        f"{name}: recall@10 {np.mean(shared):.4f},"
        f" recall@1 {(best[:, 0] == found[:, 0]).mean():.4f},"
        f" cosine off by {off.mean():.5f} on average, {off.max():.5f} at most; the tenth answer is"
        f" {np.clip(lost, 0, None).max():.5f} worse at most"
    )


if __name__ == "__main__":
    main()
