"""What all processes of a soak run share: the clock, the words, the settings, the journals."""

from __future__ import annotations

import json
import mmap
import os
import struct
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dualgate import Candidate, Settings
from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.errors import ExtractionError
from dualgate.pipeline.worker import QueuePolicy

LEASE_SECONDS = 5.0
JOURNAL_BYTES = 65_536  # of one file of a journal
# So small that all three pools are full in minutes: a bound that is never reached proves nothing.
HOT, FROZEN, ARCHIVE = 12, 3, 30
TOPICS = 6
# Nothing is purged while the run lasts, or decisions could not be counted at its end [P3].
NEVER_DAYS = 100_000.0


def settings(*, run_worker: bool = True, undo_days: float = NEVER_DAYS) -> Settings:
    """Return the settings of every process of the run."""
    return Settings(
        run_worker=run_worker,
        gates=GatePolicy(
            admission=AdmissionPolicy(capacity=HOT, floor_places=3),
            freeze=FreezePolicy(capacity=FROZEN),
            archive=ArchivePolicy(capacity=ARCHIVE, undo_days=undo_days),
        ),
        queue=QueuePolicy(
            lease_seconds=LEASE_SECONDS, poll_seconds=0.1, batch=4, backoff_seconds=0.1,
            backoff_limit_seconds=1.0,
        ),
        scrub_limit_mb=4.0,  # erasing rewrites a small file by the way; `scrub` does the rest
    )  # fmt: skip


class SharedClock:
    """The machine's time plus an offset in a file that every process has mapped."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(struct.pack("d", 0.0))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 8)

    def now(self) -> datetime:
        """Return the instant, aware, in UTC."""
        (offset,) = struct.unpack("d", self._shared[:8])
        return datetime.now(UTC) + timedelta(seconds=offset)

    def jump(self, seconds: float) -> None:
        """Move the time of every process at once."""
        (offset,) = struct.unpack("d", self._shared[:8])
        self._shared[:8] = struct.pack("d", offset + seconds)


class SoakExtractor:
    """Reads "note WORD weight W; topic K VALUE": one fact, one preference, a quote each.

    A turn with a word that begins with "poison" cannot be read, ever.
    """

    async def extract(self, turn: Any) -> tuple[Candidate, ...]:
        """Return the two candidates of a turn. Raises ExtractionError for poison."""
        text = turn.message.content
        note, topic = text.split("; ")
        _, word, _, weight = note.split()
        if word.startswith("poison"):
            raise ExtractionError(f"this turn cannot be read: {word}", text)
        value = topic.split()[-1]
        return (
            Candidate("fact", f"note {word}", attribute=f"note {word}", value=word,
                      confidence=0.9, importance=int(weight) / 10, quote=note),
            Candidate("preference", topic, attribute=topic.removesuffix(f" {value}"),
                      value=value, confidence=0.9, correction=value == "other", quote=topic),
        )  # fmt: skip


def sentence(word: str, chance: Any) -> str:
    """Return a turn that SoakExtractor reads."""
    value = "other" if chance.random() < 0.05 else "usual"
    return f"note {word} weight {chance.randint(3, 9)}; topic {chance.randrange(TOPICS)} {value}"


def word_of(token: str) -> str:
    """Return the word that a turn is about: its id may stay when its words have to go [P3].

    >>> word_of("turn-3r2x000001"), word_of("badturn-3r2x000001")
    ('n3r2x000001', 'poison3r2x000001')
    """
    kind, number = token.split("-")
    return f"{'poison' if kind == 'badturn' else 'n'}{number}"


class Journal:
    """What one worker began and what came of it: a line each, on the disk before it goes on.

    It goes on in a new file before one is large: a limit on the size of files is for the database.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._part = len(parts_of(folder, name))
        self._file, self._room = -1, 0

    def note(self, kind: str, *, durably: bool = True, **fields: Any) -> None:
        """Add a line; durably: return when it is on the disk."""
        said = json.dumps({"t": time.monotonic(), "kind": kind, **fields}, ensure_ascii=False)
        line = f"{said}\n".encode()
        if self._room < len(line):
            self._turn_over(len(line))
        self._room -= len(line)
        # One write to an appended file: whole or not at all, whatever kills the process next.
        os.write(self._file, line)
        if durably:
            os.fsync(self._file)

    def _turn_over(self, least: int) -> None:
        if self._file >= 0:
            os.close(self._file)
        path = self._folder / f"{self._name}-{self._part:06d}.jsonl"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._part, self._room = self._part + 1, max(least, JOURNAL_BYTES)


def parts_of(folder: Path, name: str = "worker") -> list[Path]:
    """Return the files of a journal, or of all, oldest first."""
    return sorted(folder.glob(f"{name}-*.jsonl"))


def unfinished(folder: Path, name: str) -> dict[str, Any] | None:
    """Return the observe that a killed worker began and never saw the end of."""
    for path in reversed(parts_of(folder, name)):
        for line in reversed(path.read_text(errors="replace").splitlines()):
            found = json.loads(line)
            if found["kind"] == "begin":
                return found if found["op"] == "observe" else None
            if found["kind"] in ("ack", "error"):
                return None
    return None
