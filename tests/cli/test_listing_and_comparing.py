"""`fakempi list` and `fakempi compare`: what they print, and what they refuse."""

from __future__ import annotations

import subprocess
import sys
from itertools import takewhile

import pytest

from collectives import CATALOGUE
from fakempi.cli import main
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
        "ranks                    2       4       6",
        "──────────────────────────────────────────",
        "bruck                1 s *   2 s *   3 s *",
        "circulant            1 s *   2 s *   3 s *",
        "gather_bcast           2 s     4 s     6 s",
        "neighbor_exchange    1 s *   2 s *   3 s *",
        "recursive_doubling   1 s *   2 s *       -",
        "ring                 1 s *     3 s     5 s",
        "",
        "lower bound            1 s     2 s     3 s",
        "  recursive_doubling - p = 6 is not a power of two",
    ]
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
