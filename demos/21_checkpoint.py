"""A checkpoint: every rank of a grid writes its block into one file, and other ranks, not as many, read it back.

Then how long that takes if every rank accesses the file for itself, and if a few collect what all have (two-phase).

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

two_phase = {"write_all": "two_phase"}
saved = fakempi.run(save, 6, cost=fakempi.Hockney(files=server), algorithms=two_phase)
print(f"\nWith algorithms={two_phase} two ranks collect it and write half the file each: {saved.time * 1e3:.1f} ms.")

RANKS, BYTES = 16, 1 << 16


def deal_out(comm, block):
    """Each rank has every 16th block of the file, and all write together."""
    file = MPI.File.Open(comm, PATH, MPI.MODE_WRONLY | MPI.MODE_CREATE)
    turn = MPI.BYTE.Create_contiguous(block).Create_resized(0, block * comm.Get_size()).Commit()
    file.Set_view(block * comm.Get_rank(), MPI.BYTE, turn)
    file.Write_all(np.zeros(BYTES, np.uint8))
    file.Close()


server = fakempi.FileServer(t_s=1e-3, t_w=1e-9, ports=4)
ways = [None, *({"write_all": ("two_phase", {"aggregators": many})} for many in (1, 4, 16))]
print(f"\n{RANKS} ranks write {BYTES >> 10} KiB each, dealt out in blocks, to a server with 4 ports; in milliseconds:\n")
print("    block    each for itself    two-phase, by 1 rank    4 ranks    16 ranks")
for block in (64, 1024, 16384, BYTES):
    runs = [fakempi.run(deal_out, RANKS, block, cost=fakempi.Hockney(files=server), algorithms=way) for way in ways]
    times = [run.time * 1e3 for run in runs]
    print(f"  {block:7,d} {times[0]:18,.2f} {times[1]:23.2f} {times[2]:10.2f} {times[3]:11.2f}")
