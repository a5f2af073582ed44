"""The simulation of users' months measures what it says it does."""

from __future__ import annotations

import sys
from itertools import combinations, permutations
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


@pytest.fixture(scope="module", params=["held-out", "final"])
def pool(request):
    return request.param


@pytest.fixture(scope="module", params=[0, 1], ids=["zh", "en"])
def life(bench: dict[str, ModuleType], pool: str, request):
    return bench["lives"].live(7, request.param, 91, pool)


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


def sentences(said):
    """Return what a pool says, by where it says it: frames, own sentences, noise."""
    own = {f"{name} {act}": texts for name, slot in said.slots.items()
           for act, texts in slot.sentences.items()}  # fmt: skip
    shared = ("project names", "thing", "topic")
    noise = {name: texts for name, texts in said.sentences.items() if name not in shared}
    return {**{f"wish {act}": frames for act, frames in said.frames.items()}, **own, **noise}


def orders(said):
    return {(name, value): {order.text for order in listed} for name, slot in said.slots.items()
            for value, listed in slot.orders.items()}  # fmt: skip


@pytest.fixture(params=["zh", "en"])
def pools(bench, request):
    """Return the wordings of one language: pool -> words."""
    return {pool: bench["words"].words(request.param, pool) for pool in bench["words"].POOLS}


def test_the_same_seed_gives_the_same_life(bench, life, pool):
    number = 0 if life.lang == "zh" else 1

    assert bench["lives"].live(7, number, 91, pool) == life
    assert bench["lives"].live(8, number, 91, pool) != life


def test_no_two_pools_share_a_sentence(pools):
    for one, other in combinations(pools.values(), 2):
        mine, theirs = sentences(one), sentences(other)

        assert mine.keys() == theirs.keys()
        for place, texts in mine.items():
            assert texts
            assert not set(texts) & set(theirs[place]), place


def test_the_final_pool_has_orders_of_its_own(pools):
    main, held_out, final = (orders(pools[pool]) for pool in ("main", "held-out", "final"))

    assert main == held_out
    assert main.keys() == final.keys()
    for place, texts in final.items():
        assert texts
        assert not texts & main[place], place


def test_the_final_pool_adds_values_to_the_shared_ones(pools):
    main, final = pools["main"].slots, pools["final"].slots

    assert pools["held-out"].slots["city"].values == main["city"].values
    for name, slot in main.items():
        assert set(slot.values) <= set(final[name].values)
        assert len(set(final[name].values)) == len(final[name].values)
    assert set(main["city"].values) < set(final["city"].values)


def test_no_value_of_the_final_pool_stands_in_another(pools):
    for slot in pools["final"].slots.values():
        keys = {value: {order.key for order in slot.orders.get(value, ())} or {value}
                for value in slot.values}  # fmt: skip
        for one, other in permutations(keys, 2):
            told = {order.text for order in slot.orders.get(other, ())} or {other}

            assert not [k for k in keys[one] for text in told if k.lower() in text.lower()]


def test_a_pool_that_is_none_is_named(bench):
    with pytest.raises(ValueError, match="pool: 'finale' is none of main, held-out, final"):
        bench["words"].words("en", "finale")


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
