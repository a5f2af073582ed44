"""Erase, export, import and audit over HTTP [P3, U2]."""

from __future__ import annotations

import pytest

from .conftest import TEA, serving

OF_ANN = {"user_id": "ann"}


async def items(client, user_id="ann"):
    page = (await client.get("/v1/items", params={"user_id": user_id})).json()
    return [item["content"] for item in page["items"]]


async def test_an_erased_item_is_reported_and_does_not_come_back(client, observed):
    item_id = (await observed()).json()["decisions"][0]["item_id"]
    report = await client.post("/v1/erase", json={**OF_ANN, "item_id": item_id})
    gone = await client.get(f"/v1/items/{item_id}", params=OF_ANN)
    why = await client.get("/v1/why", params=OF_ANN)

    assert report.status_code == 200
    assert report.json()["removed"]["items"] == 1
    assert report.json()["user_id"] == "ann"
    assert TEA not in report.text
    assert gone.status_code == 404
    assert TEA not in why.text


async def test_an_erasure_names_an_item_or_a_session_one_of_both(client, observed):
    await observed()
    for wrong in ({}, {"item_id": "a", "session_id": "s1"}):
        assert (await client.post("/v1/erase", json={**OF_ANN, **wrong})).status_code == 422
    report = await client.post("/v1/erase", json={**OF_ANN, "session_id": "s1"})

    assert report.json()["kind"] == "session"
    assert await items(client) == []


async def test_a_user_is_erased_with_everything(client, observed, server):
    await observed()
    report = await client.post("/v1/erase_user", json=OF_ANN)

    assert report.json()["removed"]["turns"] == 1
    assert await items(client) == []
    assert (await server.memory.stats("ann")).turns == 0


async def test_an_erased_users_idempotency_keys_are_forgotten_too(client):
    said = {**OF_ANN, "session_id": "s", "messages": [{"role": "user", "content": TEA}]}
    keyed = {"idempotency-key": "k"}
    await client.post("/v1/observe", json=said, headers=keyed)
    await client.post("/v1/erase_user", json=OF_ANN)
    again = await client.post("/v1/observe", json=said, headers=keyed)

    assert again.status_code == 202
    assert "idempotency-replayed" not in again.headers


async def test_an_export_is_imported_for_another_user_without_loss(client, observed):
    await observed()
    archive = await client.get("/v1/export", params=OF_ANN)
    zipped = {"content-type": "application/zip"}
    first = await client.post("/v1/import?user_id=bob", content=archive.content, headers=zipped)
    again = await client.post("/v1/import?user_id=bob", content=archive.content, headers=zipped)

    assert archive.headers["content-type"] == "application/zip"
    assert archive.content[:2] == b"PK"
    assert first.json()["added"]["items"] == 1
    assert sum(again.json()["added"].values()) == 0
    assert await items(client, "bob") == await items(client) == [TEA]


async def test_a_damaged_archive_is_refused_and_changes_nothing(client, server):
    answer = await client.post("/v1/import?user_id=ann", content=b"PK no archive")

    assert answer.status_code == 422
    assert await server.memory.users() == []


async def test_an_archive_may_be_longer_than_other_bodies():
    async with serving(body_bytes=100) as server:
        client = await server.client()
        answer = await client.post("/v1/import?user_id=ann", content=b"x" * 1_000)

        assert answer.status_code == 422  # read, and found to be no archive


@pytest.mark.parametrize("path", ["/v1/erase_user", "/v1/export", "/v1/import?user_id=ann"])
async def test_taking_everything_needs_an_admin(server, path):
    client = await server.client(await server.key(scope="write"))
    method, given = ("GET", {"params": OF_ANN}) if path == "/v1/export" else ("POST", {})
    if path == "/v1/erase_user":
        given = {"json": OF_ANN}
    answer = await client.request(method, path, **given)

    assert answer.status_code == 403


async def test_an_audit_answers_with_what_is_not_settled(client, observed):
    item_id = (await observed()).json()["decisions"][0]["item_id"]
    await client.post(f"/v1/items/{item_id}/pin", json=OF_ANN)
    found = (await client.post("/v1/audit", json=OF_ANN)).json()["findings"]
    listed = (await client.get("/v1/findings", params=OF_ANN)).json()["findings"]

    assert found == listed
