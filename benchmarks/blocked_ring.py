"""Allgatherv over the six distributions of Träff et al. (2008): the ring, the blocked ring, and the lower bound.

    python benchmarks/blocked_ring.py          (a minute)

Modeled times are from runs on the emulator with phantom buffers; each must equal the claim to the nanosecond. The block
sizes in the second table are found by a search over the claims.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

import fakempi
from collectives import Case, find
from collectives.block_sizes import best, smallest, square_root
from collectives.distributions import DISTRIBUTIONS
from fakempi import Hockney, phantom, run

RING, BLOCKED = find("allgatherv", "ring"), find("allgatherv", "blocked_ring")
T_S, T_W = 2000, 1  # nanoseconds: start-up 2 us, 1 GB/s
KB, MB = 2**10, 2**20
console = Console(width=80, highlight=False)


def emulated(algorithm, counts, **parameters):
    """Modeled time of a run in nanoseconds."""

    def main(comm):
        algorithm.run(comm, phantom(counts[comm.Get_rank()]), phantom(sum(counts)), counts, **parameters)

    time = run(main, len(counts), cost=Hockney(T_S, T_W, eager_limit=0)).time
    assert time == algorithm.time(Case(len(counts), counts=counts, parameters=parameters), T_S, T_W)
    return time


def table(title, *columns):
    """A table with right-aligned numbers."""
    made = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(column, justify="left" if column == columns[0] else "right")
    return made


def ms(time):
    return f"{time / 1e6:.2f}"


def six_distributions(p=32, m=32 * MB, block=64 * KB):
    """Both algorithms for all distributions; if one rank has most data, the ring takes p-1 times the bound."""
    shown = table(
        f"p = {p}, m = {m // MB} MB in total, B = {block // KB} KB; modeled ms",
        "distribution", "bound", "ring", "x bound", "blocked", "x bound", "ring/blocked",
    )  # fmt: skip
    for name, distribution in DISTRIBUTIONS.items():
        counts = distribution(m, p)
        least = (m - min(counts)) * T_W
        ring, blocked = emulated(RING, counts), emulated(BLOCKED, counts, block_bytes=block)
        factors = f"{ring / least:.2f}", f"{blocked / least:.3f}", f"{ring / blocked:.2f}"
        shown.add_row(name, ms(least), ms(ring), factors[0], ms(blocked), *factors[1:])
    return shown


def block_sizes(p=32, m=32 * MB):
    """The rules for B. The square root is derived for distributions with empty ranks; other rows show its cost elsewhere.

    min m_i is bad for *spike*: the shares of the other ranks differ by one byte, so half of them need a second block.
    """
    shown = table(
        f"block size: p = {p}, m = {m // MB} MB; KB and modeled ms; min B >= 8 KB",
        "distribution", "best B", "ms", "sqrt B", "ms", "x best", "min B", "ms", "x best",
    )  # fmt: skip
    for name, distribution in DISTRIBUTIONS.items():
        case = Case(p, counts=distribution(m, p))
        size, least = best(BLOCKED, case, float(T_S), float(T_W))
        row = [f"{size / KB:.1f}", ms(least)]
        for rule in (square_root(T_S, T_W), smallest(at_least=8 * KB)):
            time = BLOCKED.time(Case(p, counts=case.counts, parameters={"block_bytes": rule}), T_S, T_W)
            row += [f"{rule(case.counts) / KB:.1f}", ms(time), f"{time / least:.3f}"]
        shown.add_row(name, *row)
    return shown


def rounds(p=32, m=32 * MB, block=64 * KB):
    """The number of rounds: the slide's m/B + (p-z)/2, b - 1, and the modeled number of start-ups one after the other.

    A rank does not receive its own blocks, so the modeled number is b - min b_i.
    """
    shown = table(
        f"rounds of the blocked ring: p = {p}, m = {m // MB} MB, B = {block // KB} KB",
        "distribution", "z", "m/B + (p-z)/2", "m/B + (p+z-2)/2", "b - 1", "modeled",
    )  # fmt: skip
    for name, distribution in DISTRIBUTIONS.items():
        counts = distribution(m, p)
        z, b = counts.count(0), sum(max(1, -(-count // block)) for count in counts)
        modeled = BLOCKED.time(Case(p, counts=counts, parameters={"block_bytes": block}), 1, 0)
        estimates = f"{m / block + (p - z) / 2:.1f}", f"{m / block + (p + z - 2) / 2:.1f}"
        shown.add_row(name, str(z), *estimates, str(b - 1), str(modeled))
    return shown


def many_ranks(p=4096, block=32 * KB):
    """The claims for the picture of demos/09_load_balance.py --ranks 4096: half of the data on rank 0."""
    counts = DISTRIBUTIONS["spike"](p * block * 3 // 2, p)
    ring = RING.time(Case(p, counts=counts), float(T_S), float(T_W))
    blocked = BLOCKED.time(Case(p, counts=counts, parameters={"block_bytes": block}), float(T_S), float(T_W))
    return (
        f"{p:,} ranks, {sum(counts) // MB} MB, half of it from rank 0, B = {block // KB} KB: the ring takes "
        f"{ring / 1e9:.0f} s, the blocked ring {blocked / 1e6:.0f} ms (claims)."
    )


def growth(sizes=(4, 8, 16, 32, 64, 128), block=64 * KB):
    """Time over the lower bound as p grows."""
    shown = table("time / lower bound as p grows, 1 MB per rank", "p", *map(str, sizes))
    for name in ("broadcast", "spike", "linear"):
        for algorithm, parameters in ((RING, {}), (BLOCKED, {"block_bytes": block})):
            factors = []
            for p in sizes:
                counts = DISTRIBUTIONS[name](p * MB, p)
                factors.append(emulated(algorithm, counts, **parameters) / (sum(counts) - min(counts)) / T_W)
            shown.add_row(f"{name}, {algorithm.name.replace('_', ' ')}", *(f"{factor:.2f}" for factor in factors))
    return shown


if __name__ == "__main__":
    console.print(f"t_s = {T_S / 1000:.0f} us, {1 / T_W:.0f} GB/s, fakempi {fakempi.__version__}\n")
    for part in (six_distributions, block_sizes, growth, rounds, many_ranks):
        console.print(part())
        console.print()
