"""The datatype of one process's share of an array that is dealt out over a grid of processes."""

from __future__ import annotations

import math
from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_RANK
from fakempi.errors import MPIValueError
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.derived import Numbers, array, checked_order, counted, number, numbers
from fakempi.mpi.datatypes.placing import Stretch


def darray(
    old: Definition,
    size: int,
    rank: int,
    gsizes: Numbers,
    distribs: Numbers,
    dargs: Numbers,
    psizes: Numbers,
    order: int,
) -> Definition:
    """The share of process `rank` of `size`, which form a grid of `psizes` in row-major order."""
    full = numbers("gsizes", gsizes, least=1)
    grid = numbers("psizes", psizes, like=full, least=1)
    params: dict[str, Any] = {
        "size": counted("size", size),
        "rank": number("rank", rank),
        "gsizes": full,
        "distribs": numbers("distribs", distribs, like=full),
        "dargs": numbers("dargs", dargs, like=full),
        "psizes": grid,
        "order": checked_order(order),
    }
    if math.prod(grid) != params["size"]:
        words = f"a grid of {' x '.join(map(str, grid))} has {math.prod(grid)} processes, size is {params['size']}."
        raise complaint(ERR_ARG, words, MPIValueError)
    if not 0 <= params["rank"] < params["size"]:
        raise complaint(ERR_RANK, f"rank {params['rank']} is not among {params['size']}.", MPIValueError)
    left, coordinates = params["rank"], []
    for extent in reversed(grid):
        left, coordinate = divmod(left, extent)
        coordinates.append(coordinate)
    axes = zip(full, params["distribs"], params["dargs"], grid, reversed(coordinates), strict=True)
    chosen = tuple([_share(axis, *about) for axis, about in enumerate(axes)])
    return array(c.COMBINER_DARRAY, old, full, chosen, params)


def _share(axis: int, indices: int, distribution: int, block: int, processes: int, me: int) -> tuple[Stretch, ...]:
    """The indices of one axis that process `me` along it gets: whole blocks, and a last one that may be shorter."""
    default = block == c.DISTRIBUTE_DFLT_DARG
    if distribution == c.DISTRIBUTE_NONE:
        if processes != 1:
            words = f"dimension {axis} is not dealt out (DISTRIBUTE_NONE) but psizes[{axis}] is {processes}."
            raise complaint(ERR_ARG, words, MPIValueError)
        block = indices
    elif distribution == c.DISTRIBUTE_BLOCK:
        block = -(-indices // processes) if default else block
        if block * processes < indices:
            words = f"{processes} blocks of {block} do not hold the {indices} indices of dimension {axis}."
            raise complaint(ERR_ARG, words, MPIValueError)
    elif distribution == c.DISTRIBUTE_CYCLIC:
        block = 1 if default else block
    else:
        raise complaint(ERR_ARG, f"distribs[{axis}] is {distribution}, not a distribution.", MPIValueError)
    if block < 1:
        raise complaint(ERR_ARG, f"dargs[{axis}] is {block}, less than 1.", MPIValueError)
    round_of_blocks = block * processes
    whole, rest = divmod(indices, round_of_blocks)
    rest = min(block, max(0, rest - me * block))
    if rest == block:
        whole, rest = whole + 1, 0
    return (me * block, whole, round_of_blocks, block), (me * block + whole * round_of_blocks, 1, 0, rest)
