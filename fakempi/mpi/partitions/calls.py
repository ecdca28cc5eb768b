"""Psend_init and Precv_init, of any communicator."""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_RANK
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.buffers.span import parse
from fakempi.mpi.failures.death import check_groups
from fakempi.mpi.partitions.channel import Channel, PartitionedReceive, PartitionedSend
from fakempi.mpi.point.handle import TAG_LIMIT, CommState
from fakempi.mpi.point.persistent import Prequest


class Partitioned(CommState):
    """Messages whose parts travel as they become ready."""

    __slots__ = ()

    def Psend_init(self, buf: Any, partitions: int, dest: int, tag: int = 0, info: Info = INFO_NULL) -> Prequest:
        """Prepare a send in so many partitions; after each Start, `Pready` lets them go."""
        self._check_alive()
        parts = self._parts(partitions)
        if not 0 <= dest < self._reach or not 0 <= tag <= TAG_LIMIT:
            self._post_nowhere(dest, tag)
        if dest == PROC_NULL:
            return Prequest._in_parts(self, buf, PartitionedSend(self._process, None, buf, parts, -1))
        parse(buf, blocks=parts)
        other = self._there.members[dest]  # type: ignore[union-attr]
        channel = self._channel(self._process.number, other, tag, "send")
        channel.parts, early, channel.early = parts, channel.early, None
        if early is not None:
            early.expect(parts)
        return Prequest._in_parts(self, buf, PartitionedSend(self._process, channel, buf, parts, other))

    def Precv_init(
        self, buf: Any, partitions: int, source: int = ANY_SOURCE, tag: int = ANY_TAG, info: Info = INFO_NULL
    ) -> Prequest:
        """Prepare a receive in so many partitions; after each Start, `Parrived` says which are there. No wildcards."""
        self._check_alive()
        parts = self._parts(partitions)
        if source == ANY_SOURCE or tag == ANY_TAG:
            self._raise(complaint(ERR_RANK, "a partitioned receive has a source and a tag: there are no wildcards."))
        if not 0 <= source < self._reach or not 0 <= tag <= TAG_LIMIT:
            self._await_nothing(source, tag)
        if source == PROC_NULL:
            return Prequest._in_parts(self, buf, PartitionedReceive(self._process, None, buf, parts, -1))
        parse(buf, writable=True, blocks=parts)
        other = self._there.members[source]  # type: ignore[union-attr]
        channel = self._channel(other, self._process.number, tag, "receive")
        return Prequest._in_parts(self, buf, PartitionedReceive(self._process, channel, buf, parts, other))

    def _parts(self, partitions: Any) -> int:
        parts = integer("partitions", partitions)
        if parts < 1:
            self._raise(complaint(ERR_ARG, f"partitions {parts} is not positive."))
        return parts

    def _channel(self, source: int, dest: int, tag: int, half: str) -> Channel:
        """The channel of the next such send, or receive: the first to come makes it."""
        context: Any = self._context
        self._check_caller()
        check_groups(context.universe, (source, dest))
        table = context.meetings.setdefault("channels", {})  # a table, which is no meeting
        count = table[half, source, dest, tag] = table.get((half, source, dest, tag), 0) + 1
        key = ("channel", source, dest, tag, count)
        found: Channel | None = table.pop(key, None)
        if found is None:
            found = table[key] = Channel(context.universe, source, dest)
        return found
