"""Kang et al. (2019), Figs. 4, 5 and 6 in the model: allgather between two groups, as libraries do it and full duplex.

    python demos/08_kang_figures.py               all of them, 64, 256 and 2,048 ranks, all sizes; 5 minutes on two cores
    python demos/08_kang_figures.py --figure 6    one of them; 6 are the ratios
    python demos/08_kang_figures.py --quick       64 ranks and two sizes, in seconds
    python demos/08_kang_figures.py --csv FILE    the points as well, in seconds

What the first of these prints is kept in benchmarks/kang_figures.out; the file beside this one has the quick form's.
"""

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from kang_settings import CLUSTERS, PUBLISHED, SIZES, Cluster, Job, algorithms, seconds, to_bound, with_slow_hop
from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.rule import Rule
from rich.table import Table
from screen import console

from fakempi.view.numbers import short_binary
from fakempi.view.plot import colour, plot

OLD, EUROMPI, NEW, RING, SOURCE = "root_gathering_mpich", "two_stage", "full_duplex", "root_gathering_ring", "wmpi"
CURVES = {OLD: "root gathering", EUROMPI: "two stages", NEW: "full duplex", RING: "by a ring", SOURCE: "remote gather"}
STYLES = {OLD: colour(0), NEW: colour(1), EUROMPI: colour(2), RING: colour(2), SOURCE: colour(3)}  # by their order
SAID = {OLD: "limit {:.2f}", EUROMPI: "as full d.", NEW: "", RING: "max 23.67", SOURCE: ""}
SETTINGS = {
    1: "1:1, equal blocks",
    2: "25:7, equal blocks",
    3: "25:7, A's blocks 4 x B's",
    4: "25:7, B's blocks 4 x A's",
    5: "1:1, v, equal blocks",
    6: "1:1, v, rising blocks",
    7: "25:7, v, equal blocks",
    8: "25:7, v, rising blocks",
}
COLUMNS = "figure", "setting", "nodes", "ranks_per_node", "even_links", "bytes_per_node", "algorithm", "seconds"  # of --csv
QUICK = {Cluster(64, 1): SIZES[::7], Cluster(32, 2): SIZES[::7]}
FULL = dict.fromkeys(CLUSTERS, SIZES)


def compute(jobs):
    """All points, on all cores; a bar if stderr is a terminal, silence elsewhere."""
    screen = Console(stderr=True)
    columns = TextColumn("[bold]modelling"), BarColumn(None), MofNCompleteColumn(), TimeElapsedColumn()
    points = {}
    with ProcessPoolExecutor() as pool:
        # The long ones first, so that no core is left alone with one at the end; and before the bar has a thread.
        waiting = {pool.submit(seconds, job): job for job in sorted(jobs, key=cost_of, reverse=True)}
        with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
            for done in bar.track(as_completed(waiting), total=len(jobs)):
                points[waiting[done]] = done.result()
    return points


def cost_of(job):
    return job.cluster.ranks, job.size


def times_figure(screen, figure, numbers, clusters, points):
    """Figs. 4 and 5: completion time over size, a picture for each setting and cluster, and the numbers."""
    for cluster, sizes in clusters.items():
        screen.print(Rule(f"Fig. {figure} · {cluster.ranks} ranks on {cluster.nodes} nodes · ms over bytes a node"))
        width = screen.width // (4 if screen.width >= 156 else 2) - 2
        pictures = []
        for number in numbers:
            curves = {
                CURVES[name]: [(size, 1e3 * points[Job(number, cluster, size, name)]) for size in sizes]
                for name in algorithms(number, cluster.ranks_per_node)
            }
            title = f"{cluster.ranks} ({number}) · {SETTINGS[number]}"
            pictures.append(plot(curves, width=width, height=9, x_log=True, y_log=True, title=title))
        screen.print(Columns(pictures, padding=(0, 1)))
        screen.print(Padding(times_table(numbers, cluster, sizes, points), (1, 0)))


def times_table(numbers, cluster, sizes, points):
    """The numbers of the pictures above; `ratio` is to full duplex at the largest size, and beside it what the text says."""
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("ms by", no_wrap=True)
    for size in sizes:
        table.add_column(short_binary(size), justify="right", no_wrap=True)
    table.add_column("ratio", justify="right", style="bold")
    table.add_column("paper", no_wrap=True)
    for number in numbers:
        table.add_row(f"[bold]setting {number}[/]")
        for name in algorithms(number, cluster.ranks_per_node):
            times = [1e3 * points[Job(number, cluster, size, name)] for size in sizes]
            new = points[Job(number, cluster, sizes[-1], NEW)]
            ratio, said = f"{times[-1] / 1e3 / new:.2f}", SAID[name].format(PUBLISHED[number])
            table.add_row(f" {CURVES[name]}", *map(three_digits, times), ratio, said, style=STYLES[name])
    return table


def three_digits(time):
    return f"{time:.0f}" if time >= 100 else f"{time:#.3g}"


def write(path, points):
    """One line a point."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for (number, cluster, size, name), time in sorted(points.items()):
            rows.writerow([4 if number < 5 else 5, number, *cluster[:2], int(cluster.even), size, name, time])


def ratio(points, number, cluster, size):
    return points[Job(number, cluster, size, OLD)] / points[Job(number, cluster, size, NEW)]


def ratios_figure(screen, clusters, points, even):
    """Fig. 6: root gathering over full duplex."""
    pictures = []
    wide = screen.width >= 150
    for cluster, sizes in clusters.items():
        curves = {str(n): [(size, ratio(points, n, cluster, size)) for size in sizes] for n in PUBLISHED}
        title = f"Fig. 6 · {cluster.ranks} ranks, {cluster}"
        width = screen.width // len(clusters) - 2 if wide else screen.width - 2
        pictures.append(plot(curves, width=width, height=14, x_log=True, title=title, x_label="bytes per node"))
    screen.print(Columns(pictures, padding=(0, 1)) if wide else pictures[0])
    if not wide:
        for picture in pictures[1:]:
            screen.print(picture)
    screen.print()
    table = Table(title="Root gathering / full duplex at 8 MB a node", box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("setting")
    table.add_column("paper's limit", justify="right", style="bold")
    for cluster in (*clusters, even):
        table.add_column(f"{cluster}{'*' if cluster.even else ''}", justify="right")
    for number, limit in PUBLISHED.items():
        cells = [f"{ratio(points, number, cluster, SIZES[-1]):.2f}" for cluster in (*clusters, even)]
        table.add_row(f"{number}  {SETTINGS[number]}", f"{limit:.2f}", *cells)
    screen.print(table)


def gathering_table(screen, ranks):
    """Settings 2 to 4: what the gathering within the groups makes of unequal parts."""
    table = Table(title=f"Full duplex / lower bound, {ranks} x 1, no start-ups", box=None)
    table.header_style, table.padding = "bold", (0, 2, 0, 0)
    table.add_column("setting")
    for name in ("ring", "bruck", "blocked ring"):
        table.add_column(name, justify="right")
    for number in (2, 3, 4):
        cells = [f"{to_bound(number, ranks, name):.3f}" for name in ("ring", "bruck", "blocked_ring")]
        table.add_row(f"{number}  {SETTINGS[number]}", *cells)
    screen.print()
    screen.print(table)


def slow_hop_table(screen, ranks):
    """Setting 5: what the paper blames for its peak, and what it takes for that to show."""
    table = Table(title=f"Setting 5, {ranks} x 1, 8 MB a node, where one hop of each group's ring is slow: ms", box=None)
    table.header_style, table.padding = "bold", (0, 2, 0, 0)
    columns = (RING, "ring"), (NEW, "ring"), (NEW, "bruck")
    for name in ("times slower", "root gathering\nby a ring", "full duplex,\nring inside", "full duplex,\nBruck inside"):
        table.add_column(name, justify="right")
    table.add_column("ratio to\nring", justify="right", style="bold")
    table.add_column("ratio to\nBruck", justify="right", style="bold")
    for h in (1, 2, 4, 8):
        old, ring, bruck = (with_slow_hop(ranks, h, *column) for column in columns)
        cells = [three_digits(1e3 * time) for time in (old, ring, bruck)]
        table.add_row(str(h), *cells, f"{old / ring:.2f}", f"{old / bruck:.2f}")
    screen.print()
    screen.print(table)


WORDS = """
[bold]Where the numbers come from.[/] Links are an estimate of Cori's: 1.3 us and 8 GB/s between nodes, 0.5 us and 5
GB/s inside them. Only shapes and ratios compare. One rank a node: [bold]computed[/] from the algorithms' claims, which
the tests hold equal to the emulator's times. More ranks a node: [bold]simulated[/] with phantom payloads, but for the
hops of rings, which are [bold]computed[/] from their recurrence. Of the paper's curves its text has the limits of Eq.
5, that two stages (the version of 2018) take as long as one, and a measured peak of 23.67 at 256 nodes; the rest are
pictures, which our copy of the paper has not. Sizes are those of its x axis, 64 KB to 8 MB of the largest block, per
node. Where the two stages do take longer (setting 4), p mod q ranks of A are left over in the second, a case that the
text of 2018 leaves open; where they take less, with 32 short blocks a node, they have fewer start-ups: their rings are
of q ranks and of p / q, not of p.

[bold]Fig. 5, how the library gathers.[/] The paper's Eq. 2 has a tree or a star: "root gathering". Its section 5 says
that MPICH's Allgatherv gathers to the roots by a ring: "by a ring". On equal links, for equal blocks, the two take as
long, as the paper says too; for rising blocks (6 and 8) the ring takes longer, for every step waits for the longest
block in it. MPICH's public source has neither: each rank sends its block to the root of the other group, both ways at
the same time but for one block, and then both broadcast: "remote gather", which is within 3 M where Eq. 2 has up to 7
M. What Cray's library did is not public, and the peak of 23.67 is none of these three on equal links.

[bold]Where the model differs at small sizes.[/] The paper finds full duplex not always faster for short messages. Here
it is, from 64 KB a node on: the model has start-ups and bytes, and nothing for a cold start, a copy or a busy network.

[bold]Why many ranks a node are different.[/] They share one network port. The exchange between the groups squeezes
through the nodes of the smaller group: with 32 ranks on each of 64 nodes it costs 1/32 or 1/14 of the lower bound M,
where it was 1/1024 or 1/448. After that, full duplex is one ring, and a ring is as fast as its slowest hop: here that
inside a node, 5 GB/s. Root gathering passes all data up to seven times, and all but two of these cross the faster
network. In the column marked * links inside a node are as fast as the network. What is left is the exchange, and
start-ups: 8 MB a node are 256 KB a rank, so a start-up is 4 % of a hop, and 16 % of a blocked ring's hop of 64 KB
(settings 2 to 4).

[bold]The peak of 23.67.[/] The paper explains it by the ring gather: Cori is not fully connected, so every step of the
ring waits for its slowest hop. The table above has one hop of each group's ring so many times slower, and all messages
emulated. If the allgather inside full duplex is a ring as well, that waits for the same hop, and the ratio falls towards
3. It comes near the peak only if what is inside is no ring (Bruck's, say), with a hop about eight times slower. So the
explanation is right if Cray's Allgatherv within a group does not go round a ring, which the paper does not say.

[bold]Why the blocked ring.[/] In settings 2 to 4 a rank of B receives 3 or 4 of A's blocks, and a rank of A a third or
a fourth of one of B's. A plain ring moves one part a hop, and some hop always has a larger one: it pays 4 where 3.57
are the mean. So does Bruck's algorithm, whose runs of neighbours are all of the larger kind for the first ranks. The
blocked ring moves blocks of one size, and a longer part is more of them.
"""


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--figure", type=int, choices=(4, 5, 6))
    reader.add_argument("--quick", action="store_true")
    reader.add_argument("--csv", type=Path, metavar="FILE")
    said = reader.parse_args()
    screen = console()
    clusters = QUICK if said.quick else FULL
    numbers = {4: range(1, 5), 5: range(5, 9)}.get(said.figure, range(1, 9))
    jobs = [
        Job(number, cluster, size, name)
        for cluster, sizes in clusters.items()
        for size in sizes
        for number in numbers
        for name in algorithms(number, cluster.ranks_per_node)
        if said.figure != 6 or name in (OLD, NEW)
    ]
    even = [*clusters][-1]._replace(even=True)
    if said.figure in (None, 6):
        jobs += [Job(number, even, SIZES[-1], name) for number in numbers for name in (OLD, NEW)]
    points = compute(jobs)
    if said.csv:
        write(said.csv, points)
    if said.figure in (None, 4):
        times_figure(screen, 4, range(1, 5), clusters, points)
    if said.figure in (None, 5):
        times_figure(screen, 5, range(5, 9), clusters, points)
    if said.figure in (None, 6):
        ratios_figure(screen, clusters, points, even)
        gathering_table(screen, 64 if said.quick else 256)
        slow_hop_table(screen, 32 if said.quick else 64)
    paragraphs = WORDS.strip().split("\n\n")
    for paragraph in paragraphs if said.figure in (None, 6) else paragraphs[: said.figure - 3]:
        screen.print()
        screen.print(" ".join(paragraph.split()), width=min(screen.width, 100))


if __name__ == "__main__":
    main()
