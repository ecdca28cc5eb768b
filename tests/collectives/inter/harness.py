"""Two groups on the emulator: p + q ranks, an intercommunicator between them, and one call compared with numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import fakempi
from collectives import Algorithm, Case
from collectives.verification.group_side import GroupSide
from collectives.verification.inter_calls import check, keywords, prepare
from collectives.verification.reduction_ops import ops_of
from fakempi.apps.emulator import joined

EXACT = fakempi.Hockney(t_s=0.0, t_w=1.0, eager_limit=0)  # the papers' model: times are whole numbers of bytes
ROUNDS = fakempi.Hockney(t_s=1.0, t_w=0.0, eager_limit=0)

Main = Callable[[Any, Any, bool], Any]


def run_groups(main: Main, p: int, q: int, cost: Any = EXACT, **options: Any) -> Any:
    """Run main(inter, local, in_a) on p ranks of A and q of B; returns are in the numbering of the claims."""

    def whole(comm: Any) -> Any:
        inter, local = joined(comm, p)
        return main(inter, local, comm.Get_rank() < p)

    return fakempi.run(whole, p + q, cost=cost, **options)


def calling(algorithm: Algorithm, case: Case) -> Main:
    """A call of the case with contents, compared with numpy."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        check(algorithm, inter, local, case, in_a, ops_of(fakempi.MPI))

    return main


class PhantomSide(GroupSide):
    """A side whose buffers are phantoms, so that long buffers use no memory."""

    def contents(self, number: int, size: int) -> Any:
        return self.blank(size)

    def operand(self, size: int) -> Any:
        return self.blank(size)

    def combination(self, size: int) -> Any:
        return self.blank(size)

    def blank(self, size: int) -> Any:
        return fakempi.phantom(size * self.case.itemsize, self.case.itemsize)

    def join(self, blocks: Sequence[Any]) -> Any:
        return self.blank(sum(block.size for block in blocks))

    def copy(self, buffer: Any) -> Any:
        return buffer


def phantom_call(algorithm: Algorithm, case: Case) -> Main:
    """The same call with phantom buffers; returns the time at which each rank is done."""

    def main(inter: Any, local: Any, in_a: bool) -> float:
        call = prepare(algorithm.operation, PhantomSide(case, in_a, local.Get_rank()), ops_of(fakempi.MPI))
        algorithm.run(inter, local, *call.args, **call.kwargs, **keywords(case, in_a))
        return float(fakempi.MPI.Wtime())

    return main


def modeled(algorithm: Algorithm, case: Case, cost: Any = EXACT) -> float:
    """The time of one call on the emulator."""
    return float(run_groups(phantom_call(algorithm, case), case.p, case.q, cost).time)
