"""The person's verbs, with a real browser, in both languages, wide and on a phone [F6, U1]."""

from __future__ import annotations

import pytest


def test_a_like_confirms_a_memory(visitor, life):
    item_id = life.says("I play the cello").item_id
    visitor.opens(f"/items/{item_id}")
    visitor.presses("item.like")
    visitor.reads("done.like")

    assert life.item(item_id).status == "confirmed"
    assert visitor.page.url.endswith(f"/items/{item_id}")


def test_a_dislike_takes_a_memory_out_of_the_way(visitor, life):
    item_id = life.says("I play the cello").item_id
    visitor.opens(f"/items/{item_id}")
    visitor.presses("item.dislike")
    visitor.reads("done.dislike")

    assert life.item(item_id).status == "archived"
    visitor.presses("item.restore_archived")
    visitor.reads("done.restore")
    assert life.item(item_id).status == "candidate"


def test_a_pin_freezes_and_an_unpin_takes_it_back(visitor, life):
    item_id = life.says("I play the cello").item_id
    visitor.opens(f"/items/{item_id}")
    visitor.presses("item.pin")
    visitor.reads("done.pin")
    assert (life.item(item_id).pinned, life.item(item_id).status) == (True, "frozen")

    visitor.presses("item.unpin")
    visitor.reads("done.unpin")

    assert life.item(item_id).pinned is False


def test_a_correction_keeps_the_old_wording_side_by_side(visitor, life):
    item_id = life.says("I live in Oslo").item_id
    visitor.opens(f"/items/{item_id}")
    visitor.page.get_by_text(visitor.say("item.correct"), exact=True).click()
    visitor.page.get_by_label(visitor.say("item.correct_label")).fill("I live in Bergen")
    visitor.presses("item.save")
    visitor.reads("done.correct")

    assert life.item(item_id).content == "I live in Bergen"
    versions = visitor.page.locator(".versions li bdi").all_inner_texts()
    assert versions == ["I live in Oslo", "I live in Bergen"]


def test_forgetting_can_be_undone_at_once(visitor, life):
    item_id = life.says("I play the cello").item_id
    visitor.opens(f"/items/{item_id}")
    visitor.presses("item.forget")
    visitor.reads("done.forget")
    assert life.item(item_id).status == "forgotten"
    assert visitor.page.locator(".memory").count() == 0

    visitor.presses("done.undo")
    visitor.reads("done.restore")

    assert life.item(item_id).status == "candidate"


def test_forgetting_a_frozen_memory_asks_once_more(visitor, life):
    """[F6]"""
    item_id = life.freezes()
    visitor.opens(f"/items/{item_id}")
    visitor.presses("item.forget")
    visitor.reads("ask.forget_title")
    visitor.presses("ask.no")
    visitor.reads("item.why")
    assert life.item(item_id).status == "frozen"

    visitor.presses("item.forget")
    visitor.presses("ask.forget_yes")
    visitor.reads("done.forget")

    assert life.item(item_id).status == "forgotten"


def test_no_form_forgets_a_frozen_memory_without_being_asked(visitor, life):
    """[F6]: the server asks, whatever the page showed"""
    item_id = life.says("I always prefer short answers", item_type="preference",
                        attribute="reply_length", value="short").item_id  # fmt: skip
    visitor.opens(f"/items/{item_id}")
    for _ in range(2):
        life.says("I always prefer short answers", item_type="preference",
                  attribute="reply_length", value="short")  # fmt: skip
    assert life.item(item_id).status == "frozen"
    visitor.presses("item.forget")
    visitor.reads("ask.forget_title")

    assert life.item(item_id).status == "frozen"


def test_a_removed_memory_is_found_under_forgotten_until_it_is_gone(visitor, life):
    item_id = life.says("I play the cello").item_id
    life.do(life.memory.forget("ann", item_id))
    visitor.opens("/?pool=forgotten")
    visitor.page.locator(".memory a").click()
    visitor.presses("item.restore")
    visitor.reads("done.restore")

    assert life.item(item_id).status == "candidate"


def test_erasing_asks_and_then_the_memory_is_gone(visitor, life):
    """[P3]"""
    item_id = life.says("I play the cello").item_id
    visitor.opens(f"/items/{item_id}")
    visitor.presses("item.erase")
    visitor.reads("ask.erase_title")
    visitor.presses("ask.erase_yes")
    visitor.reads("done.erase")

    assert life.items(status=["candidate", "forgotten"]) == ()
    assert "cello" not in visitor.page.content()


@pytest.mark.parametrize(
    ("word", "frozen", "hot"),
    [
        ("accept", [], ["Lately I like detailed answers better"]),
        ("reject", ["I always prefer short answers"], []),
        ("both", ["I always prefer short answers"], ["Lately I like detailed answers better"]),
    ],
)
def test_a_challenge_to_a_frozen_memory_is_settled_by_one_word(
    visitor, life, word, frozen, hot
):
    """[F3]"""
    life.freezes()
    assert life.challenges().outcome == "held"
    visitor.opens("/decide")
    assert visitor.page.locator(".badge").inner_text() == "1"
    visitor.presses(f"decide.{word}")
    visitor.reads(f"done.{word}")

    assert [i.content for i in life.items(status="frozen")] == frozen
    assert [i.content for i in life.items(status=["candidate", "confirmed"])] == hot
    visitor.reads("decide.none")
    assert visitor.page.locator(".badge").count() == 0


def test_a_contradiction_is_settled_for_one_side(visitor, life):
    """[C2]"""
    formal, casual = life.contradicts()
    visitor.opens("/decide")
    card = visitor.page.locator("article").locator(".sides > div").filter(
        has_text="I want a casual tone"
    )
    visitor.presses("decide.this_one", within=card)
    visitor.reads("done.choose")

    assert life.item(formal).status == "superseded"
    assert life.item(casual).contested is False


def test_both_sides_of_a_contradiction_can_hold(visitor, life):
    """[C2, F6]"""
    both = life.contradicts()
    visitor.opens("/decide")
    visitor.presses("decide.both")
    visitor.reads("done.both")

    assert [life.item(i).contested for i in both] == [False, False]
    visitor.reads("decide.none")


def test_what_an_audit_finds_stands_until_someone_settles_it(visitor, life):
    """[U2]"""
    life.freezes("I am tired right now", item_type="identity", attribute="mood", value="tired")
    visitor.opens("/decide")
    visitor.presses("decide.run")
    visitor.reads("done.audit", n=1)
    visitor.reads("finding.passing")
    visitor.opens("/decide")
    visitor.presses("decide.settle")
    visitor.reads("done.finding")

    assert life.do(life.memory.findings("ann")) == []
    visitor.reads("decide.none")
