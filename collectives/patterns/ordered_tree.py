"""Broadcast along any tree, in which each rank sends to its children in a given order.

A tree is the list of its edges, ordered so that a rank is reached before it sends; a rank sends in the order of the list.
All ranks compute the same list from data that all of them know: the costs of sending (`tools.costs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Seconds, Transfer
from collectives.tools.costs import Costs, hashable, send_times, unsupported_costs
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm


class OrderedTree:
    """Parent and children of each rank, in the order of sending. O(p) memory.

    >>> tree = OrderedTree([(1, 0), (1, 2), (0, 3)], 4)
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
        """The time at which each rank has the message, if rank r needs times[r] to send it, and all ranks start at 0.

        >>> OrderedTree([(0, 1), (0, 2), (1, 3)], 4).arrivals([10, 1, 1, 1])
        [0, 10, 20, 11]
        """
        arrived: list[Seconds] = [0] * len(self.parents)
        free: list[Seconds] = [0] * len(self.parents)
        for source, dest in self.edges:
            free[source] += times[source]
            arrived[dest] = free[dest] = free[source]
        return arrived


class Trees:
    """The trees that a rule computes from each rank's time to send and from the root.

    All ranks of an emulation share them.
    """

    def __init__(self, rule: Callable[[Sequence[Any], int], Iterable[tuple[int, int]]]) -> None:
        @lru_cache(maxsize=64)
        def tree(costs: Any, p: int, root: int, nbytes: int) -> OrderedTree:
            return OrderedTree(rule(send_times(costs, p, nbytes), root), p)

        self._tree = tree

    def of(self, costs: Costs, p: int, root: int, nbytes: int) -> OrderedTree:
        """The tree for a message of `nbytes` bytes."""
        return self._tree(hashable(costs), p, root, nbytes)

    def of_case(self, case: Case) -> OrderedTree:
        return self.of(case.parameters.get("costs", EQUAL_COSTS), case.p, case.root, case.m)

    def time_by_costs(self, case: Case) -> Seconds:
        """The time at which the last rank has the message, on a machine with the costs of the case."""
        times = send_times(case.parameters.get("costs", EQUAL_COSTS), case.p, case.m)
        return max(self.of_case(case).arrivals(times)) if case.m else 0

    @property
    def claims(self) -> Claims:
        """The claims in the model, where all messages cost the same."""
        return Claims(schedule=self._schedule, why_unsupported=valid_costs_only, closed_sent=self._sent)

    def _schedule(self, case: Case) -> Iterator[Round]:
        for source, dest in self.of_case(case).edges if case.m else ():
            yield [Transfer(source, dest, case.m)]

    def _sent(self, case: Case, rank: int) -> int:
        return len(self.of_case(case).children[rank]) * case.m


EQUAL_COSTS = 1
"""The default costs: the same for all ranks."""


def valid_costs_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm with a parameter `costs`."""
    return unsupported_costs(case.parameters.get("costs", EQUAL_COSTS), case.p)


def send_down(comm: Comm, buf: Buffer, tree: OrderedTree, tag: int) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    rank = comm.Get_rank()
    parent = tree.parents[rank]
    if parent is not None:
        receive(comm, buf, parent, tag)
    for child in tree.children[rank]:
        send(comm, buf, child, tag)
