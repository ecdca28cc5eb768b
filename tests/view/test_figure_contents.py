"""The contents of figures: every algorithm, ticks at every range, winners, arrows, collective calls, blocked ranks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="there is no matplotlib: pip install 'fakempi[plot]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

import fakempi
from fakempi.errors import TraceError
from fakempi.view.figure.canvas import COLUMN, PAGE, SLIDE, styled, write
from fakempi.view.figure.collectives import collective_spans
from fakempi.view.figure.comparison import comparison_figure
from fakempi.view.figure.heatmap import heatmap_figure
from fakempi.view.figure.run import run_figure
from fakempi.view.figure.schedule_tree import MOST_LEAVES, tree_figure
from fakempi.view.figure.ticks import integer_limits, label_number, major_ticks, minor_ticks
from tests.view.figures import Run, chart, deadlock, grid, runs
from tests.view.runs import work

RANGES = [(1, 1e6), (1e-3, 1e15), (2.8, 3.4), (95, 105), (0.9999, 1.0002), (1.5, 60), (5, 5.001), (30, 200), (0.2, 0.9)]
NUMBERS = [[8, 1024], [4, 5], [1, 2], [1, 1 << 30], [1000, 1001], [1000, 1001, 1 << 20], [3], list(range(2, 65)), [7, 9, 11]]


def legend(figure: Figure) -> list[str]:
    """The entries of the legend."""
    return [text.get_text().replace("\n", " ") for each in figure.legends for text in each.get_texts()]


def arrows(figure: Figure) -> list[FancyArrowPatch]:
    """The arrows of all axes."""
    return [patch for ax in figure.axes for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_times_have_three_labels_and_minor_ticks_at_every_range(low: float, high: float) -> None:
    """All are within the limits, and no two labels are equal."""
    major = major_ticks(low, high, 10)
    assert 3 <= len(major) <= 9
    assert len({label_number(tick) for tick in major}) == len(major)
    assert low * 0.999 <= major[0] < major[-1] <= high * 1.001
    assert minor_ticks(low, high, 10, major)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_sizes_have_three_labels_of_whole_numbers(numbers: list[float]) -> None:
    """Also if there are only two sizes next to each other."""
    low, high = integer_limits(numbers)
    major = major_ticks(low, high, 2, numbers)
    assert 3 <= len(major) <= 9
    assert all(tick == round(tick) and low <= tick <= high for tick in major)


def test_few_sizes_are_all_labeled() -> None:
    """They are what was compared."""
    assert major_ticks(4, 3e6, 2, [8, 1024, 65536, 1 << 20]) == [8, 1024, 65536, 1 << 20]


@pytest.mark.parametrize("most", [None, 1, 2])
def test_every_algorithm_is_in_the_legend(most: int | None) -> None:
    """In gray if it is not among the curves of a plot, and by name if its curve coincides with another or has no time."""
    figure = comparison_figure([chart(most)], width=PAGE)
    names = {name for entry in legend(figure) for name in re.split(r" = | \(", entry)}
    assert {"binomial", "bine", "two_level", "chain", "linear", "odd", "lower bound"} <= names
    colors = {str(line.get_label()): line.get_color() for line in figure.axes[0].lines}
    assert (colors["linear"] == "0.62") == (most is not None)
    assert "binomial = bine = two_level" in legend(figure)


def test_the_fastest_curves_are_thick_and_their_names_bold() -> None:
    """A curve that is the fastest at some size; a single curve is not."""
    figure = comparison_figure([chart()], width=PAGE)
    widths = {str(line.get_label()): line.get_linewidth() for line in figure.axes[0].lines}
    assert widths["binomial"] == widths["chain"] > widths["linear"]
    bold = [text.get_text() for text in figure.legends[0].get_texts() if text.get_fontweight() == "bold"]
    assert bold == ["binomial = bine = two_level", "chain"]
    alone = comparison_figure([chart()._replace(times={"linear": chart().times["linear"]}, further={})], width=PAGE)
    assert not [text for text in alone.legends[0].get_texts() if text.get_fontweight() == "bold"]


def test_speedups_are_quotients_of_times() -> None:
    """Over an algorithm whose curve coincides with another one, too."""
    figure = comparison_figure([chart()], width=COLUMN, speedup_over="bine")
    lines = {str(line.get_label()): np.asarray(line.get_ydata(), float) for line in figure.axes[0].lines}
    times: Any = chart().times
    assert np.allclose(lines["linear"], np.array(times["bine"]) / np.array(times["linear"]))
    assert np.allclose(lines["binomial"], 1)
    assert figure.axes[0].get_ylabel() == "speedup over bine"
    with pytest.raises(TraceError, match="no speedup over odd"):
        comparison_figure([chart()], width=COLUMN, speedup_over="odd")


def test_a_panel_of_ratios_is_relative_to_the_fastest() -> None:
    """The least ratio at each size is 1."""
    figure = comparison_figure([chart()], width=COLUMN, ratios=True)
    upper, lower = figure.axes
    least = np.min([np.asarray(line.get_ydata(), float) for line in lower.lines], axis=0)
    assert np.allclose(least, 1)
    assert lower.get_ylabel() == "time /\nfastest"
    assert len(upper.lines) == len(lower.lines) + 1  # the lower bound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "style"), [(COLUMN, "paper"), (PAGE, ""), (SLIDE, "slides"), (2.5, "slides"), (5.0, "ggplot")]
)
def test_the_legend_is_within_the_width(width: float, style: str) -> None:
    """Of comparisons and of runs, in every style."""
    for figure in (
        comparison_figure([chart(), chart()], width=width, style=style),
        run_figure([work()], ["timeline"], width=max(width, 3.5), style=style),
    ):
        with styled(style):
            canvas: Any = FigureCanvasAgg(figure)
            canvas.draw()
            box = figure.legends[0].get_window_extent(canvas.get_renderer())
        assert box.x0 >= -1
        assert box.x1 <= figure.bbox.x1 + 1


def test_slides_have_large_type(tmp_path: Path) -> None:
    """`paper` is the default style."""
    sizes = [
        comparison_figure([chart()], width=SLIDE, style=style).axes[0].xaxis.label.get_fontsize()
        for style in ("", "paper", "slides")
    ]
    assert sizes == [8, 8, 18]
    for name, style in (("a", ""), ("b", "paper")):
        write(comparison_figure([chart()], width=COLUMN, style=style), tmp_path / f"{name}.svg", style)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("style", ["paper", "slides"])
def test_text_stays_text(tmp_path: Path, style: str) -> None:
    """Text elements in SVG, fonts of type 42 in PDF."""
    figure = comparison_figure([chart()], width=PAGE, style=style)
    write(figure, tmp_path / "a.svg", style)
    write(figure, tmp_path / "a.pdf", style)
    found = re.findall(r"<text[^>]*>([^<]*)</text>", (tmp_path / "a.svg").read_text(encoding="utf-8"))
    assert {"bcast, 16 ranks", "linear", "modeled time (µs)"} <= set(found)
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert b"/CIDFontType2" in pdf
    assert b"/Type3" not in pdf


def test_a_heatmap_has_the_winner_of_each_cell() -> None:
    """Of equal algorithms the one of most cells; speedups are next to the letters; an empty cell has no text."""
    figure = heatmap_figure([grid()], width=COLUMN, speedup_over="slow")
    cells = [text.get_text() for text in figure.axes[0].texts]
    assert len(cells) == 11
    assert cells[:4] == ["B 9.00", "A", "A 4.50", "A 6.00"]
    assert legend(figure) == ["A ring", "B tree"]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["4", "8", "16"]


def ring(comm: Any, turns: int) -> None:
    """Messages around a ring."""
    for _ in range(turns):
        comm.Sendrecv(
            fakempi.phantom(800), (comm.rank + 1) % comm.size, 0, fakempi.phantom(800), (comm.rank - 1) % comm.size, 0
        )


@pytest.mark.parametrize(
    ("ranks", "turns", "heads", "drawn"), [(4, 2, True, True), (16, 14, False, True), (16, 120, False, False)]
)
def test_messages_have_heads_if_there_is_room(ranks: int, turns: int, heads: bool, drawn: bool) -> None:
    """Few messages are arrows, more are lines, and messages that would cover the rows are counted in the legend."""
    trace = fakempi.run(ring, ranks, turns, trace=True).trace
    assert trace is not None
    figure = run_figure([trace], ["timeline"], width=COLUMN)
    lines = [each for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    assert bool(arrows(figure)) == heads
    assert bool(lines or arrows(figure)) == drawn
    assert (f"{ranks * turns:,} messages not drawn" in legend(figure)) == (not drawn)


def test_bars_have_exact_ends() -> None:
    """A rank's interval is one rectangle, from its first to its last moment."""

    def program(comm: Any) -> None:
        fakempi.compute(1.23e-5)
        comm.Barrier()

    trace = fakempi.run(program, 4, trace=True).trace
    assert trace is not None
    figure = run_figure([trace], ["timeline"], width=COLUMN)
    ends = {
        round(float(x), 9)
        for each in figure.axes[0].collections
        if not isinstance(each, LineCollection)
        for path in each.get_paths()
        for x in np.asarray(path.vertices)[:, 0]
    }
    assert {0.0, 12.3} <= ends
    assert len(ends) <= 6


def test_collective_calls_are_labeled() -> None:
    """With the time from the first rank's begin to the last rank's end; calls of one name in a row are one label."""
    trace = work()
    spans = collective_spans(trace, range(8))
    assert [span.name for span in spans] == [*["allreduce"] * 3, "bcast", "barrier"]
    rows = trace.region_rows
    mine = rows[[trace.names[name] == "bcast" for name in rows["name"]]]
    assert (spans[3].start, spans[3].end) == (mine["start"].min(), mine["end"].max())
    texts = [text.get_text() for text in run_figure([trace], ["timeline"], width=PAGE).axes[0].texts]
    assert (texts.count("allreduce"), texts.count("bcast")) == (3, 1)


def test_adjacent_calls_of_one_collective_have_one_label() -> None:
    """With their number."""

    def program(comm: Any) -> None:
        for _ in range(5):
            comm.Barrier()
        comm.Bcast(fakempi.phantom(100))

    trace = fakempi.run(program, 4, trace=True).trace
    assert trace is not None
    assert [(span.name, span.calls) for span in collective_spans(trace, range(4))] == [("barrier", 5), ("bcast", 1)]
    assert "barrier ×5" in [text.get_text() for text in run_figure([trace], ["timeline"], width=PAGE).axes[0].texts]


@pytest.mark.parametrize("ranks", [3, 6, 40])
def test_a_deadlock_has_blocked_ranks_and_their_cycle(ranks: int) -> None:
    """An arrow from each rank to the one it waits for."""
    figure = run_figure([deadlock(ranks)], ["timeline"], width=COLUMN)
    assert {"blocked", "cycle of waits"} <= set(legend(figure))
    black = [arrow for arrow in arrows(figure) if arrow.get_linewidth() > 1]
    places: list[Any] = [vars(arrow)["_posA_posB"] for arrow in black]
    ends = sorted((round(start[1]), round(end[1])) for start, end in places)
    assert ends == sorted((rank, (rank + 1) % ranks) for rank in range(ranks))


def test_a_deadlock_without_a_cycle_has_its_waits() -> None:
    """Two ranks that wait for a message of a rank that ended."""

    def program(comm: Any) -> None:
        fakempi.compute(1e-5)
        if comm.rank:
            comm.recv(source=0)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(program, 3, trace=True)
    trace: Any = caught.value.trace
    figure = run_figure([trace], ["timeline"], width=COLUMN)
    assert "waits for" in legend(figure)
    assert "cycle of waits" not in legend(figure)
    assert len(arrows(figure)) == 2


def test_a_tree_has_a_leaf_for_each_schedule() -> None:
    """Failing schedules are thick and labeled with the text that replays them."""
    figure = tree_figure(runs(), "2 of 6 schedules fail", ["a reason"], width=COLUMN)
    ax = figure.axes[0]
    leaves = [line for line in ax.lines if len(np.asarray(line.get_xdata())) == 1]
    assert len(leaves) == 6
    assert {"z:0.1", "z:2", "mode z", "mode i"} <= {text.get_text() for text in ax.texts}
    assert legend(figure) == ["fails", "passes", "stopped: explored elsewhere"]
    widths = {line.get_linewidth() for line in ax.lines if len(np.asarray(line.get_xdata())) > 1}
    assert len(widths) == 2


def test_a_large_tree_keeps_what_fails() -> None:
    """The number of runs that are not drawn is below the tree; long schedules need no recursion."""
    many = [Run("z", (0,) * 5000 + (index,), "passes", "z") for index in range(300)]
    failing = Run("z", (1,) * 3000, "fails", "z:1x3000")
    figure = tree_figure([*many, failing], "1 of 301 schedules fails", [], width=COLUMN)
    ax = figure.axes[0]
    assert len([line for line in ax.lines if len(np.asarray(line.get_xdata())) == 1]) == MOST_LEAVES
    assert legend(figure) == ["fails", "passes"]
    assert f"{301 - MOST_LEAVES} more runs not drawn" in vars(figure)["_supxlabel"].get_text()
