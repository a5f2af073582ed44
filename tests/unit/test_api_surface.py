"""The public names, and SyncMemory as the same API without await [spec §8]."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing

import pytest

import dualgate
from dualgate import Memory, SyncMemory

# What a synchronous caller has no use for: `open` starts the worker.
ASYNC_ONLY = {"start"}
SPECIFIED = {
    "observe": "user_id session_id messages wait private task_id parent_session_id",
    "propose": "user_id session_id candidates wait",
    "drain": "timeout",
    "context": "user_id session_id query token_budget window_tokens lang",
    "recall": "user_id query limit item_types archived sensitive transcripts as_of",
    "items": "user_id status item_type text limit cursor",
    "item": "user_id item_id",
    "history": "user_id item_id",
    "why": "user_id text job_id",
    "correct": "user_id item_id content",
    "like": "user_id item_id",
    "dislike": "user_id item_id",
    "pin": "user_id item_id",
    "unpin": "user_id item_id",
    "forget": "user_id item_id confirm",
    "restore": "user_id item_id",
    "erase": "user_id item_id",
    "erase_user": "user_id",
    "export": "user_id path",
    "import_": "user_id path",
    "pending": "user_id",
    "settle": "user_id pending_id accept",
    "pause": "user_id capture recall",
    "resume": "user_id",
    "end_session": "user_id session_id",
    "working": "user_id session_id task_id",
    "compact": "messages",
    "maintain": "user_id",
    "stats": "user_id",
    "close": "",
    "open": "url settings clock extractor embedder",
}


def public(kind):
    return {
        name: method
        for name, method in inspect.getmembers(kind, inspect.isroutine)
        if not name.startswith("_")
    }


def arguments(method):
    return [
        (p.name, p.kind, p.default, p.annotation)
        for p in inspect.signature(method).parameters.values()
        if p.name != "self"
    ]


def test_sync_memory_has_the_methods_of_memory():
    assert set(public(SyncMemory)) == set(public(Memory)) - ASYNC_ONLY


@pytest.mark.parametrize("name", sorted(public(SyncMemory)))
def test_a_sync_method_takes_the_same_arguments(name):
    assert arguments(public(SyncMemory)[name]) == arguments(public(Memory)[name])


@pytest.mark.parametrize("name", sorted(set(public(SyncMemory)) - {"open", "working"}))
def test_a_sync_method_returns_what_the_async_one_returns(name):
    sync, later = public(SyncMemory)[name], public(Memory)[name]

    assert typing.get_type_hints(sync)["return"] == typing.get_type_hints(later)["return"]
    assert not inspect.iscoroutinefunction(sync)


@pytest.mark.parametrize(("name", "names"), list(SPECIFIED.items()))
def test_a_method_takes_the_arguments_of_the_specification_in_its_order(name, names):
    given = [argument[0] for argument in arguments(public(Memory)[name])]

    assert given[: len(names.split())] == names.split()


@pytest.mark.parametrize("name", dualgate.__all__)
def test_every_public_name_can_be_imported_and_says_what_it_is(name):
    assert getattr(dualgate, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Memroy"):
        dualgate.Memroy  # noqa: B018


def test_importing_dualgate_loads_no_library():
    code = (
        "import sys, dualgate; "
        "print([m for m in ('numpy', 'sqlalchemy', 'asyncio', 'dualgate.memory') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
