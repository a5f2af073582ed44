"""JSON Lines of messages, under the usual names."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from dualgate.adapters.logs import read, sniff
from dualgate.domain.types import Role
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ingest import ReadReport


def jsonl(*records: object) -> str:
    return "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records) + "\n"


@pytest.fixture
def log(tmp_path):
    def write(text, name="chat.jsonl"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_sessions_are_gathered_from_interleaved_lines(log):
    path = log(
        jsonl(
            {"session": "a", "role": "user", "content": "one", "at": "2025-03-01T09:00:00Z"},
            {"session": "b", "role": "user", "content": "two", "at": "2025-03-02T09:00:00Z"},
            {"session": "a", "role": "assistant", "content": "three"},
        )
    )

    sessions = list(read(path))

    assert sniff(path) == "messages"
    assert [(s.id, [m.content for m in s.messages]) for s in sessions] == [
        ("a", ["one", "three"]),
        ("b", ["two"]),
    ]
    assert sessions[0].started_at == datetime(2025, 3, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "record",
    [
        {"session_id": "s", "sender": "human", "text": "hi", "timestamp": 1740819600},
        {"conversation_id": "s", "from": "user", "value": "hi", "ts": 1740819600000},
        {"thread_id": "s", "role": "USER", "message": {"content": "hi"}, "date": "1740819600"},
        {
            "session": "s",
            "role": "user",
            "content": [{"type": "text", "text": "hi"}, {"type": "image"}],
            "created_at": "2025-03-01 09:00:00",
        },
    ],
)
def test_the_usual_other_names_mean_the_same(log, record):
    (session,) = read(log(jsonl(record)), "messages")

    assert session.id == "s"
    assert (session.messages[0].role, session.messages[0].content) == (Role.USER, "hi")
    assert session.messages[0].at == datetime(2025, 3, 1, 9, tzinfo=UTC)


def test_a_naive_time_is_taken_in_the_given_zone_and_utc_is_shown_in_it(log):
    shanghai = timezone(timedelta(hours=8))
    path = log(
        jsonl(
            {"role": "user", "content": "naive", "at": "2025-03-01 01:00"},
            {"role": "user", "content": "utc", "at": "2025-03-01T20:00:00Z"},
            {"role": "user", "content": "other", "at": "2025-03-01T20:00:00-05:00"},
        )
    )

    (session,) = read(path, zone=shanghai)

    assert [m.at.isoformat() for m in session.messages] == [
        "2025-03-01T01:00:00+08:00",
        "2025-03-02T04:00:00+08:00",
        "2025-03-01T20:00:00-05:00",
    ]


def test_bad_lines_are_counted_with_number_and_reason_and_the_rest_is_read(log):
    report = ReadReport()
    path = log(
        b'{"role": "user", "content": "kept"}\n'
        b'{"role": "user", "content": \n'
        b"[1, 2]\n"
        b'{"role": "wizard", "content": "?"}\n'
        b'{"role": "user"}\n'
        b"\n"
        b'{"role": "user", "content": "\xff\xfe"}\n'
        b'{"role": "user", "content": "late", "at": "03/04/2025"}\n'
        b'{"role": "user", "content": "kept too"}'
    )

    (session,) = read(path, report=report)

    assert [m.content for m in session.messages] == ["kept", "kept too"]
    assert [entry.line for entry in report.bad] == [2, 3, 4, 5, 7, 8]
    assert [entry.reason.split(" (")[0] for entry in report.bad] == [
        "not JSON",
        "not a JSON object",
        "no role",
        "no content",
        "not UTF-8",
        "not a date that can be read: 03/04/2025",
    ]


def test_reading_twice_gives_the_same_ids_and_equal_turns_have_different_ones(log):
    path = log(jsonl(*[{"role": "user", "content": "again"}] * 3))

    ids = [m.id for s in read(path) for m in s.messages]

    assert ids == [m.id for s in read(path) for m in s.messages]
    assert len(set(ids)) == 3


def test_a_host_id_is_kept_and_a_short_one_belongs_to_its_session(log):
    unique = "0195f1d2-7a3c-7e11-9d4e-0123456789ab"
    path = log(
        jsonl(
            {"session": "a", "role": "user", "content": "x", "id": unique},
            {"session": "a", "role": "user", "content": "y", "id": 1},
            {"session": "b", "role": "user", "content": "z", "id": 1},
        )
    )

    ids = [m.id for s in read(path) for m in s.messages]

    assert ids[0] == unique
    assert len(set(ids)) == 3


def test_an_array_and_lines_of_whole_conversations_are_read_alike(log):
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    array = log(json.dumps(turns, indent=1), "array.json")
    lines = log(jsonl({"id": "c1", "messages": turns}, {"messages": turns}), "lines.jsonl")

    assert [len(s.messages) for s in read(array)] == [2]
    assert [(s.id, len(s.messages)) for s in read(lines)] == [
        ("c1", 2),
        ("messages:lines.jsonl#2", 2),
    ]


def test_a_parent_session_is_told(log):
    path = log(
        jsonl({"session": "b", "parent_session_id": "a", "role": "user", "content": "go on"})
    )

    assert next(iter(read(path))).parent_id == "a"


def test_text_of_any_kind_comes_through(log):
    odd = "🙂 日本語 \u2028 \u0000 \ud83d end " + "x" * 2_000_000

    (session,) = read(log(jsonl({"role": "user", "content": odd})))

    assert session.messages[0].content.startswith("🙂 日本語 \u2028  \ufffd end x")
    assert len(session.messages[0].content) > 2_000_000


def test_what_dualgate_handed_out_is_not_read_back_in(log):
    text = "<dualgate-memory v='1'>likes tea</dualgate-memory>I like coffee."

    (session,) = read(log(jsonl({"role": "user", "content": text})))

    assert session.messages[0].content == "I like coffee."


def test_long_tool_output_is_shortened_with_a_mark(log):
    (session,) = read(log(jsonl({"role": "tool", "content": "y" * 10_000})))

    assert session.messages[0].content.endswith("… [6000 characters left out]")


@pytest.mark.parametrize(
    ("text", "log_format", "problem"),
    [
        ("no log at all", None, "is no log in a format known here"),
        ("{}\n", "messages", "cannot be read as messages: no line holds"),
        ("[{", "messages", "cannot be read as messages"),
        ("{]", "chatgpt", "cannot be read as chatgpt"),
        ('{"a": 1}', "chatgpt", "cannot be read as chatgpt: not a list"),
        ('{"a": 1}', "claude", "cannot be read as claude: not a list"),
        ("[]", "memorybank", "cannot be read as memorybank"),
        ("[]", "evermemos", "cannot be read as evermemos"),
        ("hello", "paste", "cannot be read as paste"),
        ("x", "wav", "must be one of messages | chatgpt"),
    ],
)
def test_an_unreadable_file_is_an_error_that_names_the_format_tried(
    log, text, log_format, problem
):
    with pytest.raises(InvalidInputError, match=problem.replace("|", r"\|")):
        list(read(log(text), log_format))


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InvalidInputError, match="no such file or folder"):
        list(read(tmp_path / "none.jsonl"))


def test_a_folder_is_walked_oldest_file_first_and_other_files_are_named(log, tmp_path):
    log(jsonl({"role": "user", "content": "b", "timestamp": "2025-01-02T00:00:00Z"}), "1.jsonl")
    log(jsonl({"role": "user", "content": "a", "timestamp": "2025-01-01T00:00:00Z"}), "2.jsonl")
    log("just notes", "notes.md")
    log(b"\x89PNG", "picture.png")
    report = ReadReport()

    sessions = list(read(tmp_path, report=report))

    assert [s.messages[0].content for s in sessions] == ["a", "b"]
    assert (report.files, report.ignored) == (2, ["notes.md"])


def test_one_broken_file_of_a_folder_does_not_hide_the_others(log, tmp_path):
    log(jsonl({"role": "user", "content": "fine"}), "good.jsonl")
    log('[{"mapping": ', "broken.json")
    report = ReadReport()

    sessions = list(read(tmp_path, report=report))

    assert [s.messages[0].content for s in sessions] == ["fine"]
    assert [(entry.path, entry.line) for entry in report.bad] == [("broken.json", None)]


def test_a_folder_without_any_log_is_an_error(tmp_path):
    with pytest.raises(InvalidInputError, match="the folder holds no log"):
        list(read(tmp_path))
