"""Messages cut into segments, and how long these take along a chain of p ranks: shared by bcasts and reduces.

In step t = 0 .. n+p-3 segment t - h makes hop h of p-1, wherever both exist; so n segments keep all hops busy. The first
segment is one of the longest, and the longest ones come first, so none waits on its way but for the one in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Seconds, message
from collectives.tools.blocks import Layout, segments

SEGMENT_BYTES = 65536


def segments_of(case: Case) -> Layout:
    """The segments of the message, of `segment_bytes` at most."""
    return segments(case.elements, case.itemsize, case.parameters.get("segment_bytes", SEGMENT_BYTES))


def chain_steps(case: Case) -> Iterator[list[tuple[int, int]]]:
    """For each step along the chain the hops that are made, 0 .. p-2, with the bytes of the segment that makes it."""
    p, pieces = case.p, segments_of(case)
    for step in range(pieces.p + p - 2 if case.m else 0):
        hops = range(max(0, step - pieces.p + 1), min(p - 1, step + 1))
        yield [(hop, pieces.size(step - hop) * case.itemsize) for hop in hops]


def chain_rounds(case: Case) -> int:
    """Steps along the chain."""
    return segments_of(case).p + case.p - 2 if case.m and case.p > 1 else 0


def chain_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    """All segments over one hop, and the longest one over all others."""
    if case.p == 1 or case.m == 0:
        return 0
    pieces = segments_of(case)
    longest = message(pieces.size(0) * case.itemsize, t_s, t_w)
    return pieces.p * t_s + case.m * t_w + (case.p - 2) * longest
