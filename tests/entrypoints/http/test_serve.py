"""`dualgate serve` and `dualgate keys`, as a person starts them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys

import httpx2
import pytest

from dualgate import Settings
from dualgate.config import ServerSettings
from dualgate.entrypoints.http.serve import require_safe
from dualgate.errors import SettingsError

COMMAND = [sys.executable, "-c", "from dualgate.entrypoints.cli.main import main; main()"]


def environment(home):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DUALGATE_")}
    return {**kept, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}


def call(home, *words):
    return subprocess.run([*COMMAND, *words], env=environment(home), capture_output=True,
                          encoding="utf-8", timeout=60, check=False)  # fmt: skip


class Serving:
    """A server process; `told` is what it printed about itself."""

    def __init__(self, home, *words):
        self._process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", "--json", *words], env=environment(home),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip

    def __enter__(self):
        told = ""
        while "}" not in told:
            line = self._process.stdout.readline()
            assert line, self._process.stderr.read()
            told += line
        self.told = json.loads(told)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        _, log = self._process.communicate(timeout=40)
        return self._process.returncode, log


def test_serve_prints_an_address_that_signs_in_and_ends_calmly(tmp_path):
    with Serving(tmp_path) as server:
        address, entry = server.told["address"], server.told["panel"]
        with httpx2.Client(base_url=address) as browser:
            alone = browser.get("/v1/users")
            entered = browser.get(entry)
            known = browser.get("/v1/users")
        code, log = server.stop()

    assert address.startswith("http://127.0.0.1:")
    assert alone.status_code == 401
    assert (entered.status_code, entered.headers["location"]) == (303, "/panel/")
    assert "HttpOnly" in entered.headers["set-cookie"]
    assert "SameSite=strict" in entered.headers["set-cookie"]
    assert known.status_code == 200
    assert code == 0
    assert {json.loads(line)["event"] for line in log.splitlines()} == {"request"}
    assert entry.rsplit("=", 1)[1] not in log


def test_a_key_made_beside_a_running_server_opens_it_until_it_is_revoked(tmp_path):
    made = json.loads(call(tmp_path, "keys", "create", "--tenant", "acme", "--json").stdout)
    listed = json.loads(call(tmp_path, "keys", "list", "--json").stdout)
    asked = {"headers": {"authorization": f"Bearer {made['secret']}"}}
    with Serving(tmp_path) as server:
        address = f"{server.told['address']}/v1/pending?user_id=ann"
        before = httpx2.get(address, **asked)
        call(tmp_path, "keys", "revoke", made["key"]["id"])
        after = httpx2.get(address, **asked)

    assert [(key["tenant"], key["scope"]) for key in listed] == [("acme", "write")]
    assert made["secret"] not in json.dumps(listed)
    assert (before.status_code, after.status_code) == (200, 401)


def test_a_rotated_key_is_another_secret_with_the_same_rights(tmp_path):
    made = json.loads(
        call(tmp_path, "keys", "create", "--scope", "admin", "--name", "x", "--json").stdout
    )
    new = json.loads(call(tmp_path, "keys", "rotate", made["key"]["id"], "--json").stdout)
    page = call(tmp_path, "keys", "list").stdout

    assert new["secret"] != made["secret"]
    assert (new["key"]["scope"], new["key"]["name"]) == ("admin", "x")
    assert new["key"]["id"] in page
    assert made["secret"] not in page


def test_a_port_that_is_taken_is_one_line_with_advice(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = call(tmp_path, "serve", "--port", str(taken.getsockname()[1]))

    assert done.returncode == 2
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


def test_keyless_for_more_than_this_machine_is_refused(tmp_path):
    done = call(tmp_path, "serve", "--host", "0.0.0.0", "--keyless", "--port", "0")  # noqa: S104

    assert done.returncode == 2
    assert "server.keyless" in done.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_keyless_may_be_had_on_loopback(host):
    require_safe(Settings(server=ServerSettings(host=host, keyless=True)))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "memory.example"])  # noqa: S104
def test_and_nowhere_else(host):
    with pytest.raises(SettingsError):
        require_safe(Settings(server=ServerSettings(host=host, keyless=True)))
