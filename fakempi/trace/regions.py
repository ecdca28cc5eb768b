"""Which regions are calls of the program's, and which are parts of one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Rows


def parts(regions: Rows) -> npt.NDArray[np.bool_]:
    """For each region whether it is inside of a collective call, as the bcast of an allreduce of objects is."""
    inside = np.zeros(len(regions), bool)
    calls, around = regions["context"] > 0, regions["parent"]
    for row in np.flatnonzero(around >= 0).tolist():  # who is around comes before who is inside
        inside[row] = calls[around[row]] or inside[around[row]]
    return inside
