"""`fakempi calibrate`: fit a cost model to measurements of a machine, and write it as a machine file."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from collectives import Case
from fakempi import __version__
from fakempi.apps.cli.console import console, error_console
from fakempi.apps.cli.extras import check_figure, check_writable
from fakempi.apps.cli.machines.fit_figure import write_figure
from fakempi.apps.compare.gap_inference import TreeTime, infer_gap
from fakempi.apps.compare.measurements import read_measurements, requests
from fakempi.apps.compare.sweep import contenders
from fakempi.apps.compare.timing import OSU
from fakempi.core import options as parse
from fakempi.core.network.models.multi_level import LEVELS
from fakempi.errors import MPIValueError
from fakempi.errors.files import naming
from fakempi.errors.plurals import counted
from fakempi.machines.benchmark_texts import is_benchmark_text, read_tables, samples_of
from fakempi.machines.calibration import Calibration
from fakempi.machines.calibration import calibrate as fit
from fakempi.machines.csv_files import read_placement, read_samples, write_samples
from fakempi.machines.discovery import ProcessLocation, find_locations, inner_levels
from fakempi.machines.measuring import MeasurementBudget, measure
from fakempi.machines.piecewise_fit import medians
from fakempi.machines.placement import cores_per_level
from fakempi.machines.samples import Sample, input_error
from fakempi.machines.writing import machine_text
from fakempi.view.comparison import Chart, comparison_plot

NO_MPI = (
    "there is nothing to fit: add --from FILE, or measure with at least 2 processes and mpi4py: "
    "mpiexec -n 2 python -m fakempi calibrate -o cluster.toml"
)

USAGE_ERROR = 2
NOISY = 1.5
"""Above this ratio of median and minimum, the user is warned."""


def calibrate(options: Namespace) -> int:
    """Fit and write a cost model; returns the exit code."""
    locations: list[ProcessLocation] | None = None
    if options.sources:
        width = _check_outputs(options)
        samples, provenance = _read(options)
    else:
        comm, MPI = _world()
        try:
            width = _check_outputs(options)
        except MPIValueError:
            if comm.Get_rank():  # rank 0 reports it
                return USAGE_ERROR
            raise
        samples, provenance, locations = _measured(options, comm, MPI)
        if comm.Get_rank():
            return 0
    if options.csv:
        with nullcontext(sys.stdout) if options.csv == "-" else open(options.csv, "w", encoding="utf-8") as file:
            write_samples(file, samples)
    calibration = _fitted(options, samples, provenance, locations)
    text = machine_text(calibration.model)
    if options.output == "-":
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")
    if "-" in (options.output, options.csv):
        out = error_console()
    else:
        out = console()
    _summarize(out, calibration, options.output)
    if options.plot:
        _plot(out, calibration, samples)
    if options.figure:
        write_figure(calibration, samples, options, width)
    return 0


def _check_outputs(options: Namespace) -> float:
    """Return the width of the figure; raise an error before anything is measured if an output file cannot be written."""
    check_writable(options.output, options.csv)
    return check_figure(options) if options.figure else 0.0


def _fitted(
    options: Namespace, samples: list[Sample], provenance: list[tuple[str, str]], locations: Sequence[ProcessLocation] | None
) -> Calibration:
    given = {"node": options.ranks_per_node, "socket": options.ranks_per_socket, "cache": options.ranks_per_cache}
    for level in ["node", *inner_levels(locations)] if locations is not None else []:
        if given[level] is None:
            depth = ProcessLocation._fields.index(level) + 1
            given[level] = max(Counter(location[1:depth] for location in locations or ()).values())
    if options.sources and options.placement:
        levels = {sample.level for sample in samples}
        cores = cores_per_level(read_placement(options.placement), levels, given, options.placement)
        given.update(cores)
        words = ", ".join(f"ranks_per_{level} = {number}" for level, number in cores.items())
        provenance = [*provenance, *([("placement", f"{words}: cores in {options.placement}")] if cores else [])]
    ranks_per = {f"ranks_per_{level}": number for level, number in given.items()}
    with naming(*(_level_and_path(source)[1] for source in options.sources)):
        calibration = fit(samples, provenance=provenance, **ranks_per)
    if options.collectives:
        with naming(options.collectives):
            model = infer_gap(calibration.model, *broadcasts(options.collectives, options.timing == OSU))
        calibration = calibration._replace(model=model)
    return calibration


def broadcasts(path: str, averages: bool) -> tuple[list[tuple[int, int, float]], bool, list[TreeTime]]:
    """Return the linear broadcasts of a file, whether its times are averages, and its other broadcasts."""
    measured = read_measurements(path, "bcast")
    with naming(path):
        found = {
            name: contenders("bcast", requested=[request])[0]
            for name, request in zip(measured.algorithms, requests(measured), strict=True)
        }
    linear, trees = [], []
    for (name, p, _, nbytes, _), seconds in measured.seconds.items():
        if name == "linear":
            linear.append((p, nbytes, seconds))
        elif name in found and (algorithm := found[name].algorithm) is not None:
            case = Case(p, nbytes, parameters=found[name].parameters)
            trees.append(TreeTime(algorithm, case, seconds))
    return linear, averages, trees


# -- files -----------------------------------------------------------------------------------------------------------------


def _level_and_path(source: str) -> tuple[str, str]:
    """Return the level and the path of `node:FILE`; the level of a path alone is empty."""
    level, _, path = source.partition(":")
    return (level, path) if level in LEVELS and path else ("", source)


def _read(options: Namespace) -> tuple[list[Sample], list[tuple[str, str]]]:
    placement = read_placement(options.placement) if options.placement else None
    samples: list[Sample] = []
    for source in options.sources:
        level, path = _level_and_path(source)
        if is_benchmark_text(path):
            tables = read_tables(path)
            calibration = samples_of(tables, level or "network")
            if not calibration:
                names = ", ".join(dict.fromkeys(table.name for table in tables if table.name)) or "other benchmarks"
                raise input_error(f"{path} has results of {names}, and no ping-pongs or streams.")
            samples += calibration
        else:
            samples += read_samples(path, placement, level)
    names = ", ".join(os.path.basename(source) for source in options.sources)
    return samples, [("source", names), ("fitted", f"{date.today()} by fakempi {__version__}")]


# -- a real MPI ------------------------------------------------------------------------------------------------------------


def _world() -> tuple[Any, Any]:
    """Return COMM_WORLD and the module MPI of mpi4py, if there are at least two processes."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):  # not installed, or no MPI library for it
        raise parse.usage_error(f"mpi4py is not available, and {NO_MPI}.") from None
    if MPI.COMM_WORLD.Get_size() < 2:
        raise parse.usage_error(f"{NO_MPI}.")
    return MPI.COMM_WORLD, MPI


def _measured(options: Namespace, comm: Any, MPI: Any) -> tuple[list[Sample], list[tuple[str, str]], list[ProcessLocation]]:
    """Measure on all processes; the samples are on rank 0."""
    try:
        return _measure(options, comm, MPI)
    except Exception:  # possibly on this process only: without Abort the others would block
        traceback.print_exc()
        comm.Abort(1)
        raise


def _measure(options: Namespace, comm: Any, MPI: Any) -> tuple[list[Sample], list[tuple[str, str]], list[ProcessLocation]]:
    locations = find_locations(comm, MPI)
    first = comm.Get_rank() == 0
    quiet = options.quiet or not first

    def report(text: str) -> None:
        if not quiet:
            sys.stderr.write(f"fakempi calibrate: {text}\n")
            sys.stderr.flush()

    plan = MeasurementBudget(options.seconds, options.pairs, min if options.statistic == "minimum" else median)
    samples, noise = measure(comm, MPI, locations, plan, report)
    if noise > NOISY and options.statistic == "median":
        report(
            f"the median of repeated measurements is {noise:.1f} times their minimum: other programs used the cores; use "
            "--statistic minimum, or measure on an idle machine"
        )
    notes = [*_where(MPI, locations), ("statistic", f"{options.statistic}; median / minimum of repetitions is {noise:.2f}")]
    return samples, notes, locations


def _where(MPI: Any, locations: Sequence[ProcessLocation]) -> list[tuple[str, str]]:
    library = " ".join(MPI.Get_library_version().strip("\0").splitlines()[0].split())
    nodes = len({location.node for location in locations})
    most = max(sum(location.node == node for location in locations) for node in {location.node for location in locations})
    cores = min(location.cores for location in locations)
    busy = f"; oversubscribed: {most} processes on {cores} cores" if most > cores else ""
    size = f"{len(locations)} processes on {counted(nodes, 'node')} of {counted(cores, 'core')}{busy}"
    hosts = ", ".join(sorted({location.host for location in locations})[:8])
    return [
        ("measured", f"{date.today()} by fakempi {__version__} with mpi4py"),
        ("library", library),
        ("processes", size),
        ("system", f"{platform.system()} {platform.machine()}, {hosts}"),
    ]


# -- output ----------------------------------------------------------------------------------------------------------------


def _summarize(out: Console, calibration: Calibration, path: str) -> None:
    """Print the quality of the fit."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("level", "samples", "sizes", "linear pieces", "held-out error", "Hockney error"):
        table.add_column(name, justify="left" if name == "level" else "right")
    for report in calibration.levels:
        level = calibration.model.levels[report.name]
        numbers = (str(report.points), str(report.sizes), str(len(level.time.pieces)))
        table.add_row(report.name, *numbers, f"{report.held_out.median:.1%}", f"{report.hockney.median:.1%}")
    out.print(table)
    for line in _summary_lines(calibration, path):
        out.print(Padding(Text(line), (0, 0, 0, 2)))


def _summary_lines(calibration: Calibration, path: str) -> Iterator[str]:
    yield (
        "Errors are medians of |modeled / measured - 1| at held-out sizes, which the fit did not use. The Hockney error is "
        "that of the model t_s + n t_w."
    )
    for name, level in calibration.model.levels.items():
        ranges = ", ".join(f"{error.median:.1%} from {error.low:,} to {error.high:,} B" for error in level.errors)
        yield f"error on level {name}, by size: {ranges}"
    notes = dict(calibration.model.provenance)
    for key in ("overheads", "eager_limit", "contention"):
        if key in notes:
            yield f"{key.replace('_', ' ')}: {notes[key]}"
    for report in calibration.levels:
        if report.switches:
            points = ", ".join(f"{size:,}" for size in report.switches)
            yield f"level {report.name}: the time jumps or falls by more than 10 % at {points} bytes"
    if path != "-":
        yield f"written: {path} (use it as --cost {path})"


def _plot(out: Console, calibration: Calibration, samples: Sequence[Sample]) -> None:
    """Draw the measured medians and the fit of each level, by size."""
    for name, level in calibration.model.levels.items():
        times = [sample for sample in samples if (sample.level, sample.kind) == (name, "time") and sample.nbytes]
        sizes, measured = medians([sample.nbytes for sample in times], [sample.seconds for sample in times])
        xs = [int(size) for size in sizes]
        curves = {"measured": [float(time) for time in measured], "modeled": [level.time(size) for size in xs]}
        chart = Chart(f"level {name}", xs, curves, [None] * len(xs), True, "size of a message")
        picture = comparison_plot(chart, width=min(out.width, 100))
        if picture is not None:
            out.print()
            out.print(chart.title)
            out.print(picture)
