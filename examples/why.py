"""Ask the memory why something is, or is not, remembered.

Run it: .venv/bin/python examples/why.py
"""

from __future__ import annotations

from dualgate import Candidate, Settings, SyncMemory
from dualgate.pipeline.reading import ExtractionPolicy, HostTrust

USER = "mei"


def prefers(value: str, content: str, **more: object) -> Candidate:
    """Return a preference about the length of replies, as your own model might report it."""
    return Candidate("preference", content, attribute="reply_length", value=value,
                     **{"confidence": 0.9, **more})  # fmt: skip


def main() -> None:
    """State a preference three times, doubt it in a bad mood, doubt it seriously."""
    # Here the host's word is taken; by default only what the user said counts.
    settings = Settings(extraction=ExtractionPolicy(host_trust=HostTrust.FULL))
    with SyncMemory.open("memory://", settings=settings) as memory:
        for session in ("monday", "tuesday", "friday"):
            memory.propose(USER, session, [prefers("short", "The user prefers short replies")])
        mood = prefers("long", "The user wants long replies", evidence="emotional")
        serious = prefers("long", "The user prefers long replies", confidence=0.8)
        memory.propose(USER, "saturday", [mood])
        memory.propose(USER, "sunday", [serious])
        memory.drain(timeout=60)

        for decision in reversed(memory.why(USER)):
            print(f"{decision.session_id:9} {decision.outcome:9} {decision.reason}")
        item = memory.items(USER, status="frozen").items[0]
        print(f"\n{item.content}: {item.status}, confirmed {item.confirm_count:g} times")
        for move in memory.history(USER, item.id).moves:
            print(f"  {move.before} -> {move.after} ({move.cause})")

        challenge = memory.pending(USER)[0]
        now = memory.settle(USER, challenge.id, accept=True)
        print(f"\nThe user accepts: {now.content}, version {now.version}")


if __name__ == "__main__":
    main()
