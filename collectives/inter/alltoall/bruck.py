"""Alltoall between groups by Bruck's algorithm on the union of both: blocks travel distances that are powers of two.

All n = p + q ranks form one communicator (`inter_patterns.union`), the larger group first; if the groups have equal
size, each numbers itself first, which does not change the result. A block from s to s + j (mod n) travels 2^k ranks in
round k if bit k of j is set; all such blocks of a rank travel in one message. Only blocks from one group to the other
are sent.

    p = 4, q = 2, a_0 .. a_3 and b_0, b_1 are 0 .. 5: block 05 goes 0 -> 1 -> 5, block 04 goes 0 -> 4, block 50 goes 5 -> 0

Rounds   ceil(log2 (p+q))    Sent per rank   about half its blocks per round    Scratch   all blocks that it forwards
Time     computed from the schedule; about ceil(log2 n) (t_s + 2pq/n m/2 t_w) for blocks of m bytes in both directions,
         n = p + q
Fits     any p and q; blocks of equal size in each direction
Best     short blocks: fewest rounds, though each block travels log2 n / 2 times on average
Source   Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport
         message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997), doi:10.1109/71.642949
         (within one group)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import NonblockingRound, Round, Transfer, without_empty
from collectives.inter_patterns.union import Union
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.local import check_local
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Intercomm


class _Both(NamedTuple):
    """Ranks of the first group and of both; elements of a block from the first to the second, and back."""

    first: int
    n: int
    there: int
    back: int

    def size(self, source: int, j: int) -> int:
        """Elements of the block from `source` to source + j."""
        from_first, to_first = source % self.n < self.first, (source + j) % self.n < self.first
        return 0 if from_first == to_first else self.there if from_first else self.back

    def leaving(self, rank: int, k: int) -> Iterator[tuple[int, int]]:
        """The blocks that a rank sends in round k: total distance and number of elements of each."""
        gone = (1 << k) - 1
        for j in range(1, self.n):
            if j >> k & 1 and (size := self.size(rank - (j & gone), j)):
                yield j, size


def schedule(case: Case) -> Iterator[Round]:
    both, numbers = _union_of(case)
    n = both.n
    for k in range(ceil_log2(n)):
        sizes = [sum(size for _, size in both.leaving(rank, k)) * case.itemsize for rank in range(n)]
        transfers = (Transfer(numbers[r], numbers[(r + (1 << k)) % n], nbytes) for r, nbytes in enumerate(sizes))
        yield NonblockingRound(without_empty(transfers))


def scratch(case: Case, rank: int) -> int:
    both, numbers = _union_of(case)
    own = numbers.index(rank)
    senders = [(r, k) for k in range(ceil_log2(both.n)) for r in (own, own - (1 << k))]
    return sum(size for r, k in senders for _, size in both.leaving(r % both.n, k)) * case.itemsize


def _union_of(case: Case) -> tuple[_Both, list[int]]:
    """The two groups in their order in the union, and the numbers of their processes."""
    sizes = case.elements, case.m_b // case.itemsize
    a, b = list(range(case.p)), list(range(case.p, case.ranks))
    if case.p >= case.q:
        return _Both(case.p, case.ranks, *sizes), a + b
    return _Both(case.q, case.ranks, *reversed(sizes)), b + a


@algorithm(schedule=schedule, scratch=scratch)
def alltoall_bruck(inter: Intercomm, local: Comm, sendbuf: Buffer, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Exchange equal blocks with every rank of the other group."""
    check_local(inter, local)
    own, other = inter.Get_size(), inter.Get_remote_size()
    out, into = Layout.equal(sendbuf.size, other), Layout.equal(recvbuf.size, other)
    comes_first = own >= other
    union = Union(inter, local, comes_first)
    rank, n = union.Get_rank(), own + other
    others = own if comes_first else 0  # first number of the other group
    sizes = (out.largest, into.largest) if comes_first else (into.largest, out.largest)
    both = _Both(own if comes_first else other, n, *sizes)
    held: dict[int, Any] = {(others + dest - rank) % n: out.block(sendbuf, dest) for dest in range(other)}
    for k in range(ceil_log2(n)):
        to, source = (rank + (1 << k)) % n, (rank - (1 << k)) % n
        leaving, coming = list(both.leaving(rank, k)), list(both.leaving(source, k))
        outgoing, incoming = (spare_memory(sendbuf, sum(size for _, size in blocks)) for blocks in (leaving, coming))
        start = 0
        for j, size in leaving:
            outgoing[start : start + size] = held.pop(j)
            start += size
        exchange(union, outgoing, to, incoming, source, tag)
        start = 0
        for j, size in coming:
            held[j] = incoming[start : start + size]
            start += size
    for j, block in held.items():
        if block.size:
            into.put(recvbuf, (rank - j) % n - others, block)
