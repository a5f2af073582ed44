"""What comes back, and what must not: recall quality of real questions [R1-R5].

Faults that were reported of memory layers, retold; S0xx is the report's number. The items are told
by the host, the embedder and the gates are real.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dualgate import Candidate

from .talk import USER, Talk, contents


async def knows(talk: Talk, item_type: str, *texts: str, **fields: object) -> None:
    """Let the host tell facts, each in a session of its own."""
    for text in texts:
        talk.clock.advance(days=1)
        made = Candidate(item_type, text, confidence=0.9, **fields)  # type: ignore[arg-type]
        await talk.memory.propose(USER, f"told {text[:30]}", [made], wait=True)


def shown(block: object) -> Sequence[str]:
    """Return what stands in the three sections of a block."""
    return contents([*block.core, *block.active, *block.recalled])  # type: ignore[attr-defined]


KITCHEN = {
    "en": (
        "The user bakes rye bread on Saturdays", "The user grows tomatoes on the balcony",
        "The user's oven has no fan", "The user waters the beans in the evening",
        "The user keeps basil by the window", "The user boils eggs for seven minutes",
        "The user prunes the pear tree in February", "The user's favourite knife is a santoku",
        "The user pickles cucumbers in June", "The user composts coffee grounds",
    ),
    "zh": (
        "用户周六烤黑麦面包", "用户在阳台种番茄", "用户的烤箱没有风扇", "用户傍晚给豆角浇水",
        "用户把罗勒放在窗边", "用户煮蛋煮七分钟", "用户二月修剪梨树", "用户最爱用三德刀",
        "用户六月腌黄瓜", "用户用咖啡渣堆肥",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("lang", "query"),
    [
        ("en", "zqxv plorth 7781 nebular gasket"),  # S083
        ("en", "qwpl xzzt 40417"),
        ("zh", "嗖哩咕噜 七七八一 吡嘞"),
        ("zh", "zqxv 星云垫片 7781"),
    ],
)
async def test_a_query_that_nothing_fits_brings_nothing_out_of_a_full_memory(
    talk: Talk, lang: str, query: str
) -> None:
    """S083 [R3]: never a padded top-k, in recall or at the start of a session"""
    await knows(talk, "fact", *KITCHEN[lang])
    block = await talk.memory.context(USER, "now", query)

    assert len(await talk.active()) == len(KITCHEN[lang])
    assert await talk.recalled(query) == []
    assert contents(block.recalled) == []


@pytest.mark.parametrize(
    ("first", "second", "query"),
    [
        ("The user plays badminton on Tuesdays", "The user paints model trains on Fridays",
         "badminton"),  # S085
        ("The user paints model trains on Fridays", "The user plays badminton on Tuesdays",
         "Which day are the model trains?"),
        ("用户每周二打羽毛球", "用户每周五给火车模型上色", "羽毛球"),
        ("用户每周五给火车模型上色", "用户每周二打羽毛球", "哪天做火车模型？"),
    ],
)  # fmt: skip
async def test_the_best_answer_comes_first_and_higher_means_better(
    talk: Talk, first: str, second: str, query: str
) -> None:
    """S085 [R2]"""
    await knows(talk, "fact", second, first)  # what fits is the newer one only by accident
    for order in range(2):
        found = await talk.memory.recall(USER, query)
        relevances = [hit.relevance for hit in found.hits]

        assert found.hits[0].item.content == first
        assert relevances == sorted(relevances, reverse=True)
        if order == 0:
            other = next(i for i in await talk.active() if i.content == second)
            await talk.memory.like(USER, other.id)  # standing is no relevance


@pytest.mark.parametrize(
    ("general", "project", "topics", "opening"),
    [
        (  # S087
            (("identity", "用户是护士，住在青岛"), ("preference", "用户喜欢简短的回答")),
            "青鸟项目",
            ("用红色主题", "数据库是 PostgreSQL", "周四发布", "由林岚测试", "日志保留九十天",
             "预算三万", "接口用 REST", "部署在乙云", "代号是青鸟"),
            "你在线吗？回我一个数字就行。",
        ),
        (
            (("identity", "The user is a nurse in Leeds"),
             ("preference", "The user likes short answers")),
            "Project Osprey ",
            ("has a red theme", "runs on PostgreSQL", "ships on Thursdays", "is tested by Dana",
             "keeps logs for ninety days", "has a budget of 30k", "speaks REST",
             "runs in the second region", "began in May"),
            "Are you there? Just send me a digit.",
        ),
    ],
)  # fmt: skip
async def test_small_talk_at_the_start_calls_no_project_up(
    talk: Talk, general: tuple[tuple[str, str], ...], project: str, topics: tuple[str, ...],
    opening: str,
) -> None:  # fmt: skip
    """S087 [R1, R3]: who the user is and how he likes it stays

    The report wants no project line in the whole block. The specification wins: an opening without
    a topic still shows the best-scored active items, but nothing is *recalled* for it.
    """
    for item_type, text in general:
        for n in range(3):
            made = Candidate(item_type, text, confidence=0.95)
            await talk.memory.propose(USER, f"{item_type} {n}", [made], wait=True)
    await knows(talk, "project", *(project + topic for topic in topics))
    block = await talk.memory.context(USER, "now", opening)

    assert len(await talk.active(project.strip())) == len(topics)
    assert {text for _, text in general} <= set(shown(block))
    assert [text for text in contents(block.recalled) if project in text] == []
    assert [text for text in await talk.recalled(opening) if project in text] == []


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("储物柜编号是七十一", "我的柜子是几号"),  # S090
        ("储物柜编号是七十一", "放东西的那个格子，编号你还有吗"),
        ("储物柜编号是七十一", "What is the number of my storage locker?"),
        ("The user's locker has the number 71", "Which locker is mine?"),
        ("The user's locker has the number 71", "我的储物柜是几号？"),
    ],
)
async def test_a_fact_is_found_in_other_words_and_in_the_other_language(
    talk: Talk, stored: str, query: str
) -> None:
    """S090 [R2]: among the first three; "locker number?" alone, for 储物柜, is still missed"""
    await knows(talk, "fact", *KITCHEN["zh"][:5], *KITCHEN["en"][:5], stored)

    assert stored in (await talk.recalled(query))[:3]


@pytest.mark.parametrize(
    ("private", "fitting", "opening"),
    [
        ("The user recently separated", "The user is vegetarian",
         "Plan a weekend menu for guests."),  # S094
        ("用户最近离婚了", "用户吃素", "帮我给客人安排一份周末菜单。"),
    ],
)  # fmt: skip
async def test_what_is_sensitive_does_not_come_up_with_a_menu(
    talk: Talk, private: str, fitting: str, opening: str
) -> None:
    """S094 [R5, P1]"""
    await knows(talk, "event", private, sensitivity="sensitive")
    await knows(talk, "identity", fitting)
    block = await talk.memory.context(USER, "now", opening)

    assert shown(block) == [fitting]
    assert private not in block.text
    assert private not in await talk.recalled(opening)
