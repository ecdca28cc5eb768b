"""schwimmbad: map over an MPIPool, with a callback."""

import sys

from schwimmbad import MPIPool


def cube(x):
    return x**3


with MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit(0)
    seen = []
    results = pool.map(cube, range(20), callback=seen.append)
    print(sum(results), sorted(seen) == sorted(results))
