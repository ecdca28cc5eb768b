"""A wrong schedule in the XML of MSCCL: found by verification, seen in a timeline, fixed.

    python demos/12_wrong_schedule.py

The schedule is an allreduce in which each of four GPUs reduces one chunk: thread blocks receive the others' parts of that
chunk in scratch memory, thread block 0 combines them, and the result goes to all. A step waits for a step of another thread
block only if the file says so (depid, deps). One such dependency is forgotten. MSCCL's interpreter then combines whatever is
in memory, and a test may pass by chance. The page docs/schedules.md describes the formats. From the command line:

    fakempi schedule verify allpairs.xml
"""

import tempfile
from pathlib import Path

import numpy as np
from screen import arguments, console

from collectives import Case, find
from collectives.schedules import load
from fakempi import Hockney, run
from fakempi.apps.cli.schedules.timeline import marked, simulate
from fakempi.view.numbers import seconds

P = 4
COST = Hockney(t_s=1e-6, t_w=1e-9)


def document(forgotten=None):
    """Return the XML; `forgotten` is a pair (rank, peer) whose reduction does not wait for the peer's message."""
    lines = [
        f'<algo name="allpairs" coll="allreduce" ngpus="{P}" nchannels="1" nchunksperloop="{P}" proto="Simple" inplace="0">'
    ]
    for rank in range(P):
        peers = [peer for peer in range(P) if peer != rank]
        lines += [
            f'<gpu id="{rank}" i_chunks="{P}" o_chunks="{P}" s_chunks="{P - 1}">',
            '<tb id="0" send="-1" recv="-1" chan="0">',
        ]
        lines += [step(0, "cpy", ("i", rank), ("o", rank))]
        for slot, peer in enumerate(peers):
            wait = None if (rank, peer) == forgotten else (2 * slot + 2, 0)
            lines += [step(slot + 1, "re", ("s", slot), ("o", rank), wait)]
        lines += ["</tb>"]
        for slot, peer in enumerate(peers):
            lines += [f'<tb id="{2 * slot + 1}" send="{peer}" recv="-1" chan="0">', step(0, "s", ("i", peer))]
            lines += [step(1, "s", ("o", rank), wait=(0, P - 1)), "</tb>"]
            lines += [f'<tb id="{2 * slot + 2}" send="-1" recv="{peer}" chan="0">', step(0, "r", ("s", slot))]
            lines += [step(1, "r", ("o", peer)), "</tb>"]
        lines += ["</gpu>"]
    return "\n".join([*lines, "</algo>"])


def step(number, kind, source, target=None, wait=None):
    """Return the element of a step; `wait` is the thread block and the step that it waits for."""
    (here, at), (there, to), (depid, deps) = source, target or source, wait or (-1, -1)
    return (
        f'<step s="{number}" type="{kind}" srcbuf="{here}" srcoff="{at}" dstbuf="{there}" dstoff="{to}" cnt="1" '
        f'depid="{depid}" deps="{deps}" hasdep="0"/>'
    )


def program(comm):
    """An ordinary MPI program; the options of `run` choose the algorithm of Allreduce."""
    total = np.zeros(P)
    comm.Allreduce(np.full(P, 10.0**comm.rank), total)
    return total.tolist()


def main(directory):
    out, path = console(), directory / "allpairs.xml"

    path.write_text(document(forgotten=(2, 3)))
    schedule = load(path)
    out.print("1. Verify: does the schedule implement allreduce?", style="bold")
    faults = schedule.verify("allreduce")
    for fault in faults:
        out.print(f"   {fault.kind}: {fault}", markup=False)

    out.print("\n2. The step in a timeline: the reduction does not wait for it", style="bold")
    out.print(marked(schedule, faults[0], simulate(schedule, COST), 80))

    out.print("\n3. With the dependency, in a call of Allreduce", style="bold")
    path = directory / "fixed.xml"
    path.write_text(document())
    out.print(f"   faults: {load(path).verify('allreduce')}")
    done = run(program, P, cost=COST, algorithms={"allreduce": str(path)})
    for rank, total in enumerate(done.returns):
        out.print(f"   rank {rank}: {' '.join(f'{value:6.0f}' for value in total)}")
    ring = find("allreduce", "ring").time(Case(P, 8 * P, itemsize=8), COST.t_s, COST.t_w)
    out.print(f"   modeled time {seconds(done.time)}; the ring of the catalogue takes {seconds(ring)}")


if __name__ == "__main__":
    arguments(__doc__)
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
