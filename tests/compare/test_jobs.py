"""Sweeps by executors: the same times in the same order; jobs that cannot be pickled run in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import fakempi.apps.compare
from collectives import Algorithm, Case, find
from collectives.loading import load
from collectives.pickling import pack
from fakempi import Hockney
from fakempi.apps.compare.jobs import TimingJob, run_jobs, run_packed
from fakempi.apps.compare.sweep import Contender, contenders, sweep
from fakempi.apps.compare.timing import CaseTime
from fakempi.errors import RankError

PAPERS = "hockney:t_s=8,t_w=0.5,eager_limit=0"
FILE = '''
from collectives import Algorithm, Case, find

def bcast_star(comm, buf, *, root=0, tag=0):
    find("bcast", "linear").run(comm, buf, root=root, tag=tag)

ALGORITHM = Algorithm("bcast", "star", bcast_star, None, closed_time=lambda case, t_s, t_w: 7.0)
'''


class PicklingExecutor(Executor):
    """Runs each job at once and records it; arguments and results are pickled, as between processes."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.futures: list[Future[Any]] = []

    def submit(self, do: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures.append(future)
        function, arguments = pickle.loads(pickle.dumps((do, args)))
        self.done.append(pickle.loads(pickle.dumps(function(*arguments, **keywords))))
        future.set_result(self.done[-1])
        return future


def failing(comm: Any, buf: Any, **keywords: Any) -> None:
    """This is not an algorithm."""
    raise ZeroDivisionError("in the algorithm")


@pytest.mark.quick(1)
@pytest.mark.parametrize("measure", [False, True])
def test_any_executor_gives_the_same_sweep(measure: bool) -> None:
    """In the same order, whichever job ends first."""
    how: Any = {"cost": PAPERS, "measure": measure}
    here = sweep("bcast", [2, 6, 8], [8, 64], **how)
    elsewhere = PicklingExecutor()
    assert sweep("bcast", [2, 6, 8], [8, 64], **how, executor=elsewhere) == here
    assert None not in elsewhere.done
    with ThreadPoolExecutor(3) as threads:
        assert sweep("bcast", [2, 6, 8], [8, 64], **how, executor=threads) == here


@pytest.mark.slow
def test_spawned_processes_give_the_same_sweep() -> None:
    """With a real process pool."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        job = TimingJob(find("bcast", "chain"), Case(4, 64), PAPERS)
        assert list(run_jobs([job], processes)) == [CaseTime(claimed=120.0)]


def test_an_algorithm_of_a_file_is_sent_as_its_path(tmp_path: Path) -> None:
    """Its functions have no names that pickle could use."""
    file = tmp_path / "star.py"
    file.write_text(FILE)
    elsewhere = PicklingExecutor()
    among = [Contender("star", load(file), {})]
    (column,) = sweep("bcast", [4], [8], cost=PAPERS, among=among, measure=True, executor=elsewhere).columns
    assert column.case_times == {"star": CaseTime(7.0, 36.0)}
    assert elsewhere.done == [CaseTime(7.0, 36.0)]
    parcel = pack(TimingJob(load(file), Case(4, 8), PAPERS))
    assert parcel is not None
    assert str(file).encode() in parcel


def test_parameters_that_are_algorithms_are_sent_by_name() -> None:
    """The worker finds them in its catalogue."""
    among = contenders("allgather", "intra", [("gather_bcast", {"bcast": "chain"})])
    elsewhere = PicklingExecutor()
    made = sweep("allgather", [4], [8], cost=PAPERS, among=among, executor=elsewhere)
    assert made == sweep("allgather", [4], [8], cost=PAPERS, among=among)
    assert None not in elsewhere.done


def test_jobs_that_cannot_be_pickled_run_in_this_process() -> None:
    """An algorithm without an importable name, and a cost model without a name."""

    class Own(Hockney):
        pass

    nowhere = replace(find("bcast", "chain"), name="mine")
    elsewhere = PicklingExecutor()
    made = sweep("bcast", [4], [8], cost=PAPERS, among=[Contender("mine", nowhere, {})], executor=elsewhere)
    assert made.columns[0].times == {"mine": 36.0}
    among = contenders("bcast", "intra", [("chain", {})])
    assert sweep("bcast", [4], [8], cost=Own(8.0, 0.5), among=among, executor=elsewhere).columns[0].times == {"chain": 36.0}
    assert elsewhere.futures == []


def test_an_error_of_a_worker_is_raised_in_the_caller() -> None:
    """With the original error, not one about pickling."""
    wrong = Algorithm("bcast", "wrong", failing, None)
    with pytest.raises(RankError, match="in the algorithm"):
        list(run_jobs([TimingJob(wrong, Case(2, 8), PAPERS)], PicklingExecutor()))
    assert run_packed(b"nonsense") is None


def test_jobs_that_are_no_longer_needed_are_cancelled() -> None:
    """For example by Ctrl-C: the first time is complete, and the sweep ends."""

    class Slow(PicklingExecutor):
        def submit(self, do: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
            self.futures.append(Future())
            if len(self.futures) == 1:
                self.futures[0].set_result(CaseTime(1.0))
            return self.futures[-1]

    def interrupt(label: str, case: Case) -> None:
        if case.p == 3:
            raise KeyboardInterrupt

    slow = Slow()
    among = contenders("bcast", "intra", [("chain", {})])
    with pytest.raises(KeyboardInterrupt):
        sweep("bcast", [2, 3, 4], [8], cost=PAPERS, among=among, executor=slow, report=interrupt)
    assert [future.cancelled() for future in slow.futures] == [False, True, True]


def test_the_package_exports_the_function() -> None:
    """Although a module has the same name."""
    from fakempi.apps.compare import sweep as public

    assert public is sweep
    assert set(fakempi.apps.compare.__all__) <= set(vars(fakempi.apps.compare))
