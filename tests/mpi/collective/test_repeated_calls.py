"""The same collective call again, from the same line: its recipe is reused, and all arguments are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.errors import RankError


def test_one_line_accepts_arrays_of_any_kind_and_size() -> None:
    """A recipe depends on the type and size of the buffers, and on the operation."""

    def main(comm: Any) -> list[list[Any]]:
        found = []
        for op in (MPI.SUM, MPI.MAX, MPI.SUM):
            for dtype in ("d", "i", "l", "q", "d"):
                for size in (1, 3, (2, 2), 1):
                    mine, all_of_it = np.full(size, comm.rank + 1, dtype), np.zeros(size, dtype)
                    comm.Allreduce(mine, all_of_it, op)
                    found.append(all_of_it.ravel().tolist())
        return found

    run = fakempi.run(main, 3)
    sums, largest = ([[value] * n for _ in range(5) for n in (1, 3, 4, 1)] for value in (6, 3))
    assert run.returns == [sums + largest + sums] * 3
    assert run.findings == []


@pytest.mark.parametrize("call", ["Allgather", "Alltoall"])
def test_bytes_of_another_type_may_be_moved_in_the_next_call(call: str) -> None:
    """A type that does not fit is reported, each time."""

    def main(comm: Any) -> list[Any]:
        found: list[Any] = []
        for sent, taken in (("d", "d"), ("i", "i"), ("d", "q"), ("d", "d"), ("d", "q")):
            mine, got = np.full(2 if call == "Alltoall" else 1, comm.rank + 1, sent), np.zeros(2, taken)
            getattr(comm, call)(mine, got)
            found.append(got.view(sent).tolist())
        return found

    run = fakempi.run(main, 2)
    assert run.returns == [[[1, 2]] * 5] * 2
    assert {finding.kind for finding in run.findings} == {"datatype-mismatch"}


def test_buffers_that_overlap_the_second_time_are_reported() -> None:
    """The addresses are compared each time."""

    def main(comm: Any) -> None:
        whole = np.zeros(8)
        for start in (4, 3):
            comm.Allreduce(whole[:4], whole[start : start + 4])

    (finding,) = {str(each.kind) for each in fakempi.run(main, 2).findings}
    assert finding == "buffer-overlap"


def test_the_same_buffer_twice_is_rejected_the_second_time() -> None:
    """As it is the first time."""

    def main(comm: Any) -> None:
        one, two = np.zeros(4), np.zeros(4)
        for target in (two, one):
            comm.Allreduce(one, target)

    with pytest.raises(RankError, match="sendbuf and recvbuf are the same memory"):
        fakempi.run(main, 2)


def test_disagreement_is_reported_although_each_rank_has_a_recipe() -> None:
    """Recipes that two ranks made separately are compared."""

    def main(comm: Any) -> None:
        for turn in range(3):
            size = 1 + (turn + (comm.rank if turn == 2 else 0)) % 2
            comm.Allreduce(np.zeros(size), np.zeros(size))

    with pytest.raises(RankError, match=r"the size in bytes is 16 here \(test_repeated_calls.py:\d+\) but 8 on rank 0"):
        fakempi.run(main, 2)


def test_another_call_on_one_rank_is_reported() -> None:
    """Both calls have been made before, in step."""

    def main(comm: Any) -> None:
        for turn in range(3):
            if turn == 1 or (turn == 2 and comm.rank):
                comm.Barrier()
            else:
                comm.Allreduce(np.zeros(1), np.zeros(1))

    with pytest.raises(RankError, match="this rank calls Barrier at .* but rank 0 .* called Allreduce at test_repeated"):
        fakempi.run(main, 2)


def test_a_communicator_that_was_freed_is_null_the_next_time() -> None:
    """A null handle has no recipes."""

    def main(comm: Any) -> None:
        other = comm.Dup()
        for _ in range(2):
            other.Barrier()
            other.Free()

    with pytest.raises(RankError, match="the communicator is null"):
        fakempi.run(main, 2)


def test_a_handle_of_another_rank_is_rejected_although_its_own_rank_has_called() -> None:
    """The calling rank is checked each time."""
    handles: dict[int, Any] = {}

    def main(comm: Any) -> None:
        handles[comm.rank] = comm
        for turn in range(2):
            handles[comm.rank if turn == 0 else 0].Barrier()

    with pytest.raises(RankError, match="the communicator belongs to rank 0"):
        fakempi.run(main, 2)


def test_a_call_after_finalize_is_reported_the_second_time_too() -> None:
    """From the same line."""

    def main(comm: Any) -> None:
        for turn in range(2):
            comm.Barrier()
            if turn == 0:
                MPI.Finalize()

    assert [finding.kind for finding in fakempi.run(main, 2).findings] == ["after-finalize"]


def test_a_repeated_call_does_not_match_a_call_that_creates_a_communicator() -> None:
    """The other rank's call is a rendezvous, which has no recipe."""

    def main(comm: Any) -> None:
        for turn in range(3):
            if turn == 2 and comm.rank == 0:
                comm.Dup()
            comm.Allreduce(np.zeros(1), np.zeros(1))

    with pytest.raises(RankError, match="this rank calls Allreduce at .* but rank 0 .* called Dup at test_repeated_calls"):
        fakempi.run(main, 2)
