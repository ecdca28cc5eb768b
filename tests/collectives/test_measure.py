"""`python -m collectives.measure` on the emulator, where all repeats take the same time: times and error messages."""

from __future__ import annotations

import builtins
import csv
from pathlib import Path
from typing import Any

import pytest

from collectives import Algorithm, find, measure
from collectives.distributions import DISTRIBUTIONS
from collectives.trials.cases import make_case
from fakempi.apps.cli import main
from fakempi.compare import sweep
from tests.cli.test_running import Capture

COST = "hockney:t_s=8,t_w=0.5,eager_limit=0"


def measured(capsys: Capture, ranks: int, *words: str, cost: str = COST, code: int = 0) -> tuple[str, str]:
    """Return standard output and standard error of a run on virtual ranks."""
    assert main(["run", "-n", str(ranks), "--quiet", "--cost", cost, "-m", "collectives.measure", *words]) == code
    out, err = capsys.readouterr()
    return out, err


def with_default_parts(algorithm: Algorithm, p: int, q: int, nbytes: int) -> Any:
    """Return the time of an algorithm with its default parts; a sweep takes them from a table."""
    return algorithm.time(make_case(algorithm.operation, p, q, nbytes, DISTRIBUTIONS["regular"]), 8, 0.5)


@pytest.mark.quick(1)
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
def test_modeled_time_is_what_a_sweep_measures(ranks: int, words: list[str], kind: str, capsys: Capture) -> None:
    """The times are exactly equal: the barrier starts all ranks at one time, elements are bytes, and no float is rounded."""
    lines = list(csv.DictReader(measured(capsys, ranks, *words, "--repeats", "3", "--csv", "-")[0].splitlines()))
    sizes = [int(size) for size in words[-1].split(",")]
    operation, pair = words[0].rpartition(":")[2], (4, 2) if kind == "inter" else (ranks, 0)
    made = sweep(operation, [pair], sizes, cost=COST, kind=kind, measure=True, dtype="char")
    found = {(line["algorithm"], int(line["bytes"])): line for line in lines}
    for column in made.columns:
        for name, case_time in column.case_times.items():
            line = found.pop((name, column.nbytes))
            assert line["refused"] == case_time.refused
            if case_time.claimed is not None:  # otherwise the time depends on the order of simultaneous events
                algorithm = find(operation, name, kind)
                parts = any(isinstance(default, Algorithm) for default in algorithm.parameters.values())
                expected = with_default_parts(algorithm, *pair, column.nbytes) if parts else case_time.emulated
                assert float(line["seconds"]) == float(line["least"]) == float(line["most"]) == expected
    assert found == {}


def test_process_0_prints_a_table(capsys: Capture) -> None:
    """A star marks the fastest algorithm; algorithms that do not fit have the reason."""
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


def test_counts_and_distributions_are_measured(capsys: Capture, tmp_path: Path) -> None:
    """The column `distribution` has the name of the file or of the distribution."""
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
    """Its label is the path as typed, with the parameters."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import replace\nfrom collectives import find\n"
        "def bcast_mine(comm, buf, **keywords):\n    find('bcast', 'chain').run(comm, buf, **keywords)\n"
        "ALGORITHM = replace(find('bcast', 'chain'), name='mine', run=bcast_mine)\n"
    )
    names = f"chain(segment_bytes=4),{file}(segment_bytes=4)"
    out, _ = measured(capsys, 3, "bcast", "--bytes", "8", "--algorithms", names, "--repeats", "1", "--csv", "-")
    bundled, from_file = csv.DictReader(out.splitlines())
    assert (bundled["algorithm"], from_file["algorithm"]) == ("chain(segment_bytes=4)", f"{file}(segment_bytes=4)")
    assert bundled["seconds"] == from_file["seconds"]


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("spit", "unknown operation 'spit': use allgather, "),
        ("outer:bcast", "unknown operation 'outer:bcast': use an intra, inter or split operation."),
        ("inter:bcast", "inter:bcast needs two groups: add --groups P+Q, such as --groups 6+2."),
        ("bcast --groups 1+1", "bcast uses one group: --groups is for inter:bcast."),
        ("inter:bcast --groups 2+1", "--groups 2+1 has 3 processes, but the job has 2."),
        ("bcast --repeats 0", "--repeats 0 measures nothing: use 1 or more."),
        ("bcast --bytes 8,x", "'x' is not a number: use a form such as 0, 1500, 64k or 1M."),
        ("bcast --distribution spike", "bcast has equal blocks: --distribution is for gatherv, "),
        ("gatherv --distribution spke", "unknown distribution 'spke': use regular, "),
        ("gatherv --counts COUNTS", "COUNTS has counts for 3 processes, but the job has 2."),
        ("gatherv --counts COUNTS --bytes 8", "--counts specifies the block sizes: remove --bytes and --distribution."),
        ("bcast --algorithms chian", "no intra algorithm 'chian' for bcast; available: binary, bine, "),
        ("bcast --algorithms chain(size=3)", "chain(size=3): 'size=3' is not of the form parameter=value; parameters: "),
        ("bcast --algorithms chain)", "'chain)' is not an algorithm: use a form such as ring, chain(segment_bytes=4k) or "),
        ("bcast --algorithms ./nowhere.py", "./nowhere.py cannot be loaded: "),
    ],
)
def test_usage_errors_are_reported_once(words: str, error: str, capsys: Capture, tmp_path: Path) -> None:
    """The message is one line, and the exit code is 2."""
    file = tmp_path / "counts"
    file.write_text("[1, 2, 3]")
    _, err = measured(capsys, 2, *words.replace("COUNTS", str(file)).split(), code=2)
    assert err.startswith(f"collectives.measure: {error.replace('COUNTS', str(file))}")
    assert len(err.splitlines()) == 1


def test_without_mpi4py_the_message_shows_the_commands(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """`--help` works without mpi4py."""
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
