"""Wording: from the user's own words to one plain sentence about them, in their language.

Rule: keep every content word (numbers, units, names, negations, modifiers); change only who speaks,
and drop the words that only address the listener. Nothing is inferred here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dualgate.domain.types import ItemType

_ZH_FILLER = re.compile(
    r"^(?:(?:嗯+|呃+|哦+|啊|哎呀?|唉|诶|欸|额|那个|就是说?|对了|话说|说起来|然后|还有就?是?|另外|顺便(?:说|提)?一?[句下]?|btw|ps"
    r"|我?跟你(?:们)?(?:讲|说)(?:一?下|个事)?|说个事|告诉你|提醒你?一?[句下]|交个底|(?:你|麻烦你?|请)?(?:帮我)?(?:给我)?记(?:一?下|住|着|死|好)(?:了|哈|啊)?"
    r"|(?:我)?(?:之前|上次|前面|刚才|早就|已经)?(?:跟你)?(?:说|讲|提)过(?:的|了|很多次了?|好几次了?)?|还是那句话|再(?:说|强调)一遍"
    r"|先说好|说真的|讲真|老实说|其实吧?|反正|总之|所以说?|但是?|不过|而且|并且|因为|行吧?|好(?:的|吧|嘞)?|对|是的)[\s,，:：。、!！]*)+",
    re.IGNORECASE,
)
_ZH_TAIL = re.compile(r"(?:[\s,，]*(?:哈+|啊|呀|哦|噢|喔|嘛|呢|吧|咯|啦|哟|嗷|谢谢|谢啦|拜托了?|好吗|行吗|可以吗|知道了?吗|懂了?吗))+[\s。.!！~～]*$")
_ZH_PERSON: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), wording)
    for pattern, wording in (
        (r"(?:我|咱)们?(?=(?:这个?)?(?:公司|团队|部门|小?组|平台|单位|学校|实验室|医院|工厂|厂|店|社区|班|所|院))", "用户所在"),
        (r"(?:我|咱)们(?:家|俩|全家)", "用户家"),
        (r"(?:我|咱)们(?:这边|这里|这儿)?的?", "用户这边"),
        (r"(?:我|俺|咱)这人|我这个人", "用户"),
        (r"我本人|本人|我自己|自己我", "用户自己"),
        (r"(?<!自)我的|俺的", "用户的"),
        (r"(?<!自)我(?=[大小二老]?(?:爸|妈|爷|奶|外[公婆]|姥|哥|姐|弟|妹|儿子|女儿|闺女|老公|老婆|婆婆|公公|岳|孩子|侄|同事|朋友|室友))", "用户的"),
        (r"(?<!自)(?:我|俺|咱)", "用户"),
        (r"您|你们?", "助手"),
    )
)
# Words of assent at the head answer the turn before; only with their comma are they no sentence.
_ZH_ASSENT = re.compile(
    r"^(?:(?:是啊|是呀|对啊|没错|当然(?:可以|了)?|确实(?:是|如此)?|的确(?:是|如此)?|我?(?:知道|明白|懂)了|(?:助手|你|您)说(?:得|的)?(?:很|挺)?对了?|哈哈+|谢谢(?:你|您)?(?:的(?:建议|推荐|提醒|分享))?)"
    r"[\s,，。.！!~～、]+)+(?=.)",
)
_EN_ASSENT = re.compile(
    r"^(?:(?:that(?:'s| is) (?:right|true|great|a good (?:idea|point|question))|(?:you're|you are) (?:right|welcome)|of course|definitely|absolutely|exactly|certainly|indeed|sure"
    r"|i see|i understand|i got it|got it|good (?:point|idea)|(?:that )?sounds (?:good|great)|thank you(?: for [^.,!]{1,30})?|by the way|besides|not (?:yet|really)|(?:oh )?wow)"
    r"[\s,.!;:–—-]+(?:but |and |so )?)+(?=\S)",
    re.IGNORECASE,
)
_EN_FILLER = re.compile(
    r"^(?:(?:and|but|so|because|also|plus|btw|by the way|oh|ok(?:ay)?|well|hey|hi|yeah|yep|yes|no,|um+|uh+|hmm+|like|lol|haha|fyi|look|listen"
    r"|(?:like |as )?i (?:have |'ve )?(?:already )?(?:said|mentioned|told you)(?: (?:before|already|earlier|last time))?|again"
    r"|honestly|just so you know|for the record|for context|heads up|note(?: that)?|please|pls|remember(?: that)?|keep in mind(?: that)?"
    r"|one (?:more )?thing|ps|p\.s\.?|actually|anyway|thing is|the thing is|tbh|right|great|thanks|thx|sorry|which means|since|though|although)"
    r"(?:[\s,:;.!–—-]+|$))+",
    re.IGNORECASE,
)
_EN_TAIL = re.compile(r"(?:[\s,]+(?:please|pls|thanks|thx|thank you|ok\??|okay\??|lol|haha|btw|fyi|cheers|tho))+[\s.!]*$", re.IGNORECASE)
_PAST = frozenset(
    "was were had did went came got made took said saw knew thought gave told left felt kept began ran met paid sold bought brought built sent"
    " lost won chose broke drove wrote ate drank quit put cut set hurt became grew spent taught caught fell held led stood understood slept swore"
    " could would should might must can will may shall ought cannot read".split()
)
_ADVERBS = frozenset(
    "always never really just only still usually also literally mostly often already actually now generally normally basically currently"
    " absolutely definitely seriously genuinely sometimes rarely hardly almost even kinda sorta typically strictly honestly personally simply"
    " mainly exclusively officially finally recently both all first then probably totally truly deeply strongly just also not".split()
)
_IRREGULAR = {"have": "has", "do": "does", "go": "goes", "am": "is", "are": "is", "'m": "is", "be": "is"}
_EN_PERSON: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), wording)
    for pattern, wording in (
        (r"\b(?:i'm|i am|im)\b", "the user is"),
        (r"\b(?:i've|ive)\b", "the user has"),
        (r"\bi'd\b", "the user would"),
        (r"\bi'll\b", "the user will"),
        (r"\bi (?=don't|do not)", "the user "),
        (r"\bwe're\b", "the user's side is"),
        (r"\bwe've\b", "the user's side has"),
        (r"\bwe'll\b", "the user's side will"),
        (r"\bmy\b|\bmine\b", "the user's"),
        (r"\bour\b|\bours\b", "the user's"),
        (r"\bmyself\b|\bourselves\b", "themselves"),
        (r"\bme\b|\bus\b", "the user"),
        (r"\byour\b", "the assistant's"),
        (r"\byou're\b", "the assistant is"),
        (r"\byou\b|\bu\b", "the assistant"),
    )
)
_LY_VERBS = r"(?:fly|reply|apply|rely|supply|comply|multiply)\b"
_EN_DONT = re.compile(r"\bthe user (don't|do not|dont)\b", re.IGNORECASE)
_EN_I = re.compile(
    rf"\b(?:i|we)\b((?:\s+(?:no\s+longer|quite|rather|{'|'.join(sorted(_ADVERBS))}|(?!{_LY_VERBS})\w+ly))*)(\s+[\w']+)?",
    re.IGNORECASE,
)
_EN_YOU = re.compile(
    r"\b(when(?:ever)?|if|before|after|until|unless|once|while|time|what|that|anything|everything|code)"
    r"\s+you((?:\s+(?:just|also|always|never|only|simply|still|first|really|not))*)\s+([a-z]+)\b",
    re.IGNORECASE,
)
_DIRECTIVES = frozenset({ItemType.RULE, ItemType.PREFERENCE, ItemType.CONSTRAINT})


def sentence(text: str, lang: str, item_type: ItemType, owner: str = "user") -> str:
    """Say `text` about the user in the third person.

    >>> sentence("btw I don't eat pork", "en", ItemType.CONSTRAINT)
    "The user doesn't eat pork."
    >>> sentence("对了，我对花生过敏哈", "zh", ItemType.CONSTRAINT)
    '用户对花生过敏'
    """
    plain = " ".join(text.split())
    if plain.count("(") + plain.count("（") > plain.count(")") + plain.count("）"):
        plain += "）" if "（" in plain else ")"
    return _chinese(plain, item_type, owner) if lang == "zh" else _english(plain, item_type, owner)


def _chinese(text: str, item_type: ItemType, owner: str) -> str:
    said = _ZH_FILLER.sub("", _ZH_ASSENT.sub("", text)) or text
    said = (_ZH_TAIL.sub("", said) or said).strip(" ,，。；;、：:")
    for pattern, wording in _ZH_PERSON:
        said = pattern.sub(wording, said)
    if "用户" in said[:8] or owner == "assistant":
        return said
    tells = bool(_ZH_TELLS.search(said))
    if item_type in _DIRECTIVES and not tells and re.match(r"(?:以后|今后|凡是|所有|默认|请|别|不要|用|回答|回复|助手|只|都|每)", said):
        return f"用户要求：{said}"
    if "用户" in said:
        return said
    apart = re.match(r"[\W\d]|这|那|就|都|也|他|她|它", said) or _has_own_subject(said)
    return f"用户：{said}" if apart else f"用户{said}"


# 每当听到这首歌，用户就会哭: the user does it, and asks for nothing.
_ZH_TELLS = re.compile(r"[，,]用户(?!的|家|这边|所在)(?:就|才|都|也|总|一定|常|便|会)+[^，,]*$")
_NOUNS = frozenset({"n", "nr", "ns", "nt", "nz", "eng", "x", "r"})
_OPENING_NOUNS = frozenset("平时 周末 小时候 家里 每天 每周 每月 每年 每次 每晚 各".split())


@lru_cache(maxsize=4_096)
def _has_own_subject(said: str) -> bool:
    """Tell whether the words begin with a noun: what is said is said of that, not of the user."""
    import rjieba  # its dictionary takes a fifth of a second to load

    words: list[tuple[str, str]] = rjieba.tag(said[:40])
    if not words:
        return False
    first, kind = words[0]
    return kind in _NOUNS and first not in _OPENING_NOUNS and len(words) > 1


def _english(text: str, item_type: ItemType, owner: str) -> str:
    plain = text.replace("’", "'")
    said = _EN_FILLER.sub("", _EN_ASSENT.sub("", _EN_FILLER.sub("", plain) or plain)) or text
    said = (_EN_TAIL.sub("", said) or said).strip(" ,;:")
    for pattern, wording in _EN_PERSON[:10]:
        said = pattern.sub(wording, said)
    said = _EN_I.sub(_agree, said)
    said = _EN_YOU.sub(_agree_with_assistant, said)
    for pattern, wording in _EN_PERSON[10:]:
        said = pattern.sub(wording, said)
    said = _EN_DONT.sub("the user doesn't", said)
    said = re.sub(r"\bthe assistant don't\b", "the assistant doesn't", said)
    said = said if "the user" in said.lower() or owner == "assistant" else _about(said, item_type)
    said = said[:1].upper() + said[1:]
    return said if said[-1:] in ".!?" else f"{said}."


def _about(said: str, item_type: ItemType) -> str:
    if item_type in _DIRECTIVES and not _EN_TELLS.search(said):
        return f"The user's wish: {said}"
    return f"The user: {said}"


# "Jazz is a comfort to me" is no wish; "no cards", "answers that are short", "if it is late, stop" are.
_EN_TELLS = re.compile(
    r"^(?!(?:no|not|nothing|never|always|only|just|please|if|when|whenever|every|each|any|all|from|until|unless|once|before|after|don't|do)\b)"
    r"(?:(?!(?:that|which|who|if|when|whenever|unless|should|must)\b)[\w'-]+ ){1,6}?(?:is|are|was|were|isn't|aren't|has|have|had)\b",
    re.IGNORECASE,
)


_DENYING = {"don't": "doesn't", "dont": "doesn't", "haven't": "hasn't", "aren't": "isn't"}
# "I usually read": a habit stands in the present, whatever the verb looks like.
_HABIT = re.compile(r"\b(?:always|usually|often|generally|normally|typically|mostly|mainly|rarely|sometimes|never|still)\b", re.IGNORECASE)
_EITHER_TENSE = frozenset("read put cut set quit hurt".split())


def _agree(found: re.Match[str]) -> str:
    """Give the verb after "I" its third-person ending, past the adverbs in between."""
    adverbs, verb = found.group(1), (found.group(2) or "").strip()
    if verb.lower() in _EITHER_TENSE and _HABIT.search(adverbs):
        return f"the user{adverbs} {verb}s"
    return f"the user{adverbs} {_third(verb.lower(), verb)}" if verb else f"the user{adverbs}"


def _agree_with_assistant(found: re.Match[str]) -> str:
    """Give the verb after "you" its ending: "before the assistant saves"."""
    adverbs, verb = found.group(2), found.group(3)
    if "not" not in adverbs.lower().split():  # "that you not apologise" has no ending
        verb = _third(verb.lower(), verb)
    return f"{found.group(1)} the assistant{adverbs} {verb}"


def _third(lower: str, word: str) -> str:
    irregular = _IRREGULAR.get(lower, _DENYING.get(lower))
    if irregular is not None:
        return irregular
    if not lower.isalpha() or lower in _PAST or (lower.endswith(("ed", "s", "ing")) and lower not in {"need", "feed", "miss", "pass", "discuss", "bring", "sing", "bleed", "speed", "guess", "dress"}):
        return word
    if lower in {"don", "doesn", "didn", "isn", "aren", "wasn", "couldn", "wouldn", "won", "haven", "hadn", "and", "or", "the", "in", "on", "to"}:
        return word
    if lower.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{word}es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
