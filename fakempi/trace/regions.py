"""Distinguish the regions of collective calls from the regions nested inside them; names of regions of other calls."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Rows

PROBE, WAIT_FOR_ANY, ACCESSES = "probe", "waitany", "window accesses"
"""Regions of blocking probes, of calls that wait for any of several operations, and of waits for accesses to a window."""


def is_nested(regions: Rows) -> npt.NDArray[np.bool_]:
    """Return for each region whether it is inside a collective call, such as the bcast of an allreduce of objects."""
    inside = np.zeros(len(regions), bool)
    calls, parent = regions["context"] > 0, regions["parent"]
    for row in np.flatnonzero(parent >= 0).tolist():  # parents precede children
        inside[row] = calls[parent[row]] or inside[parent[row]]
    return inside
