"""Every public method refuses what makes no sense, by name, and nothing is stored [P4]."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dualgate import Candidate, Memory, Message
from dualgate.errors import DualgateError, InvalidInputError, NotFoundError
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NAIVE = datetime(2026, 1, 5, 9)  # noqa: DTZ001
SAID = [Message("user", "I like tea")]
TEA = Candidate("preference", "The user likes tea", confidence=0.9)

# Every method that takes a user, with arguments that are right.
CALLS = {
    "observe": ("s1", SAID),
    "propose": ("s1", [TEA]),
    "context": ("s1",),
    "recall": ("tea",),
    "items": (),
    "item": ("item-1",),
    "history": ("item-1",),
    "why": (),
    "correct": ("item-1", "The user likes green tea"),
    "like": ("item-1",),
    "dislike": ("item-1",),
    "pin": ("item-1",),
    "unpin": ("item-1",),
    "forget": ("item-1",),
    "restore": ("item-1",),
    "pending": (),
    "settle": ("pending-1", True),
    "pause": (),
    "resume": (),
    "end_session": ("s1",),
    "working": ("s1", "task"),
    "set_user_class": ("default",),
}
# None means "all users" to these two, and to no other.
FOR_ALL = {"stats": (), "maintain": ()}
BLANK = ["", "  ", "\t", "\x00", "a\x00", 5, b"ann", ["ann"], {"id": "ann"}, True, "x" * 513,
         chr(0xDC00)]  # fmt: skip


@pytest.fixture
async def memory():
    async with Memory.open(
        "memory://", clock=ManualClock(START), embedder=HashEmbedder(),
        extractor=ScriptedExtractor({}),
    ) as opened:  # fmt: skip
        yield opened


async def nothing_is_stored(memory):
    await memory.drain(5)
    stats = await memory.stats()
    assert (stats.users, stats.turns, dict(stats.decisions)) == (0, 0, {})
    assert sum(stats.items.values()) == 0


async def refused(work, argument):
    with pytest.raises(InvalidInputError) as caught:
        await work
    assert caught.value.argument == argument
    assert caught.value.rule in str(caught.value)


@pytest.mark.parametrize("bad", [None, *BLANK], ids=repr)
@pytest.mark.parametrize("method", CALLS)
async def test_a_user_who_is_nobody_is_refused(memory, method, bad):
    await refused(getattr(memory, method)(bad, *CALLS[method]), "user_id")
    await nothing_is_stored(memory)


@pytest.mark.parametrize("bad", BLANK, ids=repr)
@pytest.mark.parametrize("method", FOR_ALL)
async def test_only_none_means_everybody(memory, method, bad):
    await refused(getattr(memory, method)(bad), "user_id")
    await nothing_is_stored(memory)


@pytest.mark.parametrize("wildcard", ["*", "%", "_", "all", "ann' or '1'='1", "__all__"])
async def test_no_name_is_a_wildcard(memory, wildcard):
    """[P4]"""
    await memory.propose("ann", "s1", [TEA], wait=True)

    assert (await memory.items(wildcard)).items == ()
    assert (await memory.recall(wildcard, "The user likes tea")).hits == ()
    assert await memory.why(wildcard) == []
    with pytest.raises(NotFoundError):
        await memory.forget(wildcard, (await memory.items("ann")).items[0].id)


async def test_a_users_item_is_unknown_to_another(memory):
    receipt = await memory.propose("ann", "s1", [TEA], wait=True)
    item_id = receipt.decisions[0].item_id

    for method, more in CALLS.items():
        if more[:1] == ("item-1",):
            with pytest.raises(NotFoundError):
                await getattr(memory, method)("bob", item_id, *more[1:])


SESSION = [None, "", " ", 5, "\x00"]


@pytest.mark.parametrize("bad", SESSION, ids=repr)
@pytest.mark.parametrize("method", ["observe", "propose", "context", "end_session", "working"])
async def test_a_session_needs_a_name(memory, method, bad):
    await refused(getattr(memory, method)("ann", bad, *CALLS[method][1:]), "session_id")
    await nothing_is_stored(memory)


@pytest.mark.parametrize("bad", ["", " ", 5, None], ids=repr)
@pytest.mark.parametrize("method", [m for m, more in CALLS.items() if more[:1] == ("item-1",)])
async def test_an_item_needs_a_name(memory, method, bad):
    await refused(getattr(memory, method)("ann", bad, *CALLS[method][1:]), "item_id")


@pytest.mark.parametrize(
    ("method", "given", "named", "argument"),
    [
        ("observe", ("s1", "I like tea"), {}, "messages"),
        ("observe", ("s1", SAID[0]), {}, "messages"),
        ("observe", ("s1", None), {}, "messages"),
        ("observe", ("s1", [5]), {}, "messages[0]"),
        ("observe", ("s1", [*SAID, {"role": "user"}]), {}, "messages[1]"),
        ("observe", ("s1", [{"role": "boss", "content": "x"}]), {}, "role"),
        ("observe", ("s1", [{"role": "user", "content": "x", "at": NAIVE}]), {}, "at"),
        ("observe", ("s1", SAID), {"task_id": ""}, "task_id"),
        ("observe", ("s1", SAID), {"parent_session_id": " "}, "parent_session_id"),
        ("propose", ("s1", TEA), {}, "candidates"),
        ("propose", ("s1", "tea"), {}, "candidates"),
        ("propose", ("s1", [TEA, "tea"]), {}, "candidates[1]"),
        ("context", ("s1", 5), {}, "query"),
        ("context", ("s1",), {"token_budget": -1}, "token_budget"),
        ("context", ("s1",), {"token_budget": "much"}, "token_budget"),
        ("context", ("s1",), {"window_tokens": 0.5}, "window_tokens"),
        ("context", ("s1",), {"lang": "xx"}, "lang"),
        ("recall", (None,), {}, "query"),
        ("recall", ("tea",), {"limit": 0}, "limit"),
        ("recall", ("tea",), {"limit": "10"}, "limit"),
        ("recall", ("tea",), {"as_of": NAIVE}, "as_of"),
        ("recall", ("tea",), {"as_of": "yesterday"}, "as_of"),
        ("recall", ("tea",), {"item_types": ["wish"]}, "item_types"),
        ("items", (), {"limit": 0}, "limit"),
        ("items", (), {"limit": 1001}, "limit"),
        ("items", (), {"limit": True}, "limit"),
        ("items", (), {"status": "gone"}, "status"),
        ("items", (), {"status": ["candidate", "gone"]}, "status"),
        ("items", (), {"status": 5}, "status"),
        ("items", (), {"item_type": "wish"}, "item_type"),
        ("items", (), {"text": 5}, "text"),
        ("items", (), {"cursor": "nonsense"}, "cursor"),
        ("items", (), {"cursor": 5}, "cursor"),
        ("why", (), {"text": 5}, "text"),
        ("why", (), {"job_id": 5}, "job_id"),
        ("why", (), {"limit": 0}, "limit"),
        ("correct", ("item-1", 5), {}, "content"),
        ("correct", ("item-1", None), {}, "content"),
        ("settle", ("", True), {}, "pending_id"),
        ("settle", ("pending-1", "yes"), {}, "accept"),
        ("settle", ("pending-1", None), {}, "accept"),
        ("settle", ("pending-1", True), {"keep_old": "yes"}, "keep_old"),
        ("context", ("s1",), {"preview": 1}, "preview"),
        ("moves", (), {"limit": 0}, "limit"),
        ("signals", ([""],), {}, "item_ids"),
        ("dead", (), {"limit": 0}, "limit"),
        ("revive", ("",), {}, "job_id"),
        ("pause", (), {"capture": "no"}, "capture"),
        ("pause", (), {"recall": 1}, "recall"),
        ("working", ("s1", ""), {}, "task_id"),
        ("set_user_class", ("vip",), {}, "name"),
        ("set_user_class", (None,), {}, "name"),
        ("set_user_class", (["default"],), {}, "name"),
    ],
)
async def test_an_argument_that_makes_no_sense_is_named(memory, method, given, named, argument):
    await refused(getattr(memory, method)("ann", *given, **named), argument)
    await nothing_is_stored(memory)


async def test_a_correction_to_nothing_is_refused_and_the_item_stays(memory):
    receipt = await memory.propose("ann", "s1", [TEA], wait=True)
    before = await memory.item("ann", receipt.decisions[0].item_id)

    await refused(memory.correct("ann", before.id, "  "), "content")

    assert await memory.item("ann", before.id) == before


async def test_one_bad_message_keeps_the_good_ones_out_too(memory):
    """Nothing is half-applied."""
    await refused(memory.observe("ann", "s1", [*SAID, {"role": "user"}]), "messages[1]")
    await nothing_is_stored(memory)


async def test_a_pending_override_that_is_not_there_is_not_found(memory):
    with pytest.raises(NotFoundError, match="pending override"):
        await memory.settle("ann", "pending-1", accept=True)
    await nothing_is_stored(memory)


async def test_nothing_to_store_is_no_error(memory):
    assert (await memory.observe("ann", "s1", [])).job_id is None
    assert (await memory.propose("ann", "s1", [])).job_id is None
    assert (await memory.observe("ann", "s1", SAID, private=True)).job_id is None
    await nothing_is_stored(memory)


async def test_looking_at_somebody_unknown_makes_nobody(memory):
    """[P4]: a user exists from the first write on"""
    assert (await memory.items("ann")).items == ()
    assert await memory.pending("ann") == []
    assert await memory.why("ann") == []
    assert (await memory.recall("ann", "tea")).hits == ()
    assert (await memory.stats("ann")).pools.hot == 0
    with pytest.raises(NotFoundError):
        await memory.item("ann", "item-1")


@pytest.mark.parametrize("bad", ["", 5, " ", None], ids=repr)
async def test_a_note_needs_a_key(memory, bad):
    notes = await memory.working("ann", "s1", "task")

    await refused(notes.set(bad, "x"), "key")
    await refused(notes.get(bad), "key")


async def test_a_note_is_text(memory):
    notes = await memory.working("ann", "s1", "task")

    await refused(notes.set("tried", 5), "value")


@pytest.mark.parametrize("url", ["mysql://x", "memory.db", "sqlite:///", "sqlite:///:memory:"])
async def test_a_url_that_names_no_store_is_refused(url):
    with pytest.raises(DualgateError, match="url"):
        await Memory.open(url)
