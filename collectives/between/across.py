"""Everybody has a block for every rank of the other group: the common text of the alltoalls between groups.

All sends and receives are started at once: the receives first in the larger group, or by `first`, and the sends first in the
other, since Silva & Silva hoped for less contention. The result is the same, so groups of one size that were not told both
start with their receives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collectives.between.groups import comes_first, place
from collectives.catalogue.algorithm import Case
from collectives.tools.messages import is_empty, wait_all
from collectives.tools.protocol import Intercomm


def swap(
    inter: Intercomm, outgoing: Callable[[int], Any], incoming: Callable[[int], Any], first: bool | None, tag: int
) -> None:
    """Start everything, with the partners in an order that differs from rank to rank, and wait."""
    p, q, rank = inter.Get_size(), inter.Get_remote_size(), inter.Get_rank()
    sources = [((rank - i) % q, incoming((rank - i) % q)) for i in range(q)]
    dests = [((rank + i) % q, outgoing((rank + i) % q)) for i in range(q)]
    receives = [(inter.Irecv, block, other) for other, block in sources if not is_empty(block)]
    sends = [(inter.Isend, block, other) for other, block in dests if not is_empty(block)]
    sends_first = comes_first((p, 0), (q, 0), first) is False
    started = [*sends, *receives] if sends_first else [*receives, *sends]
    wait_all([start(block, other, tag) for start, block, other in started])


def bytes_sent(case: Case, rank: int) -> int:
    """All blocks of a rank: each travels once."""
    in_a, own = place(case, rank)
    traffic, each, others = (case.traffic, case.m, case.q) if in_a else (case.traffic_b, case.m_b, case.p)
    return each * others if traffic is None else sum(traffic[own]) * case.itemsize
