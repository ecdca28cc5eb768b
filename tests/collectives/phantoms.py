"""Run cases on phantom buffers, which have no contents."""

from __future__ import annotations

from typing import Any

import numpy as np

import fakempi
from collectives import Algorithm, Case
from collectives.verification.intra_calls import prepare
from collectives.verification.reduction_ops import ops_of


def run_phantom(algorithm: Algorithm, comm: Any, case: Case) -> None:
    """Run the algorithm on this rank with phantom buffers."""
    call = prepare(algorithm.operation, case, comm.Get_rank(), ops_of(fakempi.MPI))
    algorithm.run(comm, *map(emptied, call.args), **call.kwargs, **case.parameters)


def emptied(argument: Any) -> Any:
    """Return a phantom of a buffer's size, and other arguments unchanged."""
    if isinstance(argument, np.ndarray):
        return fakempi.phantom(argument.size * argument.itemsize, argument.itemsize)
    return [emptied(part) for part in argument] if isinstance(argument, list) else argument
