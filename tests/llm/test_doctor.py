"""What doctor says of a setup: true, in plain words, and with what to do."""

from __future__ import annotations

import dataclasses
import io
import json
import sqlite3

import numpy as np
import pytest
from click.testing import CliRunner

from dualgate import Settings
from dualgate.adapters.local.extraction import encoder
from dualgate.doctor import Verdict, examine, healthy
from dualgate.doctor.endpoint import check_embedding, check_model
from dualgate.doctor.local import check_database, check_machine, check_models
from dualgate.entrypoints.cli.main import dualgate
from dualgate.pipeline.endpoints import Answers, EmbeddingSettings, ModelSettings, Secret
from dualgate.pipeline.ports import ModelTask
from dualgate.testing import Fault, LlmServer, Manners


def model_script(asked):
    """A model that understands peanuts, and nothing else."""
    if "peanuts" in asked.text or "花生" in asked.text:
        zh = "花生" in asked.text
        return {"statements": [{
            "turn": 1, "type": "constraint", "subject": "user", "attribute": "allergy",
            "value": "花生" if zh else "peanuts", "polarity": "+", "qualifiers": [],
            "content": "用户对花生过敏" if zh else "The user is allergic to peanuts",
            "confidence": 0.95, "evidence": "explicit", "correction": False,
            "scope": "lasting", "event_at": None, "expires_at": None, "entities": [],
            "sensitivity": "normal", "quote": "花生过敏" if zh else "allergic to peanuts",
        }]}  # fmt: skip
    if "word" in asked.text:
        return {"word": "ready"}
    return {"statements": []}


@pytest.fixture
def server():
    with LlmServer(model_script) as running:
        yield running


def settings_of(server, **model):
    given = {"base_url": server.url, "name": "toy", "timeout_seconds": 1.0, **model}
    return dataclasses.replace(Settings(), model=ModelSettings(**given))


def said(findings):
    return " | ".join(f"{f.verdict} {f.check}: {f.said} → {f.advice}" for f in findings)


# --- an endpoint


async def test_a_good_endpoint_is_fine_in_both_languages(server):
    found = await check_model(settings_of(server))

    assert [f.verdict for f in found] == [Verdict.OK] * 3
    assert "keeps to a JSON schema" in said(found)
    assert [f.check for f in found][1:] == ["extraction zh", "extraction en"]
    assert found[0].numbers["seconds"] >= 0


async def test_what_an_endpoint_cannot_do_is_told_with_the_setting_that_spares_trying():
    with LlmServer(model_script, Manners(forms=("json_object", "plain"))) as server:
        found = await check_model(settings_of(server))
        declared = await check_model(settings_of(server, answers=Answers.JSON_OBJECT))

    assert healthy(found)
    assert declared[0].advice == ""
    assert 'Set model.answers = "json_object"' in found[0].advice
    assert found[0].numbers["answers"] == Answers.JSON_OBJECT


async def test_each_model_is_tried_once_and_only_the_extracting_one_reads(server):
    names = {ModelTask.EXTRACT: "reader", ModelTask.JUDGE: "small", ModelTask.AUDIT: "small"}
    found = await check_model(settings_of(server, names=names))

    assert [f.check for f in found] == [
        "model reader", "extraction zh", "extraction en", "model small", "model toy",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "options", "words"),
    [
        (Fault.FAIL, {"status": 401}, "Set the key in DUALGATE_MODEL__KEY"),
        (Fault.FAIL, {"status": 404, "message": "no model toy"}, "the model's name"),
        (Fault.FAIL, {"status": 500}, "answers 500"),
        (Fault.RATE_LIMIT, {}, "answers 429"),
        (Fault.HANG, {}, "said nothing for 1 s"),
        (Fault.CUT, {}, "broke"),
        (Fault.SAY, {"text": "I am a poet."}, "'I am a poet.'"),
        (Fault.EMPTY, {}, "the answer is empty"),
        (Fault.NO_ROOM, {"thinking": True}, "model.output_tokens"),
    ],
    ids=lambda given: str(given)[:24],
)
async def test_what_is_wrong_is_said_in_plain_words(server, fault, options, words):
    server.misbehave(fault, times=None, **options)
    found = await check_model(settings_of(server))

    assert not healthy(found)
    assert words in said(found)


async def test_a_server_that_does_not_run_is_told(server):
    settings = settings_of(server)
    server.stop()

    assert "no connection" in said(await check_model(settings))


async def test_a_model_that_understands_nothing_or_too_much_is_told():
    with LlmServer(lambda a: {"word": "x"} if "word" in a.text else {"statements": []}) as server:
        deaf = await check_model(settings_of(server))
    with LlmServer(model_script) as server:
        server.answer("谢谢", {"statements": [{"content": "The user loves thanks"}]})
        inventive = await check_model(settings_of(server))

    assert "it read nothing in a sentence about an allergy" in said(deaf)
    assert "it finds memories in small talk: 'The user loves thanks'" in said(inventive)
    assert healthy(inventive)


async def test_no_finding_shows_a_key():
    with LlmServer(model_script, Manners(key="sk-right")) as server:
        found = await check_model(settings_of(server, key=Secret("sk-wrong-1234567")))

    assert "sk-wrong" not in said(found)
    assert "Check the key" in said(found)


async def test_a_key_on_an_open_road_is_a_warning():
    settings = Settings(model=ModelSettings(
        base_url="http://host.invalid/v1", name="toy", key=Secret("sk-1234567"),
        timeout_seconds=0.1,
    ))  # fmt: skip

    assert "unencrypted" in said(await check_model(settings))


async def test_an_embedding_endpoint_is_tried(server):
    def settings(**given):
        embedding = EmbeddingSettings(base_url=server.url, name="vectors", **given)
        return dataclasses.replace(Settings(), embedding=embedding)

    fine = await check_embedding(settings())
    wrong = await check_embedding(settings(dim=1024))

    assert fine[0].numbers["dim"] == 64
    assert "64 numbers, not of 1024" in said(wrong)


# --- this machine


async def test_without_an_endpoint_the_local_setup_is_checked(tmp_path):
    found = await examine(Settings(), f"sqlite:///{tmp_path / 'memory.db'}")

    assert healthy(found)
    assert {f.check for f in found} == {"sqlite", "disk", "database", "weights", "model"}
    assert list(tmp_path.iterdir()) == []  # looking makes no database


def test_the_machine_has_a_sqlite_that_searches_text():
    assert check_machine()[0].verdict is Verdict.OK


async def test_the_built_in_models_read_both_languages():
    (found,) = await check_models()

    assert found.verdict is Verdict.OK


@pytest.mark.parametrize("left", [b"", b"PK\x03\x04 the rest is missing"])
async def test_weights_that_are_cut_off_are_told(monkeypatch, left):
    monkeypatch.setattr(encoder, "_loaded", lambda: np.load(io.BytesIO(left)))

    (found,) = await check_models()

    assert found.verdict is Verdict.WRONG
    assert "Install dualgate again" in found.advice


async def test_a_damaged_database_is_told(tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(b"this is no database" * 100)
    found = await check_database(f"sqlite:///{path}", Settings())

    assert not healthy(found)
    assert "is damaged" in said(found)


async def test_a_file_of_a_newer_dualgate_is_told(tmp_path):
    from dualgate import Memory

    url = f"sqlite:///{tmp_path / 'memory.db'}"
    async with Memory.open(url) as memory:
        await memory.stats()
    with sqlite3.connect(tmp_path / "memory.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    found = await check_database(url, Settings())

    assert "Upgrade dualgate" in said(found)


async def test_a_file_that_others_can_read_is_a_warning(tmp_path):
    from dualgate import Memory

    path = tmp_path / "memory.db"
    async with Memory.open(f"sqlite:///{path}") as memory:
        await memory.stats()
    path.chmod(0o644)

    assert "others on this machine can read" in said(
        await check_database(f"sqlite:///{path}", Settings())
    )


async def test_a_folder_that_is_a_file_is_told(tmp_path):
    (tmp_path / "taken").write_text("")
    found = await check_database(f"sqlite:///{tmp_path / 'taken' / 'memory.db'}", Settings())

    assert not healthy(found)


# --- the command


def run(monkeypatch, *words, **environ):
    for name, text in environ.items():
        monkeypatch.setenv(name, text)
    return CliRunner().invoke(dualgate, ["doctor", *words])


def test_the_command_tells_and_its_exit_code_says_whether_all_is_well(monkeypatch, server):
    server.misbehave(Fault.FAIL, status=401, times=None)
    named = {"DUALGATE_MODEL__BASE_URL": server.url, "DUALGATE_MODEL__NAME": "toy"}
    wrong = run(monkeypatch, "--db", "memory://", **named)
    server.behave()
    fine = run(monkeypatch, "--db", "memory://", "--json", **named)

    assert wrong.exit_code == 1
    assert "✗ model toy: the endpoint answers 401" in wrong.stdout
    assert "→ Set the key in DUALGATE_MODEL__KEY" in wrong.stdout
    assert fine.exit_code == 0
    assert json.loads(fine.stdout)["healthy"] is True


def test_settings_that_cannot_be_are_a_mistake_not_a_finding(monkeypatch):
    told = run(monkeypatch, DUALGATE_MODEL__BASE_URL="ftp://host", DUALGATE_MODEL__NAME="toy")

    assert told.exit_code == 2
