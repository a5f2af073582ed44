"""English words for dates_en.py: those it reads, those that tell the tense, those it writes."""

from __future__ import annotations

import re
from dataclasses import replace

from dualgate.adapters.local.daterules import Found

MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
MONTH = rf"({MONTHS})\b\.?"
# "may" and "mar" are words of their own: alone, a month must be written as one.
WHOLE_MONTH = (
    "(january|february|march|april|may|june|july|august|september|october|november|december)"
)
WEEKDAYS = (
    "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
)
WHOLE_WEEKDAY = "(monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
PART = r"(?:,?\s(morning|noon|afternoon|evening|night|lunchtime))?"
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "a couple of": 2, "couple of": 2,
    "a couple": 2, "a few": 3, "several": 4, "half a": 0,
}  # fmt: skip
N = r"(\d{1,3}|a couple of|couple of|a couple|a few|several|half an?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
UNIT = r"(days?|nights?|weeks?|fortnights?|months?|years?)"
TH = r"(?:st|nd|rd|th)"
FEASTS = (
    "christmas eve|christmas|xmas|boxing day|new year['’]?s eve|new year['’]?s(?: day)?|thanksgiving|halloween"
    "|valentine['’]?s day|independence day|easter|labor day|memorial day|black friday"
    "|chinese new year|lunar new year|mid-autumn festival|dragon boat festival|mother['’]?s day|father['’]?s day"
    "|april fools|st\\.? patrick['’]?s day"
)
NO_DAY = (
    "floor|time|grade|edition|century|place|version|attempt|chapter|row|page|day|week|month|quarter|party|line"
    "|round|item|one|try|anniversary|birthday|gen|person|street|ave|avenue|element|column|step|hour|player|part"
    "|season|episode|year|semester|draft|child|kid|option|question|point|release|percentile|arr|district"
)


BEHIND = re.compile(
    r"\b(?:was|were|did|had|been|went|got|came|met|saw|told|left|quit|began|broke|bought|made|said|gave|took|lost|found|since|as of|"
    r"flew|drove|ran|won|ate|sent|paid|spent|built|wrote|thought|kept|felt|shipped|ago|just|already|[a-z]{3,}ed)\b|['’]ve\b",
    re.IGNORECASE,
)
AHEAD = re.compile(
    r"\b(?:will|going to|gonna|need|needs|should|must|by|due|plans?|planning|planned|want|let['’]s|until|till|before|deadline|remind|"
    r"scheduled|booked|hope|expect|expected|supposed|moved to|moving|starts?|starting|begins?|is on|are on|promised?|agreed|can|could|"
    r"would|see you|for now|upcoming|on deadline|set for|changed to|pushed to|postponed|rescheduled|invited)\b|['’](?:ll|d)\b",
    re.IGNORECASE,
)

NEAR = {
    "today": 0, "tonight": 0, "tonite": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "yesterday": -1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "the day before yesterday": -2,
    "day before yesterday": -2, "last night": -1, "the other day": -3, "overnight": 0,
}  # fmt: skip

_LED = re.compile(
    r"\b(?:on|by|until|till|since|before|after|from|through|for|of|around|about|to|between|and|in|the"
    r"|is|was|are|were|at|as)\s+$",
    re.IGNORECASE,
)


def worded(found: Found, text: str) -> Found:
    """Put a preposition before what stands without one: "I quit on 2026-02-27"."""
    lead = _lead(found)
    before = text[: found.start]
    owning = text[found.word_end : found.word_end + 2] in {"'s", "’s"}
    if not lead or owning or before.rstrip().endswith(":") or _LED.search(before[-12:]):
        return found
    starts = not before.strip() or before.rstrip()[-1:] in set(".!?")
    return replace(found, said=f"{lead.capitalize() if starts else lead} {found.said}")


def _lead(found: Found) -> str:
    """Return the preposition a timeless wording needs; feasts and quarters need none."""
    if found.said is None or found.recurring:
        return ""
    if re.match(r"\d{4}-\d\d-\d\d", found.said):
        return "from" if " to " in found.said else "on"
    if found.said.startswith("Q") or found.precision == "day":
        return ""
    return "in"
