"""`--compare across`: results that must not depend on the number of ranks."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi.apps.cli import main
from fakempi.core.result_comparison import Difference, first_difference, of_output
from fakempi.errors import MPIValueError
from fakempi.mpi.diagnostics.results import ProgramResults
from tests.numbered.program import START

Capture = pytest.CaptureFixture[str]
LOST = "total = comm.allreduce(sum(0.5 * i for i in range(rank * (12 // size), (rank + 1) * (12 // size))))\n"
PRINTED = LOST + "if rank == 0: print(f'total: {total:.2f}')\n"
RECORDED = LOST + "import fakempi\nif rank < 2: fakempi.result('total', {'half': total})\nprint('on', size)\n"


def call(command: str, directory: Path, body: str, *words: str) -> int:
    """Call a command with a script on 1 to 6 ranks, and compare the results."""
    script = directory / "work.py"
    script.write_text(START + body, encoding="utf-8")
    return main([command, "-n", "1..6", "--compare", "across", *words, str(script)])


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("command", "body", "where"),
    [("check", PRINTED, "output of rank 0, line 1, number 1"), ("run", RECORDED, "total['half']")],
)
def test_a_lost_remainder_is_found_by_its_result(
    command: str, body: str, where: str, tmp_path: Path, capfd: Capture
) -> None:
    """Every number runs without an error. The report has both numbers, both values, and a command that repeats it."""
    assert call(command, tmp_path, body) == 1
    printed = capfd.readouterr()
    text = printed.out if command == "check" else printed.err
    assert f"5 ranks  fails: its results differ from those on 1 rank: {where} (" in text
    assert f"{where}: 33.0 on 1 rank, 22.5 on 5 ranks\n" in text
    assert "difference: 10.5, relative 0.318\n" in text
    assert "changes by at most 0, so the order across ranks does not explain it; a sum within a rank would need" in text
    assert "clean on 1..4 ranks" in text or "passes on 1..4 ranks" in text
    replay = shlex.split(next(line for line in text.splitlines() if line.strip().startswith("replay: ")))[2:]
    assert replay[:5] == ["run", "-n", "1,5", "--compare", "across"]
    assert command == "check" or main(replay) == 1


def test_another_order_of_operands_explains_a_difference(tmp_path: Path, capfd: Capture) -> None:
    """Three algorithms add these numbers in another order, with another result."""
    body = (
        "x = {1: [0.6], 2: [0.1, 0.5], 3: [0.1, 0.2, 0.3]}[min(size, 3)]\n"
        "total = np.zeros(8)\ncomm.Allreduce(np.full(8, x[rank] if rank < 3 else 0.0), total)\n"
        "import fakempi\nfakempi.result('total', total)\n"
    )
    assert call("run", tmp_path, body, "--tolerance", "0") == 1
    text = capfd.readouterr().err
    assert "total[0]: 0.6 on 1 rank, 0.6" in text
    assert "the value changes by up to 1.11e-16, so the order of operands explains the difference\n" in text


def test_equal_results_and_rounding_are_clean(tmp_path: Path, capfd: Capture) -> None:
    """The tolerance of floating-point numbers is 1e-9 by default; --tolerance 0 requires equal bits."""
    body = "total = comm.allreduce(sum(1 / (i + 1) for i in range(rank, 1000, size)))\nif rank == 0: print(total)\n"
    assert call("run", tmp_path, body) == 0
    assert call("run", tmp_path, body, "--tolerance=0") == 1
    text = capfd.readouterr().err
    assert "terms can differ by this much" in text
    assert "--tolerance 0" in text


def test_a_value_that_is_the_number_of_ranks_gets_advice(tmp_path: Path, capfd: Capture) -> None:
    """A program may print its number of ranks."""
    assert call("check", tmp_path, "if rank == 0: print('on', size, 'ranks')\n", "--quiet") == 1
    assert "the values are the numbers of ranks: if they are meant to be, record results" in capfd.readouterr().out


def test_a_run_for_the_comparison_that_fails_is_a_failure(
    tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of a program that finds its own file."""
    monkeypatch.chdir(tmp_path)
    assert call("run", tmp_path, "if rank == 0: open(f'{size}.txt', 'x').close()\n") == 1
    text = capfd.readouterr().err
    assert "1 rank   fails: the run for the comparison fails, after others that did not: rank 0 failed" in text
    assert text.splitlines()[-1].startswith("  replay: fakempi run -n 1 ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["check", "-n", "4", "--compare", "across"], "--compare across needs several numbers of ranks, such as -n 1..8"),
        (["run", "-n", "1..2", "--compare", "across", "--processes"], "needs ranks in one process: remove --processes"),
        (["run", "-n", "1..2", "--compare", "across", "--hash-seeds"], "needs ranks in one process: remove --processes"),
        (["check", "-n", "1..2", "--tolerance", "1"], "--tolerance has no effect without --compare across"),
        (["check", "-n", "1..2", "--compare", "none,lines"], "none,lines is not a comparison"),
    ],
)
def test_options_that_cannot_work_are_rejected(words: list[str], sentence: str, tmp_path: Path, capsys: Capture) -> None:
    script = tmp_path / "work.py"
    script.write_text("", encoding="utf-8")
    assert main([*words, str(script)]) == 2
    assert sentence in capsys.readouterr().err


def parts_of(value: Any, tolerance: float | None = None) -> Any:
    """Return the recorded parts of a value."""
    found: list[Any] = []

    def record(comm: Any) -> None:
        fakempi.result("it", value, tolerance=tolerance)
        found.append(fakempi.mpi.base.current.running_process().universe.state(ProgramResults))

    fakempi.run(record, 1)
    return found[0].of_lowest_rank()


@pytest.mark.parametrize(
    ("left", "right", "place", "values"),
    [
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]), "[1, 1]", (4, 5)),
        (np.zeros(2), np.zeros(3), ".shape", ((2,), (3,))),
        ({"a": [1, 2.0]}, {"a": [1, 2.1]}, "['a'][1]", (2.0, 2.1)),
        ([1], [1, 2], " (length)", (1, 2)),
        ("text", "test", "", ("text", "test")),
        (10**12, 10**12 + 1, "", (10**12, 10**12 + 1)),
        (1, True, "", (1, True)),
        ({2, 1}, {1, 3}, "[1]", (2, 3)),
    ],
)
def test_the_first_part_that_differs_is_found(left: Any, right: Any, place: str, values: tuple[Any, Any]) -> None:
    """In arrays, mappings, sequences and sets; integers are compared exactly."""
    assert first_difference(parts_of(left), parts_of(right)) == Difference("it", place, *values)
    assert first_difference(parts_of(left), parts_of(left)) is None


def test_numbers_are_compared_within_the_tolerance() -> None:
    """That of the call if it has one; NaN equals NaN, and infinity only itself."""
    assert first_difference(parts_of(1.0), parts_of(1.0 + 1e-10)) is None
    assert first_difference(parts_of(1.0), parts_of(1.0 + 1e-8)) is not None
    assert first_difference(parts_of(1.0, 0.1), parts_of(1.05, 0.1)) is None
    assert first_difference(parts_of(float("nan")), parts_of(float("nan"))) is None
    assert first_difference(parts_of(float("inf")), parts_of(1e300)) is not None
    assert first_difference(parts_of(1), parts_of(1.0)) is None


def test_output_is_numbers_and_the_texts_between_them() -> None:
    assert first_difference(of_output("a 1.0 b\n"), of_output("a  1.00000000001  b\n")) is None
    expected = Difference("output of rank 0", ", line 2", "b", "c")
    assert first_difference(of_output("x\na 1 b"), of_output("x\na 1 c")) == expected


def test_result_has_no_effect_outside_a_run_and_rejects_a_wrong_tolerance() -> None:
    fakempi.result("nothing", 1)
    with pytest.raises(MPIValueError, match=r"result: tolerance is -1; it must be a number of at least 0\."):
        fakempi.result("nothing", 1, tolerance=-1)
