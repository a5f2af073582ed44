"""What every Store does, part five: what models cost, and what audits found."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from dualgate.domain.audit import Finding, FindingKind, FindingState, finding_id
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ports import ModelTask, ModelUsage, UsageLine
from dualgate.testing.backend import Backend, write
from dualgate.testing.builders import MONDAY, USER, a_plan, an_item

TODAY = MONDAY.date()


def a_line(user_id: str = USER, day: date = TODAY, **fields: object) -> UsageLine:
    spent = ModelUsage(calls=1, input_tokens=100, output_tokens=20)
    given = {"task": ModelTask.EXTRACT, "model": "small", "usage": spent, "turns": 1, **fields}
    return UsageLine(user_id=user_id, day=day, **given)  # type: ignore[arg-type]


def a_finding(item_id: str = "item-1", **fields: object) -> Finding:
    kind = FindingKind.PASSING
    given = {"id": finding_id(kind, item_id), "user_id": USER, "kind": kind,
             "said": "it speaks of a moment", "found_at": MONDAY, **fields}  # fmt: skip
    return Finding(item_id=item_id, **given)  # type: ignore[arg-type]


class AccountsContract:
    """Usage adds up per user, day, task and model; findings stand until they are settled."""

    async def test_usage_of_one_day_task_and_model_adds_up(self, backend: Backend) -> None:
        await backend.store.add_usage([a_line(), a_line(skipped=3)])
        await backend.store.add_usage([a_line(task=ModelTask.JUDGE)])

        extract, judge = await backend.store.usage(USER, TODAY)
        assert extract == a_line(
            usage=ModelUsage(calls=2, input_tokens=200, output_tokens=40), turns=2, skipped=3
        )
        assert judge == a_line(task=ModelTask.JUDGE)

    async def test_the_sum_over_all_users_names_none(self, backend: Backend) -> None:
        await backend.store.add_usage([a_line(), a_line("bob")])

        (line,) = await backend.store.usage(None, TODAY)
        assert (line.user_id, line.usage.calls) == ("", 2)
        assert [each.user_id for each in await backend.store.usage("bob", TODAY)] == ["bob"]

    async def test_an_estimate_stays_an_estimate_in_the_sum(self, backend: Backend) -> None:
        await backend.store.add_usage([a_line(), a_line(usage=ModelUsage(estimated=True))])

        assert [each.usage.estimated for each in await backend.store.usage(USER, TODAY)] == [True]

    async def test_usage_before_the_day_asked_for_is_left_out(self, backend: Backend) -> None:
        tomorrow = TODAY + timedelta(days=1)
        await backend.store.add_usage([a_line(), a_line(day=tomorrow)])

        assert [each.day for each in await backend.store.usage(USER, tomorrow)] == [tomorrow]
        assert len(await backend.store.usage(USER, TODAY)) == 2

    async def test_usage_brings_no_user_into_being(self, backend: Backend) -> None:
        await backend.store.add_usage([a_line()])

        assert await backend.store.users(None, 10) == []

    async def test_usage_of_a_blank_user_is_refused(self, backend: Backend) -> None:
        with pytest.raises(InvalidInputError):
            await backend.store.add_usage([a_line(" ")])

        assert await backend.store.usage(None, TODAY) == []

    async def test_findings_come_oldest_first_and_are_kept_once(self, backend: Backend) -> None:
        older = a_finding("item-2", found_at=MONDAY - timedelta(days=1))
        await backend.store.keep_findings(USER, [a_finding(), older])
        await backend.store.keep_findings(USER, [a_finding()])

        assert await backend.store.findings(USER) == [older, a_finding()]

    async def test_a_settled_finding_is_open_no_more(self, backend: Backend) -> None:
        settled = replace(a_finding(), state=FindingState.SETTLED, settled_at=MONDAY)
        await backend.store.keep_findings(USER, [a_finding()])
        await backend.store.keep_findings(USER, [settled])

        assert await backend.store.findings(USER) == []
        assert await backend.store.findings(USER, open_only=False) == [settled]

    async def test_the_last_audit_is_remembered_though_it_found_nothing(
        self, backend: Backend
    ) -> None:
        before = await backend.store.audited_at(USER)
        await backend.store.keep_findings(USER, [], audited_at=MONDAY)
        await backend.store.keep_findings(USER, [a_finding()])

        assert before is None
        assert await backend.store.audited_at(USER) == MONDAY

    async def test_findings_of_another_user_are_refused(self, backend: Backend) -> None:
        with pytest.raises(InvalidInputError):
            await backend.store.keep_findings("bob", [a_finding()])

        assert await backend.store.findings("bob") == []

    async def test_findings_go_with_the_items_they_are_about(self, backend: Backend) -> None:
        await write(backend, a_plan(items=(an_item(), an_item(id="item-2"))))
        about_both = a_finding(id="two", other_id="item-2")
        await backend.store.keep_findings(USER, [a_finding("item-3"), about_both])
        await write(backend, a_plan(purged=("item-2",)))

        assert await backend.store.findings(USER) == [a_finding("item-3")]
