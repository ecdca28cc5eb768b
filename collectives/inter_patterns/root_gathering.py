"""Root gathering between groups: allgather and allgatherv through rank 0 of each group, the root of the group.

Each root gathers the blocks of its group, the two roots exchange the gathered blocks, and each root broadcasts the
received blocks to its group. In one version the roots send one after the other, as in MPICH; in the other they exchange
at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, UnsupportedCaseError
from collectives.catalogue.family import defaults_of, member
from collectives.inter_patterns.groups import UNDECIDED, comes_first, unsupported
from collectives.inter_patterns.root_gathering_claims import in_turn_claims, options_of
from collectives.inter_patterns.root_gathering_claims import parts as parts_of
from collectives.intra.allgather.bruck import allgather_bruck
from collectives.intra.bcast.scatter_ring_allgather import bcast_scatter_ring_allgather
from collectives.intra.gatherv.linear import gatherv_linear
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.local import check_local
from collectives.tools.messages import exchange, receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm


def collect(
    local: Comm, sendbuf: Buffer, total: int, counts: Sequence[int] | None, gather: Algorithm, tag: int
) -> Buffer | None:
    """Return all blocks of the local group on its rank 0, and None on other ranks."""
    whole = spare_memory(sendbuf, total) if local.Get_rank() == 0 else None
    gather.run(local, sendbuf, whole, *(() if counts is None else (counts,)), root=0, tag=tag)
    return whole


def counts_of_all(local: Comm, count: int, allgather: Algorithm, tag: int) -> list[int]:
    """Return the block sizes of the local group, since `counts` of allgatherv has only those of the other group."""
    own_count = np.array([count], np.int64)
    table = spare_memory(own_count, local.Get_size())
    allgather.run(local, own_count, table, tag=tag)
    sizes: list[int] = table.tolist()
    return sizes


def exchange_in_turn(
    inter: Intercomm, local: Comm, whole: Buffer | None, recvbuf: Buffer, first: bool, bcast: Algorithm, tag: int
) -> None:
    """Transfer the data of the first group to the other group, then those of the other group to the first.

    The root that receives broadcasts the data to its group. `whole` is the data to send, and None if the rank is not a root.
    `first` is whether the local group is the first one.
    """
    for sending in (first, not first):
        if sending:
            if whole is not None:
                send(inter, whole, 0, tag)
        else:
            if whole is not None:
                receive(inter, recvbuf, 0, tag)
            bcast.run(local, recvbuf, root=0, tag=tag)


def allgatherv_in_turn(module: str, gatherv: Algorithm) -> Algorithm:
    """Declare the allgatherv of a module whose roots send one after the other (`catalogue.family`)."""
    code = partial(_gather_in_turn, gatherv=gatherv)

    @member(module, code, checks_itself=True, **in_turn_claims(defaults_of(code)))
    def run(
        inter: Intercomm,
        local: Comm,
        sendbuf: Buffer,
        recvbuf: Buffer,
        counts: Sequence[int],
        *,
        tag: int = 0,
        **parameters: Any,
    ) -> None:
        """Gather the blocks of the other group's ranks to all ranks of this group."""
        code(run, inter, local, sendbuf, recvbuf, counts, tag, **parameters)

    return run


def _gather_in_turn(
    algorithm: Algorithm,
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    tag: int,
    *,
    gatherv: Algorithm,
    allgather: Algorithm = allgather_bruck,
    bcast: Algorithm = bcast_scatter_ring_allgather,
    first: bool | None = None,
) -> None:
    """Collect the block sizes by `allgather` and the blocks by `gatherv`; the other group gets them by `bcast`."""
    check_local(inter, local)
    p, q = inter.Get_size(), inter.Get_remote_size()
    parts = {"gatherv": gatherv, "allgather": allgather, "bcast": bcast}
    check_parts(algorithm, Case(p, q=q, counts=(0,) * p, counts_b=(0,) * q, parameters=parts))
    expected = Layout.of_ranks(counts, q).size(0, q)
    own_counts = counts_of_all(local, sendbuf.size, allgather, tag)
    total = sum(own_counts)
    goes_first = resolve_first(algorithm, (p, total), (q, expected), first)
    whole = collect(local, sendbuf, total, own_counts, gatherv, tag)
    exchange_in_turn(inter, local, whole, recvbuf[0:expected], goes_first, bcast, tag)


def collect_by_counts(local: Comm, sendbuf: Buffer, gather: Algorithm, tag: int) -> Buffer | None:
    """Return all blocks of the local group on its rank 0, and None on other ranks; a rank knows only the size of its block.

    Rank 0 gathers the sizes by `gather`; then every rank sends its block to rank 0.
    """
    own_count = np.array([sendbuf.size], np.int64)
    table = spare_memory(own_count, local.Get_size()) if local.Get_rank() == 0 else None
    gather.run(local, own_count, table, root=0, tag=tag)
    counts = None if table is None else [int(value) for value in table]
    whole = None if counts is None else spare_memory(sendbuf, sum(counts))
    gatherv_linear.run(local, sendbuf, whole, counts, root=0, tag=tag)
    return whole


def exchange_at_once(
    inter: Intercomm, local: Comm, whole: Buffer | None, recvbuf: Buffer, bcast: Algorithm, segment_bytes: int, tag: int
) -> None:
    """Exchange the data of the roots, then broadcast the received data in both groups at the same time."""
    if whole is not None:
        exchange(inter, whole, 0, recvbuf, 0, tag)
    bcast.run(local, recvbuf, root=0, tag=tag, **options_of(bcast, segment_bytes))


def check_parts(algorithm: Algorithm, case: Case) -> None:
    """Raise UnsupportedCaseError if a part does not support the case; `resolve_first` checks the order of the groups."""
    if reason := unsupported(parts_of(algorithm.parameters, case)):
        raise UnsupportedCaseError(f"inter {algorithm.operation} {algorithm.name}: {reason}")


def resolve_first(algorithm: Algorithm, own: tuple[int, int], other: tuple[int, int], first: bool | None) -> bool:
    """Whether the local group's root sends first, given (ranks, elements to send) of both groups.

    Raises UnsupportedCaseError if `first` is None and the sizes of both groups are equal.
    """
    goes_first = comes_first(own, other, first)
    if goes_first is None:
        raise UnsupportedCaseError(f"inter {algorithm.operation} {algorithm.name}: {UNDECIDED.format(p=own[0])}")
    return goes_first
