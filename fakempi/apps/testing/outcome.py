"""Calls a test on every rank, lets the other ranks continue after a failure, and reports all failures together."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import SkipTest

import pytest

from fakempi.apps.testing.output import log_with_ranks, output_by_rank
from fakempi.apps.testing.source_lines import code_at
from fakempi.core.arguments import RunOptions
from fakempi.core.reports.explain import explained_by
from fakempi.core.reports.findings import headline
from fakempi.core.reports.findings import lines as findings_in_lines
from fakempi.core.reports.ranks import ranks_text
from fakempi.core.world import run
from fakempi.errors import (
    DeadlockError,
    FindingsError,
    MPIFindingWarning,
    RankError,
    RunTimeoutError,
    ScheduleError,
)
from fakempi.errors.paths import with_paths
from fakempi.errors.plurals import counted
from fakempi.errors.records import Finding
from fakempi.errors.tracebacks import shorten
from fakempi.mpi.base.current import current_rank, running_process
from fakempi.mpi.base.environment import Wtime
from fakempi.mpi.diagnostics.results import ProgramResults

SKIPS = (pytest.skip.Exception, SkipTest)


@dataclass
class RanksOutcome:
    """The outcome of a test: the exception of each failed rank, and its modeled time."""

    size: int
    errors: dict[int, BaseException] = field(default_factory=dict)
    clocks: dict[int, float] = field(default_factory=dict)
    stuck: DeadlockError | RunTimeoutError | None = None
    findings_error: FindingsError | None = None  # the findings, if they are failures
    warning: MPIFindingWarning | None = None  # the warning about a finding that a filter turned into an error
    findings: Sequence[Finding] = ()
    schedule: str = ""  # empty if modeled time determines the order of events
    why: str = ""  # the choice that causes the failure, if another schedule succeeds
    limit: str = ""  # the time limit, for messages
    changed: str = ""  # a report on shared objects that ranks have changed
    names: dict[int, str] = field(default_factory=dict)  # of spawned processes
    xpassed: str = ""  # why the test was expected to fail, if it passed
    output: dict[str, dict[int | None, list[str]]] = field(default_factory=dict)
    results: ProgramResults | None = None  # of `fakempi.result`
    drawn: Mapping[str, Any] = field(default_factory=dict)  # the arguments from Hypothesis

    @property
    def failed(self) -> dict[int, BaseException]:
        """The failed ranks, without those that only skipped the test, in order of modeled time; expected failures last."""
        expected = {rank for rank, error in self.errors.items() if isinstance(error, pytest.xfail.Exception)}
        ranks = sorted(self.errors, key=lambda rank: (rank in expected, self.clocks.get(rank, 0), rank))
        return {rank: self.errors[rank] for rank in ranks if not isinstance(self.errors[rank], SKIPS)}

    @property
    def verdict(self) -> BaseException | None:
        """The exception for pytest: the first failure, else the deadlock, else findings, else the skip, else None."""
        skips = next(iter(self.errors.values()), None)
        return next(iter(self.failed.values()), None) or self.stuck or self.findings_error or skips

    def report(self, replay: str, warning: str = "") -> str:
        """Return the lines below the traceback: failed ranks, blocked ranks, and the command that repeats the test."""
        lines = []
        if self.failed:
            first, *others = self.failed
            all_failed = 1 < self.size == len(self.failed) and not self.names
            subject = f"all {self.size} ranks" if all_failed else self._ranks_text(self.failed)
            whose = "its" if first in self.names and not others else f"{self.names.get(first, f'rank {first}')}'s"
            lines.append(f"{subject} failed; above is {whose} traceback")
            for error, ranks in _by_error(self.failed, others, _headline(self.failed[first])).items():
                lines.append(f"  {ranks_text(ranks)}: {error}")
            if self.stuck:
                then = "had not finished" if isinstance(self.stuck, RunTimeoutError) else "were deadlocked"
                lines += [f"the other ranks {then}:", *(f"  {line}" for line in self.why_stuck.splitlines())]
        if self.schedule:
            lines.append(f"schedule {self.schedule}{f': {self.why}' * bool(self.why)}")
        lines += [line for line in (self.changed, warning) if line]
        if self.findings and self.verdict is not self.findings_error:
            lines += [f"{headline(self.findings)}:", *(f"  {line}" for line in findings_in_lines(self.findings))]
        command = explained_by(self.verdict) if self.verdict is not None else ""
        lines += [f"for details, run: {command}"] if command else []
        return "\n".join([*lines, *self._example(), f"replay: {replay}"])

    def _example(self) -> list[str]:
        """Return the decorator that repeats the arguments from Hypothesis, if they can be written as literals."""
        texts = [f"{name}={value!r}" for name, value in self.drawn.items()]
        try:
            for value in self.drawn.values():
                if literal_eval(repr(value)) != value:
                    return []
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return []
        return [f"decorator: @example({', '.join(texts)})"] if texts else []

    @property
    def why_stuck(self) -> str:
        """The report of the deadlock, or of the positions of all ranks at the time limit."""
        report = str(self.stuck)
        return report if isinstance(self.stuck, DeadlockError) else f"not done after {self.limit},{report.partition(',')[2]}"

    def in_place_of_traceback(self, error: BaseException, test: str, root: str) -> str:
        """The report of a failure whose traceback would lead into the emulator: a deadlock, findings, a warning; else "".

        With the code of the lines at which ranks are blocked, or which findings name; `test` is the test's file.
        """
        if error not in (self.stuck, self.findings_error, self.warning):
            return ""
        report = self.why_stuck if self.stuck else str(self.findings_error or f"MPIFindingWarning: {self.warning}")
        code = code_at(self._blocked or [one.place for one in self.findings], test)
        return "\n\n".join(filter(None, (self.with_paths(report, root), code)))

    @property
    def _blocked(self) -> list[str]:
        return [one.place for one in getattr(self.stuck, "blocked", ())]

    def with_paths(self, text: str, root: str) -> str:
        """Return a part of the report with paths relative to the root directory."""
        return with_paths(text, root, [*self._blocked, *(one.place for one in self.findings)])

    def _ranks_text(self, ranks: Iterable[int]) -> str:
        """Return `ranks 0-1 of 4`, with spawned processes by their names."""
        started = [rank for rank in ranks if rank not in self.names]
        parts = [f"{ranks_text(started)} of {self.size}"] if started else []
        return " and ".join([*parts, *self.names.values()])

    def written(self, stream: str) -> str | None:
        """Return the output of the first failing rank, and the number of other ranks with output; None if no rank failed."""
        if not self.failed:
            return None
        first, by_rank = next(iter(self.failed)), self.output[stream]
        text = "".join(by_rank.get(first, []))
        others = [rank for rank in by_rank if rank != first]
        more = f"({counted(len(others), 'other rank')} wrote output: pytest -s shows it)\n" if others else ""
        name = self.names.get(first, f"rank {first}")
        return (f"({name})\n{text}{chr(10) * (not text.endswith(chr(10)))}" if text else "") + more


def _headline(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    line = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _by_error(failed: dict[int, BaseException], ranks: list[int], first: str, maximum: int = 5) -> dict[str, list[int]]:
    """Group failing ranks by error, without those that raised the same as the first."""
    groups: dict[str, list[int]] = {}
    for rank in ranks:
        if _headline(failed[rank]) != first:
            groups.setdefault(_headline(failed[rank]), []).append(rank)
    rest = [rank for ranks in list(groups.values())[maximum:] for rank in ranks]
    return {**dict(list(groups.items())[:maximum]), **({"other errors": rest} if rest else {})}


def on_every_rank(
    call: Callable[[Any], Any], size: int, options: RunOptions, wrapped: Callable[[Any], Any] | None = None
) -> RanksOutcome:
    """Call a test with a communicator on every rank. After a rank fails, the others continue as far as they can.

    `wrapped` converts the function that a rank calls into the program that the rank runs.
    """
    outcome = RanksOutcome(size)

    def main(comm: Any) -> None:
        __tracebackhide__ = True
        outcome.results = running_process().universe.state(ProgramResults)
        try:
            call(comm)
        except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
            running_process().explain(error)
            shorten(error)
            outcome.errors[comm.Get_rank()] = error
            outcome.clocks[comm.Get_rank()] = Wtime()

    with output_by_rank(current_rank) as outcome.output, log_with_ranks(current_rank):
        try:
            outcome.findings = run(main if wrapped is None else wrapped(main), size, **options).findings
        except (DeadlockError, RunTimeoutError) as error:
            outcome.stuck, outcome.findings = error, error.findings
        except FindingsError as error:
            outcome.findings_error, outcome.findings = error, error.findings
        except ScheduleError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        except RankError as error:  # Abort, sys.exit: they end all ranks
            outcome.errors.setdefault(error.rank, error.exception)
            if error.rank >= size:
                outcome.names[error.rank] = error.name
    return outcome
