"""Whose words are these? Keep the stretches of a turn that the user says in their own voice [W3].

Rule: this file only cuts. It removes what the turn merely carries: code, logs, quotations, e-mails,
pasted text, tool output, remembered text that comes back. What is left is judged elsewhere.

Every pattern is bounded and every line is looked at once, so a megabyte costs a linear pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What is longer than this is a document; only its head and tail can be the user's own remarks.
OWN_WORDS_LIMIT = 24_000
# A quotation this short is a name or a term ("the usual", “青山”), not somebody's statement.
TERM_LIMIT = {"zh": 8, "en": 14}
LINE_LIMIT = 2_000
TABLE_ROWS = 2
TRANSCRIPT_LINES = 3
OPENERS = "`~“\"「『‘'"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Voice:
    """The stretches of a turn in the user's own voice, in order; `carried` says text was cut."""

    text: str
    spans: tuple[Span, ...]
    carried: bool


_BLOCKS = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|<(?P<tag>[a-z][\w:.-]{2,40})\b[^<>\n]{0,200}>.*?</(?P=tag)>"
    r"|-----BEGIN [A-Z ]{2,40}-----.*?(?:-----END [A-Z ]{2,40}-----|\Z)"
    # An assistant's own phrases, brought back by the user.
    r"|(?:好的[，,])?作为[您你]的[^\n，。—]{0,10}助手[^\n—]{0,300}"
    r"|\b(?:certainly|of course|absolutely)[!,.] (?:as requested|i(?:'ll| will))\b[^\n—]{0,300}",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED = re.compile(
    r"“[^”]{1,2000}”|「[^」]{1,2000}」|『[^』]{1,2000}』|«[^»]{1,2000}»"
    r"|(?<![\w\"])\"[^\"\n]{1,2000}\"(?!\w)|(?<!\w)'(?=\S)[^\n]{1,600}?(?<=\S)'(?!\w)"
    r"|(?<!\w)‘[^’\n]{1,600}(?:’(?=\w)[^’\n]{0,300}){0,6}’(?!\w)",
)
# What is called so is named, not said, however long: a song called "You and I Will Meet".
_TITLES = re.compile(r"(?:叫做?|名叫|名为|题为|称为|名字是)\s*$|\b(?:called|titled|named|entitled)\s+$", re.IGNORECASE)
TITLE_LEAD = 12  # characters
_STATEMENT = re.compile(
    r"[。！？!?,，.;；]|我|你|他|她|\b(?:I|I'm|I've|we|you|he|she|my|is|are|was|do|don't|can|will)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
# The verb that makes what follows the colon an object of work and no statement of the user.
_WORK = (
    r"润色|翻译|译成|译一下|改写|改一?下|改得|修改|改改|总结|概括|归纳|校对|缩写|扩写|压缩|精简|转成|整理成|排版"
    r"|分析一?下|解释一?下|看看|看一?下|瞅|帮我看|啥意思|什么意思|报错|日志|原文|全文|如下|下面|这段|这句|这封|这篇"
    r"|这条|邮件|消息|评论|歌词|台词|说法|题目|标题|材料|简历|笔记|聊天记录|群公告|群里|通知|备注|合同|条款|对话|示例"
    r"|例句|转发|复制|粘贴|回信|来信|客户说|他说|她说|他们说|人说|老师说|老板说|导师说|网友|写着|写道|上写"
)
_WORK_EN = (
    r"\b(?:translat|proofread|summari[sz]|rephras|rewrit|paraphras|edit|polish|shorten|fix|correct(?!ion\b)|review"
    r"|check|explain|convert|format|parse|clean up|reword|critique|debug|tl;?dr|pasted?|quot|says?|(?<!\bi )said"
    r"|wrote|writes|reads|e-?mail|message|paragraph|sentence|text|letter|thread|log|error|output|review"
    r"|comment|bio|post|below|following|here's the|transcript|lyric|listing|caption|draft|note)\w*"
)
_INTRODUCED = re.compile(
    rf"(?:(?:口吻[^\n]{{0,6}}写|扮演|你来?演|我来?演)[^\n：:]{{0,50}}[：:]"
    r"|\b(?:role-?play|pretend (?:you|to be)|act as|in the voice of|you play|i play)\b[^\n:]{0,80}:(?=\s)"
    rf"|(?:{_WORK})[^\n：:。！？]{{0,24}}[：:]|(?:{_WORK_EN})[^\n:.!?]{{0,60}}:(?=\s|$))",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"^(?:From|To|Cc|Subject|Sent|Date|发件人|收件人|主题|抄送|发送时间)\s*[:：]", re.IGNORECASE
)
_RECALLED = re.compile(
    r"^\W{0,6}(?:relevant memories|recalled memor|known about the user|user (?:memory|profile)|memory context"
    r"|what (?:i|we|you) (?:know|remember) about|things (?:i|you) (?:know|remember) about|已知记忆|相关记忆|用户的?(?:长期|短期|历史)?(?:画像|档案|记忆)|记忆(?:如下|片段|上下文)|长期记忆)",
    re.IGNORECASE,
)
_CARRIED_LINE = re.compile(
    r"^\s*(?:>|\||//|/\*|\*/|#!|#include|@@|\+\+\+|---\s|\$\s|>>>|\.\.\.\s|<\?|</?\w+[^\n]*>\s*$"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d(?::\d\d)?\]?\s+\S+[:：]|\[?(?:ERROR|WARN|INFO|DEBUG|FATAL)\b"
    r"|Traceback|File \"|at [\w.$<>]+\(|npm ERR|[A-Za-z.]*(?:Error|Exception):|commit [0-9a-f]{4,}"
    r"|(?:def|class|import|from|return|const|let|var|public|private|function|func|fn|SELECT|INSERT|UPDATE"
    r"|CREATE|DELETE|export|sudo|docker|git|curl|pip|npm)\s[^，。]{0,200}[(){};=<>/]"
    r"|[\w.\"'\[\]$-]{1,60}\s*(?:=|:=|=>|\+=)\s*\S|[{}\[\]();]+\s*$)",
)
_CODE_END = re.compile(r"(?:[{};]|\)\s*:|=>)\s*$")
_OBJECT = re.compile(r"[\[{][^\[\]{}\n]{0,400}[\"'][\w ]{1,40}[\"']\s*:[^\n]{0,2000}[\]}]")
_TABLE_ROW = re.compile(r"^[^,\t\n，。]{1,30}(?:[,\t][^,\t\n，。 ][^,\t\n，。]{0,30}){2,}$")
_SPEAKER = re.compile(r"^\s*[\w\u4e00-\u9fff .]{1,16}\s*[:：]\s*\S")


def own_voice(text: str) -> Voice:
    """Cut what the turn only carries.

    >>> v = own_voice('I never eat pork. Translate this: we love pork')
    >>> [v.text[a:b] for a, b in v.spans]
    ['I never eat pork. Translate this:']
    """
    cut = sorted([*_long_middle(text), *_blocks(text), *_carried_lines(text), *_introduced(text)])
    cut = _merged(cut)
    cut = _merged(sorted([*cut, *_quotations(text, _complement(cut, len(text)))]))
    spans = tuple(
        (start, end) for start, end in _complement(cut, len(text)) if text[start:end].strip()
    )
    return Voice(text, spans, bool(cut))


def _long_middle(text: str) -> Iterator[Span]:
    if len(text) > OWN_WORDS_LIMIT:
        half = OWN_WORDS_LIMIT // 2
        yield half, len(text) - half


def _edges(text: str) -> Iterator[Span]:
    """The parts worth reading: all of a normal text, head and tail of a document."""
    if len(text) <= OWN_WORDS_LIMIT:
        yield 0, len(text)
        return
    half = OWN_WORDS_LIMIT // 2
    yield 0, half
    yield len(text) - half, len(text)


def _blocks(text: str) -> Iterator[Span]:
    for start, end in _edges(text):
        for found in _BLOCKS.finditer(text, start, end):
            yield found.span()
        for found in _OBJECT.finditer(text, start, end):
            yield found.span()


def _carried_lines(text: str) -> Iterator[Span]:
    """Lines that look like code, logs, tables, quoted mail or a chat transcript."""
    for low, high in _edges(text):
        lines = list(_lines(text, low, high))
        tables = [bool(_TABLE_ROW.match(text[a:b])) for a, b in lines]
        speakers = [bool(_SPEAKER.match(text[a:b][:80])) for a, b in lines]
        # One row of commas is a list and one "name:" a heading; several are a table, a transcript.
        table, transcript = sum(tables) >= TABLE_ROWS, sum(speakers) >= TRANSCRIPT_LINES
        for number, (start, end) in enumerate(lines):
            line = text[start : min(end, start + LINE_LIMIT)]
            if _RECALLED.match(line) or (_HEADER.match(line) and number + 1 < len(lines)):
                yield start, high
                break
            listed = (table and tables[number]) or (transcript and speakers[number])
            if listed or _CARRIED_LINE.match(line) or _CODE_END.search(line):
                yield start, end


def _lines(text: str, low: int, high: int) -> Iterator[Span]:
    start = low
    while start < high:
        end = text.find("\n", start, high)
        end = high if end < 0 else end
        if end > start:
            yield start, end
        start = end + 1


def _introduced(text: str) -> Iterator[Span]:
    """What follows "translate this:" up to the end, or to a blank line after it."""
    for low, high in _edges(text):
        found = _INTRODUCED.search(text, low, high)
        if found is None:
            continue
        rest = text[found.end() : high]
        body = len(rest) - len(rest.lstrip())
        if rest[body : body + 1] in OPENERS and rest[body:]:
            continue  # a block or a quotation shows its own end
        gap = rest.find("\n\n", body)
        # A last paragraph after the pasted one is the user's again only when it is short.
        if gap >= 0 and len(rest) - gap < 120 and "\n\n" not in rest[gap + 2 :]:  # noqa: PLR2004
            yield found.end(), found.end() + gap
        else:
            yield found.end(), high


def _quotations(text: str, spans: list[Span]) -> Iterator[Span]:
    for start, end in spans:
        for low, high in ((start, end),) if end - start <= OWN_WORDS_LIMIT else ():
            for found in _QUOTED.finditer(text, low, high):
                inside = found.group()[1:-1]
                if _TITLES.search(text, max(low, found.start() - TITLE_LEAD), found.start()):
                    continue
                limit = TERM_LIMIT["zh" if _CHINESE.search(inside) else "en"]
                if len(inside) > limit and (_STATEMENT.search(inside) or limit < TERM_LIMIT["en"]):
                    yield found.span()


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def _complement(spans: list[Span], length: int) -> list[Span]:
    kept, last = [], 0
    for start, end in spans:
        if start > last:
            kept.append((last, start))
        last = max(last, end)
    if last < length:
        kept.append((last, length))
    return kept
