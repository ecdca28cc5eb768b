"""Rounds, memory and radix: circulant, PAT and the generalized algorithms compared with their papers' claims.

    python benchmarks/rounds_and_radix.py            (half a minute)

Rounds   number of rounds / its lower bound, over all p from 2 to 130, from the claims. In Träff's papers, algorithms on
         circulant graphs have the optimal number of rounds for every p
PAT      rounds, and scratch memory in blocks, for different limits on the number of blocks in a message. The paper claims
         a logarithmic number of transfers for small sizes, and a logarithmic number of buffers
Radix    modeled time on 256 ranks of a machine whose latency is larger than its gap between messages (LogGP): time of the
         algorithm with radix 2 / time of the generalized one. Wilkins et al. report up to 4.5, relative to MPI libraries
"""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

import fakempi
from collectives import Case, find
from collectives.tools.numbers import ceil_log2
from fakempi import MPI, LogGP, phantom

ALL_P = range(2, 131)
SEGMENTS = 16
RANKS = 256
SIZES = (8, 1 << 10, 1 << 15)
MACHINE = LogGP(L=5e-6, o=5e-7, g=5e-7, G=1e-10)


def rounds_of(operation: str, name: str, p: int) -> int:
    """Rounds of an algorithm on p ranks, for equal blocks or SEGMENTS segments."""
    case = Case(p, 64 * p, itemsize=8)
    if operation in ("allgatherv", "reduce_scatter"):
        case = Case(p, counts=(8,) * p, itemsize=8)
    elif operation in ("reduce_scatter_block", "allgather"):
        case = Case(p, 64, itemsize=8)
    elif operation in ("bcast", "reduce") and name == "circulant":
        case = Case(p, 64 * SEGMENTS, itemsize=8, parameters={"segment_bytes": 64})
    found = find(operation, name).rounds(case)
    assert found is not None
    return found


def least(operation: str, p: int) -> int:
    """The lower bound on rounds: data must reach all ranks, and each segment after the first needs another round."""
    if operation in ("bcast", "reduce"):
        return SEGMENTS - 1 + ceil_log2(p)
    return 2 * ceil_log2(p) if operation == "allreduce" else ceil_log2(p)


def circulant(console: Console) -> None:
    """Print the rounds of circulant graphs, and of algorithms that need a power of two."""
    table = Table(title="Rounds / lower bound, p = 2 .. 130 (published: 1 for every p)", title_justify="left")
    for column in ("operation", "algorithm", "mean", "largest"):
        table.add_column(column, justify="left" if column in ("operation", "algorithm") else "right")
    for operation, names in (
        ("reduce_scatter_block", ("circulant", "recursive_halving", "bine")),
        ("reduce_scatter", ("circulant", "recursive_halving")),
        ("allreduce", ("circulant", "rabenseifner", "bine")),
        ("allgatherv", ("circulant", "ring")),
        ("reduce", ("circulant",)),
    ):
        for name in names:
            ratios = [rounds_of(operation, name, p) / least(operation, p) for p in ALL_P]
            table.add_row(operation, name, f"{sum(ratios) / len(ratios):.2f}", f"{max(ratios):.2f}")
    console.print(table)


def pat(console: Console) -> None:
    """Print rounds and memory of PAT."""
    table = Table(title="PAT: rounds and scratch memory in blocks", title_justify="left")
    for column in ("operation", "ranks", "log2 p", "aggregation", "rounds", "blocks"):
        table.add_column(column, justify="left" if column == "operation" else "right")
    for operation in ("allgather", "reduce_scatter_block"):
        for p in (16, 100, 1000):
            for aggregation in (1, 8, p):
                algorithm, case = find(operation, "pat"), Case(p, 64, itemsize=8, parameters={"aggregation": aggregation})
                blocks = max(algorithm.scratch(case, rank) for rank in (0, p // 2, p - 1)) / 64
                table.add_row(
                    operation, str(p), str(ceil_log2(p)), str(aggregation), str(algorithm.rounds(case)), f"{blocks:g}"
                )
    console.print(table)


def seconds(operation: str, name: str, nbytes: int, **parameters: Any) -> float:
    """Modeled seconds of one call without data."""
    algorithm = find(operation, name)

    def main(comm: Any) -> None:
        if operation == "bcast":
            algorithm.run(comm, phantom(nbytes), **parameters)
        elif operation == "reduce":
            into = phantom(nbytes) if comm.Get_rank() == 0 else None
            algorithm.run(comm, phantom(nbytes), into, op=MPI.SUM, **parameters)
        else:
            algorithm.run(comm, phantom(nbytes), phantom(nbytes), op=MPI.SUM, **parameters)

    return float(fakempi.run(main, RANKS, cost=MACHINE).time)


def radix(console: Console) -> None:
    """Print the ratios of the generalized algorithms."""
    table = Table(title="Time with radix 2 / time with radix k (published: up to 4.5)", title_justify="left")
    for column in ("operation", "algorithm", "k", *(f"{size:,} B" for size in SIZES)):
        table.add_column(column, justify="left" if column in ("operation", "algorithm") else "right")
    for operation, name, radix_2 in (
        ("bcast", "knomial", "binomial"),
        ("reduce", "knomial", "binomial"),
        ("allreduce", "recursive_multiplying", "recursive_doubling"),
    ):
        base = [seconds(operation, radix_2, nbytes) for nbytes in SIZES]
        for k in (4, 16):
            times = [seconds(operation, name, nbytes, k=k) for nbytes in SIZES]
            ratios = [f"{slow / fast:.2f}" for slow, fast in zip(base, times, strict=True)]
            table.add_row(operation, name, str(k), *ratios)
    console.print(table)


def main() -> None:
    """Print all tables."""
    console = Console(width=120)
    circulant(console)
    pat(console)
    radix(console)


if __name__ == "__main__":
    main()
