"""Repeated calls with objects from the same line: each gets its own result, and errors of the next call are found."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.errors import RankError
from tests.mpi.collective.calls import null_when_freed_between

CALLS = ("bcast", "gather", "scatter", "allgather", "alltoall")
COMBINED = ("allreduce", "reduce", "scan")


def argument(name: str, comm: Any, obj: Any) -> Any:
    """Return the argument of a rank: an object, or one per rank."""
    return [obj] * comm.size if name in ("scatter", "alltoall") else obj


things = st.sampled_from([0, 300, "word", [1, 2], {"a": b"b"}, None, (1.5, "x" * 70)])
calls = st.tuples(st.sampled_from([*CALLS, *COMBINED]), things, st.booleans())


@settings(max_examples=10)
@given(program=st.lists(calls, min_size=2, max_size=5), ranks=st.integers(1, 3))
def test_repeated_calls_from_one_line_behave_like_the_first(program: list[Any], ranks: int) -> None:
    """A traced run caches no call: results and times are the same."""

    def main(comm: Any) -> list[Any]:
        found = []
        for name, thing, same in program * 2:
            ops = [lambda one, other: [one, other]] if name in COMBINED else []
            found.append(getattr(comm, name)(argument(name, comm, thing if same else [thing] * comm.rank), *ops))
            found.append(MPI.Wtime())
        return found

    run, traced = fakempi.run(main, ranks), fakempi.run(main, ranks, trace=True)
    assert run.returns == traced.returns
    assert run.findings == traced.findings == []


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", [*CALLS, *COMBINED])
def test_results_are_copies_in_every_call(name: str, ranks: int) -> None:
    """On a single rank too."""

    def main(comm: Any) -> bool:
        mine: list[Any] = [[]]
        for _ in range(3):
            got = getattr(comm, name)(argument(name, comm, mine))
            if got is None:
                continue
            one = got[0] if name in ("gather", "allgather", "alltoall") else got
            assert one is not mine
            assert one[0] is not mine[0]
            one[0].append(1)
        return mine == [[]]

    assert all(fakempi.run(main, ranks).returns)


@pytest.mark.parametrize("name", [*CALLS, *COMBINED])
def test_custom_pickling_is_used_in_every_call(name: str) -> None:
    """On a single rank too: as often in the third call as in the first, and as in a traced run."""

    def main(comm: Any) -> list[tuple[int, int]]:
        requested: list[str] = []

        def dumps(obj: Any, *args: Any, **options: Any) -> bytes:
            requested.append("dumps")
            return pickle.dumps(obj, *args, **options)

        def loads(data: Any, *args: Any, **options: Any) -> Any:
            requested.append("loads")
            return pickle.loads(data, *args, **options)

        MPI.pickle.__init__(dumps, loads)  # type: ignore[misc]
        found = []
        for _ in range(3):
            getattr(comm, name)(argument(name, comm, 1))
            found.append((requested.count("dumps"), requested.count("loads")))
            requested.clear()
        MPI.pickle.__init__()  # type: ignore[misc]
        return found

    ((one, two, three),) = fakempi.run(main, 1).returns
    assert one == two == three
    assert min(one) >= 1
    assert fakempi.run(main, 1, trace=True).returns == [[one, two, three]]


@pytest.mark.parametrize("name", COMBINED)
def test_a_different_operation_on_one_rank_is_rejected_the_third_time(name: str) -> None:
    """Functions without a name are not compared between ranks."""

    def main(comm: Any) -> list[Any]:
        found = []
        for turn in range(6):
            op: Any = (lambda one, other, turn=turn: one * turn + other) if turn < 3 else MPI.SUM
            if turn == 5 and comm.rank:
                op = MPI.MAX
            found.append(getattr(comm, name)(comm.rank + 1, op))
            if turn < 3 and comm.rank == (name == "scan"):
                assert found[-1] == turn + 2
        return found

    with pytest.raises(RankError, match=f"{name} on rank 1: the operation is MAX here .* but SUM on rank 0"):
        fakempi.run(main, 2)


@pytest.mark.parametrize("name", ["bcast", "gather", "scatter", "reduce"])
def test_a_different_root_on_one_rank_is_rejected_the_third_time(name: str) -> None:
    """Although it is a valid rank."""

    def main(comm: Any) -> None:
        for turn in range(3):
            getattr(comm, name)(argument(name, comm, 1), root=comm.rank if turn == 2 else 0)

    words = rf"{name} on rank 1: root is 1 here \(test_repeated_calls_with_objects.py:\d+\) but 0 on rank 0"
    with pytest.raises(RankError, match=words):
        fakempi.run(main, 2)


@pytest.mark.parametrize("name", [*CALLS[1:], *COMBINED])
def test_another_call_on_one_rank_is_reported_in_the_next_call(name: str) -> None:
    """Both calls have been made before from this line, in step."""

    def main(comm: Any) -> None:
        for turn in range(5):
            called = name if turn % 2 or (turn == 4 and comm.rank) else "bcast"
            getattr(comm, called)(argument(called, comm, 1))

    with pytest.raises(RankError, match=f"this rank calls {name} at .* but rank 0 .* called bcast at test_repeated"):
        fakempi.run(main, 2)


def test_a_call_with_an_object_differs_from_a_call_with_a_buffer() -> None:
    """Although both may send an array of eight bytes first, from the same line."""

    def main(comm: Any) -> None:
        for name in ("bcast", "Bcast", "bcast", "Bcast" if comm.rank else "bcast"):
            getattr(comm, name)(np.zeros(1, np.int64))

    with pytest.raises(RankError, match="this rank calls Bcast at .* but rank 0 .* called bcast at"):
        fakempi.run(main, 2)


@pytest.mark.parametrize("name", [*CALLS, *COMBINED, "barrier"])
def test_a_communicator_that_was_freed_in_between_is_null(name: str) -> None:
    """From the same line."""
    null_when_freed_between(name, lambda comm: [] if name == "barrier" else [argument(name, comm, 1)])
