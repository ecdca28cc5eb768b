"""Root gathering between groups: rank 0 of each collects, the two talk, each broadcasts what it heard.

The common text of what MPI libraries do for allgather(v) between groups, in two versions: one direction after the
other, as in MPICH, and both at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collectives.algorithm import Algorithm, Case, DoesNotFit
from collectives.blocks import Layout, scratch
from collectives.groups import (
    UNDECIDED,
    Placed,
    a_comes_first,
    beside,
    check_local,
    comes_first,
    in_a_row,
    misfit,
    numbers,
    scratch_in,
    sent_in,
)
from collectives.messages import exchange, receive, send
from collectives.protocol import Buffer, Comm, Intercomm
from collectives.schedule import Schedule, Transfer, without_empty

COUNT_BYTES = 8


def collect(
    local: Comm, sendbuf: Buffer, total: int, counts: Sequence[int] | None, gather: Algorithm, tag: int
) -> Buffer | None:
    """Gather the own group's blocks to its rank 0; everybody else gets None."""
    whole = scratch(sendbuf, total) if local.Get_rank() == 0 else None
    gather.run(local, sendbuf, whole, *(() if counts is None else (counts,)), root=0, tag=tag)
    return whole


def counts_of_all(local: Comm, count: int, allgather: Algorithm, tag: int) -> list[int]:
    """The block sizes of the own group, which allgatherv's caller does not say."""
    own = np.array([count], np.int64)
    table = scratch(own, local.Get_size())
    allgather.run(local, own, table, tag=tag)
    return [int(each) for each in table]


def in_turn(
    inter: Intercomm, local: Comm, whole: Buffer | None, recvbuf: Buffer, first: bool, bcast: Algorithm, tag: int
) -> None:
    """The first group's root sends and the other group broadcasts; then the other way round."""
    for sending in (first, not first):
        if sending:
            if whole is not None:
                send(inter, whole, 0, tag)
        else:
            if whole is not None:
                receive(inter, recvbuf, 0, tag)
            bcast.run(local, recvbuf, root=0, tag=tag)


def in_turn_by_counts(
    algorithm: Algorithm,
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    parts: Mapping[str, Algorithm],
    first: bool | None,
    tag: int,
) -> None:
    """All of an allgatherv: the own block sizes by `allgather`, the blocks by `gatherv`, then each way by `bcast`."""
    check_local(inter, local)
    p, q = inter.Get_size(), inter.Get_remote_size()
    check_parts(algorithm, Case(p, q=q, counts=(0,) * p, counts_b=(0,) * q, parameters=parts))
    expected = Layout.of_ranks(counts, q).size(0, q)
    own_counts = counts_of_all(local, sendbuf.size, parts["allgather"], tag)
    total = sum(own_counts)
    goes_first = decided(algorithm, (p, total), (q, expected), first)
    whole = collect(local, sendbuf, total, own_counts, parts["gatherv"], tag)
    in_turn(inter, local, whole, recvbuf[0:expected], goes_first, parts["bcast"], tag)


def at_once(
    inter: Intercomm,
    local: Comm,
    whole: Buffer | None,
    recvbuf: Buffer,
    bcast: Algorithm,
    options: Mapping[str, Any],
    tag: int,
) -> None:
    """The roots exchange, both groups broadcast."""
    if whole is not None:
        exchange(inter, whole, 0, recvbuf, 0, tag)
    bcast.run(local, recvbuf, root=0, tag=tag, **options)


def check_parts(algorithm: Algorithm, case: Case) -> None:
    """Refuse what the parts refuse; who comes first is the caller's next question."""
    if reason := misfit(parts(algorithm, case)):
        raise DoesNotFit(f"inter {algorithm.operation} {algorithm.name}: {reason}")


def decided(algorithm: Algorithm, own: tuple[int, int], other: tuple[int, int], first: bool | None) -> bool:
    """Whether the own group's root sends first, given (ranks, elements to send) of both groups."""
    known = comes_first(own, other, first)
    if known is None:
        raise DoesNotFit(f"inter {algorithm.operation} {algorithm.name}: {UNDECIDED.format(p=own[0])}")
    return known


# On paper ------------------------------------------------------------------------------------------------------------


def parts(algorithm: Algorithm, case: Case) -> list[Placed]:
    """What the groups do by themselves: A's and B's gather, then their broadcasts, the counts before all, if any."""
    (a, b), (in_a, in_b) = case.groups, numbers(case)
    uneven = algorithm.operation == "allgatherv"
    gather = algorithm.parameter(case, "gatherv" if uneven else "gather")
    bcast = algorithm.parameter(case, "bcast")
    options = options_of(bcast, case.parameters.get("segment_bytes", algorithm.parameters.get("segment_bytes")))
    of_a, of_b = (Case(1, g.layout.size(0, g.p) * g.itemsize, itemsize=g.itemsize) for g in (a, b))
    found: list[Placed] = [
        (gather, a, in_a),
        (gather, b, in_b),
        (bcast, Case(a.p, of_b.m, itemsize=a.itemsize, parameters=options), in_a),
        (bcast, Case(b.p, of_a.m, itemsize=b.itemsize, parameters=options), in_b),
    ]
    if uneven:
        counts = algorithm.parameter(case, "allgather")
        found += [(counts, Case(g.p, COUNT_BYTES, itemsize=COUNT_BYTES), ranks) for g, ranks in ((a, in_a), (b, in_b))]
    return found


def options_of(bcast: Algorithm, segment_bytes: int | None) -> dict[str, Any]:
    """What the broadcast is told beside its buffer."""
    return {"segment_bytes": segment_bytes} if segment_bytes is not None and "segment_bytes" in bcast.parameters else {}


def turns_fit(algorithm: Algorithm, case: Case) -> str | None:
    """`fits` of the version that takes turns."""
    if a_comes_first(case) is None:
        return UNDECIDED.format(p=case.p)
    return misfit(parts(algorithm, case))


def turns_schedule(algorithm: Algorithm, case: Case) -> Schedule | None:
    """The schedule of the gathers and `in_turn`."""
    gather_a, gather_b, bcast_a, bcast_b, *counts = parts(algorithm, case)
    a_to_b, b_to_a = _between_roots(case)
    a_first = ([[a_to_b]], beside([bcast_b]), [[b_to_a]], beside([bcast_a]))
    there, spread, back, spread_back = a_first if a_comes_first(case) else (*a_first[2:], *a_first[:2])
    plan = in_a_row(beside(counts), beside([gather_a, gather_b]), there, spread, back, spread_back)
    return None if plan is None else map(without_empty, plan)


def exchange_schedule(algorithm: Algorithm, case: Case) -> Schedule | None:
    """The schedule of the gathers and `at_once`."""
    gather_a, gather_b, bcast_a, bcast_b, *counts = parts(algorithm, case)
    roots = [without_empty(_between_roots(case))]
    return in_a_row(beside([*counts, gather_a, gather_b]), roots, beside([bcast_a, bcast_b]))


def bytes_sent(algorithm: Algorithm, case: Case, rank: int) -> int | None:
    """A root sends the whole of its group beside what it sends within."""
    between = sum(t.nbytes for t in _between_roots(case) if t.source == rank)
    within = sent_in(parts(algorithm, case), rank)
    return None if within is None else between + within


def bytes_held(algorithm: Algorithm, case: Case, rank: int) -> int:
    """A root holds its group's blocks; the counts, if they are gathered, everybody."""
    whole = sum(t.nbytes for t in _between_roots(case) if t.source == rank)
    table = 0
    if algorithm.operation == "allgatherv":
        table = COUNT_BYTES * (case.p if rank < case.p else case.q)
    return whole + table + scratch_in(parts(algorithm, case), rank)


def _between_roots(case: Case) -> tuple[Transfer, Transfer]:
    a, b = (g.layout.size(0, g.p) * g.itemsize for g in case.groups)
    return Transfer(0, case.p, a), Transfer(case.p, 0, b)
