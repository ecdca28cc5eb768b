"""Write an algorithm in one file, use it in ordinary MPI calls, verify it, and compare it with others.

    python demos/11_custom_algorithm.py

The file is demos/knomial.py, a broadcast along a tree in which a rank has up to k-1 children per level. The page
docs/custom_algorithm.md describes how to write an algorithm. The same from the command line:

    fakempi verify demos/knomial.py
    fakempi compare bcast -n 2..64 --algorithms 'binomial,demos/knomial.py,demos/knomial.py(k=8)' --measure
    fakempi run -n 64 --algorithms 'bcast=demos/knomial.py(k=3)' script.py
"""

from dataclasses import replace

import numpy as np
from knomial import bcast_my_knomial
from screen import arguments, console

import collectives
from collectives import Case
from collectives.tools.messages import receive, send
from fakempi import Hockney, run
from fakempi.view.numbers import seconds

P = 64
COST = Hockney(t_s=1e-6, t_w=1e-9, eager_limit=0)


def program(comm):
    """An ordinary MPI program; the options of `run` choose the algorithm of Bcast."""
    data = np.full(128, comm.rank, float)
    comm.Bcast(data, root=5)
    return float(data[0])


def without_root(comm, buf, *, root=0, k=4, tag=0):
    """A wrong version that ignores the root; it works if the root is rank 0."""
    p, rank, w = comm.Get_size(), comm.Get_rank(), 1
    bcast_my_knomial.check(Case(p, parameters={"k": k}))
    while w * k < p:
        w *= k
    while w:
        if rank % (k * w) == 0:
            for child in range(rank + w, min(p, rank + k * w), w):
                send(comm, buf, child, tag)
        elif rank % w == 0:
            receive(comm, buf, rank - rank % (k * w), tag)
        w //= k


def main():
    out = console()
    out.print(f"1. Use: Bcast of 1,024 bytes on {P} ranks, in modeled time", style="bold")
    for label, choice in (
        ("binomial, in the catalogue", "binomial"),
        *((f"knomial, k = {k}", (bcast_my_knomial, {"k": k})) for k in (2, 3, 4, 8)),
    ):
        done = run(program, P, cost=COST, algorithms={"bcast": choice})
        assert set(done.returns) == {5.0}
        claim = "" if choice == "binomial" else claimed(choice[1]["k"])
        out.print(f"   {label:28} {seconds(done.time):>8}   {claim}")
    out.print()
    out.print("2. Verify results, messages, bytes, rounds, time and memory in many cases", style="bold")
    out.print(f"   counterexamples: {collectives.verify(bcast_my_knomial, ranks=9, cases=100)}")
    out.print()
    out.print("3. Verify a version that ignores the root: the smallest case in which it fails", style="bold")
    first, *others = collectives.verify(replace(bcast_my_knomial, run=without_root), ranks=9, cases=100)
    out.print(str(first), markup=False)
    out.print(f"   other errors: {', '.join(other.kind for other in others)}")


def claimed(k):
    """The time that the algorithm claims."""
    time = bcast_my_knomial.time(Case(P, 1024, root=5, parameters={"k": k}), COST.t_s, COST.t_w)
    return f"claimed {seconds(time)}"


if __name__ == "__main__":
    arguments(__doc__)
    main()
