"""Run splits on the emulator; the expected groups come from a sequential sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fakempi
from collectives import CATALOGUE, Algorithm
from collectives.split import UNDEFINED
from collectives.verification.sort_and_split import View, expected, view_of
from tests.collectives.chain.harness import ROUNDS

__all__ = ["SPLITS", "expected", "name_of", "run_split", "splits", "view_of"]

SPLITS = [algorithm for algorithm in CATALOGUE if algorithm.kind == "split"]


def name_of(algorithm: Algorithm) -> str:
    return algorithm.name


def splits(colors: Sequence[Any], keys: Sequence[Any], compare: Any = None) -> list[Algorithm]:
    """Return the splits for these arguments: hashes do not support comparison functions, radix needs integers."""
    integers = all(one is None or one == UNDEFINED or isinstance(one, int) for one in (*colors, *keys))
    hashable = compare is None or (isinstance(compare, tuple) and compare[0] is None)
    return [
        each
        for each in SPLITS
        if (each.name != "radix" or (integers and compare is None)) and (not each.name.startswith("hash") or hashable)
    ]


def run_split(
    algorithm: Algorithm,
    colors: Sequence[Any],
    keys: Sequence[Any],
    cost: Any = ROUNDS,
    backend: Any = "auto",
    **options: Any,
) -> Any:
    """Run a split on one rank per color; every rank returns its view."""

    def main(comm: Any) -> View:
        rank = comm.Get_rank()
        return view_of(algorithm.run(comm, colors[rank], keys[rank], **options))

    return fakempi.run(main, len(colors), cost=cost, backend=backend)
