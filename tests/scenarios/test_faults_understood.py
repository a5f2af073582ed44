"""What a model or the host understood rightly is kept rightly: updates, repeats, negation, time.

The reports of these kinds in plain words, as the local extractor reads them, stand in
test_faults_reading.py, and what it does not read yet in open_kinds.py. Here a model of one's own,
or the host, has read them, so that only the gates can be wrong. S0xx is the report's number.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from dualgate import Candidate, Memory, Message, Settings
from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.pipeline.ports import ModelTask
from dualgate.testing import HashEmbedder, ManualClock, Question, ScriptedExtractor, ScriptedModel

from .own_model import NOTHING, QUICK, hears, memory_with, policy, said, statement
from .talk import START, TRUST, USER, Talk, contents

Told = tuple[str, dict[str, Any]]
SHANGHAI = ZoneInfo("Asia/Shanghai")


class Reader:
    """A model that reads each turn as scripted, and says a word as judge of overlaps."""

    def __init__(self, read: dict[str, list[dict[str, Any]]], judged: str = "different") -> None:
        self._read = read
        self._judged = judged

    def __call__(self, question: Question) -> object:
        if question.task is ModelTask.JUDGE:
            pairs = question.shown["pairs"]
            return {"pairs": [{"pair": p["pair"], "relation": self._judged} for p in pairs]}
        text = "\n".join(message.content for message in question.messages)
        for line, statements in self._read.items():
            if line in text:
                return said(*statements)
        return NOTHING


async def live(memory: Memory, clock: ManualClock, *lines: str) -> Talk:
    """Let the user say each line in a session of its own, a day apart."""
    for n, line in enumerate(lines):
        clock.advance(days=1)
        await hears(memory, line, session=f"session {n}")
    return Talk(memory, clock)


def read_as(
    lines: tuple[str, ...], told: tuple[Told, ...], **more: Any
) -> dict[str, list[dict[str, Any]]]:
    return {
        line: [statement(content, line, **{**more, **fields})]
        for line, (content, fields) in zip(lines, told, strict=True)
    }


# --- contradiction


@pytest.mark.parametrize("judged", ["same", "conflict", "different"])
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (  # S003
            ("My standing desk is set to 104 cm.",
             "I raised the standing desk, it stays at 110 cm from now on."),
            (("The user's standing desk is at 104 cm", {"value": "104 cm"}),
             ("The user's standing desk is at 110 cm", {"value": "110 cm", "correction": True})),
        ),
        (
            ("我的升降桌调到一百零四厘米。", "升降桌调高了，以后就一百一十厘米。"),
            (("用户的升降桌高一百零四厘米", {"value": "104 cm"}),
             ("用户的升降桌高一百一十厘米", {"value": "110 cm", "correction": True})),
        ),
    ],
)  # fmt: skip
async def test_the_new_wording_is_the_one_that_is_kept_whatever_a_judge_says(
    lines: tuple[str, ...], told: tuple[Told, ...], judged: str
) -> None:
    """S003 [C1]: a judge answers with a relation and never with a text, so it cannot bring the old
    sentence back
    """
    clock = ManualClock(START)
    model = ScriptedModel(Reader(read_as(lines, told, attribute="desk_height"), judged))
    async with memory_with(model, clock=clock) as memory:
        talk = await live(memory, clock, *lines)

        (item,) = await talk.active()
        assert item.content == told[1][0]
        (gone,) = [i for i in await talk.any() if i.status == "superseded"]
        assert (gone.content, gone.id) == (told[0][0], item.override_of)


@pytest.mark.parametrize(
    ("lines", "told", "query", "old"),
    [
        (  # S006
            ("我在社区图书馆做编目。", "今天编目组又加班了。", "编目工作干了三年，熟得很。",
             "我上周离职了，现在在一家出版社做校对。"),
            (("用户在社区图书馆做编目", {"attribute": "job", "value": "图书馆编目"}),
             ("编目组今天加班", {"scope": "moment"}),
             ("用户做编目工作三年了", {"attribute": "job", "value": "图书馆编目"}),
             ("用户在出版社做校对", {"attribute": "job", "value": "出版社校对",
                            "correction": True})),
            "我现在做什么工作", "用户在社区图书馆做编目",
        ),
        (
            ("I catalogue books at the city library.", "Overtime again today.",
             "Three years of cataloguing, I know it by heart.",
             "I quit last week, I'm a proofreader at a publisher now."),
            (("The user catalogues books at the city library",
              {"attribute": "job", "value": "cataloguer"}),
             ("The user works overtime today", {"scope": "moment"}),
             ("The user has catalogued for three years",
              {"attribute": "job", "value": "cataloguer"}),
             ("The user is a proofreader at a publisher",
              {"attribute": "job", "value": "proofreader", "correction": True})),
            "What is my job now?", "The user catalogues books at the city library",
        ),
    ],
)  # fmt: skip
async def test_a_new_job_answers_first_and_upkeep_after_every_session_leaves_it_so(
    lines: tuple[str, ...], told: tuple[Told, ...], query: str, old: str
) -> None:
    """S006 [C1, C3]"""
    clock = ManualClock(START)
    model = ScriptedModel(Reader(read_as(lines, told)))
    async with memory_with(model, clock=clock, embedder=UseEmbedder()) as memory:
        for n, line in enumerate(lines):
            clock.advance(days=1)
            await hears(memory, line, session=f"s{n}")
            await memory.maintain(USER)
        talk = Talk(memory, clock)
        before = await talk.any()
        for _ in range(3):
            await memory.maintain(USER)

        assert (await talk.recalled(query))[0] == told[-1][0]
        assert old not in contents(await talk.active())
        assert [i.status for i in await talk.any() if i.content == old] == ["superseded"]
        assert await talk.any() == before


# --- duplicate


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (  # S018
            ("我吃素。", "我不吃肉的，只吃素菜。", "点菜记得给我全素。"),
            (("用户吃素", {}), ("用户不吃肉，只吃素菜", {}), ("给用户点菜要全素", {})),
        ),
        (
            ("I'm vegetarian.", "I don't eat meat, only vegetables.", "Order all-veggie for me."),
            (("The user is vegetarian", {}), ("The user eats no meat, only vegetables", {}),
             ("Order vegetarian food for the user", {})),
        ),
    ],
)  # fmt: skip
async def test_one_diet_in_three_wordings_is_one_item_with_three_quotes(
    lines: tuple[str, ...], told: tuple[Told, ...]
) -> None:
    """S018 [C1, F1]: the same slot and value, said in three sessions; a constraint then freezes"""
    clock = ManualClock(START)
    read = read_as(lines, told, type="constraint", attribute="diet", value="vegetarian")
    async with memory_with(ScriptedModel(Reader(read)), clock=clock) as memory:
        talk = await live(memory, clock, *lines)

        (item,) = await talk.active()
        assert (item.confirm_count, item.status) == (3.0, "frozen")
        signals = (await memory.history(USER, item.id)).signals
        assert [s.quote for s in signals] == list(lines)


@pytest.mark.parametrize(
    ("one", "other", "query"),
    [
        ("The user commutes by bike", "The user rides a bike to work", "bike commute"),  # S021
        ("用户骑车上班", "用户骑自行车去上班", "骑车上班"),
    ],
)
async def test_of_two_items_that_say_the_same_the_users_choice_alone_is_left(
    talk: Talk, one: str, other: str, query: str
) -> None:
    """S021 [F6, R5]: dualgate has no verb that merges two by hand. The specification wins: the
    user rewords one and forgets the other; recall brings the one, the list of all has both.
    """
    ids = []
    for n, content in enumerate((one, other)):
        made = Candidate("fact", content, attribute=f"commute {n}", value=content, confidence=0.9)
        (decision,) = (await talk.memory.propose(USER, f"s{n}", [made], wait=True)).decisions
        ids.append(str(decision.item_id))
    assert len(set(ids)) == 2
    merged = f"{one} ({other})"
    await talk.memory.correct(USER, ids[0], merged)
    await talk.memory.forget(USER, ids[1])

    assert await talk.recalled(query) == [merged]
    assert contents(await talk.active()) == [merged]
    statuses = {i.id: i.status for i in (await talk.memory.items(USER)).items}
    assert statuses[ids[0]] in ("candidate", "confirmed")
    assert (await talk.memory.item(USER, ids[1])).status == "forgotten"


# --- over-merge


@pytest.mark.parametrize(
    ("first", "second", "query"),
    [
        (  # S033
            ("From January to March I was lent to the lighting crew.",
             "The user was with the lighting crew from January to March", "2026-04-02"),
            ("Since July I'm with the lighting crew again.",
             "The user is with the lighting crew again since July", "2026-07-15"),
            "Which crew am I with?",
        ),
        (
            ("一月到三月我被借调到灯光组。", "用户一月到三月借调到灯光组", "2026-04-02"),
            ("从七月起我又回灯光组了。", "用户从七月起又在灯光组", "2026-07-15"),
            "我现在在哪个组？",
        ),
    ],
)  # fmt: skip
async def test_two_stays_in_one_place_are_two_events_and_the_first_stays_closed(
    first: tuple[str, str, str], second: tuple[str, str, str], query: str
) -> None:
    """S033 [C1]: no structure but the dates, and the real judge"""
    clock = ManualClock(datetime(2026, 4, 2, 9, tzinfo=UTC))
    made = [
        Candidate("event", first[1], event_at=datetime(2026, 1, 1, tzinfo=UTC),
                  confidence=0.9, quote=first[0]),
        Candidate("event", second[1], event_at=datetime(2026, 7, 1, tzinfo=UTC),
                  confidence=0.9, quote=second[0]),
    ]  # fmt: skip
    scripted = ScriptedExtractor({first[0]: [made[0]], second[0]: [made[1]]})
    async with Memory.open("memory://", clock=clock, extractor=scripted) as memory:
        talk = Talk(memory, clock)
        await talk.says(first[0], session="s1", at=f"{first[2]}T09:00:00+00:00")
        (before,) = await talk.active()
        await talk.says(second[0], session="s2", at=f"{second[2]}T09:00:00+00:00")
        items = {i.content: i for i in await talk.active()}

        assert set(items) == {first[1], second[1]}
        closed = items[first[1]]
        assert (closed.value, closed.event_at, closed.last_seen_at, closed.confirm_count) == (
            before.value, before.event_at, before.last_seen_at, before.confirm_count,
        )  # fmt: skip
        assert second[1] in (await talk.recalled(query))[:2]


# --- negation


@pytest.mark.parametrize(
    ("line", "content", "value", "wrong"),
    [
        ("以后不用每次都跟我确认时间。", "不用每次都跟用户确认时间", "确认时间",
         "需要确认时间"),  # S049
        ("From now on don't ask me before you save a file.",
         "Do not ask the user before saving a file", "ask before saving",
         "Ask the user before saving a file"),
    ],
)  # fmt: skip
async def test_a_negated_rule_stays_negated_and_its_opposite_is_no_confirmation(
    line: str, content: str, value: str, wrong: str
) -> None:
    """S049 [C1]: polarity is part of what is the same"""
    clock = ManualClock(START)
    read = {
        line: [statement(content, line, type="rule", polarity="-", value=value,
                         attribute="asking")]
    }  # fmt: skip
    model = ScriptedModel(Reader(read))
    async with memory_with(model, clock=clock) as memory:
        talk = await live(memory, clock, line)
        (item,) = await talk.active()
        assert (item.content, item.polarity) == (content, "-")

        opposite = Candidate("rule", wrong, attribute="asking", value=value, confidence=0.65)
        (decision,) = (await memory.propose(USER, "host", [opposite], wait=True)).decisions

        assert decision.outcome != "merged"
        (after,) = [i for i in await talk.any() if i.content == content]
        assert after.confirm_count <= item.confirm_count
        assert content in (await memory.context(USER, "now")).text


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (  # S051
            ("I use Emacs.", "Emacs is gone from my laptop and I don't miss it; Kakoune it is."),
            (("The user uses Emacs", {"value": "Emacs"}),
             ("The user uses Kakoune", {"value": "Kakoune", "correction": True})),
        ),
        (
            ("我用 Emacs 写代码。", "Emacs 我已经不用了，现在换成 Helix 了。"),
            (("用户用 Emacs 写代码", {"value": "Emacs"}),
             ("用户用 Helix 写代码", {"value": "Helix", "correction": True})),
        ),
        (
            ("I take sugar in my coffee.", "I no longer take sugar in my coffee."),
            (("The user takes sugar in coffee", {"value": "sugar", "attribute": "coffee"}),
             ("The user takes no sugar in coffee",
              {"value": "sugar", "attribute": "coffee", "polarity": "-", "correction": True})),
        ),
    ],
)  # fmt: skip
async def test_what_is_used_no_longer_is_superseded_by_what_is(
    lines: tuple[str, ...], told: tuple[Told, ...]
) -> None:
    """S051 [C1, C2]: an explicit correction settles it"""
    clock = ManualClock(START)
    read = read_as(lines, told, attribute="editor", type="preference")
    async with memory_with(ScriptedModel(Reader(read)), clock=clock) as memory:
        talk = await live(memory, clock, *lines)

        assert contents(await talk.active()) == [told[1][0]]
        (old,) = [i for i in await talk.any() if i.content == told[0][0]]
        assert old.status == "superseded"


@pytest.mark.parametrize(
    "lines",
    [
        ("I don't like scented candles.", "I can not stand squeaky chairs.",
         "I loathe phone calls before ten."),  # S052
        ("我不喜欢香薰蜡烛。", "我受不了椅子吱呀响。", "我最烦十点前来电话。"),
    ],
)  # fmt: skip
async def test_three_dislikes_of_one_session_are_three_preferences(
    lines: tuple[str, ...],
) -> None:
    """S052: and a list by type has all three"""
    scripted = ScriptedExtractor({
        line: [Candidate("preference", f"用户说：{line}", polarity="-", quote=line,
                         attribute=f"taste {n}", value=line, confidence=0.9)]
        for n, line in enumerate(lines)
    })  # fmt: skip
    async with Memory.open(
        "memory://", clock=ManualClock(START), extractor=scripted, embedder=HashEmbedder()
    ) as memory:
        await memory.observe(USER, "s1", [Message("user", line) for line in lines], wait=True)
        listed = (await memory.items(USER, item_type="preference")).items

        assert {i.content for i in listed} == {f"用户说：{line}" for line in lines}
        assert {i.polarity for i in listed} == {"-"}
        for other in ("rule", "fact", "constraint"):
            assert (await memory.items(USER, item_type=other)).items == ()


# --- temporal


@pytest.mark.parametrize(
    ("line", "at", "content", "event", "due"),
    [
        ("昨天刚做完体检，医生说血脂偏高，三个月后复查。", "2026-03-02T09:00:00+08:00",
         "用户2026年3月1日做了体检，2026年6月1日前后复查血脂", "2026-03-01T00:00:00+08:00",
         date(2026, 3, 1)),  # S053
        ("We signed the lease last Friday.", "2025-09-10T12:00:00+00:00",
         "The user signed a lease on 5 September 2025", "2025-09-05T00:00:00+00:00",
         date(2025, 9, 5)),  # S054
        ("今天入职第一天。", "2026-05-01T00:30:00+08:00", "用户2026年5月1日入职第一天",
         "2026-05-01T00:00:00+08:00", date(2026, 5, 1)),  # S055
        ("Started the new job today.", "2026-01-01T00:10:00-08:00",
         "The user started the new job on 1 January 2026", "2026-01-01T00:00:00-08:00",
         date(2026, 1, 1)),
    ],
)  # fmt: skip
async def test_an_event_keeps_its_own_day_whenever_it_is_imported(
    line: str, at: str, content: str, event: str, due: date, tmp_path: Path
) -> None:
    """S053, S054, S055 [W4]: read months later, in another zone, it is the speaker's day

    The report of S053 wants a date of the check-up and one of the follow-up: two statements.
    """
    said_at = datetime.fromisoformat(at)
    read = {line: [statement(content, line, type="event", event_at=event)]}
    clock = ManualClock(datetime(2026, 11, 30, tzinfo=UTC))
    seen: list[Question] = []

    def model(question: Question) -> object:
        seen.append(question)
        return Reader(read)(question)

    url = f"sqlite:///{tmp_path / 'memory.db'}"
    async with memory_with(ScriptedModel(model), clock=clock, url=url) as memory:
        await memory.observe(USER, "old", [Message("user", line, said_at)], wait=True)
        (item,) = (await memory.items(USER)).items

        assert item.event_at is not None
        assert item.event_at.astimezone(said_at.tzinfo).date() == due
        assert item.event_at.utcoffset() == timedelta(0)
        assert item.created_at == said_at
        text = "\n".join(m.content for m in seen[0].messages)
        assert said_at.date().isoformat() in text  # the model is told when it was said


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
async def test_the_times_of_an_item_are_utc_in_every_store(backend: str, tmp_path: Path) -> None:
    """S055 [T1, T2]: what a candidate says with an offset is the same instant everywhere"""
    url = "memory://" if backend == "memory" else f"sqlite:///{tmp_path / 'memory.db'}"
    zone = timedelta(hours=8)
    day = datetime(2026, 5, 1, 0, 30, tzinfo=timezone(zone))
    made = Candidate("event", "用户入职第一天", attribute="first day", value="2026-05-01",
                     confidence=0.9, event_at=day, expires_at=day.replace(year=2027))  # fmt: skip
    async with Memory.open(url, clock=ManualClock(START), embedder=HashEmbedder()) as memory:
        for session in ("s1", "s2"):
            await memory.propose(USER, session, [made], wait=True)
            (item,) = (await memory.items(USER)).items
            times = [item.event_at, item.expires_at, item.created_at, item.last_seen_at]

            assert times[:2] == [day, day.replace(year=2027)]
            assert [t.utcoffset() for t in times if t is not None] == [timedelta(0)] * 4


@pytest.mark.parametrize(
    ("line", "at", "day"),
    [
        ("前天我们领证了。", "2026-01-02T23:30:00+08:00", "2025-12-31"),
        ("My driving test is on 9 March.", "2026-03-04T10:00:00+08:00", "2026-03-09"),
        ("We signed the lease last Friday.", "2025-09-10T12:00:00-08:00", "2025-09-05"),
    ],
)
async def test_a_line_about_an_event_tells_one_day_and_that_is_the_speakers(
    line: str, at: str, day: str, tmp_path: Path
) -> None:
    """S053, S054, S055 [R4]: stored in UTC, local midnight is another day in most zones"""
    said_at = datetime.fromisoformat(at)
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    async with Memory.open(url, clock=ManualClock(said_at)) as memory:
        await memory.observe(USER, "s1", [Message("user", line, said_at)], wait=True)
    async with Memory.open(url, clock=ManualClock(said_at)) as memory:
        block = await memory.context(USER, "s2")
        found = await memory.recall(USER, line)

        assert set(re.findall(r"\d{4}-\d\d-\d\d", block.text)) == {day}
        assert set(re.findall(r"\d{4}-\d\d-\d\d", found.text)) == {day}


@pytest.mark.parametrize(
    ("old", "same_today"),
    [
        (("I rent a studio near the canal.", "I own a grey bicycle."), "I own a blue kayak."),
        (("我在运河边租了间工作室。", "我有一辆灰色自行车。"), "我有一条蓝色皮划艇。"),
    ],
)  # S056
async def test_imported_facts_are_as_old_as_they_are_and_score_below_fresh_ones(
    old: tuple[str, str], same_today: str
) -> None:
    """S056 [A1, T5]"""
    script = {
        line: [Candidate("fact", f"said: {line}", confidence=0.9, importance=0.9, quote=line)]
        for line in (*old, same_today)
    }
    clock = ManualClock(datetime(2026, 11, 30, tzinfo=UTC))
    async with Memory.open(
        "memory://", clock=clock, extractor=ScriptedExtractor(script), embedder=HashEmbedder()
    ) as memory:
        for n, line in enumerate(old):
            at = datetime(2024, 2 + n, 2, 10, tzinfo=UTC)
            await memory.observe(USER, f"b{n}", [Message("user", line, at)], wait=True)
        await memory.observe(USER, "now", [Message("user", same_today)], wait=True)
        items = {i.content: i for i in (await memory.items(USER)).items}

        assert len(items) == 3
        fresh = items.pop(f"said: {same_today}")
        assert fresh.created_at.year == 2026
        for item in items.values():
            assert (item.created_at.year, item.last_seen_at.year) == (2024, 2024)
            assert item.score < fresh.score


@pytest.mark.parametrize(
    "lines",
    [
        ("We're up by six in the second set.", "I'm looking at the third slide right now."),
        ("第二盘我们领先六分。", "我正在看第三页幻灯片。"),
    ],
)  # S060
async def test_what_holds_for_the_moment_is_a_note_of_the_task_and_gone_the_next_day(
    lines: tuple[str, ...],
) -> None:
    """S060 [L2, W4]"""
    read = {line: [statement(f"note: {line}", line, scope="moment", confidence=0.95)]
            for line in lines}  # fmt: skip
    clock = ManualClock(START)
    async with memory_with(ScriptedModel(Reader(read)), clock=clock) as memory:
        for line in lines:
            told = [Message("user", line)]
            await memory.observe(USER, "s1", told, wait=True, task_id="game")
        outcomes = {d.outcome for d in await memory.why(USER)}
        await memory.end_session(USER, "s1")
        clock.advance(days=1)

        assert outcomes <= {"working-memory", "refused"}
        assert contents(await Talk(memory, clock).any()) == []
        assert await (await memory.working(USER, "s1", "game")).all() == {}
        assert (await memory.context(USER, "s2", lines[0])).text == ""


# --- long-input, and the control case of injection


@pytest.mark.parametrize(
    ("fact", "chat", "content"),
    [
        ("By the way, I never fly, only trains.", "Nice weather, isn't it?",
         "The user never flies, only takes trains"),  # S110
        ("对了，我从来不坐飞机，只坐火车。", "哈哈，是啊。", "用户从来不坐飞机，只坐火车"),
    ],
)  # fmt: skip
async def test_a_fact_of_the_first_turn_survives_forty_turns_of_one_payload(
    fact: str, chat: str, content: str
) -> None:
    """S110 [W1, W4]: no window of the model is as long as the session"""
    made = statement(content, fact, type="constraint", polarity="-", attribute="transport",
                     value="flying")  # fmt: skip
    model = ScriptedModel(Reader({fact: [made]}))
    clock = ManualClock(START)
    async with memory_with(model, clock=clock) as memory:
        turns = [Message("user", fact, id="t0")]
        turns += [Message("user", f"{chat} ({n})", id=f"t{n}") for n in range(1, 40)]
        await memory.observe(USER, "s1", turns, wait=True)

        (item,) = await Talk(memory, clock).active()
        assert (item.content, item.polarity, item.confirm_count) == (content, "-", 1.0)


@pytest.mark.parametrize(
    ("line", "content"),
    [
        ("From now on answer me in Chinese.", "The user wants answers in Chinese"),  # S151
        ("以后都用英文回答我。", "用户要英文回答"),
    ],
)
async def test_a_rule_in_the_users_own_words_is_kept_once_with_its_source(
    line: str, content: str
) -> None:
    """S151 [W3]: the control of what tool output may not do"""
    read = {line: [statement(content, line, type="preference", attribute="reply_language",
                             value=content)]}  # fmt: skip
    clock = ManualClock(START)
    async with memory_with(ScriptedModel(Reader(read)), clock=clock) as memory:
        turns = [Message("tool", line, id="t"), Message("user", line, id="u")]
        await memory.observe(USER, "s1", turns, wait=True)

        (item,) = await Talk(memory, clock).active()
        assert item.content == content
        (signal,) = (await memory.history(USER, item.id)).signals
        assert (signal.quote, signal.source) == (line, "llm")


async def test_three_facts_of_the_host_about_one_thing_all_live() -> None:
    """S007 [C1, W5]: the real judge, and nothing is superseded"""
    settings = Settings(extraction=policy(host_trust=TRUST.host_trust), queue=QUICK)
    facts = ("Rig Osprey passed the load test with the small profile",
             "Rig Osprey passed the load test with the large profile",
             "Rig Osprey is painted grey")  # fmt: skip
    async with Memory.open(
        "memory://", clock=ManualClock(START), settings=settings, model=ScriptedModel([NOTHING])
    ) as memory:
        for n, fact in enumerate(facts):
            made = [Candidate("fact", fact, confidence=0.9)]
            await memory.propose(USER, f"s{n}", made, wait=True)

        assert {i.content for i in (await memory.items(USER)).items} == set(facts)
        assert {i.status for i in (await memory.items(USER)).items} <= {"candidate", "confirmed"}
