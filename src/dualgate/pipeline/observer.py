"""Who is told what happened. Logging, metrics and the panel are observers; none can interfere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dualgate.domain.plan import Decision, Move
from dualgate.pipeline.ports import Job


class Observer(Protocol):
    """Told after the fact; what it raises would be its own fault, so it must not raise."""

    def decided(self, decision: Decision) -> None:
        """A candidate ended [W2]."""
        ...

    def moved(self, moves: Sequence[Move]) -> None:
        """Items moved by a verb or by upkeep."""
        ...

    def failed(self, job: Job, error: str, *, dead: bool) -> None:
        """A job failed; dead says whether it was parked."""
        ...

    def stumbled(self, error: str) -> None:
        """The worker itself failed, not a job: the queue or upkeep. It goes on."""
        ...


class Silent:
    """Nobody listens."""

    def decided(self, decision: Decision) -> None:
        """Ignore it."""

    def moved(self, moves: Sequence[Move]) -> None:
        """Ignore it."""

    def failed(self, job: Job, error: str, *, dead: bool) -> None:
        """Ignore it."""

    def stumbled(self, error: str) -> None:
        """Ignore it."""


class FanOut:
    """Tells several observers, in order. They may come and go."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._observers = tuple(observers)

    def add(self, observer: Observer) -> None:
        """Tell this one as well, from now on."""
        self._observers = (*self._observers, observer)

    def remove(self, observer: Observer) -> None:
        """Tell this one no more."""
        self._observers = tuple(each for each in self._observers if each is not observer)

    def decided(self, decision: Decision) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.decided(decision)

    def moved(self, moves: Sequence[Move]) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.moved(moves)

    def failed(self, job: Job, error: str, *, dead: bool) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.failed(job, error, dead=dead)

    def stumbled(self, error: str) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.stumbled(error)
