"""Compare broadcasts on machines of different speed: trees that depend on the speed, as Silva & Silva (1999) propose.

    python demos/22_unequal_links.py

Some of sixteen workstations are old: an old one takes 6 ms to send a message, a new one 1 ms. A binomial tree ignores
that. The speed-partitioned ordered chain is a binomial tree with the new ones first. Fastest node first always lets the
rank that would finish first send to the fastest rank without the message (Banikazemi, Moorthy, Panda 1998).
"""

from rich.padding import Padding
from rich.table import Table
from rich.tree import Tree
from screen import arguments, console

from fakempi import CostModel, Hockney, TwoLevel, phantom, run
from fakempi.view.numbers import seconds
from fakempi.view.plot import plot
from fakempi.view.timeline import side_by_side

P, NEW, OLD = 16, 1e-3, 6e-3
NAMES = {
    "binomial": "binomial tree",
    "speed_partitioned_ordered_chain": "chain by speed",
    "fastest_node_first": "fastest first",
}


class Workstations(CostModel):
    """The sender determines the time of a message; both processes are busy for that time."""

    eager_limit = 0

    def __init__(self, old):
        self.old = old

    def transfer(self, source, dest, nbytes):
        duration = OLD if source in self.old else NEW
        return duration, duration, duration


def broadcast(name, cost, p=P, trace=False):
    """Run a broadcast by this algorithm, which takes the speed of each rank from the cost model."""
    return run(lambda comm: comm.Bcast(phantom(1000)), p, cost=cost, algorithms={"bcast": name}, trace=trace)


def tree(result, old, title):
    """The tree of senders and receivers, with arrival times."""
    nodes = {0: Tree(f"[bold]{title}[/]\n{label(0, old)}")}
    for transfer in result.trace.transfers:
        nodes[transfer.dest] = nodes[transfer.source].add(f"{label(transfer.dest, old)}: {transfer.arrived * 1e3:.0f}")
    return nodes[0]


def label(rank, old):
    return f"[bright_yellow]{rank} old[/]" if rank in old else f"[blue]{rank}[/]"


def spread(count):
    """A set of `count` old ranks, spread over all ranks."""
    return {rank for rank in range(P) if rank * 7 % P >= P - count}


def main():
    out = console()
    old = spread(10)
    runs = {name: broadcast(name, Workstations(old), trace=True) for name in NAMES}

    out.print("Senders and receivers, with arrival times in milliseconds:\n")
    trees = Table.grid(padding=(0, 2, 0, 0))
    trees.add_row(*(tree(result, old, f"{NAMES[name]}, {seconds(result.time)}") for name, result in runs.items()))
    out.print(trees)
    out.print()
    out.print("In the binomial tree rank 8 receives first, is old, and sends until the end.")
    out.print("The chain is still a binomial tree, so ranks 1 and 2 send although they are old.")
    out.print("Fastest first lets no old rank send: a new one finishes another send earlier.\n")
    slow, fast = runs["binomial"], runs["fastest_node_first"]
    titles = tuple(f"{NAMES[name]}, {seconds(runs[name].time)}" for name in ("binomial", "fastest_node_first"))
    out.print(side_by_side(slow.trace, fast.trace, titles=titles, width=80))

    curves = {
        title: [(count, broadcast(name, Workstations(spread(count))).time * 1e3) for count in range(P)]
        for name, title in NAMES.items()
    }
    out.print()
    out.print(plot(curves, width=78, height=14, x_label="old ranks of 16", y_label="ms", title="Number of old ranks"))

    equal, nodes = Workstations(set()), TwoLevel(3, intra=Hockney(NEW, 0), inter=Hockney(OLD, 0), eager_limit=0)
    cases = [
        ("16, all new: the same tree", equal, P),
        ("16, 10 of them old", Workstations(old), P),
        ("16, only the root is old", Workstations({0}), P),
        ("18, all except the root old", Workstations(set(range(1, 18))), 18),
        ("6 nodes of 3, slow between nodes", nodes, 18),
    ]
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("machines")
    for title in NAMES.values():
        table.add_column(title, justify="right")
    for description, cost, p in cases:
        table.add_row(description, *(seconds(broadcast(name, cost, p).time) for name in NAMES))
    out.print(Padding(table, (1, 0)))
    out.print(
        "An old root sends to four ranks in the chain, as any root does, and to one in fastest first. In the last line "
        "messages between nodes are slow for every sender, so all ranks have the same speed for both algorithms. "
        "A tree that serves the six nodes first would take 20 ms."
    )


if __name__ == "__main__":
    arguments(__doc__)
    main()
