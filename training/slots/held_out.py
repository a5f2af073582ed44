"""Measure what reads slots on statements that others wrote: nothing was trained on them.

    python training/slots/held_out.py [--show]
"""

from __future__ import annotations

import argparse
from collections import Counter

from statements import HERE, Case, in_file

from dualgate.adapters.local.embedder import UseEmbedder
from dualgate.adapters.local.slots import NONE, Found, SlotReader

KINDS = ("closed", "open", "none")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--show", action="store_true", help="print what was read wrongly")
    options = parser.parse_args()
    reader = SlotReader(UseEmbedder())
    print("|  | statements | read | slot right | value right | value right or part of it |")
    print("|---|--:|--:|--:|--:|--:|")
    wrong: list[str] = []
    for lang in ("zh", "en"):
        cases = [case for case in in_file(HERE / "held-out" / f"{lang}.txt") if not case.again]
        for kind in KINDS:
            counts = counted([c for c in cases if kind_of(c) == kind], reader, wrong)
            cells = (counts[name] for name in ("all", "read", "slot", "exact", "part"))
            print(f"| {lang} {kind} | " + " | ".join(map(str, cells)) + " |")
    if options.show:
        print("\n".join(wrong))


def kind_of(case: Case) -> str:
    if case.label == NONE:
        return "none"
    return "closed" if "=" in case.label else "open"


def counted(cases: list[Case], reader: SlotReader, wrong: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter(all=len(cases))
    for case in cases:
        found = reader.read(case.text)
        if found is None:
            continue
        slot = found.slot == case.slot
        part = slot and (found.value in case.named or case.named in found.value)
        counts.update(read=1, slot=slot, exact=slot and exact(found, case), part=part)
        if not part:
            wrong.append(f"{found.slot}={found.value} {found.sure:.2f} for {case.label} {case.named}: {case.text}")
    return counts


def exact(found: Found, case: Case) -> bool:
    return found.value == case.named and found.denied == case.denied


if __name__ == "__main__":
    main()
