"""Epochs: periods in which a rank may access another rank's memory. At the end of an epoch, its operations are complete.

MPI has three kinds of epochs: of all ranks (`Fence`), of selected ranks (`Start` and `Complete` at the origin, `Post` and
`Wait` at the target), and without the target's participation (`Lock` and `Unlock`). Start and Lock do not wait for the
target: the operations and the end of the epoch do. Only a Lock of the rank's own memory waits for the lock, because the
program may continue with loads and stores.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, SupportsIndex

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_ASSERT, ERR_LOCKTYPE
from fakempi.mpi.base.call_site import frame_at, place_of_call
from fakempi.mpi.base.constants import (
    LOCK_EXCLUSIVE,
    LOCK_SHARED,
    MODE_NOCHECK,
    MODE_NOPRECEDE,
    MODE_NOPUT,
    MODE_NOSTORE,
    MODE_NOSUCCEED,
    PROC_NULL,
)  # fmt: skip
from fakempi.mpi.base.mpi_errors import integer, mpi_error, range_error
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.waiting import wait_one
from fakempi.mpi.comms.group import Group, members_of
from fakempi.mpi.windows.handle import WinState
from fakempi.mpi.windows.lock_grants import (
    AccessGrant,
    Exposure,
    LockAllEpoch,
    LockGrant,
    StartEpoch,
    error_from,
    release_locks,
    send_complete,
)
from fakempi.mpi.windows.races import place_text, source_line
from fakempi.mpi.windows.window import WindowPart

LOAD_STORE_ORDER = "the order of loads and stores in memory that ranks share"
"""Noted as unexplored for shared windows and for calls of Sync, because loads and stores cannot be detected."""

_ASSERTIONS = MODE_NOCHECK | MODE_NOSTORE | MODE_NOPUT | MODE_NOPRECEDE | MODE_NOSUCCEED


class Epochs(WinState):
    """Fence; Start, Complete, Post, Wait and Test; Lock, Unlock and the flushes."""

    __slots__ = ()

    # -- all ranks ----------------------------------------------------------------------------------------------------

    def Fence(self, assertion: int = 0) -> None:
        """Wait until all ranks have called Fence, and operations from and to this rank since the last one are complete."""
        part, place = self._alive(), source_line(frame_at(1))
        modes = 0 if type(assertion) is int and not assertion else _modes(assertion)
        if part.locks or part.lock_all is not None or part.started is not None or part.exposure is not None:
            self._open_epoch(part, "a fence")
        if part.enclosed_epoch:
            self._report_enclosed_epoch(part, modes)
        if part.stores is not None:
            part.stores.check_past()
            part.stores.end("Fence", place)
        try:
            self._synchronize(part, "Fence")
        except MPIError as error:
            part.fence_place, part.fence_has_operations = None, False
            self._raise(error)
        finally:
            if part.uses:
                part.end_uses()
        if part.accesses is not None:
            part.accesses.close(part.fence_count & 1)
        part.fence_count += 1
        part.fence_has_operations = False
        part.fence_place = place
        if modes & MODE_NOSUCCEED:
            part.record_epoch_end(None, f"the Fence at {place_text(part.fence_place)} had MODE_NOSUCCEED")
            part.fence_place = None
        if part.stores is not None:
            part.stores.leave() if part.fence_place is None else part.stores.begin("Fence", part.fence_place)

    @staticmethod
    def _report_enclosed_epoch(part: WindowPart, modes: int) -> None:
        """Report operations of a Lock or a Start between two fences, which are then also in the epoch of the fences.

        MPI requires the epochs of a rank to be disjoint. MPICH accepts overlapping epochs, so this is only a finding.
        """
        if not modes & MODE_NOPRECEDE:
            sentence = (
                f"this fence and the one at {place_text(part.fence_place)} enclose the operations of {part.enclosed_epoch}, "
                "so two epochs overlap: pass MODE_NOSUCCEED to the first fence, or MODE_NOPRECEDE to this one."
            )
            part.process.universe.report("epoch", part.process.number, sentence, call="Fence", place=place_of_call())
        part.enclosed_epoch = ""

    @staticmethod
    def _synchronize(part: WindowPart, call: str) -> None:
        """Make a collective call on the window; record the call as a region of the trace."""
        recorder = part.recorder
        if recorder is None:
            return part.synchronize(call)
        context = part.window.context.number  # type: ignore[union-attr]  # the window is not freed
        entered = recorder.enter(
            part.process.number, call.lower(), call=recorder.call(), context=context, number=part.calls + 1
        )  # fmt: skip
        try:
            part.synchronize(call)
        finally:
            recorder.leave(*entered)

    # -- selected ranks -----------------------------------------------------------------------------------------------

    def Start(self, group: Group, assertion: int = 0) -> None:
        """Begin an access epoch to the ranks of a group; operations wait for the target's Post."""
        part = self._alive()
        _modes(assertion)
        if part.locks or part.lock_all is not None or part.started is not None or part.fence_has_operations:
            self._open_epoch(part, "a Start")
        part.started = StartEpoch(part, self._ranks(part, group))
        part.process.universe.note_unexplored("whether Start waits for Post")

    def Complete(self) -> None:
        """End the epoch of Start: wait until the buffers may be reused, then notify the targets."""
        part = self._alive()
        started = part.started
        if started is None:
            self._misuse(part, f"Complete without Start{_last_epoch(part, None)}.")
        errors = [error for grant in started.grants.values() if (error := error_from(grant.wait_local)) is not None]
        for grant in started.grants.values():
            grant.period.close()
        part.end_uses()
        if part.process.buffer_checks is not None:
            part.process.buffer_checks.influences += 1
        send_complete(part, started)
        part.started = None
        part.record_epoch_end(None, f"that of Start at {started.place} ended with Complete at {place_of_call()}")
        if errors:
            self._raise(errors[0])

    def Post(self, group: Group, assertion: int = 0) -> None:
        """Begin an exposure epoch: let the ranks of a group access this rank's memory."""
        part = self._alive()
        _modes(assertion)
        if part.exposure is not None:
            sentence = f"the exposure epoch of Post at {part.exposure.place} is still open: call Wait first."
            self._misuse(part, sentence)
        origins = self._ranks(part, group)
        if part.stores is not None:
            part.stores.begin("Post", source_line(frame_at(1)))
        if part.process.buffer_checks is not None:
            part.process.buffer_checks.influences += 1
        part.exposure = Exposure(part, origins)

    def Wait(self) -> Literal[True]:
        """End the exposure epoch: wait until all origins of Post have called Complete."""
        part = self._alive()
        exposure = self._exposure(part)
        if part.stores is not None:
            part.stores.end("Wait", source_line(frame_at(1)))
        with wait_region(part.process, "Win.Wait"):
            wait_one(part.loop, exposure.waits)
        self._close(part, exposure)
        return True

    def Test(self) -> bool:
        """Return whether all origins of Post have called Complete; if so, the exposure epoch ends as by Wait."""
        part = self._alive()
        exposure = self._exposure(part)
        choices = part.process.universe.choices
        if choices is not None:
            if not choices.all_complete(lambda: (exposure.waits,)):
                return False
        elif exposure.waits.end is None:
            part.loop.poll()
        if exposure.waits.end is None:
            return False
        if part.stores is not None:
            part.stores.end("Test", source_line(frame_at(1)))
        self._close(part, exposure)
        return True

    def _close(self, part: WindowPart, exposure: Exposure) -> None:
        part.exposure = None
        if part.stores is not None:
            part.stores.leave()
        if exposure.lost is not None:
            self._check_living(part, exposure.lost)

    def _exposure(self, part: WindowPart) -> Exposure:
        exposure: Exposure | None = part.exposure
        if exposure is None:
            self._misuse(part, "Wait or Test without Post: this rank has no exposure epoch.")
        return exposure

    def _ranks(self, part: WindowPart, group: Group) -> list[int]:
        """Return the ranks in the window of a group's members."""
        members = part.window.members  # type: ignore[union-attr]  # the window is not freed
        ranks = []
        for number in members_of(group):
            rank = members.index(number)
            if rank is None:
                name = part.process.universe.names.name(number)
                self._misuse(part, f"{name} is in the group but not in the window's group.")
            self._check_living(part, part.window.parts[rank])  # type: ignore[union-attr]  # the window is not freed
            ranks.append(rank)
        return ranks

    # -- without the target's participation ---------------------------------------------------------------------------

    def Lock(self, rank: int, lock_type: int = LOCK_EXCLUSIVE, assertion: int = 0) -> None:
        """Begin an access epoch to one rank; with LOCK_SHARED, other ranks may hold the lock at the same time."""
        part = self._alive()
        modes, lock_type = _modes(assertion), integer("lock_type", lock_type)
        if lock_type not in (LOCK_EXCLUSIVE, LOCK_SHARED):
            sentence = f"lock type {lock_type}: expecting LOCK_EXCLUSIVE ({LOCK_EXCLUSIVE}) or LOCK_SHARED ({LOCK_SHARED})."
            self._raise(mpi_error(ERR_LOCKTYPE, sentence))
        if rank == PROC_NULL:
            return
        target = self._target(part, rank)
        self._check_living(part, part.window.parts[target])  # type: ignore[union-attr]  # the window is not freed
        locks: dict[int, AccessGrant] = part.locks or {}
        if target in locks or part.lock_all is not None or part.started is not None or part.fence_has_operations:
            self._open_epoch(part, f"a lock on rank {target}", target)
        grant = LockGrant(part.channel(target), place_of_call(), lock_type == LOCK_EXCLUSIVE, bool(modes & MODE_NOCHECK))
        locks[target] = grant
        part.locks = locks
        if target == part.rank:
            if part.stores is not None:
                part.stores.check_past()
            error = error_from(grant.wait)
            if error is not None:
                del locks[target]
                self._raise(error)

    def Unlock(self, rank: int) -> None:
        """End the epoch of Lock: wait until all operations are complete at the target, and release the lock."""
        part = self._alive()
        if rank == PROC_NULL:
            return
        target = self._target(part, rank)
        grant: Any = (part.locks or {}).get(target)
        if grant is None:
            why = f": Lock_all at {part.lock_all.place} ends with Unlock_all" if part.lock_all else _last_epoch(part, target)
            self._misuse(part, f"this rank has no lock on rank {target}{why}.")
        error = release_locks(part.loop, [grant])
        part.end_uses(target)
        del part.locks[target]  # type: ignore[union-attr]  # a rank that unlocks has locks
        part.record_epoch_end(target, f"that of Lock at {grant.place} ended with Unlock at {place_of_call()}")
        if error is not None:
            self._raise(error)

    def Lock_all(self, assertion: int = 0) -> None:
        """Begin an access epoch to all ranks with shared locks."""
        part = self._alive()
        modes = _modes(assertion)
        if part.locks or part.lock_all is not None or part.started is not None or part.fence_has_operations:
            self._open_epoch(part, "a lock on all ranks")
        part.lock_all = LockAllEpoch(place_of_call(), bool(modes & MODE_NOCHECK))

    def Unlock_all(self) -> None:
        """End the epoch of Lock_all: wait until all operations are complete, and release the locks."""
        part = self._alive()
        lock_all: Any = part.lock_all
        if lock_all is None:
            self._misuse(part, f"this rank has not called Lock_all{_last_epoch(part, None)}.")
        error = release_locks(part.loop, list(lock_all.grants.values()))
        part.end_uses()
        part.lock_all = None
        part.record_epoch_end(None, f"that of Lock_all at {lock_all.place} ended with Unlock_all at {place_of_call()}")
        if error is not None:
            self._raise(error)

    # -- within an epoch ----------------------------------------------------------------------------------------------

    def Flush(self, rank: int) -> None:
        """Wait until all operations so far on one rank are complete at the target."""
        self._wait_for(self._locked(rank), AccessGrant.wait)

    def Flush_all(self) -> None:
        """Wait until all operations so far are complete at their targets."""
        self._wait_for(self._locked(None), AccessGrant.wait)

    def Flush_local(self, rank: int) -> None:
        """Wait until the buffers of all operations so far on one rank may be reused."""
        self._wait_for(self._locked(rank), AccessGrant.wait_local)

    def Flush_local_all(self) -> None:
        """Wait until the buffers of all operations so far may be reused."""
        self._wait_for(self._locked(None), AccessGrant.wait_local)

    def _wait_for(self, grants: list[AccessGrant], wait: Callable[[AccessGrant], None]) -> None:
        for grant in grants:
            error = error_from(partial(wait, grant))
            if error is not None:
                self._raise(error)
            grant.channel.sender.end_uses(grant.channel.receiver.rank)

    def Sync(self) -> None:
        """Synchronize the public and private copies of this rank's memory.

        In fakempi there is one copy, so nothing is copied. Time advances in a loop that polls memory with Sync, as with
        Test.
        """
        part = self._alive()
        if part.stores is not None:
            part.stores.sync()
        part.process.universe.note_unexplored(LOAD_STORE_ORDER)
        part.loop.poll()

    def _locked(self, rank: int | None) -> list[AccessGrant]:
        """Return the grants of this rank's locks, for one target or for all."""
        part = self._alive()
        if rank == PROC_NULL:
            return []
        target = None if rank is None else self._target(part, rank)
        locks: dict[int, AccessGrant] = part.lock_all.grants if part.lock_all is not None else part.locks or {}
        if part.lock_all is None and (target not in locks if target is not None else not locks):
            target_name = "any rank" if target is None else f"rank {target}"
            self._misuse(part, f"this rank has no lock on {target_name}{_last_epoch(part, target)}.")
        return list(locks.values()) if target is None else [locks[target]] if target in locks else []

    # -- which epoch --------------------------------------------------------------------------------------------------

    def _epoch(self, part: WindowPart, target: int, passive: bool = False) -> Any:
        """Return the epoch of an operation on a target: a grant, or 0 or 1 for an epoch of Fence."""
        if part.locks and target in part.locks:
            return part.locks[target]
        if part.lock_all is not None:
            return part.lock_all.grant(part, target)
        if passive:
            self._misuse(part, "operations with a request need an epoch of Lock or Lock_all.")
        if part.started is not None:
            grant = part.started.grants.get(target)
            if grant is None:
                sentence = f"rank {target} is not in the group of Start at {part.started.place}."
                self._misuse(part, sentence)
            return grant
        if part.fence_place is not None and not part.locks:
            part.fence_has_operations = True
            return part.fence_count & 1
        self._misuse(part, f"no epoch is open towards rank {target}{_last_epoch(part, target)}.")

    def _open_epoch(self, part: WindowPart, wanted: str, target: int | None = None) -> None:
        """Report that an epoch is open in a call that begins another one, or that frees the window (`wanted` is "Free")."""
        if part.locks:
            held, grant = next(iter(part.locks.items())) if target not in part.locks else (target, part.locks[target])
            open_one = f"the lock on rank {held}, of Lock at {grant.place}"
        elif part.lock_all is not None:
            open_one = f"that of Lock_all at {part.lock_all.place}"
        elif part.started is not None:
            open_one = f"that of Start at {part.started.place}"
        elif part.exposure is not None:
            open_one = f"that of Post at {part.exposure.place}"
        else:
            open_one = f"that of Fence at {place_text(part.fence_place)}, which has operations"
        if wanted == "Free":
            self._misuse(part, f"the window cannot be freed while an epoch is open: {open_one}.")
        self._misuse(part, f"{wanted} cannot begin an epoch while another is open: {open_one}.")


def _modes(assertion: SupportsIndex) -> int:
    """Return an assertion as an integer; raise an error if it has unknown bits."""
    modes = integer("assertion", assertion)
    if modes & ~_ASSERTIONS:
        known = "MODE_NOCHECK, MODE_NOSTORE, MODE_NOPUT, MODE_NOPRECEDE and MODE_NOSUCCEED"
        raise range_error(ERR_ASSERT, f"assertion {modes} is not a combination of {known}.", modes)
    return modes


def _last_epoch(part: WindowPart, target: int | None) -> str:
    """Return a description of the end of the last epoch, for an error message."""
    last = part.last_epochs or {}
    description = last.get(target) or last.get(None)
    return f": the last epoch, {description}" if description else ": there was no epoch before"
