"""Claims of algorithms that run other algorithms on groups of ranks, in phases, derived from the claims of these parts.

In a phase, disjoint groups run an algorithm each, at the same time and independently of each other. A rank begins the next
phase when it has finished its part of the previous one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import NamedTuple, TypeAlias

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.array_round import ArrayRound, in_groups, joined
from collectives.catalogue.conditions import no_scratch
from collectives.catalogue.schedule import Combining, LinearPhase, PrepostedRound, Round, Rounds, Streams, renumbered


class GroupCase(NamedTuple):
    """An algorithm on some ranks; the case counts them from 0."""

    ranks: Sequence[int]
    algorithm: Algorithm
    case: Case


Phase: TypeAlias = Sequence[GroupCase]


def no_rounds(case: Case) -> Iterable[Rounds]:
    """Return no rounds: the default of `own_rounds`, for an algorithm whose parts send all its messages."""
    return ()


def phased_claims(
    phases: Callable[[Case], Iterable[Phase]],
    why_unsupported: Callable[[Case], str | None],
    own_scratch: Callable[[Case, int], int] = no_scratch,
    own_rounds: Callable[[Case], Iterable[Rounds]] = no_rounds,
) -> Claims:
    """The claims of consecutive phases.

    `why_unsupported` checks the preconditions of the phases, such as a valid placement. `own_scratch` is the scratch
    memory of the algorithm in addition to that of its parts; `own_rounds` are its own messages after each phase.
    """

    def unsupported(case: Case) -> str | None:
        if reason := why_unsupported(case):
            return reason
        for _, algorithm, part in chain.from_iterable(map(alike, phases(case))):
            if reason := algorithm.why_unsupported(part):
                return f"{algorithm.operation} {algorithm.name}: {reason}"
        return None

    def schedule(case: Case) -> Rounds | None:
        later = chain.from_iterable(islice(phases(case), 1, None))
        if any(serves_as_ready(group.algorithm) for group in later):
            return None
        plans = [[(groups, algorithm.plan(part)) for groups, algorithm, part in alike(phase)] for phase in phases(case)]
        known = [[(groups, plan) for groups, plan in phase if plan is not None] for phase in plans]
        if [*map(len, plans)] != [*map(len, known)]:
            return None
        both = zip_longest(map(merged_schedules, known), own_rounds(case), fillvalue=())
        return chain.from_iterable(chain.from_iterable(both))

    def scratch(case: Case, rank: int) -> int:
        parts = (group for group in chain.from_iterable(phases(case)) if rank in group.ranks)
        return own_scratch(case, rank) + sum(a.scratch(part, ranks.index(rank)) for ranks, a, part in parts)

    return Claims(schedule=schedule, scratch=scratch, why_unsupported=unsupported, closed_combined=lambda case: None)


def serves_as_ready(algorithm: Algorithm) -> bool:
    """Whether the order of messages depends on when ranks begin, so that the schedule holds only if all begin at once.

    A root that receives directly from all ranks serves them in the order in which they begin: in a linear gather, and in a
    linear barrier. Gathers with other names, such as user-defined ones, are assumed to serve ranks in this order, too.
    """
    if (algorithm.operation, algorithm.name) == ("barrier", "linear"):
        return True
    if algorithm.operation in ("gather", "gatherv"):
        return algorithm.name not in ("binomial", "knomial", "bine")
    parts = (part for part in algorithm.parameters.values() if isinstance(part, Algorithm))
    return any(serves_as_ready(part) for part in parts)


def alike(phase: Phase) -> list[tuple[list[Sequence[int]], Algorithm, Case]]:
    """The groups of a phase; consecutive groups that run an algorithm in the same case are together: their plans are equal.

    On 2,048 nodes, making a plan for each takes longer than the simulation of the messages.
    """
    found: list[tuple[list[Sequence[int]], Algorithm, Case]] = []
    for ranks, algorithm, case in phase:
        if found and found[-1][1] is algorithm and found[-1][2] == case:
            found[-1][0].append(ranks)
        else:
            found.append(([ranks], algorithm, case))
    return found


def merged_schedules(plans: Sequence[tuple[Sequence[Sequence[int]], Rounds]]) -> Iterator[Round]:
    """The schedules of disjoint groups as one schedule of all ranks; several groups may have the same one.

    >>> from collectives.catalogue.schedule import Transfer
    >>> one, other = [[Transfer(0, 1, 5)], [Transfer(1, 0, 5)]], [[Transfer(0, 1, 5)]]
    >>> merged = merged_schedules([([[2, 3], [7, 4]], one), ([[0, 1]], other)])
    >>> [[transfer[:2] for transfer in transfers] for transfers in merged]
    [[(2, 3), (7, 4), (0, 1)], [(3, 2), (4, 7)]]
    """
    for each_plan in zip_longest(*(_in_groups(plan, groups) for groups, plan in plans), fillvalue=()):
        rounds = list(chain.from_iterable(each_plan))
        # The groups are independent, so entries that are not plain rounds may precede the rounds of other groups.
        yield from (each for each in rounds if isinstance(each, (Streams, LinearPhase, Combining)))
        plain = [each for each in rounds if not isinstance(each, (Streams, LinearPhase, Combining))]
        for preposted in (True, False):
            every = joined([each for each in plain if isinstance(each, PrepostedRound) == preposted])
            if len(every):
                yield PrepostedRound(every) if preposted else every


def _in_groups(plan: Rounds, groups: Sequence[Sequence[int]]) -> Iterator[list[Round]]:
    """The rounds of a plan, with the numbers of each group: one entry for all groups where that is possible."""
    for transfers in plan:
        is_plain = not isinstance(transfers, (Streams, LinearPhase, Combining, PrepostedRound))
        if is_plain and (len(groups) > 1 or isinstance(transfers, ArrayRound)):
            yield [in_groups(transfers, groups)]
        else:
            yield [renumbered(transfers, ranks) for ranks in groups]
