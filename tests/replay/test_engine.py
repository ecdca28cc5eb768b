"""Replays of programs whose modeled time is known in closed form, written as recordings by the tests themselves.

The costs are powers of two, so times are exact.
"""

from __future__ import annotations

from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.apps.replay.engine import ReplayOutcome, replay
from fakempi.errors.recordings import RecordingError
from fakempi.recordings.events import ANY
from fakempi.recordings.recording import RecordingBuilder

T_S, T_W = 2.0**-20, 2.0**-30
COST = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=0)
M = 4096
MESSAGE = T_S + M * T_W


def replayed(builder: RecordingBuilder, **options: Any) -> ReplayOutcome:
    """Replay what a builder has, with the exact cost model."""
    return replay(builder.finish(), **{"cost": COST, **options})


def test_a_ring_takes_a_message_per_step() -> None:
    """Each rank sends to its right neighbor and receives from its left one, p - 1 times."""
    p = 5
    builder = RecordingBuilder(p, "ring")
    for rank in range(p):
        for _ in range(p - 1):
            builder.rank(rank).sendrecv((rank + 1) % p, 3, M, (rank - 1) % p, 3, M)
    outcome = replayed(builder)
    assert outcome.seconds == (p - 1) * MESSAGE
    assert (outcome.messages, outcome.nbytes) == (p * (p - 1), p * (p - 1) * M)


def test_a_binomial_tree_takes_a_message_per_level() -> None:
    """Blocking sends and receives."""
    builder = RecordingBuilder(8, "tree")
    for step in (1, 2, 4):
        for rank in range(step):
            builder.rank(rank).send(rank + step, 0, M)
            builder.rank(rank + step).receive(rank, 0, M)
    assert replayed(builder).seconds == 3 * MESSAGE


def test_a_pipeline_fills_up() -> None:
    """k blocks through p ranks take p - 2 + k steps."""
    p, k = 4, 6
    builder = RecordingBuilder(p, "pipeline")
    for rank in range(p):
        for _ in range(k):
            if rank > 0:
                builder.rank(rank).receive(rank - 1, 0, M)
            if rank < p - 1:
                builder.rank(rank).send(rank + 1, 0, M)
    assert replayed(builder).seconds == (p - 2 + k) * MESSAGE + (k - 1) * MESSAGE  # a blocking rank receives or sends


def test_computing_overlaps_with_nonblocking_messages() -> None:
    """The longer of the two counts, and twice the speed halves the computing only."""
    builder = RecordingBuilder(2, "overlap")
    for rank in range(2):
        writer = builder.rank(rank)
        writer.receive(1 - rank, 5, M, request="r")
        writer.send(1 - rank, 5, M, request="s")
        writer.compute(1.5 * MESSAGE)
        writer.wait(["s", "r"])
        writer.compute(MESSAGE)
    recording = builder.finish()
    outcome = replay(recording, COST)
    assert outcome.seconds == 2.5 * MESSAGE
    assert outcome.computing == 5 * MESSAGE
    assert replay(recording, COST, scale=2.0).seconds == 1.5 * MESSAGE


def test_a_wildcard_receive_takes_the_recorded_message() -> None:
    """Also if another one would arrive earlier in the model."""
    builder = RecordingBuilder(3, "wildcard")
    first = builder.rank(0)
    first.receive(ANY, ANY, M, request="r")
    first.matched("r", 2, 9)
    first.wait(["r"])
    first.receive(1, 9, M)
    builder.rank(1).send(0, 9, M)
    builder.rank(2).compute(1.0)
    builder.rank(2).send(0, 9, M)
    outcome = replayed(builder)
    assert outcome.seconds == 1.0 + 2 * MESSAGE
    assert list(outcome.clocks) == [1.0 + 2 * MESSAGE, 1.0 + 2 * MESSAGE, 1.0 + MESSAGE]


def test_an_unknown_source_is_a_wildcard() -> None:
    """A receive that the recording could not match takes what arrives first."""
    builder = RecordingBuilder(3, "wildcard")
    for _ in range(2):
        builder.rank(0).receive(ANY, ANY, M)
    builder.rank(1).send(0, 9, M)
    builder.rank(2).compute(1.0)
    builder.rank(2).send(0, 8, M)
    assert replayed(builder).seconds == 1.0 + MESSAGE


def test_two_communicators_have_separate_messages() -> None:
    """Equal sources and tags do not match across communicators, and ranks are those of the communicator."""
    builder = RecordingBuilder(4, "two")
    reverse = builder.communicator([3, 2, 1, 0])
    pairs = [builder.communicator([0, 2]), builder.communicator([1, 3])]
    builder.rank(0).send(1, 7, M, request="a")
    builder.rank(0).send(2, 7, 2 * M, reverse, request="b")  # the world's rank 1
    builder.rank(0).wait(["a", "b"])
    builder.rank(1).receive(3, 7, 2 * M, reverse)
    builder.rank(1).receive(0, 7, M)
    for rank in range(4):
        builder.rank(rank).collective("bcast", pairs[rank % 2], M, root=1)
    outcome = replayed(builder, algorithms={"bcast": "binomial"})
    # The first send waits for its receive, and does not hold up the second one.
    assert outcome.clocks[0] == T_S + 2 * M * T_W + 2 * MESSAGE
    assert outcome.clocks[2:] == [outcome.clocks[0], outcome.clocks[1]]


def test_an_intercommunicator_connects_two_groups() -> None:
    """A rank is one of the other group."""
    builder = RecordingBuilder(3, "inter")
    between = builder.communicator([0, 1], [2])
    builder.rank(1).send(0, 7, M, between)
    builder.rank(2).receive(1, 7, M, between)
    outcome = replayed(builder)
    assert list(outcome.clocks) == [0.0, MESSAGE, MESSAGE]


def test_a_synchronous_send_waits_and_a_buffered_one_does_not() -> None:
    """With a large eager limit, a standard send does not wait either."""
    for mode, end in (("synchronous", 1.0 + MESSAGE), ("standard", MESSAGE), ("buffered", MESSAGE)):
        builder = RecordingBuilder(2, mode)
        builder.rank(0).send(1, 0, M, mode=mode)
        builder.rank(1).compute(1.0)
        builder.rank(1).receive(0, 0, M)
        assert replayed(builder, cost=fakempi.Hockney(T_S, T_W, eager_limit=M)).clocks[0] == end


def test_a_buffered_send_does_not_wait_without_eager_messages() -> None:
    """Both ranks send first, and compute while the messages travel."""
    builder = RecordingBuilder(2, "bsend")
    for rank in range(2):
        builder.rank(rank).send(1 - rank, 0, M, mode="buffered")
        builder.rank(rank).compute(1.0)
        builder.rank(rank).receive(1 - rank, 0, M)
    assert replayed(builder).seconds == 1.0


def test_one_rank_and_no_bytes() -> None:
    """Calls on one rank take no time, and messages without bytes take the start-up time."""
    builder = RecordingBuilder(1, "one")
    builder.rank(0).compute(0.5)
    for name in ("barrier", "bcast", "allreduce", "alltoall", "scan", "create"):
        builder.rank(0).collective(name, nbytes=0 if name in ("barrier", "create") else 800)
    builder.rank(0).send(0, 1, 0, request=1)
    builder.rank(0).receive(0, 1, 0)
    builder.rank(0).wait([1])
    assert replayed(builder).seconds == 0.5 + T_S
    assert replayed(RecordingBuilder(3, "nothing")).seconds == 0


def test_no_partner_takes_no_time() -> None:
    """PROC_NULL on either side."""
    builder = RecordingBuilder(2, "null")
    builder.rank(0).send(-1, 0, M)
    builder.rank(0).receive(-1, 0, M)
    builder.rank(0).sendrecv(-1, 0, M, -1, 0, M)
    builder.rank(0).send(-1, 0, M, request=1)
    builder.rank(0).wait([1])
    assert replayed(builder).seconds == 0


SIZES = [8, 0, 24, 16]
"""Unequal counts in bytes, of elements of 8 bytes."""


def program(name: str, comm: Any) -> None:
    """The call of an operation as a program makes it, with 64 bytes or unequal counts."""
    p, rank, root = comm.size, comm.rank, 2
    vector = [fakempi.phantom(sum(SIZES), 8), [size // 8 for size in SIZES]]
    block, whole, mine = fakempi.phantom(64, 8), fakempi.phantom(64 * p, 8), fakempi.phantom(SIZES[rank], 8)
    calls: dict[str, Any] = {
        "barrier": lambda: comm.Barrier(),
        "bcast": lambda: comm.Bcast(block, root),
        "gather": lambda: comm.Gather(block, whole if rank == root else None, root),
        "gatherv": lambda: comm.Gatherv(mine, vector if rank == root else None, root),
        "scatter": lambda: comm.Scatter(whole if rank == root else None, block, root),
        "scatterv": lambda: comm.Scatterv(vector if rank == root else None, mine, root),
        "allgather": lambda: comm.Allgather(block, whole),
        "allgatherv": lambda: comm.Allgatherv(mine, vector),
        "alltoall": lambda: comm.Alltoall(whole, fakempi.phantom(64 * p, 8)),
        "alltoallv": lambda: comm.Alltoallv(
            [fakempi.phantom(4 * SIZES[rank], 8), [SIZES[rank] // 8] * 4], vector
        ),
        "reduce": lambda: comm.Reduce(block, fakempi.phantom(64, 8) if rank == root else None, MPI.SUM, root),
        "allreduce": lambda: comm.Allreduce(block, fakempi.phantom(64, 8), MPI.SUM),
        "reduce_scatter_block": lambda: comm.Reduce_scatter_block(whole, block, MPI.SUM),
        "reduce_scatter": lambda: comm.Reduce_scatter(vector[0], mine, vector[1], MPI.SUM),
        "scan": lambda: comm.Scan(block, fakempi.phantom(64, 8), MPI.SUM),
        "exscan": lambda: comm.Exscan(block, fakempi.phantom(64, 8), MPI.SUM),
        "create": lambda: comm.Split(0, 0).Free(),
    }  # fmt: skip
    fakempi.compute(rank * T_S)
    calls[name]()


COUNTS = {"allgatherv": SIZES, "reduce_scatter": SIZES}


@pytest.mark.parametrize("nonblocking", [False, True])
@pytest.mark.parametrize("name", ["barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather",
    "allgatherv", "alltoall", "alltoallv", "reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan",
    "create"])  # fmt: skip
def test_a_collective_call_takes_the_time_of_the_same_call_in_a_program(name: str, nonblocking: bool) -> None:
    """Also with ranks that call at different times, unequal counts and a root other than 0."""
    p, root = 4, 2
    builder = RecordingBuilder(p, name)
    for rank in range(p):
        counts = COUNTS.get(name, SIZES if name in ("gatherv", "scatterv") and rank == root else [])
        if name == "alltoallv":
            counts = [SIZES[rank]] * 4 + SIZES
        nbytes = SIZES[rank] if name in ("gatherv", "scatterv", "allgatherv") else 0 if name in ("barrier", "create") else 64
        writer = builder.rank(rank)
        writer.compute(rank * T_S)
        start = nonblocking and name != "create"
        writer.collective(name, 0, nbytes, root=root, counts=counts, itemsize=8, request="x" if start else None)
        writer.wait(["x"])
    cost = fakempi.Hockney(T_S, T_W, eager_limit=0, compute_per_byte=2.0**-32)
    expected = fakempi.run(lambda comm: program(name, comm), p, cost=cost)
    outcome = replayed(builder, cost=cost)
    assert outcome.clocks == [float(clock) for clock in expected.clocks]
    assert (outcome.messages, outcome.nbytes) == (expected.messages, expected.bytes)
    if name != "create":
        [site] = outcome.sites
        assert (site.operation, site.ranks, site.calls) == (name, p, p)
        assert site.seconds == pytest.approx(sum(outcome.clocks) - sum(rank * T_S for rank in range(p)))


def test_a_reduction_that_is_not_commutative_gets_an_algorithm_that_keeps_the_order() -> None:
    """Forcing another one is an error."""
    builder = RecordingBuilder(5, "order")
    for rank in range(5):
        builder.rank(rank).collective("allreduce", 0, M, itemsize=8, commutative=False)
    recording = builder.finish()
    assert replay(recording, COST).seconds > 0
    with pytest.raises(RecordingError, match="order: rank 0, event 0: allreduce: .*ring was requested"):
        replay(recording, COST, {"allreduce": "ring"})


def test_algorithms_and_machines_change_the_time() -> None:
    """A broadcast by the linear algorithm is p - 1 messages, by a binomial tree log2 p."""
    builder = RecordingBuilder(8, "bcast")
    for rank in range(8):
        builder.rank(rank).collective("bcast", 0, M, site="work.py:7")
    recording = builder.finish()
    assert replay(recording, COST, {"bcast": "linear"}).seconds == 7 * MESSAGE
    assert replay(recording, COST, {"bcast": "binomial"}).seconds == 3 * MESSAGE
    assert replay(recording, "hockney:t_s=1,t_w=0,eager_limit=0", {"bcast": "binomial"}).seconds == 3


def test_traces_have_the_recorded_call_sites() -> None:
    """Messages and collective calls are from the lines of the recorded program."""
    builder = RecordingBuilder(4, "sites")
    for rank in range(4):
        builder.rank(rank).collective("barrier", site="src/work.py:17")
    builder.rank(0).send(1, 0, 8, site="src/work.py:18")
    builder.rank(1).receive(0, 0, 8, site="0x4001")
    trace = replayed(builder, trace=True).trace
    assert trace is not None
    assert {"Barrier at work.py:17", "Send at work.py:18"} <= set(map(str, trace.calls))


def test_a_deadlock_names_the_events() -> None:
    """A message is missing in the recording, or was buffered by the recorded machine."""
    builder = RecordingBuilder(2, "dead.trace")
    for rank in range(2):
        builder.rank(rank).send(1 - rank, 4, M, site=f"work.py:{rank + 3}")
        builder.rank(rank).receive(1 - rank, 4, M)
    recording = builder.finish()
    with pytest.raises(RecordingError) as error:
        replay(recording, COST)
    assert str(error.value).splitlines()[:3] == [
        "dead.trace: the replay deadlocks: 2 ranks blocked.",
        "  rank 0: event 0: send, 4,096 bytes, other side 1, tag 4 at work.py:3",
        "  rank 1: event 0: send, 4,096 bytes, other side 0, tag 4 at work.py:4",
    ]
    assert "eager_limit" in str(error.value)
    assert replay(recording, fakempi.Hockney(T_S, T_W, eager_limit=M)).seconds == MESSAGE


def test_messages_that_no_rank_receives_are_counted() -> None:
    """The recording of a rank was cut off."""
    builder = RecordingBuilder(2, "lost")
    builder.rank(0).send(1, 4, 8, request="x")
    assert replayed(builder).unmatched == 1


def test_the_progress_counts_all_events() -> None:
    """Each event once."""
    builder = RecordingBuilder(3, "events")
    for rank in range(3):
        for _ in range(100):
            builder.rank(rank).collective("barrier")
    counted: list[int] = []
    replayed(builder, advance=counted.append)
    assert sum(counted) == 303
