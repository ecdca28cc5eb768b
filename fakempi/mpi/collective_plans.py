"""Collective calls, planned: describe the buffers, see that all ranks agree, choose an algorithm, and say what to do.

A plan is a function without arguments that does the work. A blocking call makes one and calls it; a nonblocking call has
a child task call it; a persistent one has a child task call it at each start. Nothing is read before a plan is carried out.
The work is done on a twin of the communicator: the same ranks, another context, so that no message of the program ever
meets one of ours.
"""

from __future__ import annotations

from typing import Any

from fakempi.mpi.buffers import copy_into, snapshot
from fakempi.mpi.collective_calls import CollectiveCalls, Plan
from fakempi.mpi.flat import Flat, FlatVector, blocks_w, is_in_place
from fakempi.mpi.op import Op
from fakempi.mpi.roll import Traffic


class CollectivePlans(CollectiveCalls):
    """One method for each operation, which returns a plan."""

    __slots__ = ()

    def _plan_barrier(self) -> Plan:
        self._everybody()
        return self._choose("barrier", 0, {})

    def _plan_bcast(self, buf: Any, root: int) -> Plan:
        root, _ = self._check_root(root)
        at_root = self._rank == root
        data = Flat.of(buf, writable=not at_root)
        run = self._choose("bcast", data.nbytes, {"root": root, **_uniform(data)})

        def work() -> None:
            run(data.load(), root=root)
            if not at_root:
                data.store()

        return work

    # -- gather and scatter ---------------------------------------------------------------------------------------

    def _plan_gather(self, sendbuf: Any, recvbuf: Any, root: int) -> Plan:
        root, p = self._check_root(root)
        if self._rank != root:
            return self._plan_give("gather", Flat.of(sendbuf), root)
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = None if is_in_place(sendbuf) else Flat.of(sendbuf)
        nbytes = into.nbytes // p
        self._check_pair(out, into, "recvbuf holds blocks of", nbytes)
        run = self._choose("gather", nbytes, {"root": root, **_uniform(into, nbytes)})
        return _receiving(out, into, lambda *arrays: run(*arrays, root=root))

    def _plan_scatter(self, sendbuf: Any, recvbuf: Any, root: int) -> Plan:
        root, p = self._check_root(root)
        if self._rank != root:
            return self._plan_take("scatter", Flat.of(recvbuf, writable=True), root)
        out = Flat.of(sendbuf, blocks=p)
        into = None if is_in_place(recvbuf) else Flat.of(recvbuf, writable=True)
        nbytes = out.nbytes // p
        self._check_pair(into, out, "sendbuf holds blocks of", nbytes, "recvbuf")
        run = self._choose("scatter", nbytes, {"root": root, **_uniform(out, nbytes)})
        return _receiving(out, into, lambda *arrays: run(*arrays, root=root))

    def _plan_gatherv(self, sendbuf: Any, recvbuf: Any, root: int) -> Plan:
        root, p = self._check_root(root)
        if self._rank != root:
            return self._plan_give("gatherv", Flat.of(sendbuf), root)
        into = FlatVector.of(recvbuf, p, writable=True)
        out = None if is_in_place(sendbuf) else Flat.of(sendbuf)
        self._check_pair(out, into, f"block {root} of recvbuf has", into.sizes[root])
        run = self._choose("gatherv", 0, {"root": root}, traffic=Traffic((), into.sizes))
        return _receiving(out, into, lambda *arrays: run(*arrays, into.sizes, root=root))

    def _plan_scatterv(self, sendbuf: Any, recvbuf: Any, root: int) -> Plan:
        root, p = self._check_root(root)
        if self._rank != root:
            return self._plan_take("scatterv", Flat.of(recvbuf, writable=True), root)
        out = FlatVector.of(sendbuf, p)
        into = None if is_in_place(recvbuf) else Flat.of(recvbuf, writable=True)
        self._check_pair(into, out, f"block {root} of sendbuf has", out.sizes[root], "recvbuf")
        run = self._choose("scatterv", 0, {"root": root}, traffic=Traffic(out.sizes, ()))
        return _receiving(out, into, lambda *arrays: run(*arrays, out.sizes, root=root))

    def _plan_give(self, operation: str, out: Flat, root: int) -> Plan:
        """The part of a rank that is not the root of a gather."""
        if operation == "gather":
            run = self._choose(operation, out.nbytes, {"root": root, **_uniform(out)})
            return lambda: run(out.load(), None, root=root)
        run = self._choose(operation, 0, {"root": root}, traffic=Traffic({root: out.nbytes}, {}))
        return lambda: run(out.load(), None, None, root=root)

    def _plan_take(self, operation: str, into: Flat, root: int) -> Plan:
        """The part of a rank that is not the root of a scatter."""
        if operation == "scatter":
            run = self._choose(operation, into.nbytes, {"root": root, **_uniform(into)})
            return _receiving(None, into, lambda *arrays: run(*arrays, root=root))
        run = self._choose(operation, 0, {"root": root}, traffic=Traffic({}, {root: into.nbytes}))
        return _receiving(None, into, lambda *arrays: run(*arrays, None, root=root))

    # -- all to all -----------------------------------------------------------------------------------------------

    def _plan_allgather(self, sendbuf: Any, recvbuf: Any) -> Plan:
        p = self._everybody()
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = None if is_in_place(sendbuf) else Flat.of(sendbuf)
        nbytes = into.nbytes // p
        self._check_pair(out, into, "recvbuf holds blocks of", nbytes)
        return _receiving(out, into, self._choose("allgather", nbytes, _uniform(into, nbytes)))

    def _plan_allgatherv(self, sendbuf: Any, recvbuf: Any) -> Plan:
        into = FlatVector.of(recvbuf, self._everybody(), writable=True)
        out = None if is_in_place(sendbuf) else Flat.of(sendbuf)
        self._check_pair(out, into, f"block {self._rank} of recvbuf has", into.sizes[self._rank])
        agreed = {"the list of sizes in bytes": into.sizes, **_kind(into)}
        run = self._choose("allgatherv", into.nbytes, agreed)
        return _receiving(out, into, lambda *arrays: run(*arrays, into.sizes))

    def _plan_alltoall(self, sendbuf: Any, recvbuf: Any) -> Plan:
        p = self._everybody()
        into = Flat.of(recvbuf, writable=True, blocks=p)
        out = None if is_in_place(sendbuf) else Flat.of(sendbuf, blocks=p)
        self._check_pair(out, into, "recvbuf has", into.nbytes)
        nbytes, agreed = into.nbytes // p, _uniform(into, into.nbytes // p)
        # Rules may look at it, so all must say the same; the standard wants that too.
        agreed["sendbuf"] = "IN_PLACE" if out is None else "a buffer"
        return _receiving(out, into, self._choose("alltoall", nbytes, agreed, in_place=out is None))

    def _plan_alltoallv(self, sendbuf: Any, recvbuf: Any) -> Plan:
        p, rank = self._everybody(), self._rank
        into = FlatVector.of(recvbuf, p, writable=True)
        out = None if is_in_place(sendbuf) else FlatVector.of(sendbuf, p)
        gives = into.sizes if out is None else out.sizes
        self._check_sizes(f"block {rank} of recvbuf has", into.sizes[rank], f"block {rank} of sendbuf", gives[rank])
        if out is not None:
            self._check_pair(out, into, "", out.nbytes)
        run = self._choose("alltoallv", 0, {}, traffic=Traffic(gives, into.sizes))

        def work() -> None:
            array = into.load()
            run(array.copy() if out is None else out.load(), array, gives, into.sizes)
            into.store()

        return work

    def _plan_alltoallw(self, sendbuf: Any, recvbuf: Any) -> Plan:
        p, rank = self._everybody(), self._rank
        into = blocks_w(recvbuf, p, writable=True)
        out = into if is_in_place(sendbuf) else blocks_w(sendbuf, p)
        takes, gives = [block.nbytes for block in into], [block.nbytes for block in out]
        self._check_sizes(f"block {rank} of recvbuf has", takes[rank], f"block {rank} of sendbuf", gives[rank])
        run = self._choose("alltoallw", 0, {}, traffic=Traffic(gives, takes))

        def work() -> None:
            blocks = [snapshot(block) for block in into] if out is into else out
            copy_into(blocks[rank], into[rank], takes[rank])
            # Algorithms see whether an array is empty, but a span of elements without bytes is not for them.
            run(*([b if b.nbytes and i != rank else None for i, b in enumerate(each)] for each in (blocks, into)))

        return work

    # -- reductions -----------------------------------------------------------------------------------------------

    def _plan_reduce(self, sendbuf: Any, recvbuf: Any, op: Op, root: int) -> Plan:
        root, _ = self._check_root(root)
        at_root = self._rank == root
        into = Flat.of(recvbuf, writable=True, elements=True) if at_root else None
        out = None if at_root and is_in_place(sendbuf) else Flat.of(sendbuf, elements=True)
        if into is not None:
            self._check_operands(out, into)
        data: Any = into or out
        bound, agreed = self._bind(op, data)
        run = self._choose("reduce", data.nbytes, {"root": root, **agreed}, op=op, count=data.count)
        return _receiving(out, into, lambda *arrays: run(*arrays, op=bound, root=root))

    def _plan_allreduce(self, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        return self._plan_everywhere("allreduce", sendbuf, recvbuf, op)

    def _plan_scan(self, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        return self._plan_everywhere("scan", sendbuf, recvbuf, op)

    def _plan_exscan(self, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        return self._plan_everywhere("exscan", sendbuf, recvbuf, op)

    def _plan_everywhere(self, operation: str, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        """A reduction with a result of full size on every rank."""
        self._everybody()
        into = Flat.of(recvbuf, writable=True, elements=True)
        out = None if is_in_place(sendbuf) else Flat.of(sendbuf, elements=True)
        self._check_operands(out, into)
        bound, agreed = self._bind(op, into if into.told or out is None else out)
        run = self._choose(operation, into.nbytes, agreed, op=op, count=into.count)
        return _receiving(out, into, lambda *arrays: run(*arrays, op=bound))

    def _plan_reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
        p = self._everybody()
        if is_in_place(sendbuf):
            into = whole = Flat.of(recvbuf, writable=True, blocks=p, elements=True)
            share = into.head(into.count // p)
        else:
            whole = Flat.of(sendbuf, blocks=p, elements=True)
            into = share = Flat.of(recvbuf, writable=True, elements=True)
            self._check_operands(whole, share, whole.count // p)
        bound, agreed = self._bind(op, share)
        run = self._choose("reduce_scatter_block", share.nbytes, agreed, op=op, count=share.count)
        return _reducing(whole, share, lambda *arrays: run(*arrays, op=bound), in_place=whole is into)

    def _plan_reduce_scatter(self, sendbuf: Any, recvbuf: Any, recvcounts: Any, op: Op) -> Plan:
        p, in_place = self._everybody(), is_in_place(sendbuf)
        into = Flat.of(recvbuf, writable=True, elements=True)
        whole = into if in_place else Flat.of(sendbuf, elements=True)
        counts = self._check_counts(recvcounts, p, None if in_place else into.count)
        self._check_equal("the counts add up to", sum(counts), f"{'recvbuf' if in_place else 'sendbuf'} has", whole.count)
        share = into.head(counts[self._rank]) if in_place else into
        if not in_place:
            self._check_equal(f"count {self._rank} is", counts[self._rank], "recvbuf has", share.count)
            self._check_operands(whole, share, share.count)
        bound, agreed = self._bind(op, whole)
        agreed = {"recvcounts": "left out" if recvcounts is None else "given", **agreed, "the list of counts": counts}
        run = self._choose("reduce_scatter", whole.nbytes, agreed, op=op, count=whole.count)
        return _reducing(whole, share, lambda *arrays: run(*arrays, counts, op=bound), in_place=in_place)


def _receiving(out: Flat | FlatVector | None, into: Flat | FlatVector | None, run: Any) -> Plan:
    """Run on the two arrays, then put the result where the program wants it."""

    def work() -> None:
        run(None if out is None else out.load(), None if into is None else into.load())
        if into is not None:
            into.store()

    return work


def _reducing(whole: Flat, share: Flat, run: Any, *, in_place: bool) -> Plan:
    """As `_receiving`; in place, on a copy, since the result overwrites the head of the data."""

    def work() -> None:
        array = whole.load()
        run(array.copy() if in_place else array, share.load())
        share.store()

    return work


def _uniform(data: Flat, nbytes: int | None = None) -> dict[str, Any]:
    """What all ranks must say alike where all blocks are of one size."""
    return {"the size in bytes": data.nbytes if nbytes is None else nbytes, **_kind(data)}


def _kind(data: Flat | FlatVector) -> dict[str, Any]:
    """Ranks pass on what others sent, which a phantom would lose."""
    return {"the buffer": "a phantom" if data.hollow else "memory"}
