"""Random programs without receives from any source, polls and clocks: nothing that they do depends on `seed`.

python tests/semantics/seed_programs.py 1000 [first number]        compares this number of programs

Ranks post messages together, call blocking and nonblocking collectives, put data into windows and compute, with costs that
make many events simultaneous. Every program runs with several seeds, on both backends, traced and untraced, fused and
emulated.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))  # if this file is executed

import fakempi
from fakempi import MPI, Dragonfly, FatTree, Hockney, LogGP, Torus, TwoGroups, TwoLevel
from fakempi.core.network.cost import CostModel

LIMITS = (0, 16, 1 << 20)  # eager limits: none, some and all messages do not wait for their receives


def random_cost(random: Random) -> CostModel:
    """A cost model with small integers, so that many transfers start and end at the same time."""
    common: dict[str, Any] = {"eager_limit": random.choice(LIMITS), "compute_per_byte": random.choice((0, 0, 0.125))}
    ports: dict[str, Any] = {**common, "duplex": random.random() < 0.7, "ports": random.choice((1, 1, 2, 3))}
    unit = Hockney(random.choice((0, 1)), 0.125)
    links: dict[str, Any] = {"t_s": random.choice((0, 1)), "t_hop": random.choice((0, 1)), "t_w": 0.125, **common}
    makers: tuple[Any, ...] = (
        lambda: Hockney(random.choice((0, 1)), random.choice((0, 0.125, 1)), **ports),
        lambda: Hockney(1, 0.125, **common),
        lambda: LogGP(L=random.choice((1, 4)), o=random.choice((0, 1)), g=random.choice((1, 2)), G=0.125, **ports),
        lambda: TwoLevel(
            random.choice((2, 3)), intra=unit, inter=Hockney(2, 0.25), network_gap=random.choice((None, 0, 1)), **ports
        ),
        lambda: Torus(random.choice((16, (4, 4), (2, 2, 4))), gap=random.choice((0, 1)), **links),
        lambda: FatTree((4, 4), links=random.choice(((4, 4), (2, 4))), **links),
        lambda: Dragonfly(2, 2, 4, **links),
        lambda: TwoGroups(8, (0.125, 0.25), t_s=1, t_w=0.125, **common),
    )
    return random.choice(makers)()  # type: ignore[no-any-return]


def random_program(random: Random) -> tuple[int, list[tuple[str, Any]]]:
    """Return a number of ranks, and steps: a name and its numbers."""
    p, steps = random.randint(2, 9), list[tuple[str, Any]]()
    for _ in range(random.randint(1, 4)):
        name = random.choice(tuple(STEPS))
        pairs = [(random.randrange(p), random.randrange(p)) for _ in range(random.randint(0, 4 * p))]
        messages = [(*pair, random.choice((0, 8, 8, 16, 24, 64))) for pair in pairs]
        skews = [random.choice((0, 0, 1, 2)) for _ in range(p)] if random.random() < 0.5 else [0] * p
        steps.append((name, (messages, skews, random.choice((1, 2, 3, 8)))))
    return p, steps


def exchange(comm: Any, messages: list[Any], size: int) -> Any:
    """Receives and sends, posted together."""
    received = [np.zeros(n, "b") for _, dest, n in messages if dest == comm.rank]
    mine = [(tag, source) for tag, (source, dest, _) in enumerate(messages) if dest == comm.rank]
    requests = [comm.Irecv(buffer, source, tag) for buffer, (tag, source) in zip(received, mine, strict=True)]
    for tag, (source, dest, n) in enumerate(messages):
        if source == comm.rank:
            requests.append((comm.Issend if tag % 5 == 0 else comm.Isend)(np.full(n, tag % 100, "b"), dest, tag))
    MPI.Request.Waitall(requests)
    return [buffer.tolist() for buffer in received]


def late_receives(comm: Any, messages: list[Any], size: int) -> Any:
    """All sends first, then the receives in reverse order, one by one."""
    sends = [comm.Isend(np.full(n, 1, "b"), d, tag) for tag, (s, d, n) in enumerate(messages) if s == comm.rank]
    for tag, (source, dest, n) in reversed(list(enumerate(messages))):
        if dest == comm.rank:
            comm.Recv(np.zeros(n, "b"), source, tag)
    MPI.Request.Waitall(sends)


def ring(comm: Any, messages: list[Any], size: int) -> Any:
    """A blocking exchange with both neighbors."""
    mine, other = np.full(size, comm.rank, "b"), np.zeros(size, "b")
    for step in (1, -1):
        comm.Sendrecv(mine, (comm.rank + step) % comm.size, 0, other, (comm.rank - step) % comm.size, 0)
    return other.tolist()


def collectives(comm: Any, messages: list[Any], size: int) -> Any:
    """A few collective calls."""
    mine, all_blocks = np.full(size, comm.rank + 1.0), np.zeros(size * comm.size)
    comm.Allreduce(mine.copy(), mine)
    comm.Bcast(mine, size % comm.size)
    comm.Allgather(mine, all_blocks)
    comm.Alltoall(all_blocks.copy(), all_blocks)
    return comm.allgather(mine.sum()), all_blocks.tolist()


def in_background(comm: Any, messages: list[Any], size: int) -> Any:
    """Nonblocking collective calls next to messages."""
    mine, total, root = np.full(size, 1.0), np.zeros(size), np.full(size, float(comm.rank))
    requests = [comm.Iallreduce(mine, total), comm.Ibcast(root, comm.size - 1)]
    found = exchange(comm, messages, size)
    MPI.Request.Waitall(requests)
    return found, total.tolist(), root.tolist()


def puts(comm: Any, messages: list[Any], size: int) -> Any:
    """Every rank puts its own bytes into the windows of others."""
    memory = np.zeros(comm.size * size, "b")
    win = MPI.Win.Create(memory, 1, comm=comm)
    win.Fence()
    for dest in sorted({dest for source, dest, _ in messages if source == comm.rank}):
        win.Put(np.full(size, comm.rank + 1, "b"), dest, comm.rank * size)
    win.Fence()
    win.Free()
    return memory.tolist()


def halves(comm: Any, messages: list[Any], size: int) -> Any:
    """Messages and a collective call in two halves of the ranks."""
    half = comm.Split(comm.rank % 2, -comm.rank)
    found = ring(half, messages, size), half.allreduce(comm.rank)
    half.Free()
    return found


STEPS: dict[str, Any] = {
    each.__name__: each for each in (exchange, late_receives, ring, collectives, in_background, puts, halves)
}  # fmt: skip


def main(comm: Any, steps: list[tuple[str, Any]]) -> list[Any]:
    """Execute the steps; return everything that was received."""
    found = []
    for name, (messages, skews, size) in steps:
        fakempi.compute(skews[comm.rank])
        found.append(STEPS[name](comm, messages, size))
    return found


def outcome(p: int, steps: list[Any], **options: Any) -> tuple[Any, ...]:
    """Everything that a run shows, and its transfers in a fixed order."""
    run = fakempi.run(main, p, steps, **options)
    moved = [] if run.trace is None else sorted(each[:4] + each[5:10] for each in run.trace.transfers)
    return run.returns, run.clocks, run.messages, run.bytes, moved


def first_difference(number: int) -> str:
    """Return the first difference of a program between two runs; empty if there is none."""
    random = Random(number)
    p, steps = random_program(random)
    cost = random_cost(random)
    expected = outcome(p, steps, cost=cost, trace=True)
    ways: list[dict[str, Any]] = [
        {}, {"seed": 1}, {"seed": 2, "trace": True}, {"seed": 3, "fused": "never"}, {"fused": "never", "trace": True},
        {"backend": "threads", "seed": 4},
    ]  # fmt: skip
    for way in ways:
        found = outcome(p, steps, cost=cost, **way)
        for name, mine, other in zip(("returns", "clocks", "messages", "bytes", "trace"), found, expected, strict=True):
            if mine != other and (name != "trace" or mine):
                return f"program {number}, {p} ranks, {[step[0] for step in steps]}, {cost}, {way}: other {name}"
    return ""


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    differences = [found for number in range(first, first + count) if (found := first_difference(number))]
    sys.stdout.write("\n".join([*differences, f"{count} programs, {len(differences)} differ\n"]))
    sys.exit(1 if differences else 0)
