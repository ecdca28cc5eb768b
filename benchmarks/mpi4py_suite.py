"""mpi4py's own test suite on the emulator and, for comparison, on a real MPI: what passes there and not here.

    python benchmarks/mpi4py_suite.py                               download the sdist, run everything at 2, 3, 4 and 5 ranks
    python benchmarks/mpi4py_suite.py --suite mpi4py-4.1.2/test     the same with a suite that is there
    python benchmarks/mpi4py_suite.py test_p2p_buf test_comm --ranks 4 --on emulator
    python benchmarks/mpi4py_suite.py --keep outcome.json --page docs/conformance.md
    python benchmarks/mpi4py_suite.py --rest --keep rest.json      the same of windows, files, sessions and what is newer

The suite is not ours and is not kept: its version is that of the mpi4py that is installed, and it is run from its sdist.
Long modules are runs of their own; all others, which take less time than it takes to start, are one run, as they are if
mpi4py's own main.py runs them. A test counts as passed if it passes on every rank. If a run ends early, which a deadlock on
the emulator and an abort on MPI do, the tests that any rank had begun are not begun again, and the rest is run. Tests that
fail are run again, each by itself, since a test that ends halfway leaves messages behind for the next one; not those that
fail on the emulator for a reason, which docs/conformance.md lists: that would take a tenth of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

REST = {
    "one-sided communication": "test_rma test_rma_nb test_win test_util_sync",
    "files": "test_io test_file",
    "sessions": "test_session",
    "partitioned communication": "test_p2p_buf_part",
    "fault tolerance": "test_ulfm",
}
"""Modules that are counted apart, by what they are about: what came to the emulator last."""

REST_TESTS = r"Win|File|RMA|Session|Partitioned|CreateFromGroup"
"""The same in other modules: tests whose class or name says so."""

LONG = [
    "test_io", "test_rma", "test_rma_nb",
    "test_util_dtlib", "test_cco_ngh_buf", "test_cco_pr_vec", "test_cco_nb_vec", "test_msgspec", "test_cco_vec",
    "test_datatype", "test_pack", "test_cco_nb_buf", "test_cco_pr_buf", "test_cco_pr_ngh_buf", "test_cco_buf",
    "test_p2p_buf", "test_cco_buf_inter", "test_cco_vec_inter", "test_p2p_obj",
]  # fmt: skip
"""Modules that take many seconds, the longest first: begun in that order, they end at about the same time on all cores.

The last is short, but tests of it fail halfway on the emulator, and what they leave behind made a hundred others fail.
"""

VERSION = "4.1.2"
"""Where mpi4py is not installed."""

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
ON_A_RANK = Path(__file__).with_name("mpi4py_suite_rank.py")
Outcome = dict[str, list[str]]
"""By the name of a test: passed, failed or skipped, and why."""
Kept = dict[str, dict[str, Outcome]]
"""By the number of ranks and the module."""


def rest() -> list[str]:
    """All modules that are counted apart."""
    return [module for modules in REST.values() for module in modules.split()]


def selection(apart: bool) -> list[str]:
    """The options that leave in each module what is counted."""
    return ["--match", REST_TESTS, "--whole", " ".join(rest())] if apart else ["--exclude", REST_TESTS]


def download(place: Path) -> Path:
    """The folder of the suite, from the sdist of the installed version."""
    try:
        wanted = version("mpi4py")
    except PackageNotFoundError:
        wanted = VERSION
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py", "-d", str(place)]
    pip.append(f"mpi4py=={wanted}")
    subprocess.run(pip, check=True, stdout=sys.stderr)
    (archive,) = place.glob("mpi4py-*.tar.gz")
    with tarfile.open(archive) as sdist:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        sdist.extractall(place, **safe)
    return place / archive.name.removesuffix(".tar.gz") / "test"


def batches(modules: list[str]) -> list[list[str]]:
    """What is run together, in the order in which it is best begun."""
    short = [module for module in modules if module not in LONG]
    return [*([module] for module in LONG if module in modules), *([short] if short else [])]


def run_once(
    where: str, ranks: int, suite: Path, modules: list[str], limit: int, *options: str
) -> tuple[list[list[Any]], str]:
    """What each rank wrote, line by line, and what all printed at last."""
    launch = ["mpiexec", "-n", str(ranks), sys.executable]
    if where == "emulator":
        launch = [sys.executable, "-m", "fakempi", "run", "-q", "-n", str(ranks), "--timeout", str(limit)]
    else:
        launch[0] = str(Path(sys.executable).with_name("mpiexec"))
    with tempfile.TemporaryDirectory() as folder:
        command = [*launch, str(ON_A_RANK), str(suite), folder, *modules, *options]
        with open(Path(folder, "printed"), "w+b") as output:
            process = subprocess.Popen(command, cwd=suite, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            try:
                process.wait(limit + (30 if where == "emulator" else 0))  # it ends by itself, with a report
            except subprocess.TimeoutExpired:
                process.terminate()  # not killed: mpiexec is to take its ranks along
                process.wait()
                output.write(f"\nnot done after {limit} s".encode())
        printed = Path(folder, "printed").read_text(errors="replace")
        files = [Path(folder, f"{rank}.jsonl") for rank in range(ranks)]
        lines = [file.read_text().splitlines() if file.exists() else [] for file in files]
    return [[json.loads(line) for line in part if line.endswith("}")] for part in lines], printed


def outcome_of(logs: list[list[Any]], printed: str) -> tuple[Outcome, bool]:
    """What became of each test, and whether the run ended on every rank."""
    by_test: dict[str, list[Any]] = {}
    for entry in (entry for log in logs for entry in log if "test" in entry):
        ends = by_test.setdefault(entry["test"], [])
        if entry["verdict"] != "began":
            ends.append(entry)
    found: Outcome = {}
    for test, entries in by_test.items():
        verdicts = {entry["verdict"] for entry in entries}
        if len(entries) < len(logs):
            verdicts.add("failed")
        why = next((entry["why"] for entry in entries if entry["verdict"] == "failed"), printed[-800:])
        failed, passed = "failed" in verdicts, "passed" in verdicts
        found[test] = ["failed", why] if failed else ["passed", ""] if passed else ["skipped", ""]
    return found, all(log and "end" in log[-1] for log in logs)


def known() -> list[str]:
    """The tests that the page lists as different, as patterns."""
    (rows,) = re.findall(r"<!-- differences -->(.*)<!-- end of differences -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    tests = [row.split("|")[1] for row in rows.splitlines() if row.startswith("| `")]
    return re.findall(r"`(test_[\w.*]+)`", "\n".join(tests))


def run_batch(
    where: str, ranks: int, suite: Path, modules: list[str], limit: int, *, apart: bool = False
) -> tuple[dict[str, Outcome], float]:
    """What became of each test of some modules, and how long that took, without the second tries."""
    outcome: Outcome = {}
    counted = selection(apart)
    begun, found, ended = time.perf_counter(), {"": ["", ""]}, False
    while found and not ended:
        found, ended = outcome_of(*run_once(where, ranks, suite, modules, limit, *counted, "--skip", " ".join(outcome)))
        outcome |= found
    seconds = time.perf_counter() - begun
    stay = known() if where == "emulator" else []
    for test, (verdict, _) in list(outcome.items()):
        if verdict == "failed" and test.count(".") == 2 and not any(fnmatchcase(test, name) for name in stay):
            again, _ = outcome_of(*run_once(where, ranks, suite, [test.split(".")[0]], limit, "--only", test))
            outcome[test] = again.get(test, outcome[test])
    by_module: dict[str, Outcome] = {module: {} for module in modules}
    for test, verdict_and_why in outcome.items():
        by_module[test.split(".")[0]][test] = verdict_and_why
    for module, tests in by_module.items():
        if not tests and not ended:
            tests[module] = ["failed", "it could not be run"]
    return by_module, seconds


def run_all(
    where: str, ranks: int, suite: Path, modules: list[str], limit: int, jobs: int, apart: bool
) -> Iterator[dict[str, Outcome]]:
    """All modules, so many runs at a time; each as it is done."""
    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(run_batch, where, ranks, suite, batch, limit, apart=apart) for batch in batches(modules)]
        for future in as_completed(running):
            found, seconds = future.result()
            counts = Counter(verdict for tests in found.values() for verdict, _ in tests.values())
            what = next(iter(found)) if len(found) == 1 else f"{len(found)} others"
            print(f"{where:8} {ranks} ranks  {what:24} {seconds:6.1f} s  {dict(counts)}", file=sys.stderr, flush=True)
            yield found


def cpu_seconds() -> float:
    """What all runs have used until now."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def both(outcomes: dict[str, Kept], ranks: str) -> tuple[Outcome, Outcome, int]:
    """What became of each test on the emulator and on MPI, in modules that have some and were run on both, and how many."""
    here, there = outcomes["emulator"].get(ranks, {}), outcomes["mpi"].get(ranks, {})
    common = [module for module in there if module in here and there[module]]
    one, two = ({test: verdict for module in common for test, verdict in side[module].items()} for side in (here, there))
    return one, two, len(common)


def differences(here: Outcome, there: Outcome) -> dict[str, str]:
    """What passes there and not here, and why."""
    absent = ["failed", "it was not run"]
    passed = [test for test, (verdict, _) in there.items() if verdict == "passed"]
    return {test: here.get(test, absent)[1] for test in passed if here.get(test, absent)[0] != "passed"}


def table(outcomes: dict[str, Kept]) -> str:
    """How many pass there, here, and in per cent, by the number of ranks."""
    lines = ["| ranks | modules | pass on MPI | of these on the emulator | |", "|---|---|---|---|---|"]
    for ranks in sorted(outcomes["mpi"]):
        here, there, modules = both(outcomes, ranks)
        count, missing = sum(verdict == "passed" for verdict, _ in there.values()), len(differences(here, there))
        if count:
            lines.append(f"| {ranks} | {modules} | {count} | {count - missing} | {1 - missing / count:.1%} |")
    return "\n".join(lines)


def main() -> None:
    """As it was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="modules of the suite; all that are counted")
    parser.add_argument("--rest", action="store_true", help="what is counted apart: windows, files ...")
    parser.add_argument("--suite", type=Path, default=os.environ.get("MPI4PY_SUITE"), help="the folder test/ of an sdist")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4, 5])
    parser.add_argument("--on", nargs="+", choices=["mpi", "emulator"], default=["mpi", "emulator"])
    parser.add_argument("--limit", type=int, default=600, help="seconds that a run may take")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs of the emulator at a time")
    parser.add_argument("--keep", type=Path, help="a JSON file for the outcome; what is in it already is not run again")
    parser.add_argument("--page", type=Path, help="a page whose table is to be written anew")
    asked = parser.parse_args()
    outcomes: dict[str, Kept] = {"mpi": {}, "emulator": {}}
    if asked.keep and asked.keep.exists():
        outcomes = json.loads(asked.keep.read_text())
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(asked.suite).resolve() if asked.suite else download(Path(folder))
        others = [] if asked.rest else rest()
        modules = asked.modules or sorted({file.stem for file in suite.glob("test_*.py")}.difference(others))
        for where in asked.on:
            for ranks in map(str, asked.ranks):
                known, begun, used = outcomes[where].setdefault(ranks, {}), time.perf_counter(), cpu_seconds()
                wanted = [module for module in modules if module not in known]
                jobs = 1 if where == "mpi" else asked.jobs  # its ranks never sleep, so each wants a core
                for found in run_all(where, int(ranks), suite, wanted, asked.limit, jobs, asked.rest):
                    known.update(found)
                    if asked.keep:
                        asked.keep.write_text(json.dumps(outcomes, indent=1, sort_keys=True))
                seconds, of_cpu = time.perf_counter() - begun, cpu_seconds() - used
                print(f"{where} at {ranks} ranks: {seconds:.0f} s, {of_cpu:.0f} s of CPU time", flush=True)
    if set(asked.on) == {"mpi", "emulator"}:
        print(table(outcomes))
        for ranks in sorted(outcomes["mpi"]):
            here, there, _ = both(outcomes, ranks)
            for test, why in differences(here, there).items():
                print(f"at {ranks} ranks: {test}\n    {(why.strip().splitlines() or [''])[-1]}")
        if asked.page:
            page, name = asked.page.read_text(), "table of the rest" if asked.rest else "table"
            fresh = f"<!-- {name} -->\n{table(outcomes)}\n<!-- end of {name} -->"
            asked.page.write_text(re.sub(f"<!-- {name} -->.*<!-- end of {name} -->", lambda _: fresh, page, flags=re.DOTALL))


if __name__ == "__main__":
    main()
