"""Any tree that a message goes down, each rank serving its children in an order of its own.

A tree is the list of its edges, in an order in which a rank is reached before it sends, and sends as the list has it. All
ranks make the same list from what all of them know: what each takes to send (`tools.costs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypedDict

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Schedule, Seconds, Transfer
from collectives.tools.costs import Costs, hashable, misfit_of_costs, send_times
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm


class Tree:
    """Who sends to whom, in which order. O(p) memory.

    >>> tree = Tree([(1, 0), (1, 2), (0, 3)], 4)
    >>> tree.parents, tree.children
    ([1, None, 1, 0], [[3], [0, 2], [], []])
    """

    __slots__ = ("children", "edges", "parents")

    def __init__(self, edges: Iterable[tuple[int, int]], p: int) -> None:
        self.edges = tuple(edges)
        self.parents: list[int | None] = [None] * p
        self.children: list[list[int]] = [[] for _ in range(p)]
        for source, dest in self.edges:
            self.parents[dest] = source
            self.children[source].append(dest)

    def arrivals(self, times: Sequence[Seconds]) -> list[Seconds]:
        """When each rank has the message, if rank r takes times[r] to send it and all wait for it from the start.

        >>> Tree([(0, 1), (0, 2), (1, 3)], 4).arrivals([10, 1, 1, 1])
        [0, 10, 20, 11]
        """
        arrived: list[Seconds] = [0] * len(self.parents)
        free: list[Seconds] = [0] * len(self.parents)
        for source, dest in self.edges:
            free[source] += times[source]
            arrived[dest] = free[dest] = free[source]
        return arrived


class DownATree(TypedDict):
    """What a broadcast down a tree claims, to stand beside its pace where that is known."""

    schedule: Callable[[Case], Schedule]
    fits: Callable[[Case], str | None]
    closed_sent: Callable[[Case, int], int | None]


class Trees:
    """The trees that a rule makes of what each rank takes to send and of the root; one for all ranks of an emulation."""

    def __init__(self, rule: Callable[[Sequence[Any], int], Iterable[tuple[int, int]]]) -> None:
        @lru_cache(maxsize=64)
        def tree(costs: Any, p: int, root: int, nbytes: int) -> Tree:
            return Tree(rule(send_times(costs, p, nbytes), root), p)

        self._tree = tree

    def of(self, costs: Costs, p: int, root: int, nbytes: int) -> Tree:
        """The tree for a message of so many bytes."""
        return self._tree(hashable(costs), p, root, nbytes)

    def of_case(self, case: Case) -> Tree:
        """The same on paper."""
        return self.of(case.parameters.get("costs", ALIKE), case.p, case.root, case.m)

    def time_by_costs(self, case: Case) -> Seconds:
        """When the last rank has the message on a machine that has these costs."""
        times = send_times(case.parameters.get("costs", ALIKE), case.p, case.m)
        return max(self.of_case(case).arrivals(times)) if case.m else 0

    @property
    def claims(self) -> DownATree:
        """In the model, where all messages cost the same."""
        return DownATree(schedule=self._schedule, fits=known_costs_only, closed_sent=self._sent)

    def _schedule(self, case: Case) -> Iterator[Round]:
        for source, dest in self.of_case(case).edges if case.m else ():
            yield [Transfer(source, dest, case.m)]

    def _sent(self, case: Case, rank: int) -> int:
        return len(self.of_case(case).children[rank]) * case.m


ALIKE = 1
"""Costs where nothing is said: all ranks take the same."""


def known_costs_only(case: Case) -> str | None:
    return misfit_of_costs(case.parameters.get("costs", ALIKE), case.p)


def send_down(comm: Comm, buf: Buffer, tree: Tree, tag: int) -> None:
    """Leave the root's `buf` in everybody's `buf`."""
    rank = comm.Get_rank()
    parent = tree.parents[rank]
    if parent is not None:
        receive(comm, buf, parent, tag)
    for child in tree.children[rank]:
        send(comm, buf, child, tag)
