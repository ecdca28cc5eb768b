"""Allgather by runs of blocks of bounded length: between Bruck's algorithm and the ring.

Rank r collects its run of blocks r, r+1, ... (mod p) at their final positions in the buffer. While it holds fewer than
`length` blocks, the run doubles as in Bruck's algorithm: if it holds s blocks, the first blocks of rank r+s continue it.
After that it forwards `length` blocks at a time: it sends the last `length` blocks of its run to r-length and receives from
r+length, a ring of long runs. A length of 1 is the ring, a length of p is Bruck's algorithm.

A message that contains both the last and the first block of the buffer goes through scratch memory. No rank has two such
messages in a round, since the blocks that it sends and those that it receives are different blocks of one cyclic order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import positive
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_div, ceil_log2
from collectives.tools.protocol import Buffer, Comm

RUN_BYTES = 65536
"""The default length of the longest run; for longer runs a start-up of 1 µs is small compared with the transfer."""


class RunTransfer(NamedTuple):
    """One round: positions `first` .. `first` + `blocks` - 1 of a rank's run go to rank r-skip.

    There they are at positions higher by `skip`.
    """

    skip: int
    first: int
    blocks: int


def steps(length: int, p: int) -> Iterator[RunTransfer]:
    """The rounds for runs of `length` blocks on p ranks.

    >>> [tuple(step) for step in steps(1, 3)], [tuple(step) for step in steps(2, 5)]
    ([(1, 0, 1), (1, 1, 1)], [(1, 0, 1), (2, 0, 2), (2, 2, 1)])
    """
    held = 1
    while held < p:
        grows = held < length
        skip, most = (held, min(held, length - held)) if grows else (length, length)
        step = RunTransfer(skip, held - skip, min(most, p - held))
        yield step
        held += step.blocks


def bounded_length(layout: Layout, itemsize: int, run_bytes: int) -> int:
    """Number of the largest blocks that fit into a run of `run_bytes` bytes: at least one, at most all.

    >>> [bounded_length(Layout.equal(80, 8), 4, nbytes) for nbytes in (1, 40, 100, 1000)]
    [1, 1, 2, 8]
    """
    return max(1, min(layout.p, run_bytes // max(1, layout.largest * itemsize)))


def length_of(case: Case) -> int:
    """The number of blocks of a run at which it stops growing."""
    return bounded_length(case.layout, case.itemsize, case.parameters.get("run_bytes", RUN_BYTES))


def gather_bounded_runs(comm: Comm, buf: Buffer, layout: Layout, tag: int, *, run_bytes: int = RUN_BYTES) -> None:
    """Fill `buf` with the blocks of all ranks; the rank's own block is already there."""
    p, rank, length = comm.Get_size(), comm.Get_rank(), bounded_length(layout, buf.itemsize, run_bytes)
    spare = spare_memory(buf, _longest_wrapped(layout, length, rank))
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


def bounded_schedule(case: Case) -> Iterator[Round]:
    p, layout = case.p, case.layout
    for skip, first, count in steps(length_of(case), p):
        sizes = [(r, layout.around((r + first) % p, count) * case.itemsize) for r in range(p)]
        yield without_empty(Transfer(r, (r - skip) % p, nbytes) for r, nbytes in sizes)


def bounded_rounds(length: int, p: int) -> int:
    """Number of rounds: doublings, then one round for each further run.

    >>> [(bounded_rounds(length, 12), len(list(steps(length, 12)))) for length in (1, 2, 3, 5, 8, 12)]
    [(11, 11), (6, 6), (5, 5), (5, 5), (4, 4), (4, 4)]
    """
    return ceil_log2(length) + ceil_div(p, length) - 1


BOUNDED_CLAIMS: Final = Claims(
    schedule=bounded_schedule,
    scratch=lambda case, rank: _longest_wrapped(case.layout, length_of(case), rank) * case.itemsize,
    why_unsupported=positive("run_bytes"),
)
"""The claims of `gather_bounded_runs` for blocks of any size."""


def _run(layout: Layout, buf: Buffer, start: int, count: int, spare: Buffer) -> Buffer:
    """The `count` blocks from `start` on: a slice of the buffer, or of scratch memory if they wrap around its end."""
    if start + count <= layout.p:
        return layout.block(buf, start, start + count)  # type: ignore[no-any-return]  # buffers are numpy arrays or phantoms
    return spare[0 : layout.around(start, count)]  # type: ignore[no-any-return]  # buffers are numpy arrays or phantoms


def _longest_wrapped(layout: Layout, length: int, rank: int) -> int:
    """Elements of a rank's longest message that wraps around the end of the buffer."""
    p = layout.p
    starts = ((start % p, count) for skip, first, count in steps(length, p) for start in (rank + first, rank + first + skip))
    return max((layout.around(start, count) for start, count in starts if start + count > p), default=0)
