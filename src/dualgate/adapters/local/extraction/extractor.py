"""The extractor that needs no key and no network: reads a turn, proposes candidates [W3-W5, T3].

    own voice → clauses → encoder → states → runs → attributes → wording → Candidate

Rule: this file puts the steps in order and builds candidates; every step has its own file.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from dualgate.adapters.local.dates import DateMention, absolute, resolve
from dualgate.adapters.local.extraction import encoder, judging, promises
from dualgate.adapters.local.extraction.antecedents import (
    heading_of,
    is_led_by_nobody,
    is_led_by_relative,
    opens_with_other,
    topic_of,
    with_owner,
    with_relative,
    with_subject,
    with_system,
)
from dualgate.adapters.local.extraction.bonds import dangles, is_adverbial, leads_on
from dualgate.adapters.local.extraction.cues import KIN, cues_in
from dualgate.adapters.local.extraction.features import language
from dualgate.adapters.local.extraction.implied import SAID_AT, implied_in, sentence_before
from dualgate.adapters.local.extraction.introductions import introduction_in
from dualgate.adapters.local.extraction.kinds import (
    ends_hurried,
    is_about_somebody,
    is_asked,
    is_for_now,
    is_for_one_piece,
    is_hurried,
    is_led_by_now,
    is_limited_after,
    is_mood,
    is_of_a_bad_day,
    is_of_those_days,
    is_passing,
    is_plain,
    is_retold,
    is_retracted,
    is_stranger,
    is_wished,
)
from dualgate.adapters.local.extraction.model import Model, load
from dualgate.adapters.local.extraction.reading import Reading, read_text
from dualgate.adapters.local.extraction.wording import sentence
from dualgate.adapters.local.names import entities_in, expiry_in
from dualgate.adapters.local.redact import SecretRedactor, sensitivity_of
from dualgate.domain.items import CONTENT_LIMIT, QUOTE_LIMIT, Candidate
from dualgate.domain.types import (
    Cardinality,
    Evidence,
    ItemType,
    Polarity,
    Role,
    Scope,
    Sensitivity,
    Source,
)
from dualgate.pipeline.ports import Structurer, Turn

# Under this a turn is read in the event loop; over it, in a thread.
THREAD_AT = 1_500
BASE_IMPORTANCE = {
    ItemType.IDENTITY: 0.9,
    ItemType.CONSTRAINT: 0.9,
    ItemType.RULE: 0.85,
    ItemType.PREFERENCE: 0.8,
    ItemType.DECISION: 0.8,
    ItemType.COMMITMENT: 0.8,
    ItemType.PROJECT: 0.75,
    ItemType.EVENT: 0.7,
    ItemType.FACT: 0.7,
}
# A longer turn says more than yes; its clauses speak for themselves.
ASSENT_CLAUSES = 5
AGREED_CONFIDENCE = 0.82
IMPLIED_CONFIDENCE = 0.66  # over the floor [M 5.1], under what is said outright
SURELY_OWN = 0.8  # a statement beside one about a relative may be about him, too
UNNAMED_CONFIDENCE = 0.35  # so far under the floor [M 5.1] that no plain slot lifts it
INTRODUCED_CONFIDENCE = 0.9  # a form of its own, said outright
FELT = frozenset({"preference", "constraint", "rule", "fact"})  # a tiring job stays a job
HURRY_REACH = 120  # characters before a wish in which a hurry colours it
ANYTHING = judging.Allowed()
EVIDENCE_WEIGHT = {Evidence.EXPLICIT: 1.0, Evidence.IMPLIED: 0.85, Evidence.EMOTIONAL: 0.8}


class Slots(Structurer, Protocol):
    """A structurer that also knows which type the statements of a slot go by."""

    def typed(self, candidate: Candidate) -> Candidate:
        """Return the candidate in that type."""
        ...

    def cardinality_of(
        self, attribute: str, item_type: ItemType | str | None = None
    ) -> Cardinality:
        """Return how many values a slot may hold."""
        ...


Dates = Callable[[str, datetime], Sequence[DateMention]]


class LocalExtractor:
    """Reads a turn with a small fitted model; the same turn always gives the same candidates."""

    source = Source.LOCAL

    def __init__(
        self,
        dates: Dates = resolve,
        structurer: Slots | None = None,
    ) -> None:
        self._dates = dates
        self._structurer = structurer
        self.structures = structurer is not None
        self._secrets = SecretRedactor()

    async def extract(self, turn: Turn) -> list[Candidate]:
        """Return what the turn states; empty for what the user did not say [W3]."""
        if turn.message.role is Role.ASSISTANT:
            return self._promise(turn)
        if turn.message.role is not Role.USER or not turn.message.content.strip():
            return []
        model = load()
        reading, chosen = await self._prepared(turn, model)
        made = await self._stated(turn, reading, chosen, model)
        made = self._introduced(turn, reading, made)
        return [*made, *self._implied(turn, reading, made)]

    async def _stated(
        self, turn: Turn, reading: Reading, chosen: list[int], model: Model
    ) -> list[Candidate]:
        agreed = self._agreed(turn, reading)
        if not chosen:
            return agreed
        through = judging.outright(reading, chosen)
        encoded = await encoder.read(reading, chosen, model.leave_at, through)
        chosen = encoded.heard(chosen)
        if not chosen:
            return agreed
        lines = judging.states(reading, chosen, encoded, model)
        found = judging.statements(reading, chosen, encoded, lines, model)
        found = [
            each
            for each in found
            if not self._holds_secret(each.text)
            and not (is_adverbial(each.text) or leads_on(each.text) or dangles(each.text))
            and not is_retold(each.text, reading.text[: each.start])
            and not is_asked(each.text)
        ]
        if agreed:
            # The words of assent are used up by what they agree to.
            found = [each for each in found if each.end > reading.clauses[0].end]
        if not found:
            return agreed
        described = judging.describe(reading, found, encoded, model)
        found = [
            _scoped(each, kinds, reading) for each, kinds in zip(found, described, strict=True)
        ]
        promise = judging.turn_promise(encoded, model)
        made = []
        for each, kinds in zip(found, described, strict=True):
            sure = model.confidence(judging.grounds(each, kinds, promise, reading))
            if each.scope is Scope.TASK and is_for_now(each.text):
                sure = max(sure, FORM_CONFIDENCE)  # the form says so, whatever else it may be
            allowed = judging.allowed(each, reading, encoded, model)
            made.append(self._candidate(turn, reading, each, kinds, sure, allowed))
        return _distinct([*agreed, *made])

    def _introduced(
        self, turn: Turn, reading: Reading, made: list[Candidate]
    ) -> list[Candidate]:
        """Make sure of the name that comes with a greeting: the turn as a whole is small talk."""
        found = introduction_in(reading)
        if found is None or self._holds_secret(found.clause.text):
            return made
        quote = found.clause.text
        if any(quote in (each.quote or "") and each.confidence >= SAID_AT for each in made):
            return made
        others = [each for each in made if quote not in (each.quote or "")]
        content = sentence(found.text, reading.setting.lang, ItemType.IDENTITY)
        name = Candidate(
            ItemType.IDENTITY,
            content[:CONTENT_LIMIT],
            confidence=INTRODUCED_CONFIDENCE,
            importance=BASE_IMPORTANCE[ItemType.IDENTITY],
            sensitivity=Sensitivity.PERSONAL,
            quote=quote[:QUOTE_LIMIT],
            message_id=turn.message.id,
        )
        return [self._dated(name, found.text, turn.at), *others]

    def _implied(
        self, turn: Turn, reading: Reading, said: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return what the turn gives away beside what it states [W3]."""
        weight = EVIDENCE_WEIGHT[Evidence.IMPLIED]
        made = [
            Candidate(
                each.item_type,
                each.content,
                confidence=IMPLIED_CONFIDENCE,
                evidence=Evidence.IMPLIED,
                importance=round(BASE_IMPORTANCE[each.item_type] * weight, 3),
                sensitivity=each.sensitivity,
                quote=each.clause.text[:QUOTE_LIMIT],
                message_id=turn.message.id,
                entities=entities_in(each.content),
            )
            for each in implied_in(reading, said)
            if not self._holds_secret(each.clause.text)
        ]
        if self._structurer is None:
            return made
        return [self._structurer.complete(each) for each in made]

    async def _prepared(self, turn: Turn, model: Model) -> tuple[Reading, list[int]]:
        def prepare() -> tuple[Reading, list[int]]:
            history = [(each.role.value, each.content) for each in turn.history]
            reading = read_text(turn.message.content, history)
            return reading, judging.worth_reading(reading, model)

        if len(turn.message.content) > THREAD_AT:
            return await asyncio.to_thread(prepare)
        return prepare()

    def _holds_secret(self, text: str) -> bool:
        return bool(_NAMED_SECRET.search(text)) or self._secrets.finds(text)

    def _promise(self, turn: Turn) -> list[Candidate]:
        lang = language(turn.message.content)
        said = promises.promise_in(turn.message.content, lang)
        if said is None:
            return []
        return [self._commitment(turn, said, lang, said, 0.8)]

    def _agreed(self, turn: Turn, reading: Reading) -> list[Candidate]:
        """Return the commitment that a short assent turns the assistant's offer into [W3]."""
        reply_to = reading.setting.reply_to
        if not reply_to or not reading.clauses or len(reading.clauses) > ASSENT_CLAUSES:
            return []
        lang = language(reply_to)
        said = promises.accepted(turn.message.content, reply_to, lang)
        if said is None:
            return []
        quote = reading.text[: reading.clauses[0].end]
        return [self._commitment(turn, said, lang, quote, AGREED_CONFIDENCE)]

    def _commitment(
        self, turn: Turn, said: str, lang: str, quote: str, confidence: float
    ) -> Candidate:
        content = promises.about_assistant(said, lang)
        made = Candidate(
            ItemType.COMMITMENT,
            content[:CONTENT_LIMIT],
            subject="assistant",
            confidence=confidence,
            importance=BASE_IMPORTANCE[ItemType.COMMITMENT],
            quote=quote[:QUOTE_LIMIT],
            message_id=turn.message.id,
        )
        return self._dated(made, said, turn.at)

    def _candidate(
        self,
        turn: Turn,
        reading: Reading,
        said: judging.Statement,
        kinds: dict[str, tuple[str, float]],
        confidence: float,
        allowed: judging.Allowed,
    ) -> Candidate:
        lang = reading.setting.lang
        item_type = ItemType(kinds["item_type"][0])
        owner = "other" if is_about_somebody(said.text) else kinds["subject"][0]
        if owner == "assistant":
            offered = promises.offer_in(reading.setting.reply_to, lang) if reading.setting.reply_to else None
            if offered is not None and said.scope is Scope.LASTING:
                return self._commitment(turn, offered, lang, said.text, confidence)
            owner = "user"
        evidence = Evidence(kinds["evidence"][0])
        before = reading.text[: said.start]
        led = with_subject(said.text, before)
        doubtful = owner == "user" and kinds["subject"][1] <= SURELY_OWN
        if led == said.text and (owner == "other" or doubtful):
            led = with_owner(said.text, before, lang)
        if doubtful and opens_with_other(said.text, lang):
            owner = "other"
        text = with_system(with_relative(led, before), before)
        if led != said.text or is_led_by_relative(said.text, before):
            owner = "other"
        if is_led_by_nobody(text, before) or is_stranger(text):
            # Whoever is meant, it is not the user, and later nobody can tell [W3].
            owner, confidence = "other", min(confidence, UNNAMED_CONFIDENCE)
        heading = heading_of(reading.clauses, said.first)
        if heading:
            text = f"{heading}：{text}" if lang == "zh" else f"{heading}: {text}"
        topic = topic_of(reading.clauses, said.first, said.last)
        if topic:
            text = f"{topic}，{text}" if lang == "zh" else f"{topic}, {text}"
        made = Candidate(
            item_type,
            sentence(text, lang, item_type)[:CONTENT_LIMIT],
            subject=_third_person(text) if owner == "other" else "user",
            polarity=Polarity(kinds["polarity"][0]),
            confidence=confidence,
            evidence=evidence,
            importance=round(BASE_IMPORTANCE[item_type] * EVIDENCE_WEIGHT[evidence], 3),
            correction=kinds["correction"][0] == "yes" or bool(_FROM_NOW.search(said.text)),
            scope=said.scope,
            sensitivity=_careful(said.text, *kinds["sensitivity"]),
            quote=said.text[:QUOTE_LIMIT],
            message_id=turn.message.id,
        )
        dated = self._dated(made, said.text, turn.at, allowed)
        told = bool(_CHANGE_TOLD.search(before[-NEAR:]))
        return self._corrected(dated, said.text, kinds["correction"], told=told)

    @staticmethod
    def _slotted(made: Candidate, slots: Slots, allowed: judging.Allowed) -> Candidate:
        """Fill the slot, unless its reading contradicts what the words plainly are."""
        filled = slots.complete(made)
        denies = filled.polarity is Polarity.NEGATIVE and made.polarity is Polarity.POSITIVE
        if denies and not allowed.denial:
            return made  # "not Redis but KeyDB" denies nothing; "Redis, denied" is half of it
        typed = slots.typed(filled)
        return typed if typed.item_type in allowed.types else filled

    def _corrected(
        self, made: Candidate, text: str, fitted: tuple[str, float], *, told: bool = False
    ) -> Candidate:
        """A new value for a slot of one value is a correction at fewer signs than a mere remark.

        told: right before it something is said to have changed.
        """
        label, sure = fitted
        if made.correction and made.attribute and PLAINLY_FROM <= made.confidence < PLAINLY:
            # The marks of a change and a value for a known slot: two witnesses for one statement.
            made = replace(made, confidence=PLAINLY)
        hinted = label == "yes" or sure <= 1.0 - CORRECTED_AT or bool(_BY_NOW.search(text))
        hinted = hinted or told
        if made.correction or not hinted or not made.attribute or self._structurer is None:
            return made
        one = self._structurer.cardinality_of(made.attribute, made.item_type) is Cardinality.ONE
        if not one and made.attribute != "format":
            return made
        plainly = PLAINLY_FROM <= made.confidence < PLAINLY
        return replace(made, correction=True, confidence=PLAINLY if plainly else made.confidence)

    def _dated(
        self,
        made: Candidate,
        text: str,
        at: datetime,
        allowed: judging.Allowed = ANYTHING,
    ) -> Candidate:
        """Fix the day it speaks of, and word it so that it reads right on any other day [W4]."""
        days = [each for each in self._dates(text, at) if _is_day(each)]
        when = days[0].when if days and made.item_type in DATED else None
        if when is not None and made.item_type is ItemType.FACT:
            made = replace(made, item_type=ItemType.EVENT)  # what has a day of its own happens once
        # A rule about Fridays is about every Friday; only what happens once gets its date.
        content = absolute(made.content, at) if made.item_type in ONCE else made.content
        made = replace(
            made,
            event_at=when,
            expires_at=expiry_in(text, at),
            entities=entities_in(made.content),
            content=content[:CONTENT_LIMIT],
        )
        made = _surer(made) if is_plain(text) else made
        made = _said_outright(made) if allowed.outright else made
        if self._structurer is None:
            return made
        made = self._slotted(made, self._structurer, allowed)
        if made.attribute == DEADLINE and days:
            # A deadline is a day: "by 19 May" and "due on the 19th" are one.
            made = replace(made, value=days[0].when.date().isoformat(), content=absolute(made.content, at)[:CONTENT_LIMIT])
        if made.attribute in PLAIN_SLOTS:
            made = _surer(made)
        elif made.attribute and SLOTTED_FROM <= made.confidence < SLOTTED_SURE:
            made = replace(made, confidence=SLOTTED_SURE)
        return replace(made, tags=(made.attribute,)) if made.attribute else made


# What is said outright, or fills a plain slot of the lexicon, is evidence of its own.
PLAIN_SLOTS = frozenset({"allergy", "diet", "home", "name", "age", "editor", "reply_language"})
DEADLINE = "deadline"
SLOTTED_FROM, SLOTTED_SURE = 0.5, 0.62
SLOT_FROM, SLOT_SURE = 0.4, 0.65
FORM_CONFIDENCE = 0.75
FITTED_AT = 0.9  # how sure the model must be to call sensitive what the lexicon does not list
DATED = frozenset(ItemType) - {ItemType.PREFERENCE, ItemType.RULE, ItemType.IDENTITY}


# The redactor has been here before us [P1]; this only makes sure that what it marked, or what is
# called a secret and looks like one, never becomes an item.
_NAMED_SECRET = re.compile(
    r"\[secret|(?:密码|口令|密钥|验证码|\b(?:password|passwd|pwd|pass|pin|passcode|token|api ?key|secret|login)\b)[^。！？\n]{0,24}?[\w!@#$%^&*-]*\d",
    re.IGNORECASE,
)
# [F3] names these as explicit corrections, whatever the model makes of the rest.
_FROM_NOW = re.compile(
    r"从现在(?:开始|起)|从今(?:天|往后|以后)?(?:开始|起)|\b(?:from (?:now|here|today) on|going forward)\b", re.IGNORECASE
)
# How sure the model must be of a correction where the slot of it is known.
CORRECTED_AT = 0.6
PLAINLY_FROM, PLAINLY = 0.6, 0.92
_BY_NOW = re.compile(
    r"今后|往后|从此|想法变了|改主意|变卦|反悔|如今|永久改|更正|延期|推迟|改期|新的(?:截止|日期|时间|地址|电话|价格)|改一下(?:规矩|要求|偏好|习惯)|(?:跟|和|与)?(?:以前|之前|从前)(?:不一样|不同|相反)|不像(?:以前|之前|从前)|改成|改为|换成|改用|不再|现在(?:改|换|是|用|只|更|都|爱|喜欢|住)"
    r"|\bno longer\b|\bstarting (?:now|today|tomorrow|this week)\b|\bas of (?:now|today)\b|\b(?:postponed|rescheduled|pushed back|put off)\b|\bnew (?:deadline|date|address|number|price)\b|\b(?:not like|unlike|contrary to) before\b|\bthese days\b|\bfrom here on\b|\bfor good\b|\bpermanently\b|\bchanged my mind\b|\bused to\b.*\bbut\b|\binstead of\b|\b(?:changed|switched|moved) (?:\w+ )?(?:over )?to\b"
    r"|(?<!right )(?<!for )(?<!by )(?<!until )(?<!just )(?<!till )\bnow\b(?! and (?:then|again)| that)",
    re.IGNORECASE,
)
NEAR = 60  # characters before a statement that may say that something has changed
# What comes next is new: 改主意了, 我辞职转行了, "I quit", "we relocated".
_CHANGE_TOLD = re.compile(
    r"永久改|更正|纠正一下|改(?:个|了)?主意|变卦|口味(?:改|变|换)|作息(?:改|变|调)|不像(?:以前|之前|从前)|(?:规矩|要求|偏好|习惯)(?:改|变|换)|辞职|转行|跳槽|搬家|换工作"
    r"|\b(?:changed? my mind|change of plans?|scrap (?:that|what|the)|forget what i (?:said|told)|take (?:that|it) back|gone off|i quit|(?:we|i)(?:'ve| have)? (?:relocated|moved)|correction|new rule|for good|switched (?:jobs|careers))\b",
    re.IGNORECASE,
)
ONCE = frozenset({ItemType.EVENT, ItemType.COMMITMENT})


def _is_day(mention: DateMention) -> bool:
    return mention.precision in ("day", "time") and mention.anchored and not mention.recurring


def _careful(text: str, fitted: str, sure: float) -> Sensitivity:
    """What the lexicon lists is so; where it lists nothing, the model may still see more [P1]."""
    listed = sensitivity_of(text)
    return Sensitivity(fitted) if listed is Sensitivity.NORMAL and sure >= FITTED_AT else listed


def _said_outright(made: Candidate) -> Candidate:
    lasting = made.scope is Scope.LASTING and made.confidence < SLOT_SURE
    return replace(made, confidence=SLOT_SURE) if lasting else made


def _surer(made: Candidate) -> Candidate:
    near = SLOT_FROM <= made.confidence < SLOT_SURE
    return replace(made, confidence=SLOT_SURE) if near else made


def _scoped(
    said: judging.Statement, kinds: dict[str, tuple[str, float]], reading: Reading
) -> judging.Statement:
    """Forms that say "this time", and demands made in a bad mood, are not for ever [W4]."""
    if said.scope is not Scope.LASTING:
        return said
    wish = kinds["item_type"][0] in judging.WISHES
    lead = sentence_before(reading, said.start)
    before = reading.text[max(0, said.start - HURRY_REACH) : said.start]
    after = reading.text[said.end : said.end + HURRY_REACH]
    led = before + said.text if is_hurried(before) else said.text
    once = wish and (is_for_one_piece(led) or ends_hurried(after) or is_limited_after(after))
    led_by_now = (wish or kinds["item_type"][0] == "commitment") and is_led_by_now(said.text, lead)
    if once or led_by_now or is_for_now(said.text):
        return replace(said, scope=Scope.TASK)
    felt = kinds["item_type"][0] in FELT and is_mood(said.text)
    if felt or is_retracted(said.text, after) or is_passing(said.text):
        return replace(said, scope=Scope.MOMENT)
    if is_wished(said.text) or is_of_those_days(said.text, lead):
        return replace(said, scope=Scope.MOMENT)
    cues = {cue for clause in reading.clauses for cue in cues_in(clause.text)}
    bad_day = {"today", "mood"} <= cues or is_of_a_bad_day(reading.setting.own)
    vented = kinds["evidence"][0] == "emotional" and bad_day
    standing = {"from_now", "always"} & set(cues_in(said.text))
    return replace(said, scope=Scope.MOMENT) if vented and not standing else said


def _third_person(text: str) -> str:
    found = KIN.search(text)
    return found.group().lower() if found else "other"


def _distinct(made: Sequence[Candidate]) -> list[Candidate]:
    seen: dict[tuple[str, str], Candidate] = {}
    for each in made:
        seen.setdefault((each.item_type.value, each.content), each)
    return list(seen.values())
