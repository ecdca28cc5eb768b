"""Blocking sends in a cycle.

If every rank first sends to another rank and then receives, each send may wait for a receive that comes later: the
program works only as long as the MPI library buffers the messages.

Wrong:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.send("text", dest=right)  # FM201
    comm.recv(source=left)

Right:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.sendrecv("text", dest=right, source=left)

Fix: use `sendrecv`, or `isend` and a wait after the receive; or let even ranks send first and odd ranks receive first.
"""

from __future__ import annotations

from collections.abc import Iterator

from fakempi.apps.lint.analysis import formulas, mpi_calls
from fakempi.apps.lint.analysis.events import MpiCall
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.analysis.rank_values import AbstractValue
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths

CODE = "FM201"
TITLE = "blocking sends of all ranks in a cycle"
FIX = "use sendrecv, or isend and a wait after the receive"
FEW = (2, 3, 4, 6)


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for function in analysis.functions:
        for events in paths.blocks(function.events, of_all_ranks=True):
            messages = [event for event in events if isinstance(event, MpiCall) and event.operation in mpi_calls.MESSAGES]
            if len(messages) > 1:
                yield from _first_of(messages)


def _first_of(messages: list[MpiCall]) -> Iterator[LintFinding]:
    """Check a straight sequence of calls, the first of which all ranks make."""
    for position, call in enumerate(messages):
        if call.operation in ("irecv", "Irecv"):
            return
        if call.operation not in mpi_calls.BLOCKING_SENDS:
            continue
        _, dest = call.argument(1, "dest")
        ranks = cycle(dest)
        later = next((each for each in messages[position + 1 :] if each.operation in ("recv", "Recv")), None)
        earlier = any(each.operation in ("recv", "Recv") for each in messages[:position])
        if ranks and later is not None and later.ids == call.ids and not earlier:
            yield finding(
                CODE, call.node,
                f"all ranks call {call.operation} before any of them calls {later.operation} (line {later.node.lineno});"
                f" this deadlocks unless messages are buffered: with {len(ranks)} ranks, {described(ranks)}", (), FIX,
            )  # fmt: skip
        return


def cycle(value: AbstractValue | None) -> list[int]:
    """Return the peer of each rank, for a number of ranks where each has another one; otherwise an empty list."""
    if value is None or value.depends is None:
        return []
    for size in FEW:
        ranks = formulas.table(value.formula, size)
        if ranks and all(isinstance(each, int) and 0 <= each < size and each != rank for rank, each in enumerate(ranks)):
            return ranks
    return []


def described(ranks: list[int]) -> str:
    """Return one cycle in words: `0 → 1 → 0`."""
    seen, rank = [0], ranks[0]
    while rank not in seen:
        seen.append(rank)
        rank = ranks[rank]
    return " → ".join(map(str, [*seen[seen.index(rank) :], rank]))
