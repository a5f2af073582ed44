"""Fit the local extractor and write its weights.

    python training/extraction/train.py [--report]

Needs scikit-learn; the weights need numpy alone. Deterministic: the same data give the same file.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import seeds
from augment import augmented
from examples import Example, example, load_all
from scipy.sparse import csr_matrix, hstack
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import judging, model as models
from dualgate.adapters.local.extraction.features import (
    BUCKETS,
    Ids,
    candidate_ids,
    clause_ids,
    join_ids,
)

TARGET = Path(models.__file__).with_name(models.WEIGHTS)
CACHE = Path(tempfile.gettempdir()) / "dualgate-training-vectors.pickle"
FOLDS = 5
AUGMENT = 0.5
# Hand-written turns count fully; patterns and compositions only widen the vocabulary.
WEIGHTS = {"seed": 0.5, "aug": 0.3, "g": 0.3}
GENERATED_PERCENT = 25
SPARSE_SCALE = 0.5
DENSE_SCALE = {"state": 2.0}
OTHER_DENSE_SCALE = 4.0
STRENGTH = {"state": 0.05, "gate": 0.03, "join": 0.1}
OTHER_STRENGTH = 0.5
KINDS = {
    "item_type": "identity preference constraint rule project decision commitment event fact".split(),
    "evidence": ["explicit", "implied", "emotional"],
    "correction": ["no", "yes"],
    "polarity": ["+", "-"],
    "subject": ["user", "assistant", "other"],
    "sensitivity": ["normal", "personal", "sensitive"],
}


class Embeddings:
    """Vectors of every text that training meets, computed once."""

    def __init__(self) -> None:
        self._embedder = UseEmbedder(cache_size=0)
        self._known: dict[str, np.ndarray] = {}
        if CACHE.exists():
            with CACHE.open("rb") as file:
                self._known = pickle.load(file)  # noqa: S301  (written by this very script)

    def save(self) -> None:
        with CACHE.open("wb") as file:
            pickle.dump(self._known, file)

    def prepare(self, texts: Sequence[str]) -> None:
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        for start in range(0, len(missing), 64):
            part = missing[start : start + 64]
            self._known.update(zip(part, self._embedder.embed_now(part), strict=True))

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.prepare(texts)
        return np.stack([self._known[text] for text in texts]).astype(np.float32)


EMBED = Embeddings()
Data = tuple[list[Ids], np.ndarray, list[str], np.ndarray]


def one_hot(ids: Sequence[Ids]) -> csr_matrix:
    indptr = np.cumsum([0, *(len(each) for each in ids)])
    indices = np.concatenate(ids) if ids else np.empty(0, np.int32)
    data = np.full(len(indices), SPARSE_SCALE, dtype=np.float32)
    return csr_matrix((data, indices, indptr), shape=(len(ids), BUCKETS))


def fit_head(
    name: str, labels: Sequence[str], ids: Sequence[Ids], dense: np.ndarray | None, y: Sequence[str],
    weights: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Fit one head; the scales are folded into the weights, so that use needs none."""
    sparse = one_hot(ids)
    counts = np.asarray((sparse > 0).sum(axis=0)).ravel()
    kept = np.flatnonzero(counts >= 2).astype(np.int32)
    scale = DENSE_SCALE.get(name, OTHER_DENSE_SCALE)
    parts = [sparse[:, kept]]
    if dense is not None:
        parts.append(csr_matrix(dense * scale))
    x = hstack(parts).tocsr()
    target = np.array([labels.index(each) for each in y])
    fitted = LogisticRegression(C=STRENGTH.get(name, OTHER_STRENGTH), max_iter=400, tol=1e-3)
    fitted.fit(x, target, sample_weight=weights)
    coef = np.zeros((len(labels), x.shape[1]), dtype=np.float32)
    bias = np.full(len(labels), -8.0, dtype=np.float32)
    present = fitted.classes_
    if len(present) == 2:
        coef[present[1]], bias[present[1]], bias[present[0]] = fitted.coef_[0], fitted.intercept_[0], 0.0
    else:
        coef[present], bias[present] = fitted.coef_, fitted.intercept_
    size = len(kept)
    sparse_weights = (coef[:, :size].T * SPARSE_SCALE).astype(np.float16)
    strong = np.abs(sparse_weights).max(axis=1) > 1e-3
    return {
        f"{name}/labels": np.array(labels),
        f"{name}/kept": kept[strong],
        f"{name}/sparse": sparse_weights[strong],
        f"{name}/dense": (coef[:, size:].T * scale).astype(np.float16),
        f"{name}/bias": bias,
    }


def weight(each: Example) -> float:
    """Return how much a turn counts, by the way it was made."""
    name = each.row["id"].split("-")
    return WEIGHTS.get(name[0], WEIGHTS.get(name[1], 1.0))


def clause_data(examples: Sequence[Example]) -> Data:
    ids, dense, y, w = [], [], [], []
    for each in examples:
        if not each.clauses:
            continue
        ids += clause_ids(each.clauses, each.reading.setting)
        every = list(range(len(each.clauses)))
        dense.append(judging.clause_dense(EMBED(judging.texts_to_embed(each.reading, every))))
        y += [each.state(index) for index in every]
        w += [weight(each)] * len(every)
    return ids, np.concatenate(dense), y, np.array(w)


def join_data(examples: Sequence[Example]) -> tuple[list[Ids], list[str], np.ndarray]:
    ids, y, w = [], [], []
    for each in examples:
        for index in range(1, len(each.clauses)):
            left, right = each.span_of[index - 1], each.span_of[index]
            if left is None or right is None:
                continue
            ids.append(join_ids(each.clauses[index - 1], each.clauses[index], each.reading.setting.lang))
            y.append("yes" if left == right else "no")
            w.append(weight(each))
    return ids, y, np.array(w)


def attribute_data(
    examples: Sequence[Example],
) -> tuple[list[Ids], np.ndarray, dict[str, list[str]], np.ndarray]:
    ids, texts, w = [], [], []
    y: dict[str, list[str]] = {name: [] for name in KINDS}
    for each in examples:
        for number, span in enumerate(each.row["spans"]):
            run = each.run(number)
            if span["scope"] != "lasting" or not run:
                continue
            text = each.reading.text[each.clauses[run[0]].start : each.clauses[run[-1]].end]
            around = [
                each.clauses[place].text if 0 <= place < len(each.clauses) else ""
                for place in (run[0] - 1, run[-1] + 1)
            ]
            ids.append(candidate_ids(text, each.reading.setting, around[0], around[1]))
            texts.append(text)
            w.append(weight(each))
            for name in KINDS:
                y[name].append(kind_of(name, span))
    return ids, EMBED(texts), y, np.array(w)


def kind_of(name: str, span: dict[str, Any]) -> str:
    said = span[name]
    if name == "correction":
        return "yes" if said else "no"
    if name == "subject":
        return said if said in ("user", "assistant") else "other"
    return str(said)


def fit(examples: Sequence[Example]) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    ids, dense, y, w = clause_data(examples)
    arrays |= fit_head("state", list(judging.STATES), ids, dense, y, w)
    worth = ["none" if each == "none" else "some" for each in y]
    arrays |= fit_head("gate", ["none", "some"], ids, None, worth, w)
    seams, joins, w = join_data(examples)
    arrays |= fit_head("join", ["no", "yes"], seams, None, joins, w)
    ids, dense, kinds, w = attribute_data(examples)
    for name, labels in KINDS.items():
        arrays |= fit_head(name, labels, ids, dense, kinds[name], w)
    arrays["curve_x"], arrays["curve_y"] = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    return arrays


def with_augmented(examples: Sequence[Example]) -> list[Example]:
    made = [*augmented([each.row for each in examples], AUGMENT), *seeds.rows()]
    return [*examples, *(example(row) for row in made)]


def as_model(arrays: dict[str, np.ndarray]) -> models.Model:
    names = sorted({name.split("/")[0] for name in arrays if "/" in name})
    heads = {name: models._head(arrays, name) for name in names}  # noqa: SLF001
    return models.Model(heads, arrays["curve_x"], arrays["curve_y"])


def proposals(each: Example, model: models.Model) -> list[tuple[float, bool, judging.Statement]]:
    """Return (raw probability, right?, statement) of every lasting proposal of a turn."""
    if not each.clauses:
        return []
    chosen = judging.worth_embedding(each.reading, model)
    vectors = EMBED(judging.texts_to_embed(each.reading, chosen))
    lines = judging.states(each.reading, chosen, vectors, model)
    found = []
    for said in judging.statements(each.reading, lines, model):
        if said.scope.value == "lasting":
            owners = {each.span_of[index] for index in range(said.first, said.last + 1)}
            right = any(
                owner is not None and each.row["spans"][owner]["scope"] == "lasting" for owner in owners
            )
            found.append((said.raw, right, said))
    return found


def calibrate(examples: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
    """Fit the confidence curve on turns that the judging model has not seen."""
    raws, rights = [], []
    for fold in range(FOLDS):
        def inside(each: Example, fold: int = fold) -> bool:
            return zlib.crc32(f"fold{each.row['id']}".encode()) % FOLDS == fold

        model = as_model(fit(with_augmented([each for each in examples if not inside(each)])))
        for each in examples:
            if inside(each) and weight(each) == 1.0:
                for raw, right, _ in proposals(each, model):
                    raws.append(raw)
                    rights.append(right)
    platt = LogisticRegression(C=10.0)
    logit = np.log(np.clip(raws, 1e-4, 1 - 1e-4) / (1 - np.clip(raws, 1e-4, 1 - 1e-4)))
    platt.fit(logit.reshape(-1, 1), np.array(rights))
    grid = np.linspace(0.01, 0.99, 50)
    curve = platt.predict_proba(np.log(grid / (1 - grid)).reshape(-1, 1))[:, 1]
    return grid.astype(np.float32), curve.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--no-curve", action="store_true", help="keep the present curve")
    options = parser.parse_args()
    examples = load_all()
    training = [each for each in examples if not each.held_out and not thinned(each)]
    print(f"{len(training)} turns to train on, {len(examples) - len(training)} held out")
    print(Counter(each.row["lang"] for each in training))
    arrays = fit(with_augmented(training))
    if options.no_curve and TARGET.exists():
        with np.load(TARGET) as stored:
            arrays["curve_x"], arrays["curve_y"] = stored["curve_x"], stored["curve_y"]
    else:
        arrays["curve_x"], arrays["curve_y"] = calibrate(training)
    save(arrays)
    EMBED.save()
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")


def thinned(each: Example) -> bool:
    """Generated turns repeat themselves: a part of them says it all."""
    generated = each.row["id"].split("-")[1] == "g"
    return generated and zlib.crc32(each.row["id"].encode()) // 100 % 100 >= GENERATED_PERCENT


def save(arrays: dict[str, np.ndarray]) -> None:
    np.savez_compressed(TARGET, **arrays)


if __name__ == "__main__":
    main()
