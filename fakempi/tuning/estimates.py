"""Estimated times of algorithms in bytes (multiples of t_w), for rules that one limit cannot express.

A start-up takes S = `startup_bytes`. The estimates are the closed forms of the algorithms, with the parts and segments of
the default table; if an algorithm has no closed form, the estimate is a close upper bound.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

from collectives.tools.numbers import ceil_div, ceil_log2, floor_log2
from fakempi.tuning.rule import Facts, Sizes


def pipeline(nbytes: float, hops: float, startup_bytes: int) -> float:
    """Time of a pipeline with the best segment size and `hops` more steps than segments: (sqrt m + sqrt(h S))^2."""
    return (sqrt(nbytes) + sqrt(max(0, hops) * startup_bytes)) ** 2 + startup_bytes


def broadcast(nbytes: float, p: int, startup_bytes: int) -> float:
    """Broadcast by a binomial tree or on a circulant graph; 0 for one rank."""
    rounds = ceil_log2(p)
    return min(rounds * (startup_bytes + nbytes), pipeline(nbytes, rounds - 1, startup_bytes))


def bruck(facts: Facts) -> float:
    """Allgatherv by Bruck's algorithm, and reduce_scatter in few rounds: every round costs the longest run of blocks."""
    rounds = ceil_log2(facts.p) * facts.startup_bytes
    return rounds + (facts.nbytes - facts.block if facts.sizes is None else facts.sizes.runs)


def blocked_ring(facts: Facts) -> float:
    """Allgatherv by a blocked ring, with blocks by the square root: m/B + (p + z - 2)/2 rounds of S + B, z ranks empty."""
    empty, smallest = (0, facts.block) if facts.sizes is None else (facts.sizes.empty, facts.sizes.smallest)
    whole = (facts.p - 1) * facts.startup_bytes + facts.nbytes - smallest
    return max(whole, pipeline(facts.nbytes, (facts.p + empty - 2) / 2, facts.startup_bytes))


def gather_broadcast(facts: Facts) -> float:
    """Allgatherv by gatherv to rank 0 and broadcast."""
    return _to_or_from_root(facts) + broadcast(facts.nbytes, facts.p, facts.startup_bytes)


def ring(facts: Facts) -> float:
    """Reduce_scatter by a ring: every round costs the largest block."""
    return (facts.p - 1) * (facts.startup_bytes + _largest(facts))


def reduce_scatterv(facts: Facts) -> float:
    """Reduce_scatter by reduce and scatterv."""
    return reduce(facts.nbytes, facts.p, facts.startup_bytes) + _to_or_from_root(facts)


def _to_or_from_root(facts: Facts) -> float:
    """Gatherv or scatterv with root 0, linear or by a tree."""
    return min(binomial(facts), linear(facts))


def linear(facts: Facts) -> float:
    """Linear gatherv or scatterv: every block directly to or from the root."""
    if facts.sizes is None:
        return (facts.p - 1) * (facts.startup_bytes + facts.block)
    sizes = facts.sizes
    senders = facts.p - sizes.empty - (1 if sizes.first else 0)
    return senders * facts.startup_bytes + facts.nbytes - sizes.first


def binomial(facts: Facts) -> float:
    """Gatherv or scatterv by a binomial tree; exact."""
    sizes, S = facts.sizes, facts.startup_bytes
    return ceil_log2(facts.p) * S + facts.nbytes - facts.block if sizes is None else _binomial_gather(sizes, S)


@lru_cache(maxsize=64)
def _binomial_gather(sizes: Sizes, startup_bytes: int) -> int:
    """Time at which rank 0 has all blocks. O(p), computed once for all ranks of a call."""
    nbytes, ready, skip = list(sizes.all), [0] * len(sizes.all), 1
    while skip < len(nbytes):
        for parent in range(0, len(nbytes) - skip, 2 * skip):
            child = parent + skip
            if nbytes[child]:
                ready[parent] = max(ready[parent], ready[child]) + startup_bytes + nbytes[child]
                nbytes[parent] += nbytes[child]
        skip *= 2
    return ready[0]


def reduce(nbytes: float, p: int, startup_bytes: int) -> float:
    """Reduce by a binomial tree or on a circulant graph, for a commutative op: the broadcast in reverse."""
    return broadcast(nbytes, p, startup_bytes)


def scan_doubling(facts: Facts) -> float:
    """Scan or exscan by recursive doubling; exact."""
    return ceil_log2(facts.p) * (facts.startup_bytes + facts.nbytes)


def scan_chain(facts: Facts) -> float:
    """Scan or exscan by a pipelined chain."""
    return pipeline(facts.nbytes, facts.p - 2, facts.startup_bytes)


def scan_tree(facts: Facts) -> float:
    """Scan or exscan by the doubly pipelined tree: three rounds for each step of the pipeline."""
    return 3 * pipeline(facts.nbytes, scan_tree_hops(facts.p), facts.startup_bytes)


def scan_tree_hops(p: int) -> float:
    """Steps of the doubly pipelined tree on 4 or more ranks beyond the number of segments: 3 rounds each, 4 d - 5 in all."""
    return max(1, 4 * floor_log2(p) - 5) / 3


def _largest(facts: Facts) -> float:
    return facts.block if facts.sizes is None else facts.sizes.largest


def allgather_even_cut(facts: Facts) -> float:
    """Allgather between groups by even_cut or full_duplex: exchange between the groups, then an allgather in each."""
    (q, k_b), (p, k_a) = sorted(((facts.p, facts.nbytes), (facts.q, facts.nbytes_b)))
    starts = ceil_div(p, q) + ceil_log2(p)
    return starts * facts.startup_bytes + max(p * k_a, q * k_b) + k_b * (p - 1) // p


def allgather_unsegmented(facts: Facts) -> float:
    """Allgather between groups by unsegmented: sets of ranks of the smaller group's size gather."""
    (q, k_b), (p, k_a) = sorted(((facts.p, facts.nbytes), (facts.q, facts.nbytes_b)))
    c = ceil_div(p, q)
    return (c + ceil_log2(q)) * facts.startup_bytes + c * max(k_a, k_b) + max((q - 1) * k_b, (p - p // q) * k_a)


def allgather_root_gathering(facts: Facts) -> float:
    """Allgather between groups by root gathering: a gather, one message and a broadcast, in both groups in parallel."""
    S, groups = facts.startup_bytes, ((facts.p, facts.p * facts.nbytes), (facts.q, facts.q * facts.nbytes_b))
    (p, a), (q, b) = groups
    gathered = max(ceil_log2(size) * S + total * (size - 1) // size for size, total in groups)
    return gathered + S + max(a, b) + max(broadcast(b, p, S), broadcast(a, q, S))


def allreduce_even_cut(facts: Facts) -> float:
    """Allreduce between groups by even_cut."""
    larger, smaller = max(facts.p, facts.q), min(facts.p, facts.q)
    starts = ceil_div(larger, smaller) + 2 * ceil_log2(larger) + (larger & (larger - 1) != 0)
    return starts * facts.startup_bytes + (2 - 2 / larger + 1 / smaller) * facts.nbytes


def reduce_broadcast(facts: Facts) -> float:
    """Allreduce between groups by a reduce, one message and a broadcast."""
    larger, S, m = max(facts.p, facts.q), facts.startup_bytes, facts.nbytes
    return reduce(m, larger, S) + S + m + broadcast(m, larger, S)


def allreduce_one_leader(facts: Facts) -> float:
    """Allreduce between groups by one leader of the smaller group."""
    larger, smaller, S, m = max(facts.p, facts.q), min(facts.p, facts.q), facts.startup_bytes, facts.nbytes
    return reduce(m, smaller, S) + 2 * pipeline(m, ceil_log2(larger + 1) - 1, S) + broadcast(m, smaller, S)


def reduce_scatter_even_cut(facts: Facts) -> float:
    """Reduce_scatter(_block) between groups by even_cut: pieces are reduced in both groups and sent to their owners."""
    larger, smaller, S, m = max(facts.p, facts.q), min(facts.p, facts.q), facts.startup_bytes, _operand(facts)
    counts = 0 if facts.operation == "reduce_scatter_block" else S + 8 * larger + broadcast(8 * larger, smaller, S)
    reduction = max(_reduce_scatter(m, larger, S), _reduce_scatter(m, smaller, S))
    return reduction + ceil_div(larger, smaller) * S + m / smaller + counts


def reduce_then_scatter(facts: Facts) -> float:
    """Reduce_scatter(_block) between groups by a reduce, one message and a scatter."""
    larger, S, m = max(facts.p, facts.q), facts.startup_bytes, _operand(facts)
    return reduce(m, larger, S) + S + m + _scatterv(m, larger, S)


def reduce_scatter_one_leader(facts: Facts) -> float:
    """Reduce_scatter(_block) between groups by one leader: a segmented chain through the larger group, then a scatter."""
    larger, smaller, S, m = max(facts.p, facts.q), min(facts.p, facts.q), facts.startup_bytes, _operand(facts)
    counts = 0 if facts.operation == "reduce_scatter_block" else S + 8 * larger
    pieces = max(1, int(sqrt(m / ((larger + 1) * S))))
    rounds = pieces * (larger + 1) + larger - 1
    return reduce(m, smaller, S) + counts + rounds * (S + m / (pieces * larger)) + _scatterv(m, smaller, S)


def _operand(facts: Facts) -> float:
    return facts.nbytes * (facts.p if facts.operation == "reduce_scatter_block" else 1)


def _reduce_scatter(nbytes: float, p: int, startup_bytes: int) -> float:
    """Reduce_scatter of nearly equal pieces, by halving or a ring."""
    odd = p & (p - 1) != 0
    halved = (ceil_log2(p) + odd) * startup_bytes + (1 - 1 / p + odd) * nbytes
    return min(halved, (p - 1) * (startup_bytes + nbytes / p))


def _scatterv(nbytes: float, p: int, startup_bytes: int) -> float:
    """Scatterv of nearly equal blocks, by a tree."""
    return ceil_log2(p) * startup_bytes + nbytes * (p - 1) / p


def bruck_on_union(facts: Facts) -> float:
    """Alltoall between groups by Bruck's algorithm on their union; the number of blocks is fitted to the group sizes."""
    larger, smaller = max(facts.p, facts.q), min(facts.p, facts.q)
    rounds, alike = ceil_log2(facts.p + facts.q), min(1, 2 * smaller / larger)
    blocks = max(rounds * larger * (0.34 + 0.26 * alike), larger + 1)
    return rounds * facts.startup_bytes + blocks * max(facts.nbytes, facts.nbytes_b)


def pairwise(facts: Facts) -> float:
    """Alltoall between groups by pairwise exchange."""
    return max(facts.p, facts.q) * (facts.startup_bytes + max(facts.nbytes, facts.nbytes_b))
