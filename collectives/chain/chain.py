"""A group of processes as a chain: each knows the group's size, its rank in it, its address and its two neighbours'.

An address is a rank of the communicator that the messages go through. Nothing here grows with the group, so a process
can be in as many chains as it likes; making one costs no message once the neighbours are known. To send to others than
the neighbours, addresses are passed on together with messages: see `scan`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from collectives.tools.protocol import Comm

NOBODY: Final = -1
"""The left neighbour of the first and the right neighbour of the last. MPI's PROC_NULL differs from library to library."""


@dataclass(frozen=True)
class Chain:
    """One process's view of a chain; `tag` is the tag of all messages along it."""

    __slots__ = ("address", "comm", "left", "rank", "right", "size", "tag")
    comm: Comm
    rank: int
    size: int
    address: int
    left: int
    right: int
    tag: int

    def __post_init__(self) -> None:
        ends = (self.left == NOBODY, self.right == NOBODY)
        if not 0 <= self.rank < self.size or ends != (self.rank == 0, self.rank == self.size - 1):
            raise ValueError(
                f"rank {self.rank} of a chain of {self.size} cannot have {self.left} to its left and {self.right} to its "
                f"right: the first has nobody ({NOBODY}) to its left, the last nobody to its right, all others have both"
            )

    def __repr__(self) -> str:
        left = "" if self.left == NOBODY else f"{self.left} <- "
        right = "" if self.right == NOBODY else f" -> {self.right}"
        return f"<rank {self.rank} of {self.size}: {left}{self.address}{right}>"

    @classmethod
    def of(cls, comm: Comm, tag: int = 0) -> Chain:
        """All of a communicator, in order of rank; no message is sent."""
        rank, size = comm.Get_rank(), comm.Get_size()
        return cls(comm, rank, size, rank, rank - 1, rank + 1 if rank + 1 < size else NOBODY, tag)

    @classmethod
    def alone(cls, comm: Comm, address: int, tag: int = 0) -> Chain:
        """A chain of one."""
        return cls(comm, 0, 1, address, NOBODY, NOBODY, tag)


def chain_of(group: Comm | Chain, tag: int = 0) -> Chain:
    """What a split or a sort is handed, as a chain; a chain keeps its own tag."""
    return group if isinstance(group, Chain) else Chain.of(group, tag)
