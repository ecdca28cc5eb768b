"""The features of a run: those that its options request register with its universe.

A feature reads its options from `Universe.options`. Features that few runs use are imported when a run uses them: together
they would take a quarter of the import time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NoReturn

from fakempi.core.kernel.loop import Ended
from fakempi.core.network.guard import Guard, trusted
from fakempi.core.seeded import use_seed
from fakempi.errors import RunError
from fakempi.mpi.base.process import Universe
from fakempi.mpi.collective.selection import Selection
from fakempi.mpi.comms.disconnect import forget_process
from fakempi.mpi.diagnostics import polling
from fakempi.mpi.failures.kill import schedule_kills


def register(universe: Universe, nprocs: int, emulate: Callable[..., list[Any]]) -> None:
    """Register the features of a run that has no processes yet. `emulate` runs a function on several ranks."""
    options, choices = universe.options, universe.choices
    if options.algorithms is not None:
        universe.state(Selection).load_table()
    if choices is not None:
        choices.steer(universe)
    if not trusted(universe.cost):
        _guard(universe)
    if options.fused != "never":
        from fakempi.extensions.fused.rendezvous import register as register_fused_calls

        register_fused_calls(universe, emulate)
    checked = options.checked_buffers
    if checked == "sends" and choices is None:
        from fakempi.extensions.buffer_checks import sends

        sends.register(universe, nprocs)
    elif checked or choices is not None:  # which also decide when data move
        from fakempi.extensions.buffer_checks import checks

        checks.register(universe)
    polling.register(universe)


def register_with_processes(universe: Universe) -> None:
    """Register the features of a run that has processes, before the first of them runs."""
    if universe.options.seed is not None:
        use_seed(universe, universe.options.seed)
    schedule_kills(universe, partial(forget_process, universe))


def cpu_time(universe: Universe) -> AbstractContextManager[None]:
    """Return a context in which CPU time is measured, if the run charges it to the clocks."""
    if not universe.cpu_scale:
        return nullcontext()
    from fakempi.extensions.cpu_time import metered

    return metered(universe)


def recorded_calls(universe: Universe) -> AbstractContextManager[None]:
    """Return a context in which calls are recorded for a replay: if the trace of the run has measured computing times."""
    if universe.recorder is None or not universe.cpu_scale:
        return nullcontext()
    from fakempi.extensions.call_recording.subscriber import recorded_calls as recorded

    return recorded(universe)


def monitored_run(universe: Universe) -> AbstractContextManager[None]:
    """Return a context that shows progress and ends the run after the time limit, if the run requests one of these."""
    progress, timeout = universe.options.progress, universe.options.timeout
    if progress is False and timeout is None:
        return nullcontext()
    from fakempi.extensions.monitoring.monitor import Monitor

    return Monitor(universe, timeout, progress)


def stop_requests(universe: Universe) -> AbstractContextManager[None]:
    """Return a context in which Ctrl-C ends the run."""
    from fakempi.extensions.monitoring.stop_requests import StopRequests

    return StopRequests(universe)


def _guard(universe: Universe) -> None:
    """Check the values that a user-defined cost model returns. An invalid value ends the run; it is not a rank's failure."""

    def reject(sentence: str, error: BaseException | None) -> NoReturn:
        verdict = RunError(sentence)
        verdict.__cause__ = error
        universe.end(verdict)
        raise Ended

    universe.network.use_guard(Guard(universe.cost, reject))
