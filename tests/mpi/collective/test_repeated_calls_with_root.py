"""Repeated calls with a root from the same line: first right, then wrong, which is found as in a first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, phantom
from fakempi.errors import RankError
from tests.mpi.collective.calls import null_when_freed_between

ROOTED = ("Bcast", "Gather", "Scatter", "Reduce")


def arguments(name: str, comm: Any, own: Any, whole: Any, root: int, op: Any = MPI.SUM) -> tuple[Any, ...]:
    """Arguments of a call in which each rank has a block, and the root has one per rank, or the result."""
    here = isinstance(root, int) and comm.rank == root
    if name == "Bcast":
        return own, root
    if name == "Reduce":
        return own, whole if here else None, op, root
    return (own, whole if here else None, root) if name == "Gather" else (whole if here else None, own, root)


def root_buffer(name: str, comm: Any, size: int, dtype: str = "d") -> Any:
    """Return the root's buffer for all ranks."""
    return np.arange(size if name == "Reduce" else size * comm.size).astype(dtype)


calls = st.tuples(
    st.sampled_from(ROOTED), st.integers(0, 2), st.integers(1, 3), st.sampled_from("diq"), st.booleans(), st.booleans()
)


@given(program=st.lists(calls, min_size=2, max_size=6), ranks=st.integers(1, 3))
def test_repeated_calls_from_one_line_behave_like_the_first(program: list[Any], ranks: int) -> None:
    """A traced run caches no call: results and times are the same."""

    def main(comm: Any) -> list[Any]:
        found: list[Any] = []
        for name, root, size, dtype, in_place, maximum in program * 2:
            root, whole = root % comm.size, root_buffer(name, comm, size, dtype)
            own: Any = np.full(size, comm.rank + 2, dtype)
            if in_place and name != "Bcast" and comm.rank == root:
                own = MPI.IN_PLACE
            getattr(comm, name)(*arguments(name, comm, own, whole, root, MPI.MAX if maximum else MPI.SUM))
            found.append((None if own is MPI.IN_PLACE else own.tolist(), whole.tolist(), MPI.Wtime()))
        return found

    run, traced = fakempi.run(main, ranks), fakempi.run(main, ranks, trace=True)
    assert run.returns == traced.returns
    assert run.findings == traced.findings == []


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@pytest.mark.parametrize("name", ROOTED)
def test_phantoms_take_the_same_time_in_repeated_calls(name: str, backend: Any) -> None:
    """As in a traced run, which caches nothing."""

    def main(comm: Any) -> float:
        for _ in range(3):
            blocks = 1 if name == "Reduce" else comm.size
            getattr(comm, name)(*arguments(name, comm, phantom(40), phantom(40 * blocks), 1))
        return float(MPI.Wtime())

    assert fakempi.run(main, 3, backend=backend).returns == fakempi.run(main, 3, backend=backend, trace=True).returns


def twice(name: str, wrong: Callable[[Any, dict[str, Any]], None]) -> Callable[[Any], None]:
    """A program that makes two correct calls, and a third one, from the same line, with a change."""

    def main(comm: Any) -> None:
        for turn in range(3):
            given = {"root": 0, "op": MPI.SUM, "own": np.zeros(4), "whole": root_buffer(name, comm, 4)}
            if turn == 2:
                wrong(comm, given)
            getattr(comm, name)(*arguments(name, comm, given["own"], given["whole"], given["root"], given["op"]))

    return main


def refused(name: str, wrong: Callable[[Any, dict[str, Any]], None], words: str, ranks: int = 2) -> None:
    """The third call is rejected with this message."""
    with pytest.raises(RankError, match=words):
        fakempi.run(twice(name, wrong), ranks)


@pytest.mark.parametrize("name", ROOTED)
def test_a_different_root_on_one_rank_is_rejected(name: str) -> None:
    """Although it is a valid rank."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["root"] = comm.rank

    place = r"\(test_repeated_calls_with_root\.py:\d+\)"
    refused(name, wrong, rf"{name} on rank 1: root is 1 here {place} but 0 on rank 0 {place}")


@pytest.mark.parametrize("name", ROOTED)
@pytest.mark.parametrize("root", [2, -1, 1.0, [0, 1]])
def test_an_invalid_root_is_rejected(name: str, root: Any) -> None:
    """On all ranks."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["root"] = np.array(root) if isinstance(root, list) else root

    refused(name, wrong, rf"root {root} is not in 0..1" if isinstance(root, int) else r"root is .*, not an integer")


@pytest.mark.parametrize("name", ROOTED)
def test_a_different_size_on_one_rank_is_rejected(name: str) -> None:
    """Another array is passed."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        if comm.rank == 1:
            given["own"] = np.zeros(3)

    refused(name, wrong, "the size in bytes is 24 here .* but 32 on rank 0")


@pytest.mark.parametrize("name", ROOTED[1:])
def test_a_block_of_the_root_that_does_not_match_its_other_buffer_is_rejected(name: str) -> None:
    """The other ranks do not know it."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["own"] = np.zeros(3 if comm.rank == 0 else 4)

    words = "sendbuf has 3 elements, but recvbuf 4" if name == "Reduce" else "holds blocks of 32 bytes, but .* has 24"
    refused(name, wrong, words)


@pytest.mark.parametrize("name", ROOTED[1:])
def test_a_block_inside_the_roots_buffer_is_rejected(name: str) -> None:
    """IN_PLACE is required there."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["own"] = given["whole"][:4]

    refused(name, wrong, "sendbuf and recvbuf are the same memory")


@pytest.mark.parametrize("name", ROOTED[1:])
def test_overlapping_buffers_of_the_root_are_reported(name: str) -> None:
    """The addresses are compared each time."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        if name == "Reduce":
            whole = np.zeros(6)
            given["own"], given["whole"] = whole[2:], whole[:4]
        else:
            given["own"] = given["whole"][2:6]

    run = fakempi.run(twice(name, wrong), 2)
    assert [(finding.kind, finding.ranks[0]) for finding in run.findings] == [("buffer-overlap", 0)]


@pytest.mark.parametrize("name", ROOTED[:3])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_different_type_on_one_rank_is_reported(name: str, rank: int) -> None:
    """With the same number of bytes."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        if comm.rank == rank:
            given["own"] = np.zeros(4, "q")

    assert {finding.kind for finding in fakempi.run(twice(name, wrong), 2).findings} == {"datatype-mismatch"}


def test_a_different_element_type_in_a_reduction_is_rejected() -> None:
    """On one rank, with the same number of bytes."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        if comm.rank == 1:
            given["own"] = np.zeros(4, "q")

    refused("Reduce", wrong, "the kind of element is int64 here .* but float64 on rank 0")


def test_a_different_operation_on_one_rank_is_rejected() -> None:
    """With the same buffers."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["op"] = MPI.MAX if comm.rank else MPI.SUM

    refused("Reduce", wrong, "the operation is MAX here .* but SUM on rank 0")


@pytest.mark.parametrize("name", ROOTED)
def test_a_read_only_receive_buffer_is_rejected(name: str) -> None:
    """On a rank that receives."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["own" if name in ("Bcast", "Scatter") else "whole"].flags.writeable = name == "Bcast" and comm.rank == 0

    refused(name, wrong, "the array is read-only: nothing can be received into it")


@pytest.mark.parametrize("name", ROOTED)
def test_a_phantom_on_one_rank_is_rejected(name: str) -> None:
    """Other ranks have memory."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        if comm.rank == 1:
            given["own"] = phantom(32, 8)

    refused(name, wrong, "the buffer is a phantom here .* but memory on rank 0")


@pytest.mark.parametrize("name", ROOTED)
def test_a_communicator_that_was_freed_in_between_is_null(name: str) -> None:
    """From the same line."""
    null_when_freed_between(name, lambda comm: arguments(name, comm, np.zeros(4), root_buffer(name, comm, 4), 0))


@pytest.mark.parametrize("other", ROOTED[1:])
def test_a_different_call_with_a_root_on_one_rank_is_reported(other: str) -> None:
    """Both calls have been made before from this line, in step."""

    def main(comm: Any) -> None:
        for turn in range(5):
            name = other if turn % 2 or (turn == 4 and comm.rank) else "Bcast"
            getattr(comm, name)(*arguments(name, comm, np.zeros(4), root_buffer(name, comm, 4), 0))

    with pytest.raises(RankError, match=f"this rank calls {other} at .* but rank 0 .* called Bcast at test_repeated_calls"):
        fakempi.run(main, 2)


def test_a_call_with_a_root_is_fused_each_time() -> None:
    """The first call, and the calls that reuse its recipe."""

    def main(comm: Any) -> None:
        for _ in range(2):
            comm.Bcast(np.zeros(4), 0)

    assert fakempi.run(main, 4, fused="always").fused_calls["bcast"] == (2, {})
