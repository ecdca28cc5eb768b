"""Agreement of modeled and measured times: errors, ranks, regret, the loop of a benchmark, and the gap from broadcasts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from collectives import Case, find
from fakempi import Hockney
from fakempi.apps.cli import main
from fakempi.apps.cli.machines.calibrating import broadcasts
from fakempi.apps.compare.benchmark_loop import loop_average, makespan
from fakempi.apps.compare.gap_inference import TreeTime, infer_gap
from fakempi.apps.compare.measurements import read_measurements
from fakempi.apps.compare.sweep import contenders
from fakempi.core.network.models.multi_level import Level, MultiLevel, PiecewiseLinear
from fakempi.core.options import algorithm_names
from fakempi.errors import MPIValueError
from fakempi.machines.agreement import MeasuredColumn, agreement, spearman
from fakempi.machines.calibration import calibrate
from fakempi.machines.csv_files import read_placement, read_samples
from tests.cli.test_running import Capture

DATA = Path(__file__).parents[2] / "benchmarks" / "data" / "orfeo_thin"


def test_regret_is_the_loss_against_the_fastest_measured_algorithm() -> None:
    """Of the model's choice, of constant choices, of decision tables, and of the library."""
    columns = [
        MeasuredColumn({"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 4, "c": 8}, 2.2, {"openmpi": "b"}),
        MeasuredColumn({"a": 2, "b": 1, "c": 3}, {"a": 4, "b": 5, "c": 6}, 4.4, {"openmpi": "unknown"}),
        MeasuredColumn({"a": 1}, {"a": 1}),
    ]
    found = agreement(columns)
    regrets: dict[str, Any] = {
        regret.name: (pytest.approx(regret.mean), pytest.approx(regret.worst), regret.columns) for regret in found.regrets
    }
    assert regrets == {
        "the model's choice": (0.125, 0.25, 2), "always a": (0, 0, 2), "always b": (0.625, 1, 2), "always c": (1.75, 3, 2),
        "the rules of openmpi": (1, 1, 1), "the library's default, as measured": (0.1, 0.1, 2),
    }  # fmt: skip
    assert found.errors["a"] == (0.5, 0.5)
    assert found.spearman == pytest.approx((1 + 0.5) / 2)


def test_ties_have_their_average_rank() -> None:
    """Constant values have no correlation."""
    assert spearman([1, 1, 2], [5, 5, 9]) == pytest.approx(1)
    assert spearman([1, 1, 1], [1, 2, 3]) == 0


def test_a_benchmark_prints_the_average_over_ranks() -> None:
    """In a linear broadcast to two ranks, rank 1 is done after one message, and the root and rank 2 after two.

    Rank 2 and the root leave the barrier of the model together with rank 1, so the average is (2 + 1 + 2) / 3.
    """
    cost = Hockney(t_s=1.0, t_w=0.0, eager_limit=0)
    linear, case = find("bcast", "linear"), Case(3, 8)
    assert makespan(linear, case, cost) == 2
    assert loop_average(linear, case, cost) == pytest.approx(5 / 3)


def test_the_gap_is_inferred_from_linear_broadcasts() -> None:
    """From times of a model with a known gap of 0.3 of the one-way time."""
    time = PiecewiseLinear([(0, 1e-6, 1e-9)])
    known = MultiLevel({"node": Level(time, PiecewiseLinear([(0, 0.3e-6, 0.3e-9)]))})
    linear = find("bcast", "linear")
    for averages, seconds in ((True, loop_average), (False, makespan)):
        measured = [(p, size, float(seconds(linear, Case(p, size), known))) for p in (4, 8) for size in (1, 64, 4096, 32768)]
        found = infer_gap(MultiLevel({"node": Level(time)}, provenance=[("overheads", "x")]), measured, averages)
        gap = found.levels["node"].gap
        assert gap is not None
        assert [gap(size) / time(size) for size in (1, 64, 4096, 32768)] == pytest.approx([0.3] * 4, abs=0.02)
        assert dict(found.provenance)["overheads"].startswith("gap inferred from linear broadcasts of 4 sizes: 0.")


def test_one_way_times_in_trees_are_inferred_from_other_broadcasts() -> None:
    """From times of a model that is twice as slow as the ping-pongs, with a gap of 0.3 of that."""
    ping_pong = PiecewiseLinear([(0, 1e-6, 1e-9)])
    slow = Level(PiecewiseLinear([(0, 2e-6, 2e-9)]), PiecewiseLinear([(0, 0.6e-6, 0.6e-9)]))
    known, sizes = MultiLevel({"node": slow}), (1, 64, 4096, 32768)
    linear, binomial, chain = (find("bcast", name) for name in ("linear", "binomial", "chain"))
    measured = [(p, size, float(makespan(linear, Case(p, size), known))) for p in (4, 8) for size in sizes]
    cases = [(tree, Case(p, size)) for tree in (binomial, chain) for p in (2, 8) for size in sizes]
    trees = [TreeTime(tree, case, float(makespan(tree, case, known))) for tree, case in cases]
    found = infer_gap(MultiLevel({"node": Level(ping_pong)}, provenance=[("overheads", "x")]), measured, False, trees)
    level = found.levels["node"]
    assert level.gap is not None
    for size in sizes:
        assert (level.time(size), level.gap(size)) == pytest.approx((slow.time(size), 0.3 * slow.time(size)), rel=0.06)
    note = dict(found.provenance)["overheads"]
    assert re.search(r"times \d\.\d\d to \d\.\d\d, inferred from 8 other broadcasts; the errors", note)


def test_too_few_broadcasts_are_rejected() -> None:
    """Two ranks do not count: their only message is the last one."""
    model = MultiLevel({"node": Level(PiecewiseLinear([(0, 1e-6, 1e-9)]))})
    with pytest.raises(MPIValueError, match="of at least 4 sizes, and there is 1: measure bcast linear."):
        infer_gap(model, [(2, size, 1.0) for size in range(9)] + [(4, 1, 1.0)], averages=False)


MEASURED = """\
operation,algorithm,ranks,bytes,seconds,placement
bcast,binomial,4,8,4e-6,2
bcast,linear,4,8,3e-6,2
bcast,default,4,8,3.3e-6,2
bcast,binomial,4,16,4e-6,2
bcast,linear,4,16,5e-6,2
bcast,binomial,4,8,9e-6,4
"""


def test_a_summary_follows_the_tables(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns are operation, algorithm, ranks, bytes, seconds and placement; the placement changes the cost model."""
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text(MEASURED)
    Path("m.toml").write_text("version = 1\n[level.node]\ntime=[[0, 1e-6, 0.0]]\n[level.network]\ntime=[[0, 2e-6, 0.0]]\n")
    words = ["compare", "bcast", "--cost", "m.toml", "--beside", "m.csv", "--no-plot"]
    assert main(words) == 2
    assert "m.csv has the placements 2, 4 (ranks per node): choose one with --placement." in capsys.readouterr()[1]
    assert main([*words, "--placement", "8"]) == 2
    assert "m.csv has no rows with the placement 8; it has the placements 2, 4." in capsys.readouterr()[1]
    assert main([*words, "--placement", "2"]) == 0
    lines = capsys.readouterr()[0].splitlines()
    assert lines[0] == "bcast, 4 ranks, 1-byte char, m.toml:ranks_per_node=2, compared with m.csv"
    rows = {line.split("  ")[0].strip(): line.split()[-3:] for line in lines[-9:] if line}
    assert rows["the model's choice"] == ["16.7%", "33.3%", "2"]
    assert rows["always linear"] == ["12.5%", "25.0%", "2"]
    assert rows["the library's default, as measured"] == ["10.0%", "10.0%", "1"]


def test_output_of_benchmarks_is_read(tmp_path: Path, capsys: Capture) -> None:
    """With the algorithm and the number of ranks, which the OSU benchmarks do not print."""
    path = tmp_path / "osu_bcast.txt"
    path.write_text("# OSU MPI Broadcast Latency Test v5.9\n# Size       Avg Latency(us)\n1       1.5\n2       2.5\n")
    measurements = read_measurements(f"{path}:algorithm=binomial,ranks=4,placement=2", "bcast")
    expected = {("binomial", 4, 0, 1, ""): 1.5e-6, ("binomial", 4, 0, 2, ""): 2.5e-6}
    assert dict(measurements.seconds) == pytest.approx(expected)
    assert measurements.placed("m.toml") == "m.toml:ranks_per_node=2"
    for text, error in [
        (f"{path}:algorithm=binomial", "does not contain the number of processes. Add it: "),
        (f"{path}:ranks=many", "use FILE:algorithm=NAME,ranks=N"),
    ]:
        with pytest.raises(MPIValueError, match=error):
            read_measurements(text, "bcast")
    with pytest.raises(MPIValueError, match="has no results of scatter."):
        read_measurements(f"{path}:ranks=4", "scatter")
    assert main(["compare", "bcast", "--beside", f"{path}:algorithm=binomial,ranks=4", "--timing", "osu", "--no-plot"]) == 0
    assert "measured" in capsys.readouterr()[0]


ROWS = "operation,algorithm,ranks,bytes,seconds\nbcast,linear,4,8,1e-6\nbcast,binomial,4,8,2e-6\n"


@pytest.mark.parametrize(
    ("text", "words", "error"),
    [
        (ROWS.replace(",seconds", ",us"), [], "m.csv has no column 'seconds': add it."),
        (ROWS.replace("2e-6", "0"), [], "m.csv line 3: seconds is 0, and must be positive."),
        (ROWS.replace("2e-6", "-1"), [], "m.csv line 3: seconds is -1, and must be positive."),
        (ROWS.replace("2e-6", "2us"), [], "m.csv line 3: seconds is '2us', and must be a number."),
        (ROWS.replace("2e-6", "2"), [], "m.csv: 4 ranks, 8 bytes: 1e-06 s and 2 s have different units; write seconds."),
        (ROWS.replace("e-6", ""), [], "m.csv: 4 ranks, 8 bytes: 1 s is too long; write seconds, not microseconds."),
        (ROWS.replace("l,4", "l,four"), [], "m.csv line 3: ranks is 'four', and must be an integer of at least 1."),
        (ROWS.replace("4,8,2", "4,-8,2"), [], "m.csv line 3: bytes is '-8', and must be an integer of at least 0."),
        (ROWS.replace(",2e-6", ""), [], "m.csv line 3: the row does not have 5 values."),
        (ROWS.replace("2e-6", "2e-6,8"), [], "m.csv line 3: the row does not have 5 values."),
        (ROWS.replace("binomial", "trinomial"), [], "m.csv: bcast: there is no algorithm 'trinomial'; there are "),
        (ROWS, ["--placement", "3"], "m.csv has no rows with the placement 3; it has rows without one."),
        ("\udcff", [], "m.csv is not a text in UTF-8."),
        (None, [], "m.csv cannot be read: No such file or directory."),
    ],
)
def test_bad_measurements_are_one_sentence_and_exit_code_2(
    text: str | None, words: list[str], error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The file, the line and the value; nothing is printed before."""
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("m.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    assert main(["compare", "bcast", "--no-plot", "--beside", "m.csv", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith(f"fakempi compare: {error}")


def test_a_public_cluster_is_modeled_within_ten_percent(tmp_path: Path, capsys: Capture) -> None:
    """Held-out ping-pongs of 24 cores on two sockets; docs/machines.md has these numbers."""
    words = ["--from", str(DATA / "pairs.csv"), "--placement", str(DATA / "cores.csv"), "-o", str(tmp_path / "m.toml")]
    assert main(["calibrate", *words]) == 0
    lines = capsys.readouterr()[0].splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["socket", "105", "21", "6", "3.7%", "35.3%"], ["node", "126", "21", "6", "8.6%", "51.3%"],
    ]  # fmt: skip


@pytest.mark.slow
def test_factors_from_trees_improve_the_choice_on_a_public_cluster() -> None:
    """Inferred on 16 ranks, used on 8 and 32 ranks of EPYC; docs/machines.md has all sizes and more ranks."""
    data, sizes, ranks = DATA.with_name("orfeo_epyc"), (8, 512, 8192, 65536), (8, 32)
    samples = read_samples(str(data / "pairs.csv"), read_placement(str(data / "cores.csv")))
    model = calibrate(samples, ranks_per_node=128, ranks_per_socket=64, ranks_per_cache=4).model
    linear, averages, trees = broadcasts(str(data / "bcast_calibration.csv"), averages=True)
    linear = [row for row in linear if row[0] == 16 and row[1] in sizes]
    trees = [tree for tree in trees if tree.case.p == 16 and tree.case.m in sizes]
    assert {tree.algorithm.name for tree in trees} == {"binary", "split_binary", "binomial"}
    measured = read_measurements(str(data / "bcast.csv"), "bcast")
    regrets = []
    for used in (trees, []):
        found = infer_gap(model, linear, averages, used)
        columns = []
        for p in ranks:
            for size in sizes:
                times = {name: measured.seconds[name, p, 0, size, ""] for name in measured.algorithms}
                cases = {each.label: each for each in contenders("bcast", requested=algorithm_names(",".join(times)))}
                modeled = {
                    name: loop_average(each.algorithm, Case(p, size, parameters=each.parameters), found)
                    for name, each in cases.items()
                    if each.algorithm is not None
                }
                columns.append(MeasuredColumn(modeled, times))
        regrets.append({regret.name: regret.mean for regret in agreement(columns).regrets})
    with_factors, without = regrets
    assert with_factors["the model's choice"] < without["the model's choice"]
    assert with_factors["the model's choice"] < with_factors["always binomial"]
