"""A group's result in nearly equal pieces, one per rank: the first phase of allreduce and reduce_scatter by an even cut."""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.inter_patterns.full_duplex import nearly_equal_sizes
from collectives.inter_patterns.groups import GroupPart, process_numbers
from collectives.intra.reduce_scatter.ring import reduce_scatter_ring
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.protocol import Buffer, Comm, Op

REDUCE_SCATTER = reduce_scatter_ring


def own_piece(local: Comm, sendbuf: Buffer, op: Op, reduce_scatter: Algorithm, tag: int) -> tuple[Any, int]:
    """The rank's piece of the group's result, in scratch memory, and its start."""
    p, rank = local.Get_size(), local.Get_rank()
    pieces = Layout.nearly_equal(sendbuf.size, p)
    piece = spare_memory(sendbuf, pieces.size(rank))
    reduce_scatter.run(local, sendbuf, piece, nearly_equal_sizes(sendbuf.size, p), op=op, tag=tag)
    return piece, pieces.start(rank)


def reduce_scatter_parts(case: Case, elements: tuple[int, int], reduce_scatter: Algorithm) -> list[GroupPart]:
    """The parts of `own_piece` in both groups, whose operands have `elements` elements."""
    return [
        (reduce_scatter, _cut(size, ranks, case), ranks) for size, ranks in zip(elements, process_numbers(case), strict=True)
    ]


def _cut(size: int, ranks: range, case: Case) -> Case:
    counts = nearly_equal_sizes(size, len(ranks))
    return Case(len(ranks), counts=counts, itemsize=case.itemsize, commutative=case.commutative)
