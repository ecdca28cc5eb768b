"""Draw the figures of docs/gallery.md: python benchmarks/gallery.py [DIRECTORY]. Needs matplotlib.

Maps of the fastest algorithms, a comparison, timelines of trees and rings on 8 ranks, wait states before and after a fix,
and the calibration of a cluster, which docs/machines.md shows, too.
"""

import os
import sys
from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

import fakempi
from fakempi.apps.cli import main as command
from fakempi.compare import contenders, sweep
from fakempi.view.figure.canvas import COLORS, styled, write
from fakempi.view.figure.run import run_figure
from fakempi.view.numbers import bytes_in_words

EPYC = Path(__file__).parent / "data" / "orfeo_epyc"
DIRECTORY = Path(__file__).parents[1] / "docs" / "assets" / "gallery"
RANKS = [4, 8, 16, 32, 64, 128, 256]
SIZES = [2**exponent for exponent in range(3, 21)]
MACHINE = "hockney:t_s=2e-6,t_w=1e-9,eager_limit=0"


def fastest(operation, names):
    """Draw the fastest of some algorithms for each number of ranks and size."""
    made = sweep(
        operation, RANKS, SIZES, cost=MACHINE, among=contenders(operation, requested=[(name, {}) for name in names])
    )
    best = {(column.p, column.nbytes): column.best[0] for column in made.columns}
    names = [name for name in names if name in best.values()]
    cells = np.array([[names.index(best[p, nbytes]) for nbytes in SIZES] for p in RANKS])
    with styled():
        figure = Figure(figsize=(7.16, 2.6), layout="constrained")
        axes = figure.subplots()
        colors = COLORS[: len(names)]
        ink = ["white" if np.dot(to_rgb(color), (0.299, 0.587, 0.114)) < 0.5 else "black" for color in colors]
        axes.pcolormesh(
            cells, cmap=ListedColormap(colors), vmin=-0.5, vmax=len(names) - 0.5, edgecolors="white", linewidth=0.4
        )
        for row, line in enumerate(cells):
            for column, index in enumerate(line):
                axes.text(column + 0.5, row + 0.5, "ABCDEFG"[index], ha="center", va="center", color=ink[index], fontsize=6)
        axes.set_xticks(np.arange(0, len(SIZES), 2) + 0.5, [bytes_in_words(size) for size in SIZES[::2]], rotation=30)
        axes.set_yticks(np.arange(len(RANKS)) + 0.5, [f"{p:,}" for p in RANKS])
        axes.set_xlabel("size of the message" if operation in ("bcast", "allreduce") else "size of a block")
        axes.set_ylabel("number of ranks")
        axes.set_title(f"{operation}: the fastest algorithm, {MACHINE}", loc="left")
        labels = [Patch(color=color, label=f"{'ABCDEFG'[i]} {names[i]}") for i, color in enumerate(colors)]
        figure.legend(handles=labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


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


BCAST = ["binomial", "chain", "scatter_ring_allgather", "scatter_recursive_doubling_allgather", "two_tree"]
ALLREDUCE = ["recursive_doubling", "rabenseifner", "ring", "reduce_bcast"]


def figures():
    """Yield the name and the figure of each picture."""
    yield "fastest_bcast", fastest("bcast", BCAST)
    yield "fastest_allreduce", fastest("allreduce", ALLREDUCE)
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


def draw(directory):
    """Write all pictures."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, figure in figures():
        write(figure, directory / f"{name}.svg")
        print(f"{name}.svg")
    words = ["compare", "allgather", "-n", "16,256", "--bytes", "8..64k", "--cost", MACHINE, "--no-plot"]
    names = ["--algorithms", "bruck,ring,neighbor_exchange,gather_bcast", "--figure-width", "two"]
    if command([*words, *names, "--figure", str(directory / "allgather.svg")]):
        raise SystemExit("fakempi compare failed")
    words = ["calibrate", "--from", str(EPYC / "pairs.csv"), "--placement", str(EPYC / "cores.csv"), "--figure-width", "two"]
    if command([*words, "-o", os.devnull, "--figure", str(directory / "calibration.svg")]):
        raise SystemExit("fakempi calibrate failed")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else DIRECTORY)
