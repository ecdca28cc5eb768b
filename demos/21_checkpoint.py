"""A checkpoint: every rank of a grid writes its block into one file, and other ranks, not as many, read it back.

    python demos/21_checkpoint.py
"""

import os
import tempfile

import numpy as np
from screen import asked

import fakempi
from fakempi import MPI

asked(__doc__)
ROWS, COLUMNS = 12, 12
FOLDER = tempfile.TemporaryDirectory()
PATH = os.path.join(FOLDER.name, "checkpoint")


def block_of(comm):
    """The grid of ranks, and which rectangle of the whole field is this rank's."""
    dims = MPI.Compute_dims(comm.Get_size(), 2)
    grid = comm.Create_cart(dims)
    at = grid.Get_coords(grid.Get_rank())
    sizes = [ROWS // dims[0], COLUMNS // dims[1]]
    return sizes, [i * size for i, size in zip(at, sizes, strict=True)]


def see_block(comm, file):
    """From now on this rank sees of the file what is its block, and nothing else."""
    sizes, starts = block_of(comm)
    file.Set_view(0, MPI.DOUBLE, MPI.DOUBLE.Create_subarray([ROWS, COLUMNS], sizes, starts).Commit())
    return sizes, starts


def save(comm):
    """Each rank fills its block with its number, and all write together."""
    file = MPI.File.Open(comm, PATH, MPI.MODE_WRONLY | MPI.MODE_CREATE)
    sizes, _ = see_block(comm, file)
    file.Write_all(np.full(sizes, float(comm.Get_rank())))
    file.Close()


def restore(comm):
    """Whoever had what, each rank reads the block that is its own now."""
    file = MPI.File.Open(comm, PATH, MPI.MODE_RDONLY)
    sizes, _ = see_block(comm, file)
    field = np.empty(sizes)
    file.Read_all(field)
    file.Close()
    return sorted({int(value) for value in field.flat})


server = fakempi.FileServer(t_s=1e-3, t_w=1e-8, ports=2)
saved = fakempi.run(save, 6, cost=fakempi.Hockney(files=server))
print(f"6 ranks save {ROWS} x {COLUMNS} numbers in {saved.time * 1e3:.1f} ms; the file, as the ranks that wrote it:\n")
for row in np.fromfile(PATH).reshape(ROWS, COLUMNS)[::2]:
    print("   ", " ".join(str(int(value)) for value in row))

restored = fakempi.run(restore, 4, cost=fakempi.Hockney(files=server))
print(f"\n4 ranks read it in {restored.time * 1e3:.1f} ms:\n")
for rank, writers in enumerate(restored.returns):
    print(f"    rank {rank} has what ranks {', '.join(map(str, writers))} wrote")
print("\nA row of a block is a run of bytes, and each run is a request to the server: 1 ms, two at a time.")
