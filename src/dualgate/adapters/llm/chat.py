"""ChatModel over an endpoint: the ladder of forms, the checked answer, the bill [W5].

Rule: what an endpoint promises is not believed. A step of the ladder is kept once it has given one
readable answer; until then an endpoint that refuses it, or takes it and does not keep to it, is
asked for less.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import httpx2

from dualgate.adapters.llm.dialects import (
    ANTHROPIC_VERSION,
    DIALECTS,
    Dialect,
    Ending,
    Reply,
    Wish,
    schema_text,
)
from dualgate.adapters.llm.endpoint import Endpoint, Patience
from dualgate.adapters.llm.reading import NotReadableError, Readable, read_answer
from dualgate.domain.types import Role
from dualgate.errors import (
    InvalidInputError,
    ModelError,
    ModelRefusedError,
    ModelRejectedError,
    ModelUnavailableError,
    UnreadableAnswerError,
)
from dualgate.pipeline.endpoints import Answers, ModelSettings
from dualgate.pipeline.ports import AnswerForm, ChatAnswer, ModelTask, ModelUsage, Said

T = TypeVar("T")

# What an endpoint says to a response_format it does not know.
_NOT_TAKEN = frozenset({400, 415, 422, 501})
_TOKEN_FIELDS = ("max_tokens", "max_completion_tokens")
_MESSAGE_TOKENS = 4  # what a message costs besides its words


class EndpointModel:
    """A model behind an OpenAI-compatible or an Anthropic endpoint. Safe to use from many tasks.

    settings: with a base_url and a name. count: counts tokens where the endpoint does not.
    transport: instead of the network, for tests.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        count: Callable[[str], int],
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        if settings.base_url is None or not settings.name:
            raise InvalidInputError("settings", "must have model.base_url and model.name")
        self._settings = settings
        self._count = count
        self._dialect: Dialect = DIALECTS[settings.protocol]
        self._endpoint = Endpoint(
            settings.base_url,
            key=settings.key,
            key_name=settings.key_env or "DUALGATE_MODEL__KEY",
            header=self._dialect.header,
            extra_headers=_version_of(settings),
            patience=Patience(
                timeout_seconds=settings.timeout_seconds,
                attempts=settings.attempts,
                retry_seconds=settings.retry_seconds,
                longest_wait_seconds=settings.longest_wait_seconds,
            ),
            transport=transport,
        )
        self._kept: dict[str, Answers] = {}  # by model name
        self._token_fields: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"EndpointModel({self._settings.base_url!r}, {self._settings.name!r})"

    def name_for(self, task: ModelTask) -> str:
        """Return the name of the model that works on this task."""
        return self._settings.name_for(task)

    def answers_of(self, name: str) -> Answers | None:
        """Return the step of the ladder that this model has kept to; None before an answer."""
        return self._kept.get(name)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def complete(
        self,
        messages: Sequence[Said],
        form: AnswerForm[T],
        *,
        task: ModelTask,
        output_tokens: int | None = None,
    ) -> ChatAnswer[T]:
        """Return one answer in the form asked for; see ports.ChatModel."""
        name = self.name_for(task)
        wish = Wish(
            model=name,
            messages=tuple(messages),
            form=form,
            answers=self._first_step(name),
            output_tokens=output_tokens or self._settings.output_tokens,
            token_field=self._token_fields.get(name, _TOKEN_FIELDS[0]),
            stream=self._settings.stream,
        )
        began = time.monotonic()
        bill = _Bill(self._count)
        try:
            async with asyncio.timeout(self._settings.deadline_seconds):
                read, reply = await self._down_the_ladder(wish, bill)
        except TimeoutError:
            bill.add(wish, None)
            seconds = self._settings.deadline_seconds
            raise ModelUnavailableError(
                f"no answer within {seconds:g} s, all retries included",
                "Give it more model.deadline_seconds, or choose a quicker model",
                usage=bill.usage,
            ) from None
        except ModelError as error:
            error.usage = bill.usage
            raise
        return ChatAnswer(
            value=read.value,
            raw=read.text,
            usage=bill.usage,
            model=reply.model or name,
            seconds=time.monotonic() - began,
        )

    async def _down_the_ladder(self, wish: Wish, bill: _Bill) -> tuple[Readable[Any], Reply]:
        """Ask for the surest form first, and for less where the endpoint does not keep to it."""
        while True:
            try:
                reply = await self._ask(wish, bill)
                read = _read(reply, wish)
            except ModelRejectedError as error:
                other = self._other_token_field(wish, error)
                if other is not None:
                    wish = replace(wish, token_field=other)
                    continue
                lower = self._lower(wish) if error.status in _NOT_TAKEN else None
                if lower is None:
                    raise
                wish = replace(wish, answers=lower)
            except _CutShortError:
                raise
            except UnreadableAnswerError:
                lower = self._lower(wish)
                if lower is None:
                    raise
                wish = replace(wish, answers=lower)
            else:
                self._kept[wish.model] = wish.answers
                self._token_fields[wish.model] = wish.token_field
                return read, reply

    async def _ask(self, wish: Wish, bill: _Bill) -> Reply:
        dialect, endpoint = self._dialect, self._endpoint
        path = dialect.path(endpoint.base_url)
        body = {**dialect.body(wish), **self._settings.body}

        def lost() -> None:
            bill.add(wish, None)

        if wish.stream:
            tree = await endpoint.stream(path, body, dialect.gather, lost)
        else:
            tree = await endpoint.post(path, body, lost)
        reply = dialect.read(tree) if isinstance(tree, dict) else None
        if reply is None:
            raise ModelRejectedError(
                f"what answers does not speak the protocol {self._settings.protocol}",
                "Check model.protocol and model.base_url",
            )
        bill.add(wish, reply)
        if reply.ending is Ending.FILTERED:
            raise ModelRefusedError(
                "the model does not answer this text (content filter, or it refuses)",
                "Asking again does not help",
            )
        return reply

    def _first_step(self, name: str) -> Answers:
        wanted = self._settings.answers
        if wanted is Answers.AUTO:
            return self._kept.get(name, self._dialect.ladder[0])
        # Anthropic's protocol has no json_object: the next step down keeps to the same prompt.
        return wanted if wanted in self._dialect.ladder else Answers.PLAIN

    def _lower(self, wish: Wish) -> Answers | None:
        """Return the next step down, None if this one is declared, proven or the last."""
        if self._settings.answers is not Answers.AUTO or wish.model in self._kept:
            return None
        ladder = self._dialect.ladder
        place = ladder.index(wish.answers) + 1
        return ladder[place] if place < len(ladder) else None

    def _other_token_field(self, wish: Wish, error: ModelRejectedError) -> str | None:
        """Return the field in which this model wants its limit: OpenAI renamed it."""
        old, new = _TOKEN_FIELDS
        wanted = wish.token_field == old and new in str(error)
        return new if wanted and self._settings.protocol == "openai" else None


class _CutShortError(UnreadableAnswerError):
    """There was no room for the answer: no other form would help."""


class _Bill:
    """What the calls of one answer cost."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self.usage = ModelUsage()

    def add(self, wish: Wish, reply: Reply | None) -> None:
        """Add a call; None if its reply was lost. What the endpoint does not count, is counted."""
        given = None if reply is None else reply.input_tokens
        taken = None if reply is None else reply.output_tokens
        if given is None:
            given = sum(self._count(said.content) + _MESSAGE_TOKENS for said in wish.messages)
        if taken is None:
            taken = 0 if reply is None else self._count(reply.text) + self._count(reply.thoughts)
        told = reply is not None and None not in (reply.input_tokens, reply.output_tokens)
        self.usage += ModelUsage(
            calls=1, input_tokens=given, output_tokens=taken, estimated=not told
        )


def _read(reply: Reply, wish: Wish) -> Readable[Any]:
    """Return the value in a reply; where the content is empty, in what was thought aloud."""
    shown = [said.content for said in wish.messages if said.role is not Role.ASSISTANT]
    shown.append(schema_text(wish.form))
    cut = reply.ending is Ending.CUT
    try:
        return read_answer(reply.text if reply.text.strip() else reply.thoughts, wish.form, shown)
    except NotReadableError as error:
        raw = reply.text or reply.thoughts
        if cut:
            where = "while it still thought" if not reply.text.strip() else "in the middle"
            raise _CutShortError(
                f"the answer was cut off {where}, after {wish.output_tokens} tokens",
                raw,
                "Give it more model.output_tokens, or turn its reasoning off with model.body",
            ) from None
        raise UnreadableAnswerError(str(error), raw) from None


def _version_of(settings: ModelSettings) -> dict[str, str]:
    named = {"anthropic-version": ANTHROPIC_VERSION}
    return named if settings.protocol == "anthropic" else {}
