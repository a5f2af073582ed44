"""docs/reference/cli.md names every command and every option, and none that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from dualgate.entrypoints.cli.main import dualgate

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
HEADING = re.compile(r"^### `dualgate ([a-z -]+?)(?: [\[A-Z].*)?`$", re.MULTILINE)
COMMON = {"--db", "--user", "--json", "--lang", "--help"}


def commands(group=dualgate, prefix=""):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def sections():
    parts = HEADING.split(PAGE.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def options_of(command):
    options = (p for p in command.params if isinstance(p, click.Option))
    return {name for option in options for name in (*option.opts, *option.secondary_opts)}


def test_every_command_has_a_section_and_every_section_a_command():
    assert set(sections()) == {name for name, _ in commands()}


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_option_of_a_command_is_named_in_its_section(name, command):
    documented = set(re.findall(r"`(--[a-z-]+)", sections()[name]))

    assert options_of(command) - COMMON <= documented
    assert documented <= options_of(command) | COMMON


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_takes_the_common_options(name, command):
    assert options_of(command) | {"--help"} >= COMMON, name


def test_the_common_options_are_named():
    assert set(re.findall(r"`(--[a-z]+)", PAGE.read_text(encoding="utf-8"))) >= COMMON


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_says_what_it_does_and_every_option_what_it_means(name, command):
    told = [p for p in command.params if isinstance(p, click.Option)]

    assert command.help, name
    assert [p.name for p in told if not p.help] == []
