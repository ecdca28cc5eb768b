"""Algorithms with close partners: Bine, Swing and Trivance compared with their papers' numbers.

    python benchmarks/close_partners.py            (a minute)

Bine     bytes between groups of ranks, from the schedules: the percentage that Bine saves, compared with another
         algorithm. Groups have 16, 20 or 48 ranks, start at a multiple of their size or not, or have random sizes;
         several roots. The paper reports up to 33 %
Swing    modeled time of an allreduce on tori of 64 nodes with one, two and three dimensions, with contention for links:
         time of the other algorithm / time of Swing; the paper reports up to 3
Trivance modeled time on rings of 81 and 64 nodes with two ports: time of the other algorithm / time of Trivance; the
         paper reports speed-ups of 5 % to 30 % up to 8 MiB
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table

import fakempi
from collectives import Case, find
from fakempi import MPI, Torus, phantom

RANKS = 256
PAIRS = (
    ("bcast", "binomial", 1000),
    ("bcast", "binomial_doubling", 1000),
    ("reduce", "binomial", 1000),
    ("gather", "binomial", 1000),
    ("scatter", "binomial", 1000),
    ("allgather", "sparbit", 1000),
    ("allgather", "recursive_doubling", 1000),
    ("reduce_scatter_block", "pat", 1000),
    ("reduce_scatter_block", "recursive_halving", 1000),
    ("allreduce", "rabenseifner", 256_000),
    ("alltoall", "bruck", 100),
)
"""Operation, the algorithm to compare Bine with, and m in bytes; Sparbit and PAT send long messages to near ranks too."""

SIZES = (32, 2048, 1 << 17, 1 << 21, 1 << 25)
TORI = ((64,), (8, 8), (4, 4, 4))


def equal_groups(size: int, offset: int = 0) -> list[int]:
    """The group of each rank, in rank order; the first group lacks `offset` ranks."""
    return [(rank + offset) // size for rank in range(RANKS)]


def random_groups(seed: int) -> list[int]:
    """Groups of random sizes, as a busy machine allocates them."""
    rng = Random(seed)
    ends = set(accumulate(rng.randint(5, 60) for _ in range(RANKS)))
    return list(accumulate(int(rank in ends) for rank in range(RANKS)))


@cache
def bytes_by_pair(operation: str, name: str, m: int, root: int) -> dict[tuple[int, int], int]:
    """Bytes from each rank to each rank, by the schedule."""
    parameters = {"aggregation": RANKS} if name == "pat" else {}
    plan = find(operation, name).schedule_for(Case(RANKS, m, root=root, parameters=parameters))
    assert plan is not None
    total: Counter[tuple[int, int]] = Counter()
    for transfers in plan:
        for t in transfers:
            total[t.source, t.dest] += t.nbytes
    return total


def between_groups(nbytes_by_pair: dict[tuple[int, int], int], groups: Sequence[int]) -> int:
    """Bytes that go from one group to another."""
    return sum(nbytes for (source, dest), nbytes in nbytes_by_pair.items() if groups[source] != groups[dest])


def traffic(console: Console) -> None:
    """Print the table of Bine."""
    placements = {
        "16,\naligned": [equal_groups(16)],
        "48": [equal_groups(48)],
        "20": [equal_groups(20)],
        "16, not\naligned": [equal_groups(16, offset) for offset in (3, 5, 7)],
        "random": [random_groups(seed) for seed in range(10)],
    }
    table = Table(
        title=f"Bytes between groups that Bine saves, {RANKS} ranks, % (published: up to 33 %)", title_justify="left"
    )
    table.add_column("operation")
    table.add_column("compared with")
    for label in placements:
        table.add_column(label, justify="right")
    table.add_column("best", justify="right")
    for operation, name, m in PAIRS:
        roots = (0, 85, 170) if operation in ("bcast", "reduce", "gather", "scatter") else (0,)
        cells, best = [], -1000.0
        for groupings in placements.values():
            saved = []
            for groups in groupings:
                for root in roots if groupings != placements["16,\naligned"] else (0,):
                    plans = (bytes_by_pair(operation, each, m, root) for each in ("bine", name))
                    bine_bytes, other_bytes = (between_groups(plan, groups) for plan in plans)
                    saved.append(100 * (1 - bine_bytes / other_bytes))
            cells.append(f"{sum(saved) / len(saved):.0f}")
            best = max(best, *saved)
        table.add_row(operation, name, *cells, f"{best:.0f}")
    console.print(table)


def allreduce_seconds(name: str, parameters: dict[str, Any], nbytes: int, cost: Torus) -> float:
    """Modeled seconds of one allreduce, one rank per node."""
    algorithm, p = find("allreduce", name), cost.nodes
    algorithm.check(Case(p, nbytes, parameters=parameters))

    def main(comm: Any) -> None:
        algorithm.run(comm, phantom(nbytes), phantom(nbytes), op=MPI.SUM, **parameters)

    return float(fakempi.run(main, p, cost=cost).time)


def tori(console: Console) -> None:
    """Print the table of Swing."""
    table = Table(title="Allreduce on 64 nodes: time / time of Swing (published: up to 3)", title_justify="left")
    for column in ("torus", "compared with", *map(_bytes, SIZES)):
        table.add_column(column, justify="left" if column in ("torus", "compared with") else "right")
    for shape in TORI:
        cost = Torus(shape, t_s=1e-6, t_hop=1e-7, t_w=2e-11, eager_limit=0)
        swing = [allreduce_seconds("swing", {"dims": shape}, size, cost) for size in SIZES]
        for name in ("recursive_doubling", "rabenseifner", "ring"):
            times = [allreduce_seconds(name, {}, size, cost) for size in SIZES]
            ratios = [f"{time / own:.2f}" for time, own in zip(times, swing, strict=True)]
            table.add_row(" x ".join(map(str, shape)) if name == "recursive_doubling" else "", name, *ratios)
    console.print(table)


def two_ports(console: Console) -> None:
    """Print the table of Trivance."""
    title = "Allreduce on a ring, two ports: time / time of Trivance (published: 1.05 to 1.30 up to 8 MiB)"
    table = Table(title=title, title_justify="left")
    per_rank = (8, 1 << 10, 1 << 14, 1 << 17)
    for column in ("nodes", "compared with", *(f"{_bytes(size)} p" for size in per_rank)):
        table.add_column(column, justify="left" if column in ("nodes", "compared with") else "right")
    for nodes in (81, 64):
        cost = Torus((nodes,), t_s=1e-6, t_hop=1e-7, t_w=2e-11, eager_limit=0, ports=2)
        sizes = [nodes * size for size in per_rank]
        own = [allreduce_seconds("trivance", {"ports": 2}, size, cost) for size in sizes]
        for name in ("swing", "circulant", "recursive_doubling", "rabenseifner", "ring"):
            times = [allreduce_seconds(name, {}, size, cost) for size in sizes]
            ratios = [f"{time / each:.2f}" for time, each in zip(times, own, strict=True)]
            table.add_row(str(nodes) if name == "swing" else "", name, *ratios)
    console.print(table)


def _bytes(size: int) -> str:
    for unit, step in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= step:
            return f"{size / step:.3g} {unit}"
    return f"{size} B"


def main() -> None:
    """Print the three tables."""
    console = Console(width=110, highlight=False)
    traffic(console)
    tori(console)
    two_ports(console)


if __name__ == "__main__":
    main()
