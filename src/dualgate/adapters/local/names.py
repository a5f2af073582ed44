"""What a statement names, and how long it says it holds: entities, and an end where one is given.

Rules only: names are told by their form (quotation marks, book marks, capitals, code-like words), an
end by a word such as 到…为止 or "until" beside a date. What has neither gets neither.
"""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

from dualgate.adapters.local.dates import resolve

_QUOTED = re.compile(r"《([^《》]{1,40})》|[“\"「『]([^“”\"「」『』]{1,30})[”\"」』]")
# PostgreSQL, FastAPI, k8s, v2.1, Python 3.11, Rig Osprey: capitals inside a sentence, or digits.
_CODE = re.compile(r"\b(?:[A-Za-z]+[A-Z][A-Za-z]*|[A-Za-z]+\d[\w.]*|[A-Z]{2,})\b(?: \d+(?:\.\d+)*)?|\b[A-Z][a-z]+ \d+(?:\.\d+)*\b")
_PROPER = re.compile(r"(?<![.!?。]\s)(?<!^)\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b")
_ZH_NAMED = re.compile(
    r"(?:叫|名叫|名字是|代号是?|昵称是?)([\u3400-\u9fffA-Za-z]{1,12})"
    r"|([\u3400-\u9fff]{2,6})(?=项目|计划|团队|公司|医院|大学|中学|小学)"
)
_LATIN_IN_CHINESE = re.compile(r"(?<![A-Za-z])[A-Za-z][A-Za-z0-9.+#-]*(?: \d+(?:\.\d+)*)?")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_NO_NAMES = frozenset(
    "The User Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April"
    " May June July August September October November December I OK Ok It We They He She You That This There Here My Our Your And But So If When No Yes Not A An For From In On At As".split()
)
_LIMIT = 8

_UNTIL_BEFORE = re.compile(
    r"(?:直到|截止到?|有效期?到|持续到|一直到|用到|住到|待到|\b(?:until|till|through|valid (?:to|until)))\s*$",
    re.IGNORECASE,
)
_UNTIL_AFTER = re.compile(r"^\s*(?:为止|之前(?:都|别|不)|前都|前(?:别|不)|到期)")


def entities_in(text: str) -> tuple[str, ...]:
    """Return the names in a statement, as they are written, at most eight.

    >>> entities_in("用户在做青鸟项目，数据库是PostgreSQL 16")
    ('PostgreSQL 16', '青鸟')
    >>> entities_in("The user works with Ana Lopez at the harbour museum on FastAPI")
    ('FastAPI', 'Ana Lopez')
    """
    found = ["".join(pair) for pair in _QUOTED.findall(text)]
    if _CHINESE.search(text):
        found += [m.group() for m in _LATIN_IN_CHINESE.finditer(text) if len(m.group()) > 1]
        found += [("".join(pair)).removeprefix("用户").lstrip("在做的") for pair in _ZH_NAMED.findall(text)]
    else:
        found += [match.group() for match in _CODE.finditer(text)]
        found += [match.group() for match in _PROPER.finditer(text)]
    names = [name.strip() for name in found if name.strip() and name.strip() not in _NO_NAMES]
    whole = [name for name in names if not any(name != other and name in other for other in names)]
    return tuple(dict.fromkeys(whole))[:_LIMIT]


def expiry_in(text: str, at: datetime) -> datetime | None:
    """Return the end of the last day until which the statement says it holds, None if it does not.

    >>> from datetime import UTC
    >>> str(expiry_in("直到2026-05-01都别约我", datetime(2026, 4, 1, tzinfo=UTC)))
    '2026-05-02 00:00:00+00:00'
    """
    for mention in resolve(text, at):
        before, after = text[: mention.start], text[mention.end :]
        if mention.recurring or not (_UNTIL_BEFORE.search(before) or _UNTIL_AFTER.search(after)):
            continue
        end = datetime.combine(mention.last, time(), tzinfo=at.tzinfo) + timedelta(days=1)
        return end if end > at else None
    return None
