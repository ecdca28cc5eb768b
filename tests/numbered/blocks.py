"""Programs that distribute rows over ranks: remainders, empty blocks, offsets."""

from __future__ import annotations

from tests.numbered.program import NumberedProgram

BLOCKS = {
    "the remainder is lost": NumberedProgram(5, """
total = comm.allreduce(12 // size)
assert total == 12, total
""", """
total = comm.allreduce(12 // size + (rank < 12 % size))
assert total == 12, total
"""),
    "the last block is empty": NumberedProgram(6, """
chunk = -(-10 // size)
comm.allreduce(max(range(10)[rank * chunk:][:chunk]))
""", """
chunk = -(-10 // size)
comm.allreduce(max(range(10)[rank * chunk:][:chunk], default=-1), op=MPI.MAX)
"""),
    "more ranks than rows": NumberedProgram(8, """
row = list(range(7))[rank]
comm.gather(row)
""", """
rows = list(range(7))[rank::size]
comm.gather(rows)
"""),
    "the root has no data": NumberedProgram(4, """
mine = range(3)[size - 1 - rank::size]
comm.bcast(mine[0] if rank == 0 else None)
""", """
mine = range(3)[size - 1 - rank::size]
root = comm.allreduce(rank if mine else size, op=MPI.MIN)
comm.bcast(mine[0] if rank == root else None, root=root)
"""),
    "the mean of unequal blocks": NumberedProgram(4, """
mine = np.array_split(np.arange(6.0), size)[rank]
mean = comm.allreduce(mine.mean()) / size
assert abs(mean - 2.5) < 1e-12, mean
""", """
mine = np.array_split(np.arange(6.0), size)[rank]
mean = comm.allreduce(mine.sum()) / comm.allreduce(len(mine))
assert abs(mean - 2.5) < 1e-12, mean
"""),
    "rows of an empty block are stacked": NumberedProgram(4, """
mine = np.stack([np.full(2, row) for row in range(rank, 3, size)])
comm.gather(mine)
""", """
mine = np.array([np.full(2, row) for row in range(rank, 3, size)]).reshape(-1, 2)
comm.gather(mine)
"""),
    "Scatter of unequal blocks": NumberedProgram(3, """
mine = np.empty(8 // size)
comm.Scatter(np.arange(8.0) if rank == 0 else None, mine)
""", """
counts = [8 // size + (other < 8 % size) for other in range(size)]
mine = np.empty(counts[rank])
comm.Scatterv([np.arange(8.0), counts] if rank == 0 else None, mine)
"""),
    "displacements of equal blocks": NumberedProgram(3, """
counts = [8 // size] * size
counts[-1] += 8 % size
displs = [other * counts[other] for other in range(size)]
mine = np.empty(counts[rank])
comm.Scatterv([np.arange(8.0), (counts, displs)] if rank == 0 else None, mine)
""", """
counts = [8 // size] * size
counts[-1] += 8 % size
displs = [sum(counts[:other]) for other in range(size)]
mine = np.empty(counts[rank])
comm.Scatterv([np.arange(8.0), (counts, displs)] if rank == 0 else None, mine)
"""),
    "a halo wider than the block": NumberedProgram(5, """
mine = np.array_split(np.arange(8), size)[rank]
halo = comm.sendrecv(mine[-2:], (rank + 1) % size, source=(rank - 1) % size)
assert len(halo) == 2, halo
""", """
mine = np.array_split(np.arange(8), size)[rank]
width = comm.allreduce(min(2, len(mine)), op=MPI.MIN)
halo = comm.sendrecv(mine[len(mine) - width:], (rank + 1) % size, source=(rank - 1) % size)
assert len(halo) == width, halo
"""),
    "a transposition of square blocks": NumberedProgram(4, """
block = 6 // size
mine = np.arange(36).reshape(6, 6)[rank * block:][:block]
columns = np.vstack(comm.alltoall([mine[:, other * block:][:, :block] for other in range(size)]))
assert columns.shape == (6, block), columns.shape
""", """
mine = np.array_split(np.arange(36).reshape(6, 6), size)[rank]
columns = np.vstack(comm.alltoall(np.array_split(mine, size, axis=1)))
assert columns.shape[0] == 6, columns.shape
"""),
    "the last block goes past the end": NumberedProgram(3, """
rows, block = list(range(10)), -(-10 // size)
comm.allreduce(sum(rows[i] for i in range(rank * block, (rank + 1) * block)))
""", """
rows, block = list(range(10)), -(-10 // size)
comm.allreduce(sum(rows[i] for i in range(rank * block, min(10, (rank + 1) * block))))
"""),
    "an offset from the own count": NumberedProgram(4, """
mine = np.array_split(np.arange(6), size)[rank]
first = rank * len(mine)
assert first == mine[0], (first, mine)
comm.Barrier()
""", """
mine = np.array_split(np.arange(6), size)[rank]
first = comm.scan(len(mine)) - len(mine)
assert first == (mine[0] if len(mine) else 6), (first, mine)
comm.Barrier()
"""),
    "the owner of the last row": NumberedProgram(3, """
owner = 9 // (10 // size)
if rank == 0: request = comm.isend("last row", dest=owner)
if rank == owner: comm.recv(source=0)
if rank == 0: request.wait()
""", """
owner = min(9 // (10 // size), size - 1)
if rank == 0: request = comm.isend("last row", dest=owner)
if rank == owner: comm.recv(source=0)
if rank == 0: request.wait()
"""),
    "counts of equal blocks": NumberedProgram(4, """
mine = np.array_split(np.arange(6.0), size)[rank]
everything = np.empty(6)
comm.Allgatherv(mine, [everything, [6 // size] * size])
""", """
mine = np.array_split(np.arange(6.0), size)[rank]
everything = np.empty(6)
comm.Allgatherv(mine, [everything, comm.allgather(len(mine))])
"""),
    "one chunk more than ranks": NumberedProgram(3, """
chunk = 10 // size
parts = [list(range(10))[start:][:chunk] for start in range(0, 10, chunk)]
comm.scatter(parts if rank == 0 else None)
""", """
parts = [list(range(10))[other::size] for other in range(size)]
comm.scatter(parts if rank == 0 else None)
"""),
    "one chunk fewer than ranks": NumberedProgram(6, """
chunk = -(-10 // size)
parts = [list(range(10))[start:][:chunk] for start in range(0, 10, chunk)]
comm.scatter(parts if rank == 0 else None)
""", """
chunk = -(-10 // size)
parts = [list(range(10))[other * chunk:][:chunk] for other in range(size)]
comm.scatter(parts if rank == 0 else None)
"""),
    "a sample of an empty block": NumberedProgram(5, """
mine = list(range(4))[rank::size]
samples = comm.allgather(mine[len(mine) // 2])
""", """
mine = list(range(4))[rank::size]
samples = [sample for part in comm.allgather(mine[len(mine) // 2:][:1]) for sample in part]
"""),
    "Reduce_scatter of equal blocks": NumberedProgram(4, """
mine = np.empty(6 // size)
comm.Reduce_scatter(np.ones(6), mine, [6 // size] * size)
""", """
counts = [6 // size + (other < 6 % size) for other in range(size)]
mine = np.empty(counts[rank])
comm.Reduce_scatter(np.ones(6), mine, counts)
"""),
}  # fmt: skip
