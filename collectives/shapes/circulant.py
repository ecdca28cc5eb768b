"""Circulant graphs with halving skips, and the round-optimal schedules on them (Träff).

With q = ceil(log2 p) the skips are s_q = p, s_k = ceil(s_(k+1) / 2), down to s_0 = 1. In round k everybody sends to
r + s_k and receives from r - s_k (mod p). Every r > 0 is a sum of distinct skips, found greedily from the largest;
the index of the last one is its *baseblock*: the first block that reaches r when rank 0 sends out blocks 0, 1, 2, ...

`receive_blocks` says which block r receives in each of q consecutive rounds. Negative numbers count back: -1 is the
last block that the root sent before these rounds. Three conditions make it work, and the tests check them for every p:
r receives q different blocks, all those of the last q rounds except that its baseblock is a fresh one; and what r sends
on in round k it has received in an earlier round, or it is its baseblock of the q rounds before.

In round k the sender's news stem from the ranks between r - s_(k+1) and r - s_k, and r takes the largest baseblock
there that it has not taken yet; the ranks are found as sums of skips, largest skips first. A rank that was found before
is not taken again for another sum that leads to it; without this the schedule is wrong from p = 33 on.
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
    found = [p]
    for _ in range(ceil_log2(p)):
        found.append((found[-1] + 1) // 2)
    return found[::-1]


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


# One process may stand for all ranks of a large machine: each schedule is then asked for by q + 1 of them.
@lru_cache(maxsize=1 << 17)
def receive_blocks(r: int, p: int) -> tuple[int, ...]:
    """Which block relative rank r > 0 receives from r - s_k in round k = 0 .. q-1.

    >>> receive_blocks(9, 17)
    (-3, -4, -2, -5, 4)
    """
    steps = skips(p)
    q, base = len(steps) - 1, baseblock(r, p)
    unused = [k != base for k in range(q + 1)]
    found: list[int] = []
    latest = r + p

    def walk(here: int, last: int) -> None:
        """Look for the next blocks at `here`, reached by skip `last`, and beyond it by smaller skips."""
        nonlocal latest
        for step in reversed(range(last)):
            if len(found) == q or here > r + p - steps[len(found) + 1]:
                break
            if unused[step]:
                walk(here + steps[step], step)
        if len(found) < q and r + p - steps[len(found) + 1] <= here <= r + p - steps[len(found)] and here < latest:
            found.append(last)
            unused[last] = False
            latest = here

    walk(0, q + 1)
    return tuple(base if k == q else k - q for k in found)


def send_blocks(r: int, p: int) -> tuple[int, ...]:
    """Which block relative rank r sends to r + s_k in round k = 0 .. q-1; the root, r = 0, is sent nothing.

    >>> send_blocks(0, 17), send_blocks(9, 17)
    ((0, 1, 2, 3, 4), (-1, -1, -1, -1, -1))
    """
    targets = [(r + skip) % p for skip in skips(p)[:-1]]
    return tuple(receive_blocks(target, p)[k] if target else -1 for k, target in enumerate(targets))


def rounds(n: int, p: int) -> Iterator[tuple[int, int]]:
    """For each round of n blocks its number k within the group of q, and what to add to the group's block numbers.

    >>> list(rounds(2, 4))
    [(1, -1), (0, 1), (1, 1)]
    """
    q = ceil_log2(p)
    early = -(n - 1) % q
    for i in range(early, early + n - 1 + q):
        yield i % q, i // q * q - early
