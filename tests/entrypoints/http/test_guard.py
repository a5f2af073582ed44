"""What comes from elsewhere, and what nobody foresaw."""

from __future__ import annotations

import pytest

from .conftest import TEA, serving

SAID = {"user_id": "ann", "session_id": "s", "messages": [{"role": "user", "content": TEA}]}


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:7734", "", "a b", "[::2]"]
)
async def test_a_name_that_is_not_ours_is_refused(client, host):
    answer = await client.get("/healthz", headers={"host": host})

    assert answer.status_code == 421
    assert "Host" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:7734", "LOCALHOST"])
async def test_every_name_of_loopback_is_ours(client, host):
    assert (await client.get("/healthz", headers={"host": host})).status_code == 200


async def test_a_configured_name_is_ours():
    async with serving(hosts=frozenset({"memory.example"})) as server:
        client = await server.client(host="memory.example")

        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:3000"},  # another program on this machine
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"},
    ],
)
async def test_a_page_of_another_site_changes_nothing(client, server, headers):
    answer = await client.post("/v1/observe", json=SAID, headers=headers)

    assert answer.status_code == 403
    assert await server.memory.users() == []


async def test_a_page_of_another_site_reads_nothing_but_may_link_here(client):
    fetched = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    opened = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert (await client.get("/v1/users", headers=fetched)).status_code == 403
    assert (await client.get("/healthz", headers=opened)).status_code == 200


async def test_our_own_pages_and_configured_ones_may_call():
    async with serving(origins=frozenset({"https://app.example"})) as server:
        client = await server.client()
        for origin in ("http://127.0.0.1:7734", "https://app.example"):
            answer = await client.post("/v1/observe", json=SAID, headers={"origin": origin})

            assert answer.status_code == 202


@pytest.mark.parametrize("path", ["/healthz", "/v1/users", "/nowhere", "/panel/", "/openapi.json"])
async def test_every_answer_lets_no_foreign_or_inline_code_run(client, path):
    headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
async def test_a_body_that_is_too_long_is_refused_before_it_is_read(chunked):
    async def pieces():
        for _ in range(100):
            yield b" " * 100

    async with serving(body_bytes=1_000) as server:
        client = await server.client(**{"content-type": "application/json"})
        body = pieces() if chunked else b" " * 10_000
        answer = await client.post("/v1/observe", content=body)

        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"


async def test_what_nobody_foresaw_is_told_without_its_text(server, client, quiet, monkeypatch):
    async def fails(*_, **__):
        raise RuntimeError("she lives at 7 Secret Lane")

    monkeypatch.setattr(server.memory, "stats", fails)
    answer = await client.get("/v1/stats", params={"user_id": "ann"})
    (line,) = [each for each in quiet if each["event"] == "request_failed"]

    assert answer.status_code == 500
    assert answer.json()["status"] == 500
    assert answer.headers["x-request-id"] in answer.json()["detail"]
    assert line["request_id"] == answer.headers["x-request-id"]
    assert line["error"] == "RuntimeError"
    assert any("test_guard.py" in place for place in line["at"])
    assert "Secret" not in str(quiet) + answer.text


async def test_a_log_line_says_what_was_asked_and_nothing_of_what_was_said(observed, quiet):
    await observed(user_id="ann-private", session_id="session-private")
    (line,) = [each for each in quiet if each["event"] == "request"]

    assert line["route"] == "/v1/observe"
    assert line["status"] == 200
    assert line["ms"] > 0
    for private in (TEA, "tea", "ann-private", "session-private"):
        assert private not in str(quiet)


async def test_a_failed_job_is_logged_by_its_id_without_what_it_quotes(observed, quiet):
    answer = await observed("broken")
    (line,) = [each for each in quiet if each["event"] == "job_failed"]

    assert answer.json()["state"] == "dead"
    assert line["job_id"] == answer.json()["job_id"]
    assert "secret sentence" not in str(quiet)


@pytest.mark.parametrize(
    "path",
    ["/?kind=zzz", "/?pool=zzz", "/?text=%00", "/?cursor=zzz", "/happened?show=zzz", "/items/zzz"],
)
async def test_whatever_a_browser_asks_the_panel_is_no_fault_of_the_server(client, observed, path):
    await observed()
    cookies = {"cookie": f"dualgate_user=ann; dualgate_done=like:x:{'9' * 5000}"}

    answer = await client.get(f"/panel{path}", headers=cookies)
    assert answer.status_code in {200, 404, 422}


async def test_a_link_of_another_site_signs_nobody_in(client, server):
    """[P4]: else a page elsewhere could have a browser write into another's memory"""
    key = await server.key()
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert (await client.get(f"/enter?key={key}", headers=link)).status_code == 403
    assert (await client.get("/panel/", headers=link)).status_code < 400
    assert (await client.get(f"/enter?key={key}")).status_code < 400
