"""Settings.load: TOML and environment in, one checked tree out, or all problems at once."""

from __future__ import annotations

import pytest

from dualgate import Memory, Settings
from dualgate.domain.admission import AdmissionPolicy
from dualgate.domain.policy import GatePolicy
from dualgate.domain.types import ItemType
from dualgate.errors import InvalidInputError, SettingsError


@pytest.fixture
def toml(tmp_path):
    def write(text):
        path = tmp_path / "dualgate.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def problems_of(path=None, **environ):
    with pytest.raises(SettingsError) as refused:
        Settings.load(path, {f"DUALGATE_{name}": text for name, text in environ.items()})
    return refused.value.problems


def test_without_a_file_and_an_environment_there_are_the_defaults():
    assert Settings.load(environ={}) == Settings()


def test_a_file_sets_what_it_names_and_nothing_else(toml):
    settings = Settings.load(
        toml('timezone = "Asia/Shanghai"\n[gates.admission]\ncapacity = 120\n'), {}
    )

    assert settings.timezone == "Asia/Shanghai"
    assert settings.gates.admission == AdmissionPolicy(capacity=120)
    assert settings.gates.freeze == GatePolicy().freeze


def test_the_environment_wins_over_the_file(toml):
    path = toml("[gates.freeze]\ncapacity = 10\nconfirm_at = 1.5\n")

    settings = Settings.load(path, {"DUALGATE_GATES__FREEZE__CAPACITY": "20"})

    assert settings.gates.freeze.capacity == 20
    assert settings.gates.freeze.confirm_at == 1.5


def test_the_file_may_be_named_by_the_environment(toml):
    path = toml("history_turns = 7\n")

    assert Settings.load(environ={"DUALGATE_SETTINGS": str(path)}).history_turns == 7


def test_the_process_environment_is_read_only_when_asked(monkeypatch):
    monkeypatch.setenv("DUALGATE_HISTORY_TURNS", "9")

    assert Settings().history_turns == 4
    assert Settings.load().history_turns == 9


@pytest.mark.parametrize(
    ("name", "text", "path", "value"),
    [
        ("RUN_WORKER", "false", "run_worker", False),
        ("RUN_WORKER", "YES", "run_worker", True),
        ("FLUSH_SECONDS", "0", "flush_seconds", 0.0),
        ("QUEUE__WORKERS", "4", "queue.workers", 4),
        ("GATES__WEATHERING__SHAPE", "cliff", "gates.weathering.shape", "cliff"),
        (
            "GATES__FREEZE__TYPES",
            "identity,rule",
            "gates.freeze.types",
            frozenset({ItemType.IDENTITY, ItemType.RULE}),
        ),
        ("URL", "memory://", "url", "memory://"),
    ],
)
def test_text_from_the_environment_becomes_a_value_of_the_settings_type(name, text, path, value):
    found = Settings.load(environ={f"DUALGATE_{name}": text})
    for part in path.split("."):
        found = getattr(found, part)

    assert found == value
    assert type(found) is type(value)


def test_variables_of_other_programs_and_of_the_command_line_are_left_alone():
    environ = {"PATH": "/bin", "DUALGATE_USER": "ada", "DUALGATE_DB": "memory://",
               "DUALGATE_LANG": "zh"}  # fmt: skip

    assert Settings.load(environ=environ) == Settings()


def test_a_misspelt_setting_is_refused_by_its_full_name(toml):
    path = toml("[gates.admission]\ncapcity = 120\n")

    assert problems_of(path) == ("unknown setting gates.admission.capcity",)


def test_every_unreadable_value_is_named_at_once():
    problems = problems_of(
        GATES__ADMISSION__CAPACITY="many",
        GATES__WEATHERING__SHAPE="square",
        RUN_WORKER="perhaps",
        GATES__FREEZE__TYPES="identity,mood",
        COLOUR="blue",
    )

    assert len(problems) == 5
    for name in ("gates.admission.capacity", "gates.weathering.shape", "run_worker",
                 "gates.freeze.types", "colour"):  # fmt: skip
        assert any(name in problem for problem in problems), name


def test_every_contradiction_between_values_is_named_at_once():
    problems = problems_of(
        GATES__ADMISSION__FLOOR="2",
        GATES__OVERRIDE__HOLD_AT="0.95",
        QUEUE__WORKERS="0",
        READ__RECIPE="spicy",
        TIMEZONE="Atlantis/Capital",
        HISTORY_TURNS="-1",
    )

    assert len(problems) == 6


def test_a_table_where_a_value_belongs_and_a_value_where_a_table_belongs_are_refused(toml):
    assert "gates.admission" in problems_of(toml("[gates]\nadmission = 3\n"))[0]
    assert "history_turns" in problems_of(toml("[history_turns]\nold = 3\n"))[0]
    assert "timezone" in problems_of(toml("timezone = 8\n"))[0]
    assert "gates" in problems_of(GATES="3")[0]


def test_an_environment_that_goes_deeper_than_the_file_is_refused(toml):
    path = toml("gates = 3\n")

    assert "gates: must be a table" in problems_of(path, GATES__FREEZE__CAPACITY="20")


@pytest.mark.parametrize("text", ["2.5", "nan", "inf", ""])
def test_a_whole_number_is_whole(text):
    assert "history_turns" in problems_of(HISTORY_TURNS=text)[0]


@pytest.mark.parametrize(("path", "toml_value"), [
    ("gates.admission.capacity", "120.5"),
    ("gates.score.recency_rate", "nan"),
    ("upkeep_hours", "inf"),
])  # fmt: skip
def test_a_number_that_would_be_bent_or_means_nothing_is_refused(toml, path, toml_value):
    assert path in problems_of(toml(f"{path} = {toml_value}\n"))[0]


def test_a_broken_or_missing_file_is_an_error_that_names_it(toml, tmp_path):
    assert "dualgate.toml" in problems_of(toml("gates = ["))[0]
    assert "none.toml" in problems_of(tmp_path / "none.toml")[0]


def test_a_user_class_has_its_own_gates_and_an_unknown_class_the_defaults(toml):
    settings = Settings.load(
        toml('[user_classes.expert.freeze]\ntypes = ["rule"]\ncapacity = 50\n'), {}
    )

    assert settings.policy_of("expert").freeze.types == frozenset({ItemType.RULE})
    assert settings.policy_of("expert").freeze.capacity == 50
    assert settings.policy_of("nobody") == settings.gates


def test_a_user_class_may_come_from_the_environment():
    name = "DUALGATE_USER_CLASSES__EXPERT__ARCHIVE__CAPACITY"

    settings = Settings.load(environ={name: "100"})

    assert settings.policy_of("expert").archive.capacity == 100
    assert settings.smallest_archive() == 100


def test_a_problem_in_a_user_class_names_the_class(toml):
    path = toml("[user_classes.expert.admission]\ncapacity = 0\nfloor_places = 0\n")

    assert problems_of(path) == (
        "user_classes.expert: admission.capacity must be at least 1",
    )


def test_no_class_may_be_called_default():
    with pytest.raises(SettingsError, match="default"):
        Settings(user_classes={"default": GatePolicy()})


async def test_a_user_can_only_be_given_a_class_that_exists():
    settings = Settings(user_classes={"expert": GatePolicy()})
    async with Memory.open("memory://", settings=settings) as memory:
        await memory.set_user_class("ada", "expert")
        with pytest.raises(InvalidInputError, match="default, expert"):
            await memory.set_user_class("ada", "guru")

        assert (await memory.stats("ada")).pools.user_class == "expert"
