"""The smallest program that still disagrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.modelcheck.oracle.interpreter import Invalid, TooLarge, check
from tests.modelcheck.oracle.program import ANY, Op, Program


def shrunk(program: Program, disagrees: Callable[[Program], bool]) -> Program:
    """Remove and simplify operations while the program still disagrees."""
    smaller: Program | None = program
    while smaller is not None:
        program = smaller
        smaller = next((one for one in _simpler(program) if is_valid(one) and _tried(one, disagrees)), None)
    return program


def is_valid(program: Program) -> bool:
    """Whether all that a program names is there."""
    try:
        check(program)
    except Invalid:
        return False
    return True


def _tried(program: Program, disagrees: Callable[[Program], bool]) -> bool:
    try:
        return disagrees(program)
    except (Invalid, TooLarge):
        return False


def _simpler(program: Program) -> Iterator[Program]:
    if program.objects:
        yield program._replace(objects=False)
    for rank, ops in enumerate(program.ranks):
        for fewer in _without_one(ops):
            yield program._replace(ranks=(*program.ranks[:rank], fewer, *program.ranks[rank + 1 :]))
    if program.splits and all(op.comm == 0 for ops in program.ranks for op in ops):
        yield program._replace(splits=())
    if len(program.ranks) > 1 and not program.ranks[-1] and not program.splits:
        yield program._replace(ranks=program.ranks[:-1])
    for rank, ops in enumerate(program.ranks):
        for other in _with_simpler(ops):
            yield program._replace(ranks=(*program.ranks[:rank], other, *program.ranks[rank + 1 :]))


def _without_one(ops: Sequence[Op]) -> Iterator[tuple[Op, ...]]:
    for at, op in enumerate(ops):
        before, after = tuple(ops[:at]), tuple(ops[at + 1 :])
        yield (*before, *after)
        if op.what == "if":
            yield (*before, *op.then, *after)
            yield (*before, *op.other, *after)
            for then in _without_one(op.then):
                yield (*before, op._replace(then=then), *after)
            for other in _without_one(op.other):
                yield (*before, op._replace(other=other), *after)


def _with_simpler(ops: Sequence[Op]) -> Iterator[tuple[Op, ...]]:
    for at, op in enumerate(ops):
        before, after = tuple(ops[:at]), tuple(ops[at + 1 :])
        others = []
        if op.status:
            others.append(op._replace(status=False))
        if op.times > 1:
            others.append(op._replace(times=op.times - 1))
        if op.what != "if" and op.value not in (1, None):
            others.append(op._replace(value=1))
        if op.size != 1:
            others.append(op._replace(size=1))
        if op.tag == ANY:
            others.append(op._replace(tag=0))
        if len(op.slots) > 1:
            others += [op._replace(slots=(*op.slots[:i], *op.slots[i + 1 :])) for i in range(len(op.slots))]
        if op.what in ("ssend", "issend"):
            others.append(op._replace(what=op.what.replace("ss", "s")))
        for other in others:
            yield (*before, other, *after)
