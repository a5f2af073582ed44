"""The command line: each verb through its public face."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from dualgate.entrypoints.cli.main import dualgate
from dualgate.entrypoints.cli.render import Page
from dualgate.entrypoints.cli.words import reason_told

# A job that fails says so at once, instead of after its retries.
AT_ONCE = {"DUALGATE_QUEUE__MAX_ATTEMPTS": "1", "DUALGATE_EXTRACTION__HOST_TRUST": "full"}
TEA = {"item_type": "preference", "content": "Prefers green tea", "confidence": 0.9}


@pytest.fixture
def run(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"

    def invoke(*words, stdin=None, user="ada", code=0):
        bound = ["--db", url, *(["--user", user] if user else [])]
        result = CliRunner(env=AT_ONCE).invoke(dualgate, [*bound, *words], input=stdin)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


@pytest.fixture
def run_json(run):
    def invoke(*words, **more):
        return json.loads(run(*words, "--json", **more).stdout)

    return invoke


@pytest.fixture
def item_id(run_json):
    receipt = run_json("propose", "--session", "s1", stdin=json.dumps(TEA))
    return receipt["decisions"][0]["item_id"]


def test_what_is_proposed_is_listed_and_explained(run_json, item_id):
    (listed,) = run_json("items", "--type", "preference", "--status", "candidate")["items"]

    assert (listed["id"], listed["content"]) == (item_id, "Prefers green tea")
    assert listed["contested"] is False
    assert run_json("item", item_id)["confirm_count"] == 1
    assert run_json("why", "green tea")[0]["outcome"] == "admitted"
    assert [m["after"] for m in run_json("history", item_id)["moves"]] == ["candidate"]
    assert run_json("items", "--text", "coffee")["items"] == []


def test_what_is_said_is_decided_and_kept_with_its_time(run_json):
    said = "My name is Ada and I live in Oslo."
    receipt = run_json("observe", said, "--session", "s", "--at", "2025-03-01T09:00+01:00")

    assert "admitted" in {d["outcome"] for d in receipt["decisions"]}
    assert run_json("why", "Oslo")[0]["at"] == "2025-03-01T08:00:00+00:00"


def test_the_same_message_id_is_stored_once(run_json):
    for _ in range(2):
        run_json("observe", "-", "--session", "s", "--id", "m1", stdin="hello there")

    assert run_json("stats")["turns"] == 1


def test_what_is_only_queued_waits_for_a_drain(run, run_json):
    receipt = run_json("observe", "hello there", "--session", "s", "--no-wait")

    assert receipt["job_id"]
    assert run_json("stats")["queue"]["waiting"] == 1
    assert "1 jobs still wait" in run("drain", "--timeout", "0", code=1).stderr
    run("drain")
    assert run_json("stats")["queue"]["waiting"] == 0


def test_a_private_message_leaves_nothing(run, run_json):
    result = run("observe", "I live in Oslo", "--session", "s", "--private")

    assert "nothing was stored" in result.stdout
    assert run_json("stats")["turns"] == 0


def test_context_and_recall_hand_out_what_fits(run, run_json, item_id):
    block = run_json("context", "what tea do I like?", "--session", "s2")
    found = run_json("recall", "green tea", "--limit", "3", "--type", "preference")

    assert "Prefers green tea" in block["text"]
    assert [hit["item"]["id"] for hit in found["hits"]] == [item_id]
    assert 0 < found["hits"][0]["relevance"] <= 1
    assert "Prefers green tea" in run("context", "tea", "--session", "s3").stdout


def test_recall_lists_raw_turns_apart_when_asked(run, run_json):
    said = "We walked to the Nordkette hut above Innsbruck."
    run("observe", said, "--session", "s1", "--wait")
    query = ("recall", "Which hut above Innsbruck did we walk to?")

    assert run_json(*query)["passages"] == []
    (passage,) = run_json(*query, "--transcripts")["passages"]
    assert (passage["kind"], passage["role"], passage["content"]) == ("transcript", "user", said)
    assert said in run(*query, "--transcripts").stdout


def test_a_persons_verbs_change_the_item(run_json, item_id):
    assert run_json("like", item_id)["confirm_count"] == 2
    assert run_json("dislike", item_id)["confirm_count"] == 1
    assert run_json("pin", item_id)["pinned"] is True
    assert run_json("unpin", item_id)["pinned"] is False
    assert run_json("correct", item_id, "Prefers black tea")["content"] == "Prefers black tea"
    assert run_json("forget", item_id, "--confirm")["status"] == "forgotten"
    assert item_id not in {i["id"] for i in run_json("items")["items"]}
    assert run_json("restore", item_id)["status"] in {"candidate", "confirmed"}


def test_forgetting_a_frozen_item_asks_once_more(run, run_json, item_id):
    run_json("pin", item_id)

    assert run_json("item", item_id)["status"] == "frozen"
    assert "add --confirm" in run("forget", item_id, code=2).stderr
    assert run_json("forget", item_id, "--confirm")["status"] == "forgotten"


def test_a_challenge_waits_until_it_is_settled(run, run_json):
    def say(value, session, **more):
        said = {**TEA, "content": f"Lives in {value}", "item_type": "identity"}
        said |= {"attribute": "home", "value": value, **more}
        return run_json("propose", "--session", session, stdin=json.dumps(said))["decisions"][0]

    frozen = say("Oslo", "s1")["item_id"]
    run_json("pin", frozen)

    assert say("Bergen", "s2", confidence=0.8)["outcome"] == "held"
    (pending,) = run_json("pending")
    assert pending["item_id"] == frozen
    assert "Lives in Bergen" in run("pending").stdout
    assert run_json("settle", pending["id"], "--accept")["content"] == "Lives in Bergen"
    assert run_json("pending") == []


def test_pausing_stops_writing_until_it_is_resumed(run_json):
    assert run_json("pause") == {"ok": True}
    assert run_json("observe", "I live in Oslo", "--session", "s")["job_id"] is None
    run_json("resume")
    assert run_json("observe", "I live in Oslo", "--session", "s")["job_id"]


def test_notes_of_a_task_are_kept_and_go_with_the_session(run, run_json):
    place = ("--session", "s", "--task", "t")
    run_json("working", "set", "tried", "port 80", *place)

    assert run_json("working", "get", "tried", *place) == {"key": "tried", "value": "port 80"}
    assert run_json("working", "all", *place) == {"tried": "port 80"}
    assert run("working", "all", *place).stdout == "tried: port 80\n"
    run_json("working", "clear", *place)
    assert run_json("working", "all", *place) == {}
    run_json("working", "set", "again", "x", *place)
    run_json("end-session", "s")
    assert run_json("working", "get", "again", *place)["value"] is None


@pytest.mark.usefixtures("item_id")
def test_upkeep_and_figures_do_for_one_user_and_for_all(run, run_json):
    assert run_json("maintain") == []
    assert run_json("maintain", user=None) == []
    assert "nothing moved" in run("maintain").stdout
    assert run_json("stats")["pools"]["hot"] == 1
    assert run_json("stats", user=None)["users"] == 1
    assert "hot: 1\n" in run("stats").stdout


def test_every_reading_command_has_a_page_for_people_in_both_languages(run, item_id):
    for words in (["items"], ["item", item_id], ["history", item_id], ["why"], ["recall", "tea"]):
        english, chinese = run(*words).stdout, run(*words, "--lang", "zh").stdout

        assert "Prefers green tea" in english
        assert "Prefers green tea" in chinese
        assert english != chinese


def test_a_page_shows_text_of_users_as_text(run, run_json):
    evil = "Likes [red]tea[/red] \x1b[2J\x07 and\ttabs"
    run_json("propose", "--session", "s", stdin=json.dumps({**TEA, "content": evil}))

    row = run("items").stdout.splitlines()[1]

    assert "[red]tea[/red]" in row
    assert "\x1b" not in row
    assert row.count("\t") == 6


@pytest.mark.parametrize(
    ("words", "user", "argument", "rule"),
    [
        (["items"], None, "--user", "is needed"),
        (["items"], "  ", "user_id", "must be a non-blank string"),
        (["item", "nothing"], "ada", None, None),
        (["propose", "--session", "s"], "ada", "candidates", "must be JSON"),
        (["observe", "x"], "ada", "--session", "Missing option"),
        (["recall", "x", "--as-of", "yesterday"], "ada", "--as-of", "no ISO 8601 time"),
        (["settle", "x"], "ada", "--accept", "or --reject is needed"),
        (["ingest", "/no/such/file"], "ada", "path", "no such file"),
        (["nonsense"], "ada", None, "No such command"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(run, words, user, argument, rule):
    result = run(*words, "--json", user=user, code=2) if words != ["nonsense"] else None
    plain = run(*words, user=user, code=2)

    assert plain.stderr.count("\n") == 1
    assert plain.stderr.startswith("dualgate: ")
    if result is not None:
        error = json.loads(result.stdout)["error"]
        assert error["argument"] == argument
        assert rule is None or rule in error["rule"]
        assert error["message"]
        assert error["type"].endswith("Error")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("[1]", "each must be a JSON object"),
        ('{"item_type": "preference", "content": "x"}', "confidence: is needed"),
        ('{"item_type": "p", "content": "x", "confidence": 1, "mood": 1}', "have only the fields"),
        ('{"item_type": "taste", "content": "x", "confidence": 1}', "item_type: must be one of"),
        ('{"item_type": "fact", "content": "x", "confidence": 7}', "confidence: must be between"),
        (
            '{"item_type": "event", "content": "x", "confidence": 1, "event_at": "soon"}',
            "ISO 8601",
        ),
    ],
)
def test_a_candidate_that_breaks_a_rule_is_refused_with_the_rule(run, given, problem):
    assert problem in run("propose", "--session", "s", stdin=given, code=2).stderr


def test_candidates_come_as_an_array_or_one_a_line(run_json):
    two = [TEA, {**TEA, "content": "Prefers window seats", "event_at": "2025-03-01"}]

    for session, text in (("s1", json.dumps(two)), ("s2", "\n".join(map(json.dumps, two)))):
        receipt = run_json("propose", "--session", session, stdin=text)
        assert len(receipt["decisions"]) == 2


def test_the_common_options_may_stand_on_either_side_and_in_the_environment(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    propose = ["propose", "--session", "s", "--db", url, "--user", "ada", "--json"]
    environment = {"DUALGATE_DB": url, "DUALGATE_USER": "bob"}
    runner = CliRunner()

    first = runner.invoke(dualgate, propose, input=json.dumps(TEA))
    same = runner.invoke(dualgate, ["--json", "--user", "ada", "items"], env=environment)
    other = runner.invoke(dualgate, ["--json", "items"], env=environment)

    assert first.exit_code == 0, first.output
    assert len(json.loads(same.stdout)["items"]) == 1
    assert json.loads(other.stdout)["items"] == []


def test_the_version_and_the_help_open_no_memory(tmp_path):
    runner = CliRunner()
    unopenable = ["--db", f"sqlite:///{tmp_path}"]

    assert json.loads(runner.invoke(dualgate, [*unopenable, "version", "--json"]).stdout)[
        "version"
    ]
    assert runner.invoke(dualgate, [*unopenable, "--help"]).exit_code == 0
    assert runner.invoke(dualgate, ["items", "-h"]).exit_code == 0


def test_a_database_that_cannot_be_opened_is_one_line(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("this is no database, whatever its name says. " * 40)

    result = CliRunner().invoke(dualgate, ["--db", f"sqlite:///{file}", "--user", "ada", "items"])

    assert result.exit_code == 2, (result.output, result.exception)
    assert result.stderr.count("\n") == 1


def test_without_a_command_the_help_is_printed_as_it_stands():
    for words in ([], ["working"]):
        result = CliRunner().invoke(dualgate, words)

        assert result.exit_code == 2
        assert result.stderr.startswith("Usage: dualgate")
        assert "\nCommands:\n" in result.stderr


def test_the_version_is_an_option_too(run):
    shown = CliRunner().invoke(dualgate, ["--version"])

    assert shown.exit_code == 0
    assert shown.stdout == run("version", user=None).stdout


def test_on_a_terminal_an_id_stays_in_one_piece(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    item_id = "01a22ca1-4f85-7000-a51a-c0465398c0d1"
    columns = ("status", "content", "score", "last seen", "id")
    row = ("frozen", "Prefers green tea " * 9, 0.65, datetime(2026, 3, 23, tzinfo=UTC), item_id)

    Page().entries("items", columns, [row], head=1)

    assert item_id in terminal.getvalue()
    assert "score 0.65" in terminal.getvalue()


def test_every_documented_reason_is_told_in_plain_words_in_both_languages():
    page = Path(__file__).parents[2] / "docs" / "reference" / "decisions.md"
    rows = page.read_text(encoding="utf-8").split("## Reasons")[1].split("## ")[0]
    reasons = re.findall(r"^\| `([a-z_]+)` \|", rows, re.MULTILINE)

    assert "low_confidence" in reasons
    for reason in reasons:
        assert len({reason, reason_told(reason, "en"), reason_told(reason, "zh")}) == 3


def test_an_audit_lists_what_can_hardly_be_meant_and_settles_it(run, run_json):
    """[U2]"""
    mood = {**TEA, "content": "The user is tired today", "attribute": "state", "value": "tired"}
    for session in ("s1", "s2", "s3"):
        run_json("propose", "--session", session, stdin=json.dumps(mood))
    (finding,) = run_json("audit")
    page = run("audit").stdout
    settled = run_json("audit", "--settle", finding["id"])

    assert finding["kind"] == "passing"
    assert finding["said"] in page
    assert settled[0]["state"] == "settled"
    assert run_json("audit") == []
