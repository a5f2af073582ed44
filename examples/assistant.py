"""A chat loop with memory: what to call, and when.

Your model stands where `answer` is. Run it: .venv/bin/python examples/assistant.py
"""

from __future__ import annotations

import asyncio

from dualgate import Memory, Message

USER = "mei"


def answer(system_prompt: str, question: str) -> str:
    """Stand in for your model: it only says what it was given."""
    return f"(a model answers {question!r} knowing {len(system_prompt)} characters about the user)"


async def turn(memory: Memory, session: str, question: str, known: str) -> str:
    """Answer one question, then hand the turn over; extraction does not make the user wait."""
    found = await memory.recall(USER, question)
    reply = answer(known + found.text, question)
    await memory.observe(USER, session, [Message("user", question), Message("assistant", reply)])
    return reply


async def main() -> None:
    """Hold two sessions; the second begins with what the first left behind."""
    # "memory://" is gone at the end; leave it out to keep a file in your data directory.
    async with Memory.open("memory://") as memory:
        first = await memory.context(USER, "monday")
        await turn(memory, "monday", "My project Bluebird uses PostgreSQL.", first.text)
        await turn(memory, "monday", "I am allergic to peanuts.", first.text)
        await memory.end_session(USER, "monday")
        # Only because the next session follows at once; in real life nobody waits.
        await memory.drain(timeout=60)

        opening = "How do I back up the Bluebird database?"
        second = await memory.context(USER, "tuesday", opening)
        print(second.text)
        print(f"{second.tokens} tokens")
        print(await turn(memory, "tuesday", opening, second.text))


if __name__ == "__main__":
    asyncio.run(main())
