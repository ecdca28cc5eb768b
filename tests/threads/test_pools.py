"""Pools of the standard library, of threads and of processes, and programs that wait by polling."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.extensions.threads.unmanaged import has_unmanaged_threads

POOLS = {
    "Pool": "from multiprocessing import Pool",
    "ProcessPoolExecutor": "from concurrent.futures import ProcessPoolExecutor as Pool",
}


def test_a_pool_of_threads_belongs_to_the_rank(backend: Any) -> None:
    """Its workers call MPI, and its helper threads are scheduled like any thread."""

    def exchange(comm: Any, tag: int) -> Any:
        return comm.sendrecv(tag, 1 - comm.rank, sendtag=tag, recvtag=tag)

    def main(comm: Any) -> Any:
        with ThreadPool(2) as pool:
            return pool.starmap(exchange, [(comm, tag) for tag in range(4)])

    assert fakempi.run(main, 2, backend=backend).returns == [[0, 1, 2, 3]] * 2


@pytest.mark.slow
@pytest.mark.parametrize("pool", POOLS)
def test_a_pool_of_processes_serves_its_rank(backend: Any, pool: str) -> None:
    """Its helper threads wait for pipes, as real threads, and the rank waits for them, however long."""
    program = f"""
import sys
import fakempi
{POOLS[pool]}
def main(comm):
    with Pool(2) as pool:
        return sum(pool.map(abs, [-comm.rank, 1])) + comm.allreduce(1)
if __name__ == "__main__":
    print(fakempi.run(main, 2, backend=sys.argv[1]).returns)
"""
    command = [sys.executable, "-W", "ignore", "-c", program, backend]
    done = subprocess.run(command, capture_output=True, text=True, timeout=270, check=False)
    assert (done.stdout, done.stderr) == ("[3, 4]\n", "")


def test_polling_futures_lets_time_advance(backend: Any) -> None:
    """One of them is done, so no call waits; the other one is done later."""

    def later() -> str:
        fakempi.compute(1)
        return "done"

    def main(comm: Any) -> Any:
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.submit(str), pool.submit(later)
            while not second.done():
                wait([first, second], return_when=FIRST_COMPLETED)
            return second.result(), MPI.Wtime()

    assert fakempi.run(main, 2, backend=backend).returns == [("done", 1)] * 2


@pytest.mark.quick(1)
@pytest.mark.parametrize("cpu_scale", [0.0, 1.0])  # a subscriber of `wait`
def test_a_rank_waits_for_a_lock_of_a_thread_outside_the_run(backend: Any, cpu_scale: float) -> None:
    """The lock is held for longer than the interval at which the rank checks whether the run is ending."""
    lock, begun = threading.Lock(), threading.Event()

    def hold() -> None:
        with lock:
            begun.set()
            time.sleep(0.3)

    def main(comm: Any) -> int:
        comm.Barrier()
        with lock:
            return int(comm.rank)

    thread = threading.Thread(target=hold)
    thread.start()
    assert begun.wait(60)
    assert fakempi.run(main, 2, backend=backend, cpu_scale=cpu_scale).returns == [0, 1]
    thread.join(60)


def test_the_timer_of_pytest_timeout_belongs_to_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there while any test runs, and would make every deadlock of locks wait five seconds for another thread."""
    (timer,) = [thread for thread in threading.enumerate() if thread.name.startswith("pytest_timeout ")]
    other = threading.Timer(1000, print)
    for thread, expected in ((timer, False), (other, True)):
        monkeypatch.setattr(threading, "_active", {0: thread})
        assert has_unmanaged_threads() == expected
