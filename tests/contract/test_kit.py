"""The public test kit keeps its own promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from dualgate.domain.items import Message
from dualgate.domain.status import Status, replay
from dualgate.errors import ExtractionError, InvalidInputError
from dualgate.pipeline.ports import Turn
from dualgate.testing import CountingIds, HashEmbedder, ManualClock, ScriptedExtractor
from dualgate.testing.builders import MONDAY, a_candidate, an_item, moves_to


def test_a_manual_clock_stands_still_until_it_is_moved():
    clock = ManualClock(datetime(2026, 1, 5, 17, tzinfo=timezone(timedelta(hours=8))))
    before = clock.now(), clock.now()
    clock.advance(days=1, hours=2, minutes=3, seconds=4)
    after = clock.now()
    clock.set(MONDAY)

    assert before == (MONDAY, MONDAY)
    assert before[0].tzinfo is UTC
    assert after == MONDAY + timedelta(days=1, hours=2, minutes=3, seconds=4)
    assert clock.now() == MONDAY


def test_a_manual_clock_refuses_a_naive_time():
    with pytest.raises(InvalidInputError, match="start"):
        ManualClock(datetime(2026, 1, 5))  # noqa: DTZ001
    with pytest.raises(InvalidInputError, match="t:"):
        ManualClock(MONDAY).set(datetime(2026, 1, 5))  # noqa: DTZ001


def test_counted_ids_sort_in_the_order_of_their_making():
    ids = CountingIds()
    made = [ids.new() for _ in range(1_200)]

    assert made == sorted(set(made))


@pytest.mark.parametrize(
    ("status", "was_confirmed"),
    [(s, c) for s in Status for c in (False, True) if (s, c) != (Status.CANDIDATE, True)],
)
def test_the_moves_of_a_built_item_are_legal_and_lead_to_its_status(status, was_confirmed):
    item = an_item(status=status, was_confirmed=was_confirmed)
    moves = moves_to(item)

    assert replay((m.item_id, m.cause, m.after) for m in moves) == {"item-1": status}


@pytest.mark.asyncio
async def test_hashed_vectors_are_unit_deterministic_and_nearer_for_like_spelling():
    texts = ["likes green tea", "likes green teas", "works at a bank", "", "喜欢绿茶", "\ud83d"]
    first = await HashEmbedder(128).embed(texts)
    again = await HashEmbedder(128).embed(texts)

    assert np.array_equal(first, again)
    assert first.dtype == np.float32
    assert np.linalg.norm(first, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert first[0] @ first[1] > 0.8 > first[0] @ first[2]
    assert (await HashEmbedder(16).embed([])).shape == (0, 16)


@pytest.mark.asyncio
async def test_a_scripted_extractor_answers_raises_and_remembers():
    failure = ExtractionError("unreadable", raw="{")
    extractor = ScriptedExtractor({"hello": (), "tea": [a_candidate()], "bad": failure})

    async def said(content):
        turn = Turn(user_id="ann", session_id="s1", message=Message("user", content), at=MONDAY)
        return await extractor.extract(turn)

    assert await said("tea") == (a_candidate(),)
    assert await said("hello") == ()
    assert await said("unscripted") == ()
    with pytest.raises(ExtractionError, match="unreadable"):
        await said("bad")
    assert [turn.message.content for turn in extractor.heard] == [
        "tea",
        "hello",
        "unscripted",
        "bad",
    ]


@pytest.mark.asyncio
async def test_a_strict_script_refuses_what_it_does_not_know():
    extractor = ScriptedExtractor({}, strict=True)
    turn = Turn(user_id="ann", session_id="s1", message=Message("user", "?"), at=MONDAY)
    with pytest.raises(InvalidInputError, match="script"):
        await extractor.extract(turn)
