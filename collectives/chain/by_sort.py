"""Splits that sort items: in parallel on the chain, or on every process after an allgather of all items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.chain.chain import NO_RANK, Chain, chain_of
from collectives.chain.items import Compares, ItemFormat, Widths, agree_on_format, is_undefined, owner
from collectives.chain.meter import ItemMeter, WorkCallback
from collectives.chain.regroup import regroup
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm


def split_by_sort(
    sort: Callable[..., bytes],
    group: Comm | Chain,
    color: Any,
    key: Any,
    *,
    compare: Compares,
    widths: Widths,
    work: WorkCallback,
    meter: ItemMeter,
    tag: int,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED."""
    chain = chain_of(group, tag)
    form = agree_on_format(chain, color, key, compare, widths)
    item = form.write(color, key, chain.rank, chain.address)
    sorted_item = sort(chain, item, order=form.order, work=work, meter=meter)
    return regroup(chain, sorted_item, form, color, meter)


def holds_by_sort(sort: Algorithm, case: Case) -> int:
    """`holds` of a split by a sort: the maximum of the sort's claim and the 3 items of `regroup`."""
    return max(3, sort.held(case) or 0)


def group_among_all_items(
    chain: Chain, items: Sequence[bytes], item: bytes, form: ItemFormat, color: Any, work: WorkCallback
) -> Chain | None:
    """Return the chain of the processes with this color, found by selecting and sorting the group's items locally."""
    end = 1 + form.color.nbytes
    if form.color.compare is None:
        group = [other for other in items if other.startswith(item[:end])]
    else:
        group = [other for other in items if form.same_group(other, item)]
    group.sort(key=form.order)
    if work is not None:
        work(len(items) + len(group) * ceil_log2(len(group)))
    if is_undefined(color):
        return None
    rank, size = group.index(item), len(group)
    left = owner(group[rank - 1]) if rank else NO_RANK
    right = owner(group[rank + 1]) if rank + 1 < size else NO_RANK
    return Chain(chain.comm, rank, size, chain.address, left, right, chain.tag)
