"""The simulation of users' months measures what it says it does."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parents[2] / "bench" / "stability"
NAMES = ("words", "lives", "reading", "designs", "measures")


@pytest.fixture(scope="module")
def bench():
    """Return the bench's modules by name; they are scripts, so their folder is on the path."""
    sys.path.insert(0, str(HERE))
    try:
        yield {name: __import__(name) for name in NAMES}
    finally:
        sys.path.remove(str(HERE))
        for name in NAMES:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module", params=[0, 1], ids=["zh", "en"])
def life(bench: dict[str, ModuleType], request):
    return bench["lives"].live(7, request.param, 91, "held-out")


def measured(bench, life, show):
    """Put a life through a memory that shows what `show` returns; return the sums."""
    reading = bench["reading"].Reading(candidates=bench["reading"].perfect(life))
    for session in life.sessions:
        for said in session.turns:
            for candidate in reading.candidates[said.id]:
                meaning = bench["reading"].meaning_of(candidate, said)
                bench["reading"].note(reading, candidate.content, meaning)
            bench["reading"].note(reading, said.text, bench["reading"].raw_meaning(said))
    tally = bench["measures"].Tally(life, reading)
    for session in life.sessions:
        lines = [bench["designs"].Line(text) for text in show(session)]
        tally.open(session, bench["designs"].Block(lines, tokens=0))
    return tally.close()["sums"]


def told_before(life, session, kinds):
    return [t for s in life.sessions if s.at < session.at for t in s.turns
            if t.label.kind in kinds]  # fmt: skip


def test_the_same_seed_gives_the_same_life(bench, life):
    number = 0 if life.lang == "zh" else 1

    assert bench["lives"].live(7, number, 91, "held-out") == life
    assert bench["lives"].live(8, number, 91, "held-out") != life


def test_both_pools_share_no_frame(bench):
    for lang in ("zh", "en"):
        main, held_out = (bench["words"].words(lang, pool) for pool in bench["words"].POOLS)
        for act, frames in main.frames.items():
            assert frames
            assert held_out.frames[act]
            assert not set(frames) & set(held_out.frames[act])


def test_every_true_turn_states_its_value(bench, life):
    for session in life.sessions:
        for said in session.turns:
            if said.label.kind in bench["lives"].TRUE_KINDS:
                (candidate,) = bench["reading"].perfect(life)[said.id]
                meaning = bench["reading"].meaning_of(candidate, said)

                assert (meaning.slot, meaning.value) == (said.label.slot, said.label.value)


def test_who_is_shown_nothing_explains_everything(bench, life):
    sums = measured(bench, life, lambda _: [])

    assert sums["needed"] == sums["explained"] > 0
    assert sums["corrections"] == sums["corrections_lost"] > 0
    assert sums.get("drifted", 0) == sums.get("contradictions", 0) == 0


def test_who_is_shown_the_truth_explains_nothing(bench, life):
    def truth(session):
        told = told_before(life, session, bench["lives"].TRUE_KINDS)
        return [t.text for t in told
                if t.label.value == life.value(t.label.slot, session.at)]  # fmt: skip

    sums = measured(bench, life, truth)

    assert sums.get("explained", 0) == sums.get("corrections_lost", 0) == 0
    assert sums.get("noise", 0) == sums.get("drifted", 0) == sums.get("contradictions", 0) == 0


def test_who_is_shown_rants_alone_is_told_a_wrong_profile(bench, life):
    def rants(session):
        return [t.text for t in told_before(life, session, {"rant"})]

    sums = measured(bench, life, rants)

    assert sums["noise"] == sums["shown"] > 0
    assert sums["drifted"] > 0
