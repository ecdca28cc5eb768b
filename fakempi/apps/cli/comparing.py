"""`fakempi compare`: compare the algorithms of an operation, as tables, plots, CSV and JSON."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from collectives import Case
from collectives.distributions import DISTRIBUTIONS
from collectives.trials.cases import PAIRED, UNEVEN, UNSIZED, counted_case
from collectives.trials.counts import read_counts
from fakempi.apps.cli.comparison.figures import check_options, draw, with_base
from fakempi.apps.cli.comparison.latex import latex
from fakempi.apps.cli.comparison.progress import CompareProgress
from fakempi.apps.cli.comparison.tables import bits_table, chart_of, ranks_text, show
from fakempi.apps.cli.console import console
from fakempi.apps.cli.extras import check_writable
from fakempi.apps.cli.interrupts import INTERRUPTED
from fakempi.apps.cli.listing import operation_of
from fakempi.apps.cli.machines.validating import show_agreement
from fakempi.apps.cli.workers import workers
from fakempi.apps.compare.bits import MAX_RANKS, bits_rows, is_reduction
from fakempi.apps.compare.measurements import Measurements, read_measurements, requests
from fakempi.apps.compare.rows import to_csv, to_json, with_measured
from fakempi.apps.compare.sweep import DEFAULT, Contender, Sweep, SweepInterrupted, contenders, sweep, typed_parameters
from fakempi.apps.compare.timing import claims_hold
from fakempi.apps.emulator import Emulator
from fakempi.core import options as parse
from fakempi.errors.files import naming
from fakempi.view.comparison import Chart

SECONDS_PER_MESSAGE = 1e-5
"""Approximate time to emulate a message; evaluating a formula takes about a twentieth of that."""


ELEMENTS_OF_CHECK = 64
"""Size of the messages with which parameters are checked before anything is timed."""

MAX_MESSAGES = 1_500_000
"""Algorithms that take the evaluation of more messages are skipped unless named; half of it for those without a schedule.

65,536 ranks send 1,048,576 messages in 16 rounds. A linear alltoall on 1,024 ranks sends as many, takes a minute, and is
skipped.
"""


MAX_COLUMNS = 1000
"""Maximum number of columns for a file of measurements."""


class TableSpec(NamedTuple):
    """The columns of one table: every number of ranks with every size, or a file of block sizes."""

    ranks: list[tuple[int, int]]
    sizes: list[int]
    distribution: tuple[str, Any] | None = None
    counts: tuple[str, Any] | None = None


def compare(options: Namespace) -> int:
    """Print a table, and a plot if there are several columns, per distribution and number of ranks; return the exit code."""
    kind, operation = operation_of(options.operation)
    if kind not in ("intra", "inter", "split"):
        reasons = {"comm_creation": "creates communicators", "files": "accesses files"}
        reason = reasons.get(kind, "is part of other algorithms")
        raise parse.usage_error(f"{options.operation} {reason} and cannot be compared; fakempi list shows its algorithms.")
    if options.bits:
        return _compare_bits(options, kind, operation)
    _check_files(options)
    measurements = read_measurements(options.measured, operation, kind, options.placement) if options.measured else None
    parse.cost_model(options.cost)  # before the placement of the measurements is added, which it may not support
    with naming(*([options.measured] if measurements else [])):
        if measurements:
            options.cost = measurements.placed(options.cost)
        if measurements and not options.algorithms:
            requested = requests(measurements)
        else:
            requested = parse.algorithm_names(options.algorithms or "")
        among = contenders(operation, kind, requested, parse.cost_model(options.cost).linear)
    if options.default:
        if kind == "split":
            reason = "split takes no modeled time unless an algorithm is requested"
            raise parse.usage_error(f"--default: {reason}. Omit --default.")
        among.append(DEFAULT)
    if options.speedup_over:
        options.speedup_over = with_base(options.speedup_over, among, operation, kind, options.cost)
    if measurements:
        measurements = measurements.renamed(
            {_measured_name(*request): contender.label for request, contender in zip(requested, among, strict=False)}
        )
    if options.counts:
        specs = list(_table_of_counts(options, operation, kind))
    else:
        specs = list(_tables_by_size(options, operation, kind, measurements))
    _check_parameters(options, among, specs)
    width = check_options(options, [(spec.ranks, spec.sizes) for spec in specs])
    settings = {
        "cost": options.cost,
        "kind": kind,
        "measure": options.measure,
        "timing": options.timing,
        "dtype": options.dtype or (measurements.dtype if measurements else ""),
        "search": measurements is None,  # they were measured with the parameters in their names
        "max_messages": None if options.algorithms else MAX_MESSAGES,
    }
    sweeps, charts, code = _show_tables(operation, specs, among, settings, options, measurements)
    records = with_measured(sweeps, measurements)
    for path, write in ((options.csv, to_csv), (options.json, to_json), (options.latex, lambda _: latex(sweeps, options))):
        if path == "-":
            sys.stdout.write(write(records))
        elif path:
            Path(path).write_text(write(records), encoding="utf-8")
    if options.figure and not code:
        draw(charts, sweeps, options, width)
    return code


def _show_tables(
    operation: str,
    specs: Sequence[TableSpec],
    among: list[Contender],
    settings: dict[str, Any],
    options: Namespace,
    measurements: Measurements | None,
) -> tuple[list[Sweep], list[Chart], int]:
    """Compute and print all tables, after Ctrl-C those that are finished; return sweeps, charts and the exit code."""
    out, sweeps, charts, code = console(), list[Sweep](), list[Chart](), 0
    is_printed = "-" not in (options.csv, options.json, options.latex)

    def finish(swept: Sweep) -> None:
        charts.append(chart_of(swept, len(specs[len(sweeps)].sizes) > 1, options, measurements))
        sweeps.append(swept)
        if is_printed:
            if len(sweeps) > 1:
                out.print()
            show(out, swept, charts[-1], options, measurements)

    try:
        with (
            workers(options.jobs, *_work_estimate(options, specs, len(among))) as executor,
            CompareProgress(len(among) * sum(len(spec.ranks) * len(spec.sizes) for spec in specs), options.progress) as bar,
        ):
            for spec in specs:
                swept = sweep(
                    operation, spec.ranks, spec.sizes, among=among, distribution=spec.distribution, counts=spec.counts,
                    report=lambda label, case: bar.advance(f"{label}, {ranks_text(case)}"), executor=executor, **settings,
                )  # fmt: skip
                with bar.paused():
                    finish(swept)
    except SweepInterrupted as interrupt:
        code = INTERRUPTED
        if interrupt.sweep.columns:
            finish(interrupt.sweep)
        finished = "the tables have the times that were finished" if sweeps else "no time was finished"
        sys.stderr.write(f"fakempi compare: interrupted; {finished}.\n")
    if measurements and is_printed:
        show_agreement(out, sweeps, measurements, options.cost)
    return sweeps, charts, code


def _check_parameters(options: Namespace, among: Sequence[Contender], specs: Sequence[TableSpec]) -> None:
    """Raise an error if an algorithm rejects a parameter that the user typed, on every number of ranks in the tables.

    An algorithm that also rejects its default parameters does not fit the case: a line below the table has the reason.
    """
    groups = list(dict.fromkeys(pair for spec in specs for pair in spec.ranks))
    for contender in among:
        algorithm, parameters = contender.algorithm, contender.parameters
        if algorithm is None or not parameters or not groups:
            continue
        cases = [Case(p, ELEMENTS_OF_CHECK, q=q) for p, q in groups]
        reasons = [algorithm.why_unsupported(replace(case, parameters=parameters)) for case in cases]
        if all(reasons) and not any(algorithm.why_unsupported(case) for case in cases):
            defaults = typed_parameters({name: algorithm.parameters[name] for name in parameters})
            raise parse.usage_error(f"{options.operation} {contender.label}: {reasons[0]}; the default is {defaults}.")


def _compare_bits(options: Namespace, kind: str, operation: str) -> int:
    """Print what the bits of a reduction depend on; returns 0."""
    if not is_reduction(kind, operation):
        names = "allreduce, exscan, reduce, reduce_scatter, reduce_scatter_block or scan"
        raise parse.usage_error(f"--bits: {options.operation} does not combine operands; use --bits with {names}.")
    p, q = parse.groups(options.ranks or ("3+3" if kind == "inter" else "8"))[0]
    if p + q > MAX_RANKS:
        raise parse.usage_error(f"--bits shows the order of the operands on at most {MAX_RANKS} ranks, but -n is {p + q}.")
    among = contenders(operation, kind, parse.algorithm_names(options.algorithms or ""))
    with Emulator() as emulator:
        rows = list(bits_rows(among, emulator, p, q))
    for part in bits_table(options.operation, rows, f"{p}+{q}" if q else str(p)):
        console().print(part)
    return 0


def _check_files(options: Namespace) -> None:
    """Raise an error before anything is timed if an output file cannot be written."""
    paths = {"--csv": options.csv, "--json": options.json, "--latex": options.latex}
    printed = [f"{option} -" for option, path in paths.items() if path == "-"]
    if len(printed) > 1:
        raise parse.usage_error(
            f"{' and '.join(printed)} cannot {'both' if len(printed) == 2 else 'all'} use standard output: "
            "write one of them to a file."
        )
    check_writable(*paths.values())


def _measured_name(algorithm: Any, parameters: Mapping[str, Any]) -> str:
    """Return an algorithm's name as `python -m collectives.measure` writes it: for a file, its path."""
    values = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return f"{algorithm}({values})" if values else str(algorithm)


def _table_of_counts(options: Namespace, operation: str, kind: str) -> Iterator[TableSpec]:
    """Yield the table for a file of block sizes."""
    if options.bytes or options.distribution:
        raise parse.usage_error("--counts sets the block sizes: omit --bytes and --distribution.")
    try:
        lists = read_counts(options.counts)
        case = counted_case(operation, lists, 2 if kind == "inter" else 1)
    except ValueError as error:
        named = os.path.basename(options.counts) in str(error)
        raise parse.usage_error(f"{error}" if named else f"{options.counts}: {error}") from None
    if options.ranks and parse.groups(options.ranks) != [(case.p, case.q)]:
        raise parse.usage_error(f"{options.counts} has counts for {ranks_text(case)}, but -n is {options.ranks}.")
    yield TableSpec([(case.p, case.q)], [0], counts=(Path(options.counts).name, lists))


def _tables_by_size(options: Namespace, operation: str, kind: str, measurements: Measurements | None) -> Iterator[TableSpec]:
    """Yield one table over sizes per number of ranks, or, if there are fewer sizes, one table over the ranks per size.

    Options that are not given have the values of the measurements, if there are measurements.
    """
    ranks = parse.groups(options.ranks or "16") if options.ranks or not measurements else measurements.ranks
    sizes = parse.sizes(options.bytes or "1k") if options.bytes or not measurements else measurements.sizes
    if measurements and len(ranks) * len(sizes) > MAX_COLUMNS:
        raise parse.usage_error(
            f"{measurements.path} has {len(ranks):,} numbers of ranks and {len(sizes):,} sizes, more than {MAX_COLUMNS:,} "
            "columns together: choose some with -n and --bytes."
        )
    if operation in UNSIZED:
        sizes = sizes[:1]
    for p, q in ranks:
        if kind == "inter" and not q:
            raise parse.usage_error(f"{options.operation} is between two groups: use -n {p}+{p} instead of -n {p}.")
        if kind != "inter" and q:
            raise parse.usage_error(
                f"{operation} is within one group: use -n {p + q} instead of -n {p}+{q}, or inter:{operation}."
            )
    for distribution in _distributions(operation, options.distribution, measurements):
        if len(sizes) == 1 or len(sizes) < len(ranks):
            yield from (TableSpec(ranks, [size], distribution) for size in sizes)
        else:
            yield from (TableSpec([pair], sizes, distribution) for pair in ranks)


def _distributions(
    operation: str, requested: str | None, measurements: Measurements | None
) -> Iterator[tuple[str, Any] | None]:
    if operation not in (*UNEVEN, *PAIRED):
        if requested:
            raise parse.usage_error(
                f"{operation} has blocks of one size: --distribution is for {', '.join((*UNEVEN, *PAIRED))}."
            )
        yield None
        return
    names = requested.split(",") if requested else measurements.distributions if measurements else ["regular"]
    for name in list(DISTRIBUTIONS) if requested == "all" else [name.strip() for name in names]:
        if name not in DISTRIBUTIONS and measurements and not requested:
            raise parse.usage_error(
                f"{measurements.path} contains measurements with the block sizes of {name}. Add this option: --counts {name}"
            )
        if name not in DISTRIBUTIONS:
            raise parse.unknown_name("distribution", name, [*DISTRIBUTIONS, "all"])
        yield name, DISTRIBUTIONS[name]


def _work_estimate(options: Namespace, specs: Sequence[TableSpec], algorithms: int) -> tuple[int, float]:
    """Return the number of times to compute, and a rough estimate in seconds, with up to p messages per rank."""
    emulated = options.measure or not claims_hold(parse.cost_model(options.cost))
    columns = [sum(pair) for spec in specs for pair in spec.ranks for _ in spec.sizes]
    seconds = sum(ranks**2 for ranks in columns) * SECONDS_PER_MESSAGE * (1 if emulated else 0.05)
    return algorithms * len(columns), algorithms * seconds
