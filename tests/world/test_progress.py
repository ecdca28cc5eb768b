"""`run(progress=...)`: progress display on a terminal, or on request."""

from __future__ import annotations

import sys
import threading
from io import StringIO
from typing import Any

import pytest

import fakempi
from fakempi.extensions.monitoring import display
from fakempi.extensions.monitoring.status import RunningRank, progress


class Terminal(StringIO):
    """A stream that reports to be a terminal, and signals writes."""

    def __init__(self, is_terminal: bool = True) -> None:
        super().__init__()
        self.is_terminal, self.written = is_terminal, threading.Event()

    def isatty(self) -> bool:
        """Return the given value."""
        return self.is_terminal

    def flush(self) -> None:
        """Signal a write."""
        self.written.set()


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show lines without a delay."""
    for kind in (display.LiveLine, display.PlainLines):
        monkeypatch.setattr(kind, "pause", lambda line, elapsed: 0.001)


def main(comm: Any, written: Any = None) -> None:
    """Two messages, and rank 1 continues after the second line: the first may have been written before."""
    comm.sendrecv(0, 1 - comm.rank, source=1 - comm.rank)
    for _ in range(2 if comm.rank == 1 and written is not None else 0):
        written.clear()
        while not written.is_set():  # waiting for it would take modeled time
            pass


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("progress", [True, "always"])
def test_a_terminal_shows_a_line_that_is_erased_at_the_end(backend: Any, monkeypatch: Any, progress: Any) -> None:
    """Modeled time, messages, and ranks that have ended."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    fakempi.run(main, 2, terminal.written, cost="hockney:t_s=1,t_w=0", backend=backend, progress=progress)
    texts = terminal.getvalue().split("\r\x1b[2K")
    assert "t = 1 s, 2 messages, 1 of 2 ranks has ended" in texts
    assert texts[-1] == ""
    assert sys.stderr is terminal


@pytest.mark.usefixtures("_at_once")
def test_on_other_streams_lines_are_written_on_request(backend: Any, monkeypatch: Any) -> None:
    """One below the other."""
    stream = Terminal(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    fakempi.run(main, 2, stream.written, cost="hockney:t_s=1,t_w=0", backend=backend, progress="always")
    assert "fakempi: t = 1 s, 2 messages, 1 of 2 ranks has ended\n" in stream.getvalue().splitlines(keepends=True)


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("progress", [False, True])
def test_on_other_streams_nothing_is_written_by_default(backend: Any, monkeypatch: Any, progress: bool) -> None:
    """No user watches it."""
    stream = Terminal(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    fakempi.run(main, 2, backend=backend, progress=progress)
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_at_once")
def test_there_is_one_line_for_all_runs(backend: Any, monkeypatch: Any) -> None:
    """A nested run has none, and the next run has it again."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def outer(comm: Any) -> None:
        fakempi.run(main, 2, terminal.written, backend=backend, progress=True)

    fakempi.run(outer, 1, backend=backend, progress=True)
    assert "0 of 1 rank has ended" in terminal.getvalue()
    assert "of 2 ranks" not in terminal.getvalue()
    fakempi.run(main, 2, terminal.written, backend=backend, progress=True)
    assert "of 2 ranks" in terminal.getvalue()


@pytest.mark.usefixtures("_at_once")
def test_a_stream_that_cannot_be_written_to_has_no_effect(backend: Any, monkeypatch: Any) -> None:
    """The run continues, and its time-out works."""

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

    with pytest.raises(fakempi.RunTimeoutError):
        fakempi.run(forever, 2, backend=backend, progress="always", timeout=0.1)


def test_progress_counts_spawned_ranks_too(backend: Any) -> None:
    """As soon as they start."""
    seen = []

    def parent(comm: Any) -> None:
        universe = comm._process.universe
        seen.append(progress(universe))
        comm.Spawn(lambda child: None, maxprocs=2).Disconnect()
        seen.append(progress(universe).rpartition(", ")[2])

    fakempi.run(parent, 1, backend=backend)
    assert seen[0] == "t = 0 s, 0 messages, 0 of 1 rank has ended"
    assert seen[1].partition(" of ")[2] in ("3 ranks have ended", "3 ranks has ended")


@pytest.mark.parametrize("progress", ["yes", 3, None, []])
def test_invalid_values_are_rejected(progress: Any) -> None:
    """Before the run starts."""
    with pytest.raises(ValueError, match=r"^run: progress must be True, False or 'always', not ") as caught:
        fakempi.run(main, 2, progress=progress)
    assert str(caught.value).endswith(f"not {progress!r}.")


def test_the_line_names_a_rank_that_runs_for_long(backend: Any) -> None:
    """With its place; after a switch, or when time has advanced, it names none."""

    def main(comm: Any) -> Any:
        universe, running = comm._context.universe, RunningRank()
        found = [running.observe(universe, 0), running.observe(universe, 1), running.observe(universe, 7.5)]
        comm.Barrier()
        return [*found, running.observe(universe, 9)]

    place = f"test_progress.py:{main.__code__.co_firstlineno + 2}"
    words = [["", "", f"; rank {rank} has run for 8 s, now at {place}", ""] for rank in range(2)]
    assert fakempi.run(main, 2, backend=backend).returns == words
