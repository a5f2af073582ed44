"""The panel for everyone: screen readers, the keyboard, no script, a narrow phone [U1]."""

from __future__ import annotations

import pytest

from dualgate.entrypoints.panel.words import Words

AXE = "vendor/axe-4.14.1.min.js"
PAGES = ("/", "/decide", "/happened", "/next?says=cello", "/privacy", "/health", "/choose")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def live_through_something(life):
    life.freezes()
    life.challenges()
    life.contradicts()
    life.says("I have diabetes", sensitivity="sensitive")
    life.says("我明年想去冰岛看极光", item_type="project")
    life.says("I might like jazz", confidence=0.3)
    pinned = life.says("I play the cello").item_id
    life.do(life.memory.pin("ann", pinned))
    life.do(life.memory.correct("ann", pinned, "I play the viola"))
    life.do(life.memory.context("ann", "next", "viola"))
    return pinned


def violations(page, path):
    # Through the debugging protocol: the content policy lets no foreign script in.
    page.evaluate(path.read_text(encoding="utf-8"))
    found = page.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", TAGS
    )
    return [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"]])
        for each in found["violations"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_passes_the_accessibility_check(visit, life, request, scheme):
    item_id = live_through_something(life)
    lang, size = ("en", "wide") if scheme == "light" else ("zh", "phone")
    visitor = visit(lang, size, color_scheme=scheme)
    axe = request.path.parent / AXE
    found = {}
    for path in (
        *PAGES, f"/items/{item_id}", f"/items/{item_id}/forget", f"/items/{item_id}/erase",
        "/privacy/erase", "/sign-in",
    ):  # fmt: skip
        visitor.opens(path)
        visitor.page.locator("details").evaluate_all("all => all.forEach(d => d.open = true)")
        wrong = violations(visitor.page, axe)
        if wrong:
            found[path] = wrong

    assert found == {}


def test_no_page_is_wider_than_the_screen(any_visitor, life):
    item_id = live_through_something(life)
    life.says("https://example.org/" + "long" * 120)
    wider = {}
    for path in (*PAGES, f"/items/{item_id}", "/privacy/erase"):
        any_visitor.opens(path)
        wider[path] = any_visitor.page.evaluate(WIDER)

    assert set(wider.values()) == {0}, wider


def test_a_memory_is_forgotten_and_brought_back_by_keyboard_alone(visitor, life):
    item_id = life.says("I play the cello").item_id
    visitor.opens("/")
    page = visitor.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")

    def tab_to(label):
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.locator(":is(a, button):focus").filter(has_text=label).count():
                return
        raise AssertionError(label)

    tab_to("I play the cello")
    page.keyboard.press("Enter")
    visitor.reads("item.why")
    page.locator("h1:focus").wait_for()
    tab_to(visitor.say("item.forget"))
    page.keyboard.press("Enter")
    visitor.reads("done.forget")
    assert life.item(item_id).status == "forgotten"
    tab_to(visitor.say("done.undo"))
    page.keyboard.press("Enter")
    visitor.reads("done.restore")

    assert life.item(item_id).status == "candidate"


def test_every_verb_is_there_without_a_script(visit, life):
    frozen = life.freezes()
    life.challenges()
    visitor = visit(java_script_enabled=False)
    visitor.opens(f"/items/{frozen}")
    visitor.presses("item.like")
    visitor.reads("done.like")
    visitor.opens("/decide")
    visitor.presses("decide.reject")
    visitor.reads("done.reject")
    visitor.opens(f"/items/{frozen}")
    visitor.presses("item.forget")
    visitor.presses("ask.forget_yes")
    visitor.presses("done.undo")
    visitor.reads("done.restore")

    assert life.item(frozen).status == "frozen"


def test_what_was_done_is_told_once_and_aloud(visit, life):
    item_id = life.says("I play the cello").item_id
    visitor = visit()
    visitor.opens(f"/items/{item_id}")
    visitor.presses("item.like")
    visitor.page.get_by_role("status").filter(has_text=Words("en")("done.like")).wait_for()
    visitor.page.reload()

    assert Words("en")("done.like") not in visitor.text()
