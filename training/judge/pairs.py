"""Make the pairs the judge is fitted on, from frames.txt and hand.txt.

Kinds: P the same, V other value in a slot of one, C compatible (many values), O opposite,
M narrowed by a modifier, U unrelated. Deterministic: the same seed gives the same pairs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass
class Frame:
    name: str
    many: bool
    said: dict[str, list[str]] = field(default_factory=dict)  # zh, en
    denied: dict[str, list[str]] = field(default_factory=dict)
    narrowed: dict[str, list[str]] = field(default_factory=dict)
    moved: dict[str, list[str]] = field(default_factory=dict)
    values: list[tuple[str, str]] = field(default_factory=list)
    holders: list[tuple[str, str]] = field(default_factory=list)
    same: list[set[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Pair:
    one: str
    other: str
    kind: str
    lang: str  # zh, en, cross
    frame: str
    values: tuple[str, ...] = ()


def frames() -> list[Frame]:
    found: list[Frame] = []
    for line in (HERE / "frames.txt").read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("@"):
            _, name, number = line.split()
            found.append(Frame(name, number == "many"))
            continue
        key, _, rest = line.partition(": ")
        frame = found[-1]
        parts = [part.strip() for part in rest.split(" | ")]
        if key in {"v", "p"}:
            pairs = []
            for each in rest.split(", ") if key == "v" else rest.split(","):
                if "=" not in each:  # a comma inside an English number
                    pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]}, {each}")
                    continue
                zh, en = each.split("=")
                pairs.append((zh.strip(), en.strip()))
            setattr(frame, "values" if key == "v" else "holders", pairs)
        elif key == "same":
            frame.same = [set(group.strip().split(",")) for group in rest.split(";")]
        elif key == "x":
            for part in parts:
                zh, en = part.split(" = ")
                frame.moved.setdefault("zh", []).append(zh)
                frame.moved.setdefault("en", []).append(en)
        else:
            target = {"-": frame.denied, "+": frame.narrowed}.get(key[0], frame.said)
            target[key.lstrip("+-")] = parts
    return found


@dataclass(frozen=True)
class _Draw:
    frame: Frame
    left: str
    right: str
    holder: tuple[str, str] | None
    value: tuple[str, str]
    other: tuple[str, str]


class Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.frames = frames()

    def fill(self, template: str, lang: str, value: tuple[str, str], holder: tuple[str, str] | None, old: tuple[str, str] | None = None) -> str:
        place = 0 if lang == "zh" else 1
        text = template.replace("{v}", value[place])
        if holder:
            text = text.replace("{p}", holder[place])
        if old:
            text = text.replace("{w}", old[place])
        text = text[0].upper() + text[1:] if lang == "en" else text
        return self.vary(text, lang)

    def vary(self, text: str, lang: str) -> str:
        roll = self.random.random()
        varied = self.vary_zh(text, roll) if lang == "zh" else self.vary_en(text, roll)
        stop = "。" if lang == "zh" else "."
        return varied + (stop if roll > 0.92 else "")

    def vary_zh(self, text: str, roll: float) -> str:
        if roll < 0.12 and text.startswith("用户"):
            return text[2:].lstrip("的") or text
        if roll < 0.2:
            return text.replace("用户的", "我的").replace("用户", "我")
        if roll < 0.26 and text.startswith("用户"):
            return "用户" + self.random.choice(["目前", "现在", "一直", "平时", "其实"]) + text[2:]
        return text

    def vary_en(self, text: str, roll: float) -> str:
        if roll < 0.1:
            return text.replace("The user", "User").replace("the user", "user")
        if roll < 0.2 and text.startswith("User "):
            return "The user " + text[5:]
        if roll < 0.26 and text.startswith("User is "):
            return "User is " + self.random.choice(["currently ", "still ", "now "]) + text[8:]
        return text

    def grouped(self, frame: Frame, one: tuple[str, str], other: tuple[str, str]) -> bool:
        return any(one[0] in group and other[0] in group for group in frame.same)

    def languages(self, lang: str) -> tuple[str, str]:
        if lang != "cross":
            return lang, lang
        return ("zh", "en") if self.random.random() < 0.5 else ("en", "zh")

    def make(self, lang: str, kind: str) -> Pair | None:
        """Draw one pair of a kind; None where the frame has nothing of it."""
        frame = self.random.choice(self.frames)
        left, right = self.languages(lang)
        holder = self.random.choice(frame.holders) if frame.holders else None
        value, other = self.random.sample(frame.values, 2)
        one = self.fill(self.random.choice(frame.said[left]), left, value, holder)
        draw = _Draw(frame, left, right, holder, value, other)
        makers = {"P": self.same, "V": self.other, "O": self.opposite, "M": self.narrower, "U": self.far}
        made = makers[kind](draw, one)
        if made is None or made[0] == made[1]:
            return None
        one, two, kind = made
        if self.random.random() < 0.5:
            one, two = two, one
        return Pair(one, two, kind, lang, frame.name, value)

    def same(self, draw: _Draw, one: str) -> tuple[str, str, str]:
        frame, pick, target = draw.frame, self.random.choice, draw.value
        kin = [each for each in frame.values if each != target and self.grouped(frame, target, each)]
        if kin and self.random.random() < 0.5:
            target = pick(kin)
        # Two denials of the same are the same, too.
        if self.random.random() < 0.18 and frame.denied and frame.name != "aversion":
            one = self.fill(pick(frame.denied[draw.left]), draw.left, draw.value, draw.holder)
            two = self.fill(pick(frame.denied[draw.right]), draw.right, draw.value, draw.holder)
        elif self.random.random() < 0.3 and frame.moved:
            two = self.fill(pick(frame.moved[draw.right]), draw.right, target, draw.holder, draw.other)
        else:
            two = self.fill(pick(frame.said[draw.right]), draw.right, target, draw.holder)
        return one, two, "P"

    def other(self, draw: _Draw, one: str) -> tuple[str, str, str] | None:
        frame, pick = draw.frame, self.random.choice
        if self.grouped(frame, draw.value, draw.other):
            return None
        kind = "C" if frame.many else "V"
        if frame.moved and self.random.random() < 0.35:
            two = self.fill(pick(frame.moved[draw.right]), draw.right, draw.other, draw.holder, draw.value)
        elif frame.holders and self.random.random() < 0.2:
            # The wife is a teacher, the brother is a teacher: both hold.
            apart = [each for each in frame.holders if each != draw.holder]
            two, kind = self.fill(pick(frame.said[draw.right]), draw.right, draw.value, pick(apart)), "C"
        else:
            two = self.fill(pick(frame.said[draw.right]), draw.right, draw.other, draw.holder)
        return one, two, kind

    def opposite(self, draw: _Draw, one: str) -> tuple[str, str, str] | None:
        if not draw.frame.denied:
            return None
        denial = self.random.choice(draw.frame.denied[draw.right])
        return one, self.fill(denial, draw.right, draw.value, draw.holder), "O"

    def narrower(self, draw: _Draw, one: str) -> tuple[str, str, str] | None:
        if not draw.frame.narrowed:
            return None
        narrow = self.random.choice(draw.frame.narrowed[draw.right])
        return one, self.fill(narrow, draw.right, draw.value, draw.holder), "M"

    def far(self, draw: _Draw, one: str) -> tuple[str, str, str]:
        pick = self.random.choice
        apart = pick([each for each in self.frames if each.name != draw.frame.name])
        holder = pick(apart.holders) if apart.holders else None
        return one, self.fill(pick(apart.said[draw.right]), draw.right, pick(apart.values), holder), "U"

    def pairs(self, lang: str, each: int) -> list[Pair]:
        found: dict[tuple[str, str], Pair] = {}
        # C stands in V's draw: which of the two it is depends on the frame.
        for kind, share in (("P", 1.3), ("V", 1.4), ("O", 0.9), ("M", 0.8), ("U", 0.6)):
            made = 0
            while made < each * share:
                pair = self.make(lang, kind)
                if pair is None:
                    made += 0.02
                    continue
                if (pair.one, pair.other) not in found:
                    found[pair.one, pair.other] = pair
                made += 1
        return list(found.values())


def hand() -> list[Pair]:
    found = []
    for line in (HERE / "hand.txt").read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            lang, kind, one, other = (part.strip() for part in line.split("|"))
            found.append(Pair(one, other, kind, lang, "hand"))
    return found
