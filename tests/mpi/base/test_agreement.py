"""The roll: ranks that call different collectives, or one differently, are told of both calls, with file and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.base.agreement import PREPARED, TAGS, Traffic, absent, enrol
from tests.mpi.collective.calls import run

ORDER = "collective calls must come in the same order everywhere."
AGREE = "all ranks must agree."


def clash(main: Callable[..., Any], nprocs: int = 2, **options: Any) -> str:
    """What the run says, with every line number as N; it must be an MPI error of class ERR_NOT_SAME."""
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


def test_both_calls_are_named_with_their_lines(carrier: str) -> None:
    """The line of each, not of what they call."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Barrier()
        else:
            comm.Bcast(np.zeros(1))

    first = main.__code__.co_firstlineno
    with pytest.raises(fakempi.RankError) as caught:
        run(main, 2, carrier)
    assert lines_of(str(caught.value.__cause__)) == [first + 4, first + 2]
    assert clash(main, carrier=carrier) == (
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
        (lambda comm: comm.bcast(1), lambda comm: comm.Bcast(np.zeros(1, int)), "bcast Bcast"),
        (lambda comm: comm.allreduce(1), lambda comm: comm.reduce(1), "allreduce reduce"),
        (lambda comm: comm.scan(1), lambda comm: comm.exscan(1), "scan exscan"),
        (lambda comm: comm.Bcast_init(np.zeros(1)), lambda comm: comm.Barrier_init(), "Bcast_init Barrier_init"),
        (lambda comm: comm.Dup(), lambda comm: comm.Barrier(), "Dup Barrier"),
        (lambda comm: comm.Barrier(), lambda comm: comm.Dup(), "Barrier Dup"),
        (lambda comm: comm.gather(1), lambda comm: comm.Split(), "gather Split"),
    ],
)  # fmt: skip
def test_another_call_is_refused(one: Callable[..., Any], other: Callable[..., Any], names: str) -> None:
    """Whichever it is, whoever comes first, also where communicators are made."""
    first, second = names.split()
    assert clash(lambda comm: one(comm) if comm.rank == 0 else other(comm)) == (
        f"{second} on rank 1: this rank calls {second} at test_agreement.py:N, but rank 0 of the same communicator called "
        f"{first} at test_agreement.py:N: {ORDER}"
    )


def test_barrier_is_barrier_in_either_case() -> None:
    """As in mpi4py, where both are one."""

    def main(comm: Any) -> None:
        comm.Barrier() if comm.rank else comm.barrier()

    run(main, 3)


def test_the_kth_call_is_compared_with_the_kth() -> None:
    """The calls before were the same, and do not matter."""

    def main(comm: Any) -> None:
        for _ in range(3):
            comm.allreduce(1)
        comm.bcast(1, root=comm.rank)

    assert clash(main, 2) == (
        f"bcast on rank 1: root is 1 here (test_agreement.py:N) but 0 on rank 0 (test_agreement.py:N): {AGREE}"
    )


def test_ranks_are_named_by_their_number_in_the_world() -> None:
    """Roots are numbers on the communicator, as the program has them."""

    def main(comm: Any) -> None:
        upside_down = comm.Split(0, -comm.rank)
        upside_down.Bcast(np.zeros(1), root=upside_down.rank)

    places = "1 here (test_agreement.py:N) but 0 on rank 1 (test_agreement.py:N)"
    assert clash(main) == f"Bcast on rank 0: root is {places}: {AGREE}"


# -- the same call, differently ------------------------------------------------------------------------------------

DIFFERENT: dict[str, tuple[Callable[..., Any], str]] = {
    "root of Bcast": (lambda comm: comm.Bcast(np.zeros(1), comm.rank), "root is 1 here (@) but 0 on rank 0 (@)"),
    "size of Bcast": (
        lambda comm: comm.Bcast(np.zeros(1 + comm.rank)), "the size in bytes is 16 here (@) but 8 on rank 0 (@)",
    ),
    "root of gather": (lambda comm: comm.gather(1, comm.rank), "root is 1 here (@) but 0 on rank 0 (@)"),
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
    """An operation of the program's own."""


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_difference_is_told(what: str) -> None:
    """With both values and both places."""
    main, words = DIFFERENT[what]
    said = clash(main)
    assert said.partition(" on rank 1: ")[2] == f"{words.replace('@', 'test_agreement.py:N')}: {AGREE}"


def test_the_first_difference_of_two_lists_is_told_however_long_they_are() -> None:
    """Not the lists."""

    def main(comm: Any) -> None:
        counts = [1] * comm.size
        counts[150] += comm.rank == 7
        comm.Allgatherv(np.zeros(counts[comm.rank]), [np.zeros(sum(counts)), counts])

    assert clash(main, 200) == (
        f"Allgatherv on rank 7: item 150 of the list of sizes in bytes is 16 here (test_agreement.py:N) but 8 on rank 0 "
        f"(test_agreement.py:N): {AGREE}"
    )


def test_callables_of_a_program_are_not_compared() -> None:
    """Each rank has its own, and who could tell them apart?"""
    assert run(lambda comm: comm.allreduce(1, (lambda x, y: x + y) if comm.rank else (lambda x, y: y + x)), 3) == [3] * 3


def test_a_callable_is_not_an_operation() -> None:
    """Where some have one and some the other, they do not mean the same."""
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
def test_what_one_sends_the_other_must_expect(what: str) -> None:
    """Neither wrong data nor a rank that waits forever."""
    main, words = UNEVEN[what]
    assert clash(main, 3) == words.replace("@", "test_agreement.py:N")


# -- the roll by itself --------------------------------------------------------------------------------------------


def test_an_entry_goes_when_all_have_come() -> None:
    """Nothing is left behind by calls that are over."""
    table: dict[Any, Any] = {}
    for rank in range(3):
        assert enrol(table, 1, rank, 3, {"root": 0}, Traffic([1, 1, 1], [1, 1, 1])) == "enrol"
        assert len(table) == (rank < 2)


def test_a_lone_rank_agrees_with_itself() -> None:
    """And leaves no entry."""
    table: dict[Any, Any] = {}
    enrol(table, 1, 0, 1, {})
    assert table == {}


def test_who_is_absent_from_a_call() -> None:
    """Whoever has made fewer calls; of a persistent one, whoever has started it less often."""

    def main(comm: Any) -> Any:
        request = comm.Barrier_init()
        if comm.rank:
            request.Start()
            comm.send(None, 0)
        else:
            comm.recv()
            comm.recv()
            calls = [absent(comm._side, 1, tag) for tag in (1, 2, PREPARED + 1, PREPARED + 3 * TAGS + 1)]
            request.Start()
        request.Wait()
        return None if comm.rank else calls

    assert run(main, 3)[0] == [[], [0, 1, 2], [0], [0]]
