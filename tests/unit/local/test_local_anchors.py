"""Two things are two things, however alike the sentences read [C1]."""

from __future__ import annotations

import pytest

from dualgate.adapters.local.anchors import about_two_things
from dualgate.adapters.local.judge import StatementJudge

APART = [
    ("Shelf 3 holds the flour", "Shelf 5 holds the sugar"),
    ("The call with Mara is at nine", "The call with Ivo is at four"),
    ("The green crate contains bolts", "The grey crate contains hinges"),
    ("Ticket 811 has been closed", "Ticket 902 has been reopened"),
    ("Node alpha runs FreeBSD 13", "Node beta runs FreeBSD 14"),
    ("The contract with Initech costs 400 euros", "The contract with Hooli costs 900 euros"),
    ("The user lent Mara the ladder", "The user lent Ivo the drill"),
    ("Crane Heron passed the wind test at low load", "Crane Heron passed the wind test at high load"),
    ("The user finished a marathon in 2022", "The user finished a triathlon in 2024"),
    ("Team Falcon meets on Mondays", "Team Otter meets on Thursdays"),
    ("The user read Dune in January", "The user read Emma in March"),
    ("小周的工位在二楼", "小郑的工位在四楼"),
    ("订单3301已发货", "订单3402已退回"),
    ("白鹤号通过了低速测试", "白鹤号通过了高速测试"),
]
PERHAPS_ONE = [
    ("The staging server runs Debian 11", "The staging server runs Debian 12 now"),
    ("Mara is the project lead", "Ivo is the project lead now"),
    ("The team uses React with Redux", "The team uses Vue with Pinia"),
    ("The release is on 3 May", "The release is on 9 June"),
    ("The user's desk is set to 104 cm", "The user's desk is set to 110 cm"),
    ("The user passed the exam", "The user has not passed the exam"),
    ("用户的升降桌是104厘米", "用户的升降桌是110厘米"),
    ("发布会在三月二日", "发布会在八月一日"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_another_name_or_number_at_the_subject_is_another_thing(one: str, other: str) -> None:
    assert about_two_things(one, other)
    assert about_two_things(other, one)


@pytest.mark.parametrize(("one", "other"), PERHAPS_ONE)
def test_another_value_of_the_same_thing_is_left_to_the_fit(one: str, other: str) -> None:
    assert not about_two_things(one, other)
    assert not about_two_things(other, one)


def test_two_things_never_conflict_in_the_eyes_of_the_judge() -> None:
    _, conflicting = StatementJudge().judge(APART, [0.9] * len(APART))

    assert conflicting.max() < 0.35


@pytest.mark.parametrize("text", ["", " ", "\ud800", "…", "a" * 100_000, "好" * 100_000])
def test_any_text_is_read(text: str) -> None:
    assert not about_two_things(text, text)
