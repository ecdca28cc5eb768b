"""Error handlers as handles, and the table of error classes, codes and strings."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_ERRHANDLER, ERR_LASTCODE, ERR_OTHER, ERR_TRUNCATE, ERR_UNKNOWN, SUCCESS
from fakempi.mpi.base import errhandler as mpi
from fakempi.mpi.base.errhandler import ERRHANDLER_NULL, ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN, Errhandler
from tests.helpers.runs import fails

PREDEFINED = [ERRHANDLER_NULL, ERRORS_RETURN, ERRORS_ABORT, ERRORS_ARE_FATAL]


@pytest.fixture(autouse=True)
def _leave_the_table_as_it_was() -> Iterator[None]:
    added = mpi._added()
    before = dict(added)
    yield
    added.clear()
    added.update(before)


# -- handlers --------------------------------------------------------------------------------------------------------


def test_predefined_handlers_are_distinct_and_permanent() -> None:
    """Freeing them has no effect."""
    for errhandler in PREDEFINED[1:]:
        errhandler.Free()
        errhandler.free()
        assert errhandler
    assert not ERRHANDLER_NULL
    assert Errhandler() == ERRHANDLER_NULL
    assert [[one == other for other in PREDEFINED] for one in PREDEFINED] == [
        [row == column for column in range(4)] for row in range(4)
    ]


def test_a_handler_of_a_program_calls_its_function() -> None:
    """Even after its first handle is freed, as long as a copy exists."""
    calls: list[tuple[Any, int]] = []
    errhandler = Errhandler._of_function(lambda what, code: calls.append((what, code)))
    kept = Errhandler(errhandler)
    assert kept == errhandler
    errhandler.Free()
    assert errhandler == ERRHANDLER_NULL
    kept._call("comm", 5)
    assert calls == [("comm", 5)]
    ERRORS_RETURN._call("comm", 5)
    errhandler._call("comm", 5)
    assert len(calls) == 1


def test_two_handlers_with_one_function_are_different() -> None:
    """As in mpi4py."""

    def function(what: Any, code: int) -> None:
        raise AssertionError

    assert Errhandler._of_function(function) != Errhandler._of_function(function)
    with pytest.raises(TypeError):
        hash(Errhandler._of_function(function))


def test_handles_convert_to_integers_and_predefined_ones_can_be_pickled() -> None:
    """Other handles are meaningless in another process."""
    mine = Errhandler._of_function(print)
    for errhandler in [*PREDEFINED, mine]:
        assert Errhandler.fromint(errhandler.toint()) == errhandler
        assert Errhandler.f2py(errhandler.py2f()) == Errhandler.fromhandle(errhandler.handle) == errhandler
    for errhandler in PREDEFINED:
        assert pickle.loads(pickle.dumps(errhandler)) is errhandler
    assert pickle.loads(pickle.dumps(Errhandler())) == ERRHANDLER_NULL
    words = "Errhandler: an Errhandler cannot be pickled: it is only valid in this process."
    with fails(words, ERR_ERRHANDLER, MPIValueError):
        pickle.dumps(mine)


def test_invalid_handlers_are_rejected() -> None:
    """Null handlers, and objects that are not callable."""
    with fails("Free: the error handler is null: ERRHANDLER_NULL, or freed.", ERR_ERRHANDLER):
        ERRHANDLER_NULL.Free()
    ERRHANDLER_NULL.free()
    with fails("Errhandler: errhandler_fn is None, which cannot be called.", ERR_ARG, MPITypeError):
        Errhandler._of_function(None)  # type: ignore[arg-type]
    with fails("Errhandler: cannot create an Errhandler from 3.", ERR_ERRHANDLER, MPITypeError):
        Errhandler(3)  # type: ignore[arg-type]


def test_reprs_describe_handlers() -> None:
    """For debugging."""
    assert repr(ERRORS_RETURN) == "<Errhandler: return>"
    assert repr(ERRHANDLER_NULL) == "<Errhandler: null>"
    assert repr(Errhandler._of_function(print)) == "<Errhandler: call <built-in function print>>"


# -- error classes, codes and strings --------------------------------------------------------------------------------


def test_predefined_classes_are_their_own_class_and_have_a_sentence() -> None:
    """Other numbers are unknown."""
    assert mpi.Get_error_class(ERR_TRUNCATE) == ERR_TRUNCATE
    assert mpi.Get_error_string(ERR_TRUNCATE) == "message longer than the receive buffer"
    assert mpi.Get_error_class(SUCCESS) == SUCCESS
    assert mpi.Get_error_class(123456789) == ERR_UNKNOWN
    assert mpi.Get_error_string(123456789) == "unknown error"


def test_added_classes_and_codes_are_new_and_start_without_a_string() -> None:
    """The last one is LASTUSEDCODE."""
    errorclass = mpi.Add_error_class()
    assert errorclass > ERR_LASTCODE
    assert mpi.last_used_code() == errorclass
    code, own = mpi.Add_error_code(errorclass), mpi.Add_error_code(ERR_TRUNCATE)
    assert len({errorclass, code, own}) == 3
    assert mpi.last_used_code() == own
    assert [mpi.Get_error_class(number) for number in (errorclass, code, own)] == [errorclass, errorclass, ERR_TRUNCATE]
    assert [mpi.Get_error_string(number) for number in (errorclass, code, own)] == ["", "", ""]


def test_exceptions_use_added_strings() -> None:
    """Until the string is removed."""
    errorclass = mpi.Add_error_class()
    code = mpi.Add_error_code(errorclass)
    mpi.Add_error_string(code, "the cat sat on the keyboard")
    error = MPIError(code)
    assert (error.error_class, error.error_code, str(error)) == (errorclass, code, "the cat sat on the keyboard")
    mpi.Remove_error_string(code)
    assert mpi.Get_error_string(code) == ""


def test_added_codes_are_removed_before_their_class() -> None:
    """A class in use cannot be removed."""
    errorclass = mpi.Add_error_class()
    code = mpi.Add_error_code(errorclass)
    with fails(f"Remove_error_class: error class {errorclass} still has codes: {code}.", ERR_OTHER):
        mpi.Remove_error_class(errorclass)
    mpi.Remove_error_code(code)
    mpi.Remove_error_class(errorclass)
    assert mpi.Get_error_class(code) == ERR_UNKNOWN
    assert mpi.Add_error_class() > code, "numbers are not used again"


def test_a_string_is_removed_before_its_code_or_class() -> None:
    """As MPI requires."""
    errorclass = mpi.Add_error_class()
    code = mpi.Add_error_code(errorclass)
    for number, kind, remove in ((code, "code", mpi.Remove_error_code), (errorclass, "class", mpi.Remove_error_class)):
        mpi.Add_error_string(number, "stays")
        with fails(f"Remove_error_{kind}: error {kind} {number} still has its string, 'stays'.", ERR_OTHER):
            remove(number)
        mpi.Remove_error_string(number)
        remove(number)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: mpi.Add_error_string(ERR_TRUNCATE, "x"), "Add_error_string: error code"),
        (lambda: mpi.Remove_error_string(ERR_TRUNCATE), "Remove_error_string: error code"),
        (lambda: mpi.Remove_error_code(ERR_TRUNCATE), "Remove_error_code: error code"),
        (lambda: mpi.Remove_error_class(ERR_TRUNCATE), "Remove_error_class: error class"),
    ],
)
def test_predefined_errors_cannot_be_changed(call: Any, what: str) -> None:
    """Programs can change only their own additions."""
    with fails(f"{what} 14 is predefined: it cannot be changed.", ERR_OTHER):
        call()


def test_invalid_numbers_and_strings_are_rejected() -> None:
    """Unknown, of another kind, too long, of the wrong type."""
    errorclass = mpi.Add_error_class()
    code = mpi.Add_error_code(errorclass)
    with fails("Add_error_code: there is no error class 99999.", ERR_ARG):
        mpi.Add_error_code(99999)
    with fails(f"Add_error_code: there is no error class {code}.", ERR_ARG):
        mpi.Add_error_code(code)
    with fails("Remove_error_code: there is no error code 99999.", ERR_ARG):
        mpi.Remove_error_code(99999)
    with fails(f"Remove_error_code: {errorclass} is an error class, not a code of one.", ERR_OTHER):
        mpi.Remove_error_code(errorclass)
    with fails(f"Remove_error_class: {code} is an error code of class {errorclass}, not a class.", ERR_OTHER):
        mpi.Remove_error_class(code)
    with fails("Add_error_string: the string has 513 bytes; at most 512 are allowed.", ERR_ARG):
        mpi.Add_error_string(code, "x" * 513)
    with fails("Add_error_string: the string is 3, not a string.", ERR_ARG, MPITypeError):
        mpi.Add_error_string(code, 3)  # type: ignore[arg-type]
    with fails("Get_error_class: errorcode is 'x', not an integer.", ERR_ARG, MPITypeError):
        mpi.Get_error_class("x")  # type: ignore[arg-type]
