"""What is told of windows that are used wrongly: with both places, as an error, a finding or a deadlock report."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


def line(function: Callable[..., Any], text: str) -> int:
    """The line of a function where a text stands first."""
    lines, start = inspect.getsourcelines(function)
    return start + next(number for number, one in enumerate(lines) if text in one)


def fails(main: Callable[..., Any], words: str, nprocs: int = 2, code: int = MPI.ERR_RMA_SYNC) -> Any:
    """The run fails with exactly these words, in which `{text}` is the place of a text in the program."""
    places = re.sub(r"\{(.+?)\}", lambda found: f"test_misuse.py:{line(main, found[1])}", words)
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, nprocs)
    error = caught.value.__cause__
    assert isinstance(error, MPI.Exception)
    assert (str(error), error.Get_error_class()) == (places, code)
    return caught.value


def test_an_access_without_any_epoch() -> None:
    """And it is a finding."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Put(np.zeros(1), 1)

    error = fails(main, "Put on rank 1: no epoch is open towards rank 1: there was none before.")
    assert [(one.kind, one.call, one.place) for one in error.findings] == [
        ("epoch", "Put", f"test_misuse.py:{line(main, 'win.Put')}")
    ]


def test_an_access_after_its_epoch() -> None:
    """Both places are told."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 0:
            win.Lock(1)
            win.Unlock(1)
            win.Get(np.zeros(1), 1)

    last = "the last epoch, that of Lock at {win.Lock} ended with Unlock at {win.Unlock}"
    fails(main, f"Get on rank 0: no epoch is open towards rank 1: {last}.")


def test_an_access_outside_of_the_group_of_start() -> None:
    """Whom one may reach was said there."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 0:
            win.Start(win.group.Incl([1]))
            win.Put(np.zeros(1), 2)

    fails(main, "Put on rank 0: rank 2 is not in the group of Start at {win.Start}.", 3)


def test_after_a_last_fence_nothing_comes() -> None:
    """As the program has said itself."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence(MPI.MODE_NOSUCCEED)
        if comm.rank == 0:
            win.Accumulate(np.zeros(1), 1)

    last = "the last epoch, the Fence at {win.Fence}, after which nothing was to come"
    fails(main, f"Accumulate on rank 0: no epoch is open towards rank 1: {last}.")


IN_A_LOCK = "cannot begin an epoch while another is open: the lock on rank 0, of Lock at {win.Lock}."


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("Fence()", f"a fence {IN_A_LOCK}"),
        ("Lock(0)", f"a lock on rank 0 {IN_A_LOCK}"),
        ("Lock_all()", f"a lock on all ranks {IN_A_LOCK}"),
        ("Free()", f"Free {IN_A_LOCK}"),
        ("Unlock(1)", "this rank has no lock on rank 1: there was none before."),
        ("Unlock_all()", "this rank has not called Lock_all: there was none before."),
        ("Flush(1)", "this rank has no lock on rank 1: there was none before."),
        ("Complete()", "there is no Start to complete: there was none before."),
        ("Wait()", "there is no Post to wait for."),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit_an_epoch_that_is_open(call: str, words: str) -> None:
    """The lock is told with its place."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 0:
            win.Lock(0)
            eval(f"win.{call}", {"win": win})

    fails(main, f"{call.partition('(')[0]} on rank 0: {words}")


def test_a_lock_after_operations_of_a_fence() -> None:
    """They have to end first."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence()
        if comm.rank == 0:
            win.Put(np.zeros(1), 1)
            win.Lock(1)

    told = "that of Fence at {win.Fence}, in which there were operations"
    fails(main, f"Lock on rank 0: a lock on rank 1 cannot begin an epoch while another is open: {told}.")


def test_requests_are_for_locks() -> None:
    """As the standard says."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence()
        if comm.rank == 0:
            win.Rput(np.zeros(1), 1)

    fails(main, "Rput on rank 0: operations with a request are for epochs of Lock and Lock_all.")


@pytest.mark.parametrize(
    ("call", "words", "code"),
    [
        ("Put(np.zeros(2), 1, 3)",
         "displacement 3 of 8 bytes leads to bytes 24 to 40 of the window of rank 1, which has 32.", MPI.ERR_RMA_RANGE),
        ("Get(np.zeros(1), 1, -1)",
         "displacement -1 of 8 bytes leads to bytes -8 to 0 of the window of rank 1, which has 32.", MPI.ERR_RMA_RANGE),
        ("Put(np.zeros(1), 2)", "rank 2 is not in 0..1: the window has 2 ranks.", MPI.ERR_RANK),
        ("Put(np.zeros(2), 1, [0, 1, MPI.DOUBLE])",
         "the origin's 16 bytes do not fill the target's 8: both must be equally long.", MPI.ERR_TRUNCATE),
        ("Accumulate(np.zeros(1), 1, [0, 2, MPI.INT])", "DOUBLE and INT must be of one basic type.", MPI.ERR_TYPE),
        ("Accumulate(np.zeros(1), 1, op=MPI.BAND)", "BAND takes integers and bytes, not DOUBLE.", MPI.ERR_OP),
        ("Compare_and_swap(*3 * [np.zeros(1)], 1)", "integers, logical values and bytes are compared, not DOUBLE.",
         MPI.ERR_TYPE),
        ("Fetch_and_op(np.zeros(2), np.zeros(1), 1)", "origin: expecting a single element, got 2.", MPI.ERR_COUNT),
        ("Fence(1)", "assertion 1 is not made of the MODE_NO... that there are.", MPI.ERR_ASSERT),
        ("Lock(1, 7)", "lock type 7 is neither LOCK_EXCLUSIVE (234) nor LOCK_SHARED (235).", MPI.ERR_LOCKTYPE),
        ("Attach(bytearray(8))", "memory is attached to windows of Create_dynamic only.", MPI.ERR_RMA_FLAVOR),
    ],
)  # fmt: skip
def test_what_cannot_be_done(call: str, words: str, code: int) -> None:
    """The numbers that clash are told."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(32, 8, comm=comm)
        win.Fence()
        if comm.rank == 0:
            eval(f"win.{call}", {"win": win, "np": np, "MPI": MPI})

    fails(main, f"{call.partition('(')[0]} on rank 0: {words}", code=code)


def test_a_window_that_was_freed_and_one_of_another_rank() -> None:
    """Neither can be used."""

    def freed(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Free()
        win.Fence()

    kept: list[Any] = []

    def borrowed(comm: Any) -> None:
        kept.append(MPI.Win.Allocate(8, comm=comm))
        comm.Barrier()
        kept[0].Fence()

    fails(freed, "Fence on rank 0: the window is null: it was never made, or was freed.", 1, MPI.ERR_WIN)
    told = "Fence on rank {}: the window belongs to rank {}: was it kept in a global, which all ranks share?"
    with pytest.raises(fakempi.RankError, match="(" + "|".join(told.format(a, b)[:-1] for a, b in [(0, 1), (1, 0)]) + ")"):
        fakempi.run(borrowed, 2)


def test_ranks_that_come_to_different_calls() -> None:
    """The later is told of both."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 1:
            win.Fence()
        else:
            fakempi.compute(1)
            win.Free()

    words = "this rank calls Free at {win.Free}, but rank 1 of the same window called Fence at {win.Fence}"
    fails(main, f"Free on rank 0: {words}: collective calls must come in the same order everywhere.", code=MPI.ERR_NOT_SAME)


# -- deadlocks ---------------------------------------------------------------------------------------------------------


def report(main: Callable[..., Any], nprocs: int) -> list[str]:
    """The lines of the deadlock report, without places and times."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, nprocs)
    return [re.sub(r"(, since t = \S+)? *$", "", one.strip()) for one in str(caught.value).splitlines()[1:]]


def test_who_holds_the_lock_is_told() -> None:
    """And since where."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 2:
            win.Lock(0)
            comm.Barrier()
        elif comm.rank == 1:
            comm.recv(source=2)
        else:
            fakempi.compute(1)
            win.Lock(0, MPI.LOCK_SHARED)

    held, lock = line(main, "win.Lock(0)"), line(main, "LOCK_SHARED")
    assert report(main, 3)[0] == (
        f"rank 0: Lock(rank=0; rank 2 holds the lock since test_misuse.py:{held}) at test_misuse.py:{lock}"
    )


def test_two_ranks_that_lock_each_other_out() -> None:
    """A circle, as of messages."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Lock(comm.rank)
        win.Lock(1 - comm.rank)
        win.Flush(1 - comm.rank)

    found, first, flush = report(main, 2), line(main, "win.Lock(comm.rank)"), line(main, "win.Flush")
    assert found == [
        f"rank 0: Flush(rank=1; rank 1 holds the lock since test_misuse.py:{first}) at test_misuse.py:{flush}",
        f"rank 1: Flush(rank=0; rank 0 holds the lock since test_misuse.py:{first}) at test_misuse.py:{flush}",
        "cycle: 0 → 1 → 0",
    ]


def test_posts_completes_and_fences_that_never_come() -> None:
    """Who has to call what is told."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        other = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 0:
            win.Start(win.group.Incl([1]))
            win.Put(np.zeros(1), 1)
            win.Complete()
        elif comm.rank == 1:
            win.Post(win.group.Incl([2]))
            win.Wait()
        else:
            other.Fence()

    complete, wait, fence = (line(main, text) for text in ("win.Complete", "win.Wait", "other.Fence"))
    assert report(main, 3)[:3] == [
        f"rank 0: Complete(waits for rank 1 to call Post) at test_misuse.py:{complete}",
        f"rank 1: Wait(waits for rank 2 to call Complete) at test_misuse.py:{wait}",
        f"rank 2: Fence(waits for ranks 0-1) at test_misuse.py:{fence}",
    ]


# -- findings ----------------------------------------------------------------------------------------------------------


def races(main: Callable[..., Any], nprocs: int = 3) -> list[str]:
    """What was found of races, without the owner."""
    done = fakempi.run(main, nprocs)
    assert {one.kind for one in done.findings} <= {"window-race"}
    return [f"{one.who}: {one.call} at {one.place}: {one.sentence}" for one in done.findings]


def test_two_puts_to_the_same_bytes() -> None:
    """Whichever comes last wins."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(16, 8, comm=comm)
        win.Fence()
        if comm.rank == 1:
            win.Put(np.zeros(2), 0)
        if comm.rank == 2:
            win.Put(np.ones(1), 0, 1)
        win.Fence()
        win.Free()

    one, two = line(main, "zeros(2)"), line(main, "np.ones")
    assert races(main) == [
        f"rank 2: Put at test_misuse.py:{two}: it clashes with Put of rank 1 at test_misuse.py:{one}: both reach bytes 8 to "
        "16 of the window of rank 0 in one epoch, and nothing orders them."
    ]


def test_a_get_beside_an_accumulate_under_shared_locks() -> None:
    """At the same time, that is."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(16, 8, comm=comm)
        if comm.rank:
            win.Lock(0, MPI.LOCK_SHARED)
            if comm.rank == 1:
                win.Accumulate(np.zeros(1), 0)
            else:
                win.Get(np.zeros(1), 0)
            win.Unlock(0)
        win.Free()

    (found,) = races(main)
    get, accumulate = line(main, "win.Get"), line(main, "win.Accumulate")
    clash = f"rank 1: Accumulate at test_misuse.py:{accumulate}: it clashes with Get of rank 2 at test_misuse.py:{get}: "
    assert found.startswith(clash)


@pytest.mark.parametrize("nprocs", [2, 5])
def test_what_is_ordered_or_apart_is_no_race(nprocs: int) -> None:
    """Exclusive locks, flushes and a barrier, accumulates, gets, and columns that interleave."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8 * 4 * comm.size, 8, comm=comm)
        column = MPI.DOUBLE.Create_vector(4, 1, comm.size).Commit()
        win.Fence()
        win.Put(np.ones(4), 0, [comm.rank, 1, column])
        win.Fence()
        win.Get(np.ones(4), 0)
        win.Fence()
        win.Accumulate(np.ones(4), 0)
        win.Fence()
        win.Lock(0)
        win.Put(np.ones(4), 0)
        win.Unlock(0)
        comm.Barrier()
        win.Lock_all()
        if comm.rank == 0:
            win.Put(np.ones(4), 1)
            win.Flush(1)
        comm.Barrier()
        win.Get(np.ones(4), 1)
        win.Unlock_all()
        win.Free()

    assert races(main, nprocs) == []


def test_a_strict_run_ends_with_a_race() -> None:
    """Wrong data would flow."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence()
        win.Put(np.zeros(1), 0)
        win.Fence()
        win.Free()

    with pytest.raises(fakempi.FindingsError, match=r"1 finding in a strict run:\n  window-race: rank 1: Put at "):
        fakempi.run(main, 2, strict=True)


def test_a_window_that_is_never_freed_is_found() -> None:
    """With the call that made it."""

    def main(comm: Any) -> None:
        MPI.Win.Allocate(8, comm=comm)
        MPI.Win.Create(None, comm=comm).Free()

    (found,) = fakempi.run(main, 3).findings
    place = f"test_misuse.py:{line(main, 'Allocate')}"
    assert (found.kind, found.ranks, found.call, found.place) == ("window-leak", (0, 1, 2), "Win.Allocate", place)


# -- traces ------------------------------------------------------------------------------------------------------------


def test_puts_and_gets_are_in_the_trace() -> None:
    """By their own calls, answers by the call that asked; a fence is a region."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence()
        if comm.rank == 0:
            win.Put(np.zeros(1), 1)
        win.Fence()
        if comm.rank == 0:
            win.Lock(1)
            win.Get(np.zeros(1), 1)
            win.Unlock(1)
        comm.Barrier()
        win.Free()

    trace = fakempi.run(main, 2, trace=True).trace
    assert trace is not None
    calls = [(one, trace.calls[one.call]) for one in trace.transfers]
    seen = [(one.source, one.dest, one.nbytes, call.name, call.line) for one, call in calls if call.name != "Barrier"]
    put, lock, get, unlock = (line(main, f"win.{name}(") for name in ("Put", "Lock", "Get", "Unlock"))
    assert seen == [
        (0, 1, 8, "Put", put),
        (0, 1, 0, "Lock", lock),
        (1, 0, 0, "Lock", lock),
        (0, 1, 0, "Get", get),
        (1, 0, 8, "Get", get),
        (0, 1, 0, "Unlock", unlock),
    ]
    assert [one.name for one in trace.regions].count("fence") == 4


def test_what_operations_wait_for_has_names() -> None:
    """A fence, a lock that another has, a Post that comes late."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        fakempi.compute(comm.rank)
        win.Fence()
        if comm.rank == 0:
            win.Lock(2)
            win.Flush(2)
            fakempi.compute(10)
            win.Unlock(2)
        elif comm.rank == 1:
            fakempi.compute(1)
            win.Lock(2)
            win.Put(np.zeros(1), 2)
            win.Unlock(2)
        comm.Barrier()
        if comm.rank == 0:
            win.Start(win.group.Incl([1]))
            win.Put(np.zeros(1), 1)
            win.Complete()
        elif comm.rank == 1:
            fakempi.compute(5)
            win.Post(win.group.Incl([0]))
            win.Wait()
        win.Free()

    trace = fakempi.run(main, 3, trace=True, cost=fakempi.Hockney(1 / 1024, 0)).trace
    assert trace is not None
    waits = {state: round(seconds, 1) for state, (seconds, _) in trace.measure().waits.items()}
    assert {state: waits[state] for state in ("wait at fence", "lock contention", "late post")} == {
        "wait at fence": 3.0 + 5.0, "lock contention": 9.0, "late post": 5.0,  # rank 2 waits in Free for the other two
    }  # fmt: skip


def test_who_waits_in_free_waits_as_at_a_fence() -> None:
    """Until the last rank has come."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        fakempi.compute(comm.rank)
        win.Free()

    trace = fakempi.run(main, 3, trace=True).trace
    assert trace is not None
    assert {state: seconds for state, (seconds, _) in trace.measure().waits.items() if seconds} == {"wait at fence": 3.0}


@pytest.mark.parametrize(
    ("origin", "target", "words"),
    [
        (np.ones(2), [0, 2, MPI.LONG], "it has 2 float64 at the origin, but 2 int64 at the target"),
        (np.ones(2, "i4"), [0, 2, MPI.FLOAT], "it has 2 int32 at the origin, but 2 float32 at the target"),
        (np.ones(2), [0, 2, MPI.DOUBLE], ""),
        (np.ones(2, "i4"), [0, 2, MPI.INT32_T], ""),
        (np.ones(4), [0, 2, MPI.DOUBLE.Create_contiguous(2).Commit()], ""),
    ],
)
@pytest.mark.parametrize("call", ["Put", "Get"])
def test_both_sides_of_an_access_are_of_one_type(call: str, origin: Any, target: Any, words: str) -> None:
    """A Put and a Get name both; what is written as one and meant as another was moved without a word."""

    def main(comm: Any) -> None:
        window = MPI.Win.Allocate(64, 1, comm=comm)
        window.Fence()
        getattr(window, call)(origin.copy(), 1 - comm.rank, target)
        window.Fence()
        window.Free()

    found = fakempi.run(main, 2).findings
    assert [(one.kind, one.ranks, one.call, one.sentence) for one in found] == [
        ("datatype-mismatch", (0, 1), call, words)
    ] * bool(words)
