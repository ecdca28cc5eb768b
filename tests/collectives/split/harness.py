"""Splits on the emulator, and what they should give: groups and orders as sorting in one place makes them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

import fakempi
from collectives import CATALOGUE, Algorithm
from collectives.chain import NOBODY
from collectives.split import UNDEFINED
from tests.collectives.chain.harness import ROUNDS

SPLITS = [algorithm for algorithm in CATALOGUE if algorithm.kind == "split"]

View = tuple[int, int, int, int] | None
"""Rank, size, left and right neighbour."""


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


def expected(colors: Sequence[Any], keys: Sequence[Any], compare: Any = None) -> list[View]:
    """By sorting in one place."""
    for_colors, for_keys = compare if isinstance(compare, tuple) else (compare, compare)
    views: list[View] = [None] * len(colors)
    groups: list[tuple[Any, list[int]]] = []
    for rank, color in enumerate(colors):
        if color == UNDEFINED:
            continue
        for other, ranks in groups:
            if for_colors(color, other) == 0 if for_colors and color is not None else color == other:
                ranks.append(rank)
                break
        else:
            groups.append((color, [rank]))
    for _, ranks in groups:
        if keys[0] is not None:
            by = cmp_to_key(for_keys) if for_keys else (lambda key: key)
            ranks.sort(key=lambda rank: by(keys[rank]))  # which keeps the order of ranks with equal keys
        for at, rank in enumerate(ranks):
            left = ranks[at - 1] if at else NOBODY
            views[rank] = (at, len(ranks), left, ranks[at + 1] if at + 1 < len(ranks) else NOBODY)
    return views


def view_of(chain: Any) -> View:
    return None if chain is None else (chain.rank, chain.size, chain.left, chain.right)


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
