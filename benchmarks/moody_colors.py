"""Hash compared with Bitonic for four groups with random colors (Moody et al. 2011, Fig. 4), on the preset `dawn`.

    python benchmarks/moody_colors.py             64 and 1,024 ranks, a few minutes
    python benchmarks/moody_colors.py 64          only 64 ranks, seconds

The colors of moody_figures.py fall into four different bins in the first iteration of Hash, the fastest case. Random colors
may share a bin; then Hash needs more iterations. The modeled time depends only on the colors that share a bin in each
iteration, so there is one run for all sets of colors that agree in this (`sharing`).
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from random import Random
from statistics import median
from string import ascii_lowercase

from moody_cases import CYCLES, FEW, MACHINES
from rich.console import Console
from rich.table import Table

import collectives
import fakempi
from collectives.chain.hashing import HashedColor

SETS, SEED, LENGTH, BITS = 100, 2011, 5, 3
BINS = 2**BITS
SECONDS = CYCLES / MACHINES["dawn"][1]


def color_sets(count=SETS):
    """Sets of four random strings of five letters."""
    random = Random(SEED)
    return [tuple("".join(random.choices(ascii_lowercase, k=LENGTH)) for _ in range(FEW)) for _ in range(count)]


def sharing(colors, iteration=0):
    """The colors that share a bin, in this iteration and, within each bin, in the next ones: nested tuples."""
    if len(set(colors)) == 1:
        return len(colors)
    bins = [HashedColor(color, BITS).bin(iteration) for color in colors]
    parts = [tuple(place for place, each in enumerate(bins) if each == one) for one in dict.fromkeys(bins)]
    return tuple((part, sharing([colors[place] for place in part], iteration + 1)) for part in parts)


def seconds(name, ranks, colors):
    """Modeled time of a split without keys; rank r has color r mod 4."""
    algorithm = collectives.find("split", name, kind="split")

    def work(items):
        fakempi.compute(items * SECONDS)

    def main(comm):
        return algorithm.run(comm, colors[comm.Get_rank() % FEW], None, work=work, widths=(LENGTH, 0)).size

    run = fakempi.run(main, ranks, cost=MACHINES["dawn"][0]())
    assert set(run.returns) == {ranks // FEW}
    return run.time


def ratios(ranks, sets):
    """Bitonic / Hash for each set of colors; one run for sets with equal `sharing`."""
    example = {}
    for colors in sets:
        example.setdefault(sharing(colors), colors)

    @cache
    def ratio(pattern):
        return bitonic / seconds("hash", ranks, example[pattern])

    bitonic = seconds("bitonic", ranks, sets[0])
    return [ratio(sharing(colors)) for colors in sets]


def used(colors):
    """Number of bins that the colors use in the first iteration."""
    return len({HashedColor(color, BITS).bin(0) for color in colors})


def table(ranks, sets, found):
    """Number of sets, and the smallest, median and largest ratio, by the number of bins used."""
    shown = Table(box=None, pad_edge=False)
    for name in (f"{ranks:,} ranks: bins used", "sets", "smallest speedup", "median", "largest"):
        shown.add_column(name, justify="right")
    counts = Counter(map(used, sets))
    for bins in (*sorted(counts, reverse=True), None):
        some = [one for one, colors in zip(found, sets, strict=True) if bins in (None, used(colors))]
        numbers = [f"{of(some):.2f}" for of in (min, median, max)]
        shown.add_row("all" if bins is None else str(bins), str(len(some)), *numbers)
    return shown


def different_bins():
    """Probability that four random colors fall into four different bins of eight."""
    probability = 1.0
    for taken in range(FEW):
        probability *= (BINS - taken) / BINS
    return probability


if __name__ == "__main__":
    console, sets = Console(width=100, highlight=False), color_sets()
    console.print(
        f"Speedup of Hash over Bitonic: {SETS} sets of {FEW} random colors of {LENGTH} letters, seed {SEED}; {BINS} bins."
    )
    console.print(f"Probability that {FEW} random colors fall into {FEW} different bins: {different_bins():.2f}\n")
    for ranks in map(int, sys.argv[1:] or (64, 1024)):
        console.print(table(ranks, sets, ratios(ranks, sets)))
        console.print()
