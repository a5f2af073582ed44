"""For probes and scrapers."""

from __future__ import annotations

import pytest

from dualgate.errors import StoreError

from .conftest import serving


async def test_healthz_answers_without_a_key():
    async with serving(keyless=False) as server:
        answer = await (await server.client(peer="10.0.0.7")).get("/healthz")

        assert answer.status_code == 200
        assert answer.json()["status"] == "ok"


async def test_readyz_says_how_fresh_things_are(server, client, observed):
    before = (await client.get("/readyz")).json()
    await observed()
    await server.memory._worker.stop()  # noqa: SLF001
    await observed(wait=False, session_id="s2")
    after = (await client.get("/readyz")).json()

    assert before == {"status": "ready", "last_write_age_seconds": None,
                      "oldest_waiting_age_seconds": None, "waiting": 0, "dead": 0}  # fmt: skip
    assert 0 <= after["last_write_age_seconds"] < 30
    assert 0 <= after["oldest_waiting_age_seconds"] < 30
    assert after["waiting"] == 1


async def test_readyz_is_503_while_the_store_fails(server, client, monkeypatch):
    async def fails(*_):
        raise StoreError("the disk is gone")

    monkeypatch.setattr(server.memory, "stats", fails)
    answer = await client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["status"] == "not ready"


async def test_metrics_count_requests_decisions_and_items(client, observed):
    await observed()
    text = (await client.get("/metrics")).text
    counted = 'dualgate_http_requests_total{method="POST",route="/v1/observe",status="200"} 1.0'

    assert counted in text
    assert 'dualgate_decisions_total{outcome="admitted"} 1.0' in text
    assert 'dualgate_items{status="candidate"} 1.0' in text
    assert "dualgate_queue_waiting 0.0" in text
    assert "ann" not in text.replace("annot", "")


@pytest.mark.parametrize(("tenant", "status"), [(None, 401), ("acme", 403), ("", 200)])
async def test_metrics_are_for_this_machine_and_the_operator(server, tenant, status):
    key = None if tenant is None else await server.key(tenant)
    client = await server.client(key, peer="10.0.0.7")

    assert (await client.get("/metrics")).status_code == status
