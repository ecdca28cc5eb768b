"""`fakempi run`: a script on every rank, its exit code, and what to say when it fails."""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from functools import reduce
from math import inf
from operator import or_
from pathlib import Path
from typing import Any

from fakempi import options as typed
from fakempi.checks.findings import Finding, headline, lines
from fakempi.cli.exploring import explorer
from fakempi.cli.watching import INTERRUPTED, TIMED_OUT, Interrupts
from fakempi.errors import (
    KEEP,
    Aborted,
    DeadlockError,
    FindingsError,
    Left,
    MPIError,
    RankError,
    RunTimeout,
    printable,
)
from fakempi.script import Program, program
from fakempi.view.numbers import amount, seconds
from fakempi.world import Run, run

FAILED = 1
FOUND = 3  # a strict run in which something is wrong
KILLED = 9  # what MPICH's mpiexec ends with when a rank has left with 0 and it has killed the others
OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run_script(options: Namespace) -> int:
    """Run it; returns the exit code."""
    command = command_of(options)
    nprocs = typed.count(options.ranks)
    if nprocs < 1:
        raise typed.wrong(f"-n {options.ranks}: there must be at least 1 rank.")
    arguments: dict[str, Any] = {
        "cost": None if options.decisions and not options.cost else typed.cost_model(options.cost or "hockney"),
        "algorithms": typed.algorithms(options.algorithms) if options.algorithms else None,
        "carrier": options.carrier, "seed": options.seed, "strict": options.strict, "trace": bool(options.trace),
        "progress": "always" if options.progress else not options.quiet,
        "timeout": options.timeout or inf,  # if only to be looked after: Ctrl-C
        "computing": options.computing, "poll": options.poll, "decisions": options.decisions, "paper": options.paper,
        "kill": dict(options.kill) if options.kill else None,
    }  # fmt: skip
    arguments["trace"] = bool(options.trace or options.interactive)
    explore = explorer() if options.interactive else None
    if options.trace and not options.trace.endswith((".json", ".npz", ".html")):
        raise typed.wrong(f"--trace {options.trace}: the file's name must end in .json, .npz or .html.")
    if options.trace and not os.path.isdir(os.path.dirname(options.trace) or "."):  # better now than after the run
        raise typed.wrong(f"--trace {options.trace}: there is no folder {os.path.dirname(options.trace)!r}.")
    try:
        label = "[{rank}] " if options.prefix else ""
        script = program(command, label=label, seed=options.seed or 0, share=options.share, private=options.private)
    except SyntaxError as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        return FAILED
    interrupts = Interrupts(script, nprocs, options.timeout)
    try:
        with interrupts:
            result = run(script, nprocs, **arguments)
    except KeyboardInterrupt:
        _say("\n  ".join([f"fakempi: interrupted{interrupts.how_far()}", *interrupts.places]))
        return INTERRUPTED
    except (RunTimeout, RankError, DeadlockError, FindingsError) as error:
        _save(error.trace, options.trace)
        code = unsuccessful(error, nprocs, script)
        _tell(error.findings, options)
        if explore is not None:
            explore(error.trace, " ".join(command))
        return code
    _save(result.trace, options.trace)
    _tell(result.findings, options)
    if options.summary or (sys.stderr.isatty() and not options.quiet):
        _say(_summary(result))
    if explore is not None:
        explore(result.trace, " ".join(command))
    return reduce(or_, script.codes.values(), 0)


def unsuccessful(error: RunTimeout | RankError | DeadlockError | FindingsError, nprocs: int, script: Program) -> int:
    """Say why the run did not come to a good end; returns the exit code. Findings have their own list."""
    if isinstance(error, FindingsError):
        return FOUND
    if isinstance(error, RankError):
        return _failed(error, nprocs)
    if isinstance(error, RunTimeout):
        _say(f"fakempi: {error}")
        return TIMED_OUT
    _say(str(error))
    _say_codes(script)
    return FAILED


def _tell(findings: Sequence[Finding], options: Namespace) -> None:
    """What was found, as asked for: in words or as JSON, there or in a file. Notes alone interest strict people only."""
    how, _, path = options.findings.partition(":")
    if how == "json":
        text = json.dumps([one.as_record() for one in findings])
        if path:
            Path(path).write_text(text + "\n", encoding="utf-8")
        else:
            _say(text)
    elif options.strict or any(not one.note for one in findings):
        kinds = list(dict.fromkeys(one.kind for one in findings))
        if kinds:
            why = f"fakempi explain {kinds[0]} says what that means" + (", and so for the others" if kinds[1:] else "")
            _say("\n  ".join([f"fakempi: {headline(findings)} ({why})", *lines(findings)]))


def _save(trace: Any, path: str) -> None:
    """Write what happened, to the end or as far as it went."""
    if trace is not None and path:
        trace.save(path)


def command_of(options: Namespace) -> list[str]:
    """What to run, as one types it after `python`; that word may stand before it."""
    for flag, rest in (("-m", options.module), ("-c", options.code)):
        if rest is not None:
            return [flag, *rest]
    command: list[str] = options.command
    if command[:1] == ["--"]:
        command = command[1:]
    if command and os.path.basename(command[0]) in ("python", "python3", os.path.basename(sys.executable)):
        command = command[1:]
    if not command:
        raise typed.wrong("what is to be run? Say fakempi run -n 4 script.py, or -m module.")
    if command[0] not in ("-m", "-c") and not os.path.isfile(command[0]):
        hint = f" A module is run by -m {command[0]}." if command[0].isidentifier() else ""
        raise typed.wrong(f"there is no file {command[0]!r}.{hint}")
    return command


def _summary(result: Run) -> str:
    ranks = f"{len(result.returns):,} rank{'s' if len(result.returns) > 1 else ''}"
    if len(result.clocks) > len(result.returns):
        ranks += f" and {len(result.clocks) - len(result.returns):,} spawned"
    took = seconds(result.time) + (f" with measured computing times {result.computing:g}" if result.computing else "")
    return f"fakempi: {ranks}, {took}, {result.messages:,} messages, {amount(result.bytes)}"


def _say(text: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"{printable(text, keep=KEEP)}\n")
    sys.stderr.flush()


def _failed(error: RankError, nprocs: int) -> int:
    """A rank has failed: its traceback as Python prints it, but for our frames."""
    cause = error.exception
    if isinstance(cause, BrokenPipeError):
        raise cause
    if isinstance(cause, Aborted):
        left = isinstance(cause, Left)
        why = " without MPI.Finalize, which ended the run" if left else ""
        _say(f"fakempi: {error.name} called {cause.call}({cause.errorcode}){why}")
        return cause.errorcode & 0xFF or (KILLED if left else 0)
    told = traceback.TracebackException(type(cause), cause, cause.__traceback__)
    _hide_ours(told, cause)
    _say("".join(told.format() if told.stack else told.format_exception_only()).rstrip())
    who = f"{error.name} of {nprocs}" if error.rank < nprocs else error.name  # a spawned one is of another world
    _say("\n".join([f"fakempi: {who} failed, which ended the run", *error.also()]))
    return FAILED


def _hide_ours(told: traceback.TracebackException | None, error: BaseException | None) -> None:
    """Leave out what led to the script, and how we found out what is wrong; likewise of its causes."""
    while told is not None and error is not None:
        frames = list(told.stack)
        while frames and _is_ours(frames[0]):
            frames.pop(0)
        wrong_use = isinstance(error, (MPIError, ModuleNotFoundError))
        while wrong_use and frames and _is_ours(frames[-1]):
            frames.pop()
        if frames or wrong_use:  # else it is a bug of ours, of which all is shown
            told.stack = traceback.StackSummary.from_list(frames)
        by_cause = told.__cause__ is not None
        told, error = (told.__cause__, error.__cause__) if by_cause else (told.__context__, error.__context__)


def _is_ours(frame: traceback.FrameSummary) -> bool:
    """Whether a frame is ours, or Python's own between us and a module."""
    file = frame.filename
    folders = tuple(os.path.join(folder, "") for folder in (OURS, os.path.dirname(importlib.__file__)))
    return file.startswith("<frozen importlib") or os.path.abspath(file).startswith(folders)


def _say_codes(script: Program) -> None:
    """Ranks that ended early, with a code, are often why others wait."""
    by_code: dict[int, list[int]] = {}
    for number, code in script.codes.items():
        if code:
            by_code.setdefault(code, []).append(number)
    for code, ranks in sorted(by_code.items()):
        _say(f"  {script.universe.names.words(ranks)} ended with exit code {code}")
