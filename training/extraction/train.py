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
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import seeds
from augment import augmented
from examples import Example, example, load_all
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.extraction import judging
from dualgate.adapters.local.extraction import model as models
from dualgate.adapters.local.extraction.features import (
    BUCKETS,
    Ids,
    candidate_ids,
    clause_ids,
    join_ids,
    turn_ids,
)

TARGET = Path(models.__file__).with_name(models.WEIGHTS)
CACHE = Path(tempfile.gettempdir()) / "dualgate-training-vectors.pickle"
FOLDS = 3
TYPE_SERVES = 0.25
COVERS = 0.5
PIECE = 0.8
AUGMENT = 0.5
COMPOSED = 0.3
# Hand-written turns count fully; patterns and compositions only widen the vocabulary.
WEIGHTS = {"plain": 1.0, "seed": 0.5, "aug": 0.5, "g": 0.3}
GENERATED_PERCENT = 12
SPARSE_SCALE = 0.5
DENSE_SCALE = {"state": 1.5, "turn": 3.0, "item_type": 2.0, "join": 1.5}
OTHER_DENSE_SCALE = 4.0
STRENGTH = {"state": 0.5, "turn": 0.2, "gate": 0.03, "join": 0.3}
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


@cache
def clause_view(each: Example) -> list[Ids]:
    return clause_ids(each.clauses, each.reading.setting)


@cache
def turn_view(each: Example) -> Ids:
    return turn_ids(each.reading.setting)


@cache
def seam_view(each: Example) -> list[tuple[Ids, str, str, str]]:
    """Describe the seams between neighbouring clauses that both state something."""
    found = []
    for index in range(1, len(each.clauses)):
        left, right = each.span_of[index - 1], each.span_of[index]
        if left is not None and right is not None:
            pair = each.clauses[index - 1], each.clauses[index]
            goes_on = "yes" if left == right else "no"
            texts = (clause.text for clause in pair)
            found.append((join_ids(*pair, each.reading.setting.lang), goes_on, *texts))
    return found


@cache
def span_view(each: Example) -> list[tuple[Ids, str, dict[str, Any]]]:
    """Describe every lasting statement of a turn, as it will be cut."""
    found = []
    for number, span in enumerate(each.row["spans"]):
        run = each.run(number)
        if span["scope"] == "lasting" and run:
            text = each.reading.text[each.clauses[run[0]].start : each.clauses[run[-1]].end]
            around = [
                each.clauses[place].text if 0 <= place < len(each.clauses) else ""
                for place in (run[0] - 1, run[-1] + 1)
            ]
            found.append((candidate_ids(text, each.reading.setting, *around), text, span))
    return found


def clause_data(examples: Sequence[Example]) -> Data:
    ids, dense, y, w = [], [], [], []
    for each in examples:
        if not each.clauses:
            continue
        ids += clause_view(each)
        every = list(range(len(each.clauses)))
        dense.append(judging.clause_dense(EMBED(judging.texts_to_embed(each.reading, every))))
        y += [each.state(index) for index in every]
        w += [weight(each)] * len(every)
    return ids, np.concatenate(dense), y, np.array(w)


def turn_data(examples: Sequence[Example]) -> Data:
    """Does the turn as a whole state anything lasting? The frame decides, not the clause."""
    chosen = [each for each in examples if each.clauses]
    y = [
        "some" if any(each.state(index) == "lasting" for index in range(len(each.clauses))) else "none"
        for each in chosen
    ]
    dense = EMBED([each.reading.setting.own for each in chosen])
    return [turn_view(each) for each in chosen], dense, y, np.array([weight(each) for each in chosen])


def join_data(examples: Sequence[Example]) -> Data:
    found = [(*view, weight(each)) for each in examples for view in seam_view(each)]
    ids, y, left, right, w = zip(*found, strict=True)
    return list(ids), judging.seam_dense(EMBED(left), EMBED(right)), list(y), np.array(w)


def attribute_data(
    examples: Sequence[Example],
) -> tuple[list[Ids], np.ndarray, dict[str, list[str]], np.ndarray]:
    found = [(*view, weight(each)) for each in examples for view in span_view(each)]
    y = {name: [kind_of(name, span) for _, _, span, _ in found] for name in KINDS}
    texts = [text for _, text, _, _ in found]
    return [ids for ids, _, _, _ in found], EMBED(texts), y, np.array([w for *_, w in found])


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
    ids, dense, y, w = join_data(examples)
    arrays |= fit_head("join", ["no", "yes"], ids, dense, y, w)
    ids, dense, kinds, w = attribute_data(examples)
    for name, labels in KINDS.items():
        arrays |= fit_head(name, labels, ids, dense, kinds[name], w)
    ids, dense, y, w = turn_data(examples)
    arrays |= fit_head("turn", ["none", "some"], ids, dense, y, w)
    size = judging.GROUNDS
    arrays |= {"sure_weights": np.zeros(size, np.float32), "sure_bias": np.zeros(1, np.float32)}
    return arrays


def with_augmented(examples: Sequence[Example]) -> list[Example]:
    made = augmented([each.row for each in examples], AUGMENT)
    return [*examples, *(example(row) for row in made), *patterns()]


@cache
def patterns() -> tuple[Example, ...]:
    return tuple(example(row) for row in (*seeds.rows(), *seeds.compositions(), *seeds.plain()))


def as_model(arrays: dict[str, np.ndarray]) -> models.Model:
    names = sorted({name.split("/")[0] for name in arrays if "/" in name})
    heads = {name: models.head_of(arrays, name) for name in names}
    return models.Model(heads, arrays["sure_weights"], arrays["sure_bias"])


def proposals(each: Example, model: models.Model) -> list[tuple[np.ndarray, bool]]:
    """Return, for every lasting proposal of a turn, what its confidence rests on and if it is right."""
    if not each.clauses:
        return []
    chosen = judging.worth_embedding(each.reading, model)
    vectors = EMBED(judging.texts_to_embed(each.reading, chosen))
    lines = judging.states(each.reading, chosen, vectors, model)
    found = judging.statements(each.reading, chosen, vectors, lines, model)
    if not found:
        return []
    described = judging.describe(each.reading, found, EMBED([said.text for said in found]), model)
    turn = judging.turn_promise(each.reading, vectors, model)
    both = [pair for pair in zip(found, described, strict=True) if pair[0].scope.value == "lasting"]
    rights, pieces = right_ones(each, both)
    return [
        (judging.grounds(said, kinds, turn, each.reading), index in rights)
        for index, (said, kinds) in enumerate(both)
        if index not in pieces
    ]


def right_ones(
    each: Example, found: Sequence[tuple[judging.Statement, dict[str, tuple[str, float]]]]
) -> tuple[set[int], set[int]]:
    """Return which proposals state a lasting span: half of it, in a type that serves; one a span.

    And which are further pieces of a span that was found already: true, but of no use twice. They
    teach the confidence nothing.
    """
    rights: set[int] = set()
    pieces: set[int] = set()
    for span in each.row["spans"]:
        if span["scope"] != "lasting":
            continue
        start = each.row["turn"].find(span["quote"])
        end = start + len(span["quote"])
        shares = [
            (min(end, said.end) - max(start, said.start), index)
            for index, (said, kinds) in enumerate(found)
            if index not in rights
            and judging.serves(kinds["item_type"][0], span["item_type"]) >= TYPE_SERVES
        ]
        shared, index = max(shares, default=(0, 0))
        if shared and shared >= COVERS * min(end - start, 2 * found_length(found[index][0])):
            rights.add(index)
            pieces |= {
                other
                for other, (said, _) in enumerate(found)
                if min(end, said.end) - max(start, said.start) >= PIECE * found_length(said)
            }
    return rights, pieces - rights


def found_length(said: judging.Statement) -> int:
    return said.end - said.start


def calibrate(examples: Sequence[Example]) -> dict[str, np.ndarray]:
    """Fit the confidence on turns that the judging model has not seen."""
    grounds, rights = [], []
    for fold in range(FOLDS):
        def inside(each: Example, fold: int = fold) -> bool:
            return zlib.crc32(f"fold{each.row['id']}".encode()) % FOLDS == fold

        model = as_model(fit(with_augmented([each for each in examples if not inside(each)])))
        unseen = [each for each in examples if inside(each) and weight(each) == 1.0]
        # Hand-written turns state one thing each; people also tell several in one breath.
        composed = augmented([each.row for each in unseen], COMPOSED)
        for each in (*unseen, *(example(row) for row in composed)):
            for ground, right in proposals(each, model):
                grounds.append(ground)
                rights.append(right)
    fitted = LogisticRegression(C=1.0, max_iter=500).fit(np.stack(grounds), np.array(rights))
    print(f"confidence fitted on {len(rights)} proposals, {np.mean(rights):.0%} right: {fitted.coef_.round(2)}")
    return {
        "sure_weights": fitted.coef_[0].astype(np.float32),
        "sure_bias": fitted.intercept_.astype(np.float32),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep-confidence", action="store_true", help="keep the fitted confidence")
    options = parser.parse_args()
    examples = load_all(keep)
    training = [each for each in examples if not each.held_out]
    print(f"{len(training)} turns to train on, {len(examples) - len(training)} held out")
    print(Counter(each.row["lang"] for each in training))
    arrays = fit(with_augmented(training))
    if options.keep_confidence and TARGET.exists():
        with np.load(TARGET) as stored:
            arrays |= {name: stored[name] for name in ("sure_weights", "sure_bias")}
    else:
        arrays |= calibrate(training)
    save(arrays)
    EMBED.save()
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")


def keep(name: str) -> bool:
    """Generated turns repeat themselves: a part of them says it all."""
    generated = name.split("-")[1] == "g"
    return not generated or zlib.crc32(name.encode()) // 100 % 100 < GENERATED_PERCENT


def save(arrays: dict[str, np.ndarray]) -> None:
    np.savez_compressed(TARGET, **arrays)


if __name__ == "__main__":
    main()
