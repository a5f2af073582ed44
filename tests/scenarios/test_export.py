"""Everything goes out in files and comes back without loss; a changed archive is refused [P3]."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zipfile
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from dualgate import Candidate, Memory, Settings, SyncMemory
from dualgate.domain.freezing import FreezePolicy
from dualgate.domain.policy import GatePolicy
from dualgate.errors import InvalidInputError
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
USER = "ann"
SHORT = Candidate("preference", "The user prefers short answers", confidence=0.95,
                  attribute="reply_length", value="short",
                  quote="short answers please")  # fmt: skip
LONG = Candidate("preference", "The user prefers detailed answers", confidence=0.8,
                 attribute="reply_length", value="detailed",
                 quote="detail, please")  # fmt: skip
CAT = Candidate("fact", "用户的猫叫霜月花", confidence=0.95, quote="我的猫叫霜月花",
                entities=("霜月花",), event_at=START)  # fmt: skip
SCRIPT = {"short answers please": [SHORT], "detail, please": [LONG], "我的猫叫霜月花": [CAT]}


def opened(url, clock=None, **settings):
    return Memory.open(
        url, settings=Settings(**{"flush_seconds": 0, **settings}), embedder=HashEmbedder(),
        clock=clock or ManualClock(START), extractor=ScriptedExtractor(SCRIPT),
    )  # fmt: skip


async def live(memory, clock, user=USER):
    """Let a user have items of many kinds: frozen, challenged, corrected, forgotten, used."""
    said = ["short answers please"] * 3 + ["detail, please", "我的猫叫霜月花"]
    for number, text in enumerate(said):
        clock.advance(days=1)
        message = {"role": "user", "content": text, "id": f"m{number}"}
        reply = {"role": "assistant", "content": f"as you like, {number}", "id": f"r{number}"}
        await memory.observe(user, f"s{number}", [message, reply], wait=True)
    cat = next(i for i in (await memory.items(user)).items if "猫" in i.content)
    await memory.correct(user, cat.id, "用户的猫叫霜月")
    dog = Candidate("fact", "The user had a dog", confidence=0.9)
    receipt = await memory.propose(user, "s9", [dog], wait=True)
    await memory.forget(user, receipt.decisions[0].item_id)
    await memory.context(user, "s10", "answers")
    await memory.recall(user, "short answers")
    await (await memory.working(user, "s10", "t")).set("tried", "once")
    await memory.drain()


async def dossier(memory, user=USER):
    return await memory._parts.store.dossier(user)  # noqa: SLF001  # all that is kept


@pytest_asyncio.fixture(params=["memory://", "sqlite"])
async def memory(request, tmp_path):
    clock = ManualClock(START)
    url = "memory://" if request.param == "memory://" else f"sqlite:///{tmp_path}/from.db"
    async with opened(url, clock) as found:
        await live(found, clock)
        found.test_clock = clock
        yield found


@pytest.mark.parametrize("name", ["archive", "archive.zip"])
async def test_a_round_trip_into_an_empty_store_loses_nothing(memory, tmp_path, name):
    before = await dossier(memory)
    told = await memory.export(USER, tmp_path / name)
    async with opened(f"sqlite:///{tmp_path}/to.db", memory.test_clock) as other:
        report = await other.import_(USER, tmp_path / name)
        after = await dossier(other)
        found = await other.recall(USER, "short answers", transcripts=True)
        word = await other.recall(USER, "霜月")
        statuses = {i.status for i in before.items}

    assert after == before
    assert {"frozen", "superseded", "forgotten"} <= statuses
    assert before.pendings
    assert before.uses
    assert before.notes
    assert report.added == {name: count for name, count in told.counts.items() if count}
    assert "The user prefers short answers" in [hit.item.content for hit in found.hits]
    assert word.hits


async def test_a_round_trip_through_an_erased_user_loses_nothing(memory, tmp_path):
    before = await dossier(memory)
    await memory.export(USER, tmp_path / "archive")
    await memory.erase_user(USER)
    gone = (await memory.items(USER)).items

    await memory.import_(USER, tmp_path / "archive")

    after = await dossier(memory)
    assert gone == ()
    assert replace(after, tombstones=(), tombstone_key="") == before


async def test_importing_twice_changes_nothing(memory, tmp_path):
    before = await dossier(memory)
    await memory.export(USER, tmp_path / "archive")

    first = await memory.import_(USER, tmp_path / "archive")

    assert first.added == {}
    assert first.known["items"] == len(before.items)
    assert await dossier(memory) == before


async def test_what_was_learnt_since_stays_and_what_was_lost_comes_back(memory, tmp_path):
    await memory.export(USER, tmp_path / "archive")
    new = Candidate("fact", "The user plays chess", confidence=0.9)
    await memory.propose(USER, "later", [new], wait=True)

    await memory.import_(USER, tmp_path / "archive")

    assert "The user plays chess" in [i.content for i in (await memory.items(USER)).items]


async def test_an_account_may_move_to_another_user(memory, tmp_path):
    await memory.export(USER, tmp_path / "archive")

    await memory.import_("bob", tmp_path / "archive")

    mine, theirs = await dossier(memory), await dossier(memory, "bob")
    assert [i.content for i in theirs.items] == [i.content for i in mine.items]
    assert {i.user_id for i in theirs.items} == {"bob"}
    assert {k.turn.user_id for k in theirs.turns} == {"bob"}


async def test_an_item_erased_by_itself_stays_erased(memory, tmp_path):
    await memory.export(USER, tmp_path / "archive")
    cat = next(i for i in (await memory.items(USER)).items if "霜月" in i.content)
    await memory.erase(USER, cat.id)

    report = await memory.import_(USER, tmp_path / "archive")

    assert report.erased == 2  # with its earlier wording
    assert "霜月" not in str(await dossier(memory))


async def test_the_bounds_hold_after_an_import_and_nothing_freezes_by_it(memory, tmp_path):
    await memory.export(USER, tmp_path / "archive")
    small = GatePolicy(freeze=FreezePolicy(capacity=0))
    async with opened("memory://", memory.test_clock, gates=small) as other:
        await other.import_(USER, tmp_path / "archive")
        frozen = (await other.items(USER, status="frozen")).items
        hot = (await other.items(USER, status="confirmed")).items

    assert frozen == ()
    assert "The user prefers short answers" in [i.content for i in hot]


async def test_queued_turns_go_along_and_are_read_where_they_arrive(tmp_path):
    async with opened(f"sqlite:///{tmp_path}/a.db", run_worker=False) as memory:
        said = {"role": "user", "content": "short answers please", "id": "m"}
        await memory.observe(USER, "s", [said])
        await memory.export(USER, tmp_path / "archive")
    async with opened("memory://") as other:
        await other.import_(USER, tmp_path / "archive")
        await other.drain()
        kept = [i.content for i in (await other.items(USER)).items]

    assert kept == ["The user prefers short answers"]


async def test_an_archive_is_lines_of_json_a_page_and_a_manifest_for_this_user_only(
    memory, tmp_path
):
    await memory.export(USER, tmp_path / "archive")
    folder = tmp_path / "archive"

    manifest = json.loads((folder / "manifest.json").read_text())
    page = (folder / "memory.md").read_text()
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    assert {row["user_id"] for row in rows} == {USER}
    for name, told in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == told["sha256"]
    assert "The user prefers short answers" in page
    assert "“short answers please”" in page
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {0o600}


async def test_text_cannot_break_out_of_its_line_in_the_page(tmp_path):
    async with opened("memory://") as memory:
        evil = Candidate("fact", "x\n# Heading <script>a</script> [l](http://e)", confidence=0.9)
        await memory.propose(USER, "s", [evil], wait=True)
        await memory.export(USER, tmp_path / "archive")

    page = (tmp_path / "archive" / "memory.md").read_text()
    assert "\n# Heading" not in page
    assert "<script>" not in page
    assert "[l](http" not in page


def rewritten(folder, name, change):
    path = folder / name
    path.write_bytes(change(path.read_bytes()))


def resealed(folder):
    """Make new checksums, as somebody would who edits an archive on purpose."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest.pop("sha256")
    for name, told in manifest["files"].items():
        data = (folder / name).read_bytes()
        told.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    plain = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    manifest["sha256"] = hashlib.sha256(plain.encode()).hexdigest()
    sealed = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    (folder / "manifest.json").write_text(sealed)


TAMPERED = {
    "a changed line": lambda f: rewritten(
        f, "items.jsonl", lambda b: b.replace(b"short answers", b"rude answers")
    ),
    "a cut file": lambda f: rewritten(f, "turns.jsonl", lambda b: b[: len(b) // 2]),
    "a changed page": lambda f: rewritten(f, "memory.md", lambda b: b + b"x"),
    "a missing file": lambda f: (f / "moves.jsonl").unlink(),
    "a further file": lambda f: (f / "more.jsonl").write_text("{}"),
    "a changed manifest": lambda f: rewritten(
        f, "manifest.json", lambda b: b.replace(b'"ann"', b'"bob"')
    ),
    "no manifest": lambda f: (f / "manifest.json").unlink(),
}
FORGED = {
    "a status that no move leads to": (
        "items.jsonl", lambda b: b.replace(b'"status":"superseded"', b'"status":"frozen"')
    ),
    "an illegal move": (
        "moves.jsonl", lambda b: b.replace(b'"cause":"admitted"', b'"cause":"froze"')
    ),
    "another user's item": (
        "items.jsonl", lambda b: b.replace(b'"user_id":"ann"', b'"user_id":"eve"', 1)
    ),
    "a confidence of 7": (
        "decisions.jsonl", lambda b: b.replace(b'"confidence":0.95', b'"confidence":7.0', 1)
    ),
    "a field too many": ("signals.jsonl", lambda b: b.replace(b'{"id"', b'{"x":1,"id"', 1)),
    "a number for a text": (
        "turns.jsonl", lambda b: b.replace(b'"content":"short answers please"', b'"content":1')
    ),
    "no JSON": ("notes.jsonl", lambda b: b"nonsense\n" * b.count(b"\n")),
}  # fmt: skip


@pytest.mark.parametrize("how", TAMPERED)
async def test_a_changed_or_damaged_archive_is_refused_whole(memory, tmp_path, how):
    await memory.export(USER, tmp_path / "archive")
    TAMPERED[how](tmp_path / "archive")
    async with opened("memory://") as other:
        with pytest.raises(InvalidInputError, match="path"):
            await other.import_(USER, tmp_path / "archive")
        users = (await other.stats()).users

    assert users == 0


@pytest.mark.parametrize("how", FORGED)
async def test_a_forged_archive_with_new_checksums_is_refused_for_what_it_says(
    memory, tmp_path, how
):
    await memory.export(USER, tmp_path / "archive")
    name, change = FORGED[how]
    before = (tmp_path / "archive" / name).read_bytes()
    rewritten(tmp_path / "archive", name, change)
    resealed(tmp_path / "archive")
    async with opened("memory://") as other:
        with pytest.raises(InvalidInputError, match="path"):
            await other.import_(USER, tmp_path / "archive")
        users = (await other.stats()).users

    assert (tmp_path / "archive" / name).read_bytes() != before
    assert users == 0


async def test_a_resealed_archive_that_says_nothing_wrong_is_read(memory, tmp_path):
    await memory.export(USER, tmp_path / "archive")
    resealed(tmp_path / "archive")
    async with opened("memory://") as other:
        assert (await other.import_(USER, tmp_path / "archive")).added["items"]


async def test_a_secret_in_a_handmade_archive_does_not_get_in(memory, tmp_path):
    await memory.export(USER, tmp_path / "archive")
    said = b"my password is Tr0ub4dor&3xyz"
    rewritten(tmp_path / "archive", "turns.jsonl", lambda b: b.replace(b"as you like, 0", said))
    resealed(tmp_path / "archive")
    async with opened("memory://") as other:
        await other.import_(USER, tmp_path / "archive")
        assert "Tr0ub4dor" not in str(await dossier(other))


async def test_a_path_that_is_taken_or_holds_no_archive_is_an_error(memory, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    (tmp_path / "file.zip").write_text("no zip")

    for path in ("taken", "file.zip"):
        with pytest.raises(InvalidInputError, match="path"):
            await memory.export(USER, tmp_path / path)
    for path in ("nowhere", "taken", "file.zip"):
        with pytest.raises(InvalidInputError, match="path"):
            await memory.import_(USER, tmp_path / path)
    assert (tmp_path / "taken" / "file").read_text() == "mine"
    assert sorted(os.listdir(tmp_path / "taken")) == ["file"]  # noqa: PTH208


@pytest.mark.parametrize(
    "path", ["", " ", "a\0b", "\ud800", "~nobody-here/x", "x" * 300, None, 5], ids=ascii
)
async def test_what_can_be_no_path_is_an_error_that_names_it(memory, tmp_path, monkeypatch, path):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InvalidInputError, match="path"):
        await memory.export(USER, path)
    with pytest.raises(InvalidInputError, match="path"):
        await memory.import_(USER, path)
    assert not list((tmp_path / "here").iterdir())


async def test_a_zip_with_a_path_that_climbs_out_writes_nothing(memory, tmp_path):
    await memory.export(USER, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as packed:
        packed.writestr("../../evil.txt", "x")

    with pytest.raises(InvalidInputError, match="path"):
        await memory.import_(USER, tmp_path / "a.zip")

    assert not list(tmp_path.parent.rglob("evil.txt"))


async def test_a_stranger_exports_an_empty_archive_that_reads_back(memory, tmp_path):
    await memory.export("nobody", tmp_path / "archive")
    report = await memory.import_("nobody", tmp_path / "archive")

    assert report.added == {}


def test_callers_without_a_loop_have_the_same_verbs(tmp_path):
    with SyncMemory.open(f"sqlite:///{tmp_path}/m.db", embedder=HashEmbedder()) as memory:
        receipt = memory.propose(USER, "s", [SHORT], wait=True)
        memory.export(USER, tmp_path / "archive")
        erased = memory.erase(USER, receipt.decisions[0].item_id)
        memory.erase_user(USER)
        back = memory.import_(USER, tmp_path / "archive")

        assert erased.removed["items"] == 1
        assert back.erased == 1
        assert memory.scrub()
