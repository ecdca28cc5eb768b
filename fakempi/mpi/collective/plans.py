"""Plans of collective calls: describe the buffers, compare the arguments of all ranks, choose an algorithm.

A plan is a function without arguments that carries out the call. A blocking call makes a plan and calls it. For a
nonblocking call a child task calls it, and for a persistent call a child task calls it at each start. Buffers are read when
the plan runs. It uses the collective context of the communicator: the same ranks, with separate matching, so that its
messages never match those of the program.

The same plans serve intracommunicators and intercommunicators. The blocks of a call belong to the ranks that this rank
sends to and receives from: its own group, or the remote one. `Root` describes the root: this rank, another one, or
PROC_NULL. On an intercommunicator a rank has no block for itself, IN_PLACE is not allowed, and the two directions may have
different sizes. Both groups register the call in one table. The algorithm gets two collective contexts, of the
intercommunicator and of the local group, and the flag `first`, which is true in the first group of the `Context`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_COUNT
from fakempi.mpi.base.call_matching import Traffic
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.flat import Flat, FlatVector, blocks_w
from fakempi.mpi.buffers.payload import copy_into, signature_of, snapshot
from fakempi.mpi.buffers.specification import is_in_place
from fakempi.mpi.buffers.typing import AnySpec
from fakempi.mpi.collective.calls import CollectiveCalls, Plan, Root, using
from fakempi.mpi.collective.recipe import CallBody
from fakempi.mpi.operations.op import Op


class CollectivePlans(CollectiveCalls):
    """One method per operation; each returns a plan."""

    __slots__ = ()

    def _plan_barrier(self) -> Plan:
        self._peer_count()
        return self._choose("barrier", 0, {})

    def _plan_bcast(self, buf: AnySpec, root: int) -> Plan:
        role = self._check_root(root)
        if role.idle:
            return self._plan_idle(role)
        data = Flat.of(buf, writable=not role.is_this_rank)
        mine, theirs = (data, None) if role.is_this_rank else (None, data)
        run = self._choose("bcast", data.nbytes, _agreed_size(data), root=role, types=self._types_of(mine, theirs))

        def work() -> None:
            array = data.load()
            if isinstance(array, np.ndarray) and not array.flags.writeable:
                array = array.copy()  # the root's buffer: some algorithms also receive pieces of it at the root
            run(array)
            if not role.is_this_rank:
                data.store()

        _keep_recipe(work, run)
        return using(work, *(((data,), ()) if role.is_this_rank else ((), (data,))))

    # -- gather and scatter ---------------------------------------------------------------------------------------

    def _plan_gather(self, sendbuf: AnySpec, recvbuf: AnySpec, root: int, *, objects: bool = False) -> Plan:
        role, p = self._check_root(root), self._n_peers
        if role.idle:
            return self._plan_idle(role)
        if not role.is_this_rank:
            return self._plan_gather_sender("gather", Flat.of(sendbuf), role, objects=objects)
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = self._block_of_root(role, sendbuf)
        nbytes = into.nbytes // p
        self._check_pair(out, into, "recvbuf holds blocks of", nbytes)
        types = self._types_of(None, into)
        run = self._choose("gather", nbytes, _agreed_size(into, nbytes), root=role, objects=objects, types=types)
        return _plan_move(out, into, run)

    def _plan_scatter(self, sendbuf: AnySpec, recvbuf: AnySpec, root: int, *, objects: bool = False) -> Plan:
        role, p = self._check_root(root), self._n_peers
        if role.idle:
            return self._plan_idle(role)
        if not role.is_this_rank:
            return self._plan_scatter_receiver("scatter", Flat.of(recvbuf, writable=True), role, objects=objects)
        out = Flat.of(sendbuf, blocks=p)
        into = self._block_of_root(role, recvbuf, writable=True)
        nbytes = out.nbytes // p
        self._check_pair(into, out, "sendbuf holds blocks of", nbytes, "recvbuf")
        types = self._types_of(out)
        run = self._choose("scatter", nbytes, _agreed_size(out, nbytes), root=role, objects=objects, types=types)
        return _plan_move(out, into, run)

    def _plan_gatherv(self, sendbuf: AnySpec, recvbuf: AnySpec, root: int, *, objects: bool = False) -> Plan:
        role, p = self._check_root(root), self._n_peers
        if role.idle:
            return self._plan_idle(role)
        if not role.is_this_rank:
            return self._plan_gather_sender("gatherv", Flat.of(sendbuf), role, objects=objects)
        into = FlatVector.of(recvbuf, p, writable=True)
        out = self._block_of_root(role, sendbuf)
        if out is not None:
            self._check_pair(out, into, f"block {self._rank} of recvbuf has", into.sizes[self._rank])
        traffic = Traffic((), into.sizes, None, into.signature)
        run = self._choose("gatherv", 0, {}, root=role, traffic=traffic, objects=objects)
        return _plan_move(out, into, run, into.sizes)

    def _plan_scatterv(self, sendbuf: AnySpec, recvbuf: AnySpec, root: int, *, objects: bool = False) -> Plan:
        role, p = self._check_root(root), self._n_peers
        if role.idle:
            return self._plan_idle(role)
        if not role.is_this_rank:
            return self._plan_scatter_receiver("scatterv", Flat.of(recvbuf, writable=True), role, objects=objects)
        out = FlatVector.of(sendbuf, p)
        into = self._block_of_root(role, recvbuf, writable=True)
        if into is not None:
            self._check_pair(into, out, f"block {self._rank} of sendbuf has", out.sizes[self._rank], "recvbuf")
        traffic = Traffic(out.sizes, (), out.signature, None)
        run = self._choose("scatterv", 0, {}, root=role, traffic=traffic, objects=objects)
        return _plan_move(out, into, run, out.sizes)

    @staticmethod
    def _block_of_root(role: Root, buffer: AnySpec, *, writable: bool = False, elements: bool = False) -> Flat | None:
        """Return the root's own block; None if it is IN_PLACE or there is none."""
        if not role.has_block or is_in_place(buffer):
            return None
        return Flat.of(buffer, writable=writable, elements=elements)

    def _plan_gather_sender(self, operation: str, out: Flat, role: Root, *, objects: bool = False) -> Plan:
        """Return the plan of a rank that is not the root of a gather."""
        if operation == "gather":
            types = self._types_of(out)
            run = self._choose(operation, out.nbytes, _agreed_size(out), root=role, objects=objects, types=types)
            return _plan_move(out, None, run)
        traffic = Traffic({role.rank: out.nbytes}, {}, out.signature)
        run = self._choose(operation, 0, {}, root=role, traffic=traffic, objects=objects)
        return _plan_move(out, None, run, None)

    def _plan_scatter_receiver(self, operation: str, into: Flat, role: Root, *, objects: bool = False) -> Plan:
        """Return the plan of a rank that is not the root of a scatter."""
        if operation == "scatter":
            types = self._types_of(None, into)
            run = self._choose(operation, into.nbytes, _agreed_size(into), root=role, objects=objects, types=types)
            return _plan_move(None, into, run)
        traffic = Traffic({}, {role.rank: into.nbytes}, None, into.signature)
        run = self._choose(operation, 0, {}, root=role, traffic=traffic, objects=objects)
        return _plan_move(None, into, run, None)

    # -- all to all -----------------------------------------------------------------------------------------------

    def _plan_allgather(self, sendbuf: AnySpec, recvbuf: AnySpec, *, objects: bool = False) -> Plan:
        p = self._peer_count()
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf)
        nbytes = into.nbytes // p
        self._check_pair(out, into, "recvbuf holds blocks of", nbytes)
        mine = nbytes if out is None else out.nbytes
        agreed = {**self._fact_per_group("the size in bytes", mine, nbytes), **_agreed_memory(into)}
        types = self._types_of(out, into)
        return _plan_move(out, into, self._choose("allgather", mine, agreed, other=nbytes, objects=objects, types=types))

    def _plan_allgatherv(self, sendbuf: AnySpec, recvbuf: AnySpec, *, objects: bool = False) -> Plan:
        into = FlatVector.of(recvbuf, self._peer_count(), writable=True)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf)
        agreed, traffic, nbytes = {"the list of sizes in bytes": into.sizes, **_agreed_memory(into)}, None, into.nbytes
        if not self._is_inter:
            self._check_pair(out, into, f"block {self._rank} of recvbuf has", into.sizes[self._rank])
        elif out is not None:
            self._check_pair(out, into, "", 0)
            agreed = {**self._fact_about("the list of sizes in bytes", self._peer_side, into.sizes), **_agreed_memory(into)}
            # All ranks of a group pass the same sizes for the other group, so it is enough that rank 0 compares each.
            traffic, nbytes = Traffic({0: out.nbytes}, into.sizes if self._rank == 0 else {}), 0
        types = self._types_of(out, into)
        run = self._choose("allgatherv", nbytes, agreed, traffic=traffic, objects=objects, sizes=into.sizes, types=types)
        return _plan_move(out, into, run, into.sizes)

    def _plan_alltoall(self, sendbuf: AnySpec, recvbuf: AnySpec, *, objects: bool = False) -> Plan:
        p = self._peer_count()
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf, blocks=p)
        self._check_pair(out, into, "recvbuf has", into.nbytes)
        theirs = into.nbytes // p
        mine = theirs if out is None else out.nbytes // p
        agreed = {**self._fact_per_group("the size in bytes", mine, theirs), **_agreed_memory(into)}
        # Tuning rules may depend on it, so all ranks must agree; the standard requires that too.
        agreed["sendbuf"] = "IN_PLACE" if out is None else "a buffer"
        in_place = out is None
        types = self._types_of(out, into)
        run = self._choose("alltoall", mine, agreed, other=theirs, in_place=in_place, objects=objects, types=types)
        return _plan_move(out, into, run)

    def _plan_alltoallv(self, sendbuf: AnySpec, recvbuf: AnySpec, *, objects: bool = False) -> Plan:
        p, rank = self._peer_count(), self._rank
        into = FlatVector.of(recvbuf, p, writable=True)
        out = None if self._in_place(sendbuf) else FlatVector.of(sendbuf, p)
        send_sizes = into.sizes if out is None else out.sizes
        if not self._is_inter:
            self._check_sizes(f"block {rank} of recvbuf has", into.sizes[rank], f"block {rank} of sendbuf", send_sizes[rank])
        if out is not None:
            self._check_pair(out, into, "", out.nbytes, same_types=not self._is_inter and send_sizes[rank] > 0)
        traffic = Traffic(send_sizes, into.sizes, (out or into).signature, into.signature)
        run = self._choose("alltoallv", 0, {}, traffic=traffic, objects=objects)

        def work() -> None:
            array = into.load()
            run(array.copy() if out is None else out.load(), array, send_sizes, into.sizes)
            into.store()

        if out is not None:
            _keep_recipe(work, run, send_sizes, into.sizes)
        return using(work, (out,), (into,))

    def _plan_alltoallw(self, sendbuf: AnySpec, recvbuf: AnySpec) -> Plan:
        p = self._peer_count()
        own = None if self._is_inter else self._rank
        into = blocks_w(recvbuf, p, writable=True)
        out = into if self._in_place(sendbuf) else blocks_w(sendbuf, p)
        receive_sizes, send_sizes = [block.nbytes for block in into], [block.nbytes for block in out]
        if own is not None:
            self._check_sizes(f"block {own} of recvbuf has", receive_sizes[own], f"block {own} of sendbuf", send_sizes[own])
        taken, given = ([signature_of(block) for block in vector] for vector in (into, out))
        run = self._choose("alltoallw", 0, {}, traffic=Traffic(send_sizes, receive_sizes, given, taken))

        def work() -> None:
            blocks = [snapshot(block) for block in into] if out is into else out
            if own is not None:
                copy_into(blocks[own], into[own], receive_sizes[own])
            # Algorithms test whether an array is empty, which fails for a span of elements without bytes.
            run(*([b if b.nbytes and i != own else None for i, b in enumerate(vector)] for vector in (blocks, into)))

        return using(work, () if out is into else out, into)

    # -- reductions -----------------------------------------------------------------------------------------------

    def _plan_reduce(self, sendbuf: AnySpec, recvbuf: AnySpec, op: Op, root: int) -> Plan:
        role = self._check_root(root)
        if role.idle:
            return self._plan_idle(role)
        into = Flat.of(recvbuf, writable=True, elements=True) if role.is_this_rank else None
        out = self._block_of_root(role, sendbuf, elements=True) if role.is_this_rank else Flat.of(sendbuf, elements=True)
        if into is not None:
            self._check_operands(out, into)
        data: Any = into or out
        bound, agreed = self._bind(op, data)
        run = self._choose("reduce", data.nbytes, agreed, root=role, op=op, bound=bound, count=data.count)
        return _plan_move(out, into, run)

    def _plan_allreduce(self, sendbuf: AnySpec, recvbuf: AnySpec, op: Op) -> Plan:
        return self._plan_full_reduction("allreduce", sendbuf, recvbuf, op)

    def _plan_full_reduction(self, operation: str, sendbuf: AnySpec, recvbuf: AnySpec, op: Op) -> Plan:
        """Plan a reduction whose full result goes to every rank."""
        self._peer_count()
        into = Flat.of(recvbuf, writable=True, elements=True)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf, elements=True)
        self._check_operands(out, into)
        bound, agreed = self._bind(op, into if into.typed or out is None else out)
        return _plan_move(out, into, self._choose(operation, into.nbytes, agreed, op=op, bound=bound, count=into.count))

    def _plan_reduce_scatter_block(self, sendbuf: AnySpec, recvbuf: AnySpec, op: Op) -> Plan:
        self._peer_count()
        p = len(self._local().members)
        if in_place := self._in_place(sendbuf):
            whole = Flat.of(recvbuf, writable=True, blocks=p, elements=True)
            share = whole.head(whole.count // p)
        else:
            whole = Flat.of(sendbuf, blocks=p, elements=True)
            share = Flat.of(recvbuf, writable=True, elements=True)
            self._check_operands(whole, share, whole.count // p)
        q = self._n_peers
        if whole.count % q:  # only possible between two groups
            sentence = f"sendbuf has {whole.count} elements, not a multiple of the {q} ranks of the remote group."
            raise mpi_error(ERR_COUNT, sentence, MPIValueError)
        both = whole if self._is_inter else share  # the size that both groups must have
        bound, agreed = self._bind(op, both)
        given, other = share.nbytes, whole.nbytes // q
        run = self._choose("reduce_scatter_block", given, agreed, other=other, op=op, bound=bound, count=both.count)
        return _plan_reduction(whole, share, run, in_place=in_place)

    def _plan_reduce_scatter(self, sendbuf: AnySpec, recvbuf: AnySpec, recvcounts: Sequence[int] | None, op: Op) -> Plan:
        self._peer_count()
        p, in_place = len(self._local().members), self._in_place(sendbuf)
        into = Flat.of(recvbuf, writable=True, elements=True)
        whole = into if in_place else Flat.of(sendbuf, elements=True)
        counts = self._check_counts(recvcounts, p, None if in_place else into.count)
        self._check_equal("the counts add up to", sum(counts), f"{'recvbuf' if in_place else 'sendbuf'} has", whole.count)
        share = into.head(counts[self._rank]) if in_place else into
        if not in_place:
            self._check_equal(f"recvcounts[{self._rank}] is", counts[self._rank], "recvbuf has", share.count)
            self._check_operands(whole, share, share.count)
        bound, agreed = self._bind(op, whole)
        agreed = {"recvcounts": "left out" if recvcounts is None else "given", **agreed}
        agreed |= self._fact_about("the list of counts", self._side, counts)
        element_bytes = whole.nbytes // whole.count if whole.count else 0
        sizes = [count * element_bytes for count in counts]
        run = self._choose("reduce_scatter", whole.nbytes, agreed, op=op, bound=bound, count=whole.count, sizes=sizes)
        return _plan_reduction(whole, share, lambda *arrays: run(*arrays, counts), in_place=in_place)


def _plan_move(out: Flat | FlatVector | None, into: Flat | FlatVector | None, run: CallBody, *sizes: object) -> Plan:
    """Return a plan that runs an algorithm on two arrays, and on sizes if it takes them, and then stores the result."""

    def work() -> None:
        run(None if out is None else out.load(), None if into is None else into.load(), *sizes)
        if into is not None:
            into.store()

    _keep_recipe(work, run, *sizes)
    return using(work, (out,), (into,))


def _plan_reduction(whole: Flat, share: Flat, run: CallBody, *, in_place: bool) -> Plan:
    """As `_plan_move`; with IN_PLACE, on a copy, because the result overwrites the first elements of the data."""

    def work() -> None:
        array, into = whole.load(), whole.head(share.count) if in_place else share
        run(array.copy() if in_place else array, into.load())
        into.store()

    if not in_place:
        _keep_recipe(work, run)
    return using(work, *(((), (whole,)) if in_place else ((whole,), (share,))))


def _keep_recipe(work: CallBody, run: CallBody, *sizes: object) -> None:
    """Attach the recipe of an algorithm's run to the plan that calls it with these sizes."""
    work.recipe = recipe = getattr(run, "recipe", None)  # type: ignore[attr-defined]  # an attribute of a function
    if recipe is not None:
        recipe.sizes = sizes


def _agreed_size(data: Flat, nbytes: int | None = None) -> dict[str, object]:
    """Return the facts to agree on if all blocks have the same size."""
    return {"the size in bytes": data.nbytes if nbytes is None else nbytes, **_agreed_memory(data)}


def _agreed_memory(data: Flat | FlatVector) -> dict[str, object]:
    """Return whether a buffer is memory or a phantom. Ranks must agree on it: a phantom cannot forward data."""
    return {"the buffer": "a phantom" if data.is_phantom else "memory"}
