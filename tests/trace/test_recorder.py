"""The contents of a trace."""

from __future__ import annotations

import inspect
from importlib.util import find_spec
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import collectives
import fakempi
from fakempi import MPI, Hockney, LogGP, compute, phantom
from fakempi.trace.record import RecordedTransfer, Trace

BACKENDS = ["greenlets", "threads"] if find_spec("greenlet") else ["threads"]
UNIT = Hockney(t_s=0, t_w=1, eager_limit=0)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each call in turn."""
    return str(request.param)


def traced(main: Any, ranks: int, backend: Any = BACKENDS[0], args: Any = (), **options: Any) -> Trace:
    """The trace of a run."""
    trace = fakempi.run(main, ranks, *args, trace=True, backend=backend, **options).trace
    assert trace is not None
    return trace


def line_of(function: Any, words: str) -> int:
    """The line in a function with this text."""
    lines, first = inspect.getsourcelines(function)
    (found,) = (index for index, line in enumerate(lines) if words in line)
    return first + found


def test_a_transfer_has_both_sides(backend: Any) -> None:
    """Times of send, receive, start and end, and the places of both calls."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            compute(5)
            comm.Send(phantom(10), 1, tag=7)
        else:
            compute(2)
            comm.Recv(phantom(10), 0)

    trace = traced(main, 2, backend, cost=UNIT)
    (one,) = trace.transfers
    assert one[:5] == (0, 1, 7, 10, 1)
    assert (one.posted, one.awaited, one.start, one.sent, one.arrived, one.region) == (5, 2, 5, 15, 15, -1)
    assert trace.calls[one.call] == ("Send", __file__, line_of(main, "comm.Send"))
    assert trace.calls[one.receive_call] == ("Recv", __file__, line_of(main, "comm.Recv"))
    assert str(trace.calls[one.call]) == f"Send at test_recorder.py:{line_of(main, 'comm.Send')}"


@pytest.mark.parametrize("cost", [Hockney(0, 1), UNIT, LogGP(L=3, o=1, g=1, G=1)], ids=repr)
def test_calls_on_one_line_have_that_line(cost: Any, backend: Any) -> None:
    """For any path of the message, and for any depth of the call below the line."""

    def main(comm: Any) -> None:
        other = comm.rank ^ 1
        for _ in range(3):
            comm.Sendrecv(phantom(8), other, 1, phantom(8), other, 1)
            requests = [comm.Irecv(phantom(8), other, 2)]
            requests.append(comm.Isend(phantom(8), other, 2))
            MPI.Request.Waitall(requests)
            comm.sendrecv("object", other, 3, None, other, 3)
            collectives.find("allgather", "ring").run(comm, phantom(8), phantom(16), tag=4)

    trace = traced(main, 2, backend, cost=cost)
    where = {1: ("Sendrecv", "Sendrecv"), 2: ("Isend", "Irecv"), 3: ("sendrecv", "sendrecv"), 4: ("allgather_ring",) * 2}
    words = {"Sendrecv": "comm.Sendrecv", "Isend": "comm.Isend", "Irecv": "comm.Irecv", "sendrecv": "comm.sendrecv"}
    words["allgather_ring"] = "collectives.find"
    assert len(trace) == 24
    for one in trace.transfers:
        for number, name in zip((one.call, one.receive_call), where[one.tag], strict=True):
            assert trace.calls[number] == (name, __file__, line_of(main, words[name]))


def test_an_algorithm_called_from_different_depths_is_found_each_time(backend: Any) -> None:
    """Also if no frame of a program is on the stack."""
    ring = collectives.find("allgather", "ring")

    def deep(comm: Any, more: int) -> None:
        if more:
            deep(comm, more - 1)
        else:
            comm.Allgather(phantom(8), phantom(16))
            ring.run(comm, phantom(8), phantom(16))  # from deep

    def main(comm: Any) -> None:
        ring.run(comm, phantom(8), phantom(16))  # from main
        deep(comm, 5)
        ring.run(comm, phantom(8), phantom(16))  # from main again

    trace = traced(main, 2, backend, algorithms={"allgather": "ring"})
    assert [trace.calls[one.call].line for one in trace.transfers if one.source == 0] == [
        line_of(main, "# from main\n"),
        line_of(deep, "comm.Allgather"),
        line_of(deep, "# from deep"),
        line_of(main, "# from main again"),
    ]
    directly = traced(ring.run, 2, backend, args=(phantom(8), phantom(16)))
    assert {str(directly.calls[one.call]) for one in directly.transfers} == {"?"}


def test_a_send_after_half_a_sendrecv_has_its_own_line(backend: Any) -> None:
    """A call that sends and receives is looked up once; if it only receives, or only sends, the next call is another one."""

    def main(comm: Any) -> None:
        null = MPI.PROC_NULL
        if comm.rank == 0:
            comm.Sendrecv(phantom(8), null, 0, phantom(8), 1, 0)  # only receives
            comm.Send(phantom(8), 1)  # sends
        else:
            comm.Sendrecv(phantom(8), 0, 0, phantom(8), null, 0)  # only sends
            comm.Recv(phantom(8), 0)  # receives

    trace = traced(main, 2, backend, cost=Hockney(0, 0))
    words = [("# only sends", "# only receives"), ("# sends", "# receives")]
    assert [(trace.calls[one.call].line, trace.calls[one.receive_call].line) for one in trace.transfers] == [
        (line_of(main, sends), line_of(main, receives)) for sends, receives in words
    ]


def test_a_repeated_collective_call_looks_like_the_first(backend: Any) -> None:
    """From the same line, and from a function that the same line calls."""

    def main(comm: Any) -> None:
        def deeper(*buffers: Any) -> None:
            comm.Allreduce(*buffers)  # deeper

        for call in (comm.Allreduce, deeper, deeper, comm.Allreduce, comm.Allreduce):
            call(phantom(8), phantom(8))  # here

    trace = traced(main, 2, backend)
    here, deeper = (("Allreduce", line_of(main, words)) for words in ("# here", "# deeper"))
    for rank in range(2):
        mine = [one for one in trace.regions if one.rank == rank]
        assert [trace.calls[one.call][::2] for one in mine] == [here, deeper, deeper, here, here]
        assert [one.number for one in mine] == [1, 2, 3, 4, 5]
        assert len({(one.name, one.algorithm, one.nbytes, one.context, one.root, one.parent) for one in mine}) == 1
    assert {one.call for one in trace.transfers} == {one.call for one in trace.regions}


def test_a_message_without_a_receive(backend: Any) -> None:
    """It has no receive time; for one that arrives first, the receive time is later than the arrival."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(phantom(3), 1, tag=1)
            comm.Send(phantom(3), 1, tag=2)
        else:
            compute(100)
            comm.Recv(phantom(3), 0, tag=2)

    trace = traced(main, 2, backend, cost=Hockney(0, 1))
    assert [(one.tag, one.start, one.arrived, one.awaited) for one in trace.transfers] == [(1, 0, 3, inf), (2, 3, 6, 100)]


def test_a_probed_message_is_awaited_when_it_is_received(backend: Any) -> None:
    """At the line of the receive."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(phantom(3), 1)
        else:
            message = comm.Mprobe()
            compute(10)
            message.Recv(phantom(3))

    trace = traced(main, 2, backend, cost=Hockney(0, 1))
    (one,) = trace.transfers
    assert (one.awaited, trace.calls[one.receive_call].line) == (13, line_of(main, "message.Recv"))


def test_computing_is_recorded(backend: Any) -> None:
    """By `compute`, and by reductions."""

    def main(comm: Any) -> None:
        compute(2)
        MPI.SUM.Reduce_local(phantom(10), phantom(10))

    trace = traced(main, 1, backend, cost=Hockney(0, 1, compute_per_byte=3))
    assert [(one.rank, one.start, one.end) for one in trace.computes] == [(0, 0, 2), (0, 2, 32)]
    assert [trace.calls[one.call].line for one in trace.computes] == [line_of(main, "compute(2)"), line_of(main, "SUM")]


def test_collectives_are_regions_around_their_messages(backend: Any) -> None:
    """With name and algorithm, inside the regions of the program."""

    def main(comm: Any) -> None:
        with fakempi.region("setup"):
            compute(1)
            comm.Bcast(phantom(8), root=2)
        comm.Barrier()

    trace = traced(main, 3, backend, cost=UNIT, algorithms={"bcast": "linear", "barrier": "dissemination"})
    mine = [one for one in trace.regions if one.rank == 0]
    assert [(one.name, one.algorithm, one.root) for one in mine] == [
        ("setup", "", -1),
        ("bcast", "linear", 2),
        ("barrier", "dissemination", -1),
    ]
    setup, bcast, barrier = mine
    assert setup.start <= bcast.start <= bcast.end <= setup.end <= barrier.start <= barrier.end == trace.clocks[0]
    regions = list(trace.regions)
    assert regions[bcast.parent] == setup
    assert (setup.parent, barrier.parent) == (-1, -1)
    assert trace.calls[bcast.call] == ("Bcast", __file__, line_of(main, "comm.Bcast"))
    # One call on one communicator has one number, on all ranks.
    assert {(one.context, one.number) for one in regions if one.name == "bcast"} == {(1, 1)}
    assert {(one.context, one.number) for one in regions if one.name == "barrier"} == {(1, 2)}
    for one in trace.transfers:
        region = regions[one.region]
        assert region.rank == one.source
        assert one.call == region.call


def test_a_nonblocking_collective_has_a_separate_lane(backend: Any) -> None:
    """It overlaps with other work of its rank."""

    def main(comm: Any) -> None:
        request = comm.Ibarrier()
        compute(100)
        request.Wait()

    trace = traced(main, 2, backend, cost=UNIT)
    assert len({one.lane for one in trace.regions} - {0}) == 2
    assert {str(trace.calls[one.call]) for one in trace.transfers} == {
        f"Ibarrier at test_recorder.py:{line_of(main, 'Ibarrier')}"
    }


def test_without_a_trace_a_region_has_no_effect() -> None:
    """The program need not know."""

    def main(comm: Any) -> str:
        with fakempi.region("here"):
            return "done"

    run = fakempi.run(main, 2)
    assert (run.returns, run.trace) == (["done"] * 2, None)


def test_a_message_takes_no_more_than_120_bytes() -> None:
    """In total; no objects are kept."""

    def main(comm: Any) -> None:
        for _ in range(50):
            comm.Sendrecv(phantom(8), (comm.rank + 1) % comm.size, 0, phantom(8), (comm.rank - 1) % comm.size, 0)

    trace = traced(main, 20)
    assert trace.nbytes / len(trace) <= 120


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 50)), max_size=20))
def test_records_are_the_rows(messages: list[tuple[int, int, int]]) -> None:
    """By index, by slice, from the end, and by iteration."""

    def main(comm: Any) -> None:
        requests = [comm.Irecv(phantom(50), source, 1) for source, dest, _ in messages if dest == comm.rank]
        requests += [comm.Isend(phantom(size), dest, 1) for source, dest, size in messages if source == comm.rank]
        MPI.Request.Waitall(requests)

    trace = traced(main, 4, cost=Hockney(0, 1))
    transfers = trace.transfers
    assert len(transfers) == len(trace) == len(messages)
    assert [transfers[i] for i in range(len(transfers))] == list(transfers) == transfers[:]
    assert transfers == list(transfers)
    assert sorted((one.source, one.dest, one.nbytes) for one in transfers) == sorted(messages)
    assert [one.start for one in transfers] == sorted(one.start for one in transfers)
    for one in transfers:
        assert isinstance(one, RecordedTransfer)
        assert one.posted <= one.start <= one.sent <= one.arrived
    if transfers:
        assert transfers[-1] == list(transfers)[-1]


def test_both_backends_give_the_same_trace() -> None:
    """Everything, including the places in the program."""

    def main(comm: Any) -> None:
        with fakempi.region("one"):
            comm.allgather("x" * comm.rank)
        comm.Ibarrier().Wait()
        comm.Allreduce(phantom(80), phantom(80))

    first, *others = (traced(main, 5, backend, cost=Hockney(1, 1, compute_per_byte=1)) for backend in BACKENDS)
    assert all(other == first for other in others)
    assert first != traced(main, 4)
