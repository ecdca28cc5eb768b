"""Waits for messages in random programs, compared with a definition that looks at one moment at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, Hockney, LogGP, compute, phantom
from fakempi.trace.columns import COMPUTES, REGIONS, SYNCHRONOUS, TRANSFERS, Columns
from fakempi.trace.measures import Measures
from fakempi.trace.record import Trace
from fakempi.trace.waits import ENDED_EARLY, waits


class Sent(NamedTuple):
    """A message: its ends, its size, how it is sent, and what both ranks do before and after they post it."""

    source: int
    dest: int
    nbytes: int
    synchronous: bool
    before: tuple[int, int]  # seconds of computing
    wait: tuple[str, str]  # "", "all" or "any": a call that waits for messages posted so far


RANKS = 3
SECONDS, WAITS = st.sampled_from([0, 0, 0, 1, 7]), st.sampled_from(["", "all", "any"])
ENDS = st.sampled_from([(source, dest) for source in range(RANKS) for dest in range(RANKS) if source != dest])
MESSAGES = st.lists(
    st.builds(
        lambda ends, *others: Sent(*ends, *others), ENDS, st.integers(0, 4), st.sampled_from([False, False, True]),
        st.tuples(SECONDS, SECONDS), st.tuples(WAITS, WAITS),
    ),
    min_size=2, max_size=12,
)  # fmt: skip
COSTS = st.sampled_from([
    Hockney(0, 1, eager_limit=0), Hockney(1, 1, eager_limit=2), Hockney(0, 1), Hockney(1, 1, duplex=False),
    Hockney(0, 1, ports=2), LogGP(L=3, o=1, g=2, G=1, eager_limit=2),
])  # fmt: skip


def performed(messages: list[Sent], log: list[list[Any]], comm: Any) -> None:
    """Post all messages of a rank in order, and wait; log each wait: its begin, its end, and the numbers of its messages."""
    pending: dict[int, Any] = {}

    def wait(how: str) -> None:
        begin, numbers, requests = MPI.Wtime(), list(pending), list(pending.values())
        if how == "all":
            MPI.Request.Waitall(requests)
            pending.clear()
        elif requests:
            del pending[numbers[MPI.Request.Waitany(requests)]]
        log[comm.rank].append((begin, MPI.Wtime(), numbers))
        compute(1)  # so that the next wait is another one

    for number, message in enumerate(messages):
        for side, rank in enumerate((message.source, message.dest)):
            if rank == comm.rank:
                compute(message.before[side])
                if side:
                    pending[number] = comm.Irecv(phantom(message.nbytes), message.source, number)
                else:
                    send = comm.Issend if message.synchronous else comm.Isend
                    pending[number] = send(phantom(message.nbytes), message.dest, number)
                if message.wait[side]:
                    wait(message.wait[side])
    wait("all")


def possible(trace: Trace, rank: int, time: float, end: float, numbers: list[int]) -> set[tuple[str, int]]:
    """The states and calls of a rank that waits at a time, until the end of the wait; several if messages end together."""
    states = set()
    for one in trace.transfers:
        if one.tag not in numbers:
            continue
        sends = one.source == rank
        own, done = (one.posted, one.sent) if sends else (one.awaited, max(one.arrived, one.awaited))
        if own <= time and done == end:
            late = sends and one.protocol == SYNCHRONOUS and time < one.awaited
            other = "late receiver" if late else "late sender" if not sends and time < one.posted else "port contention"
            states.add((other, one.call if sends else one.receive_call))
    return states


@given(MESSAGES, COSTS)
def test_waits_for_messages_are_those_of_the_definition(messages: list[Sent], cost: Any) -> None:
    """A rank in Waitall or Waitany waits for the message that ends its wait: the other side is late, or a port is busy."""
    log: list[list[Any]] = [[] for _ in range(RANKS)]
    trace = fakempi.run(lambda comm: performed(messages, log, comm), RANKS, cost=cost, trace=True).trace
    assert trace is not None
    found = [wait for wait in waits(trace) if wait.state != ENDED_EARLY]
    for wait in found:
        ((_, end, numbers),) = [one for one in log[wait.rank] if one[0] <= wait.start and wait.end <= one[1]]
        for time in (wait.start, (wait.start + wait.end) / 2):
            assert (wait.state, wait.call) in possible(trace, wait.rank, time, end, numbers)
    spent = np.bincount([wait.rank for wait in found], [wait.end - wait.start for wait in found], RANKS)
    assert (spent + np.array(trace.time - np.array(trace.clocks)) == trace.measure().idle).all()


NUMBERS = st.integers(0, 8)


ROWS = st.lists(st.tuples(*[NUMBERS] * 6, st.integers(0, 2), st.booleans()), max_size=12)


@given(ROWS, st.lists(NUMBERS, min_size=3, max_size=3))
def test_any_consistent_times_are_classified_completely(rows: list[Any], clocks: list[int]) -> None:
    """A transfer starts at any time after it was posted: ports, links and latency may delay it."""
    transfers = np.zeros(len(rows), TRANSFERS.dtype)
    for row, (source, posted, delay, sent, arrived, awaited, protocol, received) in zip(transfers, rows, strict=True):
        row["source"], row["dest"] = source % 3, (source + 1 + delay % 2) % 3
        row["posted"], row["start"], row["protocol"] = posted, posted + delay, protocol
        row["sent"], row["arrived"] = posted + delay + sent, posted + delay + arrived
        row["awaited"], row["receive_call"] = (awaited, 1) if received else (np.inf, 0)
    calls = [("", "", 0), ("Recv", "work.py", 3)]
    trace = Columns(clocks, calls, [""], transfers, np.zeros(0, COMPUTES.dtype), np.zeros(0, REGIONS.dtype))
    spent, reached = np.zeros(3), np.zeros(3)
    for wait in waits(trace):
        assert reached[wait.rank] <= wait.start < wait.end
        reached[wait.rank], spent[wait.rank] = wait.end, spent[wait.rank] + wait.end - wait.start
    assert (spent == Measures(trace).idle).all()
