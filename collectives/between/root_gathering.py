"""Root gathering between groups: rank 0 of each collects, the two talk, each broadcasts what it heard.

The common text of what MPI libraries do for allgather(v) between groups, in two versions: one direction after the
other, as in MPICH, and both at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from collectives.between.groups import UNDECIDED, check_local, comes_first, misfit
from collectives.between.root_gathering_claims import options_of
from collectives.between.root_gathering_claims import parts as parts_on_paper
from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import exchange, receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm


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
    segment_bytes: int,
    tag: int,
) -> None:
    """The roots exchange, both groups broadcast."""
    if whole is not None:
        exchange(inter, whole, 0, recvbuf, 0, tag)
    bcast.run(local, recvbuf, root=0, tag=tag, **options_of(bcast, segment_bytes))


def check_parts(algorithm: Algorithm, case: Case) -> None:
    """Refuse what the parts refuse; who comes first is the caller's next question."""
    if reason := misfit(parts_on_paper(algorithm.parameters, case)):
        raise DoesNotFit(f"inter {algorithm.operation} {algorithm.name}: {reason}")


def decided(algorithm: Algorithm, own: tuple[int, int], other: tuple[int, int], first: bool | None) -> bool:
    """Whether the own group's root sends first, given (ranks, elements to send) of both groups."""
    known = comes_first(own, other, first)
    if known is None:
        raise DoesNotFit(f"inter {algorithm.operation} {algorithm.name}: {UNDECIDED.format(p=own[0])}")
    return known
