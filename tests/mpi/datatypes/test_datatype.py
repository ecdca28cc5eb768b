"""Datatype handles: predefined types, names, codes, commit and free, attributes, pickles."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_TYPE
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.datatypes import predefined as MPI
from fakempi.mpi.datatypes.basic import NAMED
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import from_code, from_dtype
from tests.helpers.loops import for_each


@pytest.fixture
def on_rank() -> Iterator[Callable[[int], None]]:
    """Switch between two simulated ranks."""
    ranks = [SimpleNamespace(attributes=None, name=f"rank {rank}", universe=None) for rank in range(2)]

    def switch(rank: int) -> None:
        os_thread.loop = cast(Any, SimpleNamespace)(running=SimpleNamespace(owner=ranks[rank]))

    yield switch
    os_thread.loop = None


# -- predefined types --------------------------------------------------------------------------------------------------


@for_each("code", "?bBhHiIlLqQefdgFDG")
def test_numpy_types_and_type_codes_give_the_same_type(code: str) -> None:
    """In both directions."""
    dtype = np.dtype(code)
    datatype = from_dtype(dtype)
    assert datatype is from_code(code) is Datatype.fromcode(code)
    assert datatype._dtype == dtype
    assert (datatype.size, datatype.extent, datatype._dense) == (dtype.itemsize, dtype.itemsize, True)
    assert np.dtype(datatype.typechar) == np.dtype(datatype.typestr) == dtype
    assert np.dtype(datatype.tocode()) == dtype
    assert datatype._basic is datatype


def test_sized_codes_are_sized_types() -> None:
    """With the byte order prefix if it is native; Datatype.fromcode, as in mpi4py, rejects one."""
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


def test_other_numpy_types_are_sent_as_bytes() -> None:
    """Records, dates, strings, foreign byte orders: committed types of that number of bytes, always the same ones."""
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


def test_pairs_have_the_layout_of_a_compiler() -> None:
    """A double and an int: 12 bytes in a message, 16 in memory."""
    pairs = np.zeros(3, MPI.DOUBLE_INT._dtype)
    pairs["value"], pairs["index"] = [1.5, 2.5, 3.5], [7, 8, 9]
    assert pairs.itemsize == MPI.DOUBLE_INT.extent == 16
    packed = MPI.DOUBLE_INT._pack(pairs.view(np.uint8), 0, 3)
    assert packed.view([("value", "f8"), ("index", "i4")]).tolist() == [(1.5, 7), (2.5, 8), (3.5, 9)]
    assert Datatype.Get_value_index(MPI.DOUBLE, MPI.INT) is MPI.DOUBLE_INT
    assert Datatype.Get_value_index(MPI.DOUBLE, MPI.DOUBLE) == MPI.DATATYPE_NULL
    assert MPI.DOUBLE_INT.Create_contiguous(2)._basic is MPI.DOUBLE_INT


def test_unsupported_types_are_null() -> None:
    """As in mpi4py, whose MPI may lack them: the names exist."""
    for name in ("BFLOAT16_T", "INTEGER16", "LOGICAL1", "COMPLEX4"):
        assert MPI.BY_NAME[name] == MPI.DATATYPE_NULL


def test_predefined_types_have_their_names() -> None:
    """The module assigns all of them at once: each name is that of its definition."""
    assert {name: MPI.BY_NAME[name]._definition for name in NAMED} == NAMED


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
    """Unknown classes and sizes are rejected."""
    assert Datatype.Match_size(c.TYPECLASS_INTEGER, 4) is MPI.INTEGER4
    assert Datatype.Match_size(c.TYPECLASS_REAL, 8) is MPI.REAL8
    assert Datatype.Match_size(c.TYPECLASS_COMPLEX, 16) is MPI.COMPLEX16
    with pytest.raises(ValueError, match=r"^Match_size: there is no INTEGER type of 3 bytes\.$"):
        Datatype.Match_size(c.TYPECLASS_INTEGER, 3)
    with pytest.raises(ValueError, match=r"^Match_size: type class 99 is not one of MPI.TYPECLASS_"):
        Datatype.Match_size(99, 4)


# -- handles -----------------------------------------------------------------------------------------------------------


def test_a_copied_handle_refers_to_the_same_type() -> None:
    """Equal, committed, renamed and freed together."""
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


def test_a_type_remains_in_types_made_from_it() -> None:
    """Get_contents returns new handles, also for a type whose own handle was freed."""
    inner = MPI.INT.Create_vector(2, 1, 3)
    outer = inner.Create_contiguous(2)
    inner.Free()
    (again,) = outer.Get_contents()[3]
    assert again.decode() == (MPI.INT, "VECTOR", {"count": 2, "blocklength": 1, "stride": 3})
    again.Free()
    assert outer.size == 16


def test_null_and_freed_types_are_rejected() -> None:
    """By everything except their name and truth value."""
    freed = MPI.INT.Create_contiguous(2)
    freed.Free()
    for null in (MPI.DATATYPE_NULL, Datatype(), freed):
        assert not null
        assert (null.name, null.typechar, null.is_predefined) == ("MPI_DATATYPE_NULL", "", True)
        requested: list[Callable[[], Any]] = [null.Get_size, null.Commit, null.Free, null.Dup, null.Get_envelope]
        for ask in requested:
            with pytest.raises(MPIError, match=r": the datatype is DATATYPE_NULL: it was never created, or was freed\.$"):
                ask()
        null.free()
    with pytest.raises(MPIError) as caught:
        Datatype.Create_struct([1], [0], [freed])
    assert caught.value.Get_error_class() == ERR_TYPE


def test_predefined_types_cannot_be_freed() -> None:
    """`Free` raises, `free` has no effect."""
    with pytest.raises(MPIError, match=r"^Free: INT is predefined and cannot be freed\.$"):
        MPI.INT.Free()
    MPI.INT.free()
    assert MPI.INT.size == 4


def test_messages_need_committed_types() -> None:
    """A duplicate is committed if its original is."""
    fresh = MPI.INT.Create_vector(2, 1, 3)
    for uncommitted in (fresh, fresh.Dup()):
        with pytest.raises(MPIError, match=r"\((DUP of )?VECTOR of INT\) is not committed: call Commit\(\)"):
            uncommitted._usable()
    assert fresh.Commit() is fresh
    fresh.Dup()._usable()
    MPI.INT._usable()


def test_subclasses_create_objects_of_their_class() -> None:
    """As in mpi4py."""

    class Mine(Datatype):
        pass

    assert type(Mine(MPI.INT).Create_contiguous(2)) is Mine
    assert type(Mine.Create_struct([1], [0], [MPI.INT])) is Mine
    assert Mine(MPI.INT) == MPI.INT


def test_bounds_are_properties_too() -> None:
    """lb, ub, extent, and the true bounds."""
    wide = MPI.INT.Create_resized(-4, 16)
    assert (wide.lb, wide.ub, wide.extent, wide.size) == (-4, 12, 16, 4)
    assert (wide.true_lb, wide.true_ub, wide.true_extent) == (0, 4, 4)
    assert (wide.combiner, wide.is_named, repr(wide)) == (c.COMBINER_RESIZED, False, "<Datatype: RESIZED of INT>")


def test_duplicates_keep_the_code() -> None:
    """Other derived types are void in numpy, with the size of their extent."""
    double = MPI.INT.Dup().Dup()
    assert (double.tocode(), double.typestr, double._basic) == ("i", "i4", MPI.INT)
    assert MPI.INT.Create_resized(0, 12).typestr == "V12"
    with pytest.raises(ValueError, match=r"^tocode: VECTOR of INT has no type code\.$"):
        MPI.INT.Create_vector(2, 1, 3).tocode()


def test_other_objects_are_rejected_as_datatypes() -> None:
    """By type."""
    thing: Any = 3
    with pytest.raises(TypeError, match=r"3 is not a datatype\.$"):
        Datatype(thing)
    with pytest.raises(TypeError, match=r"^Create_struct: 3 is not a datatype\.$"):
        Datatype.Create_struct([1], [0], [thing])
    with pytest.raises(TypeError, match=r"is not a sequence of datatypes\.$"):
        Datatype.Create_struct([1], [0], thing)


# -- names and attributes ----------------------------------------------------------------------------------------------


def test_names_of_predefined_types_are_private_to_each_rank(on_rank: Callable[[int], None]) -> None:
    """One rank renames INT, another sees MPI's name."""
    on_rank(0)
    MPI.INT.Set_name("number")
    assert (MPI.INT.name, Datatype(MPI.INT).Get_name()) == ("number", "number")
    on_rank(1)
    assert MPI.INT.name == "MPI_INT"


def test_long_names_are_truncated() -> None:
    """To the length that MPI_MAX_OBJECT_NAME allows."""
    datatype = MPI.INT.Create_contiguous(2)
    assert datatype.name == ""
    datatype.name = "x" * 400
    assert len(datatype.name) == c.MAX_OBJECT_NAME - 1
    thing: Any = 3
    with pytest.raises(TypeError, match=r"^Set_name: the name is 3, not a string\.$"):
        datatype.Set_name(thing)


def test_attributes_belong_to_the_type(on_rank: Callable[[int], None]) -> None:
    """Every handle sees them, duplicates inherit by the copy function, freeing deletes; for predefined types per rank."""
    gone: list[Any] = []
    always: Any = True  # accepted, as by mpi4py, whose stubs do not mention it
    key = Datatype.Create_keyval(copy_fn=always, delete_fn=lambda _, __, value: gone.append(value))
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


def test_derived_types_are_pickled_by_their_construction() -> None:
    """Unpickled types are committed, as in mpi4py."""
    record = Datatype.Create_struct([1, 2], [0, 8], [MPI.INT.Dup(), MPI.DOUBLE.Create_vector(2, 1, 2)])
    reduced: Any = record.__reduce__()
    again = reduced[0](*reduced[1])
    again._usable()
    assert again != record
    assert (again.Get_extent(), again.size) == (record.Get_extent(), record.size)
    assert again.decode()[2]["displacements"] == [0, 8]
    reduced = Datatype.Create_f90_integer(9).__reduce__()
    assert reduced[0](*reduced[1]) == Datatype.Create_f90_integer(9)


def test_predefined_types_are_pickled_by_name() -> None:
    """A pickle of INT is INT itself; one of a derived type is an equal type."""
    assert importlib.import_module("fakempi.MPI").INT is MPI.INT
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(MPI.INT, protocol)) is MPI.INT
        assert pickle.loads(pickle.dumps(Datatype(MPI.INT), protocol)) == MPI.INT
        assert pickle.loads(pickle.dumps(MPI.INT.Create_vector(2, 1, 3), protocol)).size == 8
        assert pickle.loads(pickle.dumps(Datatype(), protocol)) == MPI.DATATYPE_NULL
