"""Implied facts: what a turn gives away about its speaker without stating it [W3].

- The patterns stand in lexicon/implied.toml: a rule names what follows, and the words it follows
  from. This file says when such words are the user's own, and meant.
- Precision first: a story, a translation, a supposition, somebody else's patients, what was once
  so, or a job that is named outright, and nothing is implied.

Cost: one look for each anchor word of the language; only rules whose anchor is there are matched.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from dualgate.adapters.local.extraction.clauses import Clause
from dualgate.adapters.local.extraction.cues import KIN, cues_in
from dualgate.adapters.local.extraction.reading import Reading
from dualgate.domain.items import Candidate
from dualgate.domain.types import ItemType, Scope, Sensitivity

LIMIT = 2  # of a turn; who gives away more than this is telling a story
READ_LIMIT = 80  # clauses; what is longer is a document
SAID_AT = 0.6  # what is stated under this would be refused [M 5.1], and says nothing
LANGUAGES = ("zh", "en")


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of implied.toml; `patterns`, `content` are by language."""

    id: str
    item_type: ItemType
    sensitivity: Sensitivity
    content: Mapping[str, str]
    patterns: Mapping[str, re.Pattern[str]]
    unless: re.Pattern[str] | None
    family: bool = False  # it speaks of relatives, so that one in the words is no objection


@dataclass(frozen=True, slots=True)
class Implied:
    """What follows from a clause: `content` is in the language of the turn."""

    rule: str
    item_type: ItemType
    sensitivity: Sensitivity
    content: str
    clause: Clause


def implied_in(reading: Reading, said: Sequence[Candidate] = ()) -> list[Implied]:
    """Return what the turn gives away and does not say, in the order of the rules; at most two.

    `said` are the candidates already made of this turn.

    >>> from dualgate.adapters.local.extraction.reading import read_text
    >>> [each.content for each in implied_in(read_text("my year 9s are feral again"))]
    ['The user is a teacher.']
    >>> implied_in(read_text("my friend's year 9s are feral again"))
    []
    """
    lang = reading.setting.lang
    text = _plain(reading.text)
    found: list[Implied] = []
    for rule in _anchored(text.lower(), lang):
        clause = _clause_for(rule, reading, lang)
        if clause is None or _is_taken(rule, found, reading):
            continue
        if not _is_said(rule, clause, said, lang):
            content = rule.content[lang]
            found.append(Implied(rule.id, rule.item_type, rule.sensitivity, content, clause))
    # Asked last: few turns match, and this looks at all of the text.
    return [] if found and not is_own(text) else found[:LIMIT]


def _is_taken(rule: Rule, found: Sequence[Implied], reading: Reading) -> bool:
    """One calling a turn, and none where the user names one outright."""
    if rule.item_type is not ItemType.IDENTITY:
        return False
    clauses = reading.clauses[:READ_LIMIT]
    named = any(_CALLING.search(_plain(each.text)) for each in clauses)
    return named or any(each.item_type is ItemType.IDENTITY for each in found)


# The turn carries or makes up somebody's words, whoever "I" is in them.
_NOT_OWN = re.compile(
    r"翻译|[译翻]成|译一下|润色|改写|英[文语]怎么[说讲]|怎么翻|语法|造句|作文题|扮演|假装|代入|玩[个一]{0,2}游戏|你(?:现在)?是我的|口吻|人设|第一人称|台词|独白"
    r"|(?:写|编|来|讲|续)(?:一?[个篇首段则]|点)?[^，。\n]{0,14}(?:故事|小说|剧本|诗|歌词|段子|童话|笑话|日记|同人)"
    r"|(?:小说|故事|剧|剧本|书|电影|游戏|动漫)(?:里|中)|主角|主人公|这种标题|你演|我演"
    r"|\b(?:translat\w+|proofread\w*|paraphras\w+|rephras\w+|polish this|grammar|how do (?:you|i) say"
    r"|role-?play\w*|pretend\w*|act as|in character|first person|monologue|screenplay|fan ?fic\w*|protagonist)\b"
    r"|\b(?:write|tell|make up|continue|draft) (?:me )?(?:an?|the|another|some) [^.,\n]{0,30}?\b(?:story|stories|poem|scene|song|lyrics?"
    r"|sketch|dialogue|joke|limerick|haiku|fairy ?tale)\b|\bin (?:my|the|a|this) (?:story|novel|film|movie|book|game|script|play|show)\b",
    re.IGNORECASE,
)


def is_own(text: str) -> bool:
    """Tell whether "I" in a turn is the user: it asks for no story, translation or role.

    >>> is_own("write a story: my name is Ravi"), is_own("hello, my name is Ravi")
    (False, True)
    """
    return not _NOT_OWN.search(_plain(text))


# Supposed, wished for, or long over.
_NOT_SO = re.compile(
    r"如果|假如|假设|要是|万一|倘若|设想|比方|打个比方|想象|想当|准备转行|转行去|梦想|以前|从前|当年|那年|小时候|那时候|曾经|前年|退休前|离职前|上辈子|听说|据说|网上|有人说"
    r"|\b(?:if|suppose|supposing|imagine|hypothetically|what if|were to|i wish|want to (?:be|become)|would love to|dream of|someday|one day|heard"
    r"|apparently|they say|used to|back (?:in|when)|years? ago|last year|when i was|in the nineties|once upon|growing up|as a (?:kid|child))\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:不是|没有|并没|没养|不养|哪有|又没|用不着|不用|从没|没什么)[^，。]{0,6}$"
    r"|\b(?:not|no|never|without|neither|don't (?:have|own|need)|haven't got|doesn't)\b[^,.]{0,14}$",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"不当|不再|不干|不带了|不养|没有|卖掉|送人|送走了|辞了|(?:教|给)我们?(?![爸妈爹娘奶爷婆公岳外姥])|\b(?:sold|got rid of|gave away|rehomed|quit|retired from|be) (?:my|our)\b"
)
# 我大伯坐轮椅: the first person only names whose relative it is.
_RELATIVE = re.compile(
    rf"(?:我|咱|俺)们?家?的?那?个?(?:大|小|老|二|三|表|堂|前)?(?:伯|爷|婶|嫂|网友|师兄|师姐|学长|学姐|哥们|发小|{KIN.pattern})(?!友)"
)
# "I'm a vet": whoever names a calling needs no other one guessed.
_CALLING = re.compile(
    r"我(?:就|其实|现在|本来|也)?(?:是|当)(?:一?[个名位])?.{0,10}(?:[师员生工医]|作家|司机|经理|总监|助理|老板|店主|护士|律师|博士|农民)(?!的|家)"
    r"|\b(?:i'm|i am|i work as|working as|we're|as) (?:an?|the) (?:[\w-]+ ){0,3}?(?:\w+(?:er|or|ist|ian|ant|eer)|nurse|vet|chef|cook|pilot"
    r"|student|clerk|coach|guide|medic|midwife|judge|undergrad|postdoc)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"我|咱|俺|\b(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|me|us)\b", re.IGNORECASE)
_OTHER = re.compile(
    rf"他|她|人家|别人|大家|谁|你|您|{KIN.pattern}|\b(?:he|she|they|his|her|their|someone|somebody|people|you|your|who|everyone)\b",
    re.IGNORECASE,
)
_THIRD = re.compile(r"他|她|人家|\b(?:he|she|they|his|her|their)\b", re.IGNORECASE)
_REPORTED = re.compile(
    rf"(?:他|她|它|{KIN.pattern})们?(?:昨天|刚|老|总|跟我|都|还|又)?(?:说|讲|抱怨|吐槽|发的|写)"
    rf"|(?:\b(?:he|she|they)\b|{KIN.pattern})(?: \w+)? (?:says?|said|told|complain(?:s|ed)|wrote|posted|goes|was like)\b",
    re.IGNORECASE,
)
_ENDS = frozenset("。！？!?.\n…")


def _plain(text: str) -> str:
    return text.replace("’", "'")


def sentence_before(reading: Reading, place: int) -> str:
    """Return the part of the sentence that leads up to a place: an "if" there governs it too."""
    start = max(reading.text.rfind(each, 0, place) for each in _ENDS) + 1
    return reading.text[max(start, place - 120) : place]


def _is_meant(clause: Clause, before: str) -> bool:
    if _NOT_SO.search(before) or _NOT_SO.search(clause.text) or _REPORTED.search(before):
        return False
    return not {"play", "if", "heard", "joke"} & set(cues_in(clause.text))


def _clause_for(rule: Rule, reading: Reading, lang: str) -> Clause | None:
    pattern = rule.patterns[lang]
    for clause in reading.clauses[:READ_LIMIT]:
        text = _plain(clause.text)
        found = pattern.search(text)
        if found is None or (rule.unless and rule.unless.search(text)):
            continue
        owned = _is_users(text[: found.start()], found.group(), family=rule.family)
        if owned and _is_meant(clause, sentence_before(reading, clause.start)):
            return clause
    return None


def _is_users(before: str, matched: str, *, family: bool) -> bool:
    """Words that say "my" need only not be somebody's report; the rest, nobody else about."""
    if _DENIED.search(before) or _REPORTED.search(before) or _OVER.search(before + matched):
        return False
    if not family and _RELATIVE.search(matched):
        return False
    if _FIRST.search(matched):
        return True
    return not _OTHER.search(before) and not _THIRD.search(matched)


def _is_said(rule: Rule, clause: Clause, said: Sequence[Candidate], lang: str) -> bool:
    """What is remembered in the user's own words carries what follows from them."""
    stated = [e for e in said if e.scope is Scope.LASTING and e.confidence >= SAID_AT]
    # A calling says more than one more fact about its everyday.
    calling = rule.item_type is ItemType.IDENTITY
    covers = any(
        clause.text in (each.quote or "") and not (calling and each.item_type is ItemType.FACT)
        for each in stated
    )
    return covers or any(_says(each.content, rule.content[lang], lang) for each in stated)


_FRAME_ZH = re.compile(r"用户|工作|是|有|在|的|一|名|位|个|养|了|正|做|家里?|开|骑|打|戴|还")
_FRAME_EN = frozenset(
    "the user user's is a an has in on of at and their who for takes uses keeps rides wears runs works plays does with".split()
)


def _says(content: str, implied: str, lang: str) -> bool:
    """Tell whether a statement holds the content words of one alternative ("doctor or nurse")."""
    content = content.lower()
    if lang == "zh":
        words = [_FRAME_ZH.sub("", each) for each in re.split(r"或|、|，", implied)]
        return any(each and each in content for each in words)
    for each in re.split(r"\bor\b", implied.lower()):
        needed = [word for word in re.findall(r"[\w']+", each) if word not in _FRAME_EN]
        if needed and all(re.search(rf"\b{re.escape(word[:6])}", content) for word in needed):
            return True
    return False


def _anchored(text: str, lang: str) -> list[Rule]:
    rules, anchors = _lexicon()
    wanted: set[int] = set()
    for start in _starts(text, lang):
        for anchor, place in anchors[lang].get(start, ()):
            if place not in wanted and anchor in text:
                wanted.add(place)
    return [rules[each] for each in sorted(wanted)]


def _starts(text: str, lang: str) -> set[str]:
    """What an anchor may begin with here: a character, or a word with or without its plural s."""
    if lang == "zh":
        return set(text)
    words = set(_WORD.findall(text))
    return words | {each[:-1] for each in words if each.endswith("s")}


Anchors = Mapping[str, Mapping[str, Sequence[tuple[str, int]]]]

_WORD = re.compile(r"\w+")
_ANCHOR = re.compile(r"«([^«»]+)»")
_LITERAL = re.compile(r"[\w '&+:/.-]+")


@cache
def _lexicon() -> tuple[tuple[Rule, ...], Anchors]:
    """The rules in order; by language and by what an anchor starts with, anchors with their rule."""
    source = files("dualgate.adapters.local").joinpath("lexicon/implied.toml").read_text("utf-8")
    return read_rules(source)


def read_rules(source: str) -> tuple[tuple[Rule, ...], Anchors]:
    """Read the text of a rule file.

    A pattern is a regular expression in which «a|b» are its anchors, plain words (no regular expression) of which one must
    be there, and <name> stands for a form of the table [forms].

    Raises:
        ValueError: A pattern has no anchor, an anchor is no plain word, or two rules share an id.
    """
    data = tomllib.loads(source)
    rules: list[Rule] = []
    anchors: dict[str, dict[str, list[tuple[str, int]]]] = {lang: {} for lang in LANGUAGES}
    for place, row in enumerate(data["rule"]):
        if any(each.id == row["id"] for each in rules):
            raise ValueError(f"implied.toml: rule {row['id']!r} stands there twice")
        for lang in LANGUAGES:
            for anchor in sorted(_anchors(row, lang)):
                start = anchor[0] if lang == "zh" else _WORD.findall(anchor)[0]
                anchors[lang].setdefault(start, []).append((anchor, place))
        rules.append(_rule(row, data["forms"]))
    return tuple(rules), anchors


def _anchors(row: Mapping[str, Any], lang: str) -> set[str]:
    found: set[str] = set()
    for pattern in row[lang]:
        groups = _ANCHOR.findall(pattern)
        words = groups[0].split("|") if groups else []
        if not words or not all(_LITERAL.fullmatch(word) for word in words):
            raise ValueError(f"implied.toml: {row['id']!r} needs plain «anchors» in {pattern!r}")
        found.update(word.lower() for word in words)
    return found


def _rule(row: Mapping[str, Any], forms: Mapping[str, Mapping[str, str]]) -> Rule:
    unless = "|".join(row.get("unless", ()))
    return Rule(
        row["id"],
        ItemType(row["item_type"]),
        Sensitivity(row["sensitivity"]),
        {lang: row[f"content_{lang}"] for lang in LANGUAGES},
        {lang: _compiled(row[lang], lang, forms[lang]) for lang in LANGUAGES},
        re.compile(unless, re.IGNORECASE) if unless else None,
        row.get("family", False),
    )


def _compiled(patterns: Sequence[str], lang: str, forms: Mapping[str, str]) -> re.Pattern[str]:
    border = r"\b" if lang == "en" else ""
    joined = "|".join(f"(?:{each})" for each in patterns)
    for name, form in forms.items():
        joined = joined.replace(f"<{name}>", f"(?:{form})")
    return re.compile(_ANCHOR.sub(lambda found: f"{border}(?:{found.group(1)})", joined), re.IGNORECASE)
