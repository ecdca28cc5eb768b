"""Call matching: if ranks call different collectives, or pass different arguments, the error has both calls and places.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.base.call_matching import PERSISTENT, TAGS, Traffic, missing_processes, register_call
from tests.helpers.loops import for_each
from tests.helpers.runs import run

ORDER = "all ranks must make the same collective calls in the same order."
AGREE = "all ranks must agree."


def clash(main: Callable[..., Any], nprocs: int = 2, **options: Any) -> str:
    """The message of the run, with every line number as N; it must be an MPI error of class ERR_NOT_SAME."""
    with pytest.raises(fakempi.RankError) as caught:
        run(main, nprocs, **options)
    error = caught.value.__cause__
    assert isinstance(error, MPI.Exception)
    assert error.Get_error_class() == MPI.ERR_NOT_SAME
    return re.sub(r"(test_agreement\.py:)\d+", r"\1N", str(error))


def lines_of(text: str) -> list[int]:
    """The lines of this file that a text names."""
    return [int(line) for line in re.findall(r"test_agreement\.py:(\d+)", text)]


# -- another call --------------------------------------------------------------------------------------------------


def test_both_calls_are_named_with_their_lines(backend: Any) -> None:
    """The line of the call in the program."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Barrier()
        else:
            comm.Bcast(np.zeros(1))

    first = main.__code__.co_firstlineno
    with pytest.raises(fakempi.RankError) as caught:
        run(main, 2, backend)
    assert lines_of(str(caught.value.__cause__)) == [first + 4, first + 2]
    assert clash(main, backend=backend) == (
        "Bcast on rank 1: this rank calls Bcast at test_agreement.py:N, but rank 0 of the same communicator called Barrier "
        f"at test_agreement.py:N: {ORDER}"
    )


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        (
            lambda comm: comm.Allgather(np.zeros(1), np.zeros(2)), lambda comm: comm.Alltoall(np.zeros(2), np.zeros(2)),
            "Allgather Alltoall",
        ),
        (lambda comm: comm.Barrier(), lambda comm: comm.Ibarrier().Wait(), "Barrier Ibarrier"),
        (lambda comm: comm.allreduce(1), lambda comm: comm.reduce(1), "allreduce reduce"),
        (lambda comm: comm.scan(1), lambda comm: comm.exscan(1), "scan exscan"),
        (lambda comm: comm.Bcast_init(np.zeros(1)), lambda comm: comm.Barrier_init(), "Bcast_init Barrier_init"),
        (lambda comm: comm.Dup(), lambda comm: comm.Barrier(), "Dup Barrier"),
        (lambda comm: comm.Barrier(), lambda comm: comm.Dup(), "Barrier Dup"),
        (lambda comm: comm.gather(1), lambda comm: comm.Split(), "gather Split"),
    ],
)  # fmt: skip
def test_a_different_call_is_rejected(one: Callable[..., Any], other: Callable[..., Any], names: str) -> None:
    """For any pair of calls, in any order, also for calls that create communicators."""
    first, second = names.split()
    assert clash(lambda comm: one(comm) if comm.rank == 0 else other(comm)) == (
        f"{second} on rank 1: this rank calls {second} at test_agreement.py:N, but rank 0 of the same communicator called "
        f"{first} at test_agreement.py:N: {ORDER}"
    )


def test_barrier_is_barrier_in_either_case() -> None:
    """mpi4py has both names for one call."""

    def main(comm: Any) -> None:
        comm.Barrier() if comm.rank else comm.barrier()

    assert fakempi.run(main, 3).findings == []


def test_the_kth_call_is_compared_with_the_kth_call() -> None:
    """Earlier, equal calls do not matter."""

    def main(comm: Any) -> None:
        for _ in range(3):
            comm.allreduce(1)
        comm.bcast(1, root=comm.rank)

    assert clash(main, 2) == (
        f"bcast on rank 1: root=comm.rank is 1 here (test_agreement.py:N) but 0 on rank 0 (test_agreement.py:N): {AGREE}"
    )


def test_ranks_are_named_by_their_number_in_the_world() -> None:
    """Roots are ranks in the communicator, as in the program."""

    def main(comm: Any) -> None:
        upside_down = comm.Split(0, -comm.rank)
        upside_down.Bcast(np.zeros(1), root=upside_down.rank)

    places = "1 here (test_agreement.py:N) but 0 on rank 1 (test_agreement.py:N)"
    assert clash(main) == f"Bcast on rank 0: root=upside_down.rank is {places}: {AGREE}"


# -- different arguments ------------------------------------------------------------------------------------------

DIFFERENT: dict[str, tuple[Callable[..., Any], str]] = {
    "root of Bcast": (lambda comm: comm.Bcast(np.zeros(1), comm.rank), "root=comm.rank is 1 here (@) but 0 on rank 0 (@)"),
    "size of Bcast": (
        lambda comm: comm.Bcast(np.zeros(1 + comm.rank)), "the size in bytes is 16 here (@) but 8 on rank 0 (@)",
    ),
    "root of gather": (lambda comm: comm.gather(1, comm.rank), "root=comm.rank is 1 here (@) but 0 on rank 0 (@)"),
    "size of Gather": (
        lambda comm: comm.Gather(np.zeros(1 + comm.rank), np.zeros(2)),
        "the size in bytes is 16 here (@) but 8 on rank 0 (@)",
    ),
    "size of Scatter": (
        lambda comm: comm.Scatter(np.zeros(2), np.zeros(1 + comm.rank)),
        "the size in bytes is 16 here (@) but 8 on rank 0 (@)",
    ),
    "size of Allgather": (
        lambda comm: comm.Allgather(np.zeros(1 + comm.rank), np.zeros(2 + 2 * comm.rank)),
        "the size in bytes is 16 here (@) but 8 on rank 0 (@)",
    ),
    "sizes of Allgatherv": (
        lambda comm: comm.Allgatherv(np.zeros(1), [np.zeros(5), [1 + 2 * comm.rank, 1]]),
        "item 0 of the list of sizes in bytes is 24 here (@) but 8 on rank 0 (@)",
    ),
    "size of Alltoall": (
        lambda comm: comm.Alltoall(np.zeros(2 + 2 * comm.rank), np.zeros(2 + 2 * comm.rank)),
        "the size in bytes is 16 here (@) but 8 on rank 0 (@)",
    ),
    "place of Alltoall": (
        lambda comm: comm.Alltoall(np.zeros(2) if comm.rank else MPI.IN_PLACE, np.zeros(2)),
        "sendbuf is a buffer here (@) but IN_PLACE on rank 0 (@)",
    ),
    "operation of Allreduce": (
        lambda comm: comm.Allreduce(np.zeros(1), np.zeros(1), MPI.MAX if comm.rank else MPI.SUM),
        "the operation is MAX here (@) but SUM on rank 0 (@)",
    ),
    "own operation of Reduce": (
        lambda comm: comm.Reduce(np.zeros(1), np.zeros(1), MPI.Op.Create(keep) if comm.rank else MPI.SUM),
        "the operation is Op.Create(keep) here (@) but SUM on rank 0 (@)",
    ),
    "size of Scan": (
        lambda comm: comm.Scan(np.zeros(1 + comm.rank), np.zeros(1 + comm.rank)),
        "the size in bytes is 16 here (@) but 8 on rank 0 (@)",
    ),
    "elements of Exscan": (
        lambda comm: comm.Exscan(np.zeros(1, "di"[comm.rank]), np.zeros(1, "di"[comm.rank])),
        "the size in bytes is 4 here (@) but 8 on rank 0 (@)",
    ),
    "elements of Allreduce": (
        lambda comm: comm.Allreduce(np.zeros(1, "dl"[comm.rank]), np.zeros(1, "dl"[comm.rank])),
        "the kind of element is int64 here (@) but float64 on rank 0 (@)",
    ),
    "counts of Reduce_scatter": (
        lambda comm: comm.Reduce_scatter(np.zeros(3), np.zeros(2 - comm.rank), [2, 1]) if comm.rank == 0
        else comm.Reduce_scatter(np.zeros(3), np.zeros(2), [1, 2]),
        "item 0 of the list of counts is 1 here (@) but 2 on rank 0 (@)",
    ),
    "counts left out": (
        lambda comm: comm.Reduce_scatter(np.zeros(2), np.zeros(1), [1, 1] if comm.rank else None),
        "recvcounts is given here (@) but left out on rank 0 (@)",
    ),
    "phantom among memory": (
        lambda comm: comm.Bcast(fakempi.phantom(8) if comm.rank else np.zeros(1)),
        "the buffer is a phantom here (@) but memory on rank 0 (@)",
    ),
    "phantom among blocks": (
        lambda comm: comm.Allgatherv(
            fakempi.phantom(8) if comm.rank else np.zeros(1),
            [fakempi.phantom(16) if comm.rank else np.zeros(2), 8**comm.rank],
        ),
        "the buffer is a phantom here (@) but memory on rank 0 (@)",
    ),
    "operation on objects": (
        lambda comm: comm.allreduce(1, MPI.MAX if comm.rank else MPI.SUM),
        "the operation is MAX here (@) but SUM on rank 0 (@)",
    ),
}  # fmt: skip


def keep(left: Any, right: Any, datatype: Any) -> None:
    """A user-defined operation."""


@for_each("what", DIFFERENT)
def test_a_difference_is_reported(what: str) -> None:
    """With both values and both places."""
    main, words = DIFFERENT[what]
    said = clash(main)
    assert said.partition(" on rank 1: ")[2] == f"{words.replace('@', 'test_agreement.py:N')}: {AGREE}"


def test_the_first_difference_of_two_long_lists_is_reported() -> None:
    """Not the whole lists."""

    def main(comm: Any) -> None:
        counts = [1] * comm.size
        counts[150] += comm.rank == 7
        comm.Allgatherv(np.zeros(counts[comm.rank]), [np.zeros(sum(counts)), counts])

    assert clash(main, 200) == (
        f"Allgatherv on rank 7: item 150 of the list of sizes in bytes is 16 here (test_agreement.py:N) but 8 on rank 0 "
        f"(test_agreement.py:N): {AGREE}"
    )


def test_callables_of_a_program_are_not_compared() -> None:
    """Each rank has its own callable, and callables cannot be compared."""
    assert run(lambda comm: comm.allreduce(1, (lambda x, y: x + y) if comm.rank else (lambda x, y: y + x)), 3) == [3] * 3


def test_a_callable_differs_from_an_operation() -> None:
    """A callable on some ranks and an operation on others is an error."""
    words = r"the operation is a function here \(.*\) but SUM on rank 0 \(.*\): all ranks must agree\.$"
    with pytest.raises(fakempi.RankError, match=words):
        run(lambda comm: comm.allreduce(1, (lambda x, y: x + y) if comm.rank else MPI.SUM), 3)


# -- sizes between pairs -------------------------------------------------------------------------------------------

UNEVEN: dict[str, tuple[Callable[..., Any], str]] = {
    "Gatherv, more than expected": (
        lambda comm: comm.Gatherv(np.zeros(1 + comm.rank), [np.zeros(5), [1, 1, 3]] if comm.rank == 0 else None),
        "Gatherv on rank 1: this rank sends 16 bytes to rank 0 (@), which expects 8 bytes (@).",
    ),
    "Gatherv, nothing expected": (
        lambda comm: comm.Gatherv(np.zeros(comm.rank), [np.zeros(3), [0, 0, 2]] if comm.rank == 0 else None),
        "Gatherv on rank 1: this rank sends 8 bytes to rank 0 (@), which expects nothing (@).",
    ),
    "Gatherv, nothing sent, the root last": (
        lambda comm: comm.Gatherv(np.zeros(0), [np.zeros(3), [1, 2, 0]] if comm.rank == 2 else None, 2),
        "Gatherv on rank 2: this rank expects 8 bytes from rank 0 (@), which sends nothing (@).",
    ),
    "Scatterv": (
        lambda comm: comm.Scatterv([np.zeros(3), [1, 1, 1]] if comm.rank == 0 else None, np.zeros(1 + comm.rank)),
        "Scatterv on rank 1: this rank expects 16 bytes from rank 0 (@), which sends 8 bytes (@).",
    ),
    "Scatterv, the root last": (
        lambda comm: comm.Scatterv([np.zeros(3), [1, 1, 1]] if comm.rank == 2 else None, np.zeros(2 - comm.rank // 2), 2),
        "Scatterv on rank 2: this rank sends 8 bytes to rank 0 (@), which expects 16 bytes (@).",
    ),
    "Alltoallv": (
        lambda comm: comm.Alltoallv([np.zeros(3), [1, 1, 1]], [np.zeros(4), [1, 1 + (comm.rank == 2), 1]]),
        "Alltoallv on rank 2: this rank expects 16 bytes from rank 1 (@), which sends 8 bytes (@).",
    ),
    "Alltoallw": (
        lambda comm: comm.Alltoallw(
            [np.zeros(4), [1, 1, 1], [0, 8, 16], [MPI.DOUBLE] * 3],
            [np.zeros(4), [1 + (comm.rank == 2), 1, 1], [0, 16, 24], [MPI.DOUBLE] * 3],
        ),
        "Alltoallw on rank 2: this rank expects 16 bytes from rank 0 (@), which sends 8 bytes (@).",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", UNEVEN)
def test_send_and_receive_sizes_of_a_pair_must_agree(what: str) -> None:
    """There is no wrong data, and no rank blocks."""
    main, words = UNEVEN[what]
    assert clash(main, 3) == words.replace("@", "test_agreement.py:N")


# -- the record of calls -------------------------------------------------------------------------------------------


def test_an_entry_is_removed_when_all_ranks_have_called() -> None:
    """Completed calls leave no entry."""
    table: dict[Any, Any] = {}
    for rank in range(3):
        assert register_call(table, 1, rank, 3, {"root": 0}, Traffic([1, 1, 1], [1, 1, 1])) == "register_call"
        assert len(table) == (rank < 2)


def test_a_single_rank_needs_no_comparison() -> None:
    """It leaves no entry."""
    table: dict[Any, Any] = {}
    register_call(table, 1, 0, 1, {})
    assert table == {}


def test_ranks_that_are_missing_from_a_call() -> None:
    """Ranks with fewer calls; for a persistent call, ranks that have started it less often."""

    def main(comm: Any) -> Any:
        request = comm.Barrier_init()
        if comm.rank:
            request.Start()
            comm.send(None, 0)
        else:
            comm.recv()
            comm.recv()
            calls = [missing_processes(comm._side, 1, tag) for tag in (1, 2, PERSISTENT + 1, PERSISTENT + 3 * TAGS + 1)]
            request.Start()
        request.Wait()
        return None if comm.rank else calls

    assert run(main, 3)[0] == [[], [0, 1, 2], [0], [0]]
