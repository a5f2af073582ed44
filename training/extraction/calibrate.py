"""Fit what makes the encoder's answers honest, and the cheap head that thins long turns.

    python training/extraction/calibrate.py        # after encoder.py, and whenever the turns change

Everything is fitted on turns that the encoder was kept from: a temperature per question, and the
confidence, which says how often a statement with these grounds is right. Needs scikit-learn and
scipy; the weights need numpy alone. Deterministic: the same data give the same file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from augment import augmented
from dataset import in_calibration, is_trained_on, keep, label_of, weight, with_augmented
from examples import Example, example, load_all
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from dualgate.adapters.local.extraction import encoder, judging
from dualgate.adapters.local.extraction import model as models
from dualgate.adapters.local.extraction.features import BUCKETS, clause_ids

TARGET = Path(models.__file__).with_name(models.WEIGHTS)
COMPOSED = 0.3  # turns of several statements per turn of the calibration tenth
TYPE_SERVES = 0.25
COVERS = 0.5
PIECE = 0.8
# Labels name what matters in a turn, not all that is true of it. Of 63 proposals of unseen turns
# that no label bears out, in turns that state something, 28 were true and lasting when read again;
# of 27 in turns that state nothing, none.
LEFT_OUT = 0.45
GATE_STRENGTH = 0.03
SPARSE_SCALE = 0.5
FLOOR = 0.6  # [M 5.1]
LOST = 0.005

Encoded = encoder.Encoded


def fit_gate(examples: Sequence[Example]) -> dict[str, np.ndarray]:
    """Fit the head that only looks at words: may this clause state anything at all?"""
    ids, states, weights = [], [], []
    for each in examples:
        ids += clause_ids(each.clauses, each.reading.setting)
        states += [each.state(index) != "none" for index in range(len(each.clauses))]
        weights += [weight(each)] * len(each.clauses)
    indptr = np.cumsum([0, *(len(line) for line in ids)])
    indices = np.concatenate(ids)
    data = np.full(len(indices), SPARSE_SCALE, dtype=np.float32)
    x = csr_matrix((data, indices, indptr), shape=(len(ids), BUCKETS))
    counts = np.asarray((x > 0).sum(axis=0)).ravel()
    kept = np.flatnonzero(counts >= 2).astype(np.int32)
    fitted = LogisticRegression(C=GATE_STRENGTH, max_iter=400, tol=1e-3)
    fitted.fit(x[:, kept], np.array(states), sample_weight=np.array(weights))
    line = (fitted.coef_[0] * SPARSE_SCALE).astype(np.float16)
    strong = np.abs(line) > 1e-3
    return {
        "gate/labels": np.array(["none", "some"]),
        "gate/kept": kept[strong],
        "gate/sparse": np.stack([np.zeros_like(line), line], axis=1)[strong],
        "gate/dense": np.zeros((0, 2), dtype=np.float16),
        "gate/bias": np.array([0.0, fitted.intercept_[0]], dtype=np.float32),
    }


def fit_tempers(read: Sequence[tuple[Example, Encoded]]) -> dict[str, np.ndarray]:
    """Fit, per question, one temperature and a bias a label by the log loss."""
    tempers = {}
    for name in (each for each in judging.LABELS if each != encoder.EARLY):
        pairs = [pair for each, seen in read for pair in answers(name, each, seen)]
        logs = np.log(np.stack([line for line, _ in pairs]) + models.TINY)
        target = np.array([judging.LABELS[name].index(label) for _, label in pairs])
        tempers[f"{models.TEMPER}{name}"] = fit_temper(name, logs, target)
    return tempers


def answers(name: str, each: Example, seen: Encoded) -> Iterator[tuple[np.ndarray, str]]:
    """Yield what the encoder answers to a question about a turn, and what is right."""
    count = len(each.clauses)
    if name == "state":
        yield from ((seen.span(name, i, i), each.state(i)) for i in range(count))
    elif name == "turn":
        some = any(each.state(i) == "lasting" for i in range(count))
        yield seen.turn, "some" if some else "none"
    elif name == "join":
        for i in range(1, count):
            left, right = each.span_of[i - 1], each.span_of[i]
            if left is not None and right is not None:
                yield seen.seam(i), "together" if left == right else "apart"
    else:
        for number, span in enumerate(each.row["spans"]):
            run = each.run(number)
            if run and span["scope"] == "lasting":
                yield seen.span(name, run[0], run[-1]), label_of(name, span)


def fit_leaving(
    reader: encoder.Encoder, read: Sequence[tuple[Example, Encoded]], model: models.Model
) -> dict[str, np.ndarray]:
    """Fit where a turn is left after the first layers: LOST of those that all layers find something in."""
    promises: dict[bool, list[float]] = {True: [], False: []}
    for each, seen in read:
        sure = [model.confidence(grounds) for grounds, _ in proposals(each, seen, model)]
        finds = max(sure, default=0.0) >= FLOOR
        promises[finds].append(reader.early(each.reading, range(len(each.clauses))))
    leave_at = float(np.quantile(promises[True], LOST))
    left = np.mean(np.array(promises[False]) < leave_at)
    print(f"left under {leave_at:.3f}: {LOST:.1%} of {len(promises[True])} turns in which something is found, {left:.0%} of {len(promises[False])} others")
    return {"leave_at": np.array(leave_at, dtype=np.float32)}


def fit_temper(name: str, logs: np.ndarray, target: np.ndarray) -> np.ndarray:
    lines = np.arange(len(target))

    def loss(temper: np.ndarray) -> float:
        logits = temper[0] * logs + temper[1:]
        logits = logits - logits.max(axis=1, keepdims=True)
        right = logits[lines, target] - np.log(np.exp(logits).sum(axis=1))
        return float(-right.mean() + 1e-3 * np.square(temper[1:]).sum())

    start = np.concatenate([[1.0], np.zeros(logs.shape[1])])
    temper = minimize(loss, start, method="BFGS").x
    right = (logs.argmax(axis=1) == target).mean()
    print(f"{name}: {right:.3f} right of {len(target)}, log loss {loss(start):.3f}, tempered {loss(temper):.3f}")
    return temper.astype(np.float32)


def proposals(each: Example, encoded: Encoded, model: models.Model) -> list[tuple[np.ndarray, float]]:
    """Return, per lasting proposal, what its confidence rests on and how likely it is right."""
    chosen = range(len(each.clauses))
    lines = judging.states(each.reading, chosen, encoded, model)
    found = judging.statements(each.reading, chosen, encoded, lines, model)
    described = judging.describe(each.reading, found, encoded, model)
    turn = judging.turn_promise(encoded, model)
    both = [pair for pair in zip(found, described, strict=True) if pair[0].scope.value == "lasting"]
    rights, pieces = right_ones(each, both)
    states = any(each.state(index) == "lasting" for index in chosen)
    otherwise = LEFT_OUT if states else 0.0
    return [
        (judging.grounds(said, kinds, turn, each.reading), 1.0 if index in rights else otherwise)
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


def fit_confidence(found: Sequence[tuple[np.ndarray, float]]) -> dict[str, np.ndarray]:
    grounds, rights = np.stack([ground for ground, _ in found]), np.array([right for _, right in found])
    # A proposal that is right to a part stands for both, each with its weight.
    both = np.concatenate([grounds, grounds])
    target = np.repeat([True, False], len(grounds))
    fitted = LogisticRegression(C=1.0, max_iter=500)
    fitted.fit(both, target, sample_weight=np.concatenate([rights, 1.0 - rights]))
    print(f"confidence: {len(rights)} proposals, {np.mean(rights):.0%} right; {fitted.coef_[0].round(2)}")
    return {
        "sure_weights": fitted.coef_[0].astype(np.float32),
        "sure_bias": fitted.intercept_.astype(np.float32),
    }


def main() -> None:
    examples = load_all(keep)
    arrays = fit_gate([each for each in with_augmented([e for e in examples if is_trained_on(e)]) if each.clauses])
    apart = [each for each in examples if in_calibration(each) and not each.held_out]
    apart = [each for each in apart if weight(each) == 1.0]
    # Hand-written turns mostly state one thing; people also tell several in one breath.
    composed = [example(row) for row in augmented([each.row for each in apart], COMPOSED)]
    unseen = [each for each in (*apart, *composed) if each.clauses]
    reader = encoder.load()
    read = [(each, reader.read(each.reading, range(len(each.clauses)))) for each in unseen]
    arrays |= fit_tempers(read)
    nothing = {
        "sure_weights": np.zeros(judging.GROUNDS, np.float32),
        "sure_bias": np.zeros(1, np.float32),
        "leave_at": np.zeros((), np.float32),
    }
    model = models.model_of(arrays | nothing)
    arrays |= fit_confidence([pair for each, seen in read for pair in proposals(each, seen, model)])
    arrays |= fit_leaving(reader, read, models.model_of(nothing | arrays))
    np.savez_compressed(TARGET, **arrays)
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
