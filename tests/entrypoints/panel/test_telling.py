"""The panel's words, sentences and numbers, without a browser."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from dualgate.domain.assembly import Group
from dualgate.domain.audit import FindingKind
from dualgate.domain.plan import Actor, Decision, Move, Outcome
from dualgate.domain.policy import GatePolicy
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Evidence, ItemType, Sensitivity, Source
from dualgate.domain.weathering import weathers
from dualgate.entrypoints.panel import charts, telling
from dualgate.entrypoints.panel.words import Words, phrases
from dualgate.testing.builders import MONDAY, USER, a_candidate, a_signal, an_item

PARTS = re.compile(r"\{(\w+)\}")
DAY = timedelta(days=1)


def test_both_languages_have_the_same_phrases_with_the_same_parts():
    english, chinese = phrases("en"), phrases("zh")

    assert set(english) == set(chinese)
    assert {n: set(PARTS.findall(p)) for n, p in english.items()} == {
        n: set(PARTS.findall(p)) for n, p in chinese.items()
    }


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("outcome", Outcome), ("cause", Cause), ("status", Status), ("type", ItemType),
        ("group", Group), ("actor", Actor), ("finding", FindingKind),
        ("happened", telling.FILTERS),
    ],
)  # fmt: skip
def test_every_word_of_the_domain_has_a_phrase(section, names):
    assert {f"{section}.{name}" for name in names} <= set(phrases("en"))


def told(*signals, lang="en", **fields):
    return telling.why_here(
        an_item("Prefers tea", **fields), signals, GatePolicy(), Words(lang)
    )


def said(session, **fields):
    return a_signal(session_id=session, **{"at": MONDAY, **fields})


def test_a_sentence_counts_conversations_not_repetitions():
    signals = [said("a"), said("a"), said("b", at=MONDAY + DAY)]
    day = Words("en").day(MONDAY + DAY)

    assert told(*signals)[0] == f"You said so in 2 conversations, last on {day}."
    assert told(said("a"))[0] == f"You said so once, on {Words('en').day(MONDAY)}."
    assert told(said("a"), lang="zh")[0] == f"你在 {Words('zh').day(MONDAY)} 说过一次。"


def test_what_was_said_in_anger_is_told_as_such():
    angry = {"evidence": Evidence.EMOTIONAL}

    assert told(said("a", **angry))[1] == "Said in anger: counts half."
    assert told(said("a"), said("b", **angry))[1] == "1 of them in anger: counts half."


def test_what_the_user_confirmed_here_is_no_conversation():
    day = Words("en").day(MONDAY)

    assert told(said("own:2026-01-05")) == [f"You confirmed it here, on {day}."]


def test_what_an_assistant_noted_is_not_said_to_be_the_users_word():
    assert told(said("a", source=Source.HOST))[0].startswith("Your assistant noted it once")
    assert told(said("a"), subject="assistant")[0].startswith("The assistant promised it")


def test_a_frozen_memory_says_until_when_it_lasts():
    """[F5]"""
    policy = GatePolicy()
    item = an_item("Prefers tea", status=Status.FROZEN, frozen_at=MONDAY, spaced_count=3)
    until = telling.weathers_at(item, policy)

    assert weathers(item, until, policy.weathering)
    assert not weathers(item, until - timedelta(minutes=1), policy.weathering)
    assert Words("en").day(until) in " ".join(told(status=Status.FROZEN, frozen_at=MONDAY,
                                                   spaced_count=3))  # fmt: skip


def test_a_sensitive_memory_says_when_it_goes():
    """[P1]"""
    sentence = told(sensitivity=Sensitivity.SENSITIVE, expires_at=MONDAY + 30 * DAY)[-1]

    assert sentence.endswith(f"gone after {Words('en').day(MONDAY + 30 * DAY)}.")


def moved(item_id, before, after, cause, at=MONDAY, actor=Actor.CONVERSATION):
    return Move(user_id=USER, item_id=item_id, before=before, after=after, cause=cause, at=at,
                actor=actor)  # fmt: skip


def test_a_move_that_its_decision_has_told_is_not_told_twice():
    admitted = moved("a", None, Status.CANDIDATE, Cause.ADMITTED)
    froze = moved("a", Status.CONFIRMED, Status.FROZEN, Cause.FROZE)

    assert telling.kind_of(admitted) is None
    assert telling.kind_of(froze) == "moved"
    chosen = moved("a", Status.CONFIRMED, Status.SUPERSEDED, Cause.SUPERSEDED, actor=Actor.USER)
    assert telling.kind_of(chosen) == "own"


def test_an_erased_memory_is_told_without_words():
    """[P3]"""
    event = telling.of_move(moved("a", Status.ARCHIVED, Status.FORGOTTEN, Cause.FORGOT), None,
                            Words("en"))  # fmt: skip

    assert (event.said, event.item_id) == ("(erased)", None)


def test_pools_are_counted_from_the_log():
    """[S1]"""
    log = [
        moved("a", None, Status.CANDIDATE, Cause.ADMITTED),
        moved("b", None, Status.CANDIDATE, Cause.ADMITTED),
        moved("a", Status.CANDIDATE, Status.CONFIRMED, Cause.CONFIRMED, MONDAY + DAY),
        moved("a", Status.CONFIRMED, Status.FROZEN, Cause.FROZE, MONDAY + DAY),
        moved("b", Status.CANDIDATE, Status.ARCHIVED, Cause.FADED, MONDAY + 2 * DAY),
    ]
    days = charts.pools_by_day(log, UTC)

    assert [(d.frozen, d.hot, d.archive) for d in days] == [(0, 2, 0), (1, 1, 0), (1, 0, 1)]


def test_the_gates_numbers_are_those_that_were_recorded():
    """[A3, W2]"""

    def judged(number, at, **numbers):
        return Decision(id=str(number), user_id=USER, session_id="s", at=at,
                        outcome=Outcome.ADMITTED, reason="new", candidate=a_candidate(),
                        numbers=numbers)  # fmt: skip

    (day,) = charts.gate_by_day(
        [
            judged(2, MONDAY + timedelta(hours=1), score=0.9, threshold=0.62),
            judged(1, MONDAY, score=0.5, threshold=0.6),
            judged(3, MONDAY, confidence=0.3),
        ],
        UTC,
    )

    assert (day.threshold, day.lowest, day.median, day.highest) == (0.62, 0.5, 0.7, 0.9)


@pytest.mark.parametrize("hours", [8, -8])
@pytest.mark.parametrize(
    "end", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_a_time_at_the_end_of_the_calendar_is_told_in_every_zone(hours, end):
    """Never is often written as the last second of the year 9999."""
    say = Words("en", timezone(timedelta(hours=hours)))

    assert say.day(end).endswith(str(end.year))
    assert say.time(end)
