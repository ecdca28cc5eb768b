"""`python -m collectives.measure` on the emulator, where repeats are all alike: times, refusals, complaints."""

from __future__ import annotations

import builtins
import csv
from pathlib import Path
from typing import Any

import pytest

from collectives import find, measure
from collectives.distributions import DISTRIBUTIONS
from collectives.trials.cases import make_case
from fakempi.cli import main
from fakempi.compare import sweep
from tests.cli.test_running import Capture

COST = "hockney:t_s=8,t_w=0.5,eager_limit=0"


def measured(capsys: Capture, ranks: int, *words: str, cost: str = COST, code: int = 0) -> tuple[str, str]:
    """What it prints, on so many virtual ranks."""
    assert main(["run", "-n", str(ranks), "--quiet", "--cost", cost, "-m", "collectives.measure", *words]) == code
    out, err = capsys.readouterr()
    return out, err


def with_its_own_parts(name: str, nbytes: int) -> Any:
    """What an allgatherv between 4 and 2 ranks takes by itself: parts by a table are a communicator's."""
    case = make_case("allgatherv", 4, 2, nbytes, DISTRIBUTIONS["regular"])
    return find("allgatherv", name, kind="inter").time(case, 8, 0.5)


@pytest.mark.parametrize(
    ("ranks", "words", "kind"),
    [
        (6, ["bcast", "--bytes", "8,64"], "intra"),
        (5, ["reduce_scatter", "--bytes", "8"], "intra"),
        (4, ["alltoallw", "--bytes", "8"], "intra"),
        (6, ["allreduce", "--bytes", "64"], "intra"),
        (6, ["inter:allgatherv", "--groups", "4+2", "--bytes", "8"], "inter"),
    ],
)
def test_modelled_time_is_what_a_sweep_measures(ranks: int, words: list[str], kind: str, capsys: Capture) -> None:
    """Exactly: a barrier of whole steps starts all ranks together, and no float is rounded."""
    lines = list(csv.DictReader(measured(capsys, ranks, *words, "--repeats", "3", "--csv", "-")[0].splitlines()))
    sizes = [int(size) for size in words[-1].split(",")]
    operation, pair = words[0].rpartition(":")[2], (4, 2) if kind == "inter" else ranks
    made = sweep(operation, [pair], sizes, cost=COST, kind=kind, measure=True)
    found = {(line["algorithm"], int(line["bytes"])): line for line in lines}
    for column in made.columns:
        for name, figure in column.figures.items():
            line = found.pop((name, column.nbytes))
            assert line["refused"] == figure.refused
            if figure.claimed is not None:  # else it depends on who is first among equals
                alone = figure.measured if kind == "intra" else with_its_own_parts(name, column.nbytes)
                assert float(line["seconds"]) == float(line["least"]) == float(line["most"]) == alone
    assert found == {}


def test_a_table_is_printed_once(capsys: Capture) -> None:
    """By the first process; the fastest is marked, and who refuses says why."""
    words = ["allgather", "--bytes", "8", "--repeats", "2", "--algorithms", "ring,recursive_doubling,gather_bcast"]
    out, err = measured(capsys, 3, *words, cost="hockney:eager_limit=0")
    assert err == ""
    assert out == """\
allgather on 3 processes, 2 repeats, in microseconds, fakempi: an MPI emulator in one Python process

8 bytes                    median        least         most
  ring                       2.02         2.02         2.02 *
  recursive_doubling - p = 3 is not a power of two
  gather_bcast               4.06         4.06         4.06
"""


def test_own_counts_and_distributions_are_measured(capsys: Capture, tmp_path: Path) -> None:
    """A file of counts by its name, distributions by theirs."""
    file, into = tmp_path / "mine.txt", tmp_path / "out.csv"
    file.write_text("5, 0, 4")
    words = ["allgatherv", "--algorithms", "ring", "--repeats", "1", "--csv", str(into)]
    measured(capsys, 3, *words, "--counts", str(file))
    (line,) = csv.DictReader(into.read_text().splitlines())
    assert (line["distribution"], line["bytes"], line["p"], line["q"]) == ("mine.txt", "3", "3", "0")
    measured(capsys, 3, *words, "--distribution", "spike,half", "--bytes", "8,16")
    lines = list(csv.DictReader(into.read_text().splitlines()))
    assert [(each["distribution"], each["bytes"]) for each in lines] == [
        (name, size) for name in ("spike", "half") for size in ("8", "16")
    ]


def test_an_algorithm_of_a_file_is_measured(capsys: Capture, tmp_path: Path) -> None:
    """By the path that was typed, with parameters."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import replace\nfrom collectives import find\n"
        "def bcast_mine(comm, buf, **keywords):\n    find('bcast', 'chain').run(comm, buf, **keywords)\n"
        "ALGORITHM = replace(find('bcast', 'chain'), name='mine', run=bcast_mine)\n"
    )
    names = f"chain(segment_bytes=4),{file}(segment_bytes=4)"
    out, _ = measured(capsys, 3, "bcast", "--bytes", "8", "--algorithms", names, "--repeats", "1", "--csv", "-")
    ours, own = csv.DictReader(out.splitlines())
    assert (ours["algorithm"], own["algorithm"]) == ("chain(segment_bytes=4)", f"{file}(segment_bytes=4)")
    assert ours["seconds"] == own["seconds"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("spit", "operation 'spit' is unknown: there are allgather, "),
        ("outer:bcast", "operation 'outer:bcast' is unknown: there are intra, inter and split operations."),
        ("inter:bcast", "inter:bcast is between two groups: say --groups 6+2."),
        ("bcast --groups 1+1", "bcast is within one group: --groups is for inter:bcast."),
        ("inter:bcast --groups 2+1", "--groups 2+1 are 3 processes, but there are 2."),
        ("bcast --repeats 0", "--repeats 0 measures nothing."),
        ("bcast --bytes 8,x", "'x' is not a number of bytes: say 0, 1500, 64k or 1M."),
        ("bcast --distribution spike", "bcast has blocks of one size: --distribution is for gatherv, "),
        ("gatherv --distribution spke", "distribution 'spke' is unknown: there are regular, "),
        ("gatherv --counts COUNTS", "COUNTS has counts for 3 processes, but there are 2."),
        ("gatherv --counts COUNTS --bytes 8", "--counts says how large blocks are: leave out --bytes and --distribution."),
        ("bcast --algorithms chian", "no intra algorithm 'chian' for bcast; there are binomial, "),
        ("bcast --algorithms chain(size=3)", "chain(size=3): 'size=3' should be a parameter and its value; there are: "),
        ("bcast --algorithms chain)", "'chain)' should be an algorithm, such as ring, chain(segment_bytes=4k) or ./mine"),
        ("bcast --algorithms ./nowhere.py", "./nowhere.py cannot be loaded: "),
    ],
)
def test_wrong_use_is_told_once(words: str, error: str, capsys: Capture, tmp_path: Path) -> None:
    """In a sentence; the exit code is 2."""
    file = tmp_path / "counts"
    file.write_text("[1, 2, 3]")
    _, err = measured(capsys, 2, *words.replace("COUNTS", str(file)).split(), code=2)
    assert err.startswith(f"collectives.measure: {error.replace('COUNTS', str(file))}")
    assert len(err.splitlines()) == 1


def test_without_mpi4py_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """And explains itself all the same."""
    real = builtins.__import__

    def no_mpi4py(name: str, *rest: Any) -> Any:
        if name == "mpi4py":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_mpi4py)
    assert measure.main(["bcast"]) == 1
    assert "fakempi run -n 8 -m collectives.measure bcast" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        measure.main(["--help"])
    assert "--groups P+Q" in capsys.readouterr().out
