"""Carry out one request of a check. Requests and answers are plain values."""

from __future__ import annotations

import io
import traceback
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from rich.console import Console

from fakempi.apps.course.program import LeftEarly, NoFunction, StudentCall
from fakempi.apps.course.source import syntax_message
from fakempi.apps.course.values import encode
from fakempi.core.arguments import RunOptions
from fakempi.core.reports.ranks import Names
from fakempi.core.world import run
from fakempi.errors import (
    DeadlockError,
    ExitWithoutFinalize,
    FindingsError,
    LivelockError,
    MPIError,
    OutcomesDifferError,
    RankError,
    RunError,
    RunTimeoutError,
    text_of,
)
from fakempi.modelcheck.search.exploration import place
from fakempi.modelcheck.search.explore import explore_with
from fakempi.modelcheck.search.options import SearchOptions
from fakempi.view.timeline import timeline

MAX_PRINTED = 4000
"""The maximum number of characters of a program's output that are kept: the last ones."""

TOO_LONG = "the program exceeded its limit of CPU time, or waited for something that does not happen, and was stopped."

HEIGHT = 10
"""The maximum number of rows of a timeline."""


class Tail(io.TextIOBase):
    """Keeps the last characters that are written: a program may print without end."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = ""

    def write(self, text: str) -> int:
        """Keep the end of the text."""
        self.kept += text[-MAX_PRINTED:]
        if len(self.kept) > 8 * MAX_PRINTED:
            self.kept = self.kept[-MAX_PRINTED:]
        return len(text)

    def text(self) -> str:
        """Return the last characters."""
        return self.kept[-MAX_PRINTED:]


def answer(file: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Return the results, time and messages of a call, or the outcome of its schedules, or the error; and the output."""
    printed = Tail()
    with redirect_stdout(printed), redirect_stderr(printed):
        reply = _answer(file, request)
    # a check of all schedules has hundreds of runs: their output is not kept
    reply["printed"] = "" if request["schedules"] else printed.text()
    return reply


def _answer(file: Path, request: dict[str, Any]) -> dict[str, Any]:
    try:
        call = StudentCall(file, request["function"], request["arguments"], request["with_comm"])
    except (SyntaxError, ValueError) as error:
        return {"wrong": {"kind": "syntax", "sentence": syntax_message(error)}}
    options = RunOptions(timeout=inf, cost=request["cost"])  # a monitor, whose end cpu_limit.py decides
    if request["schedules"]:
        return _explored(call, request, replace(options, strict=True))
    try:
        result = run(call, request["ranks"], **replace(options, trace=bool(request["picture"]), check_buffers=True))
    except RunError as error:
        return {"wrong": _error_record(error), **_picture(error.trace, request["picture"])}
    errors = [finding for finding in result.findings if not finding.note]
    if errors:
        return {"wrong": _findings_record(errors), **_picture(result.trace, request["picture"])}
    return {
        "returns": [encode(value) for value in result.returns],
        "time": encode(result.time),
        "sent": [list(value) for value in result.sent],
        **_picture(result.trace, request["picture"]),
    }


def _explored(call: StudentCall, request: dict[str, Any], options: RunOptions) -> dict[str, Any]:
    """Call the function in every schedule that can give a different result; ranks must return the same values in each."""
    search = SearchOptions(runs=request["schedules"], stop="first", compare="returns")
    exploration = explore_with(search, options, call, request["ranks"])
    if not exploration.failures:
        return {"schedules": exploration.runs, "exhausted": exploration.exhausted}
    failure = exploration.failures[0]
    wrong = _error_record(failure.error)
    if failure.why:
        wrong["report"] = "\n".join(filter(None, [wrong.get("report", ""), f"why: {failure.why}"]))
    picture = {}
    if request["picture"]:
        picture = _picture(failure.traces()[0], request["picture"])
    return {"wrong": wrong | {"schedule": failure.schedule}, **picture}


def _error_record(error: RunError) -> dict[str, Any]:
    """Return the kind of an error, a sentence, and the full report."""
    if isinstance(error, DeadlockError):
        polls = isinstance(error, LivelockError)
        sentence = f"{'livelock: ranks poll without success' if polls else 'deadlock: ranks are blocked'}, {_stuck(error)}."
        return {"kind": "livelock" if polls else "deadlock", "sentence": sentence, "report": str(error)}
    if isinstance(error, FindingsError):
        return _findings_record([finding for finding in error.findings if not finding.note])
    if isinstance(error, RunTimeoutError):
        return {"kind": "time-out", "sentence": TOO_LONG, "report": "\n".join(error.places)}
    if isinstance(error, OutcomesDifferError):
        return {"kind": "schedule", "sentence": f"the result depends on the order of messages: {error}."}
    if isinstance(error, RankError):
        return _exception_record(error)
    return {"kind": "error", "sentence": str(error)}


def _stuck(error: DeadlockError) -> str:
    """Return the locations of blocked ranks."""
    places: dict[tuple[str, str], list[int]] = {}
    for record in error.blocked:
        places.setdefault((record.call, record.place), []).append(record.rank)
    lines = [f"{Names().text(ranks)} in {call} at {place}" for (call, place), ranks in places.items()]
    return "; ".join(lines[:3]) + (f"; and at {len(lines) - 3} more places" if len(lines) > 3 else "")


def _findings_record(findings: list[Any]) -> dict[str, Any]:
    lines = [str(finding) for finding in findings]
    return {"kind": findings[0].kind, "sentence": f"{lines[0]}.", "report": "\n".join(lines[1:])}


def _exception_record(error: RankError) -> dict[str, Any]:
    """Return the description of an exception that a rank has raised."""
    raised = error.exception
    if isinstance(raised, NoFunction):
        return {"kind": "missing", "sentence": f"the file does not define the function {raised}."}
    if isinstance(raised, LeftEarly | ExitWithoutFinalize | SystemExit):
        how = "os._exit" if isinstance(raised, ExitWithoutFinalize) else "sys.exit"
        return {"kind": "left", "sentence": f"{error.name} called {how} before its function returned."}
    where = place(raised)
    description = str(raised) if isinstance(raised, MPIError) else f"{type(raised).__name__}: {text_of(raised)}"
    if isinstance(raised, MemoryError) and not text_of(raised):
        description = "MemoryError: the program exceeded its memory limit"
    description = description.rstrip(".: ")
    location = "" if where in description or where == "?" else f" ({where})"
    exception_text = "".join(traceback.format_exception_only(raised)).strip()
    prefix = "" if error.name in description else f"{error.name}: "
    report = exception_text if "\n" in exception_text else ""
    return {"kind": "raised", "sentence": f"{prefix}{description}{location}.", "report": report}


def _picture(trace: Any, width: int) -> dict[str, Any]:
    """Return a timeline as colored text, if the trace has events."""
    if not width or trace is None or not len(trace) or not trace.time:
        return {}
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system="standard", legacy_windows=False)
    console.print(timeline(trace, width=width, height=HEIGHT))
    return {"picture": out.getvalue().rstrip()}
