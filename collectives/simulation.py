"""Derive an irregular allgatherv from a regular allgather on a cluster, by simulating virtual processes.

The principle of Träff et al. (2008): an allgather of equal blocks on a cluster solves an irregular problem over the nodes.
Conversely, a process with m_i bytes simulates a node of max(1, ceil(m_i / B)) virtual processes with one block of B bytes
each. It runs the regular algorithm for all of them. Messages between its virtual processes stay in its memory and cost
nothing; messages to virtual processes of another process are sent. The regular algorithm must let at most one process of
a node send to other nodes at a time, and at most one receive, because a process has a single port.

Implementation: the algorithm runs once for each virtual process of this rank, on a buffer of block numbers and a
communicator that records the calls. The recorded calls are then executed together. Time and memory are O(b b_i) for b_i
virtual processes on this rank and b in total. This is useful to derive an algorithm, and to check a direct
implementation against it; it is not fast.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from collectives.block_sizes import BLOCK_BYTES, BlockBytes, bytes_of, positive_blocks_only
from collectives.catalogue.algorithm import Algorithm, Case, UnsupportedCaseError
from collectives.patterns.pipeline import Pieces
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm

Transfer: TypeAlias = "tuple[int, BlockNumbers] | None"
"""The partner and the blocks of a send or a receive; None after it was executed."""


def irregular(allgather: Algorithm) -> Algorithm:
    """Return the allgatherv that simulates a regular allgather on a cluster; its parameter is `block_bytes`.

    Parameters
    ----------
    allgather
        An allgather of equal blocks whose messages do not depend on the data.

    Returns
    -------
    Algorithm
        Named `simulated_` and the name of `allgather`. It is not in the catalogue.

    Examples
    --------
    >>> from collectives import find
    >>> irregular(find("allgather", "cluster_ring"))
    <intra allgatherv simulated_cluster_ring>
    """

    def allgatherv_simulated(
        comm: Comm,
        sendbuf: Buffer | None,
        recvbuf: Buffer,
        counts: Sequence[int],
        *,
        block_bytes: BlockBytes = BLOCK_BYTES,
        tag: int = 0,
    ) -> None:
        p, rank, itemsize = comm.Get_size(), comm.Get_rank(), recvbuf.itemsize
        Layout.of_ranks(counts, p).put(recvbuf, rank, sendbuf)
        size = bytes_of(block_bytes, [int(count) * itemsize for count in counts])
        algorithm.check(Case(p, parameters={"block_bytes": size}))
        pieces = Pieces(counts, max(1, size // itemsize), range(p))
        owners = tuple(i for i in range(p) for _ in range(pieces.numbers.size(i)))
        mine = range(pieces.numbers.start(rank), pieces.numbers.start(rank + 1))
        steps = {v: _recorded_steps(allgather, v, owners) for v in mine}
        _execute(comm, recvbuf, pieces, owners, steps, tag)

    algorithm = Algorithm(
        operation="allgatherv",
        name=f"simulated_{allgather.name}",
        run=allgatherv_simulated,
        schedule=None,
        why_unsupported=positive_blocks_only,
        parameters={"block_bytes": BLOCK_BYTES},
    )
    return algorithm


class BlockNumbers:
    """A buffer that represents the blocks start .. stop-1, without contents."""

    itemsize = 1

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop
        self.size = self.nbytes = stop - start

    def __getitem__(self, part: slice) -> BlockNumbers:
        start, stop, _ = part.indices(self.size)
        return BlockNumbers(self.start + start, self.start + max(start, stop))

    def __setitem__(self, part: slice, value: Any) -> NoReturn:
        raise UnsupportedCaseError("an allgather that moves blocks within its memory cannot be simulated")

    def empty(self, size: int) -> NoReturn:
        raise UnsupportedCaseError("an allgather that needs scratch memory cannot be simulated")


class CallRecorder:
    """A communicator that records calls and sends nothing."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size
        self.steps: deque[list[Transfer]] = deque()

    def Get_rank(self) -> int:
        return self._rank

    def Get_size(self) -> int:
        return self._size

    def Send(self, buf: Any, dest: int, tag: int, /) -> None:
        self.steps.append([(dest, buf), None])

    def Recv(self, buf: Any, source: int, tag: int, /) -> None:
        self.steps.append([None, (source, buf)])

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int, /) -> None:
        self.steps.append([(dest, sendbuf), (source, recvbuf)])

    def Isend(self, buf: Any, dest: int, tag: int, /) -> NoReturn:
        raise UnsupportedCaseError("an allgather with nonblocking messages cannot be simulated")

    Irecv = Isend


def _recorded_steps(allgather: Algorithm, v: int, owners: tuple[int, ...]) -> deque[list[Transfer]]:
    """Return the calls of virtual process v, in order."""
    recorder = CallRecorder(v, len(owners))
    nodes = {"nodes": owners} if "nodes" in allgather.parameters else {}
    allgather.run(recorder, None, BlockNumbers(0, len(owners)), **nodes)
    return recorder.steps


def _execute(
    comm: Comm, buf: Buffer, pieces: Pieces, owners: Sequence[int], steps: dict[int, deque[list[Transfer]]], tag: int
) -> None:
    """Execute the recorded calls of this rank's virtual processes."""
    while True:
        _complete_local(steps)
        heads = [(v, queue[0]) for v, queue in steps.items() if queue]
        if not heads:
            return
        sends = [step for _, step in heads if step[0] and step[0][0] not in steps]
        receives = [step for _, step in heads if step[1] and step[1][0] not in steps]
        if len(sends) > 1 or len(receives) > 1:
            raise UnsupportedCaseError(
                f"rank {comm.Get_rank()} would have {len(sends)} sends and {len(receives)} receives at the same time: the "
                "allgather must let at most one process of a node send to other nodes, and at most one receive"
            )
        dest, outgoing = _message(sends, 0, buf, pieces, owners)
        source, incoming = _message(receives, 1, buf, pieces, owners)
        exchange(comm, outgoing, dest, incoming, source, tag)


def _message(
    steps: list[list[Transfer]], direction: int, buf: Buffer, pieces: Pieces, owners: Sequence[int]
) -> tuple[int, Any]:
    """Return the rank and the buffer of the next send (0) or receive (1), and mark it as executed."""
    transfer = steps[0][direction] if steps else None
    if transfer is None:
        return 0, None
    steps[0][direction] = None
    partner, blocks = transfer
    first, last = pieces.where(blocks.start), pieces.where(blocks.stop - 1)
    return owners[partner], buf[first.start : last.stop]


def _complete_local(steps: dict[int, deque[list[Transfer]]]) -> None:
    """Complete matching sends and receives between virtual processes of this rank; the data are in its memory already."""
    unchecked = list(steps)
    while unchecked:
        v = unchecked.pop()
        while steps[v] and steps[v][0] == [None, None]:
            steps[v].popleft()
        if not steps[v]:
            continue
        for direction, transfer in enumerate(steps[v][0]):
            other = steps.get(transfer[0]) if transfer else None
            if transfer and other and (matching := other[0][1 - direction]) and matching[0] == v:
                steps[v][0][direction] = other[0][1 - direction] = None
                unchecked += [v, transfer[0]]
