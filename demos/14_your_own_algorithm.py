"""An algorithm of your own: written in one file, used by plain MPI calls, verified, and compared with others.

    python demos/14_your_own_algorithm.py

The file is demos/knomial.py, a broadcast down a tree in which everybody has up to k-1 children a level. The page
docs/your_own_algorithm.md tells how to write one in half an hour. The same from the command line:

    fakempi verify demos/knomial.py
    fakempi compare bcast -n 2..64 --algorithms 'binomial,demos/knomial.py,demos/knomial.py(k=8)' --measure
    fakempi run -n 64 --algorithms 'bcast=demos/knomial.py(k=3)' your_script.py
"""

from dataclasses import replace

import numpy as np
from knomial import ALGORITHM
from screen import asked, console

import collectives
from collectives import Case
from collectives.tools.messages import receive, send
from fakempi import Hockney, run
from fakempi.view.numbers import seconds

P = 64
COST = Hockney(t_s=1e-6, t_w=1e-9, eager_limit=0)


def everybody_hears(comm):
    """A program as anybody writes it; which algorithm Bcast takes is said by whoever runs it."""
    news = np.full(128, comm.rank, float)
    comm.Bcast(news, root=5)
    return float(news[0])


def hasty(comm, buf, *, root=0, k=4, tag=0):
    """Somebody's first try, a tree that forgets about the root: right whenever that is rank 0."""
    p, rank, w = comm.Get_size(), comm.Get_rank(), 1
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
    out.print(f"1. Used: Bcast of 1,024 bytes on {P} ranks, in modelled time", style="bold")
    for what, taken in (
        ("binomial, of the catalogue", "binomial"),
        *((f"knomial, k = {k}", (ALGORITHM, {"k": k})) for k in (2, 3, 4, 8)),
    ):
        done = run(everybody_hears, P, cost=COST, algorithms={"bcast": taken})
        assert set(done.returns) == {5.0}
        claim = "" if taken == "binomial" else claimed(taken[1]["k"])
        out.print(f"   {what:28} {seconds(done.time):>8}   {claim}")
    out.print()
    out.print("2. Verified: results, messages, bytes, rounds, time, memory, on many cases", style="bold")
    out.print(f"   counterexamples: {collectives.verify(ALGORITHM, ranks=9, cases=100)}")
    out.print()
    out.print("3. A first try that forgets about the root: the smallest case in which it fails", style="bold")
    first, *others = collectives.verify(replace(ALGORITHM, run=hasty), ranks=9, cases=100)
    out.print(str(first), markup=False)
    out.print(f"   also wrong, and shown likewise: {', '.join(other.what for other in others)}")


def claimed(k):
    """What the file says on paper, which is the same number."""
    time = ALGORITHM.time(Case(P, 1024, root=5, parameters={"k": k}), COST.t_s, COST.t_w)
    return f"claimed {seconds(time)}"


if __name__ == "__main__":
    asked(__doc__)
    main()
