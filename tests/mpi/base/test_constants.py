"""The named constants: all that mpi4py has, and distinct within a family."""

import re

import pytest

from fakempi.errors import classes as error_classes
from fakempi.mpi.base import constants
from tests.helpers.mpi4py_stub import MISSING, stub_file


def _names_in_mpi4py() -> list[str]:
    """The integer constants in mpi4py's stub file; MPI itself is not started."""
    if (path := stub_file()) is None:
        pytest.skip(MISSING)
    return re.findall(r"^(\w+): Final\[int\]", path.read_text(), re.MULTILINE)


def _mine(module: object) -> set[str]:
    return {name for name, value in vars(module).items() if name.isupper() and isinstance(value, int)}


def test_the_integer_constants_are_those_of_mpi4py() -> None:
    """Error classes in their module, everything else in constants."""
    names = _names_in_mpi4py()
    assert len(names) > 150
    errors = {name for name in names if name == "SUCCESS" or name.startswith("ERR_")}
    assert _mine(error_classes) == errors
    assert _mine(constants) == set(names) - errors


@pytest.mark.parametrize(
    "prefix",
    ["COMBINER_", "COMM_TYPE_", "DISTRIBUTE_", "LOCK_", "MODE_", "SEEK_", "THREAD_", "TYPECLASS_", "WIN_FLAVOR_"],
)
def test_constants_of_one_family_differ(prefix: str) -> None:
    """Two names with one number would select a wrong branch."""
    values = [value for name, value in vars(constants).items() if name.startswith(prefix)]
    assert len(values) > 1
    assert len(values) == len(set(values))


def test_special_ranks_are_distinct_and_no_ranks() -> None:
    """A wildcard must differ from every rank and from other wildcards."""
    special = [constants.UNDEFINED, constants.ANY_SOURCE, constants.PROC_NULL, constants.ROOT]
    assert all(rank < 0 for rank in special)
    assert len(set(special)) == 4


def test_file_modes_are_single_bits() -> None:
    """Programs combine them with |."""
    modes = [value for name, value in vars(constants).items() if name.startswith("MODE_")]
    assert all(mode.bit_count() == 1 for mode in modes)


def test_aliases_are_equal() -> None:
    """Old and new names of one constant."""
    assert constants.ORDER_F == constants.ORDER_FORTRAN
    assert constants.DISP_CUR == constants.DISPLACEMENT_CURRENT
    assert constants.WIN_FLAVOR == constants.WIN_CREATE_FLAVOR


def test_every_error_class_has_a_distinct_sentence() -> None:
    """Two classes must not share a message."""
    numbers = [getattr(error_classes, name) for name in _mine(error_classes)]
    assert sorted(numbers) == sorted(error_classes.SENTENCES)
    assert len(set(error_classes.SENTENCES.values())) == len(numbers)
