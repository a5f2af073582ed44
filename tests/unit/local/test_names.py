"""Names and ends of statements [W4]."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from dualgate.adapters.local.names import entities_in, expiry_in

AT = datetime(2026, 4, 1, 9, tzinfo=timezone(timedelta(hours=8)))  # a Wednesday


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("用户家猫叫麻薯", ("麻薯",)),
        ("用户喜欢《三体》", ("三体",)),
        ("后端用 FastAPI，部署在 k8s 上", ("FastAPI", "k8s")),
        ("The user's sister is called Ana", ("Ana",)),
        ("The user writes scripts in Python 3.11", ("Python 3.11",)),
        ("The user likes tea", ()),
        ("用户喜欢喝茶", ()),
    ],
)
def test_what_a_statement_names_is_found_by_its_form(text: str, names: tuple[str, ...]) -> None:
    assert entities_in(text) == names


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("用户出差到4月20号为止", "2026-04-21"),
        ("下周五之前别约用户", "2026-04-11"),
        ("The user is staying in Rome until Friday", "2026-04-04"),
        ("no sugar till the end of May", "2026-06-01"),
    ],
)
def test_a_statement_with_an_end_runs_out_after_its_last_day(text: str, day: str) -> None:
    found = expiry_in(text, AT)

    assert found is not None
    assert found.isoformat() == f"{day}T00:00:00+08:00"


@pytest.mark.parametrize("text", ["用户4月20号搬家", "The exam is on Friday", "用户住到老", ""])
def test_a_date_alone_is_no_end(text: str) -> None:
    assert expiry_in(text, AT) is None
