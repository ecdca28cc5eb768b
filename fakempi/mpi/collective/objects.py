"""Collective calls on Python objects: sizes first, then the pickles; reductions on one object per rank.

Results are always copies, even of the rank's own object, so that an operation may modify its operands.
`fakempi.tuning.objects` defines the algorithms for objects, and the meaning of `algorithms=` for them. Pickles have no
out-of-band buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import FrameType
from typing import Any

import numpy as np

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_OP
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.region import WholeCall
from fakempi.mpi.buffers.objects import pack, pack_all, unpack
from fakempi.mpi.collective.call_facts import Root
from fakempi.mpi.collective.object_arrays import ObjectOp, PickledElement, items, one_element, split_pickles
from fakempi.mpi.collective.repeated import RepeatedCalls
from fakempi.mpi.operations.op import SUM, Op


class ObjectCollectives(RepeatedCalls):
    """bcast, gather and the other calls on objects."""

    __slots__ = ()

    def barrier(self) -> None:
        """Wait until all ranks have called."""
        self._call(frame_at(1), "barrier")

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """Return the root's object, on all ranks; on an intercommunicator, on the ranks of the other group."""
        role, frame = self._check_root(root), frame_at(1)
        data: Any
        data, size = self._pickled([obj]) if role.is_this_rank else (None, np.empty(1, np.int64))
        with self._region("bcast", data, role):
            self._call(frame, "bcast", size, None, None, root)
            if data is None and not role.idle:
                data = np.empty(int(size[0]), np.uint8)
            self._call(frame, "bcastv", data, None, None, root)
        return unpack(data, data.size, self._process.pickle) if role.has_block else None

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """Return a list of all ranks' objects at the root, None elsewhere."""
        role, frame = self._check_root(root), frame_at(1)
        mine, size = self._pickled([sendobj]) if role.has_block else (None, None)
        sizes = np.empty(self._n_peers, np.int64) if role.is_this_rank else None
        with self._region("gather", mine, role):
            self._call(frame, "gather", size, sizes, None, root)
            data = None if sizes is None else np.empty(int(sizes.sum()), np.uint8)
            blocks = None if sizes is None else [data, sizes.tolist()]
            self._call(frame, "gatherv", mine, blocks, None, root)
        return None if sizes is None else self._objects(data, sizes)

    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """Return this rank's item of the root's sequence."""
        role, frame = self._check_root(root), frame_at(1)
        data, sizes = self._pickled(items(sendobj, self._n_peers)) if role.is_this_rank else (None, None)
        size = np.empty(1, np.int64) if role.has_block else None
        with self._region("scatter", data, role):
            self._call(frame, "scatter", size, sizes, None, root)
            mine: Any = None if size is None else np.empty(int(size[0]), np.uint8)
            blocks = None if sizes is None else [data, sizes.tolist()]
            self._call(frame, "scatterv", mine, blocks, None, root)
        return None if size is None else unpack(mine, mine.size, self._process.pickle)

    def allgather(self, sendobj: Any) -> list[Any]:
        """Return a list of all ranks' objects."""
        p, frame = self._peer_count(), frame_at(1)
        mine, size = self._pickled([sendobj])
        sizes = np.empty(p, np.int64)
        with self._region("allgather", mine):
            self._call(frame, "allgather", size, sizes)
            data = np.empty(int(sizes.sum()), np.uint8)
            blocks = [data, sizes.tolist()]
            self._call(frame, "allgatherv", mine, blocks)
        return self._objects(data, sizes)

    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Send item i to rank i; return the items received, one per rank."""
        p, frame = self._peer_count(), frame_at(1)
        out, out_sizes = self._pickled(items(sendobj, p))
        sizes = np.empty(p, np.int64)
        with self._region("alltoall", out):
            self._call(frame, "alltoall", out_sizes, sizes)
            data = np.empty(int(sizes.sum()), np.uint8)
            send_blocks, receive_blocks = [out, out_sizes.tolist()], [data, sizes.tolist()]
            self._call(frame, "alltoallv", send_blocks, receive_blocks)
        return self._objects(data, sizes)

    # -- reductions -----------------------------------------------------------------------------------------------

    def reduce(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM, root: int = 0) -> Any | None:
        """Return all ranks' objects combined at the root, None elsewhere; on an intercommunicator, the other group's."""
        role = self._check_root(root)
        return self._combine(frame_at(1), "reduce", sendobj, op, role)

    def allreduce(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """Return all ranks' objects combined, on all ranks; on an intercommunicator, the other group's."""
        return self._combine(frame_at(1), "allreduce", sendobj, op)

    def _combine(self, frame: FrameType, operation: str, sendobj: object, op: object, root: Root | None = None) -> Any:
        """Run a reduction of objects; return its result on this rank, or None."""
        self._peer_count()
        if not callable(op):
            raise mpi_error(ERR_OP, f"op is {op!r}, which cannot be called.", MPITypeError)
        if root is not None and root.idle:
            self._plan_idle(root)()
            return None
        settings = self._process.pickle
        out, nbytes = None, 0
        if root is None or root.has_block:
            packed = pack(sendobj, settings)
            out, nbytes = one_element(PickledElement(settings, packed)), packed[1]
        into = one_element(None) if root is None or root.is_this_rank else None
        name = op._display_name() if isinstance(op, Op) else "a function"
        self._call(frame, operation, (out, into, ObjectOp(op, settings, sendobj)), nbytes, name, root)
        return None if into is None or into[0] is None else into[0].take()

    # -- private --------------------------------------------------------------------------------------------------

    def _region(self, name: str, data: Any, root: Root | None = None) -> AbstractContextManager[None]:
        """Return a region of the trace for the whole call; none for a rank that passes PROC_NULL."""
        if root is not None and root.idle:
            return nullcontext()
        recorded_root = None if root is None or self._is_inter else root.rank
        return WholeCall(self, name, nbytes=0 if data is None else data.nbytes, root=recorded_root)

    def _pickled(self, objects: Sequence[object]) -> tuple[Any, Any]:
        """Return the pickles of objects in one array, and their sizes."""
        return pack_all(objects, self._process.pickle)

    def _objects(self, data: Any, sizes: Any) -> list[Any]:
        """Return the objects of the pickles in one array."""
        return [unpack(*packed, self._process.pickle) for packed in split_pickles(data, sizes)]
