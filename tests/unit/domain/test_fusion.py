"""Facts about putting paths together [R2]."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.domain.fusion import Path, PathWeights, fuse

ALL = dict.fromkeys(Path, 1.0)


def test_an_item_best_on_every_path_has_relevance_one():
    assert fuse({"a": ALL}, PathWeights())[0].relevance == pytest.approx(1.0)


def test_the_default_weights_are_those_of_the_article():
    relevance = {p: fuse({"a": {p: 1.0}}, PathWeights())[0].relevance for p in Path}

    assert relevance == pytest.approx(
        {Path.SEMANTIC: 0.5, Path.ENTITY: 0.3, Path.RECENCY: 0.1, Path.TYPE: 0.1}
    )


def test_weights_are_normalised():
    doubled = PathWeights(semantic=1.0, entity=0.6, recency=0.2, type=0.2)
    opinions = {"a": {Path.SEMANTIC: 0.4, Path.TYPE: 1.0}}

    assert fuse(opinions, doubled)[0].relevance == pytest.approx(
        fuse(opinions, PathWeights())[0].relevance
    )


def test_every_hit_explains_all_paths_also_those_without_an_opinion():
    assert fuse({"a": {Path.ENTITY: 0.5}}, PathWeights())[0].paths == {
        Path.SEMANTIC: 0.0,
        Path.ENTITY: 0.5,
        Path.RECENCY: 0.0,
        Path.TYPE: 0.0,
    }


def test_meaning_settles_a_tie_and_then_the_id():
    opinions = {
        "b": {Path.SEMANTIC: 0.3},
        "a": {Path.ENTITY: 0.5},
        "c": {Path.SEMANTIC: 0.3},
    }
    fused = fuse(opinions, PathWeights())

    assert [f.item_id for f in fused] == ["b", "c", "a"]


def test_weights_that_leave_only_recency_and_type_are_refused():
    assert PathWeights(semantic=0, entity=0).problems() == [
        "weights: semantic or entity must be positive"
    ]
    assert len(PathWeights(semantic=-1, entity=0, recency=-1).problems()) == 3


@given(
    st.dictionaries(st.text(min_size=1), st.dictionaries(st.sampled_from(Path), st.floats(0, 1)))
)
def test_relevance_stays_between_0_and_1_and_falls(opinions):
    relevances = [f.relevance for f in fuse(opinions, PathWeights())]

    assert all(0 <= r <= 1 + 1e-9 for r in relevances)
    assert relevances == sorted(relevances, reverse=True)
