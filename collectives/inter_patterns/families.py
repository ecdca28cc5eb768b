"""Families between two groups: each function declares the algorithm of a module (`catalogue.family`), with its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.family import member
from collectives.inter_patterns.alltoall import bytes_sent
from collectives.inter_patterns.groups import ReduceScatterCall, checked_sizes
from collectives.patterns.pairs.blocks import check_block_count
from collectives.patterns.reductions import check_blocks
from collectives.tools.blocks import Layout, cut
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def alltoall(module: str, exchange: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare an alltoall: `exchange(inter, outgoing, incoming, tag)`, of functions that return the block of a rank."""

    @member(module, exchange, closed_sent=bytes_sent, **claims)
    def run(inter: Intercomm, local: Comm, sendbuf: Buffer, recvbuf: Buffer, *, tag: int = 0, **parameters: Any) -> None:
        """Exchange equal blocks with every rank of the other group."""
        _, q = checked_sizes(inter, local)
        out, into = Layout.equal(sendbuf.size, q), Layout.equal(recvbuf.size, q)
        exchange(inter, lambda other: out.block(sendbuf, other), lambda other: into.block(recvbuf, other), tag, **parameters)

    return run


def alltoallv(module: str, exchange: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare an alltoallv: `exchange(inter, outgoing, incoming, tag)`."""

    @member(module, exchange, closed_sent=bytes_sent, **claims)
    def run(
        inter: Intercomm,
        local: Comm,
        sendbuf: Buffer,
        recvbuf: Buffer,
        sendcounts: Sequence[int],
        recvcounts: Sequence[int],
        *,
        sdispls: Sequence[int] | None = None,
        rdispls: Sequence[int] | None = None,
        tag: int = 0,
        **parameters: Any,
    ) -> None:
        """Exchange blocks of any size with every rank of the other group."""
        _, q = checked_sizes(inter, local)
        outgoing, incoming = cut(sendbuf, sendcounts, sdispls, q), cut(recvbuf, recvcounts, rdispls, q)
        exchange(inter, outgoing.__getitem__, incoming.__getitem__, tag, **parameters)

    return run


def alltoallw(module: str, exchange: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare an alltoallw: `exchange(inter, outgoing, incoming, tag)`."""

    @member(module, exchange, closed_sent=bytes_sent, **claims)
    def run(
        inter: Intercomm,
        local: Comm,
        sendblocks: Sequence[Any],
        recvblocks: Sequence[Any],
        *,
        tag: int = 0,
        **parameters: Any,
    ) -> None:
        """Exchange one buffer with each rank of the other group."""
        _, q = checked_sizes(inter, local)
        check_block_count(sendblocks, q)
        check_block_count(recvblocks, q)
        exchange(inter, sendblocks.__getitem__, recvblocks.__getitem__, tag, **parameters)

    return run


def reduce_scatter(module: str, code: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare a reduce_scatter: `code(call)`."""

    @member(module, code, **claims)
    def run(
        inter: Intercomm,
        local: Comm,
        sendbuf: Buffer,
        recvbuf: Buffer,
        counts: Sequence[int],
        *,
        op: Op,
        tag: int = 0,
        **parameters: Any,
    ) -> None:
        """Leave the rank's block of the other group's result in `recvbuf`."""
        p, _ = checked_sizes(inter, local)
        check_blocks(sendbuf, recvbuf, Layout.of_ranks(counts, p), local.Get_rank())
        code(ReduceScatterCall(inter, local, sendbuf, recvbuf, counts, op, tag), **parameters)

    return run


def reduce_scatter_block(module: str, code: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare a reduce_scatter_block: `code` is that of a reduce_scatter; its `counts` are None, since blocks are equal."""

    @member(module, code, **claims)
    def run(
        inter: Intercomm, local: Comm, sendbuf: Buffer, recvbuf: Buffer, *, op: Op, tag: int = 0, **parameters: Any
    ) -> None:
        """Leave the rank's block of the other group's result in `recvbuf`."""
        p, _ = checked_sizes(inter, local)
        check_blocks(sendbuf, recvbuf, Layout.equal(sendbuf.size, p), local.Get_rank())
        code(ReduceScatterCall(inter, local, sendbuf, recvbuf, None, op, tag), **parameters)

    return run
