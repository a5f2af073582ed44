"""The `dualgate` command: the verbs of Memory, one command each."""

from __future__ import annotations

import click

from dualgate.entrypoints.cli import (
    admin,
    auditing,
    checking,
    compacting,
    curation,
    demo,
    logs,
    memories,
    privacy,
    serving,
    working,
)
from dualgate.entrypoints.cli.frame import CalmGroup, speak_utf8
from dualgate.entrypoints.cli.words import LANGUAGES

COMMANDS: tuple[click.Command, ...] = (
    memories.observe,
    memories.propose,
    memories.drain,
    memories.context,
    memories.recall,
    memories.items,
    memories.item,
    memories.history,
    memories.why,
    curation.correct,
    curation.like,
    curation.dislike,
    curation.pin,
    curation.unpin,
    curation.forget,
    curation.restore,
    curation.pending,
    curation.settle,
    curation.pause,
    curation.resume,
    curation.end_session,
    privacy.erase,
    privacy.export,
    privacy.import_,
    working.working,
    compacting.compact,
    admin.maintain,
    auditing.audit,
    admin.stats,
    privacy.scrub,
    checking.doctor,
    logs.ingest,
    demo.demo,
    serving.serve,
    serving.keys,
    admin.worker,
    admin.version,
)


@click.group(cls=CalmGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--db", metavar="URL", envvar="DUALGATE_DB", help="Database; a file of your own by default."
)
@click.option("--user", metavar="ID", envvar="DUALGATE_USER", help="Whose memory it is.")
@click.option("--json", is_flag=True, default=None, help="Print one JSON document.")
@click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    envvar="DUALGATE_LANG",
    help="Language of what is printed.",
)
@click.version_option(None, "--version", package_name="dualgate", message="%(version)s")
@click.pass_context
def dualgate(context: click.Context, /, **options: object) -> None:
    """Remember steadily, forget accurately, be hard to change. 记得稳、忘得准、改得难.

    --db, --user, --json and --lang may stand before or after the command.
    """
    context.obj = options


for _command in COMMANDS:
    dualgate.add_command(_command)


def main() -> None:
    """Run the command line."""
    speak_utf8()
    dualgate.main(prog_name="dualgate")
