"""Who may call, and whose memory it is [P4]."""

from __future__ import annotations

import pytest

from dualgate.entrypoints.http import tenants
from dualgate.errors import InvalidInputError

from .conftest import TEA, serving


@pytest.fixture
async def closed():
    async with serving(keyless=False) as made:
        yield made


async def test_without_a_key_nothing_is_told(closed):
    answer = await (await closed.client()).get("/v1/items", params={"user_id": "ann"})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"


async def test_keyless_lets_in_this_machine_and_nobody_else(server):
    here = await server.client()
    elsewhere = await server.client(peer="10.0.0.7")
    proxied = await server.client(**{"x-forwarded-for": "10.0.0.7"})
    asked = [await each.get("/v1/users") for each in (here, elsewhere, proxied)]

    assert [answer.status_code for answer in asked] == [200, 401, 401]


@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
async def test_a_key_opens_in_either_header(closed, header):
    key = await closed.key()
    said = f"Bearer {key}" if header == "authorization" else key
    answer = await (await closed.client(**{header: said})).get("/v1/users")

    assert answer.status_code == 200


async def test_a_key_that_is_wrong_is_not_saved_by_keyless(server):
    answer = await (await server.client("dg_" + "x" * 43)).get("/v1/users")

    assert answer.status_code == 401


async def test_two_tenants_may_call_their_users_the_same_and_never_meet(closed, observed):
    acme = await closed.client(await closed.key("acme"))
    globe = await closed.client(await closed.key("globe"))
    said = (await observed(use=acme)).json()["decisions"][0]
    item = f"/v1/items/{said['item_id']}"
    seen = [(await each.get("/v1/items", params={"user_id": "ann"})).json()["items"]
            for each in (acme, globe)]  # fmt: skip

    assert [[each["content"] for each in items] for items in seen] == [[TEA], []]
    assert said["user_id"] == "ann"
    assert (await globe.get(item, params={"user_id": "ann"})).status_code == 404
    assert (await globe.get(item, params={"user_id": "tenant:acme/ann"})).status_code == 404
    assert (await globe.get("/v1/users")).json()["users"] == []
    assert (await acme.get("/v1/users")).json()["users"] == ["ann"]


async def test_the_local_tenant_cannot_name_another_tenants_user(server, observed):
    acme = await server.client(await server.key("acme"))
    await observed(use=acme)
    local = await server.client()
    answer = await local.get("/v1/items", params={"user_id": "tenant:acme/ann"})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["argument"] == "user_id"
    assert (await local.get("/v1/users")).json()["users"] == []


async def test_the_local_tenant_has_the_users_of_an_embedded_memory(server, observed):
    await observed(user_id="小雨/1")

    assert await server.memory.users() == ["小雨/1"]


async def test_a_tenant_in_the_body_is_an_error(client):
    body = {"user_id": "ann", "session_id": "s", "messages": [], "tenant": "acme"}
    answer = await client.post("/v1/observe", json=body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["argument"] == "tenant"


@pytest.mark.parametrize("user", ["", "  ", None])
async def test_a_missing_or_blank_user_is_an_error_never_everybody(client, observed, user):
    await observed()
    given = {} if user is None else {"user_id": user}
    answers = [
        await client.get("/v1/items", params=given),
        await client.post("/v1/recall", json={"query": "tea", **given}),
        await client.post("/v1/maintain", json=given),
    ]

    assert [answer.status_code for answer in answers] == [422, 422, 422]
    assert {answer.json()["errors"][0]["argument"] for answer in answers} == {"user_id"}


@pytest.mark.parametrize(
    ("scope", "may"),
    [("read", (200, 403, 403)), ("write", (200, 202, 403)), ("admin", (200, 202, 200))],
)
async def test_a_scope_includes_those_below_it_and_no_more(closed, scope, may):
    client = await closed.client(await closed.key(scope=scope))
    said = {"user_id": "ann", "session_id": "s", "messages": []}
    answers = (
        await client.get("/v1/items", params={"user_id": "ann"}),
        await client.post("/v1/observe", json=said),
        await client.get("/v1/keys"),
    )

    assert tuple(answer.status_code for answer in answers) == may


async def test_a_tenants_admin_does_not_run_the_server(closed):
    of_tenant = await closed.client(await closed.key("acme"))
    operator = await closed.client(await closed.key(""))
    asked = [
        [(await each.get(path)).status_code for path in ("/v1/stats/all", "/v1/dead/all")]
        for each in (of_tenant, operator)
    ]

    assert asked == [[403, 403], [200, 200]]


async def test_a_revoked_key_opens_nothing_from_then_on(closed):
    admin = await closed.client(await closed.key())
    made = (await admin.post("/v1/keys", json={"name": "chat"})).json()
    other = await closed.client(made["secret"])
    before = await other.get("/v1/stats", params={"user_id": "ann"})
    await admin.post(f"/v1/keys/{made['key']['id']}/revoke")
    after = await other.get("/v1/stats", params={"user_id": "ann"})

    assert (before.status_code, after.status_code) == (200, 401)


async def test_a_rotated_key_works_on_for_its_grace_alone(closed):
    admin = await closed.client(await closed.key())
    made = (await admin.post("/v1/keys", json={})).json()
    place = f"/v1/keys/{made['key']['id']}/rotate"
    new = (await admin.post(place, json={"grace_hours": 0})).json()
    codes = [
        (await (await closed.client(secret)).get("/v1/pending?user_id=ann")).status_code
        for secret in (made["secret"], new["secret"])
    ]

    assert codes == [401, 200]
    assert new["key"]["tenant"] == "acme"
    assert new["key"]["scope"] == "write"


async def test_a_tenant_sees_and_ends_no_key_of_another(closed):
    acme = await closed.client(await closed.key("acme"))
    made = (await acme.post("/v1/keys", json={})).json()["key"]
    globe = await closed.client(await closed.key("globe"))

    assert made["id"] not in [k["id"] for k in (await globe.get("/v1/keys")).json()["keys"]]
    assert (await globe.post(f"/v1/keys/{made['id']}/revoke")).status_code == 404


async def test_when_a_key_was_last_used_is_known(closed):
    admin = await closed.client(await closed.key())
    (key,) = (await admin.get("/v1/keys")).json()["keys"]

    assert key["last_used_at"] is not None
    assert "secret" not in key
    assert "digest" not in key


async def test_too_many_requests_of_one_key_are_refused_and_of_another_are_not():
    async with serving(keyless=False, requests_per_minute=3) as server:
        one, other = [await server.client(await server.key(t)) for t in ("acme", "globe")]
        codes = [(await one.get("/v1/users")).status_code for _ in range(4)]
        refused = await one.get("/v1/users")

        assert codes == [200, 200, 200, 429]
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (await other.get("/v1/users")).status_code == 200


async def test_keys_cannot_be_tried_in_a_row():
    async with serving(keyless=False, requests_per_minute=3) as server:
        tried = [await server.client(f"dg_{n:043d}") for n in range(4)]
        codes = [(await each.get("/v1/users")).status_code for each in tried]

        assert codes == [401, 401, 401, 429]


@pytest.mark.parametrize("tenant", ["Acme", "a/b", "a b", "-a", "a" * 41, "租户"])
def test_a_tenant_has_a_plain_name(tenant):
    with pytest.raises(InvalidInputError, match="tenant"):
        tenants.stored_id(tenant, "ann")


def test_a_user_id_that_is_too_long_with_its_tenant_is_an_error_about_the_user_id():
    with pytest.raises(InvalidInputError, match="user_id"):
        tenants.stored_id("acme", "x" * 510)
