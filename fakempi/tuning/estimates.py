"""About how long algorithms take, for rules that depend on more than one limit can say: in bytes, that is, in t_w.

A start-up is S = `startup_bytes` of them. These are the algorithms' closed forms, with parts and segments as the default
table has them; where an algorithm has no closed form, an upper bound that is near it.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

from collectives.tools.numbers import ceil_div, ceil_log2
from fakempi.tuning.rule import Facts, Sizes


def piped(nbytes: float, hops: float, startup_bytes: int) -> float:
    """A message in segments of the best size that makes so many hops more than it has segments: (sqrt m + sqrt(h S))^2."""
    return (sqrt(nbytes) + sqrt(max(0, hops) * startup_bytes)) ** 2 + startup_bytes


def broadcast(nbytes: float, p: int, startup_bytes: int) -> float:
    """By a binomial tree, or on a circulant graph; nothing, if there is nobody else."""
    rounds = ceil_log2(p)
    return min(rounds * (startup_bytes + nbytes), piped(nbytes, rounds - 1, startup_bytes))


def growing_runs(facts: Facts) -> float:
    """Allgatherv by Bruck's algorithm: in every round the longest run of blocks there is."""
    rounds = ceil_log2(facts.p) * facts.startup_bytes
    return rounds + (facts.nbytes - facts.block if facts.sizes is None else facts.sizes.runs)


def blocked_ring(facts: Facts) -> float:
    """Allgatherv by a blocked ring, with blocks by the square root: m/B + (p + z - 2)/2 rounds of S + B, z ranks empty."""
    empty, smallest = (0, facts.block) if facts.sizes is None else (facts.sizes.empty, facts.sizes.smallest)
    whole = (facts.p - 1) * facts.startup_bytes + facts.nbytes - smallest
    return max(whole, piped(facts.nbytes, (facts.p + empty - 2) / 2, facts.startup_bytes))


def by_rank_0(facts: Facts) -> float:
    """Allgatherv by gatherv and broadcast: what rank 0 lacks, and everything."""
    return _to_or_from_root(facts) + broadcast(facts.nbytes, facts.p, facts.startup_bytes)


def around(facts: Facts) -> float:
    """Reduce_scatter by a ring: every round costs the largest block."""
    return (facts.p - 1) * (facts.startup_bytes + _largest(facts))


def halving(facts: Facts) -> float:
    """Reduce_scatter by recursive halving: runs of blocks as they grow, read backwards; p is made a power of two first."""
    folded = 0 if facts.p & (facts.p - 1) == 0 else facts.nbytes + _largest(facts) + facts.startup_bytes
    return growing_runs(facts) + folded


def by_root(facts: Facts) -> float:
    """Reduce_scatter by reduce and scatterv."""
    return reduced(facts.nbytes, facts.p, facts.startup_bytes) + _to_or_from_root(facts)


def _to_or_from_root(facts: Facts) -> float:
    """Gatherv or scatterv, in one hop each or by a tree, with rank 0 as the root."""
    return min(by_tree(facts), one_by_one(facts))


def one_by_one(facts: Facts) -> float:
    """Every block straight to the root, or from it."""
    if facts.sizes is None:
        return (facts.p - 1) * (facts.startup_bytes + facts.block)
    sizes = facts.sizes
    senders = facts.p - sizes.empty - (1 if sizes.first else 0)
    return senders * facts.startup_bytes + facts.nbytes - sizes.first


def by_tree(facts: Facts) -> float:
    """Up or down a binomial tree; exact."""
    sizes, S = facts.sizes, facts.startup_bytes
    return ceil_log2(facts.p) * S + facts.nbytes - facts.block if sizes is None else _gathered(sizes, S)


@lru_cache(maxsize=64)
def _gathered(sizes: Sizes, startup_bytes: int) -> int:
    """When rank 0 has all. O(p), and once for all ranks of a call."""
    nbytes, ready, skip = list(sizes.all), [0] * len(sizes.all), 1
    while skip < len(nbytes):
        for parent in range(0, len(nbytes) - skip, 2 * skip):
            child = parent + skip
            if nbytes[child]:
                ready[parent] = max(ready[parent], ready[child]) + startup_bytes + nbytes[child]
                nbytes[parent] += nbytes[child]
        skip *= 2
    return ready[0]


def reduced(nbytes: float, p: int, startup_bytes: int) -> float:
    """By a binomial tree, Rabenseifner's way, or a chain."""
    rounds, odd = ceil_log2(p), p & (p - 1) != 0
    ways = rounds * (startup_bytes + nbytes), 2 * rounds * startup_bytes + (2 + odd) * nbytes
    return min(*ways, piped(nbytes, p - 2, startup_bytes))


def _largest(facts: Facts) -> float:
    return facts.block if facts.sizes is None else facts.sizes.largest


def across(facts: Facts) -> float:
    """Allgather between groups by an even cut or full duplex: one of the smaller group talks to many, then both gather."""
    (q, k_b), (p, k_a) = sorted(((facts.p, facts.nbytes), (facts.q, facts.nbytes_b)))
    starts = ceil_div(p, q) + ceil_log2(p)
    return starts * facts.startup_bytes + max(p * k_a, q * k_b) + k_b * (p - 1) // p


def across_whole(facts: Facts) -> float:
    """The same with blocks that are not cut: sets of as many ranks as the smaller group has gather."""
    (q, k_b), (p, k_a) = sorted(((facts.p, facts.nbytes), (facts.q, facts.nbytes_b)))
    c = ceil_div(p, q)
    return (c + ceil_log2(q)) * facts.startup_bytes + c * max(k_a, k_b) + max((q - 1) * k_b, (p - p // q) * k_a)


def by_both_roots(facts: Facts) -> float:
    """Allgather between groups by root gathering: a gather, one message, a broadcast; in both groups at once."""
    S, groups = facts.startup_bytes, ((facts.p, facts.p * facts.nbytes), (facts.q, facts.q * facts.nbytes_b))
    (p, a), (q, b) = groups
    gathered = max(ceil_log2(size) * S + total * (size - 1) // size for size, total in groups)
    return gathered + S + max(a, b) + max(broadcast(b, p, S), broadcast(a, q, S))


def in_pieces(facts: Facts) -> float:
    """Allreduce between groups by an even cut."""
    larger, smaller = max(facts.p, facts.q), min(facts.p, facts.q)
    starts = ceil_div(larger, smaller) + 2 * ceil_log2(larger) + (larger & (larger - 1) != 0)
    return starts * facts.startup_bytes + (2 - 2 / larger + 1 / smaller) * facts.nbytes


def reduced_and_broadcast(facts: Facts) -> float:
    """Allreduce between groups by a reduce, one message and a broadcast."""
    larger, S, m = max(facts.p, facts.q), facts.startup_bytes, facts.nbytes
    return reduced(m, larger, S) + S + m + broadcast(m, larger, S)


def one_led(facts: Facts) -> float:
    """Allreduce between groups by one leader of the smaller group."""
    larger, smaller, S, m = max(facts.p, facts.q), min(facts.p, facts.q), facts.startup_bytes, facts.nbytes
    return reduced(m, smaller, S) + 2 * piped(m, ceil_log2(larger + 1) - 1, S) + broadcast(m, smaller, S)


def delivered(facts: Facts) -> float:
    """Reduce_scatter(_block) between groups by an even cut: pieces are reduced in both groups, and go to their owners."""
    larger, smaller, S, m = max(facts.p, facts.q), min(facts.p, facts.q), facts.startup_bytes, _operand(facts)
    told = 0 if facts.operation == "reduce_scatter_block" else S + 8 * larger + broadcast(8 * larger, smaller, S)
    return max(_cut(m, larger, S), _cut(m, smaller, S)) + ceil_div(larger, smaller) * S + m / smaller + told


def reduced_and_scattered(facts: Facts) -> float:
    """The same by a reduce, one message and a scatter."""
    larger, S, m = max(facts.p, facts.q), facts.startup_bytes, _operand(facts)
    return reduced(m, larger, S) + S + m + _dealt(m, larger, S)


def dealt_by_one(facts: Facts) -> float:
    """The same by one leader of the smaller group: up a chain of the larger one in segments, and down to each rank."""
    larger, smaller, S, m = max(facts.p, facts.q), min(facts.p, facts.q), facts.startup_bytes, _operand(facts)
    told = 0 if facts.operation == "reduce_scatter_block" else S + 8 * larger
    pieces = max(1, int(sqrt(m / ((larger + 1) * S))))
    rounds = pieces * (larger + 1) + larger - 1
    return reduced(m, smaller, S) + told + rounds * (S + m / (pieces * larger)) + _dealt(m, smaller, S)


def _operand(facts: Facts) -> float:
    return facts.nbytes * (facts.p if facts.operation == "reduce_scatter_block" else 1)


def _cut(nbytes: float, p: int, startup_bytes: int) -> float:
    """Reduce_scatter of nearly equal pieces, by halving or a ring."""
    odd = p & (p - 1) != 0
    halved = (ceil_log2(p) + odd) * startup_bytes + (1 - 1 / p + odd) * nbytes
    return min(halved, (p - 1) * (startup_bytes + nbytes / p))


def _dealt(nbytes: float, p: int, startup_bytes: int) -> float:
    """Scatterv of nearly equal blocks, by a tree."""
    return ceil_log2(p) * startup_bytes + nbytes * (p - 1) / p


def as_one_group(facts: Facts) -> float:
    """Alltoall between groups by Bruck's algorithm on both as one: about so many blocks, as the sizes of groups differ."""
    larger, smaller = max(facts.p, facts.q), min(facts.p, facts.q)
    rounds, alike = ceil_log2(facts.p + facts.q), min(1, 2 * smaller / larger)
    blocks = max(rounds * larger * (0.34 + 0.26 * alike), larger + 1)
    return rounds * facts.startup_bytes + blocks * max(facts.nbytes, facts.nbytes_b)


def in_pairs(facts: Facts) -> float:
    """Alltoall between groups in rounds of pairs."""
    return max(facts.p, facts.q) * (facts.startup_bytes + max(facts.nbytes, facts.nbytes_b))
