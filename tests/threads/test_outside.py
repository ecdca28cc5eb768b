"""Pools of Python's own, of threads and of processes, and programs that wait by looking again and again."""

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
from fakempi.threads.foreign import strangers

POOLS = {
    "Pool": "from multiprocessing import Pool",
    "ProcessPoolExecutor": "from concurrent.futures import ProcessPoolExecutor as Pool",
}


def test_a_pool_of_threads_is_the_ranks_own(carrier: str) -> None:
    """Its workers call MPI, and its helpers take turns like any thread."""

    def exchange(comm: Any, tag: int) -> Any:
        return comm.sendrecv(tag, 1 - comm.rank, sendtag=tag, recvtag=tag)

    def main(comm: Any) -> Any:
        with ThreadPool(2) as pool:
            return pool.starmap(exchange, [(comm, tag) for tag in range(4)])

    assert fakempi.run(main, 2, carrier=carrier).returns == [[0, 1, 2, 3]] * 2


@pytest.mark.slow
@pytest.mark.parametrize("pool", POOLS)
def test_a_pool_of_processes_serves_its_rank(carrier: str, pool: str) -> None:
    """Their helpers wait for pipes, as real threads, and their ranks for them, however long that takes."""
    program = f"""
import sys
import fakempi
{POOLS[pool]}
def main(comm):
    with Pool(2) as pool:
        return sum(pool.map(abs, [-comm.rank, 1])) + comm.allreduce(1)
if __name__ == "__main__":
    print(fakempi.run(main, 2, carrier=sys.argv[1]).returns)
"""
    command = [sys.executable, "-W", "ignore", "-c", program, carrier]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.stdout, done.stderr) == ("[3, 4]\n", "")


def test_looking_at_futures_again_and_again_lets_time_move(carrier: str) -> None:
    """One of them is done, so nobody ever waits; the other one is done later."""

    def later() -> str:
        fakempi.compute(1)
        return "done"

    def main(comm: Any) -> Any:
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.submit(str), pool.submit(later)
            while not second.done():
                wait([first, second], return_when=FIRST_COMPLETED)
            return second.result(), MPI.Wtime()

    assert fakempi.run(main, 2, carrier=carrier).returns == [("done", 1)] * 2


@pytest.mark.parametrize("computing", [0.0, 1.0])  # measuring takes a step around waiting
def test_a_lock_that_a_thread_outside_holds_for_a_while(carrier: str, computing: float) -> None:
    """A rank that waits for it waits outside of the loop, longer than between two looks whether the run ends."""
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
    assert fakempi.run(main, 2, carrier=carrier, computing=computing).returns == [0, 1]
    thread.join(60)


def test_the_timer_of_pytest_timeout_is_no_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there while any test runs, and would make every deadlock of locks wait five seconds for help from outside."""
    (timer,) = [thread for thread in threading.enumerate() if thread.name.startswith("pytest_timeout ")]
    other = threading.Timer(1000, print)
    for thread, expected in ((timer, False), (other, True)):
        monkeypatch.setattr(threading, "_active", {0: thread})
        assert strangers() == expected
