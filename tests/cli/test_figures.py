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


def svg_texts(path: Path) -> list[str]:
    """The texts of an SVG file."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        (["--layout", "heatmap"], {"A binomial", "number of ranks", "4", "8"}),
        (["--layout", "heatmap", "--bytes", "8,1M", "--speedup-over", "chain"], {"1 MiB", "A 1.50", "A 2.33", "B 1.00"}),
        (["--speedup-over", "linear", "--ratio-panel"], {"speedup over linear", "time /", "fastest", "chain = linear"}),
        (["--speedup-over", "default"], {"speedup over default"}),
        (["--bytes", "8..1k", "--figure-style", "slides"], {"4 ranks", "8 ranks", "size of the message"}),
    ],
)
def test_layouts_and_speedups(words: list[str], drawn: set[str], tmp_path: Path, capsys: Capture) -> None:
    """An algorithm that is named only for speedups is compared, too."""
    needs_matplotlib()
    assert main([*COMPARE, *words, "--figure", str(tmp_path / "a.svg")]) == 0, capsys.readouterr().err
    assert drawn <= set(svg_texts(tmp_path / "a.svg"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--layout", "heatmap"], "--layout heatmap is an option of figures: add --figure FILE."),
        (["--speedup-over", "chain"], "--speedup-over chain is an option of figures: add --figure FILE."),
        (["--ratio-panel"], "--ratio-panel is an option of figures: add --figure FILE."),
        (["--figure", "a.svg", "--layout", "heatmap", "--ratio-panel"], "--ratio-panel adds a panel to curves: omit it"),
        (["--figure", "a.svg", "--layout", "heatmap", "-n", "4"], "--layout heatmap draws a map: give several sizes"),
        (["--figure", "a.svg", "--speedup-over", "binomal"], "binomal"),
        (["--figure", "a.svg", "--speedup-over", "binomial,chain"], "--speedup-over binomial,chain: give one algorithm."),
        (["--csv", "-", "--latex", "-"], "--csv - and --latex - cannot both use standard output"),
        (["--latex", "none/a.tex"], "none/a.tex cannot be written: there is no directory none."),
    ],
)
def test_wrong_use_of_layouts_is_one_sentence(words: list[str], message: str, capsys: Capture) -> None:
    """With exit code 2, before anything is timed."""
    needs_matplotlib()
    assert main([*COMPARE, *words]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


def test_a_latex_table_has_the_fastest_algorithms(capsys: Capture) -> None:
    """With the rules of booktabs; a cell has names and time, and characters with a meaning in LaTeX are escaped."""
    words = ["compare", "allreduce", "-n", "4,8", "--bytes", "8,1M", "--algorithms", "recursive_doubling,ring,rabenseifner"]
    assert main([*words, "--no-plot", "--latex", "-"]) == 0
    text = capsys.readouterr().out
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\cmidrule(l){2-5}", r"\multicolumn{2}{c}{8}"):
        assert text.count(rule) == 1
    assert r"    8~B & recursive\_doubling & 2.02~\textmu{}s & recursive\_doubling & 3.02~\textmu{}s \\" in text.splitlines()
    assert r"    1~MiB & rabenseifner & 1.58~ms & rabenseifner & 1.84~ms \\" in text.splitlines()
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count("&") for line in rows if "multicolumn" not in line} == {4}
    assert main(["compare", "barrier", "-n", "4..16", "--no-plot", "--latex", "-"]) == 0
    assert r"ranks & algorithm & time \\" in capsys.readouterr().out


def test_rows_next_to_measurements_have_the_measured_time(tmp_path: Path, capsys: Capture) -> None:
    """Next to the claim; a case that was not measured has none."""
    lines = ["operation,algorithm,ranks,bytes,seconds", "bcast,binomial,4,8,5e-6", "bcast,binomial,8,8,7e-6"]
    lines += ["bcast,chain,4,8,9e-6"]
    (tmp_path / "m.csv").write_text("\n".join(lines), encoding="utf-8")
    assert main(["compare", "bcast", "--beside", str(tmp_path / "m.csv"), "--csv", "-"]) == 0
    head, *rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    found = {(row[head.index("algorithm")], row[head.index("p")]): row for row in rows}
    assert {key: row[head.index("measured")] for key, row in found.items()} == {
        ("binomial", "4"): "5e-06", ("binomial", "8"): "7e-06", ("chain", "4"): "9e-06", ("chain", "8"): ""
    }  # fmt: skip
    assert found["binomial", "4"][head.index("claimed")] == "2.016e-06"


@pytest.mark.slow
def test_check_draws_the_tree_of_schedules(tmp_path: Path, capsys: Capture) -> None:
    """The exit code remains that of the verdict."""
    needs_matplotlib()
    lines = [
        "from mpi4py import MPI", "comm = MPI.COMM_WORLD",
        "if comm.rank: comm.send(comm.rank, 0)",
        "else: assert [comm.recv() for _ in range(2)][1] == 2",
    ]  # fmt: skip
    (tmp_path / "race.py").write_text("\n".join(lines), encoding="utf-8")
    words = ["check", "-n", "3", "--quiet", "--figure", str(tmp_path / "a.svg"), str(tmp_path / "race.py")]
    assert main(words) == 1
    assert "schedules fail" in capsys.readouterr().out
    assert {"fails", "passes", "mode z", "z:1", "choices with several options"} <= set(svg_texts(tmp_path / "a.svg"))
    assert main([*words[:5], str(tmp_path / "a.gif"), words[-1]]) == 2


@pytest.mark.slow
def test_a_schedule_has_a_figure_with_its_fault(tmp_path: Path, capsys: Capture) -> None:
    """`show` only; the mark has the kind of the fault and its step."""
    needs_matplotlib()
    figure = ["--figure", str(tmp_path / "a.svg")]
    assert main(["schedule", "show", "allgather/ring", "-n", "4", *figure]) == 0
    assert {"communicating", "modeled time (µs)"} <= set(svg_texts(tmp_path / "a.svg"))
    assert not [text for text in svg_texts(tmp_path / "a.svg") if "race" in text]
    capsys.readouterr()
    assert main(["schedule", "verify", "allgather/ring", *figure]) == 2
    assert "--figure draws what show prints: use fakempi schedule show instead of verify." in capsys.readouterr().err
    lines = ["num_ranks 2", "rank 0 {", "l1: send 8b to 1 tag 0", "}", "rank 1 {", "l1: recv 8b from 0 tag 1", "}"]
    (tmp_path / "bad.goal").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["schedule", "show", str(tmp_path / "bad.goal"), "--operation", "bcast", *figure]) == 0
    assert {"blocked", "cycle of waits"} <= set(svg_texts(tmp_path / "a.svg"))


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
