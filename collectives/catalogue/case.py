"""One use of an algorithm, with every quantity that its cost depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from collectives.tools.blocks import Layout

Parameters: TypeAlias = Mapping[str, Any]
"""Values of parameters by name. A value has the type of the parameter's default: a number, a name, a list of nodes,
or another algorithm. Names differ between algorithms, so static types cannot express this, and the values are Any."""


class UnsupportedCaseError(ValueError):
    """The algorithm does not support this case; the message gives the reason. No message was sent."""


@dataclass(frozen=True)
class Case:
    """One use of an algorithm, with every quantity that its cost depends on.

    `m` is in bytes: of one rank's block (gather, scatter, allgather, alltoall, reduce_scatter_block) or of the whole
    message (bcast, reduce, allreduce, scan, exscan). Operations with blocks of different sizes have `counts` instead,
    elements per rank, or `traffic`, where row i has the number of elements from rank i to each rank (alltoallv and
    alltoallw).

    Between two groups (kind "inter") p, m, counts and traffic are those of group A, and q, m_b, counts_b and traffic_b
    those of group B: Kang et al.'s k_A is m and their k_B is m_b. Rooted operations have their root in A. Claims number
    all processes: rank i of A is i, rank j of B is p + j. The names A and B exist only in the case; an algorithm whose
    groups have different roles determines them at run time (`inter_patterns.groups`).

    Parameters
    ----------
    p, q
        Number of ranks; of the second group, if there is one.
    m, m_b
        Bytes: see above.
    counts, counts_b, traffic, traffic_b
        Elements per rank, or for each pair of ranks.
    root, itemsize, commutative, in_place
        Of the call: its root, bytes per element, whether the op is commutative, whether it is in place.
    parameters
        Values of the algorithm's parameters.

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
    parameters: Parameters = field(default_factory=dict)
    q: int = 0
    m_b: int = 0
    counts_b: tuple[int, ...] | None = None
    traffic_b: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        for name, nbytes in (("m", self.m), ("m_b", self.m_b)) if self.m or self.m_b else ():
            if nbytes % self.itemsize:
                raise ValueError(f"{name} = {nbytes} bytes is not a whole number of elements of {self.itemsize} bytes")
        if self.counts is None and self.counts_b is None and self.traffic is None and self.traffic_b is None:
            return  # the common case: `check` at the start of an algorithm
        for name, counts, size in (("p", self.counts, self.p), ("q", self.counts_b, self.q)):
            if counts is not None and len(counts) != size:
                raise ValueError(f"{len(counts)} counts for {name} = {size} ranks")
        others = self.q or self.p
        for traffic, rows, columns in ((self.traffic, self.p, others), (self.traffic_b, self.q, self.p)):
            if traffic is not None and [len(row) for row in traffic] != [columns] * rows:
                raise ValueError(f"traffic must have {rows} rows of {columns} counts each, one count for each pair of ranks")

    @property
    def ranks(self) -> int:
        """Number of all processes: p, or p + q with two groups."""
        return self.p + self.q

    @property
    def groups(self) -> tuple[Case, Case]:
        """Groups A and B as separate cases: p, m, counts and itemsize."""
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
        """Bytes from `source` to `dest` in an alltoall of any kind."""
        return self.m if self.traffic is None else self.traffic[source][dest] * self.itemsize
