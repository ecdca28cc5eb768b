"""Collective communication of Python objects: sizes first, then their pickles; reductions on one object of each rank.

What comes back is always a copy, of one's own object too, and an operation may do to its operands whatever it likes. Which
algorithms serve objects, and what `algorithms=` means for them, is in `fakempi.tuning.objects`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from sys import _getframe
from types import FrameType
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_OP
from fakempi.errors import MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.region import WholeCall
from fakempi.mpi.buffers.objects import in_a_row, pack, unpack
from fakempi.mpi.collective.calls import Root, items
from fakempi.mpi.collective.parcels import Combining, Parcel, one_parcel, parted
from fakempi.mpi.collective.sized import SizedAgain
from fakempi.mpi.operations.op import SUM, Op


class ObjectCollectives(SizedAgain):
    """bcast, gather and their kin."""

    __slots__ = ()

    def barrier(self) -> None:
        """Wait until all ranks have come."""
        self._barrier_again(_getframe(1), "barrier")

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """The root's object, on all ranks; between two groups, on those of the other one."""
        role, frame = self._check_root(root), _getframe(1)
        data: Any
        data, size = self._pickled([obj]) if role.here else (None, np.empty(1, np.int64))
        with self._whole("bcast", data, role):
            self._bcast_again(frame, "bcast", size, root)
            if data is None and not role.idle:
                data = np.empty(int(size[0]), np.uint8)
            self._bcast_again(frame, "bcast", data, root)
        return unpack(data, data.size, self._process.pickle) if role.has_block else None

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """A list of all ranks' objects at the root, None elsewhere."""
        role, frame = self._check_root(root), _getframe(1)
        mine, size = self._pickled([sendobj]) if role.has_block else (None, None)
        sizes = np.empty(self._reach, np.int64) if role.here else None
        with self._whole("gather", mine, role):
            self._gather_again(frame, "gather", size, sizes, root, partial(self._plan_gather, objects=True))
            data = None if sizes is None else np.empty(int(sizes.sum()), np.uint8)
            blocks = None if sizes is None else [data, sizes.tolist()]
            self._gatherv_again(frame, "gatherv", mine, blocks, root, partial(self._plan_gatherv, objects=True))
        return None if sizes is None else self._objects(data, sizes)

    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """This rank's item of the root's sequence."""
        role, frame = self._check_root(root), _getframe(1)
        data, sizes = self._pickled(items(sendobj, self._reach)) if role.here else (None, None)
        size = np.empty(1, np.int64) if role.has_block else None
        with self._whole("scatter", data, role):
            self._scatter_again(frame, "scatter", sizes, size, root, partial(self._plan_scatter, objects=True))
            mine: Any = None if size is None else np.empty(int(size[0]), np.uint8)
            blocks = None if sizes is None else [data, sizes.tolist()]
            self._scatterv_again(frame, "scatterv", blocks, mine, root, partial(self._plan_scatterv, objects=True))
        return None if size is None else unpack(mine, mine.size, self._process.pickle)

    def allgather(self, sendobj: Any) -> list[Any]:
        """A list of all ranks' objects."""
        p, frame = self._everybody(), _getframe(1)
        mine, size = self._pickled([sendobj])
        sizes = np.empty(p, np.int64)
        with self._whole("allgather", mine):
            self._move_again(frame, "allgather", size, sizes, partial(self._plan_allgather, objects=True))
            data = np.empty(int(sizes.sum()), np.uint8)
            blocks = [data, sizes.tolist()]
            self._allgatherv_again(frame, "allgatherv", mine, blocks, partial(self._plan_allgatherv, objects=True))
        return self._objects(data, sizes)

    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Item i goes to rank i; returns what came from each rank."""
        p, frame = self._everybody(), _getframe(1)
        out, out_sizes = self._pickled(items(sendobj, p))
        sizes = np.empty(p, np.int64)
        with self._whole("alltoall", out):
            self._move_again(frame, "alltoall", out_sizes, sizes, partial(self._plan_alltoall, objects=True))
            data = np.empty(int(sizes.sum()), np.uint8)
            gives, takes = [out, out_sizes.tolist()], [data, sizes.tolist()]
            self._alltoallv_again(frame, "alltoallv", gives, takes, partial(self._plan_alltoallv, objects=True))
        return self._objects(data, sizes)

    # -- reductions -----------------------------------------------------------------------------------------------

    def reduce(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM, root: int = 0) -> Any | None:
        """All ranks' objects combined at the root, None elsewhere; between two groups, those of the other one."""
        role = self._check_root(root)
        return self._combine(_getframe(1), "reduce", sendobj, op, role)

    def allreduce(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """All ranks' objects combined, on all ranks; between two groups, those of the other one."""
        return self._combine(_getframe(1), "allreduce", sendobj, op)

    def _combine(self, frame: FrameType, operation: str, sendobj: Any, op: Any, root: Root | None = None) -> Any:
        """What a reduction leaves on this rank; None if nothing."""
        self._everybody()
        if not callable(op):
            raise complaint(ERR_OP, f"op is {op!r}, which cannot be called.", MPITypeError)
        if root is not None and root.idle:
            self._stand_by(root)
            return None
        settings = self._process.pickle
        out, nbytes = None, 0
        if root is None or root.has_block:
            packed = pack(sendobj, settings)
            out, nbytes = one_parcel(Parcel(settings, packed)), packed[1]
        into = one_parcel(None) if root is None or root.here else None
        name = op._name_for_people() if isinstance(op, Op) else "a function"
        combining = Combining(op, settings)
        key = operation, id(frame.f_code), frame.f_lasti, name, None if root is None else root.rank
        recipe = None if settings is not None else self._known(key)  # texts have settings in them
        if recipe is None:
            agreed = {"the operation": name}
            run = self._choose(operation, nbytes, agreed, root=root, op=combining, bound=combining, count=1, objects=True)
            if settings is None:
                self._remember(key, frame, None, run)
            run(out, into)
        else:
            self._follow(recipe, out, into, combining)
        return None if into is None or into[0] is None else into[0].take()

    # -- inside ---------------------------------------------------------------------------------------------------

    def _whole(self, name: str, data: Any, root: Root | None = None) -> AbstractContextManager[None]:
        """The call as one region of the trace; beside the root of another group there is none."""
        if root is not None and root.idle:
            return nullcontext()
        return WholeCall(self, name, nbytes=0 if data is None else data.nbytes, root=self._recorded_root(root))

    def _pickled(self, objects: Sequence[Any]) -> tuple[Any, Any]:
        """The pickles of objects in a row, and their sizes."""
        return in_a_row(objects, self._process.pickle)

    def _objects(self, data: Any, sizes: Any) -> list[Any]:
        """What the pickles in a row stand for."""
        return [unpack(*packed, self._process.pickle) for packed in parted(data, sizes)]
