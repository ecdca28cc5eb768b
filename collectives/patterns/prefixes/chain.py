"""Prefixes by a pipelined chain: shared code of scan and exscan.

The message is cut into n segments. Rank r receives segment k of the prefix from r-1 while it sends segment k-1 to r+1
(`segmented`). It combines segment k of its operand, as right operand, with the received segment before it sends the result.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.reductions import combine
from collectives.patterns.segmented import SEGMENT_BYTES, chain_steps, chain_time, segments_of
from collectives.tools.blocks import Layout, check_same_size, segments, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def chain_prefixes(
    comm: Comm, own: Buffer, recvbuf: Buffer, op: Op, tag: int, inclusive: bool, *, segment_bytes: int = SEGMENT_BYTES
) -> None:
    """Leave the prefix in `recvbuf`. If inclusive, `recvbuf` is `own`; if exclusive, rank 0's `recvbuf` is unchanged."""
    check_same_size(own, recvbuf)
    pieces = segments(own.size, own.itemsize, segment_bytes)
    if comm.Get_size() > 1 and inclusive:
        _inclusive(comm, recvbuf, pieces, op, tag)
    elif comm.Get_size() > 1:
        _exclusive(comm, own, recvbuf, pieces, op, tag)


def _inclusive(comm: Comm, recvbuf: Buffer, pieces: Layout, op: Op, tag: int) -> None:
    """Replace the operand in `recvbuf` by the prefix that includes it."""
    p, rank = comm.Get_size(), comm.Get_rank()
    spare = spare_memory(recvbuf, pieces.size(0)) if rank > 0 else None
    for k in range(pieces.p + 1):
        outgoing = pieces.block(recvbuf, k - 1) if k > 0 and rank < p - 1 else None
        incoming = spare[0 : pieces.size(k)] if spare is not None and k < pieces.p else None
        exchange(comm, outgoing, rank + 1, incoming, rank - 1, tag)
        if incoming is not None:
            combine(op, incoming, pieces.block(recvbuf, k))


def _exclusive(comm: Comm, own: Buffer, recvbuf: Buffer, pieces: Layout, op: Op, tag: int) -> None:
    """Leave the prefix before a rank in its `recvbuf`, unchanged on rank 0; `own` may be the same buffer."""
    p, rank = comm.Get_size(), comm.Get_rank()
    # one spare segment is sent while the next one is combined; the chain's ends send their operand, or nothing
    spares = [spare_memory(own, pieces.size(0)) for _ in range(2 if 0 < rank < p - 1 else 0)]
    outgoing = None
    for k in range(pieces.p + 1):
        incoming = pieces.block(recvbuf, k) if rank > 0 and k < pieces.p else None
        if rank == 0:
            outgoing = pieces.block(own, k - 1) if k > 0 else None
        following = spares[k % 2][0 : incoming.size] if spares and incoming is not None else None
        if following is not None:
            following[0 : following.size] = pieces.block(own, k)
        exchange(comm, outgoing, rank + 1, incoming, rank - 1, tag)
        if following is not None and incoming is not None:
            combine(op, incoming, following)
            outgoing = following


def chain_claims(*, inclusive: bool) -> Claims:
    """The claims of a scan (inclusive) or an exscan with this code."""

    def schedule(case: Case) -> Iterator[Round]:
        pieces, combining = segments_of(case), case.p - 1 if inclusive else case.p - 2
        for step, hops in enumerate(chain_steps(case)):
            yield [
                Transfer(hop, hop + 1, nbytes, nbytes * (hop < combining), pieces.start(step - hop) * case.itemsize)
                for hop, nbytes in hops
            ]

    def combined(case: Case) -> int:
        hops, pieces = (case.p - 1 if inclusive else case.p - 2), segments_of(case)
        return case.m + (hops - 1) * pieces.size(0) * case.itemsize if hops > 0 else 0

    def memory(case: Case, rank: int) -> int:
        spares = rank > 0 if inclusive else 2 * (0 < rank < case.p - 1)
        return spares * segments_of(case).size(0) * case.itemsize

    return Claims(
        schedule=schedule,
        scratch=memory,
        why_unsupported=positive_segments_only,
        closed_sent=lambda case, rank: case.m if rank < case.p - 1 else 0,
        closed_time=chain_time,
        closed_combined=combined,
    )
