"""Handles of predefined objects: copies, pickles, free, and reprs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each

CONSTANTS = [
    "INT", "DOUBLE", "SUM", "PROD", "INFO_ENV", "GROUP_EMPTY", "ERRORS_RETURN", "ERRORS_ABORT", "ERRORS_ARE_FATAL",
    "MESSAGE_NO_PROC", "COMM_SELF", "COMM_WORLD",
]  # fmt: skip
NULLS = [
    "DATATYPE_NULL", "OP_NULL", "INFO_NULL", "GROUP_NULL", "ERRHANDLER_NULL", "MESSAGE_NULL", "REQUEST_NULL", "COMM_NULL",
    "WIN_NULL", "FILE_NULL", "SESSION_NULL",
]  # fmt: skip


def copies(thing: Any) -> list[Any]:
    """All ways in which Python copies."""
    pickles = [pickle.dumps(thing, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [copy.copy(thing), copy.deepcopy(thing), *map(pickle.loads, pickles)]


def on_one_rank(main: Callable[[], Any]) -> Any:
    """Return the result of one rank."""
    return fakempi.run(lambda comm: main(), 1).returns[0]


@for_each("name", CONSTANTS + NULLS)
def test_a_constant_is_pickled_by_name_and_a_copy_as_a_copy(name: str) -> None:
    """An object of a subclass keeps its class."""

    def main() -> None:
        constant = getattr(MPI, name)
        kind = type(constant)
        Mine = type("Mine", (kind,), {"__module__": __name__})
        globals()["Mine"] = Mine
        try:
            assert all(again is constant for again in copies(constant))
            for cls in (kind, Mine):
                for again in copies(cls(constant)):
                    assert (type(again), again) == (cls, constant)
                    assert again is not constant
        finally:
            del globals()["Mine"]

    on_one_rank(main)


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_copy_of_a_constant_becomes_null_by_free_and_the_constant_stays(name: str) -> None:
    """However often it is called."""

    def main() -> None:
        constant = getattr(MPI, name)
        clone = type(constant)(constant)
        assert clone == constant
        for _ in range(3):
            clone.free()
            constant.free()
            assert not clone
            assert constant

    on_one_rank(main)


def test_a_derived_type_of_a_subclass_keeps_its_class_in_a_pickle() -> None:
    """With its contents."""

    class Pair(MPI.Datatype):
        """A datatype of two elements."""

    globals()["Pair"] = Pair
    Pair.__qualname__ = "Pair"
    try:
        pair = Pair(MPI.INT.Create_contiguous(2).Commit())
        again = pickle.loads(pickle.dumps(pair))
        assert (type(again), again.Get_size(), again.decode()) == (Pair, 8, pair.decode())
    finally:
        del globals()["Pair"]


def test_the_repr_of_a_communicator_has_name_rank_and_size() -> None:
    """For an intercommunicator, also the remote size."""

    def main(comm: Any) -> list[str]:
        half = comm.Split(comm.rank % 2)
        half.Set_name("half")
        between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
        return [repr(one) for one in (comm, comm.Dup(), half, between, MPI.COMM_SELF, MPI.COMM_NULL, MPI.Intracomm())]

    assert fakempi.run(main, 3).returns[2] == [
        "<Intracomm: COMM_WORLD, rank 2 of 3>",
        "<Intracomm: rank 2 of 3>",
        "<Intracomm: 'half', rank 1 of 2>",
        "<Intercomm: rank 1 of 2, 1 on the other side>",
        "<Intracomm: COMM_SELF, rank 0 of 1>",
        "<Comm: null>",
        "<Intracomm: null>",
    ]


def test_the_repr_of_an_exception_has_its_code_and_message() -> None:
    """Codes below SUCCESS are unknown."""
    assert repr(MPI.Exception(MPI.ERR_TAG)) == f"MPI.Exception({MPI.ERR_TAG})"
    assert repr(MPI.Exception(MPI.ERR_TAG, "tag -5 is negative.")) == f"MPI.Exception({MPI.ERR_TAG})"  # as in mpi4py
    assert MPI.Exception(-1) == MPI.ERR_UNKNOWN
