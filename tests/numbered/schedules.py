"""Programs with masters and workers, roots and fixed sizes, and programs that fail in some schedules."""

from __future__ import annotations

from tests.numbered.program import NumberedProgram

SCHEDULES = {
    "one rank": NumberedProgram(1, """
parts = comm.gather(rank)
if rank == 0:
    max(parts[1:])
""", """
parts = comm.gather(rank)
if rank == 0:
    max(parts[1:], default=0)
"""),
    "a distance between ranks": NumberedProgram(1, """
comm.allgather(rank / (size - 1))
""", """
comm.allgather(rank / max(1, size - 1))
"""),
    "no workers": NumberedProgram(1, """
if rank == 0:
    for task in range(6): comm.send(task, dest=1 + task % (size - 1))
else:
    for task in range(rank - 1, 6, size - 1): comm.recv(source=0)
""", """
if rank == 0 and size > 1:
    for task in range(6): comm.send(task, dest=1 + task % (size - 1))
elif rank:
    for task in range(rank - 1, 6, size - 1): comm.recv(source=0)
"""),
    "more workers than tasks": NumberedProgram(6, """
tasks = ["a", "b", "c", "d"]
if rank == 0:
    for worker in range(1, size): comm.send(tasks[worker - 1], dest=worker)
else:
    comm.recv(source=0)
""", """
tasks = ["a", "b", "c", "d"]
if rank == 0:
    for worker in range(1, size): comm.send(tasks[worker - 1] if worker <= 4 else None, dest=worker)
else:
    comm.recv(source=0)
"""),
    "one stop message too few": NumberedProgram(5, """
if rank == 0:
    for worker in range(1, min(size, 4)): comm.send("stop", dest=worker)
else:
    comm.recv(source=0)
""", """
if rank == 0:
    for worker in range(1, size): comm.send("stop", dest=worker)
else:
    comm.recv(source=0)
"""),
    "the median of an odd number": NumberedProgram(3, """
values = sorted(comm.allgather(rank))
median = (values[size // 2 - 1] + values[size // 2]) / 2
assert median == (size - 1) / 2, median
""", """
values = sorted(comm.allgather(rank))
median = (values[(size - 1) // 2] + values[size // 2]) / 2
assert median == (size - 1) / 2, median
"""),
    "ranks as texts": NumberedProgram(11, """
names = sorted(comm.allgather(f"rank{rank}"))
assert names[rank] == f"rank{rank}", names
""", """
names = sorted(comm.allgather(f"rank{rank:04}"))
assert names[rank] == f"rank{rank:04}", names
"""),
    "a buffer for four ranks": NumberedProgram(5, """
found = np.zeros(4, int)
comm.Gather(np.array([rank]), found[:size])
""", """
found = np.zeros(size, int)
comm.Gather(np.array([rank]), found)
"""),
    "a byte of ranks": NumberedProgram(9, """
present = comm.allreduce(1 << rank, op=MPI.BOR) & 0xFF
assert present == (1 << size) - 1, bin(present)
""", """
present = comm.allreduce(1 << rank, op=MPI.BOR)
assert present == (1 << size) - 1, bin(present)
"""),
    "a half without ranks": NumberedProgram(1, """
half = comm.Split(rank < size // 2, rank)
inter = half.Create_intercomm(0, comm, size // 2 if rank < size // 2 else 0)
inter.Free()
half.Free()
""", """
half = comm.Split(rank < size // 2, rank)
if size > 1:
    inter = half.Create_intercomm(0, comm, size // 2 if rank < size // 2 else 0)
    inter.Free()
half.Free()
"""),
    "the first rank has no prefix": NumberedProgram(1, """
first = comm.exscan(3) + 1
""", """
first = (comm.exscan(3) or 0) + 1
"""),
    "root is rank 1": NumberedProgram(1, """
comm.bcast("settings" if rank == 1 else None, root=1)
""", """
comm.bcast("settings" if rank == 0 else None, root=0)
"""),
    "the order of two messages": NumberedProgram(3, """
if rank:
    comm.send(rank, dest=0)
else:
    got = [comm.recv() for _ in range(size - 1)]
    assert got == sorted(got), got
""", """
if rank:
    comm.send(rank, dest=0)
else:
    got = [comm.recv(source=other) for other in range(1, size)]
    assert got == sorted(got), got
""", in_some_schedules=True),
    "a message that is lost": NumberedProgram(4, """
if rank:
    comm.isend(rank, dest=0).wait()
else:
    [comm.recv() for _ in range(min(size - 1, 2))]
""", """
if rank:
    comm.isend(rank, dest=0).wait()
else:
    [comm.recv(source=other) for other in range(1, size)]
""", in_some_schedules=True),
    "tags that overlap": NumberedProgram(3, """
if rank:
    for step in range(3): comm.send((rank, step), dest=0, tag=2 * rank + step)
else:
    for other in range(1, size):
        for step in range(3): assert comm.recv(tag=2 * other + step) == (other, step)
""", """
if rank:
    for step in range(3): comm.send((rank, step), dest=0, tag=3 * rank + step)
else:
    for other in range(1, size):
        for step in range(3): assert comm.recv(source=other, tag=3 * other + step) == (other, step)
""", in_some_schedules=True),
}  # fmt: skip
