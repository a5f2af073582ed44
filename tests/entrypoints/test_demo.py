"""`dualgate demo`: the whole path, from a bundled conversation to what is remembered of it.

The facts are those of the two articles; nothing here is scripted, so a fact that fails is a fault
of the memory (or of its extractor), not of the demo.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import string

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from dualgate.domain.plan import Outcome
from dualgate.domain.status import LIVE, Cause, Status
from dualgate.domain.types import ItemType, Sensitivity
from dualgate.entrypoints.cli.demo import show_story
from dualgate.entrypoints.cli.main import dualgate
from dualgate.entrypoints.cli.render import Page
from dualgate.entrypoints.demo.conversations import LANGUAGES, conversation
from dualgate.entrypoints.demo.replay import play
from dualgate.entrypoints.demo.words import CHINESE, ENGLISH, Words

STORED = {Outcome.ADMITTED, Outcome.MERGED, Outcome.SUPERSEDED, Outcome.CONTESTED}
MOOD, HURRY, RANTS, CORRECTION = (
    {"2026-03-12"}, {"2026-03-25"}, {"2026-03-27", "2026-03-29"}, {"2026-04-23"},
)  # fmt: skip
PASTED = ("french", "expensive", "ignore", "英文", "最贵", "忽略")
NOISE = ("tmp_flag", "weather", "river", "天气", "河边", "articles", "文章")


@pytest.fixture(scope="module", params=LANGUAGES)
def played(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("demo") / "memory.db"
    heard = []
    story = asyncio.run(play(conversation(request.param), file, heard.append))
    assert len(heard) == story.conversation.messages
    return story, file


@pytest.fixture
def story(played):
    return played[0]


def decided_in(story, sessions):
    return [d for d in story.decisions if d.session_id in sessions]


def first_style(story):
    """The first item about how long an answer should be, and its moves."""
    item = min(
        (i for i in story.items if i.attribute == "reply_length"), key=lambda i: i.created_at
    )
    return item, [m for m in story.histories[item.id].moves if m.item_id == item.id]


def test_a_style_said_in_three_conversations_freezes(story):
    item, moves = first_style(story)
    (froze,) = [move for move in moves if move.cause is Cause.FROZE]
    agreeing = [
        s
        for s in story.histories[item.id].signals
        if s.item_id == item.id and s.agrees and s.at <= froze.at
    ]

    assert item.value == "concise"
    assert froze.numbers["confirm_count"] == 3
    assert len({s.session_id for s in agreeing}) == 3


def test_neither_hurry_nor_rant_nor_pressure_moves_the_frozen_style(story):
    _, moves = first_style(story)
    froze = next(move for move in moves if move.cause is Cause.FROZE)
    later = [move for move in moves if move.at > froze.at]

    assert {move.at.date().isoformat() for move in later} <= CORRECTION


def test_gradual_pressure_is_heard_without_effect(story):
    item, _ = first_style(story)
    outcomes = {
        d.outcome for d in decided_in(story, {"2026-03-30", "2026-04-02"}) if d.item_id == item.id
    }

    assert outcomes
    assert outcomes <= {Outcome.HELD, Outcome.IGNORED}


def test_from_now_on_replaces_the_frozen_style_and_keeps_the_old_version(story):
    old, _ = first_style(story)
    new = story.item(old.superseded_by)

    assert old.status is Status.SUPERSEDED
    assert (new.attribute, new.value, new.override_of) == ("reply_length", "detailed", old.id)
    assert new.version == old.version + 1
    assert new.status in (Status.CONFIRMED, Status.FROZEN)
    assert "explicit_correction" in {d.reason for d in decided_in(story, CORRECTION)}


def test_a_hurry_is_a_note_for_the_task(story):
    outcomes = {d.outcome for d in decided_in(story, HURRY)}

    assert outcomes & {Outcome.WORKING_MEMORY, Outcome.IGNORED}
    assert not STORED & outcomes


def test_a_passing_mood_is_not_stored(story):
    assert not STORED & {d.outcome for d in decided_in(story, MOOD)}


def test_two_midnight_rants_confirm_nothing(story):
    ranted = {d.item_id for d in decided_in(story, RANTS) if d.outcome in STORED}
    items = [story.item(item_id) for item_id in ranted]

    assert [i.content for i in items if i.status not in (Status.CANDIDATE, Status.ARCHIVED)] == []
    assert all(item.confirm_count <= 1 for item in items)


def test_the_secret_is_nowhere_in_the_file(played):
    story, file = played
    files = list(file.parent.glob(f"{file.name}*"))

    assert sum(path.stat().st_size for path in files) > 100_000
    assert not any(story.conversation.secret.encode() in path.read_bytes() for path in files)
    assert story.secret.found == 0
    assert story.conversation.secret not in story.block.text


def test_the_database_follows_the_move_to_postgresql(story):
    found = {i.value: i for i in story.items if i.attribute == "database"}

    assert found["postgresql"].status in LIVE
    assert found["mysql"].status is Status.SUPERSEDED
    assert found["mysql"].superseded_by == found["postgresql"].id


def test_what_the_sister_eats_is_not_what_the_user_eats(story):
    said = [*story.items, *(d.candidate for d in story.decisions)]
    diets = [each for each in said if "vegan" in each.content or "吃素" in each.content]

    assert diets
    assert "user" not in {each.subject for each in diets}


def test_nothing_of_a_pasted_instruction_is_stored(story):
    stored = [item.content.lower() for item in story.items]
    stored += [d.candidate.content.lower() for d in story.decisions if d.outcome in STORED]

    assert [text for text in stored if any(word in text for word in PASTED)] == []


def test_noise_is_not_remembered(story):
    contents = [item.content.lower() for item in story.items]

    assert [text for text in contents if any(word in text for word in NOISE)] == []


def test_an_allergy_is_kept_and_not_told_by_itself(story):
    (allergy,) = [item for item in story.items if item.attribute == "allergy"]

    assert (allergy.status in LIVE, allergy.sensitivity) == (True, Sensitivity.SENSITIVE)
    assert allergy.content not in story.block.text


def test_the_returning_user_is_met_with_project_limit_todo_and_promise(story):
    told = {i.id for i in (*story.block.core, *story.block.active, *story.block.recalled)}
    items = [item for item in story.items if item.id in told]

    assert any("北极星" in i.content or "Polaris" in i.content for i in items)
    assert any(i.status is Status.FROZEN and i.item_type is ItemType.CONSTRAINT for i in items)
    promises = {i.subject: i for i in items if i.item_type is ItemType.COMMITMENT}
    due = promises["user"].event_at.astimezone(story.conversation.next_at.tzinfo)
    assert due.date().isoformat() == "2026-04-30"
    assert "assistant" in promises


def test_the_context_keeps_its_limits(story):
    block, limits = story.block, story.settings.read.limits

    assert 0 < block.tokens <= limits.total == 1_600
    assert block.core_tokens + block.active_tokens + block.recalled_tokens == block.tokens
    assert block.core_tokens <= limits.core_tokens
    assert block.active_tokens <= limits.active_tokens
    assert block.recalled_tokens <= limits.recalled_tokens


def test_the_page_names_every_memory_and_its_reason_within_three_screens(story, capsys):
    show_story(Page(), story)
    page = capsys.readouterr().out

    assert [i.content for i in story.items if i.content not in page] == []
    assert story.block.text.splitlines()[-1] in page
    assert story.conversation.secret not in page
    assert page.count("\n") <= 150  # a reason a line; side by side on a terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_of_100_columns_no_line_is_longer(story, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm-256color")
    show_story(Page(), story)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue()).splitlines()

    assert [line for line in lines if cell_len(line.rstrip()) > 100] == []
    assert 60 <= len(lines) <= 130
    assert terminal.getvalue().count("\x1b[") > 10


def test_every_reason_a_story_meets_has_its_words(story):
    say = Words(story.conversation.lang)
    left = {d.reason for d in story.decisions if d.outcome not in STORED}

    assert [reason for reason in left if not say.knows(reason)] == []


def test_both_languages_have_the_same_phrases_with_the_same_parts():
    def parts(phrase):
        return {name for _, name, _, _ in string.Formatter().parse(phrase) if name}

    assert {n: parts(p) for n, p in CHINESE.items()} == {n: parts(p) for n, p in ENGLISH.items()}


def test_both_conversations_tell_the_same_weeks():
    zh, en = (conversation(lang) for lang in LANGUAGES)

    assert [s.id for s in zh.sessions] == [s.id for s in en.sessions]
    assert all(len(told.sessions) >= 12 for told in (zh, en))


def test_the_demo_keeps_a_new_file_where_one_is_named(tmp_path):
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    elsewhere = {"DUALGATE_DB": f"sqlite:///{tmp_path / 'mine.db'}", "DUALGATE_USER": "ada"}
    runner = CliRunner(env=elsewhere)
    result = runner.invoke(dualgate, ["--db", url, "demo", "--lang", "en", "--json"])
    again = runner.invoke(dualgate, ["demo", "--lang", "en", "--db", url])
    listed = CliRunner().invoke(dualgate, ["items", "--db", url, "--user", "Maya", "--json"])

    assert result.exit_code == 0, (result.output, result.exception)
    document = json.loads(result.stdout)["en"]
    assert len(document["items"]) == len(json.loads(listed.stdout)["items"]) > 5
    assert (again.exit_code, "must name a new file" in again.stderr) == (2, True)
    assert not (tmp_path / "mine.db").exists()


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["--user", "ada"], "needs --lang"),
        (["--db", "memory://"], "must be"),
        (["--lang", "fr"], "zh"),
    ],
)
def test_a_demo_that_cannot_be_is_refused_at_once(words, rule):
    result = CliRunner().invoke(dualgate, ["demo", *words])

    assert (result.exit_code, rule in result.stderr) == (2, True)
