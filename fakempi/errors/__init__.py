"""All exceptions that fakempi raises.

`MPIError` is the class that programs know as `MPI.Exception`. Other exceptions concern a whole run: `RankError` (a rank
failed), `DeadlockError` and `LivelockError` (no rank can make progress), `RunTimeoutError` (the time limit was exceeded),
`FindingsError` (a strict run reported findings), `ScheduleError` (a schedule does not fit the program),
`OutcomesDifferError` (results differ between two schedules), `TraceError` (of traces), `InternalError` (a bug in fakempi).

classes     MPI's error classes: names, numbers, and a sentence for each
paths       paths in messages
similar     names that are similar to a misspelled one
files       reads files of other people
plurals     numbers with nouns, for messages
recordings  the error of recorded runs of applications
records     findings, blocked ranks and the interface of a trace: what exceptions of a run carry
call_names  names of calls
tracebacks  tracebacks without the frames of fakempi
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from fakempi.errors.classes import ERR_LASTCODE, ERR_UNKNOWN, SENTENCES, SUCCESS

if TYPE_CHECKING:
    from fakempi.errors.records import BlockedRank, Finding, NearMiss, RecordedTrace

AddedCodes: TypeAlias = dict[int, tuple[int, str]]
"""Codes and classes that a program has added (MPI.Add_error_class, ...): code -> (class, sentence)."""


class _AddedCodes:
    here: Callable[[], AddedCodes] = dict  # returns the codes of the run that calls; set by fakempi/mpi/base/errhandler.py


added_codes = _AddedCodes()


class MPIError(RuntimeError):
    """The exception that a failing MPI call raises: an error code, and a sentence with the call, the cause and the values.

    As in mpi4py, it compares with its error code and converts to it. Where mpi4py raises one of Python's exceptions, the
    subclass inherits from that exception too (`MPIValueError`, `MPITypeError`, `MPIOverflowError`, ...).

    Attributes
    ----------
    place : location of the call in the program, such as "work.py:17"; None if it is unknown
    """

    place: str | None = None
    _added: AddedCodes = {}  # noqa: RUF012  # never changed; replaced for a code that a program has added

    def __init__(self, ierr: int = SUCCESS, message: str | None = None, /) -> None:
        if not -1 <= ierr >> 31 <= 0:
            raise OverflowError(f"the error code {ierr} does not fit in 32 bits.")
        super().__init__(ierr, message)
        self.ierr, self.message = int(ierr) if ierr >= SUCCESS else ERR_UNKNOWN, message
        if self.ierr > ERR_LASTCODE:
            self._added = added_codes.here()  # kept: the exception may outlive the run

    def __str__(self) -> str:
        return self.message or self.error_string

    def __repr__(self) -> str:
        # mpi4py's format. Subclasses keep Python's format, because mpi4py raises Python's exceptions there.
        return f"MPI.Exception({self.ierr})" if self.message is None or type(self) is MPIError else super().__repr__()

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
        """Return the error code."""
        return self.ierr

    def Get_error_class(self) -> int:
        """Return the error class that the code belongs to."""
        return self._added.get(self.ierr, (self.ierr if self.ierr in SENTENCES else ERR_UNKNOWN, ""))[0]

    def Get_error_string(self) -> str:
        """Return the sentence for the error code."""
        added = self._added.get(self.ierr)
        return added[1] if added else SENTENCES.get(self.ierr, SENTENCES[ERR_UNKNOWN])

    @property
    def error_code(self) -> int:
        """The error code."""
        return self.Get_error_code()

    @property
    def error_class(self) -> int:
        """The error class that the code belongs to."""
        return self.Get_error_class()

    @property
    def error_string(self) -> str:
        """The sentence for the error code."""
        return self.Get_error_string()


class MPIValueError(MPIError, ValueError):
    """An `MPIError` that is also a `ValueError`: an argument has an invalid value."""


class MPITypeError(MPIError, TypeError):
    """An `MPIError` that is also a `TypeError`: an argument has the wrong type."""


class MPIOverflowError(MPIError, OverflowError):
    """An `MPIError` that is also an `OverflowError`: an integer does not fit into one of C."""


class MPIBufferError(MPIError, BufferError):
    """An `MPIError` that is also a `BufferError`: a buffer is read-only, not contiguous or otherwise unusable."""


class MPIKeyError(MPIError, KeyError):
    """An `MPIError` that is also a `KeyError`: a name or a type is unknown."""


class Aborted(BaseException):
    """The program called `Abort(errorcode)`. A BaseException, so that `except Exception` does not catch it."""

    def __init__(self, errorcode: int = 0) -> None:
        super().__init__(errorcode)
        self.errorcode = errorcode

    call = "Abort"

    def __str__(self) -> str:
        return f"{self.call}({self.errorcode}) was called"


class ExitWithoutFinalize(Aborted):
    """A rank called `os._exit` without MPI.Finalize, which ends the other ranks too."""

    call = "os._exit"


class Died(RuntimeError):
    """A rank died (`run(..., kill=...)`, `fakempi.die()`), and no other rank noticed: the run fails with this error."""

    def __init__(self, time: float) -> None:
        super().__init__(f"it died at t = {float(time):.6g} s, and no other rank noticed")


class Killed(RuntimeError):
    """The process of a rank was killed by a signal or crashed (`fakempi run --processes`).

    Attributes
    ----------
    number
        The number of the signal.
    """

    def __init__(self, number: int, name: str, place: str) -> None:
        super().__init__(number, name, place)
        self.number, self.name, self.place = number, name, place

    def __str__(self) -> str:
        after = f"; its last MPI call was at {self.place}" if self.place else ""
        return f"its process was killed by signal {self.number} ({self.name}){after}"


LAYOUT_CHARACTERS = "\n\t"
"""Control characters that lay out text of several lines, and are therefore not escaped in it."""

_UNPRINTABLE = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"  # compiled on use: 1 ms


def printable(text: str, keep: str = "") -> str:
    """Return a text that is safe to print on a terminal: control characters are escaped, except those in `keep`."""
    if text.isprintable():
        return text
    escaped = re.sub(_UNPRINTABLE, lambda match: match[0].encode("unicode_escape").decode(), text)
    for char in LAYOUT_CHARACTERS:
        escaped = escaped if char in keep else escaped.replace(char, char.encode("unicode_escape").decode())
    return escaped


class RunError(RuntimeError):
    """Base class of the exceptions that `fakempi.run` raises when a run cannot be completed.

    An instance of this class itself means that a user-defined cost model failed or returned an invalid time, or that the
    system could not start more threads; the text gives the details.

    Attributes
    ----------
    trace
        The trace up to the failure if a trace was requested, else None.
    findings
        The findings up to the failure.
    suppressed
        The findings up to the failure that are suppressed.
    """

    trace: RecordedTrace | None = None
    findings: Sequence[Finding] = ()
    suppressed: Sequence[Finding] = ()

    def _repr_html_(self) -> str:
        """Render for a notebook: the text, and the trace up to the failure if there is one."""
        from html import escape  # takes 2.6 ms, and few programs need it
        drawn = "" if self.trace is None else self.trace._repr_html_() or ""
        return f"<pre>{escape(str(self))}</pre>{drawn}"


class RankError(RunError):
    """A rank raised an exception, so the run failed.

    Attributes
    ----------
    rank
        The first rank that failed; for a spawned process, its number in the run.
    name
        The name of that rank, such as `rank 2`, or `rank 2 of the group spawned at farm.py:12`.
    exception
        The exception that it raised, with its traceback; also the `__cause__`.
    others
        (rank, exception) of ranks that failed while the run was being ended.

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
        """The name of the first rank that failed."""
        return self._name(self.rank)

    def _name(self, rank: int) -> str:
        return self._names.get(rank, f"rank {rank}")

    def other_failures(self, maximum: int = 8) -> list[str]:
        """Return one line for each other rank that failed, for at most `maximum` ranks."""
        lines = [f"  also {self._name(rank)}: {_error_text(error)}" for rank, error in self.others[:maximum]]
        return lines + [f"  and {len(self.others) - maximum} more"] * (len(self.others) > maximum)

    def __str__(self) -> str:
        return "\n".join([f"{self.name} failed with {_error_text(self.exception)}", *self.other_failures()])

    def __repr__(self) -> str:
        try:
            return super().__repr__()
        except Exception:  # raised by the `__repr__` of a rank's exception
            return f"<{type(self).__name__}: {self}>"


def text_of(
    error: BaseException, convert: Callable[[object], str] = str, otherwise: str = "<exception str() failed>"
) -> str:
    """Return an exception's text; if its `__str__` fails, the placeholder of Python's tracebacks."""
    try:
        return convert(error)
    except Exception:
        return otherwise


def _error_text(error: BaseException) -> str:
    """Return an exception's class and text, and the location of the call that failed unless the text contains it."""
    text, place = text_of(error), getattr(error, "place", None) if isinstance(error, MPIError) else None
    description = f"{type(error).__name__}: {text}" if text else text_of(error, repr, type(error).__name__)
    return description if place is None or place in text else f"{description} ({place})"


class DeadlockError(RunError):
    """No rank can run, and at least one is blocked. The text lists blocked ranks, in at most 16 lines; `blocked` has all.

    Attributes
    ----------
    blocked
        One record for each blocked rank.
    cycle
        Ranks that wait for each other in a cycle, if there is one.
    time
        The virtual time of the deadlock.
    misses
        Messages that differ in one property from those that a blocked rank would receive.

    Examples
    --------
    >>> import fakempi
    >>> try:
    ...     fakempi.run(lambda comm: comm.recv(source=1 - comm.rank), 2)
    ... except fakempi.DeadlockError as deadlock:
    ...     print(deadlock.cycle, len(deadlock.blocked))
    [0, 1] 2
    """

    def __init__(
        self,
        text: str,
        blocked: Sequence[BlockedRank] = (),
        cycle: Sequence[int] = (),
        time: float = 0,
        misses: Sequence[NearMiss] = (),
    ) -> None:
        super().__init__(text)
        self.misses = list(misses)
        self.blocked = list(blocked)
        self.cycle = list(cycle)
        self.time = time


class LivelockError(DeadlockError):
    """All ranks that can run poll, and no poll can ever succeed."""


class RunTimeoutError(RunError, TimeoutError):
    """A run exceeded `run(..., timeout=...)`. The text gives the locations of ranks, in at most 16 lines.

    Attributes
    ----------
    timeout
        The time limit in seconds.
    time
        The virtual time at which the run was ended.
    places
        The locations of ranks, as lines of text.
    """

    def __new__(cls, *args: object) -> RunTimeoutError:  # tblib, with which Dask pickles, calls it; RuntimeError's refuses
        return TimeoutError.__new__(cls, *args)

    def __init__(self, text: str) -> None:
        super().__init__(text)  # one argument only: OSError gives further arguments a meaning
        self.timeout: float = 0
        self.time: float = 0
        self.places: list[str] = []


class FindingsError(RunError):
    """A strict run reported findings; `findings` lists them, the most severe first."""

    def __init__(self, text: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(text)
        self.findings = list(findings)


class ScheduleError(RunError):
    """A schedule does not fit the program: the text gives the decision, and the options that were available there."""


class OutcomesDifferError(RunError):
    """The return value or the output of a rank depends on the schedule."""

    def __init__(self, text: str, rank: int) -> None:
        super().__init__(text)
        self.rank = rank


class MPIFindingWarning(UserWarning):
    """A finding in a test on ranks that did not make the test fail."""


class TraceError(ValueError):
    """A trace cannot be recorded, read, analyzed or rendered; the text gives the reason."""


class InternalError(RunError):
    """A bug in fakempi itself: please report it with the program that shows it."""
