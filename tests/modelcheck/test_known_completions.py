"""A request that Get_status has reported as complete stays complete in all later calls.

The oracle is the sentence of MPI 4.1, 3.7.3: Get_status returns true if the operation is complete, and does not free the
request. A test of the same request must then return true, in every schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

Test = Callable[[list[Any]], "set[int] | None"]
"""A call on a list of requests: the indices that it reports as complete; None if it says less than which ones."""


def each(requests: list[Any]) -> set[int]:
    return {i for i, request in enumerate(requests) if request.Get_status()}


def any_of(call: Callable[[list[Any]], Any]) -> Test:
    return lambda requests: {index for index in call(requests)[:1] if index != MPI.UNDEFINED}


def all_of(call: Callable[[list[Any]], Any]) -> Test:
    return lambda requests: set(range(len(requests))) if call(requests) is True else set()


def some_of(call: Callable[[list[Any]], Any]) -> Test:
    return lambda requests: set(call(requests) or ())


KEEPING: dict[str, Test] = {
    "Get_status": each,
    "Get_status_any": any_of(MPI.Request.Get_status_any),
    "Get_status_all": all_of(MPI.Request.Get_status_all),
    "Get_status_some": some_of(MPI.Request.Get_status_some),
}
"""Calls that leave the requests as they are."""

ENDING: dict[str, Test] = {
    "Test": lambda requests: {i for i, request in enumerate(requests) if request.Test()},
    "test": lambda requests: {i for i, request in enumerate(requests) if request.test()[0]},
    "Testany": any_of(MPI.Request.Testany),
    "testany": any_of(MPI.Request.testany),
    "Testall": all_of(MPI.Request.Testall),
    "testall": all_of(lambda requests: MPI.Request.testall(requests)[0]),
    "Testsome": some_of(MPI.Request.Testsome),
    "testsome": some_of(lambda requests: MPI.Request.testsome(requests)[0]),
    "Waitsome": some_of(MPI.Request.Waitsome),
}
"""Calls that end requests that are complete."""


def is_possible(name: str, known: set[int], found: set[int], count: int) -> bool:
    """Whether MPI allows a call to report `found` if the requests `known` are known to be complete."""
    if name.lower().endswith("any"):
        return bool(found) or not known
    if name.lower().endswith("all"):
        return len(found) == count or len(known) < count
    return found >= known


def receives(comm: Any) -> list[Any]:
    if comm.rank:
        comm.send(comm.rank, 0)
        return []
    return [comm.irecv(source=1), comm.irecv(source=2)]


@pytest.mark.quick(2)
@pytest.mark.parametrize("first", KEEPING)
def test_a_completion_that_was_reported_is_reported_by_every_later_test(first: str) -> None:
    """By each call after each call, in all schedules of two receives."""

    def main(comm: Any, name: str, later: Test) -> None:
        requests = receives(comm)
        if requests:
            known = KEEPING[first](requests) or set()
            found = later(requests) or set()
            assert is_possible(name, known, found, 2), f"{first} has reported {known}, then {name} {found}"
            MPI.Request.waitall(requests)

    for name, later in {**KEEPING, **ENDING}.items():
        result = fakempi.explore(main, 3, name, later, buffering="infinite", strict=False, runs=400)
        assert [str(failure.error) for failure in result.failures] == []
        assert result.exhausted


def test_answers_that_nothing_rules_out_are_explored() -> None:
    """After a Get_status_some that reports nothing, all requests may be complete or not."""

    def main(comm: Any) -> None:
        if requests := receives(comm):
            known = bool(KEEPING["Get_status_some"](requests))
            pairs.add((known, frozenset(ENDING["Testsome"](requests) or ())))
            MPI.Request.waitall(requests)

    pairs: set[Any] = set()
    result = fakempi.explore(main, 3, buffering="infinite", strict=False, ignore_shared=True, runs=400)
    assert result.failures == []
    assert {found for known, found in pairs if not known} == {frozenset(), frozenset({0}), frozenset({1}), frozenset({0, 1})}


def kinds(comm: Any, path: str) -> Iterator[Any]:
    """A request of each kind, on each rank."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    yield comm.Isend(np.zeros(1), right, 1)
    yield comm.Irecv(np.zeros(1), left, 1)
    yield comm.Ibarrier()
    for persistent in (comm.Send_init(np.zeros(1), right, 2), comm.Recv_init(np.zeros(1), left, 2)):
        persistent.Start()
        yield persistent
    grequest = MPI.Grequest.Start()
    grequest.Complete()
    yield grequest
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    yield file.Iwrite_at(8 * comm.rank, np.zeros(1))
    file.Close()
    window = MPI.Win.Allocate(8, comm=comm)
    window.Lock(right)
    yield window.Rput(np.zeros(1), right)
    window.Unlock(right)
    window.Free()


def test_requests_of_each_kind_stay_complete(tmp_path: Path) -> None:
    """After Get_status has reported them; a generalized request also after its rank has called Complete."""

    def main(comm: Any) -> int:
        count = 0
        for request in kinds(comm, str(tmp_path / "file")):
            certain = isinstance(request, MPI.Grequest)
            if certain or request.Get_status():
                assert request.Get_status()
                assert MPI.Request.Testall([request])
                count += 1
            request.Wait()
        return count

    result = fakempi.explore(main, 2, buffering="infinite", strict=False, runs=200)
    assert [str(failure.error) for failure in result.failures] == []
    assert result.runs > 10


@pytest.mark.parametrize(("first", "second"), [*product(("Parrived", "Get_status"), repeat=2), ("Parrived", "Test")])
def test_partitions_and_their_request_agree(first: str, second: str) -> None:
    """If all partitions have arrived, the request is complete, and vice versa."""

    def calls(request: Any, name: str) -> list[bool]:
        return [request.Parrived(i) for i in range(2)] if name == "Parrived" else [getattr(request, name)()]

    def main(comm: Any) -> None:
        if comm.rank == 0:
            request = comm.Psend_init(bytearray(4), 2, 1)
            request.Start()
            request.Pready_range(0, 1)
        else:
            request = comm.Precv_init(bytearray(4), 2, 0, 0)
            request.Start()
            if all(calls(request, first)):
                assert all(calls(request, second))
        request.Wait()
        request.Free()

    result = fakempi.explore(main, 2, runs=300)
    assert [str(failure.error) for failure in result.failures] == []
    assert result.exhausted
