"""In the process that runs students' programs: one request, one answer. Both are plain values."""

from __future__ import annotations

import io
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console

from fakempi.checks.ranks import Names
from fakempi.errors import (
    DeadlockError,
    FindingsError,
    Left,
    LivelockError,
    MPIError,
    OutcomesDiffer,
    RankError,
    RunError,
    RunTimeout,
)
from fakempi.exploring.explore import explore
from fakempi.exploring.found import place
from fakempi.learn.program import Call, LeftEarly, NoFunction
from fakempi.learn.source import not_python
from fakempi.learn.values import encode
from fakempi.view.timeline import timeline
from fakempi.world import run

MOST_PRINTED = 4000
"""Characters that are kept of what a program prints."""

HEIGHT = 10
"""Most rows of a timeline."""


def answer(file: Path, request: dict[str, Any]) -> dict[str, Any]:
    """What becomes of a call: what ranks return and what it took, or what is wrong."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        told = _answer(file, request)
    told["printed"] = "" if request["schedules"] else printed.getvalue()[-MOST_PRINTED:]  # of hundreds of runs
    return told


def _answer(file: Path, request: dict[str, Any]) -> dict[str, Any]:
    try:
        call = Call(file, request["function"], request["arguments"], request["with_comm"])
    except (SyntaxError, ValueError) as error:
        return {"wrong": {"kind": "syntax", "sentence": not_python(error)}}
    options = {"timeout": request["seconds"], "cost": request["cost"]}
    if request["schedules"]:
        return _explored(call, request, options)
    try:
        result = run(call, request["ranks"], trace=bool(request["picture"]), buffers=True, **options)
    except RunError as error:
        return {"wrong": _wrong(error), **_picture(error.trace, request["picture"])}
    worst = [finding for finding in result.findings if not finding.note]
    if worst:
        return {"wrong": _found(worst), **_picture(result.trace, request["picture"])}
    return {
        "returns": [encode(one) for one in result.returns],
        "time": encode(result.time),
        "sent": [list(one) for one in result.sent],
        **_picture(result.trace, request["picture"]),
    }


def _explored(call: Call, request: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Every schedule that can differ; in each, ranks must return the same."""
    found = explore(call, request["ranks"], runs=request["schedules"], stop="first", compare="returns", **options)
    if not found.failures:
        return {"schedules": found.runs, "exhausted": found.exhausted}
    failure = found.failures[0]
    wrong = _wrong(failure.error)
    if failure.why:
        wrong["report"] = "\n".join(filter(None, [wrong.get("report", ""), f"why: {failure.why}"]))
    drawn = {}
    if request["picture"]:
        drawn = _picture(failure.traces()[0], request["picture"])
    return {"wrong": wrong | {"schedule": failure.decisions}, **drawn}


def _wrong(error: RunError) -> dict[str, Any]:
    """What is wrong, in a sentence, and the report that says all of it."""
    if isinstance(error, DeadlockError):
        polls = isinstance(error, LivelockError)
        words = f"{'livelock: they look in vain' if polls else 'deadlock: they wait for ever'}, {_stuck(error)}."
        return {"kind": "livelock" if polls else "deadlock", "sentence": words, "report": str(error)}
    if isinstance(error, FindingsError):
        return _found([finding for finding in error.findings if not finding.note])
    if isinstance(error, RunTimeout):
        return {"kind": "time-out", "sentence": f"it was not done after {error.timeout:g} s.", "report": str(error)}
    if isinstance(error, OutcomesDiffer):
        return {"kind": "schedule", "sentence": f"what comes out hangs on which message comes first: {error}."}
    if isinstance(error, RankError):
        return _failed(error)
    return {"kind": "error", "sentence": str(error)}


def _stuck(error: DeadlockError) -> str:
    """Where ranks are, by place."""
    places: dict[tuple[str, str], list[int]] = {}
    for one in error.stuck:
        places.setdefault((one.call, one.site), []).append(one.rank)
    words = [f"{Names().words(ranks)} in {call} at {site}" for (call, site), ranks in places.items()]
    return "; ".join(words[:3]) + (f"; and at {len(words) - 3} more places" if len(words) > 3 else "")


def _found(findings: list[Any]) -> dict[str, Any]:
    lines = [str(finding) for finding in findings]
    return {"kind": findings[0].kind, "sentence": f"{lines[0]}.", "report": "\n".join(lines[1:])}


def _failed(error: RankError) -> dict[str, Any]:
    """A rank has raised something."""
    raised = error.exception
    if isinstance(raised, NoFunction):
        return {"kind": "missing", "sentence": f"there is no function {raised}(...) in the file."}
    if isinstance(raised, LeftEarly | Left | SystemExit):
        how = "os._exit" if isinstance(raised, Left) else "sys.exit"
        return {"kind": "left", "sentence": f"{error.name} left by {how}, and did not return from its function."}
    where = place(raised)
    words = str(raised) if isinstance(raised, MPIError) else f"{type(raised).__name__}: {raised}"
    if isinstance(raised, MemoryError) and not str(raised):
        words = "MemoryError: it takes more memory than it may"
    words = words.rstrip(".: ")
    at = "" if where in words or where == "?" else f" ({where})"
    shown = "".join(traceback.format_exception_only(raised)).strip()
    who = "" if error.name in words else f"{error.name}: "
    return {"kind": "raised", "sentence": f"{who}{words}{at}.", "report": shown if "\n" in shown else ""}


def _picture(trace: Any, width: int) -> dict[str, Any]:
    """A timeline as text with colours in it, if something happened."""
    if not width or trace is None or not len(trace) or not trace.time:
        return {}
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system="standard", legacy_windows=False)
    console.print(timeline(trace, width=width, height=HEIGHT))
    return {"picture": out.getvalue().rstrip()}
