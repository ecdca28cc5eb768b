"""Plans of collective calls: describe the buffers, compare the arguments of all ranks, choose an algorithm.

A plan is a `CollectiveCall`: calling it carries out the call. A blocking call makes a plan and calls it. For a
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

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_COUNT
from fakempi.mpi.base.call_matching import Traffic, TypeSignatures
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.flat import Flat, FlatVector, blocks_w
from fakempi.mpi.buffers.payload import signature_of
from fakempi.mpi.buffers.specification import is_in_place
from fakempi.mpi.buffers.typing import AnySpec
from fakempi.mpi.collective.call import CollectiveCall
from fakempi.mpi.collective.call_facts import CallFacts, Declaration, ElementOp, Root
from fakempi.mpi.collective.calls import CollectiveCalls, Plan
from fakempi.mpi.collective.operands import BcastBuffer, BufferPair, ElementArrays, InPlaceBuffer, TypedBlocks
from fakempi.mpi.operations.op import Op

OBJECT_REDUCTIONS = ("reduce", "allreduce", "scan", "exscan")
"""Reductions of objects: the arrays of the algorithm are given, and `op` is the name of the operation."""


class CollectivePlans(CollectiveCalls):
    """One method per operation; each returns a plan."""

    __slots__ = ()

    def _plan(self, name: str, one: Any, other: Any, op: Any, root: Any) -> Plan:
        """Return the plan of a blocking call, by its name; in lower case, it is a part of a call with objects."""
        if name in OBJECT_REDUCTIONS:
            return self._plan_object_reduction(name, one, other, op, root)
        match name.lower():
            case "bcast" | "bcastv":
                return self._plan_bcast(one, root)
            case "allreduce" | "scan" | "exscan" as operation:
                return self._plan_full_reduction(operation, one, other, op)
            case "gather" | "gatherv" | "scatter" | "scatterv":
                return self._plan_rooted(name, one, other, root)
            case "allgather":
                return self._plan_allgather(one, other, objects=name.islower())
            case "allgatherv":
                return self._plan_allgatherv(one, other, objects=name.islower())
            case "alltoall":
                return self._plan_alltoall(one, other, objects=name.islower())
            case "alltoallv":
                return self._plan_alltoallv(one, other, objects=name.islower())
            case "reduce":
                return self._plan_reduce(one, other, op, root)
            case "reduce_scatter_block":
                return self._plan_reduce_scatter_block(one, other, op)
        return self._plan_barrier()

    def _plan_barrier(self) -> Plan:
        self._peer_count()
        return CollectiveCall(self, CallFacts("barrier"), Declaration({}))

    def _plan_bcast(self, buf: AnySpec, root: int) -> Plan:
        role = self._check_root(root)
        if role.idle:
            return self._plan_idle(role)
        data = Flat.of(buf, writable=not role.is_this_rank)
        mine, theirs = (data, None) if role.is_this_rank else (None, data)
        declared = _equal_sizes(data, types=self._types_of(mine, theirs))
        return CollectiveCall(self, CallFacts("bcast", data.nbytes), declared, BcastBuffer(data, role.is_this_rank), role)

    # -- gather and scatter ---------------------------------------------------------------------------------------

    def _plan_rooted(self, call: str, own: AnySpec, whole: AnySpec, root: int) -> Plan:
        """Plan a gather or a scatter: `own` is the buffer of this rank's block, `whole` the root's buffer of all blocks."""
        role, p, operation, objects = self._check_root(root), self._n_peers, call.lower(), call.islower()
        if role.idle:
            return self._plan_idle(role)
        gathers, sized = operation.startswith("gather"), operation.endswith("v")
        name, whole_name = ("sendbuf", "recvbuf") if gathers else ("recvbuf", "sendbuf")
        every: Any = None
        if role.is_this_rank:
            every = FlatVector.of(whole, p, writable=gathers) if sized else Flat.of(whole, writable=gathers, blocks=p)
        block, nbytes = _own_block(role, own, writable=not gathers), 0
        if every is not None and not sized:
            nbytes = every.nbytes // p
            self._check_pair(block, every, f"{whole_name} holds blocks of", nbytes, name)
        elif every is not None and block is not None:
            self._check_pair(block, every, f"block {self._rank} of {whole_name} has", every.sizes[self._rank], name)
        elif block is not None:
            nbytes = block.nbytes
        known: Any = block if every is None else every
        sends = gathers is (every is None)  # whether the data that this rank describes are what it sends
        if not sized:
            types = self._types_of(known, None) if sends else self._types_of(None, known)
            facts, declared = CallFacts(operation, nbytes, objects=objects), _equal_sizes(known, nbytes, types)
        else:
            amounts: Any = {role.rank: nbytes} if every is None else every.sizes
            none: Any = {} if every is None else ()
            traffic = Traffic(amounts, none, known.signature) if sends else Traffic(none, amounts, None, known.signature)
            facts, declared = CallFacts(operation, objects=objects), Declaration({}, traffic)
        lists = (None if every is None else every.sizes,) if sized else ()
        operands = BufferPair(block, every, *lists) if gathers else BufferPair(every, block, *lists)
        return CollectiveCall(self, facts, declared, operands, role)

    # -- all to all -----------------------------------------------------------------------------------------------

    def _plan_allgather(self, sendbuf: AnySpec, recvbuf: AnySpec, *, objects: bool = False) -> Plan:
        p = self._peer_count()
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf)
        nbytes = into.nbytes // p
        self._check_pair(out, into, "recvbuf holds blocks of", nbytes)
        mine = nbytes if out is None else out.nbytes
        agreed = {**self._fact_per_group("the size in bytes", mine, nbytes), **_agreed_memory(into)}
        declared = Declaration(agreed, types=self._types_of(out, into))
        return CollectiveCall(self, CallFacts("allgather", mine, nbytes, objects=objects), declared, BufferPair(out, into))

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
        facts = CallFacts("allgatherv", nbytes, objects=objects, sizes=tuple(into.sizes))
        declared = Declaration(agreed, traffic, self._types_of(out, into))
        return CollectiveCall(self, facts, declared, BufferPair(out, into, into.sizes))

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
        facts = CallFacts("alltoall", mine, theirs, in_place=out is None, objects=objects)
        declared = Declaration(agreed, types=self._types_of(out, into))
        return CollectiveCall(self, facts, declared, BufferPair(out, into))

    def _plan_alltoallv(self, sendbuf: AnySpec, recvbuf: AnySpec, *, objects: bool = False) -> Plan:
        p, rank = self._peer_count(), self._rank
        into = FlatVector.of(recvbuf, p, writable=True)
        out = None if self._in_place(sendbuf) else FlatVector.of(sendbuf, p)
        send_sizes = into.sizes if out is None else out.sizes
        if not self._is_inter:
            self._check_sizes(f"block {rank} of recvbuf has", into.sizes[rank], f"block {rank} of sendbuf", send_sizes[rank])
        if out is not None:
            self._check_pair(out, into, "", out.nbytes, same_types=not self._is_inter and send_sizes[rank] > 0)
        declared = Declaration({}, Traffic(send_sizes, into.sizes, (out or into).signature, into.signature))
        lists = send_sizes, into.sizes
        operands = InPlaceBuffer(into, None, *lists) if out is None else BufferPair(out, into, *lists)
        return CollectiveCall(self, CallFacts("alltoallv", objects=objects), declared, operands)

    def _plan_alltoallw(self, sendbuf: AnySpec, recvbuf: AnySpec) -> Plan:
        p = self._peer_count()
        own = None if self._is_inter else self._rank
        into = blocks_w(recvbuf, p, writable=True)
        out = into if self._in_place(sendbuf) else blocks_w(sendbuf, p)
        receive_sizes, send_sizes = [block.nbytes for block in into], [block.nbytes for block in out]
        if own is not None:
            self._check_sizes(f"block {own} of recvbuf has", receive_sizes[own], f"block {own} of sendbuf", send_sizes[own])
        taken, given = ([signature_of(block) for block in vector] for vector in (into, out))
        declared = Declaration({}, Traffic(send_sizes, receive_sizes, given, taken))
        return CollectiveCall(self, CallFacts("alltoallw"), declared, TypedBlocks(out, into, own))

    # -- reductions -----------------------------------------------------------------------------------------------

    def _plan_object_reduction(self, name: str, arrays: Any, nbytes: int, op: str, root: Root | None) -> Plan:
        bound = ElementOp(arrays[2], arrays[2])
        facts, declared = bound.facts(name, 0, count=1, objects=True), Declaration({"the operation": op})
        return CollectiveCall(self, facts, declared, ElementArrays(arrays), root, bound, nbytes)

    def _plan_reduce(self, sendbuf: AnySpec, recvbuf: AnySpec, op: Op, root: int) -> Plan:
        role = self._check_root(root)
        if role.idle:
            return self._plan_idle(role)
        into = Flat.of(recvbuf, writable=True, elements=True) if role.is_this_rank else None
        out = _own_block(role, sendbuf, elements=True)
        if into is not None:
            self._check_operands(out, into)
        data: Any = into or out
        bound, declared = self._bind(op, data)
        facts = bound.facts("reduce", data.nbytes, count=data.count)
        return CollectiveCall(self, facts, declared, BufferPair(out, into), role, bound)

    def _plan_full_reduction(self, operation: str, sendbuf: AnySpec, recvbuf: AnySpec, op: Op) -> Plan:
        """Plan a reduction whose full result goes to every rank."""
        self._peer_count()
        into = Flat.of(recvbuf, writable=True, elements=True)
        out = None if self._in_place(sendbuf) else Flat.of(sendbuf, elements=True)
        self._check_operands(out, into)
        bound, declared = self._bind(op, into if into.typed or out is None else out)
        facts = bound.facts(operation, into.nbytes, count=into.count)
        return CollectiveCall(self, facts, declared, BufferPair(out, into), None, bound)

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
        bound, declared = self._bind(op, both)
        facts = bound.facts("reduce_scatter_block", share.nbytes, other=whole.nbytes // q, count=both.count)
        operands = InPlaceBuffer(whole, share.count) if in_place else BufferPair(whole, share)
        return CollectiveCall(self, facts, declared, operands, None, bound)

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
        bound, (agreed, *_) = self._bind(op, whole)
        agreed = {"recvcounts": "left out" if recvcounts is None else "given", **agreed}
        agreed |= self._fact_about("the list of counts", self._side, counts)
        element_bytes = whole.nbytes // whole.count if whole.count else 0
        sizes = tuple(count * element_bytes for count in counts)
        facts = bound.facts("reduce_scatter", whole.nbytes, count=whole.count, sizes=sizes)
        operands = InPlaceBuffer(whole, share.count, counts) if in_place else BufferPair(whole, share, counts)
        return CollectiveCall(self, facts, Declaration(agreed), operands, None, bound)


def _own_block(role: Root, buffer: AnySpec, *, writable: bool = False, elements: bool = False) -> Flat | None:
    """Return the block of this rank; None if it is a root that passes IN_PLACE or has no block."""
    if role.is_this_rank and (not role.has_block or is_in_place(buffer)):
        return None
    return Flat.of(buffer, writable=writable, elements=elements)


def _equal_sizes(data: Flat, nbytes: int | None = None, types: TypeSignatures | None = None) -> Declaration:
    """Return what to agree on if all blocks have the same size."""
    return Declaration({"the size in bytes": data.nbytes if nbytes is None else nbytes, **_agreed_memory(data)}, types=types)


def _agreed_memory(data: Flat | FlatVector) -> dict[str, object]:
    """Return whether a buffer is memory or a phantom. Ranks must agree on it: a phantom cannot forward data."""
    return {"the buffer": "a phantom" if data.is_phantom else "memory"}
