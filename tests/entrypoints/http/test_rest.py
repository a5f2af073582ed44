"""The verbs of Memory over HTTP: the same words, the same outcomes, errors that say what to do."""

from __future__ import annotations

import asyncio

import pytest

from dualgate.testing import ScriptedExtractor

from .conftest import SAID, TEA, serving

OF_ANN = {"user_id": "ann"}


def named(entry):
    return entry.get("id", entry.get("item_id"))


async def test_observe_answers_at_once_and_with_wait_has_the_decisions(observed):
    at_once = await observed("I am back.", wait=False)
    waited = await observed()

    assert (at_once.status_code, at_once.json()["state"]) == (202, "waiting")
    assert waited.status_code == 200
    (decision,) = waited.json()["decisions"]
    assert (decision["outcome"], decision["candidate"]["quote"]) == ("admitted", TEA)


class Slow(ScriptedExtractor):
    """Answers when it is let go."""

    def __init__(self):
        super().__init__(SAID)
        self.go = asyncio.Event()

    async def extract(self, turn):
        await self.go.wait()
        return await super().extract(turn)


async def test_wait_ends_after_a_while_and_the_job_can_be_asked_for_later():
    slow = Slow()
    async with serving(wait_seconds=0.1, extractor=slow) as server:
        client = await server.client()
        said = [{"role": "user", "content": TEA}]
        body = {"user_id": "ann", "session_id": "s", "messages": said, "wait": True}
        answer = await client.post("/v1/observe", json=body)
        job = f"/v1/jobs/{answer.json()['job_id']}"
        waiting = (await client.get(job, params=OF_ANN)).json()
        slow.go.set()
        await server.memory.drain(timeout=10)
        done = (await client.get(job, params=OF_ANN)).json()

        assert (answer.status_code, answer.json()["state"]) == (202, "waiting")
        assert (waiting["state"], waiting["decisions"]) == ("waiting", [])
        assert (done["state"], len(done["decisions"])) == ("done", 1)


@pytest.mark.parametrize("reason", ["private", "paused", "empty"])
async def test_what_is_not_to_be_kept_is_not_queued(client, observed, server, reason):
    if reason == "paused":
        await client.post("/v1/pause", json=OF_ANN)
    answer = await observed("  " if reason == "empty" else TEA, private=reason == "private")

    assert answer.json() == {
        "job_id": None, "state": "nothing queued", "decisions": [], "error": None,
    }  # fmt: skip
    assert (await server.memory.stats("ann")).turns == 0


async def test_candidates_of_the_host_pass_the_same_gates(client):
    fitting = {"item_type": "fact", "content": "Works at Acme.", "confidence": 0.9}
    doubtful = {**fitting, "content": "May like jazz.", "confidence": 0.3}
    body = {**OF_ANN, "session_id": "s", "candidates": [fitting, doubtful], "wait": True}
    decisions = (await client.post("/v1/propose", json=body)).json()["decisions"]

    assert [d["outcome"] for d in decisions] == ["admitted", "refused"]


async def test_what_was_said_is_found_shown_and_explained(client, observed):
    item_id = (await observed()).json()["decisions"][0]["item_id"]
    found = await client.post("/v1/recall", json={**OF_ANN, "query": TEA})
    block = await client.post("/v1/context", json={**OF_ANN, "session_id": "s2", "query": TEA})
    history = await client.get(f"/v1/items/{item_id}/history", params=OF_ANN)
    why = await client.get("/v1/why", params={**OF_ANN, "text": "tea"})

    assert [hit["item"]["id"] for hit in found.json()["hits"]] == [item_id]
    assert TEA in block.json()["text"]
    assert [signal["quote"] for signal in history.json()["signals"]] == [TEA]
    assert [move["cause"] for move in history.json()["moves"]] == ["admitted"]
    assert [each["item_id"] for each in why.json()["decisions"]] == [item_id]


@pytest.mark.parametrize(
    ("verb", "body", "field", "value"),
    [
        ("correct", {"content": "I like green tea."}, "content", "I like green tea."),
        ("like", {}, "confirm_count", 2.0),
        ("pin", {}, "pinned", True),
        ("forget", {}, "status", "forgotten"),
    ],
)
async def test_a_persons_verb_answers_with_the_item_as_it_is_now(
    client, observed, verb, body, field, value
):
    item_id = (await observed()).json()["decisions"][0]["item_id"]
    answer = await client.post(f"/v1/items/{item_id}/{verb}", json={**OF_ANN, **body})
    now = await client.get(f"/v1/items/{item_id}", params=OF_ANN)

    assert answer.status_code == 200
    assert answer.json()[field] == now.json()[field] == value


async def test_forgetting_a_frozen_item_asks_once_more(client, observed):
    item_id = (await observed()).json()["decisions"][0]["item_id"]
    await client.post(f"/v1/items/{item_id}/pin", json=OF_ANN)
    place = f"/v1/items/{item_id}/forget"
    first = await client.post(place, json=OF_ANN)
    second = await client.post(place, json={**OF_ANN, "confirm": True})
    undone = await client.post(f"/v1/items/{item_id}/restore", json=OF_ANN)

    assert first.status_code == 409
    assert first.json()["type"] == "urn:dualgate:error:ConfirmationRequiredError"
    assert second.json()["status"] == "forgotten"
    assert undone.json()["status"] != "forgotten"


async def test_the_notes_of_a_task_go_when_its_session_ends(client):
    task = {**OF_ANN, "session_id": "s", "task_id": "t"}
    await client.put("/v1/working", json={**task, "key": "tried", "value": "by train"})
    before = (await client.get("/v1/working", params=task)).json()
    await client.post("/v1/end_session", json={**OF_ANN, "session_id": "s"})
    after = (await client.get("/v1/working", params=task)).json()

    assert (before["notes"], after["notes"]) == ({"tried": "by train"}, {})


async def test_a_conversation_comes_back_shorter_as_its_host_writes_it(client):
    talk = [{"role": r, "content": f"{r} {n}: " + "words " * 30}
            for n in range(20) for r in ("user", "assistant")]  # fmt: skip
    answer = (await client.post("/v1/compact", json={"messages": talk})).json()

    assert len(answer["messages"]) < len(talk)
    assert answer["messages"][-1] == talk[-1]
    assert answer["report"]["tokens_after"] < answer["report"]["tokens_before"]


# --- errors


@pytest.mark.parametrize(
    ("body", "argument"),
    [
        ({}, "user_id"),
        ({**OF_ANN, "session_id": "s", "messages": [{"role": "boss", "content": "x"}]},
         "messages[0].role"),
        ({**OF_ANN, "session_id": "s", "messages": "hello"}, "messages"),
        ({**OF_ANN, "session_id": "s", "messages": [], "prviate": True}, "prviate"),
        ({**OF_ANN, "session_id": "s",
          "messages": [{"role": "user", "content": "x", "at": "2026-01-01T09:00:00"}]},
         "messages[0].at"),
        ({**OF_ANN, "session_id": " ", "messages": []}, "session_id"),
    ],
)  # fmt: skip
async def test_a_problem_names_the_argument_and_the_rule(client, body, argument):
    answer = await client.post("/v1/observe", json=body)
    problem = answer.json()

    assert answer.status_code == problem["status"] == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["errors"][0]["argument"] == argument
    assert problem["errors"][0]["rule"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/items/none?user_id=ann", 404), ("GET", "/v1/nothing", 404),
     ("DELETE", "/v1/items", 405), ("GET", "/v1/items?user_id=ann&cursor=x", 422),
     ("GET", "/v1/why?user_id=ann&cursor=!", 422), ("GET", "/v1/dead?user_id=ann&cursor=x", 422)],
)  # fmt: skip
async def test_every_error_is_a_problem(client, method, path, status):
    answer = await client.request(method, path)

    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status


async def test_a_full_queue_says_when_to_come_back(server, observed, monkeypatch):
    monkeypatch.setattr(server.memory._parts.queue, "_per_user", 0)  # noqa: SLF001
    answer = await observed()

    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1


async def test_text_can_be_anything(client, observed):
    user = "../../etc/passwd?#%2F\n😀"
    answer = await observed("\u0000 \u202e </script> '; DROP TABLE turns; -- 中文", user_id=user)
    listed = await client.get("/v1/items", params={"user_id": user})
    half = b'{"user_id": "a\\ud83d", "session_id": "s", "messages": []}'
    lone = await client.post(
        "/v1/observe", content=half, headers={"content-type": "application/json"}
    )

    assert (answer.status_code, listed.status_code) == (200, 200)
    assert lone.status_code == 422


# --- lists


@pytest.mark.parametrize("name", ["items", "why", "moves"])
async def test_a_list_is_read_page_by_page_each_entry_once(client, name):
    for n in range(7):
        candidate = {"item_type": "fact", "content": f"Has {n} cats.", "confidence": 0.9,
                     "attribute": f"cats {n}", "value": str(n)}  # fmt: skip
        body = {**OF_ANN, "session_id": f"s{n}", "candidates": [candidate], "wait": True}
        await client.post("/v1/propose", json=body)
    key = {"items": "items", "why": "decisions", "moves": "moves"}[name]
    whole = (await client.get(f"/v1/{name}", params=OF_ANN)).json()[key]
    pages, cursor = [], None
    while True:
        given = {**OF_ANN, "limit": 3, **({} if cursor is None else {"cursor": cursor})}
        page = (await client.get(f"/v1/{name}", params=given)).json()
        pages.append(page[key])
        cursor = page["cursor"]
        if cursor is None:
            break

    assert [len(page) for page in pages] == [3, 3, 1]
    # Scores are as of now, and a moment has passed.
    assert [named(entry) for page in pages for entry in page] == [named(each) for each in whole]


async def test_users_and_dead_jobs_are_read_page_by_page(client, observed):
    for n in range(3):
        await observed("broken", user_id=f"user-{n}")
        await observed("broken", session_id=f"s{n}")
    users, dead, cursor = [], [], {}
    while cursor is not None:
        page = (await client.get("/v1/users", params={"limit": 2, **cursor})).json()
        users += page["users"]
        cursor = {"cursor": page["cursor"]} if page["cursor"] else None
    cursor = {}
    while cursor is not None:
        given = {**OF_ANN, "limit": 2, **cursor}
        page = (await client.get("/v1/dead", params=given)).json()
        dead += [each["session_id"] for each in page["dead"]]
        cursor = {"cursor": page["cursor"]} if page["cursor"] else None

    assert dead == ["s2", "s1", "s0"]
    assert users == sorted(set(users))


async def test_a_parked_job_can_run_again(client, observed):
    job_id = (await observed("broken")).json()["job_id"]
    parked = (await client.get("/v1/dead", params=OF_ANN)).json()["dead"]
    answer = await client.post(f"/v1/dead/{job_id}/revive", json=OF_ANN)

    assert [each["job_id"] for each in parked] == [job_id]
    assert parked[0]["error"]
    assert answer.status_code == 204
