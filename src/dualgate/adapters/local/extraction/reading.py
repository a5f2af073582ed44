"""Reading: a turn as the model sees it, own voice cut out and split into clauses.

Rule: everything before the first probability. Pure, synchronous, linear in the length of the turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dualgate.adapters.local.extraction.clauses import Clause, split
from dualgate.adapters.local.extraction.features import Setting, language
from dualgate.adapters.local.extraction.voice import own_voice

OWN_LIMIT = 600  # characters of the user's own words that stand for the turn as a whole
REPLY_LIMIT = 600


@dataclass(frozen=True, slots=True)
class Reading:
    """The clauses of a turn, and what surrounds them."""

    text: str
    clauses: list[Clause]
    setting: Setting


def read_text(text: str, history: Iterable[tuple[str, str]] = ()) -> Reading:
    """Cut and split a turn; history is (role, content), oldest first."""
    voice = own_voice(text)
    clauses = split(voice)
    own = " ".join(clause.text for clause in clauses[:60])[:OWN_LIMIT]
    turns = list(history)
    reply_to = turns[-1][1][:REPLY_LIMIT] if turns and turns[-1][0] == "assistant" else ""
    setting = Setting(language(own or text), own, reply_to, voice.carried)
    return Reading(text, clauses, setting)
