"""The demo command: a bundled conversation, live through the pipeline, and a page about it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.padding import Padding
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from dualgate.entrypoints.cli.frame import Frame
from dualgate.entrypoints.cli.render import Page, safe
from dualgate.entrypoints.demo.conversations import LANGUAGES, Conversation, conversation
from dualgate.entrypoints.demo.pages import Chapter, Group
from dualgate.entrypoints.demo.words import Words
from dualgate.errors import InvalidInputError

if TYPE_CHECKING:
    from dualgate.domain.items import Message
    from dualgate.entrypoints.demo.replay import Story

WIDTH = 100
_BOTH = "both"


@click.command()
@click.option("--lang", type=click.Choice([*LANGUAGES, _BOTH]), help="Which story; both if unset.")
@click.option("--db", metavar="URL", help="Keep the memory in this new SQLite file, to look into.")
@click.option("--user", metavar="ID", help="Whose memory it is; a name from the story if unset.")
@click.option("--json", is_flag=True, default=None, help="Print one JSON document.")
@click.pass_context
def demo(context: click.Context, /, **options: Any) -> None:
    """Play several weeks of a conversation through the real pipeline, and tell what came of it.

    No key, no network, no prepared results. The memory is a temporary file unless --db names one;
    DUALGATE_DB is left alone.
    """
    frame = Frame(
        _named(context, "db"), _named(context, "user"), bool(_named(context, "json")),
        options["lang"] or (context.obj or {}).get("lang"),
    )  # fmt: skip
    spoken = LANGUAGES if frame.lang in (None, _BOTH) else (frame.lang,)
    if frame.given_user is not None and len(spoken) > 1:
        raise InvalidInputError("--user", "needs --lang zh or --lang en: two people are told of")
    stories: dict[str, Story] = {}
    with _file(frame.db) as file:
        for lang in spoken:
            told = conversation(lang)
            if frame.given_user is not None:
                told = replace(told, user=frame.given_user)
            stories[lang] = _played(told, file)
            if not frame.json:
                show_story(Page(), stories[lang])
    if frame.db is None and not frame.json:
        Page().line(Words(spoken[-1])("keep_it"), "dim")
    if frame.json:
        frame.show({lang: _document(story) for lang, story in stories.items()}, lambda _: None)


def _named(context: click.Context, name: str) -> Any:
    """Return an option given to the command, or before it; never one of the environment.

    What the environment names is somebody's real memory.
    """
    given = context.params[name]
    group = context.parent
    if given is not None or group is None:
        return given
    written = group.get_parameter_source(name) is ParameterSource.COMMANDLINE
    return group.params[name] if written else None


@contextmanager
def _file(url: str | None) -> Iterator[Path]:
    """Give the file to write: a new one that stays, or a temporary one."""
    if url is None:
        with tempfile.TemporaryDirectory(prefix="dualgate-demo-") as folder:
            yield Path(folder) / "memory.db"
        return
    if not url.startswith("sqlite:///"):
        raise InvalidInputError("--db", 'must be "sqlite:///path/to/memory.db"', url)
    file = Path(url.removeprefix("sqlite:///")).expanduser()
    if file.exists():
        raise InvalidInputError(
            "--db", "must name a new file: the demo adds to nobody's memory", url
        )
    yield file


def _played(told: Conversation, file: Path) -> Story:
    """Play a conversation with a progress bar."""
    # Imported here, so that --help does not wait for the models' libraries.
    from dualgate.entrypoints.demo.replay import play

    say = Words(told.lang, told.next_at.tzinfo)
    page = Page(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=page.console, transient=True, disable=not page.rich) as bar:
        task = bar.add_task(say("playing", date=say.day(told.starts_at)), total=told.messages)

        def progress(message: Message) -> None:
            at = message.at or told.starts_at
            bar.update(task, advance=1, description=say("playing", date=say.day(at)))

        return asyncio.run(play(told, file, progress))


def _document(story: Story) -> dict[str, object]:
    return {
        "items": story.items,
        "decisions": story.decisions,
        "pendings": story.pendings,
        "pools": story.pools,
        "context": story.block,
        "histories": story.histories,
        "secret": story.secret,
    }


def show_story(page: Page, story: Story) -> None:
    """Print a story, in the language it was told in."""
    from dualgate.entrypoints.demo.telling import chapters, title

    say = Words(story.conversation.lang, story.conversation.next_at.tzinfo)
    page.line(title(story, say), "bold")
    for chapter in chapters(story, say):
        page.line()
        _show_chapter(page, chapter)
    page.line()


def _show_chapter(page: Page, chapter: Chapter) -> None:
    if page.rich:
        page.console.print(Rule(Text(safe(chapter.title), "bold"), align="left", style="dim"),
                           width=_width(page))  # fmt: skip
    else:
        page.line(f"== {chapter.title}")
    if chapter.note:
        _wrapped(page, chapter.note)
    for group in chapter.groups:
        _show_group(page, group)
    if chapter.quoted and page.rich:
        page.console.print(
            Panel(Text(safe(chapter.quoted)), border_style="dim"), width=_width(page)
        )
    elif chapter.quoted:
        page.line("\n".join(f"    {line}" for line in chapter.quoted.splitlines()))
    if chapter.footer:
        _wrapped(page, chapter.footer)


def _show_group(page: Page, group: Group) -> None:
    """Print rows in two columns; in a pipe, a row a line and its reason below."""
    if group.heading:
        page.line(group.heading, "cyan")
    if not page.rich:
        for row in group.rows:
            page.line(f"  - {row.what}")
            if row.why:
                page.line(f"      {row.why}")
        return
    paired = any(row.why for row in group.rows)
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(ratio=None if group.dated else 1, overflow="fold")
    if paired:
        grid.add_column(ratio=1, overflow="fold")
    for row in group.rows:
        cells = [Text(safe(row.what)), Text(safe(row.why), "dim")]
        grid.add_row(*(cells if paired else cells[:1]))
    page.console.print(Padding(grid, (0, 0, 0, 2)), width=_width(page))


def _wrapped(page: Page, text: str) -> None:
    if page.rich:
        page.console.print(Text(safe(text), "italic"), width=_width(page))
    else:
        page.line(text)


def _width(page: Page) -> int:
    return min(WIDTH, page.console.width)
