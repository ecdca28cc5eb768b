"""The deadlock report, created from records alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakempi.core.reports.deadlock import (
    LINES,
    ReportText,
    Unreceived,
    find_cycle,
    report,
)
from fakempi.core.reports.ranks import Names
from fakempi.errors import DeadlockError, LivelockError
from fakempi.errors.records import AwaitedEvent, BlockedRank, NearMiss
from tests.helpers.breadth import examples


def waits_for(rank: int, *peers: int, any_suffices: bool = False, size: int = 0) -> BlockedRank:
    """A rank in Recv that waits for messages from several others."""
    events = tuple(AwaitedEvent("receive", peer, 7, size=size, awaits=(peer,)) for peer in peers)
    return BlockedRank(rank, "Recv", "ring.py:14", 2.5, events, any_suffices)


def test_two_ranks_have_two_lines_and_a_cycle() -> None:
    """After the verdict and the time."""
    error = report([waits_for(0, 1), waits_for(1, 0)], 2, 2.5)
    assert type(error) is DeadlockError
    assert str(error).splitlines() == [
        "deadlock at t = 2.5 s: 2 of 2 ranks are blocked, and nothing can wake them.",
        "  rank 0: Recv(source=1, tag=7) at ring.py:14, since t = 2.5",
        "  rank 1: Recv(source=0, tag=7) at ring.py:14, since t = 2.5",
        "  cycle: 0 → 1 → 0",
    ]
    assert (error.cycle, error.time, len(error.blocked)) == ([0, 1], 2.5, 2)


def test_a_single_blocked_rank() -> None:
    """Singular forms; a peer that is not blocked has ended."""
    assert str(report([waits_for(0, 3)], 4, 0)).splitlines() == [
        "deadlock at t = 0 s: 1 of 4 ranks is blocked, and nothing can wake it.",
        "  rank 0: Recv(source=3, tag=7) at ring.py:14, since t = 2.5; rank 3 has ended",
    ]


@pytest.mark.quick(1)
@pytest.mark.parametrize("size", [1000, 4096])
def test_ranks_that_wait_for_the_same_rank_share_a_line(size: int) -> None:
    """For any number of ranks."""
    blocked = [waits_for(rank, 0, size=size) for rank in range(1, size)]
    assert str(report(blocked, size, 1e-6)).splitlines() == [
        f"deadlock at t = 1e-06 s: {size - 1} of {size} ranks are blocked, and nothing can wake them.",
        f"  ranks 1-{size - 1}: Recv(source=0, tag=7) at ring.py:14, since t = 2.5; rank 0 has ended",
    ]


@pytest.mark.parametrize("size", [1000, 4096])
def test_ranks_that_wait_for_their_neighbors_share_a_line(size: int) -> None:
    """Also across the ends."""
    blocked = [waits_for(rank, (rank - 1) % size, size=size) for rank in range(size)]
    assert str(report(blocked, size, 0)).splitlines() == [
        f"deadlock at t = 0 s: {size} of {size} ranks are blocked, and nothing can wake them.",
        f"  ranks 0-{size - 1}: Recv(source=rank-1, tag=7) at ring.py:14, since t = 2.5",
        f"  cycle: 0 → {size - 1} → {size - 2} → {size - 3} → … → 2 → 1 → 0 ({size} ranks)",
    ]


def test_ranks_that_have_waited_for_different_times_share_a_line() -> None:
    """The line has the first and the last time."""
    blocked = [BlockedRank(rank, "Recv", "a.py:1", rank / 2, (AwaitedEvent("receive"),)) for rank in (3, 1, 2)]
    assert "  ranks 1-3: Recv(source=ANY, tag=ANY) at a.py:1, since t = 0.5 to 1.5" in str(report(blocked, 4, 9))


def test_ranks_at_different_lines_of_the_program_do_not_share_a_line() -> None:
    """Different calls do not either."""
    blocked = [
        BlockedRank(0, "Recv", "a.py:1", 0, (AwaitedEvent("receive"),)),
        BlockedRank(1, "Recv", "a.py:2", 0, (AwaitedEvent("receive"),)),
        BlockedRank(2, "Probe", "a.py:2", 0, (AwaitedEvent("receive"),)),
    ]
    assert [line.split(" at ")[0] for line in str(report(blocked, 3, 0)).splitlines()[1:]] == [
        "  rank 0: Recv(source=ANY, tag=ANY)",
        "  rank 1: Recv(source=ANY, tag=ANY)",
        "  rank 2: Probe(source=ANY, tag=ANY)",
    ]


def test_sends_rendezvous_and_several_waits_have_their_own_text() -> None:
    """At most three of many."""
    send = AwaitedEvent("send", 1, 3, 800, where=" on communicator 2 (2 ranks)", awaits=(1,))
    meeting = AwaitedEvent("collective", awaits=(1, 2, 4))
    many = tuple(AwaitedEvent("receive", peer, None, awaits=(peer,)) for peer in (5, 6, 7, 8, 9))
    blocked = [
        BlockedRank(0, "Send", "a.py:1", 0, (send,)),
        BlockedRank(3, "Split", "a.py:2", 0, (meeting,)),
        BlockedRank(5, "Waitall", "a.py:3", 0, many),
        BlockedRank(6, "Waitany", "a.py:4", 0, many[:2], any_suffices=True),
    ]
    assert [line.split(" at ")[0] for line in str(report(blocked, 10, 0)).splitlines()[1:5]] == [
        "  rank 0: Send(dest=1, tag=3, 800 bytes on communicator 2 (2 ranks))",
        "  rank 3: Split(waits for ranks 1-2 and 4)",
        "  rank 5: Waitall(source=5, tag=ANY; source=6, tag=ANY; source=7, tag=ANY; and 2 more)",
        "  rank 6: Waitany(source=5, tag=ANY or source=6, tag=ANY)",
    ]


def test_a_livelock_is_a_deadlock_with_another_verdict() -> None:
    """And another class."""
    error = report([BlockedRank(0, "Iprobe", "a.py:1", 0, ())], 1, 3, polling=True)
    assert type(error) is LivelockError
    assert str(error).splitlines() == [
        "livelock at t = 3 s: the only rank polls without success or is blocked, and nothing can change that.",
        "  rank 0: Iprobe() at a.py:1, since t = 0",
    ]


def test_near_misses_and_unreceived_messages_share_lines_too() -> None:
    """By their reason."""
    misses = [
        NearMiss(0, 5, 8, "but the receive expects tag 7"),
        *(NearMiss(rank, rank + 1, 9, "but the receive expects tag 7") for rank in range(3)),
    ]
    messages = [Unreceived(5, 0, 8, 40, ""), *(Unreceived(rank, 9, 1, 8, " on somewhere") for rank in (1, 2, 3))]
    assert str(report([waits_for(0, 5), waits_for(5, 0)], 10, 0, misses, messages)).splitlines()[4:] == [
        "  near miss: rank 0 has a message from rank 5 with tag 8, but the receive expects tag 7",
        "  near miss: ranks 0-2 have messages from ranks 1-3 with tag 9, but the receive expects tag 7",
        "  never received: a message from rank 5 to rank 0, tag 8, 40 bytes",
        "  never received: 3 messages from ranks 1-3 to rank 9, tag 1, 8 bytes on somewhere",
    ]


def test_a_report_stays_short_for_any_number_of_entries() -> None:
    """It counts the omitted ones."""
    events = [AwaitedEvent("receive", 0, rank, awaits=(0,)) for rank in range(1000)]
    blocked = [BlockedRank(rank, "Recv", f"a.py:{rank}", 0, (event,)) for rank, event in enumerate(events)]
    misses = [NearMiss(rank, 0, rank, "but") for rank in range(1000)]
    messages = [Unreceived(0, 1, rank, 8, "") for rank in range(1000)]
    lines = str(report(blocked, 1000, 0, misses, messages)).splitlines()
    assert len(lines) <= 2 + 3 * LINES
    assert {f"  ... and {1000 - LINES + 1} more {what}" for what in ("states", "near misses", "kinds")} <= set(lines)


def test_exact_times_are_formatted() -> None:
    """Fractions have no such format before Python 3.12."""
    third: Any = Fraction(1, 3)
    blocked = [BlockedRank(0, "Recv", "a.py:1", third, ()), BlockedRank(1, "Recv", "a.py:1", 2 * third, ())]
    assert str(report(blocked, 2, 2 * third)).splitlines() == [
        "deadlock at t = 0.666667 s: 2 of 2 ranks are blocked, and nothing can wake them.",
        "  ranks 0-1: Recv() at a.py:1, since t = 0.333333 to 0.666667",
    ]


def test_a_rendezvous_names_ranks_that_have_ended() -> None:
    """Like a receive."""
    blocked = [BlockedRank(rank, "Split", "a.py:1", 0, (AwaitedEvent("collective", awaits=(1,)),)) for rank in (0, 2)]
    assert str(report(blocked, 3, 0)).splitlines()[1] == (
        "  ranks 0 and 2: Split(waits for rank 1) at a.py:1, since t = 0; rank 1 has ended"
    )


# -- cycles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("waits", "cycle"),
    [
        ({0: [0]}, [0]),
        ({0: [1], 1: [0]}, [0, 1]),
        ({0: [3], 3: [1], 1: [0]}, [0, 3, 1]),
        ({0: [1], 1: [2], 2: [3], 3: [2]}, [2, 3]),
        ({0: [1], 1: [2]}, []),
        ({0: [1], 1: []}, []),
        ({0: [1, 2], 1: [], 2: [0]}, [0, 2]),
        ({0: [1, 2], 1: [9], 2: [3, 0], 3: []}, [0, 2]),
    ],
)
def test_a_cycle_is_found_if_there_is_one(waits: dict[int, list[int]], cycle: list[int]) -> None:
    """Through any of several waits; ranks that have ended close none."""
    assert find_cycle([waits_for(rank, *peers) for rank, peers in waits.items()]) == cycle


def test_waiting_for_any_of_several_closes_no_cycle() -> None:
    """A rank outside might send."""
    assert find_cycle([waits_for(0, 1, 2, any_suffices=True), waits_for(1, 0), waits_for(2, 0)]) == []


def has_cycle(waits: dict[int, list[int]]) -> bool:
    """Remove ranks that wait for no remaining rank, repeatedly."""
    left = dict(waits)
    while gone := [rank for rank, peers in left.items() if not any(peer in left for peer in peers)]:
        for rank in gone:
            del left[rank]
    return bool(left)


@settings(max_examples=examples(300))
@given(st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=3), max_size=8))
def test_every_reported_cycle_is_one_and_none_is_missed(waits: dict[int, list[int]]) -> None:
    """Compared with the removal of all ranks that are in none."""
    cycle = find_cycle([waits_for(rank, *peers) for rank, peers in waits.items()])
    assert bool(cycle) == has_cycle(waits)
    for rank, following in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True):
        assert following in waits[rank]


def test_a_cycle_of_thousands_is_found_without_recursion() -> None:
    """The report has one line for it."""
    cycle = find_cycle([waits_for(rank, (rank + 1) % 5000) for rank in range(5000)])
    assert ReportText(Names()).cycle(cycle) == "0 → 1 → 2 → 3 → … → 4998 → 4999 → 0 (5000 ranks)"
    assert ReportText(Names()).cycle(list(range(8))) == "0 → 1 → 2 → 3 → 4 → 5 → 6 → 7 → 0"
