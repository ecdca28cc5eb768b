"""The runs of Träff et al. (2008) in the model: their machines, numbers of processes and block sizes, all six distributions.

    python benchmarks/traeff_machines.py              (several minutes on two cores)
    python benchmarks/traeff_machines.py sx8          only machines with this text in their names

The paper's figures are lost, and it gives no start-up times and bandwidths: sizes are our choice, and costs are those of
fakempi.presets, which are estimates. Compare the shape: the blocked ring takes about the same time for all distributions,
the ring takes much longer if one process has most of the data.

Up to 240 processes all runs are emulated, with phantom buffers, two-level costs and no buffering. With 4,096 and 5,784
processes a run has 17 to 80 million rounds of a rank, which takes many minutes, and there are twelve runs per machine. For
these the times are the algorithms' claims: the exact recurrence over all rounds, with the real number of processes and
bytes. The tests compare it with the emulator transfer by transfer. All links of these two machines cost the same as those
between nodes: a ring is as fast as its slowest link, so cheaper links within nodes do not change the shape.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from math import isclose
from multiprocessing import get_context
from os import cpu_count
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from collectives import Case, find
from collectives.distributions import DISTRIBUTIONS
from fakempi import phantom, presets, run

KB, MB, GB = 2**10, 2**20, 2**30
AFFORDABLE = 2_000_000  # largest total number of rounds to emulate


class Machine(NamedTuple):
    """The machine of one figure of the paper."""

    name: str
    preset: str
    nodes: int
    cores: int
    block: int
    totals: tuple[int, int]

    @property
    def p(self):
        return self.nodes * self.cores


MACHINES = [
    Machine("NEC SX-8, 30 x 1", "sx8", 30, 1, MB, (30 * MB, 480 * MB)),
    Machine("NEC SX-8, 30 x 8", "sx8", 30, 8, MB, (30 * MB, 120 * MB)),
    Machine("Linux cluster, 96 = 24 x 4, gigabit", "gigabit", 24, 4, 32 * KB, (3 * MB, 24 * MB)),
    Machine("Linux cluster, 16 x 2, InfiniBand", "infiniband", 16, 2, 32 * KB, (MB, 16 * MB)),
    Machine("Blue Gene/P, 4096", "blue_gene_p", 4096, 1, 64 * KB, (64 * MB, GB)),
    Machine("SiCortex, 5784", "sicortex", 5784, 1, MB, (GB, 16 * GB)),
]


def measure(machine, total, name, algorithm_name):
    """Modeled seconds, and their origin."""
    algorithm, counts = find("allgatherv", algorithm_name), DISTRIBUTIONS[name](total, machine.p)
    parameters = {} if algorithm_name == "ring" else {"block_bytes": machine.block}
    if algorithm_name.startswith("cluster"):
        parameters["nodes"] = machine.cores
    cost = getattr(presets, machine.preset)(machine.cores, eager_limit=0)
    claim = None
    if machine.cores == 1:  # equal links: the claim is exact, and linear costs are fastest on the emulator
        cost = type(cost.inter)(cost.inter.t_s, cost.inter.t_w, eager_limit=0)
        case = Case(machine.p, counts=counts, parameters=parameters)
        claim = algorithm.time(case, cost.t_s, cost.t_w)
        if machine.p**2 > AFFORDABLE:
            return claim, "claim"

    def main(comm):
        algorithm.run(comm, phantom(counts[comm.Get_rank()]), phantom(total), counts, **parameters)

    time = run(main, machine.p, cost=cost).time
    assert claim is None or isclose(time, claim, rel_tol=1e-9)
    return time, "emulator"


def milliseconds(time):
    """Milliseconds with three digits."""
    return f"{time * 1e3:,.0f}" if time >= 1 else f"{time * 1e3:.3g}"


def size(nbytes):
    unit, letters = next((unit, letters) for unit, letters in ((GB, "GB"), (MB, "MB"), (KB, "KB")) if nbytes >= unit)
    return f"{nbytes // unit} {letters}"


def table(machine, found):
    """A table of modeled ms: one row per distribution, columns for ring and blocked ring for two totals."""
    names = ["ring", "blocked_ring"] + ["cluster_blocked_ring"] * (machine.cores > 1)
    title = f"{machine.name}: B = {size(machine.block)}, modeled ms"
    shown = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    shown.add_column("")
    for total in machine.totals:
        for name in names:
            head = {"ring": size(total), "blocked_ring": "", "cluster_blocked_ring": ""}[name]
            shown.add_column(f"{head}\n{name.removesuffix('_blocked_ring').removesuffix('_ring')}", justify="right")
        shown.add_column("\nfactor", justify="right")
    shown.add_column("\norigin")
    for distribution in DISTRIBUTIONS:
        row, origins = [distribution], []
        for total in machine.totals:
            times = [found[machine.name, total, distribution, name] for name in names]
            row += [*(milliseconds(time) for time, _ in times), f"{times[0][0] / times[-1][0]:.1f}"]
            origins.append("/".join(dict.fromkeys(origin for _, origin in times)))
        shown.add_row(*row, ", ".join(dict.fromkeys(origins)))
    last = [found[machine.name, machine.totals[1], each, names[-1]][0] for each in DISTRIBUTIONS]
    spread = f"{size(machine.totals[1])}: the slowest distribution takes {max(last) / min(last):.2f} times the fastest."
    return shown, spread


def main(wanted):
    """Compute machine by machine, the jobs of each in a pool of processes."""
    machines = [machine for machine in MACHINES if wanted in f"{machine.preset} {machine.name}"]
    console = Console(width=80, highlight=False)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    pool = ProcessPoolExecutor(cpu_count(), mp_context=get_context("spawn"))
    with pool, Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for machine in machines:
            names = ("ring", "blocked_ring", *["cluster_blocked_ring"] * (machine.cores > 1))
            jobs = [(machine, *job) for job in product(reversed(machine.totals), DISTRIBUTIONS, names)]
            bar = progress.add_task(machine.name, total=len(jobs))
            running = {pool.submit(measure, *job): job for job in jobs}
            found = {}
            for done in as_completed(running):
                found[(machine.name, *running[done][1:])] = done.result()
                progress.advance(bar)
            progress.remove_task(bar)
            shown, spread = table(machine, found)
            console.print(shown)
            console.print(spread, end="\n\n")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
