"""Who reads a turn: the model where there is one, the local extractor in its place [W5].

    turns → worth a model's time? → one question for several turns → readings
                                  ↘ no answer: the local extractor, and again later

Rule: every turn ends in a Reading or in an error; "nothing in it" is said only by someone who has
read it. Nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, Protocol

from dualgate.domain.items import Candidate
from dualgate.domain.types import Source
from dualgate.errors import (
    ExtractionError,
    ModelBudgetError,
    ModelError,
    ModelRefusedError,
    ModelRejectedError,
    ModelUnavailableError,
)
from dualgate.pipeline.ports import Clock, Extractor, ModelTask, Turn
from dualgate.pipeline.spending import Purse


class HostTrust(StrEnum):
    """What makes a host's candidate count [W5]."""

    WORDS = "words"  # a quote that stands in what the user said in that session
    FULL = "full"  # the host's word


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionPolicy:
    """Who reads turns, how many at once, and what happens when the model does not answer."""

    fallback: Literal["local", "wait"] = "local"
    prefilter: bool = True  # turns in which the local extractor sees nothing at all are spared
    prefilter_at: float = 0.003  # docs/results/prefilter.md shows other values
    debounce_seconds: float = 2.0  # turns of one user that come within it are read together
    batch_turns: int = 8
    batch_characters: int = 8_000
    part_characters: int = 4_000  # a longer turn is cut at its sentences
    repairs: int = 2  # how often an unreadable answer is asked for again
    rest_seconds: float = 15.0  # after an outage the model is not asked for so long
    host_trust: HostTrust = HostTrust.WORDS
    # What a configured model is asked for; what is left out stays with the local twin.
    tasks: frozenset[ModelTask] = frozenset(
        {ModelTask.EXTRACT, ModelTask.JUDGE, ModelTask.SUMMARIZE, ModelTask.AUDIT}
    )

    def problems(self) -> list[str]:
        """Return what is wrong with these numbers."""
        found = [
            f"extraction.{name} must be at least 1"
            for name in ("batch_turns", "batch_characters", "part_characters")
            if getattr(self, name) < 1
        ]
        found += [
            f"extraction.{name} must not be negative"
            for name in ("debounce_seconds", "repairs", "rest_seconds")
            if getattr(self, name) < 0
        ]
        if not 0 <= self.prefilter_at <= 1:
            found.append("extraction.prefilter_at must be between 0 and 1")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What somebody read out of a turn.

    numbers go into the decisions: who read it, and why not the model. again: the model shall read
    it once it answers again. structured: its reader has filled the slots that there are.
    """

    candidates: Sequence[Candidate]
    source: Source
    numbers: Mapping[str, str] = field(default_factory=dict)
    again: bool = False
    structured: bool = False


Read = Reading | Exception


class Reader(Protocol):
    """Reads turns, each into a Reading or into what went wrong with it, in order."""

    gathers: bool  # whether several turns at once are cheaper

    async def read(self, turns: Sequence[Turn]) -> list[Read]:
        """Read turns of one user."""
        ...

    async def read_again(self, turns: Sequence[Turn]) -> list[Read]:
        """Read turns that somebody else read in the model's place; nobody stands in now."""
        ...

    def has_recovered(self) -> bool:
        """Whether the model has answered for the first time since it did not; asked once."""
        ...


class ModelExtractor(Protocol):
    """Puts several turns into one question to a model."""

    @property
    def names(self) -> Mapping[str, str]:
        """Which model and which prompt, for the record."""
        ...

    async def extract_all(self, turns: Sequence[Turn]) -> list[Sequence[Candidate] | Exception]:
        """Return, per turn, what it states, or what went wrong with it."""
        ...


class Prefilter(Protocol):
    """A cheap look at a turn."""

    async def promise(self, turn: Turn) -> float:
        """Return how likely the turn states anything at all, 0-1."""
        ...


class SingleReader:
    """Any Extractor, one turn after the other."""

    gathers = False

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._source: Source = getattr(extractor, "source", Source.LLM)
        self._structures = bool(getattr(extractor, "structures", False))

    async def read(self, turns: Sequence[Turn]) -> list[Read]:
        """Read turns; the first error ends it."""
        return [
            Reading(
                candidates=await self._extractor.extract(turn),
                source=self._source,
                structured=self._structures,
            )
            for turn in turns
        ]

    async def read_again(self, turns: Sequence[Turn]) -> list[Read]:
        """Read turns, as ever."""
        return await self.read(turns)

    def has_recovered(self) -> bool:
        """It is never away."""
        return False


class ModelReader:
    """The model reads; where it does not answer, `stand_in` does, if there is one."""

    gathers = True

    def __init__(
        self,
        extractor: ModelExtractor,
        purse: Purse,
        clock: Clock,
        policy: ExtractionPolicy,
        *,
        stand_in: Extractor | None,
        prefilter: Prefilter | None,
    ) -> None:
        self._extractor = extractor
        self._purse = purse
        self._clock = clock
        self._policy = policy
        self._stand_in = stand_in
        self._prefilter = prefilter
        self._resting_until: datetime | None = None
        self._why_resting = ""
        # True at first: an earlier process may have left turns to be read again.
        self._was_away = True
        self._recovered = False

    async def read(self, turns: Sequence[Turn]) -> list[Read]:
        """Read turns of one user; those without a promise in them are spared the model."""
        worth = [await self._is_worth(turn) for turn in turns]
        asked = [turn for turn, is_worth in zip(turns, worth, strict=True) if is_worth]
        if turns and len(asked) < len(turns):
            skipped = len(turns) - len(asked)
            await self._purse.note(turns[0].user_id, ModelTask.EXTRACT, skipped=skipped)
        answers = iter([await self._steadied(t, a) for t, a in await self._asked(asked)])
        spared = Reading(candidates=(), source=Source.LOCAL, numbers={"read_by": "prefilter"})
        return [next(answers) if is_worth else spared for is_worth in worth]

    async def read_again(self, turns: Sequence[Turn]) -> list[Read]:
        """Read turns by the model or not at all."""
        return [answer for _, answer in await self._asked(turns)]

    def has_recovered(self) -> bool:
        """Whether the model has answered for the first time since it did not; asked once."""
        recovered, self._recovered = self._recovered, False
        return recovered

    async def _is_worth(self, turn: Turn) -> bool:
        if self._prefilter is None:
            return True
        return await self._prefilter.promise(turn) >= self._policy.prefilter_at

    async def _asked(self, turns: Sequence[Turn]) -> list[tuple[Turn, Read]]:
        if not turns:
            return []
        now = self._clock.now()
        if self._resting_until is not None and now < self._resting_until:
            wait = (self._resting_until - now).total_seconds()
            away = ModelUnavailableError(self._why_resting, retry_after=wait)
            return [(turn, away) for turn in turns]
        answers = await self._extractor.extract_all(turns)
        self._remember_health(answers)
        numbers = dict(self._extractor.names)
        return [
            (
                turn,
                answer
                if isinstance(answer, Exception)
                else Reading(candidates=answer, source=Source.LLM, numbers=numbers),
            )
            for turn, answer in zip(turns, answers, strict=True)
        ]

    def _remember_health(self, answers: Sequence[object]) -> None:
        away = [a for a in answers if isinstance(a, ModelUnavailableError)
                and not isinstance(a, ModelBudgetError)]  # fmt: skip
        if away:
            wait = max(self._policy.rest_seconds, away[0].retry_after or 0.0)
            self._resting_until = self._clock.now() + timedelta(seconds=wait)
            self._why_resting = away[0].problem
            self._was_away = True
        elif any(isinstance(a, ModelRejectedError) for a in answers):
            self._was_away = True  # somebody has to correct the settings, and may
        elif any(not isinstance(a, Exception) for a in answers):
            self._resting_until = None
            self._recovered = self._recovered or self._was_away
            self._was_away = False

    async def _steadied(self, turn: Turn, answer: Read) -> Read:
        """Return the answer, or what the stand-in reads where the model gave none."""
        because = _because(answer)
        if because is None or self._stand_in is None:
            return answer
        await self._purse.note(turn.user_id, ModelTask.EXTRACT, fell_back=1)
        model = self._purse.name_for(ModelTask.EXTRACT)
        return Reading(
            candidates=await self._stand_in.extract(turn),
            source=getattr(self._stand_in, "source", Source.LOCAL),
            numbers={"read_by": "local", "instead_of": model, "because": because},
            again=because in _PASSING,
            structured=bool(getattr(self._stand_in, "structures", False)),
        )


# A refusal will come again, and a spent budget is no promise to spend tomorrow's on yesterday.
_PASSING = frozenset({"outage", "rejected"})


def _because(answer: Read) -> str | None:
    """Return why somebody else should read the turn; None for an answer, and for one unreadable.

    What could not be read was read by nobody: it is tried again, then parked, never guessed.
    """
    match answer:
        case ModelBudgetError():
            return "budget"
        case ModelUnavailableError():
            return "outage"
        case ModelRejectedError():
            return "rejected"
        case ModelRefusedError():
            return "refused"
        case _:
            return None


def unreadable(error: ModelError) -> ExtractionError:
    """Return the error under which an unreadable answer is parked, with the raw answer."""
    return ExtractionError(f"the model's answer could not be read: {error.problem}",
                           getattr(error, "raw", ""))  # fmt: skip
