"""Random programs: mostly messages with receives that fit them, some of them in an order that deadlocks."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.modelcheck.oracle.program import ANY, COLLECTIVES, LAST, Op, Program

SIZES = (1, 8, 64)

LEARNS = ("recv", "irecv", "iprobe", "probe", "mrecv", "test", "testany")
"""Operations that change what a branch depends on."""


class Maker:
    """Makes one program."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self.p = self.pick(2, 3, 3, 3, 4)
        self.ranks: list[list[Op]] = [[] for _ in range(self.p)]
        self.slots = [0] * self.p
        self.open: list[list[int]] = [[] for _ in range(self.p)]  # requests
        self.splits: list[Any] = []
        self.no_more: set[int] = set()  # communicators in which a rank has left out a collective call
        self.asks = self.random.random()  # how likely a receive takes a status
        self.any = self.pick(0.4, 0.7, 0.95)
        self.equal = self.chance(0.5)  # whether most messages are equal and go to the same rank

    def pick(self, *what: Any) -> Any:
        """One of these."""
        return self.random.choice(what)

    def chance(self, probability: float) -> bool:
        """Whether something is done."""
        return self.random.random() < probability

    def slot(self, rank: int) -> int:
        """A new request."""
        self.slots[rank] += 1
        return self.slots[rank]

    def put(self, rank: int, *ops: Op) -> None:
        """Operations at the end of a rank's list, or now and then before its last ones."""
        mine = self.ranks[rank]
        at = len(mine) - (self.random.randrange(min(len(mine), 2) + 1) if self.chance(0.15) else 0)
        if any(op.slots or op.what in COLLECTIVES for op in (*ops, *mine[at:])):
            at = len(mine)  # requests are made before they are completed; collective calls have an order
        mine[at:at] = ops

    def program(self) -> Program:
        """Return the program."""
        if self.chance(0.3):
            split: list[Any] = [(self.pick(0, 0, 1), self.random.randrange(3)) for _ in range(self.p)]
            if self.chance(0.3):
                split[self.random.randrange(self.p)] = None
            self.splits.append(tuple(split))
        style = self.random.random() if self.p > 2 else 1.0
        if style < 0.3:
            self.collectors()
        elif style < 0.4:
            self.streams()
        else:
            kinds = [self.message] * 12 + [self.poll] * 3 + [self.completion] * 5 + [self.collective] * 2
            for _ in range(self.random.randrange(2, 7)):
                self.random.choice(kinds)()
        for rank in range(self.p):
            if self.chance(0.2) and any(op.what in LEARNS for op in self.ranks[rank]):
                self.branch(rank)
            if self.open[rank]:
                self.ranks[rank].append(Op("waitall", slots=tuple(self.open[rank])))
        objects = self.chance(0.3)
        if not objects:
            self.add_peeks()
        return Program(tuple(map(tuple, self.ranks)), tuple(self.splits), objects)

    def add_peeks(self) -> None:
        """Let ranks read the buffers of some pending receives, anywhere after the start of the receive."""
        for mine in self.ranks:
            for op in [op for op in mine if op.what == "irecv"]:
                if self.chance(0.5):
                    at = self.random.randrange(mine.index(op) + 1, len(mine) + 1)
                    mine.insert(at, Op("peek", slots=op.slots))

    def group(self) -> tuple[int, tuple[int, ...]]:
        """A communicator and the members of one of its groups."""
        comm = len(self.splits) and self.random.randrange(len(self.splits) + 1)
        now = Program(tuple(() for _ in range(self.p)), tuple(self.splits))
        groups = [group for rank in range(self.p) if (group := now.group(comm, rank))]
        return comm, self.random.choice(groups)

    def collectors(self) -> None:
        """One or two ranks that receive in any way what the others send; nearly all messages are equal."""
        self.equal = True
        many = self.pick(1, 1, 2) if self.p > 3 else 1
        for collector in range(many):
            for sender in range(many, self.p):
                for _ in range(self.pick(1, 1, 2) if self.p < 4 else 1):
                    self.send(0, sender, collector, 0, self.pick("send", "send", "send", "isend", "ssend"))
                if self.chance(0.15):
                    self.put(sender, Op("iprobe", 0, ANY, ANY))
        for collector in range(many):
            for _ in range(self.pick(2, 3, 3, 4)):
                source = self.random.randrange(many, self.p)
                self.random.choice([self.poll_there] * 2 + [self.receive] * 5)(0, collector, source, self.pick(0, 0, 0, ANY))
                if self.open[collector] and self.chance(0.3):
                    self.complete(collector)

    def streams(self) -> None:
        """Senders of several equal messages, whose order only a few operations show: many ways lead to the same states."""
        self.equal, many = True, 0
        for sender in range(1, self.p):
            for _ in range(self.pick(1, 2, 3) if self.p < 4 else self.pick(1, 2)):
                self.send(0, sender, 0, 0, self.pick("send", "send", "send", "isend"))
                many += 1
            if self.chance(0.2):
                self.put(sender, Op("iprobe", 0, ANY, ANY))
                self.send(0, sender, 0, 0, "send")
        special = self.random.randrange(many)
        for number in range(many - self.chance(0.2)):
            if number == special:
                self.random.choice([self.poll_there, self.receive])(0, 0, self.random.randrange(1, self.p), 0)
            else:
                self.put(0, Op("recv", 0, ANY, 0))

    def poll_there(self, comm: int, rank: int, source: int, tag: int) -> None:
        """A probe of one rank."""
        what = self.pick("iprobe", "probe", "probe")
        self.put(rank, Op(what, comm, self.pick(source, ANY), tag, status=self.chance(self.asks)))

    def message(self) -> None:
        """A send, and something that receives it."""
        comm, group = self.group()
        dest = self.random.randrange(1 if self.equal and self.chance(0.8) else len(group))
        source = self.random.randrange(len(group))
        if source == dest and not self.chance(0.1):
            source = (dest + 1) % len(group)
        tag, sender, receiver = 0 if self.equal else self.pick(0, 0, 0, 1), group[source], group[dest]
        self.send(comm, sender, dest, tag, self.pick("send", "send", "send", "send", "ssend", "isend", "isend", "issend"))
        if self.chance(0.06):
            return  # no rank receives it
        self.receive(comm, receiver, source, tag)

    def send(self, comm: int, sender: int, dest: int, tag: int, what: str) -> None:
        """A send."""
        value = 1 if self.equal and self.chance(0.9) else self.pick(1, 1, 2, 2, LAST)
        size = SIZES[0] if self.equal and self.chance(0.9) else self.pick(*SIZES)
        slots: tuple[int, ...] = ()
        if what.startswith("i"):
            slots = (self.slot(sender),)
            self.open[sender] += slots
        self.put(sender, Op(what, comm, dest, tag, value, size, slots))

    def receive(self, comm: int, receiver: int, source: int, tag: int) -> None:
        """A receive, with a probe before it or not."""
        source = ANY if self.chance(self.any) else source
        tag = ANY if self.chance(0.25) else tag
        status = self.chance(self.asks)
        how = self.pick("recv", "recv", "recv", "irecv", "irecv", "irecv", "mprobe", "probe", "improbe")
        if how == "irecv":
            slot = self.slot(receiver)
            self.open[receiver].append(slot)
            self.put(receiver, Op("irecv", comm, source, tag, slots=(slot,)))
        elif how in ("mprobe", "improbe"):
            slot = self.slot(receiver)
            probe = Op(how, comm, source, tag, slots=(slot,), status=self.chance(self.asks))
            self.put(receiver, probe, Op("mrecv", comm, slots=(slot,), status=status))
        else:
            if how == "probe":
                self.put(receiver, self.probe("probe", comm, source, tag))
            self.put(receiver, Op("recv", comm, source, tag, status=status))

    def probe(self, what: str, comm: int, source: int, tag: int) -> Op:
        """A probe that takes no message out."""
        source = self.pick(source, ANY) if source != ANY else ANY
        times = self.pick(1, 1, 1, 2, 3) if what == "iprobe" else 1
        return Op(what, comm, source, tag, status=self.chance(max(self.asks, 0.4)), times=times)

    def poll(self) -> None:
        """A probe, nonblocking or not."""
        comm, group = self.group()
        rank, source = self.pick(*group), self.random.randrange(len(group))
        self.put(rank, self.probe(self.pick("iprobe", "iprobe", "iprobe", "probe"), comm, source, self.pick(0, 0, ANY)))

    def completion(self) -> None:
        """A wait or a test on requests."""
        ranks = [rank for rank in range(self.p) if self.open[rank]]
        if not ranks:
            return self.message()
        return self.complete(self.random.choice(ranks))

    def complete(self, rank: int) -> None:
        """A wait or a test of one rank."""
        what = self.pick("wait", "waitany", "waitany", "waitsome", "waitall", "test", "testany", "testsome", "testall")
        some = self.random.sample(self.open[rank], self.random.randrange(1, len(self.open[rank]) + 1))
        some = some[:1] if what in ("wait", "test") else some
        status = self.chance(self.asks) and what in ("wait", "waitany", "test", "testany")
        times = self.pick(1, 1, 2, 3) if what.startswith("test") else 1
        self.put(rank, Op(what, slots=tuple(some), status=status, times=times))

    def collective(self) -> None:
        """A call of all members; now and then one of them never calls."""
        comm, group = self.group()
        if comm in self.no_more:
            return
        what = self.pick("barrier", "barrier", "ibarrier", "bcast", "reduce", "gather", "allreduce", "scan")
        root, missing = self.random.randrange(len(group)), self.chance(0.08)
        for rank in group:
            slots = (self.slot(rank),) if what == "ibarrier" else ()
            self.open[rank] += slots
            op = Op(what, comm, root, value=self.pick(LAST, 1), slots=slots)
            if missing and rank == group[-1]:
                self.no_more.add(comm)
                self.open[rank] = [slot for slot in self.open[rank] if slot not in slots]
            else:
                self.put(rank, op)

    def branch(self, rank: int) -> None:
        """Put an operation into a branch, or let the rank fail in one."""
        mine = self.ranks[rank]
        variable, value = self.pick(("last", 1), ("last", 2), ("source", 0), ("source", 1), ("source", 2), ("flag", True))
        places = [i for i, op in enumerate(mine) if not op.slots and op.what in ("send", "ssend", "recv", "probe", "iprobe")]
        if not places or self.chance(0.15):
            mine.append(Op("if", peer=variable, value=value, then=(Op("fail"),)))
            return
        at = self.random.choice(places)
        op = mine[at]
        other: tuple[Op, ...] = ()
        if op.what in ("recv", "probe"):
            other = (op._replace(peer=ANY, tag=ANY, status=not op.status),)
        elif op.what == "send" and self.chance(0.7):
            other = (op._replace(value=2, tag=1 - op.tag if self.chance(0.3) else op.tag),)
        mine[at] = Op("if", peer=variable, value=value, then=(op,), other=other)


def generated(seed: int, number: int) -> Program:
    """The program with this number of this seed."""
    return Maker(f"{seed} {number}").program()
