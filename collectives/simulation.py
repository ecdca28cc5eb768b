"""An algorithm for the irregular problem, made from one for the regular problem on a cluster, by simulation.

The principle of Träff et al. (2008): an allgather of equal blocks on a cluster solves an irregular problem over the nodes.
So read it the other way round. A process with m_i bytes is a node of max(1, ceil(m_i / B)) virtual processes with one block
of B bytes each. It runs the regular algorithm for all of them; what they send to each other stays in its memory and costs
nothing, and what they send to another node's is a message. That needs a regular algorithm in which one process of a node
sends off it at a time, and one receives: a node is then as able as a process, with its one port.

How it is done here: the algorithm's own text is run once for each virtual process of this node, on a buffer of block numbers
and a communicator that notes the calls. The notes are then worked off together. That takes time and memory O(b b_i), for b_i
virtual processes here and b in all: good for showing what an algorithm becomes, and for checking a direct text against it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from collectives.block_sizes import BLOCK_BYTES, BlockBytes, bytes_of, positive_blocks_only
from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit
from collectives.shapes.pipeline import Pieces
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm

Side: TypeAlias = "tuple[int, Numbers] | None"
"""The partner and the blocks of a send or a receive that is still to come."""


def irregular(allgather: Algorithm) -> Algorithm:
    """The allgatherv that a regular allgather on a cluster becomes; it takes `block_bytes`, and is not in the catalogue.

    Parameters
    ----------
    allgather
        Whatever moves equal blocks by messages that hang on no data.

    Returns
    -------
    Algorithm
        Called `simulated_` and the other's name.

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
        steps = {v: _noted(allgather, v, owners) for v in mine}
        _work_off(comm, recvbuf, pieces, owners, steps, tag)

    algorithm = Algorithm(
        operation="allgatherv",
        name=f"simulated_{allgather.name}",
        run=allgatherv_simulated,
        schedule=None,
        fits=positive_blocks_only,
        parameters={"block_bytes": BLOCK_BYTES},
    )
    return algorithm


class Numbers:
    """A buffer of block numbers start .. stop-1; there is nothing in it."""

    itemsize = 1

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop
        self.size = self.nbytes = stop - start

    def __getitem__(self, part: slice) -> Numbers:
        start, stop, _ = part.indices(self.size)
        return Numbers(self.start + start, self.start + max(start, stop))

    def __setitem__(self, part: slice, value: Any) -> NoReturn:
        raise DoesNotFit("an allgather that moves blocks within its memory cannot be simulated")

    def empty(self, size: int) -> NoReturn:
        raise DoesNotFit("an allgather that needs scratch memory cannot be simulated")


class Notes:
    """A communicator that sends nothing and notes what it was asked for."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size
        self.steps: deque[list[Side]] = deque()

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
        raise DoesNotFit("an allgather that has several messages under way cannot be simulated")

    Irecv = Isend


def _noted(allgather: Algorithm, v: int, owners: tuple[int, ...]) -> deque[list[Side]]:
    """The calls of virtual process v, in order."""
    notes = Notes(v, len(owners))
    aware = {"nodes": owners} if "nodes" in allgather.parameters else {}
    allgather.run(notes, None, Numbers(0, len(owners)), **aware)
    return notes.steps


def _work_off(
    comm: Comm, buf: Buffer, pieces: Pieces, owners: Sequence[int], steps: dict[int, deque[list[Side]]], tag: int
) -> None:
    """Do what the own virtual processes have to do, until none has anything left."""
    while True:
        _pass_on_within(steps)
        heads = [(v, queue[0]) for v, queue in steps.items() if queue]
        if not heads:
            return
        sends = [step for _, step in heads if step[0] and step[0][0] not in steps]
        receives = [step for _, step in heads if step[1] and step[1][0] not in steps]
        if len(sends) > 1 or len(receives) > 1:
            raise DoesNotFit(
                f"process {comm.Get_rank()} would have {len(sends)} sends and {len(receives)} receives at a time: the "
                "allgather must let one process of a node send off it, and one receive"
            )
        dest, outgoing = _message(sends, 0, buf, pieces, owners)
        source, incoming = _message(receives, 1, buf, pieces, owners)
        exchange(comm, outgoing, dest, incoming, source, tag)


def _message(
    steps: list[list[Side]], which: int, buf: Buffer, pieces: Pieces, owners: Sequence[int]
) -> tuple[int, Any]:
    """The real process and the real memory of a send (0) or a receive (1), which then counts as done."""
    side = steps[0][which] if steps else None
    if side is None:
        return 0, None
    steps[0][which] = None
    partner, blocks = side
    first, last = pieces.where(blocks.start), pieces.where(blocks.stop - 1)
    return owners[partner], buf[first.start : last.stop]


def _pass_on_within(steps: dict[int, deque[list[Side]]]) -> None:
    """Messages between virtual processes of this node: both ends are ready, and the block is there already."""
    look = list(steps)
    while look:
        v = look.pop()
        while steps[v] and steps[v][0] == [None, None]:
            steps[v].popleft()
        if not steps[v]:
            continue
        for which, side in enumerate(steps[v][0]):
            other = steps.get(side[0]) if side else None
            if side and other and (back := other[0][1 - which]) and back[0] == v:
                steps[v][0][which] = other[0][1 - which] = None
                look += [v, side[0]]
