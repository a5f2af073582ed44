"""Vectors from an endpoint: checked, of one size, and in the order of the texts [T3]."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from dualgate.adapters.llm import EndpointEmbedder
from dualgate.errors import InvalidInputError, ModelRejectedError, ModelUnavailableError
from dualgate.pipeline.endpoints import EmbeddingSettings
from dualgate.testing import Fault, HashEmbedder, LlmServer, Manners

TEXTS = ["likes tea", "喜欢茶", "likes coffee"]


@pytest.fixture
async def embedder_of():
    async with contextlib.AsyncExitStack() as closing:

        def opened(server, **settings):
            settings = {
                "name": "toy", "timeout_seconds": 0.3, "retry_seconds": 0.01,
                "rest_seconds": 0.2, **settings,
            }  # fmt: skip
            embedder = EndpointEmbedder(EmbeddingSettings(base_url=server.url, **settings))
            closing.push_async_callback(embedder.close)
            return embedder

        yield opened


async def test_vectors_are_of_unit_length_in_the_order_of_the_texts(server, embedder_of):
    embedder = embedder_of(server)
    expected = await HashEmbedder(64).embed(TEXTS)

    assert np.allclose(await embedder.embed(TEXTS), expected, atol=1e-6)
    server.misbehave(Fault.ECHO)  # the rows in reverse; `index` tells
    assert np.allclose(await embedder.embed(TEXTS), expected, atol=1e-6)


@pytest.mark.parametrize("dim", [384, 768])
async def test_the_size_is_that_of_the_models_first_answer(embedder_of, dim):
    with LlmServer(manners=Manners(dim=dim)) as server:
        embedder = embedder_of(server)
        vectors = await embedder.embed(["My tent is for three people."])

        assert vectors.shape == (1, dim)
        assert (embedder.dim, embedder.model) == (dim, "endpoint/toy")


async def test_another_size_than_declared_or_seen_is_an_error_that_names_both(server, embedder_of):
    with pytest.raises(ModelRejectedError, match="64 numbers, not of 1024"):
        await embedder_of(server, dim=1024).embed(TEXTS)


async def test_many_texts_go_in_batches_and_equal_ones_once(server, embedder_of):
    vectors = await embedder_of(server, batch=2).embed([*TEXTS, *TEXTS])

    assert [asked.body["input"] for asked in server.requests] == [TEXTS[:2], TEXTS[2:]]
    assert np.array_equal(vectors[:3], vectors[3:])


@pytest.mark.parametrize("status", [400, 413, 500])
async def test_a_text_longer_than_the_model_takes_is_embedded_by_its_beginning(
    embedder_of, status
):
    long = "我的工号是四七一一。" + "填充" * 400
    with LlmServer(manners=Manners(longest=512, longest_status=status)) as server:
        vectors = await embedder_of(server).embed(["likes tea", long, "likes coffee"])
        expected = await HashEmbedder(64).embed(["likes tea", long[: len(long) // 2]])

        assert np.allclose(vectors[:2], expected, atol=1e-6)


@pytest.mark.parametrize("fault", [Fault.EMPTY, Fault.WRONG_TYPES, Fault.CUT], ids=str)
async def test_vectors_that_cannot_be_believed_are_an_error(server, embedder_of, fault):
    server.misbehave(fault, times=None)

    with pytest.raises(ModelUnavailableError):
        await embedder_of(server).embed(TEXTS)


@pytest.mark.parametrize("fault", [Fault.RATE_LIMIT, Fault.HANG, Fault.CUT], ids=str)
async def test_what_may_pass_is_tried_again(server, embedder_of, fault):
    server.misbehave(fault)

    assert (await embedder_of(server).embed(TEXTS)).shape == (3, 64)
    assert len(server.requests) == 2


async def test_an_endpoint_that_is_down_is_left_alone_for_a_while(server, embedder_of):
    embedder = embedder_of(server, rest_seconds=60)
    server.misbehave(Fault.FAIL, status=503, times=None)
    for _ in range(3):
        with pytest.raises(ModelUnavailableError, match="503"):
            await embedder.embed(TEXTS)

    assert len(server.requests) == 2  # both attempts of the first call


async def test_after_its_rest_an_endpoint_is_asked_again(server, embedder_of):
    embedder = embedder_of(server, rest_seconds=0)
    server.misbehave(Fault.FAIL, status=503, times=2)
    with pytest.raises(ModelUnavailableError):
        await embedder.embed(TEXTS)

    assert (await embedder.embed(TEXTS)).shape == (3, 64)


async def test_a_blank_text_is_refused_and_no_text_asks_nobody(server, embedder_of):
    embedder = embedder_of(server)
    with pytest.raises(InvalidInputError, match="must not be blank"):
        await embedder.embed([" "])

    assert (await embedder.embed([])).shape == (0, 0)
    assert server.requests == []


async def test_what_was_spent_is_counted(server, embedder_of):
    embedder = embedder_of(server, batch=1)
    await embedder.embed(TEXTS)

    assert embedder.usage.calls == 3
    assert embedder.usage.input_tokens > 0
