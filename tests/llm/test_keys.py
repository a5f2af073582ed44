"""A key goes into one header, and is in nothing that anybody prints, logs, stores or raises."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import pickle
import traceback

import pytest

from dualgate import Settings
from dualgate.adapters.llm import EndpointEmbedder
from dualgate.errors import ModelRejectedError, SettingsError
from dualgate.pipeline.endpoints import EmbeddingSettings, ModelSettings, Secret
from dualgate.testing import Fault, LlmServer, Manners

from .conftest import ANSWER, ask

KEY = "sk-very-secret-1234567890"


async def test_the_key_reaches_the_endpoint_in_the_header_of_its_protocol(model_of, protocol):
    with LlmServer(lambda _: ANSWER, Manners(key=KEY)) as server:
        await ask(model_of(server, protocol=protocol, key=Secret(KEY)))

        headers = server.requests[0].headers
        name = "authorization" if protocol == "openai" else "x-api-key"
        assert headers[name].removeprefix("Bearer ") == KEY
        assert ("anthropic-version" in headers) is (protocol == "anthropic")


async def test_no_log_shows_the_key(server, model_of, protocol, caplog):
    caplog.set_level(logging.DEBUG)
    server.misbehave(Fault.FAIL)

    await ask(model_of(server, protocol=protocol, key=Secret(KEY)))

    assert caplog.records
    assert KEY not in caplog.text


@pytest.mark.parametrize("given", [KEY, "sk-another-12345678"])
async def test_what_an_endpoint_says_about_a_wrong_key_is_told_without_it(model_of, given):
    # The server repeats the key in its message, as real ones do.
    with LlmServer(lambda _: ANSWER, Manners(key="sk-right")) as server:
        with pytest.raises(ModelRejectedError, match="Check the key") as told:
            await ask(model_of(server, key=Secret(given)))

        assert given not in "".join(traceback.format_exception(told.value))
        assert "***" in str(told.value)


def test_settings_and_clients_print_no_key():
    settings = Settings(
        model=ModelSettings(base_url="http://localhost/v1", name="toy", key=Secret(KEY)),
        embedding=EmbeddingSettings(base_url="http://localhost/v1", name="toy", key=Secret(KEY)),
    )
    shown = (
        repr(settings), str(settings.model.key), f"{settings.model.key}",
        repr(dataclasses.asdict(settings)), repr(EndpointEmbedder(settings.embedding)),
        json.dumps(dataclasses.asdict(settings), default=str), repr(copy.deepcopy(settings)),
    )  # fmt: skip

    assert [text for text in shown if KEY in text] == []


def test_a_secret_is_written_nowhere():
    with pytest.raises(TypeError, match="written nowhere"):
        pickle.dumps(Secret(KEY))


def test_equal_secrets_are_equal_so_that_equal_settings_are():
    assert ModelSettings(key=Secret(KEY)) == ModelSettings(key=Secret(KEY))
    assert ModelSettings(key=Secret(KEY)) != ModelSettings(key=Secret("sk-other"))


# --- where keys come from


def loaded(tmp_path, text, **environ):
    path = tmp_path / "dualgate.toml"
    path.write_text(text, encoding="utf-8")
    return Settings.load(path, environ)


MODEL = '[model]\nbase_url = "http://localhost:11434/v1"\nname = "toy"\n'


def test_a_key_comes_from_the_environment(tmp_path):
    settings = loaded(tmp_path, MODEL, DUALGATE_MODEL__KEY=KEY + "\n")

    assert settings.model.key == Secret(KEY)


def test_a_key_may_come_from_the_variable_its_provider_uses(tmp_path):
    settings = loaded(tmp_path, MODEL + 'key_env = "OPENAI_API_KEY"\n', OPENAI_API_KEY=KEY)

    assert settings.model.key == Secret(KEY)


@pytest.mark.parametrize("table", ["model", "embedding"])
def test_a_key_in_a_file_is_refused_and_not_repeated(tmp_path, table):
    with pytest.raises(SettingsError, match=rf"{table}\.key must come from") as told:
        loaded(tmp_path, f'[{table}]\nkey = "{KEY}"\n')

    assert KEY not in str(told.value)


def test_a_variable_that_is_not_set_is_a_problem(tmp_path):
    with pytest.raises(SettingsError, match="OPENAI_API_KEY is not in the environment"):
        loaded(tmp_path, MODEL + 'key_env = "OPENAI_API_KEY"\n')


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"base_url": "ftp://host"}, "must begin with http"),
        ({"base_url": "http://user:pass@host/v1"}, "must hold no password"),
        ({"base_url": "http://host/v1?key=1"}, "must hold no password"),
        ({"base_url": "http://host:port/v1"}, "is no url"),
        ({"base_url": "http://host/v1", "name": None}, "model.name is needed"),
        ({"key": Secret("two\nlines")}, "printable"),
        ({"timeout_seconds": 0}, "timeout_seconds must be positive"),
        ({"timeout_seconds": 300}, "deadline_seconds must not be under"),
        ({"body": {"messages": []}}, "body must not hold messages"),
    ],
)
def test_settings_that_cannot_work_are_refused(given, problem):
    with pytest.raises(SettingsError, match=problem):
        Settings(model=ModelSettings(**{"name": "toy", **given}))


def test_fields_of_a_request_keep_their_kind_in_a_file_and_in_the_environment(tmp_path):
    from_file = loaded(tmp_path, MODEL + "[model.body]\nenable_thinking = false\n")
    from_environment = loaded(tmp_path, MODEL, DUALGATE_MODEL__BODY__ENABLE_THINKING="false")

    assert from_file.model.body == from_environment.model.body == {"enable_thinking": False}


def test_a_task_that_does_not_exist_has_no_model(tmp_path):
    with pytest.raises(SettingsError, match=r"model\.names.*'extrct' is not a valid ModelTask"):
        loaded(tmp_path, MODEL + '[model.names]\nextrct = "small"\n')
