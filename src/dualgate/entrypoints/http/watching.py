"""What the operator sees: metrics, log lines, the time of the last write. Never any content."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest

from dualgate import Memory
from dualgate.domain.plan import Decision, Move
from dualgate.entrypoints.http.guard import Served
from dualgate.pipeline.ports import Job

log = structlog.get_logger("dualgate.server")
_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)


class Watching:
    """Counts and logs what one app does; also an observer of its memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.registry = CollectorRegistry()
        self.last_write_at: datetime | None = None
        own: dict[str, Any] = {"registry": self.registry, "namespace": "dualgate"}
        self._requests = Counter(
            "http_requests", "Requests answered.", ("method", "route", "status"), **own
        )
        self._seconds = Histogram(
            "http_request_seconds", "Time to answer.", ("route",), buckets=_BUCKETS, **own
        )
        self._decisions = Counter("decisions", "How candidates ended.", ("outcome",), **own)
        self._moves = Counter("moves", "Why items moved.", ("cause",), **own)
        self._failures = Counter("job_failures", "Failed attempts.", ("dead",), **own)
        self._stumbles = Counter("worker_failures", "The worker itself failed.", **own)
        self._waiting = Gauge("queue_waiting", "Jobs that wait or run, of all users.", **own)
        self._dead = Gauge("queue_dead", "Parked jobs.", **own)
        self._age = Gauge("queue_oldest_seconds", "Age of the oldest waiting job.", **own)
        self._items = Gauge("items", "Items of all users.", ("status",), **own)
        self._users = Gauge("users", "Users with any memory.", **own)
        self._bytes = Gauge("store_bytes", "Size of the database, where it is known.", **own)

    # --- the observer

    def decided(self, decision: Decision) -> None:
        """Count how a candidate ended."""
        self._wrote()
        self._decisions.labels(str(decision.outcome)).inc()

    def moved(self, moves: Sequence[Move]) -> None:
        """Count why items moved."""
        self._wrote()
        for move in moves:
            self._moves.labels(str(move.cause)).inc()

    def failed(self, job: Job, error: str, *, dead: bool) -> None:
        """Log a failed job by its id and the kind of its error; the text may quote a user."""
        self._failures.labels(str(dead).lower()).inc()
        log.warning("job_failed", job_id=job.id, dead=dead, error=error.partition(":")[0][:80])

    def stumbled(self, error: str) -> None:
        """Log that the worker itself failed."""
        self._stumbles.inc()
        log.error("worker_failed", error=error.partition(":")[0][:80])

    # --- requests

    def served(self, served: Served) -> None:
        """Count and log one request."""
        self._requests.labels(served.method, served.route, str(served.status)).inc()
        self._seconds.labels(served.route).observe(served.seconds)
        told = {
            "request_id": served.request_id,
            "method": served.method,
            "route": served.route,
            "status": served.status,
            "ms": round(served.seconds * 1000, 1),
            "key_id": served.key_id,
        }
        if served.fault is not None:
            log.error("request_failed", **told, **place_of(served.fault))
        else:
            log.info("request", **told)

    def wrote(self) -> None:
        """Note that something was written by a request."""
        self._wrote()

    async def exposition(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        stats = await self._memory.stats()
        self._waiting.set(stats.queue.waiting)
        self._dead.set(stats.queue.dead)
        oldest = stats.queue.oldest_enqueued_at
        self._age.set(0 if oldest is None else self.age_of(oldest))
        for status, count in stats.items.items():
            self._items.labels(str(status)).set(count)
        self._users.set(stats.users)
        self._bytes.set(stats.bytes or 0)
        return generate_latest(self.registry)

    def age_of(self, then: datetime) -> float:
        """Return the seconds since then."""
        return max(0.0, (self._memory.keys.now() - then).total_seconds())

    def _wrote(self) -> None:
        self.last_write_at = self._memory.keys.now()


def place_of(fault: BaseException) -> dict[str, object]:
    """Return the kind of an error and where it arose, without its text."""
    frames = traceback.extract_tb(fault.__traceback__)[-8:]
    return {
        "error": type(fault).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def configure_logs(*, level: int) -> None:
    """Let this process log JSON lines to stderr. For `dualgate serve`, which owns its process."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
