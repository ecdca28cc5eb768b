"""Allgather between groups by an even cut: each rank receives an equal piece of the other group's data, then both gather.

The p k_A elements of A, in rank order, are cut into q nearly equal pieces, one for each rank of B, and those of B into p
pieces for A. A rank sends each rank of the other group the intersection of its own block with that rank's piece, in the
order of `inter_patterns.even_cut`. Then both groups gather the received pieces to all ranks: by `allgather` if the pieces
are equal, otherwise by `allgatherv`. It is Kang et al.'s Algorithm 2 without the exchange of block sizes: all blocks of a
group have the same size. Their Algorithm 1 (`full_duplex`) distributes whole blocks, so some ranks receive up to twice as
many as others if q does not divide p.

    p = 3, q = 2, blocks 00, 11 and 22 of A: pieces 001 and 122; a_1 sends to both     (p = 4: see full_duplex)
              start     1st             2nd             gathered
    b_0       ...       00. from a_0    001 from a_1    001122
    b_1       ...       1.. from a_1    122 from a_2    001122

Rounds   no closed form    Sent per rank   own block + parts    Scratch   parts
Time     at most (M + k_A + k_B + p + q) t_w; M = max(p k_A, q k_B), plus start-ups; the exact time is computed from the
         schedule. The terms k_A + k_B are for blocks that are cut, p + q for the rounding of piece sizes. All sends are
         synchronous, so the time does not depend on buffering
Fits     any p and q; blocks of equal size within a group; receive_order "multi_target" or "rank"
Best     long blocks if q does not divide p: the lower bound max(p k_A, q k_B) t_w plus at most two blocks
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2; the version without
         counting is fakempi's
"""

from __future__ import annotations

from functools import partial

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.even_cut import exchange_pieces, exchange_pieces_schedule, gathered_pieces, unknown_order
from collectives.inter_patterns.full_duplex import ALLGATHER, ALLGATHERV, gather_parts, nearly_equal_sizes
from collectives.inter_patterns.groups import Step, checked_sizes, part_claims
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import SynchronousComm, UnbufferedBetween


def steps(case: Case) -> list[Step]:
    order = allgather_even_cut.parameter(case, "receive_order")
    return [partial(exchange_pieces_schedule, case, order), *gathered_pieces(case)]


def sent(case: Case, rank: int) -> int:
    return case.m if rank < case.p else case.m_b


@algorithm(**part_claims(steps, sent=sent, why_unsupported=unknown_order, synchronous=True))
def allgather_even_cut(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    allgather: Algorithm = ALLGATHER,
    allgatherv: Algorithm = ALLGATHERV,
    receive_order: str = "multi_target",
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    own, other = checked_sizes(inter, local)
    inter, local = UnbufferedBetween(inter), SynchronousComm(local)
    blocks, k = Layout.equal(recvbuf.size, other), sendbuf.size
    exchange_pieces(inter, sendbuf, inter.Get_rank() * k, own * k, recvbuf, blocks, receive_order, tag)
    gather_parts(local, recvbuf, nearly_equal_sizes(recvbuf.size, own), allgather, allgatherv, tag)
