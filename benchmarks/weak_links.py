"""Allgather between two groups that few or unequal links join: root gathering, as MPICH does it, against full duplex.

    python benchmarks/weak_links.py            (a minute)

Kang et al. (2019) count what passes the ports of processes, where full duplex is up to 7 times faster, and measured up to
23.67 times at 256 nodes, for Allgatherv, whose root gathers by a ring in MPICH. Their groups had a whole network between
them. Here the groups are 64 + 64 processes with k bridges (`fakempi.TwoGroups`): all bytes have to cross once, whatever the
algorithm, and root gathering crosses by one process of each group, so by one bridge.

bridges    as many each way; "as fast" as a process's own link, or slower; or one in two slower
crossing   the time that the bridges need for all bytes if they share them evenly: no algorithm is faster
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
    "1 in 2 is 8 times slower": [(T_W, 8 * T_W) * (k // 2) for k in (2, 8, 64)],
}


def seconds(name: str, options: dict[str, Any], bridges: tuple[float, ...]) -> float:
    """Of one Allgatherv of equal blocks."""
    algorithm = find("allgatherv", name, kind="inter")

    def main(comm: Any) -> None:
        first = comm.rank < P
        local = comm.Split(int(first), comm.rank)
        inter = local.Create_intercomm(0, comm, P if first else 0)
        more = {"first": first} if name.startswith("root") else options
        algorithm.run(inter, local, phantom(BLOCK), phantom(P * BLOCK), (BLOCK,) * P, **more)

    cost = TwoGroups(P, bridges, t_s=T_S, t_w=T_W, eager_limit=0)
    return float(fakempi.run(main, 2 * P, cost=cost).time)


def main() -> None:
    """Print the table."""
    console = Console(width=100, highlight=False)
    table = Table(title=f"Allgatherv, {P} + {P} processes with {BLOCK >> 10} KiB each: modelled ms", title_justify="left")
    for column in ("bridges", "how many", "crossing", *ALGORITHMS, "root /\nduplex"):
        table.add_column(column, justify="left" if column == "bridges" else "right")
    for words, choices in SETTINGS.items():
        for bridges in choices:
            crossing = P * BLOCK / sum(1 / t_w for t_w in bridges)
            times = [seconds(name, options, bridges) for name, options in ALGORITHMS.values()]
            shown = [f"{time * 1e3:.2f}" for time in (crossing, *times)]
            table.add_row(words if bridges == choices[0] else "", str(len(bridges)), *shown, f"{times[0] / times[-1]:.2f}")
    console.print(table)
    console.print(
        "\nOne bridge is the bottleneck of both: what is left of full duplex's advantage is what root gathering does before "
        "and after. Many slow ones hurt root gathering alone, which has one of them: there the ratio passes the limit of 7, "
        "and the 23.67 that Kang et al. measured needs bridges more than 10 times as slow as a process's own links. With "
        "unequal ones full duplex gives each as much to carry, and waits for the slow ones; the roots here have a fast one."
    )


if __name__ == "__main__":
    main()
