"""Allgatherv among three or more groups: every rank receives the blocks of all ranks outside its own group.

All ranks are in one communicator, and every rank knows the group and block size of all ranks. It is Kang et al.'s
Algorithm 2 for each pair of groups: with g groups, in phase d = 1 .. g-1 group i sends its elements, cut evenly, to the
ranks of group i + d (mod g) while it receives those of group i - d. Then each group gathers the received pieces to all
its ranks in one allgatherv.

Let all blocks together have K bytes, those of group i K_i bytes, and the block of one rank k bytes. A rank of group i must
receive K - K_i bytes, and with groups of equal size and equal blocks it receives exactly that. In an allgather of all
ranks it would receive K - k bytes: about twice as much for two groups, and 1.5 times as much for three.

A rank's sends and receives proceed independently from phase to phase, so no rank waits for a phase to end. If one group is
much smaller than the others, it still receives blocks when the others begin to gather, which may double the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Rounds, Streams, Transfer
from collectives.inter_patterns.even_cut import overlaps, senders
from collectives.inter_patterns.full_duplex import ALLGATHERV
from collectives.inter_patterns.groups import with_process_numbers
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import two_streams
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import Subset
from collectives.tools.unbuffered import SynchronousComm


class GroupBlocks(NamedTuple):
    """The ranks of a group, and the layout of their blocks in elements."""

    ranks: list[int]
    blocks: Layout

    @property
    def total(self) -> int:
        return self.blocks.size(0, self.blocks.p)


def groups_of(counts: Sequence[int], numbers: Sequence[int]) -> list[GroupBlocks]:
    """The groups in the order of their numbers; numbers[r] is the group of rank r.

    >>> [group.ranks for group in groups_of([1, 1, 1, 1], [7, 2, 7, 5])]
    [[1], [3], [0, 2]]
    """
    if len(counts) != len(numbers):
        raise ValueError(f"there are {len(counts)} block sizes but {len(numbers)} group numbers")
    members = [[rank for rank, other in enumerate(numbers) if other == number] for number in sorted(set(numbers))]
    return [GroupBlocks(ranks, Layout.of([counts[rank] for rank in ranks])) for ranks in members]


def allgatherv_multi_partite(
    comm: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    numbers: Sequence[int],
    *,
    allgatherv: Algorithm = ALLGATHERV,
    tag: int = 0,
) -> None:
    """Gather the blocks of all ranks outside this rank's group, in rank order, to `recvbuf`.

    All ranks pass the same `counts` and `numbers`.
    """
    p, rank = comm.Get_size(), comm.Get_rank()
    Layout.of_ranks(counts, p)
    groups = groups_of(counts, numbers)
    mine = next(i for i, group in enumerate(groups) if rank in group.ranks)
    own = groups[mine]
    c, g = own.ranks.index(rank), len(groups)
    comm = SynchronousComm(comm)
    received = _received(groups, mine)
    start = own.blocks.start(c)
    gathered = spare_memory(sendbuf, received.size(0, received.p))
    sends: list[tuple[int, Any]] = []
    receives: list[tuple[int, Any]] = []
    for d in range(1, g):
        to, source = groups[(mine + d) % g], groups[(mine - d) % g]
        wanted = Layout.nearly_equal(own.total, len(to.ranks))
        for k, low, high in overlaps(start, start + sendbuf.size, wanted):
            sends.append((to.ranks[k], sendbuf[low - start : high - start]))
        piece, place = Layout.nearly_equal(source.total, len(own.ranks)), _offset(groups, mine, c, d)
        begin = piece.start(c) - received.start(c) - place
        for k, low, high in senders(piece.start(c), piece.start(c + 1), source.blocks, "multi_target"):
            receives.append((source.ranks[k], gathered[low - begin : high - begin]))
    two_streams(comm, sends, receives, tag)
    sizes = [received.size(index) for index in range(received.p)]
    allgatherv.run(Subset(comm, own.ranks, c), None, gathered, sizes, tag=tag)
    _put_in_order(groups, mine, gathered, recvbuf, counts)


def _received(groups: Sequence[GroupBlocks], mine: int) -> Layout:
    """Layout of the elements that each rank of a group receives from all other groups."""
    ranks = len(groups[mine].ranks)
    cuts = [Layout.nearly_equal(group.total, ranks) for i, group in enumerate(groups) if i != mine]
    return Layout.of([sum(cut.size(c) for cut in cuts) for c in range(ranks)])


def _offset(groups: Sequence[GroupBlocks], mine: int, c: int, d: int) -> int:
    """Offset of the piece of phase d in the data that the c-th rank of a group receives."""
    sources = [groups[(mine - e) % len(groups)] for e in range(1, d)]
    return sum(Layout.nearly_equal(source.total, len(groups[mine].ranks)).size(c) for source in sources)


def _put_in_order(
    groups: Sequence[GroupBlocks], mine: int, gathered: Buffer, recvbuf: Buffer, counts: Sequence[int]
) -> None:
    """Copy pieces, ordered by rank and phase, to blocks in rank order."""
    own, received = groups[mine], _received(groups, mine)
    own_ranks = set(own.ranks)
    places = Layout.of([0 if rank in own_ranks else size for rank, size in enumerate(counts)])
    places.check_size(recvbuf)
    for d in range(1, len(groups)):
        source = groups[(mine - d) % len(groups)]
        pieces = Layout.nearly_equal(source.total, len(own.ranks))
        for c in range(pieces.p):
            at = received.start(c) + _offset(groups, mine, c, d)
            for k, low, high in overlaps(pieces.start(c), pieces.start(c + 1), source.blocks):
                to = places.start(source.ranks[k]) + low - source.blocks.start(k)
                recvbuf[to : to + high - low] = gathered[at : at + high - low]
                at += high - low


# Claims --------------------------------------------------------------------------------------------------------------


def multi_partite_schedule(
    counts: Sequence[int], numbers: Sequence[int], itemsize: int = 1, allgatherv: Algorithm = ALLGATHERV
) -> Rounds:
    groups = groups_of(counts, numbers)
    yield _exchange(groups, itemsize)
    for mine, group in enumerate(groups):
        received = _received(groups, mine)
        sizes = tuple(received.size(c) for c in range(received.p))
        part = Case(received.p, counts=sizes, itemsize=itemsize, in_place=True)
        yield from with_process_numbers(allgatherv.schedule_for(part), group.ranks)


def _exchange(groups: Sequence[GroupBlocks], itemsize: int) -> Streams:
    sends: list[Transfer] = []
    received: list[tuple[int, int]] = []
    for d in range(1, len(groups)):
        for i, group in enumerate(groups):
            to = groups[(i + d) % len(groups)]
            wanted = Layout.nearly_equal(group.total, len(to.ranks))
            for c, rank in enumerate(group.ranks):
                for k, low, high in overlaps(group.blocks.start(c), group.blocks.start(c + 1), wanted):
                    sends.append(Transfer(rank, to.ranks[k], (high - low) * itemsize))
            for k, rank in enumerate(to.ranks):
                pieces = senders(wanted.start(k), wanted.start(k + 1), group.blocks, "multi_target")
                received += [(group.ranks[c], rank) for c, _, _ in pieces]
    return Streams(sends, received)
