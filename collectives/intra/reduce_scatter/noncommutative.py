"""Reduce_scatter for noncommutative ops: a butterfly on blocks in mirrored order, with the least data.

The algorithm is that of reduce_scatter_block for noncommutative ops.

    p = 4, counts 1, 1, 1, 1     mirrored 0213: rank 0's ranges 02.., 0...; rank 3's ..13, ...3

Rounds   log2 p    Sent per rank   all blocks but its own    Scratch   1.5 operands
Time     log2 p t_s + (p-1) m (t_w + c)
Fits     p a power of two; any op, in rank order; blocks of equal size
Bits     depend on the operands only
Best     short blocks and noncommutative ops: the fewest rounds and the least data
Source   Träff, An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application, EuroPVM/MPI 2005; MPICH
         has it under this name
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import power_of_two_only
from collectives.catalogue.declaration import algorithm
from collectives.patterns.butterflies.butterfly import MIRRORED_CLAIMS, scatter_mirrored
from collectives.patterns.reductions import counted_blocks, equal_block
from collectives.tools.protocol import Buffer, Comm, Op


def why_unsupported(case: Case) -> str | None:
    return power_of_two_only(case) or (None if equal_block(case) is not None else "the blocks differ in size")


@algorithm(checks_itself=True, in_order=True, **MIRRORED_CLAIMS | Claims(why_unsupported=why_unsupported))
def reduce_scatter_noncommutative(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, counts: Sequence[int], *, op: Op, tag: int = 0
) -> None:
    """Leave the rank's block of the result at the start of `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    reduce_scatter_noncommutative.check(Case(p, counts=tuple(counts)))
    scatter_mirrored(comm, sendbuf, recvbuf, counted_blocks(counts, sendbuf, recvbuf, p, rank), op, tag)
