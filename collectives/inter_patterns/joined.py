"""The root and the whole other group as one communicator: the leaves keep their numbers, the root is last.

Rooted operations between groups are then operations within one group of q + 1 ranks, where the root has no block. The
other ranks of the root's group are idle. Messages between leaves use their local communicator, all others the
intercommunicator.

A message that is cut into n segments and makes n + h hops takes (n + h) (t_s + m/n t_w), which is least for n^2 = h m t_w
/ t_s. One number of the machine therefore determines the best segment size of every message: `startup_bytes` = t_s / t_w,
the number of bytes that are transferred in the time of one start-up.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Final

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import any_case, positive
from collectives.catalogue.schedule import Seconds
from collectives.inter_patterns.groups import GroupPart, RootRole, part_claims
from collectives.inter_patterns.union import Routed
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm, Intercomm

STARTUP_BYTES = 1000
"""One microsecond at one gigabyte per second."""


class Joined(Routed):
    """Rank q is the root, which passes `RootRole.ROOT`; ranks 0 .. q-1 are the leaves, which pass the root's rank."""

    def __init__(self, inter: Intercomm, local: Comm, root: RootRole | int) -> None:
        self._inter = inter
        self._local = local
        self._root = root
        self._leaves = inter.Get_remote_size() if isinstance(root, RootRole) else local.Get_size()

    def Get_rank(self) -> int:
        return self._leaves if isinstance(self._root, RootRole) else self._local.Get_rank()

    def Get_size(self) -> int:
        return self._leaves + 1

    def _route(self, rank: int) -> tuple[Comm, int]:
        if isinstance(self._root, RootRole):
            return self._inter, rank
        return (self._local, rank) if rank < self._leaves else (self._inter, self._root)


def segment_bytes(nbytes: int, hops: int, startup_bytes: int) -> int:
    """The best segment length if the number of hops exceeds the number of segments by `hops`.

    >>> segment_bytes(10**6, 4, 1000), segment_bytes(100, 4, 1000), segment_bytes(0, 4, 1000), segment_bytes(9, 0, 1000)
    (15811, 100, 1, 9)
    """
    whole = max(1, nbytes)
    return min(whole, max(1, isqrt(whole * startup_bytes // hops))) if hops else whole


def tree_hops(leaves: int) -> int:
    """Hops to the last leaf beyond the first hop, if the number of ranks with the message doubles in every round.

    >>> [tree_hops(leaves) for leaves in (1, 2, 3, 4)]
    [0, 1, 1, 2]
    """
    return ceil_log2(leaves + 1) - 1


# Claims --------------------------------------------------------------------------------------------------------------


def process_numbers(case: Case) -> list[int]:
    """The process numbers: B, then the root."""
    return [*range(case.p, case.ranks), case.root]


positive_startups_only: Final = positive("startup_bytes")


def joined_claims(
    part: Callable[[Case], GroupPart],
    why_unsupported: Callable[[Case], str | None] = any_case,
    *,
    synchronous: bool = False,
) -> Claims:
    """The claims of a part that only the root and the leaves run; `synchronous` on an `Unbuffered` communicator."""

    def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        algorithm, plain, _ = part(case)
        return algorithm.time(plain, t_s, t_w)

    claims = part_claims(lambda case: [part(case)], why_unsupported=why_unsupported, synchronous=synchronous)
    return claims | Claims(closed_time=closed_time)
