"""The whole catalogue on real MPI: `mpiexec -n 8 python tests/real_mpi/run_catalogue.py [all] 1 2 5 8` on 1, 2, 5, 8 ranks.

Every algorithm runs cases of `collectives/verification/cases.py` that fit P: all of them, or as many as needed to have each
size, root, parameter and kind of op once. Only `all` has all combinations: tests on the emulator try a sample, too. The
result is compared with numpy's answer and with mpi4py's own collective on the same data, and the case runs once more with
synchronous sends. Cases that do not fit must be rejected. Derived datatypes, displacements and rounding have a test each.
Rank 0 prints the failures and one line; the exit status is nonzero if there are any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mpi4py import MPI

from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError
from collectives.verification.calls import CheckedCall
from collectives.verification.cases import PAIRED, REDUCING, UNEVEN, some_cases
from collectives.verification.choices import parameter_choices
from collectives.verification.intra_calls import check, prepare
from collectives.verification.reduction_ops import ops_of
from tests.real_mpi.processes import finish, on_parts

OPS = ops_of(MPI)


class Synchronous:
    """A communicator whose sends wait for their receives: an algorithm that relies on buffering hangs."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self.comm = comm
        self.Get_rank, self.Get_size = comm.Get_rank, comm.Get_size
        self.Send, self.Isend = comm.Ssend, comm.Issend
        self.Recv, self.Irecv = comm.Recv, comm.Irecv

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int) -> None:
        request = self.comm.Issend(sendbuf, dest, sendtag)
        self.comm.Recv(recvbuf, source, recvtag)
        request.Wait()


def native(comm: MPI.Intracomm, operation: str, case: Case) -> CheckedCall:
    """The same call by mpi4py's collective."""
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
    """The consecutive blocks of one array, in the form of mpi4py's Alltoallw."""
    whole = blocks[0].base if blocks[0].base is not None else blocks[0]
    counts = [block.size for block in blocks]
    places = [int(place) * whole.itemsize for place in np.cumsum([0, *counts[:-1]])]
    return [whole, counts, places, [MPI.INT] * len(blocks)]


def try_columns(algorithm: Algorithm, comm: MPI.Intracomm) -> str | None:
    """Transpose a matrix that is distributed by rows: rank r sends column s of its rows to s, with a derived datatype."""
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
    """Blocks from the last to the first, with gaps, in both directions; in place, too."""
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
    """Sums that depend on their order must be equal on all ranks, bit by bit."""
    if algorithm.why_unsupported(Case(comm.Get_size(), 400, itemsize=8)):
        return None  # try_refusal
    own = np.random.default_rng(comm.Get_rank()).standard_normal(50)
    total = np.empty(50)
    algorithm.run(comm, own, total, op=MPI.SUM)
    return None if len(set(comm.allgather(total.tobytes()))) == 1 else f"{algorithm!r}: sums differ between ranks"


MORE = {"alltoallw": try_columns, "alltoallv": try_displacements, "allreduce": try_rounding}


def try_case(algorithm: Algorithm, comm: MPI.Intracomm, case: Case) -> str | None:
    """Run one case; return the first line of an error, if any."""
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
    """If the algorithm does not support p, its function must raise before it sends any message."""
    p = comm.Get_size()
    for parameters in parameter_choices(algorithm, p):
        for commutative in (True, False) if algorithm.operation in REDUCING else (True,):
            case = replace(_small_case(algorithm.operation, p), commutative=commutative, parameters=parameters)
            if algorithm.why_unsupported(case) is None:
                continue
            call = prepare(algorithm.operation, case, comm.Get_rank(), OPS)
            try:
                algorithm.run(comm, *call.args, **call.kwargs, **parameters)
            except UnsupportedCaseError:
                continue
            return f"{algorithm!r} ran on p = {p} although it says: {algorithm.why_unsupported(case)}"
    return None


def _small_case(operation: str, p: int) -> Case:
    """One element for each rank."""
    if operation in PAIRED:
        return Case(p, traffic=((1,) * p,) * p, itemsize=4)
    return Case(p, counts=(1,) * p, itemsize=4) if operation in UNEVEN else Case(p, 4, itemsize=4)


def each_value_once(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield the cases that have a size, a root, a parameter or a kind of op or buffer that no earlier case has."""
    seen: set[tuple[str, str]] = set()
    for case in cases:
        size = (case.m, case.counts, case.itemsize) if case.traffic is None else case.traffic
        values = {"size": size, "root": case.root, "in place": case.in_place, "commutative": case.commutative}
        found = {(name, str(value)) for name, value in {**values, "parameters": case.parameters}.items()}
        if not found <= seen:
            seen |= found
            yield case


def main(comm: MPI.Intracomm, *, every: bool) -> int:
    passed, failures = 0, []
    for algorithm in CATALOGUE:
        if algorithm.kind != "intra":
            continue
        cases = some_cases(algorithm, comm.Get_size())
        outcomes = [try_case(algorithm, comm, case) for case in (cases if every else each_value_once(cases))]
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
    sizes = [int(word) for word in sys.argv[1:] if word != "all"]
    finish(lambda: on_parts(sizes, lambda comm: main(comm, every="all" in sys.argv)))
