"""Find the groups in a chain of sorted items, and send rank, size and neighbors to the owner of each item."""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.chain.chain import NO_RANK, Chain
from collectives.chain.items import ItemFormat, is_undefined, owner
from collectives.chain.meter import ItemMeter
from collectives.chain.scan import double_scan


def regroup(chain: Chain, item: bytes, form: ItemFormat, color: Any, meter: ItemMeter) -> Chain | None:
    """Return the chain of this process's group, given the item at this position; None if the color is UNDEFINED."""
    meter.take(3)
    left, right = swap_with_neighbors(chain, item)
    first = left is None or not form.same_group(left, item)
    last = right is None or not form.same_group(item, right)
    left_address = NO_RANK if first or left is None else owner(left)
    right_address = NO_RANK if last or right is None else owner(right)
    before, after = count_in_segments(chain, first, last)
    view = np.array([before - 1, before + after - 1, left_address, right_address], np.int32)
    rank, size, left_address, right_address = (int(number) for number in send_to_owner(chain, owner(item), view))
    meter.drop(3)
    if is_undefined(color):
        return None
    return Chain(chain.comm, rank, size, chain.address, left_address, right_address, chain.tag)


def swap_with_neighbors(chain: Chain, item: bytes) -> tuple[bytes | None, bytes | None]:
    """Return the items of the left and the right neighbor."""
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
    """Return the number of members of this segment up to this rank, and the number from this rank on.

    The result equals that of a `segmented_double_scan` of ones, but takes half the time. Every split that is based on
    sorting calls this function, so the time matters. The scanned values are pairs (whether the values so far include the end
    of the segment, number of members).
    """
    before, after = double_scan(
        chain,
        np.array([first, 1], np.int32),
        np.array([last, 1], np.int32),
        lambda a, b: b if b[0] else a + b,
        lambda a, b: a if a[0] else a + b,
    )
    return int(before[1]), int(after[1])


def send_to_owner(chain: Chain, dest: int, view: Any) -> Any:
    """Send `view` to one process, and return the one that this process receives from an unknown process.

    The tag is `chain.tag + 1`, so that the receive from any source cannot match a neighbor's next message.
    """
    if dest == chain.address:
        return view
    comm: Any = chain.comm  # the protocol has no receive from any source, which is needed only here
    request = comm.Isend(view, dest, chain.tag + 1)
    received = np.empty_like(view)
    comm.Recv(received, tag=chain.tag + 1)
    request.Wait()
    return received
