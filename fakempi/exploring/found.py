"""What became of a search: how many schedules, whether these were all, and what failed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from traceback import walk_tb
from typing import Any

from fakempi.errors import DeadlockError, FindingsError, OutcomesDiffer, RankError, RunError, TraceError
from fakempi.exploring.deciding import Marked, parting
from fakempi.mpi.base.complain import is_ours
from fakempi.wire.models.hockney import Hockney

DRAWN = 3
"""Failures of which a notebook has pictures."""


@dataclass
class Failure:
    """A schedule that fails, the simplest that was found for its error and place.

    Attributes
    ----------
    error
        What `run` raised.
    decisions
        The schedule as text; `run(..., decisions=...)` does the same again.
    why
        The choice that made the difference, in a sentence.
    passes
        The schedule that differs in that choice and goes well, if there is one.
    times
        In how many of the runs this was the failure.
    """

    error: RunError
    decisions: str
    why: str = ""
    passes: str | None = None
    times: int = 1
    again: Callable[..., Any] | None = field(default=None, repr=False)  # a run with such decisions

    def traces(self) -> tuple[Any, Any]:
        """What happens in the schedule that fails, and in the one that goes well, if there is one.

        Messages take time there, so that there is something to see; unless that would make it another schedule.
        """
        return self._trace(self.decisions), None if self.passes is None else self._trace(self.passes)

    def _trace(self, decisions: str) -> Any:
        timed, plain = self._run(decisions, cost=Hockney()), self._run(decisions)
        trace, choices = (timed if timed[0] == plain[0] else plain)[1:]
        fails = decisions == self.decisions
        told = {"decisions": decisions, "fails": fails, **choices.place(trace)}
        trace.about["schedule"] = {**told, "why": self.why} if fails else told
        return trace

    def _run(self, decisions: str, **options: Any) -> tuple[Any, Any, Marked]:
        assert self.again is not None
        choices = Marked(decisions, None if self.passes is None else parting(self.decisions, self.passes))
        try:
            return None, self.again(choices, trace=True, **options).trace, choices
        except RunError as error:
            return same(error), error.trace, choices

    def page(self, *, framed: bool = False) -> str:
        """Both for a browser, one below the other on one scale, with the choice marked that makes the difference."""
        fails, passes = self.traces()
        return str(fails.page(fails, beside=passes, framed=framed))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write that page to a file, which ends in .html."""
        if Path(path).suffix != ".html":
            raise TraceError(f"{path}: a failure is saved as a page, whose file ends in .html.")
        Path(path).write_text(self.page(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """In a notebook: what went wrong and why, and the page in a frame."""
        return f"<pre>{escape(str(self))}</pre>{self.page(framed=True) if self.again else ''}"

    def __str__(self) -> str:
        lines = [str(self.error), f"schedule {self.decisions}"]
        return "\n".join([*lines, *[f"why: {self.why}"] * bool(self.why)])


@dataclass
class Found:
    """What became of a search.

    Attributes
    ----------
    runs
        Schedules that were run to their end.
    exhausted
        Whether every schedule that can differ was run.
    failures
        What failed, one for each error and place.
    part
        How much of the tree was seen, about; 1 if it was exhausted.
    method
        How schedules were chosen.
    limits
        Why these were not all, in words; empty if they were.
    ended_early
        Runs besides, which were ended when it showed that the rest is tried elsewhere.
    others
        Runs that failed in further ways, when there were very many kinds of failures already.
    """

    runs: int = 0
    exhausted: bool = False
    failures: list[Failure] = field(default_factory=list)
    part: float = 0.0
    method: str = ""
    limits: list[str] = field(default_factory=list)
    ended_early: int = 0
    others: int = 0

    @property
    def verdict(self) -> str:
        """One sentence."""
        schedules = f"{self.runs:,} schedule{'s' * (self.runs != 1)}"
        if self.failures:
            times = sum(failure.times for failure in self.failures) + self.others
            kinds = f", in {'more than ' * bool(self.others)}{len(self.failures)} ways" if len(self.failures) > 1 else ""
            more = "" if self.exhausted else ", and there may be more"
            return f"{times:,} of {schedules} fail{'s' * (times == 1)}{kinds}{more}"
        if self.exhausted:
            return f"clean: all {schedules}" if self.runs > 1 else "clean: there is but 1 schedule"
        if self.part < 1:
            return f"clean so far: {schedules}, about {percent(self.part)} of the tree"
        return f"clean so far: {schedules}, but {'; '.join(self.limits)}"

    def __str__(self) -> str:
        return "\n\n".join([f"{self.verdict} ({self.method})", *map(str, self.failures)])

    def _repr_html_(self) -> str:
        """In a notebook: the verdict, and the failures; of many, pictures of the first few."""
        failures = [one._repr_html_() for one in self.failures[:DRAWN]]
        others = [f"<pre>{escape(str(one))}</pre>" for one in self.failures[DRAWN:]]
        return "".join([f"<p><b>{escape(self.verdict)}</b> ({escape(self.method)})</p>", *failures, *others])


def percent(part: float) -> str:
    """3 %, and never all of it."""
    if part < 0.001:
        return "0.1 % at most"
    return f"{100 * part:.1f} %" if part < 0.01 else f"{min(99, round(100 * part))} %"


def same(error: BaseException) -> Any:
    """What failures have in common that count as one: the error and its place."""
    if isinstance(error, RankError):
        return type(error.exception).__name__, place(error.exception)
    if isinstance(error, DeadlockError):
        return type(error).__name__, tuple(sorted({(one.call, one.site) for one in error.stuck}))
    if isinstance(error, FindingsError):
        return "findings", tuple(sorted({(one.kind, one.place) for one in error.findings if not one.note}))
    if isinstance(error, OutcomesDiffer):
        return "returns", error.rank
    return type(error).__name__, str(error)


def place(error: BaseException) -> str:
    """The last line of the program that an exception came by: `queue.py:12`."""
    frames = [(frame, line) for frame, line in walk_tb(error.__traceback__) if not is_ours(frame)]
    if not frames:
        return "?"
    frame, line = frames[-1]
    return f"{os.path.basename(frame.f_code.co_filename)}:{line}"
