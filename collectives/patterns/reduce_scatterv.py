"""Reduce to rank 0, then scatterv or scatter from rank 0: shared code of reduce_scatter and reduce_scatter_block.

Rank 0 finishes the reduce last, and every message of the scatterv depends on rank 0, so rounds and times add up.
"""

from __future__ import annotations

from collections.abc import Callable

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.composite import AlgorithmCase, sequential_claims
from collectives.catalogue.family import chosen, defaults_of
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.protocol import Buffer, Comm, Op


def reduce_then_scatterv(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    layout: Layout,
    op: Op,
    tag: int,
    *,
    reduce: Algorithm,
    scatterv: Algorithm,
) -> None:
    """Leave the rank's block of the result at the start of `recvbuf`; `scatterv` may be a scatter if blocks are equal."""
    p, rank = comm.Get_size(), comm.Get_rank()
    counts = [[layout.size(r) for r in range(p)]] if scatterv.operation == "scatterv" else []
    own = layout.block(recvbuf, 0, p) if sendbuf is None else sendbuf
    result = recvbuf[0 : layout.size(rank)]
    if rank > 0:
        reduce.run(comm, own, None, op=op, root=0, tag=tag)
        scatterv.run(comm, None, result, *counts, root=0, tag=tag)
    elif sendbuf is None:
        reduce.run(comm, None, own, op=op, root=0, tag=tag)
        scatterv.run(comm, own, None, *counts, root=0, tag=tag)
    else:
        whole = spare_memory(sendbuf, sendbuf.size)
        reduce.run(comm, sendbuf, whole, op=op, root=0, tag=tag)
        scatterv.run(comm, whole, result, *counts, root=0, tag=tag)


def reduce_then_scatter(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    layout: Layout,
    op: Op,
    tag: int,
    *,
    reduce: Algorithm,
    scatter: Algorithm,
) -> None:
    """Leave the rank's block of the result at the start of `recvbuf`; blocks are equal."""
    reduce_then_scatterv(comm, sendbuf, recvbuf, layout, op, tag, reduce=reduce, scatterv=scatter)


def claims_by_rank_0(code: Callable[..., None]) -> Claims:
    """The claims of `code`, which is one of these functions with default parts."""

    def parts(case: Case) -> list[AlgorithmCase]:
        layout, itemsize = case.layout, case.itemsize
        counts = tuple(layout.size(r) for r in range(case.p))
        total = layout.size(0, case.p) * itemsize
        whole = Case(case.p, total, itemsize=itemsize, commutative=case.commutative, in_place=case.in_place)
        if "scatter" in defaults_of(code):
            blocks = Case(case.p, case.m, itemsize=itemsize, in_place=case.in_place)
        else:
            blocks = Case(case.p, counts=counts, itemsize=itemsize, in_place=case.in_place)
        return list(zip(chosen(code, case).values(), (whole, blocks), strict=True))

    return sequential_claims(parts, extra_scratch=whole_at_rank_0)


def whole_at_rank_0(case: Case, rank: int) -> int:
    """Scratch for the whole result at rank 0; in place, `recvbuf` is large enough."""
    return case.layout.size(0, case.p) * case.itemsize if rank == 0 and not case.in_place else 0
