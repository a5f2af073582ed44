"""Traces tell where time went, and nothing of what was asked."""

from __future__ import annotations

import httpx2
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dualgate import Memory, Settings
from dualgate.config import ServerSettings
from dualgate.entrypoints.http import app as factory
from dualgate.entrypoints.http.traces import telemetry


async def test_a_span_names_the_route_and_holds_no_query(monkeypatch):
    kept = InMemorySpanExporter()
    told = telemetry(traces=True, exporter=kept)
    monkeypatch.setattr(factory, "telemetry", lambda *, traces: told if traces else {})
    settings = Settings(server=ServerSettings(keyless=True, traces=True, panel=False))
    async with Memory.open("memory://", settings=settings) as memory:
        app = factory.create_app(memory, settings)
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1"
        ) as client:
            await client.get("/v1/why", params={"user_id": "ann-private", "text": "peanuts"})
    told["tracer_provider"].force_flush()
    (span,) = kept.get_finished_spans()

    assert "/v1/why" in span.name
    assert span.attributes["http.response.status_code"] == 200
    assert "ann-private" not in str(dict(span.attributes))
    assert "peanuts" not in str(dict(span.attributes))


def test_without_the_setting_nothing_is_traced():
    assert telemetry(traces=False)["tracing"] is False
