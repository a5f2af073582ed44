"""Check extraction training data: every file read, every line legal, or a list of what is not.

    check.py [FILE.jsonl ...]        without arguments: every *.jsonl beside this script in data/

Rules: quotes are verbatim pieces of the turn and do not overlap, words come from the closed
vocabularies, times carry an offset, dates parse, ids are unique over all files.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Any

WORDS = {
    "scope": {"lasting", "task", "moment"},
    "item_type": {
        "identity", "preference", "constraint", "rule", "project",
        "decision", "commitment", "event", "fact",
    },
    "polarity": {"+", "-"},
    "evidence": {"explicit", "implied", "emotional"},
    "sensitivity": {"normal", "personal", "sensitive"},
}  # fmt: skip
DOMAINS = {
    "coding", "life", "work", "writing", "health",
    "knowledge", "study", "travel", "shopping", "support",
}  # fmt: skip
LINE_KEYS = {"id", "lang", "domain", "history", "turn", "at", "spans", "note"}
SPAN_KEYS = {*WORDS, "quote", "correction", "subject", "content", "event_date"}


def span_faults(span: dict[str, Any], turn: str) -> list[str]:
    """List what is wrong with one span."""
    if span.keys() != SPAN_KEYS:
        return [f"span keys differ: {sorted(span.keys() ^ SPAN_KEYS)}"]
    faults = [
        f"{name}: {span[name]!r} is not in the vocabulary"
        for name, words in WORDS.items()
        if span[name] not in words
    ]
    if not span["quote"].strip() or span["quote"] not in turn:
        faults.append(f"quote is not in the turn: {span['quote']!r}")
    if not isinstance(span["correction"], bool):
        faults.append("correction is not a bool")
    if not span["content"].strip() or not span["subject"].strip():
        faults.append("content or subject is empty")
    if span["event_date"] is not None:
        try:
            date.fromisoformat(span["event_date"])
        except ValueError:
            faults.append(f"event_date does not parse: {span['event_date']!r}")
    return faults


def line_faults(line: dict[str, Any]) -> list[str]:
    """List what is wrong with one turn and its spans."""
    if line.keys() != LINE_KEYS:
        return [f"keys differ: {sorted(line.keys() ^ LINE_KEYS)}"]
    faults = []
    if line["lang"] not in {"zh", "en"}:
        faults.append(f"lang: {line['lang']!r}")
    if line["domain"] not in DOMAINS:
        faults.append(f"domain: {line['domain']!r}")
    if not line["turn"].strip():
        faults.append("the turn is empty")
    if datetime.fromisoformat(line["at"]).tzinfo is None:
        faults.append(f"at has no offset: {line['at']}")
    faults.extend(
        f"history entry is not role and content: {said}"
        for said in line["history"]
        if said.keys() != {"role", "content"} or said["role"] not in {"user", "assistant"}
    )
    for span in line["spans"]:
        faults.extend(span_faults(span, line["turn"]))
    return faults + overlaps(line)


def overlaps(line: dict[str, Any]) -> list[str]:
    """Name the spans that cannot be placed side by side in their order of appearance."""
    faults, end = [], 0
    turn = line["turn"]
    for span in sorted(line["spans"], key=lambda span: turn.find(span["quote"])):
        start = turn.find(span["quote"], end)
        if start < 0:
            faults.append(f"span overlaps another: {span['quote']!r}")
        end = max(end, start + len(span["quote"]))
    return faults


def main() -> int:
    """Check the files, print the faults and a count; 1 if anything is wrong."""
    named = [Path(name) for name in sys.argv[1:]]
    files = named or sorted((Path(__file__).parent / "data").glob("*.jsonl"))
    seen: set[str] = set()
    faults = 0
    for file in files:
        counts: Counter[str] = Counter()
        # Not splitlines(): U+2028 and its like are ordinary characters inside JSON.
        for number, text in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if not text.strip():
                continue
            line = json.loads(text)
            found = line_faults(line)
            if line.get("id") in seen:
                found.append(f"id is taken: {line['id']}")
            seen.add(line.get("id"))
            scopes = {span["scope"] for span in line.get("spans", ())}
            counts["lasting" if "lasting" in scopes else "scoped" if scopes else "noise"] += 1
            for fault in found:
                print(f"{file.name}:{number}: {fault}")
            faults += len(found)
        print(f"{file.name}: {sum(counts.values())} turns, {dict(sorted(counts.items()))}")
    return 1 if faults or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
