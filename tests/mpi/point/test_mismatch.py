"""Data that is received with another type than it was sent is found, with both places; correct programs have no finding."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each

EAGER, SYNCHRONOUS = fakempi.Hockney(), fakempi.Hockney(eager_limit=0)
HERE = "test_mismatch.py"


def line(after: int = 0) -> int:
    """The number of a line of the caller."""
    return sys._getframe(1).f_lineno + after


def findings_of(main: Callable[[Any], Any], nprocs: int = 2, **options: Any) -> list[str]:
    """The findings of a run, as text."""
    return [str(one) for one in fakempi.run(main, nprocs, **options).findings]


def exchange(sent: Any, taken: Any, **options: Any) -> list[str]:
    """The findings where rank 0 sends the one and rank 1 receives into the other, without the places."""

    def main(comm: Any) -> None:
        if comm.Get_rank() == 0:
            comm.Send(sent, 1)
        else:
            comm.Recv(taken, 0)

    return [one.sentence.partition(" at ")[0] for one in fakempi.run(main, 2, **options).findings]


@pytest.mark.parametrize("cost", [EAGER, SYNCHRONOUS])
def test_ints_that_are_received_as_floats_are_found_with_both_places(backend: Any, cost: Any) -> None:
    """The finding is at the receiver's call."""
    first = line(4)

    def main(comm: Any) -> None:
        if comm.Get_rank() == 0:
            comm.Send(np.arange(4, dtype="i4"), 1)
        else:
            comm.Recv(np.zeros(4, "f4"), 0)

    (one,) = fakempi.run(main, 2, backend=backend, cost=cost).findings
    expected = f"takes 4 float32, but rank 0 sent 4 int32 at {HERE}:{first}"
    assert str(one) == f"datatype-mismatch: rank 1: Recv at {HERE}:{first + 2}: {expected}"
    assert (one.kind, one.ranks, one.call, one.place) == ("datatype-mismatch", (1,), "Recv", f"{HERE}:{first + 2}")


STRUCT = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE]).Commit()
COLUMN = MPI.DOUBLE.Create_vector(2, 1, 2).Commit()
RECORD = np.dtype([("a", "i4"), ("b", "f8")])

WRONG: dict[str, tuple[Any, Any, str]] = {
    "int64 for float64": (np.zeros(2), np.zeros(2, "i8"), "takes 2 int64, but rank 0 sent 2 float64"),
    "a longer buffer": (np.zeros(2, "i4"), np.zeros(9, "f4"), "takes 9 float32, but rank 0 sent 2 int32"),
    "signed for unsigned": (np.zeros(2, "u4"), np.zeros(2, "i4"), "takes 2 int32, but rank 0 sent 2 uint32"),
    "by name": ([np.zeros(2), MPI.DOUBLE], [np.zeros(2), MPI.INT64_T], "takes 2 int64, but rank 0 sent 2 float64"),
    "bytes for numbers": (bytes(16), np.zeros(2), "takes 2 float64, but rank 0 sent 16 bytes"),
    "BYTE for numbers": ([np.zeros(2), MPI.BYTE], np.zeros(2), "takes 2 float64, but rank 0 sent 16 bytes"),
    "other memory than numpy's": (array("d", [1.0]), array("q", [1]), "takes 1 int64, but rank 0 sent 1 float64"),
    "with holes": ([np.zeros(4), 1, COLUMN], np.zeros(2, "i8"), "takes 2 int64, but rank 0 sent 2 float64"),
    "into holes": (np.zeros(2, "i8"), [np.zeros(4), 1, COLUMN], "takes 2 float64, but rank 0 sent 2 int64"),
    "records": ([bytearray(16), 1, STRUCT], np.zeros(3, "f4"), "takes 3 float32, but rank 0 sent 1 x (1 int32, 1 float64)"),
    "complex for reals": (np.zeros(1, "c16"), np.zeros(2), "takes 2 float64, but rank 0 sent 1 complex128"),
}


@for_each("cost", [EAGER, SYNCHRONOUS])
@for_each("case", WRONG)
def test_types_that_differ_are_found(case: str, cost: Any) -> None:
    """For any form of the type."""
    sent, taken, sentence = WRONG[case]
    assert exchange(sent, taken, cost=cost) == [sentence]


RIGHT: dict[str, tuple[Any, Any]] = {
    "C's names and Fortran's": ([np.zeros(2, "i4"), MPI.INTEGER], [np.zeros(2, "i4"), MPI.INT32_T]),
    "long and long long": (np.zeros(2, "l"), np.zeros(2, "q")),
    "bytes and uint8": (b"12345678", np.zeros(8, "u1")),
    "uint8 and bytearray": (np.zeros(8, "u1"), bytearray(8)),
    "characters": ([bytearray(8), MPI.CHAR], np.zeros(8, "i1")),
    "strings": ([np.zeros(2, "S4"), MPI.CHAR], bytearray(8)),
    "booleans and uint8": (np.zeros(8, "?"), np.zeros(8, "u1")),
    "PACKED": ([bytearray(16), MPI.PACKED], np.zeros(2)),
    "to PACKED": (np.zeros(2), [bytearray(16), MPI.PACKED]),
    "BYTE on both sides": ([np.zeros(2), MPI.BYTE], [np.zeros(4, "i4"), MPI.BYTE]),
    "a column and a row": ([np.zeros(4), 1, COLUMN], np.zeros(2)),
    "records, described and as they are": ([np.zeros(12, "u1"), 1, MPI.INT], np.zeros(1, "i4")),
    "void without fields": (np.zeros(2, "V12"), [np.zeros(4, "V12"), 2]),
    "a structured array of bytes": ([np.zeros(2, RECORD), MPI.BYTE], bytearray(24)),
    "a shorter message": (np.zeros(2), np.zeros(5)),
    "nothing": (np.zeros(0, "i4"), np.zeros(2)),
    "phantoms": (fakempi.phantom(16), np.zeros(2)),
    "into a phantom": (np.zeros(2), fakempi.phantom(16)),
    "dates and int64": ([np.zeros(2, "M8[s]"), MPI.INT64_T], np.zeros(2, "i8")),
    "a table and a list": (np.zeros((2, 3)), np.zeros(6)),
    "Fortran's order": (np.asfortranarray(np.zeros((2, 3))), np.zeros((3, 2))),
    "arrays of Python's": (array("d", [1.0]), np.zeros(1)),
}


@for_each("cost", [EAGER, SYNCHRONOUS])
@for_each("case", RIGHT)
def test_equal_types_have_no_finding(case: str, cost: Any) -> None:
    """For any names."""
    assert exchange(*RIGHT[case], cost=cost) == []


def test_an_object_that_is_received_as_an_array_is_reported(backend: Any) -> None:
    """Its pickle is stored in the array."""
    first = line(4)

    def main(comm: Any) -> None:
        if comm.Get_rank() == 0:
            comm.send([1, 2, 3], 1)
        else:
            comm.Recv(np.zeros(99), 0)

    expected = f"takes 99 float64, but rank 0 sent an object by send at {HERE}:{first}"
    assert findings_of(main, backend=backend) == [f"pickle-met-buffer: rank 1: Recv at {HERE}:{first + 2}: {expected}"]


def test_an_array_that_is_received_as_an_object_is_reported() -> None:
    """Unpickling fails right after, and the failure has the finding."""
    first = line(4)

    def main(comm: Any) -> None:
        if comm.Get_rank() == 0:
            comm.Send(np.zeros(3), 1)
        else:
            comm.recv(source=0)

    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, 2)
    expected = f"takes an object, but rank 0 sent 3 float64 by Send at {HERE}:{first}"
    assert [str(one) for one in caught.value.findings] == [
        f"pickle-met-buffer: rank 1: recv at {HERE}:{first + 2}: {expected}"
    ]


def test_pickles_may_be_sent_as_bytes() -> None:
    """mpi4py sends them as BYTE: a program that receives bytes and unpickles them, or sends such bytes, is correct."""

    def main(comm: Any) -> Any:
        if comm.Get_rank() == 0:
            comm.send("one", 1)
            comm.send("two", 1)
            comm.Send(MPI.pickle.dumps("three"), 1)
            return None
        status, got = MPI.Status(), []
        for kind in (bytearray, np.uint8):
            comm.Probe(0, status=status)
            size = status.Get_count(MPI.BYTE)
            buffer: Any = bytearray(size) if kind is bytearray else np.zeros(size, "u1")
            comm.Recv([buffer, MPI.BYTE], 0)
            got.append(MPI.pickle.loads(bytes(buffer)))
        return [*got, comm.recv(source=0)]

    run = fakempi.run(main, 2, strict=True)
    assert run.returns[1] == ["one", "two", "three"]


def blocking(name: str) -> Callable[[Any], None]:
    """A program that sends ints by this call."""

    def main(comm: Any) -> None:
        data = np.zeros(2, "i4")
        if comm.Get_rank() == 1:
            comm.Recv(np.zeros(2, "f4"), 0)
        elif name in ("Send", "Ssend", "Rsend"):
            fakempi.compute(1.0)
            getattr(comm, name)(data, 1)
        elif name in ("Bsend", "Ibsend"):
            MPI.Attach_buffer(bytearray(1000))
            done = getattr(comm, name)(data, 1)
            if done:
                done.Wait()
            MPI.Detach_buffer()
        elif name.endswith("_init"):
            request = getattr(comm, name)(data, 1)
            request.Start()
            request.Wait()
            request.Free()
        else:
            getattr(comm, name)(data, 1).Wait()

    return main


@pytest.mark.parametrize("name", ["Send", "Ssend", "Rsend", "Bsend", "Isend", "Issend", "Ibsend", "Send_init", "Ssend_init"])
def test_every_send_call_records_the_type(name: str) -> None:
    """Copies and persistent calls, too."""
    (one,) = fakempi.run(blocking(name), 2).findings
    assert one.sentence.startswith(f"takes 2 float32, but rank 0 sent 2 int32 at {HERE}:")


def receives(name: str) -> Callable[[Any], None]:
    """A program that receives ints as floats by this call."""

    def main(comm: Any) -> None:
        peer, data, place = 1 - comm.Get_rank(), np.zeros(2, "i4"), np.zeros(2, "f4")
        if name == "Sendrecv":
            comm.Sendrecv(data, peer, 0, place if peer == 0 else np.zeros(2, "i4"), peer)
        elif name == "Sendrecv_replace":
            comm.Sendrecv_replace(data if peer else place, peer, 0, peer)
        elif peer:
            comm.Send(data, 1)
        elif name == "Mprobe":
            comm.Mprobe(0).Recv(place)
        elif name == "Recv_init":
            request = comm.Recv_init(place, 0)
            request.Start()
            request.Wait()
            request.Free()
        elif name == "Irecv":
            comm.Irecv(place, 0).Wait()
        else:
            comm.Recv(place)

    return main


@pytest.mark.parametrize("cost", [EAGER, SYNCHRONOUS])
@pytest.mark.parametrize("name", ["Sendrecv", "Sendrecv_replace", "Mprobe", "Recv_init", "Irecv", "Recv"])
def test_every_receive_call_compares_the_type(name: str, cost: Any) -> None:
    """Also matched probes, and receives from any source."""
    findings = [one for one in fakempi.run(receives(name), 2, cost=cost).findings if 1 in one.ranks]
    calls = {"Mprobe": "Recv", "Recv_init": "Start"}
    assert [(one.kind, one.call) for one in findings] == [("datatype-mismatch", calls.get(name, name))]


def test_between_two_groups_types_are_compared_as_well() -> None:
    """Ranks are named by their numbers in the world."""

    def main(comm: Any) -> None:
        rank = comm.Get_rank()
        inter = comm.Split(rank % 2).Create_intercomm(0, comm, 1 - rank % 2)
        if rank % 2 == 0:
            inter.Send(np.zeros(2), rank // 2)
        else:
            inter.Recv(np.zeros(2, "i8"), rank // 2)

    (one,) = fakempi.run(main, 4).findings
    assert one.ranks == (1, 3)
    assert one.sentence.startswith("takes 2 int64, but ranks 0 and 2 sent 2 float64 at ")


def test_proc_null_is_no_mismatch() -> None:
    """No data arrives from PROC_NULL."""

    def main(comm: Any) -> None:
        comm.Sendrecv(np.zeros(2), MPI.PROC_NULL, 0, np.zeros(2, "i4"), MPI.PROC_NULL)

    assert findings_of(main, 1) == []


def test_a_strict_run_ends_before_wrong_data_is_used(backend: Any) -> None:
    """No rank continues with it."""
    later = []

    def main(comm: Any) -> None:
        if comm.Get_rank() == 0:
            comm.Send(np.zeros(2, "i4"), 1)
        else:
            comm.Recv(np.zeros(2, "f4"), 0)
            comm.Barrier()
            later.append(1)

    with pytest.raises(fakempi.FindingsError, match=r"takes 2 float32, but rank 0 sent 2 int32 at"):
        fakempi.run(main, 2, strict=True, backend=backend)
    assert later == []


def test_after_many_calls_places_are_still_known() -> None:
    """For waiting messages, for messages that were left behind, and in a strict run for all."""

    def main(comm: Any, wait: bool) -> None:
        me = comm.Get_rank()
        for _ in range(1000):
            comm.Sendrecv(np.zeros(1), 1 - me, 0, np.zeros(1), 1 - me)
        if me == 0:
            (comm.Ssend if wait else comm.Send)(np.zeros(1, "i8"), 1)
        else:
            fakempi.compute(1.0)
            comm.Recv(np.zeros(1), 0)

    sentences = [fakempi.run(main, 2, wait).findings[0].sentence for wait in (True, False)]
    for sentence in sentences:
        assert sentence.startswith("takes 1 float64, but rank 0 sent 1 int64 at test_mismatch.py:")
    with pytest.raises(fakempi.FindingsError) as caught:
        fakempi.run(main, 2, False, strict=True)
    assert caught.value.findings[0].sentence == sentences[0]


def test_a_message_to_the_same_rank_has_both_places() -> None:
    """Also long after the first calls."""

    def main(comm: Any) -> None:
        me = comm.Get_rank()
        for _ in range(1000):
            comm.Sendrecv(np.zeros(1), me, 0, np.zeros(1), me)
        comm.Sendrecv(np.zeros(1, "i8"), me, 0, np.zeros(1), me)

    (found,) = fakempi.run(main, 2).findings
    line = main.__code__.co_firstlineno + 4
    assert (found.call, found.place) == ("Sendrecv", f"test_mismatch.py:{line}")
    assert found.sentence == f"takes 1 float64, but ranks 0-1 sent 1 int64 at test_mismatch.py:{line}"


numbers = st.sampled_from(["i2", "i4", "i8", "u4", "f4", "f8", "c8", "u1", "i1", "?"])


@given(numbers, numbers, st.integers(1, 8), st.sampled_from([EAGER, SYNCHRONOUS]))
def test_arrays_of_numbers_agree_if_their_kinds_and_sizes_do(one: str, other: str, count: int, cost: Any) -> None:
    """Types of one byte always match."""
    sent, taken = np.zeros(count, one), np.zeros(64, other)
    same = np.dtype(one) == np.dtype(other) or np.dtype(one).itemsize == np.dtype(other).itemsize == 1
    assert (exchange(sent, taken, cost=cost) == []) == same


def test_places_are_known_if_a_schedule_determines_the_match(backend: Any) -> None:
    """The match of a wildcard is decided when no rank can run, on the stack of the one that waited last."""
    for late in (0, 1):

        def main(comm: Any, late: int = late) -> None:
            if comm.Get_rank() == late:
                fakempi.compute(1e-3)
            if comm.Get_rank() == 0:
                comm.Send(np.ones(1), 1)
            else:
                comm.Recv(np.zeros(1, "i8"))

        (one,) = fakempi.run(main, 2, backend=backend, schedule="z:0").findings
        pattern = rf"datatype-mismatch: rank 1: Recv at {HERE}:\d+: takes 1 int64, but rank 0 sent 1 float64 at {HERE}:\d+"
        assert re.fullmatch(pattern, str(one))
