"""What a model's statement may say beyond the words it rests on [W5]."""

from __future__ import annotations

import pytest

from dualgate.domain.grounding import as_hint, unsaid, value_is_said
from dualgate.domain.types import Evidence
from dualgate.testing.builders import MONDAY, a_candidate


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("The piece is limited to 1,200 words", "they give me 1200 words"),
        ("No meetings on Fridays", "we don't do Friday meetings"),
        ("用户每周上 2 节手语课", "我在学手语，每周两节课"),
        ("The budget is 7,000 for two", "same budget as before, 7 grand for two"),
        ("青山项目 8 月 28 日上线", "青山后天上线"),
        ("The router supports Wi-Fi only", "the router only does wifi"),
        ("The router supports WiFi only", "the router only does wi-fi"),
        ("Budget: five hundred", "five hundred is what I can pay"),
        ("The user has 3 cats", "three cats live here"),
        ("The user has 13 cats", "thirteen cats live here"),
        ("用户有 11 只猫", "我有十一只猫"),
    ],
)
def test_another_spelling_of_what_was_said_is_no_invention(content: str, said: str) -> None:
    assert unsaid(a_candidate(content), said) == frozenset()


@pytest.mark.parametrize(
    ("content", "said", "new"),
    [
        ("The user works at Acme", "I work a lot", {"acme"}),
        ("The budget is 900", "The budget is 500", {"900"}),
        ("用户的预算是 20 万", "我的预算是5块", {"20"}),
        ("The user has 3 cats", "two cats live here", {"3"}),
        ("The user has 1 cat", "someone has cats", {"1"}),
        # No moment is spoken of, so this is no day that a "tomorrow" became.
        ("The user keeps file 2019-04", "I keep that file", {"2019-04"}),
    ],
)
def test_numbers_and_names_that_nobody_said_are_named(
    content: str, said: str, new: set[str]
) -> None:
    assert unsaid(a_candidate(content), said) == new


@pytest.mark.parametrize("moment", ["event_at", "expires_at"])
def test_a_day_that_was_worked_out_needs_no_words(moment: str) -> None:
    """[W4]: what is relative becomes an absolute date, in whatever words it was said"""
    dated = a_candidate("The user flies on 3 March 2026", **{moment: MONDAY})

    assert unsaid(dated, "I fly when the fair ends") == frozenset()
    assert unsaid(a_candidate(dated.content), "I fly when the fair ends") == {"3", "2026", "march"}


def test_a_value_is_said_if_one_of_its_words_is() -> None:
    tea = a_candidate("The user drinks green tea", attribute="drink", value="green tea")

    assert value_is_said(tea, "Tea for me, please")
    assert not value_is_said(tea, "Coffee for me, please")


def test_a_hint_has_no_quote_corrects_nothing_and_is_at_most_implied() -> None:
    hint = as_hint(a_candidate(quote="short answers", correction=True))

    assert (hint.quote, hint.correction, hint.evidence) == (None, False, Evidence.IMPLIED)
    assert as_hint(a_candidate(evidence="emotional")).evidence is Evidence.EMOTIONAL
