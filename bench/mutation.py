"""How many small faults in the rules (`domain/`) the unit tests notice.

    make mutation                                    # all of domain/, a table per module
    python bench/mutation.py decision draft --show   # some modules, with every survivor's change
    python bench/mutation.py --sample 50             # a seeded sample of each, when time is short

mutmut plants the faults, one at a time. Its own runner starts pytest anew for each (an hour here)
and leaves the caches of the rules warm, behind which faults hide. So each fault is judged in a
fork of one process that has collected the tests once and has cold caches. A fault is killed by a
failing test, or by taking too long. Those that nothing can tell from the rule as written stand in
mutation_equivalents.toml, each with its reason. Ends with 1 if more than a tenth of the others
survive in any module.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import functools
import gc
import json
import math
import os
import random
import re
import resource
import shutil
import sys
import time
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from mutmut import __main__ as mutmut
from mutmut.mutation import trampoline

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "mutants"
DOMAIN = MUTANTS / "src/dualgate/domain"
EQUIVALENTS = Path(__file__).with_name("mutation_equivalents.toml")
TESTS = ("tests/unit/domain", "tests/unit/conversation")
SECONDS = 8  # of processor time, beyond three times what the tests took without a fault
MEMORY = 3 * 2**30
ENOUGH = 0.9
ACTIVE = "MUTANT_UNDER_TEST"  # where mutmut's trampolines look for the fault that is planted
KILLED, SURVIVED, TOO_LONG, UNTESTED = "killed", "survived", "too long", "untested"


def plant() -> dict[str, list[str]]:
    """Write the mutated sources and return the names of the mutants, by module."""
    os.chdir(ROOT)
    shutil.rmtree(MUTANTS, ignore_errors=True)
    MUTANTS.mkdir()
    trampoline.set_mutant_under_test("mutant_generation")
    with contextlib.redirect_stdout(None):
        mutmut.copy_src_dir()
        mutmut.copy_also_copy_files()
        mutmut.setup_source_paths()
        mutmut.create_mutants(1)
    del os.environ[ACTIVE]
    return {
        meta.name.removesuffix(".py.meta"): list(json.loads(meta.read_text())["exit_code_by_key"])
        for meta in sorted(DOMAIN.glob("*.meta"))
    }


class Judge:
    """A pytest plugin: instead of running the tests once, it runs them against each mutant."""

    def __init__(self, mutants: list[str]) -> None:
        self.mutants = mutants
        self.verdicts: dict[str, str] = {}

    def pytest_configure(self) -> None:
        """A slow machine must not make a test fail, nor chance decide which fault is found."""
        from hypothesis import HealthCheck, settings

        settings.register_profile(
            "mutation", deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if session.testsfailed:
            raise session.Failed("the tests cannot be collected")
        covering, seconds = in_a_fork(functools.partial(survey, session))
        for name in self.mutants:
            places = covering.get(name.rpartition("__mutmut_")[0], ())
            tests = [session.items[i] for i in sorted(places, key=seconds.__getitem__)]
            limit = SECONDS + 3 * sum(seconds[i] for i in places)
            self.verdicts[name] = judge(session, name, tests, limit)
            with Path("verdicts.txt").open("a") as log:
                log.write(f"{name} {self.verdicts[name]}\n")
            if len(self.verdicts) % 100 == 0:
                print(f"{len(self.verdicts)}/{len(self.mutants)}", file=sys.stderr, flush=True)
        return True


def survey(session) -> tuple[dict[str, list[int]], list[float]]:
    """Return which tests call which function, by the tests' places, and how long each takes."""
    calls: set[str] = set()
    covering, seconds = defaultdict(list), []
    trampoline.record_trampoline_hit = lambda name, **_: calls.add(name)
    os.environ[ACTIVE] = "stats"
    for place, item in enumerate(session.items):
        calls.clear()
        forget_caches()
        start = time.process_time()
        run(item)
        seconds.append(time.process_time() - start)
        if session.testsfailed:
            raise SystemExit(f"fails without any fault: {item.nodeid}")
        for name in calls:
            covering[name].append(place)
    return covering, seconds


def judge(session, mutant: str, tests, limit: float) -> str:
    if not tests:
        return UNTESTED

    def trial() -> bool:
        os.environ[ACTIVE] = mutant
        forget_caches()
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        for item in tests:
            run(item)
            if session.testsfailed:
                return True
        return False

    failed = in_a_fork(trial)
    return TOO_LONG if failed is None else KILLED if failed else SURVIVED


def run(item) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


def forget_caches() -> None:
    """Make every cached rule work anew: behind a warm cache no fault is seen."""
    for name, module in list(sys.modules.items()):
        if name.startswith("dualgate.domain"):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def in_a_fork(work):
    """Return what `work` returns in a process of its own; None if that was stopped."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        errors = os.dup(2)
        os.dup2(quiet, 2)
        try:
            answer = json.dumps(work()).encode()
        except SystemExit as problem:
            os.write(errors, f"{problem}\n".encode())
            os._exit(1)
        with os.fdopen(writer, "wb") as out:
            out.write(answer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        told = answer.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else None


class Changes:
    """What each mutant of a module changes, as text."""

    def __init__(self, module: str) -> None:
        source = (DOMAIN / f"{module}.py").read_text("utf-8")
        lines = source.splitlines()
        self.bodies = {
            node.name: lines[node.lineno - 1 : node.end_lineno]
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef)
        }

    def of(self, mutant: str) -> tuple[str, str]:
        """Return the function, and "- before + after"."""
        name = mutant.rpartition(".")[2]
        function = name.rpartition("__mutmut_")[0]
        before, after = (
            [line.replace(each, "f") for line in self.bodies[each]]
            for each in (f"{function}__mutmut_orig", name)
        )
        changed = [
            f"{line[0]} {line[1:].strip()}"
            for line in difflib.unified_diff(before, after, n=0, lineterm="")
            if not line.startswith(("---", "+++", "@@"))
        ]
        plain = re.sub(r"^x(?:_|ǁ)", "", function).replace("ǁ", ".")
        return plain, " ".join(changed)


def report(module: str, verdicts: dict[str, str], known: dict, *, show: bool) -> Counter:
    changes, counts = Changes(module), Counter(mutants=len(verdicts))
    for mutant, verdict in verdicts.items():
        if verdict in (KILLED, TOO_LONG):
            counts["killed"] += 1
            continue
        function, change = changes.of(mutant)
        equivalent = known.get((f"{module}.{function}", change))
        counts["equivalent" if equivalent else "survived"] += 1
        if show and not equivalent:
            print(f"{verdict}: {module}.{function}\n    {change}")
    return counts


def share(counts: Counter) -> float:
    """Return killed of those that can be told from the rule as written."""
    return counts["killed"] / max(1, counts["mutants"] - counts["equivalent"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("modules", nargs="*", help="of domain/; all of them if none is named")
    parser.add_argument("--show", action="store_true", help="print what each survivor changes")
    parser.add_argument("--sample", type=int, help="so many mutants of each module, by seed")
    asked = parser.parse_args()
    planted = {m: names for m, names in plant().items() if names}
    if unknown := set(asked.modules) - set(planted):
        parser.error(f"no such module of domain/ with anything to mutate: {sorted(unknown)}")
    if asked.modules:
        planted = {module: planted[module] for module in asked.modules}
    if asked.sample:
        chance = random.Random(7)
        planted = {m: chance.sample(n, min(asked.sample, len(n))) for m, n in planted.items()}
    judge_ = Judge([name for names in planted.values() for name in names])
    os.chdir(MUTANTS)
    gc.freeze()
    ended = pytest.main(
        ["--rootdir=.", "-q", "-s", "-p", "no:cacheprovider", *TESTS],
        plugins=[judge_],
    )
    if len(judge_.verdicts) < len(judge_.mutants):
        return int(ended) or 2
    known = {
        (each["function"], each["change"]): each["why"]
        for each in tomllib.loads(EQUIVALENTS.read_text("utf-8"))["equivalent"]
    }
    print("| module | mutants | killed | equivalent | survived | share | 95 % of a sample |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    total, enough = Counter(), True
    for module, names in planted.items():
        verdicts = {name: judge_.verdicts[name] for name in names}
        counts = report(module, verdicts, known, show=asked.show)
        total.update(counts)
        enough = enough and share(counts) >= ENOUGH
        print(row(module, counts))
    print(row("**all**", total))
    return 0 if enough else 1


def between(counts: Counter) -> tuple[float, float]:
    """Return the 95 % interval of the share (Wilson 1927), for a sample."""
    n, z = max(1, counts["mutants"] - counts["equivalent"]), 1.96
    middle = (share(counts) + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share(counts) * (1 - share(counts)) / n + z * z / (4 * n * n))
    return middle - half / (1 + z * z / n), middle + half / (1 + z * z / n)


def row(name: str, counts: Counter) -> str:
    columns = (counts[key] for key in ("mutants", "killed", "equivalent", "survived"))
    low, high = (100 * bound for bound in between(counts))
    shown = f"{100 * share(counts):.1f} % | {low:.0f}-{high:.0f} %"
    return f"| {name} | {' | '.join(map(str, columns))} | {shown} |"


if __name__ == "__main__":
    raise SystemExit(main())
