"""The default table, "plain": the algorithms that run if none are requested.

In Hockney's cost model without buffering, no algorithm of the catalogue is more than 1.25 times faster than this table's
choice, except in the cases listed below. This was checked for p up to 64 and p + q up to 64, from 8 bytes to 8 MiB, for
equal and unequal blocks, with t_s / t_w = 1000 and 20000 bytes. tests/tuning/test_default_rules.py checks most of these
cases with claimed times. Limits are multiples of S = t_s / t_w, the cost of a start-up in bytes. S is taken from the run's
cost model; it is 1000 bytes if the costs differ between messages. Where one limit is not enough, the rules compare closed
forms (`estimates`). The sizes of segments and blocks are computed from S, or from 256 bytes if S is smaller.

Cases in which another algorithm may be faster, and the reason why it is not chosen:
    gatherv, scatterv, alltoallv, alltoallw, and allgatherv between groups: some ranks do not know the block sizes, so rules
        cannot use the sizes, and a tree would have to send them first. A gatherv or scatterv that is part of another
        algorithm, in which all ranks know the sizes, may be a tree
    reduce of long messages on more than 64 ranks with a noncommutative op: a chain takes half the time, but has more than
        2 p^2 messages, which take long to emulate
    scan and exscan of long messages on more than 64 ranks: for the same reason a tree is chosen, where a chain takes as
        little as a third of the time
    allgather(v) of long blocks: Bruck's algorithm is up to 1.25 times faster, but needs memory for all blocks twice
    alltoall in place: Bruck's algorithm has fewer rounds, but needs memory for all blocks
    reduce_scatter between groups, blocks of different sizes: a group does not know the block sizes of the other group
    buffered messages: on groups of a few ranks another algorithm may be 1.5 times faster, because more messages overlap
    reductions of objects: objects are combined in rank order and not cut, as in mpi4py
    noncommutative ops: only algorithms that combine in rank order can be chosen
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isqrt
from typing import Final

from collectives.block_sizes import square_root
from collectives.inter_patterns.joined import segment_bytes
from collectives.tools.numbers import ceil_div, ceil_log2
from fakempi.tuning import estimates as est
from fakempi.tuning.objects import by_mpi4py
from fakempi.tuning.rule import BETWEEN_GROUPS, Computed, Facts, Rule, When
from fakempi.tuning.table import Table

LONG: Final = 64
"""A block of at least this multiple of S bytes is long: a ring of whole blocks then takes at most 1.02 times as long as the
algorithm with the fewest start-ups, and a blocked ring with the square-root rule at most 1.25 times as long."""

SEGMENTS: Final = 16
"""Largest number of segments per hop of a broadcast. More segments save at most 1/16 of the time and are slow to emulate."""

CHAIN: Final = 64
"""Largest number of ranks for which a chain is chosen: it has more than 2 p^2 messages, which take long to emulate."""


def _segments_on_a_tree(facts: Facts) -> int:
    hops = max(0, ceil_log2(facts.ranks) - 1)
    best = segment_bytes(facts.nbytes, hops, facts.cut_bytes)
    return max(best, ceil_div(facts.nbytes, SEGMENTS * hops)) if hops else best


def _segments_on_a_chain(facts: Facts) -> int:
    return segment_bytes(facts.nbytes, max(0, facts.p - 2), facts.cut_bytes)


def _segments_on_a_scan_tree(facts: Facts) -> int:
    hops = est.scan_tree_hops(facts.p)
    best = isqrt(round(facts.nbytes * facts.cut_bytes / hops))
    return max(1, best, ceil_div(facts.nbytes, round(SEGMENTS * hops)))


def _blocks(facts: Facts) -> Callable[[Sequence[int]], int]:
    # If no block is empty, the paper uses the smallest block. This is slower if a large block is slightly longer than a
    # multiple of the smallest one, because the rest needs another round: "spike" on 4 ranks takes 1.56 times as long.
    cut = square_root(facts.cut_bytes, 1)
    return lambda sizes: max(sizes) if 4 * max(sizes) <= 5 * min(sizes) else cut(sizes)


ON_A_TREE: Final = Computed("sqrt(m S / (ceil(log2 p) - 1))", _segments_on_a_tree)
ON_A_CHAIN: Final = Computed("sqrt(m S / (p - 2))", _segments_on_a_chain)
ON_A_SCAN_TREE: Final = Computed("sqrt(3 m S / (4 floor(log2 p) - 5))", _segments_on_a_scan_tree)
BLOCKS: Final = Computed("whole blocks if all are about equal, otherwise Träff et al.'s square root", _blocks)

# A tree needs sizes that all ranks know, because an inner rank receives the blocks of its subtree.
LINEAR_OR_TREE: Final = (
    Rule("binomial", sizes_known=True, when=When("a tree is faster", lambda f: est.binomial(f) < est.linear(f))),
    Rule("linear"),
)
RANK_0_HAS_MOST: Final = When(
    "rank 0 has most", lambda f: est.gather_broadcast(f) < min(est.bruck(f), 1.1 * est.blocked_ring(f))
)
BRUCK_IS_FASTER: Final = When("fewer rounds are faster", lambda f: est.bruck(f) < 1.1 * est.blocked_ring(f))
ONE_RANK_HAS_MOST: Final = When(
    "one rank takes most", lambda f: 1.1 * est.reduce_scatterv(f) < min(est.bruck(f), est.ring(f))
)
FEWER_ROUNDS_ARE_FASTER: Final = When("fewer rounds are faster", lambda f: 0.9 * est.bruck(f) <= est.ring(f))
ROOT_GATHERING_IS_FASTER: Final = When(
    "root gathering is faster",
    lambda f: est.allgather_root_gathering(f) < min(est.allgather_even_cut(f), est.allgather_unsegmented(f)),
)
UNSEGMENTED_IS_FASTER: Final = When(
    "whole blocks are faster", lambda f: est.allgather_unsegmented(f) < 0.9 * est.allgather_even_cut(f)
)
REDUCE_BROADCAST_IS_FASTER: Final = When(
    "reduce and broadcast are faster",
    lambda f: est.reduce_broadcast(f) < min(est.allreduce_even_cut(f), est.allreduce_one_leader(f)),
)
ONE_LEADER_ALLREDUCES_FASTER: Final = When(
    "one leader is faster", lambda f: est.allreduce_one_leader(f) < est.allreduce_even_cut(f)
)
REDUCE_THEN_SCATTER_IS_FASTER: Final = When(
    "reduce and scatter are faster",
    lambda f: est.reduce_then_scatter(f) < min(est.reduce_scatter_even_cut(f), est.reduce_scatter_one_leader(f)),
)
ONE_LEADER_SCATTERS_FASTER: Final = When(
    "one leader is faster", lambda f: est.reduce_scatter_one_leader(f) < est.reduce_scatter_even_cut(f)
)
BRUCK_ON_UNION_IS_FASTER: Final = When("fewer rounds are faster", lambda f: est.bruck_on_union(f) < est.pairwise(f))
CHAIN_SCANS_FASTER: Final = When("a chain is faster", lambda f: est.scan_chain(f) < est.scan_tree(f))
DOUBLING_SCANS_FASTER: Final = When(
    "fewer rounds are faster",
    lambda f: est.scan_doubling(f) <= 1.1 * min(est.scan_tree(f), est.scan_chain(f) if f.p <= CHAIN else inf),
)

# Recursive doubling takes log2 p (S + m), a chain about m + p S + 2 sqrt(m p S), the doubly pipelined tree about
# 3 m + 4 log2 p S + 7 sqrt(m log2 p S). Objects have no known size and are not cut.
SCANS: Final = (
    Rule("recursive_doubling", objects=True),
    Rule("recursive_doubling", when=DOUBLING_SCANS_FASTER),
    Rule("chain", {"segment_bytes": ON_A_CHAIN}, p_below=CHAIN + 1, when=CHAIN_SCANS_FASTER),
    Rule("doubly_pipelined_tree", {"segment_bytes": ON_A_SCAN_TREE}),
)

PLAIN: Final = Table(
    "plain",
    {
        ("intra", "barrier"): (Rule("dissemination"),),
        ("intra", "bcast"): (Rule("binomial", startups_below=0.5), Rule("circulant", {"segment_bytes": ON_A_TREE})),
        ("intra", "gather"): (Rule("binomial"),),
        ("intra", "scatter"): (Rule("binomial"),),
        ("intra", "gatherv"): LINEAR_OR_TREE,
        ("intra", "scatterv"): LINEAR_OR_TREE,
        # Bruck has the fewest rounds but needs memory for all blocks twice; the ring needs none.
        ("intra", "allgather"): (
            Rule("bruck", block_startups_below=LONG),
            Rule("cluster_ring", placed=True),
            Rule("ring"),
        ),
        ("intra", "allgatherv"): (
            Rule("gather_bcast", when=RANK_0_HAS_MOST, placed=False),
            Rule("bruck", block_startups_below=LONG, when=BRUCK_IS_FASTER),
            Rule("cluster_blocked_ring", {"block_bytes": BLOCKS}, placed=True),
            Rule("blocked_ring", {"block_bytes": BLOCKS}),
        ),
        # Bruck's algorithm sends a block log2 p / 2 times on average; it is faster than pairwise if log2 p (S + m p/2) is
        # less than (p-1) (S + m).
        ("intra", "alltoall"): (
            Rule("pairwise", in_place=True),  # exchanges blocks, with memory for one
            Rule("bruck", p_at_least=4, p_below=16, block_startups_below=0.6),
            Rule("bruck", p_at_least=16, p_below=128, block_startups_below=0.4),
            Rule("bruck", p_at_least=128, block_startups_below=0.25),
            Rule("pairwise", even=True),
            Rule("spread"),  # one round less than pairwise if p is odd
        ),
        ("intra", "alltoallv"): (Rule("pairwise"),),
        ("intra", "alltoallw"): (Rule("pairwise"),),
        # A tree takes log2 p (S + m). A circulant graph, for commutative ops, takes about m + log2 p S + 2 sqrt(m log2 p S).
        # For noncommutative ops, Rabenseifner's algorithm takes 2 log2 p S + 2 m, more if p is not a power of two, and a
        # chain takes about m + p S + 2 sqrt(m p S).
        ("intra", "reduce"): (
            by_mpi4py("reduce"),
            Rule("binomial", p_below=3),
            Rule("binomial", p_below=16, startups_below=3),
            Rule("binomial", startups_below=1.5),
            Rule("circulant", {"segment_bytes": ON_A_TREE}, commutative=True),
            Rule("rabenseifner", power_of_two=True, startups_a_rank_below=6),
            Rule("rabenseifner", power_of_two=False, startups_a_rank_below=2.5),
            Rule("chain", {"segment_bytes": ON_A_CHAIN}, p_below=CHAIN + 1),
            Rule("rabenseifner"),
        ),
        # Rabenseifner's algorithm sends as many bytes as the ring, in 2 log2 p rounds, and combines in rank order; but if p
        # is not a power of two, it sends up to twice as many bytes. The circulant graph sends as many bytes as the ring for
        # all p, but needs more memory.
        ("intra", "allreduce"): (
            by_mpi4py("allreduce"),
            Rule("recursive_multiplying", p_at_least=3, p_below=4, startups_below=1),
            Rule("recursive_doubling", p_below=4, startups_below=1),
            Rule("ring", p_below=4, power_of_two=False, commutative=True),
            Rule("recursive_doubling", power_of_two=False, startups_below=1),
            Rule("circulant", power_of_two=False, commutative=True, startups_a_rank_below=4),
            Rule("recursive_doubling", p_below=16, startups_below=3),
            Rule("recursive_doubling", startups_below=1.5),
            Rule("rabenseifner", power_of_two=True),
            Rule("rabenseifner", p_below=8, startups_a_rank_below=0.4),
            Rule("rabenseifner", p_at_least=8, startups_a_rank_below=0.7),
            Rule("ring", commutative=True),
            Rule("rabenseifner"),
        ),
        ("intra", "reduce_scatter"): (
            Rule("reduce_scatterv", commutative=False),
            Rule("reduce_scatterv", when=ONE_RANK_HAS_MOST),
            Rule("recursive_halving", power_of_two=True, when=FEWER_ROUNDS_ARE_FASTER),
            Rule("circulant", when=FEWER_ROUNDS_ARE_FASTER),
            Rule("ring", commutative=True),
            Rule("reduce_scatterv"),
        ),
        # The circulant graph has the fewest rounds for all p, but needs memory for 1.5 operands; the ring has p - 1 rounds.
        ("intra", "reduce_scatter_block"): (
            Rule("recursive_halving", commutative=True, power_of_two=True),
            Rule("circulant", commutative=True, block_startups_below=LONG),
            Rule("ring", commutative=True),
            Rule("reduce_scatterv"),
        ),
        ("intra", "scan"): SCANS,
        ("intra", "exscan"): SCANS,
        **dict.fromkeys(BETWEEN_GROUPS, (Rule("wmpi"),)),
        ("inter", "bcast"): (Rule("joined"),),
        ("inter", "gather"): (Rule("binomial"),),
        ("inter", "scatter"): (Rule("binomial"),),
        # M = max(p k_A, q k_B) is the lower bound. Without start-ups, even_cut takes at most M + k_A + k_B + p + q, for all
        # group sizes. full_duplex is within one block of M if q divides p; otherwise it takes up to 2 M.
        ("inter", "allgather"): (
            Rule("root_gathering_best", when=ROOT_GATHERING_IS_FASTER),
            Rule("unsegmented", when=UNSEGMENTED_IS_FASTER),
            Rule("full_duplex", divides=True),
            Rule("even_cut"),
        ),
        ("inter", "allgatherv"): (Rule("full_duplex"),),
        ("inter", "alltoall"): (Rule("bruck", when=BRUCK_ON_UNION_IS_FASTER), Rule("pairwise")),
        ("inter", "alltoallv"): (Rule("pairwise"),),
        ("inter", "alltoallw"): (Rule("pairwise"),),
        ("inter", "reduce"): (Rule("wmpi", objects=True), Rule("circulant", commutative=True), Rule("chain")),
        ("inter", "allreduce"): (
            Rule("wmpi", objects=True),
            Rule("reduce_exchange_bcast", when=REDUCE_BROADCAST_IS_FASTER),
            Rule("one_leader", commutative=True, when=ONE_LEADER_ALLREDUCES_FASTER),
            Rule("even_cut"),
        ),
        **dict.fromkeys(
            [("inter", "reduce_scatter"), ("inter", "reduce_scatter_block")],
            (
                Rule("reduce_exchange_scatter", when=REDUCE_THEN_SCATTER_IS_FASTER),
                Rule("one_leader", when=ONE_LEADER_SCATTERS_FASTER),
                Rule("even_cut"),
            ),
        ),
    },
    has_known_names=True,
)
