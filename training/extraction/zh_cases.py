"""The notation of the Chinese training cases and how a case becomes a JSON line. No chance here.

A case in a .txt file is a few lines:

    u: what the user said before          (history, optional; a: is the assistant)
    l|宠物|对了 [[我家养了两只布偶]]       domain|kind|turn, spans in double brackets
    > L fa P : 用户家养了两只布偶          one line a span, in order

A span line is scope (L lasting, T task, M moment), item type, flags, ":", content. "=" asks for
the content to be derived from the quote. Flags: "-" denied, "im" implied, "em" emotional,
"c" correction, "P" personal, "S" sensitive, "s=word" subject, "@date" event date (see
`resolve`). "~02" in the kind sets the hour, "@@" a whole timestamp. "\\n" is a line break.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

DOMAINS = {
    "c": "coding", "l": "life", "w": "work", "r": "writing", "h": "health", "k": "knowledge",
    "s": "study", "t": "travel", "p": "shopping", "x": "support",
}
TYPES = {
    "id": "identity", "pr": "preference", "co": "constraint", "ru": "rule", "pj": "project",
    "de": "decision", "cm": "commitment", "ev": "event", "fa": "fact",
}
SCOPES = {"L": "lasting", "T": "task", "M": "moment"}
OFFSETS = (8, 8, 8, 8, 8, 8, 9, 0, 1, -5, -7, 10)
KIN = (
    "爸妈 妈妈 爸爸 妈 爸 哥 姐 弟 妹 爷爷 奶奶 姥姥 姥爷 外婆 外公 老婆 老公 老板 媳妇 儿子 女儿 孩子 对象 "
    "男朋友 女朋友 父母 公婆 婆婆 公公 岳父 丈母娘 舅 小姨 姑 叔 闺女 闺蜜 娃 室友 同事 领导 导师 表姐 表弟 "
    "堂弟 侄子 外甥女 大伯 徒弟 搭档 哥们 甲方 朋友"
).replace(" ", "|")
MARK = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """One case as written: the turn still holds its brackets, spans are their lines."""

    domain: str
    note: str
    turn: str
    spans: tuple[str, ...] = ()
    history: tuple[tuple[str, str], ...] = ()
    dates: dict[str, date] = field(default_factory=dict)

    @property
    def lasting(self) -> bool:
        return any(line.startswith("L ") for line in self.spans)


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a .txt file; a line that fits nowhere raises ValueError."""
    history: list[tuple[str, str]] = []
    current: Case | None = None
    for number, raw in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        line = raw.rstrip("\n")
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(("u: ", "a: ")):
            role = "user" if line[0] == "u" else "assistant"
            history.append((role, line[3:].replace("\\n", "\n")))
        elif line.startswith("> ") and current is not None:
            current = replace(current, spans=(*current.spans, line[2:]))
        elif re.match(r"[clwrhkstpx]\|", line):
            if current is not None:
                yield current
            domain, note, turn = line.split("|", 2)
            current = Case(domain, note, turn.replace("\\n", "\n"), (), tuple(history))
            history = []
        else:
            raise ValueError(f"{path.name}:{number}: not a case, span or history line: {line}")
    if current is not None:
        yield current


def moment_of(case: Case) -> datetime:
    """Return when the turn was said: stated in the kind, or drawn from a hash of the turn."""
    if stated := re.search(r"@@(\S+)", case.note):
        return datetime.fromisoformat(stated.group(1))
    digest = hashlib.sha256(case.turn.encode("utf-8", "surrogatepass")).digest()
    days = int.from_bytes(digest[:2], "big") % 700
    hour = int(found.group(1)) if (found := re.search(r"~(\d\d)", case.note)) else 7 + digest[2] % 17
    zone = timezone(timedelta(hours=OFFSETS[digest[3] % len(OFFSETS)]))
    start = datetime(2025, 3, 1, hour, digest[4] % 60, digest[5] % 60, tzinfo=zone)
    return start + timedelta(days=days)


def month_day(day: date, months: int, number: int | None) -> date:
    """Return day `number` (None: the last) of the month that lies `months` from `day`."""
    index = day.year * 12 + day.month - 1 + months
    if number is not None:
        return date(index // 12, index % 12 + 1, number)
    index += 1
    return date(index // 12, index % 12 + 1, 1) - timedelta(days=1)


def year_day(day: date, sign: str, month: str, number: str) -> date:
    """Return the next (sign "+") or the last such day of the year, `day` itself included."""
    there = date(day.year, int(month), int(number))
    if sign == "+" and there < day:
        return there.replace(year=day.year + 1)
    if sign == "-" and there > day:
        return there.replace(year=day.year - 1)
    return there


def week_day(day: date, weeks: str, weekday: str) -> date:
    """Return a weekday of the week that lies `weeks` from the week of `day`."""
    return day + timedelta(days=7 * int(weeks) + int(weekday) - day.isoweekday())


DATE_FLAGS: dict[str, Callable[..., date]] = {
    r"d([+-]\d+)": lambda day, days: day + timedelta(days=int(days)),
    r"w([+-]\d+)\.(\d)": week_day,
    r"wn\.(\d)": lambda day, number: day + timedelta(days=(int(number) - day.isoweekday()) % 7),
    r"me([+-]\d+)": lambda day, months: month_day(day, int(months), None),
    r"md([+-]\d+)\.(\d+)": lambda day, months, number: month_day(day, int(months), int(number)),
    r"([+-])(\d\d)-(\d\d)": year_day,
}


def resolve(text: str, day: date) -> date:
    """Resolve a date flag relative to `day`.

    d-1 yesterday, w+1.3 next week's Wednesday, wn.5 the coming Friday, me-1 the end of last month,
    md+1.3 the third of next month, +05-26 the next 26 May, -05-26 the last one.

    >>> resolve("w+1.3", date(2026, 7, 3))
    datetime.date(2026, 7, 8)
    """
    for pattern, place in DATE_FLAGS.items():
        if found := re.fullmatch(pattern, text):
            return place(day, *found.groups())
    return date.fromisoformat(text)


def third_person(quote: str, item_type: str) -> str:
    """Turn a first-person clause into a sentence about the user, keeping its words."""
    text = quote.strip(" ，。！!,.；;、～~")
    text = re.sub(r"[哈啊呀哦啦嘛喔噢]+$", "", text)
    text = re.sub(r"^(我们|咱们)", "用户团队", text)
    text = re.sub(rf"(?:我|俺)(?=(?:{KIN}))", "用户的", text)
    text = re.sub(r"^(?:我|俺|本人)", "用户", text)
    text = text.replace("我们", "用户团队").replace("我", "用户")
    if "用户" in text:
        return text
    return ("用户要求" if item_type == "rule" else "用户") + text


def span_of(line: str, quote: str, case: Case, at: datetime) -> dict[str, Any]:
    """Read one span line."""
    head, separator, content = line.partition(" :")
    if not separator:
        raise ValueError(f"a span line needs ' :': {line}")
    scope, kind, *flags = head.split()
    span: dict[str, Any] = {
        "quote": quote, "scope": SCOPES[scope], "item_type": TYPES[kind], "polarity": "+",
        "evidence": "explicit", "correction": False, "subject": "user", "sensitivity": "normal",
        "content": content.strip(), "event_date": None,
    }
    marks: dict[str, tuple[str, Any]] = {
        "-": ("polarity", "-"), "im": ("evidence", "implied"), "em": ("evidence", "emotional"),
        "c": ("correction", True), "P": ("sensitivity", "personal"),
        "S": ("sensitivity", "sensitive"),
    }
    for flag in flags:
        if flag in marks:
            name, value = marks[flag]
            span[name] = value
        elif flag.startswith("s="):
            span["subject"] = flag[2:]
        elif flag.startswith("@"):
            stated = case.dates.get(flag[1:]) or resolve(flag[1:], at.date())
            span["event_date"] = stated.isoformat()
        else:
            raise ValueError(f"unknown flag {flag!r}: {line}")
    if span["content"] in ("", "="):
        span["content"] = third_person(quote, span["item_type"])
    return span


def record_of(case: Case, case_id: str, at: datetime | None = None) -> dict[str, Any]:
    """Return the JSON object of a case."""
    said_at = at or moment_of(case)
    quotes = MARK.findall(case.turn)
    if len(quotes) != len(case.spans):
        raise ValueError(f"{len(quotes)} quotes, {len(case.spans)} span lines: {case.turn}")
    return {
        "id": case_id, "lang": "zh", "domain": DOMAINS[case.domain],
        "history": [{"role": role, "content": text} for role, text in case.history],
        "turn": MARK.sub(r"\1", case.turn), "at": said_at.isoformat(),
        "spans": [
            span_of(line, quote, case, said_at)
            for line, quote in zip(case.spans, quotes, strict=True)
        ],
        "note": re.sub(r"~\d\d|@@\S+", "", case.note).strip(),
    }
