"""Kinds: forms that name the type of a statement, whatever else it is about.

Rule: only forms that the hand-written turns label alike, all but always; the rest is the model's.
"""

from __future__ import annotations

import re

from dualgate.domain.types import ItemType, Polarity

_ZH_ADVERB = r"(?:这人|这个人|就|很|真的?|特别|一直|从小|更|最|比较|还是|实在|其实|不|不太|也|都|最近)*"
_FORMS: tuple[tuple[ItemType, re.Pattern[str]], ...] = tuple(
    (item_type, re.compile(pattern, re.IGNORECASE))
    for item_type, pattern in (
        (
            ItemType.DECISION,
            "决定|商量好|敲定|拍板|定下来|(?:讨论|想)了?.{0,4}(?:定|选)了|不(?:做|考|去|买|续|租|养|报|送|换|上|装).{0,6}了$" + r"|\b(?:decided|settled on|(?:we're|i'm|we are|i am|we) go(?:ing)? with|turned down|final answer|locked in|not getting)\b",
        ),
        (
            ItemType.PROJECT,
            "我(?:们)?(?:最近|现在|正|目前)?在(?:做|搞|写|搭|开发|筹备)(?!饭|作业)" + r"|\b(?:i'm|i am|we're|we are|i've been) (?:writing|building|restoring|working on|developing|designing) (?:an?|our|my)\b",
        ),
        (
            ItemType.PREFERENCE,
            f"我{_ZH_ADVERB}(?:喜欢|爱|讨厌|受不了)" + r"|\bi(?:'d rather| would rather| prefer)\b|\bi (?:really |just )?(?:love|like|hate|enjoy|can't stand|cannot stand|loathe)\b",
        ),
    )
)


def named_kind(text: str) -> ItemType | None:
    """Return the type that the form of the words names.

    >>> named_kind("we decided on two sprints"), named_kind("I have a cat")
    (<ItemType.DECISION: 'decision'>, None)
    """
    plain = text.replace("’", "'")
    return next((kind for kind, form in _FORMS if form.search(plain)), None)


_AGAINST = re.compile(
    r"(?<!不)(?:讨厌|反感|受不了)|(?:决定|打算)不|拒绝|再也不(?![^，,]*[，,].*只)|(?<![区特级性类])(?:别|不要)再?(?:给|跟|对|用|说|写|推|放|提)"
    r"|\b(?:refuse[sd]?|banned|forbidden|can't stand|cannot stand|hate|loathe|detest)\b"
    r"|^\W*(?:(?:please|and|so|also|but)\W+)*(?:don't|do not|never)\b(?! (?:forget|hesitate|mind|without|worry|\w+ without)\b)",
    re.IGNORECASE,
)
_NOT_AGAINST = re.compile(
    r"不(?:是)?(?:讨厌|反感)|[，,].*(?:只|改用|换成|要|用)|^[^，,别]*(?:只|用)[^，,别]*[，,]?[^，,]*别"
    r"|\b(?:used to|don't hate|don't dislike|only|instead|but (?:do|i love))\b",
    re.IGNORECASE,
)


def named_polarity(text: str) -> Polarity | None:
    """Return negative where the form of the words forbids or refuses outright.

    >>> named_polarity("别再给我推短视频了"), named_polarity("I live in Oslo")
    (<Polarity.NEGATIVE: '-'>, None)
    """
    plain = text.replace("’", "'")
    refused = _AGAINST.search(plain) and not _NOT_AGAINST.search(plain)
    return Polarity.NEGATIVE if refused else None


_PLAIN = re.compile(
    r"^我(?:一直|从小)?(?:对.{1,12}过敏|吃素|住在.{2,8}|叫.{1,6})$"
    r"|^\W*(?:(?:and|also|btw)\W+)*(?:(?:i'm|i am) (?:severely |very )?(?:allergic to|lactose|vegetarian|vegan)|i live in|my name is|call me)\b.{0,30}$",
    re.IGNORECASE,
)


def is_plain(text: str) -> bool:
    """Tell whether this is one of the plainest things people say about themselves.

    >>> is_plain("I'm allergic to figs"), is_plain("the figs were great")
    (True, False)
    """
    return bool(_PLAIN.search(text.replace("’", "'")))
