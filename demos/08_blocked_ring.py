"""Show how a pipeline fills, block by block: the blocked ring of Träff et al. (2008), compared with the ring.

    python demos/08_blocked_ring.py               step by step
    python demos/08_blocked_ring.py --animate     as an animation, both on one clock
"""

from time import sleep

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text
from screen import arguments

import collectives
from fakempi import MPI, Hockney, run

COUNTS = (6, 0, 2, 0, 1, 1)  # rank 0 has most blocks, two ranks have none; a block is one byte
OWNER = [rank for rank, count in enumerate(COUNTS) for _ in range(count)]
COLORS = ("bright_blue", "", "green", "", "magenta", "cyan")


class Recorder:
    """A communicator that records the time since its creation and the blocks of its rank after each call."""

    def __init__(self, comm, blocks, records):
        self.comm, self.blocks, self.records, self.created = comm, blocks, records, MPI.Wtime()

    def __getattr__(self, name):
        def recorded(*values):
            result = getattr(self.comm, name)(*values)
            self.records.append((MPI.Wtime() - self.created, self.comm.Get_rank(), self.blocks > 0))
            return result

        return recorded


def main(comm, algorithm, parameters, records):
    """Gather bytes whose value is the number of their block plus one."""
    rank, blocks = comm.Get_rank(), np.zeros(sum(COUNTS), np.uint8)
    start = sum(COUNTS[:rank])
    blocks[start : start + COUNTS[rank]] = np.arange(start, start + COUNTS[rank]) + 1
    algorithm.run(Recorder(comm, blocks, records), None, blocks, COUNTS, **parameters)
    assert blocks.tolist() == list(range(1, len(OWNER) + 1))


def states(name, **parameters):
    """The blocks of every rank over time: {time: {rank: blocks}}."""
    records, frames = [], {}
    algorithm, cost = collectives.find("allgatherv", name), Hockney(t_s=1, t_w=3, eager_limit=0)
    run(main, len(COUNTS), algorithm, parameters, records, cost=cost)
    now = [None] * len(COUNTS)
    for time, rank, blocks in sorted(records, key=lambda entry: entry[0]):
        now[rank] = blocks
        frames[time] = list(now)
    return frames


def row(blocks, before):
    """The blocks of one rank: a small square for a block that it has, a large one for a new block."""
    text = Text()
    for block, (is_there, was_there) in enumerate(zip(blocks, before, strict=True)):
        mark = "·" if not is_there else "▪" if was_there else "■"
        text.append(mark, COLORS[OWNER[block]] if is_there else "dim")
    return text


def strip(frames, begin, end):
    """Some states side by side."""
    times = list(frames)
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row("", *(Text(f"t = {time:g}") for time in times[begin:end]))
    for rank in range(len(COUNTS)):
        indices = range(begin, min(end, len(times)))
        pairs = [(frames[times[i]][rank], frames[times[max(0, i - 1)]][rank]) for i in indices]
        grid.add_row(f"rank {rank} ", *(row(*pair) for pair in pairs))
    return grid


def animate(console, ring, blocked):
    """Show both algorithms on one clock."""
    before = ring[0], blocked[0]
    with Live(console=console, auto_refresh=False) as live:
        for time in sorted({*ring, *blocked}):
            grid = Table.grid(padding=(0, 4, 0, 0))
            grid.add_row(f"t = {time:<4g}", "ring", "blocked ring")
            latest = [frames[max(moment for moment in frames if moment <= time)] for frames in (ring, blocked)]
            for rank in range(len(COUNTS)):
                cells = [row(frame[rank], old[rank]) for frame, old in zip(latest, before, strict=True)]
                grid.add_row(f"rank {rank}", *cells)
            ends = [f"done at {max(frames):g}" if time >= max(frames) else "" for frames in (ring, blocked)]
            grid.add_row("", *ends)
            live.update(grid, refresh=True)
            before = latest
            sleep(0.3)


if __name__ == "__main__":
    words, console = arguments(__doc__, "--animate"), Console(width=80, highlight=False)
    ring, blocked = states("ring"), states("blocked_ring", block_bytes=1)
    if "--animate" in words:
        animate(console, ring, blocked)
    else:
        titles = "The ring sends all blocks of a rank in one message", "The blocked ring sends one block per message"
        for title, frames in zip(titles, (ring, blocked), strict=True):
            console.print(f"{title}: done at t = {max(frames):g}", style="bold")
            for begin in range(0, len(frames), 6):
                console.print(strip(frames, begin, begin + 6))
                console.print()
