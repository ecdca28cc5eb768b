"""Contexts in which a run is monitored. Few runs have a time limit or a line of progress, so the rest is imported then."""

from __future__ import annotations

from contextlib import AbstractContextManager

from fakempi.mpi.base.process import Universe


def monitored_run(universe: Universe, progress: bool | str, timeout: float | None) -> AbstractContextManager[None]:
    """Return a context that shows progress and ends the run after the time limit."""
    from fakempi.extensions.monitoring.monitor import Monitor

    return Monitor(universe, timeout, progress)


def stop_requests(universe: Universe) -> AbstractContextManager[None]:
    """Return a context in which Ctrl-C ends the run."""
    from fakempi.extensions.monitoring.stop_requests import StopRequests

    return StopRequests(universe)
