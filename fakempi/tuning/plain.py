"""The plain table: what runs unless somebody asks for something else.

No algorithm of the catalogue is more than 1.25 times faster than what it takes, in the papers' model, for p up to 64 and for
p + q up to 64, from 8 bytes to 8 MiB, evenly spread or not, with t_s / t_w = 1000 and 20000 bytes. The greater part of that
is swept on paper by tests/tuning/test_plain.py. Limits are counted in start-ups, that is, in multiples of t_s / t_w, which a
call knows of the run's cost model (1000 bytes where messages do not all cost the same). Where one limit does not do, closed
forms are compared (`estimates`). Segments and blocks are as long as the same number has it; where starts are cheap, as if it
were 256.

Where something may be faster, and why it is not taken:
    gatherv, scatterv, alltoallv, alltoallw, and allgatherv between groups: not all ranks know the sizes, so no rule may look
        at them; a tree would have to tell them first. As parts of others, where sizes are known, they may be trees
    reduce of long messages on more than 64 ranks: a chain takes half as long, but that is over 2 p^2 messages to emulate
    allgather(v) of long blocks: Bruck's algorithm takes up to 1.25 times less, but needs room for all blocks twice
    alltoall in place: Bruck's algorithm has fewer rounds, but needs room for all blocks
    reduce_scatter between groups, blocks of different sizes: a group does not know how the other one cuts
    messages that are buffered: up to 1.5 on groups of a few ranks, where they overtake each other
    objects: they are combined in rank order and not cut, as mpi4py does it
    ops that are not commutative: what keeps to rank order
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from collectives.between.joined import segment_bytes
from collectives.block_sizes import square_root
from collectives.tools.numbers import ceil_div, ceil_log2
from fakempi.tuning import estimates as about
from fakempi.tuning.objects import by_mpi4py
from fakempi.tuning.rule import BETWEEN_GROUPS, Computed, Facts, Rule, When
from fakempi.tuning.table import Table

LONG: Final = 64
"""Start-ups from which on a rank's block is long: there a ring of whole blocks is within 1.02 of the fewest start-ups, and
one of blocks cut by the square root within 1.25."""

SEGMENTS: Final = 16
"""The most segments for each hop of a broadcast. More would save a sixteenth at most, and each is emulated on each rank."""

CHAIN: Final = 64
"""The most ranks in a chain: see above."""


def _segments_on_a_tree(facts: Facts) -> int:
    hops = max(0, ceil_log2(facts.ranks) - 1)
    best = segment_bytes(facts.nbytes, hops, facts.cut_bytes)
    return max(best, ceil_div(facts.nbytes, SEGMENTS * hops)) if hops else best


def _segments_on_a_chain(facts: Facts) -> int:
    return segment_bytes(facts.nbytes, max(0, facts.p - 2), facts.cut_bytes)


def _blocks(facts: Facts) -> Callable[[Sequence[int]], int]:
    # Not the smallest block, which is the paper's rule where nobody is empty: if a large one is a few bytes more than a
    # multiple of it, the rest is a round of its own, and "spike" on 4 ranks takes 1.56 times as long.
    cut = square_root(facts.cut_bytes, 1)
    return lambda sizes: max(sizes) if 4 * max(sizes) <= 5 * min(sizes) else cut(sizes)


ON_A_TREE: Final = Computed("sqrt(m S / (ceil(log2 p) - 1))", _segments_on_a_tree)
ON_A_CHAIN: Final = Computed("sqrt(m S / (p - 2))", _segments_on_a_chain)
BLOCKS: Final = Computed("whole blocks if all are about equal, else Träff et al.'s square root", _blocks)

# Only if all ranks know all sizes: a rank half way up a tree could not tell what to expect.
IN_ONE_HOP_OR_MORE: Final = (
    Rule("binomial", sizes_known=True, when=When("a tree is faster", lambda f: about.by_tree(f) < about.one_by_one(f))),
    Rule("linear"),
)
RANK_0_HAS_MOST: Final = When(
    "rank 0 has most", lambda f: about.by_rank_0(f) < min(about.growing_runs(f), 1.1 * about.blocked_ring(f))
)
FEW_ROUNDS_PAY: Final = When("few rounds pay", lambda f: about.growing_runs(f) < 1.1 * about.blocked_ring(f))
ONE_RANK_HAS_MOST: Final = When(
    "one rank takes most", lambda f: 1.1 * about.by_root(f) < min(about.halving(f), about.around(f))
)
HALVING_PAYS: Final = When("halving pays", lambda f: 0.9 * about.halving(f) <= about.around(f))
ROOTS_HAVE_FEWER_STARTS: Final = When(
    "roots have fewer start-ups", lambda f: about.by_both_roots(f) < min(about.across(f), about.across_whole(f))
)
CUTTING_DOES_NOT_PAY: Final = When("cutting does not pay", lambda f: about.across_whole(f) < 0.9 * about.across(f))
PIECES_DO_NOT_PAY: Final = When(
    "pieces do not pay", lambda f: about.reduced_and_broadcast(f) < min(about.in_pieces(f), about.one_led(f))
)
ONE_LEADER_PAYS: Final = When("one leader does as well", lambda f: about.one_led(f) < about.in_pieces(f))
ROOTS_REDUCE: Final = When(
    "pieces do not pay", lambda f: about.reduced_and_scattered(f) < min(about.delivered(f), about.dealt_by_one(f))
)
ONE_LEADER_DEALS: Final = When("one leader does as well", lambda f: about.dealt_by_one(f) < about.delivered(f))
ONE_GROUP_PAYS: Final = When("few rounds pay", lambda f: about.as_one_group(f) < about.in_pairs(f))

PLAIN: Final = Table(
    "plain",
    {
        ("intra", "barrier"): (Rule("dissemination"),),
        ("intra", "bcast"): (Rule("binomial", startups_below=0.5), Rule("circulant", {"segment_bytes": ON_A_TREE})),
        ("intra", "gather"): (Rule("binomial"),),
        ("intra", "scatter"): (Rule("binomial"),),
        ("intra", "gatherv"): IN_ONE_HOP_OR_MORE,
        ("intra", "scatterv"): IN_ONE_HOP_OR_MORE,
        # Bruck has the fewest rounds but needs room for all blocks twice; the ring needs none.
        ("intra", "allgather"): (
            Rule("bruck", block_startups_below=LONG),
            Rule("cluster_ring", placed=True),
            Rule("ring"),
        ),
        ("intra", "allgatherv"): (
            Rule("gather_bcast", when=RANK_0_HAS_MOST, placed=False),
            Rule("bruck", block_startups_below=LONG, when=FEW_ROUNDS_PAY),
            Rule("cluster_blocked_ring", {"block_bytes": BLOCKS}, placed=True),
            Rule("blocked_ring", {"block_bytes": BLOCKS}),
        ),
        # Bruck sends a block log2 p / 2 times: worth it where (p-1) (S + m) is more than log2 p (S + m p/2).
        ("intra", "alltoall"): (
            Rule("pairwise", in_place=True),  # swaps blocks, and needs room for one
            Rule("bruck", p_at_least=4, p_below=16, block_startups_below=0.6),
            Rule("bruck", p_at_least=16, p_below=128, block_startups_below=0.4),
            Rule("bruck", p_at_least=128, block_startups_below=0.25),
            Rule("pairwise", even=True),
            Rule("spread"),  # has one round less if p is odd
        ),
        ("intra", "alltoallv"): (Rule("pairwise"),),
        ("intra", "alltoallw"): (Rule("pairwise"),),
        # A tree takes log2 p (S + m), Rabenseifner's 2 log2 p S + 2 m and more if p is no power of two, a chain about
        # m + p S + 2 sqrt(m p S).
        ("intra", "reduce"): (
            by_mpi4py("reduce"),
            Rule("binomial", p_below=3),
            Rule("binomial", p_below=16, startups_below=3),
            Rule("binomial", startups_below=1.5),
            Rule("rabenseifner", power_of_two=True, startups_a_rank_below=6),
            Rule("rabenseifner", power_of_two=False, startups_a_rank_below=2.5),
            Rule("chain", {"segment_bytes": ON_A_CHAIN}, p_below=CHAIN + 1),
            Rule("rabenseifner"),
        ),
        # Rabenseifner's moves as few bytes as the ring, in 2 log2 p rounds, and keeps to rank order; but if p is no power
        # of two, it moves up to twice as many.
        ("intra", "allreduce"): (
            by_mpi4py("allreduce"),
            Rule("recursive_doubling", p_below=4, startups_below=1),
            Rule("ring", p_below=4, power_of_two=False, commutative=True),
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
            Rule("recursive_halving", when=HALVING_PAYS),
            Rule("ring", commutative=True),
            Rule("reduce_scatterv"),
        ),
        # Halving makes p a power of two by sending everything once more; the ring has p - 1 rounds.
        ("intra", "reduce_scatter_block"): (
            Rule("recursive_halving", commutative=True, power_of_two=True),
            Rule("recursive_halving", commutative=True, p_at_least=32, block_startups_below=0.75),
            Rule("recursive_halving", commutative=True, p_at_least=8, block_startups_below=0.5),
            Rule("recursive_halving", commutative=True, p_at_least=6, block_startups_below=0.2),
            Rule("ring", commutative=True),
            Rule("reduce_scatterv"),
        ),
        ("intra", "scan"): (Rule("recursive_doubling"),),
        ("intra", "exscan"): (Rule("recursive_doubling"),),
        **dict.fromkeys(BETWEEN_GROUPS, (Rule("wmpi"),)),
        ("inter", "bcast"): (Rule("joined"),),
        ("inter", "gather"): (Rule("binomial"),),
        ("inter", "scatter"): (Rule("binomial"),),
        # At most M + k_A + k_B + p + q bytes, start-ups apart, whatever the groups' sizes. Kang et al.'s Algorithm 1 is
        # within one block of the lower bound M where q divides p; elsewhere it takes up to 2 M, and an even cut does not.
        ("inter", "allgather"): (
            Rule("root_gathering_best", when=ROOTS_HAVE_FEWER_STARTS),
            Rule("unsegmented", when=CUTTING_DOES_NOT_PAY),
            Rule("full_duplex", divides=True),
            Rule("even_cut"),
        ),
        ("inter", "allgatherv"): (Rule("full_duplex"),),
        ("inter", "alltoall"): (Rule("bruck", when=ONE_GROUP_PAYS), Rule("pairwise")),
        ("inter", "alltoallv"): (Rule("pairwise"),),
        ("inter", "alltoallw"): (Rule("pairwise"),),
        ("inter", "reduce"): (Rule("wmpi", objects=True), Rule("circulant", commutative=True), Rule("chain")),
        ("inter", "allreduce"): (
            Rule("wmpi", objects=True),
            Rule("reduce_exchange_bcast", when=PIECES_DO_NOT_PAY),
            Rule("one_leader", commutative=True, when=ONE_LEADER_PAYS),
            Rule("even_cut"),
        ),
        **dict.fromkeys(
            [("inter", "reduce_scatter"), ("inter", "reduce_scatter_block")],
            (
                Rule("reduce_exchange_scatter", when=ROOTS_REDUCE),
                Rule("one_leader", when=ONE_LEADER_DEALS),
                Rule("even_cut"),
            ),
        ),
    },
)
