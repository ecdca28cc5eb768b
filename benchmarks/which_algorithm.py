"""Which algorithm when: the fastest algorithm of every operation over ranks and bytes, on three machines.

    python benchmarks/which_algorithm.py [--page docs/which_algorithm.md] [--jobs N] [OPERATION ...]      (some minutes)

A number is the modeled time of the fastest algorithm over the lower bound. On the flat machine the times are claims; the
other two machines are emulated. On the flat and the two-level machine the bound is that of `fakempi compare`. On the torus
it is that of a flat machine in which every message has the cost of the fastest link, so no algorithm may reach it. With
--page the tables replace those on the page.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from collectives import CATALOGUE, Case
from collectives.distributions import regular
from collectives.trials.cases import PAIRED, UNEVEN, make_case
from fakempi import Hockney, Torus, TwoLevel
from fakempi.apps.compare.bounds import lower_bound
from fakempi.apps.compare.node_bounds import has_node_bound, node_bound
from fakempi.apps.compare.sweep import Contender, contenders, sweep

SIZES = (8, 1 << 10, 1 << 16, 1 << 20)
BEGIN, END = "<!-- maps -->", "<!-- end of maps -->"
TIE = 1.001
"""Algorithms within a thousandth of the best time are equal."""

NAMED = 2
"""Algorithms of equal time that are named."""


class Machine(NamedTuple):
    """A machine for a number of ranks, and the costs of its fastest link."""

    name: str
    ranks: int
    cost: Any
    fastest: tuple[float, float]
    dims: tuple[int, ...] = ()


def machines() -> Iterator[Machine]:
    """Yield the machines."""
    for ranks in (16, 64, 1024):
        yield Machine("flat", ranks, Hockney(1e-6, 1e-9, eager_limit=0), (1e-6, 1e-9))
    nodes = TwoLevel(8, intra=Hockney(5e-7, 2e-10), inter=Hockney(2e-6, 1e-9), eager_limit=0)
    for ranks in (16, 64):
        yield Machine("two-level", ranks, nodes, (5e-7, 2e-10))
    for dims in ((4, 4), (4, 4, 4)):
        ranks = 4 ** len(dims)
        yield Machine("torus", ranks, Torus(dims, t_s=1e-6, t_hop=1e-7, t_w=1e-9, eager_limit=0), (1.1e-6, 1e-9), dims)


def candidates(operation: str, machine: Machine) -> list[Contender]:
    """Return all algorithms of an operation; on a torus, those for tori know its dimensions."""
    found = contenders(operation)
    if machine.name != "two-level":  # with one rank per node, a node-aware algorithm is the same as its part between nodes
        found = [each for each in found if each.algorithm is None or "nodes" not in each.algorithm.parameters]
    if machine.name != "flat" and machine.ranks > 16:  # a message per pair of ranks and call: slow, and never the best
        found = [each for each in found if each.algorithm is None or each.algorithm.schedule is not None]
    return [
        Contender(each.label, each.algorithm, {**each.parameters, "dims": machine.dims})
        if machine.dims and each.algorithm is not None and "dims" in each.algorithm.parameters
        else each
        for each in found
    ]


def row(operation: str, machine: Machine, executor: Executor | None) -> list[str]:
    """Return the cells of one machine: the best algorithm for each size, and its distance to the lower bound."""
    spread = ("regular", regular) if operation in (*UNEVEN, *PAIRED) else None
    sizes = (8,) if operation == "barrier" else SIZES
    made = sweep(
        operation,
        [machine.ranks],
        sizes,
        cost=machine.cost,
        among=candidates(operation, machine),
        distribution=spread,
        max_messages=1_500_000 if machine.name == "flat" else 300_000,  # evaluating a claim is faster than emulating
        executor=executor,
    )
    cells = []
    for nbytes, column in zip(sizes, made.columns, strict=True):
        least = min(column.times.values())
        best = [name for name, time in column.times.items() if time <= least * TIE]
        names = ", ".join(best[:NAMED]) + (f" (+{len(best) - NAMED})" if len(best) > NAMED else "")
        case = make_case(operation, machine.ranks, 0, nbytes, regular)
        bound = _bound(operation, case, machine)
        cells.append(f"{names} {float(least) / float(bound):.2f}")
    return cells


def _bound(operation: str, case: Case, machine: Machine) -> Any:
    if has_node_bound(machine.cost):
        return node_bound(operation, case, machine.cost)
    return lower_bound(operation, case, *machine.fastest)


def tables(operations: Sequence[str], executor: Executor | None) -> Iterator[str]:
    """Yield a Markdown section for each operation."""
    for operation in operations:
        sizes = ["time"] if operation == "barrier" else [f"{_bytes(size)}" for size in SIZES]
        lines = [
            f"### {operation}",
            "",
            f"| machine | ranks | {' | '.join(sizes)} |",
            f"|---|---:|{'---|' * len(sizes)}",
            *(
                f"| {machine.name} | {machine.ranks:,} | {' | '.join(row(operation, machine, executor))} |"
                for machine in machines()
            ),
        ]
        yield "\n".join(lines)


def _bytes(size: int) -> str:
    return f"{size >> 20} MiB" if size >> 20 else f"{size >> 10} KiB" if size >> 10 else f"{size} B"


def main() -> None:
    """Print the tables, or write them to the page."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("operations", nargs="*", help="only these operations")
    parser.add_argument("--page", type=Path, help="replace the tables of this page")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    operations = options.operations or sorted({each.operation for each in CATALOGUE if each.kind == "intra"})
    with ProcessPoolExecutor(options.jobs) if options.jobs > 1 else nullcontext() as executor:
        sections = []
        for section in tables(operations, executor):
            print(section, "", sep="\n", flush=True)
            sections.append(section)
    if options.page:
        before, _, rest = options.page.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        text = "\n\n".join([f"{before}{BEGIN}", *sections, f"{END}{after}"])
        options.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
