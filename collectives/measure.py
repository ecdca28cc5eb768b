"""How long algorithms take on this machine, by the papers' own method; their results are not looked at.

    mpiexec -n 8 python -m collectives.measure bcast --bytes 8..1M --csv measured.csv
    mpiexec -n 8 python -m collectives.measure allgatherv --distribution spike --algorithms ring,./mine.py
    mpiexec -n 8 python -m collectives.measure inter:allgather --groups 6+2
    fakempi run -n 8 -m collectives.measure bcast      without any MPI, in modelled time
    fakempi compare bcast --beside measured.csv        modelled and measured side by side
"""

from __future__ import annotations

import csv
import io
import sys
import traceback
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import replace
from typing import Any

import numpy as np

from collectives.asked import SIZES, Plan, Trial, make_plan
from collectives.catalogue.algorithm import DoesNotFit
from collectives.trials.calls import prepared, two_groups
from collectives.trials.timing import Sample, timed

FIELDS = (
    "operation", "kind", "algorithm", "p", "q", "bytes", "distribution", "seconds", "how",
    "least", "most", "repeats", "refused", "machine",
)  # fmt: skip
"""The columns of the CSV; the first nine are those of `fakempi compare --csv`."""

WRONG_USE = 2
NO_MPI = """\
collectives.measure: there is no mpi4py here. With it: mpiexec -n 8 python -m collectives.measure bcast
Without any MPI, in modelled time: fakempi run -n 8 -m collectives.measure bcast
"""


def make_parser() -> ArgumentParser:
    """What can be typed."""
    made = ArgumentParser("collectives.measure", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    made.add_argument("operation", help="such as bcast or inter:allgather")
    made.add_argument("--algorithms", metavar="LIST", help="only these: ring, chain(segment_bytes=4k), ./mine.py")
    made.add_argument("--bytes", metavar="LIST", help=f"sizes of a block: 1k, 1k..1M, 8,64k (default {SIZES})")
    made.add_argument("--repeats", metavar="N", default="20", help="how often each is measured (default 20)")
    made.add_argument("--distribution", metavar="LIST", help="how blocks differ, for operations that end in v; or all")
    made.add_argument("--counts", metavar="FILE", help="blocks of one's own, in bytes; for two groups two lists")
    made.add_argument("--groups", metavar="P+Q", help="two groups of processes, for inter:...")
    made.add_argument("--csv", metavar="FILE", help="a row for each algorithm and size; - is standard output")
    return made


def measure(plan: Plan, world: Any, MPI: Any) -> Iterator[tuple[Trial, dict[str, Sample | str]]]:
    """Trial after trial, what every algorithm took, or why it refuses; on every process the same."""
    comms = two_groups(world, plan.trials[0].case.p) if plan.kind == "inter" else (world,)
    for trial in plan.trials:
        found: dict[str, Sample | str] = {}
        for label, algorithm, parameters in plan.among:
            roles = {"first": True} if "first" in algorithm.parameters else {}
            case = replace(trial.case, parameters={**roles, **parameters})
            try:
                algorithm.check(case)
                call = prepared(algorithm, case, world.Get_rank(), comms, _zeros, MPI.SUM)
                found[label] = timed(world, call, plan.repeats, MPI.Wtime, MPI.MAX)
            except DoesNotFit as reason:  # on every process, before anything is sent
                found[label] = str(reason).partition(": ")[2]
        yield trial, found


def _zeros(nbytes: int, itemsize: int) -> Any:
    return np.zeros(nbytes, np.uint8)


def table(trial: Trial, found: dict[str, Sample | str]) -> str:
    """What was found in one trial, for people; the fastest is marked."""
    best = min((sample.median for sample in found.values() if isinstance(sample, Sample)), default=0) * (1 + 1e-9)
    head = f"{trial.distribution} {trial.nbytes:,} bytes".strip()
    width = max(len(head), *(len(label) + 2 for label in found))
    lines = [f"{head:<{width}}       median        least         most"]
    for label, sample in found.items():
        numbers = "" if isinstance(sample, str) else "".join(f" {seconds * 1e6:>12,.2f}" for seconds in sample)
        words = f" - {sample}" if isinstance(sample, str) else " *" if sample.median <= best else ""
        lines.append(f"  {label:<{width - 2}}{numbers}{words}")
    return "\n".join(lines)


def rows(plan: Plan, trial: Trial, found: dict[str, Sample | str], machine: str) -> Iterator[list[Any]]:
    """The same for the CSV, in seconds."""
    for label, sample in found.items():
        case = [plan.operation, plan.kind, label, trial.case.p, trial.case.q, trial.nbytes, trial.distribution]
        if isinstance(sample, Sample):
            yield [*case, sample.median, "measured", sample.least, sample.most, plan.repeats, "", machine]
        else:
            yield [*case, "", "", "", "", plan.repeats, sample, machine]


def report(plan: Plan, options: Namespace, world: Any, MPI: Any) -> None:
    """Measure, and let process 0 write down what is found, as it is found."""
    machine = " ".join(MPI.Get_library_version().strip("\0").splitlines()[0].split())
    first, to_file = world.Get_rank() == 0, options.csv and options.csv != "-"
    with open(options.csv, "w", encoding="utf-8", newline="") if first and to_file else nullcontext(sys.stdout) as file:
        lines = csv.writer(file)
        if first and options.csv:
            lines.writerow(FIELDS)
        if first and options.csv != "-":
            there = f"{options.groups or world.Get_size()} processes"
            sys.stdout.write(f"{options.operation} on {there}, {plan.repeats} repeats, in microseconds, {machine}\n")
        for trial, found in measure(plan, world, MPI):
            if first and options.csv:
                lines.writerows(rows(plan, trial, found, machine))
                file.flush()
            if first and options.csv != "-":
                sys.stdout.write(f"\n{table(trial, found)}\n")
                sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """On every process; the exit code."""
    try:
        # The only import of an MPI in this package, and here alone: whoever measures a machine has to start on it.
        from mpi4py import MPI
    except (ImportError, RuntimeError):  # not installed, or no MPI library for it
        make_parser().parse_args(argv)
        sys.stderr.write(NO_MPI)
        return 1
    world = MPI.COMM_WORLD
    out, err = (io.StringIO(), io.StringIO()) if world.Get_rank() else (sys.stdout, sys.stderr)
    with redirect_stdout(out), redirect_stderr(err):  # help and complaints once, not from every process
        options = make_parser().parse_args(argv)
    try:
        plan = make_plan(options, world.Get_size())
    except (ValueError, LookupError, OSError) as error:  # on every process
        if world.Get_rank() == 0:
            sys.stderr.write(f"collectives.measure: {error}\n")
        return WRONG_USE
    try:
        report(plan, options, world, MPI)
    except Exception as error:  # perhaps on this process alone, and the others would wait for it
        if isinstance(error, OSError):
            sys.stderr.write(f"collectives.measure: {error}\n")
        else:
            traceback.print_exc()
        world.Abort(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
