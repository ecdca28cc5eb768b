"""Load balance: one process has half of all data. The ring's time is mostly idle, the blocked ring's is not.

    python demos/05_load_balance.py                      96 ranks, traced on the emulator
    python demos/05_load_balance.py --ranks 4096         on paper, half a minute
    python demos/05_load_balance.py --svg balance.svg    the picture as a file

Träff et al. (2008) show this picture for 96 processes. With 4,096 the blocked ring sends 29 million messages: they are
walked through on paper, which the tests hold to be what the emulator does, and every 32nd rank is drawn.
"""

import argparse
import sys

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.terminal_theme import TerminalTheme

import collectives
from collectives.distributions import spike
from collectives.pipeline import OnPaper
from fakempi import Hockney, phantom, run
from fakempi.trace.columns import COMPUTES, REGIONS, TRANSFERS, Columns
from fakempi.view.numbers import seconds
from fakempi.view.timeline import timeline

T_S, T_W = 2e-6, 1e-9  # 2 us to start a message, 1 GB/s
BLOCK = 32 * 1024

# Rich's own theme shows yellow as orange.
BLACK, WHITE, BLUE, YELLOW, GREEN = (30, 32, 36), (225, 225, 225), (40, 100, 190), (240, 200, 60), (60, 150, 80)
COLOURS = [BLACK, WHITE, GREEN, YELLOW, BLUE, WHITE, WHITE, WHITE]
THEME = TerminalTheme(BLACK, WHITE, COLOURS, COLOURS)


def traced(name, counts, **parameters):
    """A run on the emulator, with phantom payloads."""

    def main(comm):
        mine, everything = phantom(counts[comm.Get_rank()]), phantom(sum(counts))
        collectives.find("allgatherv", name).run(comm, mine, everything, counts, **parameters)

    return run(main, len(counts), cost=Hockney(T_S, T_W, eager_limit=0), trace=True).trace


def on_paper(counts, block, every):
    """The transfers of every so many ranks, by the recurrence; the ring is the case of one block each."""
    parts, last = [], 0
    for source, dest, begin, end in OnPaper(counts, block, 1, 1).walk(T_S, T_W):
        drawn = np.flatnonzero((source % every == 0) | (dest % every == 0))
        rows = np.zeros(drawn.size, TRANSFERS.dtype)
        rows["source"], rows["dest"], rows["start"] = source[drawn], dest[drawn], begin[drawn]
        rows["sent"] = rows["arrived"] = end[drawn]
        parts.append(rows)
        last = max(last, end.max(initial=0))
    nothing = np.zeros(0, COMPUTES.dtype), np.zeros(0, REGIONS.dtype)
    return Columns([last] * len(counts), [], [], np.concatenate(parts), *nothing)


def beside_each_other(ring, blocked, ranks):
    """Each on a scale of its own, or the shorter one could not be seen."""
    shown = Table.grid(padding=(0, 1, 0, 0))
    shown.add_row(
        timeline(ring, width=40, title=f"linear ring, {seconds(ring.time)}", ranks=ranks),
        timeline(blocked, width=39, title=f"blocked ring, {seconds(blocked.time)}", ranks=ranks),
    )
    return shown


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--ranks", type=int, default=96)
    options.add_argument("--svg", metavar="FILE")
    chosen = options.parse_args()
    every = -(-chosen.ranks // 128)
    counts = spike(int(chosen.ranks * (4 if every == 1 else 1.5) * BLOCK), chosen.ranks)
    if every == 1:
        ring, blocked = traced("ring", counts), traced("blocked_ring", counts, block_bytes=BLOCK)
    else:
        ring, blocked = on_paper(counts, max(counts), every), on_paper(counts, BLOCK, every)
    console = Console(width=80, highlight=False, record=bool(chosen.svg))
    console.print(f"{chosen.ranks} ranks, rank 0 has half of {sum(counts) / 2**20:.0f} MB, blocks of {BLOCK >> 10} KB")
    console.print(beside_each_other(ring, blocked, range(0, chosen.ranks, every)))
    if chosen.svg:
        console.save_svg(chosen.svg, title="python " + " ".join(sys.argv), theme=THEME)
