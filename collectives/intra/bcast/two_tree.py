"""Broadcast by two trees at once: inner ranks of one tree are leaves of the other, so all ports stay busy.

The message is cut into n segments; even segments go down tree 0, odd segments down tree 1 (`patterns.two_trees`). Edges
have colors; in step t only edges of color t mod 2 carry a segment. No rank has two incoming or two outgoing edges of
the same color, so in every step it receives from one parent and sends to one child.

    p = 4: labels v = rank - root (mod p); tree 0 is 0 -> 2 -> 1, 3; tree 1 is 0 -> 1 -> 2, 3
    n = 2    start    t = 0    t = 1    t = 2    t = 3
    v = 0    01       01       01       01       01
    v = 1    ..       ..       .1       01       01
    v = 2    ..       0.       0.       0.       01
    v = 3    ..       ..       0.       01       01

Rounds   at most n-2 + 2 ceil(log2 p)    Sent per rank   about m bytes    Scratch   none
Time     computed from the schedule; at most (n-2 + 2 ceil(log2 p)) (t_s + b t_w) for segments of b bytes
Fits     any p; segment_bytes > 0
Best     long messages on many ranks: full bandwidth m t_w, and only log2 p steps to fill the pipeline
Source   Sanders, Speck, Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel Computing
         35 (2009), doi:10.1016/j.parco.2009.09.001
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.segmented import SEGMENT_BYTES, exchange_by_step, rounds_by_step, segments_of
from collectives.patterns.two_trees import first_step, tree_children, tree_parent
from collectives.tools.blocks import segments
from collectives.tools.protocol import Buffer, Comm

TREES = (0, 1)


def schedule(case: Case) -> Iterator[Round]:
    p, root, pieces = case.p, case.root, segments_of(case)
    return rounds_by_step(
        (step, Transfer((root + tree_parent(v, tree, p - 1)) % p, (root + v) % p, pieces.size(piece) * case.itemsize))
        for v in range(1, p if case.m else 1)
        for tree in TREES
        for step, piece in _arrivals(v, tree, p, pieces.p)
    )


def _arrivals(v: int, tree: int, p: int, n: int) -> Iterator[tuple[int, int]]:
    """The steps in which label v receives the segments of a tree, as (step, segment): one every two steps."""
    start = first_step(v, tree, p - 1)
    for piece in range(tree, n, 2):
        yield start + piece - tree, piece


@algorithm(schedule=schedule, why_unsupported=positive_segments_only)
def bcast_two_tree(comm: Comm, buf: Buffer, *, root: int = 0, segment_bytes: int = SEGMENT_BYTES, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if buf.size == 0 or p == 1:
        return
    pieces = segments(buf.size, buf.itemsize, segment_bytes)
    v = (rank - root) % p
    receives = {
        step: ((root + tree_parent(v, tree, p - 1)) % p, pieces.block(buf, piece))
        for tree in (TREES if v else ())
        for step, piece in _arrivals(v, tree, p, pieces.p)
    }
    sends = {
        step: ((root + child) % p, pieces.block(buf, piece))
        for tree in TREES
        for child in tree_children(v, tree, p - 1)
        for step, piece in _arrivals(child, tree, p, pieces.p)
    }
    exchange_by_step(comm, sends, receives, tag)
