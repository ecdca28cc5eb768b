"""Everybody has a block for everybody: who meets whom in which round, and the common text of the alltoalls.

In a round of pairs two ranks swap their blocks for each other. If p is a power of two, rank r meets r xor i in round
i = 1 .. p-1. Otherwise the rounds are those of a tournament: with n the odd one of p and p-1, ranks below n meet if
their sum is i (mod n), and the one that would meet itself meets rank n, or rests if p is odd.

Blocks come from functions of the other rank, so that arrays, displacements and mpi4py's [buffer, type] lists share
one text. What a rank has for itself is not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.blocks import copy_of
from collectives.tools.messages import exchange, is_empty, wait_all
from collectives.tools.numbers import is_power_of_two
from collectives.tools.protocol import Buffer, Comm

Blocks: TypeAlias = Callable[[int], Any]


def meetings(p: int) -> int:
    """Rounds of pairs in which everybody meets everybody.

    >>> [meetings(p) for p in (1, 2, 3, 4, 5, 6)]
    [0, 1, 3, 3, 5, 5]
    """
    return p - 1 + p % 2 if p > 1 else 0


def partner(rank: int, i: int, p: int) -> int | None:
    """Whom a rank meets in round i = 0 .. meetings(p) - 1; None if it rests.

    >>> [[partner(r, i, 4) for r in range(4)] for i in range(3)]
    [[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]]
    >>> [[partner(r, i, 5) for r in range(5)] for i in range(2)]
    [[None, 4, 3, 2, 1], [1, 0, 4, None, 2]]
    >>> [[partner(r, i, 6) for r in range(6)] for i in range(2)]
    [[5, 4, 3, 2, 1, 0], [1, 0, 4, 5, 2, 3]]
    """
    if is_power_of_two(p):
        return rank ^ (i + 1)
    n = p - 1 + p % 2
    if rank == n:
        return i * (n + 1) // 2 % n
    other = (i - rank) % n
    if other != rank:
        return other
    return n if n < p else None


def in_pairs(comm: Comm, outgoing: Blocks, incoming: Blocks, tag: int) -> None:
    """Swap blocks with one rank after the other."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for i in range(meetings(p)):
        other = partner(rank, i, p)
        if other is not None:
            exchange(comm, outgoing(other), other, incoming(other), other, tag)


def all_at_once(comm: Comm, outgoing: Blocks, incoming: Blocks, tag: int) -> None:
    """Start all receives and all sends, the nearest ranks to the right first, and wait for them."""
    p, rank = comm.Get_size(), comm.Get_rank()
    sources = [((rank - i) % p, incoming((rank - i) % p)) for i in range(1, p)]
    dests = [((rank + i) % p, outgoing((rank + i) % p)) for i in range(1, p)]
    requests = [comm.Irecv(block, other, tag) for other, block in sources if not is_empty(block)]
    requests += [comm.Isend(block, other, tag) for other, block in dests if not is_empty(block)]
    wait_all(requests)


def copied(spare: Buffer, block: Buffer) -> Any:
    """The block's contents in `spare`, so that the block can be received into."""
    spare[0 : block.size] = block
    return spare[0 : block.size]


def keep(comm: Comm, own: Any, place: Any, tag: int) -> None:
    """Copy what a rank has for itself; what is not a plain buffer goes through the communicator, which knows types."""
    if is_plain(own) and is_plain(place):
        if own.size != place.size:
            raise ValueError(f"rank {comm.Get_rank()} has {own.size} elements for itself but room for {place.size}")
        place[0 : place.size] = own
    elif not is_empty(own):
        comm.Sendrecv(own, comm.Get_rank(), tag, place, comm.Get_rank(), tag)


def is_plain(block: Any) -> bool:
    """Whether a block is a one-dimensional array or a phantom, which slices can copy."""
    return hasattr(block, "size") and getattr(block, "ndim", 1) == 1


def copies_for_others(blocks: Sequence[Any], rank: int) -> list[Any]:
    """What `blocks` hold for the other ranks, in scratch memory, so that they can be received into."""
    copies: list[Any] = []
    for other, block in enumerate(blocks):
        if other == rank or is_empty(block):
            copies.append(None)
        elif is_plain(block):
            copies.append(copy_of(block))
        else:
            raise ValueError(
                f"rank {rank} cannot swap its block for rank {other} in place: it is not a plain one-dimensional buffer"
            )
    return copies


def one_block_each(blocks: Sequence[Any], p: int) -> None:
    if len(blocks) != p:
        raise ValueError(f"there must be one block for each of the {p} ranks, but there are {len(blocks)}")


def blocks_to_send(comm: Comm, sendblocks: Sequence[Any] | None, recvblocks: Sequence[Any], tag: int) -> Sequence[Any]:
    """What a rank sends in an alltoallw, after it has kept its own; in place, copies of what `recvblocks` hold."""
    p, rank = comm.Get_size(), comm.Get_rank()
    one_block_each(recvblocks, p)
    if sendblocks is None:
        return copies_for_others(recvblocks, rank)
    one_block_each(sendblocks, p)
    keep(comm, sendblocks[rank], recvblocks[rank], tag)
    return sendblocks


def copies_scratch(case: Case, rank: int) -> int:
    """Scratch of `blocks_to_send`."""
    return sum(case.between(other, rank) for other in range(case.p) if other != rank) if case.in_place else 0


def pairs_schedule(case: Case) -> Iterator[Round]:
    """The schedule of `in_pairs`."""
    p = case.p
    for i in range(meetings(p)):
        met = ((r, partner(r, i, p)) for r in range(p))
        yield without_empty(Transfer(r, other, case.between(r, other)) for r, other in met if other is not None)


def sent_to_others(case: Case, rank: int) -> int:
    """What a rank sends if each block travels once."""
    if case.traffic is None:
        return (case.p - 1) * case.m
    return (sum(case.traffic[rank]) - case.traffic[rank][rank]) * case.itemsize
