"""Runs `fakempi.explore` on a program and collects what every rank observed in every run."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple
from unittest.mock import patch

import fakempi
from fakempi import MPI
from tests.modelcheck.oracle.interpreter import END, FAILED
from tests.modelcheck.oracle.program import Program
from tests.modelcheck.oracle.source import functions

NAME = "program.py"
"""The file name of the source text, in reports."""

IGNORED = ("communicator-leak", "collective-unfinished")
"""Kinds of findings that say nothing about messages."""


class Wrong(Exception):
    """The error that the operation "fail" raises."""


class Explored(NamedTuple):
    """The results of `explore`.

    Attributes
    ----------
    runs : of each run that was not ended early, per rank what it observed and where it was at the end
    lost : (world rank, operation) of sends whose messages are reported as lost
    failures : the failures that count: deadlocks, errors, lost messages. Programs never free communicators.
    found : the return value of `explore`
    """

    runs: set[tuple[tuple[tuple[Any, ...], Any], ...]]
    lost: set[tuple[int, int]]
    failures: list[Any]
    found: Any


class Recorder:
    """Keeps what ranks do. Ranks only write to it, so that no rank can learn from it."""

    def __init__(self, ranks: int) -> None:
        self.ranks, self.ended_early = ranks, 0
        self.log: deque[Any] = deque()
        self.runs: set[Any] = set()

    def __call__(self, found: Any, waiting: int) -> None:
        """A run is over (`on_run=` of explore)."""
        if found.ended_early == self.ended_early:
            seen: list[list[Any]] = [[] for _ in range(self.ranks)]
            where: list[Any] = [0] * self.ranks
            for rank, is_place, what in self.log:
                if is_place:
                    where[rank] = what
                else:
                    seen[rank].append(what)
            self.runs.add(tuple((tuple(mine), at) for mine, at in zip(seen, where, strict=True)))
        self.ended_early = found.ended_early
        self.log.clear()


def main_of(of_ranks: tuple[Any, ...], recorder: Recorder) -> Any:
    """The function that `explore` runs."""
    append = recorder.log.append

    def see(rank: int, what: Any) -> None:
        append((rank, False, what))

    def at(rank: int, where: Any) -> None:
        append((rank, True, where))

    def main(comm: Any) -> None:
        of_ranks[comm.rank](comm, see, at)

    return main


def explored(program: Program, **options: Any) -> Explored:
    """Run `explore` with these options."""
    of_ranks, lines = functions(program, Wrong, MPI, NAME)
    recorder = Recorder(len(program.ranks))
    main = main_of(of_ranks, recorder)
    with patch("fakempi.modelcheck.search.progress.explain"):  # explanations take a third of the time and are not compared
        found = fakempi.explore(main, len(program.ranks), on_run=recorder, **options)
    lost = set()
    failures = [
        failure for failure in found.failures
        if not isinstance(failure.error, fakempi.FindingsError)
        or any(finding.kind not in IGNORED and not finding.note for finding in failure.error.findings)
    ]  # fmt: skip
    for failure in failures:
        for finding in getattr(failure.error, "findings", ()):
            name, _, line = finding.place.rpartition(":")
            if finding.kind == "message-lost" and name.endswith(NAME) and int(line) in lines:
                lost.add(lines[int(line)])
    return Explored(recorder.runs, lost, failures, found)


def has_failed(run: Any) -> bool:
    """Whether a rank has failed in a run."""
    return any(where == FAILED for _, where in run)


def is_blocked(run: Any) -> bool:
    """Whether a run ends with a deadlock."""
    return not has_failed(run) and any(where != END for _, where in run)
