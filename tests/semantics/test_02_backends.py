"""Rule 2: backends. Threads are always available, greenlets are an extra; results do not depend on the backend."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

import fakempi
from fakempi import MPI, compute
from tests.helpers.packages import needs


def threads_in_a_run(nprocs: int, backend: Any) -> int:
    """The number of new threads while all ranks are in the middle of their program."""
    before = threading.enumerate()

    def main(comm: Any) -> int:
        compute(1)
        return sum(thread not in before for thread in threading.enumerate())

    return int(max(fakempi.run(main, nprocs, backend=backend).returns))


@pytest.fixture
def without_greenlet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate that greenlet is not installed."""
    monkeypatch.setitem(sys.modules, "greenlet", None)
    monkeypatch.delitem(sys.modules, "fakempi.core.kernel.greenlets", raising=False)


def test_a_rank_has_a_thread_on_the_thread_backend_only(backend: Any) -> None:
    """No other thread is started."""
    assert threads_in_a_run(5, backend) == (5 if backend == "threads" else 0)


def test_auto_uses_greenlets_if_they_can_be_imported() -> None:
    """This is the default."""
    needs("greenlet")
    assert threads_in_a_run(3, "auto") == 0


@pytest.mark.usefixtures("without_greenlet")
def test_auto_uses_threads_if_greenlet_is_missing() -> None:
    """The standard library is enough."""
    assert threads_in_a_run(3, "auto") == 3


@pytest.mark.usefixtures("without_greenlet")
def test_requesting_greenlets_without_greenlet_names_the_package() -> None:
    """No other backend is used silently."""
    words = r"needs the package greenlet, .* pip install 'fakempi\[fast\]', or use backend='threads'"
    with pytest.raises(fakempi.MPI.Exception, match=words):
        fakempi.run(lambda comm: None, 2, backend="greenlets")


def test_an_unknown_backend_is_rejected() -> None:
    """The message lists the valid ones."""
    words = r"^run: backend must be 'auto', 'greenlets' or 'threads', not 'fibers'\.$"
    with pytest.raises(ValueError, match=words):
        fakempi.run(lambda comm: None, 2, backend="fibers")  # type: ignore[arg-type]  # the wrong value is the test


@pytest.mark.parametrize(
    ("main", "nprocs", "words"),
    [
        (lambda comm: None, 0, r"^run: nprocs is 0; there must be at least 1 rank\.$"),
        (lambda comm: None, -3, r"^run: nprocs is -3; there must be at least 1 rank\.$"),
        (lambda comm: None, 2.0, r"^run: nprocs must be an integer, not 2\.0\.$"),
        (lambda comm: None, True, r"^run: nprocs must be an integer, not True\.$"),
        (lambda comm: None, "2", r"^run: nprocs must be an integer, not '2'\.$"),
        ("main", 2, r"^run: main must be a function that takes a communicator, not 'main'\.$"),
    ],
)
def test_invalid_arguments_are_rejected(main: Any, nprocs: Any, words: str) -> None:
    """Before the run starts, with mpi4py's error class."""
    with pytest.raises(MPI.Exception, match=words) as caught:
        fakempi.run(main, nprocs)
    assert caught.value.Get_error_class() == MPI.ERR_ARG
    assert isinstance(caught.value, ValueError | TypeError)


def test_a_blocked_rank_switches_directly_to_the_next() -> None:
    """In a ring, a message costs one switch; the hub is used at the start and at the end."""
    greenlet = needs("greenlet")
    ranks, rounds = 8, 30
    hub = greenlet.getcurrent()
    switches: list[bool] = []

    def main(comm: Any) -> None:
        for _ in range(rounds):
            comm.Sendrecv(bytearray(8), (comm.rank + 1) % ranks, 0, bytearray(8), (comm.rank - 1) % ranks, 0)

    before = greenlet.settrace(lambda event, pair: switches.append(pair[1] is hub))
    try:
        fakempi.run(main, ranks, backend="greenlets")
    finally:
        greenlet.settrace(before)
    assert len(switches) <= ranks * rounds + 6 * ranks
    assert sum(switches) <= 3 * ranks


def test_thousands_of_ranks_run_in_one_process() -> None:
    """All at once, in the middle of their program."""
    needs("greenlet")
    there = 0

    def main(comm: Any) -> int:
        nonlocal there
        there += 1
        compute(1)
        return there

    assert fakempi.run(main, 3000, backend="greenlets").returns == [3000] * 3000


def test_hundreds_of_ranks_run_on_threads() -> None:
    """With stacks that are small enough."""

    def main(comm: Any) -> int:
        return int(comm.sendrecv(comm.rank, comm.size - 1 - comm.rank, source=comm.size - 1 - comm.rank))

    assert fakempi.run(main, 300, backend="threads").returns == list(range(299, -1, -1))


def test_nested_calls_fit_on_the_stack_of_a_rank(backend: Any) -> None:
    """Hundreds, with a message in the innermost call."""

    def nested_calls(comm: Any, depth: int) -> Any:
        return nested_calls(comm, depth - 1) if depth else comm.sendrecv(comm.rank, 1 - comm.rank, source=1 - comm.rank)

    assert fakempi.run(nested_calls, 2, 300, backend=backend).returns == [1, 0]


def test_a_nested_run_inside_a_rank(backend: Any) -> None:
    """On the same or the other backend; afterwards the rank is current again, and its clock has not moved."""
    others = ["threads", backend]

    def inner(comm: Any) -> tuple[int, int, float]:
        compute(5)
        assert MPI.COMM_WORLD.Get_size() == 3
        return comm.sendrecv(comm.rank, (comm.rank + 1) % 3, source=(comm.rank - 1) % 3), comm.size, MPI.Wtime()

    def outer(comm: Any) -> Any:
        compute(comm.rank)
        found = [fakempi.run(inner, 3, backend=other, cost=fakempi.ZeroCost()) for other in others]
        assert (MPI.COMM_WORLD.Get_rank(), MPI.Wtime()) == (comm.rank, comm.rank)
        other = comm.sendrecv(comm.rank, 1 - comm.rank, source=1 - comm.rank)
        return other, [run.returns for run in found]

    expected = [(2, 3, 5.0), (0, 3, 5.0), (1, 3, 5.0)]
    assert fakempi.run(outer, 2, backend=backend).returns == [(1, [expected] * 2), (0, [expected] * 2)]


def test_a_run_in_another_thread(backend: Any) -> None:
    """Outside the run that thread is a singleton."""
    found: list[Any] = []

    def work() -> None:
        found.append(MPI.COMM_WORLD.size)
        found.append(fakempi.run(lambda comm: comm.rank, 3, backend=backend).returns)
        found.append(MPI.COMM_WORLD.size)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [1, [0, 1, 2], 1]


@pytest.mark.usefixtures("patient")
def test_two_runs_in_two_threads_at_once(backend: Any) -> None:
    """Each waits in the middle for the other, and neither sees the other's ranks."""
    meet = threading.Barrier(2)  # time-outs would be modeled, and expire when nothing else can happen
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
        results[name] = fakempi.run(main, nprocs, name, backend=backend, cost=fakempi.ZeroCost()).returns

    threads = [threading.Thread(target=work, args=pair) for pair in (("a", 3), ("bb", 4))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {
        "a": [("a" * ((rank - 1) % 3), 3, 1.0) for rank in range(3)],
        "bb": [("bb" * ((rank - 1) % 4), 4, 2.0) for rank in range(4)],
    }
