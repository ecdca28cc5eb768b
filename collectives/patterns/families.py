"""Families within a group: an operation whose arguments become a layout of blocks, for code that works on any layout.

Each function declares the algorithm of a module (`catalogue.family`), with the claims of the code. Its parameters are the
keyword-only arguments of the code, or of the function `parameters_of`, whose values the code receives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.family import chosen, member
from collectives.patterns.reductions import counted_blocks, equal_blocks
from collectives.patterns.run_trees import PlacedTree, RunTree, gather_runs_up, run_claims, scatter_runs_down
from collectives.tools.blocks import Layout, required
from collectives.tools.protocol import Buffer, Comm, Op


def allgather(
    module: str, gather: Callable[..., None], *, parameters_of: Callable[..., Any] | None = None, **claims: Any
) -> Algorithm:
    """Declare an allgather: `gather(comm, recvbuf, layout, tag)` begins with the rank's own block in `recvbuf`."""

    @member(module, parameters_of or gather, **claims)
    def run(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0, **parameters: Any) -> None:
        """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
        layout = Layout.equal(recvbuf.size, comm.Get_size())
        layout.put(recvbuf, comm.Get_rank(), sendbuf)
        gather(comm, recvbuf, layout, tag, **parameters)

    return run


def allgatherv(
    module: str, gather: Callable[..., None], *, parameters_of: Callable[..., Any] | None = None, **claims: Any
) -> Algorithm:
    """Declare an allgatherv: `gather(comm, recvbuf, layout, tag)` begins with the rank's own block in `recvbuf`."""

    @member(module, parameters_of or gather, **claims)
    def run(
        comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, counts: Sequence[int], *, tag: int = 0, **parameters: Any
    ) -> None:
        """Gather blocks of any size to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
        layout = Layout.of_ranks(counts, comm.Get_size())
        layout.put(recvbuf, comm.Get_rank(), sendbuf)
        gather(comm, recvbuf, layout, tag, **parameters)

    return run


def reduce_scatter_block(
    module: str, scatter: Callable[..., None], *, parameters_of: Callable[..., Any] | None = None, **claims: Any
) -> Algorithm:
    """Declare a reduce_scatter_block: `scatter(comm, sendbuf, recvbuf, layout, op, tag)` reduces and scatters."""

    @member(module, parameters_of or scatter, **claims)
    def run(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0, **parameters: Any) -> None:
        """Leave the rank's block of the result at the start of `recvbuf`, which holds the operand if `sendbuf` is None."""
        layout = equal_blocks(sendbuf, recvbuf, comm.Get_size(), comm.Get_rank())
        scatter(comm, sendbuf, recvbuf, layout, op, tag, **parameters)

    return run


def reduce_scatter(module: str, scatter: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare a reduce_scatter: `scatter(comm, sendbuf, recvbuf, layout, op, tag)` reduces and scatters."""

    @member(module, scatter, **claims)
    def run(
        comm: Comm,
        sendbuf: Buffer | None,
        recvbuf: Buffer,
        counts: Sequence[int],
        *,
        op: Op,
        tag: int = 0,
        **parameters: Any,
    ) -> None:
        """Leave the rank's block of the result at the start of `recvbuf`, which holds the operand if `sendbuf` is None."""
        layout = counted_blocks(counts, sendbuf, recvbuf, comm.Get_size(), comm.Get_rank())
        scatter(comm, sendbuf, recvbuf, layout, op, tag, **parameters)

    return run


def gather(
    module: str, collect: Callable[..., None], *, parameters_of: Callable[..., Any] | None = None, **claims: Any
) -> Algorithm:
    """Declare a gather: `collect(comm, sendbuf, recvbuf, layout, root, tag)`."""

    @member(module, parameters_of or collect, **claims)
    def run(
        comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, tag: int = 0, **parameters: Any
    ) -> None:
        """Gather all blocks to the root's `recvbuf`; if the root's `sendbuf` is None, its block is there already."""
        p = comm.Get_size()
        if comm.Get_rank() == root:
            size = required(recvbuf, "the root of a gather").size
        else:
            size = required(sendbuf, "a rank that sends its block").size * p
        collect(comm, sendbuf, recvbuf, Layout.equal(size, p), root, tag, **parameters)

    return run


def scatter(
    module: str, deliver: Callable[..., None], *, parameters_of: Callable[..., Any] | None = None, **claims: Any
) -> Algorithm:
    """Declare a scatter: `deliver(comm, sendbuf, recvbuf, layout, root, tag)`."""

    @member(module, parameters_of or deliver, **claims)
    def run(
        comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, tag: int = 0, **parameters: Any
    ) -> None:
        """Copy the rank's block of the root's `sendbuf` to `recvbuf`; if the root's is None, its block stays in place."""
        p = comm.Get_size()
        if comm.Get_rank() == root:
            size = required(sendbuf, "the root of a scatter").size
        else:
            size = required(recvbuf, "a rank that receives its block").size * p
        deliver(comm, sendbuf, recvbuf, Layout.equal(size, p), root, tag, **parameters)

    return run


def tree_gather(module: str, tree: Callable[..., RunTree], **claims: Any) -> Algorithm:
    """Declare a gather on trees of `run_trees`; the keyword-only arguments of `tree` are the parameters."""
    made = run_claims(partial(_placed, tree), up=True)
    return gather(module, partial(_along, gather_runs_up, tree), parameters_of=tree, **made, **claims)


def tree_scatter(module: str, tree: Callable[..., RunTree], **claims: Any) -> Algorithm:
    """Declare a scatter on such trees."""
    made = run_claims(partial(_placed, tree), up=False)
    return scatter(module, partial(_along, scatter_runs_down, tree), parameters_of=tree, **made, **claims)


def _placed(tree: Callable[..., RunTree], case: Case) -> PlacedTree:
    return PlacedTree(tree(**chosen(tree, case)), case.root, case.p)


def _along(
    move: Callable[..., None],
    tree: Callable[..., RunTree],
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    layout: Layout,
    root: int,
    tag: int,
    **parameters: Any,
) -> None:
    move(comm, sendbuf, recvbuf, layout, PlacedTree(tree(**parameters), root, layout.p), tag)
