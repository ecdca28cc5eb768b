"""A group's combination in nearly equal pieces, one a rank: how allreduce and reduce_scatter by an even cut begin."""

from __future__ import annotations

from typing import Any

from collectives.between.full_duplex import nearly_equal_sizes
from collectives.between.groups import Placed, numbers
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.intra.reduce_scatter import ring
from collectives.tools.blocks import Layout, scratch
from collectives.tools.protocol import Buffer, Comm, Op

REDUCE_SCATTER = ring.ALGORITHM


def own_piece(local: Comm, sendbuf: Buffer, op: Op, reduce_scatter: Algorithm, tag: int) -> tuple[Any, int]:
    """The rank's piece of the group's combination, in scratch memory, and where it begins."""
    p, rank = local.Get_size(), local.Get_rank()
    pieces = Layout.nearly_equal(sendbuf.size, p)
    piece = scratch(sendbuf, pieces.size(rank))
    reduce_scatter.run(local, sendbuf, piece, nearly_equal_sizes(sendbuf.size, p), op=op, tag=tag)
    return piece, pieces.start(rank)


def pieces_on_paper(case: Case, elements: tuple[int, int], reduce_scatter: Algorithm) -> list[Placed]:
    """The same in both groups, whose operands have so many elements."""
    return [
        (reduce_scatter, _cut(size, ranks, case), ranks) for size, ranks in zip(elements, numbers(case), strict=True)
    ]


def _cut(size: int, ranks: range, case: Case) -> Case:
    counts = nearly_equal_sizes(size, len(ranks))
    return Case(len(ranks), counts=counts, itemsize=case.itemsize, commutative=case.commutative)
