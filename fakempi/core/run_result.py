"""The result of a run: `Run`, or the exception of a failed rank, or of a system without more memory or threads."""

from __future__ import annotations

from collections.abc import Callable
from traceback import walk_tb
from typing import TYPE_CHECKING, Generic

from fakempi.core.arguments import T
from fakempi.core.kernel import threads
from fakempi.core.reports.findings import headline, lines
from fakempi.errors import MPIValueError, RankError, RunError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.plurals import counted
from fakempi.errors.tracebacks import shorten
from fakempi.mpi.base.process import Universe
from fakempi.mpi.collective.fused_case import FusedCalls
from fakempi.mpi.diagnostics.last_state import LastState, deaths

if TYPE_CHECKING:  # modules of the trace are imported by runs that have one: this takes a tenth of the start-up time
    from fakempi.trace.record import Trace


class Run(Generic[T]):
    """The result of `run`.

    Attributes
    ----------
    returns
        The return values of `main`, by rank. Return values of spawned processes are not kept.
    clocks
        The virtual clock of each rank when it ended, in seconds, followed by the clocks of spawned processes in the order in
        which they were spawned.
    time
        The largest of the clocks: the modeled makespan.
    cpu_scale
        The factor by which measured CPU time was added to the clocks, which then differ from run to run; otherwise 0.
    messages, bytes
        The number of messages that were transferred, and of their bytes.
    sent, received
        (messages, bytes) of each rank, in the order of `clocks`.
    trace
        A `Trace` if the run was started with `trace=True`, else None.
    findings
        A list of `Finding`: errors in the program that did not stop it, the worst first.
    suppressed
        The findings that a comment, pyproject.toml or `ignore=` suppresses.
    fused_calls
        Collective calls by operation: how many were `fused`, and how many were `emulated`, by reason.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.bcast("work"), 4, cost=fakempi.Hockney(t_s=1, t_w=0))
    <Run: 4 ranks, time 4 s, 6 messages, 81 bytes>
    """

    def __init__(self, universe: Universe, returns: list[T], unused: Callable[[], list[str]]) -> None:
        out, into = universe.network.out, universe.network.into
        self.returns = returns
        self.clocks = [process.task.clock for process in universe.processes]
        self.time = max(self.clocks)
        self.sent = [(port.sent, port.bytes_sent) for port in out]
        self.received = [(port.received, port.bytes_received) for port in into]
        self.cpu_scale = universe.cpu_scale
        self.messages = sum(port.sent for port in out)
        self.bytes = sum(port.bytes_sent for port in out)
        self.trace = recorded_trace(universe)
        self.findings = universe.ledger.findings()
        self.suppressed = universe.ledger.suppressed_findings()
        self._unused = unused
        self.fused_calls: dict[str, FusedCalls] = {} if universe.fused is None else universe.fused.calls.by_operation()

    @property
    def unused_suppressions(self) -> list[str]:
        """The texts of the suppressions that match no finding of this run."""
        return self._unused()

    @property
    def rounds(self) -> int:
        """The number of transfers on the longest chain of transfers that wait for one another; needs `trace=True`."""
        if self.trace is None:
            raise MPIValueError(ERR_ARG, "rounds are counted from the trace: run(..., trace=True).")
        from fakempi.trace.rounds import rounds

        return rounds(self.trace)

    def _repr_html_(self) -> str | None:
        """Return the findings, and the trace as an HTML page, for notebooks; None without a trace."""
        if self.trace is None:
            return None
        from html import escape  # takes 2.6 ms, and few programs need it

        found = [f"{headline(self.findings)}:", *lines(self.findings)] if self.findings else []
        return "".join(f"<pre>{escape(line)}</pre>" for line in found) + (self.trace._repr_html_() or "")

    def __repr__(self) -> str:
        time = float(self.time)  # a Fraction has no .6g before Python 3.12
        spawned = len(self.clocks) - len(self.returns)
        ranks = f"{counted(len(self.returns), 'rank')}{f' and {spawned} spawned' if spawned else ''}"
        measured = f" with measured CPU time times {self.cpu_scale:g}" if self.cpu_scale else ""
        transferred = f"{counted(self.messages, 'message')}, {counted(self.bytes, 'byte')}"
        found = f", {headline(self.findings)}" if self.findings else ""
        return f"<Run: {ranks}, time {time:.6g} s{measured}, {transferred}{found}>"


def recorded_trace(universe: Universe, error: BaseException | None = None) -> Trace | None:
    """Return the trace of all processes, including spawned ones, with the way in which the run ended; None without one."""
    recorder = universe.recorder
    if recorder is None:
        return None
    from fakempi.trace.record import Trace
    from fakempi.trace.recorder import TraceRecorder
    from fakempi.trace.run_end import ended
    from fakempi.view.loading import metadata

    assert isinstance(recorder, TraceRecorder)  # the only implementation
    trace = Trace.of(recorder, [process.task.clock for process in universe.processes])
    places = (universe.cost.location(process.number) for process in universe.processes)
    trace.about = metadata(universe.cost, universe.ledger.all_findings(), places)
    if died := deaths(universe):
        trace.about["died"] = [{"rank": number, "time": time} for number, time in died]
    if error is not None:
        last = universe.state(LastState)
        trace.about["ended"] = ended(error, float(universe.loop.now), last.blocked, last.lines)
    return trace


def rank_failure(universe: Universe) -> BaseException:
    """Return the exception to raise because ranks have failed: KeyboardInterrupt itself, or a RunError with its cause."""
    (process, error), *others = universe.failures
    no_thread = could_not_start_thread(error)
    for _, failure in universe.failures:
        shorten(failure)
    if isinstance(error, KeyboardInterrupt):
        return error
    if no_thread:
        started = sum(failed.task.handle is not None for failed in universe.processes)
        verdict = RunError(no_more_threads(len(universe.processes), started))
    else:
        names = {failed.number: failed.name for failed, _ in universe.failures}
        verdict = RankError(process.number, error, [(other.number, failure) for other, failure in others], names)
    verdict.__cause__ = error
    return verdict


def resource_error(error: BaseException, nprocs: int) -> BaseException:
    """Return the error to raise when Python has no more memory or threads; any other error is returned unchanged."""
    if isinstance(error, MemoryError) and not error.args:
        return MemoryError(f"run: there is not enough memory for {nprocs:,} ranks and their data.")
    return RunError(no_more_threads(nprocs, 0)) if str(error) == "can't start new thread" else error


def could_not_start_thread(error: BaseException) -> bool:
    """Return whether the thread of a task could not be started, rather than one that the program starts."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    return type(error) is RuntimeError and threads._start_thread.__code__ in codes


def no_more_threads(nprocs: int, started: int) -> str:
    """Return the message for a system that starts no more threads."""
    so_far = f" after {started:,} of {nprocs:,} ranks" if started else ""
    return f"run: the system cannot start more threads{so_far}. Use backend='greenlets', which needs none, or fewer ranks."
