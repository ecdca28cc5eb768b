"""Reduce_scatter_block by Bine: pairs at negabinary distances send each other half of their range of blocks.

The allgather by Bine in reverse: in the round of distance J_s = (1 - (-2)^s) / 3, s = 1 .. ceil(log2 p), an even rank r
exchanges with r + J_s, an odd rank with r - J_s (mod p), and combines the blocks that remain in its range. The longest
messages go to neighbors (`plans.swing`, `plans.block_plans`).

    p = 4     start    1st      2nd         (blocks to combine; 1st: 0 with 1, 2 with 3; 2nd: 0 with 3, 1 with 2)
    rank 0    0123     0..3     0...
    rank 1    0123     .12.     .1..
    rank 2    0123     .12.     ..2.
    rank 3    0123     0..3     ...3

Rounds   ceil(log2 p); ceil(log2 (p-1)) + 2 if p > 1 is odd
         Sent per rank   all blocks but its own    Scratch   about 1.5 operands
Time     ceil(log2 p) t_s + (p-1) m (t_w + c); if p is odd, about twice that, computed from the schedule
Fits     any p; commutative ops; blocks of equal size
Bits     depend on p, position
Best     where neighboring ranks are close: least data and fewest rounds for even p, few bytes between groups
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract; if p is not a power of two, as in Swing)
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.block_plans import BlockExchanges
from collectives.patterns.plans.plan_claims import reduce_scatter_by, reduce_scatter_claims
from collectives.patterns.plans.swing import even_or_torus, swing_steps
from collectives.tools.protocol import Buffer, Comm, Op


def steps_of(case: Case, rank: int) -> BlockExchanges:
    return swing_steps(case.p, (), rank)


@algorithm(**reduce_scatter_claims(steps_of, even_or_torus))
def reduce_scatter_block_bine(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the rank's block of the result at the start of `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
    p = comm.Get_size()
    reduce_scatter_by(comm, sendbuf, recvbuf, swing_steps(p, (), comm.Get_rank()), op, tag)
