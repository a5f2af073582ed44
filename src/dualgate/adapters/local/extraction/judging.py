"""Judging: from clauses to statements, with the probabilities of the fitted model.

Rule: the model proposes, this file composes: which clauses state something lasting, which of them
belong together, and what kind of statement they make. Synchronous; what was read comes in as argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dualgate.adapters.local.extraction.bonds import (
    bound,
    dangles,
    is_adverbial,
    is_empty,
    leans,
    parts,
)
from dualgate.adapters.local.extraction.cues import cues_in
from dualgate.adapters.local.extraction.encoder import Encoded
from dualgate.adapters.local.extraction.features import clause_ids
from dualgate.adapters.local.extraction.implied import is_own
from dualgate.adapters.local.extraction.kinds import (
    is_for_good,
    is_outburst,
    is_outright,
    is_plain,
    named_kind,
    named_polarity,
)
from dualgate.adapters.local.extraction.model import Array, Model
from dualgate.adapters.local.extraction.reading import Reading
from dualgate.domain.types import ItemType, Scope

# A clause under this is not even proposed; calibration decides what reaches 0.6 [M 5.1].
PROPOSE_AT = 0.30
JOIN_AT = 0.6
# What hardly states anything by itself rather belongs to its neighbour.
WEAK_AT = 0.6
JOIN_WEAK_AT = 0.35
# Taking a calm word for an outburst costs half a confirmation; the reverse freezes a mood [F1, F2].
EMOTIONAL_AT = 0.5
# "I've changed my mind, from now on …" sounds nearly like one; a change needs clearer signs of heat.
HEATED_AT = 0.8
# Taking a remark for a correction moves what is frozen; the reverse only waits for more [F3].
CORRECTION_AT = 0.75
# What is wanted in an outburst may not be wanted tomorrow; what one is, one is in any mood.
WISHES = frozenset({"preference", "constraint", "rule", "decision"})
# A turn with more clauses than this is first thinned by the cheap head, without the encoder.
ENCODE_LIMIT = 32
THINNED = 24  # clauses that are left of it
# In a turn as long as a document, only clauses that speak of someone, or to someone, are read.
READ_LIMIT = 96
_PERSONAL = re.compile(
    r"我|咱|俺|本人|以后|今后|从现在|记[住得下]|一律|默认|[别勿]|不要|必须|过敏|[爸妈哥姐弟妹]|老公|老婆|孩子|女儿|儿子"
    r"|\b(?:i|i'm|i’m|im|i've|i’ve|i'd|i'll|my|me|mine|we|we're|we've|our|us|always|never|from now on|don't|don’t|please|stop|allerg\w*)\b",
    re.IGNORECASE,
)
STATES = ("none", "lasting", "task", "moment")
# The questions that the encoder's heads answer, with their labels in order.
LABELS = {
    "state": STATES,
    "join": ("apart", "together"),
    "turn": ("none", "some"),
    "early": ("none", "some"),
    "item_type": tuple(each.value for each in ItemType),
    "evidence": ("explicit", "implied", "emotional"),
    "correction": ("no", "yes"),
    "polarity": ("+", "-"),
    "subject": ("user", "assistant", "other"),
    "sensitivity": ("normal", "personal", "sensitive"),
}
ATTRIBUTE_HEADS = tuple(name for name in LABELS if name not in ("state", "join", "turn", "early"))


@dataclass(frozen=True, slots=True)
class Statement:
    """A run of clauses that states one thing; kinds maps each head to its probabilities."""

    first: int
    last: int
    scope: Scope
    raw: float
    text: str
    start: int
    end: int
    rival: float = 0.0  # how far its strongest clause looks like talk of the task or the moment
    seam: float = 0.0  # how strongly it hangs on a neighbour that stayed apart
    lead: float = 0.0  # how much stronger the strongest statement of the turn is
    peers: float = 0.0  # how many other statements the turn makes, each as far as it is sure
    beside: float = 0.0  # how sure the surer neighbour is


def worth_reading(reading: Reading, model: Model) -> list[int]:
    """Choose the clauses to read: all of a normal turn, the most promising of a long one."""
    count = len(reading.clauses)
    if count <= ENCODE_LIMIT:
        return list(range(count))
    personal = [i for i, clause in enumerate(reading.clauses) if _PERSONAL.search(clause.text)]
    half = READ_LIMIT // 2
    read = personal if len(personal) <= READ_LIMIT else [*personal[:half], *personal[-half:]]
    if not read:
        return []
    ids = clause_ids(reading.clauses, reading.setting, read)
    promise = 1.0 - model.gate.probabilities(ids, None)[:, 0]
    best = np.argsort(-promise, kind="stable")[:THINNED]
    return sorted(read[int(index)] for index in best)


def outright(reading: Reading, chosen: Sequence[int]) -> set[int]:
    """Return the clauses that say outright that they are for good: they are read through."""
    return {index for index in chosen if is_said_outright(reading.clauses[index].text, reading)}


def is_said_outright(text: str, reading: Reading) -> bool:
    """Whether the words leave no doubt: a colleague beside them changes nothing, a play does."""
    if is_outright(text):
        return True
    played = UNMEANT & set(cues_in(reading.setting.own))
    return (is_plain(text) or is_for_good(text)) and not played and is_own(reading.text)


UNMEANT = frozenset({"joke", "play", "heard", "if"})


def states(reading: Reading, chosen: Sequence[int], encoded: Encoded, model: Model) -> Array:
    """Return the state probabilities of every clause; those not chosen are "none"."""
    result = np.zeros((len(reading.clauses), len(STATES)), dtype=np.float32)
    result[:, 0] = 1.0
    for index in chosen:
        line = model.tempered("state", encoded.span("state", index, index))
        # What is said outright is said, whatever is asked beside it.
        said = line[1] < OUTRIGHT[1] and is_said_outright(reading.clauses[index].text, reading)
        result[index] = OUTRIGHT if said else line
    return result


OUTRIGHT = np.array([0.3, 0.7, 0.0, 0.0], dtype=np.float32)


def joined(
    reading: Reading, probabilities: Array, seams: Mapping[int, float]
) -> list[tuple[int, int, Scope]]:
    """Return runs (first, last, scope) of clauses that belong together."""
    scopes = _scopes(reading, probabilities)
    runs: list[tuple[int, int, Scope]] = []
    for index, scope in enumerate(scopes):
        if scope is None:
            continue
        if runs and runs[-1][1] == index - 1 and runs[-1][2] is scope:
            left, right = reading.clauses[index - 1], reading.clauses[index]
            weak = float(min(probabilities[index - 1 : index + 1, STATES.index(scope.value)]))
            needed = JOIN_AT if weak >= WEAK_AT else JOIN_WEAK_AT
            hangs = bound(left, right) or leans(right.text) or dangles(right.text)
            goes_on = seams.get(index, 0.0) >= needed and not parts(left, right)
            anew = left.mark in FULL_STOPS and _ANEW.search(right.text)
            if (hangs or goes_on) and not anew:
                runs[-1] = (runs[-1][0], index, scope)
                continue
        runs.append((index, index, scope))
    return runs


FULL_STOPS = frozenset(".!?。！？")
# At the head of a sentence it belongs to what comes: "Use tabs. From now on, call me Al."
_ANEW = re.compile(r"^\W*(?:from (?:now|here) on|going forward|as of (?:now|today))\W*$", re.IGNORECASE)


def seam_lines(chosen: Sequence[int], encoded: Encoded, model: Model) -> dict[int, float]:
    """Return, by the place of the right clause, how surely it goes on with what the left states."""
    read = set(chosen)
    return {
        index: float(model.tempered("join", encoded.seam(index))[1])
        for index in chosen
        if index - 1 in read
    }


def _scopes(reading: Reading, probabilities: Array) -> list[Scope | None]:
    """Say what each clause states; what only belongs to a neighbour goes with it."""
    clauses = reading.clauses
    scopes = [_scope(line) for line in probabilities]
    empty = [is_empty(clause.text) for clause in clauses]
    scopes = [None if empty[i] else scope for i, scope in enumerate(scopes)]
    for i in range(1, len(clauses)):
        left, right = scopes[i - 1], scopes[i]
        if (left is None) == (right is None) or not bound(clauses[i - 1], clauses[i]):
            continue
        if left is None and not empty[i - 1]:
            scopes[i - 1] = right
        elif right is None and (is_adverbial(clauses[i].text) or dangles(clauses[i - 1].text)):
            scopes[i] = left
    return scopes


def _scope(line: Array) -> Scope | None:
    none, lasting, task, moment = (float(each) for each in line)
    if lasting >= PROPOSE_AT and lasting >= max(task, moment):
        return Scope.LASTING
    if max(task, moment) > max(none, lasting):
        return Scope.TASK if task >= moment else Scope.MOMENT
    return None


def statements(
    reading: Reading, chosen: Sequence[int], encoded: Encoded, probabilities: Array, model: Model
) -> list[Statement]:
    """Compose the statements of a turn."""
    found = []
    seams = seam_lines(chosen, encoded, model)
    for first, last, scope in joined(reading, probabilities, seams):
        column = STATES.index(scope.value)
        # The strongest clause decides, the others soften it; what was only attached does not count.
        lines = np.sort(probabilities[first : last + 1, column])[::-1]
        lines = lines[lines >= min(PROPOSE_AT, float(lines[0]))]
        raw = float(0.5 * lines[0] + 0.5 * lines.mean())
        best = first + int(probabilities[first : last + 1, column].argmax())
        rival = float(probabilities[best, 2:].max())
        start, end = reading.clauses[first].start, reading.clauses[last].end
        text = reading.text[start:end]
        found.append(Statement(first, last, scope, raw, text, start, end, rival))
    return _compared(found, seams)


def _compared(found: list[Statement], seam_of: Mapping[int, float]) -> list[Statement]:
    """Note what each lasting statement is beside the other statements of the turn."""
    lasting = [each for each in found if each.scope is Scope.LASTING]
    top = max((each.raw for each in lasting), default=0.0)
    seams = [0.0]
    for left, right in pairwise(found):
        near = left.last == right.first - 1 and left.scope is right.scope
        seams.append(seam_of.get(right.first, 0.0) if near else 0.0)
    seams.append(0.0)
    total = sum(each.raw for each in lasting)
    sure = {place: each.raw for each in lasting for place in (each.first, each.last)}
    return [
        replace(
            each,
            seam=max(seams[i], seams[i + 1]),
            lead=_logit(top) - _logit(each.raw),
            peers=min(total - each.raw, PEERS_LIMIT),
            beside=max(sure.get(each.first - 1, 0.0), sure.get(each.last + 1, 0.0)),
        )
        for i, each in enumerate(found)
    ]


def turn_promise(encoded: Encoded, model: Model) -> float:
    """Return how likely the turn as a whole states anything lasting."""
    return float(model.tempered("turn", encoded.turn)[1])


def grounds(
    said: Statement, kinds: Mapping[str, tuple[str, float]], turn: float, reading: Reading
) -> Array:
    """Return what the confidence of a statement rests on."""
    colour = cues_in(reading.setting.own)
    return np.array(
        [
            _logit(said.raw),
            _logit(turn),
            _logit(kinds["item_type"][1]),
            kinds["evidence"][0] == "implied",
            reading.setting.lang == "zh",
            said.first == said.last,
            min(len(reading.clauses), 8) / 8.0,
            min(len(said.text), 60) / 60.0,
            kinds["subject"][0] == "other",
            said.first == said.last and leans(said.text),
            len(said.text) < SHORT[reading.setting.lang],
            bool(_ASKS.search(said.text)) or reading.clauses[said.last].mark in ("?", "？"),
            min(_logit(said.raw), _logit(turn)),
            said.rival,
            said.seam,
            said.lead,
            _logit(turn) * (len(reading.clauses) == 1),
            said.lead > 0 and leans(said.text),
            said.peers,
            said.beside,
            said.peers * (reading.setting.lang == "zh"),
            min(len(reading.clauses), 8) / 8.0 * (reading.setting.lang == "zh"),
            (said.last - said.first + 1) / max(1, len(reading.clauses)),
            *(name in colour for name in UNSERIOUS),
        ],
        dtype=np.float32,
    )


UNSERIOUS = ("joke", "sarcasm", "play", "heard", "emoji")
GROUNDS = 23 + len(UNSERIOUS)
_ASKS = re.compile(
    r"[？?]|(?:吗|不|没有?|呢)$|([\u4e00-\u9fff])[不没]\1|能不能|可不可以|是不是|从哪|怎么|什么|为啥|多少"
    r"|^\W*(?:(?:and|so|but)\s+)?(?:what|why|how|where|which|who|is|are|do|does|did|can|could|should|would)\b|\bwhy's that\b",
    re.IGNORECASE,
)
PEERS_LIMIT = 4.0
SHORT = {"zh": 5, "en": 14}


def _logit(probability: float) -> float:
    clipped = min(max(probability, 1e-3), 1.0 - 1e-3)
    return float(np.log(clipped / (1.0 - clipped)))


def serves(said: str, meant: str) -> float:
    """Return how far one type serves where another was meant."""
    return 1.0 if said == meant else _SERVES[meant].get(said, 0.0)


def describe(
    reading: Reading, found: Sequence[Statement], encoded: Encoded, model: Model
) -> list[dict[str, tuple[str, float]]]:
    """Return, per statement, the label and probability of every attribute head."""
    described = [
        {name: _labelled(name, each, encoded, model) for name in ATTRIBUTE_HEADS} for each in found
    ]
    # The own words come without their marks; how they were shouted stands in the turn.
    shouted = any(_SHOUTED.match(reading.text, clause.end) for clause in reading.clauses)
    outburst = is_outburst(reading.setting.own + "!!" * shouted)
    for each, kinds in zip(found, described, strict=True):
        if outburst and kinds["item_type"][0] in WISHES and kinds["evidence"][0] == "explicit":
            kinds["evidence"] = ("emotional", EMOTIONAL_AT)
        label, sure = kinds["evidence"]
        if label == "emotional" and not outburst and kinds["correction"][0] == "yes" and sure < HEATED_AT:
            kinds["evidence"] = ("explicit", 1.0 - sure)
        named = named_kind(each.text)
        if named is not None:
            kinds["item_type"] = (named.value, max(NAMED_SURE, kinds["item_type"][1]))
        against = named_polarity(each.text)
        if against is not None:
            kinds["polarity"] = (against.value, 1.0)
    return described


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the words of a statement let a reader of slots make of it, and whether they are plain."""

    types: frozenset[ItemType] = frozenset(ItemType)
    denial: bool = True
    outright: bool = False


def allowed(said: Statement, reading: Reading, encoded: Encoded, model: Model) -> Allowed:
    """Return the types that are likely enough, and whether it may deny something at all.

    A wish is a rule or a preference by how it is put, so these two stand for each other.
    """
    line = model.tempered("item_type", encoded.span("item_type", said.first, said.last))
    types = {each for each, sure in zip(TYPES, line, strict=True) if sure >= POSSIBLE_AT}
    types |= _WISHED if types & _WISHED else set()
    denied = model.tempered("polarity", encoded.span("polarity", said.first, said.last))[1]
    outright = is_said_outright(said.text, reading)
    return Allowed(frozenset(types), bool(denied >= DENIED_AT), outright)


def _labelled(
    name: str, said: Statement, encoded: Encoded, model: Model
) -> tuple[str, float]:
    line = model.tempered(name, encoded.span(name, said.first, said.last))
    labels = LABELS[name]
    # For types the likeliest label gives way to the one that serves best.
    line = line @ NEARNESS if name == "item_type" else line
    best = int(line.argmax())
    if name == "evidence" and line[labels.index("emotional")] >= EMOTIONAL_AT:
        best = labels.index("emotional")
    if name == "correction" and line[labels.index("yes")] < CORRECTION_AT:
        best = labels.index("no")
    return labels[best], float(line[best])


NAMED_SURE = 0.7
# Under these the reader of slots was wrong nine times in ten, on held-out turns.
POSSIBLE_AT = 0.2
DENIED_AT = 0.15
_WISHED = frozenset({ItemType.RULE, ItemType.PREFERENCE})
_SHOUTED = re.compile(r"\s?[!！]{2}")


TYPES = tuple(ItemType)
# How far one type serves where another was meant: a rule about answers is nearly a preference, an
# event is not. The type with the highest expected service is chosen, not the likeliest label.
_SERVES: dict[str, dict[str, float]] = {
    "identity": {"fact": 0.7},
    "preference": {"rule": 0.6, "constraint": 0.6, "fact": 0.25},
    "constraint": {"rule": 0.6, "preference": 0.6, "fact": 0.45},
    "rule": {"constraint": 0.7, "preference": 0.7, "fact": 0.1},
    "project": {"fact": 0.5, "decision": 0.4, "event": 0.2, "identity": 0.2},
    "decision": {"project": 0.35, "event": 0.3, "constraint": 0.3, "rule": 0.3, "preference": 0.2, "fact": 0.25},
    "commitment": {"event": 0.3, "project": 0.2, "decision": 0.2},
    "event": {"fact": 0.4, "commitment": 0.35, "decision": 0.25, "project": 0.25},
    "fact": {"identity": 0.6, "constraint": 0.45, "project": 0.4, "event": 0.3, "preference": 0.2, "decision": 0.15},
}
NEARNESS = np.array(
    [[1.0 if meant == said else _SERVES[meant].get(said, 0.0) for said in TYPES] for meant in TYPES],
    dtype=np.float32,
)
