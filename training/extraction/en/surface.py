"""Type a turn the way people type: case, apostrophes, slang, slips, a missing full stop.

Only the turn changes; the content of a statement stays well spelled. Quotes change with the turn,
because each piece is changed by the same habits of one writer.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from en.markup import Draft, Piece

_SLANG = {
    "because": "cuz", "please": "pls", "you": "u", "your": "ur", "going to": "gonna",
    "want to": "wanna", "right now": "rn", "really": "rly", "people": "ppl", "with": "w/",
    "got to": "gotta", "though": "tho", "about": "abt", "between": "btwn", "are": "r",
    "okay": "k", "kind of": "kinda", "something": "smth", "before": "b4",
}  # fmt: skip
_SLIPS = {
    "the": "teh", "definitely": "definately", "always": "alwyas", "never": "nver", "from": "form",
    "that": "taht", "and": "adn", "because": "becuase", "prefer": "perfer", "allergic": "alergic",
    "every": "evry", "using": "usign", "have": "ahve", "please": "plese", "which": "wich",
    "their": "thier", "like": "liek", "anymore": "any more", "can't": "cant'", "work": "wrok",
    "until": "untill", "remember": "rember", "should": "shoud", "with": "wiht", "again": "agian",
}  # fmt: skip
_TAILS = (" lol", " haha", " :)", " 😅", " 🙏", "!!", "...", " tho", " ok?", " thx", " x", " 👍")


@dataclass(frozen=True, slots=True)
class Habits:
    """How one writer types one turn."""

    case: str
    apostrophes: str
    slang: float
    slips: float
    tail: str


def habits(rng: random.Random) -> Habits:
    """Draw a writer."""
    return Habits(
        case=rng.choices(("as is", "lower", "sentence"), (45, 35, 20))[0],
        apostrophes=rng.choices(("as is", "none", "curly"), (74, 16, 10))[0],
        slang=0.6 if rng.random() < 0.12 else 0.0,
        slips=0.25 if rng.random() < 0.10 else 0.0,
        tail=rng.choice(_TAILS) if rng.random() < 0.08 else "",
    )


def swapped(text: str, words: dict[str, str], share: float, rng: random.Random) -> str:
    """Replace a share of the words that have another spelling."""

    def one(found: re.Match[str]) -> str:
        return words[found[0].lower()] if rng.random() < share else found[0]

    longest_first = sorted(words, key=len, reverse=True)
    known = "|".join(re.escape(word) for word in longest_first)
    return re.sub(rf"(?<![\w'])(?:{known})(?![\w'])", one, text, flags=re.IGNORECASE)


def retyped(text: str, habit: Habits, rng: random.Random) -> str:
    """Type one piece by the habits of its writer."""
    if habit.slips:
        text = swapped(text, _SLIPS, habit.slips, rng)
    if habit.slang:
        text = swapped(text, _SLANG, habit.slang, rng)
    if habit.case == "lower":
        text = text.lower()
    if habit.apostrophes != "as is":
        mark = "" if habit.apostrophes == "none" else "’"
        text = re.sub(r"(?<=[A-Za-z])'(?=[a-z])", mark, text)
    return text


def sentence_case(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Begin the turn with a capital and write the pronoun I as one."""
    first = replace(pieces[0], text=pieces[0].text[:1].upper() + pieces[0].text[1:])
    return tuple(
        replace(piece, text=re.sub(r"\bi\b(?![.:/_])", "I", piece.text))
        for piece in (first, *pieces[1:])
    )


def typed(draft: Draft, rng: random.Random) -> Draft:
    """Type a whole draft by one writer; pastes and secrets keep their letters."""
    habit = habits(rng)
    if any(word in draft.note for word in ("paste", "secret")):
        return draft
    pieces = tuple(replace(p, text=retyped(p.text, habit, rng)) for p in draft.pieces)
    if habit.case == "sentence":
        pieces = sentence_case(pieces)
    if habit.tail and pieces[-1].text[-1:].isalnum():
        pieces = (*pieces, Piece(habit.tail))
    elif habit.case == "sentence" and pieces[-1].text[-1:].isalnum():
        pieces = (*pieces, Piece("."))
    return replace(draft, pieces=pieces)
