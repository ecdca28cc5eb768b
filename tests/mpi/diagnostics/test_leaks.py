"""Leaks: resources that a program leaves behind are found when all its ranks have ended normally, with the line that created
them.
"""

from __future__ import annotations

import gc
import inspect
import re
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.base.resource_tracker import track, untrack
from tests.helpers.loops import for_each

N = 4
EAGER, LARGE = np.zeros(2), np.zeros(1 << 17)


# In each program a comment has the expected finding: `#: kind ranks`. There must be no other finding.


def message_without_a_receive(comm: Any) -> None:
    if comm.rank == 0:
        comm.Send(EAGER, 1, 7)  #: message-lost 0


def object_without_a_receive(comm: Any) -> None:
    if comm.rank:
        comm.send("hello", 0, comm.rank)  #: message-lost 1-3


def message_behind_others(comm: Any) -> None:
    if comm.rank == 0:
        for tag in (1, 2, 3):
            comm.Send(EAGER, 1, tag)  #: message-lost 0
    elif comm.rank == 1:
        comm.Recv(EAGER.copy(), 0, 2)


def message_of_an_exchange(comm: Any) -> None:
    if comm.rank == 0:
        comm.Sendrecv(EAGER, 1, 5, np.zeros(2), 1, 6)  #: message-lost 0
        comm.sendrecv(3, 1, 5, None, 1, 6)  #: message-lost 0
    elif comm.rank == 1:
        comm.Send(EAGER, 0, 6)
        comm.send(4, 0, 6)


def buffered_message_without_a_receive(comm: Any) -> None:
    MPI.Attach_buffer(bytearray(1 << 16))
    if comm.rank == 0:
        comm.Bsend(EAGER, 1)  #: message-lost 0
        comm.ibsend(EAGER, 1).wait()  #: message-lost 0
    MPI.Detach_buffer()


def message_on_a_communicator_that_is_gone(comm: Any) -> None:
    own = comm.Dup()
    own.send(1, comm.rank)  #: message-lost 0-3
    del own
    comm.Barrier()
    gc.collect()


def message_on_a_communicator_that_was_freed(comm: Any) -> None:
    own = comm.Dup()
    own.send(1, comm.rank)  #: message-lost 0-3
    own.Free()


def request_that_was_waited_for_and_message_that_was_lost(comm: Any) -> None:
    if comm.rank == 0:
        request = comm.Isend(EAGER, 1)  #: message-lost 0
        request.Wait()


def message_and_request_forgotten(comm: Any) -> None:
    if comm.rank == 0:
        comm.Isend(LARGE, 1)  #: message-lost 0, missing-wait 0


def message_taken_and_not_received(comm: Any) -> None:
    comm.send(1, comm.rank)
    comm.Mprobe()  #: message-lost 0-3


def receive_without_a_message(comm: Any) -> None:
    if comm.rank == 2:
        comm.Irecv(np.zeros(2), 1, 9)  #: receive-unmatched 2


def receive_without_a_message_freed(comm: Any) -> None:
    comm.irecv().Free()  #: receive-unmatched 0-3


def exchange_without_a_message(comm: Any) -> None:
    if comm.rank == 0:
        comm.Isendrecv(EAGER, 1, 0, np.zeros(2), 1)  #: receive-unmatched 0
    elif comm.rank == 1:
        comm.Recv(np.zeros(2))


def collective_without_its_root(comm: Any) -> None:
    if comm.rank:
        comm.Gather(EAGER, None)  #: collective-unfinished 1-3


def collective_called_in_two_places(comm: Any) -> None:
    if comm.rank == 1:
        comm.gather(1)  #: collective-unfinished 1
    elif comm.rank > 1:
        comm.gather(1)  #: collective-unfinished 2-3


def collective_that_one_began(comm: Any) -> None:
    if comm.rank == 1:
        comm.Ibarrier()  #: collective-unfinished 1, missing-wait 1


def collective_that_one_started(comm: Any) -> None:
    request = comm.Bcast_init(np.zeros(2))
    request.Start()
    request.Wait()
    if comm.rank == 1:
        request.Start()  #: collective-unfinished 1, missing-wait 1


def duplicate_that_one_began(comm: Any) -> None:
    if comm.rank == 1:
        comm.Idup()  #: collective-unfinished 1, missing-wait 1


def communicator_that_one_freed(comm: Any) -> None:
    own = comm.Split(comm.rank % 2)
    if comm.rank == 0:
        own.Free()  #: collective-unfinished 0


def requests_without_a_wait(comm: Any) -> None:
    right, left, room = (comm.rank + 1) % N, (comm.rank - 1) % N, np.zeros(2)
    comm.Isend(EAGER, right)  #: missing-wait 0-3
    comm.Recv(room, left)
    comm.isend(1, MPI.PROC_NULL)  #: missing-wait 0-3
    kept = comm.Irecv(room, left)  #: missing-wait 0-3
    comm.Send(EAGER, right)
    comm.Ibarrier()  #: missing-wait 0-3
    comm.Barrier()
    kept.Get_status()


def persistent_request_without_a_wait(comm: Any) -> None:
    request = comm.Send_init(EAGER, (comm.rank + 1) % N)
    for _ in range(2):
        request.Start()
        comm.Recv(np.zeros(2))
        request.Wait()
    request.Start()  #: missing-wait 0-3
    comm.Recv(np.zeros(2))


def request_of_a_thread(comm: Any) -> None:
    def work() -> None:
        comm.isend(1, comm.rank)  #: missing-wait 0-3

    thread = threading.Thread(target=work)
    thread.start()
    comm.recv()
    thread.join()


def persistent_request_that_is_never_started(comm: Any) -> None:
    comm.Send_init(EAGER, 0)  #: missing-start 0-3
    prepared = comm.Barrier_init()  #: missing-start 0-3
    prepared.Wait()
    prepared.Free()
    comm.Recv_init(EAGER).Free()  # it was not needed


def buffers_that_stay_attached(comm: Any) -> None:
    MPI.Attach_buffer(bytearray(100))  #: attached-buffer 0-3
    comm.Attach_buffer(bytearray(100))  #: attached-buffer 0-3


def calls_after_finalize(comm: Any) -> None:
    rank = comm.rank
    MPI.Finalize()
    for _ in range(2):
        comm.Sendrecv(EAGER, rank, 0, np.zeros(2), rank, 0)  #: after-finalize 0-3
        comm.send(1, MPI.PROC_NULL)  #: after-finalize 0-3
        comm.barrier()  #: after-finalize 0-3
    assert comm.Get_size() == N  #: after-finalize 0-3
    assert MPI.Is_finalized()
    MPI.Finalize()  #: after-finalize 0-3
    MPI.Init()  #: after-finalize 0-3


def rank_that_exits_early(comm: Any) -> None:
    if comm.rank == 0:
        comm.Send(EAGER, 1)  #: message-lost 0
        sys.exit(0)
    if comm.rank == 1:
        sys.exit()


def message_between_two_groups(comm: Any) -> None:
    half = comm.Split(comm.rank % 2)
    between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
    between.send(1, between.rank)  #: message-lost 0-3
    between.Irecv(np.zeros(2), 1 - between.rank, 4)  #: receive-unmatched 0-3


WRONG = [
    message_without_a_receive, object_without_a_receive, message_behind_others, message_of_an_exchange,
    buffered_message_without_a_receive, message_on_a_communicator_that_is_gone,
    message_on_a_communicator_that_was_freed, request_that_was_waited_for_and_message_that_was_lost,
    message_and_request_forgotten, message_taken_and_not_received, receive_without_a_message,
    receive_without_a_message_freed, exchange_without_a_message, collective_without_its_root,
    collective_called_in_two_places, collective_that_one_began, collective_that_one_started, duplicate_that_one_began,
    communicator_that_one_freed, requests_without_a_wait, persistent_request_without_a_wait,
    request_of_a_thread, persistent_request_that_is_never_started, buffers_that_stay_attached, calls_after_finalize,
    rank_that_exits_early, message_between_two_groups,
]  # fmt: skip


def expected(main: Callable[..., Any]) -> list[tuple[str, int, str]]:
    """Return the findings that comments in a program announce: kinds, lines and ranks."""
    lines, first = inspect.getsourcelines(main)
    said = []
    for number, line in enumerate(lines, first):
        for kind, ranks in re.findall(r"([a-z-]+) ([0-9-]+)", line.partition("#: ")[2]):
            said.append((kind, number, ranks))
    return sorted(said)


def reported(findings: Sequence[fakempi.Finding]) -> list[tuple[str, int, str]]:
    """The same for findings; a place is in this file."""
    found = []
    for one in findings:
        name, _, line = one.place.partition(":")
        assert name == "test_leaks.py", one
        found.append((one.kind, int(line), re.sub("ranks? ", "", one.rank_names).replace(" and ", ",")))
    return sorted(found)


@for_each("main", WRONG)
def test_leaks_are_found_with_line_and_ranks(main: Callable[..., Any], backend: Any) -> None:
    """All leaks are found, and nothing else."""
    assert reported(fakempi.run(main, N, backend=backend).findings) == expected(main)


# -- correct programs ------------------------------------------------------------------------------------------------


def requests_that_are_looked_after(comm: Any) -> None:
    right, left, room = (comm.rank + 1) % N, (comm.rank - 1) % N, np.zeros(2)
    sends = [comm.Isend(EAGER, right, tag) for tag in range(8)]
    comm.Irecv(room, left, 0).Wait()
    comm.irecv(source=left, tag=9).Cancel()
    tested = comm.Irecv(room, left, 1)
    while not tested.Test():
        pass
    MPI.Request.Waitall([comm.Irecv(room, left, 2), comm.Irecv(np.zeros(2), left, 3)])
    MPI.Request.Waitany([comm.Irecv(room, left, 4)])
    MPI.Request.Waitsome([comm.Irecv(room, left, 5)])
    copy = MPI.Request(comm.Irecv(room, left, 6))
    copy.Wait()
    comm.Irecv(room, left, 7).Free()
    comm.Barrier()
    for send in sends[:4]:
        send.Wait()
    assert MPI.Request.Testall(sends[4:7])
    sends[7].Free()


def persistent_requests_that_are_looked_after(comm: Any) -> None:
    room = np.zeros(2)
    requests = [comm.Send_init(EAGER, (comm.rank + 1) % N), comm.Recv_init(room), comm.Barrier_init()]
    for _ in range(3):
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
    for request in requests:
        request.Free()


def things_that_are_freed(comm: Any) -> None:
    own = [comm.Dup(), comm.Split(0), comm.Create_cart([N]), MPI.COMM_SELF.Dup(), comm.Idup()]
    own[-1][1].Wait()
    own[-1] = own[-1][0]
    group, members = comm.Get_group(), comm.group
    chosen = group.Incl([0])
    infos = [MPI.Info.Create(), own[0].Get_info(), MPI.Info.Create({"a": "b"}).Dup()]
    own[0].Set_info(infos[0])
    handler = MPI.Comm.Create_errhandler(lambda comm, code: None)
    own[0].Set_errhandler(handler)
    kind, rows = MPI.INT.Create_vector(2, 1, 2).Commit(), MPI.INT.Create_contiguous(2)
    operation, keyval = MPI.Op.Create(lambda a, b, t: None), MPI.Comm.Create_keyval()
    comm.Send([np.zeros(2, "V3"), 2], MPI.PROC_NULL)
    between = own[3].Create_intercomm(0, comm, (comm.rank + N // 2) % N)
    merged = between.Merge()
    port = MPI.Open_port()
    MPI.Close_port(port)
    MPI.Comm.Free_keyval(keyval)
    for thing in [*own, between, merged, group, members, chosen, *infos, handler, kind, rows, operation]:
        thing.Free()


def groups_that_are_freed_as_often(comm: Any) -> None:
    groups = [comm.Get_group() for _ in range(3)]
    for group in groups:
        group.Free()


def message_taken_and_received(comm: Any) -> None:
    request = comm.isend(1, comm.rank)
    comm.mprobe().recv()
    request.wait()


def thread_that_ends_with_its_rank(comm: Any) -> None:
    threading.Thread(target=comm.recv, daemon=True).start()  # reported when it ends
    fakempi.compute(1)


def everything_finalized(comm: Any) -> None:
    comm.Barrier()
    MPI.Attach_buffer(bytearray(100))
    MPI.Detach_buffer()
    MPI.Finalize()
    assert MPI.Is_finalized()


RIGHT = [
    requests_that_are_looked_after, persistent_requests_that_are_looked_after, groups_that_are_freed_as_often,
    message_taken_and_received, thread_that_ends_with_its_rank, everything_finalized,
]  # fmt: skip


@pytest.mark.parametrize("main", RIGHT, ids=lambda main: main.__name__)
def test_completed_operations_are_no_leaks(main: Callable[..., Any], backend: Any) -> None:
    """In a strict run neither."""
    assert [one for one in fakempi.run(main, N, backend=backend, strict=True).findings if not one.note] == []


def test_freed_resources_are_no_leaks() -> None:
    """Of every kind; the info that was copied first is found."""
    with pytest.raises(fakempi.FindingsError) as error:
        fakempi.run(things_that_are_freed, N, strict=True)
    assert [(one.kind, one.call) for one in error.value.findings] == [("info-leak", "Create")]


# -- leaks -----------------------------------------------------------------------------------------------------------


def things_that_are_left_to_the_collector(comm: Any) -> None:
    own = comm.Dup()  #: communicator-leak 0-3
    comm.Split(comm.rank)  #: communicator-leak 0-3
    group = own.Get_group()  #: group-leak 0-3
    group.Incl([0])  #: group-leak 0-3
    MPI.INT.Create_vector(1, 2, 3).Commit()  #: datatype-leak 0-3
    MPI.Op.Create(lambda a, b, t: None)  #: op-leak 0-3
    MPI.Info.Create()  #: info-leak 0-3
    MPI.Comm.Create_keyval()  #: keyval-leak 0-3
    MPI.Comm.Create_errhandler(lambda comm, code: None)  #: errhandler-leak 0-3
    MPI.Open_port()  #: port-leak 0-3
    request = comm.Send_init(EAGER, MPI.PROC_NULL)  #: request-leak 0-3
    request.Start()
    request.Wait()
    own.Barrier()
    MPI.COMM_SELF.Barrier()
    gc.collect()


def test_resources_left_to_the_collector_are_found_in_strict_runs_only(backend: Any) -> None:
    """Programs commonly do that."""
    gc.collect()  # a rank must not collect garbage of other tests
    assert fakempi.run(things_that_are_left_to_the_collector, N, backend=backend).findings == []
    with pytest.raises(fakempi.FindingsError) as error:
        fakempi.run(things_that_are_left_to_the_collector, N, backend=backend, strict=True)
    assert reported([*error.value.findings]) == expected(things_that_are_left_to_the_collector)


def test_other_packages_track_resources_in_the_same_way() -> None:
    """Leaks that programs do not leave to the garbage collector are found in every run."""

    def main(comm: Any) -> None:
        for thing in ([], kept):
            track("window-leak", thing, "it was never freed")
            if thing is kept:
                untrack("window-leak", thing)

    kept: list[Any] = []
    (one,) = fakempi.run(main, 2).findings
    assert str(one).endswith("it was never freed")
    assert (one.kind, one.ranks) == ("window-leak", (0, 1))


# -- messages ---------------------------------------------------------------------------------------------------------


def words(main: Callable[..., Any], n: int = N, **options: Any) -> list[str]:
    """The findings of a program, without their places."""
    return [re.sub(r" at \S+\.py:\d+", "", str(one)) for one in fakempi.run(main, n, **options).findings]


def test_a_lost_message_is_reported_with_all_details() -> None:
    """Messages of one line share a finding, whatever their tags and sizes."""

    def main(comm: Any) -> None:
        for i in range(5):
            comm.Send(np.zeros(i), (comm.rank + 1) % N, tag=10 * i)

    assert words(main) == [
        "message-lost: ranks 0-3: Send: ranks 0-3 never received it: tags 0, 10, 20, 30 and 40, 0 to 32 bytes (20 times)"
    ]


def test_a_lost_message_names_its_communicator() -> None:
    """Except for the world."""
    (sentence,) = words(message_on_a_communicator_that_was_freed)
    assert sentence.endswith("ranks 0-3 never received it: tag 0, 5 bytes on communicator 2 (4 ranks)")


def test_an_unmatched_receive_names_source_and_tag() -> None:
    """Sources are folded, like ranks."""

    def main(comm: Any) -> None:
        comm.Irecv(np.zeros(1), (comm.rank + 1) % N, 3)
        comm.irecv()

    assert words(main) == [
        "receive-unmatched: ranks 0-3: Irecv: no message arrived from ranks 0-3: tag 3; the request was never waited for",
        "receive-unmatched: ranks 0-3: irecv: no message arrived from any source: any tag; the request was never waited for",
    ]


def test_an_unfinished_collective_names_missing_ranks() -> None:
    """Its own messages, which wait at the root, are not reported again."""

    def main(comm: Any) -> None:
        own = comm.Dup()
        if comm.rank:
            own.Gather(EAGER, None)

    assert words(main) == [
        "collective-unfinished: ranks 1-3: Gather: rank 0 never called it on communicator 2 (4 ranks)",
    ]


def test_a_thousand_forgotten_requests_are_one_finding() -> None:
    """They need no more memory than one."""

    def main(comm: Any) -> None:
        for _ in range(1000):
            comm.isend(None, MPI.PROC_NULL)
        assert len(comm._process.call_sites) == 1

    assert words(main, 2) == [
        "missing-wait: ranks 0-1: isend: the request was never waited for, tested, canceled or freed (2,000 times)"
    ]


def test_waiting_for_an_unfinished_collective_is_a_deadlock() -> None:
    """The deadlock is reported first."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            comm.Ibarrier()
        if comm.rank == 2:
            comm.recv()

    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(main, N)


# -- other processes -------------------------------------------------------------------------------------------------


def test_each_nested_run_has_its_own_leaks() -> None:
    """Leaks of the inner run are not reported by the outer one."""

    def main(comm: Any) -> Any:
        return len(fakempi.run(message_without_a_receive, N).findings) if comm.rank == 0 else 0

    done = fakempi.run(main, 2)
    assert (done.returns, done.findings) == ([1, 0], [])


SPAWNS = """
import sys
from mpi4py import MPI
parent = MPI.Comm.Get_parent()
if parent == MPI.COMM_NULL:
    children = MPI.COMM_WORLD.Spawn(sys.executable, [__file__], maxprocs=2)
    children.recv(source=0)
    children.Disconnect()
else:
    parent.send(1, 0)
    parent.Disconnect()
"""

INITS = """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
MPI.{init}()
if MPI.COMM_WORLD.rank or {all_finalize}:
    MPI.Finalize()
"""


def script(tmp_path: Any, text: str, n: int) -> list[str]:
    """The findings of a script."""
    from fakempi.isolation.program import Program

    path = tmp_path / "work.py"
    path.write_text(text)
    return [str(one) for one in fakempi.run(Program([str(path)]), n).findings]


def test_leaks_of_spawned_processes_are_found(tmp_path: Any) -> None:
    """Ranks are named by the place where they were spawned."""
    group = "of the group spawned at work.py:6"
    assert script(tmp_path, SPAWNS, 1) == [
        f"message-lost: rank 1 {group}: send at work.py:10: rank 0 never received it: tag 0, 5 bytes on intercommunicator 3 "
        "(1 + 2 ranks)"
    ]


@pytest.mark.parametrize("init", ["Init", "Init_thread"])
def test_explicit_init_requires_finalize(tmp_path: Any, init: str) -> None:
    """A program that lets mpi4py call Init may leave Finalize to it."""
    assert script(tmp_path, INITS.format(init=init, all_finalize=True), 3) == []
    assert script(tmp_path, INITS.format(init=init, all_finalize=False), 3) == [
        f"missing-finalize: rank 0: {init} at work.py:5: the program called Init but not Finalize"
    ]


def test_info_that_was_passed_on_is_no_leak(tmp_path: Path, backend: Any) -> None:
    """Windows, files and sessions have internal copies, which the program need not free."""

    def main(comm: Any) -> None:
        info = MPI.Info.Create({"key": "value"})
        window = MPI.Win.Allocate(8, info=info, comm=comm)
        window.Set_info(info)
        file = MPI.File.Open(comm, tmp_path / "file", MPI.MODE_RDWR | MPI.MODE_CREATE, info)
        file.Set_info(info)
        session = MPI.Session.Init(info)
        info.Free()
        for each in (window, file, session):
            found = each.Get_info()
            assert found["key"] == "value"
            found.Free()
        session.Finalize()
        file.Close()
        window.Free()

    assert fakempi.run(main, 2, strict=True, backend=backend).findings == []


def test_a_duplicate_whose_copy_function_fails_is_no_leak() -> None:
    """The program gets no handle that it could free; the functions of other attributes have been called."""

    def fails(*args: Any) -> None:
        raise KeyError("no copy")

    def main(comm: Any) -> list[Any]:
        deleted: list[Any] = []
        kinds: list[tuple[Any, Any]] = [(MPI.Comm, comm), (MPI.Datatype, MPI.INT.Dup())]
        for kind, original in kinds:
            keys = [kind.Create_keyval(copy_fn=fails), kind.Create_keyval(True, lambda *args: deleted.append(args[2]))]
            for key in keys:
                original.Set_attr(key, 7)
            with pytest.raises(MPI.Exception):
                original.Dup()
            for key in keys:
                original.Delete_attr(key)
                kind.Free_keyval(key)
        original.Free()
        return deleted

    assert fakempi.run(main, 2, strict=True).returns == [[7] * 4] * 2
