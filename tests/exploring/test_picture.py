"""Pictures of a failure: the schedule that fails beside one that goes well, with the choice marked that decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.cli import main
from fakempi.errors import TraceError
from fakempi.exploring.deciding import parting
from tests.view.test_page import data_of


def first_is_1(comm: Any) -> None:
    """Rank 0 takes it that rank 1 is the first."""
    if comm.rank:
        comm.send(comm.rank, dest=0)
    else:
        got = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1)]
        assert got[0] == 1


def exchanged(comm: Any) -> None:
    """Both send first."""
    comm.send(None, 1 - comm.rank)
    comm.recv(source=1 - comm.rank)


def polled(comm: Any) -> None:
    """Rank 0 takes it that a test never says "not yet"."""
    if comm.rank:
        comm.send(None, dest=0)
    else:
        request = comm.irecv(source=1)
        done, _ = request.test()
        if not done:
            request.wait()
        assert done


def test_schedules_part_at_the_first_choice_that_differs() -> None:
    """Zeros at the end need not be written; with another buffering there is no such choice."""
    assert parting("z:2.0.1", "z:0") == 0
    assert parting("z:0.1", "z:0.1.0.2") == 3
    assert parting("z:0", "z:0.0") is None
    assert parting("z:2", "i:2") is None


def test_the_traces_know_the_deciding_match() -> None:
    """Which rank took whose message, and when; of both schedules."""
    (failure,) = fakempi.explore(first_is_1, 3, buffering="zero").failures
    for trace, sender, fails in zip(failure.traces(), (2, 1), (True, False), strict=True):
        told = trace.about["schedule"]
        assert (told["fails"], told["rank"]) == (fails, 0)
        assert told["words"].endswith(f"took rank {sender}'s message")
        taken = trace.transfers[told["message"]]
        assert (taken.source, taken.dest) == (sender, 0)
        assert taken.awaited <= told["time"] <= taken.start
        assert told.get("why", "") == failure.why * fails


def test_what_took_no_message_is_marked_all_the_same() -> None:
    """By its time and its words."""
    (failure,) = fakempi.explore(polled, 2, buffering="infinite").failures
    told = failure.traces()[0].about["schedule"]
    assert told["words"].endswith('said "not yet"')
    assert (told["message"], told["rank"]) == (-1, 0)


def test_another_buffering_has_a_reason_and_no_mark() -> None:
    """Nothing that a rank chose made the difference."""
    (failure,) = fakempi.explore(exchanged, 2).failures
    fails, passes = (trace.about["schedule"] for trace in failure.traces())
    assert fails["why"].startswith("in zero buffering, where every send waits for its receive")
    assert "words" not in fails
    assert passes["decisions"] == "i:0"


def test_a_failure_is_saved_as_a_page_of_both(tmp_path: Path) -> None:
    """And found again in traces that were written."""
    (failure,) = fakempi.explore(first_is_1, 3, buffering="zero").failures
    failure.save(tmp_path / "why.html")
    (fails, _), (passes, columns) = data_of((tmp_path / "why.html").read_text(encoding="utf-8"))
    assert (fails["title"], passes["title"]) == ("schedule z:1 fails", "schedule z:0 goes well")
    assert fails["schedule"]["why"] == failure.why
    assert columns["message.source"][passes["schedule"]["message"]] == 1
    trace = failure.traces()[0]
    for name in ("t.json", "t.npz"):
        trace.save(tmp_path / name)
        assert fakempi.load(tmp_path / name).about["schedule"] == trace.about["schedule"]
    with pytest.raises(TraceError, match=r"why\.json: a failure is saved as a page, whose file ends in \.html\.$"):
        failure.save(tmp_path / "why.json")


def test_a_notebook_shows_what_was_found() -> None:
    """The verdict, the reason, and the page in a frame."""
    shown = fakempi.explore(first_is_1, 3, buffering="zero")._repr_html_()
    assert shown.startswith("<p><b>1 of 2 schedules fails</b> (")
    assert "took rank 2&#x27;s message" in shown
    assert "<iframe srcdoc=" in shown
    assert "iframe" not in fakempi.explore(exchanged, 2, buffering="infinite")._repr_html_()


def test_check_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the first failure; what is no page is refused before anything is run."""
    script, page = tmp_path / "race.py", tmp_path / "why.html"
    script.write_text(
        "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"
        "if comm.rank:\n    comm.send(comm.rank, 0)\nelse:\n    assert comm.recv() == 1\n    comm.recv()\n"
    )
    assert main(["check", "-n", "3", "--html", str(page), str(script)]) == 1
    assert f"the first failure, beside a schedule that goes well: {page}\n" in capsys.readouterr().out
    assert len(data_of(page.read_text(encoding="utf-8"))) == 2
    assert main(["check", "-n", "3", "--html", "why.png", str(script)]) == 2
    assert capsys.readouterr().err.startswith("fakempi check: --html why.png: the file's name must end in .html.")
