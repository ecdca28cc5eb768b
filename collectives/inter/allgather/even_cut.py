"""Allgather between groups by an even cut: all elements of the other group in equal pieces, one a rank, then both gather.

The p k_A elements of A, in rank order, are cut into q nearly equal pieces, one for each rank of B, and those of B into p
pieces for A; a rank sends to each what its block and that rank's piece have in common, in the order of `between.even_cut`.
Then both groups gather to all what they received: by `allgather` where the pieces are equal, else by `allgatherv`. It is
Kang et al.'s Algorithm 2 where nothing has to be counted, since all blocks of a group have one size. Their Algorithm 1
(`full_duplex`) hands out whole blocks, up to twice as many to some ranks as to others where q does not divide p.

    p = 3, q = 2, blocks 00, 11 and 22 of A: pieces 001 and 122; a_1 sends to both     (p = 4 would be full_duplex)
              start     1st             2nd             gathered
    b_0       ...       00. from a_0    001 from a_1    001122
    b_1       ...       1.. from a_1    122 from a_2    001122

Rounds   no closed form    Sent per rank   own block + its parts'    Scratch   its parts'
Time     at most (M + k_A + k_B + p + q) t_w; M = max(p k_A, q k_B), beside startups; by the schedule's recurrence, exact.
         k_A + k_B for blocks that several ranks share, p + q bytes for sizes that do not divide. Its sends wait
         for their receives, so this holds whatever is buffered
Fits     any p and q; blocks of equal size within a group; receive_order "multi_target" or "rank"
Best     long blocks where q does not divide p: the lower bound max(p k_A, q k_B) t_w but for two blocks
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2; without counting: ours
"""

from __future__ import annotations

from collectives.between.even_cut import exchange_on_paper, exchange_pieces, gathered_pieces, unknown_order
from collectives.between.full_duplex import ALLGATHER, ALLGATHERV, gather_parts, nearly_equal_sizes
from collectives.between.groups import beside, check_call, in_a_row, misfit, place, scratch_in, sent_in
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import Unbuffered, UnbufferedBetween


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
    """Gather the blocks of the other group's ranks to all ranks of this one."""
    parameters = {"allgather": allgather, "allgatherv": allgatherv, "receive_order": receive_order}
    own, other = check_call(ALGORITHM, inter, local, parameters)
    inter, local = UnbufferedBetween(inter), Unbuffered(local)
    blocks, k = Layout.equal(recvbuf.size, other), sendbuf.size
    exchange_pieces(inter, sendbuf, inter.Get_rank() * k, own * k, recvbuf, blocks, receive_order, tag)
    gather_parts(local, recvbuf, nearly_equal_sizes(recvbuf.size, own), allgather, allgatherv, tag)


def schedule(case: Case) -> Schedule | None:
    order = ALGORITHM.parameter(case, "receive_order")
    return in_a_row(exchange_on_paper(case, order), beside(gathered_pieces(case)))


def fits(case: Case) -> str | None:
    return unknown_order(ALGORITHM.parameter(case, "receive_order")) or misfit(gathered_pieces(case))


def closed_sent(case: Case, rank: int) -> int | None:
    parts = sent_in(gathered_pieces(case), rank)
    return None if parts is None else (case.m if place(case, rank)[0] else case.m_b) + parts


def scratch(case: Case, rank: int) -> int:
    return scratch_in(gathered_pieces(case), rank)


ALGORITHM = Algorithm(
    operation="allgather",
    name="even_cut",
    kind="inter",
    run=allgather_even_cut,
    schedule=schedule,
    scratch=scratch,
    fits=fits,
    closed_sent=closed_sent,
    parameters={"allgather": ALLGATHER, "allgatherv": ALLGATHERV, "receive_order": "multi_target"},
)
