"""Psend_init and Precv_init."""

from __future__ import annotations

from typing import SupportsIndex

from fakempi.errors.classes import ERR_ARG, ERR_RANK, ERR_TAG
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.buffers.resolve import pinned
from fakempi.mpi.buffers.span import span_of
from fakempi.mpi.buffers.typing import BufSpec
from fakempi.mpi.failures.kill import check_groups
from fakempi.mpi.partitions.channel import PartitionedChannel, PartitionedReceive, PartitionedSend
from fakempi.mpi.point.handle import TAG_LIMIT, CommState
from fakempi.mpi.point.persistent import Prequest


class Partitioned(CommState):
    """The partitioned calls of a communicator."""

    __slots__ = ()

    def Psend_init(self, buf: BufSpec, partitions: int, dest: int, tag: int = 0, info: Info = INFO_NULL) -> Prequest:
        """Create a request for a send in partitions; after each Start, `Pready` sends a partition."""
        self._check_alive()
        parts, buf = self._parts(partitions), pinned(buf)
        dest, tag = integer("dest", dest, 0), integer("tag", tag, 0)
        if not 0 <= dest < self._n_peers or not 0 <= tag <= TAG_LIMIT:
            self._null_send(dest, tag)
        if dest == PROC_NULL:
            return Prequest._of_partitions(self, buf, PartitionedSend(self._process, None, buf, parts, -1))
        span_of(buf, blocks=parts)
        other = self._peer_side.members[dest]
        channel = self._channel(self._process.number, other, tag, "send")
        channel.parts, early, channel.early = parts, channel.early, None
        if early is not None:
            early.post_receives(parts)
        return Prequest._of_partitions(self, buf, PartitionedSend(self._process, channel, buf, parts, other))

    def Precv_init(
        self, buf: BufSpec, partitions: int, source: int = ANY_SOURCE, tag: int = ANY_TAG, info: Info = INFO_NULL
    ) -> Prequest:
        """Create a request for a receive in partitions; after each Start, `Parrived` tests a partition. No wildcards."""
        self._check_alive()
        parts, buf = self._parts(partitions), pinned(buf)
        source, tag = integer("source", source, 0), integer("tag", tag, 0)
        if source == ANY_SOURCE or tag == ANY_TAG:
            sentence = "a partitioned receive needs a source and a tag: wildcards are not allowed."
            self._raise(mpi_error(ERR_RANK if source == ANY_SOURCE else ERR_TAG, sentence))
        if not 0 <= source < self._n_peers or not 0 <= tag <= TAG_LIMIT:
            self._null_receive(source, tag)
        if source == PROC_NULL:
            return Prequest._of_partitions(self, buf, PartitionedReceive(self._process, None, buf, parts, -1, source, tag))
        span_of(buf, writable=True, blocks=parts)
        other = self._peer_side.members[source]
        channel = self._channel(other, self._process.number, tag, "receive")
        return Prequest._of_partitions(self, buf, PartitionedReceive(self._process, channel, buf, parts, other, source, tag))

    def _parts(self, partitions: SupportsIndex) -> int:
        parts = integer("partitions", partitions)
        if parts < 1:
            self._raise(mpi_error(ERR_ARG, f"partitions {parts} is not positive."))
        return parts

    def _channel(self, source: int, dest: int, tag: int, direction: str) -> PartitionedChannel:
        """Return the channel of the next such send or receive; the first of the two calls creates it."""
        context: Context = self._context
        self._check_caller()
        check_groups(context.universe, (source, dest))
        table = context.open_calls.setdefault("channels", {})  # a table, not a call
        count = table[direction, source, dest, tag] = table.get((direction, source, dest, tag), 0) + 1
        key = ("channel", source, dest, tag, count)
        channel: PartitionedChannel | None = table.pop(key, None)
        if channel is None:
            channel = table[key] = PartitionedChannel(context.universe, source, dest)
        return channel
