"""Executors without a run: their workers are threads of the singleton."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from concurrent.futures import TimeoutError as Late
from operator import mul
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakempi import MPI
from fakempi.isolation.mpi4py.futures import MPICommExecutor, MPIPoolExecutor, ThreadPoolExecutor, get_comm_workers
from fakempi.isolation.mpi4py.futures._core import RemoteTraceback
from fakempi.isolation.mpi4py.futures.remote_errors import PicklableError
from fakempi.isolation.mpi4py.futures.serialized_comm import SerializedComm
from fakempi.isolation.mpi4py.futures.settings import backoff, number_of_workers, use_pkl5
from fakempi.isolation.mpi4py.util.pool import ThreadPool


@pytest.fixture(scope="module")
def executor() -> Iterator[ThreadPoolExecutor]:
    """An executor of three threads."""
    with ThreadPoolExecutor(3) as executor:
        yield executor


@settings(max_examples=30)
@given(
    size=st.integers(0, 20), chunksize=st.integers(1, 7), buffersize=st.none() | st.integers(1, 7), unordered=st.booleans()
)
def test_map_equals_pythons_map(
    executor: ThreadPoolExecutor, size: int, chunksize: int, buffersize: int | None, unordered: bool
) -> None:
    """In chunks, with a buffer, or unordered."""
    some, others = range(size), range(3, size + 3)
    options: dict[str, Any] = {"chunksize": chunksize, "timeout": 60}
    options |= {"unordered": True} if unordered else {"buffersize": buffersize}
    found = list(executor.map(mul, some, others, **options))
    assert (sorted(found) if unordered else found) == list(map(mul, some, others))
    assert sorted(executor.starmap(mul, zip(some, others, strict=True), **options)) == sorted(found)


def test_invalid_arguments_of_map_are_rejected(executor: ThreadPoolExecutor) -> None:
    """When it is called."""
    for options, words in (
        ({"chunksize": 0}, "^chunksize is 0; it must be at least 1.$"),
        ({"buffersize": 0}, "^buffersize is 0; it must be at least 1.$"),
        ({"buffersize": 1, "unordered": True}, "^buffersize cannot be combined with unordered.$"),
    ):
        with pytest.raises(ValueError, match=words):
            executor.map(abs, [1], **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^buffersize is '1', not an int or None.$"):
        executor.map(abs, [1], buffersize="1")  # type: ignore[arg-type]


@pytest.mark.parametrize("unordered", [False, True])
def test_late_results_are_cancelled(unordered: bool) -> None:
    """If no worker has started them."""
    gate, calls = threading.Event(), []

    def call(i: int) -> None:
        calls.append(i)
        gate.wait(60)

    with ThreadPoolExecutor(1) as executor:
        results = executor.map(call, range(5), timeout=0, unordered=unordered)
        with pytest.raises(Late):
            list(results)
        gate.set()
    assert calls in ([], [0])


def test_a_buffer_is_filled_as_results_are_requested(executor: ThreadPoolExecutor) -> None:
    """Not before."""
    requested = []

    def calls() -> Iterator[int]:
        for i in range(9):
            requested.append(i)
            yield i

    results = executor.map(abs, calls(), buffersize=2)
    assert requested == [0, 1]
    assert next(results) == 0
    assert requested == [0, 1, 2]


def test_an_executor_ends_when_it_is_shut_down() -> None:
    """Pending tasks are completed or cancelled, and later ones rejected."""
    gate = threading.Event()
    executor = ThreadPoolExecutor(1)
    assert executor.bootup().num_workers == executor._max_workers == 1
    first, second = executor.submit(gate.wait, 60), executor.submit(abs, -1)
    while not first.running():
        time.sleep(0)
    executor.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(CancelledError):
        second.result()
    gate.set()
    executor.shutdown()
    assert first.result() is True
    assert executor.num_workers == 0
    for call in (lambda: executor.submit(abs, 1), executor.bootup):
        with pytest.raises(RuntimeError, match="^cannot (submit|bootup) after shutdown$"):
            call()


def test_an_unreferenced_executor_ends() -> None:
    """With its thread."""
    executor = ThreadPoolExecutor()
    assert list(executor.map(abs, [-1])) == [1]
    assert executor._pool is not None
    thread = executor._pool.thread
    del executor
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()


def test_an_initializer_that_fails_breaks_the_executor() -> None:
    """Pending tasks fail, with the cause, and so does a later submit."""
    gate = threading.Event()

    def initializer(value: int) -> None:
        gate.wait(60)
        raise ValueError(value)

    executor = ThreadPoolExecutor(2, initializer, (3,))
    future = executor.submit(abs, -1)
    gate.set()
    with pytest.raises(BrokenExecutor, match="^initializer failed$") as failure:
        future.result()
    assert isinstance(failure.value.__cause__, ValueError)
    assert executor.num_workers == 0
    with pytest.raises(BrokenExecutor, match="^initializer failed$"):
        executor.submit(abs, -1)


def test_an_executor_that_cannot_spawn_is_broken() -> None:
    """With the reason, and without blocking."""
    with pytest.raises(BrokenExecutor, match="^Exception: .*processes cannot be spawned outside a run|^MPIError: "):
        MPIPoolExecutor().submit(abs, -1).result()


def test_a_single_rank_has_a_thread_as_worker() -> None:
    """The thread is in a communicator of workers; the rank itself is not."""
    context = MPICommExecutor()
    with context as executor:
        assert executor is not None
        assert executor.num_workers == 1
        assert executor.submit(lambda: get_comm_workers().Get_size()).result() == 1
        with pytest.raises(RuntimeError, match="^MPICommExecutor: this context is already active.$"), context:
            pass
    with pytest.raises(RuntimeError, match="^get_comm_workers: this thread is not executing a task of a worker"):
        get_comm_workers()
    with pytest.raises(ValueError, match="^MPICommExecutor: root 1 is not in 0..0.$"):
        MPICommExecutor(root=1)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"max_workers": 0}, ValueError, "^max_workers is 0; it must be at least 1.$"),
        ({"initializer": 3}, TypeError, "^initializer is 3, which is not callable.$"),
        ({"service": "x"}, NotImplementedError, "service is not emulated; workers are spawned, or are ranks of the run.$"),
        ({"wdir": "/nowhere"}, NotImplementedError, "wdir is '/nowhere', but workers start in the current directory, '"),
        ({"env": {"A_B_C": "1"}}, NotImplementedError, "env sets A_B_C to '1', but workers inherit the environment"),
        ({"python_exe": "/bin/other"}, NotImplementedError, "python_exe is '/bin/other', but workers are ranks of this"),
    ],
)
def test_options_that_workers_do_not_support_are_rejected(options: Any, kind: type[Exception], words: str) -> None:
    """When the executor is created; flags of Python cause a warning."""
    with pytest.raises(kind, match=words):
        MPIPoolExecutor(**options)
    with pytest.warns(RuntimeWarning, match=r"python_args \['-B'\] have no effect: workers are ranks of this process.$"):
        MPIPoolExecutor(python_args=["-B"], wdir=".", env={})


def test_environment_variables_set_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of workers, the sleep time, and the pickling of objects."""
    for name, value in (("MAX_WORKERS", "7"), ("BACKOFF", "0.5"), ("USE_PKL5", "Yes")):
        monkeypatch.setenv(f"MPI4PY_FUTURES_{name}", value)
    assert (number_of_workers({}), backoff({}), use_pkl5({})) == (7, 0.5, True)
    assert (number_of_workers({"max_workers": 2}), backoff({"backoff": 1}), use_pkl5({"use_pkl5": False})) == (2, 1, False)
    monkeypatch.setenv("MPI4PY_FUTURES_USE_PKL5", "maybe")
    with pytest.warns(RuntimeWarning, match="^environment variable MPI4PY_FUTURES_USE_PKL5: 'maybe' must be yes or no$"):
        assert use_pkl5({}) is False
    monkeypatch.delenv("MPI4PY_FUTURES_MAX_WORKERS")
    assert number_of_workers({}) == 1


class Awkward(Exception):
    """Cannot be made from its `args`."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


@pytest.mark.parametrize("error", [KeyError(3), Awkward(1, 2)])
def test_exceptions_arrive_with_their_traceback(error: Exception) -> None:
    """Also exceptions that cannot be pickled, as text."""
    try:
        raise error
    except Exception as caught:
        arrived = MPI.pickle.loads(MPI.pickle.dumps(PicklableError(caught, MPI.COMM_SELF)))
    assert isinstance(arrived.__cause__, RemoteTraceback)
    assert str(arrived.__cause__).startswith('\nOn worker 0 of 1:\n"""\nTraceback (most recent call last):\n')
    if isinstance(error, KeyError):
        assert type(arrived) is KeyError
        assert arrived.args == (3,)
    else:
        assert type(arrived) is RuntimeError
        assert str(arrived).startswith("Awkward: 1 and 2 (not picklable: ")


def test_one_thread_at_a_time_may_call() -> None:
    """If MPI's thread level requires it, calls are short, and each holds the lock."""
    held: list[str] = []

    class Lock:
        def __enter__(self) -> None:
            held.append("held")

        def __exit__(self, *failure: object) -> None:
            held.pop()

    class Comm:
        left = 3

        def iprobe(self, source: int, tag: int, status: MPI.Status) -> bool:
            assert held == ["held"]
            self.left -= 1
            return self.left == 0

        def recv(self, buf: Any, source: int, tag: int, status: MPI.Status) -> str:
            assert held == ["held"]
            return "came"

    line = SerializedComm(Comm(), Lock(), 0.0)
    assert line.recv(MPI.Status()) == "came"
    assert not held


def test_a_pool_has_the_interface_of_multiprocessing() -> None:
    """Calls, maps and asynchronous results."""
    arrived: list[Any] = []
    with ThreadPool(2) as pool:
        assert pool.apply(divmod, (7, 2)) == (3, 1)
        assert pool.apply(dict, (), {"a": 1}) == {"a": 1}
        for chunksize in (None, 1, 3):
            assert pool.map(abs, range(-9, 0), chunksize) == list(range(9, 0, -1))
            assert pool.starmap(mul, [(1, 2), (3, 4)], chunksize) == [2, 12]
            assert pool.map_async(abs, iter([-1, -2]), chunksize, arrived.append).get(60) == [1, 2]
        assert list(pool.imap(abs, [-1, -2])) == sorted(pool.imap_unordered(abs, [-1, -2])) == [1, 2]
        assert list(pool.istarmap(mul, [(1, 2)])) == list(pool.istarmap_unordered(mul, [(1, 2)], 2)) == [2]
        assert arrived == [[1, 2]] * 3
        assert pool.map(abs, []) == [] == pool.starmap_async(mul, []).get(60)
        failed = pool.map_async(int, ["x"], error_callback=arrived.append)
        failed.wait(60)
        assert isinstance(arrived[-1], ValueError)
        assert failed.ready()
        assert not failed.successful()
    pool.join()


def test_results_of_a_terminated_pool_never_arrive() -> None:
    """Waiting raises a time-out; before that, `successful` raises."""
    gate = threading.Event()
    pool = ThreadPool(1)
    running = pool.apply_async(gate.wait, (60,))
    result = pool.apply_async(abs, (1,))
    with pytest.raises(ValueError, match="^the call has not completed$"):
        result.successful()
    with pytest.raises(TimeoutError, match="^no result after 0 seconds$"):
        result.get(0)
    while not running.future.running():
        time.sleep(0)
    pool.terminate()
    with pytest.raises(TimeoutError, match="^the pool was terminated before the call was executed$"):
        result.get()
    gate.set()
    pool.join()
    assert running.get() is True
    assert not result.successful()
    with pytest.raises(ValueError, match="^processes is 0; it must be at least 1.$"):
        ThreadPool(0)
    with pytest.raises(TypeError, match="^initializer is 3, which is not callable.$"):
        ThreadPool(initializer=3)  # type: ignore[arg-type]
    for option in ("maxtasksperchild", "context"):
        with pytest.warns(UserWarning, match=f"^Pool: {option} has no effect.$"):
            ThreadPool(1, **{option: 1})  # type: ignore[arg-type]
