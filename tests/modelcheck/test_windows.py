"""The order of lock grants and of atomic operations of windows is open: both are explored."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.modelcheck.search.exploration import failure_key
from tests.helpers.breadth import examples

ANY = MPI.ANY_SOURCE


def element(value: int) -> Any:
    """An element."""
    return np.array([value], dtype="i8")


def tickets(comm: Any, repaired: bool) -> int:
    """Every rank draws a number, and the program assumes that it equals its rank."""
    win, mine = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), element(-1)
    win.Lock_all()
    win.Fetch_and_op(element(1), mine, 0)
    win.Unlock_all()
    win.Free()
    assert repaired or mine[0] == comm.rank
    return int(mine[0])


def lost_update(comm: Any, repaired: bool) -> Any:
    """Two ranks add 1 to the value that they read, and release the lock in between."""
    win, mine, total = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), element(0), element(0)
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


def assumed_lock_order(comm: Any, repaired: bool) -> None:
    """Assumes that the lower rank gets the lock first, and stores a value for the other."""
    win, found = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), element(0)
    if comm.rank:
        win.Lock(0)
        win.Get(found, 0)
        win.Flush(0)
        if not found[0]:
            win.Put(element(comm.rank), 0)
        win.Unlock(0)
    win.Free()
    assert repaired or found[0] == (1 if comm.rank == 2 else 0)


def the_last_to_replace(comm: Any, repaired: bool) -> None:
    """Several ranks replace an element in one fence epoch; assumes that the last rank is last."""
    win, mine = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), element(comm.rank)
    win.Fence()
    if comm.rank:
        win.Accumulate(mine, 0, op=MPI.MAX if repaired else MPI.REPLACE)
    win.Fence()
    last = int(np.frombuffer(win.tomemory(), "i8")[0]) if comm.rank == 0 else None
    win.Free()
    assert last in (None, comm.size - 1)


def swap(comm: Any, repaired: bool) -> None:
    """The rank that finds 0 has won; the program assumes that it is rank 0."""
    win, found = MPI.Win.Allocate(8 * (comm.rank == 0), 8, comm=comm), element(-1)
    win.Lock(0, MPI.LOCK_SHARED)
    win.Compare_and_swap(element(comm.rank + 1), element(0), found, 0)
    win.Unlock(0)
    won = comm.allreduce(int(found[0] == 0))
    win.Free()
    assert won == 1
    assert repaired or (found[0] == 0) == (comm.rank == 0)


@pytest.mark.parametrize("program", [tickets, lost_update, assumed_lock_order, the_last_to_replace, swap])
def test_a_bug_that_shows_in_some_orders_is_found_and_its_token_replays(program: Any) -> None:
    """Its fixed version is exhausted and clean."""
    found = fakempi.explore(program, 3, False)
    assert found.exhausted, found
    assert found.failures
    assert sum(failure.times for failure in found.failures) < found.runs
    for failure in found.failures:
        with pytest.raises(fakempi.RunError) as raised:
            fakempi.run(program, 3, False, schedule=failure.schedule)
        assert failure_key(raised.value) == failure_key(failure.error)
        assert failure.passes is not None
        fakempi.run(program, 3, False, schedule=failure.passes)
    found = fakempi.explore(program, 3, True)
    assert (found.exhausted, found.failures) == (True, []), found


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
def test_why_names_the_operations_in_order(backend: Any) -> None:
    """For locks and for operations, on both backends."""
    (failure,) = fakempi.explore(assumed_lock_order, 3, False, buffering="zero", backend=backend).failures
    assert re.sub(r":\d+", "", failure.why) == (
        "rank 2's Lock at test_windows.py acquired the lock on rank 0 before rank 1's Lock at test_windows.py acquired "
        "the lock on rank 0; in the other order the run succeeds"
    )
    failure = fakempi.explore(the_last_to_replace, 3, False, buffering="zero", backend=backend).failures[0]
    assert re.sub(r":\d+", "", failure.why) == (
        "rank 2's Accumulate at test_windows.py reached rank 0 before rank 1's Accumulate at test_windows.py reached rank "
        "0; in the other order the run succeeds"
    )


@pytest.mark.parametrize(("p", "runs"), [(2, 2), (3, 6), (4, 24)])
def test_all_orders_of_atomic_operations_are_explored_and_shared_locks_are_granted_together(p: int, runs: int) -> None:
    """Each rank's ticket, in every order; the order of lock requests makes no difference."""
    found = fakempi.explore(tickets, p, True, buffering="zero", data="early")
    assert (found.runs, found.exhausted) == (runs, True)
    assert found.method == "fewest deviations first, no reduction because of window locks"


def test_a_late_exclusive_lock_between_shared_ones_is_reported_as_not_explored() -> None:
    """The ranks acquired it together, before any of them could observe it."""

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
        "an exclusive window lock that is granted between earlier requests for shared locks is not explored"
    ]  # fmt: skip


def test_effects_of_a_choice_in_a_window_are_combined_with_choices_of_other_ranks() -> None:
    """Ranks 0 and 3 receive from any source; the second learns about the first one's message from memory only."""

    def main(comm: Any) -> Any:
        win, got = MPI.Win.Allocate(8, 8, comm=comm), None
        if comm.rank % 3:
            comm.send(comm.rank, comm.rank // 3 * 3)
        else:
            got = comm.recv(source=ANY), comm.recv(source=ANY)
        if comm.rank == 0:
            win.Lock(3)
            win.Put(element(got[0]), 3)  # type: ignore[index]
            win.Unlock(3)
        win.Fence()
        left = int(np.frombuffer(win.tomemory(), "i8")[0])
        win.Free()
        assert (got, left) != ((5, 4), 2)

    (failure,) = fakempi.explore(main, 6, buffering="infinite").failures
    assert failure.error.rank == 3  # type: ignore[attr-defined]


SEEN: dict[int, list[Any]] = {}


def mixed(comm: Any, lists: Any) -> None:
    """Each rank executes its list of messages, locks and atomic operations; observations are recorded."""
    seen = SEEN[comm.rank] = []
    win, found = MPI.Win.Allocate(8, 8, comm=comm), element(0)
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
            win.Fetch_and_op(element(1), found, where)
        else:
            win.Compare_and_swap(element(7), element(0), found, where)
        win.Unlock(where)
        seen.append((what, int(found[0])))
    win.Free()


def outcomes(lists: Any, **options: Any) -> tuple[set[Any], Any]:
    """Return the possible observations of each rank."""
    every: set[Any] = set()
    runs = [0]

    def on_run(found: Any, waiting: int) -> None:
        if found.runs > runs[0]:  # not a run that was ended early
            every.update((rank, repr(seen)) for rank, seen in SEEN.items())
        runs[0] = found.runs
        SEEN.clear()

    SEEN.clear()
    return every, fakempi.explore(mixed, len(lists), lists, on_run=on_run, strict=False, **options)


@st.composite
def lists(draw: Any) -> Any:
    """Messages with receives, and window operations."""
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


@settings(max_examples=examples(15), deadline=None)
@given(lists(), st.sampled_from(["zero", "infinite"]))
@example([[("double", 0), ("double", 1)], [("fetch", 1)], [("fetch", 1)]], "zero")  # once missed
def test_the_reduced_search_sees_everything_that_the_full_one_sees(lists: Any, buffering: str) -> None:
    """The possible contents of windows, combined with wildcard receives."""
    every, full = outcomes(lists, buffering=buffering, runs=120, reduce=False)
    if full.part < 1:
        return
    seen, found = outcomes(lists, buffering=buffering)
    assert seen == every
    assert found.part == 1
    assert found.runs + found.ended_early <= full.runs


def test_results_of_a_windows_test_are_explored() -> None:
    """Whether all ranks of the Post group have called Complete: "not yet", too."""

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
    assert (found.exhausted, found.verdict) == (False, "2 of 4 schedules fail, and there may be more")
    assert found.limits == ["whether Start waits for Post is not explored"]
    assert found.failures[0].why.endswith('reported "not yet"; with completion the outcome is the other one')


def test_loads_and_stores_in_shared_memory_are_reported_as_not_explored() -> None:
    """No call observes them: such a search was once reported as exhaustive."""

    def main(comm: Any) -> Any:
        window = MPI.Win.Allocate_shared(8, 8, comm=comm)
        window.Free()

    limit = "the order of loads and stores in memory that ranks share is not explored"
    assert fakempi.explore(main, 2).limits == [limit]
    assert fakempi.explore(main, 1).exhausted
