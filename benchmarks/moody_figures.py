"""Figs. 3, 4 and 5 of Moody, Ahn and de Supinski 2011 in modeled time, with the ratios of the paper and the model.

    python benchmarks/moody_figures.py               16 to 1,024 ranks, several minutes
    python benchmarks/moody_figures.py --full        to 65,536 ranks: three or four hours on two cores, 2 GiB each
    python benchmarks/moody_figures.py --kept --keep benchmarks/moody_points.jsonl --full      only stored points
    python benchmarks/moody_figures.py --upto 16384 --processes 4 --keep points.jsonl

With `--keep` each point is stored as soon as it is computed, and not computed again. The points of moody_figures.out are in
moody_points.jsonl: `--full --keep benchmarks/moody_points.jsonl --kept` draws them. Machines, data and the cost of local
work are in moody_cases.py.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from itertools import product
from multiprocessing import Pool
from pathlib import Path

from moody_cases import ALL, CYCLES, FEW, MACHINES, Case, Result, cases, measure, representative, same_runs, same_time
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

SIZES = [16, 64, 256, 1024, 4096, 16384, 65536, 131072]
Points = dict[Case, Result]

SORTS = [
    ("Allgather\nGroup", "allgather_group", False), ("Allgather\nMPI", "allgather_mpi", False),
    ("Gather\nScatter", "gather_scatter", False), ("best\nCheng", "cheng", False), ("Bitonic", "bitonic", False),
    ("Radix", "radix", False), ("Radix,\nwide", "radix", True),
]  # fmt: skip
SPLITS = [("Bitonic", "bitonic"), ("Hash", "hash"), ("Hash64", "hash64")]


def collect(wanted: list[Case], processes: int, keep: Path | None, console: Console) -> Points:
    """All points: the stored ones, and the others computed by a pool of processes."""
    points: Points = {}
    if keep is not None and keep.exists():
        for line in keep.read_text(encoding="utf-8").splitlines():
            case, found = json.loads(line)
            points[Case(*case)] = Result(*found)
    left = [case for case in wanted if case not in points]
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress, Pool(processes, maxtasksperchild=4) as pool:
        bar = progress.add_task("points", total=len(left))
        for case, found in pool.imap_unordered(measure, left):
            points[case] = found
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([case, found]) + "\n")
            progress.update(bar, advance=1, description=case.name)
    return points


def time_of(points: Points, case: Case) -> float | None:
    """Modeled seconds; for Cheng the minimum over all M."""
    if case.algorithm != "cheng":
        found = points.get(case) or points.get(representative(case))
        return None if found is None else found.time
    same = [found.time for other, found in points.items() if other._replace(M=0) == case]
    return min(same, default=None)


def shown(seconds: float | None) -> str:
    """Microseconds as text."""
    return "-" if seconds is None else f"{seconds * 1e6:,.0f}"


def figure_3(points: Points, machine: str, sizes: Iterable[int]) -> Table:
    """Reorder without split, by an integer key."""
    table = Table(title=f"Fig. 3, {machine}: reorder without split, modeled us", title_justify="left")
    table.add_column("ranks", justify="right")
    for title, _, _ in SORTS:
        table.add_column(title, justify="right")
    for ranks in sizes:
        times = [time_of(points, Case(3, machine, name, ranks, wide=wide)) for _, name, wide in SORTS]
        if any(times):
            least = min(one for one in times if one is not None)
            cells = [f"[bold]{shown(one)}[/]" if one == least else shown(one) for one in times]
            table.add_row(f"{ranks:,}", *cells)
    return table


def figure_4_or_5(points: Points, figure: int, machine: str, groups: str, sizes: Iterable[int]) -> Table:
    """Split by strings, without or with keys."""
    what = "without reorder" if figure == 4 else "with reorder"
    into = f"{FEW} groups" if groups == "few" else "N groups"
    table = Table(title=f"Fig. {figure}, {machine}: split {what}, {into}, modeled us", title_justify="left")
    table.add_column("ranks", justify="right")
    for length in (5, 80):
        for title, _ in SPLITS:
            table.add_column(f"{title}\n{length} chars", justify="right")
    for ranks in sizes:
        row: list[str] = []
        for length in (5, 80):
            times = [time_of(points, Case(figure, machine, name, ranks, length, groups)) for _, name in SPLITS]
            least = min((one for one in times if one is not None), default=None)
            row += [f"[bold]{shown(one)}[/]" if one is not None and one == least else shown(one) for one in times]
        if set(row) != {"-"}:
            table.add_row(f"{ranks:,}", *row)
    return table


def ratios(points: Points, sizes: list[int]) -> Table:
    """The ratios of the paper at 64K ranks, and of the model at `ALL` and at the largest number of ranks, where computed."""
    table = Table(title="Speedups on dawn; those of the paper are at 64K ranks unless marked 'at 16'", title_justify="left")
    for name in ("speedup of", "paper", "model", "at ranks"):
        table.add_column(name, justify="left" if name == "speedup of" else "right")

    def line(what: str, paper: str, *pairs: tuple[Case, Case], only: int | None = None) -> None:
        for ranks in [only] if only else sorted({min(ALL, sizes[-1]), sizes[-1]}):
            both = [[time_of(points, case._replace(ranks=ranks)) for case in pair] for pair in pairs]
            found = [slow / fast for slow, fast in both if slow is not None and fast is not None]
            if found:
                ends = sorted({f"{min(found):.2f}", f"{max(found):.2f}"}, key=float)
                table.add_row(what, paper, " to ".join(ends), f"{ranks:,}")

    bitonic = Case(3, "dawn", "bitonic", 0)
    for wide, words in ((False, "keys 0 .. N-1 of 32 bits"), (True, "keys of 31 random bits")):
        radix = Case(3, "dawn", "radix", 0, wide=wide)
        line(f"Bitonic over Radix, {words}", "5.5 at 16", (radix, bitonic), only=16)
        line(f"Bitonic over Radix, {words}", "3.0", (radix, bitonic))
    for title, name, paper in (
        ("AllgatherGroup", "allgather_group", "100"), ("AllgatherMPI", "allgather_mpi", "100"),
        ("GatherScatter", "gather_scatter", "100"), ("the best Cheng", "cheng", "4.4"),
    ):  # fmt: skip
        line(f"Bitonic over {title}", paper, (Case(3, "dawn", name, 0), bitonic))
    for figure, groups, paper, words in (
        (4, "few", "1.7 to 2.1", "split, few groups"), (4, "many", "about 1", "split, N groups"),
        (5, "few", "below 1", "split and reorder, few groups"), (5, "many", "about 1", "split and reorder, N groups"),
    ):  # fmt: skip
        for name in ("hash", "hash64"):
            slow = [Case(figure, "dawn", "bitonic", 0, length, groups) for length in (5, 80)]
            line(f"{name.title()} over Bitonic, {words}", paper, *[(one, one._replace(algorithm=name)) for one in slow])
    return table


NOTES = [
    f"Local work: {CYCLES} cycles per item compared or moved, at 850 MHz (dawn) and 2.8 GHz (sierra): an estimate.",
    "Above 1,024 ranks splits by allgather run with phantoms: the same messages and work, so the same modeled time.",
    f"Above {ALL:,} ranks one run represents several equal ones: Hash64 on few groups equals Hash, and Hash takes the same "
    f"time for 80 characters as for 5 on few groups, and with keys as without on N groups. Where both were run, they were "
    f"equal.",
    "Differences between model and paper:",
    "Radix. The paper does not say which keys it uses. For keys 0 .. N-1 in 32 bits most digits are equal, and their "
    "scans separate no ranks; random keys are separated after log16 N digits, and Radix is as fast as Bitonic. The "
    "paper's ratios are closer to the former.",
    f"Serial sorts. The model charges bandwidth and {CYCLES} cycles per item, but no caches, no memory, and no contention "
    f"in the network beyond the ports of a node.",
    "Sierra. Twelve processes share a port. A tree, and Cheng's sort, send less between nodes than Bitonic: in the model "
    "they are faster at 1,024 ranks.",
    "N groups. In the model a process that is alone in its bin is finished, and adding tables and hashing cost nothing.",
]


def main() -> None:
    """Draw the figures."""
    parser = argparse.ArgumentParser(description="Figs. 3, 4 and 5 of Moody et al. 2011 in modeled time.")
    parser.add_argument("--full", action="store_true", help="up to 65,536 ranks")
    parser.add_argument("--upto", type=int, default=1024, help="largest number of ranks, at most 131,072 (1,024)")
    parser.add_argument("--processes", type=int, default=2, help="number of worker processes (2)")
    parser.add_argument("--keep", type=Path, help="file that stores points; stored points are not computed again")
    parser.add_argument("--only", type=int, choices=(3, 4, 5), help="draw only this figure")
    parser.add_argument("--kept", action="store_true", help="compute nothing: draw only stored points")
    options = parser.parse_args()
    console = Console(highlight=False, width=110)
    sizes = [size for size in SIZES if size <= (65536 if options.full else options.upto)]
    wanted = [case for case in cases(sizes) if options.only in (None, case.figure)]
    same_time()
    points = collect([] if options.kept else wanted, options.processes, options.keep, console)
    same_runs(points)
    drawn = [figure_3(points, machine, sizes) for machine in MACHINES]
    for machine, figure, groups in product(MACHINES, (4, 5), ("few", "many")):
        drawn.append(figure_4_or_5(points, figure, machine, groups, sizes))
    for table in drawn:
        if table.row_count:
            console.print(table)
    console.print(ratios(points, sizes))
    console.print("", *NOTES, sep="\n")


if __name__ == "__main__":
    main()
