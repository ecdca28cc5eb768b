"""Collective communication of Python objects: sizes first, then their pickles; reductions along a tree, in rank order.

What comes back is always a copy, of one's own object too, and an operation may do to its operands whatever it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_OP
from fakempi.errors import MPITypeError
from fakempi.mpi.buffers import as_bytes
from fakempi.mpi.collective_calls import items
from fakempi.mpi.collective_plans import CollectivePlans
from fakempi.mpi.complain import complaint
from fakempi.mpi.objects import pack, unpack
from fakempi.mpi.op import SUM, Op


class ObjectCollectives(CollectivePlans):
    """bcast, gather and their kin."""

    __slots__ = ()

    def barrier(self) -> None:
        """Wait until all ranks have come."""
        self._plan_barrier()()

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """The root's object, on all ranks."""
        root, _ = self._check_root(root)
        data, size = self._pickled([obj]) if self._rank == root else (None, np.empty(1, np.int64))
        self._plan_bcast(size, root)()
        if data is None:
            data = np.empty(int(size[0]), np.uint8)
        self._plan_bcast(data, root)()
        return self._objects(data, size)[0]

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """A list of all ranks' objects at the root, None elsewhere."""
        root, p = self._check_root(root)
        mine, size = self._pickled([sendobj])
        sizes = np.empty(p, np.int64) if self._rank == root else None
        self._plan_gather(size, sizes, root)()
        if sizes is None:
            self._plan_gatherv(mine, None, root)()
            return None
        data = np.empty(int(sizes.sum()), np.uint8)
        self._plan_gatherv(mine, [data, sizes.tolist()], root)()
        return self._objects(data, sizes)

    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """This rank's item of the root's sequence."""
        root, p = self._check_root(root)
        size = np.empty(1, np.int64)
        if self._rank == root:
            data, sizes = self._pickled(items(sendobj, p))
            self._plan_scatter(sizes, size, root)()
            mine = np.empty(int(size[0]), np.uint8)
            self._plan_scatterv([data, sizes.tolist()], mine, root)()
        else:
            self._plan_scatter(None, size, root)()
            mine = np.empty(int(size[0]), np.uint8)
            self._plan_scatterv(None, mine, root)()
        return self._objects(mine, size)[0]

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
        """All ranks' objects combined at the root, None elsewhere."""
        root, _ = self._check_root(root)
        return self._reduce(sendobj, op, root)

    def allreduce(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """All ranks' objects combined, on all ranks."""
        self._everybody()
        return self.bcast(self._reduce(sendobj, op, 0), 0)

    def scan(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """The objects of all ranks up to this one combined."""
        return self._scan(sendobj, op, inclusive=True)

    def exscan(self, sendobj: Any, op: Op | Callable[[Any, Any], Any] = SUM) -> Any:
        """The objects of all ranks before this one combined; None on rank 0."""
        return self._scan(sendobj, op, inclusive=False)

    def _reduce(self, sendobj: Any, op: Any, root: int) -> Any:
        """A binomial tree to rank 0, which keeps rank order, and from there to the root."""
        twin, tag = self._enter_reduction(op, {"root": root})
        mine, rank, size, distance = self._copy(sendobj), self._rank, self._reach, 1
        while distance < size and not rank & distance:
            if rank + distance < size:
                mine = op(mine, twin.recv(source=rank + distance, tag=tag))
            distance *= 2
        if rank:
            twin.send(mine, rank - distance, tag)
        elif root:
            twin.send(mine, root, tag)
        if rank == root:
            return twin.recv(source=0, tag=tag) if root else mine
        return None

    def _scan(self, sendobj: Any, op: Any, *, inclusive: bool) -> Any:
        """By recursive doubling, in rank order."""
        self._everybody()
        twin, tag = self._enter_reduction(op, {})
        rank, size, distance = self._rank, self._reach, 1
        run = self._copy(sendobj)  # of the `distance` ranks up to this one
        before: list[Any] = []  # of those before it, once there are any
        while distance < size:
            request = twin.isend(run, rank + distance, tag) if rank + distance < size else None
            if rank >= distance:
                received = twin.recv(source=rank - distance, tag=tag)
                if not inclusive:
                    before = [op(self._copy(received), before[0]) if before else self._copy(received)]
                run = op(received, run)
            if request is not None:
                request.wait()
            distance *= 2
        return run if inclusive else before[0] if before else None

    # -- inside ---------------------------------------------------------------------------------------------------

    def _enter_reduction(self, op: Any, agreed: dict[str, Any]) -> tuple[Any, int]:
        if not callable(op):
            raise complaint(ERR_OP, f"op is {op!r}, which cannot be called.", MPITypeError)
        name = op._name_for_people() if isinstance(op, Op) else "a function"
        return self._enter_call({**agreed, "the operation": name})

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
