"""Custom algorithms on the command line: run, compared, listed, or rejected in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collectives import Case
from demos.knomial import bcast_my_knomial
from fakempi.apps.cli import main
from tests.cli.test_running import Capture, execute

KNOMIAL = Path(__file__).parents[2] / "demos" / "knomial.py"
COST = "hockney:t_s=1,t_w=0,eager_limit=0"
BROADCAST = "import numpy\nx = numpy.full(3, comm.rank)\ncomm.Bcast(x, root=1)\nassert (x == 1).all()\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a directory that contains the file."""
    (tmp_path / "knomial.py").write_bytes(KNOMIAL.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize(
    ("requested", "k"),
    [("bcast=./knomial.py", 4), ("bcast=knomial.py(k=2)", 2), ("mpich,bcast='./knomial.py'(k=16)", 16)],
)
def test_a_file_is_run(requested: str, k: int, backend: Any, capsys: Capture) -> None:
    """With parameters, and together with a table; every message takes a second."""
    assert execute(BROADCAST, "--algorithms", requested, "--cost", COST, "--backend", backend, "--summary", ranks=16) == 0
    time = bcast_my_knomial.time(Case(16, 24, parameters={"k": k}), 1, 0)
    calls = "  bcast: 0 fused, 1 emulated (<intra bcast my_knomial>, or a part of it, may be user-defined)\n"
    assert capsys.readouterr() == ("", f"fakempi: 16 ranks, {time} s, 15 messages, 360 B\n{calls}")


def test_a_file_is_compared(capsys: Capture) -> None:
    """The row has the algorithm's name."""
    words = ["compare", "bcast", "-n", "2..16", "--algorithms", "binomial,./knomial.py,knomial.py(k=2)", "--cost", COST]
    assert main([*words, "--no-plot"]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "bcast, 1 KiB, 1-byte char, hockney:t_s=1,t_w=0,eager_limit=0",
        "ranks              2       4       8      16",
        "───────────────────────────────────────────────",
        "binomial         1 s ◦*  2 s ◦*  3 s ◦*  4 s ◦*",
        "my_knomial       1 s ◦*  3 s ◦   4 s ◦   6 s ◦",
        "my_knomial(k=2)  1 s ◦*  2 s ◦*  3 s ◦*  4 s ◦*",
        "",
        "lower bound      1 s     2 s     3 s     4 s",
        "  * the fastest   ◦ claimed (from a formula)",
    ]


def test_algorithms_of_the_same_name_are_distinguished_by_file(tmp_path: Path, capsys: Capture) -> None:
    """Or by number."""
    (tmp_path / "other.py").write_bytes(KNOMIAL.read_bytes())
    words = ["compare", "bcast", "-n", "4", "--no-plot", "--cost", COST, "--algorithms"]
    assert main([*words, "./knomial.py,./other.py,./other.py"]) == 0
    names = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[3:6]]
    assert names == ["my_knomial", "./other.py", "./other.py #3"]


def test_parameters_of_every_kind_are_compared(capsys: Capture) -> None:
    """Nested parameters, lists and rules; the rules use the costs of the comparison."""
    requested = (
        "cluster_blocked_ring(nodes=[0,1,0,1]),blocked_ring(block_bytes=sqrt),blocked_ring(block_bytes=sqrt(t_s=1,t_w=0)),"
        "gather_bcast(gatherv=linear,bcast=chain(segment_bytes=4k))"
    )
    words = ["compare", "allgatherv", "-n", "4", "--bytes", "64k", "--distribution", "spike", "--no-plot", "--algorithms"]
    assert main([*words, requested]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[3:7]]
    assert [line[0] for line in lines] == [
        "cluster_blocked_ring(nodes=[0,1,0,1],block_bytes=16k)",
        "blocked_ring(block_bytes=sqrt)",
        "blocked_ring(block_bytes=sqrt(t_s=1,t_w=0))",
        "gather_bcast(gatherv=linear,bcast=chain(segment_bytes=4096))",
    ]
    assert ["*" in line[-1] for line in lines] == [True, False, False, False]


def test_a_file_shows_its_card(capsys: Capture) -> None:
    """The card may be missing; the list reports that."""
    assert main(["list", "./knomial.py"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "bcast my_knomial"
    assert "  parameters     k=4" in lines
    assert "  from           ./knomial.py" in lines
    text = "from collectives import Algorithm\nALGORITHM = Algorithm('bcast', 'bare', max, None, parameters={'f': max})\n"
    Path("bare.py").write_text(text)
    assert main(["list", "bare.py"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:3] == ["bcast bare", "  parameters  f=max", "  from        bare.py"]
    assert lines[3].startswith("  lacks       Rounds, ")


def test_invalid_algorithms_of_packages_are_named(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing else changes."""
    info = tmp_path / "vain-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vain\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fakempi.algorithms]\nmine = no_such_vain_module:ALGORITHM\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("collectives.loading._installed", None)
    assert main(["list", "bcast"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("fakempi: vain 1.0: algorithm mine is skipped: no_such_vain_module:ALGORITHM cannot be ")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["list", "./gone.py"], "./gone.py cannot be loaded: no such file or directory."),
        (["list", "./wrong.py"], "./wrong.py cannot be loaded: line 2: invalid syntax."),
        (["compare", "bcast", "--algorithms", "./wrong.py"], "bcast: ./wrong.py cannot be loaded: line 2: invalid syntax."),
        (["compare", "gather", "--algorithms", "./knomial.py"], "gather: my_knomial of ./knomial.py is for bcast, not for "),
        (["compare", "bcast", "--algorithms", "./knomial.py(j=1)"], "bcast: my_knomial has no parameter 'j'; there is k."),
        (["compare", "bcast", "--algorithms", "chain(segment_bytes=x)"], "bcast: chain: segment_bytes must be an "),
        (["run", "-n", "2", "--algorithms", "bcast=./gone.py", "-c", ""], "bcast: ./gone.py cannot be loaded: no such"),
        (["run", "-n", "2", "--algorithms", "./knomial.py", "-c", ""], "'./knomial.py' is not an operation with an "),
        (["run", "-n", "2", "--algorithms", "inter:bcast=./knomial.py", "-c", ""], "inter:bcast: my_knomial of ./knom"),
        (["run", "-n", "2", "--algorithms", "bcast=./knomial.py(k=x)", "-c", ""], "bcast: my_knomial: k must be an "),
    ],
)
def test_usage_errors_are_reported_in_one_line(words: list[str], error: str, capsys: Capture) -> None:
    """The exit code is 2."""
    Path("wrong.py").write_text("\ndef f(:\n")
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fakempi {words[0]}: {error}")
