"""Reduce between groups on a circulant graph: the reverse of the broadcast from the root to the other group.

The root and the q leaves are ranks 0 and 1 .. q of a circulant graph. The message is cut into n segments of sqrt(m S /
h) bytes, where S = `startup_bytes` is t_s / t_w and h = ceil(log2 (q+1)) - 1. A rank sends the segments that it would
receive in a broadcast (`patterns.circulant`), round by round from the last to the first, and combines the segments that
it receives with its own. The root has no operand. All sends are synchronous, so the time does not depend on buffering.
The other ranks of the root's group pass PROC_NULL and return immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1, two segments: the number of operands in each
              start    1st      2nd      3rd      4th
    a_1       ..       .1       .2       .4       44
    b_0       11       12       12
    b_1       11       11
    b_2       11       11       11       41
    b_3       11       21       31

Rounds   n-1+ceil(log2 (q+1))    Sent per rank   m bytes; none in A    Scratch   m + a segment; the root a segment
Time     computed from the schedule; about m t_w + h t_s + 2 sqrt(h m t_w t_s), and (m + h m/n) c
Fits     any p and q; commutative ops; startup_bytes > 0
Bits     depend on p
Best     commutative ops, in this model: no reduce of n segments has fewer rounds
Source   Träff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast, Reduction
         and All-Reduction, 2024, arXiv:2407.18004, doi:10.1145/3735139 (within one group)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import all_of, commutative_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.joined import STARTUP_BYTES, Joined, positive_startups_only, segment_bytes, tree_hops
from collectives.inter_patterns.joined import process_numbers as joined_numbers
from collectives.inter_patterns.posted import SynchronousRound
from collectives.inter_patterns.rooted import check_root, group_sizes
from collectives.patterns.reversed_circulant import combine_segments, messages
from collectives.tools.blocks import Layout, copy_of, required, segments
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op
from collectives.tools.unbuffered import SynchronousComm


def _segments(elements: int, itemsize: int, leaves: int, startup_bytes: int) -> Layout:
    return segments(elements, itemsize, segment_bytes(elements * itemsize, tree_hops(leaves), startup_bytes))


def _pieces(case: Case) -> Layout:
    return _segments(case.m_b // case.itemsize, case.itemsize, case.q, reduce_circulant.parameter(case, "startup_bytes"))


def schedule(case: Case) -> Iterator[Round]:
    size, pieces, places = case.q + 1, _pieces(case), joined_numbers(case)
    if not case.m_b:
        return
    with_root: set[int] = set()
    for sent in messages(size, pieces.p):
        transfers = []
        for v, above, segment in sent:
            nbytes, start = pieces.size(segment) * case.itemsize, pieces.start(segment) * case.itemsize
            combined = nbytes if above or segment in with_root else 0
            transfers.append(Transfer(places[v - 1], places[above - 1], nbytes, combined, start))
            if not above:
                with_root.add(segment)
        yield SynchronousRound(transfers)


def scratch(case: Case, rank: int) -> int:
    segment = _pieces(case).size(0) * case.itemsize
    if rank < case.p:
        return segment if rank == case.root else 0
    return case.m_b + segment


def closed_rounds(case: Case) -> int:
    return _pieces(case).p - 1 + ceil_log2(case.q + 1) if case.m_b else 0


def closed_sent(case: Case, rank: int) -> int:
    return 0 if rank < case.p else case.m_b


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=all_of(commutative_only, positive_startups_only),
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
)
def reduce_circulant(
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
    if at_root:
        held = required(recvbuf, "the root of a reduce")
    else:
        held = copy_of(required(sendbuf, "a rank that contributes an operand"))
    pieces = _segments(held.size, held.itemsize, q, startup_bytes)
    comm = SynchronousComm(Joined(inter, local, root))
    combine_segments(comm, held, pieces, q, op, tag, has_operand=not at_root)
