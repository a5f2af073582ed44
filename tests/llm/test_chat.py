"""What a model's answer becomes, whatever the endpoint does; over loopback sockets [W5]."""

from __future__ import annotations

import pytest

from dualgate.errors import (
    ModelError,
    ModelRefusedError,
    ModelRejectedError,
    ModelUnavailableError,
    UnreadableAnswerError,
)
from dualgate.pipeline.endpoints import Answers
from dualgate.pipeline.ports import ModelTask
from dualgate.testing import Fault, LlmServer, Manners

from .conftest import ANSWER, ASKED, FORM, Allergy, ask

SAID = Allergy(**ANSWER)


# --- answers


async def test_an_answer_comes_in_the_form_asked_for_with_its_bill(
    server, model_of, protocol, stream
):
    answer = await ask(model_of(server, protocol=protocol, stream=stream))

    assert answer.value == SAID
    assert answer.model == "toy"
    assert answer.seconds > 0
    assert (answer.usage.calls, answer.usage.estimated) == (1, False)
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0


@pytest.mark.parametrize(
    "fault", [Fault.FENCED, Fault.CHATTY, Fault.THINKING, Fault.REASONING], ids=str
)
async def test_what_models_put_around_an_answer_is_peeled_off(
    server, model_of, protocol, stream, fault
):
    server.misbehave(fault)

    answer = await ask(model_of(server, protocol=protocol, stream=stream))

    assert answer.value == SAID
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (Fault.EMPTY, "the answer is empty"),
        (Fault.DUPLICATE_KEY, "'allergy' stands twice"),
        (Fault.WRONG_TYPES, "allergy: Input should be a valid string; sure: Input"),
        (Fault.NOT_JSON, "not JSON"),
        (Fault.SAY, "holds no JSON object"),
    ],
    ids=str,
)
async def test_what_cannot_be_read_is_an_error_with_the_raw_answer_never_an_empty_one(
    server, model_of, protocol, stream, fault, problem
):
    model = model_of(server, protocol=protocol, stream=stream, answers=Answers.PLAIN)
    server.misbehave(fault, text="I would rather not.")

    with pytest.raises(UnreadableAnswerError, match=problem) as told:
        await ask(model)

    assert told.value.usage.calls == 1
    assert bool(told.value.raw) is (fault is not Fault.EMPTY)
    assert "peanuts" not in str(told.value)  # nobody's words end up in a log


async def test_the_prompt_come_back_is_no_answer(server, model_of, protocol):
    model = model_of(server, protocol=protocol, answers=Answers.PLAIN)
    server.misbehave(Fault.ECHO)

    with pytest.raises(UnreadableAnswerError):
        await ask(model)


async def test_json_that_the_user_said_is_no_answer_when_it_comes_back(server, model_of):
    planted = ASKED[1].content + ' {"allergy": "none", "sure": 1.0}'
    asked = (ASKED[0], type(ASKED[1])(ASKED[1].role, planted))
    model = model_of(server, answers=Answers.JSON_OBJECT)
    server.misbehave(Fault.ECHO)

    with pytest.raises(UnreadableAnswerError, match="repeats what was asked"):
        await model.complete(asked, FORM, task=ModelTask.EXTRACT)


async def test_what_a_model_makes_up_is_read_as_said_for_the_gates_to_judge(server, model_of):
    server.misbehave(Fault.HALLUCINATE, value={"allergy": "a yacht", "sure": 1.0})

    assert (await ask(model_of(server))).value == Allergy(allergy="a yacht", sure=1.0)


async def test_an_answer_cut_by_its_token_limit_says_what_to_change(server, model_of, protocol):
    model = model_of(server, protocol=protocol)
    server.misbehave(Fault.NO_ROOM)
    server.misbehave(Fault.NO_ROOM, thinking=True)

    with pytest.raises(UnreadableAnswerError, match=r"in the middle.*model\.output_tokens"):
        await ask(model)
    with pytest.raises(UnreadableAnswerError, match="while it still thought"):
        await ask(model, output_tokens=100)

    assert len(server.requests) == 2  # no other form would have helped
    assert server.requests[-1].body["max_tokens"] == 100


async def test_a_content_filter_is_told_apart_from_an_outage(server, model_of, protocol, stream):
    server.misbehave(Fault.FILTER)
    server.misbehave(
        Fault.FAIL, status=400, message="data_inspection_failed: Input may be inappropriate"
    )
    model = model_of(server, protocol=protocol, stream=stream)

    for _ in range(2):
        with pytest.raises(ModelRefusedError):
            await ask(model)

    assert len(server.requests) == 2


# --- the ladder of forms


@pytest.mark.parametrize(
    ("forms", "kept"),
    [
        (("json_schema", "json_object", "plain"), Answers.JSON_SCHEMA),
        (("json_object", "plain"), Answers.JSON_OBJECT),
        (("plain",), Answers.PLAIN),
    ],
)
async def test_an_endpoint_is_asked_for_the_surest_form_that_it_takes(model_of, forms, kept):
    with LlmServer(lambda _: ANSWER, Manners(forms=forms)) as server:
        model = model_of(server)
        first = await ask(model)
        before = len(server.requests)
        second = await ask(model)

        assert first.value == second.value == SAID
        assert model.answers_of("toy") is kept
        assert [asked.form for asked in server.requests[before:]] == [kept]  # remembered


async def test_an_endpoint_that_takes_a_schema_and_ignores_it_is_asked_for_less(
    model_of, protocol
):
    with LlmServer(lambda _: ANSWER, Manners(obeys=False)) as server:
        model = model_of(server, protocol=protocol)
        answer = await ask(model)

        assert answer.value == SAID
        assert answer.usage.calls == 2  # the useless one is on the bill, too
        assert model.answers_of("toy") is not Answers.JSON_SCHEMA


async def test_one_bad_answer_of_a_proven_endpoint_does_not_lower_what_is_asked(server, model_of):
    model = model_of(server)
    await ask(model)
    server.misbehave(Fault.SAY, text="no")

    with pytest.raises(UnreadableAnswerError):
        await ask(model)
    await ask(model)

    assert {asked.form for asked in server.requests} == {"json_schema"}


async def test_a_declared_form_is_kept_to(model_of):
    with LlmServer(lambda _: ANSWER, Manners(forms=("json_object", "plain"))) as server:
        with pytest.raises(ModelRejectedError, match="not supported"):
            await ask(model_of(server, answers=Answers.JSON_SCHEMA))

        assert len(server.requests) == 1


async def test_where_no_schema_is_sent_it_stands_in_the_prompt(server, model_of, protocol):
    model = model_of(server, protocol=protocol, answers=Answers.JSON_OBJECT)

    assert (await ask(model)).value == SAID
    assert '"allergy"' in server.requests[0].system
    assert "JSON" in server.requests[0].system


async def test_a_model_that_wants_its_limit_in_the_newer_field_gets_it_there(model_of):
    manners = Manners(token_field="max_completion_tokens")  # noqa: S106
    with LlmServer(lambda _: ANSWER, manners) as server:
        model = model_of(server)
        await ask(model)
        await ask(model)

        assert [("max_tokens" in a.body) for a in server.requests] == [True, False, False]


async def test_no_request_names_a_temperature_and_body_adds_what_it_says(server, model_of):
    await ask(model_of(server, body={"enable_thinking": False}))

    assert "temperature" not in server.requests[0].body
    assert server.requests[0].body["enable_thinking"] is False


async def test_each_task_may_have_its_own_model(server, model_of):
    model = model_of(server, names={ModelTask.JUDGE: "small"})
    await model.complete(ASKED, FORM, task=ModelTask.JUDGE)
    await model.complete(ASKED, FORM, task=ModelTask.AUDIT)

    assert [asked.body["model"] for asked in server.requests] == ["small", "toy"]
    assert (model.name_for(ModelTask.JUDGE), model.name_for(ModelTask.AUDIT)) == ("small", "toy")


# --- what may pass is tried again


@pytest.mark.parametrize(
    "fault",
    [
        (Fault.RATE_LIMIT, {"retry_after": 0.02}),
        (Fault.RATE_LIMIT, {"retry_after": None}),
        (Fault.FAIL, {"status": 500}),
        (Fault.FAIL, {"status": 503}),
        (Fault.FAIL, {"status": 529}),
        (Fault.HANG, {}),
        (Fault.CUT, {}),
    ],
    ids=lambda f: f"{f[0]} {f[1]}",
)
async def test_what_may_pass_is_tried_again(server, model_of, protocol, stream, fault):
    kind, options = fault
    server.misbehave(kind, **options)

    answer = await ask(model_of(server, protocol=protocol, stream=stream))

    assert answer.value == SAID
    assert len(server.requests) == 2
    # Who answers at once that it has no time asks for no money; what got lost may have to be paid.
    assert answer.usage.calls == (2 if kind in (Fault.HANG, Fault.CUT) else 1)


@pytest.mark.parametrize("fault", [Fault.RATE_LIMIT, Fault.FAIL, Fault.HANG, Fault.CUT], ids=str)
async def test_an_outage_that_lasts_is_an_error_after_the_last_attempt(
    server, model_of, protocol, fault
):
    server.misbehave(fault, times=None)

    with pytest.raises(ModelUnavailableError):
        await ask(model_of(server, protocol=protocol, timeout_seconds=0.1))

    assert len(server.requests) == 3


async def test_retry_after_is_waited_for(server, model_of):
    server.misbehave(Fault.RATE_LIMIT, retry_after=0.4)

    assert (await ask(model_of(server))).seconds >= 0.4


async def test_a_long_retry_after_is_left_to_whoever_asked(server, model_of):
    server.misbehave(Fault.RATE_LIMIT, retry_after=900, times=None)

    with pytest.raises(ModelUnavailableError) as told:
        await ask(model_of(server))

    assert told.value.retry_after == 900
    assert told.value.status == 429
    assert len(server.requests) == 1


async def test_one_answer_takes_no_longer_than_its_deadline(server, model_of):
    server.misbehave(Fault.HANG, times=None)
    model = model_of(server, timeout_seconds=0.4, deadline_seconds=0.4)

    with pytest.raises(ModelUnavailableError, match=r"within 0\.4 s"):
        await ask(model)


async def test_a_server_that_is_not_there_is_unavailable_and_costs_nothing(server, model_of):
    model = model_of(server, retry_seconds=0.01)
    server.stop()

    with pytest.raises(ModelUnavailableError, match="no connection") as told:
        await ask(model)

    assert told.value.usage.calls == 0


# --- what will not pass is told, with what to do


@pytest.mark.parametrize(
    ("status", "message", "advice"),
    [
        (401, "no", "Set the key in DUALGATE_MODEL__KEY"),
        (402, "pay first", "quota or the balance"),
        (429, "insufficient_quota", "quota or the balance"),
        (404, "no such model", "Check base_url"),
        (400, "maximum context length is 8192 tokens", "too long for this model"),
        (301, "moved", "has moved"),
    ],
)
async def test_what_will_not_pass_is_told_with_what_to_do(
    server, model_of, status, message, advice
):
    server.misbehave(Fault.FAIL, status=status, message=message, times=None)

    with pytest.raises(ModelRejectedError, match=advice):
        await ask(model_of(server, answers=Answers.PLAIN))

    assert len(server.requests) == 1


async def test_a_fault_with_a_good_status_is_a_fault(server, model_of):
    server.misbehave(Fault.SAY, text="")
    model = model_of(server)
    server.misbehave(Fault.FAIL, status=200, message="upstream is overloaded")

    # First an empty answer, of which the ladder makes another question, then the fault.
    assert (await ask(model)).value == SAID
    assert len(server.requests) == 3


async def test_errors_of_models_are_one_family(server, model_of):
    server.misbehave(Fault.FAIL, status=403)

    with pytest.raises(ModelError) as told:
        await ask(model_of(server))

    assert told.value.advice


async def test_a_retry_says_nothing_to_the_hosts_output_or_log(server, model_of, caplog, capfd):
    server.misbehave(Fault.FAIL)
    await ask(model_of(server))

    assert [r for r in caplog.records if r.levelname not in ("DEBUG", "INFO")] == []
    assert capfd.readouterr() == ("", "")
