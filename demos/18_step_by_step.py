"""Show an allgather between two groups step by step: which rank holds which block (Kang et al. 2019, Figs. 1 and 2).

    python demos/18_step_by_step.py               every step, p = 6 and q = 2, then p = 8 and q = 3
    python demos/18_step_by_step.py --animate     the same as an animation
    python demos/18_step_by_step.py 12 5          other group sizes

This program does not depend on the algorithm: it passes communicators that record what a rank holds after each receive.
"""

import argparse
from time import sleep

import numpy as np
from rich.console import Group
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from screen import console

import collectives
import fakempi
from fakempi import MPI, Hockney

K = 3  # one-byte elements in the block of each rank: a message of n elements takes n units of time
BLOCKS_OF_A, BLOCKS_OF_B = "0123456789ABCDEF", "uvwxyzstrq"
COLORS_OF_A = (203, 209, 215, 221, 185, 149, 113, 78)
COLORS_OF_B = (75, 141, 80, 105, 69)


class Recorder:
    """A communicator that records every message that its rank has received."""

    def __init__(self, comm, record):
        self.comm, self.record = comm, record

    def __getattr__(self, name):
        method = getattr(self.comm, name)

        def call(*args):
            result = method(*args)
            if name in SOURCE:
                self.record(args[SOURCE[name]])
            return result

        return call


SOURCE = {"Sendrecv": 4, "Recv": 1}  # index of the argument that names the source


def observe(p, q):
    """Run the algorithm on p + q ranks; return the records of each rank (time, blocks, source) and the run."""
    names = BLOCKS_OF_A[:p] + BLOCKS_OF_B[:q]
    records = {rank: [] for rank in range(p + q)}

    def main(comm):
        rank, in_a, start = comm.Get_rank(), comm.Get_rank() < p, MPI.Wtime()
        own, other = (0, p) if in_a else (p, 0)
        local = comm.Split(own, rank)
        inter = local.Create_intercomm(0, comm, other)
        mine = np.full(K, ord(names[rank]), np.uint8)
        held = np.full(K * inter.Get_remote_size(), ord("."), np.uint8)

        def record(source):
            records[rank].append((MPI.Wtime() - start, held.tobytes().decode(), source))

        record(None)
        algorithm = collectives.find("allgather", "full_duplex", kind="inter")
        between = Recorder(inter, lambda source: record(other + source))
        within = Recorder(local, lambda source: record(own + source))
        algorithm.run(between, within, mine, held)

    return records, fakempi.run(main, p + q, cost=Hockney(t_s=0, t_w=1, eager_limit=0))


def steps(p, q):
    """One picture for each time at which a rank has received a message."""
    seen, run = observe(p, q)
    before = [""] * (p + q)
    for now in sorted({time for records in seen.values() for time, _, _ in records}):
        holds = [[blocks for time, blocks, _ in records if time <= now][-1] for records in seen.values()]
        arrived = [(source, rank) for rank, records in seen.items() for time, _, source in records if time == now > 0]
        yield Group(headline(now, arrived, p), picture(p, q, holds, before))
        before = holds
    bound = max(p, q) * K
    theorem = f"Theorem 1: at most {bound + K}." if p % q == 0 else "Theorem 1 holds only if q divides p."
    yield Text(
        f"{run.messages} messages, done at t = {run.time:g}. No rank of B can receive {p} blocks before M = {bound}. "
        f"{theorem}"
    )


def headline(now, arrived, p):
    """The time, and the messages that have arrived since the last step."""

    def name(rank):
        return f"a{rank}" if rank < p else f"b{rank - p}"

    across = sorted({(min(pair), max(pair)) for pair in arrived if (pair[0] < p) != (pair[1] < p)})
    parts = ["  ".join(f"{name(a)}⇄{name(b)}" for a, b in across)] if across else []
    for group, inside in (("A", [x for x in arrived if max(x) < p]), ("B", [x for x in arrived if min(x) >= p])):
        if inside:
            arrows = "  ".join(f"{name(source)}→{name(rank)}" for source, rank in inside)
            parts.append(f"{group} forwards: {arrows if len(inside) < 4 else f'{len(inside)} parts'}")
    return Text.assemble((f"t = {now:<4g}", "bold"), "   ".join(parts))


def picture(p, q, holds, before):
    """Two grids: the blocks of B that ranks of A hold, and the blocks of A that ranks of B hold."""
    both = Table.grid(padding=(0, 3, 0, 0))
    both.add_row(grid("a", holds[:p], before[:p]), grid("b", holds[p:], before[p:]))
    return both


def grid(letter, holds, before):
    rows = []
    for rank, (current, previous) in enumerate(zip(holds, before, strict=True)):
        row = Text(f"{letter}{rank:<2} ", "bold", no_wrap=True)
        for place, block in enumerate(current):
            new = bool(previous) and previous[place] != block
            row.append(f" {'·' if block == '.' else block}", style_of(block, new))
        rows.append(row)
    return Group(*rows)


def style_of(block, new):
    """The color of a block; new blocks are bold."""
    if block == ".":
        return "not bold bright_black"
    if block in BLOCKS_OF_A:
        color = COLORS_OF_A[BLOCKS_OF_A.index(block) % len(COLORS_OF_A)]
    else:
        color = COLORS_OF_B[BLOCKS_OF_B.index(block) % len(COLORS_OF_B)]
    return f"{'bold underline' if new else 'not bold'} color(16) on color({color})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "groups", nargs="*", type=int, default=[6, 2, 8, 3], metavar="p q", help="sizes of the groups, in pairs"
    )
    parser.add_argument("--animate", action="store_true", help="show the steps as an animation, on a terminal")
    options = parser.parse_args()
    pairs = list(zip(options.groups[::2], options.groups[1::2], strict=False))
    if len(options.groups) % 2 or not all(1 <= q <= min(p, len(BLOCKS_OF_B)) and p <= len(BLOCKS_OF_A) for p, q in pairs):
        parser.error(f"groups must be pairs p q with q <= p, p <= {len(BLOCKS_OF_A)} and q <= {len(BLOCKS_OF_B)}")
    screen = console()
    for p, q in pairs:
        screen.print(Rule(f"p = {p} ranks in A, q = {q} in B, every block {K} bytes"))
        if options.animate and screen.is_terminal:
            with Live(console=screen, auto_refresh=False) as live:
                shown = Text()
                for step in steps(p, q):
                    shown = Group(shown, step) if isinstance(step, Text) else step  # the summary below the last picture
                    live.update(shown, refresh=True)
                    sleep(1)
        else:
            *pictures, last = steps(p, q)
            per_row = max(1, screen.width // (2 * K * (p + q) + 13))
            for first in range(0, len(pictures), per_row):
                row = Table.grid(padding=(0, 4, 0, 0))
                row.add_row(*pictures[first : first + per_row])
                screen.print(row)
                screen.print()
            screen.print(last)


if __name__ == "__main__":
    main()
