"""Point-to-point communication of buffers: modes, wildcards, PROC_NULL, statuses, layouts, and errors."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each
from tests.helpers.runs import fails, run

BLOCKING = ["Send", "Ssend", "Rsend", "Bsend"]
STARTING = ["Isend", "Issend", "Irsend", "Ibsend"]


# -- modes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", BLOCKING + STARTING)
def test_every_mode_delivers(backend: Any, mode: str) -> None:
    """Contents, source and tag are those of the send."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            MPI.Attach_buffer(bytearray(1000))
            request = getattr(comm, mode)(np.arange(5.0), dest=1, tag=3)
            if request is not None:
                request.Wait()
            MPI.Detach_buffer()
            return None
        received, status = np.zeros(5), MPI.Status()
        comm.Recv(received, source=0, tag=3, status=status)
        return received.tolist(), status.source, status.tag, status.count

    assert run(main, 2, backend)[1] == ([0.0, 1.0, 2.0, 3.0, 4.0], 0, 3, 40)


@pytest.mark.parametrize(
    ("mode", "waits", "waits_if_large"),
    [("Send", False, True), ("Rsend", False, True), ("Bsend", False, False), ("Ssend", True, True)],
)
def test_a_send_waits_for_a_late_receive_if_it_is_synchronous_or_large(mode: str, waits: bool, waits_if_large: bool) -> None:
    """Large is above the eager limit; a buffered send does not wait then, either."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            MPI.Attach_buffer(MPI.BUFFER_AUTOMATIC)
            getattr(comm, mode)(b"12345678", 1)
            return MPI.Wtime() >= 1
        fakempi.compute(1)
        comm.Recv(bytearray(8))
        return None

    assert run(main, 2)[0] is waits
    assert run(main, 2, cost=fakempi.Hockney(eager_limit=0))[0] is waits_if_large


@pytest.mark.parametrize("mode", ["Rsend", "Irsend", "Rsend_init"])
def test_a_strict_run_rejects_a_ready_send_without_a_receive(mode: str) -> None:
    """Real libraries accept it in some cases."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            call, name = getattr(comm, mode), mode
            if mode == "Rsend_init":
                request = call(b"x", 1, 4)
                call, name = request.Start, "Start"
            with fails(f"{name} on rank 0: rank 1 has not posted a receive for tag 4.", MPI.ERR_OTHER):
                call(*() if name == "Start" else (b"x", 1, 4))
            if name == "Start":
                request.Free()
            comm.Send(b"x", 1, 4)
        else:
            comm.Recv(bytearray(1))

    run(main, 2, strict=True)


def test_a_ready_send_to_a_posted_receive_is_fine_in_a_strict_run() -> None:
    """The receive is known to be posted, because its rank has sent a message after it."""

    def main(comm: Any) -> bytes | None:
        if comm.rank == 0:
            comm.Recv(bytearray(0), 1, 9)
            comm.Rsend(b"x", 1, 4)
            return None
        received = bytearray(1)
        request = comm.Irecv(received, 0, 4)
        comm.Send(b"", 0, 9)
        request.Wait()
        return bytes(received)

    assert run(main, 2, strict=True)[1] == b"x"


# -- order, tags, wildcards ----------------------------------------------------------------------------------------


def test_messages_of_one_sender_arrive_in_order(backend: Any) -> None:
    """For any sizes: the first may be larger than the eager limit and the second not."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            requests = [comm.Isend(np.full(size, number), 1) for number, size in enumerate([20_000, 1, 3])]
            MPI.Request.Waitall(requests)
            return None
        received = [np.zeros(20_000, int) for _ in range(3)]
        for each in received:
            comm.Recv(each)
        return [int(each[0]) for each in received]

    assert run(main, 2, backend)[1] == [0, 1, 2]


def test_a_tag_selects_its_message() -> None:
    """Stored messages are found by tag, in any order of receives."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            for tag in range(4):
                comm.Send(bytes([tag]), 1, tag)
            return None
        received = [bytearray(1) for _ in range(4)]
        for tag in (2, 0, 3, 1):
            comm.Recv(received[tag], 0, tag)
        return [each[0] for each in received]

    assert run(main, 2)[1] == [0, 1, 2, 3]


def test_any_source_matches_the_first_message_to_arrive(backend: Any) -> None:
    """Not the first to be sent."""

    def main(comm: Any) -> Any:
        if comm.rank:
            fakempi.compute(4 - comm.rank)
            comm.Send(b"", 0, comm.rank * 10)
            return None
        fakempi.compute(10)
        status, seen = MPI.Status(), []
        for _ in range(3):
            comm.Recv(bytearray(0), MPI.ANY_SOURCE, MPI.ANY_TAG, status)
            seen.append((status.source, status.tag))
        return seen

    assert run(main, 4, backend)[0] == [(3, 30), (2, 20), (1, 10)]


def test_wildcards_may_be_partial() -> None:
    """Any source with one tag, one source with any tag."""

    def main(comm: Any) -> Any:
        if comm.rank:
            comm.Send(bytes([comm.rank]), 0, comm.rank)
            comm.Send(bytes([comm.rank]), 0, 7)
            return None
        status, seen, one = MPI.Status(), [], bytearray(1)
        comm.Recv(one, MPI.ANY_SOURCE, 2, status)
        seen.append((one[0], status.source, status.tag))
        comm.Recv(one, 1, MPI.ANY_TAG, status)
        seen.append((one[0], status.source, status.tag))
        for _ in range(2):
            comm.Recv(one, tag=7)
        return seen

    assert run(main, 3)[0] == [(2, 2, 2), (1, 1, 1)]


def test_the_largest_tag_is_the_attribute_tag_ub() -> None:
    """It can be used."""

    def main(comm: Any) -> Any:
        largest = comm.Get_attr(MPI.TAG_UB)
        status = MPI.Status()
        comm.Sendrecv(b"", 0, largest, bytearray(0), 0, largest, status)
        return largest, status.tag

    assert run(main, 1) == [(2**31 - 1, 2**31 - 1)]


# -- statuses ------------------------------------------------------------------------------------------------------


def test_a_status_describes_a_message() -> None:
    """Bytes, items, elements; calls with one status do not change its error field."""

    def main(comm: Any) -> Any:
        pair = MPI.INT.Create_contiguous(2).Commit()
        if comm.rank == 0:
            comm.Send(np.arange(3, dtype="i4"), 1, 5)
            return None
        status = MPI.Status()
        status.error, status.cancelled = 77, True
        comm.Recv(np.zeros(8, "i4"), status=status)
        counts = [status.Get_count(), status.Get_count(MPI.INT), status.Get_count(MPI.DOUBLE), status.Get_count(pair)]
        return status.source, status.tag, counts, status.Get_elements(pair), status.error, status.Is_cancelled()

    found = run(main, 2)[1]
    assert found == (0, 5, [12, 3, MPI.UNDEFINED, MPI.UNDEFINED], 3, 77, False)


def test_a_short_message_leaves_the_rest_of_the_buffer_unchanged() -> None:
    """Beyond its length."""

    def main(comm: Any) -> Any:
        received = np.full(4, -1)
        comm.Sendrecv(np.arange(2), 0, 0, received, 0, 0)
        return received.tolist()

    assert run(main, 1) == [[0, 1, -1, -1]]


# -- sendrecv ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 40_000])
def test_a_ring_of_sendrecv_completes(backend: Any, size: int) -> None:
    """With small and with large messages, without a deadlock."""

    def main(comm: Any) -> Any:
        received, status = np.zeros(size), MPI.Status()
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        comm.Sendrecv(np.full(size, float(comm.rank)), right, 1, received, left, 1, status)
        return set(received.tolist()), status.source

    assert run(main, 3, backend) == [({2}, 2), ({0}, 0), ({1}, 1)]


def test_sendrecv_replace_sends_the_old_contents() -> None:
    """Although the receive may be matched first."""

    def main(comm: Any) -> Any:
        buffer, status = np.full(3, comm.rank), MPI.Status()
        comm.Sendrecv_replace(buffer, (comm.rank + 1) % comm.size, 5, (comm.rank - 1) % comm.size, 5, status)
        return buffer.tolist(), status.source, status.count

    assert run(main, 3) == [([2, 2, 2], 2, 24), ([0, 0, 0], 0, 24), ([1, 1, 1], 1, 24)]


def test_sendrecv_replace_of_every_other_element() -> None:
    """The gaps of a derived datatype are unchanged."""

    def main(comm: Any) -> Any:
        every_other = MPI.LONG.Create_vector(3, 1, 2).Commit()
        buffer = np.arange(6) + 10 * comm.rank
        comm.Sendrecv_replace([buffer, 1, every_other], 1 - comm.rank, source=1 - comm.rank)
        return buffer.tolist()

    assert run(main, 2) == [[10, 1, 12, 3, 14, 5], [0, 11, 2, 13, 4, 15]]


def test_the_nonblocking_forms_of_sendrecv() -> None:
    """Their request completes when both have, and its status is the receive's."""

    def main(comm: Any) -> Any:
        other, received, status = 1 - comm.rank, bytearray(1), MPI.Status()
        comm.Isendrecv(bytes([comm.rank]), other, 4, received, other, 4).Wait(status)
        replaced = bytearray([comm.rank])
        comm.Isendrecv_replace(replaced, other, 6, other, 6).Wait()
        return received[0], replaced[0], status.source, status.tag

    assert run(main, 2) == [(1, 1, 1, 4), (0, 0, 0, 4)]


# -- PROC_NULL -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", BLOCKING + STARTING)
def test_sending_to_proc_null_completes_at_once(mode: str) -> None:
    """No argument is used: no buffer is needed, and none has to be attached for Bsend."""

    def main(comm: Any) -> float:
        request = getattr(comm, mode)(None, MPI.PROC_NULL)
        if request is not None:
            request.Wait()
        return MPI.Wtime()

    outcome = fakempi.run(main, 1)
    assert (outcome.returns, outcome.messages) == ([0.0], 0)


def proc_null(status: MPI.Status) -> bool:
    return (status.source, status.tag, status.count) == (MPI.PROC_NULL, MPI.ANY_TAG, 0)


def test_receiving_from_proc_null_completes_at_once() -> None:
    """The buffer is unchanged, the status has PROC_NULL, ANY_TAG and count 0."""

    def main(comm: Any) -> Any:
        buffer, statuses = bytearray(b"kept"), [MPI.Status() for _ in range(5)]
        comm.Recv(buffer, MPI.PROC_NULL, status=statuses[0])
        comm.Irecv(buffer, MPI.PROC_NULL).Wait(statuses[1])
        comm.Sendrecv(b"x", MPI.PROC_NULL, 0, buffer, MPI.PROC_NULL, status=statuses[2])
        comm.Isendrecv(b"x", MPI.PROC_NULL, 0, buffer, MPI.PROC_NULL).Wait(statuses[3])
        comm.Sendrecv_replace(buffer, MPI.PROC_NULL, source=MPI.PROC_NULL, status=statuses[4])
        comm.Recv(None, MPI.PROC_NULL)
        comm.Recv(b"read-only", MPI.PROC_NULL)
        return bytes(buffer), [proc_null(status) for status in statuses]

    assert run(main, 1) == [(b"kept", [True] * 5)]


def test_a_chain_ends_at_proc_null() -> None:
    """The common use: no special cases at the ends."""

    def main(comm: Any) -> int:
        left = comm.rank - 1 if comm.rank else MPI.PROC_NULL
        right = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
        received = np.array([-1])
        comm.Sendrecv(np.array([comm.rank]), right, 0, received, left, 0)
        return int(received[0])

    assert run(main, 4) == [-1, 0, 1, 2]


# -- buffers -------------------------------------------------------------------------------------------------------

DTYPES = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "g", "F", "D", "G", "S1", "U1"]
OTHERS = ["S3", "U2", "M8[s]", "m8[ms]", "V5", "i4,f8", [("a", "i2"), ("b", "f4", (2,))]]


@for_each("dtype", [*DTYPES, *OTHERS])
def test_arrays_of_any_dtype(dtype: Any) -> None:
    """Bytes are compared; elements without an MPI type are sent as bytes."""

    def main(comm: Any) -> bool:
        sent = np.frombuffer(bytes(index % 2 for index in range(np.dtype(dtype).itemsize * 3)), dtype)
        received = np.zeros(3, dtype)
        if dtype in DTYPES:
            comm.Sendrecv(sent, 0, 0, received, 0, 0)
        else:
            comm.Sendrecv([sent, MPI.BYTE], 0, 0, [received, MPI.BYTE], 0, 0)
        return received.tobytes() == sent.tobytes()

    assert run(main, 1) == [True]


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 1, 3), (0,), (3, 0)], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_shape(shape: tuple[int, ...], order: Any) -> None:
    """Memory is sent in its order, so an array in Fortran order arrives transposed."""

    def main(comm: Any) -> Any:
        sent = np.arange(np.prod(shape, dtype=int)).reshape(shape).copy(order)
        received = np.full(sent.size, -1)
        comm.Sendrecv(sent, 0, 0, received, 0, 0)
        return received.tolist() == sent.ravel("K").tolist()

    assert run(main, 1) == [True]


FORMS: dict[str, Callable[[], tuple[Any, Any, Callable[[], Any]]]] = {}


def form(function: Callable[[], tuple[Any, Any, Callable[[], Any]]]) -> None:
    """A form of a buffer: what to send, where to receive, how to read it. All hold 1, 2, 3 afterwards."""
    FORMS[function.__name__] = function


@form
def bytes_into_bytearray() -> tuple[Any, Any, Callable[[], Any]]:
    target = bytearray(3)
    return bytes([1, 2, 3]), target, lambda: list(target)


@form
def array_module() -> tuple[Any, Any, Callable[[], Any]]:
    target = array("h", [0, 0, 0])
    return array("h", [1, 2, 3]), target, target.tolist


@form
def memoryviews() -> tuple[Any, Any, Callable[[], Any]]:
    target = bytearray(5)
    return memoryview(b"\0\1\2\3")[1:], memoryview(target)[2:], lambda: list(target[2:])


@form
def buffer_and_count() -> tuple[Any, Any, Callable[[], Any]]:
    target = np.zeros(5, "i4")
    return [np.array([1, 2, 3, 9], "i4"), 3], [target, 3], lambda: target[:3].tolist()


@form
def buffer_and_datatype() -> tuple[Any, Any, Callable[[], Any]]:
    target = bytearray(24)
    return [np.array([1.0, 2, 3]), MPI.DOUBLE], [target, "d"], lambda: np.frombuffer(target).tolist()


@form
def buffer_count_and_datatype() -> tuple[Any, Any, Callable[[], Any]]:
    target = np.zeros(4)
    return (np.array([1.0, 2, 3, 4]), 3, MPI.DOUBLE), [target, 3, "d"], lambda: target[:3].tolist()


@form
def count_and_displacement() -> tuple[Any, Any, Callable[[], Any]]:
    target = np.zeros(5, "i8")
    return [np.arange(6), (3, 1), MPI.LONG], [target, (3, 2), MPI.LONG], lambda: target[2:].tolist()


@form
def four_items() -> tuple[Any, Any, Callable[[], Any]]:
    target = np.zeros(5, "i8")
    return [np.arange(6), 3, 1, MPI.LONG], [target, 3, 2, MPI.LONG], lambda: target[2:].tolist()


@form
def a_slice_of_an_array() -> tuple[Any, Any, Callable[[], Any]]:
    target = np.zeros((3, 3))
    return np.arange(5.0)[1:4], target[1], lambda: target[1].tolist()


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_buffer(name: str) -> None:
    """As in mpi4py."""

    def main(comm: Any) -> Any:
        sent, target, look = FORMS[name]()
        comm.Sendrecv(sent, 0, 0, target, 0, 0)
        return look()

    assert run(main, 1) == [[1, 2, 3]]


def test_addresses_from_bottom() -> None:
    """A datatype of absolute addresses defines the memory on its own."""

    def main(comm: Any) -> Any:
        numbers, more = np.array([1.0, 2.0]), np.array([3], "i4")
        places = [MPI.Get_address(numbers), MPI.Get_address(more)]
        both = MPI.Datatype.Create_struct([2, 1], places, [MPI.DOUBLE, MPI.INT]).Commit()
        received = bytearray(20)
        comm.Sendrecv([MPI.BOTTOM, 1, both], 0, 0, received, 0, 0)
        return np.frombuffer(received[:16]).tolist(), np.frombuffer(received[16:], "i4").tolist()

    assert run(main, 1) == [([1.0, 2.0], [3])]


# -- isolation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["Send", "Bsend", "Isend", "Ibsend"])
@pytest.mark.parametrize("size", [1, 20_000])
def test_later_writes_of_a_sender_are_not_received(backend: Any, mode: str, size: int) -> None:
    """When the send has completed the buffer can be reused, although the receive is posted later."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            MPI.Attach_buffer(MPI.BUFFER_AUTOMATIC)
            buffer = np.full(size, 1)
            request = getattr(comm, mode)(buffer, 1)
            if request is not None:
                request.Wait()
            buffer[:] = 2
            return None
        fakempi.compute(1)
        received = np.zeros(size, int)
        comm.Recv(received)
        return set(received.tolist())

    limit = 1 << 20 if mode in ("Send", "Isend") else 0
    assert run(main, 2, backend, cost=fakempi.Hockney(eager_limit=limit))[1] == {1}


@pytest.mark.parametrize("look", ["Test", "Get_status", "Testall", "Get_status_all", "Waitany", "Waitsome"])
def test_a_send_is_complete_as_soon_as_any_call_reports_it(look: str) -> None:
    """From then on the sender may write to its buffer."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            buffer = np.array([1])
            request = comm.Isend(buffer, 1)
            if look in ("Test", "Get_status"):
                while not getattr(request, look)():
                    pass
            else:
                while getattr(MPI.Request, look)([request]) is False:
                    pass
            buffer[:] = 2
            return None
        fakempi.compute(1)
        received = np.zeros(1, int)
        comm.Recv(received)
        return int(received[0])

    assert run(main, 2)[1] == 1


def test_writes_of_a_receiver_are_not_visible_to_the_sender() -> None:
    """They are two processes, even if both use one array by mistake."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            sent = np.array([1, 2])
            comm.Ssend(sent, 1)
            comm.Recv(bytearray(0), 1)
            return sent.tolist()
        received = np.zeros(2, int)
        comm.Recv(received, 0)
        received[:] = 9
        comm.Send(b"", 0)
        return None

    assert run(main, 2)[0] == [1, 2]


# -- derived datatypes ---------------------------------------------------------------------------------------------


def test_a_column_arrives_as_a_row(backend: Any) -> None:
    """A row arrives as a column, too."""

    def main(comm: Any) -> Any:
        matrix = np.arange(12.0).reshape(3, 4) + 100 * comm.rank
        column = MPI.DOUBLE.Create_vector(3, 1, 4).Commit()
        other = 1 - comm.rank
        if comm.rank == 0:
            comm.Send([matrix, 1, column], other)
            comm.Recv([matrix.ravel()[3:], 1, MPI.DOUBLE.Create_hvector(3, 1, 32).Commit()], other)
            return matrix[:, 3].tolist()
        row = np.zeros(3)
        comm.Recv(row, other)
        comm.Send(matrix[1, :3], other)
        return row.tolist()

    assert run(main, 2, backend) == [[104.0, 105.0, 106.0], [0.0, 4.0, 8.0]]


def test_a_subarray_is_received_at_another_position() -> None:
    """The rest of the target is unchanged."""

    def main(comm: Any) -> Any:
        source, target = np.arange(16).reshape(4, 4), np.full((4, 4), -1)
        corner = MPI.LONG.Create_subarray([4, 4], [2, 2], [0, 2]).Commit()
        middle = MPI.LONG.Create_subarray([4, 4], [2, 2], [1, 1]).Commit()
        comm.Sendrecv([source, 1, corner], 0, 0, [target, 1, middle], 0, 0)
        return target.tolist()

    expected = [[-1, -1, -1, -1], [-1, 2, 3, -1], [-1, 6, 7, -1], [-1, -1, -1, -1]]
    assert run(main, 1) == [expected]


def test_packed_data_can_be_received_as_typed_data() -> None:
    """Packed on one rank and received with the datatype, and the reverse."""

    def main(comm: Any) -> Any:
        column = MPI.INT.Create_vector(3, 1, 2).Commit()
        numbers = np.arange(6, dtype="i4")
        if comm.rank == 0:
            packed = bytearray(column.Pack_size(1, comm))
            assert column.Pack(numbers, packed, 0, comm) == 12
            comm.Send([packed, 12, MPI.PACKED], 1)
            comm.Send([numbers, 1, column], 1)
            return None
        target, packed = np.zeros(6, "i4"), bytearray(12)
        comm.Recv([target, 1, column], 0)
        comm.Recv([packed, MPI.PACKED], 0)
        again = np.zeros(3, "i4")
        MPI.INT.Unpack(packed, 0, again, comm)
        return target.tolist(), again.tolist()

    assert run(main, 2)[1] == ([0, 0, 2, 0, 4, 0], [0, 2, 4])


def test_a_struct_of_several_types() -> None:
    """With padding, as in C."""

    def main(comm: Any) -> Any:
        record = np.dtype("i4,f8", align=True)
        datatype = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE]).Create_resized(0, 16).Commit()
        sent = np.array([(1, 1.5), (2, 2.5)], record)
        received, status = np.zeros(2, record), MPI.Status()
        comm.Sendrecv([sent, 2, datatype], 0, 0, [received, 2, datatype], 0, 0, status)
        return received.tolist(), status.count, status.Get_count(datatype), status.Get_elements(datatype)

    assert run(main, 1) == [([(1, 1.5), (2, 2.5)], 24, 2, 4)]


# -- phantoms ------------------------------------------------------------------------------------------------------


def test_a_phantom_is_modeled_in_full_and_not_copied() -> None:
    """It takes the time of a message of its size, and an array that receives it is unchanged."""
    cost = fakempi.Hockney(t_s=1.0, t_w=0.25, eager_limit=0)

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            comm.Send(fakempi.phantom(8), 1)
            comm.Send(fakempi.phantom(8, itemsize=8), 1)
            return MPI.Wtime()
        status, numbers = MPI.Status(), np.array([5])
        comm.Recv(fakempi.phantom(100), 0, status=status)
        comm.Recv(numbers, 0)
        return status.count, numbers.tolist(), MPI.Wtime()

    outcome = fakempi.run(main, 2, cost=cost)
    assert outcome.returns == [6.0, (8, [5], 6.0)]
    assert (outcome.messages, outcome.bytes) == (2, 16)


def test_a_phantom_that_is_too_long_raises_like_any_message() -> None:
    """Sizes are compared."""

    def main(comm: Any) -> None:
        comm.Isend(fakempi.phantom(8), 0)
        words = (
            "Recv on rank 0: message truncated, 8 bytes arrived from rank 0 (tag 0) but the buffer holds 4. Rank 0 sent "
            f"8 bytes by Isend at test_buffers.py:{main.__code__.co_firstlineno + 1}; this receive takes 4 bytes."
        )
        with fails(words, MPI.ERR_TRUNCATE):
            comm.Recv(fakempi.phantom(4))

    run(main, 1)


# -- errors --------------------------------------------------------------------------------------------------------

SENDS = [*BLOCKING, *STARTING, "Send_init", "Ssend_init", "Bsend_init", "Rsend_init"]
RECEIVES = ["Recv", "Irecv", "Recv_init"]


@for_each("dest", [2, -5, MPI.ANY_SOURCE])
@for_each("call", SENDS)
def test_an_invalid_destination_is_rejected(call: str, dest: int) -> None:
    """The error names the call, the rank and both numbers."""

    def main(comm: Any) -> None:
        words = f"{call} on rank {comm.rank}: dest {dest} is not in 0..1: the communicator has 2 ranks."
        with fails(words, MPI.ERR_RANK):
            getattr(comm, call)(b"x", dest)

    run(main, 2)


@for_each("source", [2, -5, MPI.ROOT])
@for_each("call", [*RECEIVES, "Probe", "Iprobe", "Mprobe", "Improbe"])
def test_an_invalid_source_is_rejected(call: str, source: int) -> None:
    """By receives and probes."""

    def main(comm: Any) -> None:
        arguments = (bytearray(1),) if call in RECEIVES else ()
        words = f"{call} on rank {comm.rank}: source {source} is not in 0..1: the communicator has 2 ranks."
        with fails(words, MPI.ERR_RANK):
            getattr(comm, call)(*arguments, source)

    run(main, 2)


@for_each("tag", [-1, -7, 2**31])
@for_each("call", SENDS)
def test_a_tag_out_of_range_in_a_send_is_rejected(call: str, tag: int) -> None:
    """So is ANY_TAG."""

    def main(comm: Any) -> None:
        with fails(f"{call} on rank 0: tag {tag} is not in 0..2147483647.", MPI.ERR_TAG):
            getattr(comm, call)(b"x", 0, tag)

    run(main, 1)


@for_each("tag", [-7, 2**31])
@for_each("source", [0, MPI.ANY_SOURCE, MPI.PROC_NULL])
@for_each("call", [*RECEIVES, "Probe", "Iprobe", "Mprobe", "Improbe"])
def test_a_tag_out_of_range_in_a_receive_is_rejected(call: str, source: int, tag: int) -> None:
    """For any source."""

    def main(comm: Any) -> None:
        arguments = (bytearray(1),) if call in RECEIVES else ()
        words = f"{call} on rank 0: tag {tag} is not ANY_TAG (-1), and not in 0..2147483647."
        with fails(words, MPI.ERR_TAG):
            getattr(comm, call)(*arguments, source, tag)

    run(main, 1)


@pytest.mark.parametrize("call", ["Recv", "Sendrecv"])
def test_a_truncated_receive_names_both_sizes(backend: Any, call: str) -> None:
    """With the message's sender and tag, both datatypes, and the line that sent it."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(np.zeros(12), 1, 7)
            return
        words = (
            f"{call} on rank 1: message truncated, 96 bytes arrived from rank 0 (tag 7) but the buffer holds 64. Rank 0 "
            f"sent 12 float64 by Send at test_buffers.py:{main.__code__.co_firstlineno + 2}; this receive takes 8 float64."
        )
        with fails(words, MPI.ERR_TRUNCATE):
            if call == "Recv":
                comm.Recv(np.zeros(8), 0)
            else:
                comm.Sendrecv(b"", MPI.PROC_NULL, 0, np.zeros(8), 0)

    run(main, 2, backend)


def test_after_a_truncated_receive_the_next_message_arrives_complete() -> None:
    """The long message is removed, and the buffer is unchanged."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            comm.Send(b"too long", 1)
            comm.Send(b"fits", 1)
            return None
        received = bytearray(b"....")
        with pytest.raises(MPI.Exception, match="message truncated"):
            comm.Recv(received, 0)
        before = bytes(received)
        comm.Recv(received, 0)
        return before, bytes(received)

    assert run(main, 2)[1] == (b"....", b"fits")


CALLS: dict[str, tuple[Any, ...]] = {
    "Send": (b"x", 0), "Recv": (bytearray(1),), "Sendrecv": (b"x", 0, 0, bytearray(1)),
    "Sendrecv_replace": (bytearray(1), 0), "Isend": (b"x", 0), "Irecv": (bytearray(1),), "Probe": (), "Iprobe": (),
    "Mprobe": (), "Improbe": (), "Send_init": (b"x", 0), "Recv_init": (bytearray(1),), "Bsend": (b"x", 0),
    "send": (1, 0), "recv": (), "isend": (1, 0), "irecv": (), "sendrecv": (1, 0), "Get_rank": (), "Get_size": (),
    "Get_group": (), "Dup": (), "Split": (), "Free": (), "Get_attr": (MPI.TAG_UB,), "Set_name": ("x",), "Get_info": (),
}  # fmt: skip


@for_each("call", CALLS)
def test_the_null_communicator_is_rejected(call: str) -> None:
    """So is a freed one."""

    def main(comm: Any) -> None:
        freed = comm.Dup()
        freed.Free()
        words = f"{call} on rank 0: the communicator is null: it was freed, or this rank is not in it."
        for null in (MPI.COMM_NULL, MPI.Intracomm(), freed):
            with fails(words, MPI.ERR_COMM):
                getattr(null, call)(*CALLS[call])

    run(main, 1)


@pytest.mark.parametrize("which", ["null", "freed", "uncommitted"])
@pytest.mark.parametrize("call", ["Send", "Recv", "Send_init", "Recv_init"])
def test_an_unusable_datatype_is_rejected(call: str, which: str) -> None:
    """Null, freed or never committed."""

    def main(comm: Any) -> None:
        datatype, words = MPI.DATATYPE_NULL, "the datatype is DATATYPE_NULL: it was never created, or was freed."
        if which == "freed":
            datatype = MPI.DOUBLE.Create_contiguous(2).Commit()
            datatype.Free()
        if which == "uncommitted":
            datatype = MPI.DOUBLE.Create_contiguous(2)
            words = "the datatype (CONTIGUOUS of DOUBLE) is not committed: call Commit() before using it."
        with fails(f"{call} on rank 0: {words}", MPI.ERR_TYPE):
            getattr(comm, call)([np.zeros(2), 1, datatype], 0)

    run(main, 1)


def test_a_buffer_that_is_not_contiguous_is_rejected() -> None:
    """With its strides, and what to do."""

    def main(comm: Any) -> None:
        column = np.zeros((4, 4))[:, 0]
        for call in ("Send", "Recv"):
            words = (
                f"{call} on rank 0: the array is not contiguous: shape (4,), strides (32,) bytes, itemsize 8; "
                "np.ascontiguousarray(...) makes a contiguous copy."
            )
            with fails(words, MPI.ERR_BUFFER, BufferError):
                getattr(comm, call)(column, 0)

    run(main, 1)


def test_a_read_only_receive_buffer_is_rejected() -> None:
    """Bytes, and read-only arrays."""

    def main(comm: Any) -> None:
        locked = np.zeros(3)
        locked.flags.writeable = False
        for call in RECEIVES:
            words = f"{call} on rank 0: the buffer is a read-only bytes: nothing can be received into it."
            with fails(words, MPI.ERR_BUFFER, BufferError):
                getattr(comm, call)(b"abc")
            words = f"{call} on rank 0: the array is read-only: nothing can be received into it."
            with fails(words, MPI.ERR_BUFFER, BufferError):
                getattr(comm, call)(locked)

    run(main, 1)


@pytest.mark.parametrize("call", ["Send", "Recv"])
def test_a_count_beyond_the_buffer_is_rejected(call: str) -> None:
    """A real MPI would access memory beyond it."""

    def main(comm: Any) -> None:
        words = f"{call} on rank 0: count 3 of DOUBLE takes bytes 0 to 24 of a buffer of 16 bytes."
        with fails(words, MPI.ERR_BUFFER, ValueError):
            getattr(comm, call)([np.zeros(2), 3, MPI.DOUBLE], 0)
        with fails(f"{call} on rank 0: count -1 is negative.", MPI.ERR_COUNT, ValueError):
            getattr(comm, call)([np.zeros(2), -1, MPI.DOUBLE], 0)

    run(main, 1)


@for_each(("thing", "name"), [(5, "int"), (None, "NoneType"), ("text", "str"), ({}, "dict")])
@for_each("call", ["Send", "Recv", "Isend", "Irecv", "Bsend", "Sendrecv_replace", "Send_init"])
def test_an_object_that_is_no_buffer_is_rejected(call: str, thing: Any, name: str) -> None:
    """A TypeError, as in mpi4py, with the expected forms."""

    def main(comm: Any) -> None:
        words = f"{call} on rank 0: expecting a buffer or a list like [buffer, count, datatype], not {name!r}."
        if thing is not None and hasattr(comm, call.lower()):
            words += f" Use {call.lower()} for Python objects, or a numpy array."
        with fails(words, MPI.ERR_BUFFER, TypeError):
            getattr(comm, call)(thing, 0)

    run(main, 1)


def test_an_array_of_objects_is_rejected_with_the_lower_case_call() -> None:
    """References are meaningless in another process."""

    def main(comm: Any) -> None:
        words = (
            "Send on rank 0: an array of dtype object holds references to Python objects; use the lower-case call to send "
            "them."
        )
        with fails(words, MPI.ERR_BUFFER, TypeError):
            comm.Send(np.array([None, 1]), 0)

    run(main, 1)


@pytest.mark.parametrize(
    ("spec", "words", "kind"),
    [
        ([b"x"], "expecting 2 to 4 items in a buffer specification, got 1.", ValueError),
        ([b"x", 1, 2, 3, 4], "expecting 2 to 4 items in a buffer specification, got 5.", ValueError),
        ([1, 2, 3], "a bytes-like object is required, not 'int'. Use send for Python objects, or a numpy array.", TypeError),
        ([b"x", "no such type"], "cannot map 'no such type' to an MPI datatype.", KeyError),
        ([b"1234567", MPI.INT], "cannot infer count, buffer length 7 is not a multiple of datatype extent 4 (lb 0, ub 4).",
         ValueError),
    ],
)  # fmt: skip
def test_an_invalid_specification_is_rejected(spec: Any, words: str, kind: type[BaseException]) -> None:
    """With mpi4py's exception types."""

    def main(comm: Any) -> None:
        with pytest.raises(kind) as caught:
            comm.Send(spec, 0)
        assert isinstance(caught.value, MPI.Exception)
        assert caught.value.message == f"Send on rank 0: {words}"

    run(main, 1)


def test_a_sendrecv_that_cannot_send_leaves_no_receive_behind() -> None:
    """It would take the next message."""

    def main(comm: Any) -> Any:
        received = bytearray(1)
        with pytest.raises(MPI.Exception, match="dest 5 is not in"):
            comm.Sendrecv(b"x", 5, 0, bytearray(1), 0)
        comm.Sendrecv(b"y", 0, 0, received, 0)
        return bytes(received)

    assert run(main, 1) == [b"y"]


def test_sendrecv_replace_with_proc_null_needs_no_buffer() -> None:
    """Like the other calls."""

    def main(comm: Any) -> tuple[int, int]:
        one, other = MPI.Status(), MPI.Status()
        comm.Sendrecv_replace(None, MPI.PROC_NULL, source=MPI.PROC_NULL, status=one)
        comm.Isendrecv_replace(None, MPI.PROC_NULL, source=MPI.PROC_NULL).Wait(other)
        return one.source, other.source

    assert run(main, 1) == [(MPI.PROC_NULL, MPI.PROC_NULL)]
