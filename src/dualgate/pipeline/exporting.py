"""Everything of one user as files that outlive us, and back again without loss [P3].

An archive is a set of named files: one JSON Lines file for each kind, `user.json`, `memory.md` to
read, and `manifest.json` with the size and SHA-256 of each. Reading one checks all of it before
anything is written. The checksums find damage and careless edits; whoever edits an archive on
purpose can make new ones, so it is checked as well that the log leads to each item's status [S1].
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Protocol, Union, get_args, get_origin, get_type_hints

from dualgate.domain.audit import Finding
from dualgate.domain.erasure import ErasureKind, item_mark
from dualgate.domain.items import MemoryItem
from dualgate.domain.plan import Decision, Move, Note, Pending
from dualgate.domain.policy import GatePolicy
from dualgate.domain.signals import Signal
from dualgate.domain.status import replay
from dualgate.domain.upkeep import fitted
from dualgate.domain.view import OwnTime
from dualgate.errors import DualgateError, InvalidInputError
from dualgate.pipeline.dossier import Dossier, KeptJob, KeptTurn, Tombstone, missing
from dualgate.pipeline.markdown import as_markdown
from dualgate.pipeline.ports import (
    Clock,
    Embedder,
    Job,
    Redactor,
    Session,
    Store,
    StoredTurn,
    Transaction,
    Use,
    Vector,
)

FORMAT = "dualgate archive"
FORMAT_VERSION = 1
_EMBED_BATCH = 256
_FIT_ROUNDS = 1_000
_SCALARS = (
    "user_id", "user_class", "capture_paused", "recall_paused", "maintained_at", "own_time",
    "tombstone_key",
)  # fmt: skip
# What each JSON Lines file holds. The name is the field of Dossier.
KINDS: Mapping[str, type] = {
    "items": MemoryItem, "signals": Signal, "moves": Move, "decisions": Decision,
    "pendings": Pending, "findings": Finding, "uses": Use, "notes": Note, "sessions": Session,
    "turns": KeptTurn, "jobs": KeptJob, "tombstones": Tombstone,
}  # fmt: skip
_NAMES = {
    "StoredTurn": StoredTurn, "Job": Job, "Session": Session, "Use": Use, "Any": Any,
    "Mapping": Mapping,
}  # fmt: skip


class Archives(Protocol):
    """Where archives are: a folder, or a .zip file."""

    def write(self, path: str, files: Mapping[str, bytes]) -> None:
        """Write all files or nothing. Raises InvalidInputError for a path that is taken."""
        ...

    def read(self, path: str) -> dict[str, bytes]:
        """Return all files by name. Raises InvalidInputError for what is no archive."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What an export wrote: how many of each kind, and where."""

    user_id: str
    path: str
    counts: Mapping[str, int]
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import brought: new ones of each kind; what was known stays as it is.

    erased: items of the archive that were erased here one by one, and stay erased.
    """

    user_id: str
    path: str
    added: Mapping[str, int]
    known: Mapping[str, int]
    erased: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportPorts:
    """What export and import talk to."""

    store: Store
    embedder: Embedder
    redactor: Redactor
    clock: Clock
    archives: Archives
    policy_of: Callable[[str], GatePolicy]


def archived(dossier: Dossier, now: datetime) -> dict[str, bytes]:
    """Return an archive's files."""
    files = {
        f"{name}.jsonl": _lines(getattr(dossier, name)) for name in KINDS
    } | {
        "user.json": _document({name: _plain(getattr(dossier, name)) for name in _SCALARS}),
        "memory.md": as_markdown(dossier, now).encode(),
    }  # fmt: skip
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "user_id": dossier.user_id,
        "exported_at": now.isoformat(),
        "counts": {name: len(getattr(dossier, name)) for name in KINDS},
        "files": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in sorted(files.items())
        },
    }
    sealed = {**manifest, "sha256": _seal(manifest)}
    return {"manifest.json": _document(sealed), **files}


def unarchived(files: Mapping[str, bytes]) -> Dossier:
    """Return the dossier of an archive's files. Raises InvalidInputError saying what is wrong."""
    manifest = _checked_manifest(files)
    parts: dict[str, Any] = {}
    for name, kind in KINDS.items():
        parts[name] = tuple(_read_lines(f"{name}.jsonl", files[f"{name}.jsonl"], kind))
        if len(parts[name]) != manifest["counts"].get(name):
            raise _wrong(f"{name}.jsonl does not hold what the manifest counts")
    scalars = _loaded("user.json", files["user.json"])
    hints = get_type_hints(Dossier, localns=_NAMES)
    try:
        known = {name: _typed(scalars[name], hints[name]) for name in _SCALARS}
    except (KeyError, TypeError, ValueError, DualgateError) as error:
        raise _wrong(f"user.json: {error}") from error
    dossier = Dossier(**known, **parts)
    _require_one_user(dossier)
    _require_honest_log(dossier)
    return dossier


def owned_by(dossier: Dossier, user_id: str) -> Dossier:
    """Return the dossier as another user's: an account that moves keeps its memory."""
    if dossier.user_id == user_id:
        return dossier
    changes: dict[str, Any] = {
        name: tuple(replace(one, user_id=user_id) for one in getattr(dossier, name))
        for name in (
            "items", "signals", "moves", "decisions", "pendings", "findings", "notes", "sessions",
        )
    }  # fmt: skip
    changes["turns"] = tuple(
        replace(kept, turn=replace(kept.turn, user_id=user_id)) for kept in dossier.turns
    )
    changes["jobs"] = tuple(
        replace(kept, job=replace(kept.job, user_id=user_id)) for kept in dossier.jobs
    )
    return replace(dossier, user_id=user_id, **changes)


async def export(user_id: str, path: str, on: ExportPorts, run: Any) -> ExportReport:
    """Write all that is kept of the user to a new folder or .zip; `run` runs slow work aside."""
    dossier = await on.store.dossier(user_id)
    files = await run(archived, dossier, on.clock.now())
    await run(on.archives.write, path, files)
    return ExportReport(
        user_id=user_id, path=path, bytes=sum(map(len, files.values())),
        counts={name: len(getattr(dossier, name)) for name in KINDS},
    )  # fmt: skip


async def import_(user_id: str, path: str, on: ExportPorts, run: Any) -> ImportReport:
    """Give back what an archive holds and the store does not, all of it or nothing."""
    files = await run(on.archives.read, path)
    given = owned_by(await run(unarchived, files), user_id)
    given = await run(_redacted, given, on.redactor)
    kept = await on.store.dossier(user_id)
    given, erased = await _without_erased(given, on.store)
    new = missing(given, kept)
    vectors = await _embedded(new.items, on.embedder)
    async with on.store.begin(user_id) as tx:
        await tx.put_back(given, vectors)
        await _fit(tx, on)
    added = {name: len(getattr(new, name)) for name in KINDS}
    return ImportReport(
        user_id=user_id, path=path, erased=erased,
        added={name: count for name, count in added.items() if count},
        known={
            name: count
            for name in KINDS
            if (count := len(getattr(given, name)) - added[name])
        },
    )  # fmt: skip


async def _fit(tx: Transaction, on: ExportPorts) -> None:
    """The bounds hold after an import, too [A8]; what fits already does not move."""
    for _ in range(_FIT_ROUNDS):
        snapshot = await tx.snapshot()
        plan = fitted(snapshot, on.policy_of(snapshot.user_class), on.clock.now())
        if not plan.moves:
            return
        await tx.apply(plan)


async def _without_erased(given: Dossier, store: Store) -> tuple[Dossier, int]:
    """Leave out what was erased here one by one. Who erased everything wants the archive back."""
    marks = {item_mark(item.id): item.id for item in given.items}
    found = await store.erased(given.user_id, list(marks))
    gone = {marks[mark] for mark, (kind, _) in found.items() if kind is not ErasureKind.USER}
    if not gone:
        return given, 0
    rested = {s.message_id for s in given.signals if s.item_id in gone}
    rested |= {d.candidate.message_id for d in given.decisions if d.item_id in gone}
    left = replace(
        given,
        items=tuple(item for item in given.items if item.id not in gone),
        signals=tuple(one for one in given.signals if one.item_id not in gone),
        moves=tuple(one for one in given.moves if one.item_id not in gone),
        decisions=tuple(one for one in given.decisions if one.item_id not in gone),
        pendings=tuple(one for one in given.pendings if one.item_id not in gone),
        findings=tuple(one for one in given.findings if gone.isdisjoint((one.item_id,
                                                                         one.other_id))),
        uses=tuple(one for one in given.uses if one.item_id not in gone),
        sessions=tuple(
            one if gone.isdisjoint(one.core_item_ids) else replace(
                one, core_text=None, core_item_ids=(), core_tokens=0
            )
            for one in given.sessions
        ),
        turns=tuple(kept for kept in given.turns if kept.turn.id not in rested),
    )  # fmt: skip
    return left, len(gone)


async def _embedded(items: Sequence[MemoryItem], embedder: Embedder) -> dict[str, Vector]:
    found: dict[str, Vector] = {}
    for start in range(0, len(items), _EMBED_BATCH):
        some = items[start : start + _EMBED_BATCH]
        vectors = await embedder.embed([item.content for item in some])
        found |= {item.id: vector for item, vector in zip(some, vectors, strict=True)}
    return found


def _redacted(given: Dossier, redactor: Redactor) -> Dossier:
    """An archive may have been written by hand: no secret comes in that way either [P1]."""

    def safe(text: str | None) -> str | None:
        return None if text is None else redactor.redact(text)

    return replace(
        given,
        items=tuple(
            item.with_(content=redactor.redact(item.content), value=safe(item.value))
            for item in given.items
        ),
        signals=tuple(replace(one, quote=safe(one.quote)) for one in given.signals),
        notes=tuple(replace(one, text=redactor.redact(one.text)) for one in given.notes),
        turns=tuple(
            replace(kept, turn=replace(kept.turn, content=redactor.redact(kept.turn.content)))
            for kept in given.turns
        ),
    )


# --- checks --------------------------------------------------------------------------------------


def _checked_manifest(files: Mapping[str, bytes]) -> dict[str, Any]:
    if "manifest.json" not in files:
        raise _wrong("holds no manifest.json: it is no archive of dualgate")
    manifest = _loaded("manifest.json", files["manifest.json"])
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise _wrong("manifest.json does not say that this is an archive of dualgate")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise _wrong(f"is of format version {manifest.get('format_version')}, not 1")
    sealed = manifest.pop("sha256", None)
    if sealed != _seal(manifest):
        raise _wrong("manifest.json was changed: its own checksum does not fit")
    listed = manifest.get("files")
    if not isinstance(listed, dict) or not isinstance(manifest.get("counts"), dict):
        raise _wrong("manifest.json lists no files")
    needed = {f"{name}.jsonl" for name in KINDS} | {"user.json", "memory.md"}
    if set(listed) != needed or set(files) - {"manifest.json"} != needed:
        odd = sorted((set(listed) ^ needed) | (set(files) - {"manifest.json"} ^ needed))
        raise _wrong(f"must hold exactly the files of an archive; look at {', '.join(odd[:5])}")
    for name, told in listed.items():
        if hashlib.sha256(files[name]).hexdigest() != told.get("sha256"):
            raise _wrong(f"{name} was changed or damaged: its checksum does not fit")
    return manifest


def _require_one_user(dossier: Dossier) -> None:
    def owners() -> Iterable[str]:
        for name in KINDS:
            for one in getattr(dossier, name):
                inner = getattr(one, "turn", None) or getattr(one, "job", None) or one
                yield getattr(inner, "user_id", dossier.user_id)

    others = {owner for owner in owners() if owner != dossier.user_id}
    if others:
        raise _wrong("holds something of another user [P4]")


def _require_honest_log(dossier: Dossier) -> None:
    try:
        statuses = replay((m.item_id, m.cause, m.after) for m in dossier.moves)
    except DualgateError as error:
        raise _wrong(f"moves.jsonl: {error} [S1]") from error
    for item in dossier.items:
        if statuses.get(item.id) is not item.status:
            told = f"item {item.id} is {item.status}, which its moves do not lead to [S1]"
            raise _wrong(f"items.jsonl: {told}")


def _wrong(rule: str) -> InvalidInputError:
    return InvalidInputError("path", rule)


# --- JSON ----------------------------------------------------------------------------------------


def _lines(values: Iterable[Any]) -> bytes:
    return "".join(
        json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":")) + "\n"
        for value in values
    ).encode("utf-8", "surrogatepass")


def _document(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _seal(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(_document(manifest)).hexdigest()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value


def _loaded(name: str, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise _wrong(f"{name}: {error}") from error


def _read_lines(name: str, data: bytes, kind: type) -> Iterable[Any]:
    for number, line in enumerate(data.splitlines(), start=1):
        row = _loaded(f"{name}:{number}", line)
        try:
            yield _typed(row, kind)
        except (KeyError, TypeError, ValueError, DualgateError) as error:
            raise _wrong(f"{name}:{number}: {error}") from error


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, localns=_NAMES)


def _typed(value: Any, hint: Any) -> Any:  # noqa: PLR0911  # one line a shape
    """Return JSON as the type a field says. Raises TypeError or ValueError."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        choices = [one for one in get_args(hint) if one is not NoneType]
        if value is None and NoneType in get_args(hint):
            return None
        return _typed(value, choices[0]) if len(choices) == 1 else value
    if origin is tuple:
        return tuple(_typed(one, get_args(hint)[0]) for one in _of(value, list))
    if hint is datetime:
        return datetime.fromisoformat(_of(value, str))
    if hint is OwnTime or is_dataclass(hint):
        return _built(_of(value, dict), hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if hint is float:
        return value if type(value) is int else _of(value, float)
    if hint in (str, int, bool):
        return _of(value, hint)
    return value


def _built(row: Mapping[str, Any], kind: Any) -> Any:
    hints = _hints(kind)
    if set(row) != {each.name for each in fields(kind)}:
        odd = sorted(set(row) ^ {each.name for each in fields(kind)})
        raise ValueError(f"fields do not fit: {', '.join(odd[:5])}")
    return kind(**{name: _typed(value, hints[name]) for name, value in row.items()})


def _of(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"must be {kind.__name__}, not {type(value).__name__}")
    return value
