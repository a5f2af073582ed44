"""Reads the slot and the value out of a plain sentence, where extraction left them open [C1].

Rules of this file:
- It fills what is missing and never overrides: an attribute the extractor gave stays as it is.
- Patterns of the lexicon come first, then the fitted reader of slots.py, then words of the lexicon
  that merely occur ("single" in "every single time" is no marital status).
- Which slots there are, what they hold and how many values, stands in lexicon/slots.toml. Better
  no slot than a wrong one, since a shared slot lets a newer value replace an older one.
- Values are stored in one canonical form where the lexicon knows them: 简短 and "brief" are the
  same value "concise".
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files

from dualgate.adapters.local.concepts import Hit, lexicon, simplified
from dualgate.adapters.local.frames import PREFIX, TOOL, Convention, convention
from dualgate.adapters.local.measures import measure
from dualgate.adapters.local.names import entities_in
from dualgate.adapters.local.owners import TELLER, headed_by, is_for_somebody, person, system
from dualgate.adapters.local.slots import Found, SlotReader
from dualgate.adapters.local.statements import Statement, denial_in, known, leaves, read
from dualgate.domain.conflict import slot_key
from dualgate.domain.items import Candidate, folded
from dualgate.domain.types import Cardinality, ItemType, Polarity

CACHE_SIZE = 4_096

# Attributes other extractors use for what may have many values side by side.
KNOWN_MANY = frozenset(
    "allergy book child colleague contact dislike family food friend goal habit health hobby interest language"
    " like music pet place relative skill sport tag tool topic medication relatives colleagues skills tools"
    " hobbies allergies pets languages interests friends goals habits event task todo visited film team".split()
)
# A convention is a rule, however politely it is put; as one it follows the newer word [C2].
RULED = (ItemType.RULE, ItemType.PREFERENCE, ItemType.CONSTRAINT, ItemType.FACT, ItemType.DECISION)
WISHED = (ItemType.PREFERENCE, ItemType.RULE, ItemType.CONSTRAINT)
ORDERED = (ItemType.RULE, ItemType.PREFERENCE, ItemType.CONSTRAINT)
QUALIFYING = frozenset({"length", "tone", "frequency"})
DEGREES = frozenset({"mild", "severe", "fluent", "beginner", "manual", "automatic", "hot", "cold"})


@dataclass(frozen=True, slots=True)
class Structure:
    """What could be read out of a sentence."""

    attribute: str
    value: str
    polarity: Polarity
    qualifiers: tuple[str, ...] = ()
    affirmed: bool = False  # the sentence denies something, and still affirms this value
    spotted: bool = False  # only a word of the lexicon says so, no pattern
    owner: str = ""  # the name of what it is said of, as written
    opposite: str = ""  # of a closed slot: the value that this one excludes


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One row of slots.toml."""

    attribute: str
    many: bool = False
    types: tuple[ItemType, ...] = ()
    kinds: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    about: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    capture: tuple[re.Pattern[str], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a slot of the fitted reader is called here. values: of a closed slot; "-": denied."""

    attribute: str
    values: dict[str, str] = field(default_factory=dict)
    denies: bool = False
    wish: bool = False
    plain: str = ""  # the slot of many values for what is merely liked, not liked best
    of_project: bool = False  # another project's stands beside it
    opposites: dict[str, str] = field(default_factory=dict)  # in a closed slot of more than two
    apart: bool = False  # equal values may be said of different things: no slot to compare by
    affirms: bool = False  # a denial in the sentence belongs to the value: "nothing before nine"
    order: bool = False  # a wish about what is done, not how it is told: a rule before a preference


_TARGET = re.compile(r"到了?|成了?|改用|改为|换|\bto\b|\binto\b|而是|\bnow\b|\bnot\b.*\bbut\b", re.IGNORECASE)


DIET = "diet"
# "Include assert statements in all methods" looks like a wish for comments, but names none.
_NAMES = {"comments": re.compile(r"comment|remark|explanatory|annotated|注释|註解|注解|备注", re.IGNORECASE)}
_WITHOUT = re.compile(r"(?:\b(?:without|no|not|avoids?|skips?|minus)|不吃|不放|别放|不含|不加|忌|无)\s*$", re.IGNORECASE)



def _is_misread(found: Found, row: Fitted, content: str) -> bool:
    """Whether the words plainly tell that the reader saw what is not there."""
    needed = _NAMES.get(found.slot)
    if needed is not None and not needed.search(content):
        return True
    if row.attribute == DIET and _WITHOUT.search(content[: max(0, content.find(found.value))]):
        return True  # "without eggs" is no diet of eggs
    return not row.of_project and is_for_somebody(content)


_CONTRAST = re.compile(
    r"[，,、；;\s]*(?:别|不要|不用|而不是|而非|不是|少来)[^，,。；;！!]{1,12}"
    r"|[,;]?\s+(?:not|no|never|don't|instead of|rather than)\s[^,.;]{1,40}",
    re.IGNORECASE,
)


class LexiconStructurer:
    """Fills attribute, value, qualifiers and polarity from a lexicon of common slots."""

    def __init__(self, reader: SlotReader | None = None) -> None:
        """reader: reads what no pattern says; None: the lexicon alone."""
        self._slots = _slots()
        self._reader = reader
        self._fitted = _fitted()
        self._cardinality = {slot.attribute: slot.many for slot in self._slots}
        self._kinds = {slot.attribute: slot.kinds for slot in self._slots}
        self._of_products = {
            slot.attribute for slot in self._slots if slot.kinds & _PRODUCTS or slot.attribute == "theme"
        }
        self._of_projects = self._of_products | {
            row.attribute for row in self._fitted.values() if row.of_project
        }
        self._types: dict[str, tuple[ItemType, ...]] = {
            row.attribute: ORDERED if row.order else WISHED
            for row in self._fitted.values()
            if row.wish
        }
        self._types |= {slot.attribute: slot.types for slot in self._slots if slot.types}
        # The attributes that hold several values at once, folded.
        self.many_valued = KNOWN_MANY | {slot.attribute for slot in self._slots if slot.many}
        # Other names of slots. What a host calls a slot stays as it is; only comparing looks here.
        self.aliases = _aliases()
        self._read = lru_cache(maxsize=CACHE_SIZE)(self._structure)

    def complete(self, candidate: Candidate) -> Candidate:
        """Return the candidate with what could be read out of its content; never overrides."""
        if candidate.attribute and candidate.value:
            return candidate
        found = self.read(candidate.content)
        if found is None or (
            candidate.attribute
            and self.slot_of(candidate.attribute) != self.slot_of(found.attribute)
        ):
            return candidate
        # A polarity was given with no value to refer to: "no meat, only greens" affirms the greens.
        untouched = candidate.value is None and (
            candidate.polarity is Polarity.POSITIVE or found.affirmed
        )
        value = found.value
        if found.opposite and not untouched and found.polarity is Polarity.POSITIVE:
            value = found.opposite  # "not so long" is no long answer, as it was said
        return replace(
            candidate,
            attribute=candidate.attribute or found.attribute,
            value=candidate.value or value,
            qualifiers=candidate.qualifiers or found.qualifiers,
            polarity=found.polarity if untouched else candidate.polarity,
            entities=_with_name(candidate.entities, found.owner),
        )

    def slot_of(self, attribute: str) -> str:
        """Return the slot that extractors and hosts mean by an attribute, for comparing [C1].

        >>> LexiconStructurer().slot_of("Response length"), LexiconStructurer().slot_of("mood")
        ('reply_length', 'mood')
        """
        name = slot_key(attribute)
        return self.aliases.get(name, name)

    def typed(self, candidate: Candidate) -> Candidate:
        """Return the candidate in the type that statements of its slot go by.

        For extractors whose types waver: "I prefer short answers" and "answer shortly from now on"
        are one preference. A type the slot does not list stays as it is.
        """
        slot = folded(candidate.attribute)
        types = RULED if slot.startswith(PREFIX) else self._types.get(slot, ())
        if candidate.item_type not in types:
            return candidate
        return replace(candidate, item_type=types[0])

    def read(self, content: str) -> Structure | None:
        """Return the structure of a plain sentence; None where the lexicon has no slot for it."""
        return self._read(content)

    def leaning(self, content: str, attribute: str) -> Structure | None:
        """Return how a sentence fills this very slot, if it may well do so; at a lower bar.

        For a correction of the slot: what it corrects was said before, in whatever words.
        """
        if self._reader is None:
            return None
        slot = self.slot_of(attribute)
        names = {n for n, row in self._fitted.items() if row.attribute == slot} | {slot}
        found = self._as_fitted(self._reader.leaning(content, names), content)
        return self._narrowed(found, content) if found is not None else None

    def cardinality_of(
        self, attribute: str, item_type: ItemType | str | None = None
    ) -> Cardinality:
        """Return how many values a slot may hold; a slot nobody listed holds one."""
        name = folded(attribute)
        if name in self.many_valued:
            return Cardinality.MANY
        if name not in self._cardinality and item_type in {ItemType.EVENT, ItemType.COMMITMENT}:
            return Cardinality.MANY  # events and promises pile up, they do not replace each other
        return Cardinality.ONE

    def canonical(self, attribute: str, value: str) -> str:
        """Return the value in the form in which equal values are equal.

        >>> LexiconStructurer().canonical("reply_length", "简短")
        'concise'
        """
        concept = lexicon().named(value)
        if concept is not None:
            return concept.id
        if folded(attribute) in {"age", "budget", "children"}:
            numbers = read(value).numbers
            if numbers:
                return f"{max(numbers):g}"
        return simplified(folded(value))

    def same_value(self, attribute: str, one: str, other: str) -> bool:
        """Whether two values of a slot mean the same."""
        return self.canonical(attribute, one) == self.canonical(attribute, other)

    def _structure(self, content: str) -> Structure | None:
        rule = convention(content)
        if rule is not None and not rule.attribute.startswith(TOOL):
            return self._ruled(rule)
        found = self._in_plain(content)
        if self._reader is not None and (found is None or found.spotted):
            fitted = self._as_fitted(self._reader.read(content), content)
            if fitted is not None and (found is None or self._gives_way(found, fitted)):
                return self._narrowed(fitted, content)
            if fitted is not None and found is not None and found.attribute == fitted.attribute:
                if fitted.value != found.value and leaves(content, found.value):
                    # The lexicon knows what was left, not what came.
                    return self._narrowed(fitted, content)
                found = replace(
                    found,
                    qualifiers=found.qualifiers or fitted.qualifiers,
                    owner=found.owner or fitted.owner,
                )
        if found is not None:
            found = self._narrowed(found, content)
            positive = found.polarity is Polarity.POSITIVE
            return replace(found, affirmed=positive and denial_in(content))
        return self._ruled(rule) if rule is not None else _measured(content)

    def _gives_way(self, found: Structure, fitted: Structure) -> bool:
        """Return whether a word of the lexicon is no more than that: "every single time".

        Of two wishes in one sentence ("short answers, conclusion first") the lexicon's stays, so
        that the sentence is read like the plainer one before it.
        """
        wish = self._types.get(found.attribute, ())[:1] == (ItemType.PREFERENCE,)
        return found.attribute != fitted.attribute and not wish

    def _as_fitted(self, found: Found | None, content: str) -> Structure | None:
        """Return what the fitted reader found in the words of the lexicon."""
        if found is None:
            return None
        row = self._fitted.get(found.slot, Fitted(found.slot))
        if row.apart or _is_misread(found, row, content):
            return None
        if row.plain and not _ABOVE_ALL.search(content):
            row = replace(row, attribute=row.plain, denies=True)
        if not row.values:
            value = self._named(row.attribute, _bare(found.value), content)
            told = found.owner if found.owner and found.owner not in found.value else ""
            held = told if not (_NO_OWNER.match(folded(told)) or leaves(content, told)) else None
            owner = folded(held or self._named_owner(row, value, content))
            of = () if not owner or _NO_OWNER.match(owner) else (self.canonical("", owner),)
            polarity = Polarity.NEGATIVE if row.denies and denial_in(content) else Polarity.POSITIVE
            empty = not value or value in _NO_VALUE
            name = (held or owner) if of else ""
            if leaves(content, _bare(found.value)):
                polarity = Polarity.NEGATIVE
            if empty or (row.of_project and not name and row.attribute not in self._cardinality):
                return None
            return Structure(row.attribute, value, polarity, of, affirmed=row.affirms, owner=name)
        value = row.values[found.value]
        opposite = next((each for name, each in row.values.items() if name != found.value), value)
        denied = found.denied
        if denied and len(row.values) == 2 and not value.startswith("-"):  # noqa: PLR2004
            value, denied = opposite, False
        denied ^= value.startswith("-")
        name, _, plain = value.removeprefix("-").rpartition(":")
        polarity = Polarity.NEGATIVE if denied else Polarity.POSITIVE
        other = "" if len(row.values) > 2 and not row.opposites else opposite  # noqa: PLR2004
        other = row.opposites.get(value, other).rpartition(":")[2]
        return Structure(
            name or row.attribute, plain, polarity,
            opposite="" if denied or other.startswith("-") else other,
        )  # fmt: skip

    def _named_owner(self, row: Fitted, value: str, content: str) -> str:
        """Return the name that a slot of a project is said of, where the model found none."""
        if not row.of_project:
            return ""
        plain = folded(value)
        dated = any(character.isdigit() for character in plain)
        names = [
            name
            for name in entities_in(content)
            if plain not in folded(name)
            and (dated or folded(name) not in plain)
            and not leaves(content, name)
        ]
        if not names:
            name = headed_by(content)
            return name if name and folded(name) not in plain and not leaves(content, name) else ""
        return names[0] if len(names) == 1 else ""

    def _named(self, attribute: str, value: str, content: str) -> str:
        """Return the concept that a value names, alone or with a word beside it."""
        if attribute in _HOURS:
            return _hours(value, content)
        kinds = self._kinds.get(attribute)
        hits = known(value.replace("-", " ")).hits if kinds else ()
        names = {hit.concept.id for hit in hits if kinds and hit.concept.kind in kinds}
        return names.pop() if len(names) == 1 else self.canonical(attribute, value)

    def _ruled(self, rule: Convention) -> Structure:
        return Structure(
            attribute=rule.attribute,
            value=self.canonical(rule.attribute, rule.value),
            polarity=Polarity.NEGATIVE if rule.denied else Polarity.POSITIVE,
        )

    def _in_plain(self, content: str) -> Structure | None:
        plain = _CONTRAST.sub("", content).strip()
        if plain and plain != content:
            # "Short, not an essay" says short; what is denied beside it only underlines that.
            found = self._in_slots(plain)
            if found is not None:
                return found
        return self._in_slots(content)

    def _narrowed(self, found: Structure, content: str) -> Structure:
        """Return the structure with what a second look at the sentence adds.

        "No meat, only greens" affirms what stands after "only". What is said of a sister or of Ana
        is said of them: it becomes a qualifier, and theirs stands beside the user's own.
        """
        if found.polarity is Polarity.NEGATIVE:
            for clause in _ONLY.findall(content):
                own = self._in_slots(clause)
                if own is not None and (own.attribute, own.value) == (found.attribute, found.value):
                    found = replace(found, polarity=own.polarity)
        if found.qualifiers or found.attribute in _OWNED:
            return found
        said = person(content)
        if said is None and found.attribute in self._of_projects:
            said = system(content)
        return replace(found, qualifiers=(self.canonical("", said),), owner=said) if said else found

    def _placed(self, job: str, whose: tuple[str, ...], text: str) -> str:
        match = _WORKPLACE.search(text)
        place = whose[0] if whose else (match["en"] or match["zh"]) if match else None
        return f"{job} {self.canonical('', place)}" if place else job

    def _in_slots(self, content: str) -> Structure | None:
        text = simplified(TELLER.sub("", content.strip()).rstrip("。.!！"))
        statement = known(content)
        for slot in self._slots:
            whose: tuple[str, ...] = ()
            near = None
            if slot.capture:
                value, whose = _captured(slot, text)
            else:
                value, near = _conceptual(slot, text, statement)
            if value is None or (slot.unless is not None and slot.unless.search(text)):
                continue
            if slot.attribute in self._of_products:
                value = _bare(value)
            canonical = self.canonical(slot.attribute, value)
            # Lists and running text exclude each other; other forms stand side by side.
            attribute = LAYOUT.get((slot.attribute, canonical), slot.attribute)
            target = _successor(slot, text, canonical)
            if target is not None:
                return Structure(slot.attribute, target, Polarity.POSITIVE)
            if slot.attribute == "job":
                canonical, whose = self._placed(canonical, whose, text), ()
            denied = statement.denies or leaves(text, value)
            return Structure(
                attribute=attribute,
                value=canonical,
                polarity=Polarity.NEGATIVE if denied else Polarity.POSITIVE,
                qualifiers=whose or _qualifiers(statement, near, canonical),
                spotted=not slot.capture,
                owner=whose[0] if whose else "",
            )
        return None


NAMES_LIMIT = 8
LAYOUT = {("format", "bullet points"): "layout"}


def _with_name(entities: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the names with one more, unless one of them is it or holds it."""
    short = len(name) < 2 or len(name) > 24  # noqa: PLR2004
    return entities if short or any(name in each for each in entities) else (*entities, name)[:NAMES_LIMIT]


_SPELLED = str.maketrans("零〇一二三四五六七八九", "00123456789")
_ONLY = re.compile(r"[，,；;、]\s*((?:而?是|我)?(?:只|仅|光)[^，,；;。]{1,40}|(?:but )?only\s[^,;.]{1,60})", re.IGNORECASE)
# Slots that name their owner themselves.
_OWNED = frozenset({"spouse_job", "cat_name", "dog_name", "children", "pet"})


def _measured(content: str) -> Structure | None:
    """Return the number of a thing as a slot of its own."""
    found = measure(simplified(content))
    if found is None:
        return None
    # 四七一一 is read digit by digit, 一百零四 is not.
    digits = found.value.translate(_SPELLED)
    spelled = digits if digits.isascii() and digits.isdigit() else found.value
    numbers = sorted(known(spelled).numbers)
    plain = len(numbers) == 1 and not spelled.startswith("0")
    value = f"{numbers[0]:g}" if plain else folded(spelled)
    return Structure(found.attribute, f"{value} {found.unit}".strip(), Polarity.POSITIVE)


# "A nurse in Leeds" and "a nurse in York" are not the same job: the place is part of the value.
_WORKPLACE = re.compile(
    r"\b(?:in|at|for|with)\s(?:an?\s|the\s)?(?P<en>[A-Za-z][\w&. -]{1,30}?)(?:\snow)?$"
    r"|在(?:一[家个间所])?(?P<zh>[^，。,.；;！!\s在]{2,10}?)(?:里)?(?:做|当|任|担任|工作)",
)


# What a deadline or a budget belongs to when nothing narrower is said.
_NO_OWNER = re.compile(
    r"^(?:用户|我|我们|本|这个?|该|整个|总|新|目前|现在|的|项目|这次|此次|one|it|us|me|everything|project)*$"
    # "the database is X now": the slot's own word says not whose it is.
    r"|^(?:(?:the|our|my|its|their|that|this|new|old|current|main|whole)\s+)*(?:database|db|data ?store|deadline|due date|hosting|host|server|deployment"
    r"|back ?end|front ?end|stack|queue|cache|repo(?:sitory)?|code(?:base)?|app|team|budget|limit|licen[cs]e|login|ci|pipeline|release|launch|service|system|product|site|website|spending|expenses?|costs?|purchases?|shopping)s?$"
    r"|^(?:我们|这|新|现在)?的?(?:数据库|库|截止(?:日期?|时间)?|期限|部署|主机|服务器?|前端|后端|队列|缓存|仓库|代码|团队|预算|许可证?|登录|流水线|发布|系统|产品|网站|开销|花销|花费|支出|消费)$",
    re.IGNORECASE,
)


def _captured(slot: Slot, text: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the value of the first pattern that matches, and what it is said of."""
    for pattern in slot.capture:
        match = pattern.search(text)
        if match is not None and match["value"].strip():
            owner = folded(match.groupdict().get("of"))
            owner = owner.removeprefix("用户").strip("：: ").removesuffix("项目")
            return match["value"].strip(), () if _NO_OWNER.match(owner) else (owner,)
    return None, ()


# Products come and go faster than any list: what somebody changed to is the value, known or not.
_PRODUCTS = frozenset(
    {"editor", "os", "package manager", "database", "frontend", "backend", "test framework", "cloud"}
)
_CHANGED_TO = re.compile(
    r"(?:换成|改用|改成|换到|切到|换用)了?\s*(?P<zh>[A-Za-z][\w.+#-]*)"
    r"|\b(?:switched|switching|moved|changed) (?:over )?to (?P<en>[A-Z][\w.+#-]*)"
)


def _successor(slot: Slot, text: str, value: str) -> str | None:
    """Return the product that takes the place of the one named, where no list knows it."""
    match = _CHANGED_TO.search(text) if slot.kinds & _PRODUCTS else None
    if match is None:
        return None
    target = folded(match["zh"] or match["en"])
    concept = lexicon().named(target)
    if concept is not None:
        return concept.id if concept.kind in slot.kinds and concept.id != value else None
    return target


def _conceptual(slot: Slot, text: str, statement: Statement) -> tuple[str | None, Hit | None]:
    """Return the one concept of the slot's kinds; after "to" and the like, the last one."""
    hits = [hit for hit in statement.hits if hit.concept.kind in slot.kinds]
    if slot.only:
        hits = [hit for hit in hits if hit.concept.id in slot.only]
    if not hits or (slot.about is not None and not slot.about.search(text)):
        return None, None
    names = {hit.concept.id for hit in hits}
    if len(names) == 1 or (_TARGET.search(text) and len(names) == 2):  # noqa: PLR2004
        return hits[-1].concept.id, hits[-1]
    return None, None


def _qualifiers(statement: Statement, near: Hit | None, value: str) -> tuple[str, ...]:
    """Return the modifiers that narrow the value: "short" in "short code examples"."""
    wanted = QUALIFYING if near is not None and near.concept.kind == "format" else frozenset()
    found = [
        hit.concept.id
        for hit in statement.hits
        if (hit.concept.kind in wanted or hit.concept.id in DEGREES) and hit.concept.id != value
    ]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    """Return the other names of slots, as extractors and hosts write them."""
    source = files(__package__).joinpath("lexicon/slots.toml").read_text("utf-8")
    rows: dict[str, list[str]] = tomllib.loads(source)["aliases"]
    return {slot_key(alias): slot for slot, names in rows.items() for alias in names}


@lru_cache(maxsize=1)
def _fitted() -> dict[str, Fitted]:
    """Return how the slots of the fitted reader are called in the lexicon."""
    source = files(__package__).joinpath("lexicon/slots.toml").read_text("utf-8")
    rows: dict[str, dict[str, object]] = tomllib.loads(source)["fitted"]
    return {
        name: Fitted(
            str(row.get("attribute", name)),
            {key: str(value) for key, value in _table(row.get("values", {}))},
            bool(row.get("denies", False)),
            bool(row.get("wish", False)),
            str(row.get("plain", "")),
            bool(row.get("project", False)),
            {key: str(value) for key, value in _table(row.get("opposites", {}))},
            bool(row.get("apart", False)),
            bool(row.get("affirms", False)),
            bool(row.get("order", False)),
        )
        for name, row in rows.items()
    }


def _table(given: object) -> Iterable[tuple[str, object]]:
    return given.items() if isinstance(given, dict) else ()


# "Likes tea" leaves room for coffee; "likes tea best" does not.
_ABOVE_ALL = re.compile(
    r"最|首选|只(?:喜欢|爱|喝|吃|听|看)|偏爱|首位|第一|头号|独爱|认准|唯一|改(?:喝|吃|听|看|喜欢|爱)|换成|现在(?:更|只|都|爱|喜欢|迷|改)"
    r"|\b(?:favou?rites?|best|most|prefers?|nothing (?:beats|comes close)|only|go-to|top|number one|above all|any day|all-time|beats|switched|no longer|these days|now|over (?:any|every)\w*|more than (?:any|every)\w*|hands down|usual)\b",
    re.IGNORECASE,
)
_HOURS = frozenset({"unavailable_time", "working_hours", "wake_time", "sleep_time"})
_BOUND = (
    (re.compile(r"以后|之后|过后|往后|\b(?:after|past|later than)\b", re.IGNORECASE), "after"),
    (re.compile(r"以前|之前|\b(?:before|earlier than|until)\b", re.IGNORECASE), "before"),
)


def _hours(value: str, content: str) -> str:
    """Return hours by their numbers: "not after six" and 六点以后 are one value."""
    numbers = sorted(known(value).numbers)
    if not numbers:
        return simplified(folded(value))
    at = content.find(value)
    # Chinese says it behind the hour, English before: "六点以后", "after six".
    after = "" if at < 0 else content[at : at + len(value) + 3]
    before = "" if at < 0 else content[max(0, at - 14) : at]
    places = (value, after, before)
    bound = next((name for text in places for form, name in _BOUND if form.search(text)), "")
    return " ".join([*bound.split(), *(f"{number:g}" for number in numbers)])


# What only says the slot again is no value: "prefers Zed to other editors" is not about editors.
_NO_VALUE = frozenset(
    "music drink drinks food browser editor database server phone computer laptop team sport book books film films colour"
    " colors color language project one it this that day days week weeks hour hours month months year years logs"
    " 天 周 月 年 小时 音乐 歌 饮料 食物 菜 浏览器 编辑器 数据库 服务器 手机 电脑 球队 运动 书 电影 颜色 语言 项目 工作".split()
)
_ARTICLE = re.compile(r"^(?:an?|the|my|our|some|about|around|only|just|at|on|in)\s+|[\s.,!。，]+$", re.IGNORECASE)


def _bare(value: str) -> str:
    """Return a value without the words that only introduce it, or follow a Latin name in Chinese."""
    value = _MOVED.split(value)[-1]
    product = _LATIN_FIRST.match(value.strip())
    return product[1] if product else _ARTICLE.sub("", value.strip()).strip()


_MOVED = re.compile(r"(?:搬|迁移?|换|改|切|转|移)(?:到|成|为|用|去)了?|→|->")
_LATIN_FIRST = re.compile(r"([A-Za-z][A-Za-z0-9.+#-]*(?: [A-Za-z0-9][A-Za-z0-9.+#-]*)*)\s*[\u3400-\u9fff]+$")


@lru_cache(maxsize=1)
def _slots() -> tuple[Slot, ...]:
    source = files(__package__).joinpath("lexicon/slots.toml").read_text("utf-8")
    return tuple(_slot(row) for row in tomllib.loads(source)["slot"])


def _slot(row: dict[str, object]) -> Slot:
    def compiled(name: str) -> re.Pattern[str] | None:
        given = row.get(name)
        return re.compile(given, re.IGNORECASE) if isinstance(given, str) else None

    capture = row.get("capture", ())
    return Slot(
        attribute=str(row["attribute"]),
        many=bool(row.get("many", False)),
        types=tuple(ItemType(each) for each in _strings(row.get("types", ()))),
        kinds=frozenset(_strings(row.get("kinds", ()))),
        only=frozenset(_strings(row.get("only", ()))),
        about=compiled("about"),
        unless=compiled("unless"),
        capture=tuple(re.compile(each, re.IGNORECASE) for each in _strings(capture)),
    )


def _strings(given: object) -> Iterable[str]:
    return [str(each) for each in given] if isinstance(given, list | tuple) else []
