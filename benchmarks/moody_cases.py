"""The runs for Figs. 3, 4 and 5 of Moody, Ahn and de Supinski 2011: data, algorithms and machines.

All runs are emulated message by message, with two exceptions. First, if a split by allgather would need N items in the
memory of each of N ranks, the same calls are made with phantom buffers: the same number of messages with the same bytes to
the same ranks, and the same local work, so the modeled time is the same (`same_time` checks this each time the figures are
drawn). Second, if two points are the same run, only one of them is made above 4,096 ranks (`representative`; `same_runs`
compares the points for which both are made).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

import collectives
import fakempi
from collectives.chain.scan import HEADER
from collectives.tools.numbers import ceil_log2
from fakempi import presets

MACHINES: dict[str, tuple[Callable[[], Any], float]] = {"dawn": (presets.dawn, 850e6), "sierra": (presets.sierra, 2.8e9)}
"""Cost model and clock rate in Hz: PowerPC 450 and Xeon 5660."""

CYCLES = 80
"""CPU cycles to compare and move an item: an estimate, the same for all algorithms and machines, not fitted to the paper.

Charged is the work that the sorts report (`work`). Not charged: adding tables of 8 or 16 bins (hash, radix) and hashing.
"""

FEW = 4
"""Number of groups in the case "few"."""

SPREAD = 0x9E3779B1
"""The golden ratio in 32 bits: its multiples are spread evenly. Modulo 16 it is 1, which changes no order."""

EMULATED = 1024
"""Largest number of ranks for which splits by allgather run with their items; above, with phantoms."""

ALL = 4096
"""Largest number of ranks for which points that must be equal are both run."""

ITEM = 1 + 8 + 8
"""Bytes of an item with an integer key: mark, key, rank and address."""


class Case(NamedTuple):
    """One point of a figure."""

    figure: int
    machine: str
    algorithm: str
    ranks: int
    length: int = 0
    groups: str = ""
    M: int = 0
    wide: bool = False

    @property
    def name(self) -> str:
        """Description for the progress line."""
        more = [f"M = {self.M}"] if self.M else ["wide keys"] if self.wide else []
        if self.length:
            more = [f"{self.length} characters, {self.groups} groups"]
        return ", ".join([f"Fig. {self.figure} {self.machine}: {self.algorithm}", *more, f"{self.ranks:,} ranks"])


class Result(NamedTuple):
    """Result of a case: modeled time, number of messages, wall-clock time."""

    time: float
    messages: int
    wall: float


def cases(sizes: list[int]) -> list[Case]:
    """All points of the three figures, smallest first. The paper has Figs. 4 and 5 only for Dawn."""
    found: list[Case] = []
    for ranks in sizes:
        for machine in MACHINES:
            for name in ("allgather_group", "allgather_mpi", "gather_scatter", "bitonic", "radix"):
                found.append(Case(3, machine, name, ranks))
            found.append(Case(3, machine, "radix", ranks, wide=True))
            found += [Case(3, machine, "cheng", ranks, M=M) for M in (128, 512, 2048, 8192) if M * 2 <= ranks <= M * 512]
            found += [
                Case(figure, machine, name, ranks, length, groups)
                for figure, groups, length in product((4, 5), ("few", "many"), (5, 80))
                for name in ("bitonic", "hash", "hash64")
            ]
    return [case for case in found if case.ranks <= ALL or representative(case) == case]


def representative(case: Case) -> Case:
    """A case that sends the same messages, or the case itself.

    Hash64 equals Hash as long as no group is shorter than 64. Few colors fall into separate bins at once, for any length of
    the colors. Keys make no difference to Hash if every rank is a separate group.
    """
    if case.algorithm == "hash64" and case.groups == "few" and case.ranks >= 64 * FEW:
        case = case._replace(algorithm="hash")
    if case.algorithm == "hash":
        case = case._replace(length=5) if case.groups == "few" else case._replace(figure=4)
    return case


def color(case: Case, rank: int) -> str | None:
    """The color as a string, or None if there is no split."""
    if not case.length:
        return None
    return f"{rank % FEW if case.groups == 'few' else rank:x}".rjust(case.length, "-")


def key(case: Case, rank: int) -> int:
    """A permutation of the ranks, or (`wide`) pseudo-random numbers of 31 bits."""
    if case.wide:
        return rank * SPREAD & 0x7FFFFFFF
    step = SPREAD % case.ranks
    return rank * (step if step != 1 else 7) % case.ranks  # a permutation, since sizes are powers of two


def program_of(case: Case, phantoms: bool) -> Callable[[Any], int]:
    """The program of every rank, which returns the size of its group."""
    algorithm = collectives.find("split", case.algorithm, kind="split")
    second = CYCLES / MACHINES[case.machine][1]
    options: dict[str, Any] = {"M": case.M} if case.M else {}
    if case.algorithm == "radix":
        options["bits"] = (0, 32)  # as in the paper
    else:
        options["widths"] = (case.length, 0)  # as in the paper's interface: the caller passes the length of a color

    def work(count: int) -> None:
        fakempi.compute(count * second)

    def split(comm: Any) -> int:
        rank = comm.Get_rank()
        chain = algorithm.run(comm, color(case, rank), None if case.figure == 4 else key(case, rank), work=work, **options)
        return int(chain.size)

    def with_phantoms(comm: Any) -> int:
        size = comm.Get_size()
        if case.algorithm == "allgather_group":
            flood(comm)
        else:
            gathered = fakempi.phantom(size * ITEM)
            collectives.find("allgather", "bruck").run(comm, fakempi.phantom(ITEM), gathered)
        work(size + size * ceil_log2(size))
        return int(size)

    return with_phantoms if phantoms else split


def flood(comm: Any) -> None:
    """The messages of an allgather on a chain (`collectives.chain.collect`), without contents."""
    rank, size = comm.Get_rank(), comm.Get_size()

    def buffer(items: int) -> Any:
        return fakempi.phantom(HEADER + max(0, items) * ITEM)

    for i in range(ceil_log2(size)):
        step = 1 << i
        left, right = rank - step, rank + step
        to_right, to_left = buffer(min(step, rank + 1)), buffer(min(step, size - rank))
        from_left, from_right = buffer(min(step, left + 1)), buffer(min(step, size - right))
        if left < 0 and right < size:
            comm.Send(to_right, right)
            comm.Recv(from_right, right)
        elif left >= 0 and right >= size:
            comm.Recv(from_left, left)
            comm.Send(to_left, left)
        elif left >= 0:
            comm.Sendrecv(to_right, right, 0, from_left, left, 0)
            comm.Sendrecv(to_left, left, 0, from_right, right, 0)


def measure(case: Case) -> tuple[Case, Result]:
    """Run a case and return it with its result."""
    phantoms = case.algorithm.startswith("allgather") and case.ranks > EMULATED
    start = perf_counter()
    run = fakempi.run(program_of(case, phantoms), case.ranks, cost=MACHINES[case.machine][0]())
    size = {"": case.ranks, "few": case.ranks // FEW, "many": 1}[case.groups]
    assert set(run.returns) == {size}, f"{case}: groups of {set(run.returns)}, not of {size}"
    return case, Result(float(run.time), run.messages, perf_counter() - start)


def same_time(ranks: int = 48) -> None:
    """Check that phantoms take the same time as items, to the last bit."""
    for machine in MACHINES:
        for name in ("allgather_group", "allgather_mpi"):
            case = Case(3, machine, name, ranks)
            with_items, without = (
                fakempi.run(program_of(case, phantoms), ranks, cost=MACHINES[machine][0]()) for phantoms in (False, True)
            )
            assert (with_items.time, with_items.messages, with_items.bytes) == (
                without.time, without.messages, without.bytes,
            ), f"{case}: {with_items} with items, {without} without"  # fmt: skip


def same_runs(points: dict[Case, Result]) -> None:
    """Check that points that must be equal are equal, where both were run."""
    for case, found in points.items():
        other = points.get(representative(case), found)
        assert (found.time, found.messages) == (other.time, other.messages), f"{case}: {found}, but {other} in its equal"
