"""The program of the viewer's pictures: a ring of ranks with unequal work, and a final sum."""

from typing import Any

import fakempi
from fakempi import phantom


def heat(comm: Any) -> None:
    """Each rank computes and sends 800 bytes to the next."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for turn in range(3):
        fakempi.compute(1e-6 * (1 + (comm.rank + turn) % 3))
        comm.Sendrecv(phantom(800), right, 7, phantom(800), left, 7)
    comm.Allreduce(phantom(8), phantom(8))
