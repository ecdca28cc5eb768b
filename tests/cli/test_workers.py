"""Worker processes: their number, and how they end."""

from __future__ import annotations

import os
import signal
from multiprocessing import active_children

import pytest

from fakempi.apps.cli import workers as module
from fakempi.apps.cli.workers import workers


def test_small_jobs_run_in_this_process() -> None:
    """A single job does, too, and all jobs if requested."""
    for requested, jobs, seconds in [(None, 100, 1.0), (None, 1, 100.0), (1, 100, 100.0), (8, 1, 0.0)]:
        with workers(requested, jobs, seconds) as executor:
            assert executor is None


def test_large_jobs_are_distributed_to_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the workers at once, and none is left; workers ignore the signal."""
    monkeypatch.setattr(module, "cores", lambda: 1 + 1)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), workers(None, 100, 1000.0) as executor:  # noqa: PT012
        assert executor is not None
        assert len(active_children()) == 2
        assert executor.submit(signal.getsignal, signal.SIGINT).result(270) == signal.SIG_IGN
        raise KeyboardInterrupt
    assert active_children() == []
    assert signal.getsignal(signal.SIGINT) is before


def test_a_worker_that_dies_is_reported() -> None:
    """For example, if memory is exhausted."""
    words = "^a worker process ended early; use --jobs 1 to run without worker processes.$"
    with pytest.raises(ValueError, match=words), workers(2, 2, 0.0) as executor:  # noqa: PT012
        assert executor is not None
        executor.submit(os._exit, 3).result(270)
