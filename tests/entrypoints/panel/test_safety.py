"""Memory text is data: no script, style or link in it ever runs. Forms are ours alone [U1, P4]."""

from __future__ import annotations

import re

import httpx2
import pytest
from tests.entrypoints.panel.conftest import Life, Served

from dualgate import Settings
from dualgate.config import ServerSettings
from dualgate.entrypoints.http.access import SESSION_COOKIE

HOSTILE = (
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    "<svg onload=window.pwned=3><style>*{display:none}</style>",
    "\"><iframe srcdoc='<script>parent.pwned=4</script>'></iframe>",
    "<a href='javascript:window.pwned=5'>click me</a> [link](javascript:window.pwned=6)",
    "{{ 7 * 7 }} {% include '/etc/passwd' %} ${window.pwned=7}",
    "<div hx-get='http://127.0.0.1:9/steal' hx-trigger='load'>x</div>",
    "</bdi></a></ul></main><form action='http://127.0.0.1:9/'><button>Erase for good</button>",
    "</title><meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "\u202egnihtyreve esare\u202c \u2066hidden\u2069 <hx-partial hx-target='body'>gone",
    "' onmouseover='window.pwned=8' autofocus onfocus='window.pwned=9",
    "&lt;script&gt;window.pwned = 10&lt;/script&gt; <link rel=stylesheet href=//127.0.0.1:9/x>",
)


@pytest.fixture
def hostile(life):
    """Every text as content, quote, session id, user's challenge, finding and correction."""
    ids = [life.says(text, session=f"s-{text}"[:150]).item_id for text in HOSTILE]
    life.freezes(HOSTILE[0] + " always", attribute="a", value="1")
    life.says(
        HOSTILE[1] + " instead", item_type="preference", attribute="a", value="2", confidence=0.8
    )
    life.do(life.memory.correct("ann", ids[2], HOSTILE[2] + " corrected"))
    return ids


def test_hostile_memories_are_shown_word_for_word_and_nothing_of_them_runs(
    any_visitor, hostile
):
    visitor, foreign = any_visitor, []
    own = visitor.served.address
    visitor.page.on("request", lambda r: foreign.append(r.url) if own not in r.url else None)
    visitor.page.on("dialog", lambda dialog: foreign.append(dialog.message))
    for path in ("/", "/decide", "/happened", "/next?says=<script>window.pwned=1</script>",
                 "/privacy", "/health", '/?text="><script>window.pwned=1</script>',
                 *(f"/items/{i}" for i in hostile)):  # fmt: skip
        visitor.opens(path)
        visitor.page.mouse.move(300, 300)
        inside = "main bdi *, main blockquote *, main pre *, main q *, main iframe, main script"
        assert visitor.page.locator(inside).count() == 0, path
        assert visitor.page.locator("[hx-get]:not(#search)").count() == 0, path
        assert visitor.page.evaluate("window.pwned") is None, path

    visitor.opens("/")
    shown = " ".join(visitor.page.locator(".said").all_text_contents())
    assert all(" ".join(text.split()) in shown for text in HOSTILE if "gnihtyreve" not in text
               and text != HOSTILE[2])  # fmt: skip
    visitor.page.wait_for_timeout(200)
    assert foreign == []


def test_hostile_text_stays_text_when_it_arrives_live(visit, life):
    life.says("I play the cello")
    visitor = visit()
    visitor.opens("/happened")
    visitor.page.wait_for_timeout(300)
    for text in HOSTILE:
        life.says(text)
    visitor.page.get_by_text("<script>window.pwned").first.wait_for()
    visitor.page.wait_for_timeout(700)

    assert visitor.page.evaluate("window.pwned") is None
    assert visitor.page.locator("#timeline bdi *, #timeline q *").count() == 0


def test_the_content_policy_allows_our_own_files_alone(served, life):
    life.says("I play the cello")
    answer = httpx2.get(f"{served.address}/panel/", timeout=60)
    policy = answer.headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "unsafe" not in policy
    inline = r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:"
    assert not re.search(inline, answer.text)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/items/{id}/like", "/items/{id}/forget", "/items/{id}/erase", "/items/{id}/correct",
        "/contests/{id}", "/pending/x", "/privacy/mode", "/privacy/erase", "/privacy/keep/{id}",
        "/health/revive", "/health/class", "/audit", "/findings", "/look", "/choose",
        "/sign-in", "/sign-out",
    ],
)  # fmt: skip
def test_no_form_of_another_site_changes_anything(served, life, path):
    item = life.item(life.says("I play the cello").item_id)
    where = f"{served.address}/panel{path.format(id=item.id)}"
    fields = {"mode": "private", "name": "ann", "user": "bob", "content": "x", "word": "accept",
              "job_id": "x", "finding_id": "x"}  # fmt: skip
    answer = httpx2.post(where, data={**fields, "csrf_token": "guessed"}, timeout=60)

    assert answer.status_code == 403
    assert life.item(item.id) == item
    assert life.do(life.memory.stats("ann")).pools.capture_paused is False


@pytest.mark.parametrize("back", ["//evil.example/", "https://evil.example/", "/\\evil.example"])
def test_nobody_is_led_away_from_the_panel(served, life, back):
    life.says("I play the cello")
    with httpx2.Client(base_url=served.address, timeout=60) as client:
        page = client.get("/panel/")
        token = re.search(r'name="csrf_token" value="(\w+)"', page.text)[1]
        answer = client.post("/panel/look", data={"csrf_token": token, "back": back, "lang": "zh"})

    assert answer.headers["location"] == "/panel/"


def keyed():
    return Settings(server=ServerSettings(keyless=False))


def test_without_a_key_nothing_is_shown_and_a_key_signs_in(browser):
    with Served(keyed()) as served:
        life = Life(served)
        life.says("I play the cello", user="tenant:acme/ann")
        life.says("I own a red bicycle", user="tenant:other/ann")
        key = served.do(served.memory.keys.create("acme", scope="admin")).secret
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        page.goto(f"{served.address}/panel/")
        page.get_by_label("API key").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("This key is unknown").wait_for()
        page.get_by_label("API key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("I play the cello").wait_for()

        assert "bicycle" not in page.content()
        page.goto(f"{served.address}/panel/health")
        assert "other" not in page.locator("main").inner_text()
        (cookie,) = [c for c in context.cookies() if c["name"] == SESSION_COOKIE]
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("API key").wait_for()
        context.close()


def test_a_reading_key_shows_no_verb_and_can_use_none():
    """[P4]"""
    with Served(keyed()) as served:
        life = Life(served)
        item_id = life.says("I play the cello", user="tenant:acme/ann").item_id
        key = served.do(served.memory.keys.create("acme", scope="read")).secret
        cookies = {SESSION_COOKIE: key}
        with httpx2.Client(base_url=served.address, cookies=cookies, timeout=60) as client:
            page = client.get(f"/panel/items/{item_id}?user=ann")
            token = re.search(r'name="csrf_token" value="(\w+)"', page.text)[1]
            form = {"csrf_token": token}
            answer = client.post(f"/panel/items/{item_id}/like?user=ann", data=form)

            assert f"{item_id}/like" not in page.text
            assert answer.status_code == 403
            assert client.get("/panel/health?user=ann").status_code == 403


@pytest.mark.parametrize("scope", ["read", "write", "admin"])
def test_taking_all_along_and_erasing_all_need_an_admin_key_as_over_rest(scope):
    """[P3, P4]"""
    with Served(keyed()) as served:
        Life(served).says("I play the cello", user="tenant:acme/ann")
        key = served.do(served.memory.keys.create("acme", scope=scope)).secret
        cookies = {SESSION_COOKIE: key}
        with httpx2.Client(base_url=served.address, cookies=cookies, timeout=60) as client:
            page = client.get("/panel/privacy?user=ann")
            token = re.search(r'name="csrf_token" value="(\w+)"', page.text)[1]
            taken = client.get("/panel/privacy/export?user=ann")
            asked = client.get("/panel/privacy/erase?user=ann")
            form = {"csrf_token": token, "name": "ann"}
            erased = client.post("/panel/privacy/erase?user=ann", data=form)

        may = scope == "admin"
        assert ("/privacy/export" in page.text, "/privacy/erase" in page.text) == (may, may)
        assert taken.status_code == asked.status_code == (200 if may else 403)
        assert erased.status_code == (303 if may else 403)
        assert served.do(served.memory.stats("tenant:acme/ann")).turns == (0 if may else 1)


def test_keys_cannot_be_tried_in_a_row_on_the_sign_in_page():
    settings = Settings(server=ServerSettings(keyless=False, requests_per_minute=3))
    with Served(settings) as served, httpx2.Client(base_url=served.address, timeout=60) as client:
        page = client.get("/panel/sign-in")
        token = re.search(r'name="csrf_token" value="(\w+)"', page.text)[1]
        tried = [
            client.post("/panel/sign-in", data={"csrf_token": token, "key": f"dg_{n}"}).status_code
            for n in range(8)  # more than two windows let through
        ]

    assert (tried[0], 429 in tried) == (403, True)
