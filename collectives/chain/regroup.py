"""After a sort: where groups begin and end, who is whose neighbour, and a message back to each item's owner."""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.chain.chain import NOBODY, Chain
from collectives.chain.items import Format, left_out, owner
from collectives.chain.meter import Meter
from collectives.chain.scan import double_scan


def regroup(chain: Chain, item: bytes, form: Format, color: Any, meter: Meter) -> Chain | None:
    """The chain of the own group, given the item that the sort has brought here; None for one without a colour."""
    meter.take(3)
    left, right = swap_with_neighbours(chain, item)
    first = left is None or not form.together(left, item)
    last = right is None or not form.together(item, right)
    left_address = NOBODY if first or left is None else owner(left)
    right_address = NOBODY if last or right is None else owner(right)
    before, after = count_in_segments(chain, first, last)
    news = np.array([before - 1, before + after - 1, left_address, right_address], np.int32)
    rank, size, left_address, right_address = (int(one) for one in send_back(chain, owner(item), news))
    meter.drop(3)
    if left_out(color):
        return None
    return Chain(chain.comm, rank, size, chain.address, left_address, right_address, chain.tag)


def swap_with_neighbours(chain: Chain, item: bytes) -> tuple[bytes | None, bytes | None]:
    """The neighbours' items."""
    comm, tag, left, right = chain.comm, chain.tag, chain.left, chain.right
    mine = np.frombuffer(item, np.uint8)
    from_left, from_right = np.empty(len(item), np.uint8), np.empty(len(item), np.uint8)
    if left >= 0 and right >= 0:
        comm.Sendrecv(mine, right, tag, from_left, left, tag)
        comm.Sendrecv(mine, left, tag, from_right, right, tag)
    elif right >= 0:
        comm.Send(mine, right, tag)
        comm.Recv(from_right, right, tag)
    elif left >= 0:
        comm.Recv(from_left, left, tag)
        comm.Send(mine, left, tag)
    return from_left.tobytes() if left >= 0 else None, from_right.tobytes() if right >= 0 else None


def count_in_segments(chain: Chain, first: bool, last: bool) -> tuple[int, int]:
    """How many of the own segment are up to this rank and how many are from this rank on: `segmented_double_scan` of ones.

    The first number of each pair says whether the segment's end has been reached. Every split that sorts comes by here,
    and this takes half as long.
    """
    before, after = double_scan(
        chain,
        np.array([first, 1], np.int32),
        np.array([last, 1], np.int32),
        lambda a, b: b if b[0] else a + b,
        lambda a, b: a if a[0] else a + b,
    )
    return int(before[1]), int(after[1])


def send_back(chain: Chain, dest: int, news: Any) -> Any:
    """Send `news` to one process, and get some from the one that has news for this one, whoever that is.

    It has a tag of its own, the next one: the neighbours' next messages may come before it.
    """
    if dest == chain.address:
        return news
    comm: Any = chain.comm  # a receive that does not name its sender is not in the protocol: it is needed only here
    request = comm.Isend(news, dest, chain.tag + 1)
    got = np.empty_like(news)
    comm.Recv(got, tag=chain.tag + 1)
    request.Wait()
    return got
