"""The tree of the schedules that `fakempi check` ran: where they part, and which of them fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from textwrap import wrap
from typing import Any, Protocol

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fakempi.errors.plurals import counted
from fakempi.view.figure.canvas import scale, styled
from fakempi.view.figure.comparison import CHARACTER, LINE
from fakempi.view.figure.ticks import label_linear_axis

MOST_LEAVES = 120
"""Schedules that are drawn: all that fail up to this number, and the first ones of the others."""
TALLEST = 7.0
"""Inches: the height of the largest tree."""
FAILS, PASSES, MERGED = "fails", "passes", "merged"
LOOKS = {
    FAILS: ("#D55E00", "X", "fails"),
    PASSES: ("#0072B2", "o", "passes"),
    MERGED: ("0.6", "|", "stopped: explored elsewhere"),
}
"""Color, marker and name of each outcome."""


class Summary(Protocol):
    """A run: its mode, the options that it chose, `fails`, `passes` or `merged`, and its schedule as text."""

    @property
    def mode(self) -> str:
        """The mode as a schedule names it."""

    @property
    def decisions(self) -> tuple[int, ...]:
        """The options taken."""

    @property
    def outcome(self) -> str:
        """A key of `LOOKS`."""

    @property
    def schedule(self) -> str:
        """The schedule as text."""


@dataclass
class _Node:
    """A choice; a leaf has an outcome, the end of a run."""

    depth: int
    outcome: str = ""
    label: str = ""
    row: float = 0.0
    fails: bool = False
    children: list[_Node] = field(default_factory=list)
    mode: str = ""


def tree_figure(summaries: Sequence[Summary], title: str, notes: Sequence[str], *, width: float, style: str = "") -> Figure:
    """Return a figure of a tree from left to right: each fork is a choice, each leaf a schedule; failing ones are thick.

    `title` is a text above the tree, and `notes` are texts below it.
    """
    with styled(style):
        shown = _shown(summaries)
        root = _tree(shown)
        leaves = list(_leaves(root))
        line = int((width - 0.2) / (CHARACTER * scale()))
        below = [part for note in notes for part in wrap(note, line)]
        if len(shown) < len(summaries):
            below.append(f"{counted(len(summaries) - len(shown), 'more run', ',')} not drawn")
        head = wrap(title, line)
        high = min(TALLEST, max(0.8, 0.17 * len(leaves))) * scale()
        extra = (0.6 + LINE * (len(head) + len(below) + 2)) * scale()
        figure = Figure(figsize=(width, high + extra), layout="constrained")
        ax = figure.subplots()
        _draw(ax, root, leaves, high)
        ax.set_title("\n".join(head), loc="left")
        if below:
            text = "\n".join(below).replace("$", r"\$")
            figure.supxlabel(text, x=0.01, ha="left", ma="left", fontsize=rcParams["xtick.labelsize"])
        found = {leaf.outcome for leaf in leaves}
        handles = [
            Line2D([], [], color=color, marker=marker, linestyle="", label=name)
            for outcome, (color, marker, name) in LOOKS.items()
            if outcome in found
        ]
        columns = len(handles) if width > 3 * scale() else 1
        figure.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False)
        return figure


def _shown(summaries: Sequence[Summary]) -> list[Summary]:
    """Return the runs to draw: those that fail first, in the order of the search."""
    failing = [each for each in summaries if each.outcome == FAILS][:MOST_LEAVES]
    others = [each for each in summaries if each.outcome != FAILS]
    others.sort(key=lambda each: each.outcome == MERGED)
    chosen = {id(each) for each in [*failing, *others[: MOST_LEAVES - len(failing)]]}
    return [each for each in summaries if id(each) in chosen]


def _tree(summaries: Sequence[Summary]) -> _Node:
    """Return the tree: a branch for each mode, and a node for each choice in which runs differ."""
    root = _Node(-1)
    for mode in dict.fromkeys(each.mode for each in summaries):
        runs = sorted((each for each in summaries if each.mode == mode), key=lambda each: each.decisions)
        root.children.append(_branch(runs, 0))
        root.children[-1].mode = mode
    root.fails = any(child.fails for child in root.children)
    return root


def _branch(runs: Sequence[Summary], depth: int) -> _Node:
    """Return the node at which some runs part that agree in the first choices."""
    while all(len(run.decisions) > depth and run.decisions[depth] == runs[0].decisions[depth] for run in runs):
        depth += 1
    ended = [run for run in runs if len(run.decisions) == depth]
    if ended:  # the same choices: one leaf, which fails if one of the runs does
        worst = min(ended, key=lambda run: list(LOOKS).index(run.outcome))
        leaf = _Node(depth, worst.outcome, worst.schedule, fails=worst.outcome == FAILS)
        if len(ended) == len(runs):
            return leaf
    node = _Node(depth, children=[leaf] if ended else [])
    rest = [run for run in runs if len(run.decisions) > depth]
    for _, same in groupby(rest, key=lambda run: run.decisions[depth]):
        node.children.append(_branch(list(same), depth + 1))
    node.fails = any(child.fails for child in node.children)
    return node


def _leaves(node: _Node) -> Iterator[_Node]:
    """Yield the leaves from top to bottom."""
    if node.outcome:
        yield node
    for child in node.children:
        yield from _leaves(child)


def _place(node: _Node) -> float:
    """Set the row of each choice to the middle of its branches, and return it."""
    if node.children:
        rows = [_place(child) for child in node.children]
        node.row = (min(rows) + max(rows)) / 2
    return node.row


def _draw(ax: Axes, root: _Node, leaves: Sequence[_Node], high: float) -> None:
    for row, leaf in enumerate(leaves):
        leaf.row = row
    _place(root)
    stack = [root]
    thin, thick = 0.7 * scale(), 1.8 * scale()
    while stack:
        node = stack.pop()
        for child in node.children:
            fails = child.fails
            color = LOOKS[FAILS][0] if fails else "0.55"
            how: dict[str, Any] = {"color": color, "linewidth": thick if fails else thin, "zorder": 3 if fails else 2}
            ax.plot([node.depth, node.depth, child.depth], [node.row, child.row, child.row], solid_joinstyle="round", **how)
            if node is root:
                ax.text(child.depth - 0.5, child.row, f"mode {child.mode}", ha="center", va="bottom", fontsize="small")
            stack.append(child)
    for leaf in leaves:
        color, marker, _ = LOOKS[leaf.outcome]
        ax.plot([leaf.depth], [leaf.row], marker=marker, color=color, markersize=4.5 * scale(), zorder=4)
        if leaf.outcome == FAILS and high / max(1, len(leaves)) > 0.1 * scale():
            ax.annotate(
                leaf.label, (leaf.depth, leaf.row), xytext=(5 * scale(), 0), textcoords="offset points", va="center",
                fontsize="small", annotation_clip=False,
            )  # fmt: skip
    deepest = max((leaf.depth for leaf in leaves), default=0)
    ax.set_ylim(len(leaves) - 0.4, -0.6)
    ax.set_xlim(-1.1, max(deepest, 2) + 0.3)
    label_linear_axis(ax.xaxis, 0, max(deepest, 2), whole=True)
    ax.set_yticks([])
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.set_xlabel("choices with several options")
