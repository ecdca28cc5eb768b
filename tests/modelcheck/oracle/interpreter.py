"""Every outcome of a program that MPI allows, by a search over all its states. This file does not import fakempi.

The rules (sections of MPI 4.1):

1. Ranks execute their operations in order, and nothing orders the operations of different ranks (2.7, 2.9). A step of the
   search is one call of one rank, the completion of a blocking call, or one match of a message with a receive.
2. A receive matches a message if communicator, source and tag agree (3.2.4). Such a pair may be matched unless an earlier
   message of the same sender matches the receive too, or an earlier receive that is not matched yet matches the message too
   (3.5, "Order"). Between messages of different senders nothing decides (3.5, "Fairness").
3. A match that is possible happens at some time, if nothing else takes the message or the receive (3.5, "Progress"). It
   may happen at any time: MPI does not say how long a message travels.
4. A receive is complete once it is matched. A synchronous send is complete once it is matched, by a receive and not by a
   probe (3.4). A standard send of at most `eager` bytes is complete at once, a longer one behaves like a synchronous send;
   eager=0 is no buffering and eager=None unlimited buffering (3.4: the library decides, by any rule).
5. Probe, Mprobe: like a receive that is executed at this point, among the messages that no posted receive could take
   (3.8.1). Mprobe takes the message out, which is received by Mrecv alone (3.8.2). After a probe from any source, a receive
   from any source may take another message (3.8.1, example with MPI_ANY_SOURCE).
6. Iprobe, Improbe and tests may be unsuccessful although there is a message or a completed operation: only repeated calls
   must succeed in the end (3.7.4, 3.8.1). Exception: a message that a probe of this rank has returned is there, so that a
   later Iprobe must succeed (3.8.1: "returns flag = true if there is a message that can be received"). If the probe had no
   status and was from any source, a later one from any source and for the same tag must succeed; otherwise each later one
   that matches the message. The exception ends when the rank posts a receive that may take the message, at whatever time, or
   when Mprobe may have taken it. A probe that named a tag says nothing about a later one for any tag, which looks at
   earlier messages of the sender first.
7. Waitany and Testany complete any one of the complete requests, Waitsome and Testsome any nonempty set of them (3.7.5: a
   program cannot know when an operation is complete). Requests that are inactive are ignored; if all are, the call returns
   at once.
8. Collective calls on one communicator are matched by their order (6.1; calls that differ are an error of the program). A
   call may end as soon as its result can be known ("minimal"), or only when all members have entered it ("synchronizing");
   both are allowed (6.1: "may, or may not, have the effect of synchronizing"). "any": each rank may leave at any time
   between the two.
9. The data of a nonblocking receive arrive at any time from the match to the call that completes it (3.7.2: the program
   must not access the buffer until then). With data="late" they arrive when that call returns.
10. A run ends when nothing can happen any more. Ranks that have not reached their end are deadlocked; messages that are not
   matched, while all ranks have ended, are lost. A rank that fails ends the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from tests.modelcheck.oracle.program import (
    ANY,
    COLLECTIVES,
    LAST,
    POLLS,
    RECEIVES,
    SENDS,
    Op,
    Program,
    Step,
    compiled,
    operations,
)
from tests.modelcheck.oracle.state import BY_ANY_TAG, BY_TAG, UNSEEN, Message, Posted, Rank, State, changed

END, FAILED = "end", "failed"

MAXIMUM = 30_000
"""States, after which the search gives up."""

LOCAL = (*SENDS, *RECEIVES, *COLLECTIVES, "mrecv", "wait", "waitall", "if", "jump")
"""Operations whose steps have one result. Such a step disables no other step and commutes with all of them: a match or a
successful poll that was possible before remains possible, and polls may be unsuccessful at any time. So the quick search
executes such a step alone, before all others. Tests compare it with the search that tries every order."""

Move = tuple[State, bool]
"""A next state, and whether this step happens in the end if nothing else prevents it."""


class Invalid(Exception):
    """The program is an error by MPI's rules: there is nothing to compare."""


class TooLarge(Exception):
    """The program has too many states."""


class Outcome(NamedTuple):
    """How a run can end.

    Attributes
    ----------
    ranks : per rank what it has observed and where it is: END, FAILED or the number of the operation that blocks it
    lost : (world rank, operation) of the sends whose messages were never received, if all ranks have ended
    failed : the rank that failed, if any; the other ranks may be anywhere
    """

    ranks: tuple[tuple[tuple[Any, ...], Any], ...]
    lost: frozenset[tuple[int, int]] = frozenset()
    failed: int | None = None

    @property
    def blocked(self) -> bool:
        """Whether it is a deadlock."""
        return self.failed is None and any(where != END for _, where in self.ranks)


class Interpreter:
    """The search over the states of one program, with one kind of buffering and of collective calls."""

    def __init__(
        self, program: Program, eager: int | None, collectives: str = "minimal", most: int = MAXIMUM, quick: bool = True,
        lenient: bool = False, data: str = "any",
    ) -> None:  # fmt: skip
        self.program, self.eager, self.collectives, self.most = program, eager, collectives, most
        self.lenient, self.data = lenient, data  # `lenient`: without the exception of rule 6
        self.code: list[list[Step]] = [compiled(ops) for ops in program.ranks]
        fails = any(op.what == "fail" for ops in program.ranks for op in operations(ops))
        self.quick = quick and not fails  # a failure ends the run, so that the order of steps matters
        self.states = 0
        self.sizes: set[int] = set()  # of standard sends

    def outcomes(self) -> set[Outcome]:
        """All of them."""
        slots = [max((slot for op in operations(ops) for slot in op.slots), default=0) + 1 for ops in self.program.ranks]
        first = State(tuple(Rank(0, 0, 0, -1, False, (None,) * many, ()) for many in slots))
        found: set[Outcome] = set()
        known, waiting = {first}, [first]
        while waiting:
            state = waiting.pop()
            failed = self._failed(state)
            if failed is not None:
                found.add(self._outcome(state, failed))
                continue
            ends = True
            for after, is_certain in self._moves(state):
                ends &= not is_certain
                if after not in known:
                    known.add(after)
                    waiting.append(after)
            if ends:
                found.add(self._outcome(state, None))
            if len(known) > self.most:
                raise TooLarge(f"more than {self.most} states")
        self.states = len(known)
        return found

    def _failed(self, state: State) -> int | None:
        for number, rank in enumerate(state.ranks):
            if rank.at < len(self.code[number]) and self.code[number][rank.at].op.what == "fail":
                return number
        return None

    def _outcome(self, state: State, failed: int | None) -> Outcome:
        ranks = []
        for number, rank in enumerate(state.ranks):
            where: Any = END if rank.at == len(self.code[number]) else rank.at
            ranks.append((rank.seen, FAILED if number == failed else where))
        lost: frozenset[tuple[int, int]] = frozenset()
        if all(where == END for _, where in ranks):
            lost = frozenset((message.sender, message.number) for _, queue in state.sent for message in queue)
        return Outcome(tuple(ranks), lost, failed)

    # -- steps --------------------------------------------------------------------------------------------------------

    def _moves(self, state: State) -> Iterator[Move]:
        moves: list[Move] = []
        for number, rank in enumerate(state.ranks):
            if rank.at < len(self.code[number]):
                step = self.code[number][rank.at]
                mine = list(self._steps(state, number, rank, step))
                if self.quick and step.op.what in LOCAL and len(mine) == 1 and mine[0][1]:
                    yield mine[0]
                    return
                moves += mine
        yield from moves
        for after in self._matches(state):
            yield after, True

    def _matches(self, state: State) -> Iterator[State]:
        """Rule 2."""
        for (comm, receiver), receives in state.posted:
            for queue in state.queues_to(comm, receiver):
                for at, message in enumerate(queue):
                    first = next((one for one in receives if one.matches(message)), None)
                    if first is None or any(first.matches(earlier) for earlier in queue[:at]):
                        continue
                    after = state.without(comm, receiver, message).completed(message)
                    left = tuple(one for one in receives if one is not first)
                    after = after.with_posted(comm, receiver, left)
                    rank = after.ranks[receiver].with_slot(first.slot, ("recv", message.content))
                    yield after.with_rank(receiver, rank)

    def _steps(self, state: State, number: int, rank: Rank, step: Step) -> Iterator[Move]:
        op = step.op
        if op.what in COLLECTIVES:
            yield from self._collective(state, number, rank, step)
            return
        if op.what == "jump":
            yield state.with_rank(number, rank._replace(at=step.next)), True
            return
        if op.what == "if":
            is_true = getattr(rank, op.peer) == op.value
            yield state.with_rank(number, rank._replace(at=step.next if is_true else step.otherwise)), True
            return
        kind = "send" if op.what.endswith("send") else "recv" if op.what in ("recv", "irecv") else None
        if kind is None:
            makers: Any = {"mrecv": self._mrecv, "peek": self._peek}.get(op.what, self._complete)
            makers = self._probe if "probe" in op.what else makers
            for after in makers(state, number, rank, step):
                yield after, True
            return
        starts = op.what.startswith("i")
        if not starts and rank.phase:
            what = rank.slots[0]
            if what[1]:
                done = rank.with_slot(0, None)._replace(phase=0)
                yield state.with_rank(number, self._received(done, step, what[1] if kind == "recv" else None)), True
            return
        start = self._send if kind == "send" else self._post
        after, is_done = start(state, number, rank, op, op.slots[0] if starts else 0)
        rank = after.ranks[number]
        if starts or is_done:
            rank = rank._replace(at=step.next) if starts else rank.with_slot(0, None)._replace(at=step.next)
        else:
            rank = rank._replace(phase=1)
        yield after.with_rank(number, rank), True

    def _send(self, state: State, number: int, rank: Rank, op: Op, slot: int) -> tuple[State, bool]:
        """Rule 4; also whether the send is complete."""
        group = self.program.group(op.comm, number)
        receiver = group[op.peer]
        is_done = "ss" not in op.what and (self.eager is None or op.size <= self.eager)
        if "ss" not in op.what:
            self.sizes.add(op.size)
        source, notify = group.index(number), None if is_done else slot
        message = Message(number, rank.at, source, op.tag, self._value(rank, op), op.size, notify)
        queue = state.queue(op.comm, receiver, number)
        after = state.with_queue(op.comm, receiver, number, (*queue, message))
        return after.with_rank(number, rank.with_slot(slot, ("send", is_done))), is_done

    def _post(self, state: State, number: int, rank: Rank, op: Op, slot: int) -> tuple[State, bool]:
        receive = Posted(slot, op.peer, op.tag)
        after = state.with_posted(op.comm, number, (*state.posted_at(op.comm, number), receive))
        after = after.with_some_seen(op.comm, number, without=op.tag)
        for queue in after.queues_to(op.comm, number):
            if any(one.seen and receive.matches(one) for one in queue):
                marked = tuple(one._replace(seen=UNSEEN) if receive.matches(one) else one for one in queue)
                after = after.with_queue(op.comm, number, queue[0].sender, marked)
        return after.with_rank(number, rank.with_slot(slot, ("recv", None))), False

    def _value(self, rank: Rank, op: Op) -> int:
        return rank.last if op.value == LAST else int(op.value)

    def _received(self, rank: Rank, step: Step, content: Any) -> Rank:
        """The rank after a blocking send or receive."""
        if content is None:
            return rank._replace(at=step.next)
        rank = self._learns(rank, step.op, content)
        return rank._replace(at=step.next, seen=(*rank.seen, (rank.at, shown(content, step.op.status))))

    def _learns(self, rank: Rank, op: Op, content: Any) -> Rank:
        return rank._replace(last=content[0], source=content[2] if op.status else rank.source)

    # -- probes -------------------------------------------------------------------------------------------------------

    def _probe(self, state: State, number: int, rank: Rank, step: Step) -> Iterator[State]:
        """Rules 5 and 6."""
        op, polls, takes = step.op, step.op.what in POLLS, "m" in step.op.what
        receives, pattern = state.posted_at(op.comm, number), Posted(0, op.peer, op.tag)
        must = op.peer == ANY and op.tag in state.some_seen_at(op.comm, number)
        for queue in state.queues_to(op.comm, number):
            message = next((one for one in queue if pattern.matches(one)), None)
            if message is None or any(one.matches(message) for one in receives):
                continue
            must |= message.seen == BY_ANY_TAG or (message.seen == BY_TAG and op.tag == message.tag)
            status = (message.source, message.tag) if op.status else ()
            who = rank._replace(source=message.source) if op.status else rank
            if takes:
                after = state.without(op.comm, number, message).with_some_seen(op.comm, number, without=op.tag)
                who = who.with_slot(op.slots[0], ("message", message))
            elif self.lenient:
                after = state
            elif op.peer == ANY and not op.status:
                after = state.with_some_seen(op.comm, number, tag=op.tag)
            else:
                how = max(message.seen, BY_ANY_TAG if op.tag == ANY else BY_TAG)
                marked = tuple(one._replace(seen=how) if one is message else one for one in queue)
                after = state.with_queue(op.comm, number, message.sender, marked)
            yield after.with_rank(number, self._answered(who, step, True, status) if polls else self._saw(who, step, status))
        if polls and not must:
            yield state.with_rank(number, self._answered(rank, step, False, ()))

    def _mrecv(self, state: State, number: int, rank: Rank, step: Step) -> Iterator[State]:
        (slot,) = step.op.slots
        if rank.slots[slot] is None:
            yield state.with_rank(number, self._saw(rank, step, ()))
            return
        message = rank.slots[slot][1]
        after = state.completed(message)
        rank = self._learns(after.ranks[number].with_slot(slot, None), step.op, message.content)
        yield after.with_rank(number, self._saw(rank, step, shown(message.content, step.op.status)))

    def _peek(self, state: State, number: int, rank: Rank, step: Step) -> Iterator[State]:
        """Rule 9."""
        what = rank.slots[step.op.slots[0]]
        contents: list[tuple[int, ...]] = [()]
        if what is not None and what[1] is not None and self.data == "any":
            contents.append(shown(what[1], False))
        for content in contents:
            yield state.with_rank(number, self._saw(rank._replace(flag=bool(content)), step, content))

    def _saw(self, rank: Rank, step: Step, what: Any) -> Rank:
        return rank._replace(at=step.next, phase=0, seen=(*rank.seen, (rank.at, what)))

    def _answered(self, rank: Rank, step: Step, flag: bool, what: Any) -> Rank:
        """A poll was successful or not; if not, it is repeated unless that was the last time."""
        rank = rank._replace(flag=flag, seen=(*rank.seen, (rank.at, flag, what)))
        if flag or rank.phase + 1 >= step.op.times:
            return rank._replace(at=step.next, phase=0)
        return rank._replace(phase=rank.phase + 1)

    # -- completion of requests -----------------------------------------------------------------------------------------

    def _complete(self, state: State, number: int, rank: Rank, step: Step) -> Iterator[State]:
        """Rule 7."""
        op = step.op
        polls, how = op.what in POLLS, op.what[4:]
        active = [i for i, slot in enumerate(op.slots) if rank.slots[slot] is not None]
        done = [i for i in active if self._is_done(state, number, rank.slots[op.slots[i]])]
        answers: list[tuple[int, ...]] = []
        if not active:
            answers = [()]
        elif how == "any":
            answers = [(i,) for i in done]
        elif how == "some":
            answers = [some for size in range(1, len(done) + 1) for some in combinations(done, size)]
        elif len(done) == len(active):
            answers = [tuple(active)]
        for answer in answers:
            after = rank
            contents: list[tuple[int, ...]] = []
            for i in answer:
                what = rank.slots[op.slots[i]]
                after = after.with_slot(op.slots[i], None)
                if what[0] == "recv":
                    after = self._learns(after, op, what[1])
                contents.append(shown(what[1], op.status) if what[0] == "recv" else ())
            seen = (tuple(answer), tuple(contents)) if how in ("any", "some") else tuple(contents)
            yield state.with_rank(number, self._answered(after, step, True, seen) if polls else self._saw(after, step, seen))
        if polls and active:
            yield state.with_rank(number, self._answered(rank, step, False, ()))

    def _is_done(self, state: State, number: int, what: Any) -> bool:
        if what[0] == "call":
            _, comm, which = what
            return self._may_leave(state, number, comm, which)[0]
        return bool(what[1])

    # -- collective calls -----------------------------------------------------------------------------------------------

    def _collective(self, state: State, number: int, rank: Rank, step: Step) -> Iterator[Move]:
        """Rule 8."""
        op = step.op
        group = self.program.group(op.comm, number)
        calls = dict(state.calls).get((op.comm, group[0]), ())
        mine = [which for which, entries in enumerate(calls) if number in dict(entries)]
        if rank.phase:
            which = mine[-1]
            may, must = self._may_leave(state, number, op.comm, which)
            if may:
                result = self._result(op, group, number, dict(calls[which]))
                yield state.with_rank(number, self._saw(rank, step, result)), must
            return
        which = len(mine)
        calls = (*calls, ()) if which == len(calls) else calls
        name = op.what, op.peer if op.what in ("bcast", "reduce", "gather") else None
        for _, other in calls[which]:
            if other[0] != name:
                raise Invalid(f"collective calls differ: {name} and {other[0]}")
        entry = tuple(sorted((*calls[which], (number, (name, self._value(rank, op))))))
        calls = (*calls[:which], entry, *calls[which + 1 :])
        after = state._replace(calls=changed(state.calls, (op.comm, group[0]), calls))
        if op.what == "ibarrier":
            rank = rank.with_slot(op.slots[0], ("call", op.comm, which))._replace(at=step.next)
        else:
            rank = rank._replace(phase=1)
        yield after.with_rank(number, rank), True

    def _may_leave(self, state: State, number: int, comm: int, which: int) -> tuple[bool, bool]:
        """Whether a rank may leave a call, and whether it does in the end if nothing else happens."""
        group = self.program.group(comm, number)
        entries = dict(dict(state.calls)[comm, group[0]][which])
        (what, root), _ = entries[number]
        needed = self._needed(what, group, number, root)
        all_there = len(entries) == len(group)
        may = all_there if self.collectives == "synchronizing" else all(one in entries for one in needed)
        return may, may if self.collectives != "any" else all_there

    def _needed(self, what: str, group: Sequence[int], number: int, root: Any) -> Sequence[int]:
        """The ranks on whose contribution the result of a rank depends."""
        if what == "bcast":
            return [group[root]]
        if what in ("reduce", "gather"):
            return group if group[root] == number else []
        if what == "scan":
            return group[: group.index(number) + 1]
        return group

    def _result(self, op: Op, group: Sequence[int], number: int, entries: dict[int, Any]) -> Any:
        given = {one: value for one, (_, value) in entries.items()}
        if op.what == "bcast":
            return given[group[op.peer]]
        if op.what in ("barrier", "ibarrier") or (op.what in ("reduce", "gather") and group[op.peer] != number):
            return None
        if op.what == "gather":
            return tuple(given[one] for one in group)
        return sum(given[one] for one in self._needed(op.what, group, number, op.peer))


def shown(content: Sequence[int], status: bool) -> tuple[int, ...]:
    """Return what the program observes of a message: value and size, and the rest if it takes a status."""
    return tuple(content) if status else tuple(content[:2])


def outcomes(program: Program, eager: int | None, collectives: str = "minimal", **options: Any) -> set[Outcome]:
    """All outcomes of a program: `eager` is 0, None (unlimited) or the bytes up to which standard sends are buffered."""
    return Interpreter(program, eager, collectives, **options).outcomes()


def check(program: Program) -> None:
    """Raise Invalid if a program names something that is not there, which shrinking can cause."""
    for number, ops in enumerate(program.ranks):
        made: set[int] = set()
        for op in operations(ops):
            group = program.group(op.comm, number)
            if not group or (isinstance(op.peer, int) and op.peer >= len(group)):
                raise Invalid(f"rank {number}: {op} names a rank that is not there")
            if op.what in ("isend", "issend", "irecv", "ibarrier", "mprobe", "improbe"):
                if op.slots[0] in made:
                    raise Invalid(f"rank {number}: request {op.slots[0]} is made twice")
                made.add(op.slots[0])
        completed = {slot for op in ops if op.what in ("wait", "waitall", "mrecv") for slot in op.slots}
        if made - completed:
            raise Invalid(f"rank {number}: requests {made - completed} are not completed")
