"""What a query asks: about whom, which names it carries, which item types it hints at [R2].

Rule: reads text with word lists and patterns for zh and en; no model, no store. The first person
is rewritten to the stored subject, which was measured to help more than a better embedder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from dualgate.domain.items import folded
from dualgate.domain.types import ItemType

EARLIER_LINE = 0.9  # of the line after it
MOST_LINES = 12  # of a talk; what was said before has been answered
QUERY_LIMIT = 1_000  # characters; beyond that one vector is close to nothing that was said
OPENING_LIMIT = 300  # characters of a first sentence
COURTESY_LIMIT = 60  # characters; nobody is polite for longer, and the scan stays short

_SENTENCE_ENDS = re.compile(r"(?<=[。！？!?\n])|(?<=[.])(?=\s)")
_HAS_WORDS = re.compile(r"\w")

# A whole turn made of these says nothing to remember by.
_COURTESY = re.compile(
    r"(?:"
    r"谢谢(?:你|您|啦|了)?|多谢|感谢(?:你|您)?|辛苦(?:你|您)?了?|你好|您好|"
    r"早上?好|早安|下午好|晚上好|晚安|在吗|在不在|再见|拜拜|回见|好(?:的|吧|呀|啊|嘞|了)?|行(?:吧)?|"
    r"可以(?:的)?|没问题|没事(?:了)?|嗯+|哦+|"
    r"那(?:就)?这样|这样啊|原来如此|下次(?:再)?(?:聊|见)|回头(?:聊|见)|我(?=知道|明白|懂)|"
    r"哈+|呵+|啊+|收到|明白(?:了)?|知道了|懂了|太(?:棒|好)了?|不错|真棒|厉害|对(?:的)?|是的|继续|随便聊聊|"
    r"thanks?|you|thx|ty|so much|a lot|very much|many|again|hi|hello|hey|yo|there|all|"
    r"good (?:morning|afternoon|evening|night|day)|bye(?:-?bye)?|goodbye|see you|later|"
    r"(?:talk|speak|see you) (?:soon|next time|tomorrow)|next time|i (?:see|know|get it)|to me|"
    r"oh+|ah+|hm+|"
    r"alright|right|roger(?: that)?|much obliged|i? ?appreciate it|"
    r"ok(?:ay)?|k|"
    r"sure|yes|yeah|yep|no|nope|please|lol|haha(?:ha)*|great|cool|nice|perfect|awesome|got it|"
    r"sounds good|fine|understood|noted|np|no problem|welcome|you're|morning|cheers|well done|"
    r"go on|continue|你|您|啦|了|呀|哟|吧|大家"
    r")"
)
_COURTESY_GAP = re.compile(r"[\W_]*")

# "Tell me", "帮我": the speaker is only the one served, the question is not about him.
_DATIVE_ZH = re.compile(r"(?:帮|教|告诉|陪|让|给|替)我(?:们)?(?=[^的]|$)")
_DATIVE_EN = re.compile(
    r"\b(tell|help|show|give|teach|let|get|find|send|write|make|walk|explain to) (?:me|us)\b",
    re.IGNORECASE,
)
_GENERIC_EN = re.compile(
    r"^\s*how (?:\w+ )?(?:do|can|should|would|could) (?:i|we)\b", re.IGNORECASE
)
_MY_EN = re.compile(r"\b(?:my|our|mine|ours|usually|normally)\b", re.IGNORECASE)
_FIRST_ZH = re.compile(r"[我俺咱]")
_FIRST_EN = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE)
_SHARED_PAST = re.compile(
    r"上次|上回|之前|以前|还记得|记不记得|说过|提过|聊过|答应|"
    r"\b(?:last time|previously|earlier|remember|you (?:said|told|promised)|did you say|again\?)",
    re.IGNORECASE,
)

# Whom and what only the two of us can mean: the stored subject, "the team", 这个项目.
_OURS = re.compile(
    r"用户(?!名|体验|界面|数|量|增长|画像|协议)|"
    r"\bthe user(?:'s)?\b(?! (?:name|interface|experience))|"
    r"这个?(?:项目|系统|产品|应用|小程序|网站|方案|版本|团队|服务)|(?:项目|团队)(?:里|组|的|什么|现在|最)|"
    r"\b(?:this|that|the) (?:project|team|system|product|app|plan|release|sprint)\b",
    re.IGNORECASE,
)

_WE_ZH = re.compile(r"(我们|咱们)")
_REWRITES_EN = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"\bi'm\b", "the user is"),
        (r"\bi've\b", "the user has"),
        (r"\bi'd\b", "the user would"),
        (r"\bi'll\b", "the user will"),
        (r"\bam i\b", "is the user"),
        (r"\bdo i\b", "does the user"),
        (r"\bhave i\b", "has the user"),
        (r"\bi am\b", "the user is"),
        (r"\bi have\b", "the user has"),
        (r"\b(?:my|mine)\b", "the user's"),
        (r"\b(?:i|me|myself)\b", "the user"),
    )
)

_INTENTS: tuple[tuple[ItemType, re.Pattern[str]], ...] = tuple(
    (item_type, re.compile(pattern, re.IGNORECASE))
    for item_type, pattern in (
        (
            ItemType.DECISION,
            (
                r"决定|决策|选了|选择|选定|定下|方案|否决|为什么没|"
                r"\b(?:deci\w+|chose\w*|choose|agreed|pick(?:ed)?|settled|rejected)\b"
            ),
        ),
        (
            ItemType.COMMITMENT,
            (
                r"答应|承诺|待办|要交|截止|期限|准备什么|还欠|提醒|下次|下回|"
                r"\b(?:deadlines?|due|promised?|to-?dos?|hand in|submit|owe|next time|you would)\b"
            ),
        ),
        (
            ItemType.PREFERENCE,
            (
                r"喜欢|偏好|爱好|爱看|爱吃|想看|推荐|讨厌|风格|习惯|"
                r"\b(?:likes?|prefer\w*|favou?rites?|hates?|recommend\w*|suggest\w*|style|enjoy)\b"
            ),
        ),
        (
            ItemType.IDENTITY,
            (
                r"我叫|名字|我是谁|职业|做什么工作|干什么的|多大|几岁|生日|住在|专业|家里|"
                r"\b(?:who am i|names?|for a living|jobs?|how old|birthday|born|where do i live|"
                r"spouse|kids?|pets?)\b"
            ),
        ),
        (
            ItemType.CONSTRAINT,
            (
                r"不能|不要|不可以|要求|限制|过敏|忌口|预算|最多|注意什么|"
                r"\b(?:must|allerg\w+|limits?|budget|requirements?|avoid|not allowed|at most)\b"
            ),
        ),
        (
            ItemType.RULE,
            (
                r"规则|规范|约定|格式|标准|可以给我|"
                r"\b(?:conventions?|rules?|standards?|format|policy)\b"
            ),
        ),
        (
            ItemType.PROJECT,
            (
                r"项目|代号|架构|进度|系统|数据库|前端|后端|"
                r"\b(?:projects?|code ?names?|architecture|stack|deploy\w*|database|"
                r"(?:this|our|the) system)\b"
            ),
        ),
        (
            ItemType.EVENT,
            (
                r"什么时候|哪天|几点|日程|会议|开会|碰头|"
                r"\b(?:when|schedule\w*|meetings?|appointments?|trips?)\b"
            ),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Query:
    """A query as read. `statement` is it with the first person rewritten to the stored subject.

    A query of several lines is a talk: lines are its turns, oldest first, rewritten likewise. A
    query of one line has none.
    """

    text: str
    statement: str
    personal: bool  # about the user, shared work or a shared past
    courtesy: bool  # greeting, thanks, or nothing at all: there is no topic
    intents: frozenset[ItemType]
    lines: tuple[str, ...] = ()

    def shares(self) -> list[float]:
        """Return how much each line counts; the last one 1."""
        last = len(self.lines) - 1
        return [EARLIER_LINE ** (last - number) for number in range(len(self.lines))]


def read_query(text: str) -> Query:
    """Return what the query asks.

    >>> read_query("我家宠物叫什么？").statement
    '用户家宠物叫什么？'
    >>> read_query("Thank you so much!").courtesy
    True
    """
    turns = [" ".join(line.split()) for line in text.splitlines() if _HAS_WORDS.search(line)]
    lines = _latest(turns) if len(turns) > 1 else ()
    text = " ".join("\n".join(lines or (text,))[:QUERY_LIMIT].split())
    plain = without_dative(text)
    first_person = bool(_FIRST_ZH.search(plain) or _FIRST_EN.search(plain))
    return Query(
        text=text,
        statement=to_subject(plain),
        personal=first_person or bool(_SHARED_PAST.search(plain) or _OURS.search(plain)),
        courtesy=is_courtesy(text),
        intents=frozenset(kind for kind, cue in _INTENTS if cue.search(text)),
        lines=tuple(to_subject(without_dative(line)) for line in lines),
    )


def first_sentence(text: str) -> str:
    """Return the first sentence that says something [R1]; empty if none does.

    >>> first_sentence("Hi! How is the Phoenix project? I was away.")
    'How is the Phoenix project?'
    """
    for sentence in _SENTENCE_ENDS.split(text[: 4 * QUERY_LIMIT]):
        if not is_courtesy(sentence):
            return sentence.strip()[:OPENING_LIMIT]
    return ""


def is_courtesy(text: str) -> bool:
    """Whether the text is only greeting, thanks, assent or no words at all.

    >>> is_courtesy("好的，谢谢你"), is_courtesy("好的数据库是什么")
    (True, False)
    """
    if len(text) > COURTESY_LIMIT:
        return not _HAS_WORDS.search(text)
    plain = folded(text)
    at = _skip(plain, 0)
    while at < len(plain):
        match = _COURTESY.match(plain, at)
        if match is None or _inside_word(plain, match.end()):
            return False
        at = _skip(plain, match.end())
    return True


def without_dative(text: str) -> str:
    """Return text without the speaker as the one merely served ("tell me", "帮我").

    >>> without_dative("Tell me a joke"), without_dative("帮我写诗")
    ('Tell a joke', '帮写诗')
    """
    text = _DATIVE_ZH.sub(lambda match: match.group(0)[: match.group(0).index("我")], text)
    text = _DATIVE_EN.sub(r"\1", text)
    if _GENERIC_EN.match(text) and not _MY_EN.search(text):
        # "How do I change a tyre" asks how one does it.
        text = re.sub(r"(?i)^(\s*how \w+(?: \w+)?) (?:i|we)\b", r"\1 you", text)
    return text


@lru_cache(maxsize=512)
def to_subject(text: str) -> str:
    """Return text with the first person singular rewritten to the stored subject [R2].

    >>> to_subject("What is my name?"), to_subject("我们用什么数据库")
    ("What is the user's name?", '我们用什么数据库')
    """
    parts = _WE_ZH.split(text)
    text = "".join(p if _WE_ZH.fullmatch(p) else _FIRST_ZH.sub("用户", p) for p in parts)
    for pattern, put in _REWRITES_EN:
        text = pattern.sub(put, text)
    return text


def _latest(turns: list[str]) -> tuple[str, ...]:
    """Return the last turns that fit into the limit, oldest first; at least the last one."""
    kept: list[str] = []
    room = QUERY_LIMIT
    for turn in reversed(turns[-MOST_LINES:]):
        room -= len(turn) + 1
        if room < 0 and kept:
            break
        kept.append(turn[:QUERY_LIMIT])
    return tuple(reversed(kept))


def _skip(text: str, at: int) -> int:
    match = _COURTESY_GAP.match(text, at)
    return at if match is None else match.end()


def _inside_word(text: str, at: int) -> bool:
    return (
        0 < at < len(text)
        and text[at].isascii()
        and text[at].isalnum()
        and text[at - 1].isascii()
        and text[at - 1].isalnum()
    )
