"""What a program does about members that have died: revoke, agree, shrink (ULFM's calls, of any communicator)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_PROC_FAILED
from fakempi.errors import MPIValueError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.waiting import Completion, wait_one
from fakempi.mpi.buffers.raw import bytes_of, memory_of
from fakempi.mpi.comms.group import Group
from fakempi.mpi.failures.accord import join
from fakempi.mpi.failures.death import watch_the_wire
from fakempi.mpi.failures.trouble import Trouble
from fakempi.mpi.point.handle import CommState
from fakempi.mpi.point.request import Request


class Resilient(CommState):
    """Of a communicator: who has died, and how to go on without."""

    __slots__ = ()
    _kinds: ClassVar[Any]

    def Revoke(self) -> None:
        """Have every operation on the communicator fail with ERR_REVOKED, everywhere, now and later."""
        trouble = self._trouble()
        watch_the_wire(self._process.universe)
        self._process.universe.leaves_open("when others learn that a communicator is revoked")
        trouble.revoke(self._process.number)

    def Is_revoked(self) -> bool:
        """Whether this rank knows that it was revoked."""
        return self._process.number in self._trouble().knows_revoked

    def Get_failed(self) -> Group:
        """The members that are known to have died."""
        return Group._make(Members.of(self._trouble().failed), self._process.number)

    def Ack_failed(self, num_to_ack: int | None = None) -> int:
        """Take note of those that have died, of all or of the first so many: receives from any source may go on without
        them. How many this rank has taken note of."""
        trouble, number = self._trouble(), self._process.number
        known = len(trouble.failed)
        wanted = known if num_to_ack is None else integer("num_to_ack", num_to_ack)
        trouble.acknowledged[number] = max(trouble.acknowledged.get(number, 0), min(known, wanted))
        return trouble.acknowledged[number]

    def Agree(self, flag: int) -> int:
        """All living members' flags, joined bit by bit by and; an error if some have died that this rank has not noted."""
        arrival = self._agree(integer("flag", flag))
        wait_one(self._loop, arrival)
        self._check_noted()
        return int(arrival.result)

    def Iagree(self, flag: Any) -> Request:
        """Start to agree; `flag` is memory of one C int, which holds the result at the end."""
        found: Any = memory_of(flag, writable=True)[0]
        place: Any = bytes_of(found)
        if place.nbytes != 4:
            raise complaint(ERR_ARG, f"flag has {place.nbytes} bytes, a C int has 4.", MPIValueError)
        cell = place.view(np.int32)
        arrival = self._agree(int(cell[0]), Into(lambda result: cell.__setitem__(0, result)))
        return Request._of(self, arrival, flag)

    def Shrink(self) -> Any:
        """A communicator of the living members."""
        made, arrival = self._shrink()
        wait_one(self._loop, arrival)
        return made

    def Ishrink(self) -> tuple[Any, Request]:
        """Start to shrink; the new communicator can be used once the request has ended."""
        made, arrival = self._shrink()
        return made, Request._of(self, arrival)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _trouble(self) -> Trouble:
        side = self._local()
        self._process.universe.resilient = True
        return Trouble.of(side.context)

    def _agree(self, flag: int, arrival: Completion | None = None) -> Completion:
        arrival = arrival or Completion()

        def conclude(values: dict[int, Any], living: list[int]) -> int:
            result = -1
            for number in living:
                result &= values[number]
            return result

        join(self._trouble(), self._process.number, "Agree", flag, conclude, arrival)
        return arrival

    def _check_noted(self) -> None:
        trouble = self._trouble()
        dead = trouble.failed[trouble.acknowledged.get(self._process.number, 0) :]
        if dead:
            who = self._process.universe.names.words(dead, 6)
            words = f"{who} {'has' if len(dead) == 1 else 'have'} died, and this rank has not taken note (Ack_failed)."
            self._raise(complaint(ERR_PROC_FAILED, words))

    def _shrink(self) -> tuple[Any, Completion]:
        side = self._local()
        context, process = side.context, self._process
        mine = context.sides.index(side)
        made = self._kinds[context.is_inter]()

        def conclude(values: dict[int, Any], living: list[int]) -> Context:
            alive = set(living)
            groups = [Members.of([number for number in one.members if number in alive]) for one in context.sides]
            return Context(context.universe, *groups)

        def attach(result: Context) -> None:
            here, there = result.sides[mine], result.sides[-1 - mine]
            rank: Any = here.members.index(process.number)
            made._attach(process, here, there, rank)

        arrival = Into(attach)
        join(self._trouble(), process.number, "Shrink", None, conclude, arrival)
        return made, arrival


class Into(Completion):
    """An operation whose result goes somewhere when it is known."""

    __slots__ = ("put",)

    def __init__(self, put: Any) -> None:
        super().__init__()
        self.put = put

    def complete(self, end: Any) -> None:
        """It ends at the given time."""
        self.put(self.result)
        self.result = None
        super().complete(end)


