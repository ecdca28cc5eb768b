"""4,096 ranks find out who shares their host, by its name alone, and nobody ever holds a list of all of them.

    python demos/10_split_by_host.py              a minute
    python demos/10_split_by_host.py --quick      128 ranks, in a second

Each rank gives the name of its host and gets a place in a chain: its rank, the group's size, and its two neighbours. That
is enough to send messages along it. Moody, Ahn and de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, 2011.
"""

import sys

from rich.table import Table
from screen import asked, console

import collectives
from collectives.chain import Meter
from fakempi import MPI, Hockney, TwoLevel, compute, run
from fakempi.checks.ranks import ranks_in_words
from fakempi.view.numbers import seconds

HOSTS = [f"rack{rack}-node{node:02}" for rack in range(2) for node in range(8)]
WAYS = {
    "gather_scatter": "sorting in one place",
    "bitonic": "sorting, bitonic",
    "hash": "hash",
}


def split(comm, way):
    """The name of this rank's host, its place in the chain of those with the same one, and the most that it held."""
    meter = Meter()
    name = MPI.Get_processor_name()
    algorithm = collectives.find("split", way, kind="split")
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
    ranks = 128 if "--quick" in asked(__doc__, "--quick") else 4096
    hosts = [HOSTS[rank // 4 % len(HOSTS)] for rank in range(ranks)]  # four by four, round and round
    cost = TwoLevel(placement=hosts, intra=Hockney(5e-7, 2.5e-10), inter=Hockney(1.6e-6, 3.2e-10), network_ports=4)
    runs = {}
    for number, way in enumerate(WAYS, 1):
        if sys.stderr.isatty():
            sys.stderr.write(f"splitting {ranks:,} ranks, {number} of {len(WAYS)}: {WAYS[way]}\n")
        runs[way] = run(split, ranks, way, cost=cost, progress=True)  # a line on a terminal, nothing elsewhere
    found = {way: sorted(groups_of(done.returns)) for way, done in runs.items()}
    assert found["bitonic"] == found["hash"] == found["gather_scatter"]

    table = Table(title=f"{ranks:,} ranks by host name: {len(HOSTS)} groups", title_justify="left")
    table.add_column("host")
    table.add_column("size", justify="right")
    table.add_column("ranks", no_wrap=True)
    for name, members in found["hash"]:
        table.add_row(name, str(len(members)), ranks_in_words(members, most=4).removeprefix("ranks "))
    screen.print(table)

    table = Table(title="What it takes, in the model", title_justify="left")
    table.add_column("by")
    for title in ("time", "messages", "bytes each", "held at most"):
        table.add_column(title, justify="right")
    least = min(done.time for done in runs.values())
    for way, done in runs.items():
        held = max(place[4] for place in done.returns)
        time = f"[bold green]{seconds(done.time)}[/]" if done.time == least else seconds(done.time)
        each = f"{done.bytes / done.messages:.0f}"
        table.add_row(WAYS[way], time, f"{done.messages:,}", each, f"{held:,} items")
    screen.print(table)
    screen.print("An item is a name with its rank and address, or an entry of the hash's tables.")
    screen.print("To compare or move one is charged with 50 ns.")


if __name__ == "__main__":
    main()
