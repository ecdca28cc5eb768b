"""Error handlers as handles, and the table of error classes, codes and strings."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fakempi.error_classes import ERR_ARG, ERR_ERRHANDLER, ERR_LASTCODE, ERR_OTHER, ERR_TRUNCATE, ERR_UNKNOWN, SUCCESS
from fakempi.errors import ADDED, MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base import errhandler as mpi
from fakempi.mpi.base.errhandler import ERRHANDLER_NULL, ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN, Errhandler

PREDEFINED = [ERRHANDLER_NULL, ERRORS_RETURN, ERRORS_ABORT, ERRORS_ARE_FATAL]


@contextmanager
def fails(words: str, code: int, kind: type[MPIError] = MPIError) -> Iterator[None]:
    """The block must raise an error of this class that says exactly these words."""
    with pytest.raises(kind) as caught:
        yield
    assert (str(caught.value), caught.value.Get_error_class()) == (words, code)


@pytest.fixture(autouse=True)
def _leave_the_table_as_it_was() -> Iterator[None]:
    before = dict(ADDED)
    yield
    ADDED.clear()
    ADDED.update(before)


# -- handlers --------------------------------------------------------------------------------------------------------


def test_the_predefined_handlers_differ_and_stay() -> None:
    """Freeing them does nothing."""
    for errhandler in PREDEFINED[1:]:
        errhandler.Free()
        errhandler.free()
        assert errhandler
    assert not ERRHANDLER_NULL
    assert Errhandler() == ERRHANDLER_NULL
    assert [[one == other for other in PREDEFINED] for one in PREDEFINED] == [
        [row == column for column in range(4)] for row in range(4)
    ]


def test_a_programs_handler_calls_its_function() -> None:
    """Even when the handle it was made with is gone, as long as somebody has a copy."""
    calls: list[tuple[Any, int]] = []
    errhandler = Errhandler._calling(lambda what, code: calls.append((what, code)))
    kept = Errhandler(errhandler)
    assert kept == errhandler
    errhandler.Free()
    assert errhandler == ERRHANDLER_NULL
    kept._call("comm", 5)
    assert calls == [("comm", 5)]
    ERRORS_RETURN._call("comm", 5)
    errhandler._call("comm", 5)
    assert len(calls) == 1


def test_two_handlers_with_one_function_are_two() -> None:
    """As in mpi4py."""

    def function(what: Any, code: int) -> None:
        raise AssertionError

    assert Errhandler._calling(function) != Errhandler._calling(function)
    with pytest.raises(TypeError):
        hash(Errhandler._calling(function))


def test_handles_go_through_integers_and_predefined_ones_through_pickles() -> None:
    """Others mean nothing elsewhere."""
    mine = Errhandler._calling(print)
    for errhandler in [*PREDEFINED, mine]:
        assert Errhandler.fromint(errhandler.toint()) == errhandler
        assert Errhandler.f2py(errhandler.py2f()) == Errhandler.fromhandle(errhandler.handle) == errhandler
    for errhandler in PREDEFINED:
        assert pickle.loads(pickle.dumps(errhandler)) is errhandler
    assert pickle.loads(pickle.dumps(Errhandler())) == ERRHANDLER_NULL
    words = "MPI: an Errhandler cannot be pickled: it means nothing to another process."
    with fails(words, ERR_ERRHANDLER, MPIValueError):
        pickle.dumps(mine)


def test_handlers_used_wrongly() -> None:
    """Null ones, and functions that are none."""
    with fails("Free: the error handler is null: ERRHANDLER_NULL, or freed.", ERR_ERRHANDLER):
        ERRHANDLER_NULL.Free()
    ERRHANDLER_NULL.free()
    with fails("MPI: errhandler_fn is None, which cannot be called.", ERR_ARG, MPITypeError):
        Errhandler._calling(None)  # type: ignore[arg-type]
    with fails("MPI: cannot make an Errhandler of 3.", ERR_ERRHANDLER, MPITypeError):
        Errhandler(3)  # type: ignore[arg-type]


def test_reprs_say_what_they_do() -> None:
    """For debugging."""
    assert repr(ERRORS_RETURN) == "<Errhandler: return>"
    assert repr(ERRHANDLER_NULL) == "<Errhandler: null>"
    assert repr(Errhandler._calling(print)) == "<Errhandler: call <built-in function print>>"


# -- error classes, codes and strings --------------------------------------------------------------------------------


def test_mpis_own_classes_have_themselves_as_class_and_a_sentence() -> None:
    """And what is no code is unknown."""
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


def test_exceptions_speak_with_added_strings() -> None:
    """Until the string is removed."""
    errorclass = mpi.Add_error_class()
    code = mpi.Add_error_code(errorclass)
    mpi.Add_error_string(code, "the cat sat on the keyboard")
    error = MPIError(code)
    assert (error.error_class, error.error_code, str(error)) == (errorclass, code, "the cat sat on the keyboard")
    mpi.Remove_error_string(code)
    assert mpi.Get_error_string(code) == ""


def test_what_was_added_is_removed_codes_first() -> None:
    """A class in use stays."""
    errorclass = mpi.Add_error_class()
    code = mpi.Add_error_code(errorclass)
    with fails(f"Remove_error_class: error class {errorclass} still has codes: {code}.", ERR_OTHER):
        mpi.Remove_error_class(errorclass)
    mpi.Remove_error_code(code)
    mpi.Remove_error_class(errorclass)
    assert mpi.Get_error_class(code) == ERR_UNKNOWN
    assert mpi.Add_error_class() > code, "numbers are not used again"


def test_a_string_is_removed_before_its_code_or_class() -> None:
    """As MPI wants it."""
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
def test_mpis_own_errors_stay_as_they_are(call: Any, what: str) -> None:
    """Programs change what programs added."""
    with fails(f"{what} 14 is MPI's own: it stays as it is.", ERR_OTHER):
        call()


def test_numbers_and_strings_that_do_not_fit() -> None:
    """Unknown, confused, too long, of the wrong kind."""
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
    with fails("Add_error_string: the string has 513 bytes, 512 are allowed.", ERR_ARG):
        mpi.Add_error_string(code, "x" * 513)
    with fails("Add_error_string: the string is 3, not a string.", ERR_ARG, MPITypeError):
        mpi.Add_error_string(code, 3)  # type: ignore[arg-type]
    with fails("Get_error_class: errorcode is 'x', not an integer.", ERR_ARG, MPITypeError):
        mpi.Get_error_class("x")  # type: ignore[arg-type]
