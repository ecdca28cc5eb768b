"""Datatype handles: predefined types, names, codes, committing and freeing, attributes, pickles."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fakempi.error_classes import ERR_TYPE
from fakempi.errors import MPIError
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.current import here
from fakempi.mpi.datatypes import predefined as MPI
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import from_code, from_dtype


@pytest.fixture
def on_rank() -> Iterator[Callable[[int], None]]:
    """A switch between two ranks that are not really there."""
    ranks = [SimpleNamespace(attributes=None, name=f"rank {rank}") for rank in range(2)]

    def switch(rank: int) -> None:
        here.loop = SimpleNamespace(running=SimpleNamespace(owner=ranks[rank]))

    yield switch
    here.loop = None


# -- predefined types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", "?bBhHiIlLqQefdgFDG")
def test_numpy_and_type_codes_lead_to_the_same_type(code: str) -> None:
    """And back."""
    dtype = np.dtype(code)
    datatype = from_dtype(dtype)
    assert datatype is from_code(code) is Datatype.fromcode(code)
    assert datatype._dtype == dtype
    assert (datatype.size, datatype.extent, datatype._dense) == (dtype.itemsize, dtype.itemsize, True)
    assert np.dtype(datatype.typechar) == np.dtype(datatype.typestr) == dtype
    assert np.dtype(datatype.tocode()) == dtype
    assert datatype._basic is datatype


def test_sized_codes_are_sized_types() -> None:
    """With the byte order before them if it is the machine's; Datatype.fromcode, like mpi4py's, wants none."""
    assert from_code("i4") is MPI.INT32_T
    assert from_code("=u8") is from_code(np.dtype("u8").str) is MPI.UINT64_T
    assert from_code("f8") is MPI.DOUBLE
    assert from_code("S1") is MPI.CHAR
    foreign = np.dtype("i4").newbyteorder().str
    for refused in (foreign, "V8", "", "int32", "x"):
        with pytest.raises(ValueError, match=r"no datatype has the type code"):
            from_code(refused)
    with pytest.raises(ValueError, match=r"^fromcode: no datatype has the type code '=i4'\.$"):
        Datatype.fromcode("=i4")


def test_other_numpy_types_travel_as_bytes() -> None:
    """Records, dates, strings, foreign byte orders: committed types of so many bytes, always the same ones."""
    for dtype in ("i4,f8", "M8[s]", "S5", "U3", np.dtype("i4").newbyteorder(), "V12"):
        opaque = from_dtype(np.dtype(dtype))
        opaque._usable()
        assert (opaque.size, opaque._dense, opaque._basic) == (np.dtype(dtype).itemsize, True, MPI.BYTE)
        assert opaque is from_dtype(np.dtype(dtype))
    assert from_dtype(np.dtype("S1")) is MPI.CHAR
    assert from_dtype(np.dtype("U1")) is MPI.WCHAR
    with pytest.raises(TypeError, match=r"hold Python objects"):
        from_dtype(np.dtype("O"))


def test_aliases_are_the_same_object() -> None:
    """BOOL is C_BOOL, TWOINT is INT_INT, F_DOUBLE is DOUBLE_PRECISION ..."""
    assert MPI.BOOL is MPI.C_BOOL
    assert MPI.TWOINT is MPI.INT_INT
    assert MPI.F_DOUBLE is MPI.DOUBLE_PRECISION
    assert MPI.FLOAT64_T is MPI.DOUBLE


def test_pairs_are_laid_out_as_by_a_compiler() -> None:
    """A double and an int: 12 bytes in a message, 16 in memory."""
    pairs = np.zeros(3, MPI.DOUBLE_INT._dtype)
    pairs["value"], pairs["index"] = [1.5, 2.5, 3.5], [7, 8, 9]
    assert pairs.itemsize == MPI.DOUBLE_INT.extent == 16
    packed = MPI.DOUBLE_INT._pack(pairs.view(np.uint8), 0, 3)
    assert packed.view([("value", "f8"), ("index", "i4")]).tolist() == [(1.5, 7), (2.5, 8), (3.5, 9)]
    assert Datatype.Get_value_index(MPI.DOUBLE, MPI.INT) is MPI.DOUBLE_INT
    assert Datatype.Get_value_index(MPI.DOUBLE, MPI.DOUBLE) == MPI.DATATYPE_NULL
    assert MPI.DOUBLE_INT.Create_contiguous(2)._basic is MPI.DOUBLE_INT


def test_types_nobody_can_calculate_with_are_null() -> None:
    """As in mpi4py, whose MPI may lack them: the names are there."""
    for name in ("BFLOAT16_T", "INTEGER16", "LOGICAL1", "COMPLEX4"):
        assert MPI.BY_NAME[name] == MPI.DATATYPE_NULL


def test_fortran_kinds_are_found_by_precision() -> None:
    """The smallest type that has the digits; the same request gives the same type."""
    sizes = [Datatype.Create_f90_integer(r).size for r in (1, 2, 3, 4, 5, 9, 10, 18)]
    assert sizes == [1, 1, 2, 2, 4, 4, 8, 8]
    assert [Datatype.Create_f90_real(p, r).size for p, r in ((6, 37), (7, 37), (6, 38), (15, 307))] == [4, 8, 8, 8]
    assert Datatype.Create_f90_real(6, c.UNDEFINED).size == 4
    assert Datatype.Create_f90_complex(15, 100).size == 16
    nine = Datatype.Create_f90_integer(9)
    assert nine == Datatype.Create_f90_integer(9)
    assert nine != Datatype.Create_f90_integer(8)
    assert (nine.is_predefined, nine.is_named, nine.envelope) == (True, False, (1, 0, 0, 0, c.COMBINER_F90_INTEGER))
    assert (nine.contents, nine.tocode(), nine._basic) == (([9], [], [], []), "i4", MPI.INT32_T)
    nine._usable()
    with pytest.raises(MPIError, match=r"there is no integer type with 40 digits\.$"):
        Datatype.Create_f90_integer(40)
    with pytest.raises(MPIError, match=r"there is no real type with 99 digits and exponents up to 5\.$"):
        Datatype.Create_f90_real(99, 5)


def test_fortran_types_are_found_by_size() -> None:
    """And refused by class and size."""
    assert Datatype.Match_size(c.TYPECLASS_INTEGER, 4) is MPI.INTEGER4
    assert Datatype.Match_size(c.TYPECLASS_REAL, 8) is MPI.REAL8
    assert Datatype.Match_size(c.TYPECLASS_COMPLEX, 16) is MPI.COMPLEX16
    with pytest.raises(ValueError, match=r"^Match_size: there is no INTEGER type of 3 bytes\.$"):
        Datatype.Match_size(c.TYPECLASS_INTEGER, 3)
    with pytest.raises(ValueError, match=r"^Match_size: 99 is not a type class\.$"):
        Datatype.Match_size(99, 4)


# -- handles -----------------------------------------------------------------------------------------------------------


def test_a_copied_handle_stands_for_the_same_type() -> None:
    """Equal, committed together, renamed together; and freed together."""
    one = MPI.INT.Create_vector(2, 1, 3)
    other = Datatype(one)
    assert one == other
    assert one != MPI.INT.Create_vector(2, 1, 3)
    one.Commit()
    one.name = "columns"
    other._usable()
    assert other.name == "columns"
    assert Datatype.fromint(one.toint()) == Datatype.f2py(one.py2f()) == Datatype.fromhandle(one.handle) == one
    one.Free()
    assert one == MPI.DATATYPE_NULL
    with pytest.raises(MPIError, match=r"was freed through another handle\.$"):
        other.Get_size()


def test_a_type_lives_on_in_those_made_from_it() -> None:
    """Get_contents gives new handles, also for a type whose own handle was freed."""
    inner = MPI.INT.Create_vector(2, 1, 3)
    outer = inner.Create_contiguous(2)
    inner.Free()
    (again,) = outer.Get_contents()[3]
    assert again.decode() == (MPI.INT, "VECTOR", {"count": 2, "blocklength": 1, "stride": 3})
    again.Free()
    assert outer.size == 16


def test_null_and_freed_types_are_refused() -> None:
    """Everything but their name and their truth."""
    freed = MPI.INT.Create_contiguous(2)
    freed.Free()
    for null in (MPI.DATATYPE_NULL, Datatype(), freed):
        assert not null
        assert (null.name, null.typechar, null.is_predefined) == ("MPI_DATATYPE_NULL", "", True)
        asked: list[Callable[[], Any]] = [null.Get_size, null.Commit, null.Free, null.Dup, null.Get_envelope]
        for ask in asked:
            with pytest.raises(MPIError, match=r": the datatype is DATATYPE_NULL: it was never made, or was freed\.$"):
                ask()
        null.free()
    with pytest.raises(MPIError) as caught:
        Datatype.Create_struct([1], [0], [freed])
    assert caught.value.Get_error_class() == ERR_TYPE


def test_predefined_types_cannot_be_freed() -> None:
    """`Free` says so, `free` lets them be."""
    with pytest.raises(MPIError, match=r"^Free: INT is predefined and cannot be freed\.$"):
        MPI.INT.Free()
    MPI.INT.free()
    assert MPI.INT.size == 4


def test_messages_want_committed_types() -> None:
    """A duplicate is as committed as its original."""
    fresh = MPI.INT.Create_vector(2, 1, 3)
    for uncommitted in (fresh, fresh.Dup()):
        with pytest.raises(MPIError, match=r"\((DUP of )?VECTOR of INT\) is not committed: call Commit\(\)"):
            uncommitted._usable()
    assert fresh.Commit() is fresh
    fresh.Dup()._usable()
    MPI.INT._usable()


def test_subclasses_make_their_own_kind() -> None:
    """As mpi4py's constructors do."""

    class Mine(Datatype):
        pass

    assert type(Mine(MPI.INT).Create_contiguous(2)) is Mine
    assert type(Mine.Create_struct([1], [0], [MPI.INT])) is Mine
    assert Mine(MPI.INT) == MPI.INT


def test_bounds_are_properties_too() -> None:
    """lb, ub, extent, and the true ones."""
    wide = MPI.INT.Create_resized(-4, 16)
    assert (wide.lb, wide.ub, wide.extent, wide.size) == (-4, 12, 16, 4)
    assert (wide.true_lb, wide.true_ub, wide.true_extent) == (0, 4, 4)
    assert (wide.combiner, wide.is_named, repr(wide)) == (c.COMBINER_RESIZED, False, "<Datatype: RESIZED of INT>")


def test_duplicates_keep_the_code() -> None:
    """Other derived types are void to numpy, as large as their extent."""
    double = MPI.INT.Dup().Dup()
    assert (double.tocode(), double.typestr, double._basic) == ("i", "i4", MPI.INT)
    assert MPI.INT.Create_resized(0, 12).typestr == "V12"
    with pytest.raises(ValueError, match=r"^tocode: VECTOR of INT has no type code\.$"):
        MPI.INT.Create_vector(2, 1, 3).tocode()


def test_what_is_not_a_datatype_is_refused() -> None:
    """By kind."""
    thing: Any = 3
    with pytest.raises(TypeError, match=r"3 is not a datatype\.$"):
        Datatype(thing)
    with pytest.raises(TypeError, match=r"^Create_struct: 3 is not a datatype\.$"):
        Datatype.Create_struct([1], [0], [thing])
    with pytest.raises(TypeError, match=r"is not a sequence of datatypes\.$"):
        Datatype.Create_struct([1], [0], thing)


# -- names and attributes ----------------------------------------------------------------------------------------------


def test_names_of_predefined_types_are_a_ranks_own(on_rank: Callable[[int], None]) -> None:
    """One rank renames INT, another sees MPI's name."""
    on_rank(0)
    MPI.INT.Set_name("number")
    assert (MPI.INT.name, Datatype(MPI.INT).Get_name()) == ("number", "number")
    on_rank(1)
    assert MPI.INT.name == "MPI_INT"


def test_long_names_are_cut() -> None:
    """To what MPI_MAX_OBJECT_NAME leaves room for."""
    datatype = MPI.INT.Create_contiguous(2)
    assert datatype.name == ""
    datatype.name = "x" * 400
    assert len(datatype.name) == c.MAX_OBJECT_NAME - 1
    thing: Any = 3
    with pytest.raises(TypeError, match=r"^Set_name: the name is 3, not a string\.$"):
        datatype.Set_name(thing)


def test_attributes_belong_to_the_type(on_rank: Callable[[int], None]) -> None:
    """Every handle sees them, duplicates inherit what the key says, freeing deletes; predefined types': per rank."""
    gone: list[Any] = []
    key = Datatype.Create_keyval(copy_fn=True, delete_fn=lambda _, __, value: gone.append(value))
    datatype = MPI.INT.Create_contiguous(2)
    Datatype(datatype).Set_attr(key, "blue")
    double = datatype.Dup()
    assert (datatype.Get_attr(key), double.Get_attr(key)) == ("blue", "blue")
    double.Free()
    assert gone == ["blue"]
    on_rank(0)
    Datatype(MPI.INT).Set_attr(key, "red")
    assert MPI.INT.Get_attr(key) == "red"
    on_rank(1)
    assert MPI.INT.Get_attr(key) is None


# -- pickles -----------------------------------------------------------------------------------------------------------


def test_derived_types_are_pickled_by_how_they_were_made() -> None:
    """And come out committed, as in mpi4py."""
    record = Datatype.Create_struct([1, 2], [0, 8], [MPI.INT.Dup(), MPI.DOUBLE.Create_vector(2, 1, 2)])
    reduced: Any = record.__reduce__()
    again = reduced[0](*reduced[1])
    again._usable()
    assert again != record
    assert (again.Get_extent(), again.size) == (record.Get_extent(), record.size)
    assert again.decode()[2]["displacements"] == [0, 8]
    reduced = Datatype.Create_f90_integer(9).__reduce__()
    assert reduced[0](*reduced[1]) == Datatype.Create_f90_integer(9)


@pytest.mark.skipif(importlib.util.find_spec("fakempi.MPI") is None, reason="fakempi.MPI is not there yet")
def test_predefined_types_are_pickled_by_name() -> None:
    """A pickle of INT is INT itself; one of a derived type is an equal type."""
    assert importlib.import_module("fakempi.MPI").INT is MPI.INT
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(MPI.INT, protocol)) is MPI.INT
        assert pickle.loads(pickle.dumps(Datatype(MPI.INT), protocol)) == MPI.INT
        assert pickle.loads(pickle.dumps(MPI.INT.Create_vector(2, 1, 3), protocol)).size == 8
        assert pickle.loads(pickle.dumps(Datatype(), protocol)) == MPI.DATATYPE_NULL
