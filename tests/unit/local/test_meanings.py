"""What a text speaks of, in words of no language [R2]."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualgate.adapters.local.lexer import SnowballLexer
from dualgate.adapters.local.meanings import asked_for, stated


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("我家宠物叫什么？", "The user has an orange cat"),
        ("Which cloud do we run on?", "部署在阿里云"),
        ("What does my spouse do?", "用户的妻子在银行上班"),
        ("用的什么编辑器", "The user writes in Vim"),
    ],
)
def test_a_kind_is_found_across_languages(question, statement):
    assert asked_for(question) & stated(statement)


def test_a_concept_that_is_named_asks_for_itself_and_not_for_its_kind():
    assert asked_for("我的猫叫什么") == {"cat"}
    assert not asked_for("我的猫叫什么") & stated("用户养了一条狗")


def test_liking_and_frequency_find_nothing():
    assert asked_for("do you like it every day") == frozenset()


@given(st.text())
def test_any_text_is_read(text):
    assert isinstance(SnowballLexer().asked_for(text), frozenset)
    assert isinstance(SnowballLexer().stated(text), frozenset)
