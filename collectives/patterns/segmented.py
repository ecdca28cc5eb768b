"""Messages cut into segments, and the time of a chain of p ranks: shared by broadcasts and reductions.

A message is n segments, and the chain has the hops h = 0 .. p-2. In step t = 0 .. n+p-3, segment t - h makes hop h, if there
is such a segment: several segments are on their way at the same time. The longest segments are first, so a segment waits
only for the segment in front of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.tools.blocks import Layout, segments
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm

SEGMENT_BYTES = 65536


def segments_of(case: Case) -> Layout:
    """The segments of the message, of at most `segment_bytes`."""
    return segments(case.elements, case.itemsize, case.parameters.get("segment_bytes", SEGMENT_BYTES))


def chain_steps(case: Case) -> Iterator[list[tuple[int, int]]]:
    """For each step along the chain, the active hops in 0 .. p-2 with the bytes of their segment."""
    p, pieces = case.p, segments_of(case)
    for step in range(pieces.p + p - 2 if case.m else 0):
        hops = range(max(0, step - pieces.p + 1), min(p - 1, step + 1))
        yield [(hop, pieces.size(step - hop) * case.itemsize) for hop in hops]


def rounds_by_step(transfers: Iterable[tuple[int, Transfer]]) -> Iterator[Round]:
    """The rounds of transfers that are given with their steps, in any order."""
    steps: dict[int, list[Transfer]] = defaultdict(list)
    for step, transfer in transfers:
        steps[step].append(transfer)
    return (steps[step] for step in sorted(steps))


def exchange_by_step(
    comm: Comm, sends: dict[int, tuple[int, Buffer]], receives: dict[int, tuple[int, Buffer]], tag: int
) -> None:
    """Send and receive in the order of steps; each step has the rank of the partner, and the data."""
    for step in sorted(receives.keys() | sends.keys()):
        dest, outgoing = sends.get(step, (0, None))
        source, incoming = receives.get(step, (0, None))
        exchange(comm, outgoing, dest, incoming, source, tag)


def chain_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    """All segments over one hop, and the longest segment over all other hops."""
    if case.p == 1 or case.m == 0:
        return 0
    pieces = segments_of(case)
    longest = message(pieces.size(0) * case.itemsize, t_s, t_w)
    return pieces.p * t_s + case.m * t_w + (case.p - 2) * longest
