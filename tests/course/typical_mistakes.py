"""Typical mistakes at each exercise: a change of the solution, and words of the hint that names the mistake."""

from __future__ import annotations

from typing import NamedTuple


class Mistake(NamedTuple):
    """`old` in a solution is replaced by `new`; the hint contains `hint`. An empty `old` stands for the start file."""

    exercise: int
    old: str
    new: str
    hint: str


START_FILES = (
    (1, "still returns the same text on every rank"),
    (2, "Each rank but the last has to send too"),
    (3, "Both partners send first"),
    (4, "Its sender is in the status"),
    (5, "Start both operations before"),
    (6, "The array has another length"),
    (7, "a value reaches other ranks only by a call"),
    (8, "exactly one item for each rank"),
    (9, "use `allreduce`"),
    (10, "The root sends a message to itself"),
    (11, "still wait for each other in a chain"),
    (12, "The division has a remainder"),
    (13, "in the wrong order"),
    (14, "Not all ranks of the communicator reach this call"),
    (15, "Compare the four neighbors"),
    (16, "some rank receives fewer than it gets"),
    (17, "results return in any order"),
    (18, "does not copy"),
    (19, "different types"),
    (20, "returns before the collective calls"),
    (21, "run one after the other"),
    (22, "Start the send with"),
    (23, "still send whole blocks"),
    (24, "Only the leaders exchange data"),
    (25, "A list with an entry for every rank"),
)

CHANGES = (
    Mistake(1, "comm.Get_rank()}", "comm.Get_rank}", "names the method comm.Get_rank but does not call it"),
    Mistake(1, "comm.Get_size()}", "comm.size()}", "calls comm.size, which is a number"),
    Mistake(1, "comm.Get_size()}", "comm.get_size()}", "is Get_size meant?"),
    Mistake(1, 'return f"', 'print(f"', "Count the parentheses"),
    Mistake(2, "if rank > 0:", "if rank = 0:", "has = where == is meant"),
    Mistake(2, "if rank > 0:", "if rank > 0", "needs a colon"),
    Mistake(2, "comm.send(word, dest=rank + 1)", "comm.send(word)", "needs dest=, the rank that receives"),
    Mistake(2, "comm.recv(source=rank - 1)", "comm.recv(dest=rank - 1)", "passes dest= to recv"),
    Mistake(2, "        word = comm.recv", "        comm.recv", "ignores what recv returns"),
    Mistake(
        2, "rank, size = comm.Get_rank(), comm.Get_size()", "rank, size = comm.Get_size(), comm.Get_rank()", "are swapped"
    ),
    Mistake(2, "    return word\n", "    print(word)\n", "use return"),
    Mistake(2, "if rank < size - 1:", "if rank < size:", "send only `if rank < size - 1`"),
    Mistake(
        3,
        "    return comm.sendrecv(mine, dest=partner, source=partner)",
        "    theirs = comm.recv(source=partner)\n    comm.send(mine, dest=partner)\n    return theirs",
        "both partners receive first",
    ),
    Mistake(
        3,
        "    return comm.sendrecv(mine, dest=partner, source=partner)",
        "    request = comm.isend(mine, dest=partner, tag=1)\n    theirs = comm.recv(source=partner, tag=2)\n"
        "    request.wait()\n    return theirs",
        "the tags must be equal",
    ),
    Mistake(3, "if partner >= comm.Get_size():", "if partner > comm.Get_size():", "one side only"),
    Mistake(4, "working -= 1", "working = 0", "count the DONE messages"),
    Mistake(4, "from mpi4py import MPI\n", "", "from mpi4py import MPI"),
    Mistake(4, "    while working:", "    while True:", "more messages than there are"),
    Mistake(5, "    MPI.Request.Waitall(requests)\n", "", "no line waits for it"),
    Mistake(6, "comm.Send(numbers, dest=dest)", "comm.send(numbers, dest=dest)", "these do not match"),
    Mistake(6, "    comm.Recv(numbers, source=0)\n", "    numbers = comm.Recv(numbers, source=0)\n", "which is None"),
    Mistake(7, "settings = comm.bcast", "comm.bcast", "a value reaches other ranks only by a call"),
    Mistake(7, "root=0)\n    return", "root=comm.Get_rank())\n    return", "All ranks pass the same root"),
    Mistake(8, "    if rank != 0:\n        return None\n", "", "returns its list on the root only"),
    Mistake(8, "len(words) // size", "len(words) / size", "use // for ranks, lengths and indices"),
    Mistake(
        8, "[length for result in results for length in result]", "results", "The lists of the ranks are still separate"
    ),
    Mistake(8, "    if rank == 0:\n        share", "    if rank >= 0:\n        share", "Only rank 0 has `words`"),
    Mistake(9, "op=MPI.SUM", "op=sum", "the operations of MPI are named MPI.SUM"),
    Mistake(9, "op=MPI.MAX, ", "", "The default operation is MPI.SUM"),
    Mistake(10, "comm.recv(source=root)", "comm.recv(source=0)", "which is not always rank 0"),
    Mistake(10, "    return value\n", "    return None\n", "The root needs the value too"),
)

ALL = [*(Mistake(number, "", "", hint) for number, hint in START_FILES), *CHANGES]
