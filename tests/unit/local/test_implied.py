"""Facts about what the local extractor takes as implied, and what it leaves alone [W3]."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from dualgate.adapters.local.extraction import LocalExtractor
from dualgate.adapters.local.extraction.implied import LIMIT, implied_in, read_rules
from dualgate.adapters.local.extraction.reading import read_text
from dualgate.adapters.local.redact import sensitivity_of
from dualgate.domain.items import Candidate, Message
from dualgate.domain.types import Evidence, ItemType, Role, Scope, Sensitivity
from dualgate.pipeline.ports import Turn

AT = datetime.fromisoformat("2026-03-02T09:00:00+08:00")
TABLE = Path(__file__).parent / "data" / "implied.txt"
LEXICON = Path(__file__).parents[3] / "src/dualgate/adapters/local/lexicon/implied.toml"
CAREFUL = [Sensitivity.NORMAL, Sensitivity.PERSONAL, Sensitivity.SENSITIVE]


def _table() -> list[tuple[str, str, str, str]]:
    """(rule, language, sign, turn) of every turn of the table."""
    rows, rule = [], ""
    for line in TABLE.read_text("utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        head, _, turns = line.partition(" ")
        if head in ("zh+", "zh-", "en+", "en-"):
            rows += [(rule, head[:2], head[2], each.strip()) for each in turns.split("|")]
        else:
            rule = head
    return rows


ROWS = _table()


@pytest.mark.parametrize(
    ("rule", "turn"), [(rule, turn) for rule, _, sign, turn in ROWS if sign == "+"]
)
def test_a_turn_that_gives_it_away_implies_it(rule: str, turn: str) -> None:
    assert rule in [each.rule for each in implied_in(read_text(turn))]


@pytest.mark.parametrize("turn", [turn for _, _, sign, turn in ROWS if sign == "-"])
def test_somebody_elses_supposed_made_up_or_past_life_implies_nothing(turn: str) -> None:
    assert [each.rule for each in implied_in(read_text(turn))] == []


def test_every_rule_has_turns_for_and_against_it_in_both_languages() -> None:
    counted: dict[tuple[str, str, str], int] = {}
    for rule, lang, sign, _ in ROWS:
        counted[rule, lang, sign] = counted.get((rule, lang, sign), 0) + 1
    rules, _ = read_rules(LEXICON.read_text("utf-8"))
    wanted = {(rule.id, lang, sign) for rule in rules for lang in ("zh", "en") for sign in "+-"}

    assert set(counted) == wanted
    assert min(counted.values()) >= 2


def test_what_a_rule_says_is_handled_as_carefully_as_the_lexicon_asks() -> None:
    rules, _ = read_rules(LEXICON.read_text("utf-8"))
    for rule in rules:
        for content in rule.content.values():
            asked = CAREFUL.index(sensitivity_of(content))
            assert CAREFUL.index(rule.sensitivity) >= asked, (rule.id, content)


def _said(content: str, quote: str, item_type: str = "identity", **more: float) -> Candidate:
    return Candidate(ItemType(item_type), content, quote=quote, confidence=more.get("sure", 0.9))


def test_what_the_turn_states_is_not_implied_as_well() -> None:
    reading = read_text("我班里那几个又没交作业")

    assert implied_in(reading, [_said("用户是初中老师", "我教初中")]) == []
    assert implied_in(reading, [_said("用户带一个班", "我班里那几个又没交作业")]) == []


def test_a_statement_under_the_floor_does_not_stand_in_the_way() -> None:
    found = implied_in(read_text("my year 9s are feral"), [_said("The user is a teacher.", "x", sure=0.5)])

    assert [each.rule for each in found] == ["teacher"]


def test_a_job_named_outright_leaves_none_to_imply() -> None:
    assert implied_in(read_text("I'm a vet, and my patients bite")) == []


def test_a_turn_implies_two_things_at_most() -> None:
    turn = "my litter box stinks, my dog ate my hearing aids, my landlord is livid, I forgot my insulin"

    assert len(implied_in(read_text(turn))) == LIMIT


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [("my patients", "anchors"), ("«pat.*»", "anchors")],
)
def test_a_rule_file_with_a_pattern_without_plain_anchors_is_refused(
    pattern: str, fault: str
) -> None:
    row = (
        '[forms.zh]\n[forms.en]\n[[rule]]\nid = "x"\nitem_type = "fact"\nsensitivity = "normal"\n'
        f"content_zh = 'x'\ncontent_en = 'x'\nzh = []\nen = ['{pattern}']\n"
    )
    with pytest.raises(ValueError, match=fault):
        read_rules(row)


def test_two_rules_of_one_name_are_refused() -> None:
    row = (
        '[[rule]]\nid = "x"\nitem_type = "fact"\nsensitivity = "normal"\n'
        "content_zh = 'x'\ncontent_en = 'x'\nzh = ['«a»']\nen = ['«a»']\n"
    )
    with pytest.raises(ValueError, match="twice"):
        read_rules(f"[forms.zh]\n[forms.en]\n{row}{row}")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("我的病人又问我能不能喝酒", "用户是医生或护士"),
        ("my year 9s are feral again, any ideas?", "The user is a teacher."),
    ],
)
async def test_the_extractor_proposes_it_as_implied_lasting_and_over_the_floor(
    text: str, content: str
) -> None:
    message = Message(Role.USER, text, AT, "m1")
    turn = Turn(user_id="u", session_id="s", message=message, at=AT, history=())

    found = await LocalExtractor().extract(turn)

    made = next(each for each in found if each.content == content)
    assert made.evidence is Evidence.IMPLIED
    assert made.scope is Scope.LASTING
    assert made.subject == "user"
    assert made.quote is not None
    assert made.quote in text
    assert made.confidence == pytest.approx(0.66)
