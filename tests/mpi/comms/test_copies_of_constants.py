"""Handles that stand for what MPI made: their copies, pickles and ends; what they are called."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import fakempi
from fakempi import MPI

CONSTANTS = [
    "INT", "DOUBLE", "SUM", "PROD", "INFO_ENV", "GROUP_EMPTY", "ERRORS_RETURN", "ERRORS_ABORT", "ERRORS_ARE_FATAL",
    "MESSAGE_NO_PROC", "COMM_SELF", "COMM_WORLD",
]  # fmt: skip
NULLS = [
    "DATATYPE_NULL", "OP_NULL", "INFO_NULL", "GROUP_NULL", "ERRHANDLER_NULL", "MESSAGE_NULL", "REQUEST_NULL", "COMM_NULL",
    "WIN_NULL", "FILE_NULL", "SESSION_NULL",
]  # fmt: skip


def copies(thing: Any) -> list[Any]:
    """All that Python makes copies by."""
    pickles = [pickle.dumps(thing, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [copy.copy(thing), copy.deepcopy(thing), *map(pickle.loads, pickles)]


def alone(main: Callable[[], Any]) -> Any:
    """What one rank returns."""
    return fakempi.run(lambda comm: main(), 1).returns[0]


@pytest.mark.parametrize("name", CONSTANTS + NULLS)
def test_a_constant_is_pickled_by_name_and_a_copy_as_a_copy(name: str) -> None:
    """And an object of a subclass as one of that."""

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

    alone(main)


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

    alone(main)


def test_a_derived_type_of_a_subclass_stays_one_in_a_pickle() -> None:
    """With what it is made of."""

    class Pair(MPI.Datatype):
        """Two of something."""

    globals()["Pair"] = Pair
    Pair.__qualname__ = "Pair"
    try:
        pair = Pair(MPI.INT.Create_contiguous(2).Commit())
        again = pickle.loads(pickle.dumps(pair))
        assert (type(again), again.Get_size(), again.decode()) == (Pair, 8, pair.decode())
    finally:
        del globals()["Pair"]


def test_a_communicator_says_its_name_its_rank_and_its_size() -> None:
    """And one between groups how many are on the other side."""

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


def test_an_exception_says_its_code_and_its_sentence_if_it_has_one() -> None:
    """Codes below SUCCESS are none."""
    assert repr(MPI.Exception(MPI.ERR_TAG)) == f"MPI.Exception({MPI.ERR_TAG})"
    assert repr(MPI.Exception(MPI.ERR_TAG, "tag -5 is negative.")) == f"MPIError({MPI.ERR_TAG}, 'tag -5 is negative.')"
    assert MPI.Exception(-1) == MPI.ERR_UNKNOWN
