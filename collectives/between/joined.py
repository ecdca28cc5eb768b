"""The root and the whole other group as one communicator: the leaves keep their numbers, the root comes after them.

Rooted operations between groups are then those of one group of q + 1 ranks, where the root has no block of its own. The
ranks beside the root have no part. Messages between leaves go through their local communicator, all others through the one
between the groups.

A message that is cut into n segments and makes n + h hops takes (n + h) (t_s + m/n t_w), least for n^2 = h m t_w / t_s. So a
machine says with one number how to cut any message: `startup_bytes`, what travels while a message starts, t_s / t_w.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

from collectives.between.groups import Part, Placed, beside, misfit, scratch_in, sent_in
from collectives.between.union import Routed
from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Seconds
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm, Intercomm

STARTUP_BYTES = 1000
"""A microsecond at a gigabyte a second."""


class Joined(Routed):
    """Rank q is the root, which says `Part.ROOT`; ranks 0 .. q-1 are the leaves, which name its rank over there."""

    def __init__(self, inter: Intercomm, local: Comm, root: Part | int) -> None:
        self._inter = inter
        self._local = local
        self._root = root
        self._leaves = inter.Get_remote_size() if isinstance(root, Part) else local.Get_size()

    def Get_rank(self) -> int:
        return self._leaves if isinstance(self._root, Part) else self._local.Get_rank()

    def Get_size(self) -> int:
        return self._leaves + 1

    def _way(self, rank: int) -> tuple[Comm, int]:
        if isinstance(self._root, Part):
            return self._inter, rank
        return (self._local, rank) if rank < self._leaves else (self._inter, self._root)


def segment_bytes(nbytes: int, hops: int, startup_bytes: int) -> int:
    """The best length of a segment where the first one makes so many hops more than there are segments.

    >>> segment_bytes(10**6, 4, 1000), segment_bytes(100, 4, 1000), segment_bytes(0, 4, 1000), segment_bytes(9, 0, 1000)
    (15811, 100, 1, 9)
    """
    whole = max(1, nbytes)
    return min(whole, max(1, isqrt(whole * startup_bytes // hops))) if hops else whole


def in_a_tree(leaves: int) -> int:
    """Hops beyond the first where what is known doubles: of the last to hear from the root.

    >>> [in_a_tree(leaves) for leaves in (1, 2, 3, 4)]
    [0, 1, 1, 2]
    """
    return ceil_log2(leaves + 1) - 1


# On paper ------------------------------------------------------------------------------------------------------------


def numbers(case: Case) -> list[int]:
    """The processes on paper: B, then the root."""
    return [*range(case.p, case.ranks), case.root]


def positive_startups_only(case: Case) -> str | None:
    """`fits` of what cuts its messages so."""
    size = case.parameters.get("startup_bytes", STARTUP_BYTES)
    return None if size > 0 else f"startup_bytes = {size} is not positive"


def joined_claims(part: Callable[[Case], Placed]) -> Claims:
    """The claims of a part that the root and the leaves run by themselves."""

    def closed_rounds(case: Case) -> int | None:
        algorithm, plain, _ = part(case)
        return algorithm.rounds(plain)

    def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        algorithm, plain, _ = part(case)
        return algorithm.time(plain, t_s, t_w)

    return Claims(
        schedule=lambda case: beside([part(case)]),
        fits=lambda case: misfit([part(case)]),
        scratch=lambda case, rank: scratch_in([part(case)], rank),
        closed_rounds=closed_rounds,
        closed_sent=lambda case, rank: sent_in([part(case)], rank),
        closed_time=closed_time,
    )
