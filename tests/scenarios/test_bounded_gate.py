"""The bounded gate and conflicts as the articles tell them (G 1.2, G 2, G 5.3, G 5.4, M 3.3)."""

from __future__ import annotations

from dualgate import Candidate, Memory, Settings
from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.archiving import ArchivePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.testing import HashEmbedder, ManualClock

from .conftest import START, USER, Story
from .talk import TRUST


async def test_what_the_extractor_is_unsure_of_is_refused(story: Story) -> None:
    """M 5.1 [W4]"""
    decision = await story.prefers("简洁", confidence=0.59)

    assert (decision.outcome, decision.reason) == ("refused", "low_confidence")
    assert await story.active() == []
    (recorded,) = await story.memory.why(USER, text="简洁")
    assert recorded == decision


async def test_an_unimportant_remark_stays_under_the_threshold(story: Story) -> None:
    """[A1, A3]"""
    decision = await story.says("用户换了支笔", item_type="fact", importance=0.1, confidence=0.7)

    assert (decision.outcome, decision.reason) == ("refused", "below_threshold")
    assert decision.numbers["score"] < decision.numbers["threshold"] == 0.6


async def test_a_mood_about_long_articles_is_not_a_trait(story: Story) -> None:
    """G 1.2: 以后别给我推这么长的文章 … 这篇真有用"""
    await story.says(
        "用户喜欢深度长文", attribute="article_length", value="long", confidence=0.9
    )
    mood = await story.says(
        "用户不想看这么长的文章", attribute="article_length", value="short", scope="moment",
        evidence="emotional", confidence=0.8,
    )  # fmt: skip

    assert mood.outcome == "working-memory"
    assert [i.value for i in await story.active()] == ["long"]


async def test_the_core_preference_survives_a_week_of_new_topics() -> None:
    """G 5.3: importance_floor [A6]"""
    small = GatePolicy(admission=AdmissionPolicy(capacity=20, floor_places=5))
    clock = ManualClock(START)
    async with Memory.open(
        "memory://", settings=Settings(gates=small, extraction=TRUST), clock=clock,
        embedder=HashEmbedder(),
    ) as memory:  # fmt: skip
        core = Candidate(
            "constraint", "用户只看中文资料", attribute="material_language", value="中文",
            confidence=0.9, importance=0.5,
        )  # fmt: skip
        for session in ("a", "b"):
            await memory.propose(USER, session, [core], wait=True)
        clock.advance(days=60)
        for n in range(40):
            clock.advance(hours=3)
            topic = Candidate(
                "project", f"英文项目 {n:02d} 的安排", attribute=f"project_{n}", value="open",
                confidence=0.95, importance=1.0,
            )  # fmt: skip
            await memory.propose(USER, f"week {n}", [topic], wait=True)

        page = await memory.items(USER, status="confirmed")
        assert [i.content for i in page.items] == ["用户只看中文资料"]
        assert (await memory.stats(USER)).pools.hot == 20


async def test_a_full_pool_lets_only_a_better_one_in_and_a_tie_keeps_the_resident() -> None:
    """[A5]"""
    small = GatePolicy(admission=AdmissionPolicy(capacity=3, floor_places=1, ramp=0, floor=0))
    async with Memory.open(
        "memory://", settings=Settings(gates=small, extraction=TRUST), clock=ManualClock(START),
        embedder=HashEmbedder(),
    ) as memory:  # fmt: skip

        async def say(word: str, importance: float) -> str:
            said = Candidate("fact", f"fact {word}", attribute=word, value=word,
                             confidence=0.9, importance=importance)  # fmt: skip
            receipt = await memory.propose(USER, word, [said], wait=True)
            return receipt.decisions[0].outcome

        assert [await say(w, 0.7) for w in ("alpha", "beta", "gamma")] == ["admitted"] * 3
        assert await say("delta", 0.7) == "refused"
        assert await say("epsilon", 0.8) == "admitted"

        hot = (await memory.items(USER, status="candidate")).items
        archived = (await memory.items(USER, status="archived")).items
        assert (len(hot), len(archived)) == (3, 1)


async def test_an_archived_item_returns_by_a_strong_new_signal_only() -> None:
    """[A7]"""
    small = GatePolicy(
        admission=AdmissionPolicy(capacity=1, floor_places=0, floor=0),
        archive=ArchivePolicy(capacity=2),
    )
    async with Memory.open(
        "memory://", settings=Settings(gates=small, extraction=TRUST), clock=ManualClock(START),
        embedder=HashEmbedder(),
    ) as memory:  # fmt: skip

        async def say(word: str, importance: float, confidence: float) -> None:
            said = Candidate("fact", f"fact {word}", attribute=word, value=word,
                             confidence=confidence, importance=importance)  # fmt: skip
            await memory.propose(USER, f"{word} {confidence}", [said], wait=True)

        await say("alpha", 0.5, 0.9)
        await say("beta", 0.6, 0.9)
        (alpha,) = (await memory.items(USER, status="archived")).items

        assert (await memory.recall(USER, "fact alpha")).hits
        assert (await memory.item(USER, alpha.id)).status == "archived"
        await say("alpha", 0.9, 0.7)
        assert (await memory.item(USER, alpha.id)).status == "archived"
        await say("alpha", 0.9, 0.85)
        assert (await memory.item(USER, alpha.id)).status == "confirmed"


async def test_code_examples_and_short_code_examples_are_two_items(story: Story) -> None:
    """G 5.4 [C1]"""
    plain = await story.says("用户偏好代码示例", attribute="examples", value="代码示例")
    short = await story.says(
        "用户偏好简短的代码示例", attribute="examples", value="代码示例", qualifiers=["简短"]
    )

    assert (plain.outcome, short.outcome) == ("admitted", "admitted")
    assert len(await story.active()) == 2


async def test_a_moved_database_is_followed(story: Story) -> None:
    """M 3.3: MySQL → PostgreSQL [C1, C2]"""
    old = await story.says(
        "项目使用 MySQL", item_type="fact", attribute="database", value="MySQL"
    )
    new = await story.says(
        "项目已迁移到 PostgreSQL", item_type="fact", attribute="database", value="PostgreSQL"
    )

    assert (new.outcome, new.reason) == ("superseded", "newer_value")
    assert (await story.memory.item(USER, old.item_id)).status == "superseded"
    item = await story.memory.item(USER, new.item_id)
    assert (item.override_of, item.version) == (old.item_id, 2)


async def test_an_older_word_that_arrives_late_does_not_replace_the_newer(story: Story) -> None:
    """[C1]: time order known"""
    await story.says("项目使用 PostgreSQL", item_type="fact", attribute="database", value="pg")
    story.clock.advance(days=-30)
    late = await story.says("项目使用 MySQL", item_type="fact", attribute="database", value="my",
                            session="an old log")  # fmt: skip

    assert (late.outcome, late.reason) == ("refused", "outdated")
    assert [i.value for i in await story.active()] == ["pg"]


async def test_a_trait_resists_and_the_conflict_is_shown(story: Story) -> None:
    """[C1, C2]"""
    old = await story.prefers("简洁")
    new = await story.prefers("详细")

    assert new.outcome == "contested"
    both = {i.id: i for i in await story.active()}
    assert both[old.item_id].contested_with == (new.item_id,)
    assert both[new.item_id].contested_with == (old.item_id,)
    assert both[old.item_id].confirm_count == 0
    block = await story.memory.context(USER, "next")
    assert "简洁" in block.text
    assert "详细" in block.text


async def test_a_contested_trait_is_settled_by_a_lead_of_two(story: Story) -> None:
    """[C2]"""
    old = await story.prefers("简洁")
    new = await story.prefers("详细")
    await story.prefers("详细")

    assert (await story.memory.item(USER, old.item_id)).status == "superseded"
    winner = await story.memory.item(USER, new.item_id)
    assert (winner.status, winner.contested, winner.override_of) == (
        "confirmed", False, old.item_id,
    )  # fmt: skip


async def test_a_contested_trait_is_settled_by_an_explicit_correction(story: Story) -> None:
    """[C2]"""
    old = await story.prefers("简洁")
    new = await story.prefers("详细")
    await story.prefers("简洁", correction=True)

    assert (await story.memory.item(USER, new.item_id)).status == "superseded"
    assert not (await story.memory.item(USER, old.item_id)).contested


async def test_hobbies_live_side_by_side(story: Story) -> None:
    """[C1]: compatible"""
    for hobby in ("爬山", "钢琴", "品茶"):
        decision = await story.says(f"用户喜欢{hobby}", attribute="hobby", value=hobby)
        assert decision.outcome == "admitted"

    assert len(await story.active()) == 3


async def test_liking_and_disliking_the_same_thing_exclude_each_other(story: Story) -> None:
    """[C1]"""
    await story.says("用户喜欢香菜", attribute="food", value="香菜")
    decision = await story.says("用户不吃香菜", attribute="food", value="香菜", polarity="-")

    assert decision.outcome == "contested"


async def test_a_debug_variable_stays_in_working_memory(story: Story) -> None:
    """M 2.3 [L2]"""
    decision = await story.says(
        "变量 tmp_zz 暂存计数", item_type="fact", scope="task", session="debugging"
    )

    assert decision.outcome == "working-memory"
    notes = await story.memory.working(USER, "debugging", "fix")
    await notes.set("tried", "a bigger timeout")
    assert await notes.all() == {"tried": "a bigger timeout"}
    await story.memory.end_session(USER, "debugging")
    assert await notes.all() == {}
    assert await story.active() == []


async def test_the_returning_user_is_met_with_project_and_constraint(story: Story) -> None:
    """G 5.1"""
    await story.says("用户的项目代号是青鸟", item_type="project", attribute="project_name",
                     value="青鸟")  # fmt: skip
    await story.says("预算不超过 5 万元", item_type="constraint", attribute="budget", value="5万")
    story.clock.advance(days=14)
    await story.memory.maintain()

    block = await story.memory.context(USER, "two weeks later")

    assert "青鸟" in block.text
    assert "5 万" in block.text
    assert block.tokens <= 1_600


async def test_who_returns_after_half_a_year_is_still_known(story: Story) -> None:
    """[D1]: an absence counts as seven days at most"""
    await story.says("用户的项目代号是青鸟", item_type="project", attribute="project_name",
                     value="青鸟")  # fmt: skip
    story.clock.advance(days=183)
    await story.memory.maintain()

    assert [i.value for i in await story.active()] == ["青鸟"]


async def test_what_is_sensitive_runs_out_unless_the_user_keeps_it(story: Story) -> None:
    """[P1]"""
    one = await story.says("用户血脂偏高", item_type="fact", sensitivity="sensitive")
    two = await story.says("用户乳糖不耐受", item_type="constraint", sensitivity="sensitive")
    await story.memory.like(USER, two.item_id)
    story.clock.advance(days=31)
    await story.memory.maintain()

    assert (await story.memory.item(USER, one.item_id)).status == "forgotten"
    assert [i.id for i in await story.active()] == [two.item_id]


async def test_a_host_may_name_a_slot_in_its_own_way(story: Story) -> None:
    """[C1, W5]: its names and values stay as given; comparing knows what they mean"""
    first = await story.says(
        "The user wants brief answers", attribute="Response Length", value="brief"
    )
    second = await story.says("用户喜欢简短的回答", attribute="回复长度", value="简短")
    third = await story.says(
        "The user wants detailed answers", attribute="verbosity", value="detailed"
    )

    item = await story.memory.item(USER, first.item_id)
    assert (item.attribute, item.value) == ("Response Length", "brief")
    assert (second.outcome, second.item_id) == ("merged", first.item_id)
    assert third.outcome == "contested"


async def test_a_change_that_names_what_it_leaves_replaces_that(story: Story) -> None:
    """[C1, C2]: though only the old statement said which project"""
    old = await story.says(
        "Project Bluebird uses MySQL", item_type="fact", attribute="database", value="MySQL",
        qualifiers=["bluebird"],
    )  # fmt: skip
    other = await story.says(
        "Project Heron uses Redis", item_type="fact", attribute="database", value="Redis",
        qualifiers=["heron"],
    )  # fmt: skip
    await story.says(
        "Switched from MySQL to PostgreSQL", item_type="fact", attribute="database",
        value="PostgreSQL", correction=True,
    )  # fmt: skip

    assert (await story.memory.item(USER, old.item_id)).status == "superseded"
    assert (await story.memory.item(USER, other.item_id)).status == "candidate"
