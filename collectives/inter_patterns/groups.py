"""Two groups, A and B: their roles, and schedules of parts that groups run.

The two sides of an intercommunicator are symmetric: no rank can determine whether it is in A or in B, and two groups of
equal size with blocks of equal size cannot find out by messages either, since both do the same at the same time. An
algorithm therefore has three options. It can treat both groups alike. It can derive the roles from sizes that both sides
know (`comes_first`: the larger group is A; of two groups of equal size, the one with the larger blocks). Or the caller
passes `first=True` in one group and `first=False` in the other, like `high` of Intercomm.Merge. In a `Case`, A and B are
given, and `first` states whether A has the role of the first group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.closed_forms import no_bytes
from collectives.catalogue.composite import first_unsupported
from collectives.catalogue.conditions import any_case, no_scratch
from collectives.catalogue.schedule import Round, Rounds, Transfer, renumbered, sent_by
from collectives.inter_patterns.posted import posted
from collectives.tools.local import check_local
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

UNDECIDED = "both groups have {p} ranks and the same amount of data: pass first=True in one and first=False in the other"


class RootRole(Enum):
    """The `root` argument in the root's group: MPI's ROOT and PROC_NULL, whose numbers differ between MPI libraries."""

    ROOT = "root"
    PROC_NULL = "not root"


class ReduceScatterCall(NamedTuple):
    """The arguments of a reduce_scatter; of a reduce_scatter_block, `counts` is None, since all blocks are equal."""

    inter: Intercomm
    local: Comm
    sendbuf: Buffer
    recvbuf: Buffer
    counts: Sequence[int] | None
    op: Op
    tag: int


def comes_first(own: tuple[int, int], other: tuple[int, int], first: bool | None = None) -> bool | None:
    """Whether the local group has the role of A, given (ranks, elements to send) of both groups; None if undecided.

    >>> comes_first((6, 10), (2, 10)), comes_first((2, 10), (6, 10)), comes_first((2, 30), (2, 10))
    (True, False, True)
    >>> comes_first((2, 10), (2, 10)), comes_first((2, 10), (6, 10), first=True)
    (None, True)
    """
    if first is not None:
        return first
    return None if own == other else own > other


def checked_sizes(inter: Intercomm, local: Comm) -> tuple[int, int]:
    """Return the sizes of this group and of the other group. Raise ValueError if `local` is another group."""
    check_local(inter, local)
    return inter.Get_size(), inter.Get_remote_size()


def a_comes_first(case: Case) -> bool | None:
    """`comes_first` for group A of a case."""
    a, b = case.groups
    own, other = ((g.p, g.layout.size(0, g.p)) for g in (a, b))
    return comes_first(own, other, case.parameters.get("first"))


def with_process_numbers(schedule: Rounds | None, ranks: Sequence[int]) -> Iterator[Round]:
    """A group's schedule with process numbers: rank i of the group is process ranks[i]."""
    return (renumbered(transfers, ranks) for transfers in schedule or ())


GroupPart: TypeAlias = tuple[Algorithm, Case, Sequence[int]]
"""A part of an algorithm that a group, or a subset of one, runs: algorithm, case, process numbers."""


Step: TypeAlias = GroupPart | list[Transfer] | Callable[[], Rounds]
"""A part of an algorithm; a round of messages that belong to no part; or a function that returns such rounds."""


def in_both_groups(algorithm: Algorithm, case: Case, nbytes: tuple[int, int], **more: Any) -> list[GroupPart]:
    """The parts in which A and B run an algorithm on messages of these sizes; `more` are other properties of the calls."""
    sized = zip(process_numbers(case), nbytes, strict=True)
    return [(algorithm, Case(len(ranks), m, **{"itemsize": case.itemsize, **more}), ranks) for ranks, m in sized]


def without_combining(algorithm: Algorithm) -> Algorithm:
    """A copy of a reduction of counts and other small numbers, whose combining is free local work in the schedule."""

    def schedule(case: Case) -> Rounds | None:
        rounds = algorithm.schedule_for(case)
        return None if rounds is None else ([t._replace(combined=0) for t in transfers] for transfers in rounds)

    return replace(algorithm, schedule=schedule)


def schedule_of(steps: Iterable[Step]) -> Rounds | None:
    """The schedule of all steps: those of different processes run at the same time, those of one process in this order."""
    schedules: list[Rounds] = []
    for step in steps:
        if isinstance(step, tuple):
            algorithm, case, ranks = step
            schedule = algorithm.schedule_for(case)
            if schedule is None:
                return None
            schedules.append(with_process_numbers(schedule, ranks))
        else:
            schedules.append([step] if isinstance(step, list) else step())
    return chain.from_iterable(schedules)


def unsupported(parts: Sequence[GroupPart]) -> str | None:
    """Reason why the parts do not support their cases, or None."""
    return first_unsupported([(algorithm, case) for algorithm, case, _ in parts])


def sent_in(parts: Sequence[GroupPart], rank: int) -> int | None:
    """Bytes that a process sends in its parts; None if unknown."""
    amounts = [algorithm.sent(case, ranks.index(rank)) for algorithm, case, ranks in parts if rank in ranks]
    known = [nbytes for nbytes in amounts if nbytes is not None]
    return sum(known) if len(known) == len(amounts) else None


def scratch_in(parts: Sequence[GroupPart], rank: int) -> int:
    """Scratch memory of a process in its parts."""
    return sum(algorithm.scratch(case, ranks.index(rank)) for algorithm, case, ranks in parts if rank in ranks)


def part_claims(
    steps: Callable[[Case], Iterable[Step]],
    *,
    sent: Callable[[Case, int], int] = no_bytes,
    held: Callable[[Case, int], int] = no_scratch,
    why_unsupported: Callable[[Case], str | None] = any_case,
    reduces: bool = False,
    synchronous: bool | None = None,
) -> Claims:
    """The claims of an algorithm whose groups run parts.

    In addition to those of the parts and of the rounds in `steps`, a process sends `sent` bytes, holds `held` bytes of
    scratch memory, and `why_unsupported` has reasons. `synchronous` is as in `posted`; None if no communicator is composed.
    """

    def parts(case: Case) -> list[GroupPart]:
        return [step for step in steps(case) if isinstance(step, tuple)]

    def schedule(case: Case) -> Rounds | None:
        rounds = schedule_of(steps(case))
        return rounds if synchronous is None else posted(rounds, synchronous=synchronous)

    def closed_sent(case: Case, rank: int) -> int | None:
        within = sent_in(parts(case), rank)
        between = sent_by((step for step in steps(case) if isinstance(step, list)), rank)
        return None if within is None else within + between + sent(case, rank)

    return Claims(
        schedule=schedule,
        why_unsupported=lambda case: why_unsupported(case) or unsupported(parts(case)),
        scratch=lambda case, rank: scratch_in(parts(case), rank) + held(case, rank),
        closed_sent=closed_sent,
        closed_combined=lambda case: None if reduces else 0,
    )


def undecided(case: Case) -> str | None:
    """`why_unsupported` of an algorithm in which one group goes first."""
    return UNDECIDED.format(p=case.p) if a_comes_first(case) is None else None


def parameter_of(case: Case, defaults: Mapping[str, Any], name: str) -> Any:
    """The case's value of a parameter, or the default: `Algorithm.parameter` for code that several algorithms share."""
    return case.parameters.get(name, defaults[name])


def process_numbers(case: Case) -> tuple[range, range]:
    return range(case.p), range(case.p, case.ranks)


def group_and_rank(case: Case, rank: int) -> tuple[bool, int]:
    """Whether a process is in A, and its rank in its group."""
    return (True, rank) if rank < case.p else (False, rank - case.p)
