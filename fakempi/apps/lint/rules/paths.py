"""Sequences of collective calls on the paths of a function, and whether two of them may differ between ranks.

The comparison reports only definite differences: a path with collective calls next to one without any, or two different
straight sequences. Calls of unknown functions, which may make collective calls, are no difference.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from fakempi.apps.lint.analysis import formulas, mpi_calls
from fakempi.apps.lint.analysis.events import (
    BranchEvents,
    Event,
    LocalCall,
    MpiCall,
    OtherCall,
    PathEnd,
    Repetition,
    TryEvents,
)  # fmt: skip
from fakempi.apps.lint.analysis.rank_values import RankDependence

Steps = tuple[Any, ...]
"""Calls by name, `("loop", steps)`, `("if", steps, steps)` and `"?"` for a call that may communicate."""
UNKNOWN_CALL = "?"
MAX_SHOWN = 4
PARALLEL = re.compile(r"mpi|comm|size|parallel|nproc", re.IGNORECASE)
"""Words of conditions that distinguish parallel runs from those of a single process; paths are those of a parallel run."""


def concerns(why: RankDependence, event: Event) -> bool:
    """Return whether an event is a collective call on a communicator whose ranks may disagree."""
    return isinstance(event, MpiCall) and event.operation in mpi_calls.COLLECTIVES and why.concerns(event.ids)


def steps(events: Sequence[Event], why: RankDependence) -> Steps:
    """Return the collective calls of a path, with its structure."""
    found: list[Any] = []
    for event in events:
        if isinstance(event, MpiCall):
            found += [mpi_calls.family(event.operation)] if concerns(why, event) else []
        elif isinstance(event, LocalCall):
            found += steps(event.body, why)
        elif isinstance(event, BranchEvents):
            one, other = steps(event.body, why), steps(event.orelse, why)
            calls = [set(names(side)) - {UNKNOWN_CALL} for side in (one, other)]
            if event.value.depends is None and bool(calls[0]) != bool(calls[1]) and PARALLEL.search(ast.unparse(event.test)):
                one = other = one if calls[0] else other
            found += one if one == other else [("if", one, other)]
        elif isinstance(event, Repetition):
            inner = steps(event.body, why)
            found += [("loop", inner)] if inner else []
        elif isinstance(event, TryEvents):
            found += steps([*event.body, *event.orelse, *event.final], why)
        elif isinstance(event, OtherCall) and event.may_communicate:
            found.append(UNKNOWN_CALL)
    return tuple(found)


def names(path: Steps) -> Iterator[str]:
    """Yield the names of all calls, also of those in branches and loops."""
    for each in path:
        if isinstance(each, str):
            yield each
        else:
            for part in each[1:]:
                yield from names(part)


def differ(one: Steps, other: Steps) -> bool:
    """Return whether ranks on the two paths make different collective calls, whatever the other conditions are."""
    first, second = set(names(one)), set(names(other))
    if not first or not second:
        return bool((first | second) - {UNKNOWN_CALL})
    if UNKNOWN_CALL in first | second:
        return False
    straight = all(isinstance(each, str) for each in (*one, *other))
    return one != other if straight else first != second


def collective_calls(events: Sequence[Event], why: RankDependence, within: str = "") -> Iterator[str]:
    """Yield descriptions of the collective calls of a path: `bcast (line 12)`."""
    for event in events:
        if isinstance(event, MpiCall) and concerns(why, event):
            yield f"{event.operation} (line {event.node.lineno}{within})"
        for part in inside(event):
            yield from collective_calls(part, why, f", in {event.name}" if isinstance(event, LocalCall) else within)


def blocks(events: Sequence[Event], of_all_ranks: bool = False) -> Iterator[Sequence[Event]]:
    """Yield a list of events and the lists inside it; `of_all_ranks`: not those in branches that only some ranks take."""
    yield events
    for event in events:
        if not (of_all_ranks and isinstance(event, BranchEvents) and event.value.depends is not None):
            for part in inside(event):
                yield from blocks(part, of_all_ranks)


def inside(event: Event) -> list[list[Event]]:
    """Return the lists of events inside an event, also those of a function that it calls."""
    return [event.body] if isinstance(event, LocalCall) else parts_of(event)


def parts_of(event: Event) -> list[list[Event]]:
    """Return the lists of events inside an event of the same function."""
    if isinstance(event, BranchEvents):
        return [event.body, event.orelse]
    if isinstance(event, Repetition):
        return [event.body]
    if isinstance(event, TryEvents):
        return [event.body, *event.handlers, event.orelse, event.final]
    return []


def described(label: str, events: Sequence[Event], why: RankDependence) -> str:
    """Return one line about a path."""
    found = list(collective_calls(events, why))
    more = f", and {len(found) - MAX_SHOWN} more" if len(found) > MAX_SHOWN else ""
    return f"{label}: {', '.join(found[:MAX_SHOWN]) or 'no collective call'}{more}"


def end_of(events: Sequence[Event]) -> str:
    """Return how a path ends before the end of its block, or an empty text."""
    return events[-1].how if events and isinstance(events[-1], PathEnd) else ""


def always_aborts(events: Sequence[Event]) -> bool:
    """Return whether a path contains an abort of all ranks outside branches and loops."""
    return any(isinstance(event, PathEnd) and event.how == "abort" for event in events)


def complementary(branches: Sequence[BranchEvents], why: RankDependence) -> bool:
    """Return whether branches after each other give each rank the same calls: `if rank == 0` and later `if rank != 0`."""
    for size in formulas.SIZES:
        tables = [formulas.table(branch.value.formula, size) for branch in branches]
        if any(found is None for found in tables):
            return False
        paths = set()
        for rank in range(size):
            path: list[Any] = []
            for branch, found in zip(branches, tables, strict=True):
                path += steps(branch.body if found is not None and found[rank] else branch.orelse, why)
            paths.add(tuple(path))
        if len(paths) > 1:
            return False
    return True
