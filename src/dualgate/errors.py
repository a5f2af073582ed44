"""Every error dualgate raises on purpose, in one tree.

    DualgateError
    ├── InvalidInputError          an argument is wrong; names the argument and the rule
    │   └── SettingsError          the settings contradict each other; lists every problem
    ├── NotFoundError              no such item, pending override or job for this user
    ├── IllegalMoveError           the state machine has no such move [S1]
    ├── ConfirmationRequiredError  forgetting a frozen item asks once more [F6]
    ├── ExtractionError            an extractor's answer could not be read [W5]
    ├── ModelError                 a model endpoint did not give an answer; carries the usage
    │   ├── ModelUnavailableError  outage, timeout, rate limit, cut stream: later it may work
    │   │   └── ModelBudgetError   the day's tokens are used up: tomorrow it works
    │   ├── ModelRejectedError     the endpoint refuses such requests: key, name, address, schema
    │   ├── ModelRefusedError      the model will not answer this text (content filter)
    │   └── UnreadableAnswerError  it answered, but not in the form asked for; carries `raw`
    ├── StoreError                 the database failed; carries what to do
    │   ├── StoreUnavailableError  disk full, file locked or not writable: later it may work
    │   ├── NewerSchemaError       the file was written by a newer dualgate [T4]
    │   └── LeaseLostError         another worker took this user over; nothing was applied
    ├── JobFailedError             a job was parked after its last attempt; carries the real error
    └── QueueFullError             backpressure: come back after `retry_after` seconds [W1]

Exceptions carry data; their text is derived from it.
"""

from __future__ import annotations

from collections.abc import Sequence


class DualgateError(Exception):
    """Base of everything dualgate raises on purpose."""


class InvalidInputError(DualgateError):
    """An argument breaks a rule; nothing was stored."""

    def __init__(self, argument: str, rule: str, given: object = None) -> None:
        self.argument = argument
        self.rule = rule
        shown = "" if given is None else f" (given: {_short(given)})"
        super().__init__(f"{argument}: {rule}{shown}")


class SettingsError(InvalidInputError):
    """The settings contradict each other; `problems` lists all of them at once."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("settings", "; ".join(self.problems))


class NotFoundError(DualgateError):
    """This user has no such thing."""

    def __init__(self, kind: str, identifier: str) -> None:
        self.kind = kind
        self.identifier = identifier
        super().__init__(f"no {kind} {_short(identifier)} for this user")


class IllegalMoveError(DualgateError):
    """The state machine has no such move [S1]."""

    def __init__(self, status: str, cause: str) -> None:
        self.status = status
        self.cause = cause
        super().__init__(f"an item that is {status} cannot move by {cause}")


class ConfirmationRequiredError(DualgateError):
    """Forgetting a frozen item asks once more: call again with confirm=True [F6]."""

    def __init__(self, item_id: str) -> None:
        self.item_id = item_id
        super().__init__(f"item {item_id} is frozen; call again with confirm=True to forget it")


class ExtractionError(DualgateError):
    """An extractor's answer could not be read; `raw` is what it said."""

    def __init__(self, problem: str, raw: str = "") -> None:
        self.problem = problem
        self.raw = raw
        super().__init__(problem)


class ModelError(DualgateError):
    """A model endpoint did not give an answer.

    advice says what to do. usage: what was spent all the same (`ports.ModelUsage`), None if
    nothing reached the model.
    """

    def __init__(self, problem: str, advice: str = "", *, usage: object = None) -> None:
        self.problem = problem
        self.advice = advice
        self.usage = usage
        super().__init__(f"{problem}. {advice}".rstrip(". ") + ".")


class ModelUnavailableError(ModelError):
    """The endpoint does not answer now: outage, timeout, rate limit, cut stream.

    retry_after: seconds the endpoint asked to wait, None if it did not say. status: the HTTP
    status, None if it came to no answer.
    """

    def __init__(
        self,
        problem: str,
        advice: str = "",
        *,
        usage: object = None,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        self.retry_after = retry_after
        self.status = status
        super().__init__(problem, advice, usage=usage)


class ModelBudgetError(ModelUnavailableError):
    """The day's tokens are used up; nothing was asked. scope: "user" or "total"."""

    def __init__(self, scope: str, spent: int, budget: int, retry_after: float) -> None:
        self.scope = scope
        self.spent = spent
        self.budget = budget
        whose = "this user's" if scope == "user" else "the"
        super().__init__(
            f"{whose} model budget of today is used up: {spent} of {budget} tokens",
            "It begins anew at midnight UTC",
            retry_after=retry_after,
        )


class ModelRejectedError(ModelError):
    """The endpoint refuses such requests, and will again: key, name, address, schema, quota.

    status is the HTTP status, None if it came to no answer.
    """

    def __init__(
        self, problem: str, advice: str = "", *, usage: object = None, status: int | None = None
    ) -> None:
        self.status = status
        super().__init__(problem, advice, usage=usage)


class ModelRefusedError(ModelError):
    """The model will not answer this text: a content filter, or it said no."""


class UnreadableAnswerError(ModelError):
    """The model answered, but not in the form asked for; `raw` is what it said."""

    def __init__(
        self, problem: str, raw: str = "", advice: str = "", *, usage: object = None
    ) -> None:
        self.raw = raw
        super().__init__(problem, advice, usage=usage)


class StoreError(DualgateError):
    """The database failed. `advice` says what to do."""

    def __init__(self, problem: str, advice: str = "") -> None:
        self.problem = problem
        self.advice = advice
        super().__init__(f"{problem}. {advice}".rstrip(". ") + ".")


class StoreUnavailableError(StoreError):
    """The database cannot be used now: disk full, file locked or not writable. Later it may work.

    Nothing of the unit was stored. No job is parked for it [W1].
    """


class NewerSchemaError(StoreError):
    """The database was written by a newer dualgate [T4]."""

    def __init__(self, found: str, known: str) -> None:
        self.found = found
        self.known = known
        super().__init__(
            f"the database has schema {found}, this dualgate knows up to {known}",
            "Upgrade dualgate, or open another database",
        )


class LeaseLostError(StoreError):
    """Another worker took this user over; nothing of this unit was applied."""

    def __init__(self, user_id: str) -> None:
        super().__init__("the lease on this user has passed to another worker", "It is retried")
        self.user_id = user_id


class JobFailedError(DualgateError):
    """A job was parked after its last attempt. Its turns are kept; it can be revived."""

    def __init__(self, job_id: str, error: str) -> None:
        self.job_id = job_id
        self.error = error
        super().__init__(f"job {job_id} failed for good: {error}")


class QueueFullError(DualgateError):
    """Backpressure: the queue holds too much; come back after `retry_after` seconds [W1]."""

    def __init__(self, scope: str, depth: int, limit: int, retry_after: float = 1.0) -> None:
        self.scope = scope
        self.depth = depth
        self.limit = limit
        self.retry_after = retry_after
        super().__init__(
            f"the {scope} queue holds {depth} of {limit} jobs; retry after {retry_after:g} s"
        )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004
