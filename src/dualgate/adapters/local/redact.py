"""Secrets go before anything is queued; sensitivity says what is handled with care [P1].

Rules of this file:
- Our own patterns (secrets.py) are complete by themselves. argus-redact, where it is installed
  (there is no wheel for Python 3.14), reads only what looks like a number or a key, and adds.
- Nothing raises, whatever the text; the time grows linearly with its length.
- A WeChat id, a phone number or a name is personal, not a secret.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from dualgate.adapters.local.secrets import RULES, Rule
from dualgate.domain.items import clean_text
from dualgate.domain.types import Sensitivity

Span = tuple[int, int, str]

# What argus-redact may call a secret; its names, phones, addresses and moods are none.
_ARGUS_KINDS = {
    "openai_api_key": "api key",
    "anthropic_api_key": "api key",
    "aws_access_key": "api key",
    "github_token": "api key",
    "jwt": "token",
    "url_token": "token",
    "ssh_private_key": "private key",
    "bank_card": "card number",
    "credit_card": "card number",
    "id_number": "id number",
    "ssn": "id number",
    "passport": "id number",
    "us_passport": "id number",
    "hk_id": "id number",
    "tw_id": "id number",
    "macau_id": "id number",
    "military_id": "id number",
    "iban": "bank account",
}
_SUSPECT = re.compile(r"\d(?:[ -]?\d){7,}|[A-Za-z0-9_+/=-]{18,}")
_MARK = re.compile(r"\[secret: [a-z -]{1,20}\]")
_AROUND = 40
# argus-redact takes 2.5 ms a thousand characters, so it reads the first suspects of a paste only.
_ARGUS_LIMIT = 6_000


class SecretRedactor:
    """Replaces every secret by a mark such as [secret: password]."""

    def redact(self, text: str) -> str:
        """Return text without its secrets; twice gives the same as once.

        >>> SecretRedactor().redact("wifi 密码 xiaomao2019!!")
        'wifi 密码 [secret: password]'
        """
        clean = clean_text("text", text)
        # Marks of an earlier pass are covered, so that they are not read as secrets themselves.
        covered = _MARK.sub(lambda mark: "\ufffc" * len(mark[0]), clean)
        return _replaced(clean, [*_own(covered), *_argus(covered)])

    def finds(self, text: str) -> bool:
        """Whether text holds a secret."""
        return self.redact(text) != clean_text("text", text)


def sensitivity_of(text: str, lang: str | None = None) -> Sensitivity:
    """Return how carefully a statement is handled; lang "zh" or "en" reads that list only.

    >>> str(sensitivity_of("我对青霉素过敏")), str(sensitivity_of("预算5万元"))
    ('sensitive', 'normal')
    """
    for level in (Sensitivity.SENSITIVE, Sensitivity.PERSONAL):
        for language in ("zh", "en") if lang is None else (lang,):
            found, exempt = _patterns(level.value, language)
            if found.search(exempt.sub(" ", text)):
                return level
    return Sensitivity.NORMAL


def _own(text: str) -> Iterator[Span]:
    lowered = text.casefold()
    for rule in RULES:
        if not rule.cues or any(cue.casefold() in lowered for cue in rule.cues):
            yield from _matches(rule, text)


def _matches(rule: Rule, text: str) -> Iterator[Span]:
    for match in rule.pattern.finditer(text):
        for name, secret in match.groupdict().items():
            if secret and rule.certain(secret):
                start, end = match.span(name)
                yield start, start + len(_without_tail(text[start:end])), rule.kind


def _without_tail(secret: str) -> str:
    # A sentence's own punctuation is not part of the password that ends it.
    return secret.rstrip("\"'`.,;)]}>”’」") or secret


def _argus(text: str) -> Iterator[Span]:
    if importlib.util.find_spec("argus_redact") is None:
        return
    from argus_redact import redact

    for start, end in _windows(text):
        _, _, details = redact(
            text[start:end], lang=["zh", "en"], types=list(_ARGUS_KINDS), detailed=True
        )
        for entity in details["entities"]:
            kind = _ARGUS_KINDS.get(entity["type"])
            if kind is not None and any(c.isdigit() for c in entity["original"]):
                yield start + entity["start"], start + entity["end"], kind


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches around what looks like a number or a key, up to the limit."""
    budget, start, end = _ARGUS_LIMIT, 0, -1
    for match in _SUSPECT.finditer(text):
        if match.start() - _AROUND > end:
            if end > start:
                yield start, end
                budget -= end - start
            start = max(0, match.start() - _AROUND)
        if budget <= 0:
            return
        end = min(len(text), match.end() + _AROUND, start + budget)
    if end > start:
        yield start, end


def _replaced(text: str, spans: Iterable[Span]) -> str:
    parts: list[str] = []
    position = 0
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= position:
            parts += text[position:start], f"[secret: {kind}]"
        position = max(position, end)
    return "".join([*parts, text[position:]])


@cache
def _patterns(level: str, lang: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    source = files(__package__).joinpath("lexicon/sensitivity.toml").read_text("utf-8")
    words = tomllib.loads(source)[level].get(lang, {})
    edge = r"\b" if lang == "en" else ""
    found, exempt = (
        f"{edge}(?:{'|'.join(words.get(name, [])) or '(?!)'}){edge}" for name in ("found", "exempt")
    )
    return re.compile(found, re.IGNORECASE), re.compile(exempt, re.IGNORECASE)
