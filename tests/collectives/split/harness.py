"""Splits on the emulator, and what they should give: groups and orders as sorting in one place makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fakempi
from collectives import CATALOGUE, Algorithm
from collectives.split import UNDEFINED
from collectives.verification.chains import View, expected, view_of
from tests.collectives.chain.harness import ROUNDS

__all__ = ["SPLITS", "every", "expected", "run_split", "splits", "view_of"]

SPLITS = [algorithm for algorithm in CATALOGUE if algorithm.kind == "split"]


def every(algorithm: Algorithm) -> str:
    return algorithm.name


def splits(colors: Sequence[Any], keys: Sequence[Any], compare: Any = None) -> list[Algorithm]:
    """Those that take such data: hashes are not for colours that a function compares, radix is for whole numbers."""
    whole = all(one is None or one == UNDEFINED or isinstance(one, int) for one in (*colors, *keys))
    hashable = compare is None or (isinstance(compare, tuple) and compare[0] is None)
    return [
        each
        for each in SPLITS
        if (each.name != "radix" or (whole and compare is None)) and (not each.name.startswith("hash") or hashable)
    ]


def run_split(
    algorithm: Algorithm,
    colors: Sequence[Any],
    keys: Sequence[Any],
    cost: Any = ROUNDS,
    carrier: str = "auto",
    **options: Any,
) -> Any:
    """Run it on as many ranks as there are colours; everybody returns its view."""

    def main(comm: Any) -> View:
        rank = comm.Get_rank()
        return view_of(algorithm.run(comm, colors[rank], keys[rank], **options))

    return fakempi.run(main, len(colors), cost=cost, carrier=carrier)
