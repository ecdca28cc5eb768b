"""Explore all schedules of a program: find a race that no timing shows, explain it, and replay it.

    python demos/04_all_schedules.py
"""

from screen import arguments

import fakempi
from fakempi import MPI


def collect(comm, careful):
    """Rank 0 adds up the numbers of the others; it assumes that the last rank's message arrives last."""
    if comm.rank:
        fakempi.compute(comm.rank)  # each rank is later than the one before, so timing never shows the race
        return comm.send(comm.rank, dest=0)
    status, total, last = MPI.Status(), 0, comm.size - 1
    for _ in range(last):
        total += comm.recv(source=MPI.ANY_SOURCE, status=status)
        if status.source == last and not careful:
            break
    return total


arguments(__doc__)
print("default schedule:", fakempi.run(collect, 4, False).returns[0])
print("with a hundred seeds:", {fakempi.run(collect, 4, False, seed=seed).returns[0] for seed in range(100)})

found = fakempi.explore(collect, 4, False, compare="returns", strict=False)
print("\nall schedules:", found.verdict)
for failure in found.failures:
    print(f"\n{failure}")

print("\nreplay of the last failure:", fakempi.run(collect, 4, False, schedule=found.failures[-1].schedule).returns[0])
print("fixed:", fakempi.explore(collect, 4, True, compare="returns").verdict)
