"""A pipeline fills up, block by block: the blocked ring of Träff et al. (2008), and the ring that it improves on.

    python demos/04_blocked_ring.py               step by step
    python demos/04_blocked_ring.py --animate     as a film, both on one clock
"""

from time import sleep

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text
from screen import asked

import collectives
from fakempi import MPI, Hockney, run

COUNTS = (6, 0, 2, 0, 1, 1)  # rank 0 has much, some have nothing; one byte is one block here
OWNER = [rank for rank, count in enumerate(COUNTS) for _ in range(count)]
COLOURS = ("bright_blue", "", "green", "", "magenta", "cyan")


class Watched:
    """A communicator that takes down which blocks are there after each call, and when."""

    def __init__(self, comm, blocks, diary):
        self.comm, self.blocks, self.diary = comm, blocks, diary

    def __getattr__(self, name):
        def watched(*arguments):
            result = getattr(self.comm, name)(*arguments)
            self.diary.append((MPI.Wtime(), self.comm.Get_rank(), self.blocks > 0))
            return result

        return watched


def main(comm, algorithm, parameters, diary):
    """An allgatherv of bytes that are their block's number plus one."""
    rank, blocks = comm.Get_rank(), np.zeros(sum(COUNTS), np.uint8)
    start = sum(COUNTS[:rank])
    blocks[start : start + COUNTS[rank]] = np.arange(start, start + COUNTS[rank]) + 1
    algorithm.run(Watched(comm, blocks, diary), None, blocks, COUNTS, **parameters)
    assert blocks.tolist() == list(range(1, len(OWNER) + 1))


def film(name, **parameters):
    """What every rank has, time after time: {time: {rank: blocks}}."""
    diary, frames = [], {}
    algorithm, cost = collectives.find("allgatherv", name), Hockney(t_s=1, t_w=3, eager_limit=0)
    run(main, len(COUNTS), algorithm, parameters, diary, cost=cost)
    now = [None] * len(COUNTS)
    for time, rank, blocks in sorted(diary, key=lambda entry: entry[0]):
        now[rank] = blocks
        frames[time] = list(now)
    return frames


def row(blocks, before):
    """One rank's blocks: a small square for one that is there, a large one if it is new."""
    text = Text()
    for block, (is_there, was_there) in enumerate(zip(blocks, before, strict=True)):
        mark = "·" if not is_there else "▪" if was_there else "■"
        text.append(mark, COLOURS[OWNER[block]] if is_there else "dim")
    return text


def strip(frames, begin, end):
    """Some frames beside each other."""
    times = list(frames)
    shown = Table.grid(padding=(0, 1, 0, 0))
    shown.add_row("", *(Text(f"t = {time:g}") for time in times[begin:end]))
    for rank in range(len(COUNTS)):
        pairs = [(frames[times[at]][rank], frames[times[max(0, at - 1)]][rank]) for at in range(begin, min(end, len(times)))]
        shown.add_row(f"rank {rank} ", *(row(*pair) for pair in pairs))
    return shown


def animate(console, ring, blocked):
    """Both on one clock."""
    before = ring[0], blocked[0]
    with Live(console=console, auto_refresh=False) as live:
        for time in sorted({*ring, *blocked}):
            shown = Table.grid(padding=(0, 4, 0, 0))
            shown.add_row(f"t = {time:<4g}", "ring", "blocked ring")
            latest = [frames[max(moment for moment in frames if moment <= time)] for frames in (ring, blocked)]
            for rank in range(len(COUNTS)):
                cells = [row(frame[rank], old[rank]) for frame, old in zip(latest, before, strict=True)]
                shown.add_row(f"rank {rank}", *cells)
            ends = [f"done at {max(frames):g}" if time >= max(frames) else "" for frames in (ring, blocked)]
            shown.add_row("", *ends)
            live.update(shown, refresh=True)
            before = latest
            sleep(0.3)


if __name__ == "__main__":
    words, console = asked(__doc__, "--animate"), Console(width=80, highlight=False)
    ring, blocked = film("ring"), film("blocked_ring", block_bytes=1)
    if "--animate" in words:
        animate(console, ring, blocked)
    else:
        titles = "The ring sends a rank's blocks all at once", "The blocked ring sends them one by one"
        for title, frames in zip(titles, (ring, blocked), strict=True):
            console.print(f"{title}: done at t = {max(frames):g}", style="bold")
            for begin in range(0, len(frames), 6):
                console.print(strip(frames, begin, begin + 6))
                console.print()
