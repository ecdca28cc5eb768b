"""Allgather between two groups, step by step: who holds what, and when (Kang et al. 2019, Figs. 1 and 2).

    python demos/06_step_by_step.py               every step, p = 6 and q = 2, then p = 8 and q = 3
    python demos/06_step_by_step.py --animate     the same as a film
    python demos/06_step_by_step.py 12 5          other groups

Nothing here knows the algorithm. It is run on communicators that note what a rank holds whenever it has received.
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

K = 3  # elements in everybody's block, each of one byte: a message of n takes n units of time
BLOCKS_OF_A, BLOCKS_OF_B = "0123456789ABCDEF", "uvwxyzstrq"
COLOURS_OF_A = (203, 209, 215, 221, 185, 149, 113, 78)
COLOURS_OF_B = (75, 141, 80, 105, 69)


class Watched:
    """A communicator that notes every message that its rank has received; to an algorithm it is like any other."""

    def __init__(self, comm, note):
        self.comm, self.note = comm, note

    def __getattr__(self, name):
        method = getattr(self.comm, name)

        def call(*args):
            result = method(*args)
            if name in SOURCE:
                self.note(args[SOURCE[name]])
            return result

        return call


SOURCE = {"Sendrecv": 4, "Recv": 1}  # which argument says from whom


def observe(p, q):
    """Run it for p + q ranks: what each held at which times, from whom it had come, and the run."""
    names = BLOCKS_OF_A[:p] + BLOCKS_OF_B[:q]
    seen = {rank: [] for rank in range(p + q)}

    def main(comm):
        rank, in_a = comm.Get_rank(), comm.Get_rank() < p
        own, other = (0, p) if in_a else (p, 0)
        local = comm.Split(own, rank)
        inter = local.Create_intercomm(0, comm, other)
        mine = np.full(K, ord(names[rank]), np.uint8)
        held = np.full(K * inter.Get_remote_size(), ord("."), np.uint8)

        def note(source):
            seen[rank].append((MPI.Wtime(), held.tobytes().decode(), source))

        note(None)
        algorithm = collectives.find("allgather", "full_duplex", kind="inter")
        between = Watched(inter, lambda source: note(other + source))
        within = Watched(local, lambda source: note(own + source))
        algorithm.run(between, within, mine, held)

    return seen, fakempi.run(main, p + q, cost=Hockney(t_s=0, t_w=1, eager_limit=0))


def steps(p, q):
    """One picture for each moment at which somebody has received something."""
    seen, run = observe(p, q)
    before = [""] * (p + q)
    for now in sorted({time for notes in seen.values() for time, _, _ in notes}):
        holds = [[what for time, what, _ in notes if time <= now][-1] for notes in seen.values()]
        came = [(source, rank) for rank, notes in seen.items() for time, _, source in notes if time == now > 0]
        yield Group(headline(now, came, p), picture(p, q, holds, before))
        before = holds
    bound = max(p, q) * K
    promise = f"Theorem 1 promises {bound + K}." if p % q == 0 else "Theorem 1 is for q that divide p."
    yield Text(
        f"{run.messages} messages, done at {run.time:g}. Nobody in B can have received {p} blocks before M = {bound}. "
        f"{promise}"
    )


def headline(now, came, p):
    """The time, and what has come from whom since the last step."""

    def name(rank):
        return f"a{rank}" if rank < p else f"b{rank - p}"

    across = sorted({(min(pair), max(pair)) for pair in came if (pair[0] < p) != (pair[1] < p)})
    parts = ["  ".join(f"{name(a)}⇄{name(b)}" for a, b in across)] if across else []
    for group, inside in (("A", [x for x in came if max(x) < p]), ("B", [x for x in came if min(x) >= p])):
        if inside:
            arrows = "  ".join(f"{name(source)}→{name(rank)}" for source, rank in inside)
            parts.append(f"{group} passes on: {arrows if len(inside) < 4 else f'{len(inside)} parts'}")
    return Text.assemble((f"t = {now:<4g}", "bold"), "   ".join(parts))


def picture(p, q, holds, before):
    """Two grids: what the ranks of A hold of B's blocks, and those of B of A's."""
    both = Table.grid(padding=(0, 3, 0, 0))
    both.add_row(grid("a", holds[:p], before[:p]), grid("b", holds[p:], before[p:]))
    return both


def grid(letter, holds, before):
    rows = []
    for rank, (now, then) in enumerate(zip(holds, before, strict=True)):
        row = Text(f"{letter}{rank:<2} ", "bold", no_wrap=True)
        for place, block in enumerate(now):
            new = bool(then) and then[place] != block
            row.append(f" {'·' if block == '.' else block}", style_of(block, new))
        rows.append(row)
    return Group(*rows)


def style_of(block, new):
    """Every block has its colour; what has just come is bold."""
    if block == ".":
        return "not bold bright_black"
    if block in BLOCKS_OF_A:
        colour = COLOURS_OF_A[BLOCKS_OF_A.index(block) % len(COLOURS_OF_A)]
    else:
        colour = COLOURS_OF_B[BLOCKS_OF_B.index(block) % len(COLOURS_OF_B)]
    return f"{'bold underline' if new else 'not bold'} color(16) on color({colour})"


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument(
        "groups", nargs="*", type=int, default=[6, 2, 8, 3], metavar="p q", help="sizes of the groups, in pairs"
    )
    reader.add_argument("--animate", action="store_true", help="on a terminal: one step after the other in one place")
    said = reader.parse_args()
    pairs = list(zip(said.groups[::2], said.groups[1::2], strict=False))
    if len(said.groups) % 2 or not all(1 <= q <= min(p, len(BLOCKS_OF_B)) and p <= len(BLOCKS_OF_A) for p, q in pairs):
        reader.error(f"groups come in pairs p q with q <= p, p <= {len(BLOCKS_OF_A)} and q <= {len(BLOCKS_OF_B)}")
    screen = console()
    for p, q in pairs:
        screen.print(Rule(f"p = {p} ranks in A, q = {q} in B, every block {K} bytes"))
        if said.animate and screen.is_terminal:
            with Live(console=screen, auto_refresh=False) as film:
                shown = Text()
                for step in steps(p, q):
                    shown = Group(shown, step) if isinstance(step, Text) else step  # the last words below the last picture
                    film.update(shown, refresh=True)
                    sleep(1)
        else:
            *pictures, last = steps(p, q)
            beside = max(1, screen.width // (2 * K * (p + q) + 13))
            for at in range(0, len(pictures), beside):
                row = Table.grid(padding=(0, 4, 0, 0))
                row.add_row(*pictures[at : at + beside])
                screen.print(row)
                screen.print()
            screen.print(last)


if __name__ == "__main__":
    main()
