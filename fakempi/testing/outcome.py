"""Calls a test on every rank, lets every rank come to its own end, and says in one report which of them failed, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import SkipTest

import pytest

from fakempi.checks.findings import Finding, headline
from fakempi.checks.findings import lines as findings_in_lines
from fakempi.checks.ranks import ranks_in_words
from fakempi.errors import Aborted, DeadlockError, FindingsError, MPIError, RankError, RunTimeout
from fakempi.mpi.base.complain import is_ours
from fakempi.mpi.base.current import current_rank, running_process
from fakempi.mpi.base.environment import Wtime
from fakempi.testing.output import kept_by_rank
from fakempi.world import run

SKIPS = (pytest.skip.Exception, SkipTest)


@dataclass
class Outcome:
    """How a test went on its ranks: what each rank raised that did not come to its end, and when."""

    size: int
    errors: dict[int, BaseException] = field(default_factory=dict)
    clocks: dict[int, float] = field(default_factory=dict)
    stuck: DeadlockError | RunTimeout | None = None
    found: FindingsError | None = None  # what is wrong, where that is a failure
    findings: Sequence[Finding] = ()
    limit: str = ""  # how long it may take, in words
    changed: str = ""  # what ranks share and have changed, in words
    names: dict[int, str] = field(default_factory=dict)  # of processes that the test has spawned
    output: dict[str, dict[int | None, list[str]]] = field(default_factory=dict)

    @property
    def failed(self) -> dict[int, BaseException]:
        """Those that did not just skip, in the order in which they failed in modelled time."""
        ranks = sorted(self.errors, key=lambda rank: (self.clocks.get(rank, 0), rank))
        return {rank: self.errors[rank] for rank in ranks if not isinstance(self.errors[rank], SKIPS)}

    @property
    def verdict(self) -> BaseException | None:
        """What pytest is told: the first failure, else the deadlock, else findings, else the skip, else nothing."""
        skips = next(iter(self.errors.values()), None)
        return next(iter(self.failed.values()), None) or self.stuck or self.found or skips

    def in_words(self, replay: str, warning: str = "") -> str:
        """The lines under the traceback: who failed, who waited then, and how to see it again."""
        lines = []
        if self.failed:
            first, *others = self.failed
            everybody = 1 < self.size == len(self.failed) and not self.names
            who = f"all {self.size} ranks" if everybody else self._words(self.failed)
            whose = "its" if first in self.names and not others else f"{self.names.get(first, f'rank {first}')}'s"
            lines.append(f"{who} failed; above is {whose} traceback")
            for error, ranks in _alike(self.failed, others, _headline(self.failed[first])).items():
                lines.append(f"  {ranks_in_words(ranks)}: {error}")
            if self.stuck:
                then = "were not done" if isinstance(self.stuck, RunTimeout) else "waited for ever"
                lines += [f"the others {then} then:", *(f"  {line}" for line in self.why_stuck.splitlines())]
        lines += [line for line in (self.changed, warning) if line]
        if self.findings and self.verdict is not self.found:
            lines += [f"{headline(self.findings)}:", *(f"  {line}" for line in findings_in_lines(self.findings))]
        return "\n".join([*lines, f"replay: {replay}"])

    @property
    def why_stuck(self) -> str:
        """The report on those who wait, or on where all were when their time was up."""
        words = str(self.stuck)
        return words if isinstance(self.stuck, DeadlockError) else f"not done after {self.limit},{words.partition(',')[2]}"

    def _words(self, ranks: Iterable[int]) -> str:
        """`ranks 0-1 of 4`, and those that were spawned, by their names."""
        started = [rank for rank in ranks if rank not in self.names]
        words = [f"{ranks_in_words(started)} of {self.size}"] if started else []
        return " and ".join([*words, *self.names.values()])

    def written(self, stream: str) -> str | None:
        """What the first failing rank wrote, and how much more there is; None if no rank failed by itself."""
        if not self.failed:
            return None
        first, by_rank = next(iter(self.failed)), self.output[stream]
        text = "".join(by_rank.get(first, []))
        others = [rank for rank in by_rank if rank != first]
        more = f"({len(others)} other rank{'s' * (len(others) > 1)} wrote too: pytest -s shows all)\n" if others else ""
        who = self.names.get(first, f"rank {first}")
        return (f"({who})\n{text}{chr(10) * (not text.endswith(chr(10)))}" if text else "") + more


def _headline(error: BaseException) -> str:
    """The kind of an error, and the first line of what it says."""
    line = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _alike(failed: dict[int, BaseException], ranks: list[int], but: str, most: int = 5) -> dict[str, list[int]]:
    """Failing ranks by what they raised, where it is not what the first one raised."""
    groups: dict[str, list[int]] = {}
    for rank in ranks:
        if _headline(failed[rank]) != but:
            groups.setdefault(_headline(failed[rank]), []).append(rank)
    rest = [rank for ranks in list(groups.values())[most:] for rank in ranks]
    return {**dict(list(groups.items())[:most]), **({"other errors": rest} if rest else {})}


def _blamed(error: BaseException) -> BaseException:
    """An error of a wrong MPI call, or Abort, with a traceback that ends where the program calls, not where we found out."""
    last, step = None, error.__traceback__ if isinstance(error, (MPIError, Aborted)) else None
    while step is not None:
        last = last if is_ours(step.tb_frame) else step
        step = step.tb_next
    if last is not None:
        last.tb_next = None
    return error


def on_every_rank(
    call: Callable[[Any], Any], size: int, options: dict[str, Any], wrapped: Callable[[Any], Any] | None = None
) -> Outcome:
    """Call it with a communicator on every rank. A rank that fails just ends: the others go on as far as they can.

    `wrapped` makes of what a rank calls what the rank runs.
    """
    outcome = Outcome(size)

    def main(comm: Any) -> None:
        __tracebackhide__ = True
        try:
            call(comm)
        except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
            running_process().explain(error)
            outcome.errors[comm.Get_rank()] = _blamed(error)
            outcome.clocks[comm.Get_rank()] = Wtime()

    with kept_by_rank(current_rank) as outcome.output:
        try:
            outcome.findings = run(main if wrapped is None else wrapped(main), size, **options).findings
        except (DeadlockError, RunTimeout) as error:
            outcome.stuck, outcome.findings = error, error.findings
        except FindingsError as error:
            outcome.found, outcome.findings = error, error.findings
        except RankError as error:  # Abort, sys.exit: they end everybody
            outcome.errors.setdefault(error.rank, _blamed(error.exception))
            if error.rank >= size:
                outcome.names[error.rank] = error.name
    return outcome
