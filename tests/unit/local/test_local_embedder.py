"""The local embedder: unit vectors, the same whoever asks and however often [T3]."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.errors import InvalidInputError


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    return UseEmbedder()


def test_the_model_id_names_weights_and_release(embedder: UseEmbedder) -> None:
    weights, release = embedder.model.split("/")

    assert weights == "use-multilingual-v3"
    assert release[0].isdigit()
    assert embedder.dim == 512


def test_every_vector_has_length_one_and_the_order_is_kept(embedder: UseEmbedder) -> None:
    texts = ["我住在上海", "My cat is called Mochi", "我住在上海"]
    vectors = embedder.embed_now(texts)

    assert vectors.shape == (3, 512)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(vectors[0], vectors[2])


def test_async_and_sync_give_the_same_vectors(embedder: UseEmbedder) -> None:
    fresh = asyncio.run(UseEmbedder(cache_size=0).embed(["预算五万", "a budget of 50k"]))

    assert np.allclose(fresh, embedder.embed_now(["预算五万", "a budget of 50k"]), atol=1e-5)


def test_related_sentences_in_two_languages_are_closer_than_unrelated(
    embedder: UseEmbedder,
) -> None:
    zh, en, other = embedder.embed_now(["我对花生过敏", "I am allergic to peanuts", "Deploy on Friday"])

    assert float(zh @ en) > 0.6
    assert float(zh @ other) < 0.35


def test_four_threads_get_what_one_gets(embedder: UseEmbedder) -> None:
    texts = [f"项目{n}的预算是{n}万" for n in range(24)]
    alone = embedder.embed_now(texts)
    shared = UseEmbedder(cache_size=4)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: shared.embed_now([text])[0], texts))

    assert np.allclose(alone, np.stack(together), atol=1e-5)


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\x00"])
def test_a_blank_text_is_refused_and_names_the_argument(embedder: UseEmbedder, blank: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        embedder.embed_now(["fine", blank])

    assert refused.value.argument == "texts"


def test_one_string_instead_of_a_list_is_refused(embedder: UseEmbedder) -> None:
    with pytest.raises(InvalidInputError):
        embedder.embed_now("not a list")


def test_no_texts_give_no_vectors(embedder: UseEmbedder) -> None:
    assert embedder.embed_now([]).shape == (0, 512)


@pytest.mark.parametrize("odd", ["😀🎉", "bad \ud83d surrogate", "مرحبا", "\x00a", "字" * 200_000])
def test_any_text_gets_a_finite_vector(embedder: UseEmbedder, odd: str) -> None:
    vector = embedder.embed_now([odd])[0]

    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-4


def test_text_past_the_limit_changes_nothing(embedder: UseEmbedder) -> None:
    start = "用户喜欢跑步。" * 200

    assert np.array_equal(
        embedder.embed_now([start])[0], embedder.embed_now([start + "later text"])[0]
    )
