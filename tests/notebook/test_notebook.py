"""Notebooks: the cell magic, representations of objects, and the example."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import phantom
from fakempi.apps.notebook import run_cell
from tests.helpers.packages import needs

DEMOS = Path(__file__).parents[2] / "demos"
REQUIRED = {"notebook.ipynb": (), "figures.ipynb": ("pandas", "matplotlib")}


class Shell:
    """The part of IPython that the magic uses."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}


def test_a_cell_runs_on_ranks(capfd: pytest.CaptureFixture[str]) -> None:
    """As a script: mpi4py is the emulator, names are private, and the run can be stored."""
    shell = Shell()
    cell = "from mpi4py import MPI\nif MPI.COMM_WORLD.rank == 2: print('two of', MPI.COMM_WORLD.size)"
    result = run_cell("-n 3 -o kept --prefix", cell, shell)
    assert capfd.readouterr().out == "[2] two of 3\n"
    assert shell.user_ns == {"kept": result}
    assert len(result.clocks) == 3


def test_a_comment_in_a_cell_suppresses_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    """Also with `--keep`, whose cells have lines of the same names. One that suppresses nothing is reported."""
    cell = "from mpi4py import MPI\nMPI.COMM_WORLD.rank or MPI.COMM_WORLD.send(1, 1){}\n"
    shell, comment = Shell(), "  # fakempi: ignore[message-lost] known"
    for options in ("", "--keep"):
        result = run_cell(f"-n 2 {options}", cell.format(comment), shell)
        assert [len(result.findings), len(result.suppressed)] == [0, 1]
        assert len(run_cell(f"-n 2 {options}", cell.format(""), shell).findings) == 1
    assert not run_cell("-n 2 --ignore message-lost", cell.format(""), shell).findings
    assert capsys.readouterr().err == ""
    run_cell("-n 2 --ignore epoch,file-leak", "pass", shell)
    assert capsys.readouterr().err == "2 suppressions match no finding: ignore epoch; ignore file-leak\n"


def test_a_failing_cell_reports_the_line() -> None:
    """The line of the cell; the results up to then are available."""
    shell = Shell()
    with pytest.raises(fakempi.DeadlockError, match=r"recv\(source=0, tag=ANY\) at cell\.py:2") as caught:
        run_cell("-n 2 --trace", "from mpi4py import MPI\nMPI.COMM_WORLD.recv(source=0)", shell)
    assert shell.user_ns["_mpi"] is caught.value.trace


def test_wrong_options_are_reported() -> None:
    """They do not end the notebook."""
    with pytest.raises(ValueError, match=r"^%%mpi: the following arguments are required: -n/-np\.$"):
        run_cell("", "pass", Shell())
    with pytest.raises(ValueError, match="run this cell, a program that starts with"):
        run_cell("--help", "pass", Shell())


def main(comm: Any) -> None:
    """A message to the same rank."""
    comm.Sendrecv(phantom(8), comm.rank, 0, phantom(8), comm.rank, 0)


def test_objects_have_html_representations() -> None:
    """A run and its trace as a page in a frame, measures as a table; a run without a trace as its line."""
    run = fakempi.run(main, 2, trace=True)
    assert run.trace is not None
    drawn = run._repr_html_()
    assert drawn is not None
    assert drawn.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert 'id="timeline"' in unescape(drawn)
    assert 'title="A run of fakempi on 2 ranks"' in drawn
    measures = run.trace.measure()._repr_html_() or ""
    assert "<th style='text-align:left'>ranks</th><td style='text-align:left'>2</td>" in measures
    assert "<th style='text-align:left'>rounds</th>" in measures
    assert fakempi.run(main, 2)._repr_html_() is None


def test_a_deadlock_has_an_html_representation() -> None:
    """The report, and the page if there is a trace."""
    for trace in (False, True):
        with pytest.raises(fakempi.DeadlockError) as caught:
            fakempi.run(lambda comm: comm.recv(), 2, trace=trace)
        drawn = caught.value._repr_html_()
        assert drawn.startswith("<pre>deadlock at t = 0 s: 2 of 2 ranks are blocked")
        assert ("<iframe" in drawn) == trace


def test_a_large_trace_is_not_embedded_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """The output states what to do instead."""
    monkeypatch.setattr("fakempi.view.loading.MAXIMUM", 1)
    run = fakempi.run(main, 2, trace=True)
    assert run._repr_html_() == "<p>2 ranks, 2 messages: use <code>trace.save('page.html')</code> to create a page.</p>"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A real IPython shell, which writes nothing into the home directory."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    interactive = needs("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell.instance()
    yield shell
    interactive.InteractiveShell.clear_instance()


@pytest.mark.parametrize("name", REQUIRED)
def test_the_example_has_the_output_of_its_cells(
    name: str, shell: Any, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every cell is run, and its output equals that in the file."""
    for package in REQUIRED[name]:
        needs(package)
    monkeypatch.setenv("MPLBACKEND", "agg")  # no window
    for cell in json.loads((DEMOS / name).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            shell.run_cell(cell["source"]).raise_error()
            lines = capfd.readouterr().out.splitlines()
            printed = "".join(f"{line}\n" for line in lines if line and not line.startswith("Out["))
            assert printed == "".join("".join(output["text"]) for output in cell["outputs"])


def test_cells_continue_with_the_variables_of_each_rank_if_asked(capfd: pytest.CaptureFixture[str]) -> None:
    """Functions see the new values, COMM_WORLD is that of the new run, and other cells see nothing."""
    shell = Shell()
    first = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nmine = comm.rank\ndef total(): return comm.allreduce(mine)"
    run_cell("-n 3 --keep", first, shell)
    run_cell("-n 3 --keep", "mine += 10\nif comm.rank == 0: print(total())\nelse: total()", shell)
    assert capfd.readouterr().out == "33\n"
    with pytest.raises(fakempi.RankError, match="name 'mine' is not defined"):
        run_cell("-n 3", "print(mine)", shell)
    with pytest.raises(ValueError, match=r"earlier cells ran on 3 ranks, but -n is 4: use -n 3, or --reset"):
        run_cell("-n 4 --keep", "pass", shell)
    with pytest.raises(fakempi.RankError, match="name 'mine' is not defined"):
        run_cell("-n 4 --keep --reset", "print(mine)", shell)
    run_cell("-n 4 --keep", "mine = 1", shell)  # the ranks that had not started when rank 0 failed, too


def test_a_notebook_shows_the_lines_of_the_cell_and_no_frames_of_the_emulator(
    shell: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """An error of a rank, a deadlock, and a wrong option; each in a few lines."""
    shell.run_line_magic("load_ext", "fakempi")
    cell = "from mpi4py import MPI\ndef divide(n):\n    return 1 / n\nif MPI.COMM_WORLD.rank == 1:\n    divide(0)\n"
    for line, text, expected in (
        (
            "-n 2",
            cell,
            [
                "rank 1 failed with ZeroDivisionError: division by zero",
                "  cell.py:5: divide(0)",
                "  cell.py:3: return 1 / n",
            ],
        ),
        ("-n x", cell, ["%%mpi: argument -n/-np: invalid int value: 'x'.", "usage: %%mpi -n RANKS"]),
        ("-n 2", "from mpi4py import MPI\nMPI.COMM_WORLD.recv()", ["deadlock at t = 0 s: 2 of 2 ranks are blocked"]),
        ("-n 2", "a b", ["SyntaxError: invalid syntax"]),
        ("-n 2", "print(comm.rank)", ["  cell.py:1: print(comm.rank)", "start it with from mpi4py import MPI; comm ="]),
    ):
        result = shell.run_cell(f"%%mpi {line}\n{text}")
        out = capfd.readouterr().out
        assert result.error_in_exec is not None
        assert all(part in out for part in expected)
        assert "notebook.py" not in out
