"""Pictures of a failure: the failing schedule and a successful one, with the deciding choice marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.apps.cli import main
from fakempi.errors import TraceError
from fakempi.modelcheck.search.divergence import first_difference
from tests.view.test_page import data_of


def first_is_1(comm: Any) -> None:
    """Rank 0 assumes that rank 1 is first."""
    if comm.rank:
        comm.send(comm.rank, dest=0)
    else:
        got = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1)]
        assert got[0] == 1


def exchanged(comm: Any) -> None:
    """Both ranks send first."""
    comm.send(None, 1 - comm.rank)
    comm.recv(source=1 - comm.rank)


def polled(comm: Any) -> None:
    """Rank 0 assumes that a test never reports "not yet"."""
    if comm.rank:
        comm.send(None, dest=0)
    else:
        request = comm.irecv(source=1)
        done, _ = request.test()
        if not done:
            request.wait()
        assert done


def test_schedules_diverge_at_the_first_choice_that_differs() -> None:
    """Zeros at the end are optional; with another buffering there is no such choice."""
    assert first_difference("z:2.0.1", "z:0") == 0
    assert first_difference("z:0.1", "z:0.1.0.2") == 3
    assert first_difference("z:0", "z:0.0") is None
    assert first_difference("z:2", "i:2") is None


def test_the_traces_have_the_deciding_match() -> None:
    """Receiver, sender and time, in both schedules."""
    (failure,) = fakempi.explore(first_is_1, 3, buffering="zero").failures
    for trace, sender, fails in zip(failure.traces(), (2, 1), (True, False), strict=True):
        assert trace is not None
        schedule = trace.about["schedule"]
        assert (schedule["fails"], schedule["rank"]) == (fails, 0)
        assert schedule["words"].endswith(f"took rank {sender}'s message")
        taken = trace.transfers[schedule["message"]]
        assert (taken.source, taken.dest) == (sender, 0)
        assert taken.awaited <= schedule["time"] <= taken.start
        assert schedule.get("why", "") == failure.why * fails


def test_a_choice_without_a_message_is_marked() -> None:
    """With its time and description."""
    (failure,) = fakempi.explore(polled, 2, buffering="infinite").failures
    schedule = failure.traces()[0].about["schedule"]
    assert schedule["words"].endswith('reported "not yet"')
    assert (schedule["message"], schedule["rank"]) == (-1, 0)


def test_another_buffering_has_a_reason_and_no_mark() -> None:
    """No choice of a rank made the difference."""
    (failure,) = fakempi.explore(exchanged, 2).failures
    fails, passes = (trace.about["schedule"] for trace in failure.traces() if trace is not None)
    assert fails["why"].startswith("with zero buffering every send waits for its receive")
    assert "words" not in fails
    assert passes["token"] == "i:0"


def test_a_failure_is_saved_as_a_page_of_both(tmp_path: Path) -> None:
    """It is found again in the stored traces."""
    (failure,) = fakempi.explore(first_is_1, 3, buffering="zero").failures
    failure.save(tmp_path / "why.html")
    (fails, _), (passes, columns) = data_of((tmp_path / "why.html").read_text(encoding="utf-8"))
    assert (fails["title"], passes["title"]) == ("schedule z:1 fails", "schedule z:0 passes")
    assert fails["schedule"]["why"] == failure.why
    assert columns["message.source"][passes["schedule"]["message"]] == 1
    trace = failure.traces()[0]
    for name in ("t.json", "t.npz"):
        trace.save(tmp_path / name)
        assert fakempi.load(tmp_path / name).about["schedule"] == trace.about["schedule"]
    words = r"why\.json: a failure is saved as an HTML page; use a file name that ends in \.html\.$"
    with pytest.raises(TraceError, match=words):
        failure.save(tmp_path / "why.json")


def test_a_notebook_shows_the_results() -> None:
    """The verdict, the reason, and the page in a frame."""
    shown = fakempi.explore(first_is_1, 3, buffering="zero")._repr_html_()
    assert shown.startswith("<p><b>1 of 2 schedules fails</b> (")
    assert "took rank 2&#x27;s message" in shown
    assert "<iframe srcdoc=" in shown
    assert "iframe" not in fakempi.explore(exchanged, 2, buffering="infinite")._repr_html_()


@pytest.mark.sample
@pytest.mark.slow
def test_check_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For the first failure; a path that is no page is rejected before the run."""
    script, page = tmp_path / "race.py", tmp_path / "why.html"
    script.write_text(
        "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"
        "if comm.rank:\n    comm.send(comm.rank, 0)\nelse:\n    assert comm.recv() == 1\n    comm.recv()\n"
    )
    assert main(["check", "-n", "3", "--html", str(page), str(script)]) == 1
    assert f"the first failure, next to a schedule that passes: {page}\n" in capsys.readouterr().out
    assert len(data_of(page.read_text(encoding="utf-8"))) == 2
    script.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.recv()\n")
    assert main(["check", "-n", "2", "--html", str(page), str(script)]) == 1
    assert f"the first failure, for which no passing schedule was found: {page}\n" in capsys.readouterr().out
    assert len(data_of(page.read_text(encoding="utf-8"))) == 1
    assert main(["check", "-n", "3", "--html", "why.png", str(script)]) == 2
    assert capsys.readouterr().err.startswith("fakempi check: --html why.png: the file's name must end in .html.")
