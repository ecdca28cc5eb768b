"""Reports of incorrect use of windows, with both locations: errors, findings and deadlock reports."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.errors import FindingsError


def line(function: Callable[..., Any], text: str) -> int:
    """The first line of a function that contains a text."""
    lines, start = inspect.getsourcelines(function)
    return start + next(number for number, one in enumerate(lines) if text in one)


def run_fails(main: Callable[..., Any], words: str, nprocs: int = 2, code: int = MPI.ERR_RMA_SYNC) -> Any:
    """The run fails with exactly this message, in which `{text}` is the place of a text in the program."""
    places = re.sub(r"\{(.+?)\}", lambda found: f"test_misuse.py:{line(main, found[1])}", words)
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, nprocs)
    error = caught.value.__cause__
    assert isinstance(error, MPI.Exception)
    assert (str(error), error.Get_error_class()) == (places, code)
    return caught.value


def test_an_access_without_an_epoch_is_rejected() -> None:
    """It is a finding, too."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Put(np.zeros(1), 1)

    error = run_fails(main, "Put on rank 1: no epoch is open towards rank 1: there was no epoch before.")
    assert [(one.kind, one.call, one.place) for one in error.findings] == [
        ("epoch", "Put", f"test_misuse.py:{line(main, 'win.Put')}")
    ]


def test_an_access_after_its_epoch_is_rejected() -> None:
    """The message has both locations."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 0:
            win.Lock(1)
            win.Unlock(1)
            win.Get(np.zeros(1), 1)

    last = "the last epoch, that of Lock at {win.Lock} ended with Unlock at {win.Unlock}"
    run_fails(main, f"Get on rank 0: no epoch is open towards rank 1: {last}.")


def test_an_access_outside_the_group_of_start_is_rejected() -> None:
    """Start defines the valid targets."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 0:
            win.Start(win.group.Incl([1]))
            win.Put(np.zeros(1), 2)

    run_fails(main, "Put on rank 0: rank 2 is not in the group of Start at {win.Start}.", 3)


def test_an_access_after_the_last_fence_is_rejected() -> None:
    """The program has asserted that there is none."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence(MPI.MODE_NOSUCCEED)
        if comm.rank == 0:
            win.Accumulate(np.zeros(1), 1)

    last = "the last epoch, the Fence at {win.Fence} had MODE_NOSUCCEED"
    run_fails(main, f"Accumulate on rank 0: no epoch is open towards rank 1: {last}.")


ASSERTIONS = "MODE_NOCHECK, MODE_NOSTORE, MODE_NOPUT, MODE_NOPRECEDE and MODE_NOSUCCEED"
OPEN_LOCK = "is open: the lock on rank 0, of Lock at {win.Lock}."
IN_A_LOCK = f"cannot begin an epoch while another {OPEN_LOCK}"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("Fence()", f"a fence {IN_A_LOCK}"),
        ("Lock(0)", f"a lock on rank 0 {IN_A_LOCK}"),
        ("Lock_all()", f"a lock on all ranks {IN_A_LOCK}"),
        ("Free()", f"the window cannot be freed while an epoch {OPEN_LOCK}"),
        ("Unlock(1)", "this rank has no lock on rank 1: there was no epoch before."),
        ("Unlock_all()", "this rank has not called Lock_all: there was no epoch before."),
        ("Flush(1)", "this rank has no lock on rank 1: there was no epoch before."),
        ("Complete()", "Complete without Start: there was no epoch before."),
        ("Wait()", "Wait or Test without Post: this rank has no exposure epoch."),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit_an_open_epoch_are_rejected(call: str, words: str) -> None:
    """The message has the location of the lock."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 0:
            win.Lock(0)
            eval(f"win.{call}", {"win": win})

    run_fails(main, f"{call.partition('(')[0]} on rank 0: {words}")


def test_a_lock_after_operations_of_a_fence_is_rejected() -> None:
    """They have to be completed first."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence()
        if comm.rank == 0:
            win.Put(np.zeros(1), 1)
            win.Lock(1)

    words = "that of Fence at {win.Fence}, which has operations"
    run_fails(main, f"Lock on rank 0: a lock on rank 1 cannot begin an epoch while another is open: {words}.")


def test_request_based_operations_need_locks() -> None:
    """As in the standard."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence()
        if comm.rank == 0:
            win.Rput(np.zeros(1), 1)

    run_fails(main, "Rput on rank 0: operations with a request need an epoch of Lock or Lock_all.")


@pytest.mark.parametrize(
    ("call", "words", "code"),
    [
        ("Put(np.zeros(2), 1, 3)",
         "displacement 3 of 8 bytes accesses bytes 24 to 40 of the window of rank 1, which has 32 bytes.",
         MPI.ERR_RMA_RANGE),
        ("Get(np.zeros(1), 1, -1)",
         "displacement -1 of 8 bytes accesses bytes -8 to 0 of the window of rank 1, which has 32 bytes.",
         MPI.ERR_DISP),
        ("Accumulate(np.zeros(1), 1, [-2, 1, MPI.DOUBLE])",
         "displacement -2 of 8 bytes accesses bytes -16 to -8 of the window of rank 1, which has 32 bytes.",
         MPI.ERR_DISP),
        ("Put(np.zeros(1), 2)", "rank 2 is not in 0..1: the window has 2 ranks.", MPI.ERR_RANK),
        ("Put(np.zeros(2), 1, [0, 1, MPI.DOUBLE])",
         "the origin's 16 bytes do not fill the target's 8: their sizes must be equal.", MPI.ERR_TRUNCATE),
        ("Accumulate(np.zeros(1), 1, [0, 2, MPI.INT])", "DOUBLE and INT must be of one basic type.", MPI.ERR_TYPE),
        ("Accumulate(np.zeros(1), 1, op=MPI.BAND)", "BAND takes integers and bytes, not DOUBLE.", MPI.ERR_OP),
        ("Compare_and_swap(*3 * [np.zeros(1)], 1)", "expecting integers, logical values or bytes, got DOUBLE.",
         MPI.ERR_TYPE),
        ("Fetch_and_op(np.zeros(2), np.zeros(1), 1)", "origin: expecting a single element, got 2.", MPI.ERR_COUNT),
        ("Fence(1)", f"assertion 1 is not a combination of {ASSERTIONS}.", MPI.ERR_ASSERT),
        ("Lock(1, 7)", "lock type 7: expecting LOCK_EXCLUSIVE (234) or LOCK_SHARED (235).", MPI.ERR_LOCKTYPE),
        ("Attach(bytearray(8))", "only windows of Create_dynamic support Attach and Detach.", MPI.ERR_RMA_FLAVOR),
    ],
)  # fmt: skip
def test_invalid_arguments_are_rejected(call: str, words: str, code: int) -> None:
    """The message has the conflicting numbers."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(32, 8, comm=comm)
        win.Fence()
        if comm.rank == 0:
            eval(f"win.{call}", {"win": win, "np": np, "MPI": MPI})

    run_fails(main, f"{call.partition('(')[0]} on rank 0: {words}", code=code)


def test_a_freed_window_and_one_of_another_rank_are_rejected() -> None:
    """In every call."""

    def freed(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Free()
        win.Fence()

    kept: list[Any] = []

    def window_of_another_rank(comm: Any) -> None:
        kept.append(MPI.Win.Allocate(8, comm=comm))
        comm.Barrier()
        kept[0].Fence()

    run_fails(freed, "Fence on rank 0: the window is null: it was never created, or was freed.", 1, MPI.ERR_WIN)
    words = "Fence on rank {}: the window belongs to rank {}: store it in a local variable, not in a global one."
    with pytest.raises(fakempi.RankError, match="(" + "|".join(words.format(a, b)[:-1] for a, b in [(0, 1), (1, 0)]) + ")"):
        fakempi.run(window_of_another_rank, 2)


def test_ranks_that_make_different_calls_are_reported() -> None:
    """The error of the later rank names both calls."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 1:
            win.Fence()
        else:
            fakempi.compute(1)
            win.Free()

    words = "this rank calls Free at {win.Free}, but rank 1 of the same window called Fence at {win.Fence}"
    order = "all ranks must make the same collective calls in the same order."
    run_fails(main, f"Free on rank 0: {words}: {order}", code=MPI.ERR_NOT_SAME)


# -- deadlocks ---------------------------------------------------------------------------------------------------------


def report(main: Callable[..., Any], nprocs: int) -> list[str]:
    """The lines of the deadlock report, without places and times."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, nprocs)
    return [re.sub(r"(, since t = \S+)? *$", "", one.strip()) for one in str(caught.value).splitlines()[1:]]


def test_the_holder_of_a_lock_is_reported() -> None:
    """With the place of its call."""

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


def test_two_ranks_that_lock_each_other() -> None:
    """The report shows the cycle, as for messages."""

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


def test_missing_posts_completes_and_fences_are_reported() -> None:
    """The report names the rank and the missing call."""

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
    """Return the findings about races, without the owner."""
    done = fakempi.run(main, nprocs)
    assert {one.kind for one in done.findings} <= {"window-race"}
    return [f"{one.rank_names}: {one.call} at {one.place}: {one.sentence}" for one in done.findings]


def test_two_puts_to_the_same_bytes_are_reported() -> None:
    """The result depends on their order."""

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
        f"rank 2: Put at test_misuse.py:{two}: conflicts with Put of rank 1 at test_misuse.py:{one}: both access bytes 8 to "
        "16 of the window of rank 0 in one epoch, and nothing orders them."
    ]


def test_a_race_of_two_puts_in_pieces_is_one_finding() -> None:
    """With all bytes that both write, in all runs; a strict run ends with the same finding."""

    def main(comm: Any, by: str, pieces: int) -> None:
        win, rest = MPI.Win.Allocate(16 * pieces, 8, comm=comm), comm.group.Excl([0])
        apart = MPI.DOUBLE.Create_vector(pieces, 1, 2).Commit()
        begins: dict[str, Callable[[], Any]] = {
            "fence": win.Fence, "lock": win.Lock_all, "post": lambda: win.Start(comm.group.Incl([0]))
        }  # fmt: skip
        ends: dict[str, Callable[[], Any]] = {"fence": win.Fence, "lock": win.Unlock_all, "post": win.Complete}
        if by == "post" and comm.rank == 0:
            win.Post(rest)
            win.Wait()
        else:
            begins[by]()
            if comm.rank:
                win.Put(np.ones(pieces), 0, (0, 1, apart))
            ends[by]()
        rest.Free()
        apart.Free()
        win.Free()

    words = {1: "0 to 8", 2: "0 to 8 and 16 to 24", 6: "0 to 8, 16 to 24, 32 to 40, 48 to 56 and 2 other ranges"}
    for by in ("fence", "lock", "post"):
        for pieces, where in words.items():
            (found,) = fakempi.run(main, 3, by, pieces).findings
            assert f"both access bytes {where} of the window of rank 0" in found.sentence
            with pytest.raises(FindingsError) as ended:
                fakempi.run(main, 3, by, pieces, strict=True)
            assert [one.sentence for one in ended.value.findings if one.kind == "window-race"] == [found.sentence]


def test_a_store_to_pieces_of_a_put_is_one_finding() -> None:
    """With all bytes that were stored."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(64, 8, comm=comm)
        apart = MPI.DOUBLE.Create_vector(3, 1, 2).Commit()
        win.Fence()
        if comm.rank == 0:
            win.tomemory()[:] = b"x" * 64
        else:
            win.Put(np.ones(3), 0, (0, 1, apart))
        win.Fence()
        apart.Free()
        win.Free()

    (found,) = fakempi.run(main, 2, check_buffers=True).findings
    assert "to bytes 0 to 8, 16 to 24 and 32 to 40 of its own window" in found.sentence


def test_a_get_concurrent_with_an_accumulate_is_reported() -> None:
    """Under shared locks."""

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
    clash = f"rank 2: Get at test_misuse.py:{get}: conflicts with Accumulate of rank 1 at test_misuse.py:{accumulate}: "
    assert found.startswith(clash)


@pytest.mark.parametrize("nprocs", [2, 5])
def test_ordered_and_disjoint_accesses_are_no_race(nprocs: int) -> None:
    """Exclusive locks, flushes and a barrier, accumulates, gets, and interleaved columns."""

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
    """Before wrong data is used."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence()
        win.Put(np.zeros(1), 0)
        win.Fence()
        win.Free()

    with pytest.raises(fakempi.FindingsError, match=r"1 finding in a strict run:\n  window-race: rank 1: Put at "):
        fakempi.run(main, 2, strict=True)


def test_a_window_that_is_never_freed_is_found() -> None:
    """With the call that created it."""

    def main(comm: Any) -> None:
        MPI.Win.Allocate(8, comm=comm)
        MPI.Win.Create(None, comm=comm).Free()

    (found,) = fakempi.run(main, 3).findings
    place = f"test_misuse.py:{line(main, 'Allocate')}"
    assert (found.kind, found.ranks, found.call, found.place) == ("window-leak", (0, 1, 2), "Win.Allocate", place)


@pytest.mark.parametrize(
    ("begin", "missing"),
    [("Lock(1)", "Unlock"), ("Lock_all()", "Unlock_all"), ("Start(group)", "Complete"), ("Post(group)", "Wait"),
     ("Fence()", "another Fence")],
)  # fmt: skip
def test_an_epoch_that_is_never_ended_is_found(begin: str, missing: str) -> None:
    """The finding has the missing call; the window that was not freed is another finding."""
    call = begin.partition("(")[0]

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        group = win.Get_group()
        if comm.rank == 0 or call == "Fence":
            eval(f"win.{begin}", {"win": win, "group": group.Incl([1])})
        if comm.rank == 0 and call == "Fence":
            win.Put(np.zeros(1), 1)

    found = [one for one in fakempi.run(main, 2).findings if one.kind == "epoch"]
    assert [(one.ranks, one.call, one.sentence) for one in found] == [
        ((0,), call, f"its epoch was never ended: {missing} is missing.")
    ]


def test_free_after_operations_of_a_fence_is_rejected() -> None:
    """Another fence has to complete them."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        win.Fence()
        if comm.rank == 0:
            win.Put(np.zeros(1), 1)
            win.Free()

    after = "operations after the Fence at {win.Fence} are not complete: another Fence must end them."
    run_fails(main, f"Free on rank 0: {after}")


@pytest.mark.parametrize("way", ["Lock", "Lock_all", "Start"])
@pytest.mark.parametrize("modes", [(0, 0), (MPI.MODE_NOSUCCEED, 0), (0, MPI.MODE_NOPRECEDE)])
def test_epochs_of_locks_and_groups_between_two_fences(way: str, modes: tuple[int, int]) -> None:
    """The fences have to assert that they enclose no operations."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        group = win.Get_group()
        win.Fence(modes[0])
        if way == "Start":
            win.Post(group)
        if comm.rank == 0:
            begin: dict[str, Callable[[], None]] = {
                "Lock": lambda: win.Lock(1), "Lock_all": win.Lock_all, "Start": lambda: win.Start(group),
            }  # fmt: skip
            begin[way]()
            win.Put(np.zeros(1), 1)
            {"Lock": lambda: win.Unlock(1), "Lock_all": win.Unlock_all, "Start": win.Complete}[way]()
        elif way == "Start":
            win.Start(group)
            win.Complete()
        if way == "Start":
            win.Wait()
        win.Fence(modes[1])
        win.Free()

    found = fakempi.run(main, 2).findings
    assert [(one.kind, one.ranks, one.call) for one in found] == [("epoch", (0,), "Fence")] * (modes == (0, 0))


# -- traces ------------------------------------------------------------------------------------------------------------


def test_puts_and_gets_are_in_the_trace() -> None:
    """With their own names, answers with the name of the requesting call; a fence is a region."""

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


def test_waits_of_operations_have_names() -> None:
    """A fence, a lock that another rank holds, a late Post, Free."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        fakempi.compute(comm.rank)
        win.Fence()
        if comm.rank == 0:
            win.Lock(2)
            win.Flush(2)
            fakempi.compute(10)
            win.Unlock(2)
            fakempi.compute(1 / 256)  # the message of the barrier follows that of the grant
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
    assert {state: waits[state] for state in ("wait at fence", "lock contention", "late post", "wait at free")} == {
        "wait at fence": 3.0, "lock contention": 9.0, "late post": 5.0, "wait at free": 5.0,  # rank 2, for the other two
    }  # fmt: skip


def test_waiting_in_free_has_a_name() -> None:
    """The call waits until the last rank has called."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        fakempi.compute(comm.rank)
        win.Free()

    trace = fakempi.run(main, 3, trace=True).trace
    assert trace is not None
    assert {state: seconds for state, (seconds, _) in trace.measure().waits.items() if seconds} == {"wait at free": 3.0}


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
def test_both_sides_of_an_access_must_have_one_type(call: str, origin: Any, target: Any, words: str) -> None:
    """A Put and a Get are reported; a type mismatch was once silent."""

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
