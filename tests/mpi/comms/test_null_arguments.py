"""Arguments that must not be None: the error names the call, the rank and the argument, and is a TypeError as in mpi4py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

NONE: Any = None

CALLS: dict[str, tuple[Callable[[Any], object], str, int]] = {
    "Message.Probe": (
        lambda comm: MPI.Message.Probe(NONE),
        "Probe on rank 0: comm is None, not a communicator.",
        MPI.ERR_COMM,
    ),
    "Message.Iprobe": (
        lambda comm: MPI.Message.Iprobe(NONE),
        "Iprobe on rank 0: comm is None, not a communicator.",
        MPI.ERR_COMM,
    ),
    "Group.Create_from_session_pset": (
        lambda comm: MPI.Group.Create_from_session_pset(NONE, "mpi://WORLD"),
        "Create_from_session_pset on rank 0: session is None, not a Session.",
        MPI.ERR_SESSION,
    ),
    "Prequest.Startall": (
        lambda comm: MPI.Prequest.Startall(NONE),
        "Startall on rank 0: expecting a sequence of requests, not None.",
        MPI.ERR_REQUEST,
    ),
    "Prequest.Pready_list": (
        lambda comm: started(comm).Pready_list(NONE),
        "Pready_list on rank 0: partitions is None, not a sequence of integers.",
        MPI.ERR_ARG,
    ),
    "Prequest.Pready_range, low": (
        lambda comm: started(comm).Pready_range(NONE, 1),
        "Pready_range on rank 0: partition_low is None, not an integer.",
        MPI.ERR_ARG,
    ),
    "Prequest.Pready_range, high": (
        lambda comm: started(comm).Pready_range(0, NONE),
        "Pready_range on rank 0: partition_high is None, not an integer.",
        MPI.ERR_ARG,
    ),
    "Status.Get_elements": (
        lambda comm: MPI.Status().Get_elements(NONE),
        "Get_elements on rank 0: None is not a Datatype.",
        MPI.ERR_TYPE,
    ),
    "File.Delete": (lambda comm: MPI.File.Delete(NONE), "Delete on rank 0: filename is None, not a path.", MPI.ERR_ARG),
    "File.Open": (lambda comm: MPI.File.Open(comm, NONE), "Open on rank 0: filename is None, not a path.", MPI.ERR_ARG),
}


def started(comm: Any) -> Any:
    """A partitioned send to PROC_NULL that has been started."""
    request = comm.Psend_init(np.zeros(2), 2, MPI.PROC_NULL)
    request.Start()
    return request


def test_none_is_reported_as_an_mpi_error() -> None:
    def main(comm: Any) -> None:
        for name, (call, sentence, code) in CALLS.items():
            with pytest.raises(MPI.Exception) as caught:
                call(comm)
            assert isinstance(caught.value, TypeError), name
            assert (str(caught.value), caught.value.Get_error_class()) == (sentence, code), name

    fakempi.run(main, 1)
