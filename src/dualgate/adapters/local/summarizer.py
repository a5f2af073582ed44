"""The summarizer that needs no model: it keeps sentences, in the words in which they were said [L1].

    turns → own words and carried blocks → sentences → why a sentence is kept, or is not

Rule: a sentence is kept whole or not at all. What the extractor reads out of a user's turn comes
first; the forms of cues.py tell the rest. Same turns, same lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from dualgate.adapters.local.extraction import promises
from dualgate.adapters.local.extraction.cues import cues_in
from dualgate.adapters.local.extraction.features import language
from dualgate.adapters.local.extraction.kinds import is_wished, named_kind
from dualgate.adapters.local.extraction.voice import own_voice
from dualgate.adapters.local.names import entities_in
from dualgate.domain.compaction import Digest, Keep, Line
from dualgate.domain.items import Message
from dualgate.domain.terms import terms
from dualgate.domain.types import ItemType, Role, Scope
from dualgate.pipeline.ports import Extractor, Turn

SENTENCE_LIMIT = 300  # characters; a longer run is cut at its commas, or anywhere
SENTENCES_LIMIT = 2_000  # of a turn; what is longer is a document, and passed over
CARRIED_FROM = 120  # characters; a shorter quotation is part of what is said
COURTESY_LIMIT = {"zh": 12, "en": 36}  # characters; a longer sentence says something besides
TRACE_HEAD = 80  # characters of a block that its trace shows
SURE_ENOUGH = 0.5  # less than the gate asks [M 5.1]: a summary forgets with its conversation
HISTORY = 4  # turns that the extractor may look back

_KEEP_OF: Mapping[ItemType, Keep] = {
    ItemType.RULE: Keep.RULE,
    ItemType.CONSTRAINT: Keep.RULE,
    ItemType.DECISION: Keep.DECISION,
    ItemType.COMMITMENT: Keep.COMMITMENT,
    ItemType.PREFERENCE: Keep.PREFERENCE,
}
_RULES = frozenset(
    {"policy", "limit", "body_is"}
)
_ORDERS = frozenset({"standing_order", "from_now", "conditional_order"})
_SMALL_TALK = frozenset({"greet", "thanks", "assent", "mood", "joke"})

_ENDS = re.compile(r"[。！？!?；;\n]+[)）\"”’」』]*|\.+(?=\s|$)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\b[A-Z]\.)(?<!\b\d\.)")
_COMMA = re.compile(r"[，,、]\s*")
_QUESTION = re.compile(
    r"[？?]\W*$|(?:吗|呢)\W*$|^\W*(?:为什么|怎么|如何|谁|哪|什么时候)"
    r"|^\W*(?:what|why|how|which|who|where|when|should|could|can|is|are|do|does|did|will|would)\b[^.!]*\?",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"待定|待确认|待解决|还没(?:想好|定|决定|确定)|尚未(?:确定|决定|解决)|未决|还不(?:确定|清楚|知道)|再(?:想想|议)|回头(?:再|确认)|需要(?:再)?确认|稍后(?:回|确认|告诉)|悬而未决"
    r"|\b(?:tbd|to be (?:decided|confirmed|determined)|open question|unresolved|still (?:open|undecided|unclear|need to (?:decide|figure))"
    r"|(?:not|n't) (?:yet )?(?:sure|decided|know|settled)(?: yet)?,? (?:yet|if|whether|which|what|when|where|how)\b|(?:not|n't) (?:sure|decided|settled)(?: yet)?(?=[,.!]|$)"
    r"|haven't decided|get back to you|let me check|remains? to be)\b",
    re.IGNORECASE,
)
# "You must be proud" guesses, "never saw it" tells; only what binds is a rule.
_MUST = re.compile(
    r"必须|一定要|务必|只能|不得|严禁|不能(?:超|用|有|再|少|晚|低|高|出现|泄露)|绝不|上限|底线|截止|不要(?!紧)|不许|别(?:用|再|动|改|删|碰|发|写|提)"
    r"|(?<!you )(?<!we )(?<!he )(?<!she )(?<!they )(?<!that )(?<!it )\bmust(?:n't| not)?\b(?! (?:be|have|feel|look|really|'ve)\b)|\b(?:it|you) must (?:not|stay|be (?:under|below|at|in|done|ready|kept))\b"
    r"|\b(?:not allowed|no later than|at (?:most|least) [\w$£€]*\d|deadline|(?:cannot|can't) (?:exceed|use|go over)|do not (?!know|mind|think|worry)"
    r"|(?:don't|never) (?:use|touch|change|delete|send|write|mention|include|add|put|share|call|commit|push))\b",
    re.IGNORECASE,
)
_NOTHING_MEANT = re.compile(
    r"别客气|不要紧|别担心|没关系|不用谢|\b(?:no (?:problem|worries)|never ?mind|don't worry|you're welcome|no rush)\b", re.IGNORECASE
)
_DECIDED = re.compile(
    r"(?:就|那就|最后|最终|我们|统一)(?:用|选|定|按|采用)(?!户)|(?:确定|选定|敲定|定)(?:为|用|下来|了)|改(?:成|为|用|到)|换成|采用|放弃|方案[A-Za-z一二三]"
    r"|\b(?:(?:let's|we'll|we will|i'll|we) (?:go|went) with|decided|settled on|agreed (?:on|to|that)|final(?:ly)? (?:choice|decision)|switch(?:ed|ing)? to|instead of|sticking with)\b",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"结论|总之|总的来说|综上|根因|原因是|问题(?:在于|出在)|解决(?:方案|办法)是|(?:已经?|都)(?:解决|修复|修好|搞定)了|结果(?:是|显示)|发现(?:是|了)|说明[^书文一]|^\W*建议.{6,}"
    r"|\b(?:in (?:short|conclusion|summary)|conclusion|root cause|turn(?:s|ed) out|the (?:fix|problem|issue|cause|answer|result|solution) (?:is|was)|fixed|solved|i(?:'d)? recommend\w*|confirmed)\b",
    re.IGNORECASE,
)
_TODO = re.compile(
    r"待办|下一步|接下来(?:要|需要)|(?:由|让)我(?:来|去)|我(?:会|来|去|负责)(?:在|把|给|先|明|今|下|周|\d)|(?:周|星期|\d{1,2}[号日])[^，。]{0,6}前(?:给|交|发|完成|提交)"
    r"|\b(?:to-?do|next steps?|action items?|i(?:'ll| will) (?:send|have|get|write|finish|deliver|bring|fix|submit|prepare|ship|check|update) (?!back\b))\b",
    re.IGNORECASE,
)
_REMINDER = re.compile(  # of the assistant, by the user; the other way round it is advice
    r"记得(?!吗)|别忘了|提醒我|\b(?:remind me|(?:don't forget|remember) to)\b", re.IGNORECASE
)
_PROPOSAL = re.compile(
    r"要不要|需要我|要我|是否(?:要|需要)|(?:可以|行|好|如何|怎么样|同意)(?:吗|么|不)?[？?]|就(?:按|用|选|定)|我(?:先|来|帮)"
    r"|\b(?:shall (?:i|we)|should (?:i|we)|want me to|would you like|do you want|how about|let's|may i|can i|okay\?|ok\?|sound(?:s)? good)",
    re.IGNORECASE,
)
_LIKES = frozenset({"likes", "dislikes"})
# Two digits, or one with what it counts; a Chinese numeral with its measure.
_NUMBER = re.compile(
    r"\d\d|[$£€¥]\s?\d|\d\s?(?:%|[a-zA-Z]{1,3}\b|[年月日号天周点个人元块万千百岁次条台层楼岁])|[一二三四五六七八九十百千万两]+(?:年|月|号|天|周|点|个|元|块|万|岁|次|条|公里|小时|分钟)"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand|million)\b",
    re.IGNORECASE,
)
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # of turns without a time; only quotes are read


class LocalSummarizer:
    """Keeps the sentences that must outlive their turns; without an extractor, by forms alone."""

    input_tokens: int | None = None

    def __init__(self, extractor: Extractor | None = None) -> None:
        self._extractor = extractor

    async def summarize(self, turns: Sequence[Message]) -> Digest:
        """Return the sentences to keep, in their order, and how many were passed over."""
        lines: list[Line] = []
        passed: Counter[str] = Counter()
        for place, turn in enumerate(turns):
            if turn.role is Role.TOOL:
                lines.append(_trace(turn.content, Role.TOOL, passed))
                continue
            read = await self._read(turns, place) if turn.role is Role.USER else []
            lines += _kept(turns, place, read, passed)
        return Digest(
            lines=tuple(lines),
            courtesy=passed["courtesy"],
            passing=passed["passing"],
            cut=passed["cut"],
        )

    async def _read(self, turns: Sequence[Message], place: int) -> list[tuple[str, Keep]]:
        """Return the quotes in which the user states something, and what each is kept for."""
        if self._extractor is None:
            return []
        turn = turns[place]
        history = tuple(each for each in turns[max(0, place - HISTORY) : place])
        asked = Turn(
            user_id="-", session_id="-", message=turn, at=turn.at or _ANY_TIME, history=history
        )
        candidates = await self._extractor.extract(asked)
        return [
            (each.quote, _KEEP_OF.get(each.item_type, Keep.FACT))
            for each in candidates
            if each.quote and each.confidence >= SURE_ENOUGH and each.scope is not Scope.MOMENT
        ]


def _kept(
    turns: Sequence[Message], place: int, read: Sequence[tuple[str, Keep]], passed: Counter[str]
) -> Iterator[Line]:
    turn = turns[place]
    agreed = _agreement(turns, place)
    if agreed is not None:
        yield agreed
    offer = agreed.text if agreed else ""
    for text, carried in _stretches(turn.content):
        if carried:
            yield _trace(text, turn.role, passed)
            continue
        sentences = sentences_in(text)
        passed["passing"] += max(0, len(sentences) - SENTENCES_LIMIT)
        for sentence in sentences[:SENTENCES_LIMIT]:
            if offer and sentence in offer:
                continue
            keep = _why(sentence, turns, place, read)
            if keep is None:
                passed["courtesy" if _is_courtesy(sentence) else "passing"] += 1
            else:
                yield Line(keep, sentence, turn.role)


def _stretches(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the stretches of a turn, and whether each is a block that it merely carries."""
    at = 0
    own = ""
    for start, end in own_voice(text).spans:
        between = text[at:start]
        if len(between.strip()) > CARRIED_FROM:
            yield own, False
            yield between, True
            own = ""
        else:
            own += between
        own += text[start:end]
        at = end
    rest = text[at:]
    carried = len(rest.strip()) > CARRIED_FROM
    yield own if carried else own + rest, False
    if carried:
        yield rest, True


def sentences_in(text: str) -> list[str]:
    """Return the sentences with their marks; what is too long for one is cut at commas."""
    found: list[str] = []
    at = 0
    for mark in (*_ENDS.finditer(text), None):
        end = len(text) if mark is None else mark.end()
        found += _short_runs(text[at:end].strip())
        at = end
    return found


def _short_runs(text: str) -> Iterator[str]:
    while len(text) > SENTENCE_LIMIT:
        commas = [mark.end() for mark in _COMMA.finditer(text, 1, SENTENCE_LIMIT)]
        at = commas[-1] if commas else text.rfind(" ", 1, SENTENCE_LIMIT) + 1 or SENTENCE_LIMIT
        yield text[:at].strip()
        text = text[at:]
    if any(char.isalnum() for char in text):
        yield text.strip()


def _why(
    sentence: str, turns: Sequence[Message], place: int, read: Sequence[tuple[str, Keep]]
) -> Keep | None:
    """Return what a sentence is kept for, None where it is the way there."""
    if not _says_something(sentence):
        return None
    speaker = turns[place].role
    bare = sentence.rstrip("。.!！")
    stated = [keep for quote, keep in read if quote in sentence or bare in quote]
    if stated and not _is_courtesy(sentence):
        kept = min(stated, key=list(Keep).index)
        undecided = kept is Keep.DECISION and _OPEN.search(sentence)
        return Keep.QUESTION if undecided else kept
    if _OPEN.search(sentence):
        return Keep.QUESTION
    if _QUESTION.search(sentence):
        return Keep.QUESTION if _is_unanswered(turns, place) else None
    keep = _by_form(sentence, speaker)
    if keep is None and (_NUMBER.search(sentence) or entities_in(sentence)):
        return Keep.DETAIL
    return keep


def _says_something(sentence: str) -> bool:
    """Whether a sentence, taken out of its turn, is more than "Agreed!"."""
    if _NOTHING_MEANT.search(sentence):
        return False
    words = terms(sentence)
    least = 1 if language(sentence) == "zh" else 2
    return len(words) >= least or bool(_NUMBER.search(sentence))


def _by_form(sentence: str, speaker: Role) -> Keep | None:
    cues = frozenset(cues_in(sentence))
    if is_wished(sentence) or "supposed" in cues:
        return None
    by_user = speaker is Role.USER  # the assistant lays down no rules and has no tastes [W3]
    promised = (
        promises.promise_in(sentence, language(sentence)) is not None
        or "promises" in cues
        or (by_user and _REMINDER.search(sentence) is not None)
    )
    ordered = cues & _ORDERS and not cues & {"first_starts", "past"}
    asks = by_user and "request" in cues
    liked = cues & _LIKES and not cues & {"sarcasm", "other_subject"}
    tests = (
        (Keep.DECISION, _DECIDED.search(sentence) or named_kind(sentence) is ItemType.DECISION),
        (Keep.RULE, by_user and (cues & _RULES or ordered or _MUST.search(sentence))),
        (Keep.COMMITMENT, promised or _TODO.search(sentence)),
        (Keep.PREFERENCE, by_user and liked),
        (Keep.CONCLUSION, not asks and _CONCLUSION.search(sentence)),
    )
    return next((keep for keep, holds in tests if holds), None)


def _agreement(turns: Sequence[Message], place: int) -> Line | None:
    """Return the assistant's proposal with the user's yes: alone, the yes would mean nothing."""
    turn, before = turns[place], turns[place - 1] if place else None
    if turn.role is not Role.USER or before is None or before.role is not Role.ASSISTANT:
        return None
    if len(turn.content) > SENTENCE_LIMIT or "assent" not in cues_in(turn.content):
        return None
    sentences = sentences_in(before.content)
    if not sentences or not (_QUESTION.search(sentences[-1]) and _PROPOSAL.search(sentences[-1])):
        return None
    said = sentences_in(turn.content)[0]
    if _QUESTION.search(said):
        return None
    return Line(Keep.DECISION, f"{sentences[-1]} → {said}", Role.ASSISTANT)


def _is_unanswered(turns: Sequence[Message], place: int) -> bool:
    """Whether the other side did not answer before the speaker went on, or put it off."""
    speaker = turns[place].role
    for turn in turns[place + 1 :]:
        if turn.role is speaker:
            return True
        if turn.role is not Role.TOOL:
            return bool(_OPEN.search(turn.content[:SENTENCE_LIMIT]))
    return True  # the answer is still to come, or stands in the turns that stay


def _is_courtesy(sentence: str) -> bool:
    if _NOTHING_MEANT.search(sentence):
        return True
    short = len(sentence) <= COURTESY_LIMIT[language(sentence)]
    return short and bool(_SMALL_TALK & frozenset(cues_in(sentence)))


def _trace(text: str, speaker: Role, passed: Counter[str]) -> Line:
    """Return how a block begins, and how many characters of it are cut."""
    plain = " ".join(text.split())
    if len(plain) <= CARRIED_FROM:
        return Line(Keep.TRACE, plain, speaker)
    cut = len(text) - TRACE_HEAD
    passed["cut"] += cut
    mark = "[… 略去{}字]" if language(plain[:SENTENCE_LIMIT]) == "zh" else "[… {} characters cut]"
    return Line(Keep.TRACE, plain[:TRACE_HEAD].rstrip() + mark.format(cut), speaker)
