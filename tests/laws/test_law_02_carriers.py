"""Law 2: carriers. Threads are always there, greenlets are an extra; which one it is does not show."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

import fakempi
from fakempi import MPI, compute


def threads_in_a_run(nprocs: int, carrier: str) -> int:
    """How many threads there are beyond those before, while all ranks are in the middle of their program."""
    before = threading.enumerate()

    def main(comm: Any) -> int:
        compute(1)
        return sum(thread not in before for thread in threading.enumerate())

    return int(max(fakempi.run(main, nprocs, carrier=carrier).returns))


@pytest.fixture
def without_greenlet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if greenlet were not installed."""
    monkeypatch.setitem(sys.modules, "greenlet", None)
    monkeypatch.delitem(sys.modules, "fakempi.kernel.greenlets", raising=False)


def test_a_rank_is_a_thread_on_threads_and_none_on_greenlets(carrier: str) -> None:
    """Nothing else is started."""
    assert threads_in_a_run(5, carrier) == (5 if carrier == "threads" else 0)


def test_auto_takes_greenlets_where_they_can_be_imported() -> None:
    """And that is the default."""
    pytest.importorskip("greenlet")
    assert threads_in_a_run(3, "auto") == 0


@pytest.mark.usefixtures("without_greenlet")
def test_auto_takes_threads_where_greenlet_is_missing() -> None:
    """The standard library is enough."""
    assert threads_in_a_run(3, "auto") == 3


@pytest.mark.usefixtures("without_greenlet")
def test_asking_for_greenlets_without_greenlet_says_what_to_install() -> None:
    """Nothing is quietly replaced."""
    words = r"needs the package greenlet, .* pip install 'fakempi\[fast\]', or use carrier='threads'"
    with pytest.raises(fakempi.MPI.Exception, match=words):
        fakempi.run(lambda comm: None, 2, carrier="greenlets")


def test_an_unknown_carrier_is_refused() -> None:
    """With the ones that there are."""
    words = r"^run: carrier 'fibers' is unknown; there are 'auto', 'greenlets' and 'threads'\.$"
    with pytest.raises(ValueError, match=words):
        fakempi.run(lambda comm: None, 2, carrier="fibers")


@pytest.mark.parametrize(
    ("main", "nprocs", "words"),
    [
        (lambda comm: None, 0, r"^run: nprocs is 0; there must be at least 1 rank\.$"),
        (lambda comm: None, -3, r"^run: nprocs is -3; there must be at least 1 rank\.$"),
        (lambda comm: None, 2.0, r"^run: nprocs must be a whole number, not 2\.0\.$"),
        (lambda comm: None, True, r"^run: nprocs must be a whole number, not True\.$"),
        (lambda comm: None, "2", r"^run: nprocs must be a whole number, not '2'\.$"),
        ("main", 2, r"^run: main must be a function that takes a communicator, not 'main'\.$"),
    ],
)
def test_what_cannot_be_run_is_refused(main: Any, nprocs: Any, words: str) -> None:
    """Before anything starts, with mpi4py's error class."""
    with pytest.raises(MPI.Exception, match=words) as caught:
        fakempi.run(main, nprocs)
    assert caught.value.Get_error_class() == MPI.ERR_ARG
    assert isinstance(caught.value, ValueError | TypeError)


def test_a_blocked_rank_hands_the_baton_straight_to_the_next() -> None:
    """In a ring, a message costs one switch; the hub is asked at the start and at the end."""
    greenlet = pytest.importorskip("greenlet")
    ranks, rounds = 8, 30
    hub = greenlet.getcurrent()
    switches: list[bool] = []

    def main(comm: Any) -> None:
        for _ in range(rounds):
            comm.Sendrecv(bytearray(8), (comm.rank + 1) % ranks, 0, bytearray(8), (comm.rank - 1) % ranks, 0)

    before = greenlet.settrace(lambda event, pair: switches.append(pair[1] is hub))
    try:
        fakempi.run(main, ranks, carrier="greenlets")
    finally:
        greenlet.settrace(before)
    assert len(switches) <= ranks * rounds + 6 * ranks
    assert sum(switches) <= 3 * ranks


def test_thousands_of_ranks_run_in_one_process() -> None:
    """All of them at once, in the middle of their program."""
    pytest.importorskip("greenlet")
    there = 0

    def main(comm: Any) -> int:
        nonlocal there
        there += 1
        compute(1)
        return there

    assert fakempi.run(main, 3000, carrier="greenlets").returns == [3000] * 3000


def test_hundreds_of_ranks_run_on_threads() -> None:
    """With stacks small enough for it."""

    def main(comm: Any) -> int:
        return int(comm.sendrecv(comm.rank, comm.size - 1 - comm.rank, source=comm.size - 1 - comm.rank))

    assert fakempi.run(main, 300, carrier="threads").returns == list(range(299, -1, -1))


def test_nested_calls_fit_on_a_ranks_stack(carrier: str) -> None:
    """Some hundred, with a message at the bottom."""

    def dig(comm: Any, depth: int) -> Any:
        return dig(comm, depth - 1) if depth else comm.sendrecv(comm.rank, 1 - comm.rank, source=1 - comm.rank)

    assert fakempi.run(dig, 2, 300, carrier=carrier).returns == [1, 0]


def test_a_run_inside_a_rank(carrier: str) -> None:
    """On either carrier, and on the other one; the rank is itself again afterwards, and its clock has not moved."""
    others = ["threads", carrier]

    def inner(comm: Any) -> tuple[int, int, float]:
        compute(5)
        assert MPI.COMM_WORLD.Get_size() == 3
        return comm.sendrecv(comm.rank, (comm.rank + 1) % 3, source=(comm.rank - 1) % 3), comm.size, MPI.Wtime()

    def outer(comm: Any) -> Any:
        compute(comm.rank)
        found = [fakempi.run(inner, 3, carrier=other, cost=fakempi.Free()) for other in others]
        assert (MPI.COMM_WORLD.Get_rank(), MPI.Wtime()) == (comm.rank, comm.rank)
        other = comm.sendrecv(comm.rank, 1 - comm.rank, source=1 - comm.rank)
        return other, [run.returns for run in found]

    expected = [(2, 3, 5.0), (0, 3, 5.0), (1, 3, 5.0)]
    assert fakempi.run(outer, 2, carrier=carrier).returns == [(1, [expected] * 2), (0, [expected] * 2)]


def test_a_run_in_another_thread(carrier: str) -> None:
    """Where the world is one of one before and after."""
    found: list[Any] = []

    def work() -> None:
        found.append(MPI.COMM_WORLD.size)
        found.append(fakempi.run(lambda comm: comm.rank, 3, carrier=carrier).returns)
        found.append(MPI.COMM_WORLD.size)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [1, [0, 1, 2], 1]


def test_two_runs_in_two_threads_at_once(carrier: str) -> None:
    """Each waits in the middle for the other, and neither sees the other's ranks."""
    meet = threading.Barrier(2)  # time-outs would be modelled, and expire when nothing else can happen
    results: dict[str, Any] = {}

    def main(comm: Any, name: str) -> Any:
        compute(len(name))
        if comm.rank == 0:
            meet.wait()
        found = comm.sendrecv(name * comm.rank, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        if comm.rank == 0:
            meet.wait()
        return found, MPI.COMM_WORLD.Get_size(), MPI.Wtime()

    def work(name: str, nprocs: int) -> None:
        results[name] = fakempi.run(main, nprocs, name, carrier=carrier, cost=fakempi.Free()).returns

    threads = [threading.Thread(target=work, args=pair) for pair in (("a", 3), ("bb", 4))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {
        "a": [("a" * ((rank - 1) % 3), 3, 1.0) for rank in range(3)],
        "bb": [("bb" * ((rank - 1) % 4), 4, 2.0) for rank in range(4)],
    }
