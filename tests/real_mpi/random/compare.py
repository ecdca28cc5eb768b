"""Runs programs on a real MPI and on the emulator, compares the observations, and shrinks programs that differ."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.real_mpi.processes import ROOT, mpi_is_installed, mpiexec
from tests.real_mpi.random.families import module, perform_all, programs
from tests.real_mpi.random.observing import Program, agree

BATCH = 50
STALLED = 60.0
"""Seconds without a result after which a run of the real MPI is ended."""
ENDED = "the real MPI crashed or hung"


@dataclass
class Difference:
    """A program whose observations differ: in operation `index`, on `rank`."""

    program: Program
    index: int
    rank: int
    real: Any
    emulated: Any

    def __str__(self) -> str:
        op = self.program["ops"][self.index] if self.index < len(self.program["ops"]) else None
        return (
            f"program {json.dumps(self.program)}\n  operation {self.index} on rank {self.rank}: {json.dumps(op)}\n"
            f"  real MPI {json.dumps(self.real)}\n  fakempi  {json.dumps(self.emulated)}"
        )


@dataclass
class Comparison:
    """The number of compared programs, the programs that differ, and the counts of documented differences."""

    compared: int = 0
    differences: list[Difference] = field(default_factory=list)
    explained: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    seconds_real: float = 0.0
    seconds_emulated: float = 0.0


# On the emulator -----------------------------------------------------------------------------------------------------


def emulated(family: str, todo: Sequence[Program], findings: Counter[str] | None = None) -> list[list[Any]]:
    """The observations of the ranks, by program; a batch that fails is repeated program by program."""
    found: list[list[Any]] = []
    for start in range(0, len(todo), BATCH):
        part = todo[start : start + BATCH]
        try:
            found += _emulate(family, part, findings)
        except Exception:
            for each in part:
                try:
                    found += _emulate(family, [each], findings)
                except Exception as error:
                    found.append([f"{type(error).__name__}: {error}"] * each["ranks"])
    return found


def _emulate(family: str, todo: Sequence[Program], findings: Counter[str] | None) -> list[list[Any]]:
    ranks = max(each["ranks"] for each in todo)
    run = fakempi.run(lambda comm: perform_all(MPI, comm, family, todo), ranks)
    if findings is not None and not getattr(module(family), "ERRONEOUS", False):
        findings.update(str(each) for each in run.findings if not each.note)
    returns = json.loads(json.dumps(run.returns))
    return [[returns[rank][number] for rank in range(each["ranks"])] for number, each in enumerate(todo)]


# On a real MPI -------------------------------------------------------------------------------------------------------


def real(family: str, todo: Sequence[Program]) -> list[list[Any]]:
    """The observations of the ranks, by program; if the MPI crashes or hangs, the rest runs in another start."""
    if not mpi_is_installed():
        pytest.skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    found: list[list[Any]] = []
    while len(found) < len(todo):
        rest = todo[len(found) :]
        done, message = _start(family, rest)
        for each, seen in zip(rest, zip(*done, strict=True), strict=False):
            found.append(list(seen[: each["ranks"]]))
        if len(found) < len(todo):
            found.append([f"{ENDED}: {message}"] * todo[len(found)]["ranks"])
    return found


def _start(family: str, todo: Sequence[Program]) -> tuple[list[list[Any]], str]:
    """The results of each rank, truncated to those that every rank has, and the last output of a run that failed."""
    ranks = max(each["ranks"] for each in todo)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "programs.json").write_text(json.dumps(list(todo)))
        outputs = [directory / f"{rank}.jsonl" for rank in range(ranks)]
        with open(directory / "words", "w+") as words:
            command = [mpiexec(), "-n", str(ranks), sys.executable, "-m", "tests.real_mpi.random.on_mpi", family]
            process = subprocess.Popen(
                [*command, str(directory / "programs.json"), str(directory)], cwd=ROOT, stdout=words, stderr=words
            )
            _watch(process, outputs)
            words.seek(0)
            message = words.read()[-600:]
        lines = [output.read_text().split("\n")[:-1] if output.exists() else [] for output in outputs]
    least = min(map(len, lines))
    return [[json.loads(line) for line in each[:least]] for each in lines], message


def _watch(process: subprocess.Popen[Any], outputs: list[Path]) -> None:
    """Wait for the end, and stop a run that no longer writes."""
    sizes: list[int] = []
    since = time.monotonic()
    while True:
        try:
            process.wait(0.5)
            return
        except subprocess.TimeoutExpired:
            now = [output.stat().st_size if output.exists() else 0 for output in outputs]
            if now != sizes:
                sizes, since = now, time.monotonic()
            elif time.monotonic() - since > STALLED:
                process.terminate()
                process.wait(120)
                return


# Both ----------------------------------------------------------------------------------------------------------------


def differences(family: str, todo: Sequence[Program], ours: list[list[Any]], theirs: list[list[Any]]) -> Comparison:
    """Compare observations; `explain(program, index, real, emulated)` of a family names differences that are documented."""
    explain = getattr(module(family), "explain", lambda *_: None)
    result = Comparison(len(todo))
    for each, mine, real_ones in zip(todo, ours, theirs, strict=True):
        for difference in _between(each, real_ones, mine):
            why = explain(each, difference.index, difference.real, difference.emulated)
            if why is None:
                result.differences.append(difference)
                break
            result.explained[why] += 1
    return result


def _between(program: Program, theirs: list[Any], ours: list[Any]) -> list[Difference]:
    found = []
    for rank, (real_one, mine) in enumerate(zip(theirs, ours, strict=True)):
        if isinstance(real_one, str) or isinstance(mine, str):
            if real_one != mine:
                found.append(Difference(program, len(program["ops"]), rank, real_one, mine))
            continue
        for index, (a, b) in enumerate(zip(real_one, mine, strict=True)):
            if not agree(a, b):
                found.append(Difference(program, index, rank, a, b))
    return sorted(found, key=lambda each: each.index)


def compare(family: str, todo: Sequence[Program]) -> Comparison:
    """Run programs on both."""
    findings: Counter[str] = Counter()
    before = time.process_time()
    ours = emulated(family, todo, findings)
    between, children = time.process_time(), _children()
    theirs = real(family, todo)
    result = differences(family, todo, ours, theirs)
    result.findings = findings
    result.seconds_emulated, result.seconds_real = between - before, _children() - children
    return result


def _children() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare_random(family: str, count: int, seed: int = 0) -> Comparison:
    """Compare the programs of `count` seeds."""
    return compare(family, programs(family, count, seed))


def shrunk(family: str, difference: Difference) -> Difference:
    """The same kind of difference with as few operations as possible: all programs with one operation less, in one start."""
    fixed = getattr(module(family), "FIXED", 0)  # operations at the beginning that are never left out
    while len(difference.program["ops"]) > fixed + 1:
        ops = difference.program["ops"]
        fewer = [{**difference.program, "ops": ops[:at] + ops[at + 1 :]} for at in range(fixed, len(ops))]
        found = compare(family, fewer).differences
        if not found:
            break
        difference = found[0]
    return difference
