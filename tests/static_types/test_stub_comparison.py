"""The static types of `fakempi.MPI` are those of mpi4py's stubs."""

from __future__ import annotations

import pytest

from fakempi import MPI
from tests.helpers.mpi4py_stub import stub_file
from tests.static_types.stub_comparison import EXCEPTIONS, STAND_INS, checked, compare, public_names

stub = stub_file()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(stub is None, reason="no stubs: python -m pip install mpi4py")]


def test_every_public_name_has_the_type_that_mpi4pys_stubs_give_it() -> None:
    """Except for the listed names, all of which are needed."""
    assert stub is not None
    names = public_names(stub)
    types = compare(list(names))
    assert len(types) > 2000  # the stubs were read in full
    different = {name: pair for name, pair in types.items() if pair[0] != pair[1]}
    assert {name: pair for name, pair in different.items() if names[name] not in EXCEPTIONS} == {}
    assert set(EXCEPTIONS) == {names[name] for name in different}


def test_parameters_accept_and_attributes_can_be_set() -> None:
    """A parameter that names a stand-in accepts what mpi4py's accepts; an attribute with a setter can be assigned."""
    lines = ["from fakempi import MPI"]
    for path, name in STAND_INS.items():
        module, _, kind = path.rpartition(".")
        lines += [f"from {module} import {kind}", f"def _(x: MPI.{name}) -> {kind}: return x"]
    kinds = [MPI.Comm, MPI.Datatype, MPI.File, MPI.Pickle, MPI.Status, MPI.Win]
    found = [
        (kind.__name__, name)
        for kind in kinds
        for name in dir(kind)
        if not name.startswith("_") and getattr(getattr(kind, name), "fset", None) is not None
    ]
    assert len(found) > 10
    lines += [f"def _(x: MPI.{kind}) -> None: x.{name} = x.{name}" for kind, name in found]
    assert checked("\n".join(lines))[1] == {}
