"""A file of an older dualgate opens without loss [T4]."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import timedelta
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from dualgate.adapters.sql import migrations, open_sqlite, tables
from dualgate.adapters.sql.dialects import SqliteSql, inserting
from dualgate.adapters.sql.engine import connect
from dualgate.adapters.sql.rows import item_row, signal_row, turn_row
from dualgate.pipeline.ports import IndexedTurn
from dualgate.testing.backend import a_vector
from dualgate.testing.builders import MONDAY, a_signal, a_turn, an_item


def a_file_of_0001(path):
    """Make a database as the first release made it, with an item and two turns."""
    raw = connect(path, 5)
    config = Config()
    config.set_main_option("path_separator", "os")
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    sql = SqliteSql(raw)
    sql.many(inserting(tables.users), [
        {"user_id": "ann", "version": 3, "units": 3, "own_days": 1.0, "active_at": 1,
         "user_class": "default", "capture_paused": False, "recall_paused": False,
         "maintained_at": 1_000}
    ])  # fmt: skip
    sql.many(inserting(tables.memory_items), [item_row(an_item())])
    sql.many(inserting(tables.memory_signals), [signal_row(a_signal(message_id="turn-1"))])
    said = [a_turn(), a_turn("And no emoji.", id="turn-2", at=MONDAY + timedelta(minutes=1))]
    sql.many(inserting(tables.turns), [turn_row(turn, n) for n, turn in enumerate(said)])
    raw.close()
    return path


async def test_a_file_of_the_first_release_keeps_all_and_learns_to_find_its_turns(tmp_path):
    path = a_file_of_0001(tmp_path / "memory.db")
    backend = await open_sqlite(path)
    snapshot = await backend.store.snapshot("ann")
    resting = await backend.store.resting_on("ann", ["turn-1"])
    async with backend.store.begin("ann") as unit:
        missing = await unit.unindexed_turns("words", 9)
        entry = IndexedTurn(
            turn_id="turn-2", made_by="words", words=frozenset({"emoji"}), vector=a_vector(1)
        )
        await unit.index_turns([entry], MONDAY)
    found = await backend.store.turns_by_words("ann", ["emoji"], limit=1)
    await backend.close()

    assert snapshot.hot == {"item-1": an_item()}
    assert snapshot.maintained_at is None  # upkeep is due: it indexes what was said before
    assert [item.id for item in resting["turn-1"]] == ["item-1"]
    assert [p.turn.content for p in missing] == ["Short answers, please.", "And no emoji."]
    assert [turn_id for turn_id, _ in found.turns] == ["turn-2"]


async def test_an_upgraded_file_has_the_schema_of_a_new_one(tmp_path):
    old, new = a_file_of_0001(tmp_path / "old.db"), tmp_path / "new.db"
    for path in (old, new):
        await (await open_sqlite(path)).close()
    schemas = []
    for path in (old, new):
        with contextlib.closing(sqlite3.connect(path)) as raw:
            schemas.append(
                raw.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
            )

    assert schemas[0] == schemas[1]
