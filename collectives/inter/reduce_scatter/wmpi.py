"""Reduce_scatter between groups as in WMPI: a reduce in each group, then each leader scatters to the other group.

The algorithm is that of reduce_scatter_block wmpi, but the leaders exchange all block sizes of their groups, 8 bytes
per rank.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     b_0 sends 2, 1 and 3 elements, a_0 sends 5 and 1

Rounds   1 + q + parts    Sent per rank   parts; on leaders + all blocks    Scratch   parts; on leaders + all blocks
Time     parts + (q+1) t_s + (8 p + q m) t_w; for p = q, equal blocks and binomial parts; otherwise computed from the
         schedule
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size
Bits     depend on the operands only
Best     short operands, and ops that need rank order
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.leader_scatter import leader_scatter_claims, reduce_and_scatter_across
from collectives.intra.bcast import binomial as bcast_binomial
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.patterns.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, BCAST = reduce_binomial.reduce_binomial, bcast_binomial.bcast_binomial
PARAMETERS = {"reduce": REDUCE, "bcast": BCAST}


@algorithm(parameters=PARAMETERS, in_order=True, **leader_scatter_claims("reduce_scatter", PARAMETERS))
def reduce_scatter_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    bcast: Algorithm = BCAST,
    tag: int = 0,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`."""
    p, q = checked_sizes(inter, local)
    layout = Layout.of_ranks(counts, p)
    check_blocks(sendbuf, recvbuf, layout, local.Get_rank())
    sizes = [layout.size(rank) for rank in range(p)]
    reduce_and_scatter_across(inter, local, sendbuf, recvbuf, sizes, q, op, reduce, bcast, tag)
