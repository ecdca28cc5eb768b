"""Error handlers, and the table of error classes, codes and strings that programs add.

The table is one for the whole process, not per rank: ranks that each add a class get different numbers. What a rank
adds and removes by itself, it sees as it would under MPI.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any

from fakempi.error_classes import ERR_ARG, ERR_ERRHANDLER, ERR_LASTCODE, ERR_OTHER, SENTENCES
from fakempi.errors import ADDED, MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import MAX_ERROR_STRING
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.identity import Handled

if TYPE_CHECKING:
    from typing_extensions import Self


class Handler:
    """What is to be done about an error: one of "return", "abort", "fatal", or "call" with the function to call."""

    __slots__ = ("__weakref__", "function", "policy")

    def __init__(self, policy: str, function: Callable[[Any, int], None] | None = None) -> None:
        self.policy = policy
        self.function = function


class Errhandler(Handled):
    """A handle to what is to be done about an error. Whoever was given it keeps the `Handler`, which outlives Free."""

    __slots__ = ("__weakref__", "_handler")

    _handler: Handler | None  # None: null

    def __new__(cls, errhandler: Errhandler | None = None) -> Self:
        if errhandler is not None and not isinstance(errhandler, Errhandler):
            raise complaint(ERR_ERRHANDLER, f"cannot make an Errhandler of {errhandler!r}.", MPITypeError)
        self = super().__new__(cls)
        self._handler = None if errhandler is None else errhandler._handler
        return self

    @classmethod
    def _make(cls, handler: Handler) -> Self:
        """A handle to this handler."""
        self = cls()
        self._handler = handler
        return self

    @classmethod
    def _calling(cls, function: Callable[[Any, int], None]) -> Self:
        """A handler made by a program: on error, `function(object, error code)` is called."""
        if not callable(function):
            raise complaint(ERR_ARG, f"errhandler_fn is {function!r}, which cannot be called.", MPITypeError)
        self = cls._make(Handler("call", function))
        owes("errhandler-leak", self._handler)
        return self

    def _call(self, what: Any, errorcode: int) -> None:
        """Tell the program's function, if this handler has one, what it went wrong on and how."""
        if self._handler is not None and self._handler.function is not None:
            self._handler.function(what, errorcode)

    def _stands_for(self) -> object | None:
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
        sentence = "an Errhandler cannot be pickled: it means nothing to another process."
        raise complaint(ERR_ERRHANDLER, sentence, MPIValueError)

    def __repr__(self) -> str:
        if self._handler is None:
            return "<Errhandler: null>"
        function = self._handler.function
        return f"<Errhandler: {self._handler.policy}{'' if function is None else f' {function!r}'}>"

    def Free(self) -> None:
        """Let go of the handler: this handle becomes null. MPI's own handlers stay."""
        if self._handler is None:
            raise complaint(ERR_ERRHANDLER, "the error handler is null: ERRHANDLER_NULL, or freed.")
        self.free()

    def free(self) -> None:
        """As `Free`, but a null handle is left in peace."""
        if not any(self is errhandler for errhandler in _PREDEFINED.values()):
            done("errhandler-leak", self._handler)
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

_numbers = itertools.count(ERR_LASTCODE + 1)
_last_used = ERR_LASTCODE


def Get_error_class(errorcode: int) -> int:
    """The class that an error code belongs to, ERR_UNKNOWN if it is no code."""
    return MPIError(_integer("errorcode", errorcode)).Get_error_class()


def Get_error_string(errorcode: int) -> str:
    """The sentence that goes with an error code or class."""
    return MPIError(_integer("errorcode", errorcode)).Get_error_string()


def Add_error_class() -> int:
    """A new error class, without a string."""
    number = _next_number()
    ADDED[number] = (number, "")
    return number


def Add_error_code(errorclass: int) -> int:
    """A new error code of a class, without a string."""
    errorclass = _integer("errorclass", errorclass)
    if errorclass not in SENTENCES and ADDED.get(errorclass, (None, ""))[0] != errorclass:
        raise complaint(ERR_ARG, f"there is no error class {errorclass}.")
    number = _next_number()
    ADDED[number] = (errorclass, "")
    return number


def Add_error_string(errorcode: int, string: str) -> None:
    """Give an added error code or class a string, in place of the one it has."""
    errorcode = _added("code", errorcode)
    if not isinstance(string, str):
        raise complaint(ERR_ARG, f"the string is {string!r}, not a string.", MPITypeError)
    if (size := len(string.encode())) > MAX_ERROR_STRING:
        raise complaint(ERR_ARG, f"the string has {size} bytes, {MAX_ERROR_STRING} are allowed.")
    ADDED[errorcode] = (ADDED[errorcode][0], string)


def Remove_error_class(errorclass: int) -> None:
    """Remove an added class, which must have neither codes nor a string any more."""
    errorclass = _added("class", errorclass)
    if ADDED[errorclass][0] != errorclass:
        raise complaint(ERR_OTHER, f"{errorclass} is an error code of class {ADDED[errorclass][0]}, not a class.")
    codes = [code for code, (its_class, _) in ADDED.items() if its_class == errorclass and code != errorclass]
    if codes:
        raise complaint(ERR_OTHER, f"error class {errorclass} still has codes: {', '.join(map(str, codes))}.")
    if string := ADDED[errorclass][1]:
        raise complaint(ERR_OTHER, f"error class {errorclass} still has its string, {string!r}.")
    del ADDED[errorclass]


def Remove_error_code(errorcode: int) -> None:
    """Remove an added code, which must have no string any more."""
    errorcode = _added("code", errorcode)
    errorclass, string = ADDED[errorcode]
    if errorclass == errorcode:
        raise complaint(ERR_OTHER, f"{errorcode} is an error class, not a code of one.")
    if string:
        raise complaint(ERR_OTHER, f"error code {errorcode} still has its string, {string!r}.")
    del ADDED[errorcode]


def Remove_error_string(errorcode: int) -> None:
    """Take the string from an added error code or class."""
    errorcode = _added("code", errorcode)
    ADDED[errorcode] = (ADDED[errorcode][0], "")


def last_used_code() -> int:
    """The greatest error code given out so far: the value of LASTUSEDCODE."""
    return _last_used


def _next_number() -> int:
    global _last_used
    _last_used = next(_numbers)
    return _last_used


def _added(what: str, number: int) -> int:
    """The number, which must be of a code or class that a program has added."""
    number = _integer(f"error{what}", number)
    if number in ADDED:
        return number
    if number in SENTENCES:
        raise complaint(ERR_OTHER, f"error {what} {number} is MPI's own: it stays as it is.")
    raise complaint(ERR_ARG, f"there is no error {what} {number}.")


def _integer(name: str, value: int) -> int:
    try:
        return index(value)
    except TypeError:
        raise complaint(ERR_ARG, f"{name} is {value!r}, not an integer.", MPITypeError) from None
