"""The freeze gate as the dual-gate article tells it (G 3, G 5.2) [F1-F7]."""

from __future__ import annotations

import pytest

from dualgate import Candidate, Memory, Settings
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.errors import ConfirmationRequiredError, InvalidInputError
from dualgate.testing import HashEmbedder, ManualClock

from .conftest import START, USER, Story
from .talk import TRUST


async def test_three_confirmations_in_three_sessions_freeze(story: Story) -> None:
    """[F1]"""
    first = await story.prefers("简洁")
    second = await story.prefers("简洁")
    third = await story.prefers("简洁")

    assert (first.outcome, second.outcome, third.outcome) == ("admitted", "merged", "merged")
    item = await story.memory.item(USER, third.item_id)
    assert item.status == "frozen"
    assert item.confirm_count == 3
    moves = (await story.memory.history(USER, item.id)).moves
    assert [(m.cause, m.after) for m in moves] == [
        ("admitted", "candidate"),
        ("confirmed", "confirmed"),
        ("froze", "frozen"),
    ]


async def test_repeats_within_one_session_count_once(story: Story) -> None:
    """[F2]"""
    for _ in range(5):
        await story.prefers("简洁", session="the only one")

    (item,) = await story.active()
    assert item.confirm_count == 1
    assert item.status == "candidate"


async def test_a_forked_session_is_not_a_new_session(story: Story) -> None:
    """[F2]"""
    said = {"role": "user", "content": "hello"}
    await story.memory.observe(USER, "root", [said], wait=True)
    await story.memory.observe(USER, "fork", [said], wait=True, parent_session_id="root")
    for session in ("root", "fork", "fork"):
        await story.prefers("简洁", session=session)

    (item,) = await story.active()
    assert item.confirm_count == 1


async def test_a_midnight_rant_said_twice_does_not_freeze(story: Story) -> None:
    """G 5.2 [F1, F2]"""
    for _ in range(6):
        await story.says(
            "用户不想再收到新东西的推荐", attribute="recommendations", value="none",
            evidence="emotional", confidence=0.95,
        )  # fmt: skip

    (item,) = await story.active()
    assert item.confirm_count == 3.0  # six outbursts count half each
    assert item.status == "confirmed"
    assert await story.frozen() == []


async def test_one_calm_word_lets_what_was_ranted_about_freeze(story: Story) -> None:
    """[F1]"""
    for evidence in ("emotional", "emotional", "explicit", "explicit"):
        await story.prefers("简洁", evidence=evidence)

    assert len(await story.frozen()) == 1


async def test_a_hurried_request_said_twice_does_not_touch_the_profile(story: Story) -> None:
    """G 1.3: 麻烦说细一点，要步骤 [F3, W4]"""
    frozen = await story.freeze()

    for _ in range(2):
        decision = await story.prefers("详细", session="in a hurry", scope="task")
        assert decision.outcome == "ignored"

    assert await story.memory.item(USER, frozen.id) == frozen
    assert await story.memory.pending(USER) == []
    assert [i.content for i in await story.active()] == [frozen.content]


async def test_a_weak_challenge_is_ignored(story: Story) -> None:
    """[F3]"""
    frozen = await story.freeze()

    decision = await story.prefers("详细", confidence=0.65)

    assert (decision.outcome, decision.reason) == ("ignored", "frozen_low_confidence")
    assert await story.frozen() == [frozen.content]
    assert await story.memory.pending(USER) == []


async def test_an_emotional_challenge_is_ignored_however_sure(story: Story) -> None:
    """[F3]"""
    await story.freeze()

    decision = await story.prefers("详细", confidence=0.99, evidence="emotional", correction=True)

    assert (decision.outcome, decision.reason) == ("ignored", "frozen_emotional")


async def test_a_serious_challenge_is_held_and_changes_nothing_recalled(story: Story) -> None:
    """[F3]"""
    frozen = await story.freeze()

    decision = await story.prefers("详细", confidence=0.85)

    assert decision.outcome == "held"
    (pending,) = await story.memory.pending(USER)
    assert (pending.id, pending.item_id) == (decision.pending_id, frozen.id)
    assert [i.content for i in await story.active()] == [frozen.content]
    block = await story.memory.context(USER, "next")
    assert "详细" not in block.text


async def test_challenges_of_one_session_count_once(story: Story) -> None:
    """[F2, F3]"""
    await story.freeze()
    for _ in range(4):
        await story.prefers("详细", confidence=0.85, session="one evening")

    (pending,) = await story.memory.pending(USER)
    assert len(pending.challenges) == 1


async def test_an_explicit_correction_overrides_and_keeps_the_old_version(story: Story) -> None:
    """G 3.3: 从现在开始我改看英文内容 [F3, C3]"""
    frozen = await story.freeze()
    await story.prefers("详细", confidence=0.8)

    decision = await story.prefers("详细", confidence=0.95, correction=True)

    assert decision.outcome == "superseded"
    new = await story.memory.item(USER, decision.item_id)
    old = await story.memory.item(USER, frozen.id)
    assert (new.status, new.version, new.override_of) == ("confirmed", 2, frozen.id)
    assert (old.status, old.content) == ("superseded", frozen.content)
    assert await story.memory.pending(USER) == []
    versions = (await story.memory.history(USER, new.id)).versions
    assert [v.id for v in versions] == [frozen.id, new.id]


async def test_gradual_drift_within_a_week_only_parks(story: Story) -> None:
    """G 3.1: each request sounds reasonable, together they would be a disaster [F3]"""
    frozen = await story.freeze()

    for _ in range(7):
        decision = await story.prefers("详细", confidence=0.8)
        assert decision.outcome == "held"

    assert await story.frozen() == [frozen.content]


async def test_a_long_steady_challenge_thaws_the_item(story: Story) -> None:
    """[F3]: 5 distinct sessions over at least 21 days with no word for the old value"""
    frozen = await story.freeze()

    outcomes = []
    for _ in range(5):
        story.clock.advance(days=5)
        outcomes.append((await story.prefers("详细", confidence=0.8)).outcome)

    assert outcomes == ["held"] * 4 + ["contested"]
    old = await story.memory.item(USER, frozen.id)
    assert "thawed" in [m.cause for m in (await story.memory.history(USER, old.id)).moves]
    assert old.status == "superseded"  # [C2] five sessions against two: a lead of three
    assert [i.value for i in await story.active()] == ["详细"]


async def test_a_word_for_the_old_value_sets_the_challenge_back(story: Story) -> None:
    """[F3]"""
    await story.freeze()
    for value in ("详细", "详细", "详细", "详细", "简洁", "详细"):
        story.clock.advance(days=5)
        decision = await story.prefers(value, confidence=0.8)

    assert decision.outcome == "held"
    assert len(await story.frozen()) == 1


async def test_a_challenge_lapses_after_sixty_quiet_days(story: Story) -> None:
    """[F3]"""
    await story.freeze()
    await story.prefers("详细", confidence=0.8)

    story.clock.advance(days=58)
    await story.prefers("简洁")  # a day later; keeps the item itself from weathering
    await story.memory.maintain(USER)
    assert len(await story.memory.pending(USER)) == 1

    story.clock.advance(days=1)
    await story.memory.maintain(USER)
    assert await story.memory.pending(USER) == []


async def test_the_user_accepts_a_pending_override(story: Story) -> None:
    """[F3, F6]"""
    frozen = await story.freeze()
    held = await story.prefers("详细", confidence=0.8)

    item = await story.memory.settle(USER, held.pending_id, accept=True)

    assert (item.value, item.status, item.override_of) == ("详细", "confirmed", frozen.id)
    assert (await story.memory.item(USER, frozen.id)).status == "superseded"


async def test_the_user_rejects_a_pending_override(story: Story) -> None:
    """[F3, F6]"""
    frozen = await story.freeze()
    held = await story.prefers("详细", confidence=0.8)

    item = await story.memory.settle(USER, held.pending_id, accept=False)

    assert (item.id, item.status) == (frozen.id, "frozen")
    assert await story.memory.pending(USER) == []


async def test_the_thirty_first_waits_until_a_place_opens(story: Story) -> None:
    """[F4]"""
    for number in range(31):
        for session in ("a", "b", "c"):
            await story.says(
                f"用户的第{number}个习惯", attribute=f"habit_{number}", value="yes",
                session=session,
            )  # fmt: skip
    stats = await story.memory.stats(USER)
    assert (stats.pools.frozen, stats.pools.waiting_to_freeze) == (30, 1)
    waiting = [i for i in await story.active() if i.status == "confirmed"]

    (first, *_) = (await story.memory.items(USER, status="frozen")).items
    with pytest.raises(ConfirmationRequiredError):
        await story.memory.forget(USER, first.id)
    await story.memory.forget(USER, first.id, confirm=True)

    assert (await story.memory.item(USER, waiting[0].id)).status == "frozen"
    assert len(await story.frozen()) == 30


async def test_sixty_idle_days_weather_a_frozen_item(story: Story) -> None:
    """G 3.3: 风化 [F5]"""
    frozen = await story.freeze()

    story.clock.advance(days=59)
    assert await story.memory.maintain(USER) == []
    story.clock.advance(days=1)
    moves = await story.memory.maintain(USER)

    assert [(m.item_id, m.cause, m.after) for m in moves] == [
        (frozen.id, "weathered", "confirmed")
    ]
    assert await story.memory.maintain(USER) == []


async def test_being_shown_at_session_start_does_not_keep_an_item_frozen(story: Story) -> None:
    """[F5]"""
    frozen = await story.freeze()
    for day in range(12):
        story.clock.advance(days=5)
        block = await story.memory.context(USER, f"daily {day}")
        assert frozen.content in [i.content for i in block.core]

    await story.memory.maintain(USER)

    assert await story.frozen() == []


async def test_a_relevance_hit_keeps_an_item_frozen(story: Story) -> None:
    """[F5]"""
    frozen = await story.freeze()
    story.clock.advance(days=40)
    found = await story.memory.recall(USER, frozen.content)
    assert [h.item.id for h in found.hits] == [frozen.id]
    story.clock.advance(days=40)

    assert await story.memory.maintain(USER) == []
    story.clock.advance(days=20)
    assert len(await story.memory.maintain(USER)) == 1


async def test_a_weathered_item_freezes_again_only_by_a_new_confirmation(story: Story) -> None:
    """[F5]"""
    frozen = await story.freeze()
    story.clock.advance(days=61)
    await story.memory.maintain(USER)
    await story.says("用户住在杭州", item_type="identity", attribute="city", value="杭州")
    assert await story.frozen() == []

    await story.prefers("简洁")

    assert await story.frozen() == [frozen.content]


async def test_a_like_counts_as_one_confirmation_a_day(story: Story) -> None:
    """[F6]"""
    decision = await story.prefers("简洁")
    for _ in range(3):
        item = await story.memory.like(USER, decision.item_id)
    assert (item.confirm_count, item.status) == (2, "confirmed")

    story.clock.advance(days=1)
    item = await story.memory.like(USER, decision.item_id)

    assert (item.confirm_count, item.status) == (3, "frozen")


async def test_a_pinned_item_freezes_at_once_and_never_weathers(story: Story) -> None:
    """[F6]"""
    decision = await story.says("用户在做青鸟项目", item_type="project")
    item = await story.memory.pin(USER, decision.item_id)
    assert item.status == "frozen"

    story.clock.advance(days=400)
    await story.memory.maintain(USER)
    assert (await story.memory.item(USER, item.id)).status == "frozen"

    item = await story.memory.unpin(USER, item.id)
    assert item.status == "confirmed"


async def test_correcting_a_frozen_item_keeps_its_place_and_its_old_wording(story: Story) -> None:
    """[F6, C3]"""
    frozen = await story.freeze()

    item = await story.memory.correct(USER, frozen.id, "用户喜欢非常详细的回答")

    assert (item.id, item.status, item.version) == (frozen.id, "frozen", 2)
    assert item.content == "用户喜欢非常详细的回答"
    assert (item.created_at, item.confirm_count) == (frozen.created_at, frozen.confirm_count)
    versions = (await story.memory.history(USER, item.id)).versions
    assert [v.content for v in versions] == [frozen.content, item.content]
    assert versions[0].status == "superseded"


async def test_correcting_an_item_to_what_it_says_makes_no_version(story: Story) -> None:
    """[F6]"""
    decision = await story.prefers("简洁")

    item = await story.memory.correct(USER, decision.item_id, "用户喜欢简洁的回答")

    assert (item.version, item.status) == (1, "confirmed")
    assert len((await story.memory.history(USER, item.id)).versions) == 1


async def test_a_reworded_item_stays_in_its_slot(story: Story) -> None:
    """[C1]: what contradicts the new wording is still recognised"""
    frozen = await story.freeze()
    await story.memory.correct(USER, frozen.id, "用户要求凡事三句话以内")

    assert (await story.memory.item(USER, frozen.id)).attribute == "reply_length"


async def test_a_dislike_thaws_and_forgetting_can_be_undone(story: Story) -> None:
    """[F6, P3]"""
    frozen = await story.freeze()
    item = await story.memory.dislike(USER, frozen.id)
    assert (item.status, item.confirm_count) == ("confirmed", 2)

    await story.memory.forget(USER, item.id)
    assert await story.active() == []
    item = await story.memory.restore(USER, item.id)

    assert item.status == "confirmed"


async def test_what_is_forgotten_cannot_be_liked(story: Story) -> None:
    """[F6, S1]"""
    decision = await story.prefers("简洁")
    await story.memory.forget(USER, decision.item_id)

    with pytest.raises(InvalidInputError, match="like needs an item"):
        await story.memory.like(USER, decision.item_id)


async def test_a_user_class_has_its_own_whitelist() -> None:
    """[F7]"""
    projects_too = GatePolicy(
        freeze=FreezePolicy(types=FreezePolicy().types | {"project"})  # type: ignore[arg-type]
    )
    settings = Settings(user_classes={"builder": projects_too}, extraction=TRUST)
    async with Memory.open(
        "memory://", settings=settings, clock=ManualClock(START), embedder=HashEmbedder()
    ) as memory:
        await memory.set_user_class("builder", "builder")
        for user in ("builder", "plain"):
            for session in ("a", "b", "c"):
                said = Candidate("project", "用户在做青鸟项目", confidence=0.9)
                await memory.propose(user, session, [said], wait=True)

        assert len((await memory.items("builder", status="frozen")).items) == 1
        assert len((await memory.items("plain", status="frozen")).items) == 0
