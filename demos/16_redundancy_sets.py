"""Who shares a node, a switch, a power supply? And who keeps data for whom, so that none of these takes two of a set?

    python demos/16_redundancy_sets.py              a minute
    python demos/16_redundancy_sets.py --quick      the last table with 64 ranks, in seconds

Ranks know the names of what they run on, and no more. Libraries that keep checkpoints in memory make redundancy sets of
them, whose members restore each other's data: by copies at the right neighbour's, or by a parity of all. Moody, Ahn and de
Supinski, Exascale Algorithms for Generalized MPI_Comm_split, 2011, name the groups that such libraries need.
"""

from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from rich.tree import Tree
from screen import asked, console

import collectives
from collectives.chain.collect import addresses
from collectives.chain.shapes import Ring
from collectives.levels import Levels, redundancy_set
from fakempi import Hockney, RankError, TwoLevel, run
from fakempi.checks.ranks import ranks_in_words
from fakempi.view.numbers import seconds

LEVELS = "supply", "switch", "node"
CORES = (4, 4, 4, 4), (4, 4, 4, 2), (4, 4, 2, 2), (4, 2, 2, 2)  # four nodes on each supply, two on a switch
SIZE = 3
COLOURS = "white on blue", "black on green", "black on yellow", "white on magenta", "black on cyan"


def small_machine():
    """The units of 52 ranks, which are dealt out to nodes, round and round, while these have cores."""
    free = {(f"psu{i // 4}", f"switch{i // 2}", f"node{i:02}"): cores for i, cores in enumerate(sum(CORES, ()))}
    return [unit for turn in range(4) for unit, cores in free.items() if turn < cores]


def large_machine(ranks):
    """The units of so many: 4 to a node, 2 nodes on a switch, 4 supplies."""
    nodes = ranks // 4
    each = [(f"psu{node * 4 // nodes}", f"switch{node // 2:03}", f"node{node:03}") for node in range(nodes)]
    return [each[rank % nodes] for rank in range(ranks)]


# -- the groups of all levels, and a tree of them ------------------------------------------------------------------------


def groups(comm, units):
    """Of each level: this rank's place in its unit, the unit's size, and who is next."""
    levels = Levels.of(comm, *units[comm.rank])
    return [(chain.rank, chain.size, chain.right) for chain in levels.units]


def followed(places, first):
    """Ranks of a chain from the first to the last; `places` has (rank, size, right neighbour) of everybody."""
    members, (_, size, right) = [first], places[first]
    while right >= 0:
        members.append(right)
        right = places[right][2]
    assert len(members) == size
    return members


def tree_of(units, found):
    """What hangs on what: each unit is drawn when its first rank is met."""
    root = Tree(f"{len(units)} ranks", guide_style="dim")
    drawn = {(): root}
    for rank in sorted(range(len(units)), key=lambda rank: units[rank]):
        for depth, level in enumerate(LEVELS):
            path = units[rank][: depth + 1]
            if found[rank][depth][0] == 0:
                members = followed([places[depth] for places in found], rank)
                assert set(members) == {each for each in range(len(units)) if units[each][: depth + 1] == path}
                words = ranks_in_words(members) if level == "node" else f"{len(members)} ranks"
                drawn[path] = drawn[path[:-1]].add(Text.assemble((path[-1], "bold" if depth < 2 else "cyan"), "  ", words))
    return root


# -- three ways to make sets -----------------------------------------------------------------------------------------------


def in_runs(comm, units):
    """The first of all nodes, the second, and so on; each of these cut into runs of SIZE nodes."""
    node = comm.Split(units[comm.rank][2])
    across = comm.Split(node.rank)
    return members_of(comm, across.Split(across.rank // SIZE))


def one_of_each_supply(comm, units):
    """The first of all supplies, the second, and so on."""
    supply = comm.Split(units[comm.rank][0])
    return members_of(comm, comm.Split(supply.rank))


def dealt(comm, units):
    """In order of supply, switch and node, to as many sets as there can be."""
    ordered = comm.Split(0, units[comm.rank])
    return members_of(comm, ordered.Split(ordered.rank % (comm.size // SIZE)))


def dealt_along_chains(comm, units, size=SIZE):
    """The same sets by messages between neighbours alone, on a real MPI too; refused where there are none."""
    own = redundancy_set(Levels.of(comm, *units[comm.rank]), size)
    ring = Ring.of(own.chain)
    return addresses(own.chain), comm.sendrecv(comm.rank, ring.right, source=ring.left)  # whose copy it keeps


WAYS = {
    "k-th of each node, in threes": in_runs,
    "k-th of each supply": one_of_each_supply,
    "dealt out": dealt,
}


def members_of(comm, part):
    """Ranks of `comm` that a communicator has."""
    return [int(rank) for rank in part.Get_group().Translate_ranks(None, comm.Get_group())]


def taken(units, members, depth):
    """The most members of a set that one unit of a level has."""
    lying = [units[rank][: depth + 1] for rank in members]
    return max(map(lying.count, lying))


def distinct(units, sets):
    """Everybody returned its own; each once, in the order of the units that their first members lie in."""
    return sorted(set(map(tuple, sets)), key=lambda members: (units[members[0]], members[0]))


def survival(units, copies):
    """Let every unit fail, one at a time, and look for the copies of what it takes."""
    every = sorted({unit[: depth + 1] for unit in units for depth in range(len(LEVELS))})
    for failed in every:
        alive = {rank for rank, unit in enumerate(units) if unit[: len(failed)] != failed}
        assert alive | {copies[rank] for rank in alive} == set(range(len(units)))
    return f"whichever of the {len(every)} units fails, nothing is lost."


def picture_of(title, units, sets):
    """A row for each set and a place for each node: where its members run."""
    nodes = sorted(set(units))
    table = Table(title=title, title_justify="left")
    table.add_column("set", justify="right")
    for supply in sorted({node[0] for node in nodes}):
        names = " ".join(node[2].removeprefix("node") for node in nodes if node[0] == supply)
        table.add_column(f"{supply}\n{names}", no_wrap=True)
    table.add_column("a supply\ntakes", justify="right")
    for index, members in enumerate(sets):
        at = {units[rank]: rank for rank in members}
        lost = taken(units, members, 0)
        row = {}
        for node in nodes:
            many = sum(units[rank][0] == node[0] for rank in members) > 1
            style = "bold white on red" if many else COLOURS[index % len(COLOURS)]
            row.setdefault(node[0], []).append((f"{at[node]:2}", style) if node in at else (" \N{MIDDLE DOT}", "dim"))
        cells = [Text(" ").join(Text(*cell) for cell in row[supply]) for supply in sorted(row)]
        table.add_row(str(index), *cells, f"[{'red' if lost > 1 else 'green'}]{lost} of {len(members)}[/]")
    return table


def summary_of(units, made):
    """What each way comes to: sets, members, and how many of them one failure takes at the most."""
    table = Table(title="Members of a set that fail together with one unit, at the most", title_justify="left")
    table.add_column("")
    for name in ("sets", "members", *(f"a {level}" for level in reversed(LEVELS))):
        table.add_column(name, justify="right")
    for way, sets in made.items():
        sizes = [len(members) for members in sets]
        lost = [max(taken(units, members, depth) for members in sets) for depth in (2, 1, 0)]
        words = [f"[{'green' if most == 1 else 'red'}]{most}[/]" for most in lost]
        table.add_row(way, str(len(sets)), f"{min(sizes)} to {max(sizes)}", *words)
    return table


# -- what it takes ----------------------------------------------------------------------------------------------------------


def one_by_one(comm, units, split):
    """A split for each level, by the names down to it."""
    for depth in range(len(LEVELS)):
        split.run(comm, "/".join(units[comm.rank][: depth + 1]))


def all_levels(comm, units, split):
    """One sort, and one scan for all levels."""
    Levels.of(comm, *units[comm.rank], split=split)


def levels_and_sets(comm, units, split):
    """All groups, the check that the sets exist, and the sets."""
    redundancy_set(Levels.of(comm, *units[comm.rank], split=split), SIZE)


def two_calls(comm, units, split):
    """The sets alone, by calls that take the time of `run(..., algorithms={"split": ...})`."""
    dealt(comm, units)


TASKS = {
    "a split for each level": (one_by_one, ("gather_scatter", "bitonic", "hash")),
    "all levels at once": (all_levels, ("gather_scatter", "bitonic")),
    "and the sets, checked": (levels_and_sets, ("gather_scatter", "bitonic")),
    "sets: comm.Split twice": (two_calls, ("gather_scatter", "bitonic")),
}


def costs_of(screen, ranks):
    """Modelled time and messages of each task, by several splits."""
    units = large_machine(ranks)
    nodes = [node for _, _, node in units]
    cost = TwoLevel(placement=nodes, intra=Hockney(5e-7, 2.5e-10), inter=Hockney(1.6e-6, 3.2e-10), network_ports=4)
    title = f"In the model: {ranks:,} ranks on {len(set(nodes))} nodes; local work is not charged"
    table = Table(title=title, title_justify="left")
    for name in ("what", "by"):
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
    words, screen = asked(__doc__, "--quick"), console()
    units = small_machine()
    ranks = len(units)
    screen.print(tree_of(units, run(groups, ranks, units).returns))

    made = {way: distinct(units, run(program, ranks, units).returns) for way, program in WAYS.items()}
    members, copies = zip(*run(dealt_along_chains, ranks, units).returns, strict=True)
    assert distinct(units, members) == made["dealt out"]
    for way in ("k-th of each node, in threes", "dealt out"):
        screen.print()
        screen.print(picture_of(f"Sets of {SIZE}: {way}", units, made[way]))
    screen.print()
    screen.print(summary_of(units, made))
    screen.print("A set of one has nobody to restore it.")
    screen.print(f"Dealt out, with a copy at the right neighbour's in the set: {survival(units, copies)}")
    try:
        run(dealt_along_chains, ranks, units, SIZE + 1)
    except RankError as refused:
        screen.print(f"Sets of {SIZE + 1} are refused: {refused.__cause__}", style="dim")
    screen.print()
    screen.print(costs_of(screen, 64 if "--quick" in words else 1024))


if __name__ == "__main__":
    main()
