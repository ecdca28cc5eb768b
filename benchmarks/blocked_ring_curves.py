"""Curves of the slides of Träff et al. (2008) in the model: the blocked ring over block sizes, data sizes and processes.

    python benchmarks/blocked_ring_curves.py                  (a minute on two cores)
    python benchmarks/blocked_ring_curves.py --csv FILE       also write the points, in seconds

Titles are those of the slides, which have no numbers; their pictures are lost. Machine parameters are estimates
(fakempi.presets), so compare shapes, not heights. The slides list "effect of block size B" among the experiments, and the
slides of the Linux cluster 16x2 name no fixed B: we assume that they show it. Totals and numbers of processes are our choice
where a slide names none.

"Claimed" points are from the exact recurrence of the algorithm, with all links equal to those between nodes. "Emulated"
points are runs of every message, with phantom buffers and, if a node has several processes, two-level costs. Where both
apply, they must agree.
"""

from __future__ import annotations

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from math import isclose, nan
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from collectives import Case, find
from collectives.block_sizes import smallest, square_root
from collectives.distributions import DISTRIBUTIONS
from fakempi import Hockney, phantom, presets, run
from fakempi.view.numbers import short_binary
from fakempi.view.plot import plot

KB, MB = 2**10, 2**20
CLAIMED, EMULATED = "claimed", "emulated"
SLIDE_NAMES = {"broadcast": "Bcast", "linear": "Decreasing", "geometric": "Geometric curve", "half": "Half"}
BLOCKS = tuple(2**n for n in range(11, 25))  # 2 KB to 16 MB
FIXED = 32 * KB  # on the slides of the Linux cluster with 96 processes
THRESHOLD = 8 * KB  # the slides mention a threshold without a value


class Point(NamedTuple):
    """A point of a curve: one call of one algorithm."""

    machine: str
    nodes: int
    cores: int
    distribution: str
    total: int
    block: int  # 0: the linear ring
    how: str

    @property
    def counts(self):
        return DISTRIBUTIONS[self.distribution](self.total, self.nodes * self.cores)


sx8_1 = partial(Point, "sx8", 30, 1, how=EMULATED)
sx8_8 = partial(Point, "sx8", 30, 8, how=EMULATED)
gigabit = partial(Point, "gigabit", cores=4, how=EMULATED)
infiniband = partial(Point, "infiniband", 16, 2, how=CLAIMED)


def seconds(point):
    """Modeled seconds of a point."""
    cost, counts = getattr(presets, point.machine)(point.cores, eager_limit=0), point.counts
    algorithm = find("allgatherv", "blocked_ring" if point.block else "ring")
    parameters = {"block_bytes": point.block} if point.block else {}
    link = cost.inter
    claim = algorithm.time(Case(len(counts), counts=counts, parameters=parameters), link.t_s, link.t_w)
    if point.how == CLAIMED:
        return claim

    def main(comm):
        algorithm.run(comm, phantom(counts[comm.Get_rank()]), phantom(point.total), counts, **parameters)

    equal_links = point.cores == 1
    time = run(main, len(counts), cost=Hockney(link.t_s, link.t_w, eager_limit=0) if equal_links else cost).time
    assert isclose(time, claim, rel_tol=1e-9) if equal_links else time <= claim * (1 + 1e-9)
    return time


class Requests(dict):
    """Collect the points that plots need, by drawing the plots with dummy values."""

    def __missing__(self, point):
        self[point] = 1.0
        return 1.0


def compute(wanted):
    """Compute all points on all cores, with a progress bar if stderr is a terminal."""
    columns = TextColumn("points"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    screen = Console(stderr=True)
    points = {}
    with ProcessPoolExecutor() as pool:
        waiting = {pool.submit(seconds, point): point for point in sorted(wanted, key=messages, reverse=True)}
        with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
            for done in bar.track(as_completed(waiting), total=len(waiting)):
                points[waiting[done]] = done.result()
    return points


def messages(point):
    return point.nodes * point.cores * (point.total // point.block if point.block else point.nodes * point.cores)


def picture(title, x_label, series):
    """A plot of 80 columns with logarithmic axes."""
    return plot(series, width=78, height=14, x_log=True, y_log=True, title=title, x_label=x_label, y_label="modeled ms")


def apart(pairs):
    """Points without connecting lines."""
    return [each for pair in pairs for each in (pair, (nan, nan))]


def rules(distribution, total):
    """The block sizes by the paper's three rules."""
    point = infiniband(distribution, total, 0)
    link = presets.infiniband().inter
    return {
        "min m_i": smallest(at_least=THRESHOLD)(point.counts),
        "32 KB": FIXED,
        "square root": square_root(link.t_s, link.t_w)(point.counts),
    }


TOTALS = (MB, 4 * MB, 16 * MB)


def over_block_sizes(points):
    """One plot for each distribution, and a table."""
    table = Table(title="Block sizes: KB and modeled ms, claimed", title_justify="left", box=None, pad_edge=False)
    table.padding, heads = (0, 1, 0, 0), ("min m_i", "32 KB", "square root")
    for head in ("data", "total", "best 2^n", "ms", *(each for rule in heads for each in (rule, "ms")), "ring ms"):
        table.add_column(head, justify="left" if head == "data" else "right")
    for name in DISTRIBUTIONS:
        chosen = {total: rules(name, total) for total in TOTALS}
        at = {
            rule: [(chosen[total][rule], points[infiniband(name, total, chosen[total][rule])]) for total in TOTALS]
            for rule in heads
        }
        run_on_nodes = [(block, points[infiniband(name, TOTALS[-1], block, how=EMULATED)]) for block in BLOCKS[2::2]]
        lines = {  # with the largest block it is the linear ring
            total: [(block, points[infiniband(name, total, block)]) for block in BLOCKS if block <= total]
            for total in TOTALS
        }
        series = {f"by {rule}": apart(ms(at[rule])) for rule in heads}
        series["16 x 2, emulated"] = apart(ms(run_on_nodes))
        series |= {f"{short_binary(total)}B": ms(line) for total, line in lines.items()}
        yield picture(f"Linux cluster, 16x2 procs, MPI_Allgatherv ({slide(name)})", "B, bytes", series)
        for place, total in enumerate(TOTALS):
            best = min(lines[total], key=lambda pair: pair[1])
            ruled = [at[rule][place] for rule in heads]
            cells = [cell for block, time in (best, *ruled) for cell in (f"{block / KB:.3g}", digits(time))]
            last = digits(points[infiniband(name, total, 0)])
            table.add_row(name if not place else "", f"{short_binary(total)}B", *cells, last)
    yield table
    yield (
        "Small blocks cause many start-ups, large ones empty the pipeline: the curves are U-shaped, except for regular "
        "data, where the linear ring is best and B = min m_i gives it. The square root lies at the minimum if some ranks "
        "have no data (broadcast, half), for which it is derived; so does the slides' 32 KB at 4 MB. In claims all links "
        "are as slow as those between nodes; emulated points, with two processes per node, lie on or below them. The "
        "slides find the linear model too inaccurate for the square root: real start-ups and bandwidths depend on the "
        "size, which the model ignores."
    )


def ms(pairs):
    return [(x, 1e3 * time) for x, time in pairs]


def digits(time):
    return f"{1e3 * time:#.3g}" if time < 0.1 else f"{1e3 * time:.0f}"


def slide(name):
    return SLIDE_NAMES.get(name, name.capitalize())


def over_sizes(points):
    """Ring, blocked ring with B = 1 MB, and the lower bound."""
    link = presets.sx8().inter
    for call, words, names, totals in (
        (sx8_1, "30x1", DISTRIBUTIONS, [2**n * MB for n in range(10)]),
        (sx8_8, "30x8", ("broadcast", "spike"), [2**n * MB for n in range(4, 9)]),
    ):
        for name in names:
            counts = {total: call(name, total, 0).counts for total in totals}
            series = {
                "linear ring": ms((total, points[call(name, total, 0)]) for total in totals),
                "blocked ring": ms((total, points[call(name, total, MB)]) for total in totals),
                "lower bound": ms((m, (m - min(counts[m])) * link.t_w) for m in totals),
            }
            yield picture(f"SX-8, {words} processes, MPI_Allgatherv ({slide(name)}), B = 1 MByte", "bytes in total", series)
    yield (
        "The linear ring takes p-1 times the bound for Bcast, half of that for Spike and Geometric, twice the bound for "
        "Half and Decreasing, and meets it for Regular. The blocked ring equals the ring while every rank has at most one "
        "block, and approaches the bound with more blocks."
    )


def all_distributions(points):
    """All distributions; the paper claims comparable running times."""
    totals = [2**n * MB for n in range(6)]
    series = {
        slide(name): ms((total, points[gigabit(24, distribution=name, total=total, block=FIXED)]) for total in totals)
        for name in DISTRIBUTIONS
    }
    yield picture("Linux cluster, 96 processes, blocked ring, B = 32KByte", "bytes in total", series)
    last = [line[-1][1] for line in series.values()]
    spread = f"At {short_binary(totals[-1])}B the slowest distribution takes {max(last) / min(last):.2f} times the fastest."
    yield f"{spread} The paper: comparable running times."


def over_processes(points):
    """Four processes per node, constant total size."""
    total, nodes = 4 * MB, (1, 2, 4, 8, 16, 24)
    series = {
        f"{slide(name)}, {'blocked' if block else 'linear'} ring": ms(
            (4 * n, points[gigabit(n, distribution=name, total=total, block=block)]) for n in nodes
        )
        for name in ("broadcast", "spike")
        for block in (0, FIXED)
    }
    title = f"Linux cluster, varying number of processes, B = 32KByte, {short_binary(total)}B in total"
    yield picture(title, "processes, 4 per node", series)
    yield "The time of the linear ring is proportional to the processes; that of the blocked ring grows by a block for each."


PARTS = (over_block_sizes, over_sizes, all_distributions, over_processes)


def write(path, points):
    """Write one line per point."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["machine", "nodes", "cores", "distribution", "total_bytes", "block_bytes", "how", "seconds"])
        rows.writerows([*point, time] for point, time in sorted(points.items()))


def main():
    """Collect all points, compute them, and draw."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--csv", type=Path, metavar="FILE")
    options = reader.parse_args()
    requests = Requests()
    for part in PARTS:
        list(part(requests))
    points = compute(requests)
    if options.csv:
        write(options.csv, points)
    console = Console(width=80, highlight=False)
    for part in PARTS:
        for shown in part(points):
            console.print(shown)
            console.print()


if __name__ == "__main__":
    main()
