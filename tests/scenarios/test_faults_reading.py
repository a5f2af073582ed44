"""What people really type, read by the local extractor: polarity, time, updates, repeats [W4, C1].

S0xx is the number of the report that a test retells.
"""

from __future__ import annotations

import re
from datetime import date

import pytest

from dualgate import Candidate

from .talk import USER, Talk, contents

# --- contradiction and overwrite-loss


@pytest.mark.parametrize(
    ("kept", "once", "rival"),
    [
        ("用户习惯看短句", ("这份给评审会，这回句子写长些、书面些。", "再长一点也行，就这一份。"),
         "长|书面"),  # S014
        ("The user likes short sentences",
         ("This one is for the board, make the sentences longer this time.",
          "Even longer is fine, just for this one."), "longer|board"),
    ],
)  # fmt: skip
async def test_what_is_asked_this_once_is_no_lasting_wish(
    talk: Talk, kept: str, once: tuple[str, ...], rival: str
) -> None:
    wish = Candidate(
        "preference", kept, attribute="sentence_length", value="short", confidence=0.9
    )
    for n in range(3):
        await talk.memory.propose(USER, f"old-{n}", [wish], wait=True)
    await talk.says(*once)

    (item,) = await talk.active(re.escape(kept))
    assert item.status == "frozen"
    assert contents(await talk.active(rival)) == []


# --- duplicate and over-merge


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (("I prefer metric units.", "As I said, I prefer metric units.",
          "I always prefer metric units."), "The user prefers metric units."),
        (("我喜欢用公制单位。", "说过了，我喜欢用公制单位。", "我一直喜欢用公制单位。"),
         "用户喜欢用公制单位"),
    ],
)  # fmt: skip
async def test_said_in_three_conversations_it_freezes_however_it_is_stressed(
    talk: Talk, lines: tuple[str, ...], kept: str
) -> None:
    """[F1, C1]: "as I said" and "always" add nothing to a liking"""
    for n, line in enumerate(lines):
        await talk.says(line, session=f"monday {n}")

    (item,) = await talk.active()
    assert (item.content, item.status) == (kept, "frozen")


@pytest.mark.parametrize(
    "lines",
    [
        ("回答别用表格。", "说了别用表格。", "别用表格！", "再说一遍，别用表格。"),  # S080
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


# --- attribution


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("和我合租的那位怕坐飞机，他们单位偏偏老派他飞。", "飞"),  # S038
        ("The guy I share an office with is afraid of dogs.", "afraid|dogs"),
        ("我同事只用 Emacs，谁劝都没用。", "Emacs"),
        ("我室友对猫毛过敏。", "过敏"),
    ],
)
async def test_the_flatmates_trait_names_the_flatmate(talk: Talk, line: str, pattern: str) -> None:
    await talk.says(line)

    assert contents(await talk.active(pattern, subject="user")) == []


@pytest.mark.parametrize(
    "line",
    [
        "Let's role-play: you're the bartender and I'm a pirate who hates water.",
        "我们玩个角色扮演：我是一个怕水的海盗，你是船长。",
        "帮我回这封邮件：\n> 王总您好，我下周三起休产假，之后由小李对接。\n> 张敏",
        "What does this log mean?\nWARN user prefers dark mode, always falls back to light",
        "Review this:\n```python\n# I never use global state, I always inject\nx = 1\n```",
        "把下面这段话翻成英文：\n我从小对花生过敏，出门一定带药。",
        "In my novel the hero says he has lived in Lisbon for ten years.",
    ],
)
async def test_a_role_a_paste_or_a_figure_of_a_story_is_not_the_user(
    talk: Talk, line: str
) -> None:
    """[W3]"""
    await talk.says(line)

    assert contents(await talk.active(subject="user")) == []


@pytest.mark.parametrize(
    "line",
    [
        "Oh great, I just love being woken at four by a drill.",
        "我可太喜欢周日加班了呢，呵呵。",
        "Ugh, I hate everything today.",
        "烦死了，今天什么都不想学了。",
        "If I were rich I'd live in Monaco.",
        "要是我会弹琴就好了。",
    ],
)
async def test_sarcasm_a_mood_or_a_daydream_is_no_trait(talk: Talk, line: str) -> None:
    """[W3, W4]"""
    await talk.says(line)

    assert contents(await talk.active()) == []


@pytest.mark.parametrize(
    ("line", "due", "pattern"),
    [
        ("好的，我明天把报价单发给你。", date(2026, 3, 4), "报价单"),
        ("I'll send you the revised quote tomorrow.", date(2026, 3, 4), "quote"),
    ],
)
async def test_what_the_assistant_promised_is_its_commitment_with_a_date(
    talk: Talk, line: str, due: date, pattern: str
) -> None:
    """[W3]: the one exception"""
    await talk.says("报价单呢？", ("assistant", line))

    (item,) = await talk.active(pattern)
    assert (item.item_type, item.subject) == ("commitment", "assistant")
    assert item.event_at is not None
    assert item.event_at.date() == due


# --- cjk-text, unicode, long-input


async def test_a_mixed_sentence_keeps_its_names_and_its_chinese(talk: Talk) -> None:
    """S096"""
    await talk.says("我们后端用 FastAPI，部署在 k8s 上，发布窗口 every Tuesday。")

    text = "\n".join(contents(await talk.active()))
    for name in ("FastAPI", "k8s", "后端", "部署"):
        assert name in text
    assert re.search("Tuesday|周二", text)


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("我习惯用毛笔写字。", "毛笔"),  # S102
        ("My badge colour is teal \ud83d", "teal"),  # S104
        ("我喜欢爬山🙂，周末常去后山。", "爬山"),  # S105
        ("K7盘点流程归我管。", "K7"),  # S097
        ("我對花生過敏，點菜請注意。", "花生"),
    ],
)
async def test_odd_characters_do_not_hide_the_fact(talk: Talk, line: str, pattern: str) -> None:
    await talk.says(line)

    assert len(await talk.active(pattern)) == 1
