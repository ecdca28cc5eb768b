"""Reduce between groups by a pipelined chain: segments travel from the last leaf to the first, and then to the root.

The message is cut into n segments of sqrt(m S / (q-1)) bytes, where S = `startup_bytes` is t_s / t_w. Leaf j receives
segment k from leaf j+1 while it sends segment k-1 to leaf j-1 (leaf 0 to the root), and combines its own operand with
it, as left operand, so operands are combined in rank order. The other ranks of the root's group pass PROC_NULL and return
immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1, two segments: the number of operands in each
              start    1st      2nd      3rd      4th      5th
    a_1       ..       ..       ..       ..       4.       44
    b_0       11       11       11       41       44
    b_1       11       11       31       33
    b_2       11       21       22
    b_3       11

Rounds   n+q-1    Sent per rank   m bytes; none in A    Scratch   2 segments; none on b_(q-1)
Time     n t_s + m t_w + (q-1) (t_s + b t_w); b is the longest segment; with combining, the time is computed from the
         schedule
Fits     any p and q; any op, in rank order; startup_bytes > 0
Bits     depend on the operands only
Best     long messages and noncommutative ops: within 1.5 of m t_w if m is at least 20 (q-1) t_s / t_w
Source   folklore; within one group analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective
         operations, Cluster Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import NonblockingRound, Round, Seconds, Transfer
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.joined import STARTUP_BYTES, Joined, positive_startups_only, segment_bytes
from collectives.inter_patterns.joined import process_numbers as joined_numbers
from collectives.inter_patterns.rooted import check_root, group_sizes
from collectives.patterns.reductions import combine
from collectives.patterns.segmented import chain_steps, chain_time, segments_of
from collectives.tools.blocks import required, segments, spare_memory
from collectives.tools.messages import exchange, receive
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def schedule(case: Case) -> Iterator[Round]:
    ranks = joined_numbers(case)
    way = [*reversed(ranks[:-1]), ranks[-1]]
    pieces = segments_of(_chain(case))
    for step, hops in enumerate(chain_steps(_chain(case))):
        yield NonblockingRound(
            Transfer(way[hop], way[hop + 1], nbytes, nbytes * (hop < case.q - 1), pieces.start(step - hop) * case.itemsize)
            for hop, nbytes in hops
        )


def scratch(case: Case, rank: int) -> int:
    return 2 * segments_of(_chain(case)).size(0) * case.itemsize if case.p <= rank < case.ranks - 1 else 0


def closed_sent(case: Case, rank: int) -> int:
    return 0 if rank < case.p else case.m_b


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return chain_time(_chain(case), t_s, t_w)


def _chain(case: Case) -> Case:
    """The case of the leaves and the root as one group, with this algorithm's segment size."""
    size = segment_bytes(case.m_b, case.q - 1, reduce_chain.parameter(case, "startup_bytes"))
    return Case(case.q + 1, case.m_b, itemsize=case.itemsize, parameters={"segment_bytes": size})


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=positive_startups_only,
    closed_sent=closed_sent,
    closed_time=closed_time,
    closed_combined=lambda case: None,
    in_order=True,
)
def reduce_chain(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    op: Op,
    root: RootRole | int,
    startup_bytes: int = STARTUP_BYTES,
    tag: int = 0,
) -> None:
    """Leave the result of the other group's operands in the root's `recvbuf`."""
    check_root(inter, local, root)
    _p, q = group_sizes(inter, root)
    if root is RootRole.PROC_NULL:
        return
    at_root = isinstance(root, RootRole)
    own = required(recvbuf, "the root of a reduce") if at_root else required(sendbuf, "a rank that contributes an operand")
    pieces = segments(own.size, own.itemsize, segment_bytes(own.nbytes, q - 1, startup_bytes))
    comm, size = Joined(inter, local, root), q + 1
    if at_root:
        for k in range(pieces.p):
            receive(comm, pieces.block(own, k), 0, tag)
        return
    rank, last = comm.Get_rank(), comm.Get_rank() == q - 1
    spares = [] if last else [spare_memory(own, pieces.size(0)) for _ in range(2)]
    outgoing = None
    for k in range(pieces.p + 1):
        if last:
            incoming, outgoing = None, pieces.block(own, k - 1) if k else None
        else:
            incoming = spares[k % 2][0 : pieces.size(k)] if k < pieces.p else None
        exchange(comm, outgoing, (rank - 1) % size, incoming, rank + 1, tag)
        if incoming is not None:
            combine(op, pieces.block(own, k), incoming)
        outgoing = incoming
