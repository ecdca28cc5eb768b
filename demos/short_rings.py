"""Compute rings on clusters without their messages: 1,599 numpy expressions replace the 2.5 million messages of 1,600 ranks.

If the ranks of a ring fill their nodes in order, one rank per node sends to another node and one receives from another. So
no message queues for the network, and the clocks of all ranks follow from those of the previous round: a hop begins when
both its ends have reached the round. `ShortRings` provides algorithms that use this: the ranks synchronize (creating a
communicator takes no modeled time), the first rank that continues computes the end times of all ranks, and each rank
advances its clock to its end time.

All other parts of an algorithm run as usual, in the same run. The end times are exact as long as no other message crosses
those of the ring; tests/demos/test_kang_model.py compares them with runs of every message. The code compares clocks of
different ranks, which start together on the emulator only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

import fakempi
from collectives import Algorithm, find
from collectives.patterns.binomial import scatter_pieces
from collectives.tools.blocks import Layout
from collectives.tools.subset import Subset
from collectives.tools.unbuffered import SynchronousComm
from fakempi import MPI, TwoLevel

Bytes = npt.NDArray[np.int64]


def ring(sizes: Bytes) -> Iterator[Bytes]:
    """Bytes that each rank sends to its right, round by round: in round k rank r sends block r-k."""
    for k in range(len(sizes) - 1):
        yield np.roll(sizes, k)


def blocked_ring(sizes: Bytes, longest: int) -> Iterator[Bytes]:
    """The same for `blocked_ring`: rank r sends its last block, then those before it, until its right neighbor has all."""
    blocks = [min(longest, size - at) for size in sizes.tolist() for at in range(0, size or 1, longest)]
    numbers = np.maximum(1, -(-sizes // longest))
    stops, total = np.cumsum(numbers), len(blocks)
    rounds = total - np.roll(numbers, -1)
    table = np.array(blocks)
    for k in range(total - 1):
        yield np.where(k < rounds, table[(stops - 1 - k) % total], 0)


def ring_gather(sizes: Bytes) -> Iterator[Bytes]:
    """Bytes that each rank sends to its left on the way to rank 0: in round k rank r sends block r+k, if there is one."""
    ranks = np.arange(len(sizes))
    for k in range(len(sizes) - 1):
        yield np.where((ranks > 0) & (ranks + k < len(sizes)), np.roll(sizes, -k), 0)


class ShortRings:
    """Rings within two groups, A with the first p ranks and B with the others, on the nodes of a cost model. For one run."""

    def __init__(self, p: int, cost: TwoLevel, block_bytes: int) -> None:
        if cost.node(p - 1) == cost.node(p):
            raise ValueError(
                f"ranks {p - 1} and {p} are in different groups on one node, {cost.node(p)}: their rings would queue"
            )
        self.cost, self.block_bytes = cost, block_bytes
        self.count: Counter[int] = Counter()  # number of rings that a process has taken part in
        self.entered: dict[tuple[int, ...], dict[int, float]] = defaultdict(dict)
        self.ends: dict[tuple[int, ...], list[float]] = {}

    def allgather(self) -> Algorithm:
        """Replacement of `ring`; across nodes, where ranks of a node would queue, the ring itself."""
        plain = find("allgather", "ring")

        def run(comm: Any, sendbuf: None, recvbuf: Any, *, tag: int = 0) -> None:
            if stride(comm) > 1:
                plain.run(comm, sendbuf, recvbuf, tag=tag)
            else:
                self.pass_around(comm, lambda: ring(np.full(comm.Get_size(), recvbuf.nbytes // comm.Get_size())))

        return replace(plain, run=run)

    def allgatherv(self, name: str) -> Algorithm:
        """Replacement of `ring` or `blocked_ring`."""
        plain = find("allgatherv", name)
        options = {"block_bytes": self.block_bytes} if name == "blocked_ring" else {}

        def run(comm: Any, sendbuf: None, recvbuf: Any, counts: Sequence[int], *, tag: int = 0) -> None:
            if stride(comm) > 1:
                plain.run(comm, sendbuf, recvbuf, counts, tag=tag, **options)
                return

            def rounds() -> Iterator[Bytes]:
                sizes = np.array(counts, np.int64) * recvbuf.itemsize
                return blocked_ring(sizes, self.block_bytes) if options else ring(sizes)

            self.pass_around(comm, rounds)

        return replace(plain, run=run)

    def bcast(self) -> Algorithm:
        """Replacement of `scatter_ring_allgather` from root 0: the scatter unchanged, then the ring."""

        def run(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
            pieces = Layout.nearly_equal(buf.size, comm.Get_size())
            scatter_pieces(comm, buf, pieces, root, tag)

            def rounds() -> Iterator[Bytes]:
                return ring(np.array([pieces.size(r) for r in range(pieces.p)], np.int64) * buf.itemsize)

            self.pass_around(comm, rounds)

        return replace(find("bcast", "scatter_ring_allgather"), run=run)

    def gatherv(self) -> Algorithm:
        """Replacement of `ring` to root 0."""

        def run(comm: Any, sendbuf: Any, recvbuf: Any, counts: Sequence[int], *, root: int = 0, tag: int = 0) -> None:
            self.pass_around(comm, lambda: ring_gather(np.array(counts, np.int64) * sendbuf.itemsize), step=-1)

        return replace(find("gatherv", "ring"), run=run)

    def pass_around(self, comm: Any, rounds: Callable[[], Iterable[Bytes]], step: int = 1) -> None:
        """Advance the clock of the running rank to the end of the ring; step -1 is a ring to the left."""
        process, rank = MPI.COMM_WORLD.Get_rank(), comm.Get_rank()
        first = process - rank
        key = (first, self.count[process])
        self.count[process] += 1
        self.entered[key][rank] = MPI.Wtime()
        (comm._comm if isinstance(comm, (Subset, SynchronousComm)) else comm).Split(0, 0).Free()
        if key not in self.ends:
            entered = self.entered.pop(key)
            clocks = np.array([entered[r] for r in range(len(entered))])
            self.ends[key] = self.end_times(first, clocks, rounds(), step).tolist()
        # A rank of a gather may be done before the last rank begins. It continues then, and waits for the root next.
        fakempi.compute(max(self.ends[key][rank] - MPI.Wtime(), 0))

    def end_times(
        self, first: int, clocks: npt.NDArray[np.float64], rounds: Iterable[Bytes], step: int
    ) -> npt.NDArray[np.float64]:
        """End times of processes first, first+1, ... that begin at these clocks; each sends to the process `step` away."""
        nodes = np.array([self.cost.node(first + r) for r in range(len(clocks))])
        inside = nodes == np.roll(nodes, -step)
        t_s = np.where(inside, self.cost.intra.t_s, self.cost.inter.t_s)
        t_w = np.where(inside, self.cost.intra.t_w, self.cost.inter.t_w)
        for sent in rounds:
            ends = np.maximum(clocks, np.roll(clocks, -step)) + (t_s + sent * t_w)
            ends = np.where(sent > 0, ends, 0)
            clocks = np.maximum(clocks, np.maximum(ends, np.roll(ends, step)))
        return clocks


def stride(comm: Any) -> int:
    """Distance between consecutive ranks of a communicator."""
    return comm._ranks.step if isinstance(comm, Subset) else 1
