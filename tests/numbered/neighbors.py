"""Programs with partners, rings, grids and trees that fit some numbers of ranks."""

from __future__ import annotations

from tests.numbered.program import NumberedProgram

NEIGHBORS = {
    "the ring has four ranks": NumberedProgram(5, """
if size < 4: sys.exit('needs at least 4 ranks')
request = comm.isend(rank, dest=rank + 1 if rank < 3 else 0)
comm.recv(source=(rank - 1) % size)
request.wait()
""", """
if size < 4: sys.exit('needs at least 4 ranks')
request = comm.isend(rank, dest=(rank + 1) % size)
comm.recv(source=(rank - 1) % size)
request.wait()
"""),
    "a power of two": NumberedProgram(3, """
value, mask = 1, 1
while mask < size:
    value += comm.sendrecv(value, rank ^ mask, source=rank ^ mask)
    mask *= 2
""", """
value, mask = 1, 1
while mask < size:
    partner = rank ^ mask if rank ^ mask < size else MPI.PROC_NULL
    value += comm.sendrecv(value, partner, source=partner) or 0
    mask *= 2
"""),
    "pairs of ranks": NumberedProgram(3, """
if size > 1:
    comm.sendrecv(rank, rank ^ 1, source=rank ^ 1)
""", """
if rank ^ 1 < size:
    comm.sendrecv(rank, rank ^ 1, source=rank ^ 1)
"""),
    "even ranks have a right neighbor": NumberedProgram(1, """
if rank % 2: comm.recv(source=rank - 1)
else: comm.send(rank, dest=rank + 1)
""", """
if rank % 2: comm.recv(source=rank - 1)
elif rank + 1 < size: comm.send(rank, dest=rank + 1)
"""),
    "both neighbors of two ranks are the same": NumberedProgram(2, """
if size > 1:
    left, right = (rank - 1) % size, (rank + 1) % size
    requests = [comm.isend("from the right", left), comm.isend("from the left", right)]
    assert comm.recv(source=left) == "from the left"
    comm.recv(source=right)
    MPI.Request.waitall(requests)
""", """
if size > 1:
    left, right = (rank - 1) % size, (rank + 1) % size
    requests = [comm.isend("from the right", left, tag=1), comm.isend("from the left", right, tag=2)]
    assert comm.recv(source=left, tag=2) == "from the left"
    comm.recv(source=right, tag=1)
    MPI.Request.waitall(requests)
"""),
    "the chain ends at rank 3": NumberedProgram(5, """
if rank > 0: comm.recv(source=rank - 1)
if rank < min(3, size - 1): comm.send(rank, dest=rank + 1)
""", """
if rank > 0: comm.recv(source=rank - 1)
if rank < size - 1: comm.send(rank, dest=rank + 1)
"""),
    "the last row of the grid is not complete": NumberedProgram(3, """
other = rank + 1 if rank % 2 == 0 else rank - 1
if size > 1:
    comm.sendrecv(rank, other, source=other)
below = rank + 2 if rank + 2 < size else MPI.PROC_NULL
comm.sendrecv(rank, below, source=rank - 2 if rank > 1 else MPI.PROC_NULL)
""", """
other = rank + 1 if rank % 2 == 0 else rank - 1
if other < size:
    comm.sendrecv(rank, other, source=other)
below = rank + 2 if rank + 2 < size else MPI.PROC_NULL
comm.sendrecv(rank, below, source=rank - 2 if rank > 1 else MPI.PROC_NULL)
"""),
    "a tree that halves the ranks": NumberedProgram(3, """
total, step = rank, size // 2
while step:
    if rank < step: total += comm.recv(source=rank + step)
    elif rank < 2 * step: comm.send(total, dest=rank - step)
    step //= 2
assert rank or total == size * (size - 1) // 2, total
""", """
total, left = rank, size
while left > 1:
    step = -(-left // 2)
    if rank + step < left: total += comm.recv(source=rank + step)
    elif step <= rank < left: comm.send(total, dest=rank - step)
    left = step
assert rank or total == size * (size - 1) // 2, total
"""),
    "an exchange in whole dimensions": NumberedProgram(3, """
total = 1
for dimension in range(int(np.log2(size))):
    partner = rank ^ 1 << dimension
    if partner < size: total += comm.sendrecv(total, partner, source=partner)
assert total == size, total
""", """
total = comm.allreduce(1)
assert total == size, total
"""),
    "two levels of a tree": NumberedProgram(5, """
if rank: comm.recv(source=rank - (1 << rank.bit_length() - 1))
for level in range(2):
    if rank < 1 << level and rank + (1 << level) < size: comm.send(1, dest=rank + (1 << level))
""", """
if rank: comm.recv(source=rank - (1 << rank.bit_length() - 1))
for level in range(size.bit_length()):
    if rank < 1 << level and rank + (1 << level) < size: comm.send(1, dest=rank + (1 << level))
"""),
    "a square grid": NumberedProgram(2, """
side = int(size ** 0.5)
cart = comm.Create_cart([side, side])
cart.Get_coords(cart.rank)
cart.Free()
""", """
cart = comm.Create_cart(MPI.Compute_dims(size, 2))
cart.Get_coords(cart.rank)
cart.Free()
"""),
    "neighbors as keys": NumberedProgram(2, """
if size > 1:
    cart = comm.Create_cart([size], periods=[True])
    left, right = cart.Shift(0, 1)
    found = dict(zip((left, right), cart.neighbor_allgather(rank)))
    assert len(found) == 2, found
    cart.Free()
""", """
if size > 1:
    cart = comm.Create_cart([size], periods=[True])
    left, right = cart.Shift(0, 1)
    found = list(zip((left, right), cart.neighbor_allgather(rank)))
    assert len(found) == 2, found
    cart.Free()
"""),
    "the last group is smaller": NumberedProgram(4, """
if size < 3: sys.exit("needs at least 3 ranks")
group = comm.Split(rank // 3)
if group.rank: group.send(rank, dest=0)
else: [group.recv(source=other) for other in (1, 2)]
group.Free()
""", """
if size < 3: sys.exit("needs at least 3 ranks")
group = comm.Split(rank // 3)
if group.rank: group.send(rank, dest=0)
else: [group.recv(source=other) for other in range(1, group.size)]
group.Free()
"""),
    "halves of an odd number": NumberedProgram(3, """
partner = (rank + size // 2) % size
comm.sendrecv(rank, partner, source=partner)
""", """
partner = (rank + size // 2) % size
comm.sendrecv(rank, partner, source=(rank - size // 2) % size)
"""),
    "a checkerboard on a ring": NumberedProgram(3, """
left, right = (rank - 1) % size, (rank + 1) % size
if size > 1 and rank % 2 == 0:
    comm.recv(source=left); comm.recv(source=right); comm.send(rank, left); comm.send(rank, right)
elif size > 1:
    comm.send(rank, right); comm.send(rank, left); comm.recv(source=right); comm.recv(source=left)
""", """
left, right = (rank - 1) % size, (rank + 1) % size
comm.sendrecv(rank, left, source=right)
comm.sendrecv(rank, right, source=left)
"""),
    "the opposite rank of a ring": NumberedProgram(2, """
seen = {rank}
for step in range(1, (size + 1) // 2):
    seen.add(comm.sendrecv(rank, (rank + step) % size, source=(rank - step) % size))
    seen.add(comm.sendrecv(rank, (rank - step) % size, source=(rank + step) % size))
assert len(seen) == size, seen
""", """
seen = {rank}
for step in range(1, size // 2 + 1):
    seen.add(comm.sendrecv(rank, (rank + step) % size, source=(rank - step) % size))
    seen.add(comm.sendrecv(rank, (rank - step) % size, source=(rank + step) % size))
assert len(seen) == size, seen
"""),
    "a broadcast of three rounds": NumberedProgram(9, """
if rank: comm.recv(source=rank & rank - 1)
for bit in (4, 2, 1):
    if bit < (rank & -rank or 8) and rank + bit < size: comm.send(1, dest=rank + bit)
""", """
if rank: comm.recv(source=rank & rank - 1)
for bit in (1 << level for level in reversed(range(size.bit_length()))):
    if bit < (rank & -rank or 2 * size) and rank + bit < size: comm.send(1, dest=rank + bit)
"""),
    "a sort of four phases": NumberedProgram(5, """
value = size - rank
for phase in range(4):
    partner = rank + 1 if (rank + phase) % 2 == 0 else rank - 1
    if 0 <= partner < size:
        other = comm.sendrecv(value, partner, source=partner)
        value = min(value, other) if rank < partner else max(value, other)
assert value == rank + 1, value
""", """
value = size - rank
for phase in range(size):
    partner = rank + 1 if (rank + phase) % 2 == 0 else rank - 1
    if 0 <= partner < size:
        other = comm.sendrecv(value, partner, source=partner)
        value = min(value, other) if rank < partner else max(value, other)
assert value == rank + 1, value
"""),
}  # fmt: skip
