"""Commands of the server: serve, and the API keys that open it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from dualgate.entrypoints.cli.frame import Frame, for_anybody
from dualgate.entrypoints.cli.render import Page

if TYPE_CHECKING:
    from dualgate import Memory
    from dualgate.pipeline.serving import ApiKey, NewKey

_SCOPES = click.Choice(["read", "write", "admin"])
_MISSING = "the server is not installed: pip install 'dualgate[server]'"


@click.command()
@click.option("--host", help="Address to listen on; 127.0.0.1 by default.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port; 7734 by default.")
@click.option(
    "--keyless/--no-keyless", default=None, help="Let this machine in without a key, or not."
)
@for_anybody
def serve(frame: Frame, host: str | None, port: int | None, keyless: bool | None) -> None:
    """Serve REST, live events and the panel until stopped (Ctrl-C or SIGTERM)."""
    from dualgate import Memory, Settings

    try:
        from dualgate.entrypoints.http.serve import require_safe
        from dualgate.entrypoints.http.serve import serve as served
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{_MISSING} ({error.name} is missing)") from None
    given = {"host": host, "port": port, "keyless": keyless}
    chosen = {name: value for name, value in given.items() if value is not None}
    settings = Settings.load()
    settings = replace(settings, server=replace(settings.server, **chosen))  # type: ignore[arg-type]
    require_safe(settings)

    def said(address: str, entry: str | None) -> None:
        def page(out: Page) -> None:
            out.line(f"dualgate: {address}")
            out.line(f"{frame.word('panel')}: {entry or address + '/panel/'}")
            out.line(f"REST: {address}/v1 ({address}/openapi.json)")

        frame.show({"address": address, "panel": entry or f"{address}/panel/"}, page)
        sys.stdout.flush()

    async def run() -> None:
        async with Memory.open(frame.db, settings=settings) as memory:
            await served(memory, settings, said)

    asyncio.run(run())


@click.group()
def keys() -> None:
    """Make, list, rotate and revoke the API keys of the server."""


@keys.command("create")
@click.option("--tenant", default="", help="Whose users the key opens; the local ones by default.")
@click.option("--name", default="", help="What the key is for.")
@click.option("--scope", type=_SCOPES, default="write", help="What it may do; admin does all.")
@click.option("--days", type=float, help="How long it works; until it is revoked by default.")
@for_anybody
def create_key(frame: Frame, tenant: str, name: str, scope: str, days: float | None) -> None:
    """Make a key and print it: it is shown once and kept as a hash."""

    async def work(memory: Memory) -> NewKey:
        return await memory.keys.create(tenant, name=name, scope=scope, days=days)

    _show_new(frame, frame.run(work))


@keys.command("list")
@click.option("--tenant", help="Of this tenant only.")
@for_anybody
def list_keys(frame: Frame, tenant: str | None) -> None:
    """List keys, oldest first, without their secrets."""

    async def work(memory: Memory) -> Any:
        return await memory.keys.list(tenant)

    found = frame.run(work)

    def page(out: Page) -> None:
        if not found:
            out.line(frame.word("no keys"))
            return
        columns = frame.words("id", "tenant", "name", "scope", "created", "ends", "last used")
        out.table(frame.word("keys"), columns, [_row(key) for key in found])

    frame.show(found, page)


@keys.command("rotate")
@click.argument("key_id")
@click.option("--grace-hours", type=float, default=24.0, help="How long the old one still works.")
@for_anybody
def rotate_key(frame: Frame, key_id: str, grace_hours: float) -> None:
    """Make a key with the same rights; the old one ends after the grace."""

    async def work(memory: Memory) -> NewKey:
        return await memory.keys.rotate(key_id, grace_hours=grace_hours)

    _show_new(frame, frame.run(work))


@keys.command("revoke")
@click.argument("key_id")
@for_anybody
def revoke_key(frame: Frame, key_id: str) -> None:
    """End a key at once."""

    async def work(memory: Memory) -> Any:
        return await memory.keys.revoke(key_id)

    ended = frame.run(work)
    frame.show(ended, lambda out: out.line(frame.word("revoked")))


def _show_new(frame: Frame, made: NewKey) -> None:
    def page(out: Page) -> None:
        out.line(made.secret)
        Page(stderr=True).line(f"{made.key.id}: {frame.word('shown once; keep it safe')}")

    frame.show({"key": made.key, "secret": made.secret}, page)


def _row(key: ApiKey) -> tuple[object, ...]:
    ends = key.revoked_at or key.expires_at
    return (key.id, key.tenant, key.name, str(key.scope), key.created_at, ends, key.last_used_at)
