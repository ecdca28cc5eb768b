"""Measure the time of algorithms on this machine, without checking their results.

    mpiexec -n 8 python -m collectives.measure bcast --bytes 8..1M --csv measured.csv
    mpiexec -n 8 python -m collectives.measure allgatherv --distribution spike --algorithms ring,./mine.py
    mpiexec -n 8 python -m collectives.measure allreduce --algorithms ring,./ring.json
    mpiexec -n 8 python -m collectives.measure inter:allgather --groups 6+2
    fakempi run -n 8 -m collectives.measure bcast      without an MPI library, in modeled time

To see modeled and measured times in one table, pass the CSV file to `fakempi compare` (see its --help).
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

from collectives.catalogue.algorithm import UnsupportedCaseError
from collectives.measure_options import SIZES, MeasuredCase, MeasurePlan, make_plan
from collectives.tools.plurals import counted
from collectives.trials.calls import prepared, two_groups
from collectives.trials.timing import TimingSummary, timed

FIELDS = (
    "operation", "kind", "algorithm", "p", "q", "bytes", "distribution", "seconds", "how",
    "least", "most", "repeats", "refused", "machine",
)  # fmt: skip
"""The columns of the CSV; the first nine are those of `fakempi compare --csv`."""

USAGE_ERROR = 2
NO_MPI = """\
collectives.measure: mpi4py is not installed. With it: mpiexec -n 8 python -m collectives.measure bcast
Without an MPI library, in modeled time: fakempi run -n 8 -m collectives.measure bcast
"""


def make_parser() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = ArgumentParser("collectives.measure", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("operation", help="an operation, such as bcast or inter:allgather")
    parser.add_argument("--algorithms", metavar="LIST", help="only these: ring, chain(segment_bytes=4k), ./mine.py")
    parser.add_argument("--bytes", metavar="LIST", help=f"block sizes: 1k, 1k..1M, 8,64k (default {SIZES})")
    parser.add_argument("--repeats", metavar="N", default="20", help="number of measurements (default 20)")
    parser.add_argument(
        "--distribution", metavar="LIST", help="distributions of unequal blocks, for operations such as gatherv; or all"
    )
    parser.add_argument("--counts", metavar="FILE", help="read the block sizes in bytes from a file; one list per group")
    parser.add_argument("--groups", metavar="P+Q", help="sizes of the two groups of processes, for inter:...")
    parser.add_argument("--csv", metavar="FILE", help="write one row per algorithm and size; - is standard output")
    return parser


def measure(plan: MeasurePlan, world: Any, MPI: Any) -> Iterator[tuple[MeasuredCase, dict[str, TimingSummary | str]]]:
    """Yield every case with the sample of each algorithm, or the reason why it does not fit; equal on all processes."""
    comms = two_groups(world, plan.cases[0].case.p) if plan.kind == "inter" else (world,)
    for measured in plan.cases:
        results: dict[str, TimingSummary | str] = {}
        for label, algorithm, parameters in plan.algorithms:
            roles = {"first": True} if "first" in algorithm.parameters else {}
            case = replace(measured.case, parameters={**roles, **parameters})
            try:
                algorithm.check(case)
                call = prepared(algorithm, case, world.Get_rank(), comms, _zeros, MPI.SUM)
                results[label] = timed(world, call, plan.repeats, MPI.Wtime, MPI.MAX)
            except UnsupportedCaseError as reason:  # on every process, before anything is sent
                results[label] = str(reason).partition(": ")[2]
        yield measured, results


def _zeros(nbytes: int, itemsize: int) -> Any:
    return np.zeros(nbytes, np.uint8)


def table(measured: MeasuredCase, results: dict[str, TimingSummary | str]) -> str:
    """Return the samples of one case as a table; a star marks the fastest algorithm."""
    best = min((sample.median for sample in results.values() if isinstance(sample, TimingSummary)), default=0) * (1 + 1e-9)
    head = f"{measured.distribution} {measured.nbytes:,} bytes".strip()
    width = max(len(head), *(len(label) + 2 for label in results))
    lines = [f"{head:<{width}}       median        least         most"]
    for label, sample in results.items():
        numbers = "" if isinstance(sample, str) else "".join(f" {seconds * 1e6:>12,.2f}" for seconds in sample)
        note = f" - {sample}" if isinstance(sample, str) else " *" if sample.median <= best else ""
        lines.append(f"  {label:<{width - 2}}{numbers}{note}")
    return "\n".join(lines)


def rows(
    plan: MeasurePlan, measured: MeasuredCase, results: dict[str, TimingSummary | str], machine: str
) -> Iterator[list[Any]]:
    """Yield the samples of one case as rows of the CSV, in seconds."""
    p, q = measured.case.p, measured.case.q
    for label, sample in results.items():
        case = [plan.operation, plan.kind, label, p, q, measured.nbytes, measured.distribution]
        if isinstance(sample, TimingSummary):
            yield [*case, sample.median, "measured", sample.minimum, sample.maximum, plan.repeats, "", machine]
        else:
            yield [*case, "", "", "", "", plan.repeats, sample, machine]


def report(plan: MeasurePlan, options: Namespace, world: Any, MPI: Any) -> None:
    """Measure, and let process 0 write every result as soon as it is available."""
    machine = " ".join(MPI.Get_library_version().strip("\0").splitlines()[0].split())
    first, to_file = world.Get_rank() == 0, options.csv and options.csv != "-"
    with open(options.csv, "w", encoding="utf-8", newline="") if first and to_file else nullcontext(sys.stdout) as file:
        lines = csv.writer(file)
        if first and options.csv:
            lines.writerow(FIELDS)
        if first and options.csv != "-":
            size = options.groups or world.Get_size()
            where = "1 process" if size == 1 else f"{size} processes"
            times = counted(plan.repeats, "repeat")
            sys.stdout.write(f"{options.operation} on {where}, {times}, in microseconds, {machine}\n")
        for measured, results in measure(plan, world, MPI):
            if first and options.csv:
                lines.writerows(rows(plan, measured, results, machine))
                file.flush()
            if first and options.csv != "-":
                sys.stdout.write(f"\n{table(measured, results)}\n")
                sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program on every process and return the exit code."""
    try:
        # The only import of mpi4py in this package: mpiexec starts this program, so it gets no communicator as an argument.
        from mpi4py import MPI
    except (ImportError, RuntimeError):  # not installed, or no MPI library for it
        make_parser().parse_args(argv)
        sys.stderr.write(NO_MPI)
        return 1
    world = MPI.COMM_WORLD
    out, err = (io.StringIO(), io.StringIO()) if world.Get_rank() else (sys.stdout, sys.stderr)
    with redirect_stdout(out), redirect_stderr(err):  # print help and usage errors on process 0 only
        options = make_parser().parse_args(argv)
    try:
        plan = make_plan(options, world.Get_size())
    except (ValueError, LookupError, OSError) as error:  # on every process
        if world.Get_rank() == 0:
            sys.stderr.write(f"collectives.measure: {error}\n")
        return USAGE_ERROR
    try:
        report(plan, options, world, MPI)
    except Exception as error:  # possibly on this process only: without Abort the others would block
        if isinstance(error, OSError):
            sys.stderr.write(f"collectives.measure: {error}\n")
        else:
            traceback.print_exc()
        world.Abort(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
