"""What the pages tell, with a real browser, in both languages, wide and on a phone [U1]."""

from __future__ import annotations

import zipfile

import pytest

from dualgate.testing.builders import MONDAY

PAGES = ("/", "/decide", "/happened", "/next?says=cello", "/privacy", "/health", "/choose")


def test_the_memory_page_says_why_each_memory_is_here(visitor, life):
    item_id = life.freezes()
    life.says("I play the cello")
    visitor.opens("/")
    say, item = visitor.say, life.item(item_id)

    settled = visitor.page.locator(".memory.frozen")
    assert settled.locator(".said").inner_text() == "I always prefer short answers"
    assert say("why.said", n=3, date=say.day(item.last_seen_at)) in settled.inner_text()
    assert say("why.frozen", date=say.day(item.frozen_at)) in settled.inner_text()
    assert say("memory.strength", percent=round(item.score * 100)) in settled.inner_text()
    headings = visitor.page.locator("#found h2").all_inner_texts()
    assert headings == [f"{say('group.preferences')} 1", f"{say('group.facts')} 1"]


def test_a_search_narrows_the_list_while_one_types(visitor, life):
    life.says("I play the cello")
    life.says("I own a red bicycle")
    visitor.opens("/")
    visitor.page.get_by_label(visitor.say("memory.search")).press_sequentially("CELL")
    visitor.page.locator(".memory").nth(1).wait_for(state="detached")

    assert visitor.page.locator(".said").all_inner_texts() == ["I play the cello"]
    assert visitor.page.evaluate("document.activeElement.id") == "search"


def test_a_list_is_filtered_by_pool_and_kind(visitor, life):
    life.freezes()
    life.says("I play the cello")
    visitor.opens("/")
    visitor.page.get_by_label(visitor.say("memory.pool"), exact=True).select_option("hot")
    visitor.presses("memory.show")
    visitor.page.wait_for_url("**pool=hot**")

    assert visitor.page.locator(".said").all_inner_texts() == ["I play the cello"]
    visitor.page.get_by_label(visitor.say("memory.type"), exact=True).select_option("rule")
    visitor.presses("memory.show")
    visitor.reads("memory.none_found")


def test_a_long_list_goes_on_over_the_page(visit, life):
    async def many():
        for n in range(160):
            await life.memory.forget("ann", ids[n])

    ids = [life.says(f"I own box number {n}", session=f"s{n}").item_id for n in range(160)]
    life.do(many())
    visitor = visit()
    visitor.opens("/?pool=forgotten")

    assert visitor.page.locator(".memory").count() == 160


def test_a_memory_shows_quotes_moves_with_numbers_and_uses(visitor, life):
    item_id = life.freezes()
    life.do(life.memory.context("ann", "talk-next", "short answers"))
    visitor.opens(f"/items/{item_id}")
    text, say = visitor.text(), visitor.say

    assert visitor.page.locator(".quotes blockquote").all_inner_texts() == [
        "I always prefer short answers"
    ] * 3
    assert all(say("item.session", session=f"talk-{n}") in text for n in (1, 2, 3, "next"))
    shown = visitor.page.locator(".timeline strong").all_inner_texts()
    assert shown == [say("cause.froze"), say("cause.confirmed"), say("cause.admitted")]
    visitor.page.locator(".timeline summary").first.click()
    assert "confirm count" in visitor.page.locator(".timeline dl").first.inner_text()
    assert say("item.used_shown") in text


def test_a_memory_with_versions_shows_them_side_by_side(visitor, life):
    shape = {"item_type": "project", "attribute": "database"}
    life.says("We use MySQL", value="MySQL", **shape)
    newer = life.says("We use PostgreSQL", value="PostgreSQL", correction=True, **shape)
    assert newer.outcome == "superseded"
    visitor.opens(f"/items/{newer.item_id}")

    versions = visitor.page.locator(".versions li")
    assert versions.locator("bdi").all_inner_texts() == ["We use MySQL", "We use PostgreSQL"]
    versions.locator("a").click()
    visitor.page.wait_for_url(f"**{life.items(status='superseded')[0].id}")
    visitor.page.get_by_text(visitor.say("status.superseded"), exact=True).first.wait_for()


def test_what_happens_appears_by_itself_while_the_page_is_open(visitor, life):
    life.says("I play the cello")
    visitor.opens("/")
    visitor.presses("nav.happened", within=visitor.page.locator("header"))
    visitor.page.locator("#timeline").get_by_text("I play the cello").first.wait_for()
    visitor.page.wait_for_timeout(300)  # the browser opens the stream after the page
    life.says("I own a red bicycle")
    visitor.page.get_by_text("I own a red bicycle").first.wait_for()

    titles = visitor.page.locator("#timeline strong").all_inner_texts()
    assert titles == [visitor.say("outcome.admitted")] * 2
    polite = visitor.page.locator("#polite")
    polite.filter(has_text=visitor.say("nav.updated")).wait_for(state="attached")


def test_the_timeline_says_what_was_not_remembered_and_why(visitor, life):
    life.says("I might like jazz", confidence=0.3)
    life.says("I play the cello")
    visitor.opens("/happened")
    visitor.presses("happened.left")
    visitor.page.wait_for_url("**show=left")
    refused = visitor.page.locator("#timeline li")

    assert refused.count() == 1
    assert visitor.say("outcome.refused") in refused.inner_text()
    reason = {"en": "not sure enough that it lasts", "zh": "不够确定它是长期的"}
    assert reason[visitor.say.lang] in refused.inner_text()
    refused.locator("summary").click()
    assert "0.3" in refused.locator("dl").inner_text()


@pytest.mark.parametrize(
    ("show", "titles"),
    [
        ("remembered", ["outcome.merged", "outcome.merged", "outcome.admitted"]),
        ("moved", ["cause.froze", "cause.confirmed"]),
        ("own", ["cause.forgot"]),
        ("changed", ["outcome.held"]),
    ],
)
def test_the_timeline_is_filtered(visit, life, show, titles):
    item_id = life.freezes()
    life.challenges()
    life.do(life.memory.forget("ann", item_id, confirm=True))
    visitor = visit()
    visitor.opens(f"/happened?show={show}")
    shown = visitor.page.locator("#timeline strong").all_inner_texts()

    assert shown == [visitor.say(title) for title in titles]


def test_charts_are_drawn_and_can_be_read_as_tables(visitor, life):
    life.freezes()
    life.says("I play the cello")
    visitor.opens("/")
    visitor.presses("nav.happened", within=visitor.page.locator("header"))
    visitor.page.locator(".chart canvas").nth(1).wait_for()
    assert visitor.page.locator(".chart canvas").count() == 2

    visitor.page.get_by_text(visitor.say("happened.table")).first.click()

    last = visitor.page.locator("figure details table").first.locator("tr").last
    assert last.locator("td").all_inner_texts() == ["1", "1", "0"]  # frozen, hot, archive


def test_the_preview_shows_each_section_with_tokens_and_reasons(visitor, life):
    """[R1]"""
    life.freezes()
    life.says("I play the cello")
    before = [(i.access_count, i.last_accessed_at) for i in life.items()]
    visitor.opens("/next")
    visitor.page.get_by_label(visitor.say("next.label")).fill("Where were we with the cello?")
    visitor.presses("next.show")
    visitor.page.wait_for_url("**says=**")
    core = visitor.page.get_by_role("region", name=visitor.say("next.core"))

    assert "I always prefer short answers" in core.inner_text()
    assert visitor.say("next.why_core") in core.inner_text()
    assert "I play the cello" in visitor.text()
    assert " 400" in core.inner_text() or "/400" in core.inner_text()
    visitor.page.get_by_text(visitor.say("next.raw")).click()
    assert "dualgate-memory" in visitor.page.locator("pre").inner_text()
    life.do(life.memory.drain())
    assert [(i.access_count, i.last_accessed_at) for i in life.items()] == before


@pytest.mark.parametrize(
    ("mode", "paused", "notice"),
    [
        ("no_capture", (True, False), "nav.paused"),
        ("no_recall", (False, True), "nav.paused_recall"),
        ("private", (True, True), "nav.paused_both"),
    ],
)
def test_remembering_and_using_can_be_paused(visitor, life, mode, paused, notice):
    """[P2]"""
    life.says("I play the cello")
    visitor.opens("/privacy")
    visitor.page.get_by_label(visitor.say(f"privacy.mode_{mode}")).check()
    visitor.presses("privacy.set")
    visitor.reads(notice)
    pools = life.do(life.memory.stats("ann")).pools

    assert (pools.capture_paused, pools.recall_paused) == paused
    visitor.page.get_by_label(visitor.say("privacy.mode_on")).first.check()
    visitor.presses("privacy.set")
    visitor.page.get_by_text(visitor.say(notice)).wait_for(state="detached")
    assert life.do(life.memory.stats("ann")).pools.capture_paused is False


def test_a_sensitive_memory_can_be_kept(visitor, life):
    """[P1]"""
    item_id = life.says("I have diabetes", sensitivity="sensitive").item_id
    expires = life.item(item_id).expires_at
    visitor.opens("/privacy")
    assert visitor.say("why.sensitive", date=visitor.say.day(expires)) in visitor.text()
    visitor.presses("privacy.keep")
    visitor.reads("done.keep")

    assert life.item(item_id).expires_at is None


def test_everything_can_be_taken_along(visitor, life, tmp_path):
    """[P3]"""
    life.says("I play the cello")
    visitor.opens("/privacy")
    with visitor.page.expect_download() as download:
        visitor.presses("privacy.export_go")
    saved = tmp_path / "export.zip"
    download.value.save_as(saved)

    with zipfile.ZipFile(saved) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert any(name.endswith(".jsonl") and "cello" in text for name, text in texts.items())
    assert any(name.endswith(".md") and "cello" in text for name, text in texts.items())


def test_erasing_everything_asks_for_the_name(visitor, life):
    """[P3]"""
    life.says("I play the cello")
    visitor.opens("/privacy")
    visitor.presses("privacy.erase_go")
    name = visitor.page.get_by_label(visitor.say("ask.erase_all_label", user="ann"))
    name.fill("bob")
    visitor.presses("ask.erase_all_yes")
    visitor.reads("ask.erase_all_wrong")
    assert len(life.items()) == 1
    visitor.complaints.clear()  # the browser logs the 422

    name.fill("ann")
    visitor.presses("ask.erase_all_yes")
    visitor.reads("done.erase_all")

    assert life.items() == ()


def test_a_job_that_failed_for_good_is_shown_and_can_run_again(visitor, life, served):
    """[W1]"""
    served.script.say("I play the cello", ValueError("the extractor broke"))
    life.do(life.memory.observe("ann", "s1", [{"role": "user", "content": "I play the cello"}]))
    life.do(life.memory.drain(20))
    visitor.opens("/health")
    assert "the extractor broke" in visitor.page.locator("pre").first.inner_text()
    served.script.say("I play the cello", [])
    visitor.presses("health.retry")
    visitor.reads("done.revive")
    life.do(life.memory.drain(20))

    assert life.do(life.memory.dead()) == []


def test_the_operator_sees_users_gauges_and_settings(visitor, life):
    life.says("I play the cello")
    life.says("I own a red bicycle", user="bob")
    visitor.opens("/?user=ann")
    visitor.opens("/health")
    text = visitor.text()
    assert visitor.say("health.threshold") in text
    visitor.page.locator("summary").last.click()
    assert "gates.admission.capacity" in visitor.page.locator("table").inner_text()
    assert "url" not in visitor.page.locator("table").inner_text()
    visitor.page.get_by_role("link", name="bob").click()
    visitor.page.get_by_text("I own a red bicycle").wait_for()

    visitor.opens("/")
    assert visitor.page.locator(".said").all_inner_texts() == ["I own a red bicycle"]


def test_the_language_is_the_browsers_until_one_is_chosen(visit, life):
    life.says("I play the cello")
    visitor = visit(lang="zh")
    visitor.opens("/")
    assert visitor.page.locator("h1").inner_text() == "记忆"
    assert visitor.page.locator("html").get_attribute("lang") == "zh-Hans"

    visitor.page.get_by_role("button", name="English").click()
    visitor.page.get_by_role("heading", name="Memory", exact=True).wait_for()

    assert visitor.page.locator("html").get_attribute("lang") == "en"


def test_light_and_dark_follow_the_system_until_one_is_chosen(visit, life):
    life.says("I play the cello")
    visitor = visit(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    visitor.opens("/")
    dark = visitor.page.evaluate(ground)
    visitor.page.get_by_role("button", name=visitor.say("nav.theme_light")).click()
    visitor.page.locator('html[data-theme="light"]').wait_for()

    assert visitor.page.evaluate(ground) != dark


def test_a_new_server_asks_whose_memory_it_is(visitor, life):
    visitor.opens("/")
    visitor.reads("choose.none")
    visitor.page.get_by_label(visitor.say("choose.label")).fill("ann")
    visitor.presses("choose.go")
    visitor.reads("memory.none")

    assert life.do(life.memory.users()) == []


@pytest.mark.parametrize("user", ["周屿", 'a;b="c", <i>%20&\\', "ann@example.org"])
def test_any_name_can_be_chosen_and_stays_chosen(visit, life, user):
    life.says("I play the cello", user=user)
    life.says("I own a red bicycle", user="bob")
    visitor = visit()
    visitor.opens("/choose")
    visitor.page.get_by_label(visitor.say("choose.label")).fill(user)
    visitor.presses("choose.go")
    visitor.page.get_by_text("I play the cello").wait_for()
    visitor.opens("/health")
    visitor.page.get_by_role("link", name="bob").click()
    visitor.page.get_by_text("I own a red bicycle").wait_for()
    visitor.opens("/health")
    visitor.page.locator("main").get_by_role("link", name=user, exact=True).click()
    visitor.page.get_by_text("I play the cello").wait_for()
    visitor.opens("/happened")

    visitor.page.locator("#timeline").get_by_text("I play the cello").wait_for()
    assert visitor.say("nav.user", user=user) in visitor.page.locator(".who").inner_text()


def test_what_does_not_exist_is_said_in_the_visitors_language(visitor, life):
    life.says("I play the cello")
    answer = visitor.opens("/items/nothing")
    assert answer.status == 404
    visitor.complaints.clear()  # the browser logs the 404

    assert visitor.say("error.not_found") in visitor.text()


def test_dates_are_those_of_the_servers_time_zone(visitor, life):
    item = life.item(life.says("I play the cello").item_id)
    visitor.opens(f"/items/{item.id}")

    assert item.created_at > MONDAY
    assert visitor.say.time(item.created_at) in visitor.text()
