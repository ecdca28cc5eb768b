"""All schedules: a race that no timing shows, why it is one, and the same again.
    python demos/18_all_schedules.py"""

from screen import asked

import fakempi
from fakempi import MPI


def collect(comm, careful):
    """Rank 0 adds up what the others send; the last of them, it thinks, is the last to come."""
    if comm.rank:
        fakempi.compute(comm.rank)  # so each is later than the one before, and a clock never shows it
        return comm.send(comm.rank, dest=0)
    status, total, last = MPI.Status(), 0, comm.size - 1
    for _ in range(last):
        total += comm.recv(source=MPI.ANY_SOURCE, status=status)
        if status.source == last and not careful:
            break
    return total


asked(__doc__)
print("as it runs:", fakempi.run(collect, 4, False).returns[0])
print("with a hundred seeds:", {fakempi.run(collect, 4, False, seed=seed).returns[0] for seed in range(100)})

found = fakempi.explore(collect, 4, False, compare="returns", strict=False)
print("\nin all schedules:", found.verdict)
for failure in found.failures:
    print(f"\n{failure}")

print("\nthe last of these again:", fakempi.run(collect, 4, False, decisions=found.failures[-1].decisions).returns[0])
print("mended:", fakempi.explore(collect, 4, True, compare="returns").verdict)
