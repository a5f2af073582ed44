"""A real server with a real memory in a thread of its own, and a real browser that visits it."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from dualgate import Candidate, Memory, Message, Settings
from dualgate.config import ServerSettings
from dualgate.entrypoints.http import create_app
from dualgate.entrypoints.panel.words import Words
from dualgate.pipeline.worker import QueuePolicy
from dualgate.testing import HashEmbedder, ManualClock, ScriptedExtractor
from dualgate.testing.builders import MONDAY

USER = "ann"
SIZES = {"wide": (1280, 900), "phone": (390, 844)}
LOCALES = {"en": "en-GB", "zh": "zh-CN"}
AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")


class Served:
    """One server on a free port of loopback. `do` runs a coroutine in its loop."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings(
            server=ServerSettings(keyless=True),
            queue=QueuePolicy(max_attempts=1),
            flush_seconds=0.0,
        )
        self.clock = ManualClock(MONDAY)
        self.script = ScriptedExtractor({})
        self._ready: Future[Any] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)

    def __enter__(self):
        self._thread.start()
        self.memory, self.app, self._server, self._loop, port = self._ready.result(60)
        self.address = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    def do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _live(self):
        opened = Memory.open(
            "memory://", settings=self.settings, clock=self.clock, extractor=self.script,
            embedder=HashEmbedder(),
        )  # fmt: skip
        async with opened as memory:
            app = create_app(memory, self.settings)
            listening = socket.create_server(("127.0.0.1", 0))
            config = uvicorn.Config(
                app, log_config=None, access_log=False, ws="none", lifespan="on",
                timeout_graceful_shutdown=2,
            )  # fmt: skip
            server = uvicorn.Server(config)
            port = listening.getsockname()[1]
            self._ready.set_result((memory, app, server, asyncio.get_running_loop(), port))
            await server.serve(sockets=[listening])


class Life:
    """What the user says, and what becomes of it: through the memory's public verbs."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.memory = served.memory
        self._session = 0

    def do(self, work):
        return self._served.do(work)

    def says(self, text, *, session=None, user=USER, days=1.0, **structure):
        """Say one sentence in a session of its own; return the decision about it."""
        if session is None:
            self._session += 1
            session = f"talk-{self._session}"
        given = {"item_type": "fact", "confidence": 0.9, "content": text, "quote": text}
        self._served.script.say(text, [Candidate(**{**given, **structure})])
        self._served.clock.advance(days=days)
        receipt = self.do(
            self.memory.observe(user, session, [Message("user", text)], wait=True)
        )
        return receipt.decisions[0]

    def freezes(self, text="I always prefer short answers", **structure):
        """Say it in three conversations, until it is frozen; return the item's id."""
        shape = {
            "item_type": "preference", "attribute": "reply_length", "value": "short",
            **structure,
        }  # fmt: skip
        for _ in range(3):
            decision = self.says(text, **shape)
        assert self.item(decision.item_id).status == "frozen"
        return decision.item_id

    def item(self, item_id):
        return self.do(self.memory.item(USER, item_id))

    def items(self, **wanted):
        return self.do(self.memory.items(USER, **wanted)).items

    def challenges(self):
        """Challenge the frozen preference, not clearly enough; return the decision."""
        return self.says(
            "Lately I like detailed answers better", item_type="preference",
            attribute="reply_length", value="long", confidence=0.8,
        )  # fmt: skip

    def contradicts(self):
        """Say two things that cannot both hold; return both item ids."""
        shape = {"item_type": "preference", "attribute": "tone"}
        one = self.says("I want a formal tone", value="formal", **shape)
        other = self.says("I want a casual tone", value="casual", **shape)
        assert other.outcome == "contested"
        return one.item_id, other.item_id


@dataclass
class Visitor:
    """A browser at the panel, in one language and size; complaints must stay empty."""

    page: Any
    served: Served
    life: Life
    say: Words
    size: str
    complaints: list[str] = field(default_factory=list)

    def opens(self, path="/"):
        return self.page.goto(f"{self.served.address}/panel{path}")

    def presses(self, name, *, within=None, **parts):
        """Press the button or link of this phrase, and wait for the next page."""
        place = within or self.page.locator("main")
        label = self.say(name, **parts)
        found = place.get_by_role("button", name=label, exact=True).or_(
            place.get_by_role("link", name=label, exact=True)
        )
        found.first.click()

    def reads(self, name, **parts):
        """Wait until the phrase stands on the page."""
        self.page.get_by_text(self.say(name, **parts)).first.wait_for()

    def text(self):
        return self.page.locator("main").inner_text()


# One a module: while it is open its event loop runs in this thread, and no other test can run one.
@pytest.fixture(scope="module")
def browser():
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing = "the panel's tests drive a Chromium: install the package chromium"
        # A developer may go without; where everything is to be checked, missing is failing.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def served():
    with Served() as running:
        yield running


@pytest.fixture
def life(served):
    return Life(served)


@pytest.fixture
def visit(browser, served, life):
    """Open browsers: visit(lang="zh", size="phone", …) returns a Visitor."""
    opened = []

    def new(lang="en", size="wide", **options):
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, locale=LOCALES[lang], **options
        )
        visitor = Visitor(context.new_page(), served, life, Words(lang), size)
        visitor.page.set_default_timeout(30_000)  # a busy machine is no failure
        visitor.page.on(
            "console",
            lambda said: visitor.complaints.append(said.text) if said.type == "error" else None,
        )
        visitor.page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        opened.append((context, visitor))
        return visitor

    yield new
    for context, visitor in opened:
        context.close()
        # What the content policy blocks is a console error, too.
        assert visitor.complaints == []


@pytest.fixture(params=[("en", "wide"), ("zh", "phone")], ids="-".join)
def visitor(request, visit):
    return visit(*request.param)


@pytest.fixture(
    params=[(lang, size) for lang in LOCALES for size in SIZES], ids="-".join
)
def any_visitor(request, visit):
    return visit(*request.param)

