"""Fused calls of a run: ranks wait until all have called, or each rank's steps are executed by a `RankSimulator`.

If nothing else is in progress when the first rank calls, the ranks wait until all have called: one call on a communicator
of all ranks, or calls on several communicators, of which each rank makes one. The last one computes the times at which all
ranks leave their calls, in arrays (`array_clocks`), and books their tasks for these times. If something happens in the
meantime that messages of the waiting ranks could affect, the agenda is reset to the moment of the first call, before any
rank had sent a message (`undoing`). The same happens if the arrays do not determine the outcome, or if a rank never calls.
In these cases, and for all other calls, a `RankSimulator` executes the steps of each rank on the network. A call without a
schedule, or whose result would not be exact, is emulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from math import inf
from operator import attrgetter, gt
from typing import Any

import numpy as np

from fakempi.core.hooks import Layer
from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.network.express import Express
from fakempi.errors.classes import ERR_OTHER
from fakempi.extensions.fused.array_clocks import Costs, Outcome, TimedRounds, Undetermined
from fakempi.extensions.fused.object_values import ObjectResults, ObjectSchedule
from fakempi.extensions.fused.pending_call import FusedCall, ObjectCall
from fakempi.extensions.fused.programs import FusedProgram
from fakempi.extensions.fused.reductions import Reduction, Unsupported
from fakempi.extensions.fused.results import Results
from fakempi.extensions.fused.step_simulator import RankSimulator, SimulatorBetweenGroups
from fakempi.extensions.fused.undoing import Snapshot, Watch
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.process import Universe
from fakempi.mpi.collective.fused_case import REDUCING, CallCounts, FusedCase, why_not_combined
from fakempi.mpi.failures.state import FailureState

FEWEST = 4  # ranks of the smallest fused call; on fewer ranks emulation takes less CPU time
NEUTRAL = (Layer.FUSED, Layer.ISOLATION, Layer.RANK_STATE, Layer.UNSAFE_SENDS)
"""Layers whose subscribers may be present while ranks wait: they change nothing on which a message depends."""


FREE_AT, SINCE = attrgetter("free_at"), attrgetter("since")

OBJECTS_APART = "it combines objects, and its ranks do not wait for each other"
"""Why a reduction of objects is emulated whose outcome is not computed for all ranks at once."""

TOO_LONG = "its schedule is too long"


class FusedService:
    """The fused calls of a run."""

    def __init__(self, universe: Any, always: bool, emulate: Callable[..., list[Any]]) -> None:
        self.emulate = emulate  # runs a function on each of p ranks, without cost; returns its results
        self.universe, self.loop, self.network, self.always = universe, universe.loop, universe.network, always
        self.pending: list[FusedCall] = []  # calls whose ranks wait until all have called, in the order of the first ones
        self.snapshot: Snapshot | None = None  # of the moment before the first of them
        self.outcomes: dict[tuple[FusedProgram, Time], Outcome] = {}  # of pending calls whose ranks have called at one time
        self.first_end = self.last_start = inf  # among pending calls that all their ranks have made: of a rank, a message
        self.ranks = self.ranks_ready = 0  # of pending calls, and of those that all their ranks have made
        self.why_never: str | None = None  # why no call of this run is fused; None before the first call
        self.waits = False  # whether ranks may wait until all have called
        self.programs: dict[Any, FusedProgram] = {}
        self.watch = Watch(self)
        self.neutral = (), (self.watch,)  # subscribers of the loop that do not change `wait`
        self.subscribers: Any = None  # the present ones, while ranks wait for a call and if they do not
        self.calls = CallCounts()

    def program(self, case: FusedCase) -> FusedProgram:
        """Return the program of a call."""
        found = self.programs.get(case.key)
        if found is None:
            if len(self.programs) >= 64:
                self.programs.clear()
            found = self.programs[case.key] = FusedProgram(case, len(self.universe.processes))
        return found

    def count_emulated(self, entry: Any, why: str) -> None:
        """Count a call that is emulated, for its first rank; raise an error if all calls have to be fused."""
        if entry is not None and entry.fused is None:
            entry.fused = why
            self.calls.add(entry.call.lower(), why)
        if self.always:
            raise mpi_error(ERR_OTHER, f"all collective calls must be fused (fused='always'), but {why}.")

    def enter(
        self, comm: Any, comms: Any, entry: Any, program: FusedProgram, op: Any, tag: int, arrays: tuple[Any, ...]
    ) -> bool:
        """Make a call on a communicator; returns False if its messages have to be sent.

        `comms` are the communicators of collective contexts; None if the rank has not needed them yet.
        """
        call = entry.fused
        if call.__class__ is not FusedCall:
            call = self._first_or_emulated(comm, entry, program, op, arrays)
            if call is None:
                return False
        rank, results, simulator = comm._rank, call.results, RankSimulator
        if call.entry is not None and call.enter(rank, call.as_elements(arrays)):
            return True
        case = program.case
        objects_apart = case.objects and results.missing  # the sizes of messages are not known
        if objects_apart or program.has_too_many_steps:
            self._emulate(call, entry, OBJECTS_APART if objects_apart else TOO_LONG)
            return False
        if call.is_special:
            if case.q:
                simulator = SimulatorBetweenGroups
                rank += case.p if comm._side is not comm._context.sides[case.leads] else 0
            if not case.objects:
                self._prepare(call, rank, op, arrays)
        elif arrays and results.arrays[rank] is None:  # otherwise the rank has waited, and the call was undone
            results.store(rank, arrays)
        simulator(comms or comm._collective_comms(), tag, call, rank).execute()
        if arrays:
            results.write(rank)
        return True

    def _first_or_emulated(
        self, comm: Any, entry: Any, program: FusedProgram, op: Any, arrays: tuple[Any, ...]
    ) -> FusedCall | None:
        """Return the call, a new one for its first rank; None if it is emulated."""
        if entry.fused is None and self.pending and program.p > 1 and not self._may_wait(program, comm):
            self.undo_pending()  # ranks that wait for other calls may make this call, too
        if entry.fused is None:
            entry.fused = self._new_call(comm, entry, program, op, arrays)
        if entry.fused.__class__ is not str:
            return entry.fused  # type: ignore[no-any-return]  # entries have no type here
        self.count_emulated(entry, entry.fused)
        return None

    def _prepare(self, call: FusedCall, rank: int, op: Any, arrays: tuple[Any, ...]) -> None:
        """Store the data of a rank that has block sizes, or is in one of two groups."""
        if arrays:
            call.results.store(rank, arrays)
        case = call.program.case
        if call.sizes is not None and (case.sized or case.sizes_b) and (full := call.sizes.learn(rank, arrays)):
            call.program = self.program(full)
            call.results.use_program(call.program)
            self._why_not(call.program, op, arrays)  # determines the order of combining

    def _emulate(self, call: FusedCall, entry: Any, why: str) -> None:
        """Emulate a call that has been counted as fused; the first rank gives the reason."""
        if entry.fused is call:
            entry.fused = why
            self.calls.change(call.program.case.operation, why)
        if call.waits:
            self.undo_pending()
        self.count_emulated(entry, entry.fused)

    def undo_pending(self, *, undetermined: bool = False) -> bool:
        """If ranks wait, reset the agenda to the first call; the running rank's turn is repeated.

        This is counted if the outcome was undetermined, and for calls of some ranks, because the others may never call.
        """
        if not self.pending or self.loop.ending or self.universe.verdict is not None:
            return False
        running, snapshot, calls = self.loop.running, self.snapshot, self._close()
        for program in {call.program for call in calls}:
            if program.case.objects and undetermined:
                continue  # ranks that have waited execute steps
            if undetermined or program.p < len(self.universe.processes):
                program.count_undone()
        for call in calls:
            call.undo()
        assert snapshot is not None
        snapshot.restore()
        if running is not None:
            self._wait()
        return True

    def _new_call(self, comm: Any, entry: Any, program: FusedProgram, op: Any, arrays: tuple[Any, ...]) -> FusedCall | str:
        """Return a new call, for its first rank, or why it is emulated."""
        why, waits = self._why_not(program, op, arrays), False
        if not why:
            waits = self._may_wait(program, comm) and (bool(self.pending) or self._starts_waiting(program))
            if not waits and (program.case.objects or program.has_too_many_steps):
                why = OBJECTS_APART if program.case.objects else TOO_LONG
        self.calls.add(program.case.operation, why)
        if why:
            return why
        results = ObjectResults(program) if program.case.objects else Results(program, op, self.emulate)
        call = (ObjectCall if program.case.objects else FusedCall)(self, comm._side, program, results, waits)
        if waits:
            self.pending.append(call)
            self.ranks += program.p
            call.entry = entry
            if entry.recipe is not None and not program.has_too_many_steps:
                entry.waiting, call.moves = call, entry.recipe.moves
            if arrays and not program.case.objects:
                results.store(comm._rank, arrays)
        return call

    def _why_not(self, program: FusedProgram, op: Any, arrays: tuple[Any, ...]) -> str:
        """Return why a call is emulated; empty if it is not."""
        if self.why_never is None:
            self.why_never = self._why_never()
        if program.why_not or self.why_never:
            return program.why_not or self.why_never
        if not self.always and program.p < FEWEST:
            return f"it has fewer than {FEWEST} ranks"
        state = self.universe.state(FailureState)
        if state.dead or state.checks_peers:
            return "ranks have died, or a communicator was revoked"
        if program.case.objects:
            return self._why_not_objects(program, arrays)
        if op is not None and program.case.operation in REDUCING:
            operand = arrays[1] if arrays[0] is None else arrays[0]
            if type(operand) is not np.ndarray:  # a phantom
                if not self.universe.cost.compute_per_byte:
                    return ""
            elif why := why_not_combined(op, operand.dtype):
                return why
            if program.has_too_many_steps:
                return TOO_LONG
            try:
                if program.transfers_data and program.reduction is None:
                    case = program.case
                    groups = case.groups if case.root is None or not case.q else case.groups[1:]
                    program.reduction = Reduction(program, case.operation, case.itemsize, operand.size, groups)
            except Unsupported as error:
                program.why_not = str(error)
                return program.why_not
        return ""

    def _why_not_objects(self, program: FusedProgram, arrays: tuple[Any, ...]) -> str:
        """Return why a reduction of objects is emulated, as far as its first rank shows; empty if it is not."""
        if program.reduction is None:
            try:
                program.reduction = ObjectSchedule(program)
            except ValueError as error:
                program.why_not = str(error)
                return program.why_not
        return ObjectResults(program).store(0, arrays)

    def _why_never(self) -> str:
        """Return why no call of this run is fused; empty if calls can be."""
        universe, cost = self.universe, self.universe.cost
        linear = type(self.network) is Express and all(type(one) is float for one in cost.linear) and cost.linear[0] > 0
        floats = type(cost.compute_per_byte) in (int, float)
        self.waits = linear and floats and self.loop.shuffle is None and universe.recorder is None
        never = {
            "buffers in use are checked": universe.buffer_checks is not None,
            "the run follows a schedule": universe.choices is not None,
            "CPU time is measured": bool(universe.cpu_scale),
        }
        return next((why for why, holds in never.items() if holds), "")

    def _may_wait(self, program: FusedProgram, comm: Any) -> bool:
        """Return whether ranks may wait until all have made this call, and those that are pending."""
        loop, snapshot = self.loop, self.snapshot
        if not self.waits or not program.in_arrays or not (program.synchronizing or loop.wait_tracker is None):
            return False
        if loop.running is not comm._process.task or program.case.q:
            return False  # the call is nonblocking, or between two groups
        if snapshot is None:
            return len(self.universe.processes) == len(loop.tasks)
        if self.ranks + program.p > len(loop.tasks):
            return False  # some ranks would have to make two of the calls
        return program.synchronizing or not (loop.now > snapshot.now or snapshot.due_later)

    def _starts_waiting(self, program: FusedProgram) -> bool:
        """Store a snapshot of the agenda, and return True, if nothing else is in progress."""
        loop, found = self.loop, Snapshot(self.loop)
        if any(each.layer not in NEUTRAL for each in (*loop.subscribers, *self.network.subscribers)):
            return False
        if not found.has_all_other_tasks() or (found.due_later and not program.synchronizing):
            return False
        self.snapshot, self.first_end, self.last_start = found, inf, -inf
        loop.subscribe(self.watch)
        self.network.subscribe(self.watch)
        self.subscribers = loop.subscribers if loop.subscribers in self.neutral else None
        return True

    def _close(self) -> list[FusedCall]:
        """End the pending calls, and return them: no rank waits for them any longer."""
        calls, self.pending, self.snapshot, self.outcomes, self.ranks, self.ranks_ready = self.pending, [], None, {}, 0, 0
        for call in calls:
            call.close()
        self.loop.unsubscribe(self.watch)
        self.network.unsubscribe(self.watch)
        return calls

    def _wait(self) -> None:
        """Stop the running task, below the subscriptions of this module."""
        if self.loop.subscribers in self.neutral:
            Loop.wait(self.loop)
        else:
            self.loop.below_layer(Layer.FUSED, "wait")()

    def _all_called(self, call: FusedCall) -> None:
        """All its ranks have made the call: compute its outcome, and book the ends if no rank has a call to make."""
        loop = self.loop
        try:
            call.outcome = self._outcome(call)
            self.first_end = min(self.first_end, call.outcome.first_end())
            self.last_start = max(self.last_start, call.outcome.last_start)
            if max(self.last_start, loop.now, *loop.times) >= self.first_end:
                raise Undetermined("a rank leaves before all messages have started, or before another rank calls")
        except Undetermined:
            self.undo_pending(undetermined=True)
            return
        self.ranks_ready += call.p
        if self.ranks_ready == len(loop.tasks):
            self._book_ends(self._close())
        self._wait()

    def _book_ends(self, calls: list[FusedCall]) -> None:
        """Book the ranks of the calls for the times at which they leave them."""
        loop, bookings = self.loop, dict[tuple[Time, Time], list[Any]]()
        for call in calls:
            call.complete, call.program.undetermined = True, 0
            for times, tasks in self._use_ports(call).items():
                bookings.setdefault(times, []).extend(tasks)
            call.results.compute()
            if loop.wait_tracker is not None:
                loop.wait_tracker.synchronized(call.tasks)
        # The agenda relies on entries of one time that were booked later having been added later.
        for (at, end), tasks in sorted(bookings.items(), key=lambda each: each[0][0]):
            loop.run_at(end, tasks[0])
            loop.items_at[end] += tasks[1:]
            for task in tasks:
                task.booked = at

    def _use_ports(self, call: FusedCall) -> dict[tuple[Time, Time], list[Any]]:
        """Set the ports of the ranks as the call leaves them; return tasks by when their end was known, and their end."""
        assert call.outcome is not None
        ends, booked, out_free, into_free, (ranks, counts, sizes), received, _ = call.outcome
        outs, intos = self._ports(call.side)
        for out, free_at, count, nbytes in zip(_of(outs, ranks), _at(out_free, ranks), counts, sizes, strict=False):
            out.free_at = free_at
            out.sent += count
            out.bytes_sent += nbytes
        ranks, counts, sizes = received
        for into, free_at, count, nbytes in zip(_of(intos, ranks), _at(into_free, ranks), counts, sizes, strict=False):
            into.free_at = free_at
            into.received += count
            into.bytes_received += nbytes
        if not isinstance(ends, np.ndarray) or not isinstance(booked, np.ndarray):  # all ranks do the same
            return {(float(booked), float(ends)): call.tasks}
        found: dict[tuple[Time, Time], list[Any]] = {}
        for times, task in zip(zip(booked.tolist(), ends.tolist(), strict=True), call.tasks, strict=True):
            found.setdefault(times, []).append(task)
        return found

    def _ports(self, side: Any) -> tuple[list[Any], list[Any]]:
        """Return the output and the input ports of the ranks of a communicator."""
        if side.ports is None:
            out, into = self.network.out, self.network.into
            side.ports = [out[number] for number in side.members], [into[number] for number in side.members]
        return side.ports  # type: ignore[no-any-return]  # a side has no type here

    def _outcome(self, call: FusedCall) -> Outcome:
        """Return the times of the ranks. No message waits for a port: the agenda had only tasks at the first call."""
        program, now, (outs, intos) = call.program, self.loop.now, self._ports(call.side)
        called_at_once = call.began == now
        starts = [now] if called_at_once else list(map(SINCE, call.tasks))
        if not set(map(type, starts)) <= {int, float}:
            raise Undetermined("clocks are no floats")
        if max(map(FREE_AT, outs)) > now if called_at_once else any(map(gt, map(FREE_AT, outs), starts)):
            raise Undetermined("a rank calls while it sends")
        if not called_at_once or max(map(FREE_AT, intos)) > now:
            return self._rounds(call).outcome(starts * (program.p // len(starts)), list(map(FREE_AT, intos)))
        outcome = self.outcomes.get((program, now))
        if outcome is None:
            outcome = self._rounds(call).outcome_in_step(float(now))
            if not program.case.objects:  # the sizes of whose messages depend on the objects
                self.outcomes[program, now] = outcome
        return outcome

    def _rounds(self, call: FusedCall) -> TimedRounds:
        """Return the rounds of a call with their costs, stored unless there are too many, or they depend on objects."""
        program: FusedProgram = call.program
        if program.timed is not None:
            return program.timed  # type: ignore[no-any-return]  # has no type in `FusedProgram`
        cost, stored = self.universe.cost, program.has_rounds_stored and not program.case.objects
        rate = 0 if program.case.objects else cost.compute_per_byte
        costs = Costs._make((*cost.linear, rate, self.universe.processes[0].eager_limit))
        rounds = TimedRounds(program.p, call.results.rounds(), costs, stored=stored)
        if stored:
            program.timed = rounds
        return rounds


def _of(values: list[Any], ranks: Sequence[int]) -> Iterable[Any]:
    """Return the values of some ranks, from the values of all."""
    return values if len(ranks) == len(values) else map(values.__getitem__, ranks)


def _at(times: Any, ranks: Sequence[int]) -> Iterable[Any]:
    """Return the times of some ranks; a single time applies to all."""
    return _of(times.tolist(), ranks) if isinstance(times, np.ndarray) else repeat(times)


def register(universe: Universe, emulate: Callable[..., list[Any]]) -> None:
    """Simulate collective calls of a run; `emulate` runs a function on each of p ranks, without cost."""
    universe.fused = FusedService(universe, universe.options.fused == "always", emulate)
