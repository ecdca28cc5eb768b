"""Run mpi4py's test suite on the emulator and on a real MPI, and list the tests that pass only on the real MPI.

    python benchmarks/mpi4py_suite.py                               download the sdist, run everything at 2, 3, 4 and 5 ranks
    python benchmarks/mpi4py_suite.py --suite mpi4py-4.1.2/test     the same with an existing copy of the suite
    python benchmarks/mpi4py_suite.py test_p2p_buf test_comm --ranks 4 --on emulator
    python benchmarks/mpi4py_suite.py --ranks 2 --on processes      with ranks that are processes
    python benchmarks/mpi4py_suite.py --keep outcome.json --page docs/conformance.md
    python benchmarks/mpi4py_suite.py --second-table               windows, files, sessions, partitions and fault tolerance

The suite is not part of this repository: it is run from the sdist of the installed version of mpi4py. Each long module is a
separate run; all others, which take less time than starting a run, are one run, as with mpi4py's main.py. A test counts as
passed if it passes on every rank. If a run ends early (a deadlock on the emulator, an abort on MPI), the tests that any
rank had begun are not repeated, and the rest is run. Failed tests are repeated one by one, because a test that ends halfway
leaves messages for the next one; the differences listed in docs/conformance.md are not repeated, which saves a tenth of the
time.
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

SECOND_TABLE = {
    "one-sided communication": "test_rma test_rma_nb test_win test_util_sync",
    "files": "test_io test_file",
    "sessions": "test_session",
    "partitioned communication": "test_p2p_buf_part",
    "fault tolerance": "test_ulfm",
}
"""Modules that the second table counts, by topic."""

SECOND_TABLE_TESTS = r"Win|File|RMA|Session|Partitioned|CreateFromGroup"
"""Tests of the same topics in other modules, by class or name."""

LONG = [
    "test_io", "test_rma", "test_rma_nb",
    "test_util_dtlib", "test_cco_ngh_buf", "test_cco_pr_vec", "test_cco_nb_vec", "test_msgspec", "test_cco_vec",
    "test_datatype", "test_pack", "test_cco_nb_buf", "test_cco_pr_buf", "test_cco_pr_ngh_buf", "test_cco_buf",
    "test_p2p_buf", "test_cco_buf_inter", "test_cco_vec_inter", "test_p2p_obj",
]  # fmt: skip
"""Modules that take many seconds, longest first: in that order they end at about the same time on all cores.

The last is short, but some of its tests fail halfway on the emulator, and the messages they left made 100 other tests fail.
"""

VERSION = "4.1.2"
"""Version of the suite if mpi4py is not installed."""

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
ON_A_RANK = Path(__file__).with_name("mpi4py_suite_rank.py")
Outcome = dict[str, list[str]]
"""Test -> [passed, failed or skipped; reason]."""
Kept = dict[str, dict[str, Outcome]]
"""Number of ranks -> module -> outcome."""


def second_table_modules() -> list[str]:
    """All modules of the second table."""
    return [module for modules in SECOND_TABLE.values() for module in modules.split()]


def selection(second_table: bool) -> list[str]:
    """The options that select the counted tests of each module."""
    if not second_table:
        return ["--exclude", SECOND_TABLE_TESTS]
    return ["--match", SECOND_TABLE_TESTS, "--whole", " ".join(second_table_modules())]


def download(place: Path) -> Path:
    """Download the sdist of the installed version; return the directory of the suite."""
    try:
        wanted = version("mpi4py")
    except PackageNotFoundError:
        wanted = VERSION
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py", "-d", str(place)]
    pip.append(f"mpi4py=={wanted}")
    subprocess.run(pip, check=True, stdout=sys.stderr, timeout=270)
    (archive,) = place.glob("mpi4py-*.tar.gz")
    with tarfile.open(archive) as sdist:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        sdist.extractall(place, **safe)
    return place / archive.name.removesuffix(".tar.gz") / "test"


def batches(modules: list[str]) -> list[list[str]]:
    """Modules that are run together, in the order in which to start them."""
    short = [module for module in modules if module not in LONG]
    return [*([module] for module in LONG if module in modules), *([short] if short else [])]


def run_once(
    where: str, ranks: int, suite: Path, modules: list[str], limit: int, *options: str
) -> tuple[list[list[Any]], str]:
    """The records of each rank, and the output of all."""
    launch = ["mpiexec", "-n", str(ranks), sys.executable]
    if where != "mpi":
        launch = [sys.executable, "-m", "fakempi", "run", "-q", "-n", str(ranks), "--timeout", str(limit)]
        launch += ["--processes"] if where == "processes" else []
    else:
        launch[0] = str(Path(sys.executable).with_name("mpiexec"))
    with tempfile.TemporaryDirectory() as directory:
        command = [*launch, str(ON_A_RANK), str(suite), directory, *modules, *options]
        with open(Path(directory, "printed"), "w+b") as output:
            process = subprocess.Popen(command, cwd=suite, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            try:
                process.wait(limit + (0 if where == "mpi" else 30))  # it ends on its own, with a report
            except subprocess.TimeoutExpired:
                process.terminate()  # not killed, so that mpiexec ends its ranks
                process.wait()
                output.write(f"\nnot finished after {limit} s".encode())
        printed = Path(directory, "printed").read_text(errors="replace")
        files = [Path(directory, f"{rank}.jsonl") for rank in range(ranks)]
        lines = [file.read_text().splitlines() if file.exists() else [] for file in files]
    return [[json.loads(line) for line in part if line.endswith("}")] for part in lines], printed


def outcome_of(logs: list[list[Any]], printed: str) -> tuple[Outcome, bool]:
    """The outcome of each test, and whether the run ended on every rank."""
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
    """The tests that the page lists as differences, as patterns."""
    (rows,) = re.findall(r"<!-- differences -->(.*)<!-- end of differences -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    tests = [row.split("|")[1] for row in rows.splitlines() if row.startswith("| `")]
    return re.findall(r"`(test_[\w.*]+)`", "\n".join(tests))


def run_batch(
    where: str, ranks: int, suite: Path, modules: list[str], limit: int, *, second_table: bool = False
) -> tuple[dict[str, Outcome], float]:
    """The outcome of each test of some modules, and the time without repetitions."""
    outcome: Outcome = {}
    counted = selection(second_table)
    begun, found, ended = time.perf_counter(), {"": ["", ""]}, False
    while found and not ended:
        found, ended = outcome_of(*run_once(where, ranks, suite, modules, limit, *counted, "--skip", " ".join(outcome)))
        outcome |= found
    seconds = time.perf_counter() - begun
    expected = [] if where == "mpi" else known()
    for test, (verdict, _) in list(outcome.items()):
        if verdict == "failed" and test.count(".") == 2 and not any(fnmatchcase(test, name) for name in expected):
            again, _ = outcome_of(*run_once(where, ranks, suite, [test.split(".")[0]], limit, "--only", test))
            outcome[test] = again.get(test, outcome[test])
    by_module: dict[str, Outcome] = {module: {} for module in modules}
    for test, verdict_and_why in outcome.items():
        by_module[test.split(".")[0]][test] = verdict_and_why
    for module, tests in by_module.items():
        if not tests and not ended:
            tests[module] = ["failed", "the module could not be run"]
    return by_module, seconds


def run_all(
    where: str, ranks: int, suite: Path, modules: list[str], limit: int, jobs: int, second_table: bool
) -> Iterator[dict[str, Outcome]]:
    """Outcomes of all modules as they complete, with `jobs` runs at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        running = [
            pool.submit(run_batch, where, ranks, suite, batch, limit, second_table=second_table)
            for batch in batches(modules)
        ]
        for future in as_completed(running):
            found, seconds = future.result()
            counts = Counter(verdict for tests in found.values() for verdict, _ in tests.values())
            what = next(iter(found)) if len(found) == 1 else f"{len(found)} others"
            print(f"{where:8} {ranks} ranks  {what:24} {seconds:6.1f} s  {dict(counts)}", file=sys.stderr, flush=True)
            yield found


def cpu_seconds() -> float:
    """CPU time of all runs so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def both(outcomes: dict[str, Kept], ranks: str) -> tuple[Outcome, Outcome, int]:
    """Outcomes on the emulator and on MPI in modules that were run on both, and the number of these modules."""
    here, there = outcomes["emulator"].get(ranks, {}), outcomes["mpi"].get(ranks, {})
    common = [module for module in there if module in here and there[module]]
    one, two = ({test: verdict for module in common for test, verdict in side[module].items()} for side in (here, there))
    return one, two, len(common)


def differences(here: Outcome, there: Outcome) -> dict[str, str]:
    """Tests that pass on MPI and not on the emulator, with the reason."""
    absent = ["failed", "not run"]
    passed = [test for test, (verdict, _) in there.items() if verdict == "passed"]
    return {test: here.get(test, absent)[1] for test in passed if here.get(test, absent)[0] != "passed"}


def table(outcomes: dict[str, Kept]) -> str:
    """The table of tests that pass on MPI, on the emulator, and in percent, by number of ranks."""
    lines = ["| ranks | modules | pass on MPICH | of these, pass on the emulator | |", "|---|---|---|---|---|"]
    for ranks in sorted(outcomes["mpi"]):
        here, there, modules = both(outcomes, ranks)
        count, missing = sum(verdict == "passed" for verdict, _ in there.values()), len(differences(here, there))
        if count:
            lines.append(f"| {ranks} | {modules} | {count} | {count - missing} | {1 - missing / count:.1%} |")
    return "\n".join(lines)


def main() -> None:
    """Run the suite as the command line specifies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="modules of the suite (default: all that are counted)")
    parser.add_argument("--second-table", action="store_true", help="run the tests of the second table: windows, files, ...")
    parser.add_argument("--suite", type=Path, default=os.environ.get("MPI4PY_SUITE"), help="the directory test/ of an sdist")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4, 5])
    parser.add_argument("--on", nargs="+", choices=["mpi", "emulator", "processes"], default=["mpi", "emulator"])
    parser.add_argument("--limit", type=int, default=600, help="time limit of a run in seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="simultaneous runs on the emulator")
    parser.add_argument("--keep", type=Path, help="JSON file that stores the outcome; stored modules are not run again")
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    options = parser.parse_args()
    outcomes: dict[str, Kept] = {"mpi": {}, "emulator": {}, "processes": {}}
    if options.keep and options.keep.exists():
        outcomes = json.loads(options.keep.read_text())
    with tempfile.TemporaryDirectory() as directory:
        suite = Path(options.suite).resolve() if options.suite else download(Path(directory))
        others = [] if options.second_table else second_table_modules()
        modules = options.modules or sorted({file.stem for file in suite.glob("test_*.py")}.difference(others))
        for where in options.on:
            for ranks in map(str, options.ranks):
                known, begun, used = outcomes[where].setdefault(ranks, {}), time.perf_counter(), cpu_seconds()
                wanted = [module for module in modules if module not in known]
                jobs = 1 if where == "mpi" else options.jobs  # ranks of a real MPI poll, so each needs a core
                for found in run_all(where, int(ranks), suite, wanted, options.limit, jobs, options.second_table):
                    known.update(found)
                    if options.keep:
                        options.keep.write_text(json.dumps(outcomes, indent=1, sort_keys=True))
                seconds, of_cpu = time.perf_counter() - begun, cpu_seconds() - used
                print(f"{where} at {ranks} ranks: {seconds:.0f} s, {of_cpu:.0f} s of CPU time", flush=True)
    if set(options.on) == {"mpi", "emulator"}:
        print(table(outcomes))
        for ranks in sorted(outcomes["mpi"]):
            here, there, _ = both(outcomes, ranks)
            for test, why in differences(here, there).items():
                print(f"at {ranks} ranks: {test}\n    {(why.strip().splitlines() or [''])[-1]}")
        if options.page:
            page, name = options.page.read_text(), "second table" if options.second_table else "table"
            fresh = f"<!-- {name} -->\n{table(outcomes)}\n<!-- end of {name} -->"
            place = re.compile(f"<!-- {name} -->.*<!-- end of {name} -->", re.DOTALL)
            options.page.write_text(place.sub(lambda _: fresh, page))


if __name__ == "__main__":
    main()
