"""The same-statement judge on pairs it was never fitted on [C1].

Run: python bench/judge.py PAIRS.json [--show]

PAIRS.json: {"zh_pairs": [[one, other, kind], ...], "en_pairs": ..., "cross_pairs": ...}; kinds
P the same fact, V another value, O opposite, M narrowed, U unrelated.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.judge import StatementJudge

MERGE = 0.85


def auc(right: np.ndarray, wrong: np.ndarray) -> float:
    """Return the chance that a right pair scores above a wrong one."""
    above = (right[:, None] > wrong[None, :]).mean()
    return float(above + 0.5 * (right[:, None] == wrong[None, :]).mean())


def ece(p: np.ndarray, y: np.ndarray) -> float:
    """Return the expected calibration error over ten bins."""
    bins = np.minimum((p * 10).astype(int), 9)
    return float(
        sum(
            (bins == b).mean() * abs(p[bins == b].mean() - y[bins == b].mean())
            for b in range(10)
            if (bins == b).any()
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--show", action="store_true", help="list the pairs that come out wrong")
    arguments = parser.parse_args()
    data = json.loads(arguments.pairs.read_text("utf-8"))
    judge, embedder = StatementJudge(), UseEmbedder()
    everything: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    print(
        f"{'':6} {'n':>4} {'P|VOM':>6} {'P|U':>6} {'confl':>6} {'merge≥.85: precision':>21}"
        f" {'merged':>9} {'ECE':>6} {'cosine':>7}"
    )
    for lang in ("zh", "en", "cross"):
        pairs = data[f"{lang}_pairs"]
        kinds = np.asarray([kind for *_, kind in pairs])
        left = embedder.embed_now([one for one, *_ in pairs])
        right = embedder.embed_now([other for _, other, _ in pairs])
        cosine = (left * right).sum(axis=1)
        same, conflicting = judge.judge([(one, other) for one, other, _ in pairs], cosine.tolist())
        everything.append((kinds, same, conflicting))
        line(lang, kinds, same, conflicting, cosine)
        if arguments.show:
            show(pairs, same, conflicting, cosine)
    kinds, same, conflicting = (np.concatenate(each) for each in zip(*everything, strict=True))
    line("all", kinds, same, conflicting, None)
    reliability(same, kinds == "P")
    speed(judge, [(one, other) for one, other, _ in data["zh_pairs"]])


def line(
    lang: str,
    kinds: np.ndarray,
    same: np.ndarray,
    conflicting: np.ndarray,
    cosine: np.ndarray | None,
) -> None:
    p, vom = kinds == "P", np.isin(kinds, ["V", "O", "M"])
    vo = np.isin(kinds, ["V", "O"])
    merged = same >= MERGE
    precision = (merged & p).sum() / max(1, merged.sum())
    by_cosine = "" if cosine is None else f"{auc(cosine[p], cosine[vom]):7.2f}"
    print(
        f"{lang:6} {len(kinds):4} {auc(same[p], same[vom]):6.3f}"
        f" {auc(same[p], same[kinds == 'U']):6.3f} {auc(conflicting[vo], conflicting[~vo]):6.3f}"
        f" {precision:21.3f} {(merged & p).sum():4}/{p.sum():<4}"
        f" {ece(same, p):6.3f} {by_cosine}"
    )


def show(
    pairs: list[list[str]], same: np.ndarray, conflicting: np.ndarray, cosine: np.ndarray
) -> None:
    for (one, other, kind), s, c, near in zip(pairs, same, conflicting, cosine, strict=True):
        wrong = (s >= MERGE) != (kind == "P") or (c >= 0.5) != (kind in "VO")
        if wrong:
            print(
                f"    {kind} same {s:.2f} conflicting {c:.2f} cosine {near:.2f}  {one} | {other}"
            )


def reliability(p: np.ndarray, y: np.ndarray) -> None:
    print("\nreliability of `same`: said, was, n")
    for low in range(0, 10, 2):
        here = (p >= low / 10) & (p < (low + 2) / 10 + (low == 8))
        if here.any():
            print(f"  {p[here].mean():.2f}  {y[here].mean():.2f}  {here.sum()}")


def speed(judge: StatementJudge, pairs: list[tuple[str, str]]) -> None:
    one, others = pairs[0][0], [other for _, other in pairs[:16]]
    batch, cosines = [(one, other) for other in others], [0.5] * 16
    judge.judge(batch, cosines)
    started = time.process_time()
    for _ in range(50):
        judge.judge(batch, cosines)
    warm = (time.process_time() - started) / 50 / 16
    fresh = StatementJudge()
    started = time.process_time()
    fresh.judge(pairs, [0.5] * len(pairs))
    cold = (time.process_time() - started) / len(pairs)
    print(
        f"\n{warm * 1e3:.3f} ms a pair against known items (16 a time),"
        f" {cold * 1e3:.3f} ms never seen before"
    )


if __name__ == "__main__":
    main()
