"""The figure of `fakempi compare --figure`: curves, or a map of the fastest algorithms."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fakempi.apps.cli.comparison.tables import by_distribution, ranks_of, size_label, title_of
from fakempi.apps.cli.extras import check_figure, save_figure
from fakempi.apps.compare.sweep import DEFAULT, Contender, Sweep, contenders
from fakempi.apps.compare.timing import CaseTime
from fakempi.core import options as parse
from fakempi.errors import TraceError
from fakempi.view.comparison import Chart
from fakempi.view.numbers import bytes_in_words

if TYPE_CHECKING:  # matplotlib is optional, and slow to import
    from fakempi.view.figure.heatmap import Map

Columns = Sequence[tuple[Sequence[tuple[int, int]], Sequence[int]]]
"""The numbers of ranks and the sizes of each table."""


def check_options(options: Namespace, tables: Columns) -> float:
    """Return the width of the figure in inches, or 0 without a figure; raises an error before anything is timed."""
    if not options.figure:
        for option, given in (
            ("--layout heatmap", options.layout != "curves"),
            (f"--speedup-over {options.speedup_over}", options.speedup_over),
            ("--ratio-panel", options.ratio_panel),
        ):
            if given:
                raise parse.usage_error(f"{option} is an option of figures: add --figure FILE.")
        return 0.0
    heatmap = options.layout == "heatmap"
    if heatmap and options.ratio_panel:
        raise parse.usage_error("--ratio-panel adds a panel to curves: omit it, or omit --layout heatmap.")
    if heatmap and options.counts:
        raise parse.usage_error("--layout heatmap needs several numbers of ranks or sizes: omit --counts.")
    columns = [len({*map(sum, ranks)}) * len({*sizes}) for ranks, sizes in tables]
    if (sum(columns) if heatmap else max(columns, default=0)) < 2:
        what = "--layout heatmap draws a map" if heatmap else "--figure draws curves"
        raise parse.usage_error(f"{what}: give several sizes or numbers of ranks, such as --bytes 8..1M or -n 2..64.")
    return check_figure(options)


def with_base(name: str, among: list[Contender], operation: str, kind: str, cost: str) -> str:
    """Return the label of the algorithm over which speedups are drawn; it is added to the comparison if it is missing."""
    labels = {each.label for each in among}
    if name in labels:
        return name
    if name == DEFAULT.label:
        among.append(DEFAULT)
        return name
    requested = parse.algorithm_names(name)
    if len(requested) != 1:
        raise parse.usage_error(f"--speedup-over {name}: give one algorithm.")
    [base] = contenders(operation, kind, requested, parse.cost_model(cost).linear)
    if base.label not in labels:
        among.append(base)
    return base.label


def draw(charts: Sequence[Chart], sweeps: Sequence[Sweep], options: Namespace, width: float) -> None:
    """Write the figure."""
    from fakempi.view.figure.comparison import comparison_figure
    from fakempi.view.figure.heatmap import heatmap_figure

    base, style = options.speedup_over, options.figure_style
    try:
        if options.layout == "heatmap":
            maps = [_map(group, options) for group in by_distribution(sweeps)]
            figure = heatmap_figure(maps, width=width, style=style, speedup_over=base)
        else:
            panels = [chart for chart in charts if chart.plottable()]
            if not panels:
                raise parse.usage_error(
                    "--figure: there is nothing to draw: no table has times above 0 at two or more sizes or "
                    "numbers of ranks."
                )
            figure = comparison_figure(panels, width=width, style=style, speedup_over=base, ratios=options.ratio_panel)
    except TraceError as error:
        raise parse.usage_error(f"--figure: {error}") from None
    save_figure(figure, options)


def _map(sweeps: Sequence[Sweep], options: Namespace) -> Map:
    """Return the contents of a map, from the columns of all tables of a distribution."""
    from fakempi.view.figure.heatmap import Map

    columns = [column for sweep in sweeps for column in sweep.columns]
    ranks = sorted({(column.p, column.q) for column in columns}, key=lambda pair: (sum(pair), pair))
    sizes = sorted({column.nbytes for column in columns})
    labels = {(column.p, column.q): f"{column.p:,}" if not column.q else ranks_of(column) for column in columns}
    cells: Mapping[tuple[int, int], Mapping[str, float]] = {
        (ranks.index((column.p, column.q)), sizes.index(column.nbytes)): _own_times(column.case_times) for column in columns
    }
    if not any(cells.values()):
        raise TraceError("there is nothing to draw: no algorithm has a time above 0.")
    return Map(
        title_of(sweeps[0], "the fastest algorithm", options),
        [labels[pair] for pair in ranks],
        [bytes_in_words(nbytes) for nbytes in sizes],
        cells,
        size_label(sweeps[0].operation),
    )


def _own_times(case_times: Mapping[str, CaseTime]) -> dict[str, float]:
    """Return the times of a column, without algorithms that are another one on this machine."""
    return {name: float(each.seconds) for name, each in case_times.items() if each.seconds and not each.equals}
