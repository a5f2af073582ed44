"""A full user, and a file full of other users: what the speed bench runs on.

Rule: nothing here is measured. Sentences come from templates in zh and en, each in two wordings,
their vectors from the real embedder, and rows go in by bulk insert into the real schema.
"""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.sql import open_sqlite, reading, tables
from dualgate.adapters.sql.dialects import SqliteSql, inserting
from dualgate.adapters.sql.engine import connect
from dualgate.adapters.sql.rows import item_row, move_row, signal_row
from dualgate.adapters.sql.text import indexed_words, row_number, searched_text
from dualgate.adapters.sql.vectors import quantised
from dualgate.domain.items import Candidate, MemoryItem
from dualgate.domain.score import ScorePolicy, importance_of, live_score
from dualgate.domain.status import Status
from dualgate.domain.types import ItemType
from dualgate.domain.view import OwnTime
from dualgate.pipeline.ports import Vector, Vectors
from dualgate.testing.builders import a_signal, moves_to

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
MAIN = "user-02500-main"  # in the middle of the others, by key
HOT, FROZEN, ARCHIVE = 200, 30, 5_000
ITEMS_EACH = 200  # of every other user

_PROJECTS = (
    "Aurora Basalt Cinder Delta Ember Falcon Garnet Harbor Indigo Juniper Kestrel Lantern Mosaic "
    "Nimbus Orchid Pelican Quartz Raven Saffron Tundra Umber Velvet Willow Xenon Yarrow Zephyr "
    "Atlas Birch Cobalt Dune Elm Fjord Glacier Hazel Ivory Jade Krill Lotus Maple Nectar Opal "
    "Pine Quill Reef Sable Topaz Ursa Vesper Walnut Yonder"
).split()
_TOOLS = (
    "PostgreSQL MySQL SQLite Redis Kafka RabbitMQ Nginx Caddy Django FastAPI Rust Go TypeScript "
    "Kotlin Terraform Ansible Grafana Sentry Figma Notion"
).split()
_PEOPLE = "Anna Ben Chen Dora Emil Fang Gita Hugo Ines Jun Kira Luis Mei Nora Omar Pia".split()
_CITIES = "Berlin Lisbon Shanghai Oslo Kyoto Toronto Nairobi Lima Porto Chengdu".split()
_PARTS = (
    ("database", "数据库"), ("cache", "缓存"), ("queue", "消息队列"), ("web server", "网关"),
    ("monitoring", "监控"), ("design tool", "设计工具"), ("backend language", "后端语言"),
    ("deployment", "部署"), ("search", "搜索"), ("billing", "计费"),
)  # fmt: skip
_AREAS = (
    ("release", "发布"), ("security", "安全"), ("budget", "预算"), ("hiring", "招聘"),
    ("documentation", "文档"), ("testing", "测试"), ("support", "客服"), ("translation", "翻译"),
)  # fmt: skip
_FOODS = (
    ("green tea", "绿茶"), ("black coffee", "黑咖啡"), ("noodles", "面条"), ("salad", "沙拉"),
    ("dumplings", "饺子"), ("soup", "汤"), ("rye bread", "黑麦面包"), ("tofu", "豆腐"),
    ("curry", "咖喱"), ("apples", "苹果"),
)  # fmt: skip
_TIMES = (
    ("in the morning", "早上"), ("at lunch", "午饭时"), ("after sport", "运动后"),
    ("on trains", "坐火车时"), ("late at night", "深夜"), ("at weekends", "周末"),
)  # fmt: skip
_DOCS = (
    ("draft", "草稿"), ("contract", "合同"), ("slides", "幻灯片"), ("minutes", "会议纪要"),
    ("offer", "报价"), ("roadmap", "路线图"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A candidate in one of its two wordings, and the sentence that gives it another value."""

    candidate: Candidate
    again: str
    other: Candidate | None = None


def statements() -> list[Statement]:
    """Return all statements the templates give, in a fixed shuffled order."""
    found = [*_stacks(), *_owners(), *_meetings(), *_limits(), *_promises(), *_tastes()]
    random.Random(7).shuffle(found)
    return found


def _stacks() -> Iterator[Statement]:
    for p, project in enumerate(_PROJECTS):
        for a, (part, teil) in enumerate(_PARTS):
            tool, other = (_TOOLS[(p * 3 + a * 7 + k) % len(_TOOLS)] for k in (0, 11))
            en = (p + a) % 2
            said = [f"The {project} project uses {t} for {part}" if en
                    else f"{project} 项目的{teil}用 {t}" for t in (tool, other)]  # fmt: skip
            again = (f"It is {tool} that does {part} in {project}" if en
                     else f"在 {project} 里，{teil}是 {tool} 负责的")  # fmt: skip
            slot = f"{part} of {project}"
            yield _valued(ItemType.PROJECT, said, slot, (tool, other), again)


def _owners() -> Iterator[Statement]:
    for p, project in enumerate(_PROJECTS):
        for a, (area, bereich) in enumerate(_AREAS):
            one, other = (_PEOPLE[(p * 5 + a * 3 + k) % len(_PEOPLE)] for k in (0, 5))
            en = (p + a) % 2
            said = [f"{x} is in charge of {area} for {project}" if en
                    else f"{project} 的{bereich}由 {x} 负责" for x in (one, other)]  # fmt: skip
            again = (f"For {project}, {area} is the job of {one}" if en
                     else f"{one} 管 {project} 的{bereich}")  # fmt: skip
            slot = f"owner of {area} in {project}"
            yield _valued(ItemType.DECISION, said, slot, (one, other), again)


def _limits() -> Iterator[Statement]:
    for p, project in enumerate(_PROJECTS):
        for a, (doc, papier) in enumerate(_DOCS):
            pages, other = 3 + (p + a) % 9, 14 + (p + a) % 9
            en = (p + a) % 2
            said = [f"The {doc} for {project} must stay under {n} pages" if en
                    else f"{project} 的{papier}不能超过 {n} 页"
                    for n in (pages, other)]  # fmt: skip
            again = (f"No {doc} of more than {pages} pages for {project}" if en
                     else f"{project} 的{papier}最多 {pages} 页")  # fmt: skip
            slot = f"length of {doc} for {project}"
            yield _valued(ItemType.CONSTRAINT, said, slot, (str(pages), str(other)), again)


def _meetings() -> Iterator[Statement]:
    for p, project in enumerate(_PROJECTS):
        for c, city in enumerate(_CITIES):
            for k in range(3):
                who = _PEOPLE[(p + c * 2 + k * 5) % len(_PEOPLE)]
                if (p + c + k) % 2:
                    said = f"The user met {who} in {city} about {project}"
                    again = f"In {city} the user and {who} talked about {project}"
                else:
                    said = f"用户和 {who} 在 {city} 谈过 {project}"
                    again = f"关于 {project}，用户在 {city} 见了 {who}"
                yield _plain(ItemType.EVENT, said, again, (project, city))


def _promises() -> Iterator[Statement]:
    for p, project in enumerate(_PROJECTS):
        for d, (doc, papier) in enumerate(_DOCS):
            for k in range(10):
                who = _PEOPLE[(p + d * 3 + k * 3) % len(_PEOPLE)]
                if (p + d + k) % 2:
                    said = f"The user will send {who} the {doc} for {project}"
                    again = f"{who} gets the {doc} for {project} from the user"
                else:
                    said = f"用户要把 {project} 的{papier}发给 {who}"
                    again = f"{who} 在等用户发 {project} 的{papier}"
                yield _plain(ItemType.COMMITMENT, said, again, (project, who))


def _tastes() -> Iterator[Statement]:
    for f, (food, essen) in enumerate(_FOODS):
        for t, (when, wann) in enumerate(_TIMES):
            if (f + t) % 2:
                said, again = f"The user likes {food} {when}", f"{when}, {food} is what suits them"
            else:
                said, again = f"用户{wann}喜欢{essen}", f"{wann}用户爱吃爱喝{essen}"
            yield _plain(ItemType.PREFERENCE, said, again, ())


def _valued(
    kind: ItemType, said: Sequence[str], slot: str, values: Sequence[str], again: str
) -> Statement:
    name = re.split(r" (?:of|in|for) ", slot)[-1]
    one, other = (
        Candidate(kind, text, attribute=slot, value=value, confidence=0.9, entities=(name,),
                  quote=text)
        for text, value in zip(said, values, strict=True)
    )  # fmt: skip
    return Statement(one, again, other)


def _plain(kind: ItemType, said: str, again: str, entities: tuple[str, ...]) -> Statement:
    return Statement(Candidate(kind, said, confidence=0.9, entities=entities, quote=said), again)


def to_say(pools: Sequence[Statement], count: int) -> list[Candidate]:
    """Return candidates: restated, new, of another value, against frozen items, in turns."""
    hot = pools[FROZEN : FROZEN + HOT]
    frozen = [s for s in pools if s.candidate.item_type in ("constraint", "preference")][:FROZEN]
    archived = pools[2 * HOT : 2 * HOT + count]
    new = [s for s in pools[HOT + FROZEN + ARCHIVE :] if s.other]
    valued = [s for s in pools[FROZEN : HOT + ARCHIVE] if s.other]
    challenged = [s for s in frozen if s.other]
    said: list[Candidate] = []
    for n in range(count):
        kind, of = n % 6, n // 6
        if kind == 0:
            said.append(_again(hot[of % HOT]))
        elif kind == 1:
            said.append(_again(archived[of]))
        elif kind in (2, 3):
            said.append(new[n % len(new)].candidate)
        elif kind == 4:
            said.append(_other(valued[of * 7 % len(valued)]))
        else:
            said.append(_again(frozen[of % FROZEN]) if of % 2 else
                        _other(challenged[of % len(challenged)]))  # fmt: skip
    return said


def _again(said: Statement) -> Candidate:
    return replace(said.candidate, content=said.again, quote=said.again)


def _other(said: Statement) -> Candidate:
    if said.other is None:
        raise ValueError(said.candidate.content)
    return said.other


class Dictionary:
    """An embedder that only looks up: the bench measures everything but the model."""

    def __init__(self, model: str, vectors: dict[str, Vector]) -> None:
        self.model = model
        self.dim = len(next(iter(vectors.values())))
        self._vectors = vectors

    def __getitem__(self, text: str) -> Vector:
        return self._vectors[text]

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the known vectors."""
        return np.stack([self._vectors[text] for text in texts])


def dictionary(texts: Sequence[str], folder: Path) -> Dictionary:
    """Return the vectors of these texts by the real embedder, kept in `folder` for later."""
    embedder = UseEmbedder(cache_size=0)
    wanted = list(dict.fromkeys(texts))
    digest = hashlib.blake2b("\n".join([embedder.model, *wanted]).encode(), digest_size=8)
    path = folder / f"vectors-{digest.hexdigest()}.npy"
    if path.exists():
        matrix = np.load(path)
    else:
        parts = [embedder.embed_now(wanted[i : i + 256]) for i in range(0, len(wanted), 256)]
        matrix = np.concatenate(parts)
        np.save(path, matrix)
    return Dictionary(embedder.model, dict(zip(wanted, matrix, strict=True)))


def full_pools(known: Sequence[Statement]) -> list[MemoryItem]:
    """Return a full user's items: 200 hot, 30 frozen, 5,000 archived."""
    traits = [s for s in known if s.candidate.item_type in
              (ItemType.CONSTRAINT, ItemType.PREFERENCE)]  # fmt: skip
    frozen = traits[:FROZEN]
    taken = {id(s) for s in frozen}
    rest = [s for s in known if id(s) not in taken]
    chance = random.Random(11)
    items = [_item(n, s, Status.FROZEN, chance) for n, s in enumerate(frozen)]
    for n, said in enumerate(rest[: HOT + ARCHIVE], start=FROZEN):
        hot = Status.CONFIRMED if chance.random() < 0.5 else Status.CANDIDATE
        items.append(_item(n, said, hot if n < HOT + FROZEN else Status.ARCHIVED, chance))
    return items


def _item(number: int, said: Statement, status: Status, chance: random.Random) -> MemoryItem:
    c = said.candidate
    days = chance.uniform(1, 45) if status is not Status.ARCHIVED else chance.uniform(60, 400)
    seen = NOW - timedelta(days=days)
    confirmed = status in (Status.CONFIRMED, Status.FROZEN)
    count = 4.0 if status is Status.FROZEN else 2.0 if confirmed else 1.0
    item = MemoryItem(
        id=item_id(MAIN, number), user_id=MAIN, item_type=c.item_type, content=c.content,
        attribute=c.attribute, value=c.value, entities=c.entities, status=status,
        importance=importance_of(c, ScorePolicy()), confidence=0.9, calm_confidence=0.9,
        support=1 - 0.1**count, confirm_count=count, spaced_count=int(count),
        was_confirmed=confirmed or (status is Status.ARCHIVED and chance.random() < 0.3),
        created_at=seen - timedelta(days=3), updated_at=seen, last_seen_at=seen,
        frozen_at=seen if status is Status.FROZEN else None,
        access_count=chance.randrange(6), source_session_id=f"s-{number // 5}",
    )  # fmt: skip
    return replace(item, score=live_score(item, NOW, ScorePolicy()))


def item_id(user_id: str, number: int) -> str:
    """Return an id as long as the real ones."""
    digest = hashlib.blake2b(user_id.encode(), digest_size=6).hexdigest()
    return f"0197{number:04d}-0000-7000-8000-{digest}"


async def make_file(path: Path, items: Sequence[MemoryItem], vectors: Dictionary) -> None:
    """Write a new database with the full user in it."""
    await (await open_sqlite(path)).close()
    with _bulk(path) as raw:
        sql = SqliteSql(raw)
        own = OwnTime(days=300.0, active_at=NOW - timedelta(hours=12))
        user = reading.UserRow(MAIN, version=1, units=1, own_time=own, maintained_at=NOW)
        sql.upsert(tables.users, [user.as_row()])
        sql.many(inserting(tables.memory_items), [item_row(item) for item in items])
        sql.many(inserting(tables.memory_vectors),
                 [_vector_row(MAIN, i.id, vectors[i.content], vectors.model) for i in items],
                 )  # fmt: skip
        moves = [move for item in items for move in moves_to(item)]
        sql.many(inserting(tables.memory_moves),
                 [move_row(replace(m, user_id=MAIN), n) for n, m in enumerate(moves)])  # fmt: skip
        signals = [
            a_signal(i.id, id=f"{i.id}:{k}", user_id=MAIN, session_id=f"{i.source_session_id}.{k}",
                     at=i.created_at, quote=i.content)
            for i in items for k in range(int(i.confirm_count))
        ]  # fmt: skip
        sql.many(inserting(tables.memory_signals), [signal_row(s) for s in signals])
        sql.put_words(MAIN, {item.id: searched_text(item) for item in items})


def add_others(
    source: Path, path: Path, users: int, items: Sequence[MemoryItem], vectors: Dictionary
) -> None:
    """Copy `source` and add `users` users of 200 items each, with vectors and indexed words."""
    partial = path.with_suffix(".part")
    shutil.copy(source, partial)
    rows = [item_row(item) for item in items]
    words = [searched_text(item) for item in items]
    packed = [_vector_row("", "", vectors[item.content], vectors.model) for item in items]
    with _bulk(partial) as raw:
        sql = SqliteSql(raw)
        for start in range(0, users, 100):
            people = [f"user-{n:05d}" for n in range(start, min(users, start + 100))]
            _add_people(sql, people, rows, packed)
            _add_words(raw, people, words)
            print(f"\r{start + len(people):,} of {users:,} other users", end="", flush=True)
    print()
    partial.rename(path)


def _add_people(
    sql: SqliteSql, people: Sequence[str], rows: list[dict[str, Any]], packed: list[dict[str, Any]]
) -> None:
    sql.upsert(tables.users, [reading.UserRow(p, version=1, units=1).as_row() for p in people])
    named = [(p, k, item_id(p, k), _place(p, k, len(rows)))
             for p in people for k in range(ITEMS_EACH)]  # fmt: skip
    sql.many(inserting(tables.memory_items),
             [{**rows[at], "user_id": p, "id": i} for p, _, i, at in named])  # fmt: skip
    sql.many(inserting(tables.memory_vectors),
             [{**packed[at], "user_id": p, "item_id": i} for p, _, i, at in named])  # fmt: skip


def _add_words(raw: sqlite3.Connection, people: Sequence[str], words: Sequence[str]) -> None:
    entries = []
    for p in people:
        for k in range(ITEMS_EACH):
            name = item_id(p, k)
            text = indexed_words(p, words[_place(p, k, len(words))])
            entries.append((row_number(p, name), p, name, text))
    # FTS5 writes a segment whenever a row number goes down; in order, it writes one for many.
    entries.sort()
    raw.executemany(
        "INSERT INTO memory_words (rowid, user_id, item_id, words) VALUES (?,?,?,?)", entries
    )


def _place(user_id: str, number: int, size: int) -> int:
    # Somewhere else in the list for every user, frozen and hot ones included.
    return (int(user_id[5:]) * 131 + number * 17) % size


def _vector_row(user_id: str, name: str, vector: Vector, model: str) -> dict[str, Any]:
    scale, q = quantised(vector)
    return {"user_id": user_id, "item_id": name, "model": model, "dim": len(q), "scale": scale,
            "q": q}  # fmt: skip


class _bulk:  # noqa: N801 - a context manager
    """A connection that need not survive a power cut."""

    def __init__(self, path: Path) -> None:
        self._raw = connect(path, 10.0)
        self._raw.execute("PRAGMA synchronous=off")
        self._raw.execute("PRAGMA cache_size=-1000000")

    def __enter__(self) -> sqlite3.Connection:
        self._raw.execute("BEGIN IMMEDIATE")
        return self._raw

    def __exit__(self, kind: object, *_: object) -> None:
        self._raw.execute("COMMIT" if kind is None else "ROLLBACK")
        self._raw.execute("PRAGMA wal_checkpoint(truncate)")
        self._raw.close()
