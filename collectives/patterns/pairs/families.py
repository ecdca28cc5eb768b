"""Families of alltoalls: each function declares the algorithm of a module (`catalogue.family`).

`exchange(comm, outgoing, incoming, tag)` exchanges the blocks with all other ranks. In place, `in_place` returns the blocks
to send, `(recvbuf, incoming, rank, p)` -> outgoing: copies, since they are overwritten by received blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.family import member
from collectives.patterns.pairs.blocks import all_copied, blocks_to_send, copies_scratch, copy_own_block, sent_to_others
from collectives.patterns.pairs.rounds import Blocks
from collectives.tools.blocks import Layout, check_same_size, cut
from collectives.tools.protocol import Buffer, Comm

InPlace: TypeAlias = Callable[..., Blocks]


def alltoall(module: str, exchange: Callable[..., None], in_place: InPlace = all_copied, **claims: Any) -> Algorithm:
    """Declare an alltoall."""

    @member(module, exchange, closed_sent=sent_to_others, **claims)
    def run(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0, **parameters: Any) -> None:
        """Exchange equal blocks between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send."""
        p, rank = comm.Get_size(), comm.Get_rank()
        layout = Layout.equal(recvbuf.size, p)

        def incoming(other: int) -> Any:
            return layout.block(recvbuf, other)

        def outgoing(other: int) -> Any:
            return layout.block(sendbuf, other)  # type: ignore[arg-type]  # not called in place

        if sendbuf is None:
            exchange(comm, in_place(recvbuf, incoming, rank, p, **parameters), incoming, tag, **parameters)
            return
        check_same_size(sendbuf, recvbuf)
        copy_own_block(comm, outgoing(rank), incoming(rank), tag)
        exchange(comm, outgoing, incoming, tag, **parameters)

    return run


def alltoallv(module: str, exchange: Callable[..., None], in_place: InPlace = all_copied, **claims: Any) -> Algorithm:
    """Declare an alltoallv."""

    @member(module, exchange, closed_sent=sent_to_others, **claims)
    def run(
        comm: Comm,
        sendbuf: Buffer | None,
        recvbuf: Buffer,
        sendcounts: Sequence[int] | None,
        recvcounts: Sequence[int],
        *,
        sdispls: Sequence[int] | None = None,
        rdispls: Sequence[int] | None = None,
        tag: int = 0,
        **parameters: Any,
    ) -> None:
        """Exchange blocks of any size between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send.

        Blocks are contiguous and in rank order unless displacements are given.
        """
        p, rank = comm.Get_size(), comm.Get_rank()
        incoming = cut(recvbuf, recvcounts, rdispls, p).__getitem__
        if sendbuf is None:
            outgoing = in_place(recvbuf, incoming, rank, p, **parameters)
        else:
            outgoing = cut(sendbuf, sendcounts, sdispls, p).__getitem__
            copy_own_block(comm, outgoing(rank), incoming(rank), tag)
        exchange(comm, outgoing, incoming, tag, **parameters)

    return run


def alltoallw(module: str, exchange: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare an alltoallw."""

    @member(module, exchange, scratch=copies_scratch, closed_sent=sent_to_others, **claims)
    def run(
        comm: Comm, sendblocks: Sequence[Any] | None, recvblocks: Sequence[Any], *, tag: int = 0, **parameters: Any
    ) -> None:
        """Exchange one buffer with each rank; if `sendblocks` is None, `recvblocks` hold the data to send."""
        outgoing = blocks_to_send(comm, sendblocks, recvblocks, tag)
        exchange(comm, outgoing.__getitem__, recvblocks.__getitem__, tag, **parameters)

    return run
