"""A model on loopback that speaks three protocols and misbehaves on command.

The three: OpenAI chat completions (`POST /v1/chat/completions`), Anthropic messages
(`POST /v1/messages`) and OpenAI embeddings (`POST /v1/embeddings`); the first two also as streams.
It is no model: it answers as scripted, or with the smallest JSON that fits the schema it was
shown. Standard library only; nothing leaves the machine.

    with LlmServer() as server:
        server.answer("peanuts", {"allergy": "peanuts"})
        server.misbehave(Fault.RATE_LIMIT, times=2, retry_after=0.1)
        ...  # point model.base_url at server.url
        assert len(server.requests) == 3
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from dualgate.errors import InvalidInputError
from dualgate.testing.fakes import HashEmbedder
from dualgate.testing.llm_speech import (
    Asked,
    Fault,
    Planned,
    anthropic_events,
    anthropic_tree,
    openai_events,
    openai_tree,
    sample,
    speech_of,
    usage_of,
)

Script = Callable[[Asked], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """What kind of endpoint it is.

    forms: the response formats it takes, others are refused with 400. obeys: False takes a
    json_schema and ignores it, as some clouds do. key: asked for in every request. models: the
    names it knows; None knows all. token_field: the only field for the limit that it takes. dim:
    size of vectors. longest: the most characters it embeds, else it fails with `longest_status`.
    counts_tokens: whether answers say what they cost.
    """

    forms: tuple[str, ...] = ("json_schema", "json_object", "plain")
    obeys: bool = True
    key: str | None = None
    models: tuple[str, ...] | None = None
    token_field: str | None = None
    dim: int = 64
    longest: int | None = None
    longest_status: int = 500
    counts_tokens: bool = True


class LlmServer:
    """The server; a context manager, or `start` and `stop`.

    script: returns the JSON value to answer with; text is sent as it stands.
    """

    def __init__(self, script: Script | None = None, manners: Manners | None = None) -> None:
        self.manners = manners or Manners()
        self.embedder = HashEmbedder(self.manners.dim)
        self.requests: list[Asked] = []
        self._script = script
        self._answers: list[tuple[str, object]] = []
        self._planned: deque[Planned] = deque()
        self._always: Planned | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._http: ThreadingHTTPServer | None = None

    # --- life

    @property
    def url(self) -> str:
        """The base url of the OpenAI protocols, and of Anthropic's."""
        if self._http is None:
            raise InvalidInputError("server", "must be started first")
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def start(self, port: int = 0) -> Self:
        """Listen on loopback; port 0 is any free one."""
        self._stopped.clear()
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler_of(self))
        self._http.daemon_threads = True
        thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        thread.start()
        return self

    def stop(self) -> None:
        """Let go of whatever hangs, and of the port."""
        self._stopped.set()
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # --- orders

    def answer(self, text: str, value: object) -> None:
        """Answer with this JSON value (or text) whenever the user's message holds `text`.

        The latest order wins.
        """
        with self._lock:
            self._answers.insert(0, (text, value))

    def misbehave(self, fault: Fault | str, *, times: int | None = 1, **options: Any) -> None:
        """Do this wrong in the next `times` requests, after what was ordered before.

        times None: from now on, whenever nothing else is ordered. Options: see Fault.
        """
        planned = Planned(Fault(fault), options)
        with self._lock:
            if times is None:
                self._always = planned
            else:
                self._planned.extend([planned] * times)

    def behave(self) -> None:
        """Forget all orders to misbehave."""
        with self._lock:
            self._planned.clear()
            self._always = None

    def asked(self, protocol: str) -> list[Asked]:
        """Return the requests of one protocol, oldest first."""
        with self._lock:
            return [one for one in self.requests if one.protocol == protocol]

    # --- inside

    def _hear(self, asked: Asked) -> None:
        with self._lock:
            self.requests.append(asked)

    def _next_fault(self) -> Planned | None:
        with self._lock:
            return self._planned.popleft() if self._planned else self._always

    def _value_for(self, asked: Asked) -> object:
        with self._lock:
            answers = list(self._answers)
        for text, value in answers:
            if text in asked.text:
                return value
        if self._script is not None:
            return self._script(asked)
        return sample(asked.schema or {})


# --- HTTP

_PROTOCOLS = {
    "/v1/chat/completions": "openai",
    "/v1/messages": "anthropic",
    "/v1/embeddings": "embeddings",
}


class _RefusedError(Exception):
    """A request that is answered with a fault."""

    def __init__(
        self, status: int, message: str, code: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.tree = {"error": {"message": message, "type": code or "error", "code": code}}
        self.headers = headers or {}
        super().__init__(message)


def _handler_of(server: LlmServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        of = server

    return Handler


class _Handler(BaseHTTPRequestHandler):
    of: LlmServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Stay silent: what came is in `requests`."""

    def do_POST(self) -> None:
        """Answer one request."""
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        try:
            protocol = self._protocol()
            headers = {name.lower(): text for name, text in self.headers.items()}
            asked = Asked(protocol=protocol, body=json.loads(body), headers=headers)
            self.of._hear(asked)  # noqa: SLF001 - of the server in this file
            self._check(asked)
            planned = self.of._next_fault()  # noqa: SLF001
            self._misbehave(planned)
            self._answer(asked, planned)
        except _RefusedError as refused:
            self._send(refused.status, json.dumps(refused.tree).encode(), refused.headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client had waited long enough

    def _protocol(self) -> str:
        if self.path not in _PROTOCOLS:
            raise _RefusedError(404, f"no such path: {self.path}", "not_found")
        return _PROTOCOLS[self.path]

    def _check(self, asked: Asked) -> None:
        server = self.of.manners
        given = asked.headers.get("x-api-key") or asked.headers.get("authorization", "")
        if server.key is not None and given.removeprefix("Bearer ") != server.key:
            raise _RefusedError(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if server.models is not None and asked.body.get("model") not in server.models:
            raise _RefusedError(404, f"no model {asked.body.get('model')!r}", "model_not_found")
        if asked.protocol == "embeddings":
            return
        if asked.form not in server.forms:
            raise _RefusedError(400, f"response_format {asked.form} is not supported here")
        if asked.form == "json_object" and "json" not in (asked.system + asked.text).lower():
            raise _RefusedError(400, "messages must contain the word 'json' for json_object")
        limits = {"max_tokens", "max_completion_tokens"} & asked.body.keys()
        if server.token_field and asked.protocol == "openai" and limits != {server.token_field}:
            raise _RefusedError(400, f"Unsupported parameter: use '{server.token_field}' instead")

    def _misbehave(self, planned: Planned | None) -> None:
        options = planned.options if planned else {}
        match planned and planned.fault:
            case Fault.RATE_LIMIT:
                wait = options.get("retry_after", 0.05)
                headers = {} if wait is None else {"Retry-After": str(wait)}
                raise _RefusedError(429, "too many requests", "rate_limit_exceeded", headers)
            case Fault.FAIL:
                status = int(options.get("status", 500))
                raise _RefusedError(status, str(options.get("message", "something broke")))
            case Fault.HANG:
                self.of._stopped.wait(float(options.get("seconds", 600)))  # noqa: SLF001

    def _answer(self, asked: Asked, planned: Planned | None) -> None:
        cut = planned is not None and planned.fault is Fault.CUT
        if asked.protocol == "embeddings":
            tree = self._embeddings(asked, planned)
            self._send(200, json.dumps(tree).encode(), cut=cut)
            return
        value, manners = self.of._value_for(asked), self.of.manners  # noqa: SLF001
        speech = speech_of(value, asked, planned, obeys=manners.obeys)
        usage = usage_of(asked, speech) if manners.counts_tokens else {}
        openai = asked.protocol == "openai"
        if asked.body.get("stream"):
            events = (openai_events if openai else anthropic_events)(asked, speech, usage)
            self._send_events(list(events), cut=cut)
        else:
            tree = (openai_tree if openai else anthropic_tree)(asked, speech, usage)
            self._send(200, json.dumps(tree).encode(), cut=cut)

    def _embeddings(self, asked: Asked, planned: Planned | None) -> dict[str, Any]:
        given = asked.body.get("input", [])
        texts = [given] if isinstance(given, str) else list(given)
        server = self.of.manners
        if server.longest is not None and any(len(text) > server.longest for text in texts):
            raise _RefusedError(server.longest_status, "the input is too large to process")
        vectors = asyncio.run(self.of.embedder.embed(texts)).tolist()
        rows = [
            {"object": "embedding", "index": place, "embedding": vector}
            for place, vector in enumerate(vectors)
        ]
        match planned and planned.fault:
            case Fault.EMPTY:
                rows = rows[:-1]
            case Fault.WRONG_TYPES:
                rows = [{**row, "embedding": ["high"]} for row in rows]
            case Fault.ECHO:
                rows = rows[::-1]  # in another order, which `index` tells
        usage = {"prompt_tokens": sum(len(text) for text in texts) // 4 + 1}
        return {"object": "list", "model": asked.body.get("model"), "data": rows, "usage": usage}

    def _send(
        self,
        status: int,
        body: bytes,
        headers: Mapping[str, str] | None = None,
        *,
        cut: bool = False,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut

    def _send_events(self, events: Sequence[str], *, cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")  # the end of the stream is the end of the line
        self.end_headers()
        for event in events[: len(events) // 2] if cut else events:
            self.wfile.write(event.encode())
            self.wfile.flush()
        self.close_connection = True
