"""Notebooks: the cell magic, representations of objects, and the example."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import phantom
from fakempi.apps.notebook import run_cell
from fakempi.apps.notebook.reports import lines_of, table_of
from tests.helpers.packages import needs

ROOT = Path(__file__).parents[2]
REQUIRED = {"docs/notebook.ipynb": (), "demos/figures.ipynb": ("pandas", "matplotlib")}


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
        assert capsys.readouterr().err == ""
        assert len(run_cell(f"-n 2 {options}", cell.format(""), shell).findings) == 1
        capsys.readouterr()
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
    for cell in json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            result = shell.run_cell(cell["source"])
            out, err = capfd.readouterr()
            lines = [line for line in out.splitlines() if line and not line.startswith("Out[")]
            stored = {output.get("name", "error"): output for output in cell["outputs"]}
            if "error" in stored:
                assert result.error_in_exec.lines == stored["error"]["traceback"]
            else:
                result.raise_error()
                assert lines == stored.get("stdout", {"text": ""})["text"].splitlines()
            assert err == stored.get("stderr", {"text": ""})["text"]


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


def test_variables_go_to_ranks_and_come_back() -> None:
    """Each rank has its own copy; lists have None for a rank without the variable, or without a last expression."""
    shell = Shell()
    shell.user_ns |= {"data": [1, 2], "scale": 10}
    cell = "from mpi4py import MPI\nrank = MPI.COMM_WORLD.rank\ndata.append(rank)\nif rank: late = scale\n(rank, data)"
    run = run_cell("-n 3 --push data,scale --pull data --pull late", cell, shell)
    assert run.returns == [(0, [1, 2, 0]), (1, [1, 2, 1]), (2, [1, 2, 2])]
    assert shell.user_ns["data"] == [[1, 2, 0], [1, 2, 1], [1, 2, 2]]
    assert shell.user_ns["late"] == [None, 10, 10]
    for cell, expected in (
        ("x = 1", [None, None]),
        ("", [None, None]),
        ("for _ in 'ab': pass", [None, None]),
        ("3", [3, 3]),
    ):
        assert run_cell("-n 2", cell, shell).returns == expected
    assert run_cell("-n 2", "import sys\nsys.exit(3)", shell).returns == [3, 3]


def test_wrong_names_are_reported() -> None:
    """The sentence says how to correct them."""
    shell = Shell()
    shell.user_ns |= {"f": lambda: 1, "known": 1}
    for line, cell, sentence in (
        ("--push unknown", "1", "the notebook has no variable unknown"),
        ("--push f", "1", "cannot be pickled, so ranks cannot get copies"),
        ("--pull total", "1", "no rank has a variable total"),
        ("--push a.b", "1", "'a.b' is not the name of a variable"),
        ("--check --pull known", "1", "omit --pull"),
    ):
        with pytest.raises(ValueError, match=sentence):
            run_cell(f"-n 2 {line}", cell, shell)
    with pytest.raises(fakempi.RankError) as caught:
        run_cell("-n 2", "known + 1", shell)
    assert "known is a variable of the notebook: --push known gives each rank a copy" in lines_of(
        caught.value, "known", shell.user_ns
    )


def test_a_cell_is_checked_in_all_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    """Each run starts with new variables; the failure names the schedule, which a cell can repeat."""
    shell = Shell()
    shell.user_ns["seen"] = []
    cell = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nseen.append(1)\nassert seen == [1]\n"
    race = "if comm.rank == 0:\n    a = comm.recv()\n    comm.recv(source=2)\nelse: comm.send(1, 0)"
    assert not run_cell("-n 3 --push seen --check", cell, shell).failures
    assert capsys.readouterr().out.startswith("clean: all 2 schedules")
    with pytest.raises(fakempi.DeadlockError):
        run_cell("-n 3 --push seen --check", cell + race, shell)
    assert "replace --check by --schedule z:1\n" in capsys.readouterr().err
    with pytest.raises(fakempi.DeadlockError):
        run_cell("-n 3 --push seen --schedule z:1", cell + race, shell)


def test_a_failure_is_a_table_with_links_to_the_lines_of_the_cell() -> None:
    """Only its own lines; texts of the program are escaped."""
    deadlock = "from mpi4py import MPI\nother = 1 - MPI.COMM_WORLD.rank\nMPI.COMM_WORLD.recv(source=other)"
    error = "def f():\n    raise ValueError('<b>')\nf()"
    for cell, rows, line in ((deadlock, 2, 3), (error, 1, 2)):
        with pytest.raises(fakempi.RunError) as caught:
            run_cell("-n 2", cell, Shell())
        drawn = table_of(caught.value, cell)
        link = re.search(r'<a href="#(fakempi-\d+-(\d+))">line \2</a>', drawn)
        assert link is not None
        assert int(link[2]) == line
        assert drawn.count("<tr>") == 1 + rows
        assert drawn.count(f'id="{link[1]}"') == 1
        assert "<b>" not in drawn
    with pytest.raises(fakempi.FindingsError) as strict:
        run_cell("-n 2 --strict", "from mpi4py import MPI\nMPI.COMM_WORLD.rank or MPI.COMM_WORLD.send(1, 1)", Shell())
    assert table_of(strict.value, "") == ""


def test_findings_are_printed_and_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    """Below the cell, in the representation of the run, and in its page."""
    cell = "from mpi4py import MPI\nMPI.COMM_WORLD.rank or MPI.COMM_WORLD.send(1, 1)"
    run = run_cell("-n 2 --trace", cell, Shell())
    assert "message-lost: rank 0: send at cell.py:2" in capsys.readouterr().err
    assert repr(run).endswith(", 1 finding>")
    assert (run._repr_html_() or "").startswith("<pre>1 finding:</pre><pre>message-lost: rank 0")
