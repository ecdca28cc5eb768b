"""Allgather between two groups with few or unequal links: root gathering, as in MPICH, compared with full duplex.

    python benchmarks/weak_links.py            (a minute)

Kang et al. (2019) model the ports of processes, where full duplex is up to 7 times faster, and measured up to 23.67 times at
256 nodes, for Allgatherv, whose root gathers by a ring in MPICH. Their groups had a whole network between them. Here the
groups are 64 + 64 processes with k links between them (`fakempi.TwoGroups`): all bytes have to cross once in any
algorithm, and root gathering crosses through one process of each group, so over one link.

links      the number in each direction; as fast as the port of a process, or slower; or every second one slower
crossing   the time that the links need for all bytes if they share them evenly: no algorithm is faster
"""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

import fakempi
from collectives import find
from fakempi import TwoGroups, phantom

P, BLOCK, T_S, T_W = 64, 2**18, 1.3e-6, 1.25e-10
ALGORITHMS = {
    "root\ngathering": ("root_gathering_mpich", {}),
    "root, by\na ring": ("root_gathering_ring", {}),
    "full\nduplex": ("full_duplex", {"allgatherv": find("allgatherv", "ring")}),
}
SETTINGS = {
    "as fast": [(T_W,) * k for k in (1, 2, 4, 8, 16, 64)],
    "4 times slower": [(4 * T_W,) * k for k in (1, 4, 16, 64)],
    "10 times slower": [(10 * T_W,) * k for k in (1, 64)],
    "every second 8 times slower": [(T_W, 8 * T_W) * (k // 2) for k in (2, 8, 64)],
}


def seconds(name: str, options: dict[str, Any], links: tuple[float, ...]) -> float:
    """Modeled seconds of one Allgatherv of equal blocks."""
    algorithm = find("allgatherv", name, kind="inter")

    def main(comm: Any) -> None:
        first = comm.rank < P
        local = comm.Split(int(first), comm.rank)
        inter = local.Create_intercomm(0, comm, P if first else 0)
        more = {"first": first} if name.startswith("root") else options
        algorithm.run(inter, local, phantom(BLOCK), phantom(P * BLOCK), (BLOCK,) * P, **more)

    cost = TwoGroups(P, links, t_s=T_S, t_w=T_W, eager_limit=0)
    return float(fakempi.run(main, 2 * P, cost=cost).time)


def main() -> None:
    """Print the table."""
    console = Console(width=100, highlight=False)
    table = Table(title=f"Allgatherv, {P} + {P} processes with {BLOCK >> 10} KiB each: modeled ms", title_justify="left")
    for column in ("links", "number", "crossing", *ALGORITHMS, "root /\nduplex"):
        table.add_column(column, justify="left" if column == "links" else "right")
    for words, choices in SETTINGS.items():
        for links in choices:
            crossing = P * BLOCK / sum(1 / t_w for t_w in links)
            times = [seconds(name, options, links) for name, options in ALGORITHMS.values()]
            shown = [f"{time * 1e3:.2f}" for time in (crossing, *times)]
            table.add_row(words if links == choices[0] else "", str(len(links)), *shown, f"{times[0] / times[-1]:.2f}")
    console.print(table)
    console.print(
        "\nOne link is the bottleneck of both algorithms: full duplex only saves what root gathering does before and "
        "after the crossing. Many slow links slow down only root gathering, which uses one of them: the ratio exceeds "
        "the limit of 7. The 23.67 that Kang et al. measured need links more than 10 times slower than the ports of "
        "processes. With unequal links full duplex gives all of them the same amount and waits for the slow ones; the "
        "roots here have a fast one."
    )


if __name__ == "__main__":
    main()
