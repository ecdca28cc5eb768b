"""Reduce between groups as in WMPI: the leaves reduce among themselves, their leader sends the result to the root.

The leaf group reduces to its rank 0, its leader, by `reduce`; the leader sends the result to the root in the other
group. The ranks beside the root (PROC_NULL) send nothing, receive nothing and return at once. Operands are combined in
the order that `reduce` keeps to.

    p = 4 leaves b_0 .. b_3, root a_1 (a_0 and a_2 have no part)
    a_1       ....      ....      ....      0123
    b_0       0         01        0123      0123
    b_1       1         .         .         .
    b_2       2         23        .         .
    b_3       3         .         .         .

Rounds   1 + reduce's    Sent per rank   reduce's, the leader m more    Scratch   reduce's, the leader m more
Time     reduce's + t_s + m t_w; binomial (1 + ceil(log2 q)) (t_s + m t_w) + ceil(log2 q) m c with q leaves
Fits     any p and q; what `reduce` fits
Best     short messages; one hop more than the reduce of one group
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.algorithm import Algorithm, Case
from collectives.blocks import required
from collectives.blocks import scratch as spare_memory
from collectives.groups import Part, Placed, beside, in_a_row, misfit, numbers, scratch_in, sent_in
from collectives.intra.reduce import binomial
from collectives.messages import receive, send
from collectives.protocol import Buffer, Comm, Intercomm, Op
from collectives.rooted import check_root, sides
from collectives.schedule import Schedule, Seconds, Transfer, message, without_empty

REDUCE = binomial.ALGORITHM


def reduce_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    op: Op,
    root: Part | int,
    reduce: Algorithm = REDUCE,
    tag: int = 0,
) -> None:
    """Leave the combination of the other group's operands in the root's `recvbuf`."""
    check_root(inter, local, root)
    if root is Part.PROC_NULL:
        return
    p, q = sides(inter, root)
    ALGORITHM.check(Case(p, q=q, commutative=op.Is_commutative(), parameters={"reduce": reduce}))
    if isinstance(root, Part):
        receive(inter, required(recvbuf, "the root of a reduce"), 0, tag)
        return
    own = required(sendbuf, "a rank that gives its operand")
    result = spare_memory(own, own.size) if local.Get_rank() == 0 else None
    reduce.run(local, own, result, op=op, root=0, tag=tag)
    if result is not None:
        send(inter, result, root, tag)


def fits(case: Case) -> str | None:
    return misfit([_part(case)])


def schedule(case: Case) -> Schedule | None:
    return in_a_row(beside([_part(case)]), [without_empty([Transfer(case.p, case.root, case.m_b)])])


def scratch(case: Case, rank: int) -> int:
    return scratch_in([_part(case)], rank) + (case.m_b if rank == case.p else 0)


def closed_rounds(case: Case) -> int | None:
    reduce, leaves, _ = _part(case)
    rounds = reduce.rounds(leaves)
    return None if rounds is None else rounds + (case.m_b > 0)


def closed_sent(case: Case, rank: int) -> int | None:
    within = sent_in([_part(case)], rank)
    return None if within is None else within + (case.m_b if rank == case.p else 0)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    reduce, leaves, _ = _part(case)
    time = reduce.time(leaves, t_s, t_w)
    return None if time is None else time + message(case.m_b, t_s, t_w)


def closed_combined(case: Case) -> int | None:
    reduce, leaves, _ = _part(case)
    return reduce.closed_combined(leaves)


def _part(case: Case) -> Placed:
    leaves = Case(case.q, case.m_b, itemsize=case.itemsize, commutative=case.commutative)
    return ALGORITHM.parameter(case, "reduce"), leaves, numbers(case)[1]


ALGORITHM = Algorithm(
    operation="reduce",
    name="wmpi",
    kind="inter",
    run=reduce_wmpi,
    schedule=schedule,
    scratch=scratch,
    fits=fits,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    closed_combined=closed_combined,
    parameters={"reduce": REDUCE},
    in_order=True,
)
