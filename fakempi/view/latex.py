"""LaTeX tables with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

NAMED = 2
"""Algorithms of equal time that a cell names."""
ABREAST = 3
"""Pairs of columns next to each other; more do not fit on a page, so the others are in a second part below."""
_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "µ": r"\textmu{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "×": r"$\times$", "≠": r"$\neq$", "…": r"\ldots{}",
}  # fmt: skip


class Best(NamedTuple):
    """The content of a cell: the fastest algorithms, and their time with its unit."""

    names: Sequence[str]
    time: str


def best_table(
    caption: str,
    rows: Sequence[str],
    heads: Sequence[str],
    cells: Sequence[Sequence[Best | None]],
    *,
    row_title: str,
    head_title: str,
) -> str:
    """Return a table of the fastest algorithms; a cell has a column for the names and one for the time.

    Parameters
    ----------
    rows, heads
        Labels of rows and of columns.
    cells
        A list for each row; None if no algorithm has a time.
    row_title, head_title
        The meaning of the labels: `ranks`, or `size of a block`.
    """
    lines = [
        "% In the preamble: \\usepackage{booktabs}",
        r"\begin{table*}" if len(heads) > 1 else r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escaped(caption)}.}}",
    ]
    for first in range(0, len(heads), ABREAST):
        part = slice(first, first + ABREAST)
        lines += [r"  \par\medskip"] if first else []
        lines += _tabular(rows, heads[part], [row[part] for row in cells], row_title, head_title)
    if any(cell is not None and len(cell.names) > NAMED for row in cells for cell in row):
        lines.append(r"  \par\smallskip\footnotesize{$+n$: $n$ more algorithms have the same time.}")
    return "\n".join([*lines, r"\end{table*}" if len(heads) > 1 else r"\end{table}"]) + "\n"


def _tabular(
    rows: Sequence[str], heads: Sequence[str], cells: Sequence[Sequence[Best | None]], row_title: str, head_title: str
) -> list[str]:
    """Return the lines of a table of at most `ABREAST` pairs of columns."""
    number = len(heads)
    lines = [rf"  \begin{{tabular}}{{@{{}}r{'lr' * number}@{{}}}}", r"    \toprule"]
    side = "c" if number > 1 else "l"
    titles = [rf"\multicolumn{{2}}{{{side}}}{{{_unbroken(head)}}}" if head else "algorithm & time" for head in heads]
    if head_title:
        lines.append(rf"    & \multicolumn{{{2 * number}}}{{c}}{{{escaped(head_title)}}} \\")
        lines.append(rf"    \cmidrule(l){{2-{2 * number + 1}}}")
    lines.append(rf"    {escaped(row_title)} & {' & '.join(titles)} \\")
    lines.append(r"    \midrule")
    for label, row in zip(rows, cells, strict=True):
        lines.append(rf"    {_unbroken(label)} & {' & '.join(map(_cell, row))} \\")
    return [*lines, r"    \bottomrule", r"  \end{tabular}"]


def escaped(text: str) -> str:
    """Return a text for LaTeX.

    >>> escaped("two_level, 100 %")
    'two\\\\_level, 100 \\\\%'
    """
    return "".join(_ESCAPES.get(character, character) for character in text)


def _unbroken(text: str) -> str:
    """Return a number with its unit, which LaTeX keeps in one line."""
    return escaped(text).replace(" ", "~")


def _cell(cell: Best | None) -> str:
    if cell is None:
        return "-- &"
    more = f" $+{len(cell.names) - NAMED}$" if len(cell.names) > NAMED else ""
    return f"{escaped(', '.join(cell.names[:NAMED]))}{more} & {_unbroken(cell.time)}"
