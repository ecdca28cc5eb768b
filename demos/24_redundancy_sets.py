"""Find the ranks that share a node, a switch or a power supply, and form redundancy sets that survive one failure.

    python demos/24_redundancy_sets.py              the last table with 64 ranks
    python demos/24_redundancy_sets.py --large      the last table with 1,024 ranks, in a minute

Each rank knows only the names of the units that it runs on. Libraries that keep checkpoints in memory form redundancy sets,
whose members restore each other's data: by copies at the right neighbor, or by a parity over the set. Moody, Ahn and de
Supinski, Exascale Algorithms for Generalized MPI_Comm_split, 2011, describe the groups that such libraries need.
"""

from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from rich.tree import Tree
from screen import arguments, console

import collectives
from collectives.chain.collect import addresses
from collectives.chain.derived_chains import Ring
from collectives.levels import Levels, redundancy_set
from fakempi import Hockney, RankError, TwoLevel, run
from fakempi.core.reports.ranks import ranks_text
from fakempi.view.numbers import seconds

LEVELS = "supply", "switch", "node"
CORES = (4, 4, 4, 4), (4, 4, 4, 2), (4, 4, 2, 2), (4, 2, 2, 2)  # four nodes per supply, two per switch
SIZE = 3
COLORS = "white on blue", "black on green", "black on yellow", "white on magenta", "black on cyan"


def small_machine():
    """The units of 52 ranks, which are assigned to nodes cyclically, as long as a node has free cores."""
    free = {(f"psu{i // 4}", f"switch{i // 2}", f"node{i:02}"): cores for i, cores in enumerate(sum(CORES, ()))}
    return [unit for turn in range(4) for unit, cores in free.items() if turn < cores]


def large_machine(ranks):
    """The units of this number of ranks: 4 ranks per node, 2 nodes per switch, 4 supplies."""
    nodes = ranks // 4
    each = [(f"psu{node * 4 // nodes}", f"switch{node // 2:03}", f"node{node:03}") for node in range(nodes)]
    return [each[rank % nodes] for rank in range(ranks)]


# -- the groups of all levels, and a tree of them ------------------------------------------------------------------------


def groups(comm, units):
    """For each level: the place of this rank in its unit, the size of the unit, and the right neighbor."""
    levels = Levels.of(comm, *units[comm.rank])
    return [(chain.rank, chain.size, chain.right) for chain in levels.units]


def followed(places, first):
    """Ranks of a chain from first to last; `places` has (rank, size, right neighbor) of every rank."""
    members, (_, size, right) = [first], places[first]
    while right >= 0:
        members.append(right)
        right = places[right][2]
    assert len(members) == size
    return members


def tree_of(units, places_of):
    """The tree of units; a unit is drawn at its first rank."""
    root = Tree(f"{len(units)} ranks", guide_style="dim")
    drawn = {(): root}
    for rank in sorted(range(len(units)), key=lambda rank: units[rank]):
        for depth, level in enumerate(LEVELS):
            path = units[rank][: depth + 1]
            if places_of[rank][depth][0] == 0:
                members = followed([places[depth] for places in places_of], rank)
                assert set(members) == {other for other in range(len(units)) if units[other][: depth + 1] == path}
                text = ranks_text(members) if level == "node" else f"{len(members)} ranks"
                drawn[path] = drawn[path[:-1]].add(Text.assemble((path[-1], "bold" if depth < 2 else "cyan"), "  ", text))
    return root


# -- three ways to form sets -----------------------------------------------------------------------------------------------


def in_runs(comm, units):
    """The k-th ranks of all nodes, for each k, cut into runs of SIZE nodes."""
    node = comm.Split(units[comm.rank][2])
    across = comm.Split(node.rank)
    return members_of(comm, across.Split(across.rank // SIZE))


def one_of_each_supply(comm, units):
    """The k-th ranks of all supplies, for each k."""
    supply = comm.Split(units[comm.rank][0])
    return members_of(comm, comm.Split(supply.rank))


def cyclic(comm, units):
    """Ranks in order of supply, switch and node, assigned cyclically to the largest possible number of sets."""
    ordered = comm.Split(0, units[comm.rank])
    return members_of(comm, ordered.Split(ordered.rank % (comm.size // SIZE)))


def cyclic_along_chains(comm, units, size=SIZE):
    """The same sets by messages between neighbors only, also on a real MPI; an error if there are no such sets."""
    own = redundancy_set(Levels.of(comm, *units[comm.rank]), size)
    ring = Ring.of(own.chain)
    return addresses(own.chain), comm.sendrecv(comm.rank, ring.right, source=ring.left)  # the rank whose copy it keeps


WAYS = {
    "k-th of each node, in runs of 3": in_runs,
    "k-th of each supply": one_of_each_supply,
    "cyclic": cyclic,
}


def members_of(comm, part):
    """Ranks in `comm` of the members of a communicator."""
    return [int(rank) for rank in part.Get_group().Translate_ranks(None, comm.Get_group())]


def taken(units, members, depth):
    """The largest number of members of a set in one unit of a level."""
    lying = [units[rank][: depth + 1] for rank in members]
    return max(map(lying.count, lying))


def distinct(units, sets):
    """Each set once, ordered by the units of the first members."""
    return sorted(set(map(tuple, sets)), key=lambda members: (units[members[0]], members[0]))


def survival(units, copies):
    """Check that copies of all data survive the failure of each unit."""
    every = sorted({unit[: depth + 1] for unit in units for depth in range(len(LEVELS))})
    for failed in every:
        alive = {rank for rank, unit in enumerate(units) if unit[: len(failed)] != failed}
        assert alive | {copies[rank] for rank in alive} == set(range(len(units)))
    return f"no data is lost if any one of the {len(every)} units fails."


def picture_of(title, units, sets):
    """A row for each set and a column for each node, with the ranks that run there."""
    nodes = sorted(set(units))
    table = Table(title=title, title_justify="left")
    table.add_column("set", justify="right")
    for supply in sorted({node[0] for node in nodes}):
        names = " ".join(node[2].removeprefix("node") for node in nodes if node[0] == supply)
        table.add_column(f"{supply}\n{names}", no_wrap=True)
    table.add_column("lost with\na supply", justify="right")
    for index, members in enumerate(sets):
        at = {units[rank]: rank for rank in members}
        lost = taken(units, members, 0)
        row = {}
        for node in nodes:
            many = sum(units[rank][0] == node[0] for rank in members) > 1
            style = "bold white on red" if many else COLORS[index % len(COLORS)]
            row.setdefault(node[0], []).append((f"{at[node]:2}", style) if node in at else (" \N{MIDDLE DOT}", "dim"))
        cells = [Text(" ").join(Text(*cell) for cell in row[supply]) for supply in sorted(row)]
        table.add_row(str(index), *cells, f"[{'red' if lost > 1 else 'green'}]{lost} of {len(members)}[/]")
    return table


def summary_of(units, made):
    """For each way: the number of sets, their sizes, and the most members that one failure affects."""
    table = Table(title="Most members of a set that fail together with one unit", title_justify="left")
    table.add_column("")
    for name in ("sets", "members", *(f"a {level}" for level in reversed(LEVELS))):
        table.add_column(name, justify="right")
    for way, sets in made.items():
        sizes = [len(members) for members in sets]
        lost = [max(taken(units, members, depth) for members in sets) for depth in (2, 1, 0)]
        words = [f"[{'green' if most == 1 else 'red'}]{most}[/]" for most in lost]
        table.add_row(way, str(len(sets)), f"{min(sizes)} to {max(sizes)}", *words)
    return table


# -- cost ----------------------------------------------------------------------------------------------------------


def one_by_one(comm, units, split):
    """One split for each level, by the names from the top level down to it."""
    for depth in range(len(LEVELS)):
        split.run(comm, "/".join(units[comm.rank][: depth + 1]))


def all_levels(comm, units, split):
    """One sort, and one scan for all levels."""
    Levels.of(comm, *units[comm.rank], split=split)


def levels_and_sets(comm, units, split):
    """The groups of all levels, the check that sets exist, and the sets."""
    redundancy_set(Levels.of(comm, *units[comm.rank], split=split), SIZE)


def two_calls(comm, units, split):
    """Only the sets, by calls of Split with the algorithm of `run(..., algorithms={"split": ...})`."""
    cyclic(comm, units)


TASKS = {
    "a split for each level": (one_by_one, ("gather_scatter", "bitonic", "hash")),
    "all levels at once": (all_levels, ("gather_scatter", "bitonic")),
    "all levels, and the sets": (levels_and_sets, ("gather_scatter", "bitonic")),
    "only the sets, by comm.Split": (two_calls, ("gather_scatter", "bitonic")),
}


def costs_of(screen, ranks):
    """Modeled time and messages of each task with several split algorithms."""
    units = large_machine(ranks)
    nodes = [node for _, _, node in units]
    cost = TwoLevel(placement=nodes, intra=Hockney(5e-7, 2.5e-10), inter=Hockney(1.6e-6, 3.2e-10), network_ports=4)
    title = f"Modeled cost for {ranks:,} ranks on {len(set(nodes))} nodes, without local work"
    table = Table(title=title, title_justify="left")
    for name in ("task", "split algorithm"):
        table.add_column(name)
    for name in ("time", "messages", "bytes each"):
        table.add_column(name, justify="right")
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        for task, (program, ways) in bar.track(TASKS.items(), description=f"grouping {ranks:,} ranks"):
            for way in ways:
                split = collectives.find("split", way, kind="split")
                done = run(program, ranks, units, split, cost=cost, algorithms={"split": way})
                each = f"{done.bytes / done.messages:.0f}"
                table.add_row(task if way == ways[0] else "", way, seconds(done.time), f"{done.messages:,}", each)
    return table


def main():
    words, screen = arguments(__doc__, "--large"), console()
    units = small_machine()
    ranks = len(units)
    screen.print(tree_of(units, run(groups, ranks, units).returns))

    made = {way: distinct(units, run(program, ranks, units).returns) for way, program in WAYS.items()}
    members, copies = zip(*run(cyclic_along_chains, ranks, units).returns, strict=True)
    assert distinct(units, members) == made["cyclic"]
    for way in ("k-th of each node, in runs of 3", "cyclic"):
        screen.print()
        screen.print(picture_of(f"Sets of {SIZE}: {way}", units, made[way]))
    screen.print()
    screen.print(summary_of(units, made))
    screen.print("A set with one member cannot be restored.")
    screen.print(f"Cyclic sets, with a copy at the right neighbor in the set: {survival(units, copies)}")
    try:
        run(cyclic_along_chains, ranks, units, SIZE + 1)
    except RankError as error:
        screen.print(f"Sets of {SIZE + 1} raise an error: {error.__cause__}", style="dim")
    screen.print()
    screen.print(costs_of(screen, 1024 if "--large" in words else 64))


if __name__ == "__main__":
    main()
