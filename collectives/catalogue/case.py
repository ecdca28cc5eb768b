"""A case: one use of an algorithm, with everything that its cost depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from collectives.tools.blocks import Layout


class DoesNotFit(ValueError):
    """The algorithm cannot serve this case; the message says why. Nothing was sent."""


@dataclass(frozen=True)
class Case:
    """One use of an algorithm: everything that its cost depends on.

    `m` is bytes: of one rank's block (gather, scatter, allgather, alltoall, reduce_scatter_block) or of the whole
    message (bcast, reduce, allreduce, scan, exscan). Operations with blocks of different sizes take `counts` in its
    place, elements per rank, or `traffic`, where row i says how many elements rank i sends to each (alltoallv and w).

    Between two groups (kind "inter") p, m, counts and traffic are those of group A, and q, m_b, counts_b and traffic_b
    those of group B: Kang et al.'s k_A is m and their k_B is m_b. Rooted operations have their root in A. Claims number
    the processes through: rank i of A is i, rank j of B is p + j. Which group is called A is the case's affair only; an
    algorithm that needs roles finds them by itself (`between.groups`).

    Parameters
    ----------
    p, q
        How many ranks; of the second group, if there is one.
    m, m_b
        Bytes: see above.
    counts, counts_b, traffic, traffic_b
        Elements per rank, or from each to each.
    root, itemsize, commutative, in_place
        Of the call: its root, bytes of an element, whether the op commutes, whether it is in place.
    parameters
        Values of the algorithm's own parameters.

    Examples
    --------
    >>> Case(p=6, q=2, m=1000, m_b=3000).ranks
    8
    """

    p: int
    m: int = 0
    counts: tuple[int, ...] | None = None
    traffic: tuple[tuple[int, ...], ...] | None = None
    root: int = 0
    itemsize: int = 1
    commutative: bool = True
    in_place: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    q: int = 0
    m_b: int = 0
    counts_b: tuple[int, ...] | None = None
    traffic_b: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        for name, nbytes in (("m", self.m), ("m_b", self.m_b)) if self.m or self.m_b else ():
            if nbytes % self.itemsize:
                raise ValueError(f"{name} = {nbytes} bytes is not a whole number of elements of {self.itemsize} bytes")
        if self.counts is None and self.counts_b is None and self.traffic is None and self.traffic_b is None:
            return  # as texts have it that only ask whether they fit
        for name, counts, size in (("p", self.counts, self.p), ("q", self.counts_b, self.q)):
            if counts is not None and len(counts) != size:
                raise ValueError(f"{len(counts)} counts for {name} = {size} ranks")
        others = self.q or self.p
        for traffic, rows, columns in ((self.traffic, self.p, others), (self.traffic_b, self.q, self.p)):
            if traffic is not None and [len(row) for row in traffic] != [columns] * rows:
                raise ValueError(f"traffic must have {rows} rows of {columns} counts, one for each pair of ranks")

    @property
    def ranks(self) -> int:
        """All processes that take part: p, or p + q where there are two groups."""
        return self.p + self.q

    @property
    def groups(self) -> tuple[Case, Case]:
        """Groups A and B each as a case of its own: p, m, counts and itemsize."""
        return (
            Case(self.p, self.m, self.counts, itemsize=self.itemsize),
            Case(self.q, self.m_b, self.counts_b, itemsize=self.itemsize),
        )

    @property
    def elements(self) -> int:
        """m in elements."""
        return self.m // self.itemsize

    @property
    def layout(self) -> Layout:
        """The blocks of all ranks in rank order, in elements."""
        if self.counts is not None:
            return Layout.of(self.counts)
        return Layout.equal(self.elements * self.p, self.p)

    def between(self, source: int, dest: int) -> int:
        """Bytes that `source` has for `dest` in an alltoall of any kind."""
        return self.m if self.traffic is None else self.traffic[source][dest] * self.itemsize
