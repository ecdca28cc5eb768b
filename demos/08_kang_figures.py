"""Kang et al. (2019), Figs. 4, 5 and 6 in the model: allgather between two groups, as libraries do it and full duplex.

    python demos/08_kang_figures.py               all of them, 64, 256 and 2,048 ranks; two minutes on two cores
    python demos/08_kang_figures.py --figure 6    one of them; 6 are the ratios
    python demos/08_kang_figures.py --quick       64 ranks and two sizes, in seconds
"""

import argparse
from concurrent.futures import ProcessPoolExecutor, as_completed

from kang_settings import CLUSTERS, PUBLISHED, SIZES, Cluster, Job, algorithms, seconds, to_bound
from rich.columns import Columns
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.rule import Rule
from rich.table import Table
from screen import console

from fakempi.view.numbers import short_binary
from fakempi.view.plot import colour, plot

OLD, EUROMPI, NEW = "root_gathering_mpich", "two_stage", "full_duplex"
CURVES = {OLD: "root gathering", EUROMPI: "two stages", NEW: "full duplex"}
STYLES = {OLD: colour(0), NEW: colour(1), EUROMPI: colour(2)}  # as in the plots, by the order of the curves
FEWER = tuple(SIZES[i] for i in (0, 2, 4, 6, 7))
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
QUICK = {Cluster(64, 1): SIZES[::7], Cluster(32, 2): SIZES[::7]}
FULL = {CLUSTERS[0]: SIZES, CLUSTERS[1]: SIZES, CLUSTERS[2]: FEWER}


def compute(jobs, screen):
    """All points, on all cores; a bar on a terminal, silence elsewhere."""
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
                for name in algorithms(number)
            }
            title = f"{cluster.ranks} ({number})"
            pictures.append(plot(curves, width=width, height=9, x_log=True, y_log=True, title=title))
        screen.print(Columns(pictures, padding=(0, 1)))
        screen.print(Padding(times_table(numbers, cluster, sizes, points), (1, 0)))


def times_table(numbers, cluster, sizes, points):
    """The numbers of the pictures above, for some sizes."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("setting, ms by")
    for size in (shown := [size for size in sizes if size in FEWER]):
        table.add_column(f"{short_binary(size)}B", justify="right")
    table.add_column("ratio", justify="right", style="bold")
    table.add_column("paper's text")
    for number in numbers:
        table.add_row(f"[bold]{number}[/]  {SETTINGS[number]}")
        for name in algorithms(number):
            times = [1e3 * points[Job(number, cluster, size, name)] for size in shown]
            new = points[Job(number, cluster, SIZES[-1], NEW)]
            said = {OLD: f"tends to {PUBLISHED[number]:.2f}", EUROMPI: "the same", NEW: "not in the text"}[name]
            cells = [f"{time:.3g}" for time in times]
            table.add_row(f"   {CURVES[name]}", *cells, f"{times[-1] / 1e3 / new:.2f}", said, style=STYLES[name])
    return table


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


WORDS = """
[bold]Where the numbers come from.[/] Links are an estimate of Cori's: 1.3 us and 8 GB/s between nodes, 0.5 us and 5
GB/s inside them. Only shapes and ratios compare. One rank a node: [bold]computed[/] from the algorithms' claims, which
the tests hold equal to the emulator's times. More ranks a node: [bold]simulated[/] with phantom payloads, but for the
hops of rings, which are [bold]computed[/] from their recurrence. Of the paper's curves its text has the limits of Eq.
5, that two stages (the version of 2018) take as long as one, and a measured peak of 23.67 at 256 nodes; the rest are
pictures. Where the two stages do take longer (setting 4), p mod q ranks of A are left over in the second, a case that
the text of 2018 leaves open.

[bold]Why many ranks a node are different.[/] They share one network port. The exchange between the groups squeezes
through the nodes of the smaller group: with 32 ranks on each of 64 nodes it costs 1/32 or 1/14 of the lower bound M,
where it was 1/1024 or 1/448. After that, full duplex is one ring, and a ring is as fast as its slowest hop: here that
inside a node, 5 GB/s. Root gathering passes all data up to seven times, and all but two of these cross the faster
network. In the column marked * links inside a node are as fast as the network. What is left is the exchange, and
start-ups: 8 MB a node are 256 KB a rank, so a start-up is 4 % of a hop, and 16 % of a blocked ring's hop of 64 KB
(settings 2 to 4).

[bold]Why the blocked ring.[/] In settings 2 to 4 a rank of B receives 3 or 4 of A's blocks, and a rank of A a third or
a fourth of one of B's. A plain ring moves one part a hop, and some hop always has a larger one: it pays 4 where 3.57
are the mean. So does Bruck's algorithm, whose runs of neighbours are all of the larger kind for the first ranks. The
blocked ring moves blocks of one size, and a longer part is more of them.
"""


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--figure", type=int, choices=(4, 5, 6))
    reader.add_argument("--quick", action="store_true")
    said = reader.parse_args()
    screen = console()
    clusters = QUICK if said.quick else FULL
    numbers = {4: range(1, 5), 5: range(5, 9)}.get(said.figure, range(1, 9))
    jobs = [
        Job(number, cluster, size, name)
        for cluster, sizes in clusters.items()
        for size in sizes
        for number in numbers
        for name in algorithms(number)
        if said.figure != 6 or name != EUROMPI
    ]
    even = [*clusters][-1]._replace(even=True)
    if said.figure in (None, 6):
        jobs += [Job(number, even, SIZES[-1], name) for number in numbers for name in (OLD, NEW)]
    points = compute(jobs, screen)
    if said.figure in (None, 4):
        times_figure(screen, 4, range(1, 5), clusters, points)
    if said.figure in (None, 5):
        times_figure(screen, 5, range(5, 9), clusters, points)
    if said.figure in (None, 6):
        ratios_figure(screen, clusters, points, even)
        gathering_table(screen, 64 if said.quick else 256)
    paragraphs = WORDS.strip().split("\n\n")
    for paragraph in paragraphs if said.figure in (None, 6) else paragraphs[:1]:
        screen.print()
        screen.print(" ".join(paragraph.split()), width=min(screen.width, 100))


if __name__ == "__main__":
    main()
