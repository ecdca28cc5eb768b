"""Random MPI scripts that always end: in each round all ranks make matching calls, with values of earlier rounds.

python -m tests.processes.random_programs 300     compares programs on ranks of one process and on ranks that are processes
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.processes.harness import both

HEAD = """
import numpy as np
state = np.arange(6.0) + 10 * rank
right, left = (rank + 1) % size, (rank - 1) % size
seen = []
"""

ROUNDS = {
    "ring": """
other = np.zeros({n})
comm.Sendrecv(state[:{n}].copy(), right, {tag}, other, left, {tag})
state[:{n}] += other
""",
    "requests": """
other = np.zeros({n})
requests = [comm.Irecv(other, left, {tag}), comm.Isend(state[-{n}:].copy(), right, {tag})]
{wait}
state[-{n}:] = state[-{n}:] / 2 + other
""",
    "objects": """
seen.append(comm.sendrecv([rank, {tag}, "x" * ({n} * rank)], right, source=left))
""",
    "any": """
if rank == {root} % size:
    for _ in range(size - 1):
        status = MPI.Status()
        seen.append((comm.recv(source=MPI.ANY_SOURCE, tag={tag}, status=status), status.source))
else:
    comm.{send}(float(state.sum()), {root} % size, {tag})
""",
    "allreduce": """
total = np.zeros(6)
comm.Allreduce(state, total, op=MPI.{op})
state = total / size + rank
""",
    "objects of all": """
seen.append((comm.allgather(rank * {n}), comm.bcast(float(state[0]) if rank == {root} % size else None, root={root} % size),
             comm.allreduce(rank + {tag}, op=MPI.{op})))
""",
    "vector": """
kind = MPI.DOUBLE.Create_vector(2, 1, 3).Commit()
part = np.zeros(6)
comm.Sendrecv([state, 1, kind], right, {tag}, [part, 1, kind], left, {tag})
kind.Free()
state = state + part
""",
    "split": """
part = comm.Split(rank % {n}, -rank)
seen.append((part.rank, part.allreduce(rank)))
part.Free()
""",
    "window": """
mine = np.zeros(size)
win = MPI.Win.Create(mine, 8, comm=comm)
win.Fence()
win.Put(state[:1].copy(), right, rank)
win.Fence()
win.Free()
state[{tag} % 6] += mine.sum()
""",
    "compute": """
import fakempi
fakempi.compute({n}e-6 * (rank + 1))
""",
    "probe": """
request = comm.isend((rank, {tag}), right, {tag})
while not comm.iprobe(source=left, tag={tag}):
    pass
seen.append(comm.recv(source=left, tag={tag}))
request.wait()
""",
}
"""Parts of scripts; all ranks execute the same part at the same time."""

WAITS = (
    "MPI.Request.Waitall(requests)",
    "while not MPI.Request.Testall(requests): pass",
    "for _ in requests: seen.append(MPI.Request.Waitany(requests) in (0, 1))",
    "requests[0].Wait(); requests[1].Wait()",
)


def program(number: int) -> str:
    """Return a program that prints its state and its time."""
    random = Random(number)
    parts = [HEAD]
    for tag in range(random.randint(2, 6)):
        values = {
            "n": random.randint(1, 6), "tag": tag, "root": random.randint(0, 5), "wait": random.choice(WAITS),
            "send": random.choice(("send", "ssend")), "op": random.choice(("SUM", "MAX", "MIN", "PROD")),
        }  # fmt: skip
        parts.append(random.choice(list(ROUNDS.values())).format(**values))
    return "".join([*parts, "\nprint(rank, state.tolist(), seen, MPI.Wtime())\n"])


def script(numbers: range) -> str:
    """Return a script of several programs, since to start processes takes longer than to run one."""
    return "".join(map(program, numbers))


def difference(directory: Path, numbers: range, nprocs: int) -> str:
    """How programs differ on ranks that are processes; empty if they do not."""
    one, other = both(directory, script(numbers), nprocs)
    if one.error:
        return f"the error is {one.error}"
    names = [name for name in one._fields if getattr(one, name) != getattr(other, name)]
    return f"{', '.join(names)} differ: {one}\n{other}" if names else ""


def main(count: int, batch: int = 10) -> int:
    """Compare programs, first several at a time; return the number of those that differ."""
    differences = 0
    with TemporaryDirectory() as directory:
        for first in range(0, count, batch):
            numbers, nprocs = range(first, min(first + batch, count)), 1 + first // batch % 4
            if not difference(Path(directory), numbers, nprocs):
                continue
            alone = {number: difference(Path(directory), range(number, number + 1), nprocs) for number in numbers}
            found = {number: text for number, text in alone.items() if text}
            differences += len(found) or 1  # they may differ only one after the other
            sys.stdout.write(f"programs {numbers}, {nprocs} ranks; alone: {found}\n"[:3000])
    sys.stdout.write(f"{count} programs, {differences} differences\n")
    return differences


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]))))
