"""Gather by sending on request: the root invites one rank after the other, so that blocks do not arrive all at once.

The root sends an empty message to a rank, receives the first part of its block, and invites the next rank while the
second part of the block arrives. The first part has `first_bytes`, rounded to whole elements. It is the whole block if
`first_bytes` is 0, less than an element, or more than the block. The second part is then empty, but is still sent.

    p = 4     1st            2nd            3rd                     ...
    root 0    invites 1      gets 1a        invites 2, gets 1b      gets 2a ...
    rank r    sends the parts a and b of its block after it is invited

Rounds   2 p - 1    Sent per rank   m bytes, the root none    Scratch   none
Time     (p-1) (2 t_s + m t_w) + t_s
Fits     any p; blocks of equal size; first_bytes >= 0
Best     long blocks if the root cannot buffer unexpected messages; a block costs an additional start-up
Source   Open MPI, ompi/mca/coll/base/coll_base_gather.c: gather_intra_linear_sync; its decisions use first_bytes = 0.
         Blocks without data are not sent: MPI_Gather returns before it chooses an algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import PrepostedRound, Round, Seconds, Transfer
from collectives.patterns.star import sent_up
from collectives.tools.blocks import Layout, required
from collectives.tools.messages import TOKEN, wait_all
from collectives.tools.protocol import Buffer, Comm


def _first(size: int, itemsize: int, first_bytes: int) -> int:
    """Elements of the first part."""
    if not itemsize <= first_bytes < size * itemsize:
        return size
    whole, rest = divmod(first_bytes, itemsize)
    return whole + (rest > itemsize // 2)


def _parts(case: Case) -> tuple[int, int]:
    """Bytes of the two parts."""
    first = _first(case.elements, case.itemsize, gather_linear_sync.parameter(case, "first_bytes")) * case.itemsize
    return first, case.m - first


def why_unsupported(case: Case) -> str | None:
    size = case.parameters.get("first_bytes", 0)
    return None if size >= 0 else f"first_bytes = {size} is negative"


def schedule(case: Case) -> Iterator[Round]:
    first, rest = _parts(case)
    late: list[Transfer] = []
    for other in range(case.p if case.m else 0):
        if other != case.root:
            yield [Transfer(case.root, other, 0), *late]
            yield PrepostedRound([Transfer(other, case.root, first)])
            late = [Transfer(other, case.root, rest)]
    yield late


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    # The second part arrives while the root invites the next rank, and takes at least as long as the invitation.
    return (case.p - 1) * (2 * t_s + case.m * t_w) + t_s if case.m and case.p > 1 else 0


@algorithm(
    schedule=schedule,
    why_unsupported=why_unsupported,
    closed_sent=sent_up,
    closed_time=closed_time,
)
def gather_linear_sync(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, first_bytes: int = 0, tag: int = 0
) -> None:
    """Gather all blocks to the root's `recvbuf`; if the root's `sendbuf` is None, its block is there already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if rank != root:
        block = required(sendbuf, "a rank that sends its block")
        if block.size:
            comm.Recv(TOKEN, root, tag)
            first = _first(block.size, block.itemsize, first_bytes)
            comm.Send(block[0:first], root, tag)
            comm.Send(block[first : block.size], root, tag)
        return
    whole = required(recvbuf, "the root of a gather")
    layout = Layout.equal(whole.size, p)
    layout.put(whole, root, sendbuf)
    rests = []
    for other in range(p):
        block = layout.block(whole, other)
        if other != root and block.size:
            first = _first(block.size, block.itemsize, first_bytes)
            begun = comm.Irecv(block[0:first], other, tag)
            comm.Send(TOKEN, other, tag)
            rests.append(comm.Irecv(block[first : block.size], other, tag))
            begun.Wait()
    wait_all(rests)
