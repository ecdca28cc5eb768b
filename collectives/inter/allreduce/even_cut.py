"""Allreduce between groups by an even cut: each group reduces in pieces, exchanges them with the other, and gathers.

Each group runs a `reduce_scatter` of its operands in nearly equal pieces, one per rank. The other group also cuts this
result into nearly equal pieces, one per rank, and a rank sends each of its elements to the rank of the other group in whose
piece it lies, in the order of `inter_patterns.even_cut`. At the end both groups gather to all ranks: by `allgather` if the
pieces are equal, otherwise by `allgatherv`.

    p = 4, q = 2, operands 0123 and xy       start    pieces    across    gathered    (A's result, and where B holds it)
    a_0 .. a_3, each with its quarter        ....     0 1 2 3
    b_0                                      ....               01..      0123
    b_1                                      ....               ..23      0123

Rounds   no closed form    Sent per rank   pieces + parts    Scratch   own piece + parts
Time     about (2 + 1/min(p, q)) m t_w; the exact terms have factors (p-1)/p and (q-1)/q, and start-ups are added; the
         exact time is computed from the schedule. All sends are synchronous, so the time does not depend on buffering
Fits     any p and q; cases that its parts support: the ring only commutative ops; receive_order "multi_target" or
         "rank"
Bits     equal on all ranks; depend on p, position
Best     long messages: the lower bound is 2 m (p+q-1) / (p+q) t_w; not if a group has only one rank
Source   fakempi; the exchange: Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI
         Intergroup Allgather and Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.inter_patterns.even_cut import exchange_pieces, exchange_runs_schedule, unknown_order
from collectives.inter_patterns.full_duplex import ALLGATHER, ALLGATHERV, gather_parts, nearly_equal_sizes
from collectives.inter_patterns.full_duplex_claims import gather_part
from collectives.inter_patterns.groups import Step, checked_sizes, group_and_rank, part_claims, process_numbers
from collectives.inter_patterns.reduce_in_pieces import REDUCE_SCATTER, own_piece, reduce_scatter_parts
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op
from collectives.tools.unbuffered import SynchronousComm, UnbufferedBetween


def steps(case: Case) -> Iterator[Step]:
    (a, b), (in_a, in_b) = _elements(case), process_numbers(case)
    yield from reduce_scatter_parts(case, (a, b), allreduce_even_cut.parameter(case, "reduce_scatter"))
    yield partial(_exchange, case)
    yield gather_part(nearly_equal_sizes(b, case.p), in_a, case)
    yield gather_part(nearly_equal_sizes(a, case.q), in_b, case)


def _exchange(case: Case) -> Iterator[Round]:
    a, b = _elements(case)
    return exchange_runs_schedule(
        case,
        (Layout.nearly_equal(a, case.p), Layout.nearly_equal(a, case.q)),
        (Layout.nearly_equal(b, case.q), Layout.nearly_equal(b, case.p)),
        allreduce_even_cut.parameter(case, "receive_order"),
    )


def _elements(case: Case) -> tuple[int, int]:
    return case.elements, case.m_b // case.itemsize


def _piece(case: Case, rank: int) -> int:
    """Bytes of a rank's piece of its group's result."""
    in_a, own = group_and_rank(case, rank)
    size = Layout.nearly_equal(_elements(case)[0 if in_a else 1], case.p if in_a else case.q).size(own)
    return size * case.itemsize


@algorithm(**part_claims(steps, sent=_piece, held=_piece, why_unsupported=unknown_order, reduces=True, synchronous=True))
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
    """Leave the result of the other group's operands in `recvbuf` on every rank."""
    own, other = checked_sizes(inter, local)
    inter, local = UnbufferedBetween(inter), SynchronousComm(local)
    piece, start = own_piece(local, sendbuf, op, reduce_scatter, tag)
    blocks = Layout.nearly_equal(recvbuf.size, other)
    exchange_pieces(inter, piece, start, sendbuf.size, recvbuf, blocks, receive_order, tag)
    gather_parts(local, recvbuf, nearly_equal_sizes(recvbuf.size, own), allgather, allgatherv, tag)
