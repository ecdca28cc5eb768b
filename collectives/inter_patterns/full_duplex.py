"""Group A cut into runs, one for each process of B: shared code of Kang et al.'s allgathers between groups.

A is the larger group (p ranks, blocks of k_A elements), B the smaller one (q ranks, blocks of k_B elements). A is cut into q
runs of consecutive ranks, the first p mod q of them one rank longer; b_j communicates with run j. If p = q, a run is one
rank, both sides do the same, and it does not matter which is called A.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from collectives.catalogue.algorithm import Algorithm
from collectives.intra.allgather.ring import allgather_ring
from collectives.intra.allgatherv.ring import allgatherv_ring
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm

ALLGATHER, ALLGATHERV = allgather_ring, allgatherv_ring
PARAMETERS = {"allgather": ALLGATHER, "allgatherv": ALLGATHERV}


class Sides(NamedTuple):
    """The runs of A, and the block sizes of A and of B, in elements: known to both sides."""

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
        """The layout of b_j's block cut into pieces for the ranks of its run."""
        return Layout.nearly_equal(self.k_b, self.runs.size(j))

    def run_of(self, i: int) -> int:
        """The run that contains a_i."""
        return self.runs.at(i)


def sides(inter: Intercomm, sendbuf: Buffer, recvbuf: Buffer) -> Sides:
    """Determine the roles: the larger group is A."""
    own, other = inter.Get_size(), inter.Get_remote_size()
    k_own, k_other = sendbuf.size, Layout.equal(recvbuf.size, other).largest
    if own >= other:
        return Sides(True, Layout.nearly_equal(own, other), k_own, k_other)
    return Sides(False, Layout.nearly_equal(other, own), k_other, k_own)


@lru_cache(maxsize=64)
def pieces_of_all(p: int, q: int, k_b: int) -> tuple[int, ...]:
    """Elements of B's blocks that each rank of A receives; cached, so that memory is not O(p) per rank."""
    runs = Layout.nearly_equal(p, q)
    layouts = [Layout.nearly_equal(k_b, runs.size(j)) for j in range(q)]
    return tuple(pieces.size(c) for pieces in layouts for c in range(pieces.p))


@lru_cache(maxsize=64)
def runs_of_all(p: int, q: int, k_a: int) -> tuple[int, ...]:
    """Elements of A's blocks that each rank of B receives."""
    runs = Layout.nearly_equal(p, q)
    return tuple(runs.size(j) * k_a for j in range(q))


@lru_cache(maxsize=64)
def nearly_equal_sizes(total: int, p: int) -> tuple[int, ...]:
    """Elements that each of p ranks receives of `total` elements cut evenly."""
    return tuple(map(Layout.nearly_equal(total, p).size, range(p)))


def gather_parts(
    comm: Comm, recvbuf: Buffer, counts: Sequence[int], allgather: Algorithm, allgatherv: Algorithm, tag: int
) -> None:
    """Gather the parts that each rank has at its position in `recvbuf`.

    `allgather` is used if the parts are equal, otherwise `allgatherv`.
    """
    if min(counts) == max(counts):
        allgather.run(comm, None, recvbuf, tag=tag)
    else:
        allgatherv.run(comm, None, recvbuf, counts, tag=tag)
