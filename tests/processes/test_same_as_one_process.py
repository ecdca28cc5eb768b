"""The same script prints the same and takes the same modeled time, whether ranks are processes or not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fakempi.processes.template import Template
from tests.processes.harness import HEAD, both

SCRIPTS: dict[str, tuple[int, str]] = {}

SCRIPTS["requests"] = 3, """
import numpy as np
right, left = (rank + 1) % size, (rank - 1) % size
a, b = np.arange(5.0) * (rank + 1), np.zeros(5)
requests = [comm.Isend(a, right), comm.Irecv(b, left)]
MPI.Request.Waitall(requests)
print(rank, b, requests[0] == MPI.REQUEST_NULL)
column = MPI.DOUBLE.Create_vector(3, 1, 4).Commit()
table, other = np.arange(12.0) + 100 * rank, np.zeros(12)
receives = [comm.Irecv([other[i:], 1, column], left, tag=i) for i in range(4)]
sends = [comm.Isend([table[i:], 1, column], right, tag=i) for i in range(4)]
while receives:
    status = MPI.Status()
    index = MPI.Request.Waitany(receives, status)
    print(rank, index, status.Get_source(), status.tag, status.Get_count(MPI.DOUBLE))
    del receives[index]
MPI.Request.Waitall(sends)
print(other)
column.Free()
pair = [comm.Send_init(a, right, 7), comm.Recv_init(b, left, 7)]
for i in range(3):
    a[:] = i * 10 + rank
    MPI.Prequest.Startall(pair)
    MPI.Request.Waitall(pair)
    print(i, b)
for request in pair:
    request.Free()
sent, received = comm.isend([rank] * 3, right), comm.irecv(source=left)
print(received.wait(), sent.wait())
comm.Ibcast(a, 0).Wait()
print(a, MPI.Wtime())
"""

SCRIPTS["scalars of numpy"] = 2, """
import numpy as np
row = MPI.DOUBLE.Create_contiguous(np.prod(np.array([2, 3]))).Commit()
print(row.Get_size(), comm.bcast(np.float64(rank), root=np.int64(1)))
row.Free()
if rank == np.int32(0):
    comm.Send(np.float64(2.5), dest=np.int64(1), tag=np.int8(3))
else:
    received = np.zeros(1)
    comm.Recv(received, source=np.int64(0), tag=np.uint16(3))
    print(received)
"""

SCRIPTS["functions as attributes of classes"] = 2, """
import logging, pickle, random, sys, time


class Timer:
    read, wait, draw = time.perf_counter, time.sleep, random.random


logging.basicConfig(format="%(asctime)s %(message)s", datefmt="at", stream=sys.stdout)
logging.warning("formatted by logging.Formatter, whose attribute converter is time.localtime")
start = Timer().read()
Timer().wait(2)
print(Timer().read() - start >= 2, 0 <= Timer().draw() < 1)
print([pickle.loads(pickle.dumps(f)) is f for f in (time.time, time.sleep)], MPI.Wtime())
"""

SCRIPTS["repeated calls"] = 2, """
import numpy as np
other = 1 - rank
for c in (comm, comm.Dup(), comm.Split(0, -rank)):
    for i in range(4):  # the first call on a line describes its arguments, further ones do not
        a, b = np.full((2, 3), 10.0 * rank + i), np.zeros((2, 3))
        z, y = np.array([1j * rank + i]), np.zeros(2 if i == 3 else 1, complex)
        if rank == 0:
            comm.Send(a[: 1 + i // 2], 1, tag=i)
        else:
            comm.Recv(b, 0, tag=MPI.ANY_TAG)
        c.Allreduce(a, b if i < 2 else a.copy())
        try:
            c.Allreduce(z, y[:1], op=MPI.PROD if i else MPI.SUM)
            c.Sendrecv(b, other, i, y, other, MPI.ANY_TAG)  # too long: an error, and the received part
        except MPI.Exception as error:
            print(i, error.Get_error_class() == MPI.ERR_TRUNCATE, y)
        for root in (i % 2, True, 2**70, 5):
            try:
                c.Bcast(a, root)
            except (MPI.Exception, OverflowError, TypeError) as error:
                print(type(error).__name__, error)
        try:
            c.Allreduce(a, a)
        except MPI.Exception as error:
            print(error)
        frozen = a.copy()
        frozen.flags.writeable = False
        try:
            c.Recv(frozen, other)
        except (MPI.Exception, BufferError, ValueError) as error:
            print(type(error).__name__, error)
        c.Bcast(np.zeros(0))
        print(rank, a, b, y, MPI.Wtime())
    if c is not comm:
        c.Free()
c = comm.Dup()
c.Set_errhandler(MPI.Comm.Create_errhandler(lambda handle, error: comm.Sendrecv(a, other, 0, b, other, 0)))
for dest in (other, 7, 8):
    try:
        c.Sendrecv(a, dest, 0, b, other, 0)  # the handler makes calls of a known kind while this one waits
    except MPI.Exception as error:
        print(rank, error, b)
c.Free()
"""

SCRIPTS["pickles of MPI objects"] = 2, """
import pickle
status, info, kind = MPI.Status(), MPI.Info.Create({"a": "b"}), MPI.INT.Create_contiguous(2)
status.tag = 5
copies = [pickle.loads(pickle.dumps(one)) for one in (status, info, kind, MPI.DOUBLE)]
print(copies[0].tag, copies[1].items(), copies[2].Get_size(), copies[3] == MPI.DOUBLE)
for one in (info, kind, *copies[1:3]):
    one.Free()
"""

SCRIPTS["objects that a call ignores"] = 3, """
import numpy as np
def no_pickle(): return lambda: 0
print(comm.bcast(5 if rank == 1 else no_pickle(), 1), comm.scatter([7, 8, 9] if rank == 2 else np.zeros(()), root=2))
print(comm.scatter([7, 8, 9] if rank == 0 else [no_pickle()]))
for send in (comm.send, comm.ssend, comm.bsend):
    send(no_pickle(), MPI.PROC_NULL)
for start in (comm.isend, comm.issend, comm.ibsend):
    start(no_pickle(), dest=MPI.PROC_NULL).wait()
print(comm.sendrecv(no_pickle(), MPI.PROC_NULL, source=MPI.PROC_NULL))
half = comm.Split(rank > 0, rank)
inter = half.Create_intercomm(0, comm, 1 if rank == 0 else 0)
root, other = (MPI.ROOT, 0) if rank == 0 else (0, MPI.ROOT if rank == 1 else MPI.PROC_NULL)
print(inter.bcast(5 if rank == 0 else no_pickle(), root), inter.gather(no_pickle() if rank == 0 else rank, root))
print(inter.scatter([5, 6] if rank == 0 else no_pickle(), root), inter.reduce(no_pickle() if rank == 0 else rank, root=root))
print(inter.bcast([3] if rank == 1 else no_pickle(), other), inter.gather(4 if rank == 0 else no_pickle(), other))
inter.Free()
half.Free()
for call in (lambda: comm.scatter(7, rank), lambda: half.bcast(1), lambda: comm.bcast(no_pickle(), root=rank)):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).split(" at 0x")[0])
"""

SCRIPTS["memory of a status"] = 2, """
status = MPI.Status()
comm.sendrecv("abc", 1 - rank, 7, None, 1 - rank, 7, status)
memory, again = status.tomemory(), status.tomemory()
print(memory.tolist() == status.py2f(), memory.format, len(memory), status.source, status.tag)
memory[3] = 33
again[2] = 22
print(status.source, status.tag, again.tolist() == memory.tolist() == status.py2f())
comm.sendrecv("abcdef", 1 - rank, 8, None, 1 - rank, 8, status)
print(status.Get_count(MPI.BYTE), memory.tolist() == status.py2f(), memory[3], memory[2] == 1 - rank)
"""

SCRIPTS["collectives"] = 4, """
import array
import numpy as np
s, r = np.arange(4, dtype="i") + 10 * rank, np.zeros(4, "i")
comm.Alltoall(s, r)
comm.Allreduce(MPI.IN_PLACE, r, op=MPI.MAX)
table = np.zeros((4, 4), "i") if rank == 0 else None
comm.Gather(s, table, root=0)
v, counts = np.zeros(10), [1, 2, 3, 4]
comm.Allgatherv(np.full(counts[rank], rank, float), [v, counts])
print(rank, r, table, v)
print(comm.scatter([(i, i * i) for i in range(size)] if rank == 1 else None, root=1), comm.alltoall([rank] * size))
print(comm.reduce(rank, op=MPI.PROD, root=1), comm.exscan(rank), comm.allreduce((rank, 1), op=MPI.MAXLOC))
def combine(a, b, datatype):
    x, y = np.frombuffer(a, "i"), np.frombuffer(b, "i")
    y[:] = 2 * x + y
op = MPI.Op.Create(combine, commute=True)
comm.Allreduce(s, r, op=op)
later = np.zeros(4, "i")
request = comm.Iallreduce(s, later, op=op)
comm.Barrier()
request.Wait()
print(later)
op.Free()
class Sum:
    def __init__(self, value): self.value = value
    def __add__(self, other): return Sum(self.value + other.value)
print(r, comm.allreduce(Sum(rank)).value)
one, two = array.array("d", [rank] * 3), array.array("d", [0] * 3)
comm.Allreduce(one, two)
print(two, MPI.Wtime())
"""

SCRIPTS["objects"] = 2, """
import pickle
info = MPI.Info.Create()
info["a"] = "b"
print(dict(info.items()), "a" in info, list(info))
info.Free()
copy = comm.Dup()
copy.name = "copy"
print(copy.name, copy == comm, repr(copy), isinstance(copy, MPI.Intracomm), comm is MPI.COMM_WORLD)
copy.Free()
key = MPI.Comm.Create_keyval(lambda comm, key, value: [*value, "copied"], lambda comm, key, value: print("deleted", value))
comm.Set_attr(key, ["x"])
copy = comm.Dup()
print(copy.Get_attr(key), comm.Get_attr(key) is comm.Get_attr(key))
copy.Free()
comm.Delete_attr(key)
MPI.Comm.Free_keyval(key)
for wrong in (lambda: comm.Send(b"x", dest=7), lambda: comm.Send("x", dest=0), lambda: comm.recv(source="a")):
    try:
        wrong()
    except Exception as error:
        print(type(error).__mro__[:3], error)
cart = comm.Create_cart([2], periods=[True])
print(type(cart), cart.dims, cart.Shift(0, 1), cart.neighbor_allgather(rank))
cart.Free()
class Derived(MPI.Intracomm):
    def __new__(cls, comm=None): return super().__new__(cls, comm)
derived = Derived(comm)
print(type(derived.Dup()).__name__, derived.rank)
request = MPI.Grequest.Start(lambda status: print("query"), lambda: print("free"), lambda done: print("cancel", done))
request.Complete()
request.Wait()
print(pickle.loads(pickle.dumps(MPI.INT)) == MPI.INT, MPI.SUM(2, 3), MPI.MAX("a", "b"))
"""

SCRIPTS["windows"] = 3, """
import numpy as np
right = (rank + 1) % size
win = MPI.Win.Allocate(32, 8, comm=comm)
memory, found = np.frombuffer(win.tomemory(), "d"), np.zeros(1)
memory[:] = rank
win.Fence()
win.Put(np.full(1, 100.0 + rank), right, 1)
win.Get(found, right, 0)
win.Fence()
print(rank, memory, found)
win.Free()
mine = np.zeros(4) + rank
win = MPI.Win.Create(mine, 8, comm=comm)
win.Lock(right)
win.Put(np.array([7.0 + rank]), right, 3)
win.Unlock(right)
comm.Barrier()
print(rank, mine)
mine[0] = 50 + rank
comm.Barrier()
all_of_it = np.zeros(4)
win.Lock(right)
win.Get(all_of_it, right)
win.Flush(right)
print(all_of_it)
win.Unlock(right)
win.Free()
win = MPI.Win.Allocate_shared(8, 8, comm=comm)
np.frombuffer(win.tomemory(), "d")[0] = rank + 1
win.Fence()
print([float(np.frombuffer(win.Shared_query(i)[0], "d")[0]) for i in range(size)])
win.Fence()
win.Free()
"""

SCRIPTS["files"] = 3, """
import os
import numpy as np
file = MPI.File.Open(comm, "data", MPI.MODE_RDWR | MPI.MODE_CREATE)
file.Set_size(0)
file.Set_view(0, MPI.INT)
file.Write_at_all(rank * 4, np.arange(4, dtype="i") + 10 * rank)
found = np.zeros(4, "i")
file.Read_at_all_begin(0, found)
file.Read_at_all_end(found)
print(found, file.Get_size())
file.Iread_at(2, found).Wait()
print(found)
file.Close()
os.mkdir(f"directory{rank}")
os.chdir(f"directory{rank}")
file = MPI.File.Open(MPI.COMM_SELF, "../data")
file.Read(found)
print(found, os.path.basename(os.getcwd()))
file.Close()
"""

SCRIPTS["exit"] = 5, """
import atexit, random, sys, time
import numpy as np
atexit.register(lambda: print("bye", rank))
print(random.random(), np.random.rand(2), end="")
time.sleep(0.5 * rank)
if rank == 1:
    sys.exit(7)
if rank == 2:
    sys.exit("no more")
if rank == 4:
    comm.send(1, 0)
if rank == 0:
    comm.recv(source=4)
print(MPI.Wtime(), __name__)
"""

SCRIPTS["failure"] = 3, """
def inner(x):
    try:
        1 / x
    except ZeroDivisionError as error:
        raise ValueError("bad") from error
try:
    if rank == 1:
        inner(0)
    comm.recv(source=1)
finally:
    print("finally", rank)
"""

SCRIPTS["own exception"] = 2, """
class Mine(Exception): pass
if rank == 1:
    raise Mine("x", 2)
comm.Barrier()
"""

SCRIPTS["deadlock"] = 2, "comm.recv(source=1 - rank, tag=3)\n"
SCRIPTS["abort"] = 2, "if rank == 1:\n    comm.Abort(5)\ncomm.Barrier()\n"
SCRIPTS["os._exit"] = 2, "import os\ncomm.Barrier()\nif rank == 1:\n    os._exit(4)\ncomm.Barrier()\n"
SCRIPTS["findings"] = 2, "comm.isend(2, 1 - rank)\nkept = comm.Dup()\n"

SCRIPTS["spawn"] = 2, """
import sys
parent = MPI.Comm.Get_parent()
if parent == MPI.COMM_NULL:
    spawned = comm.Spawn(sys.executable, args=[__file__], maxprocs=2)
    print("parent", rank, spawned.remote_size, spawned.bcast(None, root=0))
    spawned.Disconnect()
else:
    print("child", rank, size)
    parent.bcast("hello", root=MPI.ROOT if rank == 0 else MPI.PROC_NULL)
    parent.Disconnect()
"""

SCRIPTS["mpi4py.util"] = 2, """
import numpy as np
import mpi4py.util.dtlib
from mpi4py.util import dtlib, pkl5
assert mpi4py.util.dtlib is dtlib
other = pkl5.Intracomm(comm)
print(other.bcast({"x": np.arange(3)}, root=0), other.sendrecv(np.ones(3), 1 - rank, 0, None, 1 - rank, 0))
from mpi4py.MPI import *
print(COMM_WORLD.rank, dtlib.from_numpy_dtype(np.dtype("i4,f8")).size)
"""


SCRIPTS["large arrays"] = 3, """
import numpy as np
right, left, n = (rank + 1) % size, (rank - 1) % size, 20_000
a, b = np.arange(n) + 1000.0 * rank, np.zeros(n + 5)
for i in range(3):
    comm.Sendrecv(a, right, i, b, left, i)
    a = b[:n] + i
print(rank, a.sum(), b.sum(), b[-5:])
b[:] = -1
request = comm.Irecv(b, left)
sends = [comm.Isend(a, right)]
a = a + 1
comm.Barrier()
request.Wait()
MPI.Request.Waitall(sends)
print(b.sum(), b[-6:])
comm.Allreduce(MPI.IN_PLACE, b, op=MPI.MAX)
whole = np.zeros((size, n), "complex128")
comm.Allgather((a[:n] + 1j * rank).astype("complex128"), whole)
print(whole.sum(), b.sum())
frozen = np.ones(n)
frozen.flags.writeable = False
comm.Bcast(np.array(7.0) if rank == 0 else (single := np.array(0.0)), 0)
print(single if rank else "", comm.Bcast(np.zeros(0), 0))
if rank == 0:
    comm.Send(frozen, 1)
elif rank == 1:
    comm.Recv([a, n, MPI.DOUBLE], 0)
    print(a.sum())
table = np.zeros((3, n))
comm.Gatherv(a[: n // (rank + 1)], [table, [n // (i + 1) for i in range(size)], [i * n for i in range(size)], MPI.DOUBLE])
print(table.sum(axis=1))
for wrong in (lambda: comm.Allreduce(a, a), lambda: comm.Bcast(frozen, root=1 if rank == 0 else rank)):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__, error)
print(MPI.Wtime())
"""

SCRIPTS["addresses"] = 2, """
import numpy as np
data, found = np.arange(8.0) + 10 * rank, np.zeros(8)
def kind(array, start, count):
    return MPI.Datatype.Create_struct([count], [MPI.Get_address(array) + 8 * start], [MPI.DOUBLE]).Commit()
parts = [kind(data, 4 * i, 4) for i in range(2)]
places = [kind(found, 4 * i, 4) for i in range(2)]
one = (MPI.BOTTOM, ([1, 1], [0, 0]), parts)
other = (MPI.BOTTOM, ([1, 1], [0, 0]), places)
for _ in range(2):
    comm.Alltoallw(one, other)
    print(found)
    data += 100
found[:] = 0
comm.Ialltoallw(one, other).Wait()
print(found)
again = comm.Alltoallw_init(one, other)
for _ in range(2):
    data += 1000
    again.Start()
    again.Wait()
    print(found)
again.Free()
if rank == 0:
    comm.Send([MPI.BOTTOM, 1, parts[1]], 1)
else:
    comm.Irecv([MPI.BOTTOM, 1, places[0]], 0).Wait()
print(found, MPI.Wtime())
for one in parts + places:
    one.Free()
"""

SCRIPTS["sockets"] = 2, """
import socket
if rank == 0:
    server = socket.create_server(("127.0.0.1", 0))
    comm.send(server.getsockname(), 1)
    line = server.accept()[0]
    server.close()
    print(line.recv(10))
else:
    line = socket.create_connection(comm.recv(source=0))
    line.sendall(b"hello")
joined = MPI.Comm.Join(line.fileno())
print(joined.remote_size, joined.sendrecv(rank, 0))
joined.Disconnect()
line.close()
try:
    MPI.Comm.Join(1)
except MPI.Exception as error:
    print(error.Get_error_class() == MPI.ERR_ARG)
"""

SCRIPTS["an event loop in a thread, for which the main thread waits"] = 2, """
import asyncio, queue, socket, threading
async def client(address):
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"hello")
    found = await reader.read(10)
    writer.close()
    return found
if rank == 0:
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as server:
            comm.send(server.getsockname(), 1)
            with server.accept()[0] as line:
                line.sendall(line.recv(10).upper())
else:
    answers = queue.Queue()
    threading.Thread(target=lambda address: answers.put(asyncio.run(client(address))), args=[comm.recv()]).start()
    print(answers.get())
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    print(asyncio.run_coroutine_threadsafe(client(comm.recv()), loop).result())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
"""

SCRIPTS["a pool of processes, and calls that receive no bytes"] = 2, """
import socket
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(1) as pool:
    results = [pool.submit(abs, one).result() for one in (-1, rank)]
here, there = socket.socketpair()
print(comm.allgather((results, here.recv(0), here.recv_into(bytearray()))))  # waits may end in any order
here.close()
there.close()
"""

SCRIPTS["arguments"] = 2, """
import numpy as np
print(MPI.SHORT is MPI.SIGNED_SHORT, MPI.SIGNED_SHORT.decode()[0] is MPI.SHORT, MPI.INT is MPI.SHORT)
a, b = np.arange(4.0) + rank, np.zeros(4)
counts = [np.int32(2), np.int64(2)]
comm.Alltoallv([a, counts, [np.int16(0), np.int16(2)], MPI.DOUBLE], [b, counts, MPI.DOUBLE])
print(b, comm.bcast(np.float32(1.5) * (rank + 1)))

class Exports:
    def __init__(self, order):
        self.kept = np.arange(3, dtype="i4") + rank
        self.__cuda_array_interface__ = dict(self.kept.__array_interface__, typestr=order + "i4")

for one in [Exports("#"), Exports("<")]:
    try:
        comm.Bcast(one)
        print(one.kept)
    except BufferError as error:
        print("rejected")
types = [MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE]) for _ in range(2)]
print([one.Get_size() for one in types], types[0].decode()[1:])
for one in types:
    one.Free()
"""


TOGETHER = [
    "scalars of numpy", "functions as attributes of classes", "repeated calls", "pickles of MPI objects",
    "memory of a status", "objects", "mpi4py.util", "addresses", "sockets", "arguments",
]  # fmt: skip
"""Scripts for two ranks that end normally: one run imports them one after the other, since starting processes takes half a
second.
"""


@pytest.mark.slow
def test_nothing_differs_in_modules_of_one_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for many short scripts."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(TOGETHER):
        assert SCRIPTS[name][0] == 2
        (tmp_path / f"part{number}.py").write_text(HEAD + SCRIPTS[name][1], encoding="utf-8")
    imports = [f"print({name!r})\nimport part{number}\n" for number, name in enumerate(TOGETHER)]
    one, other = both(tmp_path, "".join(imports), 2)
    assert one == other
    assert one.codes == {0: 0, 1: 0}, one.error


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in TOGETHER])
def test_nothing_differs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output, exit codes, clocks, findings, messages, and the text of the failure with its lines."""
    monkeypatch.chdir(tmp_path)
    nprocs, script = SCRIPTS[name]
    if name == "files":
        script = script.replace("os.mkdir", "os.path.isdir(f'directory{rank}') or os.mkdir")  # it runs twice
    one, other = both(tmp_path, script, nprocs)
    assert one == other
    assert one.error or one.codes


@pytest.mark.sample
@pytest.mark.slow
@pytest.mark.parametrize("name", ["requests"])
def test_nothing_differs_if_children_are_not_forked(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A separate interpreter for each rank, as on other systems than Linux, without anonymous files and process handles."""
    monkeypatch.setattr(Template, "is_possible", staticmethod(lambda: False))
    for function in ("memfd_create", "pidfd_open"):
        monkeypatch.delattr(os, function, raising=False)
    monkeypatch.chdir(tmp_path)
    one, other = both(tmp_path, SCRIPTS[name][1], SCRIPTS[name][0])
    assert one == other
    assert one.codes
