"""Epochs: when a rank may reach another's memory, and when what it did there is done.

Three ways: all together (`Fence`), those who agree (`Start` and `Complete` here, `Post` and `Wait` there), and without the
target's help (`Lock` and `Unlock`). Neither Start nor Lock waits for the target: the operations do, and with them the end of
the epoch; but a rank's own lock is waited for, since what follows may be its own loads and stores.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from fakempi.error_classes import ERR_ASSERT, ERR_LOCKTYPE
from fakempi.errors import MPIError
from fakempi.mpi.base.complain import call_site, complaint, integer
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
from fakempi.mpi.base.waiting import wait_one
from fakempi.mpi.comms.group import Group, members_of
from fakempi.mpi.windows.handle import WinState
from fakempi.mpi.windows.permits import Everywhere, Exposure, LockPermit, Permit, Started, give_back, leave, told
from fakempi.mpi.windows.races import in_words, place_of
from fakempi.mpi.windows.window import Part

LOADS = "the order of loads and stores in memory that ranks share"
"""Nobody sees them, so nobody chooses; of windows, where a program tells by Sync that it relies on it."""

_ASSERTIONS = MODE_NOCHECK | MODE_NOSTORE | MODE_NOPUT | MODE_NOPRECEDE | MODE_NOSUCCEED


class Epochs(WinState):
    """Fence; Start, Complete, Post, Wait and Test; Lock, Unlock and the flushes."""

    __slots__ = ()

    # -- all together -------------------------------------------------------------------------------------------------

    def Fence(self, assertion: int = 0) -> None:
        """Wait until all ranks have come and all that was begun here, or for here, since the last fence is done."""
        part = self._alive()
        modes = _modes(assertion) if assertion else 0
        if part.locks or part.everywhere is not None or part.started is not None or part.exposure is not None:
            self._open_epoch(part, "a fence")
        if part.stores is not None:
            part.stores.end("Fence", place_of(sys._getframe(1)))
        try:
            self._gather(part, "Fence")
        except MPIError as error:
            part.fenced, part.used = None, False
            self._raise(error)
        finally:
            if part.held:
                part.give_back()
        if part.accesses is not None:
            part.accesses.close(part.round & 1)
        part.round += 1
        part.used = False
        part.fenced = place_of(sys._getframe(1))
        if modes & MODE_NOSUCCEED:
            part.ended(None, f"the Fence at {in_words(part.fenced)}, after which nothing was to come")
            part.fenced = None
        if part.stores is not None:
            part.stores.leave() if part.fenced is None else part.stores.begin("Fence", part.fenced)

    @staticmethod
    def _gather(part: Part, plan: str) -> None:
        """Come to a call of all ranks, which is a region of a trace."""
        recorder = part.recorder
        if recorder is None:
            return part.gather(plan)
        context = part.window.context.number  # type: ignore[union-attr]
        entered = recorder.enter(
            part.process.number, plan.lower(), call=recorder.call(), context=context, number=part.calls + 1
        )  # fmt: skip
        try:
            part.gather(plan)
        finally:
            recorder.leave(*entered)

    # -- those who agree ----------------------------------------------------------------------------------------------

    def Start(self, group: Group, assertion: int = 0) -> None:
        """Begin to reach the memory of the ranks of a group; what goes there waits for their Post."""
        part = self._alive()
        _modes(assertion)
        if part.locks or part.everywhere is not None or part.started is not None or part.used:
            self._open_epoch(part, "a Start")
        part.started = Started(part, self._ranks(part, group))

    def Complete(self) -> None:
        """End what Start began: when the buffers may be used again, the targets are told."""
        part = self._alive()
        started = part.started
        if started is None:
            self._misuse(part, f"there is no Start to complete{_last(part, None)}.")
        errors = [error for permit in started.permits.values() if (error := told(permit.wait_locally)) is not None]
        for permit in started.permits.values():
            permit.stretch.close()
        leave(part, started)
        part.started = None
        part.give_back()
        part.ended(None, f"that of Start at {started.site} ended with Complete at {call_site()}")
        if errors:
            self._raise(errors[0])

    def Post(self, group: Group, assertion: int = 0) -> None:
        """Let the ranks of a group reach this rank's memory."""
        part = self._alive()
        _modes(assertion)
        if part.exposure is not None:
            words = f"this rank's memory is open since Post at {part.exposure.site}: Wait comes first."
            self._misuse(part, words)
        origins = self._ranks(part, group)
        if part.stores is not None:
            part.stores.begin("Post", place_of(sys._getframe(1)))
        part.exposure = Exposure(part, origins)

    def Wait(self) -> Literal[True]:
        """Wait until all that Post let in have called Complete."""
        part = self._alive()
        exposure = self._exposure(part)
        if part.stores is not None:
            part.stores.end("Wait", place_of(sys._getframe(1)))
        wait_one(part.loop, exposure.waits)
        self._close(part, exposure)
        return True

    def Test(self) -> bool:
        """Whether all that Post let in have called Complete; if so, that was the Wait."""
        part = self._alive()
        exposure = self._exposure(part)
        choices = part.process.universe.choices
        if choices is not None:
            if not choices.all_there(lambda: (exposure.waits,)):
                return False
        elif exposure.waits.end is None:
            part.loop.poll()
        if exposure.waits.end is None:
            return False
        if part.stores is not None:
            part.stores.end("Test", place_of(sys._getframe(1)))
        self._close(part, exposure)
        return True

    def _close(self, part: Part, exposure: Exposure) -> None:
        part.exposure = None
        if part.stores is not None:
            part.stores.leave()
        if exposure.lost is not None:
            self._check_living(part, exposure.lost)

    def _exposure(self, part: Part) -> Exposure:
        found: Exposure | None = part.exposure
        if found is None:
            self._misuse(part, "there is no Post to wait for.")
        return found

    def _ranks(self, part: Part, group: Group) -> list[int]:
        """The ranks of a group's members in the window."""
        members = part.window.members  # type: ignore[union-attr]
        found = []
        for number in members_of(group):
            rank = members.index(number)
            if rank is None:
                name = part.process.universe.names.name(number)
                self._misuse(part, f"{name} is in the group, and not in the window's.")
            self._check_living(part, part.window.parts[rank])  # type: ignore[union-attr]
            found.append(rank)
        return found

    # -- without the target's help ------------------------------------------------------------------------------------

    def Lock(self, rank: int, lock_type: int = LOCK_EXCLUSIVE, assertion: int = 0) -> None:
        """Begin to reach the memory of one rank; with LOCK_SHARED beside others who do so."""
        part = self._alive()
        modes = _modes(assertion)
        if lock_type not in (LOCK_EXCLUSIVE, LOCK_SHARED):
            words = f"lock type {lock_type} is neither LOCK_EXCLUSIVE ({LOCK_EXCLUSIVE}) nor LOCK_SHARED ({LOCK_SHARED})."
            self._raise(complaint(ERR_LOCKTYPE, words))
        if rank == PROC_NULL:
            return
        target = self._target(part, rank)
        self._check_living(part, part.window.parts[target])  # type: ignore[union-attr]
        locks: dict[int, Permit] = part.locks or {}
        if target in locks or part.everywhere is not None or part.started is not None or part.used:
            self._open_epoch(part, f"a lock on rank {target}", target)
        permit = LockPermit(part.lane(target), call_site(), lock_type == LOCK_EXCLUSIVE, bool(modes & MODE_NOCHECK))
        locks[target] = permit
        part.locks = locks
        if target == part.rank:
            error = told(permit.wait)
            if error is not None:
                del locks[target]
                self._raise(error)

    def Unlock(self, rank: int) -> None:
        """End what Lock began: all operations have had their effect, and the lock is given back."""
        part = self._alive()
        if rank == PROC_NULL:
            return
        target = self._target(part, rank)
        permit: Any = (part.locks or {}).get(target)
        if permit is None:
            why = f": Lock_all at {part.everywhere.site} ends with Unlock_all" if part.everywhere else _last(part, target)
            self._misuse(part, f"this rank has no lock on rank {target}{why}.")
        error = give_back(part.loop, [permit])
        part.give_back(target)
        del part.locks[target]  # type: ignore[union-attr]
        part.ended(target, f"that of Lock at {permit.site} ended with Unlock at {call_site()}")
        if error is not None:
            self._raise(error)

    def Lock_all(self, assertion: int = 0) -> None:
        """Begin to reach the memory of all ranks, beside others who do so."""
        part = self._alive()
        modes = _modes(assertion)
        if part.locks or part.everywhere is not None or part.started is not None or part.used:
            self._open_epoch(part, "a lock on all ranks")
        part.everywhere = Everywhere(call_site(), bool(modes & MODE_NOCHECK))

    def Unlock_all(self) -> None:
        """End what Lock_all began."""
        part = self._alive()
        everywhere: Any = part.everywhere
        if everywhere is None:
            self._misuse(part, f"this rank has not called Lock_all{_last(part, None)}.")
        error = give_back(part.loop, list(everywhere.permits.values()))
        part.give_back()
        part.everywhere = None
        part.ended(None, f"that of Lock_all at {everywhere.site} ended with Unlock_all at {call_site()}")
        if error is not None:
            self._raise(error)

    # -- in between -----------------------------------------------------------------------------------------------------

    def Flush(self, rank: int) -> None:
        """Wait until all operations so far on one rank have had their effect."""
        self._wait_for(self._locked(rank), Permit.wait)

    def Flush_all(self) -> None:
        """Wait until all operations so far have had their effect."""
        self._wait_for(self._locked(None), Permit.wait)

    def Flush_local(self, rank: int) -> None:
        """Wait until the buffers of all operations so far on one rank may be used again."""
        self._wait_for(self._locked(rank), Permit.wait_locally)

    def Flush_local_all(self) -> None:
        """Wait until the buffers of all operations so far may be used again."""
        self._wait_for(self._locked(None), Permit.wait_locally)

    def _wait_for(self, permits: list[Permit], wait: Callable[[Permit], None]) -> None:
        for permit in permits:
            error = told(partial(wait, permit))
            if error is not None:
                self._raise(error)
            permit.lane.here.give_back(permit.lane.there.rank)

    def Sync(self) -> None:
        """See what others have done to this rank's memory, and let them see what this rank has done.

        Here that is so anyway; but who looks for a change again and again lets time pass, as with Test.
        """
        part = self._alive()
        if part.stores is not None:
            part.stores.sync()
        part.process.universe.leaves_open(LOADS)
        part.loop.poll()

    def _locked(self, rank: int | None) -> list[Permit]:
        """The permits of one target, or of all, of the locks that this rank has."""
        part = self._alive()
        if rank == PROC_NULL:
            return []
        target = None if rank is None else self._target(part, rank)
        locks: dict[int, Permit] = part.everywhere.permits if part.everywhere is not None else part.locks or {}
        if part.everywhere is None and (target not in locks if target is not None else not locks):
            whom = "any rank" if target is None else f"rank {target}"
            self._misuse(part, f"this rank has no lock on {whom}{_last(part, target)}.")
        return list(locks.values()) if target is None else [locks[target]] if target in locks else []

    # -- which epoch --------------------------------------------------------------------------------------------------

    def _epoch(self, part: Part, target: int, passive: bool = False) -> Any:
        """The epoch of an operation on a target: a permit, or of a fence 0 or 1."""
        if part.locks and target in part.locks:
            return part.locks[target]
        if part.everywhere is not None:
            return part.everywhere.permit(part, target)
        if passive:
            self._misuse(part, "operations with a request are for epochs of Lock and Lock_all.")
        if part.started is not None:
            permit = part.started.permits.get(target)
            if permit is None:
                words = f"rank {target} is not in the group of Start at {part.started.site}."
                self._misuse(part, words)
            return permit
        if part.fenced is not None and not part.locks:
            part.used = True
            return part.round & 1
        self._misuse(part, f"no epoch is open towards rank {target}{_last(part, target)}.")

    def _open_epoch(self, part: Part, wanted: str, target: int | None = None) -> None:
        """Complain of an epoch that is open where another is to begin."""
        if part.locks:
            held, permit = next(iter(part.locks.items())) if target not in part.locks else (target, part.locks[target])
            open_one = f"the lock on rank {held}, of Lock at {permit.site}"
        elif part.everywhere is not None:
            open_one = f"that of Lock_all at {part.everywhere.site}"
        elif part.started is not None:
            open_one = f"that of Start at {part.started.site}"
        elif part.exposure is not None:
            open_one = f"that of Post at {part.exposure.site}"
        else:
            open_one = f"that of Fence at {in_words(part.fenced)}, in which there were operations"
        self._misuse(part, f"{wanted} cannot begin an epoch while another is open: {open_one}.")


def _modes(assertion: Any) -> int:
    """An assertion, which must be made of those that there are."""
    modes = integer("assertion", assertion)
    if modes & ~_ASSERTIONS:
        raise complaint(ERR_ASSERT, f"assertion {modes} is not made of the MODE_NO... that there are.")
    return modes


def _last(part: Part, target: int | None) -> str:
    """How the last epoch ended, if there was one."""
    last = part.last or {}
    words = last.get(target) or last.get(None)
    return f": the last epoch, {words}" if words else ": there was none before"
