"""What a message costs, by who sends it: where machines or their links are not alike.

Whoever sends n bytes is busy with that, and whoever receives them too, for as long as the sender takes (Banikazemi et al.
1998). Trees are made from ratios alone, so any unit will do.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

Costs: TypeAlias = float | Sequence[float | tuple[float, float]]
"""A number: all are alike. Or for each rank what a message costs if it sends it, or (t_s, t_w): t_s + n t_w for n bytes."""


def misfit_of_costs(costs: Costs, p: int) -> str | None:
    """Why `costs` cannot say what p ranks take.

    >>> misfit_of_costs([1, (2, 3)], 2), misfit_of_costs([1], 2), misfit_of_costs(-1, 2)
    (None, 'costs are those of 1 ranks, and p = 2', 'costs of rank 0 are -1, and must not be negative')
    >>> misfit_of_costs([1, (2, 3, 4)], 2)
    'costs of rank 1 are (2, 3, 4), and not one number or two'
    """
    return _misfit(hashable(costs), p)


@lru_cache(maxsize=64)
def _misfit(costs: Any, p: int) -> str | None:
    """Once for all ranks of an emulation, each of which asks."""
    each = _of_ranks(costs, p)
    if len(each) != p:
        return f"costs are those of {len(each)} ranks, and p = {p}"
    for rank, cost in enumerate(each):
        if not _is_number(cost) and len(cost) != 2:
            return f"costs of rank {rank} are {cost}, and not one number or two"
        if not all(number >= 0 for number in ([cost] if _is_number(cost) else cost)):  # NaN is not, either
            return f"costs of rank {rank} are {cost}, and must not be negative"
    return None


def send_times(costs: Costs, p: int, nbytes: int) -> tuple[Any, ...]:
    """What each of p ranks takes to send so many bytes.

    >>> send_times(3, 2, 10), send_times([3, (4, 1)], 2, 10)
    ((3, 3), (3, 14))
    """
    return tuple(cost if _is_number(cost) else cost[0] + nbytes * cost[1] for cost in _of_ranks(costs, p))


def hashable(costs: Costs) -> Hashable:
    """As a key: lists as tuples. What is one already is left as it is, since every rank asks."""
    if _is_number(costs):
        return costs
    if isinstance(costs, tuple):
        try:
            hash(costs)
        except TypeError:  # a list in it
            pass
        else:
            return costs
    return tuple(cost if _is_number(cost) else tuple(cost) for cost in _of_ranks(costs, 0))


def _of_ranks(costs: Any, p: int) -> Sequence[Any]:
    return [costs] * p if _is_number(costs) else costs


def _is_number(cost: Any) -> bool:
    return not hasattr(cost, "__len__")
