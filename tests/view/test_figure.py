"""Figures with matplotlib: what is in the files, and that equal numbers give equal files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.view.comparison import Chart

pytest.importorskip("matplotlib", reason="there is no matplotlib: pip install 'fakempi[plot]'")

from fakempi.view.figure.canvas import COLUMN, LINES, MARKERS, PAGE, look, write
from fakempi.view.figure.comparison import comparison_figure, shared_title
from fakempi.view.figure.run import MOST_SHAPES, run_figure

SIZES = [512, 1024, 2048, 1 << 20]
TIMES: dict[str, list[float | None]] = {
    "ring": [1e-6, 2e-6, 4e-6, 9e-4],
    "also_ring": [1e-6, 2e-6, 4e-6, 9e-4],
    "bruck": [3e-6, None, 3e-6, 8e-4],
}
BOUND = [1e-6, 1e-6, 2e-6, 7e-4]


def texts(path: Path) -> list[str]:
    """The texts of an SVG file, in order."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def sizes_chart() -> Chart:
    """Three algorithms over four sizes."""
    return Chart("bcast, 8 ranks", SIZES, TIMES, BOUND, True, "size of the message")


def ring(comm: fakempi.MPI.Intracomm) -> None:
    """A message to the next rank after some work."""
    fakempi.compute(1e-6)
    to = (comm.rank + 1) % comm.size
    comm.Sendrecv(fakempi.phantom(800), to, 0, fakempi.phantom(800), (comm.rank - 1) % comm.size, 0)


def test_a_comparison_has_units_and_every_algorithm_as_text(tmp_path: Path) -> None:
    """Sizes in binary units, one unit of time, the lower bound, and the sentence about curves that coincide."""
    write(comparison_figure([sizes_chart()], width=COLUMN), tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    assert {"512 B", "1 KiB", "2 KiB", "1 MiB", "size of the message", "modeled time (µs)", "bcast, 8 ranks"} <= set(found)
    legend = ["=: curves coincide (within 1 %)", "ring = also_ring", "bruck", "lower bound"]
    assert [each for each in found if each in legend] == legend


@pytest.mark.slow
def test_a_figure_with_few_of_many_curves_has_the_others_in_gray(tmp_path: Path) -> None:
    """The legend has all of them, and a note has the meaning of gray."""
    write(comparison_figure([sizes_chart()._replace(most=1)], width=COLUMN), tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    assert [each for each in found if each in ("ring = also_ring", *TIMES, "lower bound")] == [
        "ring = also_ring", "bruck", "lower bound"
    ]
    slow: dict[str, Any] = {**TIMES, "slow": [1.0, 1.0, 1.0, 1.0]}
    write(comparison_figure([sizes_chart()._replace(times=slow, most=2)], width=COLUMN), tmp_path / "b.svg")
    found = texts(tmp_path / "b.svg")
    assert {"slow", "thick: the fastest at some point; gray: other algorithms"} <= {" ".join(found), *found}


@pytest.mark.slow
def test_panels_have_the_same_curves_and_say_once_which_coincide(tmp_path: Path) -> None:
    """In the legend if curves coincide in all panels, else with the panel; the panels' titles have what differs."""
    one = sizes_chart()._replace(title="bcast, 8 ranks, hockney:t_s=1,t_w=2", most=2)
    slow: list[float | None] = [1.0, 1.0, 1.0, 1.0]
    first = one._replace(times={**TIMES, "slow": slow, "slower": slow})
    second = first._replace(title="bcast, 16 ranks, hockney:t_s=1,t_w=2", times={**first.times, "bruck": TIMES["ring"]})
    write(comparison_figure([first, second], width=PAGE), tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    assert [each for each in found if "bcast" in each or each.endswith(" ranks")] == [
        "8 ranks", "16 ranks", "bcast, hockney:t_s=1,t_w=2"
    ]
    assert [each for each in found if "coincide" in each or "drawn" in each] == [
        "16 ranks: curves coincide (within 1 %): ring, bruck",
        "=: curves coincide (within 1 %)",
    ]
    assert [each for each in found if each.startswith(("ring", "also", "bruck", "slow"))] == [
        "ring = also_ring", "bruck", "slow = slower"
    ]


def test_equal_titles_stay_as_they_are() -> None:
    """One title, and titles without a difference between two common parts."""
    assert shared_title(["bcast, 8 ranks, hockney"]) == ("", ["bcast, 8 ranks, hockney"])
    assert shared_title(["bcast, 1 KiB", "bcast, 1 KiB"]) == ("", ["bcast, 1 KiB", "bcast, 1 KiB"])
    assert shared_title(["a, 1, x, x", "a, 1, y, x"]) == ("a, 1, x", ["x", "y"])
    assert shared_title(["a, b", "a, c, b"]) == ("", ["a, b", "a, c, b"])


def test_ranks_are_counted_without_units(tmp_path: Path) -> None:
    """1,024 ranks, and several tables share one legend."""
    chart = Chart(
        "bcast", [512, 1024], {"ring": [1.0, 2.0], "ring, measured": [2.0, 3.0]}, [None, None], False, "number of ranks"
    )
    write(comparison_figure([chart, chart._replace(title="other")], width=PAGE), tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    assert {"512", "1,024", "time (s)"} <= set(found)
    assert (found.count("ring"), found.count("number of ranks"), found.count("lower bound")) == (1, 2, 0)


def test_measured_times_are_drawn_without_a_modeled_curve_of_the_algorithm(tmp_path: Path) -> None:
    """Its modeled curve coincides with another one (also_ring), or has no points (idle, zero).

    The measured curves have different looks, and the look of the modeled curve if there is one.
    """
    modeled: dict[str, list[float | None]] = {**TIMES, "idle": [None] * 4, "zero": [0.0] * 4}
    measured = {f"{name}, measured": [1e-5 * n, 2e-5 * n, 3e-5 * n, 4e-5 * n] for n, name in enumerate(modeled, 1)}
    figure = comparison_figure([sizes_chart()._replace(times={**modeled, **measured})], width=COLUMN)
    write(figure, tmp_path / "a.svg")
    legend = ["ring = also_ring", "bruck", *measured, "lower bound"]
    assert [each for each in texts(tmp_path / "a.svg") if each in legend] == legend
    looks = {str(line.get_label()): (line.get_color(), line.get_marker()) for line in figure.axes[0].lines}
    assert looks["ring"] == looks["ring, measured"]
    assert looks["bruck"] == looks["bruck, measured"]
    assert len({looks[name] for name in measured}) == len(measured)


@pytest.mark.slow
def test_the_same_numbers_give_the_same_file(tmp_path: Path) -> None:
    """Byte for byte; the style changes it, and the suffix is the format."""
    for name in ("a.svg", "b.svg", "a.pdf", "b.pdf"):
        write(comparison_figure([sizes_chart()], width=COLUMN), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
    write(comparison_figure([sizes_chart()], width=COLUMN, style="ggplot"), tmp_path / "c.svg", "ggplot")
    assert (tmp_path / "c.svg").read_bytes() != (tmp_path / "a.svg").read_bytes()
    write(comparison_figure([sizes_chart()], width=COLUMN), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_curves_differ_without_colors() -> None:
    """Marker, line and fill are different for as many curves as an operation has algorithms."""
    looks = [look(index) for index in range(len(MARKERS) * len(LINES))]
    assert len({(one["marker"], one["linestyle"]) for one in looks}) == len(looks)


def test_the_width_is_the_one_requested() -> None:
    """In inches."""
    assert comparison_figure([sizes_chart()], width=5.5).get_figwidth() == 5.5


def test_a_run_has_axes_with_units_and_a_legend(tmp_path: Path) -> None:
    """Timeline, matrix and wait states below each other."""
    trace = fakempi.run(ring, 4, trace=True).trace
    assert trace is not None
    write(run_figure([trace], ["timeline", "matrix", "waits"], width=COLUMN), tmp_path / "a.svg")
    found = set(texts(tmp_path / "a.svg"))
    assert {"modeled time (µs)", "rank", "communicating", "idle", "computing", "message"} <= found
    assert {"sender (rank)", "receiver (rank)", "data (B)", "share of the time of all ranks (%)"} <= found


@pytest.mark.slow
def test_many_ranks_are_an_image_of_bounded_size(tmp_path: Path) -> None:
    """Rows are groups of ranks, and single messages are not drawn."""
    trace = fakempi.run(ring, 100, trace=True).trace
    small_trace = fakempi.run(ring, MOST_SHAPES, trace=True).trace
    assert trace is not None
    assert small_trace is not None
    write(run_figure([trace, small_trace], [], width=COLUMN, titles=["many", "few"]), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text.count("<image") == 1
    assert {"many", "few", "0-1"} <= set(texts(tmp_path / "a.svg"))
    assert len(text) < 400_000
