"""The representation of a small message program: per rank a list of operations.

An operation has a number, its position in the compiled list of its rank; observations and outcomes name operations by it.
Each rank has three variables: `last` (the last value that it received, at first 0), `source` (the source that a status
named last, at first -1) and `flag` (the result of the last test or nonblocking probe, or whether there were data in the
buffer that "peek" read; at first False).
Ranks, sources and destinations are ranks in the communicator of the operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

ANY = -1
"""Any source, any tag."""

LAST = "last"
"""As a value: what the rank received last."""

SENDS = ("send", "ssend", "isend", "issend")
RECEIVES = ("recv", "irecv")
PROBES = ("probe", "iprobe", "mprobe", "improbe")
COMPLETIONS = ("wait", "waitany", "waitsome", "waitall", "test", "testany", "testsome", "testall")
COLLECTIVES = ("barrier", "ibarrier", "bcast", "reduce", "gather", "allreduce", "scan")
POLLS = ("iprobe", "improbe", "test", "testany", "testsome", "testall")


class Op(NamedTuple):
    """One operation.

    Attributes
    ----------
    what : its name, in SENDS, RECEIVES, PROBES, COMPLETIONS, COLLECTIVES, or "mrecv", "peek", "if", "fail". "peek" reads
        the buffer of a receive that may be in progress, which is an error of the program
    comm : the number of the communicator; 0 is the world
    peer : destination, source or root; of "if", the variable: "last", "source" or "flag"
    tag : tag, or ANY
    value : what is sent or contributed (a number or LAST); of "if", what the variable is compared with
    size : bytes of the message
    slots : the requests (or the message of mprobe) that it makes or completes; each is made by one operation
    status : whether it takes a status, so that the program sees source, tag and size
    times : polls are repeated until they succeed, at most this often
    then, other : the operations of "if"
    """

    what: str
    comm: int = 0
    peer: Any = None
    tag: int = 0
    value: Any = 1
    size: int = 1
    slots: tuple[int, ...] = ()
    status: bool = False
    times: int = 1
    then: tuple[Any, ...] = ()
    other: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        defaults = self._field_defaults
        given = {name: value for name, value in self._asdict().items() if name in defaults and value != defaults[name]}
        shown = [f"{name}={value!r}" for name, value in given.items()]
        return f"Op({', '.join([repr(self.what), *shown])})"


class Program(NamedTuple):
    """Operations per rank, and the communicators that are made by Split at the start.

    Attributes
    ----------
    ranks : per rank its operations
    splits : per communicator, from 1 on: per rank its (color, key), or None if the rank is in no group
    objects : whether messages are pickled objects (send) or buffers (Send)
    """

    ranks: tuple[tuple[Op, ...], ...]
    splits: tuple[tuple[tuple[int, int] | None, ...], ...] = ()
    objects: bool = False

    def group(self, comm: int, rank: int) -> tuple[int, ...]:
        """The members of the group of a rank in a communicator, by their world ranks; empty if it is in none."""
        if comm == 0:
            return tuple(range(len(self.ranks)))
        split = self.splits[comm - 1]
        mine = split[rank]
        if mine is None:
            return ()
        members = [(one[1], other) for other, one in enumerate(split) if one is not None and one[0] == mine[0]]
        return tuple(other for _, other in sorted(members))

    def __repr__(self) -> str:
        lines = ",\n".join(f"    {ops!r}" for ops in self.ranks)
        more = "".join(f", {name}={getattr(self, name)!r}" for name in ("splits", "objects") if getattr(self, name))
        return f"Program((\n{lines},\n){more})"


class Step(NamedTuple):
    """A compiled operation: the operation and the numbers of the next one, and of the next one if a condition is false."""

    op: Op
    next: int
    otherwise: int


def compiled(ops: Sequence[Op]) -> list[Step]:
    """Operations without nesting; the end of the rank is the number after the last one."""
    steps: list[Any] = []

    def add(some: Sequence[Op]) -> None:
        for op in some:
            at = len(steps)
            steps.append(None)
            if op.what != "if":
                steps[at] = Step(op, at + 1, at + 1)
                continue
            add(op.then)
            end_of_then = len(steps)
            steps.append(None)  # a jump over the other branch
            start = len(steps)
            add(op.other)
            steps[at] = Step(op, at + 1, start)
            steps[end_of_then] = Step(Op("jump"), len(steps), len(steps))

    add(ops)
    return steps


def operations(ops: Sequence[Op]) -> Iterator[Op]:
    """All operations, those of branches too."""
    for op in ops:
        yield op
        yield from operations(op.then)
        yield from operations(op.other)


def count(program: Program) -> int:
    """How many operations a program has."""
    return sum(1 for ops in program.ranks for _ in operations(ops))
