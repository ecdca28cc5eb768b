"""Arrays that are read-only while an operation of a strict run uses them: when that is so, and that it always ends."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


class Holder:
    """An object of the program's."""

    view: Any


def strict(main: Any, ranks: int = 1, **options: Any) -> Any:
    """A strict run, of which only what it says of buffers matters here."""
    try:
        return fakempi.run(main, ranks, strict=True, **options).returns
    except fakempi.FindingsError as error:
        found = [one for one in error.findings if one.kind.startswith("buffer-")]
        if not found:
            return [None] * ranks
        raise


def exchange(comm: Any, buffer: Any) -> list[Any]:
    """Requests of a message to oneself that is not over."""
    return [comm.Isend(buffer, comm.rank), comm.Irecv(np.zeros(64), comm.rank)]


def test_the_flag_goes_with_the_last_operation(carrier: str) -> None:
    """Sends of one array may overlap."""

    def main(comm: Any) -> None:
        b = np.arange(3.0)
        requests = exchange(comm, b) + exchange(comm, b)
        assert not b.flags.writeable
        MPI.Request.Waitall(requests[:2])
        assert not b.flags.writeable
        MPI.Request.Waitall(requests[2:])
        assert b.flags.writeable

    strict(main, carrier=carrier)


def test_what_was_read_only_before_stays_so() -> None:
    """It can be sent, and nobody gets to write to it."""

    def main(comm: Any) -> None:
        b = np.arange(3.0)
        b.flags.writeable = False
        MPI.Request.Waitall(exchange(comm, b))
        assert not b.flags.writeable

    strict(main)


def test_an_array_and_a_row_of_it_are_free_in_any_order() -> None:
    """numpy does not let a view be written to while its base does not."""

    def main(comm: Any) -> None:
        a = np.zeros((2, 3))
        row = a[0]
        one, two = exchange(comm, row), exchange(comm, a)
        MPI.Request.Waitall(one)
        MPI.Request.Waitall(two)
        assert row.flags.writeable
        assert a.flags.writeable

    strict(main)


def test_views_that_a_program_takes_meanwhile_can_be_written_to_afterwards(carrier: str) -> None:
    """A view has the flag of what it was taken from, for good: no correct program may fail of it."""

    def main(comm: Any) -> None:
        b, holder = np.arange(6.0), Holder()
        requests = exchange(comm, b)
        view, views, holder.view = b[1:], [b[2:], b.reshape(2, 3)], b[3:]
        MPI.Request.Waitall(requests)
        view[0] = views[0][0] = views[1][0, 0] = holder.view[0] = 7
        assert b.tolist() == [7, 7, 7, 7, 4, 5]

    strict(main, carrier=carrier)


def test_a_view_that_was_not_found_again_is_explained() -> None:
    """One that is taken while its array is in use, and kept where nobody looks, stays read-only: that is said."""

    def main(comm: Any) -> None:
        array, kept = np.zeros(8), [{"views": [np.zeros(1)]}]
        if comm.rank == 0:
            request = comm.Isend(array, 1)
            kept[0]["views"].append(array[:2])
            request.Wait()
            kept[0]["views"][1][0] = 5
        else:
            comm.Recv(array, 0)

    with pytest.raises(fakempi.RankError, match=r"read-only \(perhaps by fakempi: .* or run without strict\)"):
        fakempi.run(main, 2, strict=True)
    fakempi.run(main, 2)


def test_whoever_owns_the_memory_is_locked_too_where_all_of_it_is_used() -> None:
    """A flat view of a matrix was sent, and the matrix is written to."""

    def main(comm: Any) -> None:
        a = np.zeros((2, 3))
        requests = exchange(comm, a.reshape(-1))
        with pytest.raises(ValueError, match="read-only"):
            a[0, 0] = 1
        MPI.Request.Waitall(requests)
        a[0, 0] = 1

    strict(main)


@pytest.mark.parametrize("fails", [False, True])
def test_no_flag_outlives_a_run(fails: bool, carrier: str) -> None:
    """Whether or not anybody waited, and whether or not the run failed."""
    arrays = [np.zeros(3) for _ in range(4)]

    def main(comm: Any) -> None:
        comm.Isend(arrays[0], comm.rank)
        comm.Irecv(arrays[1], comm.rank, 5)
        comm.Isend(arrays[2], comm.rank).Free()
        comm.Iallreduce(arrays[2], arrays[3])
        assert not fails

    with contextlib.suppress(fakempi.RunError):
        fakempi.run(main, 2, strict=True, carrier=carrier)
    assert all(array.flags.writeable for array in arrays)


def test_ranks_that_share_an_array_share_its_lock(carrier: str) -> None:
    """As long as one of them sends it, it is in use; and another one may receive into what is its own for all it knows."""
    shared = np.arange(3.0)

    def main(comm: Any) -> None:
        if comm.rank < 2:
            request = comm.Isend(shared, 2 + comm.rank)
            comm.Barrier()
            request.Wait()
        else:
            comm.Recv(shared, comm.rank - 2)
            comm.Barrier()

    strict(main, 4, carrier=carrier)
    assert shared.flags.writeable


def test_who_writes_to_what_another_rank_sends_is_told_that_they_share_it() -> None:
    """On a real MPI they would not."""
    shared = np.arange(3.0)

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Issend(shared, 1)
        comm.Barrier()
        if comm.rank == 1:
            shared[0] = 1

    with pytest.raises(fakempi.FindingsError, match=r"of rank 0, with which it shares the array, which is not over"):
        fakempi.run(main, 2, strict=True)


@pytest.mark.parametrize("call", ["Recv", "Irecv"])
def test_who_receives_into_what_is_being_sent_is_told_at_that_call(call: str, carrier: str) -> None:
    """Blocking or not."""

    def main(comm: Any) -> None:
        b = np.arange(3.0)
        comm.Isend(b, comm.rank)
        getattr(comm, call)(b, comm.rank)

    words = f"buffer-overlap: rank 0: {call} at .*: its buffer overlaps with that of Isend at .*, which is not over$"
    with pytest.raises(fakempi.FindingsError, match=words):
        fakempi.run(main, 1, strict=True, carrier=carrier)


def test_what_is_in_use_can_be_prepared_for() -> None:
    """A persistent receive uses its buffer from its start on."""

    def main(comm: Any) -> None:
        a, b = np.arange(3.0), np.zeros((2, 2), order="F")
        requests = [comm.Isend(a, comm.rank), comm.Isend(b, comm.rank)]
        prepared = [comm.Recv_init(a, comm.rank), comm.Recv_init(b, comm.rank), comm.Allreduce_init(MPI.IN_PLACE, a)]
        comm.Recv(np.zeros(3), comm.rank)
        comm.Recv(np.zeros(4), comm.rank)
        MPI.Request.Waitall(requests)
        for request, buffer in zip(prepared, (a, b, a), strict=True):
            request.Start()
            if request is not prepared[2]:
                comm.Send(np.full(buffer.size, 5.0), comm.rank)
            request.Wait()
            assert (buffer == 5).all()
            request.Free()

    strict(main)


def test_an_array_that_numpy_would_not_unlock_is_never_locked() -> None:
    """Its memory is another object's; what is written too early is found in the end."""

    def main(comm: Any) -> None:
        b = np.frombuffer(bytearray(24))
        requests = exchange(comm, b)
        assert b.flags.writeable
        MPI.Request.Waitall(requests)

    strict(main)


def test_an_array_of_the_programs_own_that_is_read_only_is_none_of_our_business() -> None:
    """Whoever writes to it gets numpy's words, whatever is under way."""

    def main(comm: Any) -> None:
        b, own = np.arange(3.0), np.arange(3.0)
        own.flags.writeable = False
        exchange(comm, b)
        own[0] = b[0]

    with pytest.raises(fakempi.RankError, match="assignment destination is read-only") as caught:
        fakempi.run(main, 1, strict=True)
    assert not caught.value.findings


def test_the_line_is_the_programs_also_where_numpy_writes_for_it() -> None:
    """And an array is found that an object of the program's holds."""

    def main(comm: Any) -> None:
        holder = Holder()
        holder.view = np.zeros((3, 3))
        exchange(comm, holder.view)
        np.fill_diagonal(holder.view, 1)

    words = r"buffer-in-use: rank 0: np.fill_diagonal\(holder.view, 1\) at test_locks.py:\d+: it writes to the buffer of "
    with pytest.raises(fakempi.FindingsError, match=words):
        fakempi.run(main, 1, strict=True)
