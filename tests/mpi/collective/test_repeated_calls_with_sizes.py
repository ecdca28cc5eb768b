"""Repeated calls with sizes from the same line: first right, then wrong, which is found as in a first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.errors import RankError
from tests.helpers.breadth import examples
from tests.mpi.collective.calls import null_when_freed_between

SIZED = ("Gatherv", "Scatterv", "Allgatherv", "Alltoallv")


def spelled(array: Any, counts: Any, form: int) -> Any:
    """Contiguous blocks, in one of the forms of specifications."""
    places = np.cumsum([0, *counts])[:-1].tolist()
    forms = ([array, counts], [array, counts, array.dtype.char], [array, (counts, places)], (array, counts, places, None))
    return (*forms, [array, np.array(counts)], [array, (tuple(counts), None)])[form]


def arguments(name: str, comm: Any, own: Any, blocks: Any, root: int = 0) -> tuple[Any, ...]:
    """Arguments of a call in which each rank has a block, or one per rank."""
    here = comm.rank == root
    if name == "Gatherv":
        return own, blocks if here else None, root
    if name == "Scatterv":
        return blocks if here else None, own, root
    return own, blocks


calls = st.tuples(
    st.sampled_from(SIZED), st.integers(0, 2), st.lists(st.integers(0, 3), min_size=3, max_size=3), st.sampled_from("dB"),
    st.integers(0, 5), st.booleans(),
)  # fmt: skip


@settings(max_examples=examples(15))
@given(program=st.lists(calls, min_size=2, max_size=6), ranks=st.integers(1, 3))
def test_repeated_calls_from_one_line_behave_like_the_first(program: list[Any], ranks: int) -> None:
    """A traced run caches no call: results and times are the same."""

    def main(comm: Any) -> list[Any]:
        found: list[Any] = []
        for name, root, sizes, dtype, form, in_place in program * 2:
            root, counts, rank = root % comm.size, sizes[: comm.size], comm.rank
            if name == "Alltoallv":
                # the block from i to rank is the block from rank to i
                counts = [sizes[(rank + i) % 3] for i in range(comm.size)]
            whole = np.arange(sum(counts) + 1).astype(dtype)
            own: Any = np.full(counts[rank], rank + 7, dtype)
            given: Any = [own, dtype] if form % 2 else own
            if name == "Alltoallv":
                own = np.arange(sum(counts)).astype(dtype)
                given = spelled(own, counts, form)
            elif in_place and (name == "Allgatherv" or rank == root):
                given = MPI.IN_PLACE
            getattr(comm, name)(*arguments(name, comm, given, spelled(whole, counts, form), root))
            found.append((own.tolist(), whole.tolist(), MPI.Wtime()))
        return found

    run, traced = fakempi.run(main, ranks), fakempi.run(main, ranks, trace=True)
    assert run.returns == traced.returns
    assert run.findings == traced.findings == []


def twice(name: str, wrong: Callable[[Any, dict[str, Any]], None]) -> Callable[[Any], None]:
    """A program that makes two correct calls, and a third one, from the same line, with a change."""

    def main(comm: Any) -> None:
        given: dict[str, Any] = {"root": 0, "counts": [2] * comm.size, "whole": np.zeros(2 * comm.size)}
        given["own"] = np.zeros(2 if name != "Alltoallv" else 2 * comm.size)
        given["gives"] = [2] * comm.size
        for turn in range(3):
            if turn == 2:
                wrong(comm, given)
            own = [given["own"], given["gives"]] if name == "Alltoallv" else given["own"]
            getattr(comm, name)(*arguments(name, comm, own, [given["whole"], given["counts"]], given["root"]))

    return main


def refused(name: str, wrong: Callable[[Any, dict[str, Any]], None], words: str) -> None:
    """The third call is rejected with this message."""
    with pytest.raises(RankError, match=words):
        fakempi.run(twice(name, wrong), 2)


HERE = r"\(test_repeated_calls_with_sizes.py:\d+\)"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Allgatherv", rf"item 1 of the list of sizes in bytes is 8 here {HERE} but 16 on rank . {HERE}"),
        ("Gatherv", rf"this rank sends 16 bytes to rank 0 {HERE}, which expects 8 bytes {HERE}"),
        ("Scatterv", rf"this rank expects 16 bytes from rank 0 {HERE}, which sends 8 bytes {HERE}"),
        ("Alltoallv", rf"this rank sends 16 bytes to rank 0 {HERE}, which expects 8 bytes {HERE}"),
    ],
)
def test_counts_that_were_changed_in_place_on_one_rank_are_rejected(name: str, words: str) -> None:
    """The list is the same object: its contents count."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        if comm.rank == (1 if name == "Allgatherv" else 0):
            given["counts"][1] = 1
            if name == "Allgatherv":
                given["own"] = np.zeros(1)

    refused(name, wrong, words)


@pytest.mark.parametrize("name", SIZED)
@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([2, 3], "block 1: count 3 of DOUBLE takes bytes 16 to 40 of a buffer of 32 bytes"),
        ([2, -1], "-1"),
        ([2, 2.0], "item 1 of counts is 2.0, not an integer"),
        ([2], "expecting 2 counts, got 1"),
    ],
)
def test_invalid_counts_are_rejected(name: str, counts: list[Any], words: str) -> None:
    """Although it is the same list."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["counts"][:] = counts

    refused(name, wrong, words)


@pytest.mark.parametrize("name", SIZED)
def test_counts_that_were_changed_in_place_everywhere_are_used(name: str) -> None:
    """The earlier values are not used."""

    def main(comm: Any) -> list[Any]:
        counts, found = [1] * comm.size, []
        for n in (1, 2, 1, 3):
            counts[:] = [n] * comm.size
            whole = np.arange(float(n * comm.size))
            own: Any = np.full(n, comm.rank + 7.0)
            target = own if name == "Scatterv" else whole
            if name == "Alltoallv":
                own = [np.full(n * comm.size, comm.rank + 7.0), counts]
            getattr(comm, name)(*arguments(name, comm, own, [whole, counts]))
            found.append(target.tolist())
        return found

    for rank, found in enumerate(fakempi.run(main, 2).returns):
        for n, got in zip((1, 2, 1, 3), found, strict=True):
            everything = [7.0] * n + [8.0] * n
            if name == "Scatterv":
                everything = [float(n * rank + i) for i in range(n)]
            elif name == "Gatherv" and rank:
                everything = [float(i) for i in range(2 * n)]
            assert got == everything


@pytest.mark.parametrize("name", SIZED)
def test_an_array_that_is_too_small_is_rejected(name: str) -> None:
    """In place of a sufficient one."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["whole"] = np.zeros(3)

    refused(name, wrong, f"{name} on rank 0: .*block 1")


@pytest.mark.parametrize("name", SIZED[:3])
def test_a_block_that_differs_from_its_own_count_is_rejected(name: str) -> None:
    """On the root, or on any rank."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["own"] = np.zeros(3 if comm.rank == 0 else 2)

    refused(name, wrong, "block 0 of (recvbuf|sendbuf) has 16 bytes, but (sendbuf|recvbuf) has 24")


@pytest.mark.parametrize("name", SIZED)
def test_a_different_type_on_one_rank_is_reported(name: str) -> None:
    """With the same number of bytes."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        if comm.rank == 1:
            for each in ("own", "whole"):
                given[each] = given[each].astype("q")

    assert {finding.kind for finding in fakempi.run(twice(name, wrong), 2).findings} == {"datatype-mismatch"}


@pytest.mark.parametrize("name", SIZED)
def test_overlapping_buffers_are_reported(name: str) -> None:
    """The addresses are compared each time."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        memory = np.zeros(6)
        given["whole"], given["own"] = memory[:4], memory[2:] if name == "Alltoallv" else memory[1:3]

    assert {finding.kind for finding in fakempi.run(twice(name, wrong), 2).findings} == {"buffer-overlap"}


@pytest.mark.parametrize("name", SIZED)
def test_a_read_only_receive_buffer_is_rejected(name: str) -> None:
    """On a rank that receives."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["own" if name == "Scatterv" else "whole"].flags.writeable = False

    refused(name, wrong, "the array is read-only: nothing can be received into it")


def test_different_sizes_of_a_ranks_own_block_are_rejected() -> None:
    """Return counts that only the root knows."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        if comm.rank == 1:
            given["gives"][:] = [2, 1]

    refused("Alltoallv", wrong, "block 1 of recvbuf has 16 bytes, but block 1 of sendbuf has 8")


@pytest.mark.parametrize("name", SIZED[:2])
def test_a_different_root_on_one_rank_is_rejected(name: str) -> None:
    """Although it is a valid rank."""

    def wrong(comm: Any, given: dict[str, Any]) -> None:
        given["root"] = comm.rank

    refused(name, wrong, rf"root is 1 here {HERE} but 0 on rank 0 {HERE}")


@pytest.mark.parametrize("name", SIZED)
def test_a_communicator_that_was_freed_in_between_is_null(name: str) -> None:
    """From the same line."""

    def passed(comm: Any) -> Any:
        counts = [1] * comm.size
        own = [np.zeros(2), counts] if name == "Alltoallv" else np.zeros(1)
        return arguments(name, comm, own, [np.zeros(2), counts])

    null_when_freed_between(name, passed)
