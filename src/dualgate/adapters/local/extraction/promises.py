"""Promises: what the assistant undertakes, and what the user agrees to [W3].

Rule: the one place that reads assistant text. It yields the sentence in which the assistant says
that it will do something later, or proposes something to be agreed on, and nothing else.
"""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^。！？!?\n]+[。！？!?]?|[^.!?\n]+[.!?]?")
_SENTENCE_EN = re.compile(r"[^\n]+?(?:[.!?](?=\s|$)|\n|$)")
_PROMISE = re.compile(
    r"(?:我|助手)(?:会|来|可以|将|给您|给你|帮您|帮你|去|先|再|今晚|明天|下次|之后|稍后|回头|这就|马上|周|下周)[^。！？\n]{2,}"
    r"|(?:下次|明天|今晚|稍后|回头|之后|周[一二三四五六日]|到时候?)我?(?:会|给|把|再|来|提醒|整理|发)[^。！？\n]{2,}"
    r"|\b(?:i'll|i’ll|i will|i can|i could|i'm going to|i am going to|let me|shall i|want me to|should i|would you like me to)\b[^.!?\n]{4,}",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"下次|下周|下个|明[天早晚]|今晚|稍后|回头|之后|到时|以后|每[天周月次季]|周[一二三四五六日末天]|星期|月|[0-9一二三四五六七八九十][号日点]|定期|提醒|届时|后天|晚上|下午|周末|下一|接下来|再给|再发"
    r"|\b(?:next|tomorrow|tonight|later|by|every|each|once|after|before|from now on|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|weekend|weekly|daily|monthly|quarter\w*|morning|evening|remind\w*|follow up|again|the moment|as soon as|over the|ready)\b",
    re.IGNORECASE,
)
ASSENT_LIMIT = 60
# "Want me to do that?" only points at what the sentence before it says.
_POINTING = re.compile(
    r"(?:want me to|shall i|should i|would you like me to)(?: do (?:that|it|so|this))?\s*\?|^.{0,4}(?:可以吗|好吗|行吗|要吗|怎么样)[？?]?$",
    re.IGNORECASE,
)
_ASSENT = re.compile(
    r"^\W*(?:嗯+|好+[的啊呀嘞吧]?|行+[啊吧]?|可以|要的?|成[啊吧]?|中|没问题|麻烦|辛苦|拜托|太好了|那就|就这么|说好|说定|一言为定|同意|谢)[\W]*|等你|记得|别忘|提醒我|靠你了|我来找你要"
    r"|^\W*(?:yes|yep|yeah|yup|ok(?:ay)?|sure|deal|please do|sounds? good|great|perfect|cool|brilliant|good|agreed|works for me|thanks|cheers|go for it|do (?:that|it))\b"
    r"|\b(?:don't forget|hold you to|please do|do that|looking forward)\b",
    re.IGNORECASE,
)
_DECLINE = re.compile(
    r"不用|不必|算了|先不|别(?!忘)|不要|不了|不行|再说|为什么|怎么|[？?]|\b(?:no need|don't (?!forget)|no thanks|not now|never mind|nah|actually no|why|how|what)\b|\?",
    re.IGNORECASE,
)
_FIRM = re.compile(
    r"我(?:会|来|将|给您|给你|去|明天|下次|今晚|稍后|回头|这就|周|下周|保证|一定)|\b(?:i'll|i’ll|i will|i'm going to|i promise)\b", re.IGNORECASE
)
_NOW = re.compile(
    r"记住|记下|注意到|需要(?:我|您)|请问|如果(?:您|你)?|要不要|吗[？?]|\b(?:if you|let me know|happy to|glad to|remember that)\b", re.IGNORECASE
)


def promise_in(text: str, lang: str) -> str | None:
    """Return the sentence in which the assistant promises something for later.

    >>> promise_in("Sounds good. I'll send you the checklist on Monday.", "en")
    "I'll send you the checklist on Monday."
    """
    for sentence in _sentences(text, lang):
        if _FIRM.search(sentence) and _LATER.search(sentence) and not _NOW.search(sentence):
            return sentence
    return None


def offer_in(text: str, lang: str) -> str | None:
    """Return the sentence the user may agree to: the last promise or offer that says what."""
    found = [each for each in _sentences(text, lang) if _PROMISE.search(each)]
    telling = [each for each in found if not _POINTING.search(each)]
    chosen = telling or found
    return chosen[-1] if chosen else None


def accepted(text: str, reply_to: str, lang: str) -> str | None:
    """Return the offer for later that this short turn agrees to; None if it is not an assent.

    >>> accepted("行，等你的清单", "我下周把清单整理给您。", "zh")
    '我下周把清单整理给您。'
    >>> accepted("ok", "You may like birdwatching.", "en") is None
    True
    """
    first = text.strip()[:ASSENT_LIMIT]
    if not _ASSENT.search(first) or _DECLINE.search(first):
        return None
    offered = [each for each in _sentences(reply_to, lang) if _PROMISE.search(each)]
    # What is offered for right now is done in the next turn, and nothing to remember.
    if not any(_LATER.search(each) for each in offered):
        return None
    return offer_in(reply_to, lang)


def _sentences(text: str, lang: str) -> list[str]:
    pattern = _SENTENCE if lang == "zh" else _SENTENCE_EN
    return [found.strip() for found in pattern.findall(text[:4_000]) if found.strip()]


_YES = re.compile(
    r"^(?:(?:好的?|行|没问题|可以|嗯+|当然|收到|明白)[呀啊哦呢]?[，,。！!]\s*)+"
    r"|^(?:(?:sure|ok(?:ay)?|good|great|of course|certainly|no problem|will do|yes|absolutely)[.,!]\s*)+",
    re.IGNORECASE,
)


def about_assistant(text: str, lang: str) -> str:
    """Say an assistant's sentence in the third person.

    >>> about_assistant("好的，下次我给您整理一份清单。", "zh"), about_assistant("Sure, I'll send it", "en")
    ('助手承诺：下次助手给用户整理一份清单', 'The assistant will send it.')
    """
    text = _YES.sub("", text)
    if lang == "zh":
        said = re.sub(r"我们?|本助手", "助手", text)
        said = re.sub(r"您们?|你们?", "用户", said).strip(" 。！？!?")
        return said if said.startswith("助手") else f"助手承诺：{said}"
    said = re.sub(r"\b(?:want me to|shall i|should i|would you like me to|i can|i could|let me)\b", "the assistant will", text, flags=re.IGNORECASE)
    said = re.sub(r"\b(?:i'll|i’ll|i will|i'm going to)\b", "the assistant will", said, flags=re.IGNORECASE)
    said = re.sub(r"\byour\b", "the user's", re.sub(r"\b(?:i|me)\b", "the assistant", said, flags=re.IGNORECASE), flags=re.IGNORECASE)
    said = re.sub(r"\byou\b", "the user", said, flags=re.IGNORECASE).strip(" ?!.")
    return said[:1].upper() + said[1:] + "."
