"""Programs with mistakes in messages and requests, and their corrected versions; see collective_programs.py."""

from __future__ import annotations

MESSAGES = {
    "ring of sends": (
        """
comm.send("x" * 100000, dest=(rank + 1) % size)  # FM201
print(len(comm.recv(source=(rank - 1) % size)))
""",
        """
text = comm.sendrecv("x" * 100000, dest=(rank + 1) % size, source=(rank - 1) % size)
print(len(text))
""",
    ),
    "ring by a condition": (
        """
x, y = np.zeros(100000), np.zeros(100000)
right = rank + 1 if rank < size - 1 else 0
left = rank - 1 if rank > 0 else size - 1
comm.Send(x, dest=right)  # FM201
comm.Recv(y, source=left)
""",
        """
x, y = np.zeros(100000), np.zeros(100000)
right = rank + 1 if rank < size - 1 else 0
left = rank - 1 if rank > 0 else size - 1
if rank % 2:
    comm.Recv(y, source=left)
    comm.Send(x, dest=right)
else:
    comm.Send(x, dest=right)
    comm.Recv(y, source=left)
""",
    ),
    "exchange of pairs": (
        """
def exchange(comm, x):
    partner = comm.rank ^ 1
    y = np.empty_like(x)
    comm.Ssend(x, partner)  # FM201
    comm.Recv(y, partner)
    return y

exchange(comm, np.zeros(3))
""",
        """
def exchange(comm, x):
    partner = comm.rank ^ 1
    y = np.empty_like(x)
    request = comm.Irecv(y, partner)
    comm.Ssend(x, partner)
    request.Wait()
    return y

exchange(comm, np.zeros(3))
""",
    ),
    "exchange in a loop": (
        """
total = rank
for step in range(3):
    comm.ssend(total, dest=rank ^ 1)  # FM201
    total += comm.recv(source=rank ^ 1)
""",
        """
total = rank
for step in range(3):
    total += comm.sendrecv(total, dest=rank ^ 1, source=rank ^ 1)
""",
    ),
    "all receive first": (
        """
def shift(comm, x):
    y = np.empty_like(x)
    comm.Recv(y, source=(comm.rank - 1) % comm.size)  # FM202
    comm.Send(x, dest=(comm.rank + 1) % comm.size)
    return y

shift(comm, np.zeros(3))
""",
        """
def shift(comm, x):
    y = np.empty_like(x)
    request = comm.Isend(x, dest=(comm.rank + 1) % comm.size)
    comm.Recv(y, source=(comm.rank - 1) % comm.size)
    request.Wait()
    return y

shift(comm, np.zeros(3))
""",
    ),
    "mirror": (
        """
other = size - 1 - rank
comm.ssend(rank, dest=other, tag=1)  # FM201
comm.recv(source=other, tag=1)
""",
        """
other = size - 1 - rank
request = comm.issend(rank, dest=other, tag=1)
comm.recv(source=other, tag=1)
request.wait()
""",
    ),
    "an object for a buffer": (
        """
if rank == 0:
    comm.Send(np.arange(3.0), dest=1, tag=5)
elif rank == 1:
    x = comm.recv(source=0, tag=5)  # FM203
""",
        """
if rank == 0:
    comm.send(np.arange(3.0), dest=1, tag=5)
elif rank == 1:
    x = comm.recv(source=0, tag=5)
""",
    ),
    "a buffer for an object": (
        """
x = np.zeros(3)
if rank == 0:
    for dest in (1, 2):
        pass
    comm.send(x, dest=size - 1)
if rank == size - 1:
    comm.Recv(x, source=0)  # FM203
""",
        """
x = np.zeros(3)
if rank == 0:
    for dest in (1, 2):
        pass
    comm.Send(x, dest=size - 1)
if rank == size - 1:
    comm.Recv(x, source=0)
""",
    ),
    "a discarded request": (
        """
if rank == 0:
    for dest in range(1, size):
        comm.isend("work", dest=dest)  # FM301
else:
    print(comm.recv(source=0))
""",
        """
if rank == 0:
    requests = [comm.isend("work", dest=dest) for dest in range(1, size)]
    MPI.Request.waitall(requests)
else:
    print(comm.recv(source=0))
""",
    ),
    "a request in an unused variable": (
        """
def post(comm, x):
    request = comm.Isend(x, dest=(comm.rank + 1) % comm.size)  # FM301
    y = np.empty_like(x)
    comm.Recv(y)
    return y

post(comm, np.zeros(3))
""",
        """
def post(comm, x):
    request = comm.Isend(x, dest=(comm.rank + 1) % comm.size)
    y = np.empty_like(x)
    comm.Recv(y)
    request.Wait()
    return y

post(comm, np.zeros(3))
""",
    ),
    "a list of requests without a wait": (
        """
requests = []
for dest in range(size):
    if dest != rank:
        requests.append(comm.isend(rank, dest=dest))  # FM301
print([comm.recv() for _ in range(size - 1)])
""",
        """
requests = []
for dest in range(size):
    if dest != rank:
        requests.append(comm.isend(rank, dest=dest))
print([comm.recv() for _ in range(size - 1)])
MPI.Request.waitall(requests)
""",
    ),
    "a barrier that no rank waits for": (
        """
comm.Ibarrier()  # FM301
print("passed")
""",
        """
comm.Ibarrier().Wait()
print("passed")
""",
    ),
    "a receive buffer that is read too early": (
        """
x, y = np.full(3, rank), np.zeros(3, int)
request = comm.Irecv(y, source=(rank - 1) % size)
comm.Send(x, dest=(rank + 1) % size)
print(y.sum())  # FM302
request.Wait()
""",
        """
x, y = np.full(3, rank), np.zeros(3, int)
request = comm.Irecv(y, source=(rank - 1) % size)
comm.Send(x, dest=(rank + 1) % size)
request.Wait()
print(y.sum())
""",
    ),
    "a send buffer that changes": (
        """
x, y = np.zeros(3), np.empty(3)
requests = []
requests.append(comm.Isend([x, MPI.DOUBLE], dest=(rank + 1) % size))
x += 1  # FM302
comm.Recv(y, source=(rank - 1) % size)
MPI.Request.Waitall(requests)
""",
        """
x, y = np.zeros(3), np.empty(3)
requests = []
requests.append(comm.Isend([x, MPI.DOUBLE], dest=(rank + 1) % size))
comm.Recv(y, source=(rank - 1) % size)
MPI.Request.Waitall(requests)
x += 1
""",
    ),
    "the result of a nonblocking reduction": (
        """
x, total = np.full(1, rank), np.zeros(1, int)
request = comm.Iallreduce(x, total)
if total[0] > 3:  # FM302
    print("large")
request.Wait()
""",
        """
x, total = np.full(1, rank), np.zeros(1, int)
request = comm.Iallreduce(x, total)
print("computing", x)
request.Wait()
if total[0] > 3:
    print("large")
""",
    ),
    "a list in an upper-case call": (
        """
values = [1.0, 2.0, 3.0]
comm.Bcast(values)  # FM303
""",
        """
values = [1.0, 2.0, 3.0]
values = comm.bcast(values)
""",
    ),
    "a text in an upper-case call": (
        """
if rank == 0:
    comm.Send("hello", dest=size - 1)  # FM303
elif rank == size - 1:
    comm.Recv(np.empty(5, "b"), source=0)
""",
        """
if rank == 0:
    comm.Send(b"hello", dest=size - 1)
elif rank == size - 1:
    comm.Recv(np.empty(5, "b"), source=0)
""",
    ),
    "a number in an upper-case call": (
        """
total = np.zeros(1)
comm.Allreduce(3.5, total)  # FM303
""",
        """
total = np.zeros(1)
comm.Allreduce(np.full(1, 3.5), total)
""",
    ),
}  # fmt: skip
