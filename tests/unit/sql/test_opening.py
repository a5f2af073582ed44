"""What opening a file does, and what it says when the file cannot be used [T1, T4]."""

# ruff: noqa: SLF001  # pragmas and statements have no public face

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import stat
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from dualgate.adapters.sql import migrations, open_sqlite
from dualgate.adapters.sql.tables import metadata
from dualgate.errors import InvalidInputError, NewerSchemaError, StoreError
from dualgate.testing.backend import write
from dualgate.testing.builders import a_job, a_plan, an_item

FULL_TEXT = ("memory_words", "turn_words")


async def made(path):
    backend = await open_sqlite(path)
    await write(backend, a_plan(an_item()))
    await backend.close()
    return path


async def _read_all(path):
    backend = await open_sqlite(path)
    try:
        await backend.store.stats()
    finally:
        await backend.close()


async def test_what_was_written_is_there_after_opening_again(tmp_path):
    path = await made(tmp_path / "new" / "directory" / "memory.db")
    backend = await open_sqlite(path)

    assert set((await backend.store.snapshot("ann")).hot) == {"item-1"}
    await backend.close()


async def test_a_new_file_is_private_and_survives_a_power_cut(tmp_path):
    path = await made(tmp_path / "memory.db")
    backend = await open_sqlite(path)

    async def pragma(name):
        return await backend.store._database._writer.run(
            lambda raw: raw.execute(f"PRAGMA {name}").fetchone()[0]
        )

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert await pragma("journal_mode") == "wal"
    assert await pragma("synchronous") == 2  # FULL
    assert await pragma("secure_delete") == 1
    assert await pragma("page_size") == 8192
    await backend.close()


async def test_many_may_open_a_new_file_at_once(tmp_path):
    backends = await asyncio.gather(*(open_sqlite(tmp_path / "memory.db") for _ in range(4)))
    for number, backend in enumerate(backends):
        await write(backend, a_plan(an_item(id=f"item-{number}")))

    assert len((await backends[0].store.snapshot("ann")).hot) == 4
    for backend in backends:
        await backend.close()


async def test_a_database_of_a_newer_dualgate_is_refused_with_both_versions(tmp_path):
    path = await made(tmp_path / "memory.db")
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("update alembic_version set version_num = '9999'")
        raw.commit()
    with pytest.raises(NewerSchemaError) as refused:
        await open_sqlite(path)

    assert (refused.value.found, refused.value.known) == ("9999", migrations.HEAD)


async def test_a_file_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "theirs.db"
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("create table recipes(name)")
    with pytest.raises(StoreError, match="another program"):
        await open_sqlite(path)

    with contextlib.closing(sqlite3.connect(path)) as raw:
        names = raw.execute("select name from sqlite_master").fetchall()
    assert names == [("recipes",)]


async def test_a_file_that_is_no_database_is_refused_with_advice(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ann, " * 2_000)
    with pytest.raises(StoreError, match="not a SQLite database") as refused:
        await open_sqlite(path)

    assert "another path" in refused.value.advice
    assert path.read_text().startswith("Dear Ann")


async def test_a_truncated_file_is_refused_with_advice(tmp_path):
    path = await made(tmp_path / "memory.db")
    with path.open("r+b") as file:
        file.truncate(20_000)
    with pytest.raises(StoreError, match="damaged") as refused:
        await _read_all(path)

    assert "backup" in refused.value.advice


async def test_a_directory_that_cannot_be_made_is_refused_with_advice(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be opened") as refused:
        await open_sqlite(tmp_path / "file" / "memory.db")

    assert "allowed" in refused.value.advice


async def test_a_directory_nobody_may_write_to_is_refused_with_advice():
    # Not even root may make a file there, and where there is no such directory it is no better.
    with pytest.raises(StoreError, match="cannot be opened"):
        await open_sqlite(Path("/proc/memory.db"))


@pytest.mark.parametrize("path", ["", ":memory:"])
async def test_a_path_has_to_name_a_file(path):
    with pytest.raises(InvalidInputError, match="path"):
        await open_sqlite(path)


async def test_a_closed_store_says_so_and_may_be_closed_twice(tmp_path):
    backend = await open_sqlite(tmp_path / "memory.db")
    await backend.close()
    await backend.close()
    for use in (backend.store.snapshot("ann"), backend.queue.enqueue(a_job())):
        with pytest.raises(StoreError, match="closed"):
            await use


async def test_the_migrations_make_just_the_tables_of_the_code(tmp_path):
    path = await made(tmp_path / "memory.db")
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={"include_name": lambda name, *_: not str(name).startswith(FULL_TEXT)},
        )
        differences = compare_metadata(context, metadata)
    engine.dispose()

    # Alembic reads no expression of a partial index; those are compared by name.
    assert differences == []


def test_the_known_revisions_are_those_that_are_shipped():
    config = Config()
    config.set_main_option("path_separator", "os")
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    scripts = ScriptDirectory.from_config(config)
    shipped = [script.revision for script in scripts.walk_revisions()]

    assert tuple(reversed(shipped)) == migrations.REVISIONS
    assert scripts.get_current_head() == migrations.HEAD
