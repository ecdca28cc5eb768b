"""The LaTeX table of `fakempi compare --latex`: the fastest algorithms over ranks and bytes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from collectives.trials.cases import UNSIZED
from fakempi.apps.cli.comparison.tables import by_distribution, size_label, title_of
from fakempi.apps.compare.sweep import Column, Sweep
from fakempi.view.latex import ABREAST, Best, best_table
from fakempi.view.numbers import bytes_in_words, seconds


def latex(sweeps: Sequence[Sweep], options: Namespace) -> str:
    """Return a table for each distribution: the fastest algorithm and its time for each size and number of ranks."""
    return "\n".join(_table(group, options) for group in by_distribution(sweeps))


def _table(sweeps: Sequence[Sweep], options: Namespace) -> str:
    columns = [column for sweep in sweeps for column in sweep.columns]
    found = {((column.p, column.q), column.nbytes): column for column in columns}
    ranks = sorted({pair for pair, _ in found}, key=lambda pair: (sum(pair), pair))
    sizes = sorted({nbytes for _, nbytes in found})
    has_sizes = sweeps[0].operation not in UNSIZED
    size_names = [bytes_in_words(nbytes) if has_sizes else "" for nbytes in sizes]
    rank_names = [f"{p}+{q}" if q else f"{p:,}" for p, q in ranks]
    cells = [[_best(found.get((pair, nbytes))) for pair in ranks] for nbytes in sizes]
    rows, heads, row_title, head_title = size_names, rank_names, size_label(sweeps[0].operation), "ranks"
    if not has_sizes or len(ranks) > max(ABREAST, len(sizes)):  # long tables rather than wide ones
        cells = [list(column) for column in zip(*cells, strict=True)]
        rows, heads, row_title, head_title = rank_names, size_names, "ranks", row_title if has_sizes else ""
    caption = title_of(sweeps[0], "the fastest algorithms and their modeled times", options)
    return best_table(caption, rows, heads, cells, row_title=row_title, head_title=head_title)


def _best(column: Column | None) -> Best | None:
    """Return the fastest algorithms of a column; those that are another algorithm on this machine are left out."""
    if column is None or not column.times:
        return None
    names = [name for name in column.best if not column.case_times[name].equals]
    own = [f"{name}: {chosen}" if (chosen := column.case_times[name].chosen) else name for name in names]
    return Best(own, seconds(float(column.times[names[0]])))
