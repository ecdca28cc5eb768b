"""`explore(executor=...)`: the same result for every number of workers, and errors that name the reason."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fakempi
from collectives import find
from fakempi import MPI
from fakempi.modelcheck.search import jobs
from fakempi.modelcheck.search.jobs import Chunk, run_chunk
from fakempi.modelcheck.steering.token import LibraryMode
from tests.modelcheck.programs import ANY, Script
from tests.modelcheck.test_reduction import programs

COUNTER = {"runs": 0}


class Listed:
    """Each rank executes its list and returns its observations; ranks share nothing that changes."""

    def __init__(self, lists: list[list[tuple[Any, ...]]]) -> None:
        self.lists = lists

    def __call__(self, comm: Any) -> Any:
        """Execute the list of a rank."""
        script = Script(self.lists)
        script(comm)
        return script.seen[comm.rank]


def ticks(comm: Any, each: int) -> Any:
    """Every rank sends the same content several times: most runs end in known states."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(each * (comm.size - 1))]
    return [comm.send("tick", 0) for _ in range(each)]


def order(comm: Any, each: int) -> Any:
    """Fails if rank 2 is first, and returns the order otherwise."""
    if comm.rank == 0:
        got = [comm.recv(source=ANY) for _ in range(each * (comm.size - 1))]
        assert got[0] != 2
        sys.stdout.write(f"first {got[0]}\n")
        return got
    return [comm.send(comm.rank, 0) for _ in range(each)]


def sentinels(comm: Any) -> Any:
    """Returns a class, a function and an object that is compared by identity: pickling changes the last one."""
    if comm.rank:
        return comm.send(comm.rank, 0)
    return {comm.recv(source=ANY) for _ in range(2)}, Listed, ticks, IDENTITY


def polls(comm: Any) -> Any:
    """Tests a request until it completes."""
    if comm.rank:
        return comm.send(comm.rank, 0)
    requests = [comm.irecv(source=ANY) for _ in range(comm.size - 1)]
    count = 0
    while not MPI.Request.testall(requests)[0]:
        count += 1
        if count > 2:
            MPI.Request.waitall(requests)
            break
    return count


def counts_runs(comm: Any) -> Any:
    """Changes an object that ranks share."""
    COUNTER["runs"] += comm.rank == 0
    return ticks(comm, 1)


def locks(comm: Any) -> Any:
    """A window lock turns the reductions off."""
    win = MPI.Win.Allocate(8, comm=comm)
    if comm.rank:
        win.Lock(0)
        win.Unlock(0)
    win.Free()


def dies(comm: Any, parent: int) -> Any:
    """Ends the worker process, not the process of the search."""
    if os.getpid() != parent:
        os._exit(3)
    return ticks(comm, 2)


IDENTITY = object()


@pytest.fixture(scope="module")
def pools() -> Iterator[list[Executor]]:
    """Pools of 1, 2 and 3 worker processes."""
    found: list[Executor] = [ProcessPoolExecutor(count, mp_context=get_context("spawn")) for count in (1, 2, 3)]
    yield found
    for pool in found:
        pool.shutdown(cancel_futures=True)


def everything(found: fakempi.Exploration) -> Any:
    """All results of a search."""
    failures = [(str(each), each.schedule, each.why, each.passes, each.times) for each in found.failures]
    numbers = found.runs, found.ended_early, found.exhausted, found.part, found.others
    return numbers, found.method, found.scope, found.limits, found.verdict, failures


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from([None, "returns"]), st.sampled_from([40, 400]))
def test_random_programs_have_the_same_result_with_any_number_of_workers(
    pools: list[Executor], lists: Any, compare: Any, runs: int
) -> None:
    """As without an executor; also if the budget ends the search."""
    main = Listed(lists)
    alone = everything(fakempi.explore(main, len(lists), runs=runs, compare=compare))
    for pool in pools:
        assert everything(fakempi.explore(main, len(lists), runs=runs, compare=compare, executor=pool)) == alone


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("main", "p", "args", "options"),
    [
        (ticks, 4, (2,), {}),
        (ticks, 4, (2,), {"states": False, "runs": 60}),
        (ticks, 3, (2,), {"reduce": False, "runs": 60}),
        (order, 4, (1,), {}),
        (order, 4, (2,), {"runs": 60, "seed": 7}),
        (order, 4, (1,), {"stop": "first"}),
        (order, 3, (1,), {"compare": ("returns", "output")}),
        (order, 3, (2,), {"cost": "hockney:t_s=1,t_w=0", "mixing": 1}),
        (sentinels, 3, (), {"compare": "returns"}),
        (polls, 3, (), {}),
        (locks, 4, (), {}),
        (counts_runs, 3, (), {}),
    ],
)
def test_a_search_has_the_same_result_on_workers(
    pools: list[Executor], main: Any, p: int, args: Any, options: dict[str, Any]
) -> None:
    """With each kind of reduction and limit, for failures, and for outcomes that pickling changes."""
    alone = everything(fakempi.explore(main, p, *args, **options))
    assert everything(fakempi.explore(main, p, *args, executor=pools[1], **options)) == alone


class Remote(Executor):
    """Runs chunks in this process as if it were another one, and keeps their answers."""

    def __init__(self) -> None:
        self.answers: list[Any] = []

    def submit(self, do: Any, /, *args: Any, **keywords: Any) -> Future[Any]:
        """Run a chunk now."""
        future: Future[Any] = Future()
        (chunk,) = args
        result = do(chunk._replace(sender=("elsewhere", 0)))
        self.answers += result if isinstance(result, list) else [result]
        future.set_result(result)
        return future


def test_the_search_takes_over_the_runs_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of the search runs the first schedule, and few others."""
    here: list[Any] = []
    run = fakempi.run

    def counted(*args: Any, **more: Any) -> Any:
        here.append(1)
        return run(*args, **more)

    monkeypatch.setattr("fakempi.modelcheck.search.explore.run", counted)
    remote = Remote()
    found = fakempi.explore(ticks, 4, 2, executor=remote)
    assert found.exhausted
    assert len(here) < (found.runs + found.ended_early) / 4
    assert None not in remote.answers


@pytest.mark.slow
def test_a_wrong_assumption_about_known_states_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers end their runs where the tree does not, or continue where the tree does not."""
    alone = everything(fakempi.explore(ticks, 4, 2))

    with monkeypatch.context() as patch:
        patch.setattr(jobs.LoadedProgram, "known", lambda self, mode: set())
        assert everything(fakempi.explore(ticks, 4, 2, executor=Remote())) == alone
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "known_state", lambda state, asleep: 1)
        assert everything(fakempi.explore(ticks, 4, 2, executor=Remote())) == alone


def test_threads_run_the_search_in_this_process() -> None:
    """Runs in several threads would share objects and output."""
    with ThreadPoolExecutor(2) as threads:
        assert everything(fakempi.explore(order, 3, 2, executor=threads)) == everything(fakempi.explore(order, 3, 2))
    sent = Chunk(jobs.this_process(), "search", b"", b"", [jobs.SearchJob(LibraryMode(0))])
    assert run_chunk(sent) == [None]


def test_ranks_that_share_changing_objects_run_in_this_process(pools: list[Executor]) -> None:
    """Each run depends on the runs before it."""
    COUNTER["runs"] = 0
    found = fakempi.explore(counts_runs, 3, executor=pools[1])
    assert COUNTER["runs"] == found.runs + found.ended_early
    assert not found.exhausted


def test_programs_that_cannot_be_pickled_are_rejected(pools: list[Executor]) -> None:
    """The message names the part, and says what to do."""
    words = r"executor= sends the program to other processes, but the program '.*<lambda>' cannot be pickled: .*top level"
    with pytest.raises(TypeError, match=words):
        fakempi.explore(lambda comm: None, 2, executor=pools[0])
    with pytest.raises(TypeError, match="explore: executor must be a concurrent.futures.Executor or None, not 7"):
        fakempi.explore(ticks, 2, 1, executor=7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="but argument 2 cannot be pickled"):
        fakempi.explore(ticks, 2, 1, iter(lambda: 1, 2), executor=pools[0])  # type: ignore[arg-type]
    local = replace(find("bcast", "chain"), name="local", why_unsupported=lambda case: None)
    with pytest.raises(TypeError, match="but the option algorithms= cannot be pickled: .*algorithms by their names"):
        fakempi.explore(ticks, 2, 1, algorithms={"bcast": local}, executor=pools[0])


def test_a_program_that_workers_cannot_import_is_rejected(
    pools: list[Executor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, a function of a notebook."""
    monkeypatch.setattr("fakempi.modelcheck.search.workers.dumps", lambda value: b"cos\nno_such_function\n.")
    words = "a worker of the executor cannot load the program: AttributeError.*not in a notebook"
    with pytest.raises(TypeError, match=words):
        fakempi.explore(ticks, 3, 2, executor=pools[0])


@pytest.mark.slow
def test_a_dead_worker_is_reported() -> None:
    """The search ends with a sentence, and does not wait for the worker."""
    words = "^explore: a worker ended before its runs were complete, .* without executor="
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(BrokenExecutor, match=words):
        fakempi.explore(dies, 3, os.getpid(), executor=pool)


class Waiting(Executor):
    """Runs nothing; the second job that is submitted is interrupted."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, do: Any, /, *args: Any, **keywords: Any) -> Future[Any]:
        """Keep the job, or raise KeyboardInterrupt."""
        if self.futures:
            raise KeyboardInterrupt
        self.futures.append(Future())
        return self.futures[-1]


def test_an_interrupt_cancels_the_jobs_that_wait() -> None:
    """No job starts after the search has ended."""
    waiting = Waiting()
    with pytest.raises(KeyboardInterrupt):
        fakempi.explore(ticks, 4, 4, executor=waiting)
    assert [future.cancelled() for future in waiting.futures] == [True]
