"""Write a checkpoint: every rank of a grid writes its block to one file, and a different number of ranks reads it back.

The second part compares independent access of all ranks with two-phase access, in which a few ranks collect the data.

    python demos/14_checkpoint.py
"""

import os
import tempfile

import numpy as np
from screen import arguments

import fakempi
from fakempi import MPI

arguments(__doc__)
ROWS, COLUMNS = 12, 12
DIRECTORY = tempfile.TemporaryDirectory()
PATH = os.path.join(DIRECTORY.name, "checkpoint")


def block_of(comm):
    """Sizes and starts of this rank's block in the grid of ranks."""
    dims = MPI.Compute_dims(comm.Get_size(), 2)
    grid = comm.Create_cart(dims)
    at = grid.Get_coords(grid.Get_rank())
    sizes = [ROWS // dims[0], COLUMNS // dims[1]]
    return sizes, [i * size for i, size in zip(at, sizes, strict=True)]


def set_block_view(comm, file):
    """Set a file view that contains only the block of this rank."""
    sizes, starts = block_of(comm)
    file.Set_view(0, MPI.DOUBLE, MPI.DOUBLE.Create_subarray([ROWS, COLUMNS], sizes, starts).Commit())
    return sizes, starts


def save(comm):
    """Write a block filled with the number of the rank, collectively."""
    file = MPI.File.Open(comm, PATH, MPI.MODE_WRONLY | MPI.MODE_CREATE)
    sizes, _ = set_block_view(comm, file)
    file.Write_all(np.full(sizes, float(comm.Get_rank())))
    file.Close()


def restore(comm):
    """Read the block of this rank in the new grid."""
    file = MPI.File.Open(comm, PATH, MPI.MODE_RDONLY)
    sizes, _ = set_block_view(comm, file)
    field = np.empty(sizes)
    file.Read_all(field)
    file.Close()
    return sorted({int(value) for value in field.flat})


server = fakempi.FileServer(t_s=1e-3, t_w=1e-8, ports=2)
saved = fakempi.run(save, 6, cost=fakempi.Hockney(files=server))
print(f"6 ranks save {ROWS} x {COLUMNS} numbers in {saved.time * 1e3:.1f} ms; the rank that wrote each number:\n")
for row in np.fromfile(PATH).reshape(ROWS, COLUMNS)[::2]:
    print("   ", " ".join(str(int(value)) for value in row))

restored = fakempi.run(restore, 4, cost=fakempi.Hockney(files=server))
print(f"\n4 ranks read it in {restored.time * 1e3:.1f} ms:\n")
for rank, writers in enumerate(restored.returns):
    print(f"    rank {rank} reads blocks of ranks {', '.join(map(str, writers))}")
print("\nEach row of a block is a separate request to the server: 1 ms each, two at a time.")

two_phase = {"write_all": "two_phase"}
saved = fakempi.run(save, 6, cost=fakempi.Hockney(files=server), algorithms=two_phase)
print(f"\nWith algorithms={two_phase} two ranks collect the data and write half of it each: {saved.time * 1e3:.1f} ms.")

RANKS, BYTES = 16, 1 << 16


def write_cyclic(comm, block):
    """Write every 16th block of the file, collectively."""
    file = MPI.File.Open(comm, PATH, MPI.MODE_WRONLY | MPI.MODE_CREATE)
    filetype = MPI.BYTE.Create_contiguous(block).Create_resized(0, block * comm.Get_size()).Commit()
    file.Set_view(block * comm.Get_rank(), MPI.BYTE, filetype)
    file.Write_all(np.zeros(BYTES, np.uint8))
    file.Close()


server = fakempi.FileServer(t_s=1e-3, t_w=1e-9, ports=4)
ways = [None, *({"write_all": ("two_phase", {"aggregators": count})} for count in (1, 4, 16))]
print(f"\n{RANKS} ranks write {BYTES >> 10} KiB each, in cyclic blocks, to a server with 4 ports; in milliseconds:\n")
print("    block        independent    two-phase, by 1 rank    4 ranks    16 ranks")
for block in (64, 1024, 16384, BYTES):
    runs = [fakempi.run(write_cyclic, RANKS, block, cost=fakempi.Hockney(files=server), algorithms=way) for way in ways]
    times = [run.time * 1e3 for run in runs]
    print(f"  {block:7,d} {times[0]:18,.2f} {times[1]:23.2f} {times[2]:10.2f} {times[3]:11.2f}")
DIRECTORY.cleanup()
