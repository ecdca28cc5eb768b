"""A group's elements in equal pieces, one for each rank of the other group: the exchange of Kang et al.'s Algorithm 2.

The elements of a group, in rank order, are cut into nearly equal pieces, one for each rank of the other group. A rank
sends each rank of the other group the intersection of its block with that rank's piece. Both groups do so at once, and
then gather the received pieces to all their ranks.

A rank sends to its receivers in rank order. It receives in this order ("multi_target"): first from its highest sender, if
that rank also sends to other ranks, because the receiver is the first on that sender's list; then from the senders in
between, in rank order; and last from its lowest sender, if that rank also sends to other ranks, because the receiver is the
last on that sender's list. This order keeps waiting times short. The order "rank", plain rank order, is for comparison.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Streams, Transfer
from collectives.inter_patterns.full_duplex import nearly_equal_sizes
from collectives.inter_patterns.full_duplex_claims import gather_part
from collectives.inter_patterns.groups import GroupPart, process_numbers
from collectives.tools.blocks import Layout
from collectives.tools.messages import two_streams
from collectives.tools.protocol import Buffer, Intercomm

ORDERS = ("multi_target", "rank")


def exchange_pieces(
    inter: Intercomm, sendbuf: Buffer, start: int, total: int, recvbuf: Buffer, blocks: Layout, order: str, tag: int
) -> None:
    """Exchange pieces between the groups: send the rank's block, receive the rank's piece of the other group's elements.

    The rank's block begins at `start` of its group's `total` elements. The received piece of `blocks` is stored at its
    position in `recvbuf`.
    """
    own, other, rank = inter.Get_size(), inter.Get_remote_size(), inter.Get_rank()
    pieces = Layout.nearly_equal(blocks.size(0, other), own)
    wanted = Layout.nearly_equal(total, other)
    exchange_runs(inter, sendbuf, start, wanted, pieces.block(recvbuf, rank), pieces.start(rank), blocks, order, tag)


def exchange_runs(
    inter: Intercomm,
    outgoing: Buffer,
    start: int,
    wanted: Layout,
    incoming: Buffer,
    begin: int,
    blocks: Layout,
    order: str,
    tag: int,
) -> None:
    """Send the elements from `start` on to the owners of the `wanted` blocks; receive the elements from `begin` on.

    The sent elements are those of this group; the received elements are those of the other group, which has `blocks`.
    """
    sends = [(k, outgoing[low - start : high - start]) for k, low, high in overlaps(start, start + outgoing.size, wanted)]
    sources = senders(begin, begin + incoming.size, blocks, order)
    two_streams(inter, sends, [(k, incoming[low - begin : high - begin]) for k, low, high in sources], tag)


def overlaps(start: int, stop: int, layout: Layout) -> Iterator[tuple[int, int, int]]:
    """The blocks that elements start .. stop-1 overlap, each with the common elements: (block, low, high).

    >>> list(overlaps(3, 8, Layout.of([5, 0, 2, 4])))
    [(0, 3, 5), (2, 5, 7), (3, 7, 8)]
    """
    while start < stop:
        k = layout.at(start)
        end = min(stop, layout.start(k + 1))
        yield k, start, end
        start = end


def senders(start: int, stop: int, blocks: Layout, order: str) -> list[tuple[int, int, int]]:
    """The senders of elements start .. stop-1, in the order of the receives.

    >>> senders(2, 9, Layout.of([4, 1, 1, 1, 4]), "multi_target")
    [(4, 7, 9), (1, 4, 5), (2, 5, 6), (3, 6, 7), (0, 2, 4)]
    """
    result = list(overlaps(start, stop, blocks))
    if order == "rank" or len(result) < 2:
        return result
    highest, lowest = result[-1], result[0]
    if blocks.start(highest[0] + 1) > stop:
        result.insert(0, result.pop())
    if blocks.start(lowest[0]) < start:
        result.append(result.pop(result.index(lowest)))
    return result


def unknown_order(case: Case) -> str | None:
    """`why_unsupported` of an algorithm with a parameter `receive_order`."""
    order = case.parameters.get("receive_order", ORDERS[0])
    return None if order in ORDERS else f"receive_order is {order!r}, not one of {', '.join(ORDERS)}"


# Claims --------------------------------------------------------------------------------------------------------------


def exchange_pieces_schedule(case: Case, order: str) -> Iterator[Round]:
    """The schedule of `exchange_pieces` in both groups at once."""
    a, b = (group.layout for group in case.groups)
    pieces = Layout.nearly_equal(a.size(0, case.p), case.q), Layout.nearly_equal(b.size(0, case.q), case.p)
    return exchange_runs_schedule(case, (a, pieces[0]), (b, pieces[1]), order)


def exchange_runs_schedule(
    case: Case, a_to_b: tuple[Layout, Layout], b_to_a: tuple[Layout, Layout], order: str
) -> Iterator[Round]:
    """The schedule of `exchange_runs` in both groups at once, for (blocks, wanted) of each direction."""
    in_a, in_b = process_numbers(case)
    sends: list[Transfer] = []
    received: list[tuple[int, int]] = []
    for (blocks, wanted), sources, dests in ((a_to_b, in_a, in_b), (b_to_a, in_b, in_a)):
        for i, number in enumerate(sources):
            for k, low, high in overlaps(blocks.start(i), blocks.start(i + 1), wanted):
                sends.append(Transfer(number, dests[k], (high - low) * case.itemsize))
        for k, number in enumerate(dests):
            pieces = senders(wanted.start(k), wanted.start(k + 1), blocks, order)
            received += [(sources[i], number) for i, _, _ in pieces]
    yield Streams(sends, received)


def gathered_pieces(case: Case) -> list[GroupPart]:
    """The gathers in A and in B afterwards, of the pieces of the other group's elements."""
    (a, b), (in_a, in_b) = case.groups, process_numbers(case)
    k_a, k_b = a.layout.size(0, a.p), b.layout.size(0, b.p)
    return [
        gather_part(nearly_equal_sizes(k_b, case.p), in_a, case),
        gather_part(nearly_equal_sizes(k_a, case.q), in_b, case),
    ]
