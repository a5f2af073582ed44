"""What a model said, read as one JSON value of the form asked for: strict, pure [W5].

Rule: nothing is repaired and nothing is guessed. Models put fences, thoughts and small talk around
an answer; that is peeled off. What then is no JSON, says a key twice, or could be two answers is
unreadable: a wrong fact is worse than a second question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

from dualgate.pipeline.ports import AnswerForm

T = TypeVar("T")

# Models that think aloud do it before the answer; some servers swallow the opening mark.
_THOUGHT = re.compile(r"\A\s*(?:<think(?:ing)?>)?.*?</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)```", re.DOTALL)
_MOST_STARTS = 64  # places in one text at which an object may begin
_DECODER = json.JSONDecoder()


class NotReadableError(ValueError):
    """There is no answer in the text; its message can be shown to the model."""


@dataclass(frozen=True, slots=True)
class Readable(Generic[T]):
    """A value, and the JSON text it was read from."""

    value: T
    text: str


def read_answer(text: str, form: AnswerForm[T], shown: Sequence[str] = ()) -> Readable[T]:
    """Return the one answer in a text.

    shown: what the model was shown. JSON with words around it that stands in there as well is the
    question come back, no answer. Raises NotReadableError.
    """
    bare = text.lstrip("\ufeff").strip()
    if not bare:
        raise NotReadableError("the answer is empty")
    if not _is_whole(bare):
        bare = _THOUGHT.sub("", bare).strip() or bare
    pieces = _pieces(bare)
    if not pieces:
        raise NotReadableError("the answer holds no JSON object")
    problems: list[str] = []
    fits: dict[str, Readable[T]] = {}
    for piece in pieces:
        if _is_echo(piece, bare, shown):
            problems.append("the answer repeats what was asked")
            continue
        try:
            tree = parse(piece)
            fits.setdefault(json.dumps(tree, sort_keys=True), Readable(form.read(tree), piece))
        except ValueError as error:
            problems.append(str(error))
    if not fits:
        raise NotReadableError(problems[0])
    if len(fits) > 1:
        raise NotReadableError(f"the answer holds {len(fits)} different JSON objects")
    return next(iter(fits.values()))


def parse(text: str) -> object:
    """Return the JSON in a text. Raises ValueError for what only lenient parsers take.

    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' stands twice in one object
    """
    try:
        tree: object = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
        json.dumps(tree, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("the JSON holds half a character (a lone surrogate)") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos}") from None
    return tree


def _pieces(bare: str) -> list[str]:
    if _is_whole(bare):
        return [bare]
    fenced = [block.strip() for block in _FENCE.findall(bare)]
    fenced = [block for block in fenced if block.startswith(("{", "["))]
    if fenced:
        return fenced
    found = list(_objects(bare))
    # Nothing that begins like an object is one: say what is wrong with it, not that it lacks.
    return found or ([bare[bare.index("{") :]] if "{" in bare else [])


def _is_whole(bare: str) -> bool:
    return bare[0] in "{[" and bare[-1] in "}]" and _ends(bare, 0) == len(bare)


def _objects(text: str) -> Iterator[str]:
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            return
        end = _ends(text, start)
        if end is not None:
            yield text[start:end]
        start = text.find("{", start + 1 if end is None else end)


def _ends(text: str, start: int) -> int | None:
    """Return where the JSON value that begins at `start` ends; None if it is none."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def _is_echo(piece: str, bare: str, shown: Sequence[str]) -> bool:
    if piece == bare:
        return any(bare == said.strip() for said in shown)
    return any(piece in said for said in shown)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name!r} stands twice in one object")
        found[name] = value
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
