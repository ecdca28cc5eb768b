"""Notebooks: the cell magic, what objects show of themselves there, and the example."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import phantom
from fakempi.notebook import run_cell

EXAMPLE = Path(__file__).parents[2] / "demos" / "notebook.ipynb"


class Shell:
    """As much of IPython's as the magic touches."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}


def test_a_cell_runs_on_ranks(capfd: pytest.CaptureFixture[str]) -> None:
    """As a script: mpi4py is the emulator, names are its own, and the run can be kept."""
    shell = Shell()
    cell = "from mpi4py import MPI\nif MPI.COMM_WORLD.rank == 2: print('two of', MPI.COMM_WORLD.size)"
    result = run_cell("-n 3 -o kept --prefix", cell, shell)
    assert capfd.readouterr().out == "[2] two of 3\n"
    assert shell.user_ns == {"kept": result}
    assert len(result.clocks) == 3


def test_a_cell_that_fails_says_where() -> None:
    """By the line of the cell; what happened until then can be looked at."""
    shell = Shell()
    with pytest.raises(fakempi.DeadlockError, match=r"recv\(source=0, tag=ANY\) at cell\.py:2") as caught:
        run_cell("-n 2 --trace", "from mpi4py import MPI\nMPI.COMM_WORLD.recv(source=0)", shell)
    assert shell.user_ns["_mpi"] is caught.value.trace


def test_wrong_use_is_a_sentence() -> None:
    """And does not end the notebook."""
    with pytest.raises(ValueError, match=r"^%%mpi: the following arguments are required: -n/-np\.$"):
        run_cell("", "pass", Shell())


def main(comm: Any) -> None:
    """A message to oneself."""
    comm.Sendrecv(phantom(8), comm.rank, 0, phantom(8), comm.rank, 0)


def test_objects_show_themselves() -> None:
    """A run and its trace as a page in a frame, measures as a table; a run without a trace as its line."""
    run = fakempi.run(main, 2, trace=True)
    assert run.trace is not None
    drawn = run._repr_html_()
    assert drawn is not None
    assert drawn.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert 'id="timeline"' in unescape(drawn)
    assert "<th style='text-align:left'>rounds</th>" in (run.trace.measure()._repr_html_() or "")
    assert fakempi.run(main, 2)._repr_html_() is None


def test_a_deadlock_shows_itself() -> None:
    """The report, and the page if there is a trace."""
    for trace in (False, True):
        with pytest.raises(fakempi.DeadlockError) as caught:
            fakempi.run(lambda comm: comm.recv(), 2, trace=trace)
        drawn = caught.value._repr_html_()
        assert drawn.startswith("<pre>deadlock at t = 0 s: 2 of 2 ranks wait")
        assert ("<iframe" in drawn) == trace


def test_a_large_trace_is_not_put_into_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to do instead."""
    monkeypatch.setattr("fakempi.traces.MOST", 1)
    run = fakempi.run(main, 2, trace=True)
    assert run._repr_html_() == "<p>2 messages: <code>trace.save('page.html')</code> makes a page of them.</p>"


@pytest.fixture
def shell() -> Iterator[Any]:
    """A real one."""
    interactive = pytest.importorskip("IPython.core.interactiveshell", reason="there is no IPython: pip install ipython")
    shell = interactive.InteractiveShell.instance()
    yield shell
    interactive.InteractiveShell.clear_instance()


def test_the_example_prints_what_is_in_it(shell: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Every cell is run, and what it prints is what the file has."""
    for cell in json.loads(EXAMPLE.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            shell.run_cell(cell["source"]).raise_error()
            lines = capfd.readouterr().out.splitlines()
            printed = "".join(f"{line}\n" for line in lines if line and not line.startswith("Out["))
            assert printed == "".join("".join(output["text"]) for output in cell["outputs"])
