"""dualgate erase, export, import, scrub [P3]."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from dualgate.entrypoints.cli.main import dualgate

TEA = {"item_type": "preference", "content": "Prefers Quillfeather tea", "confidence": 0.9}


@pytest.fixture
def run(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"

    def invoke(*words, stdin=None, user="ada", code=0):
        result = CliRunner().invoke(dualgate, ["--db", url, "--user", user, *words], input=stdin)
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


def contents(run_json):
    return [item["content"] for item in run_json("items")["items"]]


def test_erase_asks_first_and_a_no_keeps_all(run, run_json, item_id):
    run("erase", item_id, stdin="n\n", code=130)
    kept = contents(run_json)
    said = run("erase", item_id, stdin="y\n").stdout

    assert kept == [TEA["content"]]
    assert contents(run_json) == []
    assert "no byte is left" in said
    assert "Quillfeather" not in said


def test_erase_reports_as_json_and_leaves_no_byte(run_json, item_id, tmp_path):
    report = run_json("erase", item_id, "--yes")

    assert (report["kind"], report["removed"]["items"]) == ("item", 1)
    assert report["bytes_gone"] is True
    data = b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*"))
    assert b"Quillfeather" not in data


def test_a_session_or_everything_can_be_erased(run_json, item_id):
    session = run_json("erase", "--session", "s1", "--yes")
    user = run_json("erase", "--everything", "--yes")

    assert item_id
    assert (session["kind"], session["removed"]["items"]) == ("session", 1)
    assert user["kind"] == "user"
    assert contents(run_json) == []


@pytest.mark.parametrize("words", [[], ["x", "--everything"], ["--session", "s", "--everything"]])
def test_erase_wants_one_thing_to_erase(run, words):
    assert "name an item" in run("erase", *words, "--yes", code=2).stderr


def test_erase_does_not_ask_in_a_json_document(run, item_id):
    assert "--yes" in run("erase", item_id, "--json", code=2).stderr


def test_what_is_exported_is_imported_again(run, run_json, item_id, tmp_path):
    archive = str(tmp_path / "archive.zip")
    told = run_json("export", archive)
    run("erase", "--everything", "--yes")
    back = run_json("import", archive)
    again = run("import", archive).stdout

    assert told["counts"]["items"] == 1
    assert back["added"]["items"] == 1
    assert contents(run_json) == [TEA["content"]]
    assert "known already" in again
    assert run_json("item", item_id)["content"] == TEA["content"]


def test_a_damaged_archive_is_one_line_and_exit_code_2(run, item_id, tmp_path):
    folder = tmp_path / "archive"
    run("export", str(folder))
    (folder / "items.jsonl").write_text("{}\n")

    said = run("import", str(folder), code=2).stderr

    assert item_id
    assert said.count("\n") == 1
    assert "items.jsonl was changed or damaged" in said


def test_scrub_says_what_it_did(run_json):
    assert run_json("scrub") == {"bytes_gone": True}
