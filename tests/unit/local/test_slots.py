"""What fills which slot, where no pattern of the lexicon says so [C1].

The sentences are this file's own; training/slots/held_out.py measures on many more.
"""

from __future__ import annotations

import pytest

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.slots import SlotReader, tokens
from dualgate.adapters.local.structure import LexiconStructurer
from dualgate.domain.items import Candidate
from dualgate.domain.types import ItemType, Polarity

EMBEDDER = UseEmbedder()
READER = SlotReader(EMBEDDER)
STRUCTURER = LexiconStructurer(READER)


@pytest.mark.parametrize(
    ("one", "other", "slot", "values"),
    [
        ("The user wants the assistant to just go ahead without asking back",
         "The user's wish: check with the user before changing anything",
         "asking_back", ("just do", "ask first")),
        ("用户要求：别问来问去，直接动手", "用户希望助手动手之前先跟用户确认",
         "asking_back", ("just do", "ask first")),
        ("The user's wish: start with the bottom line",
         "The user likes it when the assistant gives the background before the conclusion",
         "answer_order", ("conclusion first", "background first")),
        ("用户要求：先把结论摆出来", "用户更喜欢助手先讲背景再下结论",
         "answer_order", ("conclusion first", "background first")),
        ("The user's wish: write in full paragraphs instead of lists",
         "The user's wish: put everything in bullet points",
         "layout", ("prose", "bullet points")),
        ("The user's wish: always use metric units",
         "The user wants feet and pounds, not metric", "units", ("metric", "imperial")),
    ],
)  # fmt: skip
def test_two_wishes_of_one_kind_share_a_slot_and_differ_in_value(one, other, slot, values):
    read = [STRUCTURER.read(text) for text in (one, other)]

    assert [each and (each.attribute, each.value) for each in read] == [
        (slot, value) for value in values
    ]


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("The user's favourite drink is sea buckthorn tea", "favorite_drink", "sea buckthorn tea"),
        ("用户现在最爱喝的是沙棘汁", "favorite_drink", "沙棘汁"),
        ("The user's favourite music is dub techno", "favorite_music", "dub techno"),
        ("The user writes all the code in Lapce", "editor", "lapce"),
    ],
)
def test_an_open_value_is_found_among_words_that_no_list_knows(text, slot, value):
    found = STRUCTURER.read(text)

    assert found is not None
    assert (found.attribute, found.value) == (slot, value)


@pytest.mark.parametrize("text", ["The user likes oolong tea", "用户喜欢喝乌龙茶"])
def test_what_is_liked_leaves_room_for_what_is_liked_as_well(text):
    """[C1]: "likes tea" and "likes coffee" are two memories"""
    found = STRUCTURER.read(text)

    assert found is None or found.attribute in STRUCTURER.many_valued


@pytest.mark.parametrize(
    "text",
    ["The user's brother hates long answers", "Quote it, every single time", "用户喜欢火车的靠窗座位",
     "The user read a book about databases on the train", "用户上周去看了一场爵士音乐会"],
)  # fmt: skip
def test_what_only_looks_like_a_slot_fills_none_of_the_user(text):
    found = STRUCTURER.read(text)

    assert found is None or found.qualifiers or found.attribute in STRUCTURER.many_valued


def test_projects_keep_their_own_values():
    """[C1]: the licence of one project says nothing of another's"""
    one = STRUCTURER.read("The licence of Quillfeather is AGPL")
    other = STRUCTURER.read("The licence of Bramblewick is MIT")

    assert one is not None
    assert other is not None
    assert one.attribute == other.attribute == "licence"
    assert one.qualifiers != other.qualifiers


def test_what_is_said_of_a_sister_stands_beside_the_users_own():
    """[C1]"""
    hers = STRUCTURER.read("The user's sister's favourite drink is sea buckthorn tea")

    assert hers is not None
    assert hers.qualifiers == ("sister",)


def test_the_name_of_a_project_becomes_a_name_of_the_item():
    """[R2]: a project with a Chinese name is called up by it"""
    made = STRUCTURER.complete(Candidate("fact", "用户：青禾部署在Hetzner", confidence=0.9))

    assert "青禾" in made.entities


def test_a_denied_slot_of_two_values_is_the_other_one():
    found = STRUCTURER.read("The user doesn't want emoji in replies")

    assert found is not None
    assert (found.value, found.polarity) == ("emoji", Polarity.NEGATIVE)


def test_wishes_go_by_one_type_however_they_are_put():
    """[C1]: a wish and an order of the same content are one memory; what is done is a rule"""
    wish = STRUCTURER.complete(
        Candidate("preference", "The user likes to be asked before changes", confidence=0.9)
    )
    order = STRUCTURER.complete(
        Candidate("rule", "The user's wish: ask before starting anything", confidence=0.9)
    )
    typed = {STRUCTURER.typed(each).item_type for each in (wish, order) if each.attribute}

    assert typed == {ItemType.RULE}


def test_words_of_a_sentence_keep_their_places():
    text = "用户用Zed写代码, daily!"

    assert "".join(text[each.start : each.end] for each in tokens(text)) == text.replace(" ", "")


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "🎉" * 400, "a" * 5_000, "\ud800"])
def test_any_text_is_read_without_complaint(text):
    found = READER.read(text.encode("utf-8", "replace").decode())

    assert found is None or found.value


def test_the_same_sentence_is_read_alike_every_time():
    first, second = (SlotReader(UseEmbedder()).read("The user's wish: be brief") for _ in "ab")

    assert first == second


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("The user: Gantry no longer uses CouchDB, the database is CockroachDB now.", ("gantry",)),
        ("用户：牛轭湖要在2026-05-19之前做完", ("牛轭湖",)),
        ("900 euros is the user's upper limit for spending.", ()),
    ],
)
def test_a_slots_own_word_owns_nothing(text: str, owner: tuple[str, ...]) -> None:
    """[C1]: "the database" is no project; the name at the head of the sentence is"""
    found = STRUCTURER.read(text)

    assert found is not None
    assert found.qualifiers == owner


def test_a_bare_unit_is_no_value():
    """[C1]: else it replaces the day of the release"""
    assert STRUCTURER.read("Project Osprey keeps logs for ninety days") is None


@pytest.mark.parametrize(
    "content",
    [
        "The user's wish: going forward only plan meals for them without eggs.",
        "用户要求：给孩子做饭不放盐",
        "The user has been fully plant-based since spring.",
    ],
)
def test_what_is_for_somebody_else_or_of_a_season_fills_no_slot(content: str) -> None:
    """[C1]: a wrong slot lets a newer value replace an older one"""
    assert LexiconStructurer(READER).read(content) is None


def test_in_a_slot_of_hours_the_hour_is_the_value() -> None:
    """[C1]"""
    found = STRUCTURER.read("十点以前别给用户安排事情，用户一直不方便")
    assert found is not None
    assert (found.attribute, found.value) == ("unavailable_time", "before 10")
