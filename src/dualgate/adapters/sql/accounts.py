"""What models cost, and what audits found: kept beside the memory, shown in no Snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from sqlalchemy import Executable, bindparam, delete, func, or_, select, update

from dualgate.adapters.sql import tables
from dualgate.adapters.sql.dialects import Sql
from dualgate.adapters.sql.events import ALL_USERS
from dualgate.adapters.sql.reading import own
from dualgate.adapters.sql.rows import from_micros, maybe_micros, maybe_time, to_micros
from dualgate.domain.audit import Finding, FindingKind, FindingState
from dualgate.pipeline.ports import ModelTask, ModelUsage, UsageLine

_usage = tables.model_usage.c
_findings = tables.audit_findings.c

_COUNTS = ("calls", "input_tokens", "output_tokens", "turns", "skipped", "fell_back")
_ADD = (
    update(tables.model_usage)
    .where(
        own(_usage.user_id),
        _usage.day == bindparam("on_day"),
        _usage.task == bindparam("for_task"),
        _usage.model == bindparam("by_model"),
    )
    .values(
        {
            **{name: _usage[name] + bindparam(f"more_{name}") for name in _COUNTS},
            "estimated": or_(_usage.estimated, bindparam("more_estimated")),
        }
    )
)
_SUMS = [func.sum(_usage[name]) for name in (*_COUNTS, "estimated")]


def _spent(*, every: bool) -> Executable:
    statement = select(_usage.day, _usage.task, _usage.model, *_SUMS).where(
        _usage.day >= bindparam("since")
    )
    if not every:
        statement = statement.where(own(_usage.user_id))
    statement = statement.group_by(_usage.day, _usage.task, _usage.model).order_by(
        _usage.day, _usage.task, _usage.model
    )
    reason = {ALL_USERS: "a day's budget and the operator's figures are over all users"}
    return statement.execution_options(**reason) if every else statement


_SPENT, _SPENT_BY_ALL = _spent(every=False), _spent(every=True)
_FINDINGS = (
    select(*tables.audit_findings.columns)
    .where(own(_findings.user_id))
    .order_by(_findings.found_at, _findings.id)
)
_OPEN_FINDINGS = _FINDINGS.where(_findings.state == FindingState.OPEN)
_AUDITED = select(tables.audits.c.at).where(own(tables.audits.c.user_id))
# Run once an item when it goes for good [P3].
ABOUT_ITEM = delete(tables.audit_findings).where(
    own(_findings.user_id),
    or_(_findings.item_id == bindparam("item_id"), _findings.other_id == bindparam("item_id")),
)


def add_usage(sql: Sql, lines: Sequence[UsageLine]) -> None:
    """Add to what is recorded of the same user, day, task and model."""
    for line in lines:
        counts = _counts(line)
        named = {
            "user_id": line.user_id,
            "on_day": line.day.toordinal(),
            "for_task": str(line.task),
            "by_model": line.model,
            **{f"more_{name}": value for name, value in counts.items()},
        }
        if sql.run(_ADD, named) == 0:
            row = {
                "user_id": line.user_id,
                "day": line.day.toordinal(),
                "task": str(line.task),
                "model": line.model,
            }
            sql.insert_new(tables.model_usage, [{**row, **counts}])


def usage(sql: Sql, user_id: str | None, since: date) -> list[UsageLine]:
    """Return what models cost from that day on; of all users if None."""
    values: dict[str, Any] = {"since": since.toordinal()}
    if user_id is None:
        rows = sql.rows(_SPENT_BY_ALL, values)
    else:
        rows = sql.rows(_SPENT, {**values, "user_id": user_id})
    return [
        UsageLine(
            user_id=user_id or "",
            day=date.fromordinal(day),
            task=ModelTask(task),
            model=model,
            usage=ModelUsage(
                calls=calls,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                estimated=bool(estimated),
            ),
            turns=turns,
            skipped=skipped,
            fell_back=fell_back,
        )
        for (
            day, task, model, calls, input_tokens, output_tokens, turns, skipped, fell_back,
            estimated,
        ) in rows
    ]  # fmt: skip


def mark_audited(sql: Sql, user_id: str, at: datetime) -> None:
    """Remember when the user's frozen pool was looked through."""
    sql.upsert(tables.audits, [{"user_id": user_id, "at": to_micros(at)}])


def keep_findings(sql: Sql, findings: Sequence[Finding]) -> None:
    """Write findings whole."""
    rows = [
        {
            **asdict(finding),
            "kind": str(finding.kind),
            "state": str(finding.state),
            "found_at": to_micros(finding.found_at),
            "settled_at": maybe_micros(finding.settled_at),
        }
        for finding in findings
    ]
    sql.upsert(tables.audit_findings, rows)


def findings(sql: Sql, user_id: str, *, open_only: bool) -> list[Finding]:
    """Return what audits found, oldest first."""
    rows = sql.rows(_OPEN_FINDINGS if open_only else _FINDINGS, {"user_id": user_id})
    names = tables.audit_findings.columns.keys()
    found = []
    for row in rows:
        values = dict(zip(names, row, strict=True))
        values["kind"] = FindingKind(values["kind"])
        values["state"] = FindingState(values["state"])
        values["found_at"] = from_micros(values["found_at"])
        values["settled_at"] = maybe_time(values["settled_at"])
        found.append(Finding(**values))
    return found


def audited_at(sql: Sql, user_id: str) -> datetime | None:
    """Return when the user's frozen pool was last looked through."""
    row = sql.one(_AUDITED, {"user_id": user_id})
    return None if row is None else from_micros(row[0])


def _counts(line: UsageLine) -> dict[str, Any]:
    return {
        "calls": line.usage.calls,
        "input_tokens": line.usage.input_tokens,
        "output_tokens": line.usage.output_tokens,
        "turns": line.turns,
        "skipped": line.skipped,
        "fell_back": line.fell_back,
        "estimated": line.usage.estimated,
    }
