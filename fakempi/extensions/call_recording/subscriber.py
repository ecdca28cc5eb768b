"""CallRecording: wraps the public calls of a run's ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.core.hooks import HookedCalls
from fakempi.extensions.call_recording.partitions import maker_in_run
from fakempi.extensions.call_recording.rank import RankOfRun, SharedByRanks
from fakempi.extensions.recorder.table import COMM, FILE, MESSAGE, REQUEST, WINDOW
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.process import Universe
from fakempi.mpi.comms.intercomm import Intercomm
from fakempi.mpi.comms.topocomm import Cartcomm, Distgraphcomm, Graphcomm
from fakempi.mpi.diagnostics.last_state import deaths
from fakempi.mpi.files.file import File
from fakempi.mpi.point.grequest import Grequest
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.probes import Message
from fakempi.mpi.public_calls import PUBLIC_CALLS, OnArguments, in_place_of
from fakempi.mpi.windows.win import Win

KINDS: dict[str, tuple[type[Any], ...]] = {
    COMM: (Cartcomm, Distgraphcomm, Graphcomm, Intercomm), REQUEST: (Prequest,), MESSAGE: (Message,), WINDOW: (Win,),
    FILE: (File,),
}  # fmt: skip
"""The classes of programs by the words of the recorder; they inherit from all others that have public calls."""


class CallRecording(OnArguments):
    """Records the calls that the main tasks of ranks make; processes that the run spawns are not recorded."""

    def __init__(self, universe: Universe) -> None:
        shared = SharedByRanks(universe.recorder, len(universe.processes))
        self.universe = universe
        self.ranks = [RankOfRun(process, shared) for process in universe.processes]

    def around(self, kind: type[HookedCalls], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that records the call; the function itself if it is not recorded."""
        words = [word for word, classes in KINDS.items() if any(issubclass(each, kind) for each in classes)]
        maker = maker_in_run(words[0], name) if len(words) == 1 and kind is not Grequest else None
        if maker is None:
            return function

        def call(*args: Any, **keywords: Any) -> Any:
            rank = self._rank()
            if rank is None:
                return function(*args, **keywords)
            if rank.process.loop.running is not rank.process.task:
                with rank.in_thread(name):
                    return function(*args, **keywords)
            wrapped = rank.wrapped.get(function)
            if wrapped is None:
                wrapped = rank.wrapped[function] = maker(rank, function)
            rank.inside = True
            try:
                return wrapped(*args, **keywords)
            finally:
                rank.inside = False
                rank.pickles.restore()

        return in_place_of(function, call)

    def _rank(self) -> RankOfRun | None:
        """Return the rank whose program makes a call; None if fakempi makes it, or a process that is not recorded."""
        process = current_process()
        if process is None or process.universe is not self.universe or process.number >= len(self.ranks):
            return None
        rank, task = self.ranks[process.number], process.loop.running
        if task is not process.task:
            return rank if process.started(task) and task not in rank.calling else None
        return None if rank.inside else rank

    def texts(self, completed: bool) -> list[bytes]:
        """Return the lines of the ranks; those of a rank that has not completed have no end."""
        dead = {number for number, _ in deaths(self.universe)}
        for rank in self.ranks:
            if completed and rank.process.number not in dead:
                rank.finish()
        return [rank.log.text() for rank in self.ranks]


@contextmanager
def recorded_calls(universe: Universe) -> Iterator[None]:
    """Record the calls of a universe in this context, and give them to its trace."""
    recording, completed = CallRecording(universe), False
    PUBLIC_CALLS.subscribe(recording)
    try:
        yield
        completed = True
    finally:
        PUBLIC_CALLS.unsubscribe(recording)
        universe.recorder.recording = recording.texts(completed)  # type: ignore[union-attr]  # only traced runs are recorded
