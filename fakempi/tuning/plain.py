"""The plain table: one simple good choice an operation, and a second one where long messages ask for it."""

from __future__ import annotations

from typing import Final

from fakempi.tuning.objects import by_mpi4py
from fakempi.tuning.rule import BETWEEN_GROUPS, Rule
from fakempi.tuning.table import Table

LONG: Final = 65536
"""Bytes above which a message, or a rank's block, is long: the cost models' usual eager limit."""

PLAIN: Final = Table(
    "plain",
    {
        ("intra", "barrier"): (Rule("dissemination"),),
        ("intra", "bcast"): (Rule("binomial"),),
        ("intra", "gather"): (Rule("binomial"),),
        ("intra", "scatter"): (Rule("binomial"),),
        # Only the root knows all sizes: a rank half way up a tree could not tell what to expect.
        ("intra", "gatherv"): (Rule("linear"),),
        ("intra", "scatterv"): (Rule("linear"),),
        # Bruck has the fewest rounds but needs room for all blocks twice; the ring needs none.
        ("intra", "allgather"): (Rule("bruck", block_below=LONG), Rule("ring")),
        ("intra", "allgatherv"): (Rule("bruck", block_below=LONG), Rule("ring")),
        ("intra", "alltoall"): (Rule("pairwise"),),
        ("intra", "alltoallv"): (Rule("pairwise"),),
        ("intra", "alltoallw"): (Rule("pairwise"),),
        ("intra", "reduce"): (Rule("binomial"),),
        # Rabenseifner's moves as few bytes as the ring, in 2 log2 p rounds, and keeps to rank order.
        ("intra", "allreduce"): (
            by_mpi4py("allreduce"),
            Rule("recursive_doubling", nbytes_below=LONG),
            Rule("rabenseifner"),
        ),
        ("intra", "reduce_scatter"): (Rule("recursive_halving", commutative=True), Rule("reduce_scatterv")),
        ("intra", "reduce_scatter_block"): (Rule("recursive_halving", commutative=True), Rule("reduce_scatterv")),
        ("intra", "scan"): (Rule("recursive_doubling"),),
        ("intra", "exscan"): (Rule("recursive_doubling"),),
        # Within one block of the lower bound, whatever the groups' sizes (Kang et al.); the others by Silva & Silva.
        **dict.fromkeys(BETWEEN_GROUPS, (Rule("wmpi"),)),
        ("inter", "allgather"): (Rule("full_duplex"),),
        ("inter", "allgatherv"): (Rule("full_duplex"),),
    },
)
