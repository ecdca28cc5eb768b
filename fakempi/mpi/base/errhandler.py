"""Error handlers, and the table of error classes, codes and strings that a program adds.

All ranks of a run share the table, so ranks that each add a class get different numbers. For a rank that uses only the
numbers that it has added, there is no difference from MPI.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from fakempi.errors import AddedCodes, MPIError, MPITypeError, MPIValueError, added_codes
from fakempi.errors.classes import ERR_ARG, ERR_ERRHANDLER, ERR_LASTCODE, ERR_OTHER, SENTENCES
from fakempi.mpi.base.constants import MAX_ERROR_STRING
from fakempi.mpi.base.identity import Handled, NumberTable, number_table
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.resource_tracker import track, untrack

if TYPE_CHECKING:
    from typing_extensions import Self


ErrorFunction: TypeAlias = Callable[[Any, int], None]
"""The function of a user-defined error handler. It takes the object and the error code."""


class Handler:
    """The reaction to an error: "return", "abort", "fatal", or "call" with the function to call."""

    __slots__ = ("__weakref__", "function", "policy")

    def __init__(self, policy: str, function: ErrorFunction | None = None) -> None:
        self.policy = policy
        self.function = function


class Errhandler(Handled["Errhandler"]):
    """An error handler. Objects keep the `Handler` behind it, which outlives Free."""

    __slots__ = ("__weakref__", "_handler")

    _handler: Handler | None  # None: null

    def __new__(cls, errhandler: Errhandler | None = None) -> Self:
        if errhandler is not None and not isinstance(errhandler, Errhandler):
            raise mpi_error(ERR_ERRHANDLER, f"cannot create an Errhandler from {errhandler!r}.", MPITypeError)
        self = super().__new__(cls)
        self._handler = None if errhandler is None else errhandler._handler
        return self

    @classmethod
    def _make(cls, handler: Handler) -> Self:
        """Return a handle to a handler."""
        self = cls()
        self._handler = handler
        return self

    @classmethod
    def _of_function(cls, function: ErrorFunction) -> Self:
        """Create a user-defined handler: on error, `function(object, error code)` is called."""
        if not callable(function):
            raise mpi_error(ERR_ARG, f"errhandler_fn is {function!r}, which cannot be called.", MPITypeError)
        self = cls._make(Handler("call", function))
        track("errhandler-leak", self._handler)
        return self

    def _call(self, what: object, errorcode: int) -> None:
        """Call the function of a user-defined handler with the object and the error code."""
        if self._handler is not None and self._handler.function is not None:
            self._handler.function(what, errorcode)

    def _mpi_object(self) -> object | None:
        return self._handler

    @property
    def _shared(self) -> bool:
        return self._handler is not None and self._handler.policy != "call"

    def __reduce__(self) -> str | tuple[Any, ...]:
        for name, errhandler in _PREDEFINED.items():
            if self is errhandler:
                return name
            if self == errhandler:
                return type(self), (errhandler,)
        sentence = "an Errhandler cannot be pickled: it is only valid in this process."
        raise mpi_error(ERR_ERRHANDLER, sentence, MPIValueError)

    def __repr__(self) -> str:
        if self._handler is None:
            return "<Errhandler: null>"
        function = self._handler.function
        return f"<Errhandler: {self._handler.policy}{'' if function is None else f' {function!r}'}>"

    def Free(self) -> None:
        """Free the handler: this handle becomes null. Predefined handlers are not freed."""
        if self._handler is None:
            raise mpi_error(ERR_ERRHANDLER, "the error handler is null: ERRHANDLER_NULL, or freed.")
        self.free()

    def free(self) -> None:
        """Like `Free`, but a null handle is no error."""
        if not any(self is errhandler for errhandler in _PREDEFINED.values()):
            untrack("errhandler-leak", self._handler)
            self._handler = None


ERRHANDLER_NULL = Errhandler()
ERRORS_RETURN = Errhandler._make(Handler("return"))
ERRORS_ABORT = Errhandler._make(Handler("abort"))
ERRORS_ARE_FATAL = Errhandler._make(Handler("fatal"))

_PREDEFINED = {
    "ERRHANDLER_NULL": ERRHANDLER_NULL,
    "ERRORS_RETURN": ERRORS_RETURN,
    "ERRORS_ABORT": ERRORS_ABORT,
    "ERRORS_ARE_FATAL": ERRORS_ARE_FATAL,
}

# -- error classes, codes and strings --------------------------------------------------------------------------------


class _Codes(NumberTable):
    """The error classes and codes of a run."""

    before_first = ERR_LASTCODE

    def __init__(self, universe: Any) -> None:
        self.added: AddedCodes = {}
        super().__init__(universe)

    def copy(self, parent: _Codes) -> None:
        """Start with the codes of another table."""
        self.added = parent.added.copy()

    def is_used(self, number: int) -> bool:
        """Return whether a class or code has the number."""
        return number in self.added

    def keep(self, run: _Codes, number: int) -> None:
        """Take a class or code from the table of a run that ends."""
        if number in run.added and number not in self.added:
            self.added[number] = run.added[number]


def _added() -> AddedCodes:
    return number_table(_Codes).added


added_codes.here = _added


def Get_error_class(errorcode: int) -> int:
    """Return the class of an error code, or ERR_UNKNOWN if it is not an error code."""
    return MPIError(integer("errorcode", errorcode)).Get_error_class()


def Get_error_string(errorcode: int) -> str:
    """Return the text of an error code or class."""
    return MPIError(integer("errorcode", errorcode)).Get_error_string()


def Add_error_class() -> int:
    """Add an error class without a string, and return it."""
    number = number_table(_Codes).new_number()
    _added()[number] = (number, "")
    return number


def Add_error_code(errorclass: int) -> int:
    """Add an error code without a string to a class, and return it."""
    errorclass = integer("errorclass", errorclass)
    if errorclass not in SENTENCES and _added().get(errorclass, (None, ""))[0] != errorclass:
        raise mpi_error(ERR_ARG, f"there is no error class {errorclass}.")
    number = number_table(_Codes).new_number()
    _added()[number] = (errorclass, "")
    return number


def Add_error_string(errorcode: int, string: str) -> None:
    """Set or replace the string of an added error code or class."""
    added, errorcode = _added_number("code", errorcode)
    if not isinstance(string, str):
        raise mpi_error(ERR_ARG, f"the string is {string!r}, not a string.", MPITypeError)
    if (size := len(string.encode())) > MAX_ERROR_STRING:
        raise mpi_error(ERR_ARG, f"the string has {size} bytes; at most {MAX_ERROR_STRING} are allowed.")
    added[errorcode] = (added[errorcode][0], string)


def Remove_error_class(errorclass: int) -> None:
    """Remove an added class. Its codes and its string must have been removed before."""
    added, errorclass = _added_number("class", errorclass)
    if added[errorclass][0] != errorclass:
        raise mpi_error(ERR_OTHER, f"{errorclass} is an error code of class {added[errorclass][0]}, not a class.")
    codes = [code for code, (its_class, _) in added.items() if its_class == errorclass and code != errorclass]
    if codes:
        raise mpi_error(ERR_OTHER, f"error class {errorclass} still has codes: {', '.join(map(str, codes))}.")
    if string := added[errorclass][1]:
        raise mpi_error(ERR_OTHER, f"error class {errorclass} still has its string, {string!r}.")
    del added[errorclass]


def Remove_error_code(errorcode: int) -> None:
    """Remove an added code. Its string must have been removed before."""
    added, errorcode = _added_number("code", errorcode)
    errorclass, string = added[errorcode]
    if errorclass == errorcode:
        raise mpi_error(ERR_OTHER, f"{errorcode} is an error class, not a code of one.")
    if string:
        raise mpi_error(ERR_OTHER, f"error code {errorcode} still has its string, {string!r}.")
    del added[errorcode]


def Remove_error_string(errorcode: int) -> None:
    """Remove the string of an added error code or class."""
    added, errorcode = _added_number("code", errorcode)
    added[errorcode] = (added[errorcode][0], "")


def last_used_code() -> int:
    """The largest error code so far: the value of LASTUSEDCODE."""
    codes = number_table(_Codes)
    return max([codes.last, *codes.added])


def _added_number(what: str, number: int) -> tuple[AddedCodes, int]:
    """Return the table and the number of a code or class; raise an error unless a program has added it."""
    number = integer(f"error{what}", number)
    added = _added()
    if number in added:
        return added, number
    if number in SENTENCES:
        raise mpi_error(ERR_OTHER, f"error {what} {number} is predefined: it cannot be changed.")
    raise mpi_error(ERR_ARG, f"there is no error {what} {number}.")
