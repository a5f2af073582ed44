"""Live events: what the queue decides, to whoever listens to that user."""

from __future__ import annotations

import asyncio
import json

import pytest

from dualgate.entrypoints.http import events as live
from dualgate.entrypoints.http.events import BACKLOG, Event, Events, stream

from .conftest import TEA

OF_ANN = {"user_id": "ann"}


async def heard(client, count, **headers):
    """Listen until so many events have come; the transport hands a stream over at its end."""
    answer = await client.get("/v1/events", params={**OF_ANN, "limit": count}, headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    blocks = [block.splitlines() for block in answer.text.strip().split("\n\n")]
    parts = [dict(line.split(": ", 1) for line in b if line[0] != ":") for b in blocks]
    return [(p["event"], json.loads(p["data"]), p.get("id")) for p in parts if p]


async def listening(client, server, count):
    task = asyncio.create_task(heard(client, count))
    async with asyncio.timeout(5):
        while not server.app.state.events._listeners:  # noqa: ASYNC110, SLF001
            await asyncio.sleep(0.01)
    return task


async def test_a_listener_is_told_what_is_decided_about_his_user_alone(client, server, observed):
    task = await listening(client, server, 1)
    await observed(user_id="bob")
    said = (await observed()).json()["decisions"][0]
    ((kind, data, event_id),) = await asyncio.wait_for(task, 10)

    assert (kind, event_id) == ("decision", said["id"])
    assert data == said


async def test_a_persons_verb_and_a_failed_job_are_told(client, server, observed):
    item = (await observed()).json()["decisions"][0]["item_id"]
    task = await listening(client, server, 2)
    await client.post(f"/v1/items/{item}/forget", json=OF_ANN)
    job_id = (await observed("broken", session_id="s2")).json()["job_id"]
    moved, failed = await asyncio.wait_for(task, 10)

    assert moved[0] == "moved"
    assert moved[1]["moves"][0]["cause"] == "forgot"
    assert failed[:2] == ("failed", {"job_id": job_id, "dead": True})


async def test_a_listener_that_comes_back_is_first_told_what_he_missed(client, observed):
    seen = (await observed()).json()["decisions"][0]["id"]
    missed = (await observed(session_id="s2")).json()["decisions"][0]["id"]
    ((_, _, event_id),) = await asyncio.wait_for(
        heard(client, 1, **{"last-event-id": seen}), 10
    )

    assert event_id == missed


async def test_what_another_process_decides_is_told_as_well(server, monkeypatch, observed):
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.05)
    deaf = Events()  # nobody tells it anything, as in a process without the worker
    told = []

    async def listen():
        async for event in stream(server.memory, deaf, "ann"):
            if event is not None:
                told.append(event.decision.candidate.content)
                return

    task = asyncio.create_task(listen())
    await asyncio.sleep(0.1)
    await observed()
    await asyncio.wait_for(task, 10)

    assert told == [TEA]


async def test_a_listener_too_slow_is_told_that_he_missed_some():
    hub = Events()
    with hub.listening("ann") as listener:
        for n in range(BACKLOG + 5):
            hub._tell(Event(kind="failed", user_id="ann", job_id=str(n)))  # noqa: SLF001
        for _ in range(BACKLOG):
            assert (await listener.next(1)).kind == "failed"

        assert (await listener.next(1)).kind == "missed"
        with pytest.raises(TimeoutError):
            await listener.next(0.01)


async def test_a_listener_that_goes_leaves_nothing_behind():
    hub = Events()
    with hub.listening("ann"):
        pass

    assert hub._listeners == {}  # noqa: SLF001


async def test_a_key_that_is_revoked_ends_its_open_stream_untold(server, observed):
    made = await server.memory.keys.create("acme", scope="read")
    task = asyncio.create_task(heard(await server.client(made.secret), 1))
    async with asyncio.timeout(5):
        while not server.app.state.events._listeners:  # noqa: ASYNC110, SLF001
            await asyncio.sleep(0.01)
    await server.memory.keys.revoke(made.key.id, tenant="acme")
    await observed(use=await server.client(await server.key("acme", "write")))

    assert await asyncio.wait_for(task, 10) == []
