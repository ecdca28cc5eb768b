"""What every window handle is made of: the rank's part of the window, and how it complains."""

from __future__ import annotations

from typing import Any, NoReturn

from fakempi.error_classes import ERR_RANK, ERR_RMA_SYNC, ERR_WIN
from fakempi.mpi.base.complain import call_site, complaint, integer, public_call_name
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.handling import HandlesErrors
from fakempi.mpi.windows.window import Part


class WinState(HandlesErrors):
    """The state of a window handle, shared by Win and its mixins: all handles that a rank has of a window share its part."""

    __slots__ = ("__weakref__", "_part")

    _part: Part | None

    def _alive(self) -> Part:
        """The rank's part; complains if the window is null, was freed, or is another rank's."""
        part = self._part
        if part is None or part.window is None:
            raise complaint(ERR_WIN, "the window is null: it was never made, or was freed.")
        running = part.loop.running
        if running is None or running.owner is not part.process:
            words = "was it kept in a global, which all ranks share?"
            raise complaint(ERR_WIN, f"the window belongs to {part.process.name}: {words}")
        return part

    def _check_alive(self) -> None:
        self._alive()

    # -- what requests ask of a communicator ------------------------------------------------------------------------

    @property
    def _loop(self) -> Any:
        return None if self._part is None else self._part.loop

    @property
    def _process(self) -> Any:
        return None if self._part is None else self._part.process

    @property
    def _notes(self) -> Any:
        return None if self._part is None else self._part.process.notes

    @property
    def _pins(self) -> Any:
        return None if self._part is None else self._part.process.pins

    # -- complaints ---------------------------------------------------------------------------------------------------

    def _target(self, part: Part, rank: Any) -> int:
        """A rank of the window."""
        number = integer("rank", rank)
        size = len(part.window.parts)  # type: ignore[union-attr]
        if not 0 <= number < size:
            self._raise(complaint(ERR_RANK, f"rank {number} is not in 0..{size - 1}: the window has {size} ranks."))
        return number

    def _check_living(self, part: Part, there: Part) -> None:
        """Complain if another rank is known to have died."""
        failure = part.failure(there)
        if failure is not None:
            self._raise(failure.complaint())

    def _misuse(self, part: Part, words: str) -> NoReturn:
        """Complain of calls that do not fit the epochs, and put it down as a finding."""
        call = public_call_name()
        part.process.universe.found("epoch", part.process.number, words, call=call, place=call_site())
        self._raise(complaint(ERR_RMA_SYNC, words))

    def _errhandler(self) -> Errhandler | None:
        return None if self._part is None else self._part.errhandler

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        self._alive().errhandler = errhandler
