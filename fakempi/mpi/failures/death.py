"""Death: a process stops where it is, and does nothing more. After a while all others know, at the same moment.

Until then they wait for it as for anybody. Then whatever they have under way with it ends with ERR_PROC_FAILED, and so does
what they begin with it later; so do collective calls of any communicator that it is in, for all who are in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from numbers import Real
from typing import Any, NoReturn

from fakempi.error_classes import ERR_ARG, ERR_PROC_FAILED
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.failures.parking import park
from fakempi.mpi.failures.trouble import Trouble

DETECTION = 1e-3
"""Modelled seconds from a process's death until the others know, unless `run` is told otherwise."""


def die() -> NoReturn:
    """The running rank dies: nothing more of it happens, and the others learn of it after a while.

    Examples
    --------
    >>> import fakempi
    >>> def main(comm):
    ...     try:
    ...         return comm.recv(source=0) if comm.rank else fakempi.die()
    ...     except fakempi.MPI.Exception as error:
    ...         return error.Get_error_class() == fakempi.MPI.ERR_PROC_FAILED
    >>> fakempi.run(main, 2).returns
    [None, True]
    """
    process = running_process()
    bury(process)
    process.loop.wait()
    raise AssertionError("a rank that has died goes on")


def schedule(universe: Universe, kill: Any) -> None:
    """Have ranks die at given times: {rank: seconds}."""
    if not isinstance(kill, Mapping):
        raise MPITypeError(ERR_ARG, f"run: kill must be a mapping from ranks to times, not {kill!r}.")
    for rank, at in kill.items():
        if not _is_time(at):
            raise MPITypeError(ERR_ARG, f"run: rank {rank} is to be killed at {at!r}, which is no time.")
        if rank not in range(universe.started):
            raise MPIValueError(ERR_ARG, f"run: rank {rank!r} is to be killed, but ranks are 0 to {universe.started - 1}.")
        if not float(at) >= 0:
            raise MPIValueError(ERR_ARG, f"run: rank {rank} is to be killed at {at!r}, before the run begins.")
        universe.loop.book(at, partial(bury, universe.processes[rank]))


def _is_time(thing: Any) -> bool:
    return isinstance(thing, Real) and not isinstance(thing, bool)


def bury(process: Process) -> None:
    """A process dies now."""
    universe, loop = process.universe, process.loop
    if process.number in universe.dead or process.task.number not in loop.tasks:
        return  # it has died, or ended, before
    loop.book(loop.now + universe.detection, partial(_declare, universe, process.number))  # before anything shows of it
    universe.dead[process.number] = process, loop.now
    universe.leaves_open("when others learn of a death")
    for task in [task for task in loop.tasks.values() if task.owner is process]:
        park(universe, task)


def _declare(universe: Universe, number: int) -> None:
    """All know that a process has died."""
    _watch_the_wire(universe)
    universe.excuse(number)
    contexts = {id(side.context): side.context for side in universe.sides if side.original is None}
    for context in sorted(contexts.values(), key=lambda one: one.number):
        if any(number in side.members for side in context.sides):
            trouble = Trouble.of(context)
            trouble.failed.append(number)
            trouble.end_what_cannot_be()
            for accord in list(trouble.accords.values()):
                accord.look()
    for key, meeting in list(universe.meetings.items()):
        if number in list(meeting.awaits):
            end_meeting_of_groups(universe, key, meeting, number)
    for window in list(universe.windows):
        window.bereave(number)


def known_dead(universe: Universe) -> list[int]:
    """The processes of which all know that they have died."""
    return [number for number, (_, at) in universe.dead.items() if at + universe.detection <= universe.loop.now]


def check_groups(universe: Universe, *groups: Any) -> None:
    """Complain if somebody is in these groups who is known to have died."""
    dead = [number for number in known_dead(universe) if any(number in group for group in groups)]
    if dead:
        universe.resilient = True
        words = f"{universe.names.words(dead, 6)} {'has' if len(dead) == 1 else 'have'} died."
        raise complaint(ERR_PROC_FAILED, words)


def end_meeting_of_groups(universe: Universe, key: Any, meeting: Any, number: int) -> None:
    """Those who have come to a meeting of groups, which have no communicator, are told that somebody will not come."""
    del universe.meetings[key]
    universe.resilient = True
    members = list(meeting.awaits)
    for place, arrival in zip(meeting.values, meeting.came, strict=False):
        names = universe.names
        words = f"{meeting.plan} on {names.name(members[place])}: {names.name(number)} has died."
        arrival.error = MPIError(ERR_PROC_FAILED, words)
        arrival.complete(universe.loop.now)


def _watch_the_wire(universe: Universe) -> None:
    """From now on look at every message whether it can be sent, or received. Before the first death nobody pays for it."""
    wire = universe.wire
    if universe.watches_the_dead:
        return
    universe.watches_the_dead = True
    if universe.paper is not None:
        universe.paper.close_for_good()
    send, expect = wire.send, wire.expect

    def checked_send(envelope: Any) -> None:
        side = envelope.box.name
        if side.context.trouble is not None:
            side.context.trouble.check(envelope.out.number, envelope.box.owner, side.original is not None)
        send(envelope)

    def checked_expect(pattern: Any) -> None:
        side = pattern.box.name
        if side.context.trouble is not None:
            _check_receive(side, pattern)
        expect(pattern)

    wire.send, wire.expect = checked_send, checked_expect  # type: ignore[method-assign]


def _check_receive(side: Any, pattern: Any) -> None:
    """Complain of a receive that nothing can come for; what has come before can still be received."""
    if any(pattern.fits(envelope) and envelope.eager for envelope in pattern.box.envelopes()) and side.original is None:
        side.context.trouble.check(pattern.box.owner, -1)
        return
    sides = side.context.sides
    others = sides[-1 - sides.index(side)].members
    peer = others[pattern.source] if pattern.source >= 0 else None
    side.context.trouble.check(pattern.box.owner, peer, side.original is not None)


watch_the_wire = _watch_the_wire
