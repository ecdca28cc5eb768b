"""Integers that C cannot have, and values that are none, raise the exceptions of mpi4py, which are MPI errors here, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "send to": lambda comm, value: comm.send(1, dest=value),
    "send tag": lambda comm, value: comm.send(1, 0, tag=value),
    "Isend to": lambda comm, value: comm.Isend(b"1", dest=value),
    "bsend to": lambda comm, value: comm.bsend(1, dest=value),
    "sendrecv to": lambda comm, value: comm.sendrecv(1, dest=value, source=MPI.PROC_NULL),
    "sendrecv tag": lambda comm, value: comm.sendrecv(1, 0, value, source=MPI.PROC_NULL),
    "recv from": lambda comm, value: comm.recv(source=value),
    "recv tag": lambda comm, value: comm.recv(source=MPI.PROC_NULL, tag=value),
    "Iprobe from": lambda comm, value: comm.Iprobe(source=value),
    "Iprobe tag": lambda comm, value: comm.Iprobe(source=MPI.PROC_NULL, tag=value),
    "Send_init to": lambda comm, value: comm.Send_init(b"1", dest=value),
    "bcast root": lambda comm, value: comm.bcast(1, root=value),
    "Reduce root": lambda comm, value: comm.Reduce(np.zeros(1), np.zeros(1), root=value),
    "Put to": lambda comm, value: MPI.Win.Allocate(8, comm=comm).Put(bytearray(8), value),
    "Fence": lambda comm, value: MPI.Win.Allocate(8, comm=comm).Fence(value),
    "Incl": lambda comm, value: comm.Get_group().Incl([value]),
}


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", CALLS)
def test_an_integer_that_does_not_fit_into_32_bits_overflows(name: str, size: int) -> None:
    """It is an MPI error, too, and others that are out of range are only that."""

    def main(comm: Any) -> None:
        for value in (2**31, 2**40, -(2**40), np.int64(2**40)):
            with pytest.raises(OverflowError) as caught:
                CALLS[name](comm, value)
            assert isinstance(caught.value, MPI.Exception)
        with pytest.raises(MPI.Exception) as other:
            CALLS[name](comm, -7)
        assert not isinstance(other.value, OverflowError)

    fakempi.run(main, size)


@pytest.mark.parametrize("name", CALLS)
def test_a_value_that_is_no_integer_is_a_type_error(name: str) -> None:
    """An array of one element, too, which Python converts to an index with a warning or not at all."""

    def main(comm: Any) -> None:
        for value in ("1", None, [0], b"0", 1j, np.array([0]), object()):
            with pytest.raises(TypeError) as caught:
                CALLS[name](comm, value)
            assert isinstance(caught.value, MPI.Exception)

    fakempi.run(main, 1)


def test_other_calls_reject_values_that_are_no_integers() -> None:
    """Also those that ignore the value."""

    def main(comm: Any) -> None:
        window: Any = MPI.Win.Allocate(8, comm=comm)
        control: Any = MPI.Pcontrol
        with pytest.raises(TypeError):
            window.Lock(0, "shared")
        with pytest.raises(TypeError):
            control("off")

    fakempi.run(main, 1)
