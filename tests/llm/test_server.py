"""The loopback model itself: three protocols over plain HTTP, and orders obeyed in turn."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from dualgate.errors import InvalidInputError
from dualgate.testing import Fault, LlmServer, Manners
from dualgate.testing.llm_speech import sample

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def server():
    with LlmServer(lambda asked: {"heard": asked.text}) as running:
        yield running


def post(server, path, body, **headers):
    request = urllib.request.Request(  # noqa: S310 - loopback
        server.url + path, json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310
        return response.read().decode()


def status_of(server, path, body, **headers):
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(server, path, body, **headers)
    refused.value.close()
    return refused.value.code, refused.value.headers.get("Retry-After")


def test_it_speaks_openais_chat(server):
    answer = json.loads(post(server, "/chat/completions", CHAT))

    assert answer["choices"][0]["message"]["content"] == '{"heard": "Hello"}'
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["total_tokens"] > 0


def test_it_speaks_anthropics_messages(server):
    answer = json.loads(post(server, "/messages", {**CHAT, "max_tokens": 9, "system": "Be brief"}))

    assert answer["content"] == [{"type": "text", "text": '{"heard": "Hello"}'}]
    assert answer["stop_reason"] == "end_turn"
    assert server.requests[0].system == "Be brief"


def test_it_speaks_openais_embeddings(server):
    answer = json.loads(post(server, "/embeddings", {"model": "m", "input": ["a", "b"]}))

    assert [row["index"] for row in answer["data"]] == [0, 1]
    assert {len(row["embedding"]) for row in answer["data"]} == {64}


def test_it_streams_both_kinds_of_chat(server):
    openai = post(server, "/chat/completions", {**CHAT, "stream": True})
    anthropic = post(server, "/messages", {**CHAT, "stream": True})

    assert openai.endswith("data: [DONE]\n\n")
    assert anthropic.startswith("event: message_start\n")
    assert "event: message_stop\n" in anthropic


def test_orders_are_obeyed_in_turn_and_end(server):
    server.misbehave(Fault.RATE_LIMIT, retry_after=7)
    server.misbehave("fail", times=2, status=503)
    server.misbehave(Fault.FAIL, times=None, status=418)
    told = [status_of(server, "/chat/completions", CHAT) for _ in range(4)]
    server.behave()

    assert told == [(429, "7"), (503, None), (503, None), (418, None)]
    assert post(server, "/chat/completions", CHAT)
    assert len(server.asked("openai")) == 5


def test_the_latest_answer_for_a_text_wins_over_the_script(server):
    server.answer("Hello", {"said": 1})
    server.answer("Hello", "plain text")

    assert '"content": "plain text"' in post(server, "/chat/completions", CHAT)


@pytest.mark.parametrize(
    ("manners", "body", "status"),
    [
        (Manners(key="k"), CHAT, 401),
        (Manners(models=("other",)), CHAT, 404),
        (Manners(forms=("plain",)), {**CHAT, "response_format": {"type": "json_object"}}, 400),
        (Manners(), {**CHAT, "response_format": {"type": "json_object"}}, 400),  # no word "json"
        (Manners(token_field="max_completion_tokens"), {**CHAT, "max_tokens": 9}, 400),  # noqa: S106
    ],
)
def test_it_refuses_what_its_kind_of_endpoint_refuses(manners, body, status):
    with LlmServer(manners=manners) as server:
        assert status_of(server, "/chat/completions", body)[0] == status


def test_a_refused_request_uses_up_no_order():
    with LlmServer(manners=Manners(key="k")) as server:
        server.misbehave(Fault.EMPTY)
        status_of(server, "/chat/completions", CHAT)
        answer = json.loads(post(server, "/chat/completions", CHAT, authorization="Bearer k"))

        assert answer["choices"][0]["message"]["content"] == ""


def test_another_path_is_not_found_and_an_unknown_fault_is_refused(server):
    assert status_of(server, "/models", {})[0] == 404
    with pytest.raises(ValueError, match="not a valid Fault"):
        server.misbehave("explode")


def test_it_has_no_address_before_it_starts_and_lets_go_of_what_hangs():
    server = LlmServer()
    with pytest.raises(InvalidInputError, match="must be started"):
        _ = server.url
    with server:
        assert server.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object", "properties": {"a": {"type": "array"}}}, {"a": []}),
        ({"enum": ["x", "y"]}, "x"),
        ({"const": 3}, 3),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ({"$ref": "#/$defs/N", "$defs": {"N": {"type": "number"}}}, 0.0),
        ({}, None),
    ],
)
def test_without_a_script_the_smallest_value_of_a_schema_answers(schema, value):
    assert sample(schema) == value
