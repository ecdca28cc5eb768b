"""Statuses: fields, counts, and conversions."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.errors import MPIOverflowError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_COUNT, ERR_TYPE, SUCCESS
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, F_ERROR, F_SOURCE, F_STATUS_SIZE, F_TAG, UNDEFINED
from fakempi.mpi.base.status import Status
from tests.helpers.runs import fails


class Datatype:
    """A stand-in for a datatype of basic elements of these sizes."""

    def __init__(self, *sizes: int, null: bool = False) -> None:
        self._sizes = sizes
        self._size = sum(sizes)
        self._null = null

    def __bool__(self) -> bool:
        return not self._null

    def _elements(self, nbytes: int) -> int | None:
        items, left = divmod(nbytes, self._size)
        count = items * len(self._sizes)
        for size in self._sizes:
            if left < size:
                break
            left -= size
            count += 1
        return count if left == 0 else None


INT, DOUBLE, VECTOR, DOUBLE_INT, NOTHING = Datatype(4), Datatype(8), Datatype(4, 4), Datatype(8, 4), Datatype()
STATUSES = st.builds(
    lambda source, tag, error, count, cancelled: status_of(source, tag, error, count, cancelled),
    *[st.integers(-(2**31), 2**31 - 1)] * 3,
    st.integers(0, 2**62),
    st.booleans(),
)


def status_of(source: int, tag: int, error: int, count: int, cancelled: bool) -> Status:
    status = Status()
    status.source, status.tag, status.error, status.count, status.cancelled = source, tag, error, count, cancelled
    return status


def test_a_new_status_has_default_values() -> None:
    """They are mpi4py's."""
    status = Status()
    assert (status.source, status.tag, status.error) == (ANY_SOURCE, ANY_TAG, SUCCESS)
    assert (status.count, status.cancelled) == (0, False)


def test_fields_are_set_and_read_by_call_or_by_attribute() -> None:
    """Both access the same field."""
    status = Status()
    status.Set_source(3)
    status.Set_tag(7)
    status.Set_error(5)
    status.Set_cancelled(True)
    assert (status.source, status.tag, status.error, status.cancelled) == (3, 7, 5, True)
    status.source, status.tag, status.error, status.cancelled = 4, 8, 6, False
    assert (status.Get_source(), status.Get_tag(), status.Get_error(), status.Is_cancelled()) == (4, 8, 6, False)


def test_filling_keeps_the_error_field() -> None:
    """MPI sets it only where a call has many statuses."""
    status = Status()
    status.error, status.cancelled = 5, True
    status._fill(1, 2, 24)
    assert (status.source, status.tag, status.count, status.error, status.cancelled) == (1, 2, 24, 5, False)


def test_an_empty_status_is_like_a_new_one() -> None:
    """A wait without an operation returns it."""
    status = status_of(1, 2, 3, 4, True)
    status._fill_empty()
    assert status == Status()


@pytest.mark.parametrize(
    ("nbytes", "datatype", "count", "elements"),
    [
        (24, INT, 6, 6),
        (24, DOUBLE, 3, 3),
        (12, DOUBLE, UNDEFINED, UNDEFINED),
        (12, VECTOR, UNDEFINED, 3),
        (24, DOUBLE_INT, 2, 4),
        (20, DOUBLE_INT, UNDEFINED, 3),
        (4, DOUBLE_INT, UNDEFINED, UNDEFINED),
        (0, NOTHING, 0, 0),
        (5, NOTHING, UNDEFINED, UNDEFINED),
    ],
)
def test_counting(nbytes: int, datatype: Any, count: int, elements: int) -> None:
    """Whole items, or basic elements inside them."""
    status = Status()
    status._fill(0, 0, nbytes)
    assert status.Get_count(datatype) == count
    assert status.Get_elements(datatype) == elements
    assert status.Get_count() == status.count == nbytes


@pytest.mark.parametrize(
    ("datatype", "count", "nbytes"),
    [(INT, 3, 12), (VECTOR, 3, 12), (DOUBLE_INT, 4, 24), (DOUBLE_INT, 3, 20), (NOTHING, 0, 0)],
)
def test_elements_that_are_set_are_returned(datatype: Any, count: int, nbytes: int) -> None:
    """Also inside an item whose elements differ in size."""
    status = Status()
    status.Set_elements(datatype, count)
    assert status.count == nbytes
    assert status.Get_elements(datatype) == count
    status.count = nbytes + 1
    assert status.Get_count() == nbytes + 1


@given(STATUSES)
def test_a_status_survives_copy_pickle_and_fortran(status: Status) -> None:
    """With sizes beyond 32 bits, too."""
    assert Status(status) == status
    assert Status(status) is not status
    assert pickle.loads(pickle.dumps(status)) == status
    assert Status.f2py(status.py2f()) == status
    assert status.tomemory().tolist() == status.py2f()


def test_the_memory_layout_is_that_of_fortran() -> None:
    """The public fields are at the positions of the constants."""
    fortran = status_of(4, 9, 3, 2**33 + 1, True).py2f()
    assert len(fortran) == F_STATUS_SIZE
    assert (fortran[F_SOURCE], fortran[F_TAG], fortran[F_ERROR]) == (4, 9, 3)
    assert fortran[:2] == [1, 5]


@given(STATUSES, STATUSES)
def test_changes_of_its_memory_change_the_status(status: Status, other: Status) -> None:
    """Setting a field changes its memory, of which there is one."""
    memory = status.tomemory()
    for place, word in enumerate(other.py2f()):
        memory[place] = word
    assert status == other
    assert repr(status) == repr(other)
    status.source, status.tag, status.error, status.cancelled = 1, 2, 3, not other.cancelled
    status._fill(7, 8, 1 << 40)
    status.cancelled = True
    assert status.tomemory() is memory
    assert memory.tolist() == status.py2f() == status_of(7, 8, 3, 1 << 40, True).py2f()
    assert isinstance(status, Status)
    for copy in (Status(status), pickle.loads(pickle.dumps(status))):
        assert (type(copy), copy) == (Status, status)


def test_its_state_has_the_names_of_mpi4py() -> None:
    """So pickles are readable."""
    state = {"source": 1, "tag": 2, "error": 0, "count": 8, "cancelled": False}
    assert status_of(1, 2, 0, 8, False).__getstate__() == state


def test_statuses_compare_by_fields_and_have_no_hash() -> None:
    """As in mpi4py."""
    assert Status() == Status()
    assert Status() != status_of(ANY_SOURCE, ANY_TAG, 0, 1, False)
    assert Status() != 3
    with pytest.raises(TypeError):
        hash(Status())
    with pytest.raises(AttributeError):
        Status().anything = 1  # type: ignore[attr-defined]


def test_reprs_show_the_relevant_fields() -> None:
    """Error and cancellation only if set."""
    assert repr(status_of(1, 2, 0, 8, False)) == "<Status: source 1, tag 2, 8 bytes>"
    assert repr(status_of(1, 2, 5, 0, True)) == "<Status: source 1, tag 2, 0 bytes, error 5, cancelled>"


def test_invalid_arguments_are_rejected() -> None:
    """Numbers and datatypes that do not fit."""
    status = status_of(1, 2, 0, 8, False)
    with fails("Set_source: source is 'a', not an integer.", ERR_ARG, MPITypeError):
        status.Set_source("a")  # type: ignore[arg-type]
    with fails(f"tag: tag is {2**31}, which does not fit in 32 bits.", ERR_ARG, MPIOverflowError):
        status.tag = 2**31
    with fails("count: count -1 is negative.", ERR_COUNT):
        status.count = -1
    with fails("Set_elements: count 3 does not fit: the datatype has no elements.", ERR_COUNT):
        status.Set_elements(NOTHING, 3)
    with fails("Get_count: the datatype is null: DATATYPE_NULL, or freed.", ERR_TYPE):
        status.Get_count(Datatype(null=True))
    with fails("Get_count: None is not a Datatype.", ERR_TYPE, MPITypeError):
        status.Get_count(None)  # type: ignore[arg-type]  # the wrong type is what the test passes
    with fails("Get_elements: 'INT' is not a Datatype.", ERR_TYPE, MPITypeError):
        status.Get_elements("INT")  # type: ignore[arg-type]
    with fails("f2py: a Fortran status has 5 integers, not 1.", ERR_ARG, MPIValueError):
        Status.f2py([1])
    with fails("Status: cannot create a Status from 3.", ERR_ARG, MPITypeError):
        Status(3)  # type: ignore[arg-type]
    assert status == status_of(1, 2, 0, 8, False)
