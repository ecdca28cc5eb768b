"""Split ranks by host name, without any rank ever holding a list of all ranks.

    python demos/23_split_by_host.py              128 ranks
    python demos/23_split_by_host.py --large      4,096 ranks, in a minute

Each rank passes the name of its host and gets a place in a chain: its rank, the size of the group, and its two neighbors,
which is enough to send messages along the chain. See Moody, Ahn and de Supinski, Exascale Algorithms for Generalized
MPI_Comm_split, 2011.
"""

import sys

from rich.table import Table
from screen import arguments, console

import collectives
from collectives.chain import ItemMeter
from fakempi import MPI, Hockney, TwoLevel, compute, run
from fakempi.core.reports.ranks import ranks_text
from fakempi.view.numbers import seconds

HOSTS = [f"rack{rack}-node{node:02}" for rack in range(2) for node in range(8)]
ALGORITHMS = {
    "gather_scatter": "sort on one rank",
    "bitonic": "bitonic sort",
    "hash": "hash tables",
}


def split(comm, algorithm_name):
    """Split by host name; return the name, the place in the chain, and the largest number of items held."""
    meter = ItemMeter()
    name = MPI.Get_processor_name()
    algorithm = collectives.find("split", algorithm_name, kind="split")
    chain = algorithm.run(comm, name, meter=meter, work=lambda items: compute(items * 50e-9))
    return name, chain.rank, chain.size, chain.right, meter.peak


def groups_of(places):
    """Follow each chain from its first rank to its last."""
    for first, (name, rank, size, right, _) in enumerate(places):
        if rank == 0:
            members = [first]
            while right >= 0:
                members.append(right)
                right = places[right][3]
            assert len(members) == size
            yield name, members


def main():
    screen = console()
    ranks = 4096 if "--large" in arguments(__doc__, "--large") else 128
    hosts = [HOSTS[rank // 4 % len(HOSTS)] for rank in range(ranks)]  # four ranks per host, cyclically
    cost = TwoLevel(placement=hosts, intra=Hockney(5e-7, 2.5e-10), inter=Hockney(1.6e-6, 3.2e-10), network_ports=4)
    runs = {}
    for number, algorithm in enumerate(ALGORITHMS, 1):
        if sys.stderr.isatty():
            sys.stderr.write(f"splitting {ranks:,} ranks, {number} of {len(ALGORITHMS)}: {ALGORITHMS[algorithm]}\n")
        runs[algorithm] = run(split, ranks, algorithm, cost=cost, progress=True)  # shown on a terminal only
    groups = {algorithm: sorted(groups_of(result.returns)) for algorithm, result in runs.items()}
    assert groups["bitonic"] == groups["hash"] == groups["gather_scatter"]

    table = Table(title=f"{ranks:,} ranks by host name: {len(HOSTS)} groups", title_justify="left")
    table.add_column("host")
    table.add_column("size", justify="right")
    table.add_column("ranks", no_wrap=True)
    for name, members in groups["hash"]:
        table.add_row(name, str(len(members)), ranks_text(members, maximum=4).removeprefix("ranks "))
    screen.print(table)

    table = Table(title="Modeled cost", title_justify="left")
    table.add_column("algorithm")
    for title in ("time", "messages", "bytes each", "items held"):
        table.add_column(title, justify="right")
    shortest = min(result.time for result in runs.values())
    for algorithm, result in runs.items():
        held = max(place[4] for place in result.returns)
        time = f"[bold green]{seconds(result.time)}[/]" if result.time == shortest else seconds(result.time)
        bytes_each = f"{result.bytes / result.messages:.0f}"
        table.add_row(ALGORITHMS[algorithm], time, f"{result.messages:,}", bytes_each, f"{held:,}")
    screen.print(table)
    screen.print("An item is a name with its rank and address, or an entry of a hash table.")
    screen.print("Comparing or moving an item takes 50 ns.")


if __name__ == "__main__":
    main()
