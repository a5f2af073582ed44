"""A summarizer that may be away, and the one that stands in for it [L1].

Rule: a conversation is compacted while somebody waits for it, so nothing here waits for a model to
come back. That the stand-in wrote it is told to the observer.
"""

from __future__ import annotations

from collections.abc import Sequence

from dualgate.domain.compaction import Digest
from dualgate.domain.items import Message
from dualgate.errors import ModelError
from dualgate.pipeline.observer import Observer
from dualgate.pipeline.ports import Summarizer


class SteadySummarizer:
    """Asks `first`; where it gives no answer, `second`."""

    def __init__(self, first: Summarizer, second: Summarizer, observer: Observer) -> None:
        self._first = first
        self._second = second
        self._observer = observer
        self.input_tokens = first.input_tokens

    async def summarize(self, turns: Sequence[Message]) -> Digest:
        """Return the lines to keep."""
        try:
            return await self._first.summarize(turns)
        except ModelError as error:
            self._observer.stumbled(f"compaction went without the model: {error}")
            return await self._second.summarize(turns)
