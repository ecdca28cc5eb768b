"""Sweeps by executors: the same figures in the same order, and what cannot travel is timed here."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import fakempi.compare
from collectives import Algorithm, Case, find
from collectives.loading import load
from fakempi import Hockney
from fakempi.compare.jobs import Job, carry_out, pack, perform
from fakempi.compare.sweep import Contender, contenders, sweep
from fakempi.compare.timing import Figure
from fakempi.errors import RankError

PAPERS = "hockney:t_s=8,t_w=0.5,eager_limit=0"
FILE = '''
from collectives import Algorithm, Case, find

def bcast_star(comm, buf, *, root=0, tag=0):
    find("bcast", "linear").run(comm, buf, root=root, tag=tag)

ALGORITHM = Algorithm("bcast", "star", bcast_star, None, closed_time=lambda case, t_s, t_w: 7.0)
'''


class Elsewhere(Executor):
    """Does at once what it is handed, and remembers it; what goes there and comes back is pickled, as between processes."""

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
    """Not an algorithm."""
    raise ZeroDivisionError("in the algorithm")


@pytest.mark.parametrize("measure", [False, True])
def test_any_executor_gives_the_same_sweep(measure: bool) -> None:
    """In the same order, whoever is done first."""
    how: Any = {"cost": PAPERS, "measure": measure}
    here = sweep("bcast", [2, 6, 8], [8, 64], **how)
    elsewhere = Elsewhere()
    assert sweep("bcast", [2, 6, 8], [8, 64], **how, executor=elsewhere) == here
    assert None not in elsewhere.done
    with ThreadPoolExecutor(3) as threads:
        assert sweep("bcast", [2, 6, 8], [8, 64], **how, executor=threads) == here


def test_processes_that_start_afresh_do_it_too() -> None:
    """The real thing."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert list(carry_out([Job(find("bcast", "chain"), Case(4, 64), PAPERS)], processes)) == [Figure(claimed=120.0)]


def test_an_algorithm_of_a_file_travels_by_its_path(tmp_path: Path) -> None:
    """Its functions have no names that pickle could use."""
    file = tmp_path / "star.py"
    file.write_text(FILE)
    elsewhere = Elsewhere()
    among = [Contender("star", load(file), {})]
    (column,) = sweep("bcast", [4], [8], cost=PAPERS, among=among, measure=True, executor=elsewhere).columns
    assert column.figures == {"star": Figure(7.0, 36.0)}
    assert elsewhere.done == [Figure(7.0, 36.0)]
    parcel = pack(Job(load(file), Case(4, 8), PAPERS))
    assert parcel is not None
    assert str(file).encode() in parcel


def test_parameters_that_are_algorithms_travel_as_well() -> None:
    """By name."""
    among = contenders("allgather", "intra", [("gather_bcast", {"bcast": "chain"})])
    elsewhere = Elsewhere()
    made = sweep("allgather", [4], [8], cost=PAPERS, among=among, executor=elsewhere)
    assert made == sweep("allgather", [4], [8], cost=PAPERS, among=among)
    assert None not in elsewhere.done


def test_what_cannot_travel_is_timed_here() -> None:
    """An algorithm that is nowhere to be found; a cost model without a name."""

    class Own(Hockney):
        pass

    nowhere = replace(find("bcast", "chain"), name="mine")
    elsewhere = Elsewhere()
    made = sweep("bcast", [4], [8], cost=PAPERS, among=[Contender("mine", nowhere, {})], executor=elsewhere)
    assert made.columns[0].times == {"mine": 36.0}
    among = contenders("bcast", "intra", [("chain", {})])
    assert sweep("bcast", [4], [8], cost=Own(8.0, 0.5), among=among, executor=elsewhere).columns[0].times == {"chain": 36.0}
    assert elsewhere.futures == []


def test_what_goes_wrong_elsewhere_is_seen_here() -> None:
    """With the error as it is, not one that has been pickled."""
    wrong = Algorithm("bcast", "wrong", failing, None)
    with pytest.raises(RankError, match="in the algorithm"):
        list(carry_out([Job(wrong, Case(2, 8), PAPERS)], Elsewhere()))
    assert perform(b"nonsense") is None


def test_what_is_not_waited_for_is_cancelled() -> None:
    """As when somebody presses Ctrl-C: the first figure is there, and it ends."""

    class Slow(Elsewhere):
        def submit(self, do: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
            self.futures.append(Future())
            if len(self.futures) == 1:
                self.futures[0].set_result(Figure(1.0))
            return self.futures[-1]

    def interrupt(label: str, case: Case) -> None:
        if case.p == 3:
            raise KeyboardInterrupt

    slow = Slow()
    among = contenders("bcast", "intra", [("chain", {})])
    with pytest.raises(KeyboardInterrupt):
        sweep("bcast", [2, 3, 4], [8], cost=PAPERS, among=among, executor=slow, tell=interrupt)
    assert [future.cancelled() for future in slow.futures] == [False, True, True]


def test_the_front_door_of_the_room_has_the_function() -> None:
    """Though a module has the same name."""
    from fakempi.compare import sweep as public

    assert public is sweep
    assert set(fakempi.compare.__all__) <= set(vars(fakempi.compare))
