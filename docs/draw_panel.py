"""Take the pictures of the panel: `python docs/draw_panel.py`, with the demo's conversations.

Needs Playwright (`make install-dev`) and a Chromium (`make browser`).
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import sys
from pathlib import Path

import uvicorn
from playwright.async_api import Browser, async_playwright

from dualgate import Memory, Settings
from dualgate.config import ServerSettings
from dualgate.entrypoints.demo.conversations import Conversation, conversation
from dualgate.entrypoints.http import create_app
from dualgate.testing import ManualClock

IMAGES = Path(__file__).parent / "images"
QUALITY = 72
FLAGS = ["--no-sandbox", "--disable-gpu"]
# name: language, width, height, dark, path
PICTURES = {
    "panel-memory": ("en", 1180, 820, False, "/"),
    "panel-happened": ("en", 1180, 820, False, "/happened"),
    "panel-phone": ("zh", 390, 820, True, "/"),
}


async def main() -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=FLAGS
        )
        for lang in ("en", "zh"):
            await pictures_in(lang, browser)
        await browser.close()


async def pictures_in(lang: str, browser: Browser) -> None:
    told = conversation(lang)
    clock = ManualClock(told.starts_at)
    settings = Settings(server=ServerSettings(keyless=True))
    async with Memory.open("memory://", settings=settings, clock=clock) as memory:
        await play(memory, told, clock)
        listening = socket.create_server(("127.0.0.1", 0))
        app = create_app(memory, settings)
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/panel"
        for name, (own, width, height, dark, path) in PICTURES.items():
            if own == lang:
                page = await browser.new_page(
                    viewport={"width": width, "height": height}, locale=lang,
                    color_scheme="dark" if dark else "light",
                )  # fmt: skip
                await page.goto(address + path)
                await page.wait_for_timeout(500)
                picture = IMAGES / f"{name}.jpg"
                await page.screenshot(path=picture, type="jpeg", quality=QUALITY)
                await page.close()
                print(picture.name, picture.stat().st_size)
        server.should_exit = True
        await serving


async def play(memory: Memory, told: Conversation, clock: ManualClock) -> None:
    for session in told.sessions:
        for message in session.messages:
            clock.set(message.at or clock.now())
            await memory.observe(told.user, session.id, [message], wait=True)
    clock.set(told.next_at)
    await memory.maintain(told.user)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
