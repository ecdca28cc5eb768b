"""Process failures: a process stops at any point. After the detection delay all other processes are informed.

Until then, operations with the failed process wait. Afterwards, pending and later operations with it end with
ERR_PROC_FAILED. Receives from ANY_SOURCE on its communicators end with ERR_PROC_FAILED_PENDING until the failure is
acknowledged. Collective calls on its communicators end with ERR_PROC_FAILED, on all ranks. The network checks messages
(`PeerChecks`) only after the first failure or revocation. Windows subscribe with `FailureState.on_failure`: a fence, a lock
grant or an exposure epoch that waits for the failed process ends with an error, and the window memory of the failed process
no longer changes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from numbers import Real
from typing import NoReturn

from fakempi.core.hooks import Layer, OnPostReceive, OnSend
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_PROC_FAILED
from fakempi.mpi.base.context import Contexts, Side
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.base.rendezvous import GroupRendezvous, Rendezvous
from fakempi.mpi.failures.fault_state import FaultState
from fakempi.mpi.failures.parking import park
from fakempi.mpi.failures.state import FailureState


def die() -> NoReturn:
    """Kill the running rank: it does nothing more, and the others are informed after the detection delay.

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
    kill_process(process)
    process.loop.wait()
    raise AssertionError("a dead rank continues")


def schedule_kills(universe: Universe, forget_process: Callable[[int], None]) -> None:
    """Kill ranks at the times in the options of a run.

    `forget_process` is called for each failed process when the other processes are informed, after the detection delay.
    """
    universe.state(FailureState).forget_process = forget_process
    kill: object = universe.options.kill
    if kill is None:
        return
    if not isinstance(kill, Mapping):
        raise MPITypeError(ERR_ARG, f"run: kill must be a mapping from ranks to times, not {kill!r}.")
    for rank, at in kill.items():
        if not _is_time(at):
            raise MPITypeError(ERR_ARG, f"run: kill[{rank!r}] is {at!r}, not a time in seconds.")
        if rank not in range(universe.started):
            raise MPIValueError(ERR_ARG, f"run: kill names rank {rank!r}, but ranks are 0 to {universe.started - 1}.")
        if not float(at) >= 0:
            raise MPIValueError(ERR_ARG, f"run: kill[{rank}] is {at!r}, before the run begins.")
        universe.loop.call_at(at, partial(kill_process, universe.processes[rank]))


def _is_time(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def kill_process(process: Process) -> None:
    """Kill a process now."""
    universe, loop = process.universe, process.loop
    state = universe.state(FailureState)
    if process.number in state.dead or process.task.number not in loop.tasks:
        return  # it has already died or ended
    loop.call_at(loop.now + state.detection_delay, partial(_announce_failure, universe, process.number))
    state.dead[process.number] = process, loop.now
    universe.note_unexplored("when other ranks learn of a failure")
    for task in [task for task in loop.tasks.values() if task.owner is process]:
        park(universe, task)


def _announce_failure(universe: Universe, number: int) -> None:
    """Record a failure in all communicators of the process, and end the operations that it makes impossible."""
    check_peers(universe)
    state = universe.state(FailureState)
    state.forget_process(number)
    contexts = {id(side.context): side.context for side in universe.state(Contexts).sides if side.original is None}
    for context in sorted(contexts.values(), key=lambda item: item.number):
        if any(number in side.members for side in context.sides):
            fault_state = FaultState.of(context)
            fault_state.failed.append(number)
            fault_state.fail_pending_operations()
            for agreement in list(fault_state.agreements.values()):
                agreement.check()
    for key, rendezvous in list(universe.state(GroupRendezvous).table.items()):
        if number in list(rendezvous.expected):
            fail_group_rendezvous(universe, key, rendezvous, number)
    for notify in state.on_failure:
        notify(number)


def known_failed(universe: Universe) -> list[int]:
    """Return the processes that are known to have died."""
    state, now = universe.state(FailureState), universe.loop.now
    return [number for number, (_, at) in state.dead.items() if at + state.detection_delay <= now]


def check_groups(universe: Universe, *groups: Members | tuple[int, ...]) -> None:
    """Raise an error if a process in these groups is known to have died."""
    dead = [number for number in known_failed(universe) if any(number in group for group in groups)]
    if dead:
        universe.state(FailureState).handled = True
        sentence = f"{universe.names.text(dead, 6)} {'has' if len(dead) == 1 else 'have'} died."
        raise mpi_error(ERR_PROC_FAILED, sentence)


def fail_group_rendezvous(universe: Universe, key: Hashable, rendezvous: Rendezvous, number: int) -> None:
    """End a rendezvous of a group without a communicator: the call fails on the processes that have arrived."""
    del universe.state(GroupRendezvous).table[key]
    universe.state(FailureState).handled = True
    members = list(rendezvous.expected)
    for slot, arrival in zip(rendezvous.values, rendezvous.arrivals, strict=False):
        names = universe.names
        sentence = f"{rendezvous.call} on {names.name(members[slot])}: {names.name(number)} has died."
        arrival.error = MPIError(ERR_PROC_FAILED, sentence)
        arrival.complete(universe.loop.now)


def check_peers(universe: Universe) -> None:
    """Check every message from now on. Called at the first failure or revocation, so other runs are not slower."""
    state = universe.state(FailureState)
    if state.checks_peers:
        return
    state.checks_peers = True
    if universe.fused is not None:
        universe.fused.undo_pending()
    universe.network.subscribe(PeerChecks())


class PeerChecks(OnSend[Envelope], OnPostReceive[PostedReceive]):
    """Rejects messages that involve dead processes or revoked communicators."""

    layer = Layer.FAILURES

    def send(self, proceed: Callable[[Envelope], None], envelope: Envelope) -> None:
        """Check a send."""
        side = envelope.box.name
        if side.context.fault_state is not None:
            side.context.fault_state.check(envelope.out.number, envelope.box.owner, side.original is not None)
        proceed(envelope)

    def post_receive(self, proceed: Callable[[PostedReceive], None], receive: PostedReceive) -> None:
        """Check a receive."""
        side = receive.box.name
        if side.context.fault_state is not None:
            _check_receive(side, receive)
        proceed(receive)


def _check_receive(side: Side, receive: PostedReceive) -> None:
    """Raise an error for a receive that no message can match; messages sent before the failure can still be received."""
    if any(receive.matches(envelope) and envelope.eager for envelope in receive.box.envelopes()) and side.original is None:
        side.context.fault_state.check(receive.box.owner, -1)
        return
    peer = side.peer.members[receive.source] if receive.source >= 0 else None
    side.context.fault_state.check(receive.box.owner, peer, side.original is not None)
