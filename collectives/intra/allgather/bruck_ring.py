"""Allgather that is Bruck's algorithm for short blocks and a ring for long blocks.

Let n = floor(run_bytes / m), but at least 1 and at most p. Rank r holds a run of blocks r, r+1, ... (mod p). The run
doubles in each round, as in Bruck's algorithm, until it has n blocks. After that, in each round, rank r sends the last n
blocks of its run to rank r-n and receives up to n blocks from rank r+n, until it holds all blocks
(`patterns.bounded_runs`). With n = p (short blocks) this is Bruck's algorithm; with n = 1 (long blocks) it is the ring. As
n decreases from p to 1, the number of rounds grows from ceil(log2 p) to p-1. Blocks are received in place; only a message
that wraps around the end of the buffer goes through scratch memory.

    p = 4     n = 1, ring: k = 0, 1, 2           n = 2, 3 or 4, Bruck
    rank 0    0...   01..   012.   0123       0...   01..   0123
    rank 1    .1..   .12.   .123   0123       .1..   .12.   0123
    rank 2    ..2.   ..23   0.23   0123       ..2.   ..23   0123
    rank 3    ...3   0..3   01.3   0123       ...3   0..3   0123

Rounds   ceil(log2 n) + ceil(p/n) - 1    Sent per rank   (p-1) m bytes    Scratch   at most run_bytes; also at most p/2 m
Time     (d + ceil(p/n) - 1) t_s + (p-1) m t_w; d = ceil(log2 n)
Fits     any p; blocks of equal size; run_bytes > 0
Best     all blocks fit in memory only once; takes at most 1 + 2 t_s / (t_w run_bytes) times as long as Bruck's
         algorithm
Source   Träff, Efficient Allgather for Regular SMP-Clusters, EuroPVM/MPI 2006, doi:10.1007/11846802_16, which
         changes gradually from Bruck's algorithm to the ring on nodes of several processes; this version, for single
         processes and in place, is fakempi's
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import all_but_own
from collectives.catalogue.schedule import Seconds
from collectives.patterns.bounded_runs import BOUNDED_CLAIMS, bounded_rounds, gather_bounded_runs, length_of
from collectives.patterns.families import allgather


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return bounded_rounds(length_of(case), case.p) * t_s + (case.p - 1) * case.m * t_w if case.m else 0


allgather_bruck_ring = allgather(
    __name__, gather_bounded_runs, closed_sent=all_but_own, closed_time=closed_time, **BOUNDED_CLAIMS
)
