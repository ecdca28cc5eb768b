"""Random programs of collective calls, messages and computing, to compare fused runs with emulated ones.

python tests/fused/random_programs.py 1000 [first seed]            compares this number of programs
python tests/fused/random_programs.py 1000 [first seed] started    of persistent calls and calls between groups, too
python tests/fused/random_programs.py 1000 [first seed] groups     of calls between groups only
python tests/fused/random_programs.py 1000 [first seed] ties       with many simultaneous events, and wildcards
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))  # if this file is executed

import fakempi
from collectives import CATALOGUE
from fakempi import MPI
from fakempi.errors import RunError
from tests.fused.rare_steps import FAILING, RARE
from tests.fused.started_steps import STARTED

COSTS = (
    "hockney", "hockney:eager_limit=0", "hockney:t_s=1e-6,t_w=3e-9,eager_limit=16", "hockney:compute_per_byte=1e-8",
    "hockney:eager_limit=0,compute_per_byte=1e-9", "hockney:duplex=False", "hockney:ports=2", "loggp",
    "two_level:ranks_per_node=2", "two_level:ranks_per_node=3,eager_limit=0", "torus:shape=4x4", "fat_tree",
    "dragonfly", "zero_cost",
)  # fmt: skip
CALLS = (
    "Barrier", "Bcast", "Gather", "Scatter", "Allgather", "Alltoall", "Reduce", "Allreduce", "Reduce_scatter_block",
    "Reduce_scatter", "Scan", "Exscan", "Allgatherv", "Alltoallv", "Gatherv", "Scatterv", "in place", "Iallreduce", "Ibcast",
    "object allgather", "object gather", "object bcast", "object allreduce", "number allreduce",
    "number scan", "number exscan",
)  # fmt: skip
OTHERS = ("ring", "any", "isend around", "poll", "neighbors")
INTER = [each for each in CATALOGUE if each.kind == "inter"]
NAMES: dict[str, list[str]] = {}
for _each in CATALOGUE:
    if _each.kind == "intra" and _each.operation not in ("alltoallw",):
        NAMES.setdefault(_each.operation, []).append(_each.name)


TIES = tuple(
    f"hockney:t_s=1,t_w=0.125,eager_limit={limit},compute_per_byte={rate}"
    for limit in (0, 16, 65536)
    for rate in (0, 0.125)
)
"""Costs whose sums are exact, so that many events are simultaneous."""


def random_ties(random: Random) -> tuple[int, list[Any], dict[str, Any]]:
    """Return a program in which each collective call lies between computing and receives from any source."""
    p, steps = random.choice((2, 3, 4, 5, 6, 7, 8, 9, 12, 16)), list[Any]()
    for _ in range(random.randrange(1, 4)):
        combining = "Reduce_scatter", "Reduce_scatter_block", "Reduce", "Scan"
        call = random.choice(CALLS if random.random() < 0.4 else combining)
        for kind in (call, "any"):
            skews = [float(random.choice((0, 0, 1, 2, 3, 4, 6))) for _ in range(p)]
            steps.append((kind, "world", random.choice((0, 1, 2, 3, 8)), random.randrange(1 << 30), skews))
    options: dict[str, Any] = {"cost": random.choice(TIES), "trace": random.random() < 0.3}
    operations = random.sample(sorted(set(NAMES) - {"gatherv", "scatterv"}), 4)
    options["algorithms"] = {operation: random.choice(NAMES[operation]) for operation in operations}
    return p, steps, options


def random_case(
    random: Random, *, started: bool = False, groups: bool = False, ties: bool = False
) -> tuple[int, list[Any], dict[str, Any]]:
    """Return a number of ranks, the steps of a program, and options of a run.

    With `started`, half of the steps are of `STARTED`; with `groups`, all steps are calls between groups.
    """
    if ties:
        return random_ties(random)
    p = random.choice((2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16))
    steps: list[Any] = []
    for _ in range(random.randrange(1, 6)):
        kinds: Sequence[str] = random.choice((CALLS, CALLS, CALLS, OTHERS, tuple(RARE)))
        if started and random.random() < 0.5:
            kinds = tuple(STARTED)
        if groups:
            kinds = ("between_groups 0",)
        kind = random.choice(kinds if random.random() < 0.97 else tuple(FAILING))
        skews = [5e-7 * random.choice((0, 0, 1, 2, 5, 40)) for _ in range(p)] if random.random() < 0.5 else [0.0]
        comm = random.choice(("world", "world", "world", "dup", "parts", "reversed"))
        steps.append((kind, comm, random.choice((0, 1, 2, 3, 5, 17)), random.randrange(1 << 30), skews))
    options: dict[str, Any] = {"cost": random.choice(COSTS), "trace": random.random() < 0.3}
    if random.random() < 0.2:
        options["seed"] = random.randrange(100)
    if random.random() < 0.5:
        operations = random.sample(sorted(NAMES), 4)
        options["algorithms"] = {operation: random.choice(NAMES[operation]) for operation in operations}
        for operation in ("gatherv", "scatterv"):
            options["algorithms"].pop(operation, None)
        if started or groups:
            options["algorithms"] |= {f"inter:{each.operation}": each.name for each in random.sample(INTER, 4)}
    return p, steps, options


def program(comm: Any, steps: list[Any], log: list[Any]) -> list[Any]:
    """Execute the steps; the log has the order in which ranks continue."""
    rank, found = comm.rank, []
    comms = {"world": comm, "dup": comm.Dup(), "parts": comm.Split(rank % 2, rank), "reversed": comm.Split(0, -rank)}
    for kind, name, size, number, skews in steps:
        fakempi.compute(skews[rank % len(skews)])
        log.append((rank, kind))
        found.append((_step(comms[name], kind, size, number), MPI.Wtime()))
    return found


def _step(comm: Any, kind: str, n: int, number: int) -> Any:
    if rare := RARE.get(kind) or FAILING.get(kind) or STARTED.get(kind):
        return rare(comm, n, number)
    r, p = comm.rank, comm.size
    root = number % p
    dtype = (float, np.int32, np.float32, complex)[number // 97 % 4]
    mine = (np.arange(n) / (r + 3) if dtype is not np.int32 else np.arange(n) * (r + 3)).astype(dtype)
    out, big = np.zeros(n, dtype), np.zeros(n * p, dtype)
    full = np.resize(mine, n * p) if n else big.copy()
    counts = [(number // (i + 1)) % 4 for i in range(p)]
    total = np.zeros(sum(counts))
    match kind:
        case "Barrier":
            comm.Barrier()
        case "Bcast":
            comm.Bcast(mine, root)
            return mine.tolist()
        case "Ibcast":
            request = comm.Ibcast(mine, root)
            fakempi.compute(1e-6 * (number % 3))
            request.Wait()
            return mine.tolist()
        case "Gather":
            comm.Gather(mine, big if r == root else None, root)
        case "Scatter":
            comm.Scatter(full if r == root else None, out, root)
        case "Allgather":
            comm.Allgather(mine, big)
        case "Alltoall":
            comm.Alltoall(full, big)
        case "Reduce":
            comm.Reduce(mine, out, MPI.SUM, root)
        case "Allreduce":
            comm.Allreduce(mine, out, MPI.SUM)
        case "Iallreduce":
            request = comm.Iallreduce(mine, out)
            fakempi.compute(1e-6 * (number % 3))
            request.Wait()
        case "in place":
            comm.Allreduce(MPI.IN_PLACE, mine, MPI.PROD if dtype is not complex else MPI.SUM)
            return mine.tolist()
        case "Reduce_scatter_block":
            comm.Reduce_scatter_block(full, out)
        case "Reduce_scatter":
            comm.Reduce_scatter(np.arange(sum(counts)) / (r + 1), part := np.zeros(counts[r]), counts)
            return part.tolist()
        case "Scan":
            comm.Scan(mine, out)
        case "Exscan":
            comm.Exscan(mine, out)
        case "Allgatherv":
            comm.Allgatherv(np.full(counts[r], r / 3), [total, counts])
        case "Gatherv":
            comm.Gatherv(np.full(counts[r], r / 3), [total, counts] if r == root else None, root)
        case "Scatterv":
            total[:] = np.arange(len(total))
            comm.Scatterv([total, counts] if r == root else None, part := np.zeros(counts[r]), root)
            return part.tolist()
        case "Alltoallv":
            gives, takes = [(r + i + number) % 3 for i in range(p)], [(r + i + number) % 3 for i in range(p)]
            given = np.arange(sum(gives)) / (r + 1)
            comm.Alltoallv([given, gives], [part := np.zeros(sum(takes)), takes])
            return part.tolist()
        case "object allgather":
            return comm.allgather("x" * (r * n))
        case "object gather":
            return comm.gather("x" * (r * n), root)
        case "object bcast":
            return comm.bcast("x" * n, root)
        case "object allreduce":
            return comm.allreduce(r * n)
        case "number allreduce" | "number scan" | "number exscan":
            return _number(getattr(comm, kind[7:]), r, number)
        case _:
            return _other(comm, kind, r, p)
    return out.tolist(), big.tolist(), total.tolist()


NUMBERS: tuple[Any, ...] = (
    lambda r, n: r * n, lambda r, n: -r, lambda r, n: (r - n % 3) / 7, lambda r, n: bool((r + n) % 3),
    lambda r, n: (3 + r) ** (n % 150), lambda r, n: (0.0, -0.0, float("nan"), 1, True)[(r + n) % 5],
    lambda r, n: (r, -0.5, True)[: (r + n) % 4], lambda r, n: ((n + r) % 3, r), lambda r, n: tuple(range(r)),
    lambda r, n: (10**400, 1.5)[r == n % 9], lambda r, n: ("ab", 2)[r != n % 5] * (r + 1),
)  # fmt: skip
"""Functions that return the operand of a rank; the last three cannot always be added."""

OPERATIONS = (MPI.SUM, MPI.SUM, MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN, MPI.LAND, MPI.LXOR, MPI.BOR, MPI.MAXLOC, MPI.MINLOC)


def _number(call: Any, r: int, number: int) -> Any:
    operand, op = NUMBERS[number % len(NUMBERS)], OPERATIONS[number // 64 % len(OPERATIONS)]
    try:
        found = call(operand(r, number // 4096), op)
        return repr(found)
    except (TypeError, ValueError, OverflowError) as error:  # other ranks wait for this one
        return type(error).__name__, str(error)


def _other(comm: Any, kind: str, r: int, p: int) -> Any:
    a, b = np.full(2, float(r)), np.zeros(2)
    if kind == "ring":
        comm.Sendrecv(a, (r + 1) % p, 3, b, (r - 1) % p, 3)
    elif kind == "any":
        status = MPI.Status()
        order = []
        for _ in range(p - 1 if r == 0 else 0):
            comm.Recv(b, MPI.ANY_SOURCE, 4, status)
            order.append(status.source)
        if r:
            comm.Send(a, 0, 4)
        return order
    elif kind == "isend around":
        requests = [comm.Irecv(b, (r - 1) % p, 5), comm.Isend(a, (r + 1) % p, 5)]
        comm.Barrier()
        comm.Bcast(a, p - 1)
        MPI.Request.Waitall(requests)
    elif kind == "poll":
        request = comm.Isend(a, (r + 1) % p, 6)
        for _ in range(500):  # bounded, because the other rank may never call
            if comm.Iprobe((r - 1) % p, 6):
                break
            fakempi.compute(1e-7)
        comm.Recv(b, (r - 1) % p, 6)
        request.Wait()
    else:
        return comm.Create_cart([p], [True]).neighbor_allgather(r)
    return b.tolist()


def outcome(fused: Any, p: int, steps: list[Any], options: dict[str, Any], backend: Any = "auto") -> Any:
    """Return everything that a run leaves, or how it fails."""
    log: list[Any] = []
    try:
        run = fakempi.run(program, p, steps, log, fused=fused, backend=backend, **options)
    except RunError as error:
        if isinstance(error.__cause__, (AttributeError, TypeError, LookupError, NameError, AssertionError)):
            raise  # an error of fakempi or of this file, which both runs may have
        return type(error), str(error), list(map(str, error.findings)), log
    trace = None
    if run.trace is not None:
        trace = [[tuple(each) for each in rows] for rows in (run.trace.transfers, run.trace.regions, run.trace.computes)]
    return run.returns, run.clocks, run.sent, run.received, list(map(str, run.findings)), log, trace


def first_difference(seed: int, **kinds: bool) -> str:
    """Compare the program of a seed; return a description of the difference, or nothing."""
    p, steps, options = random_case(Random(seed), **kinds)
    backend = "threads" if seed % 10 == 0 and p < 8 else "auto"
    ours, plain = (outcome(fused, p, steps, options, backend) for fused in ("auto", "never"))
    if ours == plain:
        return ""
    parts = ("returns", "clocks", "sent", "received", "findings", "log", "trace")
    found = [name for name, one, other in zip(parts, ours, plain, strict=False) if one != other]
    return f"seed {seed}: {', '.join(found)} differ; p = {p}, steps = {steps}, options = {options}\n{ours[:2]}\n{plain[:2]}"


if __name__ == "__main__":
    many, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    differences = 0
    for number in range(start, start + many):
        if difference := first_difference(number, **dict.fromkeys(sys.argv[3:], True)):
            differences += 1
            print(difference[:1500], flush=True)  # noqa: T201
        if (number - start + 1) % 100 == 0 or number == start + many - 1:
            print(f"{number - start + 1} programs compared, {differences} differ", flush=True)  # noqa: T201
    sys.exit(bool(differences))
