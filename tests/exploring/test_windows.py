"""Windows leave open who gets a lock next and whose atomic operation comes first: both are explored."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.exploring.found import same

ANY = MPI.ANY_SOURCE


def one(value: int) -> Any:
    """An element."""
    return np.array([value], dtype="i8")


def tickets(comm: Any, repaired: bool) -> int:
    """Everybody draws a number, and is taken to get its rank."""
    win, mine = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), one(-1)
    win.Lock_all()
    win.Fetch_and_op(one(1), mine, 0)
    win.Unlock_all()
    win.Free()
    assert repaired or mine[0] == comm.rank
    return int(mine[0])


def lost_update(comm: Any, repaired: bool) -> Any:
    """Two ranks add 1 to what they read, and give the lock back in between."""
    win, mine, total = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), one(0), one(0)
    if comm.rank:
        win.Lock(0)
        win.Get(mine, 0)
        if repaired:
            win.Flush(0)
        else:
            win.Unlock(0)
            win.Lock(0)
        win.Put(mine + 1, 0)
        win.Unlock(0)
    comm.barrier()
    win.Lock(0, MPI.LOCK_SHARED)
    win.Get(total, 0)
    win.Unlock(0)
    win.Free()
    assert total[0] == comm.size - 1


def who_is_first(comm: Any, repaired: bool) -> None:
    """The lower rank is taken to get the lock first, and to leave something for the other."""
    win, found = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), one(0)
    if comm.rank:
        win.Lock(0)
        win.Get(found, 0)
        win.Flush(0)
        if not found[0]:
            win.Put(one(comm.rank), 0)
        win.Unlock(0)
    win.Free()
    assert repaired or found[0] == (1 if comm.rank == 2 else 0)


def the_last_to_replace(comm: Any, repaired: bool) -> None:
    """In one epoch of a fence several replace an element, and the last rank is taken to be the last."""
    win, mine = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), one(comm.rank)
    win.Fence()
    if comm.rank:
        win.Accumulate(mine, 0, op=MPI.MAX if repaired else MPI.REPLACE)
    win.Fence()
    last = int(np.frombuffer(win.tomemory(), "i8")[0]) if comm.rank == 0 else None
    win.Free()
    assert last in (None, comm.size - 1)


def swap(comm: Any, repaired: bool) -> None:
    """Who finds 0 has won; rank 0 is taken to be it."""
    win, found = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), one(-1)
    win.Lock(0, MPI.LOCK_SHARED)
    win.Compare_and_swap(one(comm.rank + 1), one(0), found, 0)
    win.Unlock(0)
    won = comm.allreduce(int(found[0] == 0))
    win.Free()
    assert won == 1
    assert repaired or (found[0] == 0) == (comm.rank == 0)


@pytest.mark.parametrize("program", [tickets, lost_update, who_is_first, the_last_to_replace, swap])
def test_a_bug_that_shows_in_some_orders_is_found_and_its_token_replays(program: Any) -> None:
    """And its repaired twin is exhausted and clean."""
    found = fakempi.explore(program, 3, False)
    assert found.exhausted, found
    assert found.failures
    assert sum(failure.times for failure in found.failures) < found.runs
    for failure in found.failures:
        with pytest.raises(fakempi.RunError) as raised:
            fakempi.run(program, 3, False, decisions=failure.decisions)
        assert same(raised.value) == same(failure.error)
        assert failure.passes is not None
        fakempi.run(program, 3, False, decisions=failure.passes)
    found = fakempi.explore(program, 3, True)
    assert (found.exhausted, found.failures) == (True, []), found


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
def test_why_names_whose_turn_it_was(carrier: str) -> None:
    """Of locks and of operations, on both carriers."""
    (failure,) = fakempi.explore(who_is_first, 3, False, buffering="zero", carrier=carrier).failures
    assert re.sub(r":\d+", "", failure.why) == (
        "rank 2's Lock at test_windows.py got the lock on rank 0 before rank 1's Lock at test_windows.py got the lock on "
        "rank 0; the other way round all went well"
    )
    failure = fakempi.explore(the_last_to_replace, 3, False, buffering="zero", carrier=carrier).failures[0]
    assert re.sub(r":\d+", "", failure.why) == (
        "rank 2's Accumulate at test_windows.py came to rank 0 before rank 1's Accumulate at test_windows.py came to rank "
        "0; the other way round all went well"
    )


@pytest.mark.parametrize(("p", "runs"), [(2, 2), (3, 6), (4, 24)])
def test_orders_of_atomic_operations_are_all_tried_and_those_who_share_a_lock_get_it_at_once(p: int, runs: int) -> None:
    """Each rank's ticket, in every order; who comes to the lock first makes no difference."""
    found = fakempi.explore(tickets, p, True, buffering="zero")
    assert (found.runs, found.exhausted) == (runs, True)
    assert found.method == "fewest deviations first, nothing left out because of windows' locks"


def test_an_exclusive_lock_that_comes_late_is_not_called_explored_between_those_that_share_it() -> None:
    """They got it together, before anybody knew of it."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, 8, comm=comm)
        if comm.rank == 3:
            comm.recv(source=ANY)
        win.Lock(0, MPI.LOCK_EXCLUSIVE if comm.rank == 3 else MPI.LOCK_SHARED)
        win.Flush(0)
        if comm.rank == 2:
            comm.send(None, 3)
        win.Unlock(0)
        win.Free()

    found = fakempi.explore(main, 4, buffering="infinite")
    assert not found.exhausted
    assert found.limits == [
        "who gets a lock for itself between others that share it, and asks later than they, is not explored"
    ]  # fmt: skip


def test_what_a_choice_leaves_in_a_window_is_seen_by_others_beside_their_own_choices() -> None:
    """Ranks 0 and 3 receive from anybody; what the first of them got reaches the second by its memory alone."""

    def main(comm: Any) -> Any:
        win, got = MPI.Win.Allocate(8, 8, comm=comm), None
        if comm.rank % 3:
            comm.send(comm.rank, comm.rank // 3 * 3)
        else:
            got = comm.recv(source=ANY), comm.recv(source=ANY)
        if comm.rank == 0:
            win.Lock(3)
            win.Put(one(got[0]), 3)  # type: ignore[index]
            win.Unlock(3)
        win.Fence()
        left = int(np.frombuffer(win.tomemory(), "i8")[0])
        win.Free()
        assert (got, left) != ((5, 4), 2)

    (failure,) = fakempi.explore(main, 6, buffering="infinite").failures
    assert failure.error.rank == 3  # type: ignore[attr-defined]


SEEN: dict[int, list[Any]] = {}


def mixed(comm: Any, lists: Any) -> None:
    """Each rank does its list of messages, locks and atomic operations; what it sees is kept."""
    seen = SEEN[comm.rank] = []
    win, found = MPI.Win.Allocate(8, 8, comm=comm), one(0)
    for what, where in lists[comm.rank]:
        if what == "send":
            comm.send(len(seen), where)
            continue
        if what == "recv":
            seen.append(comm.recv(source=ANY))
            continue
        win.Lock(where, MPI.LOCK_EXCLUSIVE if what == "double" else MPI.LOCK_SHARED)
        if what == "double":
            win.Get(found, where)
            win.Flush(where)
            win.Put(2 * found + comm.rank + 1, where)
        elif what == "fetch":
            win.Fetch_and_op(one(1), found, where)
        else:
            win.Compare_and_swap(one(7), one(0), found, where)
        win.Unlock(where)
        seen.append((what, int(found[0])))
    win.Free()


def outcomes(lists: Any, **options: Any) -> tuple[set[Any], Any]:
    """What each rank may see."""
    every: set[Any] = set()
    runs = [0]

    def tell(found: Any, waiting: int) -> None:
        if found.runs > runs[0]:  # and not one that was ended early
            every.update((rank, repr(seen)) for rank, seen in SEEN.items())
        runs[0] = found.runs
        SEEN.clear()

    SEEN.clear()
    return every, fakempi.explore(mixed, len(lists), lists, tell=tell, strict=False, **options)


@st.composite
def lists(draw: Any) -> Any:
    """Messages that are received, and what is done to windows."""
    p = draw(st.integers(2, 3))
    found: list[list[tuple[str, int]]] = [[] for _ in range(p)]
    for _ in range(draw(st.integers(2, 4))):
        rank = draw(st.integers(0, p - 1))
        if draw(st.integers(0, 2)) == 0:
            dest = (rank + draw(st.integers(1, p - 1))) % p
            found[rank].append(("send", dest))
            found[dest].append(("recv", 0))
        else:
            found[rank].append((draw(st.sampled_from(["double", "fetch", "swap"])), draw(st.sampled_from([0, 0, 1]))))
    return found


@settings(max_examples=15, deadline=None)
@given(lists(), st.sampled_from(["zero", "infinite"]))
@example([[("double", 0), ("double", 1)], [("fetch", 1)], [("fetch", 1)]], "zero")  # once missed
def test_the_reduced_search_sees_all_that_the_full_one_sees(lists: Any, buffering: str) -> None:
    """Whatever a rank may find in windows, beside messages from anybody."""
    every, full = outcomes(lists, buffering=buffering, runs=120, reduce=False)
    if full.part < 1:
        return
    seen, found = outcomes(lists, buffering=buffering)
    assert seen == every
    assert found.part == 1
    assert found.runs + found.ended_early <= full.runs


def test_what_a_windows_test_says_is_explored() -> None:
    """Whether all that Post let in have called Complete: "not yet", too."""

    def main(comm: Any) -> Any:
        window = MPI.Win.Create(np.zeros(1), 8, comm=comm)
        group = comm.group
        other, said = group.Incl([1 - comm.rank]), None
        if comm.rank == 0:
            window.Start(other)
            window.Put(np.ones(1), 1)
            window.Complete()
        else:
            window.Post(other)
            said = window.Test()
            if not said:
                window.Wait()
        for one in (window, other, group):
            one.Free()
        return said

    found = fakempi.explore(main, 2, compare="returns", buffering="zero")
    assert (found.exhausted, found.verdict) == (True, "1 of 2 schedules fails")
    assert found.failures[0].why.endswith('said "not yet"; with yes all went well')


def test_loads_and_stores_in_shared_memory_are_not_explored_and_that_is_told() -> None:
    """Nobody sees them: such a search was said to be exhausted."""

    def main(comm: Any) -> Any:
        window = MPI.Win.Allocate_shared(8, 8, comm=comm)
        window.Free()

    limit = "the order of loads and stores in memory that ranks share is not explored"
    assert fakempi.explore(main, 2).limits == [limit]
    assert fakempi.explore(main, 1).exhausted
