"""Message costs that depend on the sender, for heterogeneous machines or links.

A sender is busy while it sends n bytes, and the receiver is busy for the same time (Banikazemi et al. 1998). Trees depend
only on ratios of costs, so any unit may be used.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

Costs: TypeAlias = float | Sequence[float | tuple[float, float]]
"""The cost of sending a message: a number for all ranks, or one entry per rank.

An entry is a number, or a pair (t_s, t_w) that stands for t_s + n t_w for n bytes.
"""


def unsupported_costs(costs: Costs, p: int) -> str | None:
    """Reason why `costs` are not valid costs of p ranks, or None.

    >>> unsupported_costs([1, (2, 3)], 2), unsupported_costs([1], 2), unsupported_costs(-1, 2)
    (None, 'costs has 1 entry, but p = 2', 'costs of rank 0 are -1, but must not be negative')
    >>> unsupported_costs([1, (2, 3, 4)], 2)
    'costs of rank 1 are (2, 3, 4), but must be a number or a pair (t_s, t_w)'
    """
    return _unsupported(hashable(costs), p)


@lru_cache(maxsize=64)
def _unsupported(costs: Any, p: int) -> str | None:
    """The cached part of `unsupported_costs`: in an emulation every rank calls it with the same arguments."""
    by_rank = _by_rank(costs, p)
    if len(by_rank) != p:
        return f"costs has {len(by_rank)} {'entry' if len(by_rank) == 1 else 'entries'}, but p = {p}"
    for rank, cost in enumerate(by_rank):
        if not _is_number(cost) and len(cost) != 2:
            return f"costs of rank {rank} are {cost}, but must be a number or a pair (t_s, t_w)"
        if not all(number >= 0 for number in ([cost] if _is_number(cost) else cost)):  # also rejects NaN
            return f"costs of rank {rank} are {cost}, but must not be negative"
    return None


def send_times(costs: Costs, p: int, nbytes: int) -> tuple[Any, ...]:
    """Time that each of p ranks needs to send `nbytes` bytes.

    >>> send_times(3, 2, 10), send_times([3, (4, 1)], 2, 10)
    ((3, 3), (3, 14))
    """
    return tuple(cost if _is_number(cost) else cost[0] + nbytes * cost[1] for cost in _by_rank(costs, p))


def hashable(costs: Costs) -> Hashable:
    """The costs as a hashable key: lists become tuples.

    A hashable tuple is returned unchanged, because every rank calls this function and a copy takes O(p) time.
    """
    if _is_number(costs):
        return costs
    if isinstance(costs, tuple):
        try:
            hash(costs)
        except TypeError:  # contains a list
            pass
        else:
            return costs
    return tuple(cost if _is_number(cost) else tuple(cost) for cost in _by_rank(costs, 0))


def _by_rank(costs: Any, p: int) -> Sequence[Any]:
    """Return one entry per rank: a single number is repeated p times."""
    return [costs] * p if _is_number(costs) else costs


def _is_number(cost: Any) -> bool:
    return not hasattr(cost, "__len__")
