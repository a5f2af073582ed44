"""Draw docs/explanation/states.md from the table of legal moves.

python docs/draw_states.py          writes the page
python docs/draw_states.py --check  fails if the page is not current
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from dualgate.domain.status import ARROWS, Cause, Status

PAGE = Path(__file__).parent / "explanation" / "states.md"

HEAD = """# The state machine of an item

Made by `docs/draw_states.py` from the table `ARROWS` in `src/dualgate/domain/status.py`; do not
edit it by hand. One function, `move`, changes a status, and only along these arrows [S1]. Every
move is logged with its cause, its time, who caused it and the numbers. Replaying the log from
nothing gives the same statuses again.
"""

TAIL = """A frozen item has no arrow `evicted` and none `faded`: it leaves its pool only by
weathering, thawing, a newer value, its time limit or the user's own word [F4].
"""

MEANINGS = {
    Status.CANDIDATE: "new, in the hot pool, heard too seldom to be relied on",
    Status.CONFIRMED: "in the hot pool, confirmed in two sessions or by the user's own word",
    Status.FROZEN: "in the frozen pool, protected: neither capacity nor a mood moves it",
    Status.ARCHIVED: "in the archive (冷池): searched, but not competing",
    Status.SUPERSEDED: "replaced by a newer value; kept for history",
    Status.FORGOTTEN: "removed by the user, expired or crowded out; can be restored for a while",
}

CAUSES = {
    Cause.ADMITTED: "passed the admission gate",
    Cause.REPLACED_ANOTHER: "entered as the newer value of a known item",
    Cause.CONFIRMED: "enough confirmations, or the user's own word",
    Cause.FROZE: "all conditions of the freeze gate hold [F1], or the user pinned it",
    Cause.WEATHERED: "neither confirmed nor needed for too long [F5]",
    Cause.THAWED: "a long, steady challenge [F3], unpinned, or a smaller pool",
    Cause.DISLIKED: "the user's thumb down",
    Cause.EVICTED: "lost its hot place to a better one [A5]",
    Cause.FADED: "its retention fell under the limit [D1]",
    Cause.EXPIRED: "its time limit ran out",
    Cause.REACTIVATED: "a new strong signal brought it back [A7]",
    Cause.SUPERSEDED: "a newer or stronger value took its place",
    Cause.CORRECTED: "the user reworded the item: this row keeps the old version",
    Cause.CROWDED_OUT: "the archive is full [A7]",
    Cause.FORGOT: "the user removed it [P3]",
    Cause.RESTORED: "the user took that back",
    Cause.ERASED: "the user erased it: only this line of the log is left",
}


def arrows() -> dict[tuple[str, str], list[str]]:
    """Return (from, to) → causes, in the order of the table."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (before, cause), targets in ARROWS.items():
        for after in sorted(targets, key=list(Status).index):
            found["[*]" if before is None else str(before), str(after)].append(str(cause))
    return found


def page() -> str:
    """Return the whole page."""
    drawing = [f"    {a} --> {b}: {', '.join(causes)}" for (a, b), causes in arrows().items()]
    statuses = [f"| `{status}` | {MEANINGS[status]} |" for status in Status]
    causes = [f"| `{cause}` | {CAUSES[cause]} |" for cause in Cause]
    return "\n".join(
        (
            HEAD,
            "```mermaid", "stateDiagram-v2", *drawing, "```", "",
            "| status | meaning |", "|---|---|", *statuses, "",
            "| cause | meaning |", "|---|---|", *causes, "",
            TAIL,
        )
    )  # fmt: skip


def main() -> int:
    """Write the page, or check it."""
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
