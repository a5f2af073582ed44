"""What reaches the queue: cleaned, redacted, named; and nothing that must not [W1, W3, P1]."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from dualgate import Candidate, Message
from dualgate.adapters.local.redact import SecretRedactor
from dualgate.errors import InvalidInputError
from dualgate.pipeline import intake

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
EAST = timezone(timedelta(hours=8))
REDACTOR = SecretRedactor()


def cleaned(*messages, session="s1", now=NOW):
    return intake.cleaned(list(messages), session, now, REDACTOR)


def texts(*contents):
    return [m.content for m in cleaned(*(Message("user", c) for c in contents))]


# --- ids


@pytest.mark.parametrize("bad", [None, "", "  ", "\t\n", 5, b"ann", ["ann"], "x" * 513, "a\x00b",
                                 "a" + chr(0xD83D)])  # fmt: skip
def test_an_id_that_names_nobody_is_refused_by_the_argument_it_came_in(bad):
    """[P4]"""
    with pytest.raises(InvalidInputError) as caught:
        intake.require_id("user_id", bad)

    assert caught.value.argument == "user_id"


@pytest.mark.parametrize("good", ["ann", "用户-1", "😀", "x" * 512, "*", "%"])
def test_any_other_text_is_an_id(good):
    assert intake.require_id("user_id", good) == good


# --- messages


@pytest.mark.parametrize("bad", ["hello", Message("user", "hello"), {"role": "user"}, None, 5,
                                 {"hello"}])  # fmt: skip
def test_messages_are_a_list(bad):
    with pytest.raises(InvalidInputError) as caught:
        intake.as_messages(bad)

    assert caught.value.argument == "messages"


@pytest.mark.parametrize(
    ("bad", "argument"),
    [
        ("hello", "messages[1]"),
        ({"role": "user"}, "messages[1]"),
        ({"role": "boss", "content": "hi"}, "role"),
        ({"role": "user", "content": 5}, "content"),
        ({"role": "user", "content": "hi", "at": "yesterday"}, "messages[1].at"),
        ({"role": "user", "content": "hi", "at": "2026-03-02T09:00:00"}, "at"),
        ({"role": "user", "content": "hi", "at": 5}, "at"),
        ({"role": "user", "content": "hi", "id": ""}, "id"),
    ],
)
def test_a_message_that_cannot_be_read_is_named_with_its_rule(bad, argument):
    with pytest.raises(InvalidInputError) as caught:
        intake.as_messages([{"role": "user", "content": "fine"}, bad])

    assert caught.value.argument == argument


def test_mappings_become_messages():
    (message,) = intake.as_messages(
        [{"role": "user", "content": "嗨", "at": "2026-03-02T09:00:00+08:00", "id": "m1"}]
    )

    assert message == Message("user", "嗨", datetime(2026, 3, 2, 9, tzinfo=EAST), "m1")


# --- what is taken out


def test_secrets_are_redacted_before_the_queue():
    """[P1]"""
    (text,) = texts("my password is hunter2secret!")

    assert "hunter2secret" not in text
    assert "[secret" in text


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("before <private>the affair</private> after", "before  after"),
        ("before <PRIVATE>the affair</Private> after", "before  after"),
        ("before <private>never closed", "before"),
        ("a <private>x</private> b <private>y</private> c", "a  b  c"),
        ("a <private>x <private>y</private> z</private> b", "a  b"),
        ("a </private> b", "a </private> b"),
    ],
)
def test_what_is_fenced_off_is_not_stored(said, kept):
    assert texts(said) == [kept]


def test_a_message_of_nothing_but_a_private_note_is_no_message():
    assert texts("<private>all of it</private>", "  ", "") == []


def test_our_own_block_is_taken_out_wherever_it_comes_back():
    """[W3]"""
    block = "<dualgate-memory>\n- likes tea\n</dualgate-memory>"

    assert texts(f"Hello.\n{block}\nWhat now?") == ["Hello.\n\nWhat now?"]


# --- times


def test_a_time_in_the_future_is_now_in_the_speakers_zone():
    (message,) = cleaned(Message("user", "hi", (NOW + timedelta(days=3)).astimezone(EAST)))

    assert message.at == NOW
    assert message.at.utcoffset() == timedelta(hours=8)


def test_a_time_in_the_past_is_kept_with_its_zone():
    at = datetime(2020, 1, 1, 8, tzinfo=EAST)
    (message,) = cleaned(Message("user", "hi", at))

    assert (message.at, message.at.utcoffset()) == (at, timedelta(hours=8))


def test_without_a_time_it_is_said_now():
    (message,) = cleaned(Message("user", "hi"))

    assert message.at == NOW


# --- names


def test_the_hosts_id_is_kept():
    (message,) = cleaned(Message("user", "hi", None, "m1"))

    assert message.id == "m1"


def test_the_same_id_twice_in_one_payload_is_one_message():
    """[W1]"""
    kept = cleaned(Message("user", "hi", None, "m1"), Message("user", "hi", None, "m1"))

    assert [m.content for m in kept] == ["hi"]


def test_the_same_timed_message_sent_twice_has_the_same_name():
    message = Message("user", "hi", NOW)

    assert cleaned(message)[0].id == cleaned(message, now=NOW + timedelta(days=9))[0].id


def test_what_is_said_again_later_is_another_turn():
    """[W1]: "tabs", "spaces", "tabs" — the last word must not be taken for the first"""
    first = cleaned(Message("user", "Use tabs."))
    again = cleaned(Message("user", "Use tabs."), now=NOW + timedelta(seconds=1))

    assert first[0].id != again[0].id


@pytest.mark.parametrize(
    "other",
    [
        cleaned(Message("user", "hi"), session="s2"),
        cleaned(Message("assistant", "hi")),
        cleaned(Message("user", "ho")),
        cleaned(Message("user", "hi", NOW - timedelta(seconds=1))),
        cleaned(Message("user", "other"), Message("user", "hi"))[1:],
    ],
    ids=["session", "role", "words", "time", "place"],
)
def test_session_role_words_time_and_place_tell_turns_apart(other):
    assert cleaned(Message("user", "hi"))[0].id != other[0].id


def test_a_giant_turn_is_cut_and_nothing_of_it_is_dropped(monkeypatch):
    monkeypatch.setattr(intake, "TURN_LIMIT", 10)
    kept = cleaned(Message("user", "0123456789abcdefghij再见", None, "big"))

    assert [m.id for m in kept] == ["big", "big#1", "big#2"]
    assert "".join(m.content for m in kept) == "0123456789abcdefghij再见"


def test_any_text_survives_the_queue():
    strange = "é😀 𠮷 \u202e rtl " + chr(0xD83D) + " \x00 end"
    messages = cleaned(Message("user", strange, NOW.astimezone(EAST)))

    back = intake.from_payload(json.loads(json.dumps(intake.to_payload(messages))))

    assert back == messages
    assert back[0].at.utcoffset() == timedelta(hours=8)


# --- candidates


def full_candidate(**fields):
    return Candidate(
        "preference", "The user pays with card", attribute="payment", value="card",
        qualifiers=("online",), polarity="-", confidence=0.9, evidence="implied", importance=0.4,
        correction=True, scope="task", event_at=NOW, expires_at=NOW + timedelta(days=1),
        entities=("Visa",), tags=("money",), sensitivity="personal", quote="by card",
        message_id="m1", **fields,
    )  # fmt: skip


def test_a_candidate_survives_the_queue():
    candidate = full_candidate()
    row = json.loads(json.dumps(intake.candidate_to_payload(candidate)))

    assert intake.candidate_from_payload(row) == candidate


@pytest.mark.parametrize(
    "field", ["content", "value", "quote", "subject", "attribute", "qualifiers", "entities",
              "tags"],
)  # fmt: skip
def test_no_part_of_a_proposed_candidate_carries_a_secret(field):
    """[P1]: secrets are never stored, anywhere"""
    login = "password is hunter2secret!"
    many = field in ("qualifiers", "entities", "tags")
    fields = {"content": "The user has a login", field: (login,) if many else login}
    candidate = Candidate("fact", fields.pop("content"), confidence=0.9, **fields)

    assert "hunter2secret" not in str(intake.redacted(candidate, REDACTOR))


def test_a_candidate_without_secrets_is_left_as_it_is():
    assert intake.redacted(full_candidate(), REDACTOR) == full_candidate()


@pytest.mark.parametrize(
    ("content", "attribute"),
    [
        ("The wifi password is hunter2secret", None),
        ("用户的密码是 hunter2secret", "login"),
        ("Has a login", "password"),
        ("Has a login", "wifi_password"),
        ("Has a login", "密码"),
    ],
)
def test_a_field_is_read_with_the_words_beside_it(content, attribute):
    """A password is one because of what stands before it; alone, its value is only a word."""
    given = Candidate(
        "fact", content, confidence=0.9, attribute=attribute, value="hunter2secret"
    )
    told = Candidate(
        "fact", content, confidence=0.9, quote="my password is hunter2secret",
        qualifiers=("hunter2secret", "at home"), entities=("hunter2secret",),
        tags=("hunter2secret",),
    )  # fmt: skip

    assert "hunter2secret" not in str(intake.redacted(given, REDACTOR))
    assert "hunter2secret" not in str(intake.redacted(told, REDACTOR))
    assert intake.redacted(told, REDACTOR).qualifiers == ("at home",)
