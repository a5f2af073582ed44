"""`dualgate compact`: a file of messages in, a shorter one out [L1]."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from dualgate.entrypoints.cli.main import dualgate

RULE = "The budget must stay under $900."
WAY = "I tried turning it off and on, and it still looks about the same to me somehow"
CHAT = [
    {"role": "user", "content": RULE},
    *({"role": role, "content": WAY} for _ in range(15) for role in ("assistant", "user")),
]


def compact(*words, stdin=None, code=0):
    result = CliRunner(env={"DUALGATE_DB": "sqlite:///nowhere/at/all.db"}).invoke(
        dualgate, ["compact", *words], input=stdin
    )
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CHAT),
        json.dumps({"model": "m", "messages": CHAT}),
        "\n".join(json.dumps(message) for message in CHAT),
    ],
)
def test_an_array_a_request_and_lines_are_read_alike_without_a_database(text):
    done = json.loads(compact("-", "--json", stdin=text).stdout)

    assert RULE in done["messages"][0]["content"]
    assert done["messages"][1:] == CHAT[20:]
    assert done["report"]["folded"] == 20


def test_what_it_prints_can_be_compacted_again(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT), encoding="utf-8")

    lines = compact(str(path)).stdout

    assert [json.loads(line) for line in lines.splitlines()][1:] == CHAT[20:]
    assert compact("-", stdin=lines).stdout == lines


def test_a_budget_holds_from_the_command_line_too():
    done = json.loads(compact("-", "--budget", "150", "--json", stdin=json.dumps(CHAT)).stdout)

    assert done["report"]["tokens_after"] <= 150
    assert RULE in done["messages"][0]["content"]


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("no json", "FILE"),
        ('{"role": "user"', "FILE"),
        ("[7]", "messages[0]"),
        ('[{"role": "nobody", "content": "hi"}]', "messages[0].role"),
    ],
)
def test_what_cannot_be_read_is_named(text, argument):
    told = json.loads(compact("-", "--json", stdin=text, code=2).stdout)

    assert told["error"]["argument"] == argument
