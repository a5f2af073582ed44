"""Prompts: Markdown files with a version, one a language; what is said goes in as JSON.

Rule: prompts hold no example of an answer's content. A model that has one gives it back as a fact
about the user, and sure of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from dualgate.domain.types import Role
from dualgate.pipeline.ports import ModelTask, Said
from dualgate.pipeline.render import language_of

LANGUAGES = ("zh", "en")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it is shipped; label goes into the decisions: "extract.zh/1"."""

    label: str
    text: str


@lru_cache(maxsize=16)
def prompt(task: ModelTask, lang: str) -> Prompt:
    """Return the prompt of a task in a language, "zh" or "en"."""
    name = f"{task}.{lang}"
    source = files(__package__).joinpath(f"prompts/{name}.md").read_text("utf-8")
    _, head, text = source.split("---\n", 2)
    version = head.removeprefix("version:").strip()
    return Prompt(f"{name}/{version}", text.strip())


def asking(task: ModelTask, shown: Mapping[str, Any], texts: Iterable[str]) -> list[Said]:
    """Return the messages of a question: the prompt in the language of the texts, then the data.

    Data is one JSON object: no text in it can end it, whatever marks it holds.
    """
    system = prompt(task, language_of(texts)).text
    return [
        Said(Role.SYSTEM, system),
        Said(Role.USER, json.dumps(shown, ensure_ascii=False)),
    ]
