"""Facts about a recall: four paths, one gate, nothing that is not asked for [R2, R3, R5]."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.memory import open_memory
from dualgate.adapters.tokens import TiktokenCounter
from dualgate.domain.fusion import PathWeights
from dualgate.domain.plan import Plan
from dualgate.domain.relevance import TopicGate
from dualgate.domain.status import Cause, Status
from dualgate.domain.types import ItemType, Sensitivity
from dualgate.errors import InvalidInputError
from dualgate.pipeline.recall import recall
from dualgate.pipeline.recipes import ReadPolicy, Recipe
from dualgate.testing.backend import write
from dualgate.testing.builders import MONDAY, USER, a_move, a_plan, an_item

EMBEDDER = UseEmbedder()  # the thresholds are those of the real model
TOKENS = TiktokenCounter()
POLICY = ReadPolicy()
NOW = MONDAY + timedelta(days=10)

FACTS = [
    ("用户叫李明", ItemType.IDENTITY),
    ("用户偏好简洁的回复，不要铺垫", ItemType.PREFERENCE),
    ("用户对花生和虾过敏", ItemType.CONSTRAINT),
    ("项目代号是 Phoenix，是一个医院数据分析平台", ItemType.PROJECT),
    ("数据库从 MySQL 迁移到了 PostgreSQL 16", ItemType.DECISION),
    ("决定采用方案B，因为成本可控", ItemType.DECISION),
    ("季度报告下周一之前要交", ItemType.COMMITMENT),
    ("The user has an orange cat named Mochi", ItemType.FACT),
    ("The user goes running on Tuesday and Thursday evenings", ItemType.EVENT),
]


def facts(**changes):
    made = []
    for n, (content, kind) in enumerate(FACTS):
        fields = {"id": f"f{n}", "item_type": kind, "status": Status.CONFIRMED, **changes}
        made.append(an_item(content, **fields))
    return made


async def filled(*items):
    backend = open_memory()
    vectors = await EMBEDDER.embed([item.content for item in items])
    by_id = {item.id: vector for item, vector in zip(items, vectors, strict=True)}
    await write(backend, a_plan(*items), vectors=by_id)
    return backend


async def ask(backend, query, **options):
    options = {"user_id": USER, "now": NOW, "policy": POLICY, **options}
    return await recall(backend.store, EMBEDDER, TOKENS, query=query, **options)


async def ids(backend, query, **options):
    found, _ = await ask(backend, query, **options)
    return [hit.item.id for hit in found.hits]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("我叫什么名字？", "f0"),
        ("聚餐点菜有什么我不能吃的？", "f2"),
        ("我们现在用的是哪种数据库？", "f4"),
        ("上次我们为什么选了那个方案？", "f5"),
        ("Phoenix 的进展", "f3"),
        ("What's my pet called?", "f7"),
        ("我平时什么时候锻炼？", "f8"),
    ],
)
async def test_a_question_in_other_words_or_another_language_finds_its_answer(query, best):
    found, _ = await ask(await filled(*facts()), query)

    assert found.hits[0].item.id == best
    assert found.on_topic
    assert found.hits[0].item.content in found.text.replace("’", "'")


@pytest.mark.parametrize(
    "query",
    [
        "谢谢",
        "Thank you so much!",
        "👍",
        "zqxv plorth 7781 nebular gasket",
        "呜哩哇啦咕噜咕噜",
        "!!!",
    ],
)
async def test_courtesy_and_nonsense_bring_nothing(query):
    found, uses = await ask(await filled(*facts()), query)

    assert found.hits == ()
    assert not found.on_topic
    assert found.text == ""
    assert uses == []


@pytest.mark.parametrize(
    "query",
    ["解释一下量子纠缠", "How do I roast a chicken", "写一段快速排序的代码", "Tell me a joke"],
)
async def test_an_unknown_subject_brings_at_most_identity_and_preference(query):
    found, uses = await ask(await filled(*facts()), query)

    assert not found.on_topic
    assert {h.item.item_type for h in found.hits} <= {ItemType.IDENTITY, ItemType.PREFERENCE}
    assert not any(use.hit for use in uses)


async def test_a_fresh_item_of_the_expected_type_is_no_hit_by_that_alone():
    backend = await filled(an_item("Option B was chosen", item_type=ItemType.DECISION))

    assert await ids(backend, "为什么恐龙灭绝了，怎么决定的") == []


async def test_every_hit_explains_its_relevance_on_all_four_paths():
    found, uses = await ask(await filled(*facts()), "我们现在用的是哪种数据库？PostgreSQL 吗")
    best = found.hits[0]

    assert set(best.paths) == {"semantic", "entity", "recency", "type"}
    assert all(0 <= value <= 1 for value in best.paths.values())
    assert best.relevance == pytest.approx(
        0.5 * best.paths["semantic"]
        + 0.3 * best.paths["entity"]
        + 0.1 * best.paths["recency"]
        + 0.1 * best.paths["type"]
    )
    assert uses[0].hit
    assert uses[0].query_relevance == best.relevance
    assert [hit.relevance for hit in found.hits] == sorted(
        (hit.relevance for hit in found.hits), reverse=True
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.SUPERSEDED},
        {"status": Status.FORGOTTEN},
        {"expires_at": NOW},
        {"sensitivity": Sensitivity.SENSITIVE, "expires_at": NOW + timedelta(days=30)},
    ],
)
async def test_superseded_forgotten_expired_and_sensitive_items_are_not_recalled(changes):
    assert await ids(await filled(*facts(**changes)), "我们现在用的是哪种数据库？") == []


async def test_sensitive_items_come_only_on_request():
    until = NOW + timedelta(days=30)
    backend = await filled(*facts(sensitivity=Sensitivity.SENSITIVE, expires_at=until))

    assert await ids(backend, "聚餐点菜有什么我不能吃的？", sensitive=True) == ["f2"]


async def test_archived_items_are_found_unless_declined():
    backend = await filled(*facts(status=Status.ARCHIVED))

    assert (await ids(backend, "我们现在用的是哪种数据库？"))[0] == "f4"
    assert await ids(backend, "我们现在用的是哪种数据库？", archived=False) == []


async def test_only_the_item_types_asked_for_come_back():
    backend = await filled(*facts())
    found = await ids(backend, "我们的项目 Phoenix 用什么数据库？", item_types=["decision"])

    assert found == ["f4"]


async def test_someone_elses_fact_stands_behind_the_users_own():
    mine = an_item("用户养了一只猫", id="mine", item_type=ItemType.FACT)
    his = an_item("张伟养了一只猫叫豆豆", id="his", item_type=ItemType.FACT, subject="张伟")
    backend = await filled(mine, his)

    assert (await ids(backend, "我养了什么猫"))[0] == "mine"
    assert (await ids(backend, "张伟的猫叫什么"))[0] == "his"


async def test_both_sides_of_a_conflict_come_back_together_as_a_question():
    a = an_item("用户住在北京", id="a", item_type=ItemType.IDENTITY, contested_with=("b",))
    b = an_item(
        "I now live by the sea", id="b", item_type=ItemType.IDENTITY, contested_with=("a",)
    )
    backend = await filled(a, b, *facts())
    found, _ = await ask(backend, "我住在北京吗", limit=2)

    assert [hit.item.id for hit in found.hits] == ["a", "b"]
    assert "用户住在北京，还是：I now live by the sea？" in found.text


async def test_a_forgotten_rival_does_not_come_back_with_the_other_side():
    a = an_item("用户住在北京", id="a", item_type=ItemType.IDENTITY, contested_with=("b",))
    b = an_item("用户住在上海", id="b", contested_with=("a",), status=Status.FORGOTTEN)

    assert await ids(await filled(a, b), "我住在哪里，北京吗") == ["a"]


async def test_a_limit_is_kept_and_the_best_come_first():
    items = [an_item(f"用户在学习乐器，第 {n} 种", id=f"i{n}") for n in range(30)]
    backend = await filled(*items)
    ten = await ids(backend, "我在学什么乐器？")

    assert len(ten) == 10
    assert await ids(backend, "我在学什么乐器？", limit=3) == ten[:3]


async def test_as_of_answers_what_was_believed_then_and_counts_no_use():
    old = an_item("我们使用 MySQL 数据库", id="old", item_type=ItemType.PROJECT)
    backend = await filled(old)
    changed = NOW - timedelta(days=1)
    new = an_item(
        "我们使用 PostgreSQL 数据库",
        id="new",
        item_type=ItemType.PROJECT,
        created_at=changed,
        override_of="old",
    )
    gone = a_move(
        "old",
        before=Status.CANDIDATE,
        after=Status.SUPERSEDED,
        cause=Cause.SUPERSEDED,
        at=changed,
    )
    vector = (await EMBEDDER.embed([new.content]))[0]
    await write(
        backend,
        Plan(items=(old.with_(status=Status.SUPERSEDED),), moves=(gone,)),
    )
    await write(backend, a_plan(new), vectors={"new": vector})
    before, uses = await ask(backend, "我们用什么数据库？", as_of=changed - timedelta(hours=1))

    assert [hit.item.id for hit in before.hits] == ["old"]
    assert uses == []
    assert await ids(backend, "我们用什么数据库？") == ["new"]


async def test_what_the_memory_said_itself_is_no_query():
    backend = await filled(*facts())
    block = (await ask(backend, "我们现在用的是哪种数据库？"))[0].text

    assert await ids(backend, f"{block}谢谢") == []


async def test_a_paused_recall_brings_nothing():
    backend = await filled(*facts())
    async with backend.store.begin(USER) as unit:
        await unit.set_user(recall_paused=True)

    assert await ids(backend, "我叫什么名字？") == []


async def test_another_users_items_are_never_found():
    backend = await filled(*facts())

    assert await ids(backend, "我叫什么名字？", user_id="bob") == []


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": True}, "limit"),
        ({"item_types": ["mood"]}, "item_types"),
        ({"as_of": MONDAY.replace(tzinfo=None)}, "as_of"),
        ({"recipe": "secret"}, "recipe"),
        ({"lang": "fr"}, "lang"),
        ({"query": 5}, "query"),
    ],
)
async def test_a_wrong_argument_is_named(options, argument):
    options = {"query": "我叫什么名字？", **options}
    with pytest.raises(InvalidInputError) as caught:
        await ask(await filled(*facts()), options.pop("query"), **options)

    assert caught.value.argument == argument


@pytest.mark.parametrize("query", ["😀" * 5_000, "\ud83d broken", "a\x00b", "数据库" * 400_000])
async def test_any_text_can_be_asked(query):
    found, _ = await ask(await filled(*facts()), query)

    assert len(found.hits) <= len(FACTS)


async def test_a_recipe_of_the_callers_own_changes_the_bars():
    backend = await filled(*facts())
    strict = Recipe(name="strict", gate=TopicGate(semantic=0.99, semantic_personal=0.99, entity=1))

    assert await ids(backend, "我平时什么时候锻炼？", recipe=strict) == []
    assert await ids(backend, "我平时什么时候锻炼？", recipe="wide") != []


def test_the_default_policy_has_no_problems_and_a_broken_one_names_all():
    broken = ReadPolicy(
        recipe="none",
        found_tokens=0,
        recipes={"x": Recipe(name="y", weights=PathWeights(semantic=0, entity=0), near=0)},
    )

    assert POLICY.problems() == []
    assert len(broken.problems()) == 5
