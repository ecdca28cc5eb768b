"""Allreduce between groups by an even cut: each group reduces in pieces, sends these across, and gathers what it received.

Each group does a `reduce_scatter` of its operands in nearly equal pieces, one a rank. What a rank then has of its group's
combination it sends to those ranks of the other group that take these elements if they are cut evenly there, in the order
of `between.even_cut`. At last both groups gather to all: by `allgather` where the pieces are equal, else by `allgatherv`.

    p = 4, q = 2, operands 0123 and xy       start    pieces    across    gathered    (of A's combination, and in B's hands)
    a_0 .. a_3, each with its quarter        ....     0 1 2 3
    b_0                                      ....               01..      0123
    b_1                                      ....               ..23      0123

Rounds   no closed form    Sent per rank   pieces + its parts'    Scratch   own piece + its parts'
Time     about (2 + 1/min(p, q)) m t_w; with (p-1)/p, (q-1)/q; beside startups: by the schedule's recurrence, exact
         whatever is buffered, since its sends wait for their receives
Fits     any p and q; what its parts fit: the ring only commutative ops; receive_order "multi_target" or "rank"
Best     long messages: the lower bound is 2 m (p+q-1) / (p+q) t_w; not if a group is a single rank
Source   ours; the exchange: Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup
         Allgather and Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from __future__ import annotations

from collectives.between.even_cut import exchange_pieces, runs_on_paper, unknown_order
from collectives.between.full_duplex import ALLGATHER, ALLGATHERV, gather_parts, nearly_equal_sizes
from collectives.between.full_duplex_claims import parts_on_paper
from collectives.between.groups import Placed, beside, check_call, in_a_row, misfit, numbers, place, scratch_in, sent_in
from collectives.between.reduced_pieces import REDUCE_SCATTER, own_piece, pieces_on_paper
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op
from collectives.tools.unbuffered import Unbuffered, UnbufferedBetween


def allreduce_even_cut(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce_scatter: Algorithm = REDUCE_SCATTER,
    allgather: Algorithm = ALLGATHER,
    allgatherv: Algorithm = ALLGATHERV,
    receive_order: str = "multi_target",
    tag: int = 0,
) -> None:
    """Leave the combination of the other group's operands in everybody's `recvbuf`."""
    parameters = {
        "reduce_scatter": reduce_scatter,
        "allgather": allgather,
        "allgatherv": allgatherv,
        "receive_order": receive_order,
    }
    own, other = check_call(ALGORITHM, inter, local, parameters, op.Is_commutative())
    inter, local = UnbufferedBetween(inter), Unbuffered(local)
    piece, start = own_piece(local, sendbuf, op, reduce_scatter, tag)
    blocks = Layout.nearly_equal(recvbuf.size, other)
    exchange_pieces(inter, piece, start, sendbuf.size, recvbuf, blocks, receive_order, tag)
    gather_parts(local, recvbuf, nearly_equal_sizes(recvbuf.size, own), allgather, allgatherv, tag)


def schedule(case: Case) -> Schedule | None:
    a, b = _elements(case)
    across = runs_on_paper(
        case,
        (Layout.nearly_equal(a, case.p), Layout.nearly_equal(a, case.q)),
        (Layout.nearly_equal(b, case.q), Layout.nearly_equal(b, case.p)),
        ALGORITHM.parameter(case, "receive_order"),
    )
    return in_a_row(beside(_reduced(case)), across, beside(_gathered(case)))


def fits(case: Case) -> str | None:
    order = ALGORITHM.parameter(case, "receive_order")
    return unknown_order(order) or misfit([*_reduced(case), *_gathered(case)])


def closed_sent(case: Case, rank: int) -> int | None:
    parts = sent_in([*_reduced(case), *_gathered(case)], rank)
    return None if parts is None else parts + _piece(case, rank)


def scratch(case: Case, rank: int) -> int:
    return scratch_in([*_reduced(case), *_gathered(case)], rank) + _piece(case, rank)


def _elements(case: Case) -> tuple[int, int]:
    return case.elements, case.m_b // case.itemsize


def _piece(case: Case, rank: int) -> int:
    """What a rank has of its group's combination, in bytes."""
    in_a, own = place(case, rank)
    size = Layout.nearly_equal(_elements(case)[0 if in_a else 1], case.p if in_a else case.q).size(own)
    return size * case.itemsize


def _reduced(case: Case) -> list[Placed]:
    return pieces_on_paper(case, _elements(case), ALGORITHM.parameter(case, "reduce_scatter"))


def _gathered(case: Case) -> list[Placed]:
    (a, b), (in_a, in_b) = _elements(case), numbers(case)
    return [
        parts_on_paper(nearly_equal_sizes(b, case.p), in_a, case),
        parts_on_paper(nearly_equal_sizes(a, case.q), in_b, case),
    ]


ALGORITHM = Algorithm(
    operation="allreduce",
    name="even_cut",
    kind="inter",
    run=allreduce_even_cut,
    schedule=schedule,
    scratch=scratch,
    fits=fits,
    closed_sent=closed_sent,
    closed_combined=lambda case: None,
    parameters={
        "reduce_scatter": REDUCE_SCATTER,
        "allgather": ALLGATHER,
        "allgatherv": ALLGATHERV,
        "receive_order": "multi_target",
    },
)
