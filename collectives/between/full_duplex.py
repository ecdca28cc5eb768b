"""Group A cut into runs, one for each process of B: the common text of Kang et al.'s allgathers between groups.

A is the larger group (p ranks, blocks of k_A), B the smaller one (q ranks, blocks of k_B). A is cut into q runs of
consecutive ranks, the first p mod q of them one rank longer; b_j deals with run j. Where p = q a run is one rank, both
sides do the same, and it does not matter which is called A.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from collectives.between.groups import check_local
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.intra.allgather import ring as allgather_ring
from collectives.intra.allgatherv import ring as allgatherv_ring
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm

ALLGATHER, ALLGATHERV = allgather_ring.ALGORITHM, allgatherv_ring.ALGORITHM
PARAMETERS = {"allgather": ALLGATHER, "allgatherv": ALLGATHERV}


class Sides(NamedTuple):
    """What both sides know: the runs of A, and the block sizes of A and of B, in elements."""

    in_a: bool
    runs: Layout
    k_a: int
    k_b: int

    @property
    def p(self) -> int:
        return self.runs.start(self.runs.p)

    @property
    def q(self) -> int:
        return self.runs.p

    def pieces(self, j: int) -> Layout:
        """The block of b_j cut for the ranks of its run."""
        return Layout.nearly_equal(self.k_b, self.runs.size(j))

    def run_of(self, i: int) -> int:
        """The run that a_i is in."""
        return self.runs.at(i)


def sides(
    algorithm: Algorithm,
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    allgather: Algorithm,
    allgatherv: Algorithm,
) -> Sides:
    """Refuse what cannot be done, and find the roles: the larger group is A."""
    check_local(inter, local)
    own, other = inter.Get_size(), inter.Get_remote_size()
    k_own, k_other = sendbuf.size, Layout.equal(recvbuf.size, other).largest
    algorithm.check(Case(own, q=other, parameters={"allgather": allgather, "allgatherv": allgatherv}))
    if own >= other:
        return Sides(True, Layout.nearly_equal(own, other), k_own, k_other)
    return Sides(False, Layout.nearly_equal(other, own), k_other, k_own)


@lru_cache(maxsize=64)
def pieces_of_all(p: int, q: int, k_b: int) -> tuple[int, ...]:
    """What each rank of A receives of B's blocks; shared, so that it is not O(p) per rank."""
    runs = Layout.nearly_equal(p, q)
    layouts = [Layout.nearly_equal(k_b, runs.size(j)) for j in range(q)]
    return tuple(pieces.size(c) for pieces in layouts for c in range(pieces.p))


@lru_cache(maxsize=64)
def runs_of_all(p: int, q: int, k_a: int) -> tuple[int, ...]:
    """What each rank of B receives of A's blocks."""
    runs = Layout.nearly_equal(p, q)
    return tuple(runs.size(j) * k_a for j in range(q))


@lru_cache(maxsize=64)
def nearly_equal_sizes(total: int, p: int) -> tuple[int, ...]:
    """What each of p ranks receives of `total` elements cut evenly."""
    return tuple(map(Layout.nearly_equal(total, p).size, range(p)))


def gather_parts(
    comm: Comm, recvbuf: Buffer, counts: Sequence[int], allgather: Algorithm, allgatherv: Algorithm, tag: int
) -> None:
    """Gather to all what each has in its place: by `allgather` if the parts are equal, else by `allgatherv`."""
    if min(counts) == max(counts):
        allgather.run(comm, None, recvbuf, tag=tag)
    else:
        allgatherv.run(comm, None, recvbuf, counts, tag=tag)
