"""What people really type, in the kinds that the local readers do not get right yet [W4, C1].

A plain `pytest` does not collect this file, since it is the list of what is open, not of what
holds: `pytest tests/scenarios/open_kinds.py` shows how much is left. Each test stands as it must
be; what passes in both languages moves to test_faults_reading.py. S0xx is the number of the report
that a test retells.
"""

from __future__ import annotations

import re
from datetime import date
from zoneinfo import ZoneInfo

import pytest

from dualgate import Candidate

from .talk import USER, Talk, contents

SHANGHAI = ZoneInfo("Asia/Shanghai")

# --- negation


@pytest.mark.parametrize(
    ("line", "topic", "negation"),
    [
        ("以后不用每次都跟我确认时间。", "确认时间", "不用|无需|不必"),  # S049
        ("From now on don't ask me before you save a file.", "save", "don't|not|without|never"),
        ("别再给我推荐短视频了。", "短视频", "别|不"),
        ("Never put emoji in your replies to me.", "emoji", "never|no|not|without"),
    ],
)
async def test_a_rule_keeps_its_negation(talk: Talk, line: str, topic: str, negation: str) -> None:
    await talk.says(line)

    (item,) = await talk.active(topic)
    assert re.search(negation, item.content, re.IGNORECASE)
    assert item.polarity == "-"


@pytest.mark.parametrize(
    "lines",
    [
        (  # S052
            "I don't like scented candles.",
            "I can not stand squeaky chairs.",
            "I loathe phone calls before ten.",
        ),
        ("我不喜欢香薰蜡烛。", "我受不了椅子吱呀响。", "我最烦十点前来电话。"),
    ],
)
async def test_a_dislike_is_a_preference_however_strong(
    talk: Talk, lines: tuple[str, ...]
) -> None:
    await talk.says(*lines)

    items = await talk.active()
    assert len(items) == len(lines)
    assert {(i.item_type, i.polarity) for i in items} == {("preference", "-")}


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("我不是不喜欢你写长文，其实挺喜欢长文的。", "长文"),
        ("I don't dislike long walks, I love them actually.", "walks"),
        ("Whenever I travel, I take the train.", "train"),
        ("我没有一天不喝茶。", "茶"),
    ],
)
async def test_a_double_negation_or_whenever_is_no_denial(
    talk: Talk, line: str, topic: str
) -> None:
    await talk.says(line)

    found = await talk.active(topic)
    assert [i.polarity for i in found] in (["+"], ["+", "+"])


@pytest.mark.parametrize(
    ("first", "then", "new", "old"),
    [
        (  # S051
            "I use Emacs.", "Emacs is gone from my laptop and I don't miss it; Kakoune it is.",
            "Kakoune", "uses? Emacs",
        ),
        ("我用 Emacs 写代码。", "Emacs 我已经不用了，现在换成 Helix 了。", "Helix", "用 Emacs"),
        ("I take sugar in coffee.", "I no longer take sugar in coffee.", "no longer", "takes"),
        ("我住在青岛。", "我搬家了，现在住在成都。", "成都", "住在青岛"),
        ("I live in Leeds.", "I moved, I live in York now.", "York", "lives in Leeds"),
    ],
)  # fmt: skip
async def test_no_longer_leaves_the_old_value_behind(
    talk: Talk, first: str, then: str, new: str, old: str
) -> None:
    await talk.says(first)
    assert len(await talk.active(old)) == 1
    await talk.says(then)

    assert len(await talk.active(new)) == 1
    assert [i.content for i in await talk.active(old) if i.polarity == "+"] == []


# --- temporal


@pytest.mark.parametrize(
    ("line", "at", "zone", "day", "bare"),
    [
        ("昨天刚做完体检，医生说血脂偏高，三个月后复查。", "2026-03-02T09:00:00+08:00",
         SHANGHAI, date(2026, 3, 1), "昨天"),  # S053
        ("We signed the lease last Friday.", "2025-09-10T12:00:00+00:00", ZoneInfo("UTC"),
         date(2025, 9, 5), "last Friday"),  # S054
        ("今天入职第一天。", "2026-05-01T00:30:00+08:00", SHANGHAI, date(2026, 5, 1), "今天"),
        ("前天我们领证了。", "2026-01-02T23:30:00+08:00", SHANGHAI, date(2025, 12, 31), "前天"),
        ("My daughter was born yesterday.", "2026-03-01T00:10:00-08:00",
         ZoneInfo("America/Los_Angeles"), date(2026, 2, 28), "yesterday"),
        ("I have my driving test next Monday.", "2026-03-04T10:00:00+00:00", ZoneInfo("UTC"),
         date(2026, 3, 9), "next Monday"),
    ],
)  # fmt: skip
async def test_a_relative_day_is_the_speakers_own_day(
    talk: Talk, line: str, at: str, zone: ZoneInfo, day: date, bare: str
) -> None:
    """S053, S054, S055 [W4]"""
    await talk.says(line, session="s1", at=at)

    items = await talk.active()
    assert day in {i.event_at.astimezone(zone).date() for i in items if i.event_at}
    assert not any(bare in i.content for i in items)


async def test_old_sessions_keep_their_own_time(talk: Talk) -> None:
    """S056: imported history is as old as it is"""
    await talk.says(
        "I rent a studio near the canal.", session="b1", at="2024-02-02T10:00:00+00:00"
    )
    await talk.says("I own a grey bicycle.", session="b2", at="2024-03-02T10:00:00+00:00")
    await talk.says("I own a blue kayak.", session="b3")

    (bicycle,) = await talk.active("bicycle|grey") or await talk.any("bicycle|grey")
    (kayak,) = await talk.active("kayak")
    assert (bicycle.created_at.year, bicycle.last_seen_at.year) == (2024, 2024)
    assert bicycle.score < kayak.score
    assert {i.created_at.year for i in await talk.any("studio")} == {2024}


@pytest.mark.parametrize(
    ("lines", "query", "wanted"),
    [
        (  # S033
            (
                (
                    "From January to March I was lent to the lighting crew.",
                    "2026-04-02T09:00:00+00:00",
                ),
                ("Since July I'm with the lighting crew again.", "2026-07-15T09:00:00+00:00"),
            ),
            "Which crew am I with?",
            "again",
        ),
        (
            (
                ("去年一月到三月我被借调到灯光组。", "2026-04-02T09:00:00+08:00"),
                ("从七月起我又回灯光组了。", "2026-07-15T09:00:00+08:00"),
            ),
            "我现在在哪个组？",
            "又",
        ),
    ],
)
async def test_two_stays_in_the_same_place_are_two_items(
    talk: Talk, lines: tuple[tuple[str, str], ...], query: str, wanted: str
) -> None:
    for n, (line, at) in enumerate(lines):
        await talk.says(line, session=f"s{n}", at=at)

    assert len(await talk.active("lighting|灯光")) == 2
    assert wanted in " ".join(await talk.recalled(query))


# --- contradiction and overwrite-loss


@pytest.mark.parametrize(
    ("lines", "new", "old"),
    [
        (("My standing desk is set to 104 cm.",  # S003
          "I raised the standing desk, it stays at 110 cm from now on."), "110", "104"),
        (("我的升降桌调到一百零四厘米。", "升降桌我调高了，以后就一百一十厘米。"), "一百一十|110",
         "一百零四|104"),
        (("Our staging server runs Debian 11.", "Our staging server runs Debian 12 now."), "12",
         "11"),
    ],
)  # fmt: skip
async def test_a_new_setting_replaces_the_old_one(
    talk: Talk, lines: tuple[str, ...], new: str, old: str
) -> None:
    await talk.says(lines[0])
    assert len(await talk.active(old)) == 1
    await talk.says(lines[1])

    assert len(await talk.active(new)) == 1
    assert contents(await talk.active(old)) == []


@pytest.mark.parametrize(
    ("lines", "query", "new", "old"),
    [
        (  # S006
            (
                "我在社区图书馆做编目。",
                "今天编目组又加班了。",
                "编目工作干了三年，熟得很。",
                "我上周离职了，现在在一家出版社做校对。",
            ),
            "我现在做什么工作",
            "出版社|校对",
            "在社区图书馆做编目",
        ),
        (
            (
                "I catalogue books at the city library.",
                "Overtime again today.",
                "I quit last week, I'm a proofreader at a publisher now.",
            ),
            "What is my job now?",
            "proofreader|publisher",
            "catalogues? books at the city library",
        ),
    ],
)
async def test_a_new_job_is_the_first_answer_and_upkeep_leaves_it_so(
    talk: Talk, lines: tuple[str, ...], query: str, new: str, old: str
) -> None:
    await talk.says(lines[0])
    assert len(await talk.active(old)) == 1
    for line in lines[1:]:
        await talk.says(line)
        await talk.memory.maintain(USER)

    assert re.search(new, (await talk.recalled(query))[0])
    assert contents(await talk.active(old)) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("Rig Osprey passed the load test with the small profile.",  # S007
         "Rig Osprey passed the load test with the large profile.", "Rig Osprey is painted grey."),
        ("青鸟号通过了小负载测试。", "青鸟号通过了大负载测试。", "青鸟号漆成了灰色。"),
    ],
)  # fmt: skip
async def test_three_facts_about_one_thing_live_together(
    talk: Talk, lines: tuple[str, ...]
) -> None:
    for line in lines:
        await talk.says(line)

    assert len(await talk.active("Osprey|青鸟")) == 3
    assert [i for i in await talk.any() if i.status == "superseded"] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Rig Osprey passed the load test with the small profile",
            "Rig Osprey passed the load test with the large profile",
        ),
        ("Locker 12 holds the rope", "Locker 14 holds the lamp"),
        ("The meeting with Ana is on 3 May", "The meeting with Ben is on 9 May"),
        ("一号柜子放雨伞", "二号柜子放手套"),
        ("和小王的会在五月三号", "和小李的会在五月九号"),
        ("项目甲的预算是三万", "项目乙的预算是八万"),
    ],
)
async def test_a_fact_about_another_thing_replaces_nothing(
    talk: Talk, one: str, other: str
) -> None:
    """S007 [C1]: told by the host, so only the judge can be wrong"""
    for n, content in enumerate((one, other)):
        made = Candidate("fact", content, confidence=0.9)
        await talk.memory.propose(USER, f"s{n}", [made], wait=True)

    assert sorted(contents(await talk.active())) == sorted((one, other))


# --- duplicate and over-merge


@pytest.mark.parametrize(
    ("lines", "topic"),
    [
        (("我吃素。", "我不吃肉的，只吃素菜。", "点菜记得给我全素。"), "素"),  # S018
        (("我对花生过敏。", "我对花生过敏。", "我不能吃花生，会过敏。"), "花生"),  # S008
        (("I'm vegetarian.", "I don't eat meat, only vegetables.", "I am a vegetarian."),
         "vegetarian|meat"),
        (("I'm allergic to peanuts.", "I have a peanut allergy.", "I'm allergic to peanuts."),
         "peanut"),
    ],
)  # fmt: skip
async def test_the_same_fact_in_three_sessions_is_one_item_with_three_confirmations(
    talk: Talk, lines: tuple[str, ...], topic: str
) -> None:
    for line in lines:
        await talk.says(line)

    (item,) = await talk.active(topic)
    assert item.confirm_count == 3
    assert len((await talk.memory.history(USER, item.id)).signals) == 3


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("给我讲东西的时候多打比方。", "打比方要用厨房里的东西。"), ("打比方", "厨房")),  # S028
        (("仓库甲的门禁码换成了尾号四的那张卡。", "仓库乙的门禁码换成了尾号七的那张卡。"),  # S031
         ("仓库甲.*四", "仓库乙.*七")),
        (("Explain things to me with analogies.", "Take the analogies from cooking."),
         ("analog", "cooking")),
        (("青鸟项目用红色主题。", "白鹭项目用绿色主题。"), ("青鸟.*红", "白鹭.*绿")),  # S100
    ],
)  # fmt: skip
async def test_two_wishes_on_one_subject_both_stay(
    talk: Talk, lines: tuple[str, ...], words: tuple[str, ...]
) -> None:
    for line in lines:
        await talk.says(line)

    text = "\n".join(contents(await talk.active()))
    for word in words:
        assert re.search(word, text)


# --- attribution


@pytest.mark.parametrize(
    ("line", "patterns"),
    [
        ("我叫林岚，在杭州做护士，养了一只叫麻薯的猫。", ("林岚", "护士", "麻薯")),
        (
            "I'm Dana, I work as a nurse in Leeds and I have a cat called Mochi.",
            ("Dana", "nurse", "Mochi"),
        ),
    ],
)
async def test_several_facts_in_one_turn_are_all_kept(
    talk: Talk, line: str, patterns: tuple[str, ...]
) -> None:
    await talk.says(line)

    for pattern in patterns:
        assert len(await talk.active(pattern)) == 1


# --- cjk-text, unicode, long-input


@pytest.mark.parametrize(
    ("fact", "filler", "pattern"),
    [
        ("我的工号是四七一一。", "今天的云很好看，风也不大。", "四七一一|4711"),  # S109
        ("My locker number is 4711.", "The bus was a bit late and the sky was grey. ", "4711"),
    ],
)
async def test_a_fact_at_the_head_of_a_long_turn_is_found(
    talk: Talk, fact: str, filler: str, pattern: str
) -> None:
    await talk.says(fact + filler * (2_000 // len(filler)))

    assert len(await talk.active(pattern)) == 1


@pytest.mark.parametrize(
    ("fact", "chat", "pattern"),
    [
        ("By the way, I never fly, only trains.", "Nice weather, isn't it?", "fly|trains"),  # S110
        ("对了，我从来不坐飞机，只坐火车。", "哈哈，是啊。", "飞机|火车"),
    ],
)
async def test_a_fact_in_the_first_of_forty_turns_is_kept_with_its_no(
    talk: Talk, fact: str, chat: str, pattern: str
) -> None:
    for line in (fact, *[chat] * 39):
        await talk.says(line, session="s1")

    found = await talk.active(pattern)
    assert len(found) == 1
    assert found[0].polarity == "-"


# --- injection, control case


@pytest.mark.parametrize(
    "line",
    ["From now on answer me in Chinese.", "以后都用英文回答我。"],  # S151
)
async def test_the_users_own_rule_is_kept_once(talk: Talk, line: str) -> None:
    await talk.says(line)

    (item,) = await talk.active()
    assert item.item_type in ("rule", "preference")
    (signal,) = (await talk.memory.history(USER, item.id)).signals
    assert signal.source == "local"


@pytest.mark.parametrize(
    "lines",
    [
        ("Don't use tables in your answers.", "I said no tables.", "No tables!",
         "Once more: no tables, please."),
    ],
)  # fmt: skip
async def test_saying_it_five_times_in_a_row_is_saying_it_once(
    talk: Talk, lines: tuple[str, ...]
) -> None:
    for line in lines:
        await talk.says(line, session="the only one")

    (item,) = await talk.active("表格|tables?")
    assert item.confirm_count == 1
    assert item.status != "frozen"
    assert len(re.findall("表格|tables?", await talk.context())) == 1


@pytest.mark.parametrize(
    "lines",
    [
        ("We're up by six in the second set.", "I'm looking at the third slide now."),  # S060
    ],
)
async def test_the_business_of_the_moment_is_gone_with_its_session(
    talk: Talk, lines: tuple[str, ...]
) -> None:
    """[L2, W4]"""
    await talk.says(*lines, session="s1")
    await talk.memory.end_session(USER, "s1")
    talk.clock.advance(days=1)

    assert contents(await talk.active()) == []
    assert await talk.context() == ""
