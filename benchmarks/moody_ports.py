"""Bitonic and GatherScatter (Moody et al. 2011, Fig. 3) with one and with six network ports per node, and on Sierra.

    python benchmarks/moody_ports.py            up to 2,048 ranks, a minute
    python benchmarks/moody_ports.py 256        up to 256 ranks, seconds

Data and local work are those of moody_cases.py. "One port" is occupied during the start-up of each message as well.
"""

from __future__ import annotations

import sys

from moody_cases import MACHINES, Case, program_of
from rich.console import Console
from rich.table import Table

import fakempi
from fakempi import presets

ROWS = (
    ("dawn, six ports", "dawn", 256),
    ("dawn, six ports", "dawn", 512),
    ("dawn, one port", "dawn", 256),
    ("dawn, one port", "dawn", 1024),
    ("sierra", "sierra", 256),
    ("sierra", "sierra", 1024),
    ("sierra", "sierra", 2048),
)


def microseconds(row, algorithm):
    """Modeled time of reordering by keys 0 .. N-1."""
    name, machine, ranks = row
    cost = presets.dawn(network_ports=1, network_gap=None) if "one port" in name else MACHINES[machine][0]()
    return 1e6 * fakempi.run(program_of(Case(3, machine, algorithm, ranks), False), ranks, cost=cost).time


def table(rows):
    """Both algorithms, and their ratio."""
    shown = Table(box=None, pad_edge=False)
    for name in ("modeled us", "ranks", "Bitonic", "GatherScatter", "GatherScatter / Bitonic"):
        shown.add_column(name, justify="left" if name == "modeled us" else "right")
    for row in rows:
        bitonic, tree = (microseconds(row, name) for name in ("bitonic", "gather_scatter"))
        shown.add_row(row[0], f"{row[2]:,}", f"{bitonic:,.0f}", f"{tree:,.0f}", f"{tree / bitonic:.2f}")
    return shown


if __name__ == "__main__":
    most = int(sys.argv[1]) if sys.argv[1:] else 2048
    Console(width=80, highlight=False).print(table([row for row in ROWS if row[2] <= most]))
