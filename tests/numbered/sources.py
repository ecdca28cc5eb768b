"""Programs whose mistakes are visible in the source, without knowing the numbers of rows and ranks."""

from __future__ import annotations

from functools import partial

from tests.numbered.program import NumberedProgram

Visible = partial(NumberedProgram, visible=True)

SOURCES = {
    "an empty rank skips the sum": Visible(4, """
mine = list(range(3))[rank::size]
if mine:
    total = comm.allreduce(sum(mine))
""", """
mine = list(range(3))[rank::size]
total = comm.allreduce(sum(mine))
"""),
    "an empty rank returns": Visible(4, """
def work(rows):
    mine = rows[rank::size]
    if not mine:
        return 0
    return comm.allreduce(sum(mine))

work([1, 2, 3])
""", """
def work(rows):
    mine = rows[rank::size]
    return comm.allreduce(sum(mine) if mine else 0)

work([1, 2, 3])
"""),
    "a sum for each row": Visible(4, """
for row in list(range(6))[rank::size]:
    comm.allreduce(row)
""", """
comm.allreduce(sum(list(range(6))[rank::size]))
"""),
    "a sum after an error": Visible(4, """
mine = list(range(3))[rank::size]
try:
    largest = max(mine)
    comm.allreduce(largest, op=MPI.MAX)
except ValueError:
    print("no rows")
""", """
mine = list(range(3))[rank::size]
try:
    largest = max(mine)
except ValueError:
    largest = -1
comm.allreduce(largest, op=MPI.MAX)
"""),
    "a root that depends on the rank": Visible(3, """
root = 0 if rank < 2 else 2
comm.bcast(rank, root=root)
""", """
root = 0
comm.bcast(rank, root=root)
"""),
    "sends that rely on buffering": Visible(2, """
if size > 1:
    comm.send(rank, dest=(rank + 1) % size)
    comm.recv(source=(rank - 1) % size)
""", """
if size > 1:
    comm.sendrecv(rank, dest=(rank + 1) % size, source=(rank - 1) % size)
""", in_some_schedules=True),
    "all ranks receive first": Visible(2, """
if size > 1:
    comm.recv(source=(rank - 1) % size)
    comm.send(rank, dest=(rank + 1) % size)
""", """
if size > 1:
    comm.sendrecv(rank, dest=(rank + 1) % size, source=(rank - 1) % size)
"""),
    "a request that is lost": Visible(2, """
if rank:
    comm.isend(rank, dest=0)
else:
    [comm.recv(source=other) for other in range(1, size)]
""", """
if rank:
    comm.isend(rank, dest=0).wait()
else:
    [comm.recv(source=other) for other in range(1, size)]
""", in_some_schedules=True),
    "a buffer that is read too early": Visible(2, """
data = np.zeros(1)
if rank == 0:
    [comm.Send(np.ones(1), dest=other) for other in range(1, size)]
else:
    request = comm.Irecv(data, source=0)
    assert data[0] == 1
    request.Wait()
""", """
data = np.zeros(1)
if rank == 0:
    [comm.Send(np.ones(1), dest=other) for other in range(1, size)]
else:
    request = comm.Irecv(data, source=0)
    request.Wait()
    assert data[0] == 1
"""),
    "a buffer that is changed too early": Visible(2, """
data = np.full(1, rank)
if rank:
    request = comm.Isend(data, dest=0)
    data[0] = -1
    request.Wait()
else:
    for other in range(1, size):
        comm.Recv(data, source=other)
        assert data[0] == other
""", """
data = np.full(1, rank)
if rank:
    request = comm.Isend(data, dest=0)
    request.Wait()
    data[0] = -1
else:
    for other in range(1, size):
        comm.Recv(data, source=other)
        assert data[0] == other
""", in_some_schedules=True),
    "recv of a message of Send": Visible(2, """
if rank == 0:
    for other in range(1, size):
        comm.recv(source=other)
else:
    comm.Send(np.ones(2), dest=0)
""", """
if rank == 0:
    for other in range(1, size):
        comm.recv(source=other)
else:
    comm.send(np.ones(2), dest=0)
"""),
    "a list as a buffer": Visible(1, """
total = np.zeros(2)
comm.Allreduce([1.0, 2.0], total)
""", """
total = np.zeros(2)
comm.Allreduce(np.array([1.0, 2.0]), total)
"""),
    "an empty rank leaves the loop": Visible(4, """
mine = list(range(3))[rank::size]
for step in range(3):
    if len(mine) == 0:
        break
    comm.allreduce(mine[0])
""", """
mine = list(range(3))[rank::size]
for step in range(3):
    comm.allreduce(mine[0] if len(mine) else 0)
"""),
    "an empty rank continues": Visible(4, """
mine = np.array_split(np.arange(3.0), size)[rank]
for step in range(3):
    if mine.size == 0:
        continue
    comm.allreduce(mine.max())
""", """
mine = np.array_split(np.arange(3.0), size)[rank]
for step in range(3):
    comm.allreduce(mine.max() if mine.size else 0.0)
"""),
    "an empty rank raises": Visible(4, """
mine = list(range(3))[rank::size]
if not mine:
    raise ValueError("no rows")
comm.allreduce(sum(mine))
""", """
mine = list(range(3))[rank::size]
if comm.allreduce(len(mine)) == 0:
    raise ValueError("no rows")
comm.allreduce(sum(mine))
"""),
    "a communicator of the ranks with rows": Visible(4, """
mine = list(range(3))[rank::size]
part = comm.Split(0, rank) if mine else comm
if mine:
    part.Free()
""", """
mine = list(range(3))[rank::size]
part = comm.Split(0 if mine else MPI.UNDEFINED, rank)
if mine:
    part.Free()
"""),
    "a barrier of four ranks": Visible(5, """
if rank < 4:
    comm.Barrier()
""", """
comm.Barrier()
"""),
    "an assertion on the rows of the rank": Visible(4, """
mine = list(range(3))[rank::size]
assert mine
comm.allreduce(sum(mine))
""", """
mine = list(range(3))[rank::size]
assert comm.allreduce(len(mine))
comm.allreduce(sum(mine))
"""),
    "as many sums as rows": Visible(4, """
left = len(list(range(6))[rank::size])
while left:
    comm.allreduce(left)
    left -= 1
""", """
left = comm.allreduce(len(list(range(6))[rank::size]), op=MPI.MAX)
while left:
    comm.allreduce(left)
    left -= 1
"""),
    "a sum in the second half of a condition": Visible(4, """
mine = list(range(3))[rank::size]
if mine and comm.allreduce(len(mine)) > 2:
    print("enough rows")
""", """
mine = list(range(3))[rank::size]
if comm.allreduce(len(mine)) > 2 and mine:
    print("enough rows")
"""),
    "the last rank leaves": Visible(3, """
if rank == size - 1 and size > 2:
    sys.exit()
comm.Barrier()
""", """
comm.Barrier()
if rank == size - 1 and size > 2:
    sys.exit()
"""),
    "sums in a list": Visible(4, """
mine = list(range(6))[rank::size]
sums = [comm.allreduce(row) for row in mine]
""", """
mine = list(range(6))[rank::size]
sums = [comm.allreduce(mine[step] if step < len(mine) else 0) for step in range(-(-6 // size))]
"""),
    "a function with a sum for each row": Visible(4, """
def norm(row):
    return comm.allreduce(row * row) ** 0.5

for row in np.array_split(np.arange(6), size)[rank]:
    norm(row)
""", """
def norm(rows):
    return comm.allreduce(sum(row * row for row in rows)) ** 0.5

norm(np.array_split(np.arange(6), size)[rank])
"""),
}  # fmt: skip
