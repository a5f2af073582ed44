"""A cheap look at a turn: does it state anything at all? Spares a model the empty ones [W5].

Rule: the same fitted heads as the extractor, asked far more timidly: what it lets pass for nothing
costs a call, what it stops for nothing is lost.
"""

from __future__ import annotations

from dualgate.adapters.local.extraction import encoder, judging, promises
from dualgate.adapters.local.extraction.features import language
from dualgate.adapters.local.extraction.model import load
from dualgate.adapters.local.extraction.reading import read_text
from dualgate.domain.types import Role
from dualgate.pipeline.ports import Turn


class LocalPrefilter:
    """The probability that a turn states something lasting."""

    async def promise(self, turn: Turn) -> float:
        """Return how likely the turn, or any clause of it, states something lasting, 0-1."""
        text = turn.message.content
        if turn.message.role is Role.ASSISTANT:
            return 1.0 if promises.promise_in(text, language(text)) is not None else 0.0
        if turn.message.role is not Role.USER or not text.strip():
            return 0.0
        history = [(each.role.value, each.content) for each in turn.history]
        reading = read_text(text, history)
        if not reading.clauses:
            return 0.0
        model = load()
        chosen = judging.worth_reading(reading, model)
        if not chosen:
            return 0.0
        encoded = await encoder.read(reading, chosen)  # through: what is stopped here is lost
        lines = judging.states(reading, chosen, encoded, model)
        stated = float(lines[:, judging.STATES.index("lasting")].max())
        return max(stated, judging.turn_promise(encoded, model))
