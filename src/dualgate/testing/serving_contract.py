"""What every ServingStore does: API keys by their hash, answered requests by their user."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from dualgate.pipeline.serving import Answered, ApiKey, Scope
from dualgate.testing.backend import Backend
from dualgate.testing.builders import MONDAY, USER

LATER = MONDAY + timedelta(hours=1)


def a_key(key_id: str = "key-1", **fields: object) -> ApiKey:
    given = {"tenant": "acme", "name": "chat", "scope": Scope.WRITE, "created_at": MONDAY}
    return ApiKey(id=key_id, **{**given, **fields})  # type: ignore[arg-type]


def an_answer(**fields: object) -> Answered:
    given = {"user_id": USER, "key": "key", "fingerprint": "f", "begun_at": MONDAY}
    return Answered(**{**given, **fields})  # type: ignore[arg-type]


class ServingContract:
    """Keys are found by the hash of their secret alone; requests are known for a while."""

    async def test_a_key_is_found_by_its_digest_and_by_no_other(self, backend: Backend) -> None:
        await backend.serving.put_key(a_key(), "d1")

        assert await backend.serving.key_by_digest("d1") == a_key()
        assert await backend.serving.key_by_digest("d2") is None
        assert await backend.serving.key_by_digest("key-1") is None

    async def test_a_key_changes_and_keeps_its_digest(self, backend: Backend) -> None:
        await backend.serving.put_key(a_key(), "d1")
        ended = a_key(revoked_at=LATER, expires_at=LATER, last_used_at=LATER)
        await backend.serving.put_key(ended)

        assert await backend.serving.key_by_digest("d1") == ended

    async def test_keys_are_listed_oldest_first(self, backend: Backend) -> None:
        await backend.serving.put_key(a_key("b", created_at=LATER), "d2")
        await backend.serving.put_key(a_key("a"), "d1")

        assert [key.id for key in await backend.serving.keys()] == ["a", "b"]

    async def test_a_request_is_begun_once(self, backend: Backend) -> None:
        serving = backend.serving

        assert await serving.begin_answer(an_answer(), MONDAY) is None
        assert await serving.begin_answer(an_answer(fingerprint="g"), MONDAY) == an_answer()

    async def test_what_was_answered_is_known_with_its_subject(self, backend: Backend) -> None:
        done = an_answer(done_at=LATER, subject="item-1")
        await backend.serving.begin_answer(an_answer(), MONDAY)
        await backend.serving.end_answer(done)

        assert await backend.serving.begin_answer(an_answer(), MONDAY) == done

    async def test_a_dropped_request_may_come_again(self, backend: Backend) -> None:
        await backend.serving.begin_answer(an_answer(), MONDAY)
        await backend.serving.drop_answer(USER, "key")

        assert await backend.serving.begin_answer(an_answer(), MONDAY) is None

    async def test_old_requests_of_the_user_are_forgotten(self, backend: Backend) -> None:
        await backend.serving.begin_answer(an_answer(), MONDAY)

        assert await backend.serving.begin_answer(an_answer(begun_at=LATER), LATER) is None

    async def test_one_key_of_two_users_is_two_requests(self, backend: Backend) -> None:
        other = replace(an_answer(), user_id="bob")
        await backend.serving.begin_answer(an_answer(), MONDAY)

        assert await backend.serving.begin_answer(other, MONDAY) is None
        await backend.serving.drop_answer("bob", "key")
        assert await backend.serving.begin_answer(an_answer(), MONDAY) == an_answer()
