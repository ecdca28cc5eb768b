"""`run(progress=...)`: how far it is, on a terminal, or where it was asked for."""

from __future__ import annotations

import sys
import threading
from io import StringIO
from typing import Any

import pytest

import fakempi
from fakempi.watch import lines
from fakempi.watch.words import Baton, how_far


class Terminal(StringIO):
    """Something that says it is one, and tells when something is written."""

    def __init__(self, is_terminal: bool = True) -> None:
        super().__init__()
        self.is_terminal, self.written = is_terminal, threading.Event()

    def isatty(self) -> bool:
        """If so."""
        return self.is_terminal

    def flush(self) -> None:
        """Somebody has written."""
        self.written.set()


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines come without a second's delay."""
    for kind in (lines.LiveLine, lines.PlainLines):
        monkeypatch.setattr(kind, "pause", lambda line, elapsed: 0.001)


def main(comm: Any, written: Any = None) -> None:
    """Two messages, and rank 1 stays until something is shown twice: the first may have been seen before."""
    comm.sendrecv(0, 1 - comm.rank, source=1 - comm.rank)
    for _ in range(2 if comm.rank == 1 and written is not None else 0):
        written.clear()
        while not written.is_set():  # to wait for it would take modelled time, and none of ours
            pass


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("progress", [True, "always"])
def test_a_terminal_shows_a_line_that_is_gone_at_the_end(carrier: str, monkeypatch: Any, progress: bool | str) -> None:
    """Modelled time, messages, and ranks that have ended."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    fakempi.run(main, 2, terminal.written, cost="hockney:t_s=1,t_w=0", carrier=carrier, progress=progress)
    texts = terminal.getvalue().split("\r\x1b[2K")
    assert "t = 1 s, 2 messages, 1 of 2 ranks has ended" in texts
    assert texts[-1] == ""
    assert sys.stderr is terminal


@pytest.mark.usefixtures("_at_once")
def test_elsewhere_lines_are_written_if_asked_for(carrier: str, monkeypatch: Any) -> None:
    """One below the other."""
    stream = Terminal(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    fakempi.run(main, 2, stream.written, cost="hockney:t_s=1,t_w=0", carrier=carrier, progress="always")
    assert "fakempi: t = 1 s, 2 messages, 1 of 2 ranks has ended\n" in stream.getvalue().splitlines(keepends=True)


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("progress", [False, True])
def test_elsewhere_nothing_is_written_otherwise(carrier: str, monkeypatch: Any, progress: bool) -> None:
    """Nobody looks there."""
    stream = Terminal(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    fakempi.run(main, 2, carrier=carrier, progress=progress)
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_at_once")
def test_there_is_room_for_one_line(carrier: str, monkeypatch: Any) -> None:
    """A run within a run has none, and the next run has it again."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def outer(comm: Any) -> None:
        fakempi.run(main, 2, terminal.written, carrier=carrier, progress=True)

    fakempi.run(outer, 1, carrier=carrier, progress=True)
    assert "0 of 1 ranks have ended" in terminal.getvalue()
    assert "of 2 ranks" not in terminal.getvalue()
    fakempi.run(main, 2, terminal.written, carrier=carrier, progress=True)
    assert "of 2 ranks" in terminal.getvalue()


@pytest.mark.usefixtures("_at_once")
def test_a_stream_that_nobody_reads_disturbs_nobody(carrier: str, monkeypatch: Any) -> None:
    """The run goes on, and its time-out holds."""

    class Broken(Terminal):
        def write(self, text: str) -> int:
            self.written.set()
            raise BrokenPipeError

    stream = Broken(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)

    def forever(comm: Any) -> None:
        main(comm, stream.written)
        while True:
            comm.barrier()

    with pytest.raises(fakempi.RunTimeout):
        fakempi.run(forever, 2, carrier=carrier, progress="always", timeout=0.1)


def test_what_is_shown_counts_spawned_ranks_too(carrier: str) -> None:
    """As soon as they are there."""
    seen = []

    def parent(comm: Any) -> None:
        universe = comm._process.universe
        seen.append(how_far(universe))
        comm.Spawn(lambda child: None, maxprocs=2).Disconnect()
        seen.append(how_far(universe).rpartition(", ")[2])

    fakempi.run(parent, 1, carrier=carrier)
    assert seen[0] == "t = 0 s, 0 messages, 0 of 1 ranks have ended"
    assert seen[1].partition(" of ")[2] in ("3 ranks have ended", "3 ranks has ended")


@pytest.mark.parametrize("progress", ["yes", 3, None, []])
def test_what_cannot_be_shown_is_refused(progress: Any) -> None:
    """Before anything runs."""
    with pytest.raises(ValueError, match=r"^run: progress must be True, False or 'always', not ") as caught:
        fakempi.run(main, 2, progress=progress)
    assert str(caught.value).endswith(f"not {progress!r}.")


def test_the_line_says_who_has_had_the_baton_for_long(carrier: str) -> None:
    """And where it is; as soon as somebody else has had it, or time has moved, it is nobody."""

    def main(comm: Any) -> Any:
        universe, baton = comm._context.universe, Baton()
        found = [baton.look(universe, 0), baton.look(universe, 1), baton.look(universe, 7.5)]
        comm.Barrier()
        return [*found, baton.look(universe, 9)]

    place = f"test_progress.py:{main.__code__.co_firstlineno + 2}"
    words = [["", "", f"; rank {rank} has run for 8 s, now at {place}", ""] for rank in range(2)]
    assert fakempi.run(main, 2, carrier=carrier).returns == words
