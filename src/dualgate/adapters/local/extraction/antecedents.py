"""Antecedents: what a statement leaves to the words before it, put back so that it stands alone.

Rule: only what stands in the same turn before it: the relative that "she" or 他 is, the heading over
a list. Nothing is inferred; where two could be meant, the nearer one is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dualgate.adapters.local.extraction.bonds import is_empty
from dualgate.adapters.local.extraction.classes import classes
from dualgate.adapters.local.extraction.clauses import Clause
from dualgate.adapters.local.extraction.cues import KIN
from dualgate.adapters.local.extraction.features import tokens
from dualgate.adapters.local.owners import system

_LEADS = re.compile(r"^(?:(?:and|but|so)\s+)?(?:she|he)\b(?!')|^[她他](?![们家])", re.IGNORECASE)
_POINTS = re.compile(r"(?<=\s)(?:him|her)(?=\W*$|\s+(?:to|for|with|from|and|at|on|in|out|up)\b)|(?<=[给让对跟和带陪送教帮替])[她他](?!们)", re.IGNORECASE)
_MY_KIN = re.compile(rf"(?:\b(?:my|our) (?:\w+ )?|我(?:们家|家|的)?)(?:{KIN.pattern})", re.IGNORECASE)
_NEAR = 200
_HEADING_LIMIT = 40
_OWN = re.compile(r"我|咱|\b(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our)\b", re.IGNORECASE)
_ORDERS = re.compile(r"规矩|要求|注意|偏好|习惯|标准|背景|情况|\b(?:rules?|requests?|notes?|reminders?|things?|background|context|setup|update)\b", re.IGNORECASE)


def with_relative(text: str, before: str) -> str:
    """Return the words with the relative in place of the pronoun that means them.

    >>> with_relative("she hates coriander", "my sister is coming, ")
    'my sister hates coriander'
    >>> with_relative("I only buy used for him", "my kid outgrows shoes, so ")
    'I only buy used for my kid'
    """
    pronoun = _LEADS if _LEADS.search(text) else _POINTS
    if not pronoun.search(text) or KIN.search(text):
        return text
    named = [found.group() for found in _MY_KIN.finditer(before[-_NEAR:])]
    return pronoun.sub(lambda _: named[-1], text, count=1) if named else text


def is_led_by_relative(text: str, before: str) -> bool:
    """Tell whether the one the statement is about stands before it."""
    return bool(_LEADS.search(text)) and with_relative(text, before) != text


# What goes on about the one just described: 我妈很怕冷，也不爱吃甜.
_GOES_ON = re.compile(r"^(?:而且|并且|但是?|不过|所以)?(?:总是?|老是|经常|常常?|也|还|都|非常|很|特别|十分|比较|最|只|从来|从小|一直|喜欢|爱|讨厌|害怕|不(?!过|如|知道|敢|好意思)|是(?!不是|的|啊)|对)")
_JOINS = re.compile(r"^(?:而且|并且|但是?|不过|所以)")
_CALLINGS = "上司|领导|医生|老师|教练|客户|师傅|队友|网友|对象|男友|女友"
_PERSON = rf"(?:他|她)(?!们)|(?:我们?家?的?|我)?(?:{KIN.pattern}|{_CALLINGS})们?"
_DESCRIBED = re.compile(
    rf"^(?:而且|并且|但是?|不过|因为|其实|我(?:只)?(?:知道|记得|听说|发现))?(?P<who>{_PERSON})(?=总|老|经常|也|还|都|非常|很|特别|十分|比较|挺|太|最|只|从|一直|喜欢|爱|讨厌|怕|害怕|不|是|对)"
)
# "I know he likes tea" is about him.
_KNOWN = re.compile(r"^我(?:也|只|还)?(?:知道|记得|听说|发现)(?=[他她](?!们))|^i (?:know|heard|remember)(?: that)? (?=(?:he|she)\b)", re.IGNORECASE)
# A name is an antecedent, too: 我和小禾, "Ana and I".
_ANTECEDENT = re.compile(rf"(?i:{KIN.pattern})|{_CALLINGS}|" r"[小阿老][\u4e00-\u9fff](?![\u4e00-\u9fff]?[时候后前])|(?<!^)(?<![.!?]\s)\b[A-Z][a-z]{2,}\b")
_ENDS = re.compile(r"[。！？!?；;\n…]")


def with_subject(text: str, before: str) -> str:
    """Return the words with the person of the clause before, where they go on about that person.

    >>> with_subject("也不爱吃甜", "我妈很怕冷，"), with_subject("也不爱吃甜", "我很怕冷，")
    ('我妈也不爱吃甜', '也不爱吃甜')
    """
    if not _GOES_ON.search(text):
        return text
    sentence = _ENDS.split(before[-_NEAR:])[-1]
    for clause in reversed([each.strip() for each in re.split(r"[，,]", sentence) if each.strip()]):
        described = _DESCRIBED.search(clause)
        if described:
            return described["who"] + _JOINS.sub("", text)
        if not _GOES_ON.search(clause):
            break
    return text


_OPENS_ZH = re.compile(rf"^(?:因为|其实|不过)?(?P<who>(?:我们?家?的?|咱)(?:{KIN.pattern}|{_CALLINGS}))(?!的|们的)")
_OPENS_EN = re.compile(rf"^\W*(?:(?:and|but|so|btw)\s+)*(?P<who>(?:my|our) (?:\w+ )?(?:{KIN.pattern}))\b(?!')", re.IGNORECASE)
_SUBJECT_ZH = re.compile(rf"^(?:我|咱|俺|他|她|它|这|那|你|您|大家|所以|让|请|别|给|{_PERSON})")
_HE_ZH = re.compile("[他她你我]")
_PREDICATE_EN = re.compile(
    r"^\W*(?:(?:and|but|so|also)\s+)?(?:(?:also|still|now|always|never|only|just|really|usually)\s+)?"
    r"(?:is|isn't|was|has|hasn't|had|can't|cannot|can|won't|will|doesn't|does|didn't|hates|(?!this|always|perhaps|sometimes|besides|plus|yes|thanks|its|us)[a-z]{3,}s)\b"
)


def with_owner(text: str, before: str, lang: str) -> str:
    """Return a statement about somebody else with him named, where his sentence opens with him.

    >>> with_owner("每天去公园打太极", "我妈退休了，", "zh"), with_owner("我每天打太极", "我妈退休了，", "zh")
    ('我妈每天去公园打太极', '我每天打太极')
    >>> with_owner("and goes to tai chi every day", "My mum is retired ", "en")
    'My mum goes to tai chi every day'
    """
    sentence = _ENDS.split(before[-_NEAR:])[-1]
    if lang == "zh":
        if _SUBJECT_ZH.search(text) or _HE_ZH.search(text):
            return text
        for clause in reversed([each.strip() for each in re.split(r"[，,]", sentence) if each.strip()]):
            opened = _OPENS_ZH.search(clause)
            if opened:
                return opened["who"] + _JOINS.sub("", text)
            if _SUBJECT_ZH.search(clause) or _HE_ZH.search(clause):
                break
        return text
    opened = _OPENS_EN.search(sentence) if _PREDICATE_EN.search(text) else None
    return f"{opened['who']} {_AND.sub('', text)}" if opened else text


_AND = re.compile(r"^\W*(?:and|but|so)\s+", re.IGNORECASE)


# 绳结不用CockroachDB了，数据库换成了CouchDB: whose database.
_PART_ZH = re.compile(
    r"^(?:现在|目前|如今)?(?:数据库|后端|前端|部署|服务器|缓存|队列|托管|(?:代码)?仓库)(?=.{0,4}(?:换|改|用|搬|迁|挪|是|在|放))"
)


def with_system(text: str, before: str) -> str:
    """Return what is said of a part of a system with the system named, where the clause before names it.

    >>> with_system("数据库换成了CouchDB", "绳结不用CockroachDB了，"), with_system("数据库换了", "我累了，")
    ('绳结的数据库换成了CouchDB', '数据库换了')
    """
    if not _PART_ZH.search(text):
        return text
    sentence = _ENDS.split(before[-_NEAR:])[-1]
    for clause in reversed([each.strip() for each in re.split(r"[，,]", sentence) if each.strip()]):
        name = system(clause)
        at = clause.lower().find(name) if name else -1
        if name and at >= 0:
            return f"{clause[at : at + len(name)]}的{text}"
    return text


def opens_with_other(text: str, lang: str) -> bool:
    """Whether a statement opens with somebody else and what he is or does.

    >>> opens_with_other("My boss hates calls, so we write", "en"), opens_with_other("my boss and I agree", "en")
    (True, False)
    """
    opened = (_OPENS_ZH if lang == "zh" else _OPENS_EN).search(text)
    if opened is None:
        return False
    rest = text[opened.end() :]
    return bool((_DOES_ZH if lang == "zh" else _PREDICATE_EN).search(rest))


_DOES_ZH = re.compile(
    r"^(?:总是?|老是|经常|常|也|还|都|非常|很|特别|比较|最|只|从来|一直|喜欢|爱|讨厌|怕|不(?!过|如|在)|是|对|每[天周月年]|住在|在.{1,6}(?:上班|工作|上学))"
)


def is_led_by_nobody(text: str, before: str) -> bool:
    """Tell whether the words are about a person whom nothing before them in the turn names.

    >>> is_led_by_nobody("他对花生过敏", ""), is_led_by_nobody("他对花生过敏", "儿子回来了，")
    (True, False)
    """
    plain = _KNOWN.sub("", text.strip().replace("’", "'"))
    return bool(_LEADS.search(plain)) and not _ANTECEDENT.search(before)


def heading_of(clauses: Sequence[Clause], first: int) -> str:
    """Return the heading over the clause: "Newsletter: twice a month, 2,300 readers" has one.

    A heading reaches as far as its sentence; one that only announces ("two things:") is none.
    """
    if _OWN.match(clauses[first].text.strip()):
        return ""
    for place in range(first - 1, -1, -1):
        clause = clauses[place]
        if clause.mark and clause.mark in ":：":
            text = clause.text.strip()
            short = len(text) <= _HEADING_LIMIT and not is_empty(text) and not _ORDERS.search(text)
            return text if short else ""
        if clause.mark and clause.mark in "。！？!?.\n":
            return ""
    return ""


def topic_of(clauses: Sequence[Clause], first: int, last: int) -> str:
    """Return the clause before, where the statement is a bare amount or time: "20 minutes each way".

    An amount says nothing without what it measures; what it measures was said just before.
    """
    said = " ".join(each.text for each in clauses[first : last + 1])
    if first == 0 or _HOUSEHOLD.search(said) or not _is_bare(said):
        return ""
    before = clauses[first - 1]
    asked = bool(before.mark) and before.mark in "？?\n"
    text = before.text.strip()
    return "" if asked or len(text) > _TOPIC_LIMIT or is_empty(text) else text


def _is_bare(text: str) -> bool:
    words = tokens(text)
    known = [False] * len(words)
    for start, end, kinds in classes().named(words):
        if set(kinds) <= _MEASURING:
            known[start:end] = [True] * (end - start)
    rest = [word for word, is_known in zip(words, known, strict=True) if not is_known]
    content = [word for word in rest if not _FUNCTION.fullmatch(word)]
    return len(words) > 1 and not content and any(word[0].isdigit() or word in _NUMERALS for word in words)


_TOPIC_LIMIT = 60
_HOUSEHOLD = re.compile(r"口人|\bof us\b", re.IGNORECASE)
_MEASURING = frozenset({"unit", "timeword", "always", "now"})
_NUMERALS = frozenset("一二三四五六七八九十百千万两半")
_FUNCTION = re.compile(
    r"[^\w\s]|0+|[我咱们的了是在有一二三四五六七八九十百千万两半几多少个只次回趟条件种份页张篇段名位人口家天年月日号周点分秒块元斤岁米公里小时左右上下内外前后每单程往返来去最大概差不到过就还剩都要得能可以也再用放做花需约才共总长宽高重住跑吃喝]"
    r"|i|i've|i'm|we|it|it's|its|is|are|was|the|a|an|and|or|of|to|at|on|in|by|per|each|every|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty"
    r"|only|just|about|around|roughly|max|maximum|minimum|most|least|up|under|over|between|more|less|than|no|not|way|times?|twice|once|half|hours?|minutes?|days?|weeks?|months?|years?|left|so|now|total|each|both",
    re.IGNORECASE,
)
