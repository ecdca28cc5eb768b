"""`fakempi list` and `fakempi compare`: what they print, and what they refuse."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from collectives import CATALOGUE, find
from fakempi.cli import main
from fakempi.compare import Contender
from tests.cli.test_running import ENVIRONMENT, Capture


@pytest.fixture(autouse=True, params=["80", "160"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How wide the terminal is."""
    monkeypatch.setenv("COLUMNS", request.param)
    return int(request.param)


def printed(capsys: Capture, *words: str) -> list[str]:
    """The lines that a command prints, which goes well."""
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return [line.rstrip() for line in out.splitlines()]


def test_the_list_has_every_algorithm_and_fits(capsys: Capture, width: int) -> None:
    """Below its operation."""
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
        "allgather, 8 B, hockney:t_s=1,t_w=0,eager_limit=0",
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
        "  parts (bcast, gather) are what the default table takes there",
        "  recursive_doubling - p = 6 is not a power of two",
    ]
    assert "  * the fastest   ◦ claimed, on paper" in lines
    assert any("● bruck" in line for line in lines)


def test_sizes_make_a_table_for_each_number_of_ranks(capsys: Capture) -> None:
    """And distributions one each."""
    words = ["compare", "allgatherv", "-n", "4,6", "--bytes", "8,16", "--distribution", "regular,spike", "--no-plot"]
    titles = [line for line in printed(capsys, *words, "--algorithms", "ring,bruck") if line.startswith("allgatherv")]
    assert titles == [
        f"allgatherv, {p} ranks, {name} blocks, hockney:eager_limit=0" for name in ("regular", "spike") for p in (4, 6)
    ]


def test_groups_are_compared(capsys: Capture) -> None:
    """With both sizes in the heading."""
    lines = printed(capsys, "compare", "inter:allgather", "-n", "6+2,4+4", "--cost", "free", "--no-plot")
    assert lines[1].split() == ["ranks", "6+2", "4+4"]
    assert not any("lower bound" in line for line in lines)


def test_the_default_is_shown_with_what_it_takes(capsys: Capture) -> None:
    """A row of its own, and below the table which algorithm that is in which column."""
    lines = printed(capsys, "compare", "inter:allgather", "-n", "17+16", "--bytes", "64k", "--default", "--no-plot")
    assert "default               1.13 ms ◦*" in lines
    assert "  default: even_cut" in lines
    words = ["compare", "bcast", "-n", "8", "--bytes", "8,64,64k", "--algorithms", "binomial", "--default", "--no-plot"]
    assert "  default: binomial (8 B, 64 B), circulant (64 KiB)" in printed(capsys, *words)


def test_the_default_of_a_file_says_what_it_is(capsys: Capture) -> None:
    """In place of the name of an algorithm."""
    lines = printed(capsys, "compare", "bcast", "-n", "8", "--algorithms", "chain", "--default", "--csv", "-")
    assert [line.split(",")[2] for line in lines] == ["algorithm", "chain", "default: circulant"]


def liar(operation: str, kind: str, *asked: Any) -> list[Contender]:
    """A chain that claims to take no time, beside one that is honest."""
    chain = find("bcast", "chain")
    false = replace(chain, name="liar", closed_time=lambda case, t_s, t_w: 2 * t_s)
    return [Contender("chain", chain, {}), Contender("liar", false, {})]


def test_measuring_says_where_a_claim_is_wrong(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """With both numbers; the table has what was measured."""
    monkeypatch.setattr("fakempi.cli.comparing.contenders", liar)
    words = ["compare", "bcast", "-n", "2..64", "--cost", "hockney:t_s=1,t_w=0,eager_limit=0", "--no-plot"]
    lines = printed(capsys, *words, "--measure")
    assert lines[3:5] == [
        "chain        1 s •*  3 s •*  7 s •*  15 s •*  31 s •*  63 s •*",
        "liar         1 s ≠*  3 s ≠*  7 s ≠*  15 s ≠*  31 s ≠*  63 s ≠*",
    ]
    assert lines[7:] == [
        "  liar ≠ claimed and measured differ at 2 ranks: 2 s and 1 s",
        "  liar ≠ claimed and measured differ at 4 ranks: 2 s and 3 s",
        "  liar ≠ claimed and measured differ at 8 ranks: 2 s and 7 s",
        "  liar ≠ they differ in 3 more columns",
        "  * the fastest   • measured, emulated   ≠ measured; claimed and measured differ",
    ]
    believed = printed(capsys, *words)
    assert believed[4].split()[:3] == ["liar", "2", "s"]
    assert not any("differ" in line for line in believed)
    monkeypatch.undo()
    honest = printed(capsys, *words, "--measure", "--algorithms", "chain")
    assert "  claimed and measured agree, wherever something is claimed" in honest


def test_figures_go_to_files_in_seconds(capsys: Capture, tmp_path: Path) -> None:
    """With all digits; the tables are printed as well."""
    comma, brace = tmp_path / "a.csv", tmp_path / "a.json"
    words = ["compare", "allgatherv", "-n", "4,6", "--bytes", "8,16", "--distribution", "spike", "--algorithms", "ring"]
    words += ["--cost", "hockney:t_s=8,t_w=0.5,eager_limit=0"]
    assert printed(capsys, *words, "--csv", str(comma), "--json", str(brace))[0].startswith("allgatherv, 4 ranks, spike")
    records = json.loads(brace.read_text())
    assert [(each["p"], each["bytes"]) for each in records] == [(4, 8), (4, 16), (6, 8), (6, 16)]
    assert records[0] == {
        "operation": "allgatherv", "kind": "intra", "algorithm": "ring", "p": 4, "q": 0, "bytes": 8,
        "distribution": "spike", "seconds": 48.0, "how": "claimed", "claimed": 48.0, "measured": None,
        "differ": None, "bound": 21.5, "refused": "", "cost": "hockney:t_s=8,t_w=0.5,eager_limit=0",
    }  # fmt: skip
    lines = list(csv.DictReader(comma.read_text().splitlines()))
    assert [float(line["seconds"]) for line in lines] == [each["seconds"] for each in records]
    assert lines[0] == {name: "" if value is None else str(value) for name, value in records[0].items()}


def test_figures_on_standard_output_are_all_there_is(capsys: Capture) -> None:
    """So that another program can read them; what was refused has its reason."""
    words = ["compare", "allgather", "-n", "6", "--measure", "--algorithms", "ring,recursive_doubling"]
    served, refused = json.loads("\n".join(printed(capsys, *words, "--json", "-")))
    assert (served["how"], served["differ"], served["claimed"]) == ("measured", False, served["measured"])
    assert (refused["seconds"], refused["how"], refused["refused"]) == (None, "", "p = 6 is not a power of two")
    lines = list(csv.DictReader(printed(capsys, *words, "--csv", "-")))
    assert [line["differ"] for line in lines] == ["false", ""]


def test_own_counts_are_read_from_a_file(capsys: Capture, tmp_path: Path) -> None:
    """As many as there are ranks; two lists are two groups."""
    file = tmp_path / "mine.txt"
    file.write_text("5\n0\n4k\n")
    lines = printed(capsys, "compare", "allgatherv", "--counts", str(file), "--algorithms", "ring")
    assert lines[0] == "allgatherv, blocks of mine.txt, 1,367 B on average, hockney:eager_limit=0"
    assert lines[1].split() == ["ranks", "3"]
    file.write_text("[[5, 0, 4096], [1, 2]]")
    lines = printed(capsys, "compare", "inter:allgatherv", "--counts", str(file), "-n", "3+2")
    assert lines[1].split() == ["ranks", "3+2"]
    for words, error in [
        (["-n", "4+2"], f"{file} has counts for 3+2 ranks, but -n says 4+2."),
        (["--bytes", "8"], "--counts says how large blocks are: leave out --bytes and --distribution."),
    ]:
        assert main(["compare", "inter:allgatherv", "--counts", str(file), *words]) == 2
        assert capsys.readouterr().err == f"fakempi compare: {error}\n"
    assert main(["compare", "allgatherv", "--counts", str(file)]) == 2
    assert "there are 2 lists of counts, and 1 group" in capsys.readouterr().err


def test_processes_give_the_same(capsys: Capture, width: int) -> None:
    """Whatever --jobs says; once is enough, since processes take long to start."""
    if width == 80:
        words = ["compare", "bcast", "-n", "2..8", "--measure"]
        assert printed(capsys, *words, "--jobs", "2") == printed(capsys, *words, "--jobs", "1")


def test_a_machine_is_put_beside_the_model(capsys: Capture, tmp_path: Path) -> None:
    """With the ranks, sizes and algorithms of the file, unless others are asked for."""
    file = tmp_path / "m.csv"
    file.write_text(
        "operation,kind,algorithm,p,q,bytes,distribution,seconds\n"
        "bcast,intra,binomial,4,0,8,,4\nbcast,intra,binomial,4,0,16,,6\n"
        "bcast,intra,chain,4,0,8,,3\nbcast,intra,linear,4,0,8,,\n"
    )
    words = ["compare", "bcast", "--beside", str(file), "--cost", "hockney:t_s=1,t_w=0,eager_limit=0", "--no-plot"]
    lines = printed(capsys, *words)
    assert lines[0].startswith("bcast, 4 ranks, hockney:t_s=1,t_w=0,eager_limit=0, beside")
    assert lines[-12:] == [
        "bytes               8 B     16 B",
        "───────────────────────────────────",
        "binomial  modelled  2 s ◦*   2 s ◦*",
        "          measured  4 s      6 s  *",
        "          ratio     2 ×      3 ×",
        "",
        "chain     modelled  3 s ◦    3 s ◦",
        "          measured  3 s  *     -",
        "          ratio     1 ×        -",
        "  ratio: measured / modelled, from 1 to 3",
        "  the same is the fastest in 0 of 1 columns",
        "  * the fastest   ◦ claimed, on paper",
    ]
    lines = printed(capsys, *words, "-n", "2,4", "--bytes", "8", "--algorithms", "chain")
    assert lines[-5:-2] == [
        "chain  modelled  1 s ◦*  3 s ◦*",
        "       measured    -     3 s  *",
        "       ratio       -     1 ×",
    ]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["list", "allgathr"], "operation 'allgathr' is unknown: did you mean allgather? There are allgather, "),
        (["compare", "nothing"], "operation 'nothing' is unknown: There are allgather, "),
        (["compare", "allgather", "--algorithms", "rng"], "allgather: there is no algorithm 'rng'; there are bruck, "),
        (["compare", "bcast", "-n", "6+2"], "bcast is within one group: say -n 8, not -n 6+2, or inter:bcast."),
        (["compare", "inter:allgather"], "inter:allgather is between two groups: say -n 16+16, not -n 16."),
        (["compare", "bcast", "--distribution", "spike"], "bcast has blocks of one size: --distribution "),
        (["compare", "gatherv", "--distribution", "spke"], "distribution 'spke' is unknown: did you mean spike?"),
        (["compare", "chain:sort"], "chain:sort is part of other algorithms and not compared; fakempi list shows it."),
        (["compare", "bcast", "--bytes", "1z"], "'1z' is not a number."),
        (["compare", "bcast", "--csv", "-", "--json", "-"], "--csv - and --json - would be mixed up: send one "),
        (["compare", "bcast", "--csv", "/nowhere/a.csv"], "/nowhere/a.csv cannot be written: there is no folder /nowhere."),
        (["compare", "bcast", "--counts", __file__], f"{__file__} line 1: "),
        (["compare", "bcast", "--beside", __file__], f"{__file__} has no column 'operation': it is not from python -m "),
    ],
)
def test_wrong_use_is_told_in_a_line(words: list[str], error: str, capsys: Capture) -> None:
    """And ends with 2."""
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fakempi {words[0]}: {error}")


@pytest.mark.parametrize("words", ["collectives", "fakempi --help", "fakempi list", "fakempi tour --list"])
def test_a_reader_that_leaves_is_no_error(words: str) -> None:
    """As in `fakempi list | head -1`."""
    command = [sys.executable, "-m", *words.split()]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == b""
