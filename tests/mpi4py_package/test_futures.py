"""`mpi4py.futures` in scripts: workers that are the other ranks, spawned ranks, or those of `-m mpi4py.futures`."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program, mpi4py_modules
from tests.isolation.harness import Capture, play


def futures(directory: Path, script: str, nprocs: int, backend: Any = "auto", *args: str) -> fakempi.Run[int]:
    """Run a script under `-m mpi4py.futures`."""
    (directory / "work.py").write_text(dedent(script), encoding="utf-8")
    return fakempi.run(Program(["-m", "mpi4py.futures", str(directory / "work.py"), *args]), nprocs, backend=backend)


@pytest.mark.quick(1)
@pytest.mark.parametrize("nprocs", [1, 2, 4])
def test_the_other_ranks_are_workers(tmp_path: Path, nprocs: int, backend: Any) -> None:
    """For any root; exceptions arrive with their traceback."""
    script = """
    from mpi4py.futures import MPICommExecutor, as_completed, get_comm_workers, wait
    def square(x): return x * x
    def fail(x): raise KeyError(x)
    def who(): return get_comm_workers().Get_rank(), comm.Get_rank()
    for root in (0, comm.size - 1):
        with MPICommExecutor(comm, root) as executor:
            assert (executor is not None) == (comm.rank == root)
            assert executor.num_workers == max(1, comm.size - 1)   # on workers this fails, and is no error
            assert list(executor.map(square, range(9))) == [x * x for x in range(9)]
            assert sorted(executor.map(square, range(9), chunksize=2, unordered=True)) == [x * x for x in range(9)]
            futures = [executor.submit(square, x) for x in range(9)]
            assert sorted(future.result() for future in as_completed(futures)) == [x * x for x in range(9)]
            assert not wait(futures).not_done
            error = executor.submit(fail, 3).exception()
            assert type(error) is KeyError and error.args == (3,)
            assert comm.size == 1 or 'raise KeyError(x)' in str(error.__cause__)
            assert comm.size == 1 or executor.submit(who).result()[1] != root
        comm.Barrier()
    """
    play(tmp_path, script, nprocs, backend)


def test_a_worker_may_have_workers(tmp_path: Path) -> None:
    """A task on all workers makes one of them the master of the others; afterwards they are workers again."""
    script = """
    from mpi4py.futures import MPICommExecutor, get_comm_workers
    def nested():
        workers = get_comm_workers()
        with MPICommExecutor(workers) as executor:
            return sum(executor.map(abs, range(-3, 0))), get_comm_workers().size
        return 0, get_comm_workers().size
    with MPICommExecutor() as executor:
        futures = [executor.submit(nested) for _ in range(3)]
        assert sorted(future.result() for future in futures) == [(0, 3), (0, 3), (6, 3)]
    with MPICommExecutor() as executor:
        if comm.rank == 1:
            comm.Abort(5)  # no error that a context could take for its own
    """
    with pytest.raises(fakempi.RankError, match=r"^rank 1 failed with Aborted: Abort\(5\) was called"):
        play(tmp_path, script, 4)


def test_workers_work_at_the_same_time(tmp_path: Path) -> None:
    """Seven calls of 100 seconds on three workers take 300, and a little for messages; the same on every run and backend."""
    script = """
    import time
    from mpi4py.futures import MPICommExecutor
    with MPICommExecutor() as executor:
        if executor is not None:
            start = MPI.Wtime()
            list(executor.map(time.sleep, [100] * 7))
            assert 300 < MPI.Wtime() - start < 300.001
    """
    assert len({play(tmp_path, script, 4, backend).time for backend in ("greenlets", "threads", "greenlets")}) == 1


SPAWNING = """
import sys
from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor, get_comm_workers
count = 0
class Thing:
    def __init__(self, value): self.value = value
def name(): return __name__
def twice(thing): return Thing(thing.value * 2)
def count_up():
    global count
    count += 1
    return count
def sum_of_ranks():
    workers = get_comm_workers()
    workers.Barrier()
    return workers.allreduce(workers.rank)
def given(): return value
if __name__ == "__main__":
"""


def test_workers_stay_private_after_the_modules_were_made_for_a_test_session(tmp_path: Path) -> None:
    """The pytest plugin makes the modules of mpi4py a second time, for code that no script runs."""
    script = "with MPIPoolExecutor(2) as executor:\n    assert executor.submit(name).result() == '__worker__'"
    spawning(tmp_path, script)
    mpi4py_modules.make(lambda: None)
    spawning(tmp_path, script)
    assert "__worker__" not in sys.modules


def spawning(directory: Path, script: str, backend: Any = "auto", nprocs: int = 1) -> fakempi.Run[int]:
    """Run a script with this main program after the functions."""
    (directory / "work.py").write_text(SPAWNING + indent(dedent(script), "    "), encoding="utf-8")
    return fakempi.run(Program([str(directory / "work.py")]), nprocs, backend=backend)


def test_workers_are_spawned(tmp_path: Path, backend: Any) -> None:
    """They run the main program's text under another name, and are new processes: their counters are separate."""
    script = """
    with MPIPoolExecutor(3) as executor:
        assert executor.num_workers == 3 and executor.submit(name).result() == "__worker__"
        assert type(executor.submit(twice, Thing(4)).result()) is Thing and sys.modules["__worker__"].Thing is Thing
        futures = [executor.submit(sum_of_ranks) for _ in range(3)]
        assert [future.result() for future in futures] == [3, 3, 3]
    with MPIPoolExecutor(1, use_pkl5=True) as executor:
        assert [executor.submit(count_up).result() for _ in range(3)] == [1, 2, 3] and count == 0
    """
    spawning(tmp_path, script, backend)


def test_an_executor_without_shutdown_ends_with_its_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """After its pending tasks."""
    spawning(tmp_path, "executor = MPIPoolExecutor(2)\nfutures = [executor.submit(print, i) for i in range(4)]", backend)
    assert sorted(capsys.readouterr().out.split()) == ["0", "1", "2", "3"]


def test_workers_get_the_given_environment(tmp_path: Path) -> None:
    """Globals, search paths, or no main program; and every rank may have separate workers."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "extra_module.py").write_text("def answer(): return 42", encoding="utf-8")
    script = f"""
    with MPIPoolExecutor(1, globals={{"value": 7}}, path=[{str(tmp_path / "more")!r}]) as executor:
        assert executor.submit(given).result() == 7
        assert executor.submit(eval, "__import__('extra_module').answer()").result() == 42
    with MPIPoolExecutor(1, main=False) as executor:
        error = executor.submit(name).exception()
        assert type(error) is AttributeError and "__worker__" in str(error) + str(error.__cause__)
        assert executor.submit(abs, -1).result() == 1
    """
    spawning(tmp_path, script, nprocs=2)


def test_an_initializer_is_called_on_every_worker(tmp_path: Path) -> None:
    """Before the first task; if it fails on one, all tasks fail."""
    script = """
    with MPIPoolExecutor(2, initializer=count_up) as executor:
        assert [future.result() for future in [executor.submit(count_up) for _ in range(2)]] == [2, 2]
    executor = MPIPoolExecutor(2, initializer=int, initargs=("x",))
    error = executor.submit(abs, 1).exception()
    assert type(error).__name__ == "BrokenExecutor" and str(error) == "initializer failed"
    assert type(error.__cause__) is ValueError and "On worker 0 of 2:" in str(error.__cause__.__cause__)
    executor.shutdown()
    """
    spawning(tmp_path, script)


def test_a_value_that_cannot_be_pickled_fails_its_own_task(tmp_path: Path) -> None:
    """As an argument or as a result, and no other task; in the worker settings it fails the executor."""
    script = """
    with MPIPoolExecutor(2) as executor:
        there = executor.submit(abs, lambda: 0).exception()
        back = executor.submit(eval, "lambda: 0").exception()
        assert "pickle" in str(there) and there.__cause__ is None
        assert "pickle" in str(back) and "On worker" in str(back.__cause__)
        assert list(executor.map(abs, [-1, -2, -3])) == [1, 2, 3]
    executor = MPIPoolExecutor(2, globals={"function": lambda: 0})
    assert "pickle" in str(executor.submit(abs, 1).exception()) and executor.num_workers == 0
    """
    spawning(tmp_path, script)


def test_a_worker_that_would_start_workers_ends_the_run(tmp_path: Path, capsys: Capture) -> None:
    """The message names the missing line of the main program."""
    (tmp_path / "work.py").write_text(
        "from mpi4py.futures import MPIPoolExecutor\nMPIPoolExecutor(1).submit(abs, 1).result()", encoding="utf-8"
    )
    with pytest.raises(fakempi.RankError, match=r"Abort\(1\)"):
        fakempi.run(Program([str(tmp_path / "work.py")]), 1)
    assert "is about to start workers itself. Put the code that starts workers below: if __name__" in capsys.readouterr().err


def test_an_endless_task_is_a_deadlock(tmp_path: Path, backend: Any) -> None:
    """No rank polls, so it is detected."""
    script = """
    from mpi4py.futures import MPICommExecutor
    def wait_for_nobody(): comm.recv(source=0, tag=77)
    with MPICommExecutor() as executor:
        executor.submit(wait_for_nobody).result()
    """
    with pytest.raises(fakempi.DeadlockError, match=r"rank 1: recv\(source=0, tag=77\) at work.py:5,"):
        play(tmp_path, script, 2, backend)


SHARED = """
import sys, time
from mpi4py import MPI
from mpi4py.futures import MPICommExecutor, MPIPoolExecutor, ProcessPoolExecutor
def rank(_): return MPI.COMM_WORLD.rank
def name(): return __name__
if __name__ == "__main__":
    assert MPI.COMM_WORLD.rank == 0
    size = max(1, MPI.COMM_WORLD.size - 1)
    if MPI.COMM_WORLD.size > 1:
        assert "pickle" in str(MPIPoolExecutor(globals={"function": lambda: 0}).submit(abs, 1).exception())
    one, other = MPIPoolExecutor(max_workers=50), MPIPoolExecutor(initializer=abs, initargs=(1,))
    assert one.num_workers == other.num_workers == size
    ranks = set(one.map(rank, range(20))) | set(other.map(rank, range(20)))
    assert ranks == ({0} if size == 1 == MPI.COMM_WORLD.size else set(range(1, size + 1))), ranks
    assert one.submit(name).result() == ("__main__" if MPI.COMM_WORLD.size == 1 else "__worker__")
    broken = MPIPoolExecutor(initializer=int, initargs=("x",))
    assert str(broken.submit(abs, 1).exception()) == "initializer failed"
    with MPICommExecutor() as executor:
        assert list(executor.map(abs, [-1])) == [1]
    with ProcessPoolExecutor(2) as executor:
        assert executor.num_workers == 2 and list(executor.map(rank, [0] * 9)) != []
    print("argv", sys.argv[1:])
    if "exit" in sys.argv: sys.exit(3)
    if "fail" in sys.argv: raise ValueError("of the main program")
"""


@pytest.mark.quick(1)
@pytest.mark.parametrize("nprocs", [1, 2, 4])
def test_executors_share_all_other_ranks(tmp_path: Path, nprocs: int, backend: Any, capsys: Capture) -> None:
    """Under `-m mpi4py.futures` only rank 0 runs the program; executors may start and end at any time."""
    assert futures(tmp_path, SHARED, nprocs, backend, "a", "b").returns == [0] * nprocs
    assert capsys.readouterr().out.splitlines() == ["argv ['a', 'b']"]


def test_a_program_that_fails_ends_its_workers(tmp_path: Path, capsys: Capture) -> None:
    """With its exception, or with its exit code."""
    with pytest.raises(fakempi.RankError, match="ValueError: of the main program"):
        futures(tmp_path, SHARED, 2, "auto", "fail")
    with pytest.raises(fakempi.RankError, match=r"Abort\(3\)"):
        futures(tmp_path, SHARED, 2, "auto", "exit")
    assert "argv" in capsys.readouterr().out


def test_modules_and_code_and_standard_input(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of Python's forms; others are usage errors."""

    def run(*command: str) -> list[int]:
        returns: list[int] = fakempi.run(Program(["-m", "mpi4py.futures", *command]), 3).returns
        return returns

    (tmp_path / "some_module_of_tasks.py").write_text(SHARED, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "from mpi4py.futures import MPIPoolExecutor as E; print(list(E().map(abs, [-1, -2])))"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert run("-m", "some_module_of_tasks", "x") == run("-c", text) == run("-") == [0, 0, 0]
    assert capsys.readouterr().out.splitlines() == ["argv ['x']", "[1, 2]", "[1, 2]"]
    assert run("--help") == [0, 0, 0]
    assert capsys.readouterr().out.startswith("usage: python")
    for command, wrong in (
        ([], "no script, module or code to run."),
        (["-m"], "-m must be followed by a module name."), (["-c"], "-c must be followed by code."),
        (["-x"], "unknown option -x."), (["nothing.py"], "no such file: 'nothing.py'."),
    ):  # fmt: skip
        assert run(*command) == [1, 0, 0]
        assert f"mpi4py.futures: {wrong}\nusage: " in capsys.readouterr().err


def test_with_a_lower_thread_level_calls_take_turns(tmp_path: Path) -> None:
    """If the program has requested MPI.THREAD_SERIALIZED; with less, futures warn, and MPI rejects calls."""
    script = """
    import mpi4py, sys
    mpi4py.rc.thread_level = sys.argv[1]
    from mpi4py import MPI
    from mpi4py import futures
    with futures.MPICommExecutor(backoff=0.01) as executor:
        assert futures._core.serialized.lock is not None
        assert list(executor.map(abs, range(-9, 0))) == list(range(9, 0, -1))
    """
    (tmp_path / "work.py").write_text(dedent(script), encoding="utf-8")
    assert fakempi.run(Program([str(tmp_path / "work.py"), "serialized"]), 3).returns == [0, 0, 0]
    with (
        pytest.warns(RuntimeWarning, match="^mpi4py.futures calls MPI from several threads, but this program requested"),
        pytest.raises(
            fakempi.RankError, match="BrokenExecutor: MPIError: bcast on rank 0: this is a thread that rank 0 has"
        ),
    ):
        fakempi.run(Program([str(tmp_path / "work.py"), "funneled"]), 3)


def test_a_pool_of_spawned_workers(tmp_path: Path, backend: Any) -> None:
    """`mpi4py.util.pool` has multiprocessing's interface."""
    script = """
    from mpi4py.util.pool import Pool
    with Pool(3) as pool:
        assert pool.map(abs, range(-9, 0)) == list(range(9, 0, -1))
        assert pool.apply_async(divmod, (7, 2)).get(1000) == (3, 1)
        assert pool.starmap_async(divmod, [(7, 2)]).get() == [(3, 1)] and pool.apply(name) == "__worker__"
    pool.join()
    """
    spawning(tmp_path, script, backend)


@pytest.mark.parametrize("launch", ["futures", "spawned"])
def test_workers_have_environment_variables_of_their_own(tmp_path: Path, backend: Any, launch: str) -> None:
    """`env` changes those of workers, not those of the rank that creates the executor (as quimb's)."""
    script = """
    import os
    from mpi4py.futures import MPIPoolExecutor
    if __name__ == "__main__":
        with MPIPoolExecutor(2, env={"FAKEMPI_A_B": "x"}) as pool:
            assert set(pool.map(os.getenv, ["FAKEMPI_A_B"] * 4)) == {"x"} and "FAKEMPI_A_B" not in os.environ
    """
    if launch == "futures":
        futures(tmp_path, script, 3, backend)
    else:
        play(tmp_path, script, 1, backend)
