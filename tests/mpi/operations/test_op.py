"""Operations: on Python objects, on arrays and every other buffer, user-defined ones, handles, errors, modeled cost."""

from __future__ import annotations

import copy
import operator
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI as MODULE
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_BUFFER, ERR_COUNT, ERR_OP, ERR_TYPE
from fakempi.mpi.buffers.address_constants import BOTTOM, IN_PLACE
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import phantom
from fakempi.mpi.datatypes import predefined as MPI
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.operations import op as ops
from fakempi.mpi.operations.functions import ARITHMETIC
from fakempi.mpi.operations.op import OP_NULL, SUM, Op, OpDefinition
from tests.helpers.loops import for_each
from tests.helpers.runs import fails

INTEGERS, REALS, COMPLEX = "bBhHiIlLqQ", "efdg", "FDG"
PAIRS = ["SHORT_INT", "INT_INT", "LONG_INT", "FLOAT_INT", "DOUBLE_INT", "LONG_DOUBLE_INT"]

UFUNCS: dict[str, Any] = {
    "MAX": np.maximum,
    "MIN": np.minimum,
    "SUM": np.add,
    "PROD": np.multiply,
    "LAND": np.logical_and,
    "BAND": np.bitwise_and,
    "LOR": np.logical_or,
    "BOR": np.bitwise_or,
    "LXOR": np.logical_xor,
    "BXOR": np.bitwise_xor,
}
TAKES = {
    **dict.fromkeys(["SUM", "PROD"], INTEGERS + REALS + COMPLEX),
    **dict.fromkeys(["MAX", "MIN"], INTEGERS + REALS),
    **dict.fromkeys(["LAND", "LOR", "LXOR"], INTEGERS + "?"),
    **dict.fromkeys(["BAND", "BOR", "BXOR"], INTEGERS),
}
FITTING = [(name, letter) for name, letters in TAKES.items() for letter in letters]


def op_called(name: str) -> Op:
    return ops.BY_NAME[name]


def pair_dtype(name: str) -> np.dtype[Any]:
    dtype = MPI.BY_NAME[name]._dtype
    assert dtype is not None
    return dtype


def appended(first: Any, second: Any, datatype: Any) -> None:
    """Not commutative and not symmetric: 10 a + b, on ints."""
    one, two = np.frombuffer(first, "i"), np.frombuffer(second, "i")
    two[:] = 10 * one + two


# -- Python objects --------------------------------------------------------------------------------------------------


def test_objects_are_combined_by_pythons_operators() -> None:
    """For any types."""
    assert SUM([1], [2]) == [1, 2]
    assert SUM("a", "b") == "ab"
    assert ops.PROD(3, "ab") == "ababab"
    assert (ops.MAX((1, 2), (1, 3)), ops.MIN("a", "b")) == ((1, 3), "a")
    assert (ops.BAND({1, 2}, {2}), ops.BOR(1, 4), ops.BXOR(True, True)) == ({2}, 5, False)
    assert (ops.REPLACE(1, 2), ops.NO_OP(1, 2)) == (2, 1)
    assert SUM(x=1, y=2) == 3


def test_logical_operations_on_objects_give_booleans() -> None:
    """Both operands are evaluated, as in mpi4py."""
    for x in ("", "word"):
        for y in ([], [0]):
            assert ops.LAND(x, y) is (bool(x) and bool(y))
            assert ops.LOR(x, y) is (bool(x) or bool(y))
            assert ops.LXOR(x, y) is (bool(x) != bool(y))


def test_the_first_of_two_equal_objects_is_the_result() -> None:
    """A reduction in rank order returns the lowest rank's."""
    one, other = [1], [1]
    assert ops.MAX(one, other) is one
    assert ops.MIN(one, other) is one


@given(st.tuples(st.integers(0, 3), st.integers(0, 3)), st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_pairs_of_equal_value_give_the_smaller_location(x: tuple[int, int], y: tuple[int, int]) -> None:
    """In any order."""
    assert ops.MAXLOC(x, y) == ops.MAXLOC(list(y), x) == min([x, y], key=lambda pair: (-pair[0], pair[1]))
    assert ops.MINLOC(x, y) == ops.MINLOC(y, list(x)) == min(x, y)


def test_objects_that_cannot_be_combined_raise() -> None:
    """The error is Python's."""
    with pytest.raises(TypeError):
        SUM(1, "a")
    with pytest.raises(TypeError):
        ops.MAXLOC(1, 2)
    with pytest.raises(ValueError, match="unpack"):
        ops.MINLOC((1, 2, 3), (1, 2, 3))


# -- arrays ----------------------------------------------------------------------------------------------------------


SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (7,), (2, 3), (300,)]
FORMS: list[Callable[[Any], Any]] = [
    lambda array: array,
    lambda array: [array, array.size, MPI.from_dtype(array.dtype)],
    lambda array: [array, array.dtype.char],
    lambda array: (array.reshape(-1), (array.size, 0)),
    lambda array: [array, array.size, 0, array.dtype.char],
]


def check_against_numpy(name: str, letter: str, seed: int, shape: tuple[int, ...], form: Callable[[Any], Any]) -> None:
    random = np.random.default_rng(seed)
    one, two = (random.integers(0, 100, shape).astype(letter) for _ in range(2))
    untouched, expected = one.tolist(), UFUNCS[name](one, two).astype(letter)
    op_called(name).Reduce_local(form(one), form(two))
    assert (two.dtype, two.tolist()) == (expected.dtype, expected.tolist())
    assert one.tolist() == untouched


@for_each(("name", "letter"), FITTING)
def test_every_operation_agrees_with_numpy(name: str, letter: str) -> None:
    """For every type that it supports; the first operand is unchanged."""
    for form in FORMS[:2]:
        check_against_numpy(name, letter, 1, (7,), form)


@given(st.sampled_from(FITTING), st.integers(0, 2**32 - 1), st.sampled_from(SHAPES), st.sampled_from(FORMS))
def test_operations_agree_with_numpy(what: tuple[str, str], seed: int, shape: tuple[int, ...], form: Any) -> None:
    """For any shape, and in every form of buffer."""
    check_against_numpy(*what, seed, shape, form)


@pytest.mark.parametrize("letter", INTEGERS)
def test_integers_wrap_around(letter: str) -> None:
    """As in C."""
    most = np.iinfo(letter).max
    one, result = np.array([most], letter), np.array([1], letter)
    SUM.Reduce_local(one, result)
    assert result[0] == np.iinfo(letter).min


@pytest.mark.parametrize("letter", "efdF")
def test_overflow_is_silent(letter: str) -> None:
    """MPI does not warn about overflow; numpy does outside MPI calls."""
    one = np.array([np.finfo(letter).max, np.inf], letter)
    result = np.array([np.finfo(letter).max, -np.inf], letter)
    before = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SUM.Reduce_local(one, result)
        SUM.Reduce_local([one, 2, letter], [one.copy(), 2, letter])
    assert (np.isinf(result[0]), np.isnan(result[1])) == (True, True)
    assert np.geterr() == before


def test_overflow_is_silent_in_every_os_thread() -> None:
    """Several runs may be active at once."""
    one = np.array([1e308])
    results = [np.array([1e308]) for _ in range(4)]
    threads = [threading.Thread(target=SUM.Reduce_local, args=(one, result)) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [result[0] for result in results] == [np.inf] * 4


def test_the_maximum_of_nan_and_a_number_is_nan() -> None:
    """In either order: the result of a reduction must not depend on its algorithm."""
    for op in (ops.MAX, ops.MIN):
        pairs: list[Any] = [(np.nan, 1.0), (1.0, np.nan)]
        for one, two in pairs:
            result = np.array([two])
            op.Reduce_local(np.array([one]), result)
            assert np.isnan(result[0])


def test_nonzero_bytes_are_true() -> None:
    """For C_BOOL in a buffer of other origin."""
    for op, expected in [(ops.LAND, [0, 0, 0, 1]), (ops.LOR, [0, 1, 1, 1]), (ops.LXOR, [0, 1, 1, 0])]:
        result = bytearray([0, 7, 0, 2])
        op.Reduce_local([bytes([0, 0, 3, 4]), MPI.C_BOOL], [result, MPI.C_BOOL])
        assert list(result) == expected


def test_characters_are_small_signed_numbers() -> None:
    """As in MPICH, on every machine."""
    result = np.array([b"\xff", b"\x01"])
    ops.MAX.Reduce_local(np.array([b"\x01", b"\xff"]), result)
    assert result.tolist() == [b"\x01", b"\x01"]


def test_arrays_of_other_shapes_and_orders_are_combined_in_memory_order() -> None:
    """Equal numbers of elements suffice."""
    one, result = np.arange(6.0).reshape(2, 3), np.zeros(6)
    SUM.Reduce_local(one, result)
    assert result.tolist() == [0, 1, 2, 3, 4, 5]
    SUM.Reduce_local(one.T, result)
    assert result.tolist() == [0, 2, 4, 6, 8, 10]
    odd = np.zeros(17, np.uint8)[1:].view("d")  # not aligned like a double
    SUM.Reduce_local(np.ones(2), odd)
    SUM.Reduce_local(odd, result[:2])
    assert (odd.tolist(), result[:2].tolist()) == ([1, 1], [1, 3])


def test_part_of_a_buffer_is_combined_with_part_of_another() -> None:
    """By counts and displacements, or by slices, also of one array."""
    numbers = np.arange(8)
    SUM.Reduce_local([numbers, (2, 1)], [numbers, (2, 4)])
    assert numbers.tolist() == [0, 1, 2, 3, 5, 7, 6, 7]
    SUM.Reduce_local(numbers[:2], numbers[6:])
    assert numbers.tolist() == [0, 1, 2, 3, 5, 7, 6, 8]


def test_memory_of_other_types_is_combined() -> None:
    """bytes, bytearrays, memoryviews, MPI.buffer; and None for no elements."""
    result = bytearray(b"\x01\x02")
    SUM.Reduce_local(b"\x03\x04", result)
    ops.BXOR.Reduce_local(memoryview(b"\xff\x00"), buffer(result))
    assert result == b"\xfb\x06"
    SUM.Reduce_local([BOTTOM, 0, MPI.INT], [None, 0, MPI.INT])


# -- pairs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
@given(data=st.lists(st.tuples(*[st.integers(-2, 2)] * 4), max_size=9))
def test_locations_of_extremes_agree_with_the_object_forms(pair: str, data: list[tuple[int, int, int, int]]) -> None:
    """By datatype on bytes, and on arrays of pairs."""
    dtype, datatype = pair_dtype(pair), MPI.BY_NAME[pair]
    one = np.array([(value, index) for value, index, _, _ in data], dtype)
    two = np.array([(value, index) for _, _, value, index in data], dtype)
    for op in (ops.MAXLOC, ops.MINLOC):
        expected = [op(x, y) for x, y in zip(one.tolist(), two.tolist(), strict=True)]
        by_bytes, by_array = bytearray(two.tobytes()), two.copy()
        op.Reduce_local([one.tobytes(), len(data), datatype], [by_bytes, len(data), datatype])
        assert np.frombuffer(by_bytes, dtype).tolist() == expected if data else not by_bytes
        op.Reduce_local(one, by_array)
        assert by_array.tolist() == expected


def test_a_nan_is_not_compared_so_the_pair_stays() -> None:
    """As in MPICH."""
    dtype = pair_dtype("DOUBLE_INT")
    for op in (ops.MAXLOC, ops.MINLOC):
        result = np.array([(1, 2), (np.nan, 2)], dtype)
        op.Reduce_local(np.array([(np.nan, 1), (1, 1)], dtype), result)
        assert result["index"].tolist() == [2, 2]


def test_the_last_pair_needs_no_padding() -> None:
    """12 bytes suffice for a double and an int, although the extent is 16."""
    one, result = np.zeros(28, np.uint8), np.zeros(28, np.uint8)
    one[16:24].view("d")[0], one[24:28].view("i")[0] = 5, 3
    ops.MAXLOC.Reduce_local([one, 2, MPI.DOUBLE_INT], [result, 2, MPI.DOUBLE_INT])
    assert (result[16:24].view("d")[0], result[24:28].view("i")[0]) == (5, 3)


# -- supported datatypes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "datatype", "takes"),
    [
        ("BAND", "DOUBLE", "integers and bytes"),
        ("SUM", "DOUBLE_INT", "integers, floating-point and complex numbers"),
        ("SUM", "BYTE", "integers, floating-point and complex numbers"),
        ("SUM", "C_BOOL", "integers, floating-point and complex numbers"),
        ("MAX", "C_DOUBLE_COMPLEX", "integers and floating-point numbers"),
        ("MIN", "C_BOOL", "integers and floating-point numbers"),
        ("LAND", "FLOAT", "C integers and logical values"),
        ("LXOR", "INTEGER", "C integers and logical values"),
        ("MAXLOC", "INT", "pairs like DOUBLE_INT"),
        ("BOR", "WCHAR", "integers and bytes"),
    ],
)
def test_an_unsupported_datatype_is_reported_with_the_operation(name: str, datatype: str, takes: str) -> None:
    """Also for no elements."""
    kind = MPI.BY_NAME[datatype]
    for count in (1, 0):
        memory, place = bytearray(64), bytearray(64)
        with fails(f"Reduce_local: {name} takes {takes}, not {datatype}.", ERR_OP):
            op_called(name).Reduce_local([memory, count, kind], [place, count, kind])


def test_derived_datatypes_need_user_defined_operations() -> None:
    """A duplicate is derived, too."""
    for kind, words in [
        (MPI.INT.Create_vector(2, 1, 2), "VECTOR of INT"),
        (MPI.INT.Create_contiguous(2), "CONTIGUOUS of INT"),
        (MPI.INT.Dup(), "DUP of INT"),
        (Datatype.Create_struct([1], [0], [MPI.INT]), "STRUCT"),
    ]:
        kind.Commit()
        takes = "C integers and logical values"
        with fails(f"Reduce_local: LAND takes {takes}, not {words}; use Op.Create for derived datatypes.", ERR_OP):
            ops.LAND.Reduce_local([bytearray(16), 1, kind], [bytearray(16), 1, kind])


def test_fortrans_parameterized_types_are_numbers() -> None:
    """Integers among them are Fortran's."""
    kind = Datatype.Create_f90_integer(5)
    result = np.array([2], "i")
    SUM.Reduce_local([np.array([3], "i"), kind], [result, kind])
    assert result.tolist() == [5]
    with fails("Reduce_local: LOR takes C integers and logical values, not F90_INTEGER.", ERR_OP):
        ops.LOR.Reduce_local([np.array([3], "i"), kind], [result, kind])


@pytest.mark.parametrize("name", ["REPLACE", "NO_OP"])
def test_operations_of_one_sided_communication_are_rejected(name: str) -> None:
    """For phantoms, too."""
    pairs: list[tuple[Any, Any]] = [(np.zeros(1), np.zeros(1)), (phantom(8), phantom(8))]
    for one, two in pairs:
        with fails(f"Reduce_local: {name} is for one-sided communication only, not for reductions.", ERR_OP):
            op_called(name).Reduce_local(one, two)


# -- invalid buffers -------------------------------------------------------------------------------------------------


def test_two_buffers_must_have_one_datatype() -> None:
    """Handles are compared, as in mpi4py, not sizes."""
    pairs: list[Any] = [
        (np.zeros(2), np.zeros(3, "f"), "inbuf is of DOUBLE, inoutbuf of FLOAT"),
        (np.zeros(2, "l"), np.zeros(2, "q"), "inbuf is of LONG, inoutbuf of LONG_LONG"),
        ([np.zeros(2, "l"), MPI.INT64_T], np.zeros(2, "l"), "inbuf is of INT64_T, inoutbuf of LONG"),
    ]
    for one, two, words in pairs:
        with fails(f"Reduce_local: {words}: they must be of one datatype.", ERR_TYPE, MPIValueError):
            SUM.Reduce_local(one, two)
    one_type, other = (MPI.INT.Create_contiguous(2).Commit() for _ in range(2))
    words = "inbuf is of CONTIGUOUS of INT, inoutbuf of another CONTIGUOUS of INT: they must be of one datatype."
    with fails(f"Reduce_local: {words}", ERR_TYPE, MPIValueError):
        Op.Create(appended).Reduce_local([bytearray(8), one_type], [bytearray(8), other])


def test_two_buffers_must_have_equal_numbers_of_elements() -> None:
    """Phantoms equal numbers of bytes."""
    with fails("Reduce_local: inbuf has 3 elements, inoutbuf 4: their counts must be equal.", ERR_COUNT, MPIValueError):
        SUM.Reduce_local(np.zeros(3), np.zeros(4))
    pairs: list[Any] = [(phantom(8), phantom(16)), (phantom(8), np.zeros(2)), (np.zeros(1), [phantom(16), MPI.DOUBLE])]
    for one, two in pairs:
        words = "Reduce_local: inbuf has 8 bytes, inoutbuf 16: their sizes must be equal."
        with fails(words, ERR_COUNT, MPIValueError):
            SUM.Reduce_local(one, two)


def test_two_buffers_must_not_overlap() -> None:
    """As MPICH requires; empty buffers may have the same address."""
    numbers = np.zeros(4)
    same = "Reduce_local: inbuf and inoutbuf are the same memory: they must not overlap."
    pairs: list[Any] = [(numbers, numbers), (numbers[:], numbers), ([numbers, (2, 1)], numbers[1:3])]
    for one, two in pairs:
        for op in (SUM, Op.Create(appended)):
            with fails(same, ERR_BUFFER):
                op.Reduce_local(one, two)
    SUM.Reduce_local(numbers[:0], numbers[:0])


def test_in_place_is_rejected() -> None:
    """The second buffer is always in place."""
    cases: list[tuple[Any, Any, str]] = [
        (IN_PLACE, np.zeros(1), "inbuf"),
        (np.zeros(1), [IN_PLACE, 1, MPI.DOUBLE], "inoutbuf"),
    ]
    for one, two, what in cases:
        with fails(f"Reduce_local: {what} is IN_PLACE, which is not a buffer.", ERR_BUFFER, MPIValueError):
            SUM.Reduce_local(one, two)


def test_invalid_buffers_are_rejected() -> None:
    """Read-only, of another type, not contiguous, missing."""
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    with pytest.raises(BufferError, match=r"^Reduce_local: the array is read-only"):
        SUM.Reduce_local(np.zeros(2), fixed)
    with pytest.raises(BufferError, match=r"^Reduce_local: the buffer is a read-only bytes"):
        SUM.Reduce_local(b"ab", b"ab")
    with pytest.raises(BufferError, match=r"another byte order"):
        SUM.Reduce_local(np.zeros(2, ">i4"), np.zeros(2, ">i4"))
    with pytest.raises(BufferError, match=r"not contiguous"):
        SUM.Reduce_local(np.zeros((4, 4))[:, 1], np.zeros(4))
    with pytest.raises(TypeError, match=r"expecting a buffer"):
        SUM.Reduce_local(None, np.zeros(2))  # type: ignore[arg-type, unused-ignore]  # an error from Python 3.12 on
    uncommitted = MPI.INT.Create_contiguous(2)
    with pytest.raises(MPIError, match=r"not committed"):
        Op.Create(appended).Reduce_local([bytearray(8), uncommitted], [bytearray(8), uncommitted])


# -- user-defined operations -----------------------------------------------------------------------------------------


def test_the_result_is_first_operand_op_second() -> None:
    """In both orders of a noncommutative operation."""
    op = Op.Create(appended)
    one, two = np.array([1, 2], "i"), np.array([3, 4], "i")
    right, left = two.copy(), one.copy()
    op.Reduce_local(one, right)
    op.Reduce_local(two, left)
    assert (right.tolist(), left.tolist()) == ([13, 24], [31, 42])
    assert (op.Is_commutative(), Op.Create(appended, commute=True).is_commutative) == (False, True)


def test_a_function_gets_memory_and_the_datatype() -> None:
    """The memory has the extent of the elements."""
    calls: list[Any] = []
    op = Op.Create(lambda *given: calls.append(given))
    kind = MPI.INT.Create_vector(2, 1, 2).Commit()
    for count in (2, 0):
        op.Reduce_local([np.arange(9, dtype="i"), count, kind], [np.zeros(9, "i"), count, kind])
    ((first, second, datatype),) = calls
    assert (type(first), type(second), datatype) == (buffer, buffer, kind)
    assert np.frombuffer(first, "i").tolist() == [0, 1, 2, 3, 4, 5]
    assert (len(second), second.readonly, first.obj) == (24, False, None)


def test_a_function_gets_whole_extents_even_if_the_buffer_ends_before() -> None:
    """Writes beyond the end are discarded."""

    def add(first: Any, second: Any, datatype: Any) -> None:
        second[:] = bytes(one + two for one, two in zip(first.tobytes(), second.tobytes(), strict=True))

    kind = MPI.BYTE.Create_resized(0, 4).Commit()
    one, result = np.arange(6, dtype="u1"), np.full(5, 10, "u1")
    Op.Create(add).Reduce_local([one, 2, kind], [result, 2, kind])
    assert result.tolist() == [10, 11, 12, 13, 14]


def test_negative_extents_are_rejected_for_functions() -> None:
    """mpi4py ends the program."""
    kind = MPI.BYTE.Create_resized(0, -2).Commit()
    words = "Reduce_local: extent -2 of RESIZED of BYTE is negative, which user-defined operations do not support."
    spec = [[bytearray(9), 1, kind] for _ in range(2)]
    with fails(words, ERR_TYPE, MPIValueError):
        Op.Create(appended).Reduce_local(*spec)


def test_a_function_is_called_with_objects_and_no_datatype() -> None:
    """Its return value is the result."""
    assert Op.Create(lambda *given: given)(1, 2) == (1, 2, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Op.Create(operator.add)(1, 2)  # type: ignore[arg-type]


def test_exceptions_of_a_function_are_raised() -> None:
    """With their traceback; mpi4py ends the program."""

    def broken(first: Any, second: Any, datatype: Any) -> None:
        raise ZeroDivisionError("by design")

    with pytest.raises(ZeroDivisionError, match="by design"):
        Op.Create(broken).Reduce_local(np.zeros(1), np.zeros(1))


def test_a_function_must_be_callable() -> None:
    """A string is not."""
    with fails("Create: function is 'SUM', which cannot be called.", ERR_OP, MPITypeError):
        Op.Create("SUM")  # type: ignore[arg-type]


# -- for the algorithms of collectives -------------------------------------------------------------------------------


def test_numbers_need_no_binding() -> None:
    """The array has all information; but the operation must fit."""
    assert SUM._on(MPI.DOUBLE) is SUM
    with pytest.raises(MPIError, match="BAND takes integers and bytes, not DOUBLE"):
        ops.BAND._on(MPI.DOUBLE)
    with pytest.raises(MPIError, match="the operation is OP_NULL"):
        OP_NULL._on(MPI.DOUBLE)


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_are_combined_packed(pair: str) -> None:
    """With or without holes, and for no pairs."""
    datatype, dtype = MPI.BY_NAME[pair], pair_dtype(pair)
    one, two = np.array([(1, 5), (7, 3)], dtype), np.array([(1, 4), (6, 2)], dtype)
    packed = [datatype._pack(array.view(np.uint8), 0, 2) for array in (one, two)]
    element = np.dtype((np.void, datatype.size))
    bound = ops.MAXLOC._on(datatype)
    bound.Reduce_local(packed[0].view(element), packed[1].view(element))
    bound.Reduce_local(packed[0][:0], packed[1][:0])
    datatype._unpack(packed[1], two.view(np.uint8), 0, 2)
    assert two.tolist() == [(1, 4), (7, 3)]
    assert (bound.Is_commutative(), bound.is_commutative, bound.is_predefined) == (True, True, True)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(-5, 5), st.integers(0, 3), st.integers(0, 2))
def test_a_user_defined_operation_works_on_packed_elements(count: int, blocks: int, stride: int, low: int, pad: int) -> None:
    """It gets them unpacked in memory, and the datatype."""
    kind = MPI.INT.Create_vector(blocks, 1, stride if abs(stride) > 1 else 2)
    kind = kind.Create_resized(-4 * low, kind.true_ub + 4 * pad + 4 * low).Commit()

    def add(first: Any, second: Any, datatype: Any) -> None:
        assert datatype == kind
        assert len(first) == len(second) == count * kind.extent
        one, two = np.frombuffer(first, "i"), np.frombuffer(second, "i")
        two[:] = 10 * one + two

    one = np.arange(count * blocks, dtype="i") + 1
    result = np.arange(count * blocks, dtype="i")
    expected = (10 * one + result).tolist()
    op = Op.Create(add)
    bound = op._on(kind)
    op.Free()  # a pending call keeps its references
    element = np.dtype((np.void, kind.size))
    bound.Reduce_local(one.view(element), result.view(element))
    if stride > 1:  # otherwise some elements would precede the origin, where functions cannot access them
        assert result.tolist() == expected
    assert (bound.Is_commutative(), bound.is_predefined) == (False, False)


def test_bound_operations_need_arrays_of_equal_length() -> None:
    """Phantoms are accepted."""
    bound = ops.MINLOC._on(MPI.DOUBLE_INT)
    with fails("Reduce_local: inbuf has 12 bytes, inoutbuf 24: their sizes must be equal.", ERR_COUNT, MPIValueError):
        bound.Reduce_local(phantom(12), phantom(24))
    bound.Reduce_local(phantom(12), phantom(12))
    bound.Reduce_local(phantom(12), np.zeros(12, np.uint8))


# -- phantoms and modeled cost --------------------------------------------------------------------------------------


def test_phantoms_are_not_combined() -> None:
    """Arrays are unchanged, but the operation must fit the known types."""
    numbers = np.arange(3.0)
    pairs: list[Any] = [(phantom(24), numbers), (numbers, phantom(24, itemsize=8)), (phantom(24), phantom(24, itemsize=8))]
    for one, two in pairs:
        SUM.Reduce_local(one, two)
    SUM.Reduce_local([phantom(32), 3, MPI.DOUBLE], [phantom(24), MPI.DOUBLE])
    assert numbers.tolist() == [0, 1, 2]
    for one in (numbers, [phantom(24), MPI.DOUBLE]):
        with fails("Reduce_local: BOR takes integers and bytes, not DOUBLE.", ERR_OP):
            ops.BOR.Reduce_local(one, phantom(24))


@pytest.mark.parametrize("form", ["arrays", "lists", "phantoms", "created", "bound"])
def test_a_reduction_takes_modeled_time_per_byte(form: str) -> None:
    """On the running rank only, and none outside a run."""

    def main(comm: Any) -> float:
        one, two = np.ones(4), np.ones(4)
        if form == "arrays":
            SUM.Reduce_local(one, two)
        elif form == "lists":
            SUM.Reduce_local([one, 4, MPI.DOUBLE], [two, 4, MPI.DOUBLE])
        elif form == "phantoms":
            SUM.Reduce_local(phantom(32), phantom(32))
        else:
            op = Op.Create(lambda *given: None)
            (op if form == "created" else op._on(MPI.DOUBLE)).Reduce_local(one, two)
        SUM.Reduce_local(one[:0], two[:0])
        return float(MODULE.Wtime())

    run = fakempi.run(main, 2, cost=fakempi.Hockney(t_s=1, t_w=1, compute_per_byte=0.25))
    assert run.returns == [8, 8]
    assert fakempi.run(main, 2).returns == [0, 0]


# -- handles ---------------------------------------------------------------------------------------------------------


def test_predefined_operations_are_distinct_and_permanent() -> None:
    """All fifteen, including the null one."""
    assert list(ops.BY_NAME) == ["OP_NULL", *ARITHMETIC]
    known = list(ops.BY_NAME.values())
    assert [[one == other for other in known] for one in known] == [[i == j for j in range(15)] for i in range(15)]
    assert [bool(op) for op in known] == [False] + [True] * 14
    assert all(op.is_predefined for op in known)
    assert [op.Is_commutative() for op in known[1:]] == [True] * 12 + [False] * 2
    for op in known[1:]:
        op.free()
        with pytest.raises(MPIError, match=rf"^Free: {op._display_name()} is predefined and cannot be freed.$"):
            op.Free()


def test_copies_are_equal_and_outlive_their_original() -> None:
    """As do operations in use."""
    op = Op.Create(appended)
    kept = Op(op)
    assert kept == op != Op.Create(appended)
    assert Op(SUM) == SUM
    assert SUM != "SUM"
    op.Free()
    assert (bool(op), op == OP_NULL, op.is_predefined) == (False, True, True)
    op.free()
    result = np.array([1], "i")
    kept.Reduce_local(np.array([2], "i"), result)
    assert result.tolist() == [21]
    kept.free()
    assert kept == Op()
    with pytest.raises(TypeError):
        hash(SUM)


def test_null_operations_are_rejected() -> None:
    """With a message for each call."""
    null = "the operation is OP_NULL: it was never created, or was freed."
    with fails(f"Reduce_local: {null}", ERR_OP):
        OP_NULL.Reduce_local(np.zeros(1), np.zeros(1))
    with fails(f"Is_commutative: {null}", ERR_OP):
        Op().Is_commutative()
    with fails(f"Free: {null}", ERR_OP):
        OP_NULL.Free()
    with fails("Op: the operation is OP_NULL: it cannot be called.", ERR_OP, MPIValueError):
        OP_NULL(1, 2)
    with fails("Op: 'SUM' is not an operation.", ERR_OP, MPITypeError):
        Op("SUM")  # type: ignore[arg-type]


def test_handles_convert_to_integers() -> None:
    """In both directions."""
    mine = Op.Create(appended)
    for op in [*ops.BY_NAME.values(), mine]:
        assert Op.fromint(op.toint()) == Op.f2py(op.py2f()) == Op.fromhandle(op.handle) == op
    assert OP_NULL.handle == 0
    assert Op.fromhandle(SUM.handle)(1, 2) == 3


def test_predefined_operations_are_pickled_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """User-defined ones with their function, copies as copies."""
    for name, op in ops.BY_NAME.items():
        monkeypatch.setattr(MODULE, name, op, raising=False)
    monkeypatch.setattr(MODULE, "Op", Op, raising=False)
    for name, op in ops.BY_NAME.items():
        assert op.__reduce__() == name
        assert pickle.loads(pickle.dumps(op)) is copy.copy(op) is copy.deepcopy(op) is op
        again = pickle.loads(pickle.dumps(Op(op)))
        assert again is not op
        assert again == op
    made = pickle.loads(pickle.dumps(Op.Create(operator.add, True)))  # type: ignore[arg-type]
    assert (made.is_commutative, made._mpi_object().function) == (True, operator.add)


def test_subclasses_keep_their_class() -> None:
    """In copies and when created."""

    class Mine(Op):
        pass

    assert type(Mine.Create(appended)) is type(Mine(SUM)) is Mine
    assert Mine(SUM) == SUM
    assert Mine(SUM)(1, 2) == 3


def test_reprs_name_the_operation() -> None:
    """User-defined ones by their function, so the repr is the same on all ranks."""
    assert (repr(SUM), repr(OP_NULL), repr(Op(SUM))) == ("<Op: SUM>", "<Op: OP_NULL>", "<Op: SUM>")
    assert repr(Op.Create(appended)) == "<Op: Op.Create(appended)>"

    class Adder:
        def __call__(self, *given: Any) -> None:
            raise AssertionError

    assert repr(Op.Create(Adder())).endswith("Adder)>")


def test_attributes_cannot_be_set_on_an_operation() -> None:
    """All ranks share the predefined ones."""
    with pytest.raises(AttributeError):
        SUM.color = "red"  # type: ignore[attr-defined]
    assert isinstance(SUM._mpi_object(), OpDefinition)
