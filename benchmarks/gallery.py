"""Draw the figures of docs/gallery.md: python benchmarks/gallery.py [DIRECTORY]. Needs matplotlib.

Maps of the fastest algorithms, comparisons, timelines of trees and rings on 8 ranks, a deadlock, wait states before and
after a fix, a schedule, the tree of all schedules of a program, and the calibration of a cluster, which docs/machines.md
shows, too.
"""

import os
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import fakempi
from fakempi.apps.cli import main as command
from fakempi.view.figure.canvas import styled, write
from fakempi.view.figure.run import run_figure
from fakempi.view.figure.schedule_tree import tree_figure

EPYC = Path(__file__).parent / "data" / "orfeo_epyc"
DIRECTORY = Path(__file__).parents[1] / "docs" / "assets" / "gallery"
MACHINE = "hockney:t_s=2e-6,t_w=1e-9,eager_limit=0"


def traced(main, ranks, **options):
    """Return the trace of a run."""
    return fakempi.run(main, ranks, cost=MACHINE, trace=True, **options).trace


def bcast(comm):
    """Broadcast 8 KiB."""
    comm.Bcast(fakempi.phantom(8192))


def allgather(comm):
    """Gather 1 KiB of each rank on all ranks."""
    comm.Allgather(fakempi.phantom(1024), fakempi.phantom(1024 * comm.size))


def halo(comm, late, overlap):
    """Exchange with both neighbors and compute, four times; one rank is late, unless the work is balanced."""
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    for _ in range(4):
        work = (30e-6 if comm.rank == 5 else 10e-6) if late else 12.5e-6
        if not overlap:
            fakempi.compute(work)
        requests = [comm.Isend(fakempi.phantom(8000), right), comm.Irecv(fakempi.phantom(8000), left)]
        if overlap:
            fakempi.compute(work)
        fakempi.MPI.Request.Waitall(requests)
    comm.Barrier()


def wait_states(traces):
    """Draw the wait states of some runs as shares of the time of all ranks, on one scale."""
    shares = {
        name: {state: 100 * spent / trace.ranks / trace.time for state, (spent, _) in trace.measure().waits.items()}
        for name, trace in traces.items()
    }
    states = [state for state in next(iter(shares.values())) if any(found.get(state) for found in shares.values())]
    states.sort(key=lambda state: -max(found.get(state, 0) for found in shares.values()))
    with styled():
        figure = Figure(figsize=(7.16, 0.5 + 0.4 * len(states)), layout="constrained")
        axes = figure.subplots()
        for index, (name, found) in enumerate(shares.items()):
            where = np.arange(len(states)) + 0.36 * (index - (len(shares) - 1) / 2)
            how = {"color": ("#E69F00", "white")[index % 2], "edgecolor": "0.25", "linewidth": 0.5}
            bars = axes.barh(where, [found.get(state, 0) for state in states], 0.34, label=name, **how)
            axes.bar_label(bars, fmt="%.1f %%", padding=3, fontsize=7)
        axes.set_yticks(range(len(states)), states)
        axes.invert_yaxis()
        axes.set_xlabel("share of the time of all ranks (%)")
        axes.margins(x=0.08)
        axes.legend(frameon=False, loc="lower right")
    return figure


def exchange(comm):
    """Send to the right, then receive from the left: large messages wait for their receives."""
    comm.Barrier()
    comm.Send(fakempi.phantom(80_000), (comm.rank + 1) % comm.size, 7)
    comm.Recv(fakempi.phantom(80_000), (comm.rank - 1) % comm.size, 7)


def deadlock(ranks):
    """Return the trace of a run that deadlocks."""
    try:
        fakempi.run(exchange, ranks, cost="hockney:t_s=2e-6,t_w=1e-9", trace=True)
    except fakempi.DeadlockError as error:
        return error.trace
    raise SystemExit("the exchange does not deadlock")


def collect(comm):
    """Add up the numbers of the other ranks; the program assumes that the last rank's message arrives last."""
    if comm.rank:
        return comm.send(comm.rank, dest=0)
    status, total, last = fakempi.MPI.Status(), 0, comm.size - 1
    for _ in range(last):
        total += comm.recv(source=fakempi.MPI.ANY_SOURCE, status=status)
        if status.source == last:
            break
    assert total == sum(range(comm.size))
    return total


def schedule_tree(ranks):
    """Return the tree of all schedules of a program that some of them break."""
    found = fakempi.explore(collect, ranks, strict=False)
    notes = [f"schedule {failure.schedule}: {failure.why}" for failure in found.failures[:1]]
    return tree_figure(found.summaries, found.verdict, notes, width=5.0)


BCAST = "binomial,chain,scatter_ring_allgather,scatter_recursive_doubling_allgather,two_tree"
ALLREDUCE = "recursive_doubling,rabenseifner,ring,reduce_bcast"
WIDE = ["--figure-width", "two"]
COMMANDS = {
    "fastest_bcast.svg": [
        "compare", "bcast", "-n", "4..256", "--bytes", "8..1M", "--algorithms", BCAST, "--layout", "heatmap"
    ],
    "fastest_allreduce.svg": [
        "compare", "allreduce", "-n", "4..256", "--bytes", "8..1M", "--algorithms", ALLREDUCE, "--layout", "heatmap"
    ],
    "allgather.svg": ["compare", "allgather", "-n", "16,256", "--bytes", "8..64k",
                      "--algorithms", "bruck,ring,neighbor_exchange,gather_bcast"],
    "allreduce_speedup.svg": ["compare", "allreduce", "-n", "16,64", "--bytes", "8..1M", "--speedup-over", "ring",
                              "--ratio-panel"],
    "bcast_slides.svg": ["compare", "bcast", "-n", "64", "--bytes", "8..1M", "--algorithms", BCAST],
    "schedule.svg": ["schedule", "show", "allreduce/recursive_doubling", "-n", "8", "--bytes", "4k"],
    "calibration.svg": ["calibrate", "--from", str(EPYC / "pairs.csv"), "--placement", str(EPYC / "cores.csv"),
                        "--ranks-per-node", "128", "--ranks-per-socket", "64", "--ranks-per-cache", "4",
                        "-o", os.devnull],
}  # fmt: skip
"""Figures that commands draw; comparisons use the cost model of this page."""


def figures():
    """Yield the name and the figure of each picture that Python code draws."""
    trees = [traced(bcast, 8, algorithms={"bcast": name}) for name in ("binomial", "chain")]
    titles = ["bcast, 8 KiB: binomial tree", "bcast, 8 KiB: chain"]
    yield "tree_and_chain", run_figure(trees, [], width=7.16, titles=titles)
    rings = [traced(allgather, 8, algorithms={"allgather": name}) for name in ("ring", "bruck")]
    titles = ["allgather, blocks of 1 KiB: ring", "allgather, blocks of 1 KiB: Bruck's algorithm"]
    yield "ring_and_bruck", run_figure(rings, [], width=7.16, titles=titles)
    before, after = traced(lambda comm: halo(comm, True, False), 8), traced(lambda comm: halo(comm, False, True), 8)
    titles = ["before: rank 5 is late", "after: balanced, and computing while messages travel"]
    yield "halo_before_and_after", run_figure([before, after], [], width=7.16, titles=titles)
    yield "waits_before_and_after", wait_states({"before": before, "after": after})
    yield "deadlock", run_figure([deadlock(6)], ["timeline"], width=5.0)
    yield "schedule_tree", schedule_tree(4)


def draw(directory):
    """Write all pictures."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, figure in figures():
        write(figure, directory / f"{name}.svg")
        print(f"{name}.svg")
    for name, words in COMMANDS.items():
        more = ["--cost", MACHINE, "--no-plot"] if words[0] == "compare" else []
        more += ["--figure-style", "slides"] if "slides" in name else WIDE
        if command([*words, *more, "--figure", str(directory / name)]):
            raise SystemExit(f"fakempi {words[0]} failed")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else DIRECTORY)
