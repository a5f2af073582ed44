"""`dualgate ingest`: logs of every kind, once, for the right person."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from dualgate.entrypoints.cli.main import dualgate

# A job that fails says so at once, instead of after its retries.
AT_ONCE = {"DUALGATE_QUEUE__MAX_ATTEMPTS": "1"}
LOG = """{"session": "a", "role": "user", "content": "I live in Oslo.", "at": "2025-03-01T09:00Z"}
{"session": "a", "role": "assistant", "content": "Nice.", "at": "2025-03-01T09:01Z"}
broken
"""


@pytest.fixture
def db(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def ingest(db):
    def invoke(*words, user="ada", code=0):
        bound = ["--db", f"sqlite:///{db}", *(["--user", user] if user else [])]
        result = CliRunner(env=AT_ONCE).invoke(dualgate, [*bound, "ingest", *map(str, words)])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_text(LOG, encoding="utf-8")
    return path


@pytest.fixture
def bank(tmp_path):
    path = tmp_path / "bank.json"
    days = {"2023-04-27": [{"query": "I live in Oslo.", "response": "Nice."}]}
    path.write_text(json.dumps({"Ann": {"history": days}, "Bo": {"history": days}}))
    return path


def test_a_dry_run_counts_and_makes_no_file(ingest, log, db):
    summary = json.loads(ingest(log, "--dry-run", "--json").stdout)

    assert (summary["sessions"], summary["messages"], summary["user_messages"]) == (1, 2, 1)
    assert summary["first_at"] == "2025-03-01T09:00:00+00:00"
    assert summary["bad"] == [
        {
            "path": "chat.jsonl",
            "line": 3,
            "reason": "not JSON (Expecting value: line 1 column 1 (char 0))",
        }
    ]
    assert not db.exists()
    assert "candidates were not extracted" in ingest(log, "--dry-run").stdout


def test_ingesting_twice_changes_nothing(ingest, log):
    first = json.loads(ingest(log, "--json").stdout)
    again = json.loads(ingest(log, "--json").stdout)

    assert (first["new_messages"], again["new_messages"]) == (2, 0)
    assert sum(first["candidates"].values()) >= 1
    assert again["candidates"] == {}
    assert again["items"] == first["items"]


def test_a_page_for_people_tells_what_happened_and_what_was_bad(ingest, log):
    page = ingest(log, "--lang", "zh").stdout

    assert "会话: 1\n" in page
    assert "chat.jsonl:3: not JSON" in page


def test_a_log_of_several_people_needs_a_person(ingest, bank):
    result = ingest(bank, code=2)

    assert "--person: is needed (or --all-people), the log holds Ann, Bo" in result.stderr
    assert "must be one of Ann, Bo" in ingest(bank, "--person", "Cy", code=2).stderr


def test_one_person_is_read_for_the_user_and_all_people_for_themselves(ingest, bank):
    one = json.loads(ingest(bank, "--person", "Bo", "--json").stdout)
    everybody = json.loads(ingest(bank, "--all-people", "--json").stdout)["summaries"]
    alone = json.loads(ingest(bank, "--all-people", "--json", user=None).stdout)["summaries"]

    assert (one["user_id"], one["sessions"]) == ("ada", 1)
    assert [s["user_id"] for s in everybody] == ["ada/Ann", "ada/Bo"]
    assert [s["user_id"] for s in alone] == ["Ann", "Bo"]


def test_all_people_of_a_log_that_tells_none_apart_is_an_error(ingest, log):
    assert "does not tell people apart" in ingest(log, "--all-people", code=2).stderr


def test_an_unknown_format_or_zone_is_an_error(ingest, log):
    assert "must be one of messages | chatgpt" in ingest(log, "--format", "wav", code=2).stderr
    assert "is no time zone" in ingest(log, "--zone", "Mars/Base", code=2).stderr


def test_times_without_a_zone_are_taken_in_the_zone(ingest, tmp_path):
    path = tmp_path / "naive.jsonl"
    path.write_text('{"role": "user", "content": "hi", "at": "2025-03-01 01:00"}\n')

    summary = json.loads(ingest(path, "--zone", "Asia/Shanghai", "--dry-run", "--json").stdout)

    assert summary["first_at"] == "2025-03-01T01:00:00+08:00"


def shared(name):
    named = os.environ.get("DUALGATE_SHARED_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    if not (folder / name).exists():
        missing = f"{folder / name} is absent: set DUALGATE_SHARED_DATA to the shared data"
        if os.environ.get("CI"):
            pytest.fail(missing)  # a check that needs something absent fails there
        pytest.skip(missing)
    return folder / name


@pytest.mark.parametrize(
    ("name", "person", "sessions", "messages"),
    [
        ("memorybank/eval_data/cn/memory_bank_cn.json", "张曼婷", 10, 98),
        ("memorybank/eval_data/en/memory_bank_en.json", "Emily", 10, 98),
        ("evermemos-demo-chats/solo_chat_zh.json", None, 14, 104),
        ("evermemos-demo-chats/team_chat_en.json", "Alex", 94, 504),
    ],
)
def test_the_research_logs_are_read_whole(ingest, name, person, sessions, messages):
    words = [shared(name), "--dry-run", "--json", *(["--person", person] if person else [])]

    summary = json.loads(ingest(*words).stdout)

    assert summary["bad"] == []
    assert (summary["sessions"], summary["messages"]) == (sessions, messages)


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("memorybank/eval_data/cn/memory_bank_cn.json", "张曼婷"),
        ("memorybank/eval_data/en/memory_bank_en.json", "Emily"),
    ],
)
def test_a_research_log_becomes_a_small_memory(ingest, name, person):
    words = [shared(name), "--person", person, "--json"]

    first = json.loads(ingest(*words).stdout)
    again = json.loads(ingest(*words).stdout)

    assert first["new_messages"] == first["messages"]
    assert 0 < sum(first["items"].values()) <= first["messages"]
    assert (again["new_messages"], again["items"]) == (0, first["items"])
