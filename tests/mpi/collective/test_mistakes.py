"""Collective calls with invalid arguments: an error with the call, the rank and the numbers that clash."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each
from tests.helpers.runs import run
from tests.mpi.collective.calls import nonblocking, operations

Call = Callable[[Any], Any]
SAME = "sendbuf and recvbuf are the same memory; use IN_PLACE."

# Each on 2 ranks: the call, the error class, Python's exception type (if mpi4py has one), the message on rank 0.
MISTAKES: dict[str, tuple[Call, int, type[Exception], str]] = {
    "root too large": (
        lambda c: c.Bcast(np.zeros(1), 2), MPI.ERR_ROOT, MPI.Exception, "Bcast on rank 0: root 2 is not in 0..1.",
    ),
    "root negative": (
        lambda c: c.gather(1, root=-1), MPI.ERR_ROOT, MPI.Exception, "gather on rank 0: root -1 is not in 0..1.",
    ),
    "root PROC_NULL": (
        lambda c: c.Reduce(np.zeros(1), np.zeros(1), root=MPI.PROC_NULL), MPI.ERR_ROOT, MPI.Exception,
        f"Reduce on rank 0: root {MPI.PROC_NULL} is not in 0..1.",
    ),
    "root not an integer": (
        lambda c: c.Scatter(np.zeros(2), np.zeros(1), 0.5), MPI.ERR_ARG, TypeError,
        "Scatter on rank 0: root is 0.5, not an integer: use // to divide ranks.",
    ),
    "no buffer": (
        lambda c: c.Bcast(None), MPI.ERR_BUFFER, TypeError,
        "Bcast on rank 0: expecting a buffer or a list like [buffer, count, datatype], not 'NoneType'.",
    ),
    "no buffer at the root": (
        lambda c: c.Gather(np.zeros(1), None, c.rank), MPI.ERR_BUFFER, TypeError,
        "Gather on rank 0: expecting a buffer or a list like [buffer, count, datatype], not 'NoneType'.",
    ),
    "in place for a result": (
        lambda c: c.Allgather(np.zeros(1), MPI.IN_PLACE), MPI.ERR_BUFFER, ValueError,
        "Allgather on rank 0: IN_PLACE is not allowed here: a buffer is needed.",
    ),
    "in place away from the root": (
        lambda c: c.Gather(MPI.IN_PLACE, np.zeros(2), 1 - c.rank), MPI.ERR_BUFFER, ValueError,
        "Gather on rank 0: IN_PLACE is not allowed here: a buffer is needed.",
    ),
    "in place for a result in blocks": (
        lambda c: c.Allgatherv(np.zeros(1), [MPI.IN_PLACE, 1]), MPI.ERR_BUFFER, ValueError,
        "Allgatherv on rank 0: IN_PLACE is not allowed here: a buffer is needed.",
    ),
    "in place for a result of any types": (
        lambda c: c.Alltoallw(MPI.IN_PLACE, MPI.IN_PLACE), MPI.ERR_BUFFER, ValueError,
        "Alltoallw on rank 0: IN_PLACE is not allowed here: a buffer is needed.",
    ),
    "result cannot be written": (
        lambda c: c.Allreduce(np.zeros(1), np.zeros(1).tobytes()), MPI.ERR_BUFFER, BufferError,
        "Allreduce on rank 0: the buffer is a read-only bytes: nothing can be received into it.",
    ),
    "one memory for both": (
        lambda c: (lambda x: c.Allreduce(x, x))(np.zeros(2)), MPI.ERR_BUFFER, MPI.Exception, f"Allreduce on rank 0: {SAME}",
    ),
    "one memory for a block and all": (
        lambda c: (lambda x: c.Allgather(x[:1], x))(np.zeros(2)), MPI.ERR_BUFFER, MPI.Exception,
        f"Allgather on rank 0: {SAME}",
    ),
    "one memory in blocks": (
        lambda c: (lambda x: c.Alltoallv(x, x))(np.zeros(2)), MPI.ERR_BUFFER, MPI.Exception, f"Alltoallv on rank 0: {SAME}",
    ),
    "blocks that do not divide": (
        lambda c: c.Allgather(np.zeros(1), np.zeros(3)), MPI.ERR_COUNT, ValueError,
        "Allgather on rank 0: cannot infer count, 3 entries are not a multiple of the required 2 blocks.",
    ),
    "Gather of other sizes": (
        lambda c: c.Gather(np.zeros(2), np.zeros(2), c.rank), MPI.ERR_COUNT, ValueError,
        "Gather on rank 0: recvbuf holds blocks of 8 bytes, but sendbuf has 16.",
    ),
    "Scatter of other sizes": (
        lambda c: c.Scatter(np.zeros(2), np.zeros(2), c.rank), MPI.ERR_COUNT, ValueError,
        "Scatter on rank 0: sendbuf holds blocks of 8 bytes, but recvbuf has 16.",
    ),
    "Allgather of other sizes": (
        lambda c: c.Allgather(np.zeros(2), np.zeros(2)), MPI.ERR_COUNT, ValueError,
        "Allgather on rank 0: recvbuf holds blocks of 8 bytes, but sendbuf has 16.",
    ),
    "Alltoall of other sizes": (
        lambda c: c.Alltoall(np.zeros(4), np.zeros(2)), MPI.ERR_COUNT, ValueError,
        "Alltoall on rank 0: recvbuf has 16 bytes, but sendbuf has 32.",
    ),
    "Gatherv of other sizes": (
        lambda c: c.Gatherv(np.zeros(2), [np.zeros(4), [1, 3]], c.rank), MPI.ERR_COUNT, ValueError,
        "Gatherv on rank 0: block 0 of recvbuf has 8 bytes, but sendbuf has 16.",
    ),
    "Scatterv of other sizes": (
        lambda c: c.Scatterv([np.zeros(3), [1, 2]], np.zeros(3), c.rank), MPI.ERR_COUNT, ValueError,
        "Scatterv on rank 0: block 0 of sendbuf has 8 bytes, but recvbuf has 24.",
    ),
    "Allgatherv of other sizes": (
        lambda c: c.Allgatherv(np.zeros(3), [np.zeros(3), [1, 2]]), MPI.ERR_COUNT, ValueError,
        "Allgatherv on rank 0: block 0 of recvbuf has 8 bytes, but sendbuf has 24.",
    ),
    "Alltoallv of other sizes": (
        lambda c: c.Alltoallv([np.zeros(2), [1, 1]], [np.zeros(4), [2, 2]]), MPI.ERR_COUNT, ValueError,
        "Alltoallv on rank 0: block 0 of recvbuf has 16 bytes, but block 0 of sendbuf has 8.",
    ),
    "Alltoallw of other sizes": (
        lambda c: c.Alltoallw([np.zeros(2), [MPI.INT] * 2], [np.zeros(2), [MPI.DOUBLE] * 2]), MPI.ERR_COUNT, ValueError,
        "Alltoallw on rank 0: block 0 of recvbuf has 8 bytes, but block 0 of sendbuf has 4.",
    ),
    "too few counts": (
        lambda c: c.Allgatherv(np.zeros(1), [np.zeros(3), [1]]), MPI.ERR_ARG, ValueError,
        "Allgatherv on rank 0: expecting 2 counts, got 1.",
    ),
    "too many displacements": (
        lambda c: c.Allgatherv(np.zeros(1), [np.zeros(3), [1, 1], [0, 1, 2], MPI.DOUBLE]), MPI.ERR_ARG, ValueError,
        "Allgatherv on rank 0: expecting 2 displacements, got 3.",
    ),
    "negative count": (
        lambda c: c.Allgatherv(np.zeros(1), [np.zeros(3), [1, -1]]), MPI.ERR_COUNT, ValueError,
        "Allgatherv on rank 0: count -1 of block 1 is negative.",
    ),
    "displacement out of memory": (
        lambda c: c.Allgatherv(np.zeros(1), [np.zeros(3), [1, 1], [0, 3], MPI.DOUBLE]), MPI.ERR_BUFFER, ValueError,
        "Allgatherv on rank 0: block 1: count 1 of DOUBLE takes bytes 24 to 32 of a buffer of 24 bytes.",
    ),
    "count out of memory": (
        lambda c: c.Bcast([np.zeros(3), 4]), MPI.ERR_BUFFER, ValueError,
        "Bcast on rank 0: count 4 of DOUBLE takes bytes 0 to 32 of a buffer of 24 bytes.",
    ),
    "op of something else": (
        lambda c: c.Allreduce(np.zeros(1), np.zeros(1), max), MPI.ERR_ARG, TypeError,
        "Allreduce on rank 0: op is <built-in function max>, not an Op (MPI.SUM, Op.Create ...).",
    ),
    "op null": (
        lambda c: c.Scan(np.zeros(1), np.zeros(1), MPI.OP_NULL), MPI.ERR_OP, MPI.Exception,
        "Scan on rank 0: the operation is OP_NULL: it was never created, or was freed.",
    ),
    "op that does not fit": (
        lambda c: c.Reduce(np.zeros(1), np.zeros(1), MPI.BAND, c.rank), MPI.ERR_OP, MPI.Exception,
        "Reduce on rank 0: BAND takes integers and bytes, not DOUBLE.",
    ),
    "op on a derived datatype": (
        lambda c: c.Exscan(MPI.IN_PLACE, [np.zeros(2), twice()]), MPI.ERR_OP, MPI.Exception,
        "Exscan on rank 0: SUM takes integers, floating-point and complex numbers, not CONTIGUOUS of DOUBLE; use Op.Create "
        "for derived datatypes.",
    ),
    "op of one-sided communication": (
        lambda c: c.Allreduce(np.zeros(1), np.zeros(1), MPI.REPLACE), MPI.ERR_OP, MPI.Exception,
        "Allreduce on rank 0: REPLACE is for one-sided communication only, not for reductions.",
    ),
    "pairs that are none": (
        lambda c: c.Allreduce(np.zeros(1), np.zeros(1), MPI.MAXLOC), MPI.ERR_OP, MPI.Exception,
        "Allreduce on rank 0: MAXLOC takes pairs like DOUBLE_INT, not DOUBLE.",
    ),
    "two datatypes": (
        lambda c: c.Allreduce(np.zeros(1), np.zeros(1, "i8")), MPI.ERR_TYPE, ValueError,
        "Allreduce on rank 0: sendbuf is of DOUBLE, recvbuf of LONG: they must be of one datatype.",
    ),
    "two derived datatypes": (
        lambda c: c.Exscan([np.zeros(2), twice()], [np.zeros(2), twice()]), MPI.ERR_TYPE, ValueError,
        "Exscan on rank 0: sendbuf is of CONTIGUOUS of DOUBLE, recvbuf of another CONTIGUOUS of DOUBLE: they must be of one "
        "datatype.",
    ),
    "two counts": (
        lambda c: c.Allreduce(np.zeros(1), np.zeros(2)), MPI.ERR_COUNT, ValueError,
        "Allreduce on rank 0: sendbuf has 1 elements, but recvbuf 2.",
    ),
    "two counts of a block": (
        lambda c: c.Reduce_scatter_block(np.zeros(2), np.zeros(2)), MPI.ERR_COUNT, ValueError,
        "Reduce_scatter_block on rank 0: sendbuf has 1 elements, but recvbuf 2.",
    ),
    "recvcounts that do not add up": (
        lambda c: c.Reduce_scatter(np.zeros(3), np.zeros(1), [1, 1]), MPI.ERR_COUNT, ValueError,
        "Reduce_scatter on rank 0: the counts add up to 2, but sendbuf has 3 elements.",
    ),
    "recvcounts that do not add up in place": (
        lambda c: c.Reduce_scatter(MPI.IN_PLACE, np.zeros(3), [1, 1]), MPI.ERR_COUNT, ValueError,
        "Reduce_scatter on rank 0: the counts add up to 2, but recvbuf has 3 elements.",
    ),
    "recvcount of another size": (
        lambda c: c.Reduce_scatter(np.zeros(2), np.zeros(3), [1, 1]), MPI.ERR_COUNT, ValueError,
        "Reduce_scatter on rank 0: recvcounts[0] is 1, but recvbuf has 3 elements.",
    ),
    "too many recvcounts": (
        lambda c: c.Reduce_scatter(np.zeros(3), np.zeros(1), [1, 1, 1]), MPI.ERR_COUNT, ValueError,
        "Reduce_scatter on rank 0: expecting 2 items, got 3.",
    ),
    "negative recvcount": (
        lambda c: c.Reduce_scatter(np.zeros(1), np.zeros(2), [2, -1]), MPI.ERR_COUNT, ValueError,
        "Reduce_scatter on rank 0: item 1 of recvcounts is -1, which is negative.",
    ),
    "recvcount that is no integer": (
        lambda c: c.Reduce_scatter(np.zeros(1), np.zeros(1), [1, 0.5]), MPI.ERR_ARG, TypeError,
        "Reduce_scatter on rank 0: item 1 of recvcounts is 0.5, not an integer.",
    ),
    "no recvcounts in place": (
        lambda c: c.Reduce_scatter(MPI.IN_PLACE, np.zeros(2)), MPI.ERR_COUNT, TypeError,
        "Reduce_scatter on rank 0: recvcounts are required in place.",
    ),
    "too many items to scatter": (
        lambda c: c.scatter([1, 2, 3], c.rank), MPI.ERR_COUNT, ValueError, "scatter on rank 0: expecting 2 items, got 3.",
    ),
    "too few items for all": (
        lambda c: c.alltoall([1]), MPI.ERR_COUNT, ValueError, "alltoall on rank 0: expecting 2 items, got 1.",
    ),
    "op on objects that cannot be called": (
        lambda c: c.allreduce(1, op=None), MPI.ERR_OP, TypeError, "allreduce on rank 0: op is None, which cannot be called.",
    ),
    "half a phantom": (
        lambda c: c.Allgather(fakempi.phantom(8), np.zeros(2)), MPI.ERR_BUFFER, ValueError,
        "Allgather on rank 0: one buffer is a phantom of 8 bytes, the other is not.",
    ),
    "operation that does not fit a phantom": (
        lambda c: c.Allreduce([fakempi.phantom(8), MPI.DOUBLE], fakempi.phantom(8, 8), MPI.BOR), MPI.ERR_OP, MPI.Exception,
        "Allreduce on rank 0: BOR takes integers and bytes, not DOUBLE.",
    ),
    "two kinds of phantoms": (
        lambda c: c.Allreduce(fakempi.phantom(8), fakempi.phantom(64, 8)), MPI.ERR_TYPE, ValueError,
        "Allreduce on rank 0: sendbuf is of elements of 1 bytes, recvbuf of elements of 8 bytes: they must be of one "
        "datatype.",
    ),
}  # fmt: skip


def twice() -> Any:
    """A derived datatype."""
    return MPI.DOUBLE.Create_contiguous(2).Commit()


@for_each("what", MISTAKES)
def test_a_mistake_is_reported(what: str) -> None:
    """On every rank, before any message is sent; the communicator can be used afterwards."""
    call, code, kind, words = MISTAKES[what]

    def main(comm: Any) -> Any:
        with pytest.raises(kind) as caught:
            call(comm)
        assert isinstance(caught.value, MPI.Exception)
        return str(caught.value), caught.value.Get_error_class(), comm.allreduce(1)

    assert run(main, 2)[0] == (words, code, 2)


@pytest.mark.parametrize("how", [str, nonblocking, "{}_init".format], ids=["blocking", "nonblocking", "persistent"])
def test_a_null_communicator_is_rejected(how: Callable[[str], str]) -> None:
    """By every collective, in every variant; also a freed one."""

    def main(comm: Any) -> None:
        freed = comm.Dup()
        freed.Free()
        for name, args, _ in operations(comm):
            words = f"{how(name)} on rank {comm.rank}: the communicator is null: it was freed, or this rank is not in it."
            for null in freed, MPI.Intracomm():
                with pytest.raises(MPI.Exception, match=f"^{re.escape(words)}$"):
                    getattr(null, how(name))(*args)

    run(main, 2)


def test_calls_on_objects_reject_a_null_communicator() -> None:
    """Every call on objects."""
    null = MPI.Intracomm()
    calls = ["bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce", "scan", "exscan"]
    for name in calls:
        with pytest.raises(MPI.Exception, match=f"^{name}: the communicator is null"):
            getattr(null, name)(1)
    with pytest.raises(MPI.Exception, match="^barrier: the communicator is null"):
        null.barrier()


def test_errors_go_to_the_communicators_error_handler() -> None:
    """MPI errors use the error handler; a fatal one ends the run although the program catches it."""
    seen: list[int] = []

    def main(comm: Any) -> None:
        comm.Set_errhandler(MPI.Comm.Create_errhandler(lambda where, code: seen.append(code)))
        with pytest.raises(MPI.Exception):
            comm.Bcast(np.zeros(1), 7)
        with pytest.raises(MPI.Exception):
            comm.Allreduce(np.zeros(1), np.zeros(1), MPI.LAND)
        comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        try:
            comm.Bcast(np.zeros(1), 7)
        finally:
            seen.append(-1)

    with pytest.raises(fakempi.RankError, match="root 7 is not in"):
        run(main, 1)
    assert seen == [MPI.ERR_ROOT, MPI.ERR_OP, -1]


def test_an_exception_in_a_user_defined_operation_is_raised_unchanged() -> None:
    """In a blocking call and in a nonblocking one."""

    def broken(left: Any, right: Any, datatype: Any) -> None:
        raise ZeroDivisionError("my mistake")

    def main(comm: Any, name: str) -> None:
        request = getattr(comm, name)(np.zeros(1), np.zeros(1), MPI.Op.Create(broken))
        if request is not None:
            request.Wait()

    for name in "Allreduce", "Iallreduce":
        with pytest.raises(fakempi.RankError) as caught:
            run(lambda comm, name=name: main(comm, name), 2)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
