"""Small programs that work on few ranks, with the smallest number of ranks on which each fails."""

from __future__ import annotations

START = "import sys\nimport numpy as np\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\nrank, size = comm.rank, comm.size\n"

PROGRAMS = {
    "the remainder is lost": (5, "total = comm.allreduce(12 // size)\nassert total == 12, total\n"),
    "the last block is empty": (6, "chunk = -(-10 // size)\ncomm.allreduce(max(range(10)[rank * chunk:][:chunk]))\n"),
    "the ring has four ranks": (
        5,
        "if size < 4: sys.exit('needs at least 4 ranks')\n"
        "request = comm.isend(rank, dest=rank + 1 if rank < 3 else 0)\n"
        "comm.recv(source=(rank - 1) % size)\nrequest.wait()\n",
    ),
    "a power of two": (
        3, "value, mask = 1, 1\nwhile mask < size:\n    value += comm.sendrecv(value, rank ^ mask, source=rank ^ mask)\n"
        "    mask *= 2\n",
    ),
    "the root has no data": (4, "mine = range(3)[size - 1 - rank::size]\ncomm.bcast(mine[0] if rank == 0 else None)\n"),
    "pairs of ranks": (3, "if size > 1:\n    comm.sendrecv(rank, rank ^ 1, source=rank ^ 1)\n"),
    "one rank": (1, "parts = comm.gather(rank)\nif rank == 0:\n    max(parts[1:])\n"),
    "more ranks than rows": (8, "row = list(range(7))[rank]\ncomm.gather(row)\n"),
    "two levels of a tree": (
        5,
        "if rank: comm.recv(source=rank - (1 << rank.bit_length() - 1))\nfor level in range(2):\n"
        "    if rank < 1 << level and rank + (1 << level) < size: comm.send(1, dest=rank + (1 << level))\n",
    ),
    "a square grid": (
        2, "side = int(size ** 0.5)\ncart = comm.Create_cart([side, side])\ncart.Get_coords(cart.rank)\ncart.Free()\n",
    ),
}  # fmt: skip
"""Programs that fail in every schedule: the smallest number of ranks, and the text below START."""

IN_SOME_SCHEDULES = {
    "the order of two messages": (
        3, "if rank:\n    comm.send(rank, dest=0)\nelse:\n"
        "    got = [comm.recv() for _ in range(size - 1)]\n    assert got == sorted(got), got\n",
    ),
    "sends that rely on buffering": (
        2, "if size > 1:\n    comm.send(rank, dest=(rank + 1) % size)\n    comm.recv(source=(rank - 1) % size)\n",
    ),
    "a message that is lost": (
        4, "if rank:\n    comm.isend(rank, dest=0).wait()\nelse:\n    [comm.recv() for _ in range(min(size - 1, 2))]\n",
    ),
}  # fmt: skip
"""Programs that fail in some schedules, or in a strict run."""
