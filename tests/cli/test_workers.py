"""Processes that share the work: how many there are, and how they end."""

from __future__ import annotations

import os
import signal
from multiprocessing import active_children

import pytest

from fakempi.cli import workers as module
from fakempi.cli.workers import workers


def test_little_work_is_done_here() -> None:
    """As is a single job, and all of it if that is asked for."""
    for asked, jobs, seconds in [(None, 100, 1.0), (None, 1, 100.0), (1, 100, 100.0), (8, 1, 0.0)]:
        with workers(asked, jobs, seconds) as executor:
            assert executor is None


def test_much_work_is_shared_by_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends it at once, and nothing is left behind; the workers themselves do not hear it."""
    monkeypatch.setattr(module, "cores", lambda: 1 + 1)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), workers(None, 100, 1000.0) as executor:  # noqa: PT012
        assert executor is not None
        assert len(active_children()) == 2
        assert executor.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN
        raise KeyboardInterrupt
    assert active_children() == []
    assert signal.getsignal(signal.SIGINT) is before


def test_a_worker_that_dies_is_told_of() -> None:
    """As where there is too little memory."""
    words = "^a worker process has ended before its work was done; --jobs 1 does without them.$"
    with pytest.raises(ValueError, match=words), workers(2, 2, 0.0) as executor:  # noqa: PT012
        assert executor is not None
        executor.submit(os._exit, 3).result()
