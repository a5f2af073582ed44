"""Introductions: the name that somebody gives with a greeting, 你好，我叫林夏 [W4].

Rule: only the plainest form, and only in a turn that greets; what is played, carried or supposed
introduces nobody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dualgate.adapters.local.extraction.clauses import Clause
from dualgate.adapters.local.extraction.cues import cues_in
from dualgate.adapters.local.extraction.implied import is_own
from dualgate.adapters.local.extraction.reading import Reading

HEAD = 400  # characters
WITHIN = 4  # clauses: whoever introduces himself does so first
_GREETS = re.compile(
    r"你们?好|您好|大家好|嗨|哈喽|(?:早上|中午|下午|晚上)好|认识[你您大]|初次见面|自我介绍"
    r"|\b(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening)|(?:nice|glad|pleased|great|good) to meet|introduce myself)\b",
    re.IGNORECASE,
)
_NAME_ZH = r"(?!外卖|滴滴|快递|代驾|救命|停|车|人|了|不|他|她|你|它|什么|啥)(?:[\u4e00-\u9fff·]{2,5}|[A-Za-z][\w'-]{1,20})"
_GIVEN = re.compile(
    rf"^我(?:的名字)?(?:叫做?|名叫){_NAME_ZH}$|^我的名字(?:是|叫){_NAME_ZH}$"
    r"|^\W*(?:(?:and|so|hi|hello|hey)\W+)*(?i:my name is|my name's|i'm called|i am called|you can call me) "
    r"(?-i:[A-Z][\w'-]{1,20}(?: [A-Z][\w'-]{1,20}){0,2})$"
)
# 我是 before a surname, among people who meet: 我是高手 is no name, but true all the same.
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯"
    "龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤欧温施柳凌齐梅庄辛管祝左涂谷易季饶"
)
_MEETS = re.compile(r"认识[你您大]|初次见面|自我介绍|请多(?:多)?(?:指教|关照)")
_CALLS_HIMSELF = re.compile(rf"^我是(?P<name>[{_SURNAMES}][\u4e00-\u9fff]{{1,2}})$")
_OCCUPIED = re.compile(r"[人生师员手者家士长工子座族民迷控党]$")
_UNMEANT = frozenset({"play", "if", "heard", "joke"})


@dataclass(frozen=True, slots=True)
class Introduction:
    """The clause that gives the name, and words in which it reads as a name."""

    clause: Clause
    text: str


def introduction_in(reading: Reading) -> Introduction | None:
    """Return the name that the user gives with a greeting; None if the turn introduces nobody.

    >>> from dualgate.adapters.local.extraction.reading import read_text
    >>> introduction_in(read_text("Hello, my name is Ravi. Nice to meet you.")).text
    'my name is Ravi'
    >>> introduction_in(read_text("你好，我是方文。很高兴认识你")).text
    '我叫方文'
    >>> introduction_in(read_text("你好，我叫外卖")) is None
    True
    """
    if not _GREETS.search(reading.text[:HEAD]) or not is_own(reading.text):
        return None
    if _UNMEANT & set(cues_in(reading.setting.own)):
        return None
    for clause in reading.clauses[:WITHIN]:
        text = clause.text.strip().replace("’", "'")
        if _GIVEN.search(text):
            return Introduction(clause, text)
        called = _CALLS_HIMSELF.search(text)
        if called and not _OCCUPIED.search(text) and _MEETS.search(reading.text[:HEAD]):
            return Introduction(clause, f"我叫{called['name']}")
    return None
