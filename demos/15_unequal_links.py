"""Broadcasts on machines that are not alike: trees that know who is slow (Silva & Silva 1999 ask for them).

    python demos/15_unequal_links.py

Sixteen workstations, of which some are old: an old one takes 6 ms to send a message, a new one 1 ms. A binomial tree does
not know that. The speed-partitioned ordered chain is a binomial tree with the new ones first; fastest node first gives the
fastest that has no message yet to whoever would be done first (Banikazemi, Moorthy, Panda 1998).
"""

from rich.padding import Padding
from rich.table import Table
from rich.tree import Tree
from screen import asked, console

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
    """A message takes as long as its sender does, and so long both are busy."""

    eager_limit = 0

    def __init__(self, old):
        self.old = old

    def transfer(self, source, dest, nbytes):
        takes = OLD if source in self.old else NEW
        return takes, takes, takes


def broadcast(name, cost, p=P, trace=False):
    """A call by name; what each rank takes to send, it asks the cost model."""
    return run(lambda comm: comm.Bcast(phantom(1000)), p, cost=cost, algorithms={"bcast": name}, trace=trace)


def tree(done, old, title):
    """Who had it from whom, and when."""
    nodes = {0: Tree(f"[bold]{title}[/]\n{label(0, old)}")}
    for each in done.trace.transfers:
        nodes[each.dest] = nodes[each.source].add(f"{label(each.dest, old)}: {each.arrived * 1e3:.0f}")
    return nodes[0]


def label(rank, old):
    return f"[bright_yellow]{rank} old[/]" if rank in old else f"[blue]{rank}[/]"


def spread(many):
    """So many old ones, here and there."""
    return {rank for rank in range(P) if rank * 7 % P >= P - many}


def main():
    out = console()
    old = spread(10)
    runs = {name: broadcast(name, Workstations(old), trace=True) for name in NAMES}

    out.print("Who sends to whom, and after how many milliseconds it is there:\n")
    side = Table.grid(padding=(0, 2, 0, 0))
    side.add_row(*(tree(done, old, f"{NAMES[name]}, {seconds(done.time)}") for name, done in runs.items()))
    out.print(side)
    out.print()
    out.print("In the binomial tree rank 8 is served first, is old, and sends until the end.")
    out.print("The chain is a binomial tree still, and so 1 and 2 send, though they are old.")
    out.print("Fastest first lets no old one send: new ones are sooner done with one more.\n")
    slow, fast = runs["binomial"], runs["fastest_node_first"]
    titles = tuple(f"{NAMES[name]}, {seconds(runs[name].time)}" for name in ("binomial", "fastest_node_first"))
    out.print(side_by_side(slow.trace, fast.trace, titles=titles, width=80))

    curves = {
        words: [(many, broadcast(name, Workstations(spread(many))).time * 1e3) for many in range(P)]
        for name, words in NAMES.items()
    }
    out.print()
    out.print(plot(curves, width=78, height=14, x_label="old ones of 16", y_label="ms", title="How many are old"))

    alike, nodes = Workstations(set()), TwoLevel(3, intra=Hockney(NEW, 0), inter=Hockney(OLD, 0), eager_limit=0)
    cases = [
        ("16, all new: the same tree", alike, P),
        ("16, 10 of them old", Workstations(old), P),
        ("16, the root alone is old", Workstations({0}), P),
        ("18, all but the root old", Workstations(set(range(1, 18))), 18),
        ("6 nodes of 3, slow between nodes", nodes, 18),
    ]
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("machines")
    for words in NAMES.values():
        table.add_column(words, justify="right")
    for words, cost, p in cases:
        table.add_row(words, *(seconds(broadcast(name, cost, p).time) for name in NAMES))
    out.print(Padding(table, (1, 0)))
    out.print(
        "An old root serves four by the chain, as any root does, and one by fastest first. In the last line a message "
        "between nodes is slow, whoever sends it, so all ranks are alike and neither tree knows better than the other. "
        "One that serves the six nodes first would take 20 ms."
    )


if __name__ == "__main__":
    asked(__doc__)
    main()
