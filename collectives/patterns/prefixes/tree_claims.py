"""Schedule and claims of the doubly pipelined in-order binary tree: the first segment's rounds, and 3 for each other one."""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.patterns.prefixes.tree_places import TreePlace, copies_operand, edge_rounds, keeps_prefix, tree_place
from collectives.patterns.segmented import segments_of
from collectives.tools.numbers import floor_log2

INTERVAL = 3
"""Rounds between two segments."""


def tree_claims(*, inclusive: bool) -> Claims:
    """The claims of a scan (inclusive) or an exscan with this code."""
    return Claims(
        schedule=lambda case: _schedule(case, inclusive=inclusive),
        scratch=lambda case, rank: _scratch(case, rank, inclusive=inclusive),
        why_unsupported=positive_segments_only,
        closed_rounds=tree_rounds,
        closed_sent=_sent,
        closed_time=_time,
        closed_combined=lambda case: None,
    )


def _schedule(case: Case, *, inclusive: bool) -> Iterator[Round]:
    """In round t, each edge carries the segments k up and down with t = (round of segment 0) + 3 k."""
    p, pieces = case.p, segments_of(case)
    if p == 1 or not case.m:
        return
    starts: dict[int, list[tuple[int, int, int]]] = {}  # round of segment 0 -> source, dest, number of combinations
    for rank in range(p):
        place = tree_place(rank, p)
        if place.parent is not None:
            up, down = edge_rounds(rank, p)
            if up is not None:
                starts.setdefault(up, []).append((rank, place.parent, _after_sum(rank, place.parent, p, inclusive)))
            if down is not None:
                starts.setdefault(down, []).append((place.parent, rank, _after_prefix(place, inclusive=inclusive)))
    for t in range(max(starts) + INTERVAL * (pieces.p - 1) + 1):
        transfers = []
        for first in range(t % INTERVAL, t + 1, INTERVAL):
            k = (t - first) // INTERVAL
            if k < pieces.p and first in starts:
                nbytes, start = pieces.size(k) * case.itemsize, pieces.start(k) * case.itemsize
                transfers += [Transfer(a, b, nbytes, times * nbytes, start) for a, b, times in starts[first]]
        yield transfers


def _after_sum(child: int, parent: int, p: int, inclusive: bool) -> int:
    """Vectors that a parent combines after it has received a child's sum."""
    place = tree_place(parent, p)
    return (inclusive or place.uses_operand) + place.adds_right_sum if child == place.left else 0


def _after_prefix(place: TreePlace, *, inclusive: bool) -> int:
    """Vectors that a rank combines after it has received its prefix."""
    return 1 if inclusive else (place.left is not None) + (place.right is not None)


def tree_rounds(case: Case) -> int:
    """Rounds: those of the first segment, and INTERVAL for each further one.

    With d = floor(log2 p), the first segment is at the root after 2 d - 1 rounds. It then goes down to the leaves with the
    most left edges above them: below the root's right child, or below its left child if the other subtree is small. On 2 or
    3 ranks no rank has 3 neighbors, so segments follow each other in fewer rounds.
    """
    p, n = case.p, segments_of(case).p
    if p == 1 or not case.m:
        return 0
    if p <= INTERVAL:
        return (p - 1) * n
    d = floor_log2(p)
    return 4 * d - 4 + min(2, max(0, p - 3 * (1 << (d - 1)) + 1)) + INTERVAL * (n - 1)


def _time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """All rounds take equal time if all segments are equally long."""
    pieces = segments_of(case)
    longest = pieces.size(0)
    return None if longest * pieces.p != case.elements else tree_rounds(case) * message(longest * case.itemsize, t_s, t_w)


def _sent(case: Case, rank: int) -> int:
    place = tree_place(rank, case.p)
    return case.m * ((not place.on_right_edge) + (place.right is not None) + place.sends_left)


def _scratch(case: Case, rank: int, *, inclusive: bool) -> int:
    if case.p == 1 or not case.m:
        return 0
    place = tree_place(rank, case.p)
    left_sum = inclusive and place.left is not None
    spares = place.adds_right_sum + left_sum + keeps_prefix(place, inclusive=inclusive)
    segment = segments_of(case).size(0) * case.itemsize
    return spares * segment + case.m * copies_operand(place, inclusive=inclusive)
