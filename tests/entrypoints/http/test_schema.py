"""Whatever is sent, the API answers as its description says, and never with a 5xx."""

from __future__ import annotations

import asyncio
import socket
import threading
from functools import cache

import hypothesis
import pytest
import schemathesis
import uvicorn
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from .conftest import TEA, serving

EXAMPLES = 8
CHECKS = [
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
]
# It streams until its listener goes; test_events.py listens to it.
ENDLESS = "/v1/events"
# It waits, for as long as it is asked to.
SLOW = {"timeout": 0.05}


@schemathesis.serializer("application/zip")
def zipped(_, value):
    """Send bytes as they are; none of them is a real archive."""
    return {"data": value if isinstance(value, bytes) else str(value).encode()}


class Running:
    """A server on a port of its own, in a thread: Schemathesis is synchronous."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._context = serving(requests_per_minute=1_000_000, wait_seconds=1.0, panel=False)
        self.server = self.run(self._context.__aenter__())
        self.known = self.run(self._something_to_find())
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(self.server.app, log_config=None, lifespan="off", ws="none")
        self._uvicorn = uvicorn.Server(config)
        self._serving = asyncio.run_coroutine_threadsafe(
            self._uvicorn.serve([listening]), self._loop
        )

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _something_to_find(self):
        said = [{"role": "user", "content": TEA}]
        done = await self.server.memory.observe("ann", "s1", said, wait=True)
        failed = await self.server.memory.observe(
            "ann", "s1", [{"role": "user", "content": "broken"}]
        )
        await self.server.memory.drain()
        key = await self.server.memory.keys.create("", name="known")
        return {
            "item_id": done.decisions[0].item_id, "job_id": failed.job_id, "key_id": key.key.id,
            "user_id": "ann", "session_id": "s1",
        }  # fmt: skip

    def close(self):
        self._uvicorn.should_exit = True
        self._serving.result(30)
        self.run(self._context.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)


@pytest.fixture(scope="module")
def running():
    made = Running()
    yield made
    made.close()


@cache
def described():
    async def document():
        async with serving(panel=False) as server:
            return server.app.openapi()

    return asyncio.run(document())


@cache
def operations():
    loaded = schemathesis.openapi.from_dict(described())
    found = [result.ok() for result in loaded.get_all_operations()]
    return {f"{each.method.upper()} {each.path}": each for each in found if each.path != ENDLESS}


def paths():
    methods = {"get", "put", "post", "delete", "patch"}
    return [
        f"{method.upper()} {path}"
        for path, item in described()["paths"].items()
        for method in item
        if method in methods and path != ENDLESS
    ]


@pytest.mark.parametrize("name", paths())
def test_an_operation_keeps_to_its_description(running, name):
    operation = operations()[name]
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    fitting, unfitting = (operation.as_strategy(generation_mode=mode) for mode in modes)

    @hypothesis.settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )  # fmt: skip
    @hypothesis.given(case=st.one_of(fitting, fitting, unfitting), known=st.booleans())
    def keeps_to_it(case, known):
        if isinstance(case.body, dict) and "timeout" in case.body:
            case.body |= SLOW
        if known:
            _name_what_is_known(case, running.known)
        response = case.call(base_url=running.address, timeout=20)
        case.validate_response(response, checks=CHECKS)

    keeps_to_it()


def _name_what_is_known(case, known):
    """Put ids of things that exist in the places of made-up ones."""
    for place in (case.path_parameters, case.query, case.body):
        if isinstance(place, dict):
            place |= {name: known[name] for name in known if name in place}
