"""A group's elements in equal pieces, one for each rank over there: the exchange of Kang et al.'s Algorithm 2.

The elements of a group, in rank order, are cut into nearly equal pieces, one for each rank of the other group; a rank
sends to each what its block and that rank's piece have in common. Both groups do so at once, and then gather to all what
they received.

A rank serves its receivers in rank order. As a receiver it takes first its highest sender if that one also sends to
others (it is the first on that sender's list), then those in between in rank order, and last its lowest sender if that
one also sends to others (it is the last on that one's list): so nobody waits long for anybody. The order "rank" takes
them in rank order instead, to see what the order is worth.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.between.full_duplex import nearly_equal_sizes
from collectives.between.full_duplex_claims import parts_on_paper
from collectives.between.groups import Placed, numbers
from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Streams, Transfer
from collectives.tools.blocks import Layout
from collectives.tools.messages import two_streams
from collectives.tools.protocol import Buffer, Intercomm

ORDERS = ("multi_target", "rank")


def exchange_pieces(
    inter: Intercomm, sendbuf: Buffer, start: int, total: int, recvbuf: Buffer, blocks: Layout, order: str, tag: int
) -> None:
    """Send the block, from `start` on of the group's `total` elements; leave the rank's piece of `blocks` in its place."""
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
    """Send the own group's elements from `start` on to who wants them; receive the other group's from `begin` on."""
    sends = [(k, outgoing[low - start : high - start]) for k, low, high in overlaps(start, start + outgoing.size, wanted)]
    found = senders(begin, begin + incoming.size, blocks, order)
    two_streams(inter, sends, [(k, incoming[low - begin : high - begin]) for k, low, high in found], tag)


def overlaps(start: int, stop: int, layout: Layout) -> Iterator[tuple[int, int, int]]:
    """The blocks that elements start .. stop-1 lie in, each with the elements that they have in common.

    >>> list(overlaps(3, 8, Layout.of([5, 0, 2, 4])))
    [(0, 3, 5), (2, 5, 7), (3, 7, 8)]
    """
    while start < stop:
        k = layout.at(start)
        end = min(stop, layout.start(k + 1))
        yield k, start, end
        start = end


def senders(start: int, stop: int, blocks: Layout, order: str) -> list[tuple[int, int, int]]:
    """Whose blocks elements start .. stop-1 come from, in the order in which they are received.

    >>> senders(2, 9, Layout.of([4, 1, 1, 1, 4]), "multi_target")
    [(4, 7, 9), (1, 4, 5), (2, 5, 6), (3, 6, 7), (0, 2, 4)]
    """
    found = list(overlaps(start, stop, blocks))
    if order == "rank" or len(found) < 2:
        return found
    highest, lowest = found[-1], found[0]
    if blocks.start(highest[0] + 1) > stop:
        found.insert(0, found.pop())
    if blocks.start(lowest[0]) < start:
        found.append(found.pop(found.index(lowest)))
    return found


def unknown_order(order: object) -> str | None:
    """Why an order of receiving is none."""
    return None if order in ORDERS else f"receive_order is {order!r}, not one of {', '.join(ORDERS)}"


# On paper ------------------------------------------------------------------------------------------------------------


def exchange_on_paper(case: Case, order: str) -> Iterator[Round]:
    """`exchange_pieces` in both groups at once."""
    a, b = (group.layout for group in case.groups)
    pieces = Layout.nearly_equal(a.size(0, case.p), case.q), Layout.nearly_equal(b.size(0, case.q), case.p)
    return runs_on_paper(case, (a, pieces[0]), (b, pieces[1]), order)


def runs_on_paper(
    case: Case, a_to_b: tuple[Layout, Layout], b_to_a: tuple[Layout, Layout], order: str
) -> Iterator[Round]:
    """`exchange_runs` in both groups at once: who has which elements, and who wants them."""
    in_a, in_b = numbers(case)
    sends: list[Transfer] = []
    received: list[tuple[int, int]] = []
    for (blocks, wanted), sources, dests in ((a_to_b, in_a, in_b), (b_to_a, in_b, in_a)):
        for i, number in enumerate(sources):
            for k, low, high in overlaps(blocks.start(i), blocks.start(i + 1), wanted):
                sends.append(Transfer(number, dests[k], (high - low) * case.itemsize))
        for k, number in enumerate(dests):
            found = senders(wanted.start(k), wanted.start(k + 1), blocks, order)
            received += [(sources[i], number) for i, _, _ in found]
    yield Streams(sends, received)


def gathered_pieces(case: Case) -> list[Placed]:
    """What is gathered in A and in B afterwards: the pieces of the other group's elements."""
    (a, b), (in_a, in_b) = case.groups, numbers(case)
    k_a, k_b = a.layout.size(0, a.p), b.layout.size(0, b.p)
    return [
        parts_on_paper(nearly_equal_sizes(k_b, case.p), in_a, case),
        parts_on_paper(nearly_equal_sizes(k_a, case.q), in_b, case),
    ]
