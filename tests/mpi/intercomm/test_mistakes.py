"""Wrong calls of collectives between two groups: an error with the place and the numbers that clash; no rank hangs."""

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
from tests.mpi.collective.calls import nonblocking
from tests.mpi.intercomm.calls import Setting, calls, joined, run_joined

Call = Callable[[Any, int, int], Any]
"""The program of a rank: its intercommunicator, its side, its rank there."""

ROOT, IDLE = MPI.ROOT, MPI.PROC_NULL
IN_PLACE, SUM = MPI.IN_PLACE, MPI.SUM
ORDER = "all ranks must make the same collective calls in the same order."
AGREE = "all ranks must agree."


def z(count: int) -> Any:
    return np.zeros(count)


def part(side: int, rank: int, root: int = 0) -> int:
    """The root argument if the root is a rank of the first group."""
    return root if side else ROOT if rank == root else IDLE


def outcome(call: Call, p: int, q: int, backend: Any = "auto", **options: Any) -> tuple[int, str]:
    """The error of a run of p + q ranks: its class and message, with every line number as N."""
    with pytest.raises(fakempi.RankError) as caught:
        run_joined(lambda inter, side: call(inter, side, inter.rank), p, q, backend, **options)
    error = caught.value.__cause__
    assert isinstance(error, MPI.Exception)
    return error.Get_error_class(), re.sub(r"test_mistakes\.py:\d+", "@", str(error))


# -- mistakes of one rank ------------------------------------------------------------------------------------------

NO_ROOT = "is not ROOT, PROC_NULL or in 0..1, the ranks of the remote group."
NO_PLACE = "IN_PLACE is not allowed on an intercommunicator; pass a buffer."

ALONE: dict[str, tuple[Call, int, str]] = {
    "root too large": (lambda c, s, r: c.Bcast(z(1), 2), MPI.ERR_ROOT, f"Bcast on rank 0: root 2 {NO_ROOT}"),
    "root negative": (lambda c, s, r: c.Gather(z(1), z(2), -9), MPI.ERR_ROOT, f"Gather on rank 0: root -9 {NO_ROOT}"),
    "root for an object": (lambda c, s, r: c.reduce(1, root=5), MPI.ERR_ROOT, f"reduce on rank 0: root 5 {NO_ROOT}"),
    "root prepared": (lambda c, s, r: c.Bcast_init(z(2), 2), MPI.ERR_ROOT, f"Bcast_init on rank 0: root 2 {NO_ROOT}"),
    "root no integer": (
        lambda c, s, r: c.Bcast(z(1), "ROOT"), MPI.ERR_ARG, "Bcast on rank 0: root is 'ROOT', not an integer.",
    ),
    "in place": (lambda c, s, r: c.Allgather(IN_PLACE, z(2)), MPI.ERR_BUFFER, f"Allgather on rank 0: {NO_PLACE}"),
    "in place, v": (lambda c, s, r: c.Allgatherv(IN_PLACE, z(2)), MPI.ERR_BUFFER, f"Allgatherv on rank 0: {NO_PLACE}"),
    "in place, swapped": (lambda c, s, r: c.Alltoall(IN_PLACE, z(2)), MPI.ERR_BUFFER, f"Alltoall on rank 0: {NO_PLACE}"),
    "in place, w": (
        lambda c, s, r: c.Alltoallw([IN_PLACE, [MPI.DOUBLE] * 2], [z(2), [MPI.DOUBLE] * 2]), MPI.ERR_BUFFER,
        f"Alltoallw on rank 0: {NO_PLACE}",
    ),
    "in place, reduced": (lambda c, s, r: c.Allreduce(IN_PLACE, z(2)), MPI.ERR_BUFFER, f"Allreduce on rank 0: {NO_PLACE}"),
    "in place, in parts": (
        lambda c, s, r: c.Reduce_scatter(IN_PLACE, z(2), [1, 1]), MPI.ERR_BUFFER, f"Reduce_scatter on rank 0: {NO_PLACE}",
    ),
    "in place, in blocks": (
        lambda c, s, r: c.Ireduce_scatter_block(IN_PLACE, z(2)), MPI.ERR_BUFFER,
        f"Ireduce_scatter_block on rank 0: {NO_PLACE}",
    ),
    "no buffer": (
        lambda c, s, r: c.Allgather(None, z(2)), MPI.ERR_BUFFER,
        "Allgather on rank 0: expecting a buffer or a list like [buffer, count, datatype], not 'NoneType'.",
    ),
    "one memory": (
        lambda c, s, r: (lambda x: c.Allgather(x[:1], x))(z(2)), MPI.ERR_BUFFER,
        "Allgather on rank 0: sendbuf and recvbuf are the same memory.",
    ),
    "half a phantom": (
        lambda c, s, r: c.Allgather(fakempi.phantom(8), z(2)), MPI.ERR_BUFFER,
        "Allgather on rank 0: one buffer is a phantom of 8 bytes, the other is not.",
    ),
    "blocks that do not divide": (
        lambda c, s, r: c.Alltoall(z(3), z(2)), MPI.ERR_COUNT,
        "Alltoall on rank 0: cannot infer count, 3 entries are not a multiple of the required 2 blocks.",
    ),
    "counts for another group": (
        lambda c, s, r: c.Allgatherv(z(1), [z(3), [1, 1, 1]]), MPI.ERR_ARG,
        "Allgatherv on rank 0: expecting 2 counts, got 3.",
    ),
    "no recvcounts": (
        lambda c, s, r: c.Reduce_scatter(z(2), z(1)), MPI.ERR_COUNT,
        "Reduce_scatter on rank 0: recvcounts are required on an intercommunicator.",
    ),
    "two sizes of operands": (
        lambda c, s, r: c.Allreduce(z(1), z(2)), MPI.ERR_COUNT,
        "Allreduce on rank 0: sendbuf has 1 elements, but recvbuf 2.",
    ),
}  # fmt: skip


@for_each("what", ALONE)
def test_a_mistake_is_reported(what: str) -> None:
    """On every rank, before any message is sent; the intercommunicator can be used afterwards."""
    call, code, words = ALONE[what]

    def main(inter: Any, side: int) -> Any:
        with pytest.raises(MPI.Exception) as caught:
            call(inter, side, inter.rank)
        return str(caught.value), caught.value.Get_error_class(), inter.allreduce(1)

    assert run_joined(main, 2, 2)[0] == (words, code, 2)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda c, s, r: c.Gather(IN_PLACE, z(2), part(s, r)), "Gather"),
        (lambda c, s, r: c.Scatterv(z(2), IN_PLACE, part(s, r)), "Scatterv"),
        (lambda c, s, r: c.Reduce(IN_PLACE, z(2), SUM, part(s, r)), "Reduce"),
    ],
)
def test_in_place_is_rejected_on_ranks_that_need_no_buffer(call: Call, name: str) -> None:
    """A buffer that the root does not need is ignored, as in mpi4py."""
    assert outcome(call, 2, 2) == (MPI.ERR_BUFFER, f"{name} on rank 2: IN_PLACE is not allowed here: a buffer is needed.")


def test_a_total_that_the_other_group_cannot_divide_is_rejected() -> None:
    """Both groups have the same number of elements, in equal blocks: their sizes must divide it."""
    assert outcome(lambda c, s, r: c.Reduce_scatter_block(z(3), z(1)) if s else c.Barrier(), 2, 3)[1] == (
        "Reduce_scatter_block on rank 2: sendbuf has 3 elements, not a multiple of the 2 ranks of the remote "
        "group."
    )


# -- mistakes of two ranks -----------------------------------------------------------------------------------------

TOGETHER: dict[str, tuple[Call, str]] = {
    "two ROOTs": (
        lambda c, s, r: c.Bcast(z(1), 0 if s else ROOT),
        f"Bcast on rank 1: the root is rank 1 here (@) but rank 0 on rank 0 (@): {AGREE}",
    ),
    "no ROOT": (
        lambda c, s, r: c.Bcast(z(1), 1 if s else IDLE),
        f"Bcast on rank 1: the part of rank 1 is PROC_NULL here (@) but ROOT on rank 2 (@): {AGREE}",
    ),
    "no ROOT for objects": (
        lambda c, s, r: c.gather(1, 1 if s else IDLE),
        f"gather on rank 1: the part of rank 1 is PROC_NULL here (@) but ROOT on rank 2 (@): {AGREE}",
    ),
    "another ROOT": (
        lambda c, s, r: c.Reduce(z(1), z(1), SUM, 1 if s else part(s, r)),
        f"Reduce on rank 2: the root is rank 1 here (@) but rank 0 on rank 0 (@): {AGREE}",
    ),
    "leaves that name two": (
        lambda c, s, r: c.Scatter(z(2), z(1), r if s else part(s, r)),
        f"Scatter on rank 3: the root is rank 1 here (@) but rank 0 on rank 0 (@): {AGREE}",
    ),
    "both groups name a rank": (
        lambda c, s, r: c.Bcast(z(1), 0),
        f"Bcast on rank 2: the root is rank 0 here (@) but rank 2 on rank 0 (@): {AGREE}",
    ),
    "both groups have a ROOT": (
        lambda c, s, r: c.reduce(1, root=IDLE if r else ROOT),
        f"reduce on rank 2: the root is rank 2 here (@) but rank 0 on rank 0 (@): {AGREE}",
    ),
    "all say PROC_NULL": (
        lambda c, s, r: c.Gatherv(z(1), z(1), IDLE),
        "Gatherv on rank 2: the root's group is the group of rank 2 here (@) but the group of rank 0 on rank 0 (@): "
        f"{AGREE}",
    ),
    "Bcast of other sizes": (
        lambda c, s, r: c.Bcast(z(1 + s), part(s, r)),
        f"Bcast on rank 2: the size in bytes is 16 here (@) but 8 on rank 0 (@): {AGREE}",
    ),
    "Gather of other sizes": (
        lambda c, s, r: c.Gather(z(1 + r), z(2), part(s, r)),
        f"Gather on rank 3: the size in bytes is 16 here (@) but 8 on rank 0 (@): {AGREE}",
    ),
    "Gatherv of other sizes": (
        lambda c, s, r: c.Gatherv(z(1 + r), [z(2), [1, 1]], part(s, r)),
        "Gatherv on rank 3: this rank sends 16 bytes to rank 0 (@), which expects 8 bytes (@).",
    ),
    "Scatterv of other sizes": (
        lambda c, s, r: c.Scatterv([z(2), [1, 1]], z(1 + r), part(s, r)),
        "Scatterv on rank 3: this rank expects 16 bytes from rank 0 (@), which sends 8 bytes (@).",
    ),
    "Allgather of other sizes": (
        lambda c, s, r: c.Allgather(z(1), z(2 + 2 * s)),
        f"Allgather on rank 2: the size in bytes from the group of rank 0 is 16 here (@) but 8 on rank 0 (@): {AGREE}",
    ),
    "Allgatherv of other sizes": (
        lambda c, s, r: c.Allgatherv(z(1 + r), [z(3), [2, 1] if s else [1, 2]]),
        "Allgatherv on rank 2: this rank expects 16 bytes from rank 0 (@), which sends 8 bytes (@).",
    ),
    "Allgatherv with two lists": (
        lambda c, s, r: c.Allgatherv(z(1 + r), [z(3), [2, 1] if s and r else [1, 2]]),
        "Allgatherv on rank 3: item 0 of the list of sizes in bytes from the group of rank 0 is 16 here (@) but 8 on rank 2 "
        f"(@): {AGREE}",
    ),
    "Alltoall of other sizes": (
        lambda c, s, r: c.Alltoall(z(2 + 2 * s), z(2)),
        f"Alltoall on rank 2: the size in bytes from the group of rank 2 is 16 here (@) but 8 on rank 0 (@): {AGREE}",
    ),
    "Alltoallv of other sizes": (
        lambda c, s, r: c.Alltoallv([z(2), [1, 1]], [z(3), [1, 1 + s]]),
        "Alltoallv on rank 1: this rank sends 8 bytes to rank 2 (@), which expects 16 bytes (@).",
    ),
    "Alltoallw of other sizes": (
        lambda c, s, r: c.Alltoallw([z(2), [MPI.INT] * 2], [z(2), [MPI.DOUBLE if s else MPI.INT] * 2]),
        "Alltoallw on rank 2: this rank expects 8 bytes from rank 0 (@), which sends 4 bytes (@).",
    ),
    "Reduce of other sizes": (
        lambda c, s, r: c.Reduce(z(1), z(2), SUM, part(s, r)),
        f"Reduce on rank 2: the size in bytes is 8 here (@) but 16 on rank 0 (@): {AGREE}",
    ),
    "Allreduce of other sizes": (
        lambda c, s, r: c.Allreduce(z(1 + s), z(1 + s)),
        f"Allreduce on rank 2: the size in bytes is 16 here (@) but 8 on rank 0 (@): {AGREE}",
    ),
    "two operations": (
        lambda c, s, r: c.Allreduce(z(1), z(1), MPI.MAX if s else SUM),
        f"Allreduce on rank 2: the operation is MAX here (@) but SUM on rank 0 (@): {AGREE}",
    ),
    "two operations on objects": (
        lambda c, s, r: c.allreduce(1, MPI.MAX if s else SUM),
        f"allreduce on rank 2: the operation is MAX here (@) but SUM on rank 0 (@): {AGREE}",
    ),
    "Reduce_scatter of other sizes": (
        lambda c, s, r: c.Reduce_scatter(z(3 + s), z(2 + s if r else 1), [1, 2 + s]),
        f"Reduce_scatter on rank 2: the size in bytes is 32 here (@) but 24 on rank 0 (@): {AGREE}",
    ),
    "Reduce_scatter with two lists": (
        lambda c, s, r: c.Reduce_scatter(z(3), z(2), [2, 1] if r == 0 else [1, 2]),
        "Reduce_scatter on rank 1: item 0 of the list of counts from the group of rank 0 is 1 here (@) but 2 on rank 0 (@): "
        f"{AGREE}",
    ),
    "Reduce_scatter_block of other sizes": (
        lambda c, s, r: c.Reduce_scatter_block(z(4 * (1 + s)), z(2 * (1 + s))),
        f"Reduce_scatter_block on rank 2: the size in bytes is 64 here (@) but 32 on rank 0 (@): {AGREE}",
    ),
    "a phantom": (
        lambda c, s, r: c.Allgather(fakempi.phantom(8), fakempi.phantom(16)) if s else c.Allgather(z(1), z(2)),
        f"Allgather on rank 2: the buffer is a phantom here (@) but memory on rank 0 (@): {AGREE}",
    ),
    "another call": (
        lambda c, s, r: c.Barrier() if s else c.Allreduce(z(1), z(1)),
        "Barrier on rank 2: this rank calls Barrier at @, but rank 0 of the same communicator called Allreduce at @: "
        f"{ORDER}",
    ),
    "blocking and not": (
        lambda c, s, r: c.Ibarrier() if s else c.Barrier(),
        "Ibarrier on rank 2: this rank calls Ibarrier at @, but rank 0 of the same communicator called Barrier at @: "
        f"{ORDER}",
    ),
    "a new communicator": (
        lambda c, s, r: c.Merge() if s else c.bcast(1, IDLE),
        f"Merge on rank 2: this rank calls Merge at @, but rank 0 of the same communicator called bcast at @: {ORDER}",
    ),
}  # fmt: skip


@for_each("what", TOGETHER)
def test_groups_that_disagree_are_reported(backend: Any, what: str) -> None:
    """With both values and both places; for any order of calls, at least one rank gets the error."""
    call, words = TOGETHER[what]
    assert outcome(call, 2, 2, backend) == (MPI.ERR_NOT_SAME, words)
    for seed in range(5 if backend == "greenlets" else 1):
        assert outcome(call, 2, 2, backend, seed=seed)[0] == MPI.ERR_NOT_SAME


# -- unavailable calls ---------------------------------------------------------------------------------------------


def test_scans_are_not_available_between_two_groups() -> None:
    """As in mpi4py, only an Intracomm has them."""
    names = ["Scan", "Exscan", "Iscan", "Iexscan", "Scan_init", "Exscan_init", "scan", "exscan"]
    assert [name for name in names if hasattr(MPI.Intercomm, name) or hasattr(MPI.Comm, name)] == []
    assert [name for name in names if not hasattr(MPI.Intracomm, name)] == []


@pytest.mark.parametrize("how", [str, nonblocking, "{}_init".format], ids=["blocking", "nonblocking", "persistent"])
def test_a_null_intercommunicator_is_reported(how: Callable[[str], str]) -> None:
    """A freed one, and a null handle."""

    def main(inter: Any, side: int) -> None:
        freed = inter.Dup()
        freed.Free()
        for call in calls(Setting(1, 1), side, inter.rank):
            for null in freed, MPI.Intercomm():
                with pytest.raises(MPI.Exception, match=f"^{how(call.name)} on rank {side}: the communicator is null"):
                    getattr(null, how(call.name))(*call.args)

    run_joined(main, 1, 1)


def test_an_algorithm_that_does_not_fit_is_rejected() -> None:
    """With the reason of its part, and the algorithms that fit."""
    requested = {"inter:allgather": ("full_duplex", {"allgather": "recursive_doubling"})}
    code, words = outcome(lambda c, s, r: c.Allgather(z(1), z(3)), 3, 3, algorithms=requested)
    assert (code, words) == (
        MPI.ERR_ARG,
        "Allgather on rank 3: inter:allgather: full_duplex was requested, but allgather recursive_doubling: p = 3 is not a "
        "power of two; even_cut, root_gathering_best, root_gathering_mpich, two_stage, unsegmented and wmpi fit.",
    )


@pytest.mark.parametrize(
    ("requested", "words"),
    [
        ({"inter:scan": "wmpi"}, "there is no operation 'inter:scan'"),
        ({"inter:allgather": "ring"}, "inter:allgather: there is no algorithm 'ring'"),
        ({"allgather": "full_duplex"}, "allgather: there is no algorithm 'full_duplex'"),
        ({"inter:allgather": ("full_duplex", {"bcast": "ring"})}, "full_duplex has no parameter 'bcast'"),
        ({"inter:allgather": ("full_duplex", {"allgather": "wmpi"})}, "allgather: there is no algorithm 'wmpi'"),
    ],
)
def test_unknown_algorithms_are_rejected_before_the_run(requested: Any, words: str) -> None:
    """Operations within groups and between them are different."""
    with pytest.raises(MPI.Exception, match=re.escape(words)):
        run(lambda comm: pytest.fail("it ran"), 1, algorithms=requested)


def test_errors_go_to_the_error_handler_of_the_intercommunicator() -> None:
    """For errors that MPI defines."""
    seen: list[int] = []

    def main(comm: Any) -> None:
        inter, _ = joined(comm, 1)
        inter.Set_errhandler(MPI.Comm.Create_errhandler(lambda where, code: seen.append(code)))
        with pytest.raises(MPI.Exception):
            inter.Bcast(z(1), 7)
        with pytest.raises(MPI.Exception):
            inter.Allreduce(IN_PLACE, z(1))

    run(main, 2)
    assert sorted(seen) == sorted([MPI.ERR_ROOT, MPI.ERR_BUFFER] * 2)
