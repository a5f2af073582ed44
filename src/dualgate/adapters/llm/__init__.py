"""A user's own model: chat and embeddings over HTTP, without anybody's SDK [W5].

Needs the extra `llm`: pip install "dualgate[llm]". Whoever has pydantic models for answers makes
forms of them with `form_of`.
"""

from __future__ import annotations

from dualgate.adapters.llm.chat import EndpointModel
from dualgate.adapters.llm.embedding import EndpointEmbedder
from dualgate.adapters.llm.forms import form_of

__all__ = ["EndpointEmbedder", "EndpointModel", "form_of"]
