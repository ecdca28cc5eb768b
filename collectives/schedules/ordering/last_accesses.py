"""Whether all accesses to the same bytes are ordered by dependencies of the rank, from the last accesses to each byte.

The steps are visited in an order in which they can start. A step is not compared with all earlier accesses to its bytes, but
only with the last write and with the last reads of each chain since then: what precedes one of these precedes the step, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collectives.schedules.ordering.chains import Chains
from collectives.schedules.step import UNKNOWN, Range

MAX_VISITS = 5_000_000
"""Upper limit of visits of a part of a buffer, for each buffer: about a second."""

Access = tuple[Range, int, bool]
"""Where, by which step, and whether it writes."""


def are_ordered(accesses: Sequence[Access], chains: Chains, order: Sequence[int]) -> bool:
    """Whether any two steps that access the same bytes are ordered, if one of them writes."""
    place = {index: place for place, index in enumerate(order)}
    groups = (sorted(group, key=lambda access: place[access[1]]) for group in by_buffer(accesses))
    return all(_in_one_buffer(group, chains) for group in groups)


def by_buffer(accesses: Iterable[Access]) -> Iterable[list[Access]]:
    """The accesses to each known buffer."""
    groups: dict[str, list[Access]] = {}
    for access in accesses:
        if access[0].buffer != UNKNOWN:
            groups.setdefault(access[0].buffer, []).append(access)
    return groups.values()


def _in_one_buffer(accesses: Sequence[Access], chains: Chains) -> bool:
    """Compare accesses to a buffer, which is cut where one of them starts or ends. False if there are too many parts."""
    cuts = sorted({place for where, _, _ in accesses for place in (where.offset, where.stop)})
    number = {cut: part for part, cut in enumerate(cuts)}
    written = [-1] * len(cuts)  # the step that wrote a part last
    read: list[dict[int, int]] = [{} for _ in cuts]  # by chain, the step that read it last
    chain, position = chains.chain.tolist(), chains.position.tolist()
    visits = 0
    for where, index, is_write in accesses:
        clock = chains.clocks[index]
        visits += number[where.stop] - number[where.offset]
        if visits > MAX_VISITS:
            return False
        known = {-1, index}  # steps that end before this one starts, or are this one
        for part in range(number[where.offset], number[where.stop]):
            for other in (written[part], *read[part].values()) if is_write else (written[part],):
                if other not in known:
                    if clock[chain[other]] < 2 * position[other] + 1:
                        return False
                    known.add(other)
            if is_write:
                written[part] = index
                read[part].clear()
            else:
                read[part][chain[index]] = index
    return True
