"""Splits that sort: an item of everybody, a sort, and what `regroup` makes of it; or everybody sees all items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.chain.chain import NOBODY, Chain, chain_of
from collectives.chain.items import Compares, Format, Widths, agree, left_out, owner
from collectives.chain.meter import Meter, Work
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
    work: Work,
    meter: Meter,
    tag: int,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour."""
    chain = chain_of(group, tag)
    form = agree(chain, color, key, compare, widths)
    item = form.write(color, key, chain.rank, chain.address)
    found = sort(chain, item, order=form.order, work=work, meter=meter)
    return regroup(chain, found, form, color, meter)


def holds_by_sort(sort: Algorithm, case: Case) -> int:
    """`holds` of a split by a sort: what the sort holds, and `regroup` holds 3 items after it."""
    return max(3, sort.held(case) or 0)


def look_up(chain: Chain, items: Sequence[bytes], item: bytes, form: Format, color: Any, work: Work) -> Chain | None:
    """The same for one that sees all items: take those of the own group, sort them, and look at the neighbours."""
    end = 1 + form.color.nbytes
    if form.color.compare is None:
        group = [each for each in items if each.startswith(item[:end])]
    else:
        group = [each for each in items if form.together(each, item)]
    group.sort(key=form.order)
    if work is not None:
        work(len(items) + len(group) * ceil_log2(len(group)))
    if left_out(color):
        return None
    rank, size = group.index(item), len(group)
    left = owner(group[rank - 1]) if rank else NOBODY
    right = owner(group[rank + 1]) if rank + 1 < size else NOBODY
    return Chain(chain.comm, rank, size, chain.address, left, right, chain.tag)
