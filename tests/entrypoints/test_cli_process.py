"""The installed command in a process of its own: encodings, signals, pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from dualgate.entrypoints.cli.main import main; main()"]
TEA = json.dumps(
    {"item_type": "preference", "content": "喜欢喝茶 🍵", "confidence": 0.9}, ensure_ascii=False
)


def environment(home, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DUALGATE_", "LC_", "LANG"))}
    return {**kept, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), **more}


def call(home, *words, stdin="", **more):
    return subprocess.run(
        [*COMMAND, *words],
        input=stdin.encode(),
        capture_output=True,
        env=environment(home, **more),
        cwd=home,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "zh_CN.GBK", "PYTHONUTF8": "0", "PYTHONIOENCODING": "gbk"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["gbk", "ascii"],
)
def test_text_is_utf8_whatever_the_locale_says(tmp_path, locale):
    proposed = call(
        tmp_path, "--user", "小雨", "propose", "--session", "会话", stdin=TEA, **locale
    )
    listed = call(tmp_path, "--user", "小雨", "items", "--json", **locale)
    page = call(tmp_path, "--user", "小雨", "why", "喝茶", "--lang", "zh", **locale)

    assert proposed.returncode == 0, proposed.stderr.decode()
    (item,) = json.loads(listed.stdout.decode("utf-8"))["items"]
    assert (item["content"], item["user_id"]) == ("喜欢喝茶 🍵", "小雨")
    assert "喜欢喝茶 🍵" in page.stdout.decode("utf-8")


def test_nothing_is_written_outside_the_data_directory(tmp_path):
    call(tmp_path, "--user", "ada", "propose", "--session", "s", stdin=TEA)

    assert [p.name for p in tmp_path.iterdir()] == ["data"]
    files = {p.name.split("-")[0] for p in (tmp_path / "data").rglob("*") if p.is_file()}
    assert files == {"memory.db"}


def test_a_mistake_in_a_process_shows_no_traceback(tmp_path):
    result = call(tmp_path, "--user", "ada", "item", "nothing")

    assert result.returncode == 2
    assert result.stderr.decode().startswith("dualgate: no item 'nothing'")
    assert result.stdout == b""


def test_a_worker_runs_what_others_queued_and_stops_when_told(tmp_path):
    call(tmp_path, "--user", "ada", "propose", "--session", "s", "--no-wait", stdin=TEA)
    worker = subprocess.Popen(
        [*COMMAND, "worker"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            stats = json.loads(call(tmp_path, "--user", "ada", "stats", "--json").stdout)
            if stats["queue"]["waiting"] == 0:
                break
        worker.send_signal(signal.SIGTERM)
        out, err = worker.communicate(timeout=30)
    finally:
        worker.kill()

    assert stats["pools"]["hot"] == 1
    assert worker.returncode == 0, err.decode()
    assert out.decode() == "stopped\n"


def test_a_log_may_lie_anywhere_and_is_not_changed(tmp_path):
    log = Path(tmp_path) / "chat.jsonl"
    log.write_text('{"role": "user", "content": "hi"}\n')
    before = log.stat()

    result = call(tmp_path, "--user", "ada", "ingest", "chat.jsonl", "--json")

    assert json.loads(result.stdout)["new_messages"] == 1
    assert log.stat().st_mtime_ns == before.st_mtime_ns


def test_ctrl_c_ends_an_ingest_cleanly_and_it_can_be_taken_up_again(tmp_path):
    log = tmp_path / "long.jsonl"
    lines = (json.dumps({"role": "user", "content": f"I like tea number {n}"}) for n in range(400))
    log.write_text("\n".join(lines))
    words = ["--user", "ada", "ingest", str(log), "--json"]
    # What a shell starts in the background is deaf to Ctrl-C, and so are its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*COMMAND, *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    try:
        deadline = time.monotonic() + 40
        turns = 0
        while turns == 0 and time.monotonic() < deadline:
            stats = call(tmp_path, "--user", "ada", "stats", "--json")
            turns = json.loads(stats.stdout)["turns"]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    again = json.loads(call(tmp_path, *words).stdout)

    assert 0 < turns < 400, "the signal came while it ran"
    assert (process.returncode, err.decode().split()) == (130, ["stopped"])
    assert 0 < again["new_messages"] < 400
    assert json.loads(call(tmp_path, "--user", "ada", "stats", "--json").stdout)["turns"] == 400
