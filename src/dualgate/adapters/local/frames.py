"""Conventions as slots: the frame of a rule is the attribute, its literal or tool the value [C1].

Rules of this file:
- "End method names with '_x'" fills the slot "convention: end of method name" with "_x". A newer
  value for the same frame takes its place; another frame ("start", "variable name") stays apart.
- What may be used side by side stands in the attribute ("convention: use docstring in method"), so
  that only its denial can oust it. A tool for a purpose is one: "use Zoom for video calls".
- A text with two different conventions has no slot: one value cannot stand for both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PREFIX = "convention: "
TOOL = f"{PREFIX}tool for "
READ_LIMIT = 800  # characters
NOUN_LIMIT = 5  # words of an object


@dataclass(frozen=True, slots=True)
class Convention:
    """A standing rule taken apart."""

    attribute: str
    value: str
    denied: bool = False


_LITERAL = r"""(?:['"‘“`「《](?P<value>[^'"’”`」》\n]{1,40}?)[,.]?['"’”`」》])"""
_ENDS = {"start": "start", "begin": "start", "prefix": "start", "end": "end", "finish": "end", "suffix": "end", "conclude": "end"}
_VERB = r"(?P<verb>start|begin|prefix|end|finish|suffix|conclude)(?:s|es|ing|ed)?"
_NOUN = r"(?P<noun>[a-z][a-z /-]{1,40}?)"
_MARK = r"(?:(?:the|a|an)\s+)?(?:(?:prefix|suffix|string|letters?|characters?|word|phrase|tag)\s+)?"
_AFFIX = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # For attribute names, start them with 'x_'; when naming attributes, always start with 'x_'
        rf"\b(?:for|when (?:naming|defining|writing|creating)|with|in|on)\s+(?P<noun>[a-z][a-z /-]{{1,40}}?),\s(?:[^'\"‘“`]|(?<=\w)'(?=\w)){{0,60}}?\b{_VERB}\s(?:(?:them|it|their names|the (?:variable |argument |function )?names?|names|all names|all of them|each|each one|all|all {_NOUN.replace('noun', 'again')})\s)?(?:with|in|by)\s{_MARK}{_LITERAL}",
        rf"\b{_VERB}\s{_NOUN}\s(?:with|in|by using|by adding)\s{_MARK}{_LITERAL}",
        rf"(?P<noun>[a-z][a-z /-]{{1,60}}?)\s(?:(?:should|must|to|need to|needs to|have to|has to|always|are to|is to|will|now|that)\s)*{_VERB}\s(?:with\s|in\s|by\s)?{_MARK}{_LITERAL}",
        rf"\b(?:use|add|put|apply)s?\s(?:the\s)?(?P<verb>prefix|suffix)\s{_LITERAL}\s(?:for|to|on|in|before|after)\s{_NOUN}(?=[.,;!]|\sfrom now|\sinstead|$)",
    )
)  # fmt: skip
_AND = re.compile(rf"\band\s{_NOUN}\s(?:with|in)\s{_MARK}{_LITERAL}", re.IGNORECASE)
_AND_WORD = re.compile(r"^and\s", re.IGNORECASE)
_ZH_AFFIX = (
    re.compile(rf"(?P<noun>[\u4e00-\u9fff]{{1,12}}?)(?:都|一律|统一|必须|要|应该|得|请|也|改|现在|以后|全部)*[以用](?P<mark>)\s*{_LITERAL}\s*(?:来|做|作为?|当|为)?(?P<verb>开头|打头|起头|结尾|收尾|前缀|后缀)"),
    re.compile(rf"(?P<noun>[\u4e00-\u9fff]{{1,12}}?)的?(?P<verb>前缀|后缀|开头|结尾)(?:都|一律|统一|必须|要|应该|得|请|也|改|现在|以后|全部)*(?:是|为|用|加|成|改成|写|叫)\s*{_LITERAL}"),
)  # fmt: skip
_ZH_ENDS = {"开头": "start", "打头": "start", "起头": "start", "前缀": "start", "结尾": "end", "收尾": "end", "后缀": "end"}
_ZH_LEAD = re.compile(r"^(?:用户|助手|希望|要求|想要|想让|从现在开始|从今以后|从今往后|以后|今后|之后|请|所有的?|每个|全部|我们?|你|写代码时|的|让|要|把|给|在|改成|现在|统一|记住)+")

# A tool is a name: a capital or digit inside; "annotations" or "docstrings" may stand side by side.
_TOOL = r"(?P<value>(?-i:[A-Z])[\w.+#/-]*(?:\s(?-i:[A-Z0-9])[\w.+#/-]*){0,3})"
_USE = r"(?<!not )(?<!n't )(?<!never )\b(?:use|using|switch to|move to|go with|stick (?:to|with))"
_ROLE_TAIL = r"(?=[.,;!?]|\s(?:from now|instead|going forward|now|so|because|since|when|rather|and not|unless)\b|$)"
_TOOLS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_USE}\s(?P<value>(?:all )?uppercase|camel ?case|pascal ?case|snake[_ ]?case|kebab[- ]?case|lower ?case)(?:\sletters)?\s(?:for|in|when naming)\s(?P<noun>[a-z][a-z '/-]{{2,40}}?){_ROLE_TAIL}",
        rf"{_USE}\s(?:only\s)?(?:the\s)?{_TOOL}\s(?:instead\s)?(?:for|when(?:ever)? (?:doing|making))\s(?P<noun>[a-z][a-z '/-]{{2,40}}?){_ROLE_TAIL}",
        rf"{_USE}\s(?:only\s)?(?:an?\s|the\s)?(?P<value>[\w.+#/-]+(?:\s[\w.+#/-]+){{0,3}}?)\sas\s(?P<noun>(?:the|your|my|our|a|an|their|his|her|the user's|the assistant's|main|preferred|primary|default)\s[a-z][a-z '/-]{{2,40}}?){_ROLE_TAIL}",
    )
)  # fmt: skip
_ZH_TOOL = re.compile(
    r"(?:^|以后|统一|一律|都|请|必须|要|改|助手|今后|改成|开始)(?:用(?!户)|使)(?:用(?!户))?\s*(?P<value>[A-Za-z][\w.+#/ -]{0,24}?|[\u4e00-\u9fff]{2,6}?)\s*(?:来|去)?(?:做|作为?|当|开|画|管理|记|存放?|跑|发|写)(?P<noun>[\u4e00-\u9fff]{2,8})$"
)
_DENIED = re.compile(r"\b(?:not|never|no longer|stop|avoid)\b|n['’]t\b|不要|别|不用|禁止|不再|不得", re.IGNORECASE)
_DETERMINED = re.compile(
    r"^(?:(?:all|any|every|each|the|your|our|my|their|his|her|its|these|those|of|user's|user’s|assistant's|assistant’s|always|that|ensure|main|preferred|primary|default|favou?rite|go-to|a|an|naming|defining|creating|writing|new|wants|needs|to|user|assistant|likes?|would|you|have|with|make|sure|i)\s+)+"
)
_POSSESSIVE = re.compile(r"\bthe (?:user|assistant|team)['’]s\b(?: side['’]s)?", re.IGNORECASE)
# "The arguments of your functions" are function arguments.
_OF = re.compile(r"\b((?!name)[a-z]+s) (?:of|in) (?:your|the|our|all|my)\s(?:\w+\s)??(function|method|class|module)e?s$")
_SENTENCE = re.compile(r"(?<=[a-z0-9'\"’”)])[.!?;](?=\s+[\"'“A-Z])|[\n。！；]")
_NAMED = frozenset("function method variable attribute class argument parameter constant module".split())


def convention(content: str) -> Convention | None:
    """Return the one convention that a text states.

    >>> convention("End all method names with '_x'")
    Convention(attribute='convention: end of method name', value='_x', denied=False)
    """
    found: dict[tuple[str, str], Convention] = {}
    plain = _POSSESSIVE.sub("your", content[:READ_LIMIT])
    for sentence in _SENTENCE.split(plain):
        for each in _conventions(sentence.strip()):
            found.setdefault((each.attribute, each.value), each)
    return next(iter(found.values())) if len(found) == 1 else None


def one_by_one(content: str) -> tuple[str, ...]:
    """Return the text as one sentence for each convention; as it is where it holds no second.

    >>> one_by_one("Start test names with 't_' and class names with 'C_'")
    ("Start test names with 't_'", "Start class names with 'C_'")
    """
    plain = content[:READ_LIMIT]
    match = next((found for each in _AFFIX if (found := each.search(plain))), None)
    more = list(_AND.finditer(plain, match.end())) if match else []
    if match is None or not more or match.start("noun") < match.start("verb"):
        return (content,)
    lead = plain[: match.start("noun")]
    return (plain[: more[0].start()].rstrip(" ,"), *(lead + _AND_WORD.sub("", m[0]) for m in more))


def _conventions(sentence: str) -> Iterator[Convention]:
    affixes = list(_affixes(sentence))
    yield from affixes
    if affixes:
        return
    for pattern in _TOOLS:
        match = pattern.search(sentence)
        noun = _object(match["noun"]) if match else ""
        if match and noun:
            denied = bool(_DENIED.search(sentence[: match.start()]))
            case = pattern is _TOOLS[0]
            role = f"case of {_named(noun)}" if case else TOOL.removeprefix(PREFIX) + noun
            value = re.sub(r"[ _-]|^all ", "", match["value"].lower()) if case else match["value"]
            yield Convention(PREFIX + role, value.strip(), denied)
            return
    zh = _ZH_TOOL.search(sentence.rstrip("。.！!了吧"))
    if zh:
        yield Convention(TOOL + zh["noun"], zh["value"].strip())


def _affixes(sentence: str) -> Iterator[Convention]:
    for pattern in _AFFIX:
        matches = [match for match in pattern.finditer(sentence) if _object(match["noun"])]
        for match in matches:
            where = _ENDS[match["verb"].lower()]
            noun = _named(_object(match["noun"]))
            denied = bool(_DENIED.search(sentence[: match.start("verb")][-30:]))
            yield Convention(f"{PREFIX}{where} of {noun}", match["value"].strip(), denied)
            for more in _AND.finditer(sentence, match.end()):
                also = _named(_object(more["noun"]) or "that")
                yield Convention(f"{PREFIX}{where} of {also}", more["value"].strip(), denied)
        if matches:
            return
    for pattern in _ZH_AFFIX:
        for match in pattern.finditer(sentence):
            noun = _ZH_LEAD.sub("", match["noun"])
            if noun:
                yield Convention(f"{PREFIX}{_ZH_ENDS[match['verb']]} of {noun}", match["value"].strip())
                return


def _object(text: str) -> str:
    """Return a noun phrase without what only points at it: "all your method names" is one."""
    plain = _OF.sub(r"\2 \1", text.lower().strip())
    words = _DETERMINED.sub("", plain + " ").split()
    # "… the rule is that all attribute names": the phrase is what follows the last pointer.
    for place in range(len(words) - 1, -1, -1):
        if words[place] in {"all", "your", "our", "every", "each", "the", "that", "ensure", "my", "any", "is", "wants", "have"}:
            words = words[place + 1 :]
            break
    if not words or len(words) > NOUN_LIMIT or (words[-1] in {"them", "it", "always", "names", "name"} and len(words) == 1):
        return ""
    return " ".join([*words[:-1], _singular(words[-1])])


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ss", "us", "is")) or len(word) < 4:  # noqa: PLR2004
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word.removesuffix("s")


def _named(noun: str) -> str:
    """What a literal is put on is a name: "for methods" and "method names" are one object."""
    words = noun.split()
    if words[-1] == "variable" and len(words) > 1:
        words.pop()  # "function argument variables"
    noun = " ".join(words)
    if words[-1] in _NAMED:
        return f"{noun} name"
    if words[-1] == "name" and len(words) > 1:
        return " ".join([*words[:-2], _singular(words[-2]), "name"])
    return noun
