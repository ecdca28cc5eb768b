"""The state of a window handle, and its error reporting."""

from __future__ import annotations

from typing import Any, NoReturn, SupportsIndex

from fakempi.errors.classes import ERR_OTHER, ERR_RANK, ERR_RMA_SYNC, ERR_WIN
from fakempi.errors.plurals import counted
from fakempi.mpi.base.call_site import place_of_call, public_call_name
from fakempi.mpi.base.current import OUTSIDE_THREAD
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.errhandler_calls import HandlesErrors
from fakempi.mpi.base.mpi_errors import integer, mpi_error, range_error
from fakempi.mpi.interfaces.records import CallSites
from fakempi.mpi.interfaces.services import RequestChecks
from fakempi.mpi.windows.window import WindowPart


class WinState(HandlesErrors):
    """The base class of Win and its mixins. All handles of a rank for a window share one `WindowPart`."""

    __slots__ = ("__weakref__", "_part")

    _part: WindowPart | None

    def _alive(self) -> WindowPart:
        """Return the rank's part; raise an error if the window is null, freed, or another rank's."""
        part = self._part
        if part is None or part.window is None:
            raise mpi_error(ERR_WIN, "the window is null: it was never created, or was freed.")
        running = part.loop.running
        if running is None and not part.loop.ending:
            raise mpi_error(ERR_OTHER, OUTSIDE_THREAD)
        if running is not None and running.acts_for is not part.process:
            part.loop.check_caller(running)
        if running is None or running.owner is not part.process:
            advice = "store it in a local variable, not in a global one."
            raise mpi_error(ERR_WIN, f"the window belongs to {part.process.name}: {advice}")
        return part

    def _check_alive(self) -> None:
        self._alive()

    # -- attributes that requests use, as of a communicator ---------------------------------------------------------

    @property
    def _loop(self) -> Any:
        return None if self._part is None else self._part.loop

    @property
    def _process(self) -> Any:
        return None if self._part is None else self._part.process

    @property
    def _call_sites(self) -> CallSites | None:
        return None if self._part is None else self._part.process.call_sites

    @property
    def _request_checks(self) -> RequestChecks | None:
        return None if self._part is None else self._part.process.request_checks

    # -- errors -------------------------------------------------------------------------------------------------------

    def _target(self, part: WindowPart, rank: SupportsIndex) -> int:
        """Return a rank of the window as an integer; raise an error if it is out of range."""
        number = integer("rank", rank, 0)
        size = len(part.window.parts)  # type: ignore[union-attr]  # the window is not freed
        if not 0 <= number < size:
            ranks = counted(size, "rank")
            sentence = f"rank {number} is not in 0..{size - 1}: the window has {ranks}."
            self._raise(range_error(ERR_RANK, sentence, number))
        return number

    def _check_living(self, part: WindowPart, other: WindowPart) -> None:
        """Raise an error if another rank is known to have died."""
        failure = part.failure(other)
        if failure is not None:
            self._raise(failure.mpi_error())

    def _misuse(self, part: WindowPart, sentence: str) -> NoReturn:
        """Raise an error for a call that does not fit the open epochs, and record a finding."""
        call = public_call_name()
        part.process.universe.report("epoch", part.process.number, sentence, call=call, place=place_of_call())
        self._raise(mpi_error(ERR_RMA_SYNC, sentence))

    def _errhandler(self) -> Errhandler | None:
        return None if self._part is None else self._part.errhandler

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        self._alive().errhandler = errhandler
