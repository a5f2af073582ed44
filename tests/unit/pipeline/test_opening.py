"""Facts about the start of a session: sections, hard limits, a core that stands still [R1]."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.memory import open_memory
from dualgate.adapters.tokens import TiktokenCounter
from dualgate.domain.items import clean_text
from dualgate.domain.plan import Plan
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import Evidence, ItemType, Sensitivity
from dualgate.errors import InvalidInputError
from dualgate.pipeline.opening import open_session
from dualgate.pipeline.recipes import ReadPolicy
from dualgate.pipeline.render import strip_injected
from dualgate.testing.backend import write
from dualgate.testing.builders import MONDAY, USER, a_move, a_pending, a_plan, an_item
from dualgate.testing.fakes import HashEmbedder

EMBEDDER = UseEmbedder()  # the thresholds are those of the real model
TOKENS = TiktokenCounter()
POLICY = ReadPolicy()
NOW = MONDAY + timedelta(days=10)

KINDS = (ItemType.PREFERENCE, ItemType.CONSTRAINT, ItemType.IDENTITY)
CORE_ORDER = (ItemType.IDENTITY, ItemType.CONSTRAINT, ItemType.PREFERENCE)


def frozen(content, **fields):
    return an_item(content, **{"status": Status.FROZEN, "item_type": ItemType.IDENTITY, **fields})


def hot(content, **fields):
    return an_item(content, **{"status": Status.CONFIRMED, **fields})


async def filled(*items):
    backend = open_memory()
    await add(backend, *items)
    return backend


async def add(backend, *items):
    if not items:
        return
    vectors = await EMBEDDER.embed([item.content for item in items])
    by_id = {item.id: vector for item, vector in zip(items, vectors, strict=True)}
    await write(backend, a_plan(*items), vectors=by_id)


async def start(backend, query="", **options):
    given = {"user_id": USER, "session_id": "s1", "now": NOW, "policy": POLICY, **options}
    return await open_session(backend.store, EMBEDDER, TOKENS, query=query, **given)


async def opened(backend, query="", **options):
    return (await start(backend, query, **options))[0]


def full_memory(length=200):
    """Return 30 frozen, 200 hot and 50 archived items of this many characters each."""
    filling = "这是一条很长的记忆内容，" * 40
    made = [
        frozen(f"核心{n} {filling}"[:length], id=f"z{n:02d}", item_type=KINDS[n % 3])
        for n in range(30)
    ]
    made += [hot(f"热项{n} {filling}"[:length], id=f"h{n:03d}") for n in range(200)]
    made += [
        an_item(f"旧事{n} {filling}"[:length], id=f"a{n:02d}", status=Status.ARCHIVED)
        for n in range(50)
    ]
    return made


def ids(items):
    return [item.id for item in items]


async def test_the_three_sections_hold_what_belongs_there():
    backend = await filled(
        frozen("用户叫李明", id="name"),
        hot("项目代号是 Phoenix，是一个医院数据分析平台", id="project", item_type="project"),
        an_item("数据库从 MySQL 迁移到了 PostgreSQL 16", id="old", status=Status.ARCHIVED),
    )
    block = await opened(backend, "你好！Phoenix 项目用的是哪种数据库？")

    assert ids(block.core) == ["name"]
    assert ids(block.active) == ["project"]
    assert ids(block.recalled) == ["old"]
    assert block.text.startswith('<dualgate-memory part="session">\n')
    assert block.text.endswith("</dualgate-memory>\n")
    assert strip_injected(block.text) == "\n" or strip_injected(block.text) == ""


async def test_a_preview_shows_the_same_and_leaves_nothing_behind():
    """[R1, U1]"""
    backend = await filled(frozen("Ann lives in Oslo"), hot("Ann plays chess"))
    looked, _ = await start(backend, "chess", preview=True)

    assert await backend.store.session(USER, "s1") is None
    assert looked == (await start(backend, "chess"))[0]


async def test_an_empty_memory_says_nothing():
    block, uses = await start(await filled(), "我叫什么名字？")

    assert (block.text, block.tokens, uses) == ("", 0, [])


@pytest.mark.parametrize("query", ["", "随便聊聊", "Phoenix 用什么数据库？", "热项 7 是什么"])
async def test_a_full_memory_keeps_every_limit_with_whole_items(query):
    block = await opened(await filled(*full_memory()), query)
    lines = [line[2:] for line in block.text.splitlines() if line.startswith("- ")]
    shown = [*block.core, *block.active, *block.recalled]

    assert TOKENS.count(block.text) <= block.tokens <= 1600
    assert block.core_tokens <= 400
    assert block.active_tokens <= 800
    assert block.recalled_tokens <= 400
    assert block.tokens == block.core_tokens + block.active_tokens + block.recalled_tokens
    assert sorted(lines) == sorted(item.content for item in shown)
    assert len(set(ids(shown))) == len(shown)
    assert block.left_out > 0


@pytest.mark.parametrize("budget", [1, 20, 60, 100, 300, 450, 900, 1300, 1599])
async def test_any_budget_is_a_hard_limit_for_the_whole_text(budget):
    backend = await filled(*full_memory(40))
    block = await opened(backend, "热项 7 是什么", token_budget=budget)

    assert TOKENS.count(block.text) <= block.tokens <= budget


async def test_a_small_budget_gives_up_recalled_first_then_active_and_the_core_last():
    backend = await filled(
        *(frozen(f"用户的第 {n} 个身份", id=f"z{n}") for n in range(8)),
        *(hot(f"用户偏好第 {n} 种数据库", id=f"h{n:02d}") for n in range(20)),
        *(
            an_item(
                f"数据库迁移的第 {n} 步", id=f"a{n}", status=Status.ARCHIVED, item_type="event"
            )
            for n in range(5)
        ),
    )
    query = "数据库迁移了吗？"
    whole = await opened(backend, query)
    less = await opened(backend, query, token_budget=whole.core_tokens + whole.active_tokens)
    little = await opened(backend, query, token_budget=whole.core_tokens)
    least = await opened(backend, query, token_budget=whole.core_tokens - 1)

    assert len(whole.recalled) == 5
    assert (ids(less.core), ids(less.active)) == (ids(whole.core), ids(whole.active))
    assert less.recalled == ()
    assert ids(little.core) == ids(whole.core)
    assert (little.active, little.recalled) == ((), ())
    assert ids(least.core) == ids(whole.core)[:-1]


async def test_a_large_window_gives_every_section_more_room():
    backend = await filled(*full_memory())
    block = await opened(backend, window_tokens=200_000)

    assert len(block.core) == 30
    assert len(block.active) == 40
    assert 1600 < block.tokens <= 40_000


async def test_identity_comes_first_and_the_lowest_scored_of_the_last_type_is_left_out():
    block = await opened(await filled(*full_memory(24)))
    kinds = [item.item_type for item in block.core]

    assert kinds == sorted(kinds, key=CORE_ORDER.index)
    assert kinds.count(ItemType.IDENTITY) == 10
    assert kinds.count(ItemType.PREFERENCE) < 10


async def test_the_core_is_there_whatever_the_topic():
    backend = await filled(frozen("用户叫李明", id="name"))

    assert ids((await opened(backend, "zqxv plorth 7781 nebular gasket")).core) == ["name"]


async def test_without_a_topic_the_best_forty_are_active():
    items = [hot(f"记录 {n}", id=f"h{n:02d}", importance=n / 50) for n in range(50)]
    block = await opened(await filled(*items), "你好！")

    assert sorted(ids(block.active), reverse=True) == [f"h{n:02d}" for n in range(49, 9, -1)]
    assert block.recalled == ()


async def test_on_a_topic_only_what_fits_it_and_general_items_are_active():
    backend = await filled(
        hot("数据库从 MySQL 迁移到了 PostgreSQL 16", id="fits", item_type="decision"),
        hot("用户计划明年春天去冰岛旅行", id="other", item_type="event"),
        hot("用户偏好简洁的回复", id="general", item_type="preference"),
    )

    assert set(ids((await opened(backend, "我们的数据库用的是什么？")).active)) == {
        "fits",
        "general",
    }
    assert ids((await opened(backend, "zqxv plorth 7781 nebular gasket")).active) == ["general"]


async def test_what_is_a_name_in_one_item_calls_up_all_that_hold_it():
    """[R2]: Chinese names have no capitals; the first item that names the project tells of it"""
    backend = await filled(
        hot("用户：青禾部署在 Hetzner", id="host", item_type="fact", entities=("青禾",)),
        hot("用户最后敲定青禾采用 BSD 协议", id="licence", item_type="decision"),
        hot("用户计划明年春天去冰岛旅行", id="other", item_type="event"),
    )

    assert set(ids((await opened(backend, "青禾里的搜索页帮我看一下")).active)) == {
        "host",
        "licence",
    }


async def test_a_wish_of_an_outburst_waits_until_it_is_said_calmly():
    """[F2]"""
    backend = await filled(
        hot("以后都写成一段话", id="rant", item_type="rule", evidence=Evidence.EMOTIONAL),
        hot("回答用要点列出", id="calm", item_type="rule"),
    )

    assert ids((await opened(backend, "你好！")).active) == ["calm"]


async def test_nonsense_calls_nothing_up():
    backend = await filled(
        *(
            an_item(f"Recipe {n}: tomatoes and beans", id=f"a{n}", status=Status.ARCHIVED)
            for n in range(30)
        )
    )

    assert (await opened(backend, "zqxv plorth 7781 nebular gasket")).text == ""


async def test_the_core_is_byte_identical_for_the_whole_session_and_fresh_in_the_next():
    backend = await filled(frozen("用户叫李明", id="name"), hot("likes tea", id="tea"))
    first = await opened(backend)
    await add(backend, frozen("The user is a nurse", id="job"))
    second = await opened(backend, "What do I do for a living?", lang="en")
    other = await opened(backend, session_id="s2")
    core = first.text[: first.text.index("# ")]

    assert second.text.startswith(core)
    assert ids(second.core) == ["name"]
    assert sorted(ids(other.core)) == ["job", "name"]


async def test_a_core_corrected_meanwhile_stays_and_the_new_value_stands_below():
    backend = await filled(frozen("The user's name is Dan", id="old"))
    first = await opened(backend)
    new = frozen("The user's name is Daniel", id="new", override_of="old")
    gone = a_move(
        "old", before=Status.FROZEN, after=Status.SUPERSEDED, cause=Cause.SUPERSEDED, at=NOW
    )
    old = first.core[0].with_(status=Status.SUPERSEDED)
    await write(backend, Plan(items=(old,), moves=(gone,)))
    await add(backend, new)
    second = await opened(backend)

    assert second.text.startswith(first.text.removesuffix("</dualgate-memory>\n"))
    assert ids(second.active) == ["new"]
    assert "- The user's name is Daniel (new: replaces what is said above)\n" in second.text
    assert ids((await opened(backend, session_id="s2")).core) == ["new"]


async def test_what_the_user_forgot_leaves_the_kept_core_at_once():
    backend = await filled(frozen("用户叫李明", id="a"), frozen("用户是护士", id="b", score=0.1))
    first = await opened(backend)
    gone = a_move("a", before=Status.FROZEN, after=Status.FORGOTTEN, cause=Cause.FORGOT, at=NOW)
    forgotten = first.core[ids(first.core).index("a")].with_(status=Status.FORGOTTEN)
    await write(backend, Plan(items=(forgotten,), moves=(gone,)))
    second = await opened(backend)

    assert "李明" in first.text
    assert second.text == first.text.replace("- 用户叫李明\n", "")
    assert second.tokens < first.tokens


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.SUPERSEDED},
        {"status": Status.FORGOTTEN},
        {"expires_at": NOW},
        {"sensitivity": Sensitivity.SENSITIVE, "expires_at": NOW + timedelta(days=30)},
    ],
)
@pytest.mark.parametrize("status", [Status.FROZEN, Status.CONFIRMED, Status.ARCHIVED])
async def test_superseded_forgotten_expired_and_sensitive_items_never_appear(status, changes):
    item = an_item("我们的数据库是 PostgreSQL", **{"status": status, **changes})

    assert (await opened(await filled(item), "我们的数据库是什么？")).text == ""


async def test_a_pending_override_is_not_shown():
    backend = await filled(frozen("The user prefers short answers", id="item-1"))
    await write(backend, Plan(pendings=(a_pending(),)))

    assert "long answers" not in (await opened(backend, "Which answers do I prefer?")).text


async def test_both_sides_of_a_conflict_are_asked_about_in_one_line():
    backend = await filled(
        hot("The user lives in Berlin", id="a", contested_with=("b",)),
        an_item("The user lives in Paris", id="b", contested_with=("a",), status=Status.ARCHIVED),
    )
    block = await opened(backend)

    assert ids(block.active) == ["a", "b"]
    assert "- The user lives in Berlin, or: The user lives in Paris?\n" in block.text


async def test_being_shown_at_the_start_is_an_access_but_no_relevance_hit():
    backend = await filled(frozen("用户叫李明", id="name"), hot("我们用 PostgreSQL", id="db"))
    _, uses = await start(backend, "PostgreSQL 怎么样了")

    assert {(use.item_id, use.hit, use.session_id) for use in uses} == {
        ("name", False, "s1"),
        ("db", False, "s1"),
    }


async def test_a_paused_recall_shows_nothing_and_keeps_no_core():
    backend = await filled(frozen("用户叫李明", id="name"))
    async with backend.store.begin(USER) as unit:
        await unit.set_user(recall_paused=True)
    block, uses = await start(backend)

    assert (block.text, uses) == ("", [])
    assert await backend.store.session(USER, "s1") is None


async def test_headings_follow_the_language_of_the_memory_unless_one_is_asked_for():
    zh, en = frozen("用户叫李明"), frozen("The user's name is Daniel")

    assert "## 用户画像" in (await opened(await filled(zh))).text
    assert "## Profile" in (await opened(await filled(en))).text
    assert "## Profile" in (await opened(await filled(zh), lang="en")).text


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"token_budget": 0}, "token_budget"),
        ({"window_tokens": -5}, "window_tokens"),
        ({"lang": "de"}, "lang"),
        ({"query": None}, "query"),
    ],
)
async def test_a_wrong_argument_is_named_and_nothing_is_kept(options, argument):
    backend = await filled(frozen("用户叫李明"))
    with pytest.raises(InvalidInputError) as caught:
        await opened(backend, **options)

    assert caught.value.argument == argument
    assert await backend.store.session(USER, "s1") is None


ANY_ITEM = st.tuples(
    st.text(min_size=1, max_size=120).filter(str.strip),
    st.sampled_from([Status.FROZEN, Status.CONFIRMED, Status.CANDIDATE, Status.ARCHIVED]),
    st.sampled_from(ItemType),
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(
    given_items=st.lists(ANY_ITEM, min_size=1, max_size=25),
    query=st.text(max_size=80),
    budget=st.integers(1, 900),
    again=st.integers(1, 900),
)
async def test_whatever_is_remembered_the_limits_hold_and_the_block_stays_one(
    given_items, query, budget, again
):
    items = [
        an_item(
            clean_text("content", content),
            id=f"i{n:02d}",
            status=status,
            item_type=kind,
            # every contested item disputes with its neighbour
            contested_with=(f"i{n ^ 1:02d}",) if contested else (),
        )
        for n, (content, status, kind, contested) in enumerate(given_items)
    ]
    embedder = HashEmbedder()
    backend = open_memory()
    vectors = await embedder.embed([item.content for item in items])
    by_id = {item.id: vector for item, vector in zip(items, vectors, strict=True)}
    await write(backend, a_plan(*items), vectors=by_id)

    for limit in (budget, again):
        block, _ = await open_session(
            backend.store,
            embedder,
            TOKENS,
            user_id=USER,
            session_id="s1",
            query=query,
            now=NOW,
            policy=POLICY,
            token_budget=limit,
        )
        shown = ids((*block.core, *block.active, *block.recalled))

        assert TOKENS.count(block.text) <= block.tokens <= limit
        assert len(set(shown)) == len(shown)
        assert block.text.count("<") == block.text.count(">") == (2 if shown else 0)
        assert bool(shown) == bool(block.text)
