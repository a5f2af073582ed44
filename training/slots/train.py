"""Fit what reads slots out of sentences, and write its weights.

    python training/slots/train.py        # after training/extraction/encoder.py

The statements of `*-wishes.txt` and `*-facts.txt` are worded as items are; the contents of the
extractor's training turns stand for all that fills no slot. How much this model counts beside the
encoder is fitted on a tenth that neither saw; held_out.py measures. Needs scipy; deterministic.
"""

from __future__ import annotations

import json
import tempfile
import zlib
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from statements import Case, background, cases, labels

from dualgate.adapters.local import slots
from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import encoder
from dualgate.adapters.local.extraction.features import BUCKETS, statement_ids

TARGET = Path(slots.__file__).with_name("weights") / "slots.npz"
SPARSE_SCALE = 0.5
DENSE_SCALE = 5.0
STRENGTH = 1.0
PART_STRENGTH = 0.5
BACKGROUND_WEIGHT = 0.25
EMBED = UseEmbedder(cache_size=1 << 17)


def one_hot(ids: list[np.ndarray], buckets: int) -> csr_matrix:
    indptr = np.cumsum([0, *(len(each) for each in ids)])
    data = np.full(int(indptr[-1]), SPARSE_SCALE, dtype=np.float32)
    return csr_matrix((data, np.concatenate(ids), indptr), shape=(len(ids), buckets))


def fit_head(
    name: str, ids: list[np.ndarray], dense: np.ndarray, y: list[str], buckets: int,
    strength: float, weights: np.ndarray | None = None, names: list[str] | None = None,
) -> dict[str, np.ndarray]:
    """Fit one head in the form that `model.head_of` reads; the scales are folded in."""
    sparse = one_hot(ids, buckets)
    kept = np.flatnonzero(np.asarray((sparse > 0).sum(axis=0)).ravel() >= RARE).astype(np.int32)
    names = names or sorted(set(y))
    target = np.array([names.index(each) for each in y])
    coef, bias = softmax_regression(
        sparse[:, kept], dense * DENSE_SCALE, target, len(names), strength,
        np.ones(len(y)) if weights is None else weights,
    )  # fmt: skip
    size = len(kept)
    lines = (coef[:size] * SPARSE_SCALE).astype(np.float16)
    strong = np.abs(lines).max(axis=1) > STRONG
    return {
        f"{name}/labels": np.array(names),
        f"{name}/kept": kept[strong],
        f"{name}/sparse": lines[strong],
        f"{name}/dense": (coef[size:] * DENSE_SCALE).astype(np.float16),
        f"{name}/bias": bias.astype(np.float32),
    }


STRONG = 5e-3


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


def fit(
    known: list[Case], other: list[str], names: list[str] | None = None
) -> dict[str, np.ndarray]:
    """Fit both heads. other: sentences that most likely fill no slot; names: all there are."""
    texts = [case.text for case in known] + other
    weights = np.array([1.0] * len(known) + [BACKGROUND_WEIGHT] * len(other))
    labels = [case.label for case in known] + [slots.NONE] * len(other)
    arrays = fit_head("slot", [statement_ids(t) for t in texts], EMBED.embed_now(texts), labels,
                      BUCKETS, STRENGTH, weights, names)  # fmt: skip
    ids, marks = [], []
    for case in known:
        if case.value or case.owner:
            found = slots.tokens(case.text)
            ids += slots.token_ids(found, case.slot)
            marks += [case.mark(token) for token in found]
    return arrays | fit_head("part", ids, np.zeros((len(ids), 0), np.float32), marks, slots.TOKEN_BUCKETS, PART_STRENGTH)


def without_slots(known: list[Case], sentences: list[str]) -> list[str]:
    """Return the sentences in which a first fit sees no slot: nobody labelled them.

    Kept in the folder for temporary files, since the encoder is fitted on the same ones.
    """
    asked = "\n".join([str(NOTHING_AT), *(f"{c.label} {c.text}" for c in known), *sentences])
    path = Path(tempfile.gettempdir()) / f"dualgate-no-slots-{zlib.crc32(asked.encode())}.json"
    if path.exists():
        return list(json.loads(path.read_text("utf-8")))
    head = slots.head_of(fit(known, []), "slot")
    none = head.labels.index(slots.NONE)
    kept = []
    for start in range(0, len(sentences), 512):
        texts = sentences[start : start + 512]
        lines = head.probabilities([statement_ids(t) for t in texts], EMBED.embed_now(texts))
        kept += [t for t, p in zip(texts, lines[:, none], strict=True) if p > NOTHING_AT]
    path.write_text(json.dumps(kept, ensure_ascii=False), "utf-8")
    return kept


NOTHING_AT = 0.3


def weighed(arrays: dict[str, np.ndarray], kept: list[Case]) -> np.ndarray:
    """Return how much the linear model and the encoder count, on statements neither was fitted to."""
    head, seer = slots.head_of(arrays, "slot"), encoder.load()
    texts = [case.text for case in kept]
    worded = head.probabilities([statement_ids(text) for text in texts], EMBED.embed_now(texts))
    seen = np.stack([seer.slots(text) for text in texts])
    right = np.array([head.labels.index(case.label) for case in kept])

    def loss(shares: np.ndarray) -> float:
        lines = [slots.mixed(*pair, shares) for pair in zip(worded, seen, strict=True)]
        return -float(np.log(np.stack(lines)[np.arange(len(right)), right] + 1e-9).mean())

    for name, shares in (("words", (1.0, 0.0)), ("encoder", (0.0, 1.0))):
        print(f"{name} alone: log loss {loss(np.array(shares)):.3f}")
    found = minimize(loss, np.array([0.5, 0.5]), method="Nelder-Mead", options={"xatol": 0.01}).x
    print(f"both, {found.round(2)}: {loss(found):.3f}")
    return np.asarray(found, dtype=np.float32)


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
    known = cases()
    other = without_slots(known, background())
    print(f"{len(known)} statements, {len(other)} sentences beside them")
    arrays = packed(fit([case for case in known if case.is_fitted], other, labels(known)))
    arrays["shares"] = weighed(arrays, [case for case in known if not case.is_fitted])
    np.savez_compressed(TARGET, **arrays)
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
