"""The whole catalogue on real MPI: `mpiexec -n P python tests/real_mpi/run_catalogue.py`.

Every algorithm runs every case of `collectives/verification/cases.py` that fits P; the result is compared with numpy's
answer and with mpi4py's own collective on the same data, and the case runs once more with synchronous sends. What does
not fit must be refused. Derived datatypes, displacements and rounding have a test each. Rank 0 prints the failures and
one line; the exit status is nonzero if there are any.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mpi4py import MPI

from collectives import CATALOGUE, Algorithm, Case, DoesNotFit
from collectives.verification.calls import Call
from collectives.verification.cases import PAIRED, REDUCING, UNEVEN, some_cases
from collectives.verification.choices import parameter_choices
from collectives.verification.one_group import check, prepare
from collectives.verification.ops import ops_of
from tests.real_mpi.asking import finish

OPS = ops_of(MPI)


class Synchronous:
    """A communicator whose sends wait for their receives: an algorithm that relies on buffering hangs on it."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self.comm = comm
        self.Get_rank, self.Get_size = comm.Get_rank, comm.Get_size
        self.Send, self.Isend = comm.Ssend, comm.Issend
        self.Recv, self.Irecv = comm.Recv, comm.Irecv

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int) -> None:
        request = self.comm.Issend(sendbuf, dest, sendtag)
        self.comm.Recv(recvbuf, source, recvtag)
        request.Wait()


def native(comm: MPI.Intracomm, operation: str, case: Case) -> Call:
    """The same call by mpi4py's own collective."""
    call = prepare(operation, replace(case, in_place=False), comm.Get_rank(), OPS)
    if operation in REDUCING:
        sendbuf, recvbuf, *counts = call.args
        getattr(comm, operation.capitalize())(sendbuf, recvbuf, *map(list, counts), **call.kwargs)
    elif operation == "barrier":
        comm.Barrier()
    elif operation == "bcast":
        comm.Bcast(call.args[0], root=case.root)
    elif operation in ("gather", "scatter"):
        getattr(comm, operation.capitalize())(*call.args, root=case.root)
    elif operation == "gatherv":
        sendbuf, recvbuf, counts = call.args
        comm.Gatherv(sendbuf, None if recvbuf is None else [recvbuf, list(counts)], root=case.root)
    elif operation == "scatterv":
        sendbuf, recvbuf, counts = call.args
        comm.Scatterv(None if sendbuf is None else [sendbuf, list(counts)], recvbuf, root=case.root)
    elif operation == "allgather":
        comm.Allgather(*call.args)
    elif operation == "allgatherv":
        sendbuf, recvbuf, counts = call.args
        comm.Allgatherv(sendbuf, [recvbuf, list(counts)])
    elif operation == "alltoall":
        comm.Alltoall(*call.args)
    elif operation == "alltoallv":
        sendbuf, recvbuf, sendcounts, recvcounts = call.args
        comm.Alltoallv([sendbuf, list(sendcounts)], [recvbuf, recvcounts])
    elif operation == "alltoallw":
        comm.Alltoallw(*(_as_messages(blocks) for blocks in call.args))
    else:
        raise NotImplementedError(f"no native call for {operation}")
    return call


def _as_messages(blocks: list[Any]) -> list[Any]:
    """The blocks, which lie one after the other in one array, as mpi4py's Alltoallw wants them."""
    whole = blocks[0].base if blocks[0].base is not None else blocks[0]
    counts = [block.size for block in blocks]
    places = [int(place) * whole.itemsize for place in np.cumsum([0, *counts[:-1]])]
    return [whole, counts, places, [MPI.INT] * len(blocks)]


def try_columns(algorithm: Algorithm, comm: MPI.Intracomm) -> str | None:
    """Transpose a matrix that is spread by rows: rank r sends column s of its rows to s, with a derived datatype."""
    p, rank = comm.Get_size(), comm.Get_rank()
    mine = np.arange(2 * p, dtype="int32").reshape(2, p) + 100 * rank
    theirs = np.zeros((p, 2), "int32")
    column = MPI.INT.Create_vector(2, 1, p).Commit()
    for target in (comm, Synchronous(comm)):
        algorithm.run(
            target, [[mine.ravel()[s:], 1, column] for s in range(p)], [[theirs[s], MPI.INT] for s in range(p)]
        )
    column.Free()
    expected = [[100 * s + rank, 100 * s + p + rank] for s in range(p)]
    return None if theirs.tolist() == expected else f"{algorithm!r} rank {rank}: columns came as {theirs.tolist()}"


def try_displacements(algorithm: Algorithm, comm: MPI.Intracomm) -> str | None:
    """Blocks from the last to the first, with gaps, both ways; in place too."""
    p, rank = comm.Get_size(), comm.Get_rank()
    mine, counts, places = 100 * rank + np.arange(3 * p), [2] * p, [3 * (p - 1 - s) for s in range(p)]
    theirs = np.full(3 * p, -1)
    algorithm.run(comm, mine, theirs, counts, counts, sdispls=places, rdispls=places)
    again = mine.copy()
    algorithm.run(comm, None, again, None, counts, rdispls=places)
    expected, kept = np.full(3 * p, -1), mine.copy()
    for s in range(p):
        for buffer in (expected, kept):
            buffer[3 * (p - 1 - s) :][:2] = 100 * s + 3 * (p - 1 - rank) + np.arange(2)
    if np.array_equal(theirs, expected) and np.array_equal(again, kept):
        return None
    return f"{algorithm!r} rank {rank}: displaced blocks came as {theirs.tolist()}, in place {again.tolist()}"


def try_rounding(algorithm: Algorithm, comm: MPI.Intracomm) -> str | None:
    """Sums that depend on their order must come out the same on all ranks, bit by bit."""
    own = np.random.default_rng(comm.Get_rank()).standard_normal(50)
    total = np.empty(50)
    algorithm.run(comm, own, total, op=MPI.SUM)
    return None if len(set(comm.allgather(total.tobytes()))) == 1 else f"{algorithm!r}: sums differ between ranks"


MORE = {"alltoallw": try_columns, "alltoallv": try_displacements, "allreduce": try_rounding}


def try_case(algorithm: Algorithm, comm: MPI.Intracomm, case: Case) -> str | None:
    """Run one case here; the first line of what went wrong, if anything."""
    try:
        ours = check(algorithm, comm, case, OPS)
        check(algorithm, Synchronous(comm), case, OPS)
        theirs = native(comm, algorithm.operation, case)
        undefined = algorithm.operation == "exscan" and comm.Get_rank() == 0
        if ours.result.shape == theirs.result.shape and not undefined:
            np.testing.assert_array_equal(ours.result, theirs.result, err_msg="differs from mpi4py's own")
    except AssertionError as error:
        return f"{algorithm!r} rank {comm.Get_rank()} {case}: {' '.join(str(error).split())[:300]}"
    return None


def try_refusal(algorithm: Algorithm, comm: MPI.Intracomm) -> str | None:
    """Where the algorithm does not serve p, its function must say so before it sends anything."""
    p = comm.Get_size()
    for parameters in parameter_choices(algorithm, p):
        for commutative in (True, False) if algorithm.operation in REDUCING else (True,):
            case = replace(_small_case(algorithm.operation, p), commutative=commutative, parameters=parameters)
            if algorithm.fits(case) is None:
                continue
            call = prepare(algorithm.operation, case, comm.Get_rank(), OPS)
            try:
                algorithm.run(comm, *call.args, **call.kwargs, **parameters)
            except DoesNotFit:
                continue
            return f"{algorithm!r} ran on p = {p} although it says: {algorithm.fits(case)}"
    return None


def _small_case(operation: str, p: int) -> Case:
    """One element for each."""
    if operation in PAIRED:
        return Case(p, traffic=((1,) * p,) * p, itemsize=4)
    return Case(p, counts=(1,) * p, itemsize=4) if operation in UNEVEN else Case(p, 4, itemsize=4)


def main() -> int:
    comm = MPI.COMM_WORLD
    passed, failures = 0, []
    for algorithm in CATALOGUE:
        if algorithm.kind != "intra":
            continue
        outcomes = [try_case(algorithm, comm, case) for case in some_cases(algorithm, comm.Get_size())]
        outcomes.append(try_refusal(algorithm, comm))
        if algorithm.operation in MORE:
            outcomes.append(MORE[algorithm.operation](algorithm, comm))
        everywhere = comm.allgather(outcomes)
        for here in zip(*everywhere, strict=True):
            complaint = next((text for text in here if text), None)
            if complaint:
                failures.append(complaint)
            else:
                passed += 1
    if comm.Get_rank() == 0:
        print(*failures[:20], sep="\n", end="\n" if failures else "")
        print(f"p = {comm.Get_size()}: {passed} passed, {len(failures)} failed", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    finish(main)
