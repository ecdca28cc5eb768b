"""Reproduce Table 1 and Figs. 4 and 5 of Silva & Silva (1999): collectives between two groups compared with one group.

    python demos/21_silva_1999.py

The calls are those of the paper: operations with a root on 1 + 7 processes, the others on 4 + 4, and the same operations in
one group of 8. The paper gives Table 1 and one mean as numbers; for Figs. 4 and 5 its text only says which is faster.
"""

from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from screen import arguments, console

import fakempi
from collectives import find
from collectives.inter_patterns.groups import RootRole
from fakempi import MPI, Hockney
from fakempi.view.numbers import short_binary
from fakempi.view.plot import plot

# Eight workstations, 100 Mbit/s switch: 8e-8 s per byte. The start-up of 200 us and 1e-8 s to add a byte are estimates.
NETWORK = Hockney(t_s=200e-6, t_w=8e-8, eager_limit=0, compute_per_byte=1e-8)
# Two Pentium Pros with one memory: 20 us and 100 MB/s are estimates.
MEMORY = Hockney(t_s=20e-6, t_w=1e-8, eager_limit=0)

TWO_MB = 2097152
TABLE_1 = (1445076, 1435866, 1439482, 1416597, 1471134, 1439796, 1443290, 1391354)  # microseconds, processes 0 to 7
INTRA_MEAN = 1803691
SIZES = [2**n for n in range(8, 22)]


def between(p, cost, call):
    """Run call(inter, local, in_a) on groups of p and 8 - p processes."""

    def main(comm):
        in_a = comm.Get_rank() < p
        local = comm.Split(0 if in_a else 1, comm.Get_rank())
        call(local.Create_intercomm(0, comm, p if in_a else 0), local, in_a)

    return fakempi.run(main, 8, cost=cost)


def reduce_between(size):
    def call(inter, local, in_a):
        algorithm = find("reduce", "wmpi", kind="inter")
        data = fakempi.phantom(size)
        algorithm.run(
            inter, local, None if in_a else data, data if in_a else None, op=MPI.SUM, root=RootRole.ROOT if in_a else 0
        )

    return between(1, NETWORK, call)


def reduce_within(size):
    def main(comm):
        find("reduce", "binomial").run(comm, fakempi.phantom(size), fakempi.phantom(size), op=MPI.SUM)

    return fakempi.run(main, 8, cost=NETWORK)


def reduce_scatter_between(size, name="wmpi"):
    def call(inter, local, in_a):
        algorithm = find("reduce_scatter", name, kind="inter")
        more = {"first": in_a} if "first" in algorithm.parameters else {}
        algorithm.run(inter, local, fakempi.phantom(size), fakempi.phantom(size // 4), [size // 4] * 4, op=MPI.SUM, **more)

    return between(4, NETWORK, call)


def reduce_scatter_within(size):
    def main(comm):
        algorithm, linear = find("reduce_scatter", "reduce_scatterv"), find("scatterv", "linear")
        whole, part = fakempi.phantom(size), fakempi.phantom(size // 8)
        algorithm.run(comm, whole, part, [size // 8] * 8, op=MPI.SUM, scatterv=linear)

    return fakempi.run(main, 8, cost=NETWORK)


def allgather_between(size):
    def call(inter, local, in_a):
        find("allgather", "wmpi", kind="inter").run(inter, local, fakempi.phantom(size), fakempi.phantom(4 * size))

    return between(4, MEMORY, call)


def allgather_within(size):
    def main(comm):
        find("allgather", "ring").run(comm, fakempi.phantom(size), fakempi.phantom(8 * size))

    return fakempi.run(main, 8, cost=MEMORY)


def mean(numbers):
    return sum(numbers) / len(numbers)


def ms(run):
    """The mean over all processes, as in the paper."""
    return 1e3 * mean(run.clocks)


def table_1(screen):
    one, two = reduce_scatter_within(TWO_MB), reduce_scatter_between(TWO_MB)
    screen.print(Rule("Table 1 · Reduce_scatter of 2 MB, 4 + 4 processes, and 8 in one group"))
    table = Table(box=None, header_style="bold", padding=(0, 3, 0, 0))
    for name in ("process", "paper, s", "/ one group", "modeled, s", "/ one group"):
        table.add_column(name, justify="right")
    for rank, (measured, modeled) in enumerate(zip(TABLE_1, two.clocks, strict=True)):
        ratios = f"{measured / INTRA_MEAN:.3f}", f"{modeled / mean(one.clocks):.3f}"
        leader = "bold" if rank in (0, 4) else ""
        table.add_row(str(rank), f"{measured / 1e6:.3f}", ratios[0], f"{modeled:.3f}", ratios[1], style=leader)
    ratios = f"{mean(TABLE_1) / INTRA_MEAN:.3f}", f"{mean(two.clocks) / mean(one.clocks):.3f}"
    table.add_section()
    table.add_row("mean", f"{mean(TABLE_1) / 1e6:.3f}", ratios[0], f"{mean(two.clocks):.3f}", ratios[1], style="green")
    table.add_row("one group, mean", f"{INTRA_MEAN / 1e6:.3f}", "1.000", f"{mean(one.clocks):.3f}", "1.000")
    screen.print(Padding(table, (0, 0, 1, 0)))
    screen.print(
        "Half of the processes reduce each operand, and the leaders scatter directly to the other group: 3 passes over 2 "
        "MB instead of 3 7/8. The leaders, 0 and 4, are among the last in both. Modeled times are lower, because only "
        "transfers and additions have a cost."
    )
    spreads = f"{max(TABLE_1) / min(TABLE_1):.2f}", f"{max(two.clocks) / min(two.clocks):.2f}"
    other = reduce_scatter_between(TWO_MB, "reduce_then_scatter")
    screen.print(
        "\nPaper: all processes have a similar execution time, because the two scatters overlap. Slowest process / fastest "
        f"process: {spreads[0]} in Table 1, {spreads[1]} in the model, where a leader sends one part after the other, and a "
        "process ends when it has its part."
    )
    screen.print(
        f"\nAn inter-group reduce followed by a scatter within the group takes {other.time:.3f} s in the model, the paper's "
        f"algorithm {two.time:.3f} s."
    )


def figure(screen, title, curves, words):
    screen.print()
    screen.print(Rule(title))
    width = min(screen.width, 100) - 2
    screen.print(plot(curves, width=width, height=13, x_log=True, y_log=True, y_label="ms", x_label="bytes"))
    screen.print()
    screen.print(words)


def figure_4(screen):
    one, two = ([(size, ms(call(size))) for size in SIZES] for call in (reduce_within, reduce_between))
    ratios = [b / a for (_, a), (_, b) in zip(one, two, strict=True)]
    figure(
        screen,
        "Fig. 4 · Reduce on 8 processes, mean of all",
        {"between groups, 1 + 7": two, "in one group of 8": one},
        f"Paper: about the same on average; no numbers in the text. Modeled: {min(ratios):.3f} to {max(ratios):.3f} "
        "times as long, because the root and the leader make one more hop. Processes that only send take the same "
        "time; in the paper about the same.",
    )


def figure_5(screen):
    one, two = ([(size, call(size)) for size in SIZES] for call in (allgather_within, allgather_between))

    def shared(run):
        """Time of all copies of the run on two processors that are never idle."""
        return 1e3 * (run.messages * MEMORY.t_s + run.bytes * MEMORY.t_w) / 2

    figure(
        screen,
        "Fig. 5 · Allgather, 8 processes on 2 processors with one memory",
        {
            "between groups, 4 + 4": [(size, shared(run)) for size, run in two],
            "in one group of 8, ring": [(size, shared(run)) for size, run in one],
        },
        "Paper: between groups well below one group; no numbers in the text. Modeled ratio, between groups / one group:",
    )
    table = Table(box=None, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column("bytes")
    some = range(0, len(SIZES), 3)
    for at in some:
        table.add_column(f"{short_binary(SIZES[at])}B", justify="right")
    for name, measure in (("one port per process", ms), ("two processors make all copies", shared)):
        table.add_row(name, *(f"{measure(two[at][1]) / measure(one[at][1]):.2f}" for at in some))
    screen.print(Padding(table, (1, 0)))
    screen.print(
        "With one port per process the ring is faster for long blocks: eight simultaneous copies cost no more than one. But "
        f"two processors made all copies. The algorithm with leaders sends {two[0][1].messages} messages with 32 blocks, "
        f"the ring {one[0][1].messages} with 56, so it is faster at every size, as the paper reports."
    )


if __name__ == "__main__":
    arguments(__doc__)
    screen = console()
    table_1(screen)
    figure_4(screen)
    figure_5(screen)
    screen.print(
        "\nCosts: switch 200 us and 100 Mbit/s, addition 1e-8 s per byte; memory 20 us and 100 MB/s. Except for the 100 "
        "Mbit/s these are estimates, so compare only shapes and ratios. Every message is emulated; the times of two "
        "processors are computed from the messages and bytes of the runs."
    )
