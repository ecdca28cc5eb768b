"""The blocks of an alltoall: a rank's block for itself, and copies of blocks that are exchanged in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Seconds, message
from collectives.tools.blocks import Layout, copy_of, spare_memory
from collectives.tools.messages import is_empty
from collectives.tools.protocol import Buffer, Comm


def copied(spare: Buffer, block: Buffer) -> Any:
    """Copy a block to `spare`, so that the block can be overwritten by a receive."""
    spare[0 : block.size] = block
    return spare[0 : block.size]


def copy_own_block(comm: Comm, own: Any, dest: Any, tag: int) -> None:
    """Copy a rank's block for itself.

    A block that is not a plain buffer goes through the communicator, which knows datatypes.
    """
    if is_plain(own) and is_plain(dest):
        if own.size != dest.size:
            raise ValueError(f"rank {comm.Get_rank()} sends {own.size} elements to itself but receives {dest.size}")
        dest[0 : dest.size] = own
    elif not is_empty(own):
        comm.Sendrecv(own, comm.Get_rank(), tag, dest, comm.Get_rank(), tag)


def is_plain(block: Any) -> bool:
    """Whether a block is a one-dimensional array or a phantom, which slice assignment can copy."""
    return hasattr(block, "size") and getattr(block, "ndim", 1) == 1


def copies_for_others(blocks: Sequence[Any], rank: int) -> list[Any]:
    """Copies of the blocks for other ranks in scratch memory, so that the blocks can be overwritten by receives."""
    copies: list[Any] = []
    for other, block in enumerate(blocks):
        if other == rank or is_empty(block):
            copies.append(None)
        elif is_plain(block):
            copies.append(copy_of(block))
        else:
            raise ValueError(
                f"rank {rank} cannot exchange its block for rank {other} in place: it is not a plain one-dimensional buffer"
            )
    return copies


def check_block_count(blocks: Sequence[Any], p: int) -> None:
    """Raise ValueError unless there is one block for each of p ranks."""
    if len(blocks) != p:
        raise ValueError(f"there must be one block for each of the {p} ranks, but there are {len(blocks)}")


def equal_blocks_time(rounds: Callable[[Case], int | None]) -> Callable[[Case, Seconds, Seconds], Seconds | None]:
    """Return the modeled time of an alltoallv or alltoallw for blocks of one size; None for other cases.

    Every round takes as long as a message. `rounds(case)` is the number of rounds, or None without a closed form.
    """

    def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        first, *others = case.traffic or ((case.m,),)
        # On 4,096 ranks with equal rows, this compares 4,096 numbers: the rows are the same object.
        if len({*first}) > 1 or any(row is not first and row != first for row in others):
            return None
        number = rounds(case)
        return None if number is None else number * message(case.between(0, 0), t_s, t_w)

    return closed_time


def blocks_to_send(comm: Comm, sendblocks: Sequence[Any] | None, recvblocks: Sequence[Any], tag: int) -> Sequence[Any]:
    """Copy the rank's own block of an alltoallw and return the blocks to send; in place, copies of `recvblocks`."""
    p, rank = comm.Get_size(), comm.Get_rank()
    check_block_count(recvblocks, p)
    if sendblocks is None:
        return copies_for_others(recvblocks, rank)
    check_block_count(sendblocks, p)
    copy_own_block(comm, sendblocks[rank], recvblocks[rank], tag)
    return sendblocks


def copies_scratch(case: Case, rank: int) -> int:
    """Scratch of `blocks_to_send`."""
    return sum(case.between(other, rank) for other in range(case.p) if other != rank) if case.in_place else 0


def all_copied(recvbuf: Buffer, places: Callable[[int], Any], rank: int, p: int, **parameters: Any) -> Callable[[int], Any]:
    """Return the blocks to send, in place: copies of all blocks, which are made at once."""
    layout = Layout.of([places(i).size for i in range(p)])
    held = spare_memory(recvbuf, layout.size(0, p))
    for i in range(p):
        copied(layout.block(held, i), places(i))
    return lambda other: layout.block(held, other)


def all_copied_scratch(case: Case, rank: int) -> int:
    return sum(case.between(other, rank) for other in range(case.p)) if case.in_place else 0


def copied_when_sent(
    recvbuf: Buffer, places: Callable[[int], Any], rank: int, p: int, **parameters: Any
) -> Callable[[int], Any]:
    """Return the blocks to send, in place, to the rank whose block is received at the same time."""
    spare = spare_memory(recvbuf, max((places(other).size for other in range(p) if other != rank), default=0))
    return lambda other: copied(spare, places(other))


def set_aside(recvbuf: Buffer, places: Callable[[int], Any], rank: int, p: int) -> Callable[[int], Any]:
    """Return the blocks to send, in place, to ranks at alternating distances -1, 1, -2, 2, ...

    In the round in which a rank sends to r-d it receives the block of r+d, which it sends one round later. So that block is
    copied to spare memory when the one before it is sent.
    """
    spare = spare_memory(recvbuf, max((places(other).size for other in range(p) if other != rank), default=0))
    kept: list[Any] = [None]

    def outgoing(to: int) -> Any:
        distance = (rank - to) % p
        if distance <= p - distance and kept[0] is None:
            opposite = (rank + distance) % p
            if opposite == to:
                return copied(spare, places(to))
            kept[0] = copied(spare, places(opposite))
            return places(to)
        block, kept[0] = kept[0], None
        return block

    return outgoing


def largest_scratch(case: Case, rank: int) -> int:
    """Scratch of `copied_when_sent` and `set_aside`: the largest block from another rank, if in place."""
    if not case.in_place:
        return 0
    return max((case.between(other, rank) for other in range(case.p) if other != rank), default=0)


def copied_by_distances(
    recvbuf: Buffer, places: Callable[[int], Any], rank: int, p: int, *, distances: str = "increasing"
) -> Callable[[int], Any]:
    """Return the blocks to send, in place, in a spreading exchange with these distances (`rounds.Distances`)."""
    copies = set_aside if distances == "alternating" else all_copied
    return copies(recvbuf, places, rank, p)


def copied_by_distances_scratch(case: Case, rank: int) -> int:
    alternating = case.parameters.get("distances", "increasing") == "alternating"
    return largest_scratch(case, rank) if alternating else all_copied_scratch(case, rank)


def sent_to_others(case: Case, rank: int) -> int:
    """Bytes that a rank sends if each block is sent once."""
    if case.traffic is None:
        return (case.p - 1) * case.m
    return (sum(case.traffic[rank]) - case.traffic[rank][rank]) * case.itemsize
