"""Outside a run: a singleton, a world of one process, as mpi4py has without mpiexec."""

from __future__ import annotations

import os
import pickle
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi import singleton
from fakempi.mpi.base.current import os_thread, outside
from tests.helpers.loops import for_each

WORLD: Any = MPI.COMM_WORLD
SELF: Any = MPI.COMM_SELF
ADVICE = "  outside a run COMM_WORLD has one rank: use fakempi.run(main, n) or fakempi run -n N for more ranks."


@pytest.fixture(autouse=True)
def new_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has its own singleton, so that it finds no messages, names or finalized state of another test."""
    monkeypatch.setattr(outside, "process", None)


def python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a separate Python process."""
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=270)


def test_it_has_rank_0_of_1() -> None:
    """For both predefined communicators, and those created from them."""
    made = [WORLD, SELF, WORLD.Dup(), WORLD.Split(3, 5), WORLD.Create(WORLD.group), SELF.Idup()[0]]
    made += [WORLD.Split_type(MPI.COMM_TYPE_SHARED), WORLD.Create_cart([1]), MPI.Intracomm(WORLD)]
    made += [WORLD.Create_group(WORLD.group.Incl([0]))]
    assert [(comm.Get_rank(), comm.Get_size()) for comm in made] == [(0, 1)] * len(made)
    assert WORLD.Split(MPI.UNDEFINED) == MPI.COMM_NULL
    assert WORLD.Get_parent() == MPI.COMM_NULL
    assert (WORLD == SELF, WORLD.Compare(SELF), WORLD.name) == (False, MPI.CONGRUENT, "MPI_COMM_WORLD")


def test_its_groups_have_one_rank() -> None:
    """Including groups that a program creates."""
    group = WORLD.Get_group()
    assert [one.rank for one in (group, group.Incl([0]), group.Excl([]), group.Excl([0]))] == [0, 0, 0, MPI.UNDEFINED]
    assert (group.Translate_ranks(), group.Incl([0]).Translate_ranks([0], group)) == ([0], [0])


def test_messages_to_the_same_rank() -> None:
    """Objects, buffers, requests, probes, persistent requests, attached buffers; also above the eager limit."""
    WORLD.send({"a": 7}, 0, tag=1)
    assert WORLD.mprobe(tag=1).recv() == {"a": 7}
    here, there = np.arange(100_000.0), np.zeros(100_000)
    requests = [WORLD.Irecv(there, 0), WORLD.Isend(here, 0)]
    MPI.Request.Waitall(requests)
    assert (there == here).all()
    assert WORLD.sendrecv("x", 0, source=0) == "x"
    start = [SELF.Recv_init(there[:1], 0), SELF.Send_init(here[5:6], 0)]
    MPI.Prequest.Startall(start)
    MPI.Prequest.Waitall(start)
    assert there[0] == 5
    MPI.Attach_buffer(bytearray(1000))
    WORLD.bsend("buffered", 0)
    received, detached = WORLD.recv(), cast(Any, MPI.Detach_buffer())
    assert (received, len(detached), WORLD.iprobe()) == ("buffered", 1000, False)
    WORLD.send(None, MPI.PROC_NULL)
    with pytest.raises(MPI.Exception, match=r"^send: dest 1 is not in 0\.\.0: the communicator has 1 rank\.$"):
        WORLD.send(None, 1)


def test_collectives_on_objects() -> None:
    """The result is a copy of the argument."""
    given = [1, 2]
    found = [WORLD.bcast(given), WORLD.allreduce(given), WORLD.reduce(given, MPI.SUM), WORLD.scan(given)]
    found += [WORLD.gather(given)[0], WORLD.allgather(given)[0], WORLD.scatter([given]), WORLD.alltoall([given])[0]]
    assert (found, WORLD.exscan(given), WORLD.barrier()) == ([given] * 8, None, None)
    assert all(each is not given for each in found)


ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "Bcast": lambda a, b: (WORLD.Bcast(a), b.__setitem__(slice(None), a)),
    "Gather": lambda a, b: WORLD.Gather(a, b),
    "Gatherv": lambda a, b: WORLD.Gatherv(a, [b, [4]]),
    "Scatter": lambda a, b: WORLD.Scatter(a, b),
    "Scatterv": lambda a, b: WORLD.Scatterv([a, [4]], b),
    "Allgather": lambda a, b: WORLD.Allgather(a, b),
    "Allgatherv": lambda a, b: WORLD.Allgatherv(a, [b, [4]]),
    "Alltoall": lambda a, b: WORLD.Alltoall(a, b),
    "Alltoallv": lambda a, b: WORLD.Alltoallv([a, [4]], [b, [4]]),
    "Alltoallw": lambda a, b: WORLD.Alltoallw([a, [4], [0], [MPI.DOUBLE]], [b, [4], [0], [MPI.DOUBLE]]),
    "Reduce": lambda a, b: WORLD.Reduce(a, b),
    "Allreduce": lambda a, b: WORLD.Allreduce(a, b, MPI.MAX),
    "Scan": lambda a, b: WORLD.Scan(a, b),
    "Reduce_scatter": lambda a, b: WORLD.Reduce_scatter(a, b),
    "Reduce_scatter_block": lambda a, b: WORLD.Reduce_scatter_block(a, b),
    "Iallreduce": lambda a, b: WORLD.Iallreduce(a, b).Wait(),
    "Ialltoallv": lambda a, b: WORLD.Ialltoallv([a, [4]], [b, [4]]).Wait(),
    "Allgather_init": lambda a, b: (prepared := WORLD.Allgather_init(a, b), prepared.Start(), prepared.Wait()),
    "a vector type": lambda a, b: WORLD.Allreduce([a, 4, MPI.DOUBLE], [b, 4, MPI.DOUBLE]),
    "in place": lambda a, b: (b.__setitem__(slice(None), a), WORLD.Allreduce(MPI.IN_PLACE, b)),
    "neighbors": lambda a, b: WORLD.Create_graph([1], [0]).Neighbor_alltoall(a, b),
}


@for_each("call", ARRAYS)
def test_collectives_on_arrays(call: str) -> None:
    """The receive buffer gets the contents of the send buffer."""
    here, there = np.arange(4.0), np.full(4, -1.0)
    ARRAYS[call](here, there)
    assert there.tolist() == here.tolist() == [0, 1, 2, 3]


def test_an_exclusive_scan_leaves_the_buffer_unchanged() -> None:
    """There is no preceding rank."""
    there = np.full(2, -1.0)
    WORLD.Exscan(np.ones(2), there)
    assert there.tolist() == [-1, -1]


def test_phantoms_are_sent_to_the_same_rank() -> None:
    """They are modeled, and nothing is copied."""
    WORLD.Allreduce(fakempi.phantom(8), fakempi.phantom(8))
    status = MPI.Status()
    WORLD.Sendrecv(fakempi.phantom(1 << 40), 0, 0, fakempi.phantom(1 << 40), 0, status=status)
    assert status.Get_count(MPI.BYTE) == 1 << 40


def test_a_receive_without_a_message_is_a_deadlock() -> None:
    """It is reported at once, with its place, and undone, so that the program may continue."""
    for _ in range(2):
        with pytest.raises(fakempi.DeadlockError) as caught:
            WORLD.recv(source=0, tag=3)
        first, second, *others = str(caught.value).splitlines()
        assert first == "deadlock at t = 0 s: the only rank is blocked, and nothing can wake it."
        assert second.startswith("  rank 0: recv(source=0, tag=3) at test_singleton.py:")
        # if there are other threads, the report states that they cannot help
        assert others[:2] == ["  cycle: 0 → 0", ADVICE]
    WORLD.send("later", 0, tag=3)
    assert WORLD.recv(tag=3) == "later"


def test_a_send_without_a_receive_is_a_deadlock() -> None:
    """Large, or synchronous."""
    sends: list[Callable[[], Any]] = [lambda: WORLD.Send(np.zeros(100_000), 0), lambda: WORLD.ssend(None, 0)]
    for send in sends:
        with pytest.raises(fakempi.DeadlockError, match=r"end\(dest=0, tag=0, "):
            send()
    assert not WORLD.Iprobe()


@pytest.mark.parametrize("wait", ["Wait", "Waitall", "Waitany", "Disconnect", "Accept", "Probe"])
def test_other_calls_that_never_complete(wait: str) -> None:
    """A second call is reported, too."""
    comm = WORLD.Dup()
    request: Any = comm.irecv(source=0, tag=5) if wait in ("Wait", "Waitall", "Waitany", "Disconnect") else None
    port = MPI.Open_port() if wait == "Accept" else ""
    calls: dict[str, Callable[[], Any]] = {
        "Wait": lambda: request.Wait(),
        "Waitall": lambda: MPI.Request.Waitall([request, MPI.REQUEST_NULL]),
        "Waitany": lambda: MPI.Request.Waitany([request]),
        "Disconnect": comm.Disconnect,
        "Accept": lambda: comm.Accept(port),
        "Probe": lambda: comm.Probe(),
    }
    with pytest.raises(fakempi.DeadlockError, match=f"^deadlock at .*\n  rank 0: {wait}\\("):
        calls[wait]()
    if wait in ("Accept", "Probe"):
        with pytest.raises(fakempi.DeadlockError):
            comm.Connect(port) if port else calls[wait]()
    WORLD.send("goes on", 0)
    assert WORLD.recv() == "goes on"


def test_endless_polling_is_a_livelock(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the limit of polls; a message in between resets the count."""
    monkeypatch.setattr(singleton, "MAX_UNSUCCESSFUL_POLLS", 100)
    for _ in range(3):
        for _ in range(90):
            assert not WORLD.Iprobe()
        WORLD.sendrecv(1, 0, source=0)
    request = WORLD.irecv(source=0)
    with pytest.raises(fakempi.LivelockError, match=r"^livelock at .*\n  rank 0: test\(source=0, tag=ANY\) at "):
        any(request.test()[0] for _ in range(200))
    WORLD.send("after all", 0)
    assert request.wait() == "after all"


@pytest.mark.parametrize("clock", [MPI.Wtime, time.time, time.monotonic], ids=["Wtime", "time", "monotonic"])
def test_polling_until_a_deadline_is_no_livelock(clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a run all clocks advance on their own."""
    monkeypatch.setattr(singleton, "MAX_UNSUCCESSFUL_POLLS", 100)
    end = clock() + 0.005
    while clock() < end:
        assert not WORLD.Iprobe()
    assert sys.getprofile() is None


def test_a_computing_loop_of_tests_advances_time() -> None:
    """Modeled time, by computing."""
    before = MPI.Wtime()
    fakempi.compute(1000)
    with fakempi.region("part"):
        assert MPI.Wtime() - before >= 1000


def test_its_clock_is_real_time_on_this_machine() -> None:
    """So programs can divide by the elapsed time."""
    before = MPI.Wtime()
    while MPI.Wtime() == before:
        pass
    assert MPI.Get_processor_name() == platform.node()


def test_spawning_is_rejected() -> None:
    """The message states what to do instead."""
    words = r"processes cannot be spawned outside a run: call fakempi\.run\(main, 1\), or use fakempi run -n 1 SCRIPT$"
    for command in ("work.py", lambda comm: None):
        with pytest.raises(MPI.Exception, match=words) as caught:
            WORLD.Spawn(command)
        assert caught.value.Get_error_class() == MPI.ERR_SPAWN


def test_a_run_and_the_singleton_are_independent(backend: Any) -> None:
    """Names, attributes, messages, settings and clocks are separate."""
    key = MPI.Comm.Create_keyval()
    WORLD.Set_attr(key, "outside")
    WORLD.name = "outside"
    WORLD.send("waits", 0)

    def main(comm: Any) -> Any:
        found = WORLD.size, WORLD.name, WORLD.Get_attr(key), WORLD.Iprobe()
        WORLD.name = "inside"
        fakempi.compute(5)
        return found, MPI.COMM_WORLD is comm

    run = fakempi.run(main, 2, backend=backend)
    assert (run.returns, run.time) == ([((2, "MPI_COMM_WORLD", None, False), True)] * 2, 5)
    assert (WORLD.size, WORLD.name, WORLD.Get_attr(key), WORLD.recv()) == (1, "outside", "outside", "waits")


def test_communicators_of_the_singleton_are_rejected_on_ranks(backend: Any) -> None:
    """A communicator of one rank would give wrong results."""
    duplicate = WORLD.Dup()
    request = duplicate.irecv(source=0)
    words = "this object was created outside the run: no rank can use it. Create it in each rank."
    uses: dict[str, Callable[[], Any]] = {
        "send": lambda: duplicate.send(1, 0), "barrier": lambda: duplicate.barrier(), "Dup": lambda: duplicate.Dup(),
        "wait": request.wait, "Get_rank": lambda: duplicate.rank, "Get_size": lambda: duplicate.Get_size(),
    }  # fmt: skip
    for call, use in uses.items():
        with pytest.raises(fakempi.RankError) as caught:
            fakempi.run(lambda comm, use: use(), 1, use, backend=backend)
        assert str(caught.value.exception) == f"{call} on rank 0: {words}"
    duplicate.send("outside again", 0)
    assert request.wait() == "outside again"


def test_any_thread_of_the_program_may_call_one_at_a_time() -> None:
    """The process is the same for all of its threads."""
    WORLD.name = "of all threads"
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: (WORLD.rank, WORLD.name, WORLD.allreduce(3))).result() == (0, "of all threads", 3)
        pool.submit(WORLD.send, "from there", 0).result()
        words = "another thread cannot wake it: one thread at a time may call MPI here (MPI.THREAD_SERIALIZED)."
        with pytest.raises(fakempi.DeadlockError) as caught:
            WORLD.recv(tag=1)
        assert str(caught.value).endswith(f"{ADVICE}\n  {words}")
    assert (WORLD.recv(), MPI.Query_thread()) == ("from there", MPI.THREAD_SERIALIZED)


def test_a_thread_that_exists_during_a_run_is_no_singleton(backend: Any) -> None:
    """It may work for a rank, and rank 0 of 1 would be wrong."""
    words = (
        "no rank is running here: a run is in progress, and none of its ranks started this thread: "
        "call MPI from a rank or from its threads."
    )
    duplicate = WORLD.Dup()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(WORLD.Get_rank).result()

        def main(comm: Any) -> Any:
            return [str(pool.submit(ask).exception()) for ask in (WORLD.Get_rank, MPI.Wtime, duplicate.Barrier)]

        assert fakempi.run(main, 2, backend=backend).returns == [[words] * 3] * 2
        assert pool.submit(WORLD.Get_rank).result() == 0


def test_there_is_no_singleton_while_no_rank_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example in a cost model that is called between ranks."""
    monkeypatch.setattr(os_thread, "loop", SimpleNamespace(running=None))
    with pytest.raises(MPI.Exception, match=r"^no rank is running here: a run is in progress in this thread, and none"):
        WORLD.Get_rank()


def test_two_threads_that_call_first_get_one_singleton() -> None:
    """Whichever creates it."""
    gate = threading.Barrier(4)

    def work() -> Any:
        gate.wait(60)
        return WORLD.group._members, MPI.COMM_WORLD._process

    with ThreadPoolExecutor(4) as pool:
        found = [one.result() for one in [pool.submit(work) for _ in range(4)]]
    assert len({id(process) for _, process in found}) == 1


def test_errors_abort_and_finalize() -> None:
    """Errors are raised at the call; Abort exits; Finalize is accepted."""
    with pytest.raises(SystemExit) as caught:
        WORLD.Abort(7)
    assert (caught.value.code, str(caught.value)) == (7, "Abort(7) was called")
    WORLD.Set_errhandler(MPI.ERRORS_ARE_FATAL)
    with pytest.raises(MPI.Exception, match=r"^send: dest 3 is not in"):
        WORLD.send(None, 3)
    assert (MPI.Is_initialized(), MPI.Is_finalized(), MPI.Is_thread_main()) == (True, False, True)
    MPI.Finalize()
    assert (MPI.Is_initialized(), MPI.Is_finalized()) == (True, True)
    assert fakempi.run(lambda comm: MPI.Is_finalized(), 1).returns == [False]


def test_pickles_and_forked_children() -> None:
    """Names refer to the world of the process that unpickles them; a forked child has its own singleton."""
    assert pickle.loads(pickle.dumps((WORLD, SELF))) == (WORLD, SELF)
    WORLD.send("of the parent", 0)
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        os._exit(0 if (WORLD.recv(), WORLD.size) == ("of the parent", 1) else 1)
    assert (os.waitpid(child, 0)[1], WORLD.recv()) == (0, "of the parent")


def test_it_is_created_on_first_use_and_needs_no_algorithms() -> None:
    """It needs no backend either: importing the namespace stays cheap."""
    code = """
import sys
from fakempi import MPI
comm = MPI.COMM_WORLD
assert "fakempi.mpi.singleton" not in sys.modules
assert comm.allreduce(comm.Get_rank() + 1) == 1
comm.Ibarrier().Wait()
print([name for name in sys.modules if name.split(".")[0] in ("collectives", "greenlet") or name == "fakempi.tuning"])
import atexit
atexit.register(lambda: print(comm.bcast("at exit")))
"""
    assert python(code).stdout.splitlines() == ["[]", "at exit"]


def test_abort_ends_the_interpreter_with_its_code() -> None:
    """The exit code is the one that mpiexec would see."""
    done = python("from fakempi import MPI; MPI.COMM_WORLD.Abort(7)")
    assert (done.returncode, done.stdout) == (7, "")
