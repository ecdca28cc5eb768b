"""Results of a search: the number of schedules, whether the search was exhaustive, and the failures."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from traceback import walk_tb
from typing import Any, NamedTuple

from fakempi.core.network.models.hockney import Hockney
from fakempi.core.reports.suppressions import unused_text
from fakempi.errors import DeadlockError, FindingsError, OutcomesDifferError, RankError, RunError, TraceError
from fakempi.errors.paths import short_path
from fakempi.errors.plurals import counted
from fakempi.modelcheck.search.divergence import MarkingReplay, first_difference
from fakempi.mpi.base.call_site import is_ours
from fakempi.trace.record import Trace
from fakempi.trace.renderer import renderer

MAX_SUMMARIES = 1000
"""Runs that a result summarizes; twice as many if they fail."""
MAX_PICTURES = 3
"""Failures that a notebook shows with pictures."""


@dataclass
class Failure:
    """A failing schedule: the simplest one found for its error and location.

    Attributes
    ----------
    error
        The exception that `run` raised.
    schedule
        The schedule as text; `run(..., schedule=...)` reproduces the failure.
    why
        The choice that causes the failure, in one sentence.
    passes
        The schedule that differs in that choice and succeeds, if there is one.
    times
        The number of runs with this failure.
    """

    error: RunError
    schedule: str
    why: str = ""
    passes: str | None = None
    times: int = 1
    rerun: Callable[..., Any] | None = field(default=None, repr=False)  # runs the program with a given schedule

    def traces(self) -> tuple[Trace, Trace | None]:
        """Return traces of the failing schedule and of the one that succeeds; the second is None if there is none.

        Messages take time in these traces, which separates the events, unless that changes the schedule.
        """
        return self._trace(self.schedule), None if self.passes is None else self._trace(self.passes)

    def _trace(self, schedule: str) -> Trace:
        timed, plain = self._run(schedule, cost=Hockney()), self._run(schedule)
        trace, choices = (timed if timed[0] == plain[0] else plain)[1:]
        fails = schedule == self.schedule
        about = {"token": schedule, "fails": fails, **choices.place(trace)}
        trace.about["schedule"] = {**about, "why": self.why} if fails else about
        return trace

    def _run(self, schedule: str, **options: Any) -> tuple[Any, Trace, MarkingReplay]:
        assert self.rerun is not None
        choices = MarkingReplay(schedule, None if self.passes is None else first_difference(self.schedule, self.passes))
        try:
            return None, self.rerun(choices, trace=True, **options).trace, choices
        except RunError as error:
            failure = error
        assert isinstance(failure.trace, Trace)  # the run was started with trace=True
        return failure_key(failure), failure.trace, choices

    def page(self, *, framed: bool = False) -> str:
        """Return HTML: both traces on one time scale, side by side in a wide window; the deciding choice is marked."""
        fails, passes = self.traces()
        return renderer().page(fails, other=passes, framed=framed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page that `page` returns to a file, whose name must end in .html."""
        if Path(path).suffix != ".html":
            raise TraceError(f"{path}: a failure is saved as an HTML page; use a file name that ends in .html.")
        Path(path).write_text(self.page(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """Notebook display: the error, its cause, and the page in a frame."""
        return f"<pre>{escape(str(self))}</pre>{self.page(framed=True) if self.rerun else ''}"

    def __str__(self) -> str:
        lines = [str(self.error), f"schedule {self.schedule}"]
        return "\n".join([*lines, *[f"why: {self.why}"] * bool(self.why)])


class ScheduleSummary(NamedTuple):
    """A run of a search: its mode and choices, and how it ended.

    Attributes
    ----------
    mode : the mode as a schedule names it, `z` for example
    decisions : the index of the option that each choice with several options took
    outcome : `passes`, `fails`, or `merged` if the run ended early, because its continuation is explored elsewhere
    schedule : the schedule as text
    """

    mode: str
    decisions: tuple[int, ...]
    outcome: str
    schedule: str


@dataclass
class Exploration:
    """Results of a search.

    Attributes
    ----------
    runs
        The number of schedules that were run to the end.
    exhausted
        Whether the search covered every schedule in the modes of `scope`: each schedule that was not run gives the same
        results as one that was. Two cases are never explored: buffers that fill up during the run, and runs in which some
        collective calls synchronize and others do not.
    failures
        The failures, one for each error and location.
    scope
        A description of the modes that were explored; empty if the program has only one.
    part
        The estimated fraction of the search tree that was explored; 1 if the search was exhaustive.
    method
        A description of how schedules were chosen.
    limits
        The reasons why the search was not exhaustive; empty if there are none.
    ended_early
        The number of further runs that were stopped because their continuation is explored elsewhere.
    others
        The number of failing runs that are not in `failures`, because there were too many different failures.
    suppressed
        Kinds of findings that were suppressed in a run, each with the place and the reason of the suppression.
    unused_suppressions
        Texts of the suppressions that match no finding of any run.
    summaries
        The first `MAX_SUMMARIES` runs, and later ones that fail, for a picture of the tree.

    Examples
    --------
    >>> import fakempi
    >>> result = fakempi.explore(lambda comm: comm.allreduce(comm.rank), 2)
    >>> result.exhausted, result.failures
    (True, [])
    """

    runs: int = 0
    exhausted: bool = False
    failures: list[Failure] = field(default_factory=list)
    part: float = 0.0
    method: str = ""
    scope: str = ""
    limits: list[str] = field(default_factory=list)
    ended_early: int = 0
    others: int = 0
    suppressed: list[str] = field(default_factory=list)
    unused_suppressions: list[str] = field(default_factory=list)
    summaries: list[ScheduleSummary] = field(default_factory=list, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """A one-line summary of the search."""
        schedules = counted(self.runs, "schedule", ",")
        if self.failures:
            times = sum(failure.times for failure in self.failures) + self.others
            kinds = f", in {'more than ' * bool(self.others)}{len(self.failures)} ways" if len(self.failures) > 1 else ""
            more = "" if self.exhausted else ", and there may be more"
            return f"{times:,} of {schedules} fail{'s' * (times == 1)}{kinds}{more}"
        if self.exhausted:
            return f"clean: all {schedules}{self.scope}" if self.runs > 1 else f"clean: the only schedule{self.scope}"
        if self.part < 1:
            return f"clean so far: {schedules}, about {percent(self.part)} of the search tree"
        return f"clean so far: {schedules}, but {'; '.join(self.limits)}"

    def __str__(self) -> str:
        head = "\n".join([f"{self.verdict} ({self.method})", *self.remarks()])
        return "\n\n".join([head, *map(str, self.failures)])

    def remarks(self) -> list[str]:
        """Return a line on suppressed findings and one on suppressions without effect, if there are any."""
        suppressed = [f"suppressed: {'; '.join(self.suppressed)}"] if self.suppressed else []
        return suppressed + [text for text in (unused_text(self.unused_suppressions),) if text]

    def _repr_html_(self) -> str:
        """Notebook display: the verdict and the failures; only the first few failures have pictures."""
        failures = [failure._repr_html_() for failure in self.failures[:MAX_PICTURES]]
        others = [f"<pre>{escape(str(failure))}</pre>" for failure in self.failures[MAX_PICTURES:]]
        remarks = [f"<p>{escape(remark)}</p>" for remark in self.remarks()]
        return "".join([f"<p><b>{escape(self.verdict)}</b> ({escape(self.method)})</p>", *remarks, *failures, *others])


def percent(part: float) -> str:
    """Format a fraction as a percentage, at most 99 %."""
    if part < 0.001:
        return "0.1 % at most"
    return f"{100 * part:.1f} %" if part < 0.01 else f"{min(99, round(100 * part))} %"


def failure_key(error: BaseException) -> Any:
    """Return a key that is equal for failures with the same error at the same location."""
    if isinstance(error, RankError):
        return type(error.exception).__name__, place(error.exception)
    if isinstance(error, DeadlockError):
        return type(error).__name__, tuple(sorted({(record.call, record.place) for record in error.blocked}))
    if isinstance(error, FindingsError):
        return "findings", tuple(sorted({(record.kind, record.place) for record in error.findings if not record.note}))
    if isinstance(error, OutcomesDifferError):
        return getattr(error, "stream", "returns"), error.rank
    return type(error).__name__, str(error)


def place(error: BaseException) -> str:
    """Return the last line of the program in an exception's traceback: `queue.py:12`."""
    frames = [(frame, line) for frame, line in walk_tb(error.__traceback__) if not is_ours(frame)]
    if not frames:
        return "?"
    frame, line = frames[-1]
    return f"{short_path(frame.f_code.co_filename)}:{line}"
