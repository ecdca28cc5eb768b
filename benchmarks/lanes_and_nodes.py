"""Node-aware algorithms: multi_lane and locality_bruck compared with their papers' claims, and two_level.

    python benchmarks/lanes_and_nodes.py            (half a minute)

Time       modeled time on 9 nodes of 8 ranks, with one and with two network ports per node: time of another algorithm / time
           of the node-aware algorithm. "library" is the table of MPICH, "flat" the best of some algorithms that do not know
           the nodes, and the parts of node-aware algorithms are chosen by the default table. The paper on lanes publishes
           "in many cases considerably more than a factor of two" over the libraries on nodes with two lanes
Locality   messages and blocks that a rank sends to other nodes, from the schedules: no clock is involved. Bruck's algorithm
           compared with locality_bruck, which minimizes both, as its paper says
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

import fakempi
from collectives import Case, find
from fakempi import MPI, Hockney, TwoLevel, phantom

NODES, PER_NODE = 9, 8
RANKS = NODES * PER_NODE
FLAT: Mapping[str, Sequence[str]] = {
    "bcast": ("binomial", "scatter_ring_allgather", "circulant"),
    "allgather": ("bruck", "ring"),
    "allreduce": ("recursive_doubling", "rabenseifner", "ring"),
    "alltoall": ("bruck", "pairwise"),
    "reduce": ("binomial", "rabenseifner"),
    "gather": ("binomial",),
    "scatter": ("binomial",),
    "barrier": ("dissemination",),
}
"""Algorithms that do not know the nodes."""

SIZES = (64, 1 << 12, 1 << 16, 1 << 20)
BLOCKS = (8, 512, 1 << 13, 1 << 16)
"""Bytes of a message; bytes of a block where every rank has one."""


def machine(network_ports: int) -> TwoLevel:
    """Nodes whose network port is as fast as a process, with a start-up time of four times that within a node."""
    intra, inter = Hockney(t_s=5e-7, t_w=1e-10), Hockney(t_s=2e-6, t_w=2e-10)
    return TwoLevel(PER_NODE, intra=intra, inter=inter, network_ports=network_ports, eager_limit=0)


def call(comm: Any, operation: str, nbytes: int) -> None:
    """Make one call of an operation, without data."""
    one, every = phantom(nbytes), phantom(nbytes * RANKS)
    is_root = comm.Get_rank() == 0
    match operation:
        case "bcast":
            comm.Bcast(one)
        case "reduce" | "allreduce":
            getattr(comm, operation.capitalize())(one, phantom(nbytes), op=MPI.SUM)
        case "gather":
            comm.Gather(one, every if is_root else None)
        case "scatter":
            comm.Scatter(every if is_root else None, one)
        case "allgather":
            comm.Allgather(one, every)
        case "alltoall":
            comm.Alltoall(every, phantom(nbytes * RANKS))
        case "barrier":
            comm.Barrier()


def seconds(operation: str, nbytes: int, cost: TwoLevel, algorithms: Any) -> float:
    """Modeled seconds of one call."""
    return float(fakempi.run(lambda comm: call(comm, operation, nbytes), RANKS, cost=cost, algorithms=algorithms).time)


def sizes_of(operation: str) -> Sequence[int]:
    """Sizes for an operation."""
    return (0,) if operation == "barrier" else SIZES if operation in ("bcast", "allreduce", "reduce") else BLOCKS


def compared(console: Console, name: str, operations: Sequence[str], ports: Sequence[int]) -> None:
    """Print the times of the library's and of the best flat algorithm over the time of a node-aware algorithm."""
    table = Table(title=f"Time / time of {name}, {NODES} nodes of {PER_NODE} ranks", title_justify="left")
    for column in ("operation", "network ports", "compared with", *("short", "", "", "long")):
        table.add_column(column, justify="left" if column in ("operation", "compared with") else "right")
    for operation in operations:
        for count in ports:
            cost = machine(count)
            rows: dict[str, list[str]] = {"bytes": [], "library": [], "flat": []}
            for nbytes in sizes_of(operation):
                own = seconds(operation, nbytes, cost, {operation: name})
                flat = min(seconds(operation, nbytes, cost, {operation: each}) for each in FLAT[operation])
                rows["bytes"].append(f"{nbytes:,} B")
                rows["library"].append(f"{seconds(operation, nbytes, cost, 'mpich') / own:.2f}")
                rows["flat"].append(f"{flat / own:.2f}")
            for label, cells in rows.items():
                head = (operation, str(count)) if label == "bytes" else ("", "")
                table.add_row(*head, "" if label == "bytes" else label, *cells)
    console.print(table)


def to_other_nodes(name: str, ranks: int, per_node: int, m: int) -> tuple[int, int]:
    """The largest number of messages, and of bytes, that a rank sends to other nodes in an allgather."""
    algorithm = find("allgather", name)
    parameters = {"nodes": per_node} if "nodes" in algorithm.parameters else {}
    messages: Counter[int] = Counter()
    nbytes: Counter[int] = Counter()
    for transfers in algorithm.schedule_for(Case(ranks, m, parameters=parameters)) or ():
        for t in transfers:
            if t.source // per_node != t.dest // per_node:
                messages[t.source] += 1
                nbytes[t.source] += t.nbytes
    return max(messages.values(), default=0), max(nbytes.values(), default=0)


def locality(console: Console) -> None:
    """Print messages and bytes between nodes of Bruck's algorithm and of locality_bruck."""
    title = "Allgather: messages, and blocks, that a rank sends to other nodes (published: fewer and smaller)"
    table = Table(title=title, title_justify="left")
    for column in ("nodes x ranks", "bruck", "locality_bruck", "bruck, blocks", "locality_bruck, blocks"):
        table.add_column(column, justify="right")
    for nodes, per_node in ((4, 4), (16, 4), (64, 4), (16, 16), (64, 16), (50, 12), (256, 16)):
        bruck = to_other_nodes("bruck", nodes * per_node, per_node, 1)
        local = to_other_nodes("locality_bruck", nodes * per_node, per_node, 1)
        table.add_row(f"{nodes} x {per_node}", *(f"{each:,}" for pair in zip(bruck, local, strict=True) for each in pair))
    console.print(table)


def main() -> None:
    """Print the tables."""
    console = Console(width=110, highlight=False)
    compared(console, "multi_lane", ("bcast", "allgather", "allreduce", "alltoall"), (1, 2))
    locality(console)
    compared(console, "locality_bruck", ("allgather",), (1,))
    compared(console, "two_level", tuple(each for each in FLAT if each != "alltoall"), (1,))


if __name__ == "__main__":
    main()
