"""Fit what reads slots out of sentences, and write its weights.

    python training/slots/train.py [--report]

The statements of `*-wishes.txt` and `*-facts.txt` are worded as items are; the contents of the
extractor's training turns stand for all that fills no slot. `--report` measures on statements that
were left out (five folds), or on `held-out/*.txt` where others wrote them. Needs scipy; deterministic.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from statements import Case, background, cases

from dualgate.adapters.local import slots
from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import encoder
from dualgate.adapters.local.extraction.features import BUCKETS, statement_ids

TARGET = Path(slots.__file__).with_name("weights") / "slots.npz"
FOLDS = 4
SPARSE_SCALE = 0.5
DENSE_SCALE = 5.0
STRENGTH = 1.0
PART_STRENGTH = 0.5
BACKGROUND_WEIGHT = 0.25
EMBED = UseEmbedder(cache_size=1 << 17)
# Another encoder sees other things: what one saw is never taken for what the next sees.
SEER = zlib.crc32(Path(encoder.__file__).with_name(encoder.WEIGHTS).read_bytes())
CACHE = Path(tempfile.gettempdir()) / f"dualgate-slot-vectors-{SEER}.pickle"
MEANING = 512  # the rest of a dense line is the encoder's, brought to the size of the vector
SEEN_SCALE = 1.0


class Dense:
    """The dense lines of every sentence that training meets, computed once."""

    def __init__(self) -> None:
        self._known: dict[str, np.ndarray] = {}
        if CACHE.exists():
            with CACHE.open("rb") as file:
                self._known = pickle.load(file)  # noqa: S301  (written by this very script)

    def __call__(self, texts: list[str]) -> np.ndarray:
        for text in dict.fromkeys(texts):
            if text not in self._known:
                self._known[text] = slots.dense([text], EMBED)[0]
        return np.stack([self._known[text] for text in texts])

    def save(self) -> None:
        with CACHE.open("wb") as file:
            pickle.dump(self._known, file)


DENSE = Dense()


def one_hot(ids: list[np.ndarray], buckets: int) -> csr_matrix:
    indptr = np.cumsum([0, *(len(each) for each in ids)])
    data = np.full(int(indptr[-1]), SPARSE_SCALE, dtype=np.float32)
    return csr_matrix((data, np.concatenate(ids), indptr), shape=(len(ids), buckets))


def fit_head(
    name: str, ids: list[np.ndarray], dense: np.ndarray, y: list[str], buckets: int,
    strength: float, weights: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Fit one head in the form that `model.head_of` reads; the scales are folded in."""
    sparse = one_hot(ids, buckets)
    kept = np.flatnonzero(np.asarray((sparse > 0).sum(axis=0)).ravel() >= RARE).astype(np.int32)
    labels = sorted(set(y))
    target = np.array([labels.index(each) for each in y])
    middle, scale = scales(dense)
    scaled = (dense - middle) * scale
    coef, bias = softmax_regression(
        sparse[:, kept], scaled, target, len(labels), strength,
        np.ones(len(y)) if weights is None else weights,
    )  # fmt: skip
    size = len(kept)
    lines = (coef[:size] * SPARSE_SCALE).astype(np.float16)
    strong = np.abs(lines).max(axis=1) > STRONG
    return {
        f"{name}/labels": np.array(labels),
        f"{name}/kept": kept[strong],
        f"{name}/sparse": lines[strong],
        f"{name}/dense": (coef[size:] * scale[:, None]).astype(np.float16),
        f"{name}/bias": (bias - middle @ (coef[size:] * scale[:, None])).astype(np.float32),
    }


STRONG = 5e-3


def scales(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle and the scale of every column; sentence vectors stay around nought."""
    middle, scale = np.zeros(dense.shape[1]), np.full(dense.shape[1], DENSE_SCALE)
    seen = dense[:, MEANING:]
    middle[MEANING:] = seen.mean(axis=0)
    scale[MEANING:] *= SEEN_SCALE / np.sqrt(seen.shape[1] or 1) / (seen.std(axis=0) + 1e-6)
    return middle.astype(np.float32), scale.astype(np.float32)


def softmax_regression(
    sparse: csr_matrix, dense: np.ndarray, target: np.ndarray, classes: int, strength: float,
    weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients (features, classes) and biases of an L2 multinomial regression.

    What scikit-learn's does; with two hundred classes its one sparse matrix for both blocks takes
    ten times as long as a sparse block beside a dense one.
    """
    size, width = sparse.shape[1], dense.shape[1]
    dense = dense.astype(np.float32)
    turned = sparse.T.tocsr()
    truth = np.zeros((len(target), classes), np.float32)
    truth[np.arange(len(target)), target] = 1.0
    share = (weights * strength).astype(np.float32)[:, None]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        matrix = flat.astype(np.float32).reshape(size + width + 1, classes)
        logits = sparse @ matrix[:size] + dense @ matrix[size:-1] + matrix[-1]
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        total = odds.sum(axis=1, keepdims=True)
        logged = logits - np.log(total)
        off = share * (odds / total - truth)
        gradient = np.concatenate([turned @ off, dense.T @ off, off.sum(axis=0, keepdims=True)])
        gradient[:-1] += matrix[:-1]
        cost = -float((share * truth * logged).sum()) + 0.5 * float((matrix[:-1] ** 2).sum())
        return cost, gradient.ravel().astype(np.float64)

    start = np.zeros((size + width + 1) * classes)
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    matrix = fitted.x.reshape(size + width + 1, classes)
    return matrix[:-1], matrix[-1]


RARE = 5  # every statement stands there twice, as typed and as worded
ITERATIONS = 80


def fit(known: list[Case], other: list[str]) -> dict[str, np.ndarray]:
    """Fit both heads. other: sentences that most likely fill no slot."""
    texts = [case.text for case in known] + other
    weights = np.array([1.0] * len(known) + [BACKGROUND_WEIGHT] * len(other))
    labels = [case.label for case in known] + [slots.NONE] * len(other)
    arrays = fit_head("slot", [statement_ids(t) for t in texts], DENSE(texts), labels,
                      BUCKETS, STRENGTH, weights)  # fmt: skip
    ids, marks = [], []
    for case in known:
        if case.value or case.owner:
            found = slots.tokens(case.text)
            ids += slots.token_ids(found, case.slot)
            marks += [case.mark(token) for token in found]
    return arrays | fit_head("part", ids, np.zeros((len(ids), 0), np.float32), marks, slots.TOKEN_BUCKETS, PART_STRENGTH)


def without_slots(known: list[Case], sentences: list[str]) -> list[str]:
    """Return the sentences in which a first fit sees no slot either: nobody labelled them."""
    arrays = fit(known, [])
    head = slots.head_of(arrays, "slot")
    kept = []
    for start in range(0, len(sentences), 512):
        texts = sentences[start : start + 512]
        lines = head.probabilities([statement_ids(t) for t in texts], DENSE(texts))
        none = lines[:, head.labels.index(slots.NONE)]
        kept += [t for t, p in zip(texts, none, strict=True) if p > NOTHING_AT]
    return kept


NOTHING_AT = 0.3


def report(known: list[Case], other: list[str]) -> None:
    """Print how often slot and value are right, on statements that were left out."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for fold in range(FOLDS):
        def inside(text: str, fold: int = fold) -> bool:
            return zlib.crc32(f"slot{text}".encode()) % FOLDS == fold

        arrays = fit([c for c in known if not inside(c.said)], [t for t in other if not inside(t)])
        pair = slots.head_of(arrays, "slot"), slots.head_of(arrays, "part", slots.TOKEN_BUCKETS)
        slots.heads = lambda pair=pair: pair  # type: ignore[assignment]
        reader = slots.SlotReader(EMBED)
        for text in (t for t in other if inside(t)):
            counts["background"] += 1
            found = reader.read(text)
            counts["background filled"] += found is not None
            if found is not None:
                wrong.append(f"{found.slot}={found.value} < {text}")
        for case in (c for c in known if inside(c.said) and not c.again):
            found = reader.read(case.text)
            lang = case.lang
            kind = "none" if case.label == slots.NONE else "closed" if "=" in case.label else "open"
            counts[f"{lang} {kind}"] += 1
            if found is None:
                continue
            counts[f"{lang} {kind} said"] += 1
            same = found.slot == case.slot and found.denied == case.denied
            exact = same and found.value == case.named
            counts[f"{lang} {kind} slot"] += same
            counts[f"{lang} {kind} exact"] += exact
            if not exact:
                wrong.append(f"{found.slot}={found.value}{' -' * found.denied} {found.sure:.2f}"
                             f" < {case.label} {case.named} | {case.text}")  # fmt: skip
    for name, count in sorted(counts.items()):
        print(f"{name:24}{count}")
    print("\n".join(wrong[:: max(1, len(wrong) // 150)]))


def packed(arrays: dict[str, np.ndarray], name: str = "slot") -> dict[str, np.ndarray]:
    """Return the arrays with the heaviest lines of a head alone, as bytes: a ninth of the size.

    On the held-out statements one answer in two hundred changes.
    """
    lines = arrays[f"{name}/sparse"].astype(np.float32)
    heaviest = np.sort(np.argsort(-np.linalg.norm(lines, axis=1), kind="stable")[:LINES])
    scale = np.abs(lines[heaviest]).max(axis=0) / 127 + 1e-9
    return arrays | {
        f"{name}/kept": arrays[f"{name}/kept"][heaviest],
        f"{name}/sparse": np.round(lines[heaviest] / scale).astype(np.int8),
        f"{name}/scale": scale.astype(np.float32),
    }


LINES = 24_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    known = cases()
    other = without_slots(known, background())
    print(f"{len(known)} statements, {len(other)} sentences beside them", file=sys.stderr)
    if options.report:
        report(known, other)
        return
    np.savez_compressed(TARGET, **packed(fit(known, other)))
    DENSE.save()
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
