"""Model Figs. 4, 5 and 6 of Kang et al. (2019): allgather between two groups, by root gathering and full duplex.

    python demos/20_kang_figures.py               all figures, with two sizes on 64 ranks
    python demos/20_kang_figures.py --more        256 and 2,048 ranks, too, in less than a minute of CPU time
    python demos/20_kang_figures.py --full        all sizes for all clusters; ten minutes of CPU time
    python demos/20_kang_figures.py --figure 6    one figure; 6 has the ratios
    python demos/20_kang_figures.py --csv FILE    also write the points, in seconds

With --more there are all eight sizes for 64 ranks, the smallest and the largest for 256, and for 2,048 the ratios of Fig. 6
at the largest, without settings 6 and 7, whose ratios differ from those of 5 and 8 by about 2 % or less. The output of
--full is in benchmarks/kang_figures.out.
"""

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from kang_settings import (
    CLUSTERS,
    PUBLISHED,
    SIZES,
    Cluster,
    Job,
    algorithms,
    seconds,
    to_bound,
    with_default_blocks,
    with_slow_hop,
)
from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.rule import Rule
from rich.table import Table
from screen import console

from fakempi.view.numbers import short_binary
from fakempi.view.plot import color, plot

OLD, EUROMPI, NEW, RING, SOURCE = "root_gathering_mpich", "two_stage", "full_duplex", "root_gathering_ring", "wmpi"
CURVES = {OLD: "root gathering", EUROMPI: "two stages", NEW: "full duplex", RING: "by a ring", SOURCE: "remote gather"}
STYLES = {OLD: color(0), NEW: color(1), EUROMPI: color(2), RING: color(2), SOURCE: color(3)}  # in the order of the curves
PAPER = {OLD: "limit {:.2f}", EUROMPI: "as full d.", NEW: "", RING: "max 23.67", SOURCE: ""}
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
SHORT = dict(zip(CLUSTERS, (SIZES, SIZES[::7], SIZES[-1:]), strict=True))
FULL = dict.fromkeys(CLUSTERS, SIZES)


def compute(jobs):
    """Compute all points on all cores, with a progress bar if stderr is a terminal."""
    screen = Console(stderr=True)
    columns = TextColumn("[bold]modeling"), BarColumn(None), MofNCompleteColumn(), TimeElapsedColumn()
    points = {}
    with ProcessPoolExecutor() as pool:
        # Long jobs first, so that all cores finish together; submitted before the progress bar starts a thread.
        waiting = {pool.submit(seconds, job): job for job in sorted(jobs, key=cost_of, reverse=True)}
        with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
            for done in bar.track(as_completed(waiting), total=len(jobs)):
                points[waiting[done]] = done.result()
    return points


def cost_of(job):
    return job.cluster.ranks, job.size


def times_figure(screen, figure, numbers, clusters, points):
    """Figs. 4 and 5: completion time over size, one plot for each setting and cluster, and a table."""
    for cluster, sizes in clusters.items():
        screen.print(Rule(f"Fig. {figure} · {cluster.ranks} ranks on {cluster.nodes} nodes · ms over bytes per node"))
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
    """The numbers of the plots; `ratio` is relative to full duplex at the largest size, next to the paper's text."""
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("ms", no_wrap=True)
    for size in sizes:
        table.add_column(short_binary(size), justify="right", no_wrap=True)
    table.add_column("ratio", justify="right", style="bold")
    table.add_column("paper", no_wrap=True)
    for number in numbers:
        table.add_row(f"[bold]setting {number}[/]")
        for name in algorithms(number, cluster.ranks_per_node):
            times = [1e3 * points[Job(number, cluster, size, name)] for size in sizes]
            new = points[Job(number, cluster, sizes[-1], NEW)]
            ratio, published = f"{times[-1] / 1e3 / new:.2f}", PAPER[name].format(PUBLISHED[number])
            table.add_row(f" {CURVES[name]}", *map(three_digits, times), ratio, published, style=STYLES[name])
    return table


def three_digits(time):
    return f"{time:.0f}" if time >= 100 else f"{time:#.3g}"


def write(path, points):
    """Write one line per point."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for (number, cluster, size, name), time in sorted(points.items()):
            rows.writerow([4 if number < 5 else 5, number, *cluster[:2], int(cluster.even), size, name, time])


def curves_of(clusters):
    """The clusters with more than one size."""
    return {cluster: sizes for cluster, sizes in clusters.items() if len(sizes) > 1}


def ratio(points, number, cluster, size):
    return points[Job(number, cluster, size, OLD)] / points[Job(number, cluster, size, NEW)]


def ratios_figure(screen, clusters, points, even):
    """Fig. 6: root gathering over full duplex; clusters with one size are only in the table."""
    pictures = []
    wide = screen.width >= 150
    for cluster, sizes in curves_of(clusters).items():
        curves = {str(n): [(size, ratio(points, n, cluster, size)) for size in sizes] for n in PUBLISHED}
        title = f"Fig. 6 · {cluster.ranks} ranks, {cluster}"
        width = screen.width // len(curves_of(clusters)) - 2 if wide else screen.width - 2
        pictures.append(plot(curves, width=width, height=14, x_log=True, title=title, x_label="bytes per node"))
    screen.print(Columns(pictures, padding=(0, 1)) if wide else pictures[0])
    if not wide:
        for picture in pictures[1:]:
            screen.print(picture)
    screen.print()
    table = Table(title="Root gathering / full duplex at 8 MB per node", box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("setting")
    table.add_column("paper's limit", justify="right", style="bold")
    for cluster in (*clusters, even):
        table.add_column(f"{cluster}{'*' if cluster.even else ''}", justify="right")
    for number, limit in PUBLISHED.items():
        there = [Job(number, cluster, SIZES[-1], NEW) in points for cluster in (*clusters, even)]
        cells = [
            f"{ratio(points, number, cluster, SIZES[-1]):.2f}" if computed else "-"
            for cluster, computed in zip((*clusters, even), there, strict=True)
        ]
        table.add_row(f"{number}  {SETTINGS[number]}", f"{limit:.2f}", *cells)
    screen.print(table)


def gathering_table(screen, ranks):
    """Settings 2 to 4: the effect of unequal parts on the allgather within the groups."""
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


def block_size_table(screen, cluster, points):
    """Settings 2 to 4: the speedup with the block size of this demo, with the default one, and with a plain ring."""
    table = Table(title=f"Root gathering / full duplex at 8 MB per node, {cluster}, by the allgather inside", box=None)
    table.header_style, table.padding = "bold", (0, 2, 0, 0)
    table.add_column("setting")
    for name in ("blocks of 1/12 of\nthe largest block", "default blocks,\n64 KB", "plain ring"):
        table.add_column(name, justify="right")
    for number in (2, 3, 4):
        old = points[Job(number, cluster, SIZES[-1], OLD)]
        times = [points[Job(number, cluster, SIZES[-1], NEW)]]
        times += [with_default_blocks(number, cluster, name) for name in ("blocked_ring", "ring")]
        table.add_row(f"{number}  {SETTINGS[number]}", *(f"{old / time:.2f}" for time in times))
    screen.print()
    screen.print(table)


def slow_hop_table(screen, ranks):
    """Setting 5: the explanation of the paper for its peak, and the condition under which it holds."""
    table = Table(title=f"Setting 5, {ranks} x 1, 8 MB per node, with one slow hop in each group's ring: ms", box=None)
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


NOTES = """
[bold]Origin of the numbers.[/] Links are an estimate of Cori's: 1.3 us and 8 GB/s between nodes, 0.5 us and 5 GB/s inside
them, so compare only shapes and ratios. With one rank per node, times are [bold]computed[/] from the algorithms' claims,
which the tests compare with the emulator. With more ranks per node, runs are [bold]emulated[/] with phantom buffers, except
the hops of rings, which are [bold]computed[/] from their recurrence. The text of the paper gives the limits of Eq. 5, says
that two stages (the version of 2018) take the same time as one, and gives a measured peak of 23.67 at 256 nodes; the rest
are figures, which our copy of the paper does not have. Sizes are those of the paper's x axis, 64 KB to 8 MB of the largest
block, per node. Two stages take longer in setting 4, because p mod q ranks of A are left over in the second stage, a case
that the text of 2018 leaves open. They take less time with 32 short blocks per node, because they have fewer start-ups:
their rings have q and p / q ranks instead of p.

[bold]Fig. 5, how the library gathers.[/] The paper's Eq. 2 has a tree or a star: "root gathering". Its section 5 says
that MPICH's Allgatherv gathers to the roots by a ring: "by a ring". On equal links and with equal blocks both take the same
time, as the paper says. With rising blocks (6 and 8) the ring takes longer, because every step waits for its longest
block. MPICH's public source does neither: each rank sends its block to the root of the other group, in both directions at
the same time except for one block, and then both groups broadcast: "remote gather", which takes at most 3 M where Eq. 2 has
up to 7 M. The algorithm of Cray's library is not public, and none of these three reaches the peak of 23.67 on equal links.

[bold]Small sizes.[/] The paper finds that full duplex is not always faster for short messages. In the model it is, from
64 KB per node on: the model has start-ups and bytes, but no cold start, no copies and no other network traffic.

[bold]Many ranks per node.[/] They share one network port. The exchange between the groups has to pass through the nodes of
the smaller group: with 32 ranks on each of 64 nodes it costs 1/32 or 1/14 of the lower bound M, instead of 1/1024 or 1/448.
After that, full duplex is one ring, and a ring is as fast as its slowest hop, here the hop inside a node (5 GB/s). Root
gathering moves all data up to seven times, and all but two of these passes use the faster network. In the column marked *
links inside a node are as fast as the network. The remaining difference is the exchange, and start-ups: 8 MB per node are
256 KB per rank, so a start-up is 4 % of a hop, and 16 % of a blocked ring's hop of 64 KB (settings 2 to 4).

[bold]The peak of 23.67.[/] The paper explains it by the ring gather: Cori is not fully connected, so every step of the
ring waits for its slowest hop. In the table above one hop of each group's ring is slower by the given factor, and all
messages are emulated. If the allgather inside full duplex is also a ring, it waits for the same hop, and the ratio falls
towards 3. It comes near the peak only if the inner allgather is not a ring (Bruck's, for example), with a hop that is about
eight times slower. The explanation is therefore right if Cray's Allgatherv within a group is not a ring, which the paper
does not say.

[bold]Why the blocked ring.[/] In settings 2 to 4 a rank of B receives 3 or 4 of A's blocks, and a rank of A a third or
a fourth of one of B's. A plain ring moves one part per hop, and one of the hops always has a larger part: it pays for 4
where the mean is 3.57. So does Bruck's algorithm, whose runs of neighbors all have the larger parts on the first ranks. The
blocked ring moves blocks of one size, and a longer part has more of them. Its block size here is a twelfth of the largest
block, so that thirds and fourths are whole blocks, but at least 64 KB. With the default of 64 KB each hop has a start-up of
1.3 us for 8.2 us of bytes.
"""


def jobs_of(figure, clusters, even):
    """The points that a figure needs, or all figures if it is None."""
    numbers = {4: range(1, 5), 5: range(5, 9)}.get(figure, range(1, 9))
    jobs = [
        Job(number, cluster, size, name)
        for cluster, sizes in (curves_of(clusters) if figure in (4, 5) else clusters).items()
        for size in sizes
        for number in numbers
        for name in algorithms(number, cluster.ranks_per_node)
        if (len(sizes) > 1 and figure != 6) or (name in (OLD, NEW) and (len(sizes) > 1 or number not in (6, 7)))
    ]
    if figure in (None, 6):
        with_even_links = [1] if clusters is SHORT else numbers
        jobs += [Job(number, even, SIZES[-1], name) for number in with_even_links for name in (OLD, NEW)]
    return jobs


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--figure", type=int, choices=(4, 5, 6))
    reader.add_argument("--more", action="store_true")
    reader.add_argument("--full", action="store_true")
    reader.add_argument("--csv", type=Path, metavar="FILE")
    options = reader.parse_args()
    screen = console()
    clusters = FULL if options.full else SHORT if options.more else QUICK
    large = options.full or options.more
    even = [*clusters][-1]._replace(even=True)
    points = compute(jobs_of(options.figure, clusters, even))
    if options.csv:
        write(options.csv, points)
    if options.figure in (None, 4):
        times_figure(screen, 4, range(1, 5), curves_of(clusters), points)
    if options.figure in (None, 5):
        times_figure(screen, 5, range(5, 9), curves_of(clusters), points)
    if options.figure in (None, 6):
        ratios_figure(screen, clusters, points, even)
        gathering_table(screen, 256 if large else 64)
        block_size_table(screen, Cluster(64, 1), points)
        slow_hop_table(screen, 64 if large else 32)
    paragraphs = NOTES.strip().split("\n\n")
    for paragraph in paragraphs if options.figure in (None, 6) else paragraphs[: options.figure - 3]:
        screen.print()
        screen.print(" ".join(paragraph.split()), width=min(screen.width, 100))


if __name__ == "__main__":
    main()
