"""Circulant graphs with halving skips, and the round-optimal broadcast schedules on them (Träff).

With q = ceil(log2 p) the skips are s_q = p, s_k = ceil(s_(k+1) / 2), down to s_0 = 1. In round k every rank sends to r +
s_k and receives from r - s_k (mod p). Every r > 0 is a sum of distinct skips, found greedily from the largest; the index
of the last one is its *baseblock*: the first block that reaches r when rank 0 sends blocks 0, 1, 2, ...

`receive_blocks` returns the block that r receives in each of q consecutive rounds. Negative numbers count back: -1 is the
last block that the root sent before these rounds. The schedule is correct under three conditions, which the tests check
for every p: r receives q different blocks; they are the blocks of the last q rounds, except that its baseblock is a new
one; and r has received the block that it sends in round k in an earlier round, or it is its baseblock of the previous q
rounds.

In round k the new blocks of the sender come from the ranks between r - s_(k+1) and r - s_k, and r takes the largest
baseblock there that it has not taken yet; the ranks are found as sums of skips, largest skips first. A rank that was
found before is not used again for another sum that leads to it; without this rule the schedule is wrong from p = 33 on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from collectives.tools.numbers import ceil_log2


def skips(p: int) -> list[int]:
    """The skips s_0 .. s_q.

    >>> skips(17), skips(1)
    ([1, 2, 3, 5, 9, 17], [1])
    """
    result = [p]
    for _ in range(ceil_log2(p)):
        result.append((result[-1] + 1) // 2)
    return result[::-1]


def baseblock(r: int, p: int) -> int:
    """The index of the last skip in the greedy sum for 0 < r < p.

    >>> [baseblock(r, 17) for r in range(1, 17)]
    [0, 1, 2, 0, 3, 0, 1, 2, 4, 0, 1, 2, 0, 3, 0, 1]
    """
    steps = skips(p)
    rest = r
    for k in reversed(range(len(steps))):
        if rest == steps[k]:
            return k
        if rest > steps[k]:
            rest -= steps[k]
    raise ValueError(f"rank {r} is not in 1 .. {p - 1}")


# Cached, because an emulation runs all ranks in one process, and q + 1 of them need the same result.
@lru_cache(maxsize=1 << 17)
def receive_blocks(r: int, p: int) -> tuple[int, ...]:
    """The block that relative rank r > 0 receives from r - s_k in round k = 0 .. q-1.

    >>> receive_blocks(9, 17)
    (-3, -4, -2, -5, 4)
    """
    steps = skips(p)
    q, base = len(steps) - 1, baseblock(r, p)
    unused = [k != base for k in range(q + 1)]
    indices: list[int] = []
    latest = r + p

    def search(here: int, last: int) -> None:
        """Search for the next blocks at `here`, reached by skip `last`, and beyond it by smaller skips."""
        nonlocal latest
        for step in reversed(range(last)):
            if len(indices) == q or here > r + p - steps[len(indices) + 1]:
                break
            if unused[step]:
                search(here + steps[step], step)
        if len(indices) < q and r + p - steps[len(indices) + 1] <= here <= r + p - steps[len(indices)] and here < latest:
            indices.append(last)
            unused[last] = False
            latest = here

    search(0, q + 1)
    return tuple(base if k == q else k - q for k in indices)


def send_blocks(r: int, p: int) -> tuple[int, ...]:
    """The block that relative rank r sends to r + s_k in round k = 0 .. q-1; no block is sent to the root, r = 0.

    >>> send_blocks(0, 17), send_blocks(9, 17)
    ((0, 1, 2, 3, 4), (-1, -1, -1, -1, -1))
    """
    targets = [(r + skip) % p for skip in skips(p)[:-1]]
    return tuple(receive_blocks(target, p)[k] if target else -1 for k, target in enumerate(targets))


def rounds(n: int, p: int) -> Iterator[tuple[int, int]]:
    """For each round of n blocks, its number k within its group of q rounds, and the offset of the group's block numbers.

    >>> list(rounds(2, 4))
    [(1, -1), (0, 1), (1, 1)]
    """
    q = ceil_log2(p)
    early = -(n - 1) % q
    for i in range(early, early + n - 1 + q):
        yield i % q, i // q * q - early
