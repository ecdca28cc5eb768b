"""The block sizes of one fused call, as far as the ranks that have called know them.

In a gatherv, scatterv or alltoallv a rank knows the sizes of its own blocks; a root knows all sizes. In an allgatherv
between two groups a rank knows the size of its own block and those of the other group; in a reduce_scatter it knows those
of its own group. A rank that needs other sizes receives them in messages, so their senders have called, and the sizes are
known here. Sizes of ranks that have not called do not affect what a rank does until then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from fakempi.mpi.collective.fused_case import FusedCase

Carried = dict[int, dict[int, list[int]]]
"""By sender or by receiver: its partners, and the ranks whose blocks are in the message."""


class SizedMessages:
    """The messages of a gatherv, scatterv or alltoallv, by the schedule for blocks of one byte.

    The schedule for empty blocks has the messages with sizes, which precede the others. The others have the sender's block
    and those that the sender has received, or the receiver's block and those that the receiver will send.
    """

    def __init__(self, case: FusedCase) -> None:
        self.why_not = ""  # why the call is emulated
        self.with_sizes = Counter[int]()  # by rank: the number of its first steps, which transfer sizes
        self.sent: Carried = defaultdict(dict)  # not in an alltoallv, in which each message has one block
        self.received: Carried = defaultdict(dict)
        if case.sized and not case.why_not:
            try:
                self._find(case)
            except ValueError as error:  # an UnsupportedCaseError
                self.why_not = str(error)

    def _find(self, case: FusedCase) -> None:
        held: dict[int, list[int]] = defaultdict(list)
        with_sizes = [phase for phase in case.schedule(0) if phase[0].size] if case.q else []
        phases = (phase for phase in case.schedule() if phase[0].size)
        for one, other in zip(with_sizes, phases, strict=False):
            if one[1:] != other[1:] or not np.array_equal(one[0], other[0]):
                raise ValueError("it does not send all sizes before blocks")
            self.with_sizes.update(set(one[0][:2].ravel().tolist()))
        if case.operation == "alltoallv":
            return
        gathers = case.operation == "gatherv"
        messages = [message[:3] for phase in phases for message in phase[0].T.tolist()]
        for source, dest, count in messages if gathers else reversed(messages):
            nearer, farther = (dest, source) if gathers else (source, dest)  # to the root
            found = self.sent[source][dest] = self.received[dest][source] = [farther, *held[farther]]
            if len(found) != count:
                raise ValueError("ranks do not forward whole blocks")
            held[nearer] += found


class BlockSizes:
    """The sizes that the ranks which have called have passed."""

    def __init__(self, case: FusedCase, messages: SizedMessages) -> None:
        self.case, self.messages = case, messages
        self.version = 0  # is increased when sizes become known
        self.own: dict[int, tuple[Any, ...]] = {}  # by rank: the lists of sizes that it has passed
        self.blocks: dict[int, int] = {}  # by rank: bytes of its block
        self.lists: dict[int, tuple[int, ...]] = {}  # by group: bytes of all blocks

    def learn(self, rank: int, arrays: tuple[Any, ...]) -> FusedCase | None:
        """Add the sizes that a rank passes; if the sizes of all blocks are now known for the first time, return the case."""
        case, (out, into, *lists) = self.case, arrays
        mine = int(rank not in case.groups[0])
        if case.operation == "alltoallv":
            self.own[rank] = arrays[2:]
            return None
        if not case.sized or self.messages.with_sizes:  # otherwise a rank needs the sizes of its own blocks only
            self.version += 1
        if case.sized:
            if rank != case.root:
                self.blocks[rank] = (out if case.operation == "gatherv" else into).nbytes
            else:
                self.blocks |= zip(case.groups[-1], lists[0], strict=True)
            return None
        if len(self.lists) == 2:
            return None
        if case.operation == "allgatherv":
            self.blocks[rank] = out.nbytes
            self.lists[1 - mine] = tuple(lists[0])
            if mine not in self.lists and len(self.blocks) == len(case.groups[mine]):  # all of this group, and no other rank
                self.lists[mine] = tuple(self.blocks[each] for each in case.groups[mine])
        else:
            self.lists[mine] = tuple(count * case.itemsize for count in lists[0])
        return case._replace(sizes=self.lists[0], sizes_b=self.lists[1]) if len(self.lists) == 2 else None

    def of(self, rank: int) -> Any:
        """Return the bytes of each message that a rank sends, by destination, and that it receives, by source.

        A message whose size is not known yet is not the next one; it is not empty.
        """
        if rank in self.own:
            if not self.case.q:
                return self.own[rank]  # lists
            others = self.case.groups[rank < self.case.p]
            sends, receives = (dict(zip(others, sizes, strict=True)) for sizes in self.own[rank])
            return sends, receives
        blocks = self.blocks
        sends, receives = (
            {partner: sum([blocks.get(each, 1) for each in ranks]) for partner, ranks in messages.get(rank, {}).items()}
            for messages in (self.messages.sent, self.messages.received)
        )
        return sends, receives
