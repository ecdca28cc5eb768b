"""Two groups on the emulator: p + q ranks, an intercommunicator between them, and one call compared with numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fakempi
from collectives import Algorithm, Case
from tests.collectives.calls import Array, blank, contents

EXACT = fakempi.Hockney(t_s=0.0, t_w=1.0, eager_limit=0)  # the papers' model: times are whole numbers of bytes
ROUNDS = fakempi.Hockney(t_s=1.0, t_w=0.0, eager_limit=0)

Main = Callable[[Any, Any, bool], Any]


def join(comm: Any, p: int) -> tuple[Any, Any]:
    """The intercommunicator between ranks 0 .. p-1 and the others, and the own group; free in modelled time."""
    in_a = comm.Get_rank() < p
    local = comm.Split(0 if in_a else 1, comm.Get_rank())
    return local.Create_intercomm(0, comm, p if in_a else 0), local


def run_groups(main: Main, p: int, q: int, cost: Any = EXACT, **options: Any) -> Any:
    """Run main(inter, local, in_a) on p ranks of A and q of B; returns in the numbering of the claims."""

    def whole(comm: Any) -> Any:
        inter, local = join(comm, p)
        return main(inter, local, comm.Get_rank() < p)

    return fakempi.run(whole, p + q, cost=cost, **options)


def own_and_other(case: Case, in_a: bool) -> tuple[Case, Case]:
    a, b = case.groups
    return (a, b) if in_a else (b, a)


def blocks_of(group: Case, in_a: bool) -> list[Array]:
    """What the ranks of a group have to give."""
    offset = 0 if in_a else 100
    return [contents(offset + r, group.layout.size(r), group.itemsize) for r in range(group.p)]


def keywords(case: Case, in_a: bool) -> dict[str, Any]:
    """The case's parameters as this side says them: on paper `first` is A's word, B says the opposite."""
    found = dict(case.parameters)
    if found.get("first") is not None:
        found["first"] = found["first"] == in_a
    return found


def gathering(algorithm: Algorithm, case: Case) -> Main:
    """An allgather(v) of the case with contents, checked against numpy."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        own, other = own_and_other(case, in_a)
        mine = blocks_of(own, in_a)[inter.Get_rank()]
        expected = np.concatenate(blocks_of(other, not in_a))
        recvbuf, before = blank(expected.size, case.itemsize), mine.copy()
        counts = () if other.counts is None else (other.counts,)
        algorithm.run(inter, local, mine, recvbuf, *counts, **keywords(case, in_a))
        np.testing.assert_array_equal(recvbuf, expected, err_msg=f"{algorithm!r} in {case}")
        np.testing.assert_array_equal(mine, before, err_msg=f"{algorithm!r} changed its input in {case}")

    return main


def ghostly(algorithm: Algorithm, case: Case) -> Main:
    """The same call with buffers that have no contents."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        own, other = own_and_other(case, in_a)
        mine = fakempi.phantom(own.layout.size(inter.Get_rank()) * case.itemsize, case.itemsize)
        recvbuf = fakempi.phantom(other.layout.size(0, other.p) * case.itemsize, case.itemsize)
        counts = () if other.counts is None else (other.counts,)
        algorithm.run(inter, local, mine, recvbuf, *counts, **keywords(case, in_a))

    return main


def modelled(algorithm: Algorithm, case: Case, cost: Any = EXACT) -> float:
    """The time of one call on the emulator."""
    return float(run_groups(ghostly(algorithm, case), case.p, case.q, cost).time)
