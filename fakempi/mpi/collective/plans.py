"""Collective calls, planned: describe the buffers, see that all ranks agree, choose an algorithm, and say what to do.

A plan is a function without arguments that does the work. A blocking call makes one and calls it; a nonblocking call has
a child task call it; a persistent one has a child task call it at each start. Nothing is read before a plan is carried out.
The work is done on a twin of the communicator: the same ranks, another context, so that no message of the program ever
meets one of ours.

One text serves one group and two. The blocks of a call are those of the ranks that this one sends to and receives from: of
its own group, or of the other. A rooted call has its root among them, or is the root's (`Root`). What differs: a rank has
no block for itself, nothing is in place, and what goes out and what comes in need not be of one size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.error_classes import ERR_COUNT
from fakempi.errors import MPIValueError
from fakempi.mpi.base.agreement import Traffic
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.buffers.flat import Flat, FlatVector, blocks_w
from fakempi.mpi.buffers.payload import copy_into, signature_of, snapshot
from fakempi.mpi.buffers.specification import is_in_place
from fakempi.mpi.collective.calls import CollectiveCalls, Plan, Root, using
from fakempi.mpi.operations.op import Op


class CollectivePlans(CollectiveCalls):
    """One method for each operation, which returns a plan."""

    __slots__ = ()

    def _plan_barrier(self) -> Plan:
        self._everybody()
        return self._choose("barrier", 0, {})

    def _plan_bcast(self, buf: Any, root: int) -> Plan:
        role = self._check_root(root)
        if role.idle:
            return self._stand_by(role)
        data = Flat.of(buf, writable=not role.here)
        mine, theirs = (data, None) if role.here else (None, data)
        run = self._choose("bcast", data.nbytes, _uniform(data), root=role, kinds=self._types_of(mine, theirs))

        def work() -> None:
            array = data.load()
            if isinstance(array, np.ndarray) and not array.flags.writeable:
                array = array.copy()  # the root's: some algorithms bring it back to it, piece by piece
            run(array)
            if not role.here:
                data.store()

        _keep_recipe(work, run)
        return using(work, *(((data,), ()) if role.here else ((), (data,))))

    # -- gather and scatter ---------------------------------------------------------------------------------------

    def _plan_gather(self, sendbuf: Any, recvbuf: Any, root: int, *, objects: bool = False) -> Plan:
        role, p = self._check_root(root), self._reach
        if role.idle:
            return self._stand_by(role)
        if not role.here:
            return self._plan_give("gather", Flat.of(sendbuf), role, objects=objects)
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = self._block_of_root(role, sendbuf)
        nbytes = into.nbytes // p
        self._check_pair(out, into, "recvbuf holds blocks of", nbytes)
        kinds = self._types_of(None, into)
        run = self._choose("gather", nbytes, _uniform(into, nbytes), root=role, objects=objects, kinds=kinds)
        return _receiving(out, into, run)

    def _plan_scatter(self, sendbuf: Any, recvbuf: Any, root: int, *, objects: bool = False) -> Plan:
        role, p = self._check_root(root), self._reach
        if role.idle:
            return self._stand_by(role)
        if not role.here:
            return self._plan_take("scatter", Flat.of(recvbuf, writable=True), role, objects=objects)
        out = Flat.of(sendbuf, blocks=p)
        into = self._block_of_root(role, recvbuf, writable=True)
        nbytes = out.nbytes // p
        self._check_pair(into, out, "sendbuf holds blocks of", nbytes, "recvbuf")
        kinds = self._types_of(out)
        run = self._choose("scatter", nbytes, _uniform(out, nbytes), root=role, objects=objects, kinds=kinds)
        return _receiving(out, into, run)

    def _plan_gatherv(self, sendbuf: Any, recvbuf: Any, root: int, *, objects: bool = False) -> Plan:
        role, p = self._check_root(root), self._reach
        if role.idle:
            return self._stand_by(role)
        if not role.here:
            return self._plan_give("gatherv", Flat.of(sendbuf), role, objects=objects)
        into = FlatVector.of(recvbuf, p, writable=True)
        out = self._block_of_root(role, sendbuf)
        if out is not None:
            self._check_pair(out, into, f"block {self._rank} of recvbuf has", into.sizes[self._rank])
        traffic = Traffic((), into.sizes, None, into.signature)
        run = self._choose("gatherv", 0, {}, root=role, traffic=traffic, objects=objects)
        return _receiving(out, into, run, into.sizes)

    def _plan_scatterv(self, sendbuf: Any, recvbuf: Any, root: int, *, objects: bool = False) -> Plan:
        role, p = self._check_root(root), self._reach
        if role.idle:
            return self._stand_by(role)
        if not role.here:
            return self._plan_take("scatterv", Flat.of(recvbuf, writable=True), role, objects=objects)
        out = FlatVector.of(sendbuf, p)
        into = self._block_of_root(role, recvbuf, writable=True)
        if into is not None:
            self._check_pair(into, out, f"block {self._rank} of sendbuf has", out.sizes[self._rank], "recvbuf")
        traffic = Traffic(out.sizes, (), out.signature, None)
        run = self._choose("scatterv", 0, {}, root=role, traffic=traffic, objects=objects)
        return _receiving(out, into, run, out.sizes)

    @staticmethod
    def _block_of_root(role: Root, buffer: Any, *, writable: bool = False, elements: bool = False) -> Flat | None:
        """What the root has for itself; None if it is in place, or if it has nothing."""
        if not role.has_block or is_in_place(buffer):
            return None
        return Flat.of(buffer, writable=writable, elements=elements)

    def _plan_give(self, operation: str, out: Flat, role: Root, *, objects: bool = False) -> Plan:
        """The part of a rank that is not the root of a gather."""
        if operation == "gather":
            run = self._choose(operation, out.nbytes, _uniform(out), root=role, objects=objects, kinds=self._types_of(out))
            return _receiving(out, None, run)
        traffic = Traffic({role.rank: out.nbytes}, {}, out.signature)
        run = self._choose(operation, 0, {}, root=role, traffic=traffic, objects=objects)
        return _receiving(out, None, run, None)

    def _plan_take(self, operation: str, into: Flat, role: Root, *, objects: bool = False) -> Plan:
        """The part of a rank that is not the root of a scatter."""
        if operation == "scatter":
            kinds = self._types_of(None, into)
            run = self._choose(operation, into.nbytes, _uniform(into), root=role, objects=objects, kinds=kinds)
            return _receiving(None, into, run)
        traffic = Traffic({}, {role.rank: into.nbytes}, None, into.signature)
        run = self._choose(operation, 0, {}, root=role, traffic=traffic, objects=objects)
        return _receiving(None, into, run, None)

    # -- all to all -----------------------------------------------------------------------------------------------

    def _plan_allgather(self, sendbuf: Any, recvbuf: Any, *, objects: bool = False) -> Plan:
        p = self._everybody()
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf)
        nbytes = into.nbytes // p
        self._check_pair(out, into, "recvbuf holds blocks of", nbytes)
        mine = nbytes if out is None else out.nbytes
        agreed = {**self._both_ways("the size in bytes", mine, nbytes), **_kind(into)}
        kinds = self._types_of(out, into)
        return _receiving(out, into, self._choose("allgather", mine, agreed, other=nbytes, objects=objects, kinds=kinds))

    def _plan_allgatherv(self, sendbuf: Any, recvbuf: Any, *, objects: bool = False) -> Plan:
        into = FlatVector.of(recvbuf, self._everybody(), writable=True)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf)
        agreed, traffic, nbytes = {"the list of sizes in bytes": into.sizes, **_kind(into)}, None, into.nbytes
        if not self._between:
            self._check_pair(out, into, f"block {self._rank} of recvbuf has", into.sizes[self._rank])
        elif out is not None:
            self._check_pair(out, into, "", 0)
            agreed = {**self._said_of("the list of sizes in bytes", self._there, into.sizes), **_kind(into)}
            # All ranks of a group say the same of the other one, so it is enough that rank 0 hears of each.
            traffic, nbytes = Traffic({0: out.nbytes}, into.sizes if self._rank == 0 else {}), 0
        kinds = self._types_of(out, into)
        run = self._choose("allgatherv", nbytes, agreed, traffic=traffic, objects=objects, sizes=into.sizes, kinds=kinds)
        return _receiving(out, into, run, into.sizes)

    def _plan_alltoall(self, sendbuf: Any, recvbuf: Any, *, objects: bool = False) -> Plan:
        p = self._everybody()
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf, blocks=p)
        self._check_pair(out, into, "recvbuf has", into.nbytes)
        theirs = into.nbytes // p
        mine = theirs if out is None else out.nbytes // p
        agreed = {**self._both_ways("the size in bytes", mine, theirs), **_kind(into)}
        # Rules may look at it, so all must say the same; the standard wants that too.
        agreed["sendbuf"] = "IN_PLACE" if out is None else "a buffer"
        in_place = out is None
        kinds = self._types_of(out, into)
        run = self._choose("alltoall", mine, agreed, other=theirs, in_place=in_place, objects=objects, kinds=kinds)
        return _receiving(out, into, run)

    def _plan_alltoallv(self, sendbuf: Any, recvbuf: Any, *, objects: bool = False) -> Plan:
        p, rank = self._everybody(), self._rank
        into = FlatVector.of(recvbuf, p, writable=True)
        out = None if self._in_place(sendbuf) else FlatVector.of(sendbuf, p)
        gives = into.sizes if out is None else out.sizes
        if not self._between:
            self._check_sizes(f"block {rank} of recvbuf has", into.sizes[rank], f"block {rank} of sendbuf", gives[rank])
        if out is not None:
            self._check_pair(out, into, "", out.nbytes, alike=not self._between and gives[rank] > 0)
        traffic = Traffic(gives, into.sizes, (out or into).signature, into.signature)
        run = self._choose("alltoallv", 0, {}, traffic=traffic, objects=objects)

        def work() -> None:
            array = into.load()
            run(array.copy() if out is None else out.load(), array, gives, into.sizes)
            into.store()

        if out is not None:
            _keep_recipe(work, run, gives, into.sizes)
        return using(work, (out,), (into,))

    def _plan_alltoallw(self, sendbuf: Any, recvbuf: Any) -> Plan:
        p = self._everybody()
        own = None if self._between else self._rank
        into = blocks_w(recvbuf, p, writable=True)
        out = into if self._in_place(sendbuf) else blocks_w(sendbuf, p)
        takes, gives = [block.nbytes for block in into], [block.nbytes for block in out]
        if own is not None:
            self._check_sizes(f"block {own} of recvbuf has", takes[own], f"block {own} of sendbuf", gives[own])
        taken, given = ([signature_of(block) for block in each] for each in (into, out))
        run = self._choose("alltoallw", 0, {}, traffic=Traffic(gives, takes, given, taken))

        def work() -> None:
            blocks = [snapshot(block) for block in into] if out is into else out
            if own is not None:
                copy_into(blocks[own], into[own], takes[own])
            # Algorithms see whether an array is empty, but a span of elements without bytes is not for them.
            run(*([b if b.nbytes and i != own else None for i, b in enumerate(each)] for each in (blocks, into)))

        return using(work, () if out is into else out, into)

    # -- reductions -----------------------------------------------------------------------------------------------

    def _plan_reduce(self, sendbuf: Any, recvbuf: Any, op: Op, root: int) -> Plan:
        role = self._check_root(root)
        if role.idle:
            return self._stand_by(role)
        into = Flat.of(recvbuf, writable=True, elements=True) if role.here else None
        out = self._block_of_root(role, sendbuf, elements=True) if role.here else Flat.of(sendbuf, elements=True)
        if into is not None:
            self._check_operands(out, into)
        data: Any = into or out
        bound, agreed = self._bind(op, data)
        run = self._choose("reduce", data.nbytes, agreed, root=role, op=op, bound=bound, count=data.count)
        return _receiving(out, into, run)

    def _plan_allreduce(self, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        return self._plan_everywhere("allreduce", sendbuf, recvbuf, op)

    def _plan_everywhere(self, operation: str, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        """A reduction with a result of full size on every rank."""
        self._everybody()
        into = Flat.of(recvbuf, writable=True, elements=True)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf, elements=True)
        self._check_operands(out, into)
        bound, agreed = self._bind(op, into if into.told or out is None else out)
        return _receiving(out, into, self._choose(operation, into.nbytes, agreed, op=op, bound=bound, count=into.count))

    def _plan_reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        self._everybody()
        p = len(self._local().members)
        if in_place := self._in_place(sendbuf):
            whole = Flat.of(recvbuf, writable=True, blocks=p, elements=True)
            share = whole.head(whole.count // p)
        else:
            whole = Flat.of(sendbuf, blocks=p, elements=True)
            share = Flat.of(recvbuf, writable=True, elements=True)
            self._check_operands(whole, share, whole.count // p)
        q = self._reach
        if whole.count % q:  # never in one group
            words = f"sendbuf has {whole.count} elements, which cannot be dealt out to the {q} ranks of the remote group."
            raise complaint(ERR_COUNT, words, MPIValueError)
        both = whole if self._between else share  # what two groups have in common
        bound, agreed = self._bind(op, both)
        given, other = share.nbytes, whole.nbytes // q
        run = self._choose("reduce_scatter_block", given, agreed, other=other, op=op, bound=bound, count=both.count)
        return _reducing(whole, share, run, in_place=in_place)

    def _plan_reduce_scatter(self, sendbuf: Any, recvbuf: Any, recvcounts: Any, op: Op) -> Plan:
        self._everybody()
        p, in_place = len(self._local().members), self._in_place(sendbuf)
        into = Flat.of(recvbuf, writable=True, elements=True)
        whole = into if in_place else Flat.of(sendbuf, elements=True)
        counts = self._check_counts(recvcounts, p, None if in_place else into.count)
        self._check_equal("the counts add up to", sum(counts), f"{'recvbuf' if in_place else 'sendbuf'} has", whole.count)
        share = into.head(counts[self._rank]) if in_place else into
        if not in_place:
            self._check_equal(f"count {self._rank} is", counts[self._rank], "recvbuf has", share.count)
            self._check_operands(whole, share, share.count)
        bound, agreed = self._bind(op, whole)
        agreed = {"recvcounts": "left out" if recvcounts is None else "given", **agreed}
        agreed |= self._said_of("the list of counts", self._side, counts)
        each = whole.nbytes // whole.count if whole.count else 0
        sizes = [count * each for count in counts]
        run = self._choose("reduce_scatter", whole.nbytes, agreed, op=op, bound=bound, count=whole.count, sizes=sizes)
        return _reducing(whole, share, lambda *arrays: run(*arrays, counts), in_place=in_place)


def _receiving(out: Flat | FlatVector | None, into: Flat | FlatVector | None, run: Any, *sizes: Any) -> Plan:
    """Run on the two arrays, and sizes if it wants such, then put the result where the program wants it."""

    def work() -> None:
        run(None if out is None else out.load(), None if into is None else into.load(), *sizes)
        if into is not None:
            into.store()

    _keep_recipe(work, run, *sizes)
    return using(work, (out,), (into,))


def _reducing(whole: Flat, share: Flat, run: Any, *, in_place: bool) -> Plan:
    """As `_receiving`; in place, on a copy, since the result overwrites the head of the data."""

    def work() -> None:
        array = whole.load()
        run(array.copy() if in_place else array, share.load())
        share.store()

    if not in_place:
        _keep_recipe(work, run)
    return using(work, *(((), (whole,)) if in_place else ((whole,), (share,))))


def _keep_recipe(work: Any, run: Any, *sizes: Any) -> None:
    """The recipe of a run, if there is one, is that of the work that wants these sizes besides."""
    work.recipe = recipe = getattr(run, "recipe", None)
    if recipe is not None:
        recipe.sizes = sizes


def _uniform(data: Flat, nbytes: int | None = None) -> dict[str, Any]:
    """What all ranks must say alike where all blocks are of one size."""
    return {"the size in bytes": data.nbytes if nbytes is None else nbytes, **_kind(data)}


def _kind(data: Flat | FlatVector) -> dict[str, Any]:
    """Ranks pass on what others sent, which a phantom would lose."""
    return {"the buffer": "a phantom" if data.hollow else "memory"}
