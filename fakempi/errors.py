"""Every exception of ours.

`MPIError` is what programs know as `MPI.Exception`. The others speak about a whole run: `RankError` (a rank failed),
`DeadlockError` and `LivelockError` (nothing can ever happen again), `RunTimeout` (it took too long), `FindingsError` (a
strict run found something wrong), `ScheduleError` (decisions that are not this program's), `OutcomesDiffer` (between two
schedules). `TraceError` is about the record of a run, its file or its picture. `InternalError` means a bug of fakempi.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from fakempi.error_classes import ERR_UNKNOWN, SENTENCES, SUCCESS


class MPIError(RuntimeError):
    """What a failing MPI call raises: an error code, and a sentence that says where, what and which numbers clash.

    As in mpi4py it compares with and converts to its error code. Errors that Python has a word for are also that
    (`MPIValueError`, `MPITypeError`, `MPIBufferError`), because mpi4py raises `ValueError` and `TypeError` there.

    Attributes
    ----------
    place
        Where the program called, such as "work.py:17", if that is known, else None.
    """

    place: str | None = None

    def __init__(self, ierr: int = SUCCESS, message: str | None = None, /) -> None:
        super().__init__(ierr, message)
        self.ierr = int(ierr) if ierr >= SUCCESS else ERR_UNKNOWN
        self.message = message

    def __str__(self) -> str:
        return self.message or self.error_string

    def __repr__(self) -> str:
        return f"MPI.Exception({self.ierr})" if self.message is None else super().__repr__()

    def __int__(self) -> int:
        return self.ierr

    def __bool__(self) -> bool:
        return self.ierr != SUCCESS

    def __hash__(self) -> int:
        return hash(self.ierr)

    def __eq__(self, other: object) -> bool:
        return int(self) == int(other) if isinstance(other, int | MPIError) else NotImplemented

    def __lt__(self, other: int) -> bool:
        return int(self) < int(other)

    def __le__(self, other: int) -> bool:
        return int(self) <= int(other)

    def __gt__(self, other: int) -> bool:
        return int(self) > int(other)

    def __ge__(self, other: int) -> bool:
        return int(self) >= int(other)

    def Get_error_code(self) -> int:
        """The error code."""
        return self.ierr

    def Get_error_class(self) -> int:
        """The error class that the code belongs to."""
        return ADDED.get(self.ierr, (self.ierr if self.ierr in SENTENCES else ERR_UNKNOWN, ""))[0]

    def Get_error_string(self) -> str:
        """The sentence that goes with the error code."""
        added = ADDED.get(self.ierr)
        return added[1] if added else SENTENCES.get(self.ierr, SENTENCES[ERR_UNKNOWN])

    error_code = property(Get_error_code)
    error_class = property(Get_error_class)
    error_string = property(Get_error_string)


class MPIValueError(MPIError, ValueError):
    """An `MPIError` that is also a `ValueError`: a number that does not fit."""


class MPITypeError(MPIError, TypeError):
    """An `MPIError` that is also a `TypeError`: a thing of the wrong kind."""


class MPIBufferError(MPIError, BufferError):
    """An `MPIError` that is also a `BufferError`: memory that cannot be used this way."""


class MPIKeyError(MPIError, KeyError):
    """An `MPIError` that is also a `KeyError`: a name or a type that stands for nothing here."""


# Codes and classes added by programs (MPI.Add_error_class, ...): code -> (class, sentence).
ADDED: dict[int, tuple[int, str]] = {}


class Aborted(BaseException):
    """The program called `Abort(errorcode)`. Not an Exception, so that few programs catch it."""

    def __init__(self, errorcode: int = 0) -> None:
        super().__init__(errorcode)
        self.errorcode = errorcode

    call = "Abort"

    def __str__(self) -> str:
        return f"{self.call}({self.errorcode}) was called"


class Left(Aborted):
    """A rank called `os._exit` without MPI.Finalize, which ends the others too."""

    call = "os._exit"


class Died(RuntimeError):
    """A rank has died (`run(..., kill=...)`, `fakempi.die()`), and no other took notice: then that is the run's end."""

    def __init__(self, time: float) -> None:
        super().__init__(f"it died at t = {float(time):.6g} s, and no other rank took notice")


KEEP = "\n\t"
"""Of control characters, those that texts of several lines are made of."""

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str, keep: str = "") -> str:
    """A text that does nothing to a terminal but be read: control characters are written out, but for those to keep."""
    if text.isprintable():
        return text
    found = _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
    for char in KEEP:
        found = found if char in keep else found.replace(char, char.encode("unicode_escape").decode())
    return found


class RunError(RuntimeError):
    """Base of what `fakempi.run` raises when a run cannot be brought to its end.

    By itself it means that a cost model of somebody's own has failed or given no sensible time; the text says where.

    Attributes
    ----------
    trace
        What happened until then, if it was asked for, else None.
    findings
        What else was found to be wrong until then.
    """

    trace: Any = None

    def _repr_html_(self) -> str:
        """In a notebook: the text, and what happened until then, if that was recorded."""
        drawn = "" if self.trace is None else self.trace._repr_html_() or ""
        return f"<pre>{escape(str(self))}</pre>{drawn}"
    findings: Sequence[Any] = ()


class RankError(RunError):
    """A rank failed, and with it the run.

    Attributes
    ----------
    rank
        The first rank that failed; of a spawned process, its number in the run.
    name
        The same in words, such as `rank 2`, or `rank 2 of the group spawned at farm.py:12`.
    exception
        What it raised, with its traceback; also the `__cause__`.
    others
        (rank, exception) of those that failed while the run was ended.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: 1 / (comm.rank - 2), 4)
    Traceback (most recent call last):
    fakempi.errors.RankError: rank 2 failed with ZeroDivisionError: division by zero
    """

    def __init__(
        self,
        rank: int,
        exception: BaseException,
        others: Sequence[tuple[int, BaseException]] = (),
        names: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(rank, exception, others, names)
        self.rank = rank
        self._names = dict(names or {})
        self.exception = exception
        self.others = list(others)

    @property
    def name(self) -> str:
        """The first that failed, in words."""
        return self._name(self.rank)

    def _name(self, rank: int) -> str:
        return self._names.get(rank, f"rank {rank}")

    def also(self, most: int = 8) -> list[str]:
        """The others, a line each, and no more than so many of them."""
        lines = [f"  also {self._name(rank)}: {_in_words(error)}" for rank, error in self.others[:most]]
        return lines + [f"  and {len(self.others) - most} more"] * (len(self.others) > most)

    def __str__(self) -> str:
        return "\n".join([f"{self.name} failed with {_in_words(self.exception)}", *self.also()])


def _in_words(error: BaseException) -> str:
    """An exception's class and text, and where the program made the call that failed, unless the text has it."""
    text, place = str(error), getattr(error, "place", None) if isinstance(error, MPIError) else None
    what = f"{type(error).__name__}: {text}" if text else repr(error)
    return what if place is None or place in text else f"{what} ({place})"


class DeadlockError(RunError):
    """Nothing can run and somebody waits. The text names every stuck rank; `stuck` lists them.

    Attributes
    ----------
    stuck
        One record for each stuck rank.
    cycle
        Ranks that wait for one another in a circle, if there is one.
    time
        The virtual time at which nothing moved any more.
    misses
        Messages that a stuck rank would have received but for one thing.

    Examples
    --------
    >>> import fakempi
    >>> try:
    ...     fakempi.run(lambda comm: comm.recv(source=1 - comm.rank), 2)
    ... except fakempi.DeadlockError as deadlock:
    ...     print(deadlock.cycle, len(deadlock.stuck))
    [0, 1] 2
    """

    def __init__(
        self, text: str, stuck: Sequence[Any] = (), cycle: Sequence[int] = (), time: float = 0, misses: Sequence[Any] = ()
    ) -> None:
        super().__init__(text)
        self.misses = list(misses)
        self.stuck = list(stuck)
        self.cycle = list(cycle)
        self.time = time


class LivelockError(DeadlockError):
    """All that can run polls, in vain: nothing can ever happen again."""


class RunTimeout(RunError, TimeoutError):
    """A run was not done in the seconds that `run(..., timeout=...)` gave it. The text says where every rank was.

    Attributes
    ----------
    timeout
        The seconds it had.
    time
        The virtual time at which it was ended.
    places
        Where ranks were, in lines for people.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)  # and no more: an OSError takes further arguments for its own
        self.timeout: float = 0
        self.time: float = 0
        self.places: list[str] = []


class FindingsError(RunError):
    """A strict run found something wrong: what, is in `findings`, the worst first."""

    def __init__(self, text: str, findings: Sequence[Any] = ()) -> None:
        super().__init__(text)
        self.findings = list(findings)


class ScheduleError(RunError):
    """A schedule does not fit the program: the text says at which decision, and what was there instead."""


class OutcomesDiffer(RunError):
    """What a rank returns depends on the schedule."""

    def __init__(self, text: str, rank: int) -> None:
        super().__init__(text)
        self.rank = rank


class MPIFindingWarning(UserWarning):
    """Something is wrong in a test on ranks that did not make it fail."""


class TraceError(ValueError):
    """What cannot be recorded, read, measured or drawn of a run, and why."""


class InternalError(RunError):
    """A bug in fakempi itself: please report it with the program that shows it."""
