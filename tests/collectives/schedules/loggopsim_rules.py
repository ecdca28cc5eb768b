"""The rules of LogGOPSim's simulation and ours in one event loop, to explain where they differ.

With no rule changed, `Ladder` has the times of LogGOPSim; with all of `RULES` changed, those of `fakempi schedule run` with
a LogGP model. Each rule is one difference, so the number of schedules with equal times shows what a rule is worth. The rules
of LogGOPSim were read in its source (commit in loggopsim.out), and this loop was written from them.

The schedules are those of `units_oracle.random_units`, whose tags are unique.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from heapq import heappop, heappush
from typing import NamedTuple

from collectives.schedules import Schedule, Step

RULES = ("ends", "processor", "gap", "sent", "rendezvous", "posting", "nic", "order")
"""In the order in which `loggopsim` changes them; docs/schedules.md describes them in this order.

ends        an operation starts after the ends of those that it requires (LogGOPSim: as soon as its own cpu is free)
processor   sends and receives do not occupy a cpu (LogGOPSim: for o and the time of the bytes)
gap         a nic sends again after max(o, g) + (n-1) G (LogGOPSim: g + (n-1) G)
sent        a send ends when its last byte has left (LogGOPSim: after o)
rendezvous  a message of more than S bytes leaves when its receive has started (LogGOPSim: at once, but its send ends later)
posting     sends and receives start when their cpu is free (LogGOPSim: a send starts when its nic is free as well, and a
            receive does not wait for a cpu that was taken after the receive became ready)
nic         a message waits for the nic of its receive, for max(o, g) + (n-1) G of each message before it, and delays its
            sender (LogGOPSim: the nic with the number that the send has, g + (n-1) G, and its sender is not delayed)
order       operations that are ready at one time start in the order of the file (LogGOPSim: sends, receives, calculations)
"""

ENDS_FIRST, COMPUTED, STARTS, ENDS, LEAVES, TRAVELS = range(6)
"""The order of events at one time, in our rules: ends that have waited for a cpu, ends of calculations, and so on."""

KINDS = ("send", "recv", "compute")


class Parameters(NamedTuple):
    """The parameters of LogGOPS, in nanoseconds and bytes."""

    L: int
    o: int
    g: int
    G: int
    O: int = 0  # noqa: E741
    S: int = 1 << 30


class Ladder:
    """The times of a schedule with some of our rules, and LogGOPSim's rules otherwise. `ends` has them for each rank."""

    def __init__(self, schedule: Schedule, parameters: Parameters, ours: Collection[str] = ()) -> None:
        self.steps, self.parameters, self.ours = schedule.steps, parameters, ours
        self.serial = 0
        self.heap: list[tuple[int, int, int, str, int, int]] = []
        self.unmet = {(r, i): len({*s.after}) + len({*s.after_start}) for r, i, s in schedule}
        self.cpu_free: dict[tuple[int, int], int] = defaultdict(int)
        self.out_free: dict[tuple[int, int], int] = defaultdict(int)
        self.in_free: dict[tuple[int, int], int] = defaultdict(int)
        self.sends = {(s.peer, s.tag): (r, i) for r, i, s in schedule if s.kind == "send"}
        self.receives = {(r, s.tag): s for r, i, s in schedule if s.kind == "recv"}
        self.posted: dict[tuple[int, int], int] = {}  # receives, by rank and tag
        self.waiting: dict[tuple[int, int], int] = {}  # serials of long sends without a receive, by receiver and tag
        self.arrived: dict[tuple[int, int], int] = {}  # when messages have been received, by receiver and tag
        self.ends = [0] * schedule.ranks
        self.freed: dict[int, list[int]] = {
            rank: [index for index in range(len(steps)) if not self.unmet[rank, index]]
            for rank, steps in enumerate(self.steps)
        }
        self.start_freed(0)
        while self.heap:
            time, _, serial, action, rank, index = heappop(self.heap)
            getattr(self, action)(time, serial, rank, index)
            self.start_freed(time)
        for (rank, _), time in self.cpu_free.items():
            self.ends[rank] = max(self.ends[rank], time)

    def push(self, time: int, phase: int, action: str, rank: int, index: int, serial: int | None = None) -> None:
        """Book an action of an operation. One that is booked again keeps its serial number."""
        if serial is None:
            serial = self.serial
            self.serial += 1
        heappush(self.heap, (time, phase if "ends" in self.ours else 0, serial, action, rank, index))

    def start_freed(self, now: int) -> None:
        """Start the operations that have become ready."""
        for rank, indices in sorted(self.freed.items()):
            if "order" not in self.ours:
                indices.sort(key=lambda index: KINDS.index(self.steps[rank][index].kind))
            for index in indices:
                step = self.steps[rank][index]
                time = now
                if "ends" not in self.ours:
                    time = self.cpu_free[rank, step.cpu]
                    if step.kind == "send":
                        time = max(time, self.out_free[rank, step.nic])
                self.push(time, STARTS, f"start_{step.kind}", rank, index)
        self.freed = {}

    def release(self, rank: int, index: int, name: str) -> None:
        """Free the operations that have waited for the start or the end of this one only."""
        for other, step in enumerate(self.steps[rank]):
            if index in getattr(step, name):
                self.unmet[rank, other] -= 1
                if not self.unmet[rank, other]:
                    self.freed.setdefault(rank, []).append(other)

    def end_at(self, time: int, rank: int, index: int, phase: int = ENDS) -> None:
        """End an operation at a time; LogGOPSim lets others start now, as soon as their cpus are free."""
        if "ends" in self.ours:
            self.push(time, phase, "end", rank, index)
        else:
            self.release(rank, index, "after")

    def end(self, time: int, serial: int, rank: int, index: int) -> None:
        step = self.steps[rank][index]
        if "processor" in self.ours and step.kind != "compute" and (free := self.cpu_free[rank, step.cpu]) > time:
            self.push(free, ENDS_FIRST, "end", rank, index)  # in the order of their ends
            return
        self.ends[rank] = max(self.ends[rank], time)
        self.release(rank, index, "after")

    def start_compute(self, time: int, serial: int, rank: int, index: int) -> None:
        step = self.steps[rank][index]
        if (free := self.cpu_free[rank, step.cpu]) > time:
            self.push(free, STARTS, "start_compute", rank, index, serial)
            return
        end = self.cpu_free[rank, step.cpu] = time + round(step.seconds * 1e9)
        self.release(rank, index, "after_start")
        self.end_at(end, rank, index, COMPUTED)

    def start_recv(self, time: int, serial: int, rank: int, index: int) -> None:
        step = self.steps[rank][index]
        if "posting" in self.ours and (free := self.cpu_free[rank, step.cpu]) > time:
            self.push(free, STARTS, "start_recv", rank, index, serial)
            return
        self.release(rank, index, "after_start")
        message = rank, step.tag
        self.posted[message] = index
        if message in self.arrived:
            self.match(time, max(time, self.arrived[message]), message, step)
        elif message in self.waiting:
            self.push(time, LEAVES, "leave", *self.sends[message], self.waiting[message])

    def start_send(self, time: int, serial: int, rank: int, index: int) -> None:
        step = self.steps[rank][index]
        free = self.cpu_free[rank, step.cpu]
        if "posting" not in self.ours:
            free = max(free, self.out_free[rank, step.nic])
        if free > time:
            self.push(free, STARTS, "start_send", rank, index, serial)
            return
        self.release(rank, index, "after_start")
        message = step.peer, step.tag
        if self.is_long(step) and "rendezvous" in self.ours and message not in self.posted:
            self.waiting[message] = self.serial
            self.serial += 1
        elif "posting" in self.ours:
            self.push(time, LEAVES, "leave", rank, index)
        else:
            self.leave(time, serial, rank, index)

    def is_long(self, step: Step) -> bool:
        return step.nbytes > self.parameters.S

    def leave(self, time: int, serial: int, rank: int, index: int) -> None:
        """Let a message leave through its nic. If several leave now, the nic with most messages left is the first."""
        nic = self.steps[rank][index].nic
        if (free := self.out_free[rank, nic]) > time:
            self.push(free, LEAVES, "leave", rank, index, serial)
        elif "nic" in self.ours:
            self.out_free[rank, nic] = time + 1  # until `travel` sets it
            waiting = (self.steps[r][i].nic for _, _, _, action, r, i in self.heap if action == "leave" and r == rank)
            self.push(time, TRAVELS, "travel", rank, index, serial - 10**6 * sum(other == nic for other in waiting))
        else:
            self.travel(time, serial, rank, index)

    def travel(self, time: int, serial: int, rank: int, index: int) -> None:
        """Let a message that has its nic travel, and end its send."""
        step, each = self.steps[rank][index], self.parameters
        more, end, late = step.nbytes - 1, time + each.o, 0
        if "processor" not in self.ours:
            end = self.cpu_free[rank, step.cpu] = time + each.o + more * each.O
        if "sent" in self.ours:
            end = time + each.o + more * each.G
        hold = (max(each.o, each.g) if "gap" in self.ours else each.g) + more * each.G
        if "nic" in self.ours:
            latency = max(0, 2 * each.o + each.L - max(each.o, each.g))
            into = step.peer, self.receives[step.peer, step.tag].nic
            late = max(0, self.in_free[into] - time - latency)
            self.in_free[into] = time + latency + late + max(each.o, each.g) + more * each.G
            hold += late if latency < hold else 0  # bytes that have not left wait in the sender
            end += late if latency < end - time else 0
        self.out_free[rank, step.nic] = time + hold
        self.push(time + each.o + each.L + late, LEAVES, "receive", rank, index)
        if not self.is_long(step) or "rendezvous" in self.ours:
            self.end_at(end, rank, index)

    def receive(self, time: int, serial: int, sender: int, index: int) -> None:
        """Receive a message whose first byte is there."""
        step, each = self.steps[sender][index], self.parameters
        rank, more = step.peer, step.nbytes - 1
        end = time + each.o + more * each.G
        if "nic" not in self.ours:
            free = self.in_free[rank, step.nic]
            if "processor" not in self.ours:
                free = max(free, self.cpu_free[rank, step.cpu])
            if free > time:
                self.push(free, LEAVES, "receive", sender, index, serial)
                return
            self.in_free[rank, step.nic] = time + each.g + more * each.G
        if "processor" not in self.ours:
            end = self.cpu_free[rank, step.cpu] = time + each.o + more * max(each.O, each.G)
        message = rank, step.tag
        self.arrived[message] = end
        if message in self.posted:
            self.match(time, end, message, step)

    def match(self, time: int, end: int, message: tuple[int, int], last: Step) -> None:
        """End a receive. If its message is long, LogGOPSim ends the send when the last of both is processed.

        It then advances a cpu and a nic of the sender: those that this last operation has on its own rank.
        """
        if self.is_long(last) and "rendezvous" not in self.ours:
            sender, index = self.sends[message]
            for free, unit in ((self.cpu_free, last.cpu), (self.out_free, last.nic)):
                free[sender, unit] = max(free[sender, unit], time)
            self.end_at(time, sender, index)
        self.end_at(end, message[0], self.posted[message])
