"""`fakempi list` and `fakempi compare`: output and usage errors."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from collectives import CATALOGUE, find
from fakempi.apps.cli import main
from fakempi.apps.compare import Contender
from tests.cli.test_running import Capture
from tests.helpers.loops import for_each


@pytest.fixture(autouse=True, params=["80", "160"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The width of the terminal."""
    monkeypatch.setenv("COLUMNS", request.param)
    return int(request.param)


def printed(capsys: Capture, *words: str) -> list[str]:
    """The lines that a successful command prints."""
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return [line.rstrip() for line in out.splitlines()]


def test_the_list_has_every_algorithm_and_fits(capsys: Capture, width: int) -> None:
    """Each algorithm is below its operation."""
    lines = printed(capsys, "list")
    assert max(map(len, lines)) <= width
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(names) == sorted(algorithm.name for algorithm in CATALOGUE)


def test_an_operation_is_listed_with_its_cards(capsys: Capture, width: int) -> None:
    """Claims, parameters and sources."""
    lines = printed(capsys, "list", "allgatherv")
    assert max(map(len, lines)) <= width
    assert "allgatherv blocked_ring" in lines
    assert any(line.strip().startswith("parameters     block_bytes=") for line in lines)
    assert any(line.startswith("inter:allgather full_duplex") for line in printed(capsys, "list", "inter:allgather"))


def test_a_comparison_has_a_table_a_plot_and_the_winner(capsys: Capture, width: int) -> None:
    """In whole numbers of seconds here."""
    cost = "hockney:t_s=1,t_w=0,eager_limit=0"
    names = "bruck,circulant,gather_bcast,neighbor_exchange,recursive_doubling,ring"
    words = ["compare", "allgather", "-n", "2,4,6", "--bytes", "8", "--cost", cost, "--algorithms", names]
    lines = printed(capsys, *words)
    assert max(map(len, lines)) <= width
    table = list(takewhile(lambda line: "the fastest" not in line, lines))
    assert table == [
        "allgather, 8 B, 1-byte char, hockney:t_s=1,t_w=0,eager_limit=0",
        "ranks                 2       4       6",
        "──────────────────────────────────────────",
        "bruck               1 s ◦*  2 s ◦*  3 s ◦*",
        "circulant           1 s ◦*  2 s ◦*  3 s ◦*",
        "gather_bcast        2 s ◦   4 s ◦   6 s ◦",
        "neighbor_exchange   1 s ◦*  2 s ◦*  3 s ◦*",
        "recursive_doubling  1 s ◦*  2 s ◦*    -",
        "ring                1 s ◦*  3 s ◦   5 s ◦",
        "",
        "lower bound         1 s     2 s     3 s",
        "  nested collectives (bcast, gather) are chosen by the default table",
        "  recursive_doubling - p = 6 is not a power of two",
    ]
    assert "  * the fastest   ◦ claimed (from a formula)" in lines
    assert any("● bruck" in line for line in lines)


def test_the_table_has_all_algorithms_and_the_plot_few(capsys: Capture) -> None:
    """Unless they are listed."""
    words = ["compare", "bcast", "-n", "16", "--bytes", "1k,64k,1M"]
    lines = printed(capsys, *words)
    names = [line.split()[0] for line in lines[3 : lines.index("")]]
    assert len(names) > 12
    drawn = [name for name in names if any(f"{mark} {name} " in line + " " for line in lines for mark in "●○■□▲△◆")]
    assert len(drawn) == 6
    assert any("other algorithms are not drawn" in line for line in lines)
    listed = printed(capsys, *words, "--algorithms", ",".join(names))
    assert not any("not drawn" in line for line in listed)


def test_sizes_make_a_table_for_each_number_of_ranks(capsys: Capture) -> None:
    """Each distribution has a table, too."""
    words = ["compare", "allgatherv", "-n", "4,6", "--bytes", "8,16", "--distribution", "regular,spike", "--no-plot"]
    titles = [line for line in printed(capsys, *words, "--algorithms", "ring,bruck") if line.startswith("allgatherv")]
    assert titles == [
        f"allgatherv, {p} ranks, {name} blocks, 1-byte char, hockney:eager_limit=0"
        for name in ("regular", "spike")
        for p in (4, 6)
    ]


def test_groups_are_compared(capsys: Capture) -> None:
    """The heading has both sizes."""
    lines = printed(capsys, "compare", "inter:allgather", "-n", "6+2,4+4", "--cost", "zero_cost", "--no-plot")
    assert lines[1].split() == ["ranks", "6+2", "4+4"]
    assert not any("lower bound" in line for line in lines)


def test_the_default_is_shown_with_its_choice(capsys: Capture) -> None:
    """The default has a row, and lines below the table name the algorithm of each column, with its parameters."""
    lines = printed(capsys, "compare", "inter:allgather", "-n", "17+16", "--bytes", "64k", "--default", "--no-plot")
    assert "default               1.13 ms ◦*" in lines
    assert "  default: even_cut" in lines
    words = ["compare", "bcast", "-n", "8", "--bytes", "8,64,64k", "--algorithms", "binomial", "--default", "--no-plot"]
    assert "  default: binomial (8 B, 64 B), circulant(segment_bytes=5724) (64 KiB)" in printed(capsys, *words)


def test_the_default_of_a_file_describes_its_choice(capsys: Capture) -> None:
    """Instead of the name of an algorithm."""
    lines = printed(capsys, "compare", "bcast", "-n", "8", "--algorithms", "chain", "--default", "--csv", "-")
    assert [line.split(",")[2] for line in lines] == ["algorithm", "chain", "default: circulant"]


def wrong_claim(operation: str, kind: str, *requested: Any) -> list[Contender]:
    """A chain that claims to take no time, next to a correct one."""
    chain = find("bcast", "chain")
    false = replace(chain, name="liar", closed_time=lambda case, t_s, t_w: 2 * t_s)
    return [Contender("chain", chain, {}), Contender("liar", false, {})]


def test_measuring_reports_a_wrong_claim(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has both numbers, and the table has the emulated one."""
    monkeypatch.setattr("fakempi.apps.cli.comparing.contenders", wrong_claim)
    words = ["compare", "bcast", "-n", "2..64", "--cost", "hockney:t_s=1,t_w=0,eager_limit=0", "--no-plot"]
    lines = printed(capsys, *words, "--measure")
    assert lines[3:5] == [
        "chain        1 s •*  3 s •*  7 s •*  15 s •*  31 s •*  63 s •*",
        "liar         1 s ≠*  3 s ≠*  7 s ≠*  15 s ≠*  31 s ≠*  63 s ≠*",
    ]
    assert lines[7:] == [
        "  liar ≠ claimed and emulated time differ at 2 ranks: 2 s and 1 s",
        "  liar ≠ claimed and emulated time differ at 4 ranks: 2 s and 3 s",
        "  liar ≠ claimed and emulated time differ at 8 ranks: 2 s and 7 s",
        "  liar ≠ they differ in 3 more columns",
        "  * the fastest   • emulated   ≠ emulated, and the claim differs",
    ]
    believed = printed(capsys, *words)
    assert believed[4].split()[:3] == ["liar", "2", "s"]
    assert not any("differ" in line for line in believed)
    monkeypatch.undo()
    honest = printed(capsys, *words, "--measure", "--algorithms", "chain")
    assert "  all claims agree with the emulated times" in honest


def test_figures_are_written_to_files_in_seconds(capsys: Capture, tmp_path: Path) -> None:
    """With all digits; the tables are printed, too."""
    comma, brace = tmp_path / "a.csv", tmp_path / "a.json"
    words = ["compare", "allgatherv", "-n", "4,6", "--bytes", "8,16", "--distribution", "spike", "--algorithms", "ring"]
    words += ["--cost", "hockney:t_s=8,t_w=0.5,eager_limit=0"]
    assert printed(capsys, *words, "--csv", str(comma), "--json", str(brace))[0].startswith("allgatherv, 4 ranks, spike")
    records = json.loads(brace.read_text())
    assert [(each["p"], each["bytes"]) for each in records] == [(4, 8), (4, 16), (6, 8), (6, 16)]
    assert records[0] == {
        "operation": "allgatherv", "kind": "intra", "algorithm": "ring", "p": 4, "q": 0, "bytes": 8,
        "distribution": "spike", "seconds": 48.0, "how": "claimed", "claimed": 48.0, "emulated": None,
        "differ": None, "bound": 21.5, "refused": "", "cost": "hockney:t_s=8,t_w=0.5,eager_limit=0",
        "dtype": "char", "itemsize": 1, "parameters": "", "equals": "", "skipped": 0,
    }  # fmt: skip
    lines = list(csv.DictReader(comma.read_text().splitlines()))
    assert [float(line["seconds"]) for line in lines] == [each["seconds"] for each in records]
    assert lines[0] == {name: "" if value is None else str(value) for name, value in records[0].items()}


def test_figures_on_standard_output_are_the_only_output(capsys: Capture) -> None:
    """Another program can read them; a rejected case has its reason."""
    words = ["compare", "allgather", "-n", "6", "--measure", "--algorithms", "ring,recursive_doubling"]
    served, refused = json.loads("\n".join(printed(capsys, *words, "--json", "-")))
    assert (served["how"], served["differ"], served["claimed"]) == ("emulated", False, served["emulated"])
    assert (refused["seconds"], refused["how"], refused["refused"]) == (None, "", "p = 6 is not a power of two")
    lines = list(csv.DictReader(printed(capsys, *words, "--csv", "-")))
    assert [line["differ"] for line in lines] == ["false", ""]


def test_counts_are_read_from_a_file(capsys: Capture, tmp_path: Path) -> None:
    """One count per rank; two lists are two groups."""
    file = tmp_path / "mine.txt"
    file.write_text("5\n0\n4k\n")
    lines = printed(capsys, "compare", "allgatherv", "--counts", str(file), "--algorithms", "ring")
    title = "allgatherv, blocks of mine.txt, 1,367 B on average, 1-byte char, hockney:eager_limit=0"
    assert " ".join(" ".join(lines).split()).startswith(title)  # a long title is broken
    assert ["ranks", "3"] in [line.split() for line in lines]
    file.write_text("[[5, 0, 4096], [1, 2]]")
    lines = printed(capsys, "compare", "inter:allgatherv", "--counts", str(file), "-n", "3+2")
    assert ["ranks", "3+2"] in [line.split() for line in lines]
    for words, error in [
        (["-n", "4+2"], f"{file} has counts for 3+2 ranks, but -n is 4+2."),
        (["--bytes", "8"], "--counts sets the block sizes: omit --bytes and --distribution."),
    ]:
        assert main(["compare", "inter:allgatherv", "--counts", str(file), *words]) == 2
        assert capsys.readouterr().err == f"fakempi compare: {error}\n"
    assert main(["compare", "allgatherv", "--counts", str(file)]) == 2
    assert "2 lists of counts for 1 group: one list per group is needed." in capsys.readouterr().err


@pytest.mark.slow
def test_processes_give_the_same_result(capsys: Capture, width: int) -> None:
    """For any --jobs; tested once, since processes are slow to start."""
    if width == 80:
        words = ["compare", "bcast", "-n", "2..8", "--measure"]
        assert printed(capsys, *words, "--jobs", "2") == printed(capsys, *words, "--jobs", "1")


def test_measurements_are_shown_next_to_the_model(capsys: Capture, tmp_path: Path) -> None:
    """With the ranks, sizes and algorithms of the file, unless options select others."""
    file = tmp_path / "m.csv"
    file.write_text(
        "operation,kind,algorithm,p,q,bytes,distribution,seconds\n"
        "bcast,intra,binomial,4,0,8,,4\nbcast,intra,binomial,4,0,16,,6\n"
        "bcast,intra,chain,4,0,8,,3\nbcast,intra,linear,4,0,8,,\n"
    )
    words = ["compare", "bcast", "--beside", str(file), "--cost", "hockney:t_s=1,t_w=0,eager_limit=0", "--no-plot"]
    lines = printed(capsys, *words)
    assert lines[0].startswith("bcast, 4 ranks, 1-byte char, hockney:t_s=1,t_w=0,eager_limit=0,")
    assert lines[-12:] == [
        "bytes               8 B     16 B",
        "───────────────────────────────────",
        "binomial  modeled   2 s ◦*   2 s ◦*",
        "          measured  4 s      6 s  *",
        "          ratio     2 ×      3 ×",
        "",
        "chain     modeled   3 s ◦    3 s ◦",
        "          measured  3 s  *     -",
        "          ratio     1 ×        -",
        "  ratio: measured / modeled, from 1 to 3",
        "  model and measurement agree on the fastest algorithm in 0 of 1 column",
        "  * the fastest   ◦ claimed (from a formula)",
    ]
    lines = printed(capsys, *words, "-n", "2,4", "--bytes", "8", "--algorithms", "chain")
    assert lines[-5:-2] == [
        "chain  modeled   1 s ◦*  3 s ◦*",
        "       measured    -     3 s  *",
        "       ratio       -     1 ×",
    ]


@pytest.mark.quick(1)
def test_bits_are_shown_with_the_order_of_the_operands(capsys: Capture) -> None:
    """The root's tree of a reduction depends on the root, and that of a linear one does not."""
    lines = printed(capsys, "compare", "reduce", "--bits", "-n", "4", "--algorithms", "binomial,linear,knomial(k=4)")
    assert lines[0] == "reduce: bits of a floating-point sum"
    assert [line.split("  ")[0] for line in lines[3:6]] == ["binomial", "linear", "knomial(k=4)"]
    assert lines[3].split()[1:] == ["root", "(0", "+", "1)", "+", "(2", "+", "3)"]
    assert lines[4].endswith("the operands only   0 + (1 + (2 + 3))")
    assert lines[5].endswith("3 + (2 + (0 + 1))")


def test_bits_are_listed_with_the_card(capsys: Capture) -> None:
    """After the cases that an algorithm fits."""
    lines = [line.split() for line in printed(capsys, "list", "allreduce")]
    assert ["bits", "equal", "on", "all", "ranks;", "depend", "on", "the", "operands", "only"] in lines


def test_algorithms_with_too_many_messages_are_skipped_with_a_sentence(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless they are requested, or have a formula for the cost model."""
    monkeypatch.setattr("fakempi.apps.cli.comparing.MAX_MESSAGES", 50)
    lines = printed(capsys, "compare", "alltoall", "-n", "8", "--no-plot")
    remark = "scattered - no formula, and at least 56 messages or blocks on 8 ranks; to simulate anyway:"
    assert f"{remark} --algorithms scattered" in " ".join(" ".join(lines).split())
    found = {line.split()[0]: line.split()[1] for line in lines if line.startswith(("linear  ", "scattered  ", "spread  "))}
    assert found == {"linear": "14.2", "scattered": "-", "spread": "14.2"}
    requested = printed(capsys, "compare", "alltoall", "-n", "8", "--algorithms", "scattered")
    (line,) = [each for each in requested if "scattered" in each]
    assert line.split()[1] == "14.2"


@pytest.mark.parametrize("measured", [[], ["--measure"]])
def test_requested_algorithms_that_need_too_much_memory_are_refused(measured: list[str], capsys: Capture) -> None:
    """At once; the others have their times."""
    words = ["compare", "allreduce", "-n", "16k", "--bytes", "1M", "--algorithms", "ring", "--cost", "two_level"]
    text = " ".join(" ".join(printed(capsys, *words, "--no-plot", *measured)).split())
    assert "ring - no formula, and at least 536,838,144 messages or blocks on 16384 ranks, more than 33,554,432: use" in text
    assert text.endswith("use fewer ranks, another algorithm or another cost model no algorithm has a time")


def test_the_default_that_is_skipped_is_requested_by_its_name(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """`default` is no name for --algorithms."""
    monkeypatch.setattr("fakempi.apps.cli.comparing.MAX_MESSAGES", 50)
    words = ["compare", "alltoallv", "-n", "12", "--distribution", "spike", "--default", "--no-plot"]
    text = " ".join(" ".join(printed(capsys, *words)).split())
    assert "pairwise, spread, default - no formula, and " in text
    assert "to simulate anyway: --algorithms pairwise,spread no algorithm has a time" in text


@pytest.mark.quick(1)
def test_equal_blocks_on_many_ranks_have_a_formula(capsys: Capture) -> None:
    """A schedule of 4,096 x 4,095 messages is not evaluated; an algorithm without a time has its reason below the table."""
    lines = printed(capsys, "compare", "alltoallv", "-n", "4096", "--bytes", "8")
    assert [line.split()[1] for line in lines[3:7]] == ["4.13", "4.13", "-", "4.13"]
    assert lines[9].startswith("  scattered - no formula, and at least 16,773,120 messages or blocks")


def test_an_algorithm_that_does_not_fit_has_a_reason(capsys: Capture) -> None:
    """And the legend does not say that an algorithm is the fastest."""
    lines = printed(capsys, "compare", "allgather", "-n", "7", "--algorithms", "neighbor_exchange")
    assert lines[-2:] == ["  neighbor_exchange - p = 7 is odd", "  no algorithm has a time"]


def test_the_best_segment_size_is_printed(capsys: Capture) -> None:
    """In the label of a row, or below the table if it differs between columns; other algorithms have none."""
    words = ["compare", "bcast", "-n", "16", "--algorithms", "binomial,chain,chain(segment_bytes=4k)", "--no-plot"]
    one = [line.split("  ")[0] for line in printed(capsys, *words, "--bytes", "64k")[3:6]]
    assert one == ["binomial", "chain(segment_bytes=2k)", "chain(segment_bytes=4096)"]
    several = printed(capsys, *words, "--bytes", "8,64k,1M")
    assert [line.split("  ")[0] for line in several[3:6]] == ["binomial", "chain", "chain(segment_bytes=4096)"]
    assert "  chain: segment_bytes=2k (64 KiB), segment_bytes=8k (1 MiB)" in several
    every = printed(capsys, "compare", "bcast", "-n", "64", "--bytes", "1k,1M", "--no-plot")
    assert any(line.startswith("  circulant: segment_bytes=") for line in every)


def test_node_aware_algorithms_have_no_row_on_a_machine_without_nodes(capsys: Capture, width: int) -> None:
    """They are named next to the algorithm that they are there, in the label or, in wide tables, below."""
    words = ["compare", "allgather", "-n", "16", "--no-plot"]
    lines = printed(capsys, *words, "--bytes", "8")
    assert any(line.startswith("bruck = locality_bruck, multi_lane, two_level  ") for line in lines)
    assert any(line.startswith("ring = cluster_ring  ") for line in lines)
    lines = printed(capsys, *words, "--bytes", "8,64k,1M")
    assert not any(line.startswith(("two_level", "multi_lane")) for line in lines)
    assert "without nodes, multi_lane and two_level are bruck (8 B), ring (64 KiB, 1 MiB)" in " ".join(
        " ".join(lines).split()
    )
    rows = printed(capsys, *words, "--cost", "two_level:ranks_per_node=4")[3:]
    nodes = [row.split()[0] for row in rows[: rows.index("")]]
    assert {"two_level", "multi_lane", "cluster_ring", "locality_bruck"} <= set(nodes)
    if width == 80:
        long = lines.index("  without nodes, multi_lane and two_level are bruck (8 B), ring (64 KiB, 1 MiB)")
        assert lines[long + 1].startswith("  nested collectives")
    named = printed(capsys, *words, "--algorithms", "two_level")
    assert named[3].startswith("two_level ")


def test_the_progress_is_written_to_standard_error_on_request(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an estimate of the remaining time; the tables are the same."""
    monkeypatch.setattr("fakempi.apps.cli.comparison.progress.PERIOD", 0.0)
    words = ["compare", "bcast", "-n", "4", "--algorithms", "binomial,chain", "--no-plot"]
    tables = printed(capsys, *words)
    assert main([*words, "--progress"]) == 0
    out, err = capsys.readouterr()
    assert [line.rstrip() for line in out.splitlines()] == tables
    first, second = err.splitlines()
    assert first.startswith("0 of 2 times, about ")
    assert second.startswith("1 of 2 times, about ")
    assert second.endswith("s left: chain, 4 ranks")


def test_ctrl_c_prints_the_times_that_are_finished(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As a table, and as a file."""

    def advance(bar: Any, current: str) -> None:
        if current == "chain, 8 ranks":
            raise KeyboardInterrupt

    monkeypatch.setattr("fakempi.apps.cli.comparison.progress.CompareProgress.advance", advance)
    file = tmp_path / "a.csv"
    cost = "hockney:t_s=1,t_w=0,eager_limit=0"
    words = ["compare", "bcast", "--algorithms", "binomial,chain", "--cost", cost, "--no-plot"]
    assert main([*words, "-n", "4,8,16", "--csv", str(file)]) == 130
    out, err = capsys.readouterr()
    assert [line.rstrip() for line in out.splitlines()[1:5]] == [
        "ranks          4       8",
        "───────────────────────────",
        "binomial     2 s ◦*  3 s ◦*",
        "chain        3 s ◦     -",
    ]
    assert err == "fakempi compare: interrupted; the tables have the times that were finished.\n"
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [(row["algorithm"], row["p"], row["seconds"]) for row in rows] == [
        ("binomial", "4", "2.0"), ("chain", "4", "3.0"), ("binomial", "8", "3.0"), ("chain", "8", ""),
    ]  # fmt: skip
    assert main([*words, "-n", "8", "--algorithms", "chain"]) == 130
    assert capsys.readouterr() == ("", "fakempi compare: interrupted; no time was finished.\n")


@for_each(
    ("words", "error"),
    [
        (["compare", "bcast", "--bits"], "--bits: bcast does not combine operands; use --bits with allreduce, exscan, "),
        (
            ["compare", "scan", "--bits", "-n", "9"],
            "--bits shows the order of the operands on at most 8 ranks, but -n is 9.",
        ),
        (["list", "allgathr"], "operation 'allgathr' is unknown. Did you mean allgather, allgatherv or gather? "),
        (
            ["compare", "bcast", "--algorithms", "binomial,chain(segment_bytes=0)"],
            "bcast chain(segment_bytes=0): segment_bytes = 0 is not positive; the default is segment_bytes=64k.",
        ),
        (["compare", "split", "--algorithms", "hash(bits=99)"], "split hash(bits=99): bits = 99 is not between 1 and 16 "),
        (["compare", "split", "--default"], "--default: split takes no modeled time unless an algorithm is requested. "),
        (["compare", "inter:allgather", "-n", "6+2,4+4", "--figure", "a.svg"], "--figure draws curves: give several "),
        (["compare", "nothing"], "operation 'nothing' is unknown. (For all names, run: fakempi list)"),
        (["compare", "allgather", "--algorithms", "rng"], "allgather: there is no algorithm 'rng'; there are bine, "),
        (["compare", "bcast", "-n", "6+2"], "bcast is within one group: use -n 8 instead of -n 6+2, or inter:bcast."),
        (["compare", "inter:allgather"], "inter:allgather is between two groups: use -n 16+16 instead of -n 16."),
        (["compare", "bcast", "--distribution", "spike"], "bcast has blocks of one size: --distribution "),
        (["compare", "gatherv", "--distribution", "spke"], "distribution 'spke' is unknown. Did you mean spike?"),
        (["compare", "chain:sort"], "chain:sort is part of other algorithms and cannot be compared; "),
        (["compare", "bcast", "--bytes", "1z"], "'1z' is not a number of bytes: use 0, 1500, 64k or 1M."),
        (["compare", "bcast", "-n", "2.."], "'2..' is not a range: use a first and a last value, such as 2..64."),
        (["compare", "bcast", "--csv", "-", "--json", "-"], "--csv - and --json - cannot both use standard output: "),
        (["compare", "bcast", "--csv", "/no/a.csv"], "/no/a.csv cannot be written: there is no directory /no."),
        (["compare", "bcast", "--counts", __file__], f"{__file__}:1: "),
        (["compare", "bcast", "--beside", __file__], f"{__file__} has no column 'operation': it is not from python -m "),
    ],
)
def test_usage_errors_are_reported_in_one_line(words: list[str], error: str, capsys: Capture) -> None:
    """The exit code is 2."""
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fakempi {words[0]}: {error}")
