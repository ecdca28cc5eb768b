"""Small programs that run on the emulator and on a real MPI, and must return the same on both.

Each takes a separate communicator and the namespace; it returns numbers, strings, lists and None, and no value that a
library is free to choose. They do not import fakempi or mpi4py.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any, Any], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Add it to the table."""
    PROGRAMS[function.__name__] = function
    return function


def neighbors(comm: Any) -> tuple[int, int]:
    """Left and right on a ring."""
    return (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size


def outcome(MPI: Any, call: Callable[[], Any]) -> Any:
    """The result of a call; if it fails, its error class, or the Python exception that mpi4py raises instead."""
    try:
        return call()
    except Exception as error:
        for kind in (BufferError, KeyError, TypeError, ValueError):
            if isinstance(error, kind):
                return kind.__name__
        if isinstance(error, MPI.Exception):
            return class_name(MPI, error.Get_error_class())
        raise


def class_name(MPI: Any, code: int) -> str:
    """The name of an error class, such as ERR_TAG; numbers differ between libraries."""
    names = [name for name in dir(MPI) if name.startswith("ERR_") and name not in ("ERR_LASTCODE",)]
    return next((name for name in names if getattr(MPI, name) == code), "SUCCESS" if code == MPI.SUCCESS else "?")


def fields(MPI: Any, status: Any) -> list[Any]:
    """The fields of a status."""
    source = {MPI.ANY_SOURCE: "any", MPI.PROC_NULL: "null"}.get(status.source, status.source)
    return [source, "any" if status.tag == MPI.ANY_TAG else status.tag, status.count, status.Is_cancelled()]


def world(comm: Any, group: Any) -> list[int]:
    """The ranks of a group's members in a communicator."""
    ranks: list[int] = group.Translate_ranks(None, comm.Get_group())
    return ranks


# -- messages ------------------------------------------------------------------------------------------------------


@program
def ring_of_objects(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    thing: Any = {"from": [comm.rank]}
    for _ in range(comm.size):
        thing = comm.sendrecv(thing, right, 3, source=left, recvtag=3)
        thing["from"].append(comm.rank)
    return thing["from"]


@program
def ring_of_buffers(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    mine, status = np.full(4, comm.rank, "i4"), MPI.Status()
    received = np.zeros(6, "i4")
    comm.Sendrecv(mine, right, 1, received, left, 1, status)
    comm.Sendrecv_replace(mine, right, 2, left, 2)
    return [received.tolist(), mine.tolist(), fields(MPI, status), status.Get_count(MPI.INT)]


@program
def ping_pong(comm: Any, MPI: Any) -> Any:
    seen: list[Any] = []
    partner = comm.rank ^ 1
    if partner >= comm.size:
        return seen
    for size in (0, 1, 7, 20_000):
        buffer, status = np.full(size, comm.rank, "u1"), MPI.Status()
        if comm.rank < partner:
            comm.Send(buffer, partner, size)
            comm.Recv(buffer, partner, size, status)
        else:
            received = np.zeros(size, "u1")
            comm.Recv(received, partner, size, status)
            comm.Send(buffer, partner, size)
            buffer = received
        seen.append([fields(MPI, status), int(buffer.sum())])
    return seen


@program
def order_and_tags(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    requests = [comm.isend([comm.rank, number], right, number % 3) for number in range(9)]
    status, seen = MPI.Status(), []
    for tag in (2, 0, 1):
        seen += [comm.recv(source=left, tag=tag) for _ in range(2)]
    for _ in range(3):
        seen.append(comm.recv(source=left, status=status))
        seen.append(status.tag)
    MPI.Request.Waitall(requests)
    return seen


@program
def all_to_one(comm: Any, MPI: Any) -> Any:
    request = comm.isend(comm.rank**2, 0, comm.rank)
    seen = []
    if comm.rank == 0:
        status = MPI.Status()
        for _ in range(comm.size):
            seen.append([comm.recv(status=status), status.source, status.tag])
    request.wait()
    return sorted(seen)


@program
def all_to_all(comm: Any, MPI: Any) -> Any:
    received = [np.full(comm.size + 1, -1) for _ in range(comm.size)]
    requests = [comm.Irecv(each, source, 5) for source, each in enumerate(received)]
    requests += [comm.Isend(np.full(dest + 1, comm.rank), dest, 5) for dest in range(comm.size)]
    statuses: list[Any] = []
    MPI.Request.Waitall(requests, statuses)
    counts = [fields(MPI, status) for status in statuses[: comm.size]]
    return [[each.tolist() for each in received], counts, [bool(request) for request in requests]]


@program
def every_mode(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    MPI.Attach_buffer(bytearray(10_000 + 10 * MPI.BSEND_OVERHEAD))
    seen = []
    for mode in ("Isend", "Issend", "Ibsend", "Irsend"):
        received = bytearray(1)
        request = comm.Irecv(received, left, 8)
        comm.sendrecv(None, left, 9, source=right, recvtag=9)  # the receive must be posted
        getattr(comm, mode)(bytes([comm.rank]), right, 8).Wait()
        request.Wait()
        seen.append(received[0])
    for send in (comm.isend, comm.issend, comm.ibsend):
        request = send([comm.rank], right)
        seen.append(comm.recv(source=left))
        request.wait()
    comm.Bsend(bytes([comm.rank]), right)
    comm.bsend("b", right)
    comm.Recv(received, left)
    seen += [received[0], comm.recv(source=left)]
    MPI.Detach_buffer()
    return seen


@program
def a_chain_that_ends_at_proc_null(comm: Any, MPI: Any) -> Any:
    left = comm.rank - 1 if comm.rank else MPI.PROC_NULL
    right = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
    received, status = np.array([-1]), MPI.Status()
    comm.Sendrecv(np.array([comm.rank]), right, 4, received, left, 4, status)
    both = fields(MPI, status)
    thing = comm.sendrecv(comm.rank, left, source=right, status=status)
    return [int(received[0]), both, thing, status.source == MPI.PROC_NULL]


@program
def proc_null(comm: Any, MPI: Any) -> Any:
    kept, status = bytearray(b"kept"), MPI.Status()
    seen: list[Any] = []
    for call in (comm.Send, comm.Ssend, comm.Bsend, comm.Rsend):
        call(None, MPI.PROC_NULL)
    for start in (comm.Isend, comm.Issend, comm.Ibsend, comm.Irsend):
        start(None, MPI.PROC_NULL).Wait()
    comm.Recv(kept, MPI.PROC_NULL, status=status)
    seen.append(fields(MPI, status))
    comm.Irecv(None, MPI.PROC_NULL).Wait(status)
    seen.append(fields(MPI, status))
    seen += [comm.recv(source=MPI.PROC_NULL), comm.irecv(source=MPI.PROC_NULL).wait(), comm.Probe(MPI.PROC_NULL)]
    seen += [comm.Iprobe(MPI.PROC_NULL, status=status), fields(MPI, status)]
    message = comm.Mprobe(MPI.PROC_NULL)
    seen += [message == MPI.MESSAGE_NO_PROC, message.recv(), message == MPI.MESSAGE_NULL]
    seen += [MPI.MESSAGE_NO_PROC.recv(), bool(MPI.MESSAGE_NO_PROC), kept.decode()]
    return seen


@program
def objects_are_isolated(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    thing: Any = [comm.rank, {"k": [1]}]
    request = comm.isend(thing, right)
    thing[1]["k"].append("late")
    received = comm.recv(source=left)
    request.wait()
    received[1]["k"].append("mine")
    return [thing, received]


@program
def sizes_of_objects(comm: Any, MPI: Any) -> Any:
    things = [None, 7, 300, -1, 1.5, "text", "é", b"bytes", (), (1, 2.0), [1], {"a": None}, True, 2**70, 1j]
    status, sizes = MPI.Status(), []
    for thing in things:
        request = comm.isend(thing, comm.rank, 2)
        comm.Probe(comm.rank, 2, status)
        sizes.append(status.count)
        assert comm.recv(source=comm.rank) == thing
        request.wait()
    return sizes


@program
def empty_buffers_and_objects(comm: Any, MPI: Any) -> Any:
    request = comm.Isend([None, 0, MPI.BYTE], comm.rank)
    nothing = comm.recv(source=comm.rank)
    request.Wait()
    request = comm.Isend([MPI.pickle.dumps([1, 2]), MPI.BYTE], comm.rank)
    thing = comm.recv(source=comm.rank)
    request.Wait()
    return [nothing, thing]


# -- probes --------------------------------------------------------------------------------------------------------


@program
def receive_what_was_probed(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    request = comm.Isend(np.arange(comm.rank + 1.0), right, 6)
    status = MPI.Status()
    comm.Probe(left, MPI.ANY_TAG, status)
    received = np.zeros(status.Get_count(MPI.DOUBLE))
    comm.Recv(received, status.source, status.tag)
    request.Wait()
    return received.tolist()


@program
def matched_probes(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    requests = [comm.isend([comm.rank, number], right, 1) for number in range(3)]
    message = comm.mprobe(left, 1)
    second = comm.recv(source=left, tag=1)
    found = None
    while found is None:
        found = comm.improbe(left, 1)
    same = MPI.Message(message) == message
    received = [second, found.recv(), message.irecv().wait()]
    MPI.Request.Waitall(requests)
    return [received, same, bool(message), comm.Improbe(left, 1), comm.Iprobe(left, 1)]


# -- requests ------------------------------------------------------------------------------------------------------


@program
def wait_for_any(comm: Any, MPI: Any) -> Any:
    requests = [comm.irecv(source=comm.rank, tag=tag) for tag in range(3)]
    seen, status = [], MPI.Status()
    for tag in (1, 2, 0):
        comm.send("abc"[tag], comm.rank, tag)
        seen.append([*MPI.Request.waitany(requests, status), fields(MPI, status)[:2]])
    index, thing = MPI.Request.waitany(requests, status)
    return [seen, index == MPI.UNDEFINED, thing, fields(MPI, status)]


@program
def wait_for_some(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    requests = [comm.irecv(source=left, tag=tag) for tag in range(4)]
    sends = [comm.isend(tag * 10, right, tag) for tag in range(4)]
    seen: dict[int, Any] = {}
    while True:
        statuses: list[Any] = []
        indices, things = MPI.Request.waitsome(requests, statuses)
        if indices is None:
            break
        for index, thing, status in zip(indices, things, statuses, strict=True):
            seen[index] = [thing, status.tag]
    MPI.Request.Waitall(sends)
    return [sorted(seen.items()), MPI.Request.Testsome(requests), MPI.Request.testall(requests)]


@program
def polling_ends(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    requests = [comm.irecv(source=left), comm.isend(comm.rank, right)]
    while not MPI.Request.Get_status_all(requests):
        pass
    flag, things = MPI.Request.testall(requests)
    request = comm.isend("x", right, 7)
    while not comm.Iprobe(left, 7):
        pass
    thing = comm.recv(source=left, tag=7)
    while not request.Test():
        pass
    return [flag, things, thing]


@program
def null_and_inactive_requests(comm: Any, MPI: Any) -> Any:
    R, null = MPI.Request, MPI.REQUEST_NULL
    inactive = comm.Recv_init(bytearray(1), comm.rank)
    seen: list[Any] = []
    for given in ([], [null], [inactive, null]):
        index, flag = R.Testany(given)
        seen.append([R.Waitany(given) == MPI.UNDEFINED, index == MPI.UNDEFINED, flag])
        seen.append([R.Waitall(given), R.waitall(given), R.testall(given), R.Waitsome(given), R.testsome(given)])
    status = MPI.Status()
    status.source, status.tag, status.error = 4, 5, 6
    seen += [inactive.Test(status), fields(MPI, status), status.error, bool(inactive), null.wait(), null.test()]
    calls = (null.Cancel, null.Free, null.free, inactive.Cancel)
    seen.append([outcome(MPI, call) for call in calls])
    inactive.Free()
    seen += [bool(inactive), outcome(MPI, inactive.Start)]
    return seen


@program
def cancelled_receives(comm: Any, MPI: Any) -> Any:
    requests = [comm.irecv(source=comm.rank, tag=1) for _ in range(3)]
    requests[0].Cancel()
    requests[2].Cancel()
    comm.send("x", comm.rank, 1)
    statuses: list[Any] = []
    things = MPI.Request.waitall(requests, statuses)
    return [things, [status.Is_cancelled() for status in statuses]]


@program
def persistent_ring(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    mine, received = np.array([comm.rank]), np.array([-1])
    requests = [comm.Recv_init(received, left, 3), comm.Send_init(mine, right, 3)]
    seen = []
    for _ in range(comm.size + 1):
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        mine[:] = received
        seen.append(int(received[0]))
    for request in requests:
        request.Free()
    return [seen, [type(request) is MPI.Prequest for request in requests]]


@program
def requests_outlive_their_communicator(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    mine, received, again = comm.Dup(), bytearray(1), bytearray(1)
    requests = [mine.Irecv(received, left), mine.Isend(bytes([comm.rank]), right)]
    persistent = [mine.Recv_init(again, left, 5), mine.Send_init(bytes([comm.rank]), right, 5)]
    mine.Free()
    MPI.Request.Waitall(requests)
    MPI.Prequest.Startall(persistent)
    MPI.Request.Waitall(persistent)
    for request in persistent:
        request.Free()
    return [received[0], again[0], bool(mine)]


@program
def generalized_requests(comm: Any, MPI: Any) -> Any:
    log: list[Any] = []

    def query(status: Any, *args: Any) -> None:
        log.append(["query", fields(MPI, status), *args])
        status.source = 3

    request = MPI.Grequest.Start(
        query, lambda *args: log.append(["free", *args]), lambda done, *args: log.append(["cancel", done, *args]), (1,)
    )
    log.append(request.Test())
    request.Cancel()
    request.Complete()
    status = MPI.Status()
    log += [request.Get_status(status), status.source, request.Wait(), bool(request)]
    plain = MPI.Grequest.Start()
    plain.complete([7])
    return [*log, plain.wait(status), fields(MPI, status)]


# -- datatypes -----------------------------------------------------------------------------------------------------


@program
def columns_into_rows(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    matrix = np.arange(12.0).reshape(3, 4) + 100 * comm.rank
    column = MPI.DOUBLE.Create_vector(3, 1, 4).Commit()
    row, target = np.zeros(3), np.zeros((3, 4))
    comm.Sendrecv([matrix, 1, column], right, 0, row, left, 0)
    comm.Sendrecv(np.arange(3.0), right, 1, [target, 1, column], left, 1)
    column.Free()
    return [row.tolist(), target.tolist()]


@program
def transpose_by_blocks(comm: Any, MPI: Any) -> Any:
    size = comm.size
    mine, result = np.arange(size * 2) + 100 * comm.rank, np.zeros((size, 2), int)
    requests = [comm.Irecv(result[source], source) for source in range(size)]
    pair = MPI.LONG.Create_contiguous(2).Commit()
    requests += [comm.Isend([mine, (1, dest), pair], dest) for dest in range(size)]
    MPI.Request.Waitall(requests)
    pair.Free()
    return result.tolist()


@program
def structs_and_subarrays(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    record = np.dtype("i4,f8", align=True)
    datatype = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE]).Create_resized(0, 16).Commit()
    sent, received = np.array([(comm.rank, 0.5), (2, 2.5)], record), np.zeros(2, record)
    status = MPI.Status()
    comm.Sendrecv([sent, 2, datatype], right, 0, [received, 2, datatype], left, 0, status)
    counts = [status.count, status.Get_count(datatype), status.Get_elements(datatype)]
    source, target = np.arange(16).reshape(4, 4), np.full((4, 4), -1)
    corner = MPI.LONG.Create_subarray([4, 4], [2, 2], [0, 2]).Commit()
    middle = MPI.LONG.Create_subarray([4, 4], [2, 2], [1, 1]).Commit()
    comm.Sendrecv([source, 1, corner], right, 1, [target, 1, middle], left, 1)
    return [received.tolist(), counts, target.tolist()]


@program
def packed_messages(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    numbers = np.arange(6, dtype="i4") + comm.rank
    every_other = MPI.INT.Create_vector(3, 1, 2).Commit()
    packed = bytearray(64)
    position = every_other.Pack(numbers, packed, 0, comm)
    position = MPI.DOUBLE.Pack(np.array([1.5]), packed, position, comm)
    received = bytearray(64)
    comm.Sendrecv([packed, position, MPI.PACKED], right, 0, [received, MPI.PACKED], left, 0)
    first, second = np.zeros(3, "i4"), np.zeros(1)
    place = MPI.INT.Unpack(received, 0, first, comm)
    MPI.DOUBLE.Unpack(received, place, second, comm)
    return [position, first.tolist(), second.tolist()]


@program
def ways_to_name_a_buffer(comm: Any, MPI: Any) -> Any:
    numbers = np.arange(6.0)
    specs: list[Any] = [
        numbers, [numbers, 3], [numbers, MPI.DOUBLE], [numbers, "d"], [numbers, 3, MPI.DOUBLE], (numbers, 3, "d"),
        [numbers, (2, 1), MPI.DOUBLE], [numbers, 2, 1, MPI.DOUBLE], [numbers, None, MPI.DOUBLE],
        memoryview(numbers.tobytes()), numbers[2:5], numbers.reshape(2, 3), bytearray(b"x" * 8), [None, 0, MPI.INT],
    ]  # fmt: skip
    seen, status = [], MPI.Status()
    for spec in specs:
        received = np.full(6, -1.0)
        into = [received, MPI.BYTE] if isinstance(spec, (memoryview, bytearray)) else received
        comm.Sendrecv(spec, comm.rank, 0, into, comm.rank, 0, status)
        seen.append([status.count, received.tolist() if status.count != 8 else None])
    return seen


@program
def arrays_of_many_dtypes(comm: Any, MPI: Any) -> Any:
    seen = []
    for letter in "?bBhHiIlLqQfdFD":
        sent = np.array([0, 1, 2]).astype(letter)
        received = np.zeros(3, letter)
        comm.Sendrecv(sent, comm.rank, 0, received, comm.rank, 0)
        seen.append(received.tobytes() == sent.tobytes())
    return seen


# -- communicators -------------------------------------------------------------------------------------------------


@program
def splitting(comm: Any, MPI: Any) -> Any:
    parts = [comm.Split(comm.rank % 2, -comm.rank), comm.Split(), comm.Split(comm.rank), comm.Split(0, comm.rank // 2)]
    left_out = comm.Split(MPI.UNDEFINED if comm.rank == 0 else 3)
    facts = [[part.rank, part.size, world(comm, part.Get_group())] for part in parts]
    return [facts, bool(left_out), type(left_out) is MPI.Intracomm, left_out == MPI.COMM_NULL]


@program
def contexts_are_apart(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    comms = [comm, comm.Dup(), comm.Split(0), comm.Clone()]
    requests = [each.isend(number, right) for number, each in enumerate(comms)]
    received = [each.recv(source=left) for each in reversed(comms)]
    MPI.Request.Waitall(requests)
    return received


@program
def made_from_groups(comm: Any, MPI: Any) -> Any:
    group = comm.Get_group()
    some = group.Incl(list(range(comm.size))[::-2])
    made = comm.Create(some)
    alone = comm.Create_group(group.Incl([comm.rank]), comm.rank)
    nothing = comm.Create(MPI.GROUP_EMPTY)
    outside = comm.Create_group(group.Incl([]))
    ranks = world(comm, made.Get_group()) if made else None
    return [ranks, alone.size, bool(nothing), bool(outside), type(made) is MPI.Intracomm]


@program
def group_algebra(comm: Any, MPI: Any) -> Any:
    group, G = comm.Get_group(), MPI.Group
    evens = group.Range_incl([(0, comm.size - 1, 2)])
    low = group.Incl(list(range((comm.size + 1) // 2)))
    groups = [G.Union(evens, low), G.Intersection(evens, low), G.Difference(evens, low), group.Excl([0])]
    ranks = [None if each.Get_rank() == MPI.UNDEFINED else each.Get_rank() for each in groups]
    compared = [G.Compare(group, group.Incl(list(range(comm.size)))) == MPI.IDENT, group.Compare(evens) == MPI.UNEQUAL]
    return [[world(comm, each) for each in groups], ranks, compared]


@program
def comparing(comm: Any, MPI: Any) -> Any:
    names = {getattr(MPI, name): name for name in ("IDENT", "CONGRUENT", "SIMILAR", "UNEQUAL")}
    others = [comm, MPI.Comm(comm), comm.Dup(), comm.Split(0, -comm.rank), comm.Split(comm.rank)]
    return [[names[comm.Compare(other)] for other in others], [comm == other for other in others]]


@program
def kinds_of_communicators(comm: Any, MPI: Any) -> Any:
    class Mine(MPI.Intracomm):  # type: ignore[misc]
        """A user-defined class."""

    mine, base = Mine(comm), MPI.Comm(comm)
    begun, request = mine.Idup()
    request.Wait()
    made = [mine.Dup(), mine.Clone(), mine.Split(0), mine.Create(mine.Get_group()), begun]
    made += [base.Dup(), base.Split(0), base.Create(comm.Get_group()), MPI.Comm.Get_parent()]
    bad = [lambda: MPI.Intercomm(comm), lambda: MPI.Comm("x"), lambda: comm.Compare(None), lambda: hash(comm)]
    return [[type(each).__name__ for each in made], mine == comm, [outcome(MPI, call) for call in bad]]


@program
def attributes_of_a_communicator(comm: Any, MPI: Any) -> Any:
    log: list[Any] = []
    mine = comm.Dup()

    def copied(_: Any, __: int, value: int) -> int:
        log.append(["copy", value])
        return value + 1

    key = MPI.Comm.Create_keyval(copied, lambda _, __, value: log.append(["delete", value]))
    mine.Set_attr(key, 1)
    same = MPI.Intracomm(mine)
    same.Set_name("shared")
    log += [mine.Get_attr(key), same.Get_attr(key), mine.name]
    other = mine.Dup()
    log += [other.Get_attr(key), other.name, mine.Split(0).Get_attr(key)]
    other.Free()
    same.Set_attr(key, 5)
    log.append(mine.Get_attr(key))
    mine.Set_errhandler(MPI.ERRORS_ARE_FATAL)
    handlers = [mine, same, mine.Dup(), mine.Split(0), mine.Create(mine.Get_group())]
    log.append([each.Get_errhandler() == MPI.ERRORS_ARE_FATAL for each in handlers])
    names = [MPI.COMM_WORLD.name, MPI.COMM_SELF.name, MPI.COMM_NULL.name]
    return [*log, names]


@program
def across_an_intercommunicator(comm: Any, MPI: Any) -> Any:
    if comm.size < 2:
        return None
    side = comm.rank % 2
    half = comm.Split(side)
    inter = half.Create_intercomm(0, comm, 1 - side, 4)
    seen: list[Any] = [type(inter).__name__, inter.rank, inter.size, inter.remote_size, inter.is_inter]
    seen += [world(comm, inter.Get_group()), world(comm, inter.Get_remote_group())]
    requests = [inter.isend([comm.rank, dest], dest, comm.rank) for dest in range(inter.remote_size)]
    status = MPI.Status()
    received = []
    for source in range(inter.remote_size):
        received.append(inter.recv(source=source, status=status))
        received.append(fields(MPI, status)[:2])
    MPI.Request.Waitall(requests)
    merged = inter.Merge(high=side == 0)
    seen += [received, world(comm, merged.Get_group()), merged.rank, type(merged).__name__]
    names = {getattr(MPI, name): name for name in ("IDENT", "CONGRUENT", "SIMILAR", "UNEQUAL")}
    seen.append([names[inter.Compare(each)] for each in (inter, inter.Dup())])
    seen.append([outcome(MPI, lambda: inter.Send(b"x", inter.remote_size)), outcome(MPI, lambda: MPI.Intracomm(inter))])
    return seen


@program
def parts_of_an_intercommunicator(comm: Any, MPI: Any) -> Any:
    if comm.size < 2:
        return None
    side = int(comm.rank >= comm.size // 2)
    half = comm.Split(side)
    inter = half.Create_intercomm(0, comm, 0 if side else comm.size // 2)
    part = inter.Split(half.rank, 0)
    seen: list[Any] = [bool(part), type(part).__name__]
    if part:
        seen += [world(comm, part.Get_group()), world(comm, part.Get_remote_group())]
        seen.append(part.sendrecv(comm.rank, 0, source=0))
    cut = inter.Create(half.Get_group().Incl([0]))
    seen.append([world(comm, cut.Get_group()), world(comm, cut.Get_remote_group())] if cut else None)
    return seen


# -- errors --------------------------------------------------------------------------------------------------------


@program
def truncated_receives(comm: Any, MPI: Any) -> Any:
    seen: list[Any] = []
    request = comm.Isend(b"long", comm.rank, 1)
    seen.append(outcome(MPI, lambda: comm.Recv(bytearray(2), comm.rank, 1)))
    request.Wait()
    receive = comm.Irecv(bytearray(2), comm.rank, 1)
    comm.Send(b"long", comm.rank, 1)
    seen.append(outcome(MPI, receive.Wait))
    request = comm.Isend(b"long", comm.rank, 1)
    message = comm.Mprobe(comm.rank, 1)
    seen.append(outcome(MPI, lambda: message.Recv(bytearray(2))))
    request.Wait()
    statuses = [MPI.Status()]
    receive = comm.Irecv(bytearray(2), comm.rank, 1)
    comm.Send(b"long", comm.rank, 1)
    seen.append(outcome(MPI, lambda: MPI.Request.Waitall([receive], statuses)))
    return [seen, class_name(MPI, MPI.Get_error_class(statuses[0].error))]


@program
def bad_ranks_and_tags(comm: Any, MPI: Any) -> Any:
    size, inside = comm.size, comm.rank
    calls: list[Callable[[], Any]] = [
        lambda: comm.Send(b"x", size), lambda: comm.Send(b"x", -7), lambda: comm.Send(b"x", MPI.ANY_SOURCE),
        lambda: comm.Send(b"x", inside, -3), lambda: comm.Send(b"x", inside, MPI.ANY_TAG),
        lambda: comm.Recv(bytearray(1), size), lambda: comm.Recv(bytearray(1), inside, -7), lambda: comm.Probe(size),
        lambda: comm.Iprobe(inside, -7), lambda: comm.Mprobe(size), lambda: comm.Isend(b"x", size),
        lambda: comm.Irecv(bytearray(1), size), lambda: comm.send(1, size), lambda: comm.Send_init(b"x", size),
        lambda: comm.Recv_init(bytearray(1), size), lambda: comm.Sendrecv(b"x", size, 0, bytearray(1), inside),
        lambda: comm.Create(MPI.GROUP_NULL), lambda: comm.Create_group(MPI.GROUP_NULL), lambda: comm.Create(None),
        lambda: MPI.COMM_SELF.Create(comm.Get_group()) if size > 1 else "ERR_GROUP",
    ]  # fmt: skip
    return [outcome(MPI, call) for call in calls]


@program
def null_and_freed_handles(comm: Any, MPI: Any) -> Any:
    freed = comm.Dup()
    freed.Free()
    datatype = MPI.DOUBLE.Create_contiguous(2).Commit()
    datatype.Free()
    numbers, null = np.zeros(2), MPI.COMM_NULL
    calls: list[Callable[[], Any]] = [
        lambda: null.Send(b"x", 0), lambda: freed.Send(b"x", 0), lambda: freed.Get_rank(), lambda: null.Get_size(),
        lambda: null.Dup(), lambda: null.Free(), lambda: null.free(), lambda: MPI.COMM_WORLD.Free(),
        lambda: MPI.COMM_SELF.Free(), lambda: MPI.COMM_WORLD.free(), lambda: comm.Compare(null),
        lambda: comm.Send([numbers, 1, MPI.DATATYPE_NULL], 0), lambda: comm.Send([numbers, 1, datatype], 0),
        lambda: comm.Send([numbers, 1, MPI.DOUBLE.Create_contiguous(2)], 0), lambda: MPI.MESSAGE_NULL.recv(),
        lambda: comm.Set_errhandler(MPI.ERRHANDLER_NULL), lambda: MPI.Prequest.Startall([MPI.REQUEST_NULL]),
        lambda: MPI.Request("x"), lambda: MPI.Message(5), lambda: MPI.Request.Waitall([None]),
    ]  # fmt: skip
    return [bool(freed), [outcome(MPI, call) for call in calls]]


@program
def bad_buffers(comm: Any, MPI: Any) -> Any:
    me = comm.rank
    specs: list[Any] = [
        5, None, "text", {}, [b"x"], [1, 2, 3], [b"x", "no such type"], np.zeros((4, 4))[:, 0], np.zeros(2, ">i4"),
        [np.zeros(2), -1, MPI.DOUBLE], [b"1234567", MPI.INT], [b"x", 1, 2, 3, 4],
    ]  # fmt: skip
    seen = [outcome(MPI, lambda spec=spec: comm.Send_init(spec, me).Free()) for spec in specs]  # type: ignore[misc]
    seen += [outcome(MPI, lambda: comm.Recv(b"read-only", me)), outcome(MPI, lambda: comm.Recv_init(b"read-only", me))]
    seen.append(outcome(MPI, lambda: comm.Recv(b"read-only", MPI.PROC_NULL)))
    return seen


@program
def attached_buffers(comm: Any, MPI: Any) -> Any:
    seen: list[Any] = [outcome(MPI, lambda: comm.Bsend(b"x", comm.rank))]
    memory = bytearray(100 + MPI.BSEND_OVERHEAD)
    seen.append(outcome(MPI, lambda: MPI.Attach_buffer(b"read-only")))
    MPI.Attach_buffer(memory)
    seen.append(outcome(MPI, lambda: comm.Bsend(bytes(1000), comm.rank)))
    comm.Bsend(b"fits", comm.rank)
    received = bytearray(4)
    comm.Recv(received, comm.rank)
    seen += [received.decode(), MPI.Detach_buffer() is memory]
    MPI.Flush_buffer()
    MPI.Attach_buffer(None)
    return [*seen, MPI.Detach_buffer() is MPI.BUFFER_AUTOMATIC]


@program
def pickled_handles(comm: Any, MPI: Any) -> Any:
    same = [MPI.COMM_WORLD, MPI.COMM_SELF, MPI.COMM_NULL, MPI.REQUEST_NULL, MPI.MESSAGE_NULL, MPI.MESSAGE_NO_PROC, MPI.INT]
    kept = [pickle.loads(pickle.dumps(handle)) is handle for handle in same]
    persistent = comm.Recv_init(bytearray(1), comm.rank)
    refused = [outcome(MPI, lambda: pickle.dumps(comm)), outcome(MPI, lambda: pickle.dumps(persistent))]
    persistent.Free()
    other = pickle.loads(pickle.dumps(MPI.Intracomm(MPI.COMM_WORLD)))
    return [kept, refused, other == MPI.COMM_WORLD, type(other).__name__]


@program
def handles_as_integers(comm: Any, MPI: Any) -> Any:
    request = comm.Recv_init(bytearray(1), comm.rank)
    seen = [MPI.Comm.fromhandle(comm.handle) == comm, MPI.Request.fromhandle(request.handle) == request]
    seen += [MPI.Comm.f2py(comm.py2f()) == comm, MPI.Message.fromhandle(MPI.MESSAGE_NULL.handle) == MPI.MESSAGE_NULL]
    request.Free()
    return seen
