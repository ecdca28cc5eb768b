"""Collective communication of Python objects: sizes first, then their pickles; reductions along a tree, in rank order.

What comes back is always a copy, of one's own object too, and an operation may do to its operands whatever it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_OP
from fakempi.errors import MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import PROC_NULL, ROOT
from fakempi.mpi.buffers.objects import pack, unpack
from fakempi.mpi.buffers.payload import as_bytes
from fakempi.mpi.collective.calls import Root, items
from fakempi.mpi.collective.plans import CollectivePlans
from fakempi.mpi.operations.op import SUM, Op


class ObjectCollectives(CollectivePlans):
    """bcast, gather and their kin."""

    __slots__ = ()

    def barrier(self) -> None:
        """Wait until all ranks have come."""
        self._plan_barrier()()

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """The root's object, on all ranks; between two groups, on those of the other one."""
        role = self._check_root(root)
        data, size = self._pickled([obj]) if role.here else (None, np.empty(1, np.int64))
        self._plan_bcast(size, root)()
        if data is None and not role.idle:
            data = np.empty(int(size[0]), np.uint8)
        self._plan_bcast(data, root)()
        return self._objects(data, size)[0] if role.has_block else None

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """A list of all ranks' objects at the root, None elsewhere."""
        role = self._check_root(root)
        mine, size = self._pickled([sendobj]) if role.has_block else (None, None)
        sizes = np.empty(self._reach, np.int64) if role.here else None
        self._plan_gather(size, sizes, root)()
        if sizes is None:
            self._plan_gatherv(mine, None, root)()
            return None
        data = np.empty(int(sizes.sum()), np.uint8)
        self._plan_gatherv(mine, [data, sizes.tolist()], root)()
        return self._objects(data, sizes)

    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """This rank's item of the root's sequence."""
        role = self._check_root(root)
        data, sizes = self._pickled(items(sendobj, self._reach)) if role.here else (None, None)
        size = np.empty(1, np.int64) if role.has_block else None
        self._plan_scatter(sizes, size, root)()
        mine = None if size is None else np.empty(int(size[0]), np.uint8)
        self._plan_scatterv(None if sizes is None else [data, sizes.tolist()], mine, root)()
        return None if size is None else self._objects(mine, size)[0]

    def allgather(self, sendobj: Any) -> list[Any]:
        """A list of all ranks' objects."""
        p = self._everybody()
        mine, size = self._pickled([sendobj])
        sizes = np.empty(p, np.int64)
        self._plan_allgather(size, sizes)()
        data = np.empty(int(sizes.sum()), np.uint8)
        self._plan_allgatherv(mine, [data, sizes.tolist()])()
        return self._objects(data, sizes)

    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Item i goes to rank i; returns what came from each rank."""
        p = self._everybody()
        out, out_sizes = self._pickled(items(sendobj, p))
        sizes = np.empty(p, np.int64)
        self._plan_alltoall(out_sizes, sizes)()
        data = np.empty(int(sizes.sum()), np.uint8)
        self._plan_alltoallv([out, out_sizes.tolist()], [data, sizes.tolist()])()
        return self._objects(data, sizes)

    # -- reductions -----------------------------------------------------------------------------------------------

    def reduce(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM, root: int = 0) -> Any | None:
        """All ranks' objects combined at the root, None elsewhere; between two groups, those of the other one."""
        return self._reduce(sendobj, op, self._check_root(root))

    def allreduce(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """All ranks' objects combined, on all ranks; between two groups, those of the other one."""
        self._everybody()
        if not self._between:
            return self.bcast(self._reduce(sendobj, op, self._check_root(0)), 0)
        (_, local), tag = self._enter_reduction(op, {})
        mine, theirs, first = self._up_a_tree(local, sendobj, op, tag), None, self._local().context.sides[0]
        for side in first, first.context.sides[1]:
            if side is self._side:
                self.bcast(mine, PROC_NULL if self._rank else ROOT)
            else:
                theirs = self.bcast(None, 0)
        return theirs

    def _reduce(self, sendobj: Any, op: Any, root: Root) -> Any:
        """A tree to rank 0 of those who have objects, and from there to the root."""
        twins, tag = self._enter_reduction(op, root.agreed, idle=root.idle)
        mine = self._up_a_tree(twins[-1], sendobj, op, tag) if root.has_block else None
        if root.has_block and not self._rank:
            if root.here:
                return mine
            twins[0].send(mine, root.rank, tag)
        return twins[0].recv(source=0, tag=tag) if root.here else None

    def _up_a_tree(self, comm: Any, sendobj: Any, op: Any, tag: int) -> Any:
        """At rank 0 all objects combined: by a binomial tree, which keeps rank order."""
        mine, rank, size, distance = self._copy(sendobj), comm.Get_rank(), comm.Get_size(), 1
        while distance < size and not rank & distance:
            if rank + distance < size:
                mine = op(mine, comm.recv(source=rank + distance, tag=tag))
            distance *= 2
        if rank:
            comm.send(mine, rank - distance, tag)
        return mine

    # -- inside ---------------------------------------------------------------------------------------------------

    def _enter_reduction(self, op: Any, agreed: dict[str, Any], *, idle: bool = False) -> tuple[tuple[Any, ...], int]:
        if not callable(op):
            raise complaint(ERR_OP, f"op is {op!r}, which cannot be called.", MPITypeError)
        name = op._name_for_people() if isinstance(op, Op) else "a function"
        return self._enter_call(agreed if idle else {**agreed, "the operation": name})

    def _copy(self, obj: Any) -> Any:
        """The object as others would get it."""
        settings = self._process.pickle
        return unpack(*pack(obj, settings), settings)

    def _pickled(self, objects: Sequence[Any]) -> tuple[Any, Any]:
        """The pickles of objects in a row, and their sizes."""
        packed = [pack(each, self._process.pickle) for each in objects]
        data = b"".join(as_bytes(content, nbytes) for content, nbytes in packed)
        return np.frombuffer(data, np.uint8), np.array([nbytes for _, nbytes in packed], np.int64)

    def _objects(self, data: Any, sizes: Any) -> list[Any]:
        """What the pickles in a row stand for."""
        ends = np.cumsum(sizes)
        return [
            unpack(data[end - size : end].tobytes(), int(size), self._process.pickle)
            for size, end in zip(sizes, ends, strict=True)
        ]
