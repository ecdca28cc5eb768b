"""Run functions on chains on the emulator: on all ranks of a communicator, or on some ranks in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import fakempi
from collectives.chain import Chain
from collectives.verification.sort_and_split import in_order

EXACT = fakempi.Hockney(t_s=0.0, t_w=1.0, eager_limit=0)  # times are numbers of bytes
ROUNDS = fakempi.Hockney(t_s=1.0, t_w=0.0, eager_limit=0)  # times are numbers of consecutive messages


def run_chain(main: Callable[[Chain], Any], size: int, cost: Any = ROUNDS, **options: Any) -> Any:
    """Run main(chain) on the chain of all ranks, in rank order."""
    return fakempi.run(lambda comm: main(Chain.of(comm)), size, cost=cost, **options)


def run_order(main: Callable[[Chain], Any], order: Sequence[int], cost: Any = ROUNDS, **options: Any) -> list[Any]:
    """Run main(chain) on the chain of these ranks, and return the results in the chain's order."""

    def whole(comm: Any) -> Any:
        return main(in_order(comm, order)) if comm.Get_rank() in order else None

    run = fakempi.run(whole, max(order) + 1, cost=cost, **options)
    return [run.returns[rank] for rank in order]
