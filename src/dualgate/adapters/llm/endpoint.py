"""One endpoint over HTTP: a request out, JSON or events back, retries and typed errors between.

Rule: knows status codes, headers and broken connections, but no protocol's fields. A key is put
into a header here and stands nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import tenacity

from dualgate.adapters.llm.faults import fault_of, status_in
from dualgate.errors import ModelError, ModelRejectedError, ModelUnavailableError
from dualgate.pipeline.endpoints import Secret, is_loopback

MOST_BYTES = 16_000_000  # of one answer: what is larger was not asked for
_LONGEST_BACKOFF = 8.0
_OK = 200
_FAULT_BYTES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an endpoint is waited for."""

    timeout_seconds: float
    attempts: int
    retry_seconds: float
    longest_wait_seconds: float


class UnreachedError(ModelUnavailableError):
    """No connection: nothing reached the model, nothing is to be paid."""


class Endpoint:
    """A base url with its key.

    key_name: where a user sets the key, for advice. header: turns the key into a header.
    transport: instead of the network, for tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: Secret | None,
        key_name: str,
        header: Callable[[str], Mapping[str, str]],
        patience: Patience,
        extra_headers: Mapping[str, str] | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._key = key
        self._key_name = key_name
        self._header = header
        self._patience = patience
        self._extra_headers = dict(extra_headers or {})
        self._transport = transport
        self._client: httpx2.AsyncClient | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def post(
        self, path: str, body: Mapping[str, Any], lost: Callable[[], None] | None = None
    ) -> Any:
        """Return the JSON that answers. Raises ModelErrors, after the retries that may help.

        lost: called for each answer that got lost on the way; somebody may have to pay for it.
        """

        async def once() -> Any:
            async with self._sent(path, body) as response:
                return _json(await _read(response, MOST_BYTES))

        return await self._patiently(once, lost)

    async def stream(
        self,
        path: str,
        body: Mapping[str, Any],
        gather: Callable[[AsyncIterator[httpx2.ServerSentEvent]], Awaitable[Any]],
        lost: Callable[[], None] | None = None,
    ) -> Any:
        """Return the JSON that `gather` puts together from events; a retry begins anew.

        A server that does not stream answers as to `post`.
        """

        async def once() -> Any:
            async with self._sent(path, body) as response:
                if "event-stream" in response.headers.get("content-type", ""):
                    return await gather(aiter(httpx2.EventSource(response)))
                return _json(await _read(response, MOST_BYTES))

        return await self._patiently(once, lost)

    async def _patiently(
        self, once: Callable[[], Awaitable[Any]], lost: Callable[[], None] | None
    ) -> Any:
        patience = self._patience
        backoff = tenacity.wait_exponential_jitter(
            multiplier=patience.retry_seconds,
            max=max(_LONGEST_BACKOFF, patience.retry_seconds),
            jitter=patience.retry_seconds / 2,
        )

        def wait(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.retry_after if isinstance(error, ModelUnavailableError) else None
            return backoff(state) if asked is None else asked

        # Not stamina: it reports each retry to whatever structlog is, by default the standard
        # output; switching that off would switch it off for the host, too.
        async for attempt in tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(patience.attempts),
            retry=tenacity.retry_if_exception(self._may_pass),
            wait=wait,
            reraise=True,
        ):
            with attempt:
                try:
                    tree = await once()
                except ModelUnavailableError as error:
                    if lost and error.status is None and not isinstance(error, UnreachedError):
                        lost()
                    raise
                self._refuse_fault(tree)
                return tree
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    def _refuse_fault(self, tree: Any) -> None:
        """Gateways send faults with a good status, and inside of streams."""
        if isinstance(tree, dict) and (tree.get("error") or tree.get("type") == "error"):
            text = json.dumps(tree)
            raise fault_of(status_in(tree), {}, text, key=self._key, key_name=self._key_name)

    def _may_pass(self, error: BaseException) -> bool:
        if not isinstance(error, ModelUnavailableError):
            return False
        # Whoever asked has something better to do than to wait for longer than that.
        return (error.retry_after or 0.0) <= self._patience.longest_wait_seconds

    @asynccontextmanager
    async def _sent(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[httpx2.Response]:
        headers = {} if self._key is None else dict(self._header(self._key.reveal()))
        url = f"{self.base_url}{path}"
        try:
            async with self._http().stream("POST", url, json=body, headers=headers) as response:
                if response.status_code != _OK:
                    text = (await _read(response, _FAULT_BYTES)).decode("utf-8", "replace")
                    raise fault_of(
                        response.status_code, response.headers, text,
                        key=self._key, key_name=self._key_name,
                    )  # fmt: skip
                yield response
        except httpx2.HTTPError as error:
            raise self._broken(error) from error
        except httpx2.InvalidURL as error:
            raise ModelRejectedError("base_url is no url", "Check base_url") from error

    def _broken(self, error: httpx2.HTTPError) -> ModelError:
        where = self.base_url
        match error:
            case httpx2.ConnectTimeout() | httpx2.ConnectError():
                problem = f"no connection to {where} ({_kind(error)})"
                return UnreachedError(problem, "Is the server running, the address right")
            case httpx2.TimeoutException():
                seconds = self._patience.timeout_seconds
                return ModelUnavailableError(
                    f"{where} said nothing for {seconds:g} s", "Give it more timeout_seconds"
                )
            case httpx2.UnsupportedProtocol():
                return ModelRejectedError(f"{where} is no http address", "Check base_url")
        problem = f"the connection to {where} broke ({_kind(error)})"
        return ModelUnavailableError(problem, "It is tried again later")

    def _http(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = httpx2.AsyncClient(
                timeout=self._patience.timeout_seconds,
                transport=self._transport,
                # A proxy of the machine is for others than the machine itself.
                trust_env=not is_loopback(self.base_url),
                headers={"user-agent": "dualgate", **self._extra_headers},
            )
        return self._client


async def _read(response: httpx2.Response, most: int) -> bytes:
    read = bytearray()
    async for chunk in response.aiter_bytes():
        read += chunk
        if len(read) > most:
            if response.status_code != _OK:
                break
            raise ModelRejectedError(
                f"the answer is larger than {most:,} bytes", "Is this the address of a model"
            )
    return bytes(read)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        if body.lstrip()[:1] == b"<":
            raise ModelRejectedError(
                "a web page answers, no model", "Check base_url; most end in /v1"
            ) from error
        raise ModelUnavailableError(
            "the answer was cut off, or is no JSON", "It is tried again later"
        ) from error


def _kind(error: Exception) -> str:
    return type(error).__name__
