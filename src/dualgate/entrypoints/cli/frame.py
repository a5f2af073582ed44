"""What all commands share: their common options, opening the memory, and errors in one line.

A user's mistake ends with exit code 2 and one line on stderr; with --json the same as one document
{"error": {type, message, argument, rule}} on stdout. Ctrl-C ends with 130.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from dualgate.entrypoints.cli.render import Page, as_json, safe
from dualgate.entrypoints.cli.words import LANGUAGES, word
from dualgate.errors import ConfirmationRequiredError, DualgateError, InvalidInputError

if TYPE_CHECKING:
    from dualgate import Memory

USER_ERROR = 2
INTERRUPTED = 130

_Result = TypeVar("_Result")
_Command = Callable[..., None]
_COMMON = ("db", "user", "json", "lang")


@dataclass(frozen=True, slots=True)
class Frame:
    """The common options of one run, and what follows from them."""

    db: str | None = None
    given_user: str | None = None
    json: bool = False
    lang: str | None = None

    @property
    def user(self) -> str:
        """The user the command is about; there is no default one [P4]."""
        if self.given_user is None:
            raise InvalidInputError("--user", "is needed: whose memory is it?")
        return self.given_user

    def word(self, english: str) -> str:
        """Return a label in the language of this run."""
        return word(english, self.lang)

    def facts(self, pairs: Mapping[str, object]) -> list[tuple[str, object]]:
        """Return names with their values in the language of this run."""
        said = {True: self.word("yes"), False: self.word("no")}
        return [
            (self.word(name), said[value] if isinstance(value, bool) else value)
            for name, value in pairs.items()
        ]

    def words(self, *english: str) -> list[str]:
        """Return several labels."""
        return [self.word(label) for label in english]

    def run(
        self, work: Callable[[Memory], Awaitable[_Result]], *, as_worker: bool = False
    ) -> _Result:
        """Open the memory, do the work, close the memory whatever happens.

        as_worker: work the queue off; a command that only looks does not. Closing finishes the
        job in hand, so that Ctrl-C leaves no user leased to nobody.
        """
        # Imported here, so that --help and mistakes do not wait for the models' libraries.
        from dualgate import Memory, Settings

        settings = replace(Settings.load(), run_worker=as_worker)

        async def opened() -> _Result:
            async with Memory.open(self.db, settings=settings) as memory:
                return await work(memory)

        return asyncio.run(opened())

    def show(self, result: object, page: Callable[[Page], None]) -> None:
        """Print the result as JSON, or as a page."""
        if self.json:
            click.echo(as_json(result))
        else:
            page(Page())

    def done(self, said: str) -> None:
        """Print that it was done."""
        self.show({"ok": True}, lambda page: page.line(said))


def common(command: _Command) -> _Command:
    """Give a command about one user the options that every command has, as a Frame.

    They may stand before the command's name as well; after it, they win.
    """

    @wraps(command)
    def bound(frame: Frame, /, *args: Any, **options: Any) -> None:
        _ = frame.user  # [P4] a missing user is an error before anything is opened
        command(frame, *args, **options)

    return for_anybody(bound)


def for_anybody(command: _Command) -> _Command:
    """Give a command the common options; it can do without a user."""

    @click.option("--db", metavar="URL", help="Database; a file of your own by default.")
    @click.option("--user", metavar="ID", help="Whose memory it is.")
    @click.option("--json", is_flag=True, default=None, help="Print one JSON document.")
    @click.option("--lang", type=click.Choice(LANGUAGES), help="Language of what is printed.")
    @click.pass_context
    @wraps(command)
    def framed(context: click.Context, /, *args: Any, **options: Any) -> None:
        before: dict[str, Any] = context.obj or {}
        given = {name: options.pop(name) for name in _COMMON}
        merged = {
            name: before.get(name) if value is None else value for name, value in given.items()
        }
        frame = Frame(merged["db"], merged["user"], bool(merged["json"]), merged["lang"])
        command(frame, *args, **options)

    return framed


class CalmGroup(click.Group):
    """A command group whose errors are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands in the order in which one meets them, not by the alphabet."""
        return list(self.commands)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run the command and exit with its code."""
        words = [as_utf8(word) for word in (sys.argv[1:] if args is None else args)]
        extra["standalone_mode"] = False
        try:
            result = super().main(words, *rest, **extra)
        except DualgateError as error:
            _told(_described(error), as_document="--json" in words)
            code = USER_ERROR
        except click.exceptions.NoArgsIsHelpError as error:
            # No command was named: the help as it stands, not as one line.
            click.echo(error.format_message(), err=True)
            code = error.exit_code
        except click.ClickException as error:
            _told(_misused(error), as_document="--json" in words)
            code = error.exit_code
        except click.Abort:
            click.echo("stopped", err=True)
            code = INTERRUPTED
        else:
            code = result if isinstance(result, int) else 0
        sys.exit(code)


def speak_utf8() -> None:
    """Make the standard streams UTF-8, whatever the locale says."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def as_utf8(argument: str) -> str:
    """Return an argument as UTF-8 if its bytes are; a shell's locale may have misread them."""
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


def _described(error: DualgateError) -> dict[str, Any]:
    message = str(error)
    if isinstance(error, ConfirmationRequiredError):
        # The error speaks of the Python call; here it is an option.
        message = f"item {error.item_id} is frozen; add --confirm to forget it"
    return {
        "type": type(error).__name__,
        "message": message,
        "argument": getattr(error, "argument", None),
        "rule": getattr(error, "rule", None),
    }


def _misused(error: click.ClickException) -> dict[str, Any]:
    parameter = getattr(error, "param", None)
    options = getattr(parameter, "opts", None)
    argument = options[0] if options else getattr(error, "option_name", None)
    message = error.format_message()
    return {"type": "UsageError", "message": message, "argument": argument, "rule": message}


def _told(error: dict[str, Any], *, as_document: bool) -> None:
    if as_document:
        click.echo(as_json({"error": error}))
    click.echo(f"dualgate: {' '.join(safe(error['message']).split())}", err=True)
