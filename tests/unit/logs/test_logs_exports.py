"""The exports of ChatGPT and Claude, the paste format, and two research formats."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime

import pytest

from dualgate.adapters.logs import read, sniff
from dualgate.domain.types import Role
from dualgate.errors import InvalidInputError
from dualgate.pipeline.ingest import ReadReport


def node(node_id, parent, text, role="user", **extra):
    body = {
        "id": f"message-{node_id}",
        "author": {"role": role},
        "create_time": extra.pop("at", None),
        "content": {"content_type": extra.pop("kind", "text"), "parts": [text]},
        "metadata": extra.pop("metadata", {}),
        **extra,
    }
    return {"id": node_id, "parent": parent, "children": [], "message": body}


def chatgpt_export():
    nodes = [
        {"id": "root", "parent": None, "children": ["s"], "message": None},
        node("s", "root", "You are helpful.", role="system"),
        node("h", "s", "about me", metadata={"is_visually_hidden_from_conversation": True}),
        node("q", "h", "I live in Oslo", at=1740819600.5),
        node("old", "q", "First answer", role="assistant"),
        node("t", "q", "pondering", role="assistant", kind="thoughts"),
        node("call", "t", "search()", role="assistant", recipient="web"),
        node("a", "call", "Second answer", role="assistant", at=1740819700),
        node("n", "a", {"content_type": "image_asset_pointer"}, kind="multimodal_text"),
    ]
    nodes[-1]["message"]["content"]["parts"].append("Look at this")
    return [
        {
            "title": "Oslo",
            "conversation_id": "c-1",
            "create_time": 1740819590,
            "current_node": "n",
            "mapping": {n["id"]: n for n in nodes},
        },
        {"conversation_id": "c-2", "mapping": None},
    ]


def claude_export():
    def said(uuid, sender, text, parent, **extra):
        return {
            "uuid": uuid,
            "sender": sender,
            "text": text,
            "created_at": "2025-03-01T09:00:00.123456Z",
            "parent_message_uuid": parent,
            **extra,
        }

    return [
        {
            "uuid": "k-1",
            "name": "Tea",
            "created_at": "2025-03-01T08:59:00Z",
            "chat_messages": [
                said("m1", "human", "I drink tea", "0000"),
                said("m2", "assistant", "Noted", "m1"),
                said("m3", "human", "I drink cofee", "m2"),
                said(
                    "m4",
                    "human",
                    "",
                    "m2",
                    content=[{"type": "text", "text": "I drink coffee"}, {"type": "tool_use"}],
                    attachments=[{"extracted_content": "pasted page"}],
                ),
            ],
        }
    ]


@pytest.fixture
def put(tmp_path):
    def write(document, name="conversations.json"):
        path = tmp_path / name
        text = document if isinstance(document, str) else json.dumps(document)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_chatgpt_gives_the_current_path_without_what_is_hidden(put):
    report = ReadReport()
    path = put(chatgpt_export())

    (session,) = read(path, report=report)

    assert sniff(path) == "chatgpt"
    assert [(m.role, m.content) for m in session.messages] == [
        (Role.USER, "I live in Oslo"),
        (Role.TOOL, "search()"),
        (Role.ASSISTANT, "Second answer"),
        (Role.USER, "Look at this"),
    ]
    assert session.id == "c-1"
    assert session.messages[0].at == datetime(2025, 3, 1, 9, 0, 0, 500_000, tzinfo=UTC)
    assert session.messages[1].at == session.messages[0].at, "no time of its own"
    assert session.messages[0].id == "message-q"
    assert len(report.bad) == 1, "the conversation without a mapping"


def test_chatgpt_without_a_current_node_follows_the_newest_leaf_and_no_circle(put):
    export = chatgpt_export()[:1]
    export[0]["current_node"] = "gone"
    mapping = export[0]["mapping"]
    for child in mapping.values():
        if child["parent"]:
            mapping[child["parent"]]["children"].append(child["id"])
    mapping["root"]["parent"] = "a"

    (session,) = read(put(export))

    assert session.messages[0].content == "I live in Oslo"


@pytest.mark.parametrize(
    ("export", "name"), [(chatgpt_export, "chatgpt"), (claude_export, "claude")]
)
def test_the_zip_of_an_export_is_read_like_its_conversations(put, tmp_path, export, name):
    plain = list(read(put(export())))
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("data/user.json", "{}")
        out.writestr("data/conversations.json", json.dumps(export()))

    assert sniff(archive) == name
    assert list(read(archive)) == plain


def test_a_zip_without_conversations_is_an_error(tmp_path):
    archive = tmp_path / "other.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("readme.txt", "hi")

    with pytest.raises(InvalidInputError, match=r"the zip holds no conversations\.json"):
        list(read(archive, "chatgpt"))
    with pytest.raises(InvalidInputError, match="is no log in a format known here"):
        list(read(archive))


def test_claude_gives_the_last_branch_without_attachments(put):
    path = put(claude_export())

    (session,) = read(path)

    assert sniff(path) == "claude"
    assert [(m.role, m.content, m.id) for m in session.messages] == [
        (Role.USER, "I drink tea", "m1"),
        (Role.ASSISTANT, "Noted", "m2"),
        (Role.USER, "I drink coffee", "m4"),
    ]
    assert session.started_at == datetime(2025, 3, 1, 8, 59, tzinfo=UTC)


PASTE = """# What I know about you
```
[2025-03-01] - Lives in Oslo
- [March 2, 2025] — Prefers short answers
[unknown] - Has two cats
【2025年4月5日】- 喜欢喝茶
[2025-99-99] - no such day
loose words
```
"""


def test_a_paste_is_one_session_of_dated_user_statements(put):
    report = ReadReport()
    path = put(PASTE, "memories.txt")

    (session,) = read(path, report=report)

    assert sniff(path) == "paste"
    assert session.id.startswith("import:paste:")
    assert {m.role for m in session.messages} == {Role.USER}
    assert [(m.at and m.at.date().isoformat(), m.content) for m in session.messages] == [
        ("2025-03-01", "Lives in Oslo"),
        ("2025-03-02", "Prefers short answers"),
        ("2025-04-05", "喜欢喝茶"),
        (None, "Has two cats"),
    ]
    assert [entry.line for entry in report.bad] == [7, 8]


def test_a_memory_pasted_again_in_a_longer_list_keeps_its_id(put):
    (first,) = read(put("[2025-03-01] - Lives in Oslo\n", "a.txt"))
    (second,) = read(put("[2025-03-01] - Lives in Oslo\n[2025-05-01] - Runs\n", "b.txt"))

    assert first.messages[0].id == second.messages[0].id
    assert first.id != second.id


def test_a_server_log_is_no_paste(put):
    with pytest.raises(InvalidInputError, match="is no log in a format known here"):
        sniff(put("[INFO] - started\n[WARN] - slow\n", "server.txt"))


def test_memorybank_gives_a_session_a_person_and_day(put):
    report = ReadReport()
    history = {
        "2023-04-27": [{"query": "我叫小雨", "response": "你好"}, {"query": "晚安"}],
        "someday": [{"query": "x", "response": "y"}],
    }
    path = put({" Rain ": {"name": "Rain", "history": history}, "Nobody": {}}, "bank.json")

    (session,) = read(path, report=report)

    assert sniff(path) == "memorybank"
    assert (session.person, session.id) == ("Rain", "memorybank:Rain:2023-04-27")
    assert [(m.role, m.content) for m in session.messages] == [
        (Role.USER, "我叫小雨"),
        (Role.ASSISTANT, "你好"),
        (Role.USER, "晚安"),
    ]
    assert session.messages[0].at < session.messages[1].at
    assert [entry.reason for entry in report.bad] == [
        "memorybank:Rain:2023-04-27, turn 2: no response",
        "Rain, someday: not a date that can be read: someday",
        "Nobody: no history",
    ]


def evermemos_chat():
    def said(number, hour, sender, text):
        return {
            "message_id": f"msg_{number}",
            "create_time": f"2025-02-01T{hour:02}:00:00Z",
            "sender": sender,
            "type": "text",
            "content": text,
        }

    return {
        "version": "1.0.0",
        "session_meta": {
            "group_id": "g",
            "user_details": {
                "u1": {"full_name": "Ann", "role": "user"},
                "u2": {"full_name": "Bo", "role": "user"},
                "r": {"full_name": "Bot", "role": "assistant"},
            },
        },
        "conversation_list": [
            said(1, 1, "u1", "I test on Fridays"),
            said(2, 2, "u2", "I prefer Mondays"),
            said(3, 3, "r", "Noted"),
            said(4, 12, "u1", "Back again"),
            {"message_id": "msg_5", "sender": "u1", "content": "when?"},
        ],
    }


def test_a_group_chat_is_told_for_each_person_and_a_long_pause_begins_a_session(put):
    report = ReadReport()
    path = put(evermemos_chat(), "team.json")

    sessions = list(read(path, report=report))

    assert sniff(path) == "evermemos"
    assert [(s.person, len(s.messages)) for s in sessions] == [("Ann", 3), ("Ann", 1), ("Bo", 3)]
    assert [(m.role, m.content) for m in sessions[0].messages] == [
        (Role.USER, "I test on Fridays"),
        (Role.TOOL, "Bo: I prefer Mondays"),
        (Role.ASSISTANT, "Noted"),
    ]
    assert [entry.reason for entry in report.bad] == ["message 5: no create_time"]


def test_two_languages_of_one_chat_do_not_share_message_ids(put):
    other = evermemos_chat()
    other["conversation_list"][0]["content"] = "我周五做测试"

    ids = [
        next(iter(read(put(d, n)))).messages[0].id
        for d, n in [(evermemos_chat(), "en.json"), (other, "zh.json")]
    ]

    assert len(set(ids)) == 2
