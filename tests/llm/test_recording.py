"""A recording answers as the endpoint did, without it."""

from __future__ import annotations

import json

import pytest

from dualgate.adapters.llm.recording import RecordingModel, ReplayModel
from dualgate.domain.types import Role
from dualgate.errors import (
    InvalidInputError,
    ModelRefusedError,
    ModelRejectedError,
    ModelUnavailableError,
    UnreadableAnswerError,
)
from dualgate.pipeline.endpoints import Answers, Secret
from dualgate.pipeline.ports import ModelTask, Said
from dualgate.testing import Fault

from .conftest import FORM, ask


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


async def test_a_replay_gives_the_same_answers_without_an_endpoint(server, model_of, path):
    recorded = await ask(RecordingModel(model_of(server), path))
    server.stop()
    replayed = await ask(ReplayModel(path))

    assert replayed.value == recorded.value
    assert replayed.usage == recorded.usage
    assert ReplayModel(path).name_for(ModelTask.EXTRACT) == "toy"


async def test_the_same_question_gets_its_answers_in_their_order_and_then_the_last(
    server, model_of, path
):
    recording = RecordingModel(model_of(server), path)
    for allergy in ("peanuts", "nuts"):
        server.answer("allergic", {"allergy": allergy, "sure": 1.0})
        await ask(recording)
    replay = ReplayModel(path)

    assert [(await ask(replay)).value.allergy for _ in range(3)] == ["peanuts", "nuts", "nuts"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.FILTER, ModelRefusedError),
        (Fault.WRONG_TYPES, UnreadableAnswerError),
        (Fault.HANG, ModelUnavailableError),
    ],
    ids=str,
)
async def test_what_went_wrong_goes_wrong_again(server, model_of, path, fault, error):
    server.misbehave(fault, times=None)
    model = model_of(server, answers=Answers.PLAIN, timeout_seconds=0.1, attempts=1)
    with pytest.raises(error) as first:
        await ask(RecordingModel(model, path))
    with pytest.raises(error) as again:
        await ask(ReplayModel(path))

    assert again.value.problem == first.value.problem
    assert getattr(again.value, "raw", "") == getattr(first.value, "raw", "")


async def test_another_question_has_no_answer(server, model_of, path):
    await ask(RecordingModel(model_of(server), path))

    with pytest.raises(ModelRejectedError, match="record again"):
        await ReplayModel(path).complete(
            [Said(Role.USER, "I like peanuts.")], FORM, task=ModelTask.EXTRACT
        )


async def test_a_recording_holds_no_key_and_no_address(server, model_of, path):
    await ask(RecordingModel(model_of(server, key=Secret("sk-very-secret")), path))

    assert "sk-very-secret" not in path.read_text()
    assert "127.0.0.1" not in path.read_text()


async def test_a_recording_is_continued_but_not_with_another_model(server, model_of, path):
    await ask(RecordingModel(model_of(server), path))
    await ask(RecordingModel(model_of(server), path))

    assert len(ReplayModel(path)) == 2
    with pytest.raises(InvalidInputError, match="other models"):
        RecordingModel(model_of(server, name="another"), path)


async def test_a_line_that_was_cut_off_is_left_out(server, model_of, path):
    await ask(RecordingModel(model_of(server), path))
    with path.open("a") as out:
        out.write('{"question": "abc", "ans')

    assert len(ReplayModel(path)) == 1


@pytest.mark.parametrize("text", ["", "hello\n", json.dumps({"recording": 2}) + "\n"])
def test_a_file_that_is_no_recording_is_refused(path, text):
    path.write_text(text)

    with pytest.raises(InvalidInputError, match="is no recording"):
        ReplayModel(path)
