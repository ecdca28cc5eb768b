"""Allgatherv by Bruck's algorithm for short blocks that becomes a ring for long blocks.

The algorithm is that of allgather bruck_ring, for blocks of different sizes: n is the number of blocks of the largest
size that fit into run_bytes. Runs without data are not sent.

    p = 4, n = 2, counts 2, 0, 1, 3     start       k = 0       k = 1
    rank 0                              00....      00....      002333
    rank 1                              ......      ..2...      002333
    rank 2                              ..2...      ..2333      002333
    rank 3                              ...333      00.333      002333

Rounds   at most d + ceil(p/n) - 1; d = ceil(log2 n)    Sent per rank   its runs    Scratch   at most run_bytes
Time     computed from the schedule; (ceil(log2 n) + ceil(p/n) - 1) t_s + (p-1) m t_w for equal blocks of m bytes
Fits     any p; run_bytes > 0
Best     short blocks, and long blocks of similar size where a second copy of all blocks does not fit in memory
Source   Träff, Efficient Allgather for Regular SMP-Clusters, EuroPVM/MPI 2006, doi:10.1007/11846802_16: the gradual
         change, for equal blocks on nodes of several processes; this form is fakempi's
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.patterns.bounded_runs import RUN_BYTES, bounded, bounded_length, gather_bounded_runs, positive_runs_only
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


def length(case: Case) -> int:
    """The number of blocks of a run when it stops growing."""
    return bounded_length(case.layout, case.itemsize, allgatherv_bruck_ring.parameter(case, "run_bytes"))


@algorithm(why_unsupported=positive_runs_only, **bounded(length))
def allgatherv_bruck_ring(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    run_bytes: int = RUN_BYTES,
    tag: int = 0,
) -> None:
    """Gather blocks of any size to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p = comm.Get_size()
    layout = Layout.of_ranks(counts, p)
    layout.put(recvbuf, comm.Get_rank(), sendbuf)
    gather_bounded_runs(comm, recvbuf, layout, bounded_length(layout, recvbuf.itemsize, run_bytes), tag)
