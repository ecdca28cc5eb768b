"""`--figure` of `fakempi compare`, `view` and `calibrate`: files, and usage errors before anything is computed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import fakempi
from fakempi.apps.cli import main
from tests.cli.test_running import Capture
from tests.helpers.packages import needs

COMPARE = ["compare", "bcast", "-n", "4,8", "--bytes", "8", "--algorithms", "binomial,chain", "--no-plot"]


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """The path of a trace of four ranks."""
    recorded = fakempi.run(lambda comm: comm.Barrier(), 4, trace=True).trace
    assert recorded is not None
    recorded.save(tmp_path / "t.json")
    return str(tmp_path / "t.json")


def needs_matplotlib() -> None:
    needs("matplotlib")


@pytest.mark.sample
@pytest.mark.slow
def test_compare_writes_a_figure_next_to_its_table(tmp_path: Path, capsys: Capture) -> None:
    """Also if the table is replaced by CSV on standard output."""
    needs_matplotlib()
    path = tmp_path / "a.svg"
    assert main([*COMPARE, "--figure", str(path), "--figure-width", "two"]) == 0
    assert "binomial" in path.read_text(encoding="utf-8")
    assert "lower bound" in capsys.readouterr().out
    assert main([*COMPARE, "--figure", str(tmp_path / "b.pdf"), "--figure-width", "9cm", "--csv", "-"]) == 0
    assert (tmp_path / "b.pdf").read_bytes().startswith(b"%PDF")
    assert capsys.readouterr().out.startswith("operation,kind")


@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        (["bcast"], ["binomial = bine", "binomial, measured", "bine, measured"]),
        (["bcast", "--cost", "zero_cost"], ["binomial, measured", "bine, measured"]),
        (["allgather"], ["ring", "ring, measured", "recursive_doubling, measured"]),
    ],
    ids=["equal modeled times", "modeled times of zero", "an algorithm that rejects the cases"],
)
def test_a_figure_next_to_measurements_has_every_measured_curve(tmp_path: Path, words: list[str], drawn: list[str]) -> None:
    """Also of an algorithm without a modeled curve."""
    needs_matplotlib()
    names = {"bcast": ["binomial", "bine"], "allgather": ["ring", "recursive_doubling"]}[words[0]]
    rows = [f"{words[0]},{name},6,{size},{size * i}e-6" for size in (64, 1024) for i, name in enumerate(names, 1)]
    (tmp_path / "m.csv").write_text("\n".join(["operation,algorithm,ranks,bytes,seconds", *rows]), encoding="utf-8")
    paths = ["--beside", str(tmp_path / "m.csv"), "--figure", str(tmp_path / "a.svg")]
    assert main(["compare", *words, *paths, "--no-plot"]) == 0
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", (tmp_path / "a.svg").read_text(encoding="utf-8"))
    assert [each for each in texts if each.startswith(tuple(names))] == drawn


@pytest.mark.slow
def test_view_writes_a_figure_of_one_run_or_two(tmp_path: Path, trace: str, capsys: Capture) -> None:
    """Nothing is printed; two runs have their names above."""
    needs_matplotlib()
    assert main(["view", trace, "--figure", str(tmp_path / "a.png"), "--what", "timeline,matrix"]) == 0
    assert main(["view", trace, trace, "--figure", str(tmp_path / "b.svg"), "--window", "0..1us"]) == 0
    assert "t.json" in (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""


@pytest.fixture
def pairs(tmp_path: Path) -> list[str]:
    """The options of a calibration of two levels; both have a message without data, and one has a jump."""
    rows = ["level,bytes,seconds"]
    rows += [f"node,{n},{1e-6 + n * 1e-9 + 1e-6 * (n > 64)}" for n in (0, 1, 8, 64, 512, 4096, 32768)]
    rows += [f"network,{n},{5e-6 + n * 2e-9}" for n in (0, 1, 8, 64, 512)]
    (tmp_path / "pairs.csv").write_text("\n".join(rows), encoding="utf-8")
    return ["calibrate", "--from", str(tmp_path / "pairs.csv"), "-o", str(tmp_path / "machine.toml")]


@pytest.mark.slow
def test_calibrate_draws_fit_and_errors_of_each_level(tmp_path: Path, pairs: list[str], capsys: Capture) -> None:
    """Text stays text; the same numbers give the same file."""
    needs_matplotlib()
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    assert main([*pairs, "--figure", str(first), "--figure-width", "two"]) == 0
    assert main([*pairs, "--figure", str(second), "--figure-width", "two"]) == 0
    text = first.read_text(encoding="utf-8")
    for word in (">level node: error ", ">level network: error ", ">measured<", ">fitted<", ">error at held-out sizes<"):
        assert word in text
    assert first.read_bytes() == second.read_bytes()
    assert "held-out error" in capsys.readouterr().out


def test_the_figure_has_a_curve_for_each_piece_and_a_point_for_each_held_out_size() -> None:
    """Two axes per level; unused axes are not drawn."""
    needs_matplotlib()
    from fakempi.view.figure.calibration import FitPanel, calibration_figure

    pieces = [[(1, 1.0), (8, 2.0)], [(9, 3.0), (64, 9.0)]]
    first = FitPanel("level node", [(1, 1.0), (8, 2.0), (64, 9.0)], pieces, [(8, 0.5)])
    axes = calibration_figure([first, first, first], width=7.16).axes
    assert [len(ax.lines) for ax in axes if ax.axison] == [3, 3, 2, 2, 3, 2]
    shown = [ax for ax in axes if ax.axison]
    assert np.array_equal(shown[0].lines[0].get_xdata(), [1, 8, 64])
    assert np.array_equal(shown[2].lines[1].get_ydata(), [50.0])


@pytest.mark.parametrize(
    "words", [["--figure", "a.gif"], ["--figure", "none/a.svg"], ["--figure-style", "?", "--figure", "a.svg"]]
)
def test_calibrate_rejects_a_figure_before_it_writes_anything(
    words: list[str], tmp_path: Path, pairs: list[str], capsys: Capture
) -> None:
    """With exit code 2 and one sentence."""
    needs_matplotlib()
    assert main([*pairs, *words]) == 2
    assert not (tmp_path / "machine.toml").exists()
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--figure", "a.gif"], "--figure a.gif: the file's name must end in .svg, .pdf or .png."),
        (["--figure", "none/a.svg"], "none/a.svg cannot be written: there is no directory none."),
        (["--figure", "a.svg", "--figure-width", "3"], "--figure-width 3: use one, two, or a width from 1.5in to 40in"),
        (
            ["--figure", "a.svg", "--figure-style", "nonsense"],
            "--figure-style nonsense: there is no such file, and matplotlib",
        ),
        (["--figure", "a.svg", "-n", "4"], "--figure draws curves: give several sizes or numbers of ranks"),
        (["--figure", "a.svg", "--cost", "zero_cost"], "--figure: there is nothing to draw: no table has times above 0 "),
    ],
)
def test_wrong_use_is_one_sentence(words: list[str], message: str, capsys: Capture) -> None:
    """With exit code 2."""
    needs_matplotlib()
    assert main([*COMPARE, *words]) == 2
    assert message in capsys.readouterr().err


def test_some_views_have_no_figure(trace: str, capsys: Capture) -> None:
    """The message names those that have."""
    needs_matplotlib()
    assert main(["view", trace, "--figure", "a.svg", "--what", "summary"]) == 2
    reason = "--figure does not draw summary, only timeline, matrix, waits."
    expected = f"fakempi view: {reason} For example: --what timeline,matrix\n"
    assert capsys.readouterr().err == expected


def test_without_matplotlib_the_message_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, pairs: list[str], capsys: Capture
) -> None:
    """Before anything is timed."""
    for name in [name for name in sys.modules if name.startswith("fakempi.view.figure")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("fakempi.view.figure", raising=False)  # restored after the test, like the modules
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main([*COMPARE, "--figure", "a.svg"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    reason = "--figure needs the package matplotlib, which is not installed."
    expected = f"{reason} To install it, run: pip install 'fakempi[plot]'\n"
    assert err == f"fakempi compare: {expected}"
    assert main([*pairs, "--figure", "a.svg"]) == 2
    assert capsys.readouterr().err == f"fakempi calibrate: {expected}"
