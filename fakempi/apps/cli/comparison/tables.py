"""Print a comparison: a table, a legend, remarks on rejected cases and on claims that differ, a plot."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from collectives import Case
from collectives.trials.cases import PAIRED, UNEVEN, UNSIZED
from fakempi.apps.compare.bits import BitsRow
from fakempi.apps.compare.budget import MOST_SIMULATED
from fakempi.apps.compare.measurements import Measurements
from fakempi.apps.compare.sweep import DEFAULT, Column, Sweep, as_float, typed_parameters
from fakempi.apps.compare.timing import CaseTime
from fakempi.errors.plurals import counted
from fakempi.view.comparison import (
    CLAIMED,
    DIFFER,
    EMULATED,
    MEASURED_SUFFIX,
    MOST_CURVES,
    Chart,
    comparison,
    comparison_plot,
    comparison_with_measured,
    legend,
)
from fakempi.view.lines import fitted
from fakempi.view.numbers import bytes_in_words, distinct

WHOLE = ("bcast", "reduce", "allreduce", "scan", "exscan")
"""Operations whose size is that of the whole message."""
BITS_LEGEND = (
    "p: with more ranks whose operands are zero, the bits differ; root, nodes: with another root or placement; position: "
    "elements of one message are combined in different orders; arrival: the bits may differ between two runs. Derived from "
    "the order of the operands on 1 to 12 ranks, with the algorithms' default parameters and 2 ranks per node."
)

MAX_LINES = 3
"""Maximum number of lines on one algorithm below a table."""

COLUMN_WIDTH = 13
"""Characters of a column of times, with the gap before it."""


def show(out: Console, sweep: Sweep, chart: Chart, options: Namespace, measurements: Measurements | None) -> None:
    """Print a table with its remarks and its plot."""
    columns, x_is_bytes = sweep.columns, chart.x_is_bytes
    head = "bytes" if x_is_bytes else "ranks"
    labels = [bytes_in_words(column.nbytes) if x_is_bytes else ranks_of(column) for column in columns]
    names = _row_labels(sweep, out.width)
    lines = {label: chart.times[name] for name, label in names.items()}
    marks = {label: [_mark(column.case_times[name]) for column in columns] for name, label in names.items()}
    if measurements is None:
        out.print(comparison(chart.title, labels, lines, marks, chart.bound, head=head, width=out.width))
    else:
        measured = {label: chart.times[f"{name}{MEASURED_SUFFIX}"] for name, label in names.items()}
        title = f"{chart.title}, compared with {measurements.path}"
        out.print(comparison_with_measured(title, labels, lines, marks, measured, head=head, width=out.width))
        _print_remark(out, Text(_agreement(columns, measured), "cyan"))
    for remark in _remarks(sweep, x_is_bytes, names, bool(options.algorithms)):
        _print_remark(out, remark)
    out.print(legend({mark for row in marks.values() for mark in row}, width=out.width))
    picture = comparison_plot(chart, width=min(out.width, 100)) if options.plot else None
    if picture is not None:
        out.print()
        out.print(picture)


def chart_of(sweep: Sweep, x_is_bytes: bool, options: Namespace, measurements: Measurements | None) -> Chart:
    """Return the curves of a table: modeled times, and the measured times, if a file of them was given.

    Algorithms that the user or the file names are all drawn; of all the algorithms of an operation, a few.
    """
    columns = sweep.columns
    names = [name for name in sweep.names if not all(column.case_times[name].equals for column in columns)]
    times = {name: [as_float(column.times.get(name)) for column in columns] for name in names}
    for name in names if measurements is not None else ():
        times[f"{name}{MEASURED_SUFFIX}"] = [_measured(measurements, sweep, name, column) for column in columns]
    xs = [column.nbytes if x_is_bytes else column.p + column.q for column in columns]
    label = size_label(sweep.operation) if x_is_bytes else "number of ranks"
    bounds = [as_float(column.bound) for column in columns]
    most = None if options.algorithms or measurements is not None else MOST_CURVES
    others = [name for name in sweep.names if name not in names]
    further = {name: [as_float(column.times.get(name)) for column in columns] for name in others}
    without = [name for name in sweep.names if not any(column.times.get(name) for column in columns)]
    title = _title(sweep, x_is_bytes, options)
    return Chart(title, xs, times, bounds, x_is_bytes, label, most, [DEFAULT.label], further, without)


def bits_table(operation: str, rows: Sequence[BitsRow], ranks: str) -> Iterator[Text | Table]:
    """Yield a title, a table of algorithms with the sources of differences in their bits, and a legend."""
    yield Text(f"{operation}: bits of a floating-point sum", "bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    equal = any(row.ranks for row in rows)
    for head in ("algorithm", *(["ranks"] if equal else []), "bits depend on"):
        table.add_column(head, no_wrap=True)
    table.add_column(f"order on {ranks} ranks, first element")
    for row in rows:
        table.add_row(row.label, *([row.ranks] if equal else []), row.sources, row.order)
    yield table
    yield Text(BITS_LEGEND, "dim")


def _title(sweep: Sweep, x_is_bytes: bool, options: Namespace) -> str:
    first = sweep.columns[0]
    fixed = ranks_text(first) if x_is_bytes else bytes_in_words(first.nbytes)
    if sweep.operation in UNSIZED:
        fixed = "two colors, keys reversed" if sweep.operation == "split" else ""
    return title_of(sweep, fixed, options)


def by_distribution(sweeps: Sequence[Sweep]) -> list[list[Sweep]]:
    """Return the sweeps of each distribution of block sizes."""
    names = dict.fromkeys(sweep.distribution for sweep in sweeps)
    return [[sweep for sweep in sweeps if sweep.distribution == name] for name in names]


def size_label(operation: str) -> str:
    """Return the label of an axis of sizes."""
    size = "size of the message" if operation in WHOLE else "size of a block"
    return size + " on average" * (operation in (*UNEVEN, *PAIRED))


def title_of(sweep: Sweep, fixed: str, options: Namespace) -> str:
    """Return the title of a table or figure; `fixed` is what its columns have in common."""
    first = sweep.columns[0]
    blocks = f"{sweep.distribution} blocks" if sweep.distribution else ""
    if options.counts:
        fixed, blocks = f"blocks of {sweep.distribution}", f"{bytes_in_words(first.nbytes)} on average"
    dtype, itemsize = sweep.elements
    elements = f"{itemsize}-byte {dtype}" if dtype else ""
    return ", ".join(filter(None, (options.operation, fixed, blocks, elements, options.cost)))


def _print_remark(out: Console, remark: Text) -> None:
    """Print a remark; the continuation of a long line is indented, and no line ends between a number and its unit."""
    text = re.sub(r"(?<=\d) (?=(?:[KMGTPE]i)?B\b)", "\0", remark.plain)
    out.print(Text(fitted(text, out.width).replace("\0", " "), remark.style), soft_wrap=True)


def _mark(case_time: CaseTime) -> str:
    return DIFFER if case_time.differ else {"claimed": CLAIMED, "emulated": EMULATED}.get(case_time.how, " ")


def _measured(measurements: Measurements | None, sweep: Sweep, name: str, column: Column) -> float | None:
    return measurements.seconds.get((name, column.p, column.q, column.nbytes, sweep.distribution)) if measurements else None


def _agreement(columns: list[Column], measured: Mapping[str, Sequence[float | None]]) -> str:
    """Return how far model and measurement agree: the range of their ratio, and how often the same algorithm is fastest."""
    ratios: list[float] = []
    winners: list[bool] = []
    for index, column in enumerate(columns):
        times = {name: row[index] for name, row in measured.items() if row[index] and column.times.get(name)}
        ratios += [time / float(column.times[name]) for name, time in times.items() if time]
        if len(times) > 1:
            fastest = min(times, key=lambda name: times[name] or 0)
            winners.append(column.times[fastest] <= min(column.times[name] for name in times) * (1 + 1e-12))
    if not ratios:
        return "  no measurement of these cases in the file"
    ratio = f"  ratio: measured / modeled, from {min(ratios):,.3g} to {max(ratios):,.3g}"
    same = f"{sum(winners)} of {counted(len(winners), 'column')}"
    return f"{ratio}\n  model and measurement agree on the fastest algorithm in {same}" if winners else ratio


def _remarks(sweep: Sweep, x_is_bytes: bool, labels: Mapping[str, str], requested: bool) -> Iterator[Text]:
    """Yield the lines below the table: parameters, default algorithms, rejected and skipped cases, claims that differ."""
    columns = sweep.columns
    yield from _choices(sweep, x_is_bytes, labels)
    for name in labels:
        reasons = list(dict.fromkeys(column.refused[name] for column in columns if name in column.refused))
        if reasons:
            yield Text(f"  {name} - {'; '.join(reasons[:MAX_LINES])}{' ...' if len(reasons) > MAX_LINES else ''}", "dim")
    yield from _skipped(sweep, labels, requested)
    for name in labels:
        differ = [column for column in columns if column.case_times[name].differ]
        for column in differ[:MAX_LINES]:
            case_time = column.case_times[name]
            claimed, emulated = distinct(float(case_time.claimed or 0), float(case_time.emulated or 0))
            where = bytes_in_words(column.nbytes) if x_is_bytes else ranks_text(column)
            yield Text(f"  {name} {DIFFER} claimed and emulated time differ at {where}: {claimed} and {emulated}", "red")
        if (more := len(differ) - MAX_LINES) > 0:
            yield Text(f"  {name} {DIFFER} they differ in {counted(more, 'more column')}", "red")
    if {case_time.differ for column in columns for case_time in column.case_times.values()} in ({False}, {False, None}):
        yield Text("  all claims agree with the emulated times", "dim")


def _skipped(sweep: Sweep, labels: Mapping[str, str], requested: bool) -> Iterator[Text]:
    """Yield lines on the algorithms whose times would take too many messages to compute, if requested or in any case."""
    skipped: dict[str, dict[str, str]] = {}  # the name of each row, and the one to request: the default has its own
    for name in labels:
        columns = [column for column in sweep.columns if column.case_times[name].skipped]
        if columns:
            most = max(columns, key=lambda column: column.case_times[name].skipped)
            count = most.case_times[name].skipped
            reason = "no formula, and " if most.case_times[name].claimed is None else ""
            reason += f"at least {count:,} messages or blocks on {ranks_text(most)}"
            if requested or count > MOST_SIMULATED:
                reason += f", more than {MOST_SIMULATED:,}: use fewer ranks, another algorithm or another cost model"
            skipped.setdefault(reason, {})[name] = most.case_times[name].chosen or name
    for reason, rows in skipped.items():
        names = ",".join(dict.fromkeys(rows.values()))
        hint = "" if "more than" in reason else f"; to simulate anyway: --algorithms {names}"
        yield Text(f"  {', '.join(rows)} - {reason}{hint}", "dim")


def _choices(sweep: Sweep, x_is_bytes: bool, labels: Mapping[str, str]) -> Iterator[Text]:
    """Yield algorithms and parameters that the labels of the rows do not show: chosen by default, searched, or equal."""
    heads = [bytes_in_words(column.nbytes) if x_is_bytes else ranks_of(column) for column in sweep.columns]
    equal: dict[str, list[str]] = {}
    for name in sweep.names:
        case_times = [column.case_times[name] for column in sweep.columns]
        if name in labels and labels[name].partition(" = ")[0] == name:
            chosen = [_with_parameters(each.chosen, typed_parameters(each.parameters)) for each in case_times]
            if text := _in_columns(chosen, heads):
                yield Text(f"  {name}: {text}", "cyan")
        elif name not in labels and not any(name in label.partition(" = ")[2].split(", ") for label in labels.values()):
            equal.setdefault(_in_columns([each.equals for each in case_times], heads), []).append(name)
    for text, names in equal.items():
        yield Text(f"  without nodes, {' and '.join(names)} {'is' if len(names) == 1 else 'are'} {text}", "cyan")
    parts = {part for name in labels for column in sweep.columns for part in column.case_times[name].parts}
    if parts:
        yield Text(f"  nested collectives ({', '.join(sorted(parts))}) are chosen by the default table", "dim")


def _in_columns(texts: Sequence[str], heads: Sequence[str]) -> str:
    """Return the texts with the heads of their columns, unless all columns have the same text; empty texts are left out.

    >>> heads = ["8 B", "16 B", "32 B", "64 B"]
    >>> _in_columns(["ring", "ring", "ring", "bruck"], heads), _in_columns(["ring"] * 4, heads)
    ('ring (8 B..32 B), bruck (64 B)', 'ring')
    """
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(
        f"{text} ({_runs([i for i, each in enumerate(texts) if each == text], heads)})"
        for text in dict.fromkeys(filter(None, texts))
    )


def _runs(where: Sequence[int], heads: Sequence[str]) -> str:
    """Return the heads of some columns, with `..` between the ends of three or more neighbors.

    >>> _runs([0, 1, 2, 4, 5], ["8 B", "16 B", "32 B", "64 B", "128 B", "256 B"])
    '8 B..32 B, 128 B, 256 B'
    """
    texts: list[str] = []
    for _, run in groupby(enumerate(where), key=lambda pair: pair[1] - pair[0]):
        columns = [heads[column] for _, column in run]
        texts += [f"{columns[0]}..{columns[-1]}"] if len(columns) > 2 else columns
    return ", ".join(texts)


def _row_labels(sweep: Sweep, width: int) -> dict[str, str]:
    """Return the label of each row: names, and if the table remains narrow enough, with parameters and equal algorithms.

    Algorithms that equal others in all columns have no row.
    """
    kept = [name for name in sweep.names if not all(column.case_times[name].equals for column in sweep.columns)]
    labels = {}
    for name in kept:
        texts = {typed_parameters(column.case_times[name].parameters) for column in sweep.columns}
        is_default = any(column.case_times[name].chosen for column in sweep.columns)
        labels[name] = _with_parameters(name, "" if is_default or len(texts) > 1 else texts.pop())
    for name in sweep.names:
        others = {column.case_times[name].equals for column in sweep.columns}
        if name not in labels and len(others) == 1 and (other := others.pop()) in labels:
            labels[other] += f"{', ' if ' = ' in labels[other] else ' = '}{name}"
    wide = max(map(cell_len, labels.values()), default=0) + COLUMN_WIDTH * len(sweep.columns)
    return labels if wide <= width else {name: name for name in kept}


def _with_parameters(name: str, parameters: str) -> str:
    """Return an algorithm's name with parameters in parentheses, after those that it has.

    >>> _with_parameters("chain", "segment_bytes=8k"), _with_parameters("a(k=2)", "b=3"), _with_parameters("", "b=3")
    ('chain(segment_bytes=8k)', 'a(k=2,b=3)', 'b=3')
    """
    if not (name and parameters):
        return name or parameters
    return f"{name[:-1]},{parameters})" if name.endswith(")") else f"{name}({parameters})"


def ranks_of(case: Column | Case) -> str:
    """Return `8`, or `6+2` for two groups."""
    return f"{case.p}+{case.q}" if case.q else str(case.p)


def ranks_text(case: Column | Case) -> str:
    """Return `1 rank`, `8 ranks`, or `6+2 ranks` for two groups."""
    return f"{ranks_of(case)} ranks" if case.q else counted(case.p, "rank")
