"""Arrays are read-only while an operation of a strict run uses them, and become writable again in every case."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


class Holder:
    """An object of the program."""

    view: Any


def strict(main: Any, ranks: int = 1, **options: Any) -> Any:
    """A strict run, of which only findings about buffers matter here."""
    try:
        return fakempi.run(main, ranks, strict=True, **options).returns
    except fakempi.FindingsError as error:
        found = [one for one in error.findings if one.kind.startswith("buffer-")]
        if not found:
            return [None] * ranks
        raise


def exchange(comm: Any, buffer: Any) -> list[Any]:
    """Requests of a message to the same rank that is not complete."""
    return [comm.Isend(buffer, comm.rank), comm.Irecv(np.zeros(64), comm.rank)]


def test_the_flag_is_reset_after_the_last_operation(backend: Any) -> None:
    """Sends of one array may overlap."""

    def main(comm: Any) -> None:
        b = np.arange(3.0)
        requests = exchange(comm, b) + exchange(comm, b)
        assert not b.flags.writeable
        MPI.Request.Waitall(requests[:2])
        assert not b.flags.writeable
        MPI.Request.Waitall(requests[2:])
        assert b.flags.writeable

    strict(main, backend=backend)


def test_a_read_only_array_stays_read_only() -> None:
    """It can be sent, but never becomes writable."""

    def main(comm: Any) -> None:
        b = np.arange(3.0)
        b.flags.writeable = False
        MPI.Request.Waitall(exchange(comm, b))
        assert not b.flags.writeable

    strict(main)


def test_an_array_and_a_row_of_it_are_released_in_any_order() -> None:
    """numpy does not allow a writable view of a read-only base."""

    def main(comm: Any) -> None:
        a = np.zeros((2, 3))
        row = a[0]
        one, two = exchange(comm, row), exchange(comm, a)
        MPI.Request.Waitall(one)
        MPI.Request.Waitall(two)
        assert row.flags.writeable
        assert a.flags.writeable

    strict(main)


def test_views_taken_meanwhile_can_be_written_afterwards(backend: Any) -> None:
    """A view keeps the flag of its base at creation: correct programs must not fail because of it."""

    def main(comm: Any) -> None:
        b, holder = np.arange(6.0), Holder()
        requests = exchange(comm, b)
        view, views, holder.view = b[1:], [b[2:], b.reshape(2, 3)], b[3:]
        MPI.Request.Waitall(requests)
        view[0] = views[0][0] = views[1][0, 0] = holder.view[0] = 7
        assert b.tolist() == [7, 7, 7, 7, 4, 5]

    strict(main, backend=backend)


def test_a_view_that_was_not_found_again_is_explained() -> None:
    """A view taken while its array is in use, and stored where the search does not look, stays read-only: the message says
    so.
    """

    def main(comm: Any) -> None:
        array, kept = np.zeros(8), [{"views": [np.zeros(1)]}]
        if comm.rank == 0:
            request = comm.Isend(array, 1)
            kept[0]["views"].append(array[:2])
            request.Wait()
            kept[0]["views"][1][0] = 5
        else:
            comm.Recv(array, 0)

    with pytest.raises(fakempi.RankError, match=r"read-only \(perhaps because of fakempi: .* or run without strict\)"):
        fakempi.run(main, 2, strict=True)
    fakempi.run(main, 2)


def test_the_owner_of_the_memory_is_locked_if_it_is_used_completely() -> None:
    """A flat view of a matrix is sent, and the program writes to the matrix."""

    def main(comm: Any) -> None:
        a = np.zeros((2, 3))
        requests = exchange(comm, a.reshape(-1))
        with pytest.raises(ValueError, match="read-only"):
            a[0, 0] = 1
        MPI.Request.Waitall(requests)
        a[0, 0] = 1

    strict(main)


@pytest.mark.parametrize("fails", [False, True])
def test_no_flag_is_left_after_a_run(fails: bool, backend: Any) -> None:
    """With or without a wait, and whether or not the run failed."""
    arrays = [np.zeros(3) for _ in range(4)]

    def main(comm: Any) -> None:
        comm.Isend(arrays[0], comm.rank)
        comm.Irecv(arrays[1], comm.rank, 5)
        comm.Isend(arrays[2], comm.rank).Free()
        comm.Iallreduce(arrays[2], arrays[3])
        assert not fails

    with contextlib.suppress(fakempi.RunError):
        fakempi.run(main, 2, strict=True, backend=backend)
    assert all(array.flags.writeable for array in arrays)


def test_ranks_that_share_an_array_share_its_lock(backend: Any) -> None:
    """As long as one of them sends it, it is in use; another rank may receive into its own array."""
    shared = np.arange(3.0)

    def main(comm: Any) -> None:
        if comm.rank < 2:
            request = comm.Isend(shared, 2 + comm.rank)
            comm.Barrier()
            request.Wait()
        else:
            comm.Recv(shared, comm.rank - 2)
            comm.Barrier()

    strict(main, 4, backend=backend)
    assert shared.flags.writeable


def test_a_write_to_an_array_that_another_rank_sends_mentions_that_it_is_shared() -> None:
    """On a real MPI it would not be."""
    shared = np.arange(3.0)

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Issend(shared, 1)
        comm.Barrier()
        if comm.rank == 1:
            shared[0] = 1

    with pytest.raises(fakempi.FindingsError, match=r"of rank 0, with which it shares the array, which is not complete"):
        fakempi.run(main, 2, strict=True)


@pytest.mark.parametrize("call", ["Recv", "Irecv"])
def test_a_receive_into_a_buffer_that_is_being_sent_is_reported_at_the_call(call: str, backend: Any) -> None:
    """Blocking or not."""

    def main(comm: Any) -> None:
        b = np.arange(3.0)
        comm.Isend(b, comm.rank)
        getattr(comm, call)(b, comm.rank)

    words = f"buffer-overlap: rank 0: {call} at .*: its buffer overlaps with that of Isend at .*, which is not complete$"
    with pytest.raises(fakempi.FindingsError, match=words):
        fakempi.run(main, 1, strict=True, backend=backend)


def test_a_persistent_receive_can_be_created_on_a_buffer_in_use() -> None:
    """It uses its buffer from its start on."""

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
    """Its memory belongs to another object; writing too early is reported at the end."""

    def main(comm: Any) -> None:
        b = np.frombuffer(bytearray(24))
        requests = exchange(comm, b)
        assert b.flags.writeable
        MPI.Request.Waitall(requests)

    strict(main)


def test_a_read_only_array_of_the_program_is_ignored() -> None:
    """Writing to it raises numpy's error, whatever operations are pending."""

    def main(comm: Any) -> None:
        b, own = np.arange(3.0), np.arange(3.0)
        own.flags.writeable = False
        exchange(comm, b)
        own[0] = b[0]

    with pytest.raises(fakempi.RankError, match="assignment destination is read-only") as caught:
        fakempi.run(main, 1, strict=True)
    assert not caught.value.findings


def test_the_line_is_the_programs_also_if_numpy_writes() -> None:
    """An array in an object of the program is found."""

    def main(comm: Any) -> None:
        holder = Holder()
        holder.view = np.zeros((3, 3))
        exchange(comm, holder.view)
        np.fill_diagonal(holder.view, 1)

    words = r"buffer-in-use: rank 0: np.fill_diagonal\(holder.view, 1\) at test_locks.py:\d+: it writes to the buffer of "
    with pytest.raises(fakempi.FindingsError, match=words):
        fakempi.run(main, 1, strict=True)
