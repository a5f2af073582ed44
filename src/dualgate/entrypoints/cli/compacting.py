"""The command that makes a long conversation shorter [L1]."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import click

from dualgate.entrypoints.cli.frame import Frame, for_anybody
from dualgate.entrypoints.cli.render import Page, as_json
from dualgate.errors import InvalidInputError

if TYPE_CHECKING:
    from dualgate import Memory
    from dualgate.conversation.compacting import Compacted


@click.command()
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@click.option("--budget", type=int, help="Tokens of all messages together, at most.")
@for_anybody
def compact(frame: Frame, file: IO[str], budget: int | None) -> None:
    """Shorten a conversation: a JSON array of messages, or one message a line; "-" is stdin.

    Messages are written as for OpenAI or Anthropic. Nothing is stored, no database is opened.
    """
    messages = _messages(file.read())

    async def work(memory: Memory) -> Compacted:
        return await memory.compact(messages, budget)

    done = replace(frame, db="memory://").run(work)

    def page(out: Page) -> None:
        for message in done:
            out.line(" ".join(as_json(message).split()))

    frame.show({"messages": list(done), "report": done.report}, page)


def _messages(text: str) -> list[Any]:
    try:
        read = json.loads(text)
    except ValueError:
        read = None
    if isinstance(read, dict) and "messages" in read:
        read = read["messages"]
    if isinstance(read, list):
        return read
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        rule = f"must be a JSON array of messages, or one message a line: {error}"
        raise InvalidInputError("FILE", rule) from None
