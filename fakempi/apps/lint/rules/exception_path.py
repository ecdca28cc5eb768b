"""An exception of one rank skips a collective call.

Code in `try` that fails on one rank continues with the handler there, and that rank does not make the collective call at
the end of `try`. The other ranks wait for it.

Wrong:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    try:  # FM104
        values = open(f"input.{comm.rank}").read()
        total = comm.allreduce(len(values))
    except OSError:
        total = 0

Right:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    try:
        values = open(f"input.{comm.rank}").read()
    except OSError:
        values = ""
    total = comm.allreduce(len(values))

Fix: move the collective call out of `try`, or call `comm.Abort()` in the handler.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from fakempi.apps.lint.analysis import mpi_calls
from fakempi.apps.lint.analysis.events import Event, MpiCall, PathEnd, TryEvents
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.analysis.rank_values import ANY, BY_NAME, RankDependence
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths

CODE = "FM104"
TITLE = "an exception that skips a collective call on one rank"
FIX = "move the collective call out of `try`, or call comm.Abort() in the handler"
OF_ALL_RANKS = {
    "NotImplementedError", "AttributeError", "ImportError", "ModuleNotFoundError", "KeyboardInterrupt", "SystemExit",
    "NameError", "GeneratorExit",
}  # fmt: skip
"""Exceptions that all ranks raise at the same place, or that end the program."""
WITHOUT_ERRORS = {
    "print", "len", "range", "isinstance", "hasattr", "time", "perf_counter", "Wtime", "append", "info", "debug", "format",
    "str", "list", "join", "Get_rank", "Get_size", "getattr", "super", "zip", "enumerate",
}  # fmt: skip
"""Functions that are not expected to raise an exception."""
ALL_RANKS = RankDependence(frozenset({ANY, BY_NAME}), "", 0)


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for function in analysis.functions:
        for event in chain.from_iterable(paths.blocks(function.events)):
            if isinstance(event, TryEvents):
                yield from _of_try(event)


def _of_try(attempt: TryEvents) -> Iterator[LintFinding]:
    calls = [event for event in attempt.body if paths.concerns(ALL_RANKS, event)]
    if not calls:
        return
    call = calls[-1]
    assert isinstance(call, MpiCall)
    risk = _may_fail(attempt.node.body, call.node)
    for handler, events in zip(attempt.node.handlers, attempt.handlers, strict=True):
        if risk is None or _is_of_all_ranks(handler.type) or _leaves(events, handler) or paths.steps(events, ALL_RANKS):
            continue
        label = ast.unparse(handler.type) if handler.type else "an exception"
        yield finding(
            CODE, attempt.node,
            f"a rank on which line {risk.lineno} raises {label} does not call {call.operation} (line {call.node.lineno}),"
            f" since the handler (line {handler.lineno}) continues",
            (paths.described("without an exception", attempt.body, ALL_RANKS), f"with {label}: no collective call"), FIX,
        )  # fmt: skip
        return


def _is_of_all_ranks(node: ast.expr | None) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple) else [node] if node is not None else []
    names = [ast.unparse(part) for part in parts]
    return bool(names) and all("MPI" in name or name.split(".")[-1] in OF_ALL_RANKS for name in names)


def _leaves(events: list[Event], handler: ast.ExceptHandler) -> bool:
    """Return whether a handler ends the program or raises the exception again."""
    if any(isinstance(event, PathEnd) and event.how in ("raise", "abort", "exit") for event in events):
        return True
    calls = [node.func for node in ast.walk(handler) if isinstance(node, ast.Call)]
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in calls}
    return bool(names & {"Abort", "exit", "_exit", "abort"}) or any("abort" in name.lower() for name in names)


def _may_fail(body: list[ast.stmt], call: ast.Call) -> ast.Call | ast.Raise | None:
    """Return a call before the collective call that may raise an exception on one rank only."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Raise) and node.lineno < call.lineno:
                return node
            if isinstance(node, ast.Call) and node.lineno < call.lineno:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name not in WITHOUT_ERRORS and name not in mpi_calls.METHODS:
                    return node
    return None
