"""A chain: a group of processes in which each process knows its rank, its address, its neighbors and the size.

The address of a process is its rank in the communicator that transfers the messages. A chain takes the same memory for
any size of the group, so a process can be a member of many chains. Creating a chain needs no message if the neighbors are
known. To send to a process that is not a neighbor, a process needs its address, which arrives in a message: see `scan`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from collectives.tools.protocol import Comm

NO_RANK: Final = -1
"""The left neighbor of the first process and the right neighbor of the last one.

MPI.PROC_NULL is not used, because its value differs between MPI libraries.
"""


@dataclass(frozen=True)
class Chain:
    """A chain as one process sees it; all messages of the chain have the tag `tag`."""

    __slots__ = ("address", "comm", "left", "rank", "right", "size", "tag")
    comm: Comm
    rank: int
    size: int
    address: int
    left: int
    right: int
    tag: int

    def __post_init__(self) -> None:
        ends = (self.left == NO_RANK, self.right == NO_RANK)
        if not 0 <= self.rank < self.size or ends != (self.rank == 0, self.rank == self.size - 1):
            raise ValueError(
                f"Chain: rank {self.rank} of {self.size} cannot have the neighbors {self.left} and {self.right}: ranks are "
                f"0 to size - 1, only the first has no left neighbor ({NO_RANK}), and only the last has no right neighbor"
            )

    def __repr__(self) -> str:
        left = "" if self.left == NO_RANK else f"{self.left} <- "
        right = "" if self.right == NO_RANK else f" -> {self.right}"
        return f"<rank {self.rank} of {self.size}: {left}{self.address}{right}>"

    @classmethod
    def of(cls, comm: Comm, tag: int = 0) -> Chain:
        """Return the chain of all ranks of a communicator, in rank order; sends no message."""
        rank, size = comm.Get_rank(), comm.Get_size()
        return cls(comm, rank, size, rank, rank - 1, rank + 1 if rank + 1 < size else NO_RANK, tag)

    @classmethod
    def singleton(cls, comm: Comm, address: int, tag: int = 0) -> Chain:
        """Return a chain of one process."""
        return cls(comm, 0, 1, address, NO_RANK, NO_RANK, tag)


def chain_of(group: Comm | Chain, tag: int = 0) -> Chain:
    """Return the chain of a communicator's ranks with tag `tag`; return a chain as it is, with the chain's tag."""
    return group if isinstance(group, Chain) else Chain.of(group, tag)
