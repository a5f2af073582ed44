"""OpenTelemetry traces, where the setting `server.traces` asks for them; needs the extra `otel`.

Spans name the route and the status. The query of an address may name a user or quote him, so it
is taken out. Where spans go to is said by OpenTelemetry's own variables, such as
OTEL_EXPORTER_OTLP_ENDPOINT.
"""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from typing import Any

from fastapi.telemetry import TelemetryConfig

from dualgate.errors import SettingsError


def telemetry(*, traces: bool, exporter: Any = None) -> TelemetryConfig:
    """Return what FastAPI is told about telemetry. exporter: another one than OTLP over HTTP."""
    silent: TelemetryConfig = {"metrics": False, "logs": False, "operation_spans": False,
                               "auto_configure": False}  # fmt: skip
    if not traces:
        return {"tracing": False, **silent}
    if find_spec("opentelemetry.sdk") is None:
        raise SettingsError(["server.traces needs the extra otel: pip install 'dualgate[otel]'"])
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    class WithoutQuery(SpanProcessor):
        """Takes the query out of every span before it is exported."""

        def on_start(self, span: Any, parent_context: Any = None) -> None:  # noqa: ARG002
            span.set_attribute("url.query", "")

    if exporter is None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        exporter = OTLPSpanExporter()
    named = {"service.name": "dualgate", "service.version": metadata.version("dualgate")}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(WithoutQuery())
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return {"tracing": True, "tracer_provider": provider, **silent}
