"""Allgatherv among three and more groups: everybody gets the blocks of all ranks but those of its own group.

All ranks are in one communicator, and everybody knows everybody's group and block size. It is Kang et al.'s Algorithm 2 for
each pair of groups: with g groups, in phase d = 1 .. g-1 group i sends its elements, cut evenly, to the ranks of group i + d
(mod g) while it receives those of group i - d; then each group gathers to all, in one allgatherv, what its ranks received.

A rank of group i must take in K - K_i bytes, all but its own group's, and with groups of one size and equal blocks that is
all that it takes. An allgather of everybody takes K - k: twice as much for two groups, half as much again for three. What a
rank sends and what it receives run apart, each from phase to phase: nobody waits for a phase to end. A group much smaller
than others still takes in their blocks when they begin to gather, which may double the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from collectives.between.even_cut import overlaps, senders
from collectives.between.full_duplex import ALLGATHERV
from collectives.between.groups import Subset, placed
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule, Streams, Transfer
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import two_streams
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.unbuffered import Unbuffered


class Group(NamedTuple):
    """The ranks of a group, and their blocks one after the other, in elements."""

    ranks: list[int]
    blocks: Layout

    @property
    def total(self) -> int:
        return self.blocks.size(0, self.blocks.p)


def groups_of(counts: Sequence[int], numbers: Sequence[int]) -> list[Group]:
    """The groups in the order of their numbers; numbers[r] is the group of rank r.

    >>> [group.ranks for group in groups_of([1, 1, 1, 1], [7, 2, 7, 5])]
    [[1], [3], [0, 2]]
    """
    if len(counts) != len(numbers):
        raise ValueError(f"there are {len(counts)} block sizes but group numbers of {len(numbers)} ranks")
    members = [[rank for rank, each in enumerate(numbers) if each == number] for number in sorted(set(numbers))]
    return [Group(ranks, Layout.of([counts[rank] for rank in ranks])) for ranks in members]


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
    """Gather the blocks of all other groups' ranks, in rank order, to `recvbuf`; all give the same counts and numbers."""
    p, rank = comm.Get_size(), comm.Get_rank()
    Layout.of_ranks(counts, p)
    groups = groups_of(counts, numbers)
    mine = next(i for i, group in enumerate(groups) if rank in group.ranks)
    own = groups[mine]
    c, g = own.ranks.index(rank), len(groups)
    comm = Unbuffered(comm)
    received = _received(groups, mine)
    start = own.blocks.start(c)
    gathered = scratch(sendbuf, received.size(0, received.p))
    sends: list[tuple[int, Any]] = []
    receives: list[tuple[int, Any]] = []
    for d in range(1, g):
        to, source = groups[(mine + d) % g], groups[(mine - d) % g]
        wanted = Layout.nearly_equal(own.total, len(to.ranks))
        for k, low, high in overlaps(start, start + sendbuf.size, wanted):
            sends.append((to.ranks[k], sendbuf[low - start : high - start]))
        piece, place = Layout.nearly_equal(source.total, len(own.ranks)), _place(groups, mine, c, d)
        begin = piece.start(c) - received.start(c) - place
        for k, low, high in senders(piece.start(c), piece.start(c + 1), source.blocks, "multi_target"):
            receives.append((source.ranks[k], gathered[low - begin : high - begin]))
    two_streams(comm, sends, receives, tag)
    sizes = [received.size(each) for each in range(received.p)]
    allgatherv.run(Subset(comm, own.ranks, c), None, gathered, sizes, tag=tag)
    _put_in_order(groups, mine, gathered, recvbuf, counts, numbers)


def _received(groups: Sequence[Group], mine: int) -> Layout:
    """What each rank of a group receives of all others, in elements."""
    ranks = len(groups[mine].ranks)
    cuts = [Layout.nearly_equal(group.total, ranks) for i, group in enumerate(groups) if i != mine]
    return Layout.of([sum(cut.size(c) for cut in cuts) for c in range(ranks)])


def _place(groups: Sequence[Group], mine: int, c: int, d: int) -> int:
    """Where, in what the c-th rank of a group receives, the piece of phase d begins."""
    sources = [groups[(mine - e) % len(groups)] for e in range(1, d)]
    return sum(Layout.nearly_equal(source.total, len(groups[mine].ranks)).size(c) for source in sources)


def _put_in_order(
    groups: Sequence[Group], mine: int, gathered: Buffer, recvbuf: Buffer, counts: Sequence[int], numbers: Sequence[int]
) -> None:
    """From pieces, rank by rank and phase by phase, to blocks in rank order."""
    own, received = groups[mine], _received(groups, mine)
    left_out = set(own.ranks)
    places = Layout.of([0 if rank in left_out else size for rank, size in enumerate(counts)])
    places.check_room(recvbuf)
    for d in range(1, len(groups)):
        source = groups[(mine - d) % len(groups)]
        pieces = Layout.nearly_equal(source.total, len(own.ranks))
        for c in range(pieces.p):
            at = received.start(c) + _place(groups, mine, c, d)
            for k, low, high in overlaps(pieces.start(c), pieces.start(c + 1), source.blocks):
                to = places.start(source.ranks[k]) + low - source.blocks.start(k)
                recvbuf[to : to + high - low] = gathered[at : at + high - low]
                at += high - low


# On paper ------------------------------------------------------------------------------------------------------------


def multi_partite_schedule(
    counts: Sequence[int], numbers: Sequence[int], itemsize: int = 1, allgatherv: Algorithm = ALLGATHERV
) -> Schedule:
    """Who sends how much to whom."""
    groups = groups_of(counts, numbers)
    yield _exchange(groups, itemsize)
    for mine, group in enumerate(groups):
        received = _received(groups, mine)
        sizes = tuple(received.size(c) for c in range(received.p))
        part = Case(received.p, counts=sizes, itemsize=itemsize, in_place=True)
        yield from placed(allgatherv.plan(part), group.ranks)


def _exchange(groups: Sequence[Group], itemsize: int) -> Streams:
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
                found = senders(wanted.start(k), wanted.start(k + 1), group.blocks, "multi_target")
                received += [(group.ranks[c], rank) for c, _, _ in found]
    return Streams(sends, received)
