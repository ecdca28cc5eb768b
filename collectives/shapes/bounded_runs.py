"""Allgather by runs that grow up to a length and then walk around: between Bruck's algorithm and the ring.

Rank r fills its run of blocks, r, r+1, ... (mod p), in its place in the buffer. While it holds fewer than `length` blocks
the run doubles, as Bruck's does: the first blocks of rank r+s continue it, if it holds s. From then on, `length` blocks at a
time, it passes on to r-length what came in the round before, and receives from r+length: a ring of long runs. A length of 1
is the ring, one of p is Bruck's algorithm.

A message whose blocks are the last and the first of the buffer goes through scratch memory. No rank has two of them in a
round, since what it sends and what it receives are different blocks of one circle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from collectives.catalogue.algorithm import Case, Course
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.blocks import Layout
from collectives.tools.blocks import scratch as new_scratch
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_div, ceil_log2
from collectives.tools.protocol import Buffer, Comm

RUN_BYTES = 65536
"""The longest run where nothing is said; beyond it a start-up of a microsecond is little beside the bytes."""


class Step(NamedTuple):
    """A round: places `first` .. `first` + `blocks` - 1 of one's run go to rank r-skip, where they are `skip` places on."""

    skip: int
    first: int
    blocks: int


def steps(length: int, p: int) -> Iterator[Step]:
    """The rounds for runs of `length` blocks on p ranks.

    >>> [tuple(step) for step in steps(1, 3)], [tuple(step) for step in steps(2, 5)]
    ([(1, 0, 1), (1, 1, 1)], [(1, 0, 1), (2, 0, 2), (2, 2, 1)])
    """
    held = 1
    while held < p:
        grows = held < length
        skip, most = (held, min(held, length - held)) if grows else (length, length)
        step = Step(skip, held - skip, min(most, p - held))
        yield step
        held += step.blocks


def bounded_length(layout: Layout, itemsize: int, run_bytes: int) -> int:
    """How many of the largest blocks fit into a run of so many bytes: at least one, and at most all.

    >>> [bounded_length(Layout.equal(80, 8), 4, nbytes) for nbytes in (1, 40, 100, 1000)]
    [1, 1, 2, 8]
    """
    return max(1, min(layout.p, run_bytes // max(1, layout.largest * itemsize)))


def gather_bounded_runs(comm: Comm, buf: Buffer, layout: Layout, length: int, tag: int) -> None:
    """Fill `buf` with the blocks of all ranks; one's own is there already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    spare = new_scratch(buf, _longest_wrapped(layout, length, rank))
    for skip, first, count in steps(length, p):
        out, into = (rank + first) % p, (rank + first + skip) % p
        outgoing, incoming = (_run(layout, buf, start, count, spare) for start in (out, into))
        if out + count > p:
            tail = layout.size(out, p)
            outgoing[0:tail] = layout.block(buf, out, p)
            outgoing[tail : outgoing.size] = layout.block(buf, 0, out + count - p)
        exchange(comm, outgoing, (rank - skip) % p, incoming, (rank + skip) % p, tag)
        if into + count > p:
            tail = layout.size(into, p)
            buf[layout.start(into) : layout.start(p)] = incoming[0:tail]
            buf[0 : layout.start(into + count - p)] = incoming[tail : incoming.size]


def bounded(length: Callable[[Case], int]) -> Course:
    """What `gather_bounded_runs` claims for blocks of any size."""

    def schedule(case: Case) -> Iterator[Round]:
        p, layout = case.p, case.layout
        for skip, first, count in steps(length(case), p):
            sizes = [(r, layout.around((r + first) % p, count) * case.itemsize) for r in range(p)]
            yield without_empty(Transfer(r, (r - skip) % p, nbytes) for r, nbytes in sizes)

    def scratch(case: Case, rank: int) -> int:
        return _longest_wrapped(case.layout, length(case), rank) * case.itemsize

    return Course(schedule=schedule, scratch=scratch)


def bounded_rounds(length: int, p: int) -> int:
    """Doublings, and then a round for every other run.

    >>> [(bounded_rounds(length, 12), len(list(steps(length, 12)))) for length in (1, 2, 3, 5, 8, 12)]
    [(11, 11), (6, 6), (5, 5), (5, 5), (4, 4), (4, 4)]
    """
    return ceil_log2(length) + ceil_div(p, length) - 1


def positive_runs_only(case: Case) -> str | None:
    size = case.parameters.get("run_bytes", 1)
    return None if size > 0 else f"run_bytes = {size} is not positive"


def _run(layout: Layout, buf: Buffer, start: int, count: int, spare: Buffer) -> Buffer:
    """Where `count` blocks from `start` on are: in the buffer, or, if they wrap around its end, in scratch memory."""
    if start + count <= layout.p:
        return layout.block(buf, start, start + count)  # type: ignore[no-any-return]
    return spare[0 : layout.around(start, count)]  # type: ignore[no-any-return]


def _longest_wrapped(layout: Layout, length: int, rank: int) -> int:
    """Elements of the longest message of a rank that wraps around the buffer's end."""
    p = layout.p
    starts = (
        (start % p, count) for skip, first, count in steps(length, p) for start in (rank + first, rank + first + skip)
    )
    return max((layout.around(start, count) for start, count in starts if start + count > p), default=0)
