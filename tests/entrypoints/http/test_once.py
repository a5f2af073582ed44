"""A write that is sent twice with one idempotency key is done once."""

from __future__ import annotations

import asyncio

from dualgate.pipeline.serving import Answered, named

from .conftest import TEA, serving

KEYED = {"idempotency-key": "k-1"}
OF_ANN = {"user_id": "ann"}
SAID = {**OF_ANN, "session_id": "s", "messages": [{"role": "user", "content": TEA}], "wait": True}


async def test_observe_sent_twice_is_one_job_with_the_same_decisions(client, server):
    first = await client.post("/v1/observe", json=SAID, headers=KEYED)
    again = await client.post("/v1/observe", json=SAID, headers=KEYED)

    assert first.json() == again.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert (await server.memory.stats("ann")).turns == 1


async def test_a_dislike_sent_twice_counts_once(client, observed):
    item = (await observed()).json()["decisions"][0]["item_id"]
    place = f"/v1/items/{item}"
    await client.post(f"{place}/like", json=OF_ANN)
    once = (await client.post(f"{place}/dislike", json=OF_ANN, headers=KEYED)).json()
    again = await client.post(f"{place}/dislike", json=OF_ANN, headers=KEYED)
    other = await client.post(f"{place}/dislike", json=OF_ANN, headers={"idempotency-key": "k-2"})

    assert again.json()["confirm_count"] == once["confirm_count"] == 1.0
    assert other.json()["confirm_count"] == 0.0


async def test_a_key_with_another_request_is_an_error_that_names_the_header(client):
    await client.post("/v1/observe", json=SAID, headers=KEYED)
    other = await client.post("/v1/observe", json={**SAID, "session_id": "t"}, headers=KEYED)

    assert other.status_code == 422
    assert other.json()["errors"][0]["argument"] == "Idempotency-Key"


async def test_a_request_that_failed_may_be_sent_again_with_its_key(client):
    missing = await client.post("/v1/items/none/like", json=OF_ANN, headers=KEYED)
    again = await client.post("/v1/items/none/like", json=OF_ANN, headers=KEYED)

    assert (missing.status_code, again.status_code) == (404, 404)
    assert "idempotency-replayed" not in again.headers


async def test_one_key_of_two_users_is_two_requests(client, server):
    for user in ("ann", "bob"):
        await client.post("/v1/observe", json={**SAID, "user_id": user}, headers=KEYED)

    assert await server.memory.users() == ["ann", "bob"]


async def test_the_same_request_at_the_same_time_is_done_once(client, server):
    answers = await asyncio.gather(
        *(client.post("/v1/observe", json=SAID, headers=KEYED) for _ in range(8))
    )

    assert {answer.status_code for answer in answers} <= {200, 409}
    assert (await server.memory.stats("ann")).turns == 1


async def test_of_a_private_request_not_even_its_key_is_kept(tmp_path):
    """[P2]: nothing of it is written"""
    async with serving(f"sqlite:///{tmp_path / 'memory.db'}") as server:
        client = await server.client()
        said = {**SAID, "user_id": "zebracorn", "private": True}
        first = await client.post("/v1/observe", json=said, headers=KEYED)
        again = await client.post("/v1/observe", json=said, headers=KEYED)
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert b"zebracorn" not in held


async def test_what_is_kept_of_a_request_holds_no_word_of_it(tmp_path):
    async with serving(f"sqlite:///{tmp_path / 'memory.db'}") as server:
        client = await server.client()
        # A session of nothing: what was said is not kept for its own sake.
        said = {**SAID, "session_id": "zebracorn", "messages": []}
        await client.post("/v1/observe", json=said, headers={"idempotency-key": "plainkey"})
        now = server.memory.keys.now()
        probe = Answered(user_id="ann", key=named("plainkey"), fingerprint="", begun_at=now)
        known = await server.memory.serving.begin_answer(probe, now.replace(year=2000))
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert known is not None
    assert known.fingerprint in held.decode("latin-1")
    assert b"zebracorn" not in held
    assert b"plainkey" not in held
