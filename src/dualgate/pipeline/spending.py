"""What models may cost, and what they have cost: a budget a day, a line for each task [W5].

Rule: whoever asks a model asks through `Purse`: it says no before a call that is over budget, and
writes down what every call cost, failed ones too. Days are UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TypeVar

from dualgate.domain.types import Role
from dualgate.errors import (
    ModelBudgetError,
    ModelError,
    ModelUnavailableError,
    UnreadableAnswerError,
)
from dualgate.pipeline.ports import (
    NOBODY,
    AnswerForm,
    ChatAnswer,
    ChatModel,
    Clock,
    ModelTask,
    ModelUsage,
    Said,
    Store,
    UsageLine,
)

T = TypeVar("T")

_TOTAL_SECONDS = 60.0  # how long this process goes by its own count of what all users spent
_SHOWN = 4_000  # characters of an unreadable answer that are shown to the model again


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPolicy:
    """Tokens a day, read and written together; None is no limit.

    The call that reaches the limit is still made. With several processes the total may be passed
    by what they spend within a minute.
    """

    user_tokens: int | None = None
    total_tokens: int | None = None

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        return [
            f"budget.{name} must be positive"
            for name in ("user_tokens", "total_tokens")
            if (given := getattr(self, name)) is not None and given < 1
        ]


class Purse:
    """Pays for every question to a model. Uses the machine's clock: budgets are real days."""

    def __init__(
        self, model: ChatModel, store: Store, clock: Clock, policy: BudgetPolicy
    ) -> None:
        self._model = model
        self._store = store
        self._clock = clock
        self._policy = policy
        self._total = 0
        self._total_day: date | None = None
        self._total_at: datetime | None = None

    def name_for(self, task: ModelTask) -> str:
        """Return the name of the model that works on this task."""
        return self._model.name_for(task)

    async def ask(
        self,
        user_id: str | None,
        messages: Sequence[Said],
        form: AnswerForm[T],
        *,
        task: ModelTask,
        repairs: int = 0,
        turns: int = 0,
    ) -> ChatAnswer[T]:
        """Return a readable answer; an unreadable one is shown to the model with what is wrong.

        repairs: how often it may try again. turns: turns it reads, for the record. Raises
        ModelBudgetError before anything is asked, the last UnreadableAnswerError, or whatever
        the model raises. An answer with nothing in it counts as no answer: ModelUnavailableError.
        """
        said = list(messages)
        for tries_left in range(repairs, -1, -1):
            await self._require_budget(user_id)
            try:
                answer = await self._model.complete(said, form, task=task)
            except UnreadableAnswerError as error:
                await self._note(user_id, task, error.usage)
                if tries_left:
                    said = [*messages, *_complaint(error)]
                    continue
                if not error.raw.strip():
                    problem = "the model answers with nothing"
                    raise ModelUnavailableError(problem, "It is tried again later") from error
                raise
            except ModelError as error:
                await self._note(user_id, task, error.usage)
                raise
            await self._note(user_id, task, answer.usage, turns=turns)
            return answer
        raise AssertionError(form.name)  # pragma: no cover - the loop returns or raises

    async def note(
        self, user_id: str | None, task: ModelTask, *, skipped: int = 0, fell_back: int = 0
    ) -> None:
        """Write down turns that the model was spared, or did not read."""
        if skipped or fell_back:
            line = self._line(user_id, task)
            await self._store.add_usage([replace(line, skipped=skipped, fell_back=fell_back)])

    async def _note(
        self, user_id: str | None, task: ModelTask, usage: object, turns: int = 0
    ) -> None:
        if not isinstance(usage, ModelUsage):
            return
        line = replace(self._line(user_id, task), usage=usage, turns=turns)
        await self._store.add_usage([line])
        self._total += usage.input_tokens + usage.output_tokens

    def _line(self, user_id: str | None, task: ModelTask) -> UsageLine:
        return UsageLine(
            user_id=user_id or NOBODY, day=self._clock.now().date(), task=task,
            model=self.name_for(task),
        )  # fmt: skip

    async def _require_budget(self, user_id: str | None) -> None:
        now, policy = self._clock.now(), self._policy
        if policy.user_tokens is not None and user_id is not None:
            spent = tokens(await self._store.usage(user_id, now.date()))
            self._require("user", spent, policy.user_tokens, now)
        if policy.total_tokens is not None:
            self._require("total", await self._spent_by_all(now), policy.total_tokens, now)

    async def _spent_by_all(self, now: datetime) -> int:
        """Return what all users spent today; counted anew once a minute, not at each call."""
        old = self._total_at is None or abs(now - self._total_at) > timedelta(
            seconds=_TOTAL_SECONDS
        )
        if old or self._total_day != now.date():
            self._total = tokens(await self._store.usage(None, now.date()))
            self._total_day, self._total_at = now.date(), now
        return self._total

    def _require(self, scope: str, spent: int, budget: int, now: datetime) -> None:
        if spent >= budget:
            midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
            raise ModelBudgetError(scope, spent, budget, (midnight - now).total_seconds())


def tokens(lines: Sequence[UsageLine]) -> int:
    """Return the tokens of some lines, read and written together."""
    return sum(line.usage.input_tokens + line.usage.output_tokens for line in lines)


def _complaint(error: UnreadableAnswerError) -> list[Said]:
    raw = error.raw if error.raw.strip() else "(nothing)"
    return [
        Said(Role.ASSISTANT, raw[:_SHOWN]),
        Said(
            Role.USER,
            f"This answer could not be read: {error.problem}. Answer again, with nothing but one"
            " JSON object in the form asked for.",
        ),
    ]
