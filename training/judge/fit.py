"""Fit the same-statement judge and write src/dualgate/adapters/local/weights/judge.json [C1].

Run: python training/judge/fit.py   (needs the `train` dependency group; about two minutes)

Half of the pairs are read with a part of the lexicon hidden and without slots: in real use most
words are not in any list, and a judge fitted on known words alone would trust lists too much.
Calibrated and reported on frames that took no part in the fit (five folds over frames).
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GroupKFold

sys.path.insert(0, str(Path(__file__).parent))

from pairs import Maker, Pair, hand

from dualgate.adapters.local.concepts import lexicon
from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.features import NAMES, compare
from dualgate.adapters.local.statements import read
from dualgate.adapters.local.structure import LexiconStructurer

SEED = 20261130
EACH = 1_100
APART = 5_000
TREES, DEPTH = 150, 4
TARGET = Path(__file__).parents[2] / "src/dualgate/adapters/local/weights/judge.json"


def all_pairs() -> list[Pair]:
    maker = Maker(SEED)
    made = [pair for lang in ("zh", "en", "cross") for pair in maker.pairs(lang, EACH)]
    return made + hand() * 3  # thrice: each time with other words hidden


def apart(each: int) -> tuple[list[Pair], np.ndarray]:
    """Return real statements that an embedder finds close though they are about other things.

    In use nearly all pairs above the gate are such; without them the judge would call any two
    statements with different numbers a conflict.
    """
    texts = [
        line
        for line in (Path(__file__).parent / "statements.txt").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    chinese = np.asarray([any("\u4e00" <= c <= "\u9fff" for c in text) for text in texts])
    embedder, structurer = UseEmbedder(cache_size=0), LexiconStructurer()
    vectors = np.concatenate([embedder.embed_now(texts[i : i + 64]) for i in range(0, len(texts), 64)])
    slots = [structurer.read(text) for text in texts]
    near = vectors @ vectors.T
    # Above 0.62 some do say the same or exclude each other, and nobody has labelled them.
    left, right = np.where(np.triu((near >= 0.3) & (near <= 0.62), 1))
    order = np.random.default_rng(SEED).permutation(len(left))
    found: list[Pair] = []
    cosine: list[float] = []
    wanted = {"zh": each, "en": each, "cross": each // 3}
    for index in order:
        a, b = int(left[index]), int(right[index])
        lang = "cross" if chinese[a] != chinese[b] else "zh" if chinese[a] else "en"
        one, other = slots[a], slots[b]
        if wanted[lang] == 0 or (one and other and one.attribute == other.attribute):
            continue
        wanted[lang] -= 1
        found.append(Pair(texts[a], texts[b], "U", lang, f"apart:{index % 40}"))
        cosine.append(float(near[a, b]))
    return found, np.asarray(cosine)


def cosines(pairs: list[Pair]) -> np.ndarray:
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.one, pair.other)))
    embedder = UseEmbedder(cache_size=0)
    vectors = np.concatenate([embedder.embed_now(texts[i : i + 64]) for i in range(0, len(texts), 64)])
    place = {text: index for index, text in enumerate(texts)}
    return np.asarray([float(vectors[place[p.one]] @ vectors[place[p.other]]) for p in pairs])


def rows(pairs: list[Pair], cosine: np.ndarray) -> np.ndarray:
    chance = random.Random(SEED)
    forms = sorted(lexicon().forms)
    kept = ("attitude", "thing", "quality", "format", "length", "tone", "frequency")
    values = [form for form in forms if lexicon().forms[form].kind not in kept]
    hidden = [
        lexicon().without(chance.sample(values, int(len(values) * share)) + chance.sample(forms, 60))
        for share in np.linspace(0.3, 0.95, 24)
    ]
    structurer = LexiconStructurer()
    found = []
    for pair, near in zip(pairs, cosine, strict=True):
        words = chance.choice(hidden) if chance.random() < 0.5 else lexicon()
        blind = chance.random() < 0.45
        slots = (None, None) if blind else (structurer.read(pair.one), structurer.read(pair.other))
        found.append(
            compare(
                read(pair.one, words), read(pair.other, words), slots=slots, cosine=near,
                many=structurer.many_valued, words=words,
            )
        )
    return np.asarray(found)


def labels(pairs: list[Pair]) -> dict[str, np.ndarray]:
    return {
        "same": np.asarray([pair.kind == "P" for pair in pairs]),
        "conflicting": np.asarray([pair.kind in {"V", "O"} for pair in pairs]),
    }


def model() -> GradientBoostingClassifier:
    return GradientBoostingClassifier(
        n_estimators=TREES, max_depth=DEPTH, learning_rate=0.08, subsample=0.6, max_features=12,
        min_samples_leaf=25, random_state=SEED,
    )


def fit(name: str, x: np.ndarray, y: np.ndarray, groups: np.ndarray, langs: np.ndarray) -> dict:
    margins = np.zeros(len(y))
    for train, test in GroupKFold(5).split(x, y, groups):
        margins[test] = model().fit(x[train], y[train]).decision_function(x[test])
    calibration = LogisticRegression(C=1e6).fit(margins[:, None], y)
    slope, shift = float(calibration.coef_[0, 0]), float(calibration.intercept_[0])
    p = 1 / (1 + np.exp(-(slope * margins + shift)))
    print(f"\n{name}: on frames not fitted on")
    for lang in ("zh", "en", "cross"):
        here = langs == lang
        print(f"  {lang:6} AUC {roc_auc_score(y[here], p[here]):.3f}  Brier {brier_score_loss(y[here], p[here]):.3f}"
              f"  ECE {ece(p[here], y[here]):.3f}  n {here.sum()}")
    for low in np.arange(0, 1, 0.1):
        here = (p >= low) & (p < low + 0.1)
        if here.sum():
            print(f"    said {p[here].mean():.2f}  was {y[here].mean():.2f}  n {here.sum()}")
    return {**exported(model().fit(x, y)), "calibration": [slope, shift]}


def ece(p: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for low in np.arange(0, 1, 0.1):
        here = (p >= low) & (p < low + 0.1)
        if here.sum():
            total += here.mean() * abs(p[here].mean() - y[here].mean())
    return float(total)


def exported(fitted: GradientBoostingClassifier) -> dict:
    trees = [tree.tree_ for tree in fitted.estimators_[:, 0]]
    nodes = max(tree.node_count for tree in trees)

    def padded(take) -> list[list[float]]:
        return [[*take(tree).tolist(), *[0] * (nodes - tree.node_count)] for tree in trees]

    prior = fitted.init_.class_prior_[1]
    return {
        "feature": padded(lambda t: np.where(t.feature < 0, -1, t.feature)),
        "threshold": padded(lambda t: np.round(t.threshold, 6)),
        "left": padded(lambda t: np.maximum(t.children_left, 0)),
        "right": padded(lambda t: np.maximum(t.children_right, 0)),
        "value": padded(lambda t: np.round(t.value[:, 0, 0] * fitted.learning_rate, 6)),
        "start": float(np.log(prior / (1 - prior))),
        "depth": DEPTH,
    }


def main() -> None:
    pairs = all_pairs()
    far, far_cosine = apart(APART)
    near = np.concatenate([cosines(pairs), far_cosine])
    pairs += far
    x = rows(pairs, near)
    groups = np.asarray([pair.frame if pair.frame != "hand" else f"hand:{pair.one}" for pair in pairs])
    langs = np.asarray([pair.lang for pair in pairs])
    print(f"{len(pairs)} pairs:", {lang: int((langs == lang).sum()) for lang in ("zh", "en", "cross")})
    fitted = {name: fit(name, x, y, groups, langs) for name, y in labels(pairs).items()}
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps({"features": list(NAMES), "seed": SEED, **fitted}, separators=(",", ":")))
    print(f"\nwrote {TARGET.name}, {TARGET.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
