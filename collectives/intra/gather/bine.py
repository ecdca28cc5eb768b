"""Gather by a Bine tree: a binomial tree with partners at negabinary distances, which are closer.

The scatter by a Bine tree in reverse: the root of one half of a run of positions sends all blocks of its half to the root
of the other (`plans.negabinary`, `patterns.run_trees`).

    p = 4     start      1st        2nd         root 0: positions are the ranks 2, 3, 0, 1
    rank 0    0...       01..       0123        1st: 1 -> 0, 2 -> 3
    rank 1    .1..                              2nd: 3 -> 0
    rank 2    ..2.
    rank 3    ...3       ..23

Rounds   ceil(log2 p)    Sent per rank   m bytes for each rank of its subtree    Scratch   its subtree's blocks
Time     ceil(log2 p) t_s + (p-1) m t_w
Fits     any p; blocks of equal size
Best     short blocks where neighboring ranks are close: fewer bytes between groups than binomial
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract; the rule for p that are not a power of two is fakempi's)
"""

from __future__ import annotations

from collectives.catalogue.closed_forms import all_blocks
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.negabinary import BINE
from collectives.patterns.run_trees import PlacedTree, equal_gather, run_claims
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm


# A rank's own half of a run has at least as many ranks as the other half, so the root never waits.
@algorithm(**run_claims(lambda case: PlacedTree(BINE, case.root, case.p), up=True), **all_blocks(ceil_log2))
def gather_bine(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, tag: int = 0) -> None:
    """Gather all blocks to the root's `recvbuf`; if the root's `sendbuf` is None, its block is there already."""
    equal_gather(comm, sendbuf, recvbuf, PlacedTree(BINE, root, comm.Get_size()), tag)
