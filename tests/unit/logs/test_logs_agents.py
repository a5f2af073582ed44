"""Transcripts of coding agents: branches, forks and what the host itself wrote [F2, W3]."""

from __future__ import annotations

import json

import pytest

from dualgate.adapters.logs import read, sniff
from dualgate.domain.types import Role
from dualgate.pipeline.ingest import ReadReport


@pytest.fixture
def put(tmp_path):
    def write(name, *records):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (r if isinstance(r, str) else json.dumps(r) for r in records)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def said(uuid, parent, content, kind="user", second=0, **extra):
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": extra.pop("session", "one"),
        "timestamp": f"2025-03-01T09:00:{second:02}.000Z",
        "message": {"role": kind, "content": content},
        **extra,
    }


def test_claude_code_drops_what_no_person_said(put):
    report = ReadReport()
    path = put(
        "one.jsonl",
        {"type": "summary", "summary": "Setup", "leafUuid": "x", "sessionId": "one"},
        said("m", None, "Caveat: local commands", isMeta=True),
        said(
            "u1",
            "m",
            "<system-reminder>be brief</system-reminder>I use tabs"
            "<dualgate-memory>- uses spaces</dualgate-memory>",
            second=1,
        ),
        said("a1", "u1", [{"type": "text", "text": "Fine"}, {"type": "thinking"}], "assistant", 2),
        said(
            "a2",
            "a1",
            [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}],
            "assistant",
            3,
        ),
        said(
            "r", "a2", [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}], second=4
        ),
        said("side", "r", "You are a subagent", isSidechain=True, second=5),
        "{broken",
        said("c", "r", "<command-name>/model</command-name>", second=6),
        said("i", "c", [{"type": "text", "text": "[Request interrupted by user]"}], second=7),
        {"type": "user", "sessionId": "one", "message": {"content": "no uuid"}},
        said("e", "i", "kept", second=8) | {"message": None},
    )

    (session,) = read(path, report=report)

    assert sniff(path) == "claude-code"
    assert (session.id, session.parent_id) == ("one", None)
    assert [(m.role, m.content, m.id) for m in session.messages] == [
        (Role.USER, "I use tabs", "u1"),
        (Role.ASSISTANT, "Fine", "a1"),
        (Role.TOOL, "Bash: {'command': 'ls'}", "a2#0"),
        (Role.TOOL, "a.py", "r#0"),
    ]
    assert [(e.line, e.reason.split(" (")[0]) for e in report.bad] == [
        (8, "not JSON"),
        (11, "a turn without uuid"),
        (12, "a turn without message"),
    ]


def test_a_rewound_prompt_is_left_out_but_parallel_tools_and_loose_pieces_stay(put):
    result = [{"type": "tool_result", "content": "parallel"}]
    path = put(
        "one.jsonl",
        said("lost", "missing", "before the gap", second=0),
        said("u1", None, "start", second=1),
        said("bad", "u1", "I hate this", second=2),
        said("bad2", "bad", "sorry", "assistant", 3),
        said("tool", "u1", result, second=4),
        said("u2", "u1", "start over", second=5),
    )

    (session,) = read(path)

    assert [m.content for m in session.messages] == [
        "before the gap",
        "start",
        "parallel",
        "start over",
    ]


def test_a_conversation_goes_on_across_a_compaction(put):
    path = put(
        "one.jsonl",
        said("u1", None, "first part"),
        {
            "type": "system",
            "uuid": "cut",
            "parentUuid": None,
            "logicalParentUuid": "u1",
            "sessionId": "one",
        },
        said("sum", "cut", "This session is being continued…", isCompactSummary=True),
        said("u2", "sum", "second part"),
    )

    (session,) = read(path)

    assert [m.content for m in session.messages] == ["first part", "second part"]


def test_a_fork_repeats_the_ids_of_its_origin_and_names_it(put, tmp_path):
    first = said("u1", None, "I use tabs", second=1)
    put("z-origin.jsonl", first | {"sessionId": "z-origin"})
    put(
        "a-fork.jsonl",
        first | {"sessionId": "a-fork"},
        said("u2", "u1", "and Python", second=9, session="a-fork"),
    )

    origin, fork = read(tmp_path)

    assert (origin.id, origin.parent_id) == ("z-origin", None)
    assert (fork.id, fork.parent_id) == ("a-fork", "z-origin")
    assert fork.messages[0].id == origin.messages[0].id


@pytest.mark.parametrize(
    "mark", [{"sessionId": "origin"}, {"forkedFrom": {"sessionId": "origin", "messageUuid": "u"}}]
)
def test_a_fork_whose_origin_is_gone_still_names_it(put, mark):
    path = put("fork.jsonl", said("u1", None, "hi", session="fork") | mark)

    assert next(iter(read(path))).parent_id == "origin"


def test_a_folder_of_projects_with_only_a_subagent_gives_nothing(put, tmp_path):
    put("p/s/subagents/agent-1.jsonl", said("u", None, "go", isSidechain=True, agentId="1"))

    assert list(read(tmp_path)) == []


def rollout(kind, payload, second=0):
    return {"timestamp": f"2025-03-01T09:00:{second:02}Z", "type": kind, "payload": payload}


def item(role, text, second=0):
    kind = "input_text" if role == "user" else "output_text"
    content = [{"type": kind, "text": text}]
    return rollout("response_item", {"type": "message", "role": role, "content": content}, second)


def test_codex_turns_written_twice_are_read_once(put):
    report = ReadReport()
    path = put(
        "rollout-1.jsonl",
        rollout("session_meta", {"id": "s1", "cwd": "/w"}),
        item("user", "<environment_context>linux</environment_context>"),
        item("user", "I use uv", 1),
        rollout("event_msg", {"type": "user_message", "message": "I use uv"}, 1),
        rollout(
            "response_item",
            {"type": "function_call", "name": "shell", "arguments": '["ls"]', "call_id": "c"},
            2,
        ),
        rollout(
            "response_item", {"type": "function_call_output", "call_id": "c", "output": "a"}, 3
        ),
        item("assistant", "Good", 4),
        rollout("event_msg", {"type": "agent_message", "message": "Good"}, 4),
        {"type": "event_msg"},
    )

    (session,) = read(path, report=report)

    assert sniff(path) == "codex"
    assert session.id == "s1"
    assert [(m.role, m.content) for m in session.messages] == [
        (Role.USER, "I use uv"),
        (Role.TOOL, 'shell: ["ls"]'),
        (Role.TOOL, "a"),
        (Role.ASSISTANT, "Good"),
    ]
    assert [(entry.line, entry.reason) for entry in report.bad] == [(9, "no payload")]


def test_codex_without_events_reads_items_and_drops_instructions(put):
    path = put(
        "rollout-2.jsonl",
        rollout("session_meta", {"id": "s2"}),
        item("developer", "be nice"),
        item("user", "# AGENTS.md instructions for /w"),
        item("user", "hello", 1),
        item("assistant", "hi", 2),
    )

    (session,) = read(path)

    assert [(m.role, m.content) for m in session.messages] == [
        (Role.USER, "hello"),
        (Role.ASSISTANT, "hi"),
    ]


def test_a_codex_fork_of_a_fork_shares_its_first_ids(put, tmp_path):
    event = rollout("event_msg", {"type": "user_message", "message": "I use uv"}, 1)
    put("r1.jsonl", rollout("session_meta", {"id": "s1"}, 1), event)
    put("r2.jsonl", rollout("session_meta", {"id": "s2", "forked_from_id": "s1"}, 2), event)
    put("r3.jsonl", rollout("session_meta", {"id": "s3", "forked_from_id": "s2"}, 3), event)

    sessions = list(read(tmp_path))

    assert [(s.id, s.parent_id) for s in sessions] == [("s1", None), ("s2", "s1"), ("s3", "s2")]
    assert len({s.messages[0].id for s in sessions}) == 1
