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
    r"下次|明天|今晚|稍后|回头|之后|到时|以后|每[天周月]|周[一二三四五六日]|月|号|提醒|整理|准备|发给|前|完|后天|早上|晚上|下午"
    r"|\b(?:next|tomorrow|tonight|later|by|every|each|when|once|after|before|on|remind|prepare|send|draft|from now on|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|weekend|morning|evening|check|look|write|put together|follow up|always|never)\b",
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
    """Return the sentence the user may agree to: a promise or an offer, the last one made."""
    found = [each for each in _sentences(text, lang) if _PROMISE.search(each)]
    return found[-1] if found else None


def _sentences(text: str, lang: str) -> list[str]:
    pattern = _SENTENCE if lang == "zh" else _SENTENCE_EN
    return [found.strip() for found in pattern.findall(text[:4_000]) if found.strip()]


def about_assistant(text: str, lang: str) -> str:
    """Say an assistant's sentence in the third person."""
    if lang == "zh":
        said = re.sub(r"我们?|本助手", "助手", text)
        said = re.sub(r"您们?|你们?", "用户", said).strip(" 。！？!?")
        return said if said.startswith("助手") else f"助手承诺：{said}"
    said = re.sub(r"\b(?:want me to|shall i|should i|would you like me to|i can|i could|let me)\b", "the assistant will", text, flags=re.IGNORECASE)
    said = re.sub(r"\b(?:i'll|i’ll|i will|i'm going to)\b", "the assistant will", said, flags=re.IGNORECASE)
    said = re.sub(r"\byour\b", "the user's", re.sub(r"\b(?:i|me)\b", "the assistant", said, flags=re.IGNORECASE), flags=re.IGNORECASE)
    said = re.sub(r"\byou\b", "the user", said, flags=re.IGNORECASE).strip(" ?!.")
    return said[:1].upper() + said[1:] + "."
