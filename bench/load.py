"""200 clients at once on one server: nothing is lost, and how long answers take.

    python bench/load.py                     200 clients, 60 seconds
    python bench/load.py --seconds 20 --page docs/results/load.md

It starts `dualgate serve` on a fresh file and a free port of loopback, in a process of its own.
Each client is one user of one tenant in a closed loop: it talks (observe, not waiting), opens
sessions (context), asks (recall), looks (items), and pauses between two requests. Afterwards the
queue is worked off, and every accepted message is looked for in the store.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import httpx2

SAID = [
    "I moved to {0} last spring.", "From now on keep answers short, {0}.",
    "My sister {0} is a vegetarian.", "We decided to use PostgreSQL for project {0}.",
    "我对花生过敏，编号{0}。", "今天有点累。",
    "What is the weather like?", "I work as a nurse in ward {0}.", "Thanks, that helped!",
    "以后请用中文回答，{0}。",
]  # fmt: skip
ASKED = [
    "What should I cook?", "Which database did we choose?", "我对什么过敏？", "Where do I live?",
]  # fmt: skip
SHARES = [("observe", 0.5), ("context", 0.2), ("recall", 0.2), ("items", 0.1)]


def started(folder: Path) -> tuple[subprocess.Popen[str], str, str]:
    """Return the server's process, its address and an operator's key."""
    run = [sys.executable, "-c", "from dualgate.entrypoints.cli.main import main; main()"]
    database = ["--db", f"sqlite:///{folder / 'memory.db'}"]
    environment = {**os.environ, "DUALGATE_SERVER__REQUESTS_PER_MINUTE": "10000000"}
    made = subprocess.run([*run, "keys", "create", "--scope", "admin", *database],
                          capture_output=True, text=True, check=True, env=environment)  # fmt: skip
    log = (folder / "server.log").open("w")
    server = subprocess.Popen([*run, "serve", "--port", "0", *database, "--json"], text=True,
                              stdout=subprocess.PIPE, stderr=log, env=environment)  # fmt: skip
    told = ""
    while "}" not in told:
        line = server.stdout.readline()
        if not line:
            sys.exit((folder / "server.log").read_text())
        told += line
    return server, json.loads(told)["address"], made.stdout.strip()


class Client:
    """One user who talks, asks and looks."""

    def __init__(self, number: int, http: httpx2.AsyncClient, think: float) -> None:
        self.user = f"user-{number}"
        self._http = http
        self._think = think
        self._chance = random.Random(number)
        self.accepted: list[str] = []
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.refused: dict[int, int] = defaultdict(int)

    async def live(self, until: float) -> None:
        await asyncio.sleep(self._chance.uniform(0, self._think))
        while time.perf_counter() < until:
            names, weights = zip(*SHARES, strict=True)
            await self._ask(self._chance.choices(names, weights)[0])
            pause = self._chance.expovariate(1 / self._think)
            await asyncio.sleep(min(pause, max(0.0, until - time.perf_counter())))

    async def look(self) -> tuple[int, int]:
        """Return how many of the accepted jobs are done, and how many turns are kept."""
        done = 0
        for job in self.accepted:
            found = await self._http.get(f"/v1/jobs/{job}", params={"user_id": self.user})
            done += found.json()["state"] == "done"
        stats = await self._http.get("/v1/stats", params={"user_id": self.user})
        return done, stats.json()["turns"]

    async def _ask(self, what: str) -> None:
        session = f"s{self._chance.randrange(20)}"
        began = time.perf_counter()
        if what == "observe":
            name = f"{self.user}-{len(self.accepted)}-{self._chance.random()}"
            content = self._chance.choice(SAID).format(self._chance.randrange(40))
            body = {"user_id": self.user, "session_id": session,
                    "messages": [{"role": "user", "content": content, "id": name}]}  # fmt: skip
            answer = await self._http.post("/v1/observe", json=body)
            if answer.status_code == 202:
                self.accepted.append(answer.json()["job_id"])
        elif what == "items":
            answer = await self._http.get("/v1/items", params={"user_id": self.user, "limit": 50})
        else:
            body = {"user_id": self.user, "query": self._chance.choice(ASKED)}
            if what == "context":
                body["session_id"] = session
            answer = await self._http.post(f"/v1/{what}", json=body)
        self.seconds[what].append(time.perf_counter() - began)
        if answer.status_code >= 400:
            self.refused[answer.status_code] += 1


async def _warm(http: httpx2.AsyncClient) -> None:
    """Let the server load its models: the first request of a process waits for that."""
    said = [{"role": "user", "content": "I like tea. 我喜欢茶。"}]
    body = {"user_id": "warm", "session_id": "s", "messages": said, "wait": True}
    await http.post("/v1/observe", json=body)
    await http.post("/v1/context", json={"user_id": "warm", "session_id": "t", "query": "tea"})
    await http.post("/v1/recall", json={"user_id": "warm", "query": "tea"})


async def driven(address: str, key: str, options: argparse.Namespace) -> dict[str, object]:
    """Return what was measured."""
    headers = {"authorization": f"Bearer {key}"}
    limits = httpx2.Limits(max_connections=options.clients)
    async with httpx2.AsyncClient(base_url=address, headers=headers, limits=limits,
                                  timeout=60) as http:  # fmt: skip
        clients = [Client(n, http, options.think) for n in range(options.clients)]
        await _warm(http)
        began = time.perf_counter()
        until = began + options.seconds
        await asyncio.gather(*(client.live(until) for client in clients))
        lasted = time.perf_counter() - began
        worked = time.perf_counter()
        while (await http.post("/v1/drain", json={"timeout": 30})).status_code == 408:
            pass
        drained = time.perf_counter() - worked
        looked = await asyncio.gather(*(client.look() for client in clients))
    return {"clients": clients, "lasted": lasted, "drained": drained,
            "done": sum(d for d, _ in looked), "turns": sum(t for _, t in looked)}  # fmt: skip


def table(measured: dict[str, object], options: argparse.Namespace) -> str:
    """Return the results as Markdown."""
    clients: list[Client] = measured["clients"]  # type: ignore[assignment]
    rows = [
        "| request | count | p50 ms | p95 ms | p99 ms | slowest ms |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    every: list[float] = []
    for what, _ in SHARES:
        seconds = sorted(s for client in clients for s in client.seconds[what])
        every += seconds
        rows.append(_row(what, seconds))
    rows.append(_row("all", sorted(every)))
    refused: dict[int, int] = defaultdict(int)
    for client in clients:
        for status, count in client.refused.items():
            refused[status] += count
    accepted = sum(len(client.accepted) for client in clients)
    done = measured["done"]
    lost = accepted - min(done, measured["turns"])  # type: ignore[type-var, call-overload]
    lasted = measured["lasted"]
    asked = (
        f"{options.clients} clients for {lasted:.0f} s, {options.think:g} s between two requests "
        f"on average: {len(every) / lasted:.0f} requests a second."  # type: ignore[operator]
    )
    kept = (
        f"Accepted messages: {accepted}; done: {done}; kept as turns: {measured['turns']}; "
        f"**lost: {lost}**. Errors: {dict(refused) or 'none'}. The queue was empty "
        f"{measured['drained']:.0f} s after the last request."
    )
    return "\n".join([asked, "", *rows, "", kept])


def _row(what: str, seconds: list[float]) -> str:
    if not seconds:
        return f"| {what} | 0 | | | | |"
    at = [seconds[min(len(seconds) - 1, int(len(seconds) * q))] * 1000 for q in (0.5, 0.95, 0.99)]
    told = " | ".join(f"{each:.0f}" for each in (*at, seconds[-1] * 1000))
    return f"| {what} | {len(seconds)} | {told} |"


HEAD = """# Load on one server

Made by `python bench/load.py --seconds {seconds} --page docs/results/load.md`. One
`dualgate serve` process (REST, events, panel and worker together, local extractor, SQLite file) on
loopback; the clients run on the same machine: {machine}, Python {python}, load {busy:.0f} before.
Each client is a user of its own in a closed loop: half of its requests hand in a message, a fifth
opens a session, a fifth recalls, a tenth lists items. The whole size is `python bench/load.py`:
200 clients for a minute.

The worker reads messages on the same cores on which requests are answered. Where that is too much,
let the server only answer (`DUALGATE_RUN_WORKER=false dualgate serve`) and
[run workers](../howto/run-workers.md) beside it.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--think", type=float, default=2.0, help="seconds between two requests")
    parser.add_argument("--page", type=Path, help="write the page of results here")
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        server, address, key = started(Path(folder))
        try:
            measured = asyncio.run(driven(address, key, options))
        finally:
            server.terminate()
            server.wait(30)
    found = table(measured, options)
    print(found)
    if options.page:
        machine = f"{os.cpu_count()} cores, {platform.machine()}"
        head = HEAD.format(seconds=f"{options.seconds:g}", machine=machine,
                           python=platform.python_version(), busy=busy)  # fmt: skip
        options.page.write_text(head + found + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
