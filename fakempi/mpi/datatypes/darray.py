"""The datatype of one process's share of an array that is distributed over a grid of processes."""

from __future__ import annotations

import math
from typing import Any

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_RANK
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.derived import Numbers, array, checked_order, nonnegative, number, numbers
from fakempi.mpi.datatypes.derived_layouts import AxisBlocks


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
    """Return the share of process `rank` of `size`, which form a grid of `psizes` in row-major order."""
    full = numbers("gsizes", gsizes, least=1)
    grid = numbers("psizes", psizes, like=full, least=1, bits=32)
    params: dict[str, Any] = {
        "size": nonnegative("size", size, 32),
        "rank": number("rank", rank, 32),
        "gsizes": full,
        "distribs": numbers("distribs", distribs, like=full, bits=32),
        "dargs": numbers("dargs", dargs, like=full, bits=32),
        "psizes": grid,
        "order": checked_order(order),
    }
    if math.prod(grid) != params["size"]:
        sentence = f"a grid of {' x '.join(map(str, grid))} has {math.prod(grid)} processes, size is {params['size']}."
        raise mpi_error(ERR_ARG, sentence, MPIValueError)
    if not 0 <= params["rank"] < params["size"]:
        raise mpi_error(ERR_RANK, f"rank {params['rank']} is not in 0..{params['size'] - 1}.", MPIValueError)
    quotient, coordinates = params["rank"], []
    for extent in reversed(grid):
        quotient, coordinate = divmod(quotient, extent)
        coordinates.append(coordinate)
    axes = zip(full, params["distribs"], params["dargs"], grid, reversed(coordinates), strict=True)
    chosen = tuple([_share(axis, *about) for axis, about in enumerate(axes)])
    return array(c.COMBINER_DARRAY, old, full, chosen, params)


def _share(axis: int, indices: int, distribution: int, block: int, processes: int, me: int) -> tuple[AxisBlocks, ...]:
    """Return the share of process `me` along one axis, as indices: full blocks, and a last one that may be shorter."""
    default = block == c.DISTRIBUTE_DFLT_DARG
    if distribution == c.DISTRIBUTE_NONE:
        if processes != 1:
            sentence = f"dimension {axis} is not distributed (DISTRIBUTE_NONE): psizes[{axis}] is {processes}, not 1."
            raise mpi_error(ERR_ARG, sentence, MPIValueError)
        block = indices
    elif distribution == c.DISTRIBUTE_BLOCK:
        block = -(-indices // processes) if default else block
        if block * processes < indices:
            sentence = f"{processes} blocks of {block} do not hold the {indices} indices of dimension {axis}."
            raise mpi_error(ERR_ARG, sentence, MPIValueError)
    elif distribution == c.DISTRIBUTE_CYCLIC:
        block = 1 if default else block
    else:
        raise mpi_error(ERR_ARG, f"distribs[{axis}] is {distribution}, not one of MPI.DISTRIBUTE_...", MPIValueError)
    if block < 1:
        raise mpi_error(ERR_ARG, f"dargs[{axis}] is {block}, less than 1.", MPIValueError)
    round_of_blocks = block * processes
    whole, rest = divmod(indices, round_of_blocks)
    rest = min(block, max(0, rest - me * block))
    if rest == block:
        whole, rest = whole + 1, 0
    return (me * block, whole, round_of_blocks, block), (me * block + whole * round_of_blocks, 1, 0, rest)
