"""What the next session would be told: the context by section, without touching it [R1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from dualgate.domain.assembly import ContextBlock
from dualgate.domain.items import MemoryItem
from dualgate.domain.status import ACTIVE
from dualgate.entrypoints.http.access import PanelUser
from dualgate.entrypoints.panel import page
from dualgate.entrypoints.panel.failures import PanelRoute
from dualgate.entrypoints.panel.words import Words

router = APIRouter(route_class=PanelRoute)

_PAGE = 1_000
SESSION = "panel:preview"  # only looked at: the preview keeps no session


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section of the context. lines: the items, each with its reason."""

    name: str
    tokens: int
    limit: int
    lines: list[tuple[MemoryItem, str]]


@router.get("/next")
async def upcoming(
    request: Request, looking: PanelUser, says: Annotated[str, Query(max_length=2_000)] = ""
) -> Response:
    """Show what an assistant would be told at the start of a session."""
    if looking.user_id is None:
        return page.go(request, "/choose")
    say = page.words_for(request)
    block = await page.memory_of(request).context(
        looking.stored_id, SESSION, says, preview=True, lang=say.lang
    )
    listed = await page.memory_of(request).items(looking.stored_id, status=ACTIVE, limit=_PAGE)
    # Listed items have the scores of now, the block's those of their last write.
    now = {item.id: item for item in listed.items}
    limits = page.settings_of(request).read.limits
    sections = [
        Section(
            name="core", tokens=block.core_tokens, limit=limits.core_tokens,
            lines=[(item, say("next.why_core")) for item in block.core],
        ),
        Section(
            name="active", tokens=block.active_tokens, limit=limits.active_tokens,
            lines=[(i, _active(now.get(i.id, i), block, says, say)) for i in block.active],
        ),
        Section(
            name="recalled", tokens=block.recalled_tokens, limit=limits.recalled_tokens,
            lines=[(item, _recalled(item, says, say)) for item in block.recalled],
        ),
    ]  # fmt: skip
    return await page.render(
        request, "next.html", looking, says=says, block=block, sections=sections,
        limit=limits.total,
    )  # fmt: skip


def _active(item: MemoryItem, block: ContextBlock, says: str, say: Words) -> str:
    if item.contested:
        return say("next.why_conflict")
    if item.override_of in {core.id for core in block.core}:
        return say("next.why_newer")
    name = "next.why_active_topic" if says.strip() else "next.why_active"
    return say(name, percent=round(item.score * 100))


def _recalled(item: MemoryItem, says: str, say: Words) -> str:
    return say("next.why_conflict") if item.contested else say("next.why_recalled", query=says)
