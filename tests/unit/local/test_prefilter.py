"""The cheap look at a turn is timid: what it stops is lost [W5]."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dualgate.adapters.local.extraction import encoder, model
from dualgate.adapters.local.extraction.reading import read_text
from dualgate.adapters.local.prefilter import LocalPrefilter
from dualgate.config import Settings
from dualgate.domain.items import Message
from dualgate.domain.types import Role
from dualgate.pipeline.ports import Turn


async def promise(said: str) -> float:
    now = datetime(2026, 3, 2, 9, tzinfo=UTC)
    turn = Turn(user_id="u", session_id="s", message=Message(Role.USER, said, now), at=now)
    return await LocalPrefilter().promise(turn)


@pytest.mark.parametrize(
    "said", ["The choir sang at the church again", "Took the kids to the pottery place, they loved it"]
)
async def test_a_turn_the_extractor_would_leave_early_is_still_handed_on(said: str) -> None:
    reading = read_text(said, ())
    early = encoder.load().early(reading, range(len(reading.clauses)))

    assert early < model.load().leave_at
    assert await promise(said) >= Settings().extraction.prefilter_at


async def test_thanks_are_not_handed_on() -> None:
    assert await promise("thanks") < 0.05
