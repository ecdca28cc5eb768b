"""asyncio on every rank: ranks that share a thread have separate event loops."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program
from tests.isolation.harness import Capture, play


@pytest.mark.parametrize("cpu_scale", [0.0, 1.0])
def test_several_ranks_run_event_loops_at_once(cpu_scale: float, tmp_path: Path, backend: Any) -> None:
    """With MPI calls in coroutines, in which ranks wait for each other, with CPU time measured or not."""
    script = """
    import asyncio
    async def add(x):
        await asyncio.sleep(0)
        return comm.allreduce(x)
    async def main():
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        first = await add(comm.rank)
        results = await asyncio.gather(add(1), add(2))
        assert asyncio.get_running_loop() is loop and asyncio.current_task() is task
        got = comm.sendrecv(id(loop), (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        assert got != id(loop)
        return first, results
    for _ in range(2):
        assert asyncio.run(main()) == (6, [4, 8])
    comm.Barrier()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        print("none is running")
    """
    play(tmp_path, script, 4, backend, cpu_scale=cpu_scale)
    assert asyncio._get_running_loop() is None


# The interruption may hit `asyncio.run` while it creates or closes its loop; on a busy machine it hits the creation.
@pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore:unclosed event loop", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("cpu_scale", [0.0, 1.0])
def test_a_run_that_reaches_its_time_limit_ends_in_coroutines(
    cpu_scale: float, tmp_path: Path, backend: Any, capsys: Capture
) -> None:
    """Each rank ends where it waits, and no running loop is left."""
    (tmp_path / "work.py").write_text("""
import asyncio
from mpi4py import MPI
async def main():
    loop = asyncio.get_running_loop()
    try:
        while True:
            MPI.COMM_WORLD.Barrier()
    finally:
        print(asyncio.get_running_loop() is loop)
asyncio.run(main())
""")
    with pytest.raises(fakempi.RunTimeoutError):
        fakempi.run(Program([str(tmp_path / "work.py")]), 3, backend=backend, cpu_scale=cpu_scale, timeout=0.1)
    assert set(capsys.readouterr().out.split()) <= {"True"}
    assert asyncio._get_running_loop() is None
    gc.collect()  # what the interruption left is collected, with its warnings, in this test


def test_each_rank_has_its_current_loop(tmp_path: Path, backend: Any) -> None:
    """It is created on request, as in a main thread, and is set and reset by one rank only."""
    script = """
    import asyncio, warnings
    warnings.simplefilter("ignore")
    async def meet():
        return comm.allgather(comm.rank)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    comm.Barrier()
    assert asyncio.get_event_loop() is loop and loop.run_until_complete(meet()) == [0, 1, 2]
    loop.close()
    if comm.rank == 1:
        asyncio.set_event_loop(None)
    comm.Barrier()
    try:
        assert asyncio.get_event_loop() is loop and comm.rank != 1
    except RuntimeError:
        assert comm.rank == 1
    """
    play(tmp_path, script, 3, backend)


def test_coroutines_sleep_in_modeled_time(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Concurrently, with time-outs, and while other ranks run: no real waiting."""
    script = """
    import asyncio
    async def main():
        start, before = MPI.Wtime(), asyncio.get_running_loop().time()
        await asyncio.gather(asyncio.sleep(512), asyncio.sleep(1024))
        assert MPI.Wtime() - start == asyncio.get_running_loop().time() - before == 1024
        try:
            await asyncio.wait_for(asyncio.sleep(4096), 2048)
        except asyncio.TimeoutError:
            print(MPI.Wtime() - start)
        request = comm.irecv(source=1 - comm.rank)
        comm.send(comm.rank, 1 - comm.rank)
        while not (found := request.test())[0]:
            await asyncio.sleep(0.25)
        assert found[1] == 1 - comm.rank
        return await asyncio.get_running_loop().run_in_executor(None, sum, [1, 2])
    assert asyncio.run(main()) == 3
    """
    play(tmp_path, script, 2, backend)
    assert capsys.readouterr().out == "3072.0\n" * 2


def test_a_rank_that_fails_in_a_coroutine_ends_the_others(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Their coroutines end by their `finally` blocks, and no running loop is left."""
    script = """
    import asyncio
    async def main():
        try:
            comm.Barrier()
            if comm.rank == 1:
                1 / 0
            comm.Barrier()
        finally:
            print("over", asyncio.get_running_loop() is mine)
    mine = asyncio.new_event_loop()
    try:
        mine.run_until_complete(main())
    finally:
        mine.close()
    """
    with pytest.raises(fakempi.RankError, match="ZeroDivisionError"):
        play(tmp_path, script, 3, backend)
    assert capsys.readouterr().out == "over True\n" * 3
    assert asyncio._get_running_loop() is None


def test_threads_answer_a_loop_in_modeled_time(tmp_path: Path, backend: Any) -> None:
    """`to_thread`, `run_in_executor`, and a loop in a thread; a loop that polls requests ends."""
    script = """
    import asyncio, threading, time
    def work(seconds):
        time.sleep(seconds)
        return comm.sendrecv(seconds, 1 - comm.rank, sendtag=seconds, source=1 - comm.rank, recvtag=seconds)
    async def poll(request):
        while not (found := request.test())[0]:
            await asyncio.sleep(0.5)
        return found[1]
    async def main():
        loop = asyncio.get_running_loop()
        request = comm.irecv(source=1 - comm.rank, tag=9)
        results = asyncio.gather(asyncio.to_thread(work, 3), loop.run_in_executor(None, work, 2), poll(request))
        await asyncio.sleep(1)
        comm.isend("nine", 1 - comm.rank, tag=9)
        return await results
    assert asyncio.run(main()) == [3, 2, "nine"]
    assert 3 <= MPI.Wtime() < 3.1, MPI.Wtime()
    threads = [threading.Thread(target=lambda: asyncio.run(asyncio.sleep(4))) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert 7 <= MPI.Wtime() < 7.1, MPI.Wtime()
    """
    play(tmp_path, script, 2, backend)


def test_a_loop_that_nothing_can_wake_is_a_deadlock(tmp_path: Path, backend: Any) -> None:
    """It does not hang."""
    script = """
    import asyncio
    asyncio.run(asyncio.Event().wait())
    """
    with pytest.raises(fakempi.DeadlockError, match=r"rank 0: .*at work.py:\d+, since t = 0"):
        play(tmp_path, script, 1, backend)
