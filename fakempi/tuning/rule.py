"""Facts of a call, and Rule: the name of an algorithm with the conditions under which it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import sub
from statistics import median_low
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from collectives import Algorithm, Case
from collectives.inter_patterns.joined import STARTUP_BYTES
from collectives.tools.nodes import placement_of
from collectives.tools.numbers import ceil_div

BLOCKS: Final = frozenset({"gather", "scatter", "allgather", "alltoall", "reduce_scatter_block"})
"""Operations whose `nbytes` is one rank's block."""

TOTALS: Final = frozenset({"gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter"})
"""Operations whose `nbytes` is the sum of blocks of different sizes."""

UNSHARED: Final = frozenset({"gatherv", "scatterv", "alltoallv", "alltoallw"})
"""Operations whose sizes some ranks do not know: rules that use bytes or count would choose differently on these ranks."""

ROOTED: Final = frozenset({"bcast", "gather", "gatherv", "scatter", "scatterv", "reduce"})
"""Operations with a root."""

REDUCING: Final = frozenset({"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"})
"""Operations with an op."""

COMBINING: Final = frozenset({"reduce", "allreduce", "scan", "exscan"})
"""Reductions that exist for objects."""

BETWEEN_GROUPS: Final = tuple(
    ("inter", operation)
    for operation in (
        "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
        "alltoallw", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
    )
)  # fmt: skip
"""Operations of an intercommunicator: all except scan and exscan."""

MAXIMUM: Final = 1 << 40
"""Largest value of `startup_bytes`, used if bytes cost nothing."""

Price: TypeAlias = Callable[[int, int, int], Sequence[Any]]
"""Takes source, destination and bytes; the first value returned is the time that a transfer occupies its ports."""

MAX_RECEIVERS: Final = 64
"""Receivers for which a sender's price is evaluated: on 4,096 ranks, all receivers would be 16 million prices."""

LEAST: Final = 256
"""Smallest `startup_bytes` for cutting messages: with free start-ups messages would be cut into single bytes."""


class NodesOfRanks:
    """The nodes of a communicator's ranks. Compared by identity, because it is part of the cache key of every call."""

    __slots__ = ("names",)

    def __init__(self, names: Sequence[Hashable]) -> None:
        self.names = tuple(names)

    @classmethod
    def of(cls, names: Sequence[Hashable]) -> NodesOfRanks | None:
        """Return the placement; None if all ranks are on one node or all on different nodes, where nodes do not matter.

        >>> NodesOfRanks.of([0, 0, 1, 1]).names, NodesOfRanks.of([0, 1, 2]), NodesOfRanks.of([0, 0, 0])
        ((0, 0, 1, 1), None, None)
        """
        return cls(names) if 1 < len(set(names)) < len(names) else None

    @property
    def consecutive(self) -> bool:
        """Whether every node has consecutive ranks.

        >>> NodesOfRanks([0, 0, 1, 1]).consecutive, NodesOfRanks([0, 1, 0, 1]).consecutive
        (True, False)
        """
        return placement_of(self.names, len(self.names)).in_rank_order


class Sizes:
    """The bytes of all blocks, if they differ and all ranks know them. Compared by identity, as NodesOfRanks is.

    >>> sizes = Sizes.of([6, 0, 1, 1])
    >>> sizes.total, sizes.largest, sizes.smallest, sizes.first, sizes.empty, sizes.runs, sizes is Sizes.of([6, 0, 1, 1])
    (8, 6, 0, 6, 1, 13, True)
    """

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.all = sizes

    @staticmethod
    def of(sizes: Iterable[int]) -> Sizes:
        """Return one object for equal sizes, so that all ranks share the cached properties."""
        return _sizes(tuple(sizes))

    @cached_property
    def total(self) -> int:
        """Sum of all sizes."""
        return sum(self.all)

    @cached_property
    def largest(self) -> int:
        """Largest size."""
        return max(self.all)

    @cached_property
    def smallest(self) -> int:
        """Smallest size."""
        return min(self.all)

    @property
    def first(self) -> int:
        """Size of rank 0's block."""
        return self.all[0]

    @cached_property
    def empty(self) -> int:
        """Number of empty blocks."""
        return self.all.count(0)

    @cached_property
    def runs(self) -> int:
        """Sum of the largest runs of 1, 2, 4 ... consecutive blocks (cyclic), the messages of Bruck's algorithm."""
        p = len(self.all)
        sums = list(accumulate(self.all * 2, initial=0))
        lengths = [min(1 << k, p - (1 << k)) for k in range((p - 1).bit_length())]
        return sum(max(map(sub, sums[length : length + p], sums)) for length in lengths)


@lru_cache(maxsize=64)
def _sizes(sizes: tuple[int, ...]) -> Sizes:
    return Sizes(sizes)


class SendCosts:
    """The send cost of each rank of a communicator. Compared by identity, as NodesOfRanks is.

    It is the lower median of the prices of sending to the other ranks, so that equal ranks have exactly equal costs.

    >>> SendCosts.of(lambda source, dest, nbytes: (source + nbytes, 0, 0), [3, 5, 4], 10).all
    (13, 15, 14)
    """

    __slots__ = ("all",)

    def __init__(self, costs: Iterable[Any]) -> None:
        self.all = tuple(costs)

    @classmethod
    def of(cls, price: Price, processes: Sequence[int], nbytes: int) -> SendCosts:
        """Return the costs of processes that send `nbytes` bytes, by the cost model's prices; 0 for a single process."""
        some = processes[:: ceil_div(len(processes), MAX_RECEIVERS)]
        others = ((each, [other for other in some if other != each]) for each in processes)
        return cls(median_low(price(each, other, nbytes)[0] for other in them) if them else 0 for each, them in others)


def startup_bytes(costs: tuple[Any, Any] | None) -> int:
    """Return t_s / t_w in bytes; STARTUP_BYTES if messages have different costs.

    >>> startup_bytes((1e-6, 1e-9)), startup_bytes((0, 1)), startup_bytes((1, 0)), startup_bytes(None)
    (1000, 0, 1099511627776, 1000)
    """
    if costs is None:
        return STARTUP_BYTES
    t_s, t_w = costs
    return min(round(t_s / t_w), MAXIMUM) if t_w else MAXIMUM


class Facts(NamedTuple):
    """The facts that a choice depends on; equal on all ranks of the call.

    A named tuple, because each call creates one on each rank, and it is the key of the cache of choices.
    `nbytes` is the size of one rank's block (`BLOCKS`), the sum of all blocks (`TOTALS`), or the size of the whole message;
    `count` is the same in elements, for reductions, where all ranks pass the same count; `in_place` is for operations in
    which all ranks must agree on it (alltoall, alltoallv, alltoallw).

    `objects` is for calls on Python objects (`tuning.objects`): a reduction of one element, whose pickle has a different
    size on each rank, so that `nbytes` is 0; or an exchange of pickles, which are blocks of different sizes.

    Between two groups (kind "inter") p and nbytes belong to the group with the root, or, without a root, to the first group
    of the communicator; q and nbytes_b belong to the other group. They are 0 if some ranks do not know them.

    `sizes` are the sizes of unequal blocks, if all ranks know them.
    `startup_bytes` is t_s / t_w of the machine, the scale for short and long messages. `nodes` is the placement of ranks.
    `costs` are the send costs of the ranks, if they differ and the algorithm uses them.
    """

    operation: str
    p: int
    nbytes: int = 0
    count: int = 0  # type: ignore[assignment]  # hides tuple.count
    commutative: bool = True
    predefined_op: bool = True
    kind: str = "intra"
    in_place: bool = False
    q: int = 0
    nbytes_b: int = 0
    objects: bool = False
    sizes: Sizes | None = None
    startup_bytes: int = STARTUP_BYTES
    nodes: NodesOfRanks | None = None
    costs: SendCosts | None = None

    @property
    def cut_bytes(self) -> int:
        """`startup_bytes` for cutting messages, at least LEAST."""
        return max(self.startup_bytes, LEAST)

    @property
    def ranks(self) -> int:
        """Number of ranks with data: with a root between groups, the root and the other group."""
        if not self.q:
            return self.p
        return self.q + 1 if self.operation in ROOTED else self.p + self.q

    @property
    def total(self) -> int:
        """Sum of all blocks in bytes; with a root between groups, of the blocks of the other group."""
        if self.operation not in BLOCKS:
            return self.nbytes
        return self.nbytes * (self.q if self.q and self.operation in ROOTED else self.p)

    @property
    def combines_objects(self) -> bool:
        """Whether the call is a reduction of objects."""
        return self.objects and self.operation in COMBINING

    @property
    def block(self) -> int:
        """Average block size in bytes."""
        return self.nbytes // self.p if self.operation in TOTALS else self.nbytes

    def case(self, **more: Any) -> Case:
        """Return the case of these facts; root, counts, itemsize, parameters and so on are passed to Case."""
        known: dict[str, Any] = {"p": self.p, "commutative": self.commutative, "in_place": self.in_place}
        if more.get("counts") is None and more.get("traffic") is None:
            known.update({"m": self.nbytes} if self.sizes is None else {"counts": self.sizes.all})
        if self.q:
            sums = self.operation in TOTALS  # the case has no sums of blocks
            known.update(q=self.q, m=0 if sums else self.nbytes, m_b=0 if sums else self.nbytes_b)
            more["parameters"] = {"first": True, **more.get("parameters", {})}  # the order of the groups is known
        return Case(**{**known, **more})


def _enough(facts: Facts, least: int | str) -> bool:
    """Return whether count is at least a number, p, or 2^floor(log2 p)."""
    if least == "p":
        return facts.count >= facts.p
    if least == "power of two":
        return facts.count >= 1 << facts.p.bit_length() - 1
    return facts.count >= int(least)


TESTS: Final[Mapping[str, Callable[[Facts, Any], bool]]] = {
    "p_below": lambda facts, bound: facts.p < bound,
    "p_at_least": lambda facts, bound: facts.p >= bound,
    "power_of_two": lambda facts, wanted: (facts.p & (facts.p - 1) == 0) == wanted,
    "even": lambda facts, wanted: (facts.p % 2 == 0) == wanted,
    "nbytes_below": lambda facts, bound: facts.nbytes < bound,
    "nbytes_at_most": lambda facts, bound: facts.nbytes <= bound,
    "total_below": lambda facts, bound: facts.total < bound,
    "block_below": lambda facts, bound: facts.block < bound,
    "startups_below": lambda facts, bound: facts.nbytes < bound * facts.startup_bytes,
    "startups_a_rank_below": lambda facts, bound: facts.nbytes < bound * facts.cut_bytes * facts.ranks,
    "block_startups_below": lambda facts, bound: facts.block < bound * facts.startup_bytes,
    "placed": lambda facts, wanted: (facts.nodes is not None) == wanted,
    "consecutive": lambda facts, wanted: (facts.nodes is not None and facts.nodes.consecutive) == wanted,
    "sizes_known": lambda facts, wanted: (facts.sizes is not None) == wanted,
    "when": lambda facts, when: when.of(facts),
    "divides": lambda facts, wanted: (max(facts.p, facts.q) % min(facts.p, facts.q) == 0) == wanted,
    "count_at_least": _enough,
    "commutative": lambda facts, wanted: facts.commutative == wanted,
    "predefined_op": lambda facts, wanted: facts.predefined_op == wanted,
    "in_place": lambda facts, wanted: facts.in_place == wanted,
    "objects": lambda facts, wanted: facts.objects == wanted,
}
"""The test of each condition; a rule has a field for each.

Conditions with `startups` compare bytes with `startup_bytes`: a message, a block, or a message with one start-up per rank.
`consecutive`: there is a placement, and every node has consecutive ranks. `divides`: one group size divides the other.
`when`: a formula.
"""


class Computed(NamedTuple):
    """A parameter value that depends on the facts, and its description."""

    description: str
    of: Callable[[Facts], Any]

    def __repr__(self) -> str:
        return self.description


class When(Computed):
    """A condition with a formula, and its description."""


@dataclass(frozen=True)
class Rule:
    """Choose this algorithm with these parameters if all conditions hold; None means no condition.

    The algorithm is a name or an Algorithm; parameter values are as in `requests`, or `Computed`.

    >>> rule = Rule("recursive_doubling", power_of_two=True, total_below=524288)
    >>> rule.holds(Facts("allgather", p=8, nbytes=1024)), rule.holds(Facts("allgather", p=6, nbytes=1024))
    (True, False)
    """

    name: str | Algorithm
    parameters: Mapping[str, Any] = field(default_factory=dict)
    p_below: int | None = None
    p_at_least: int | None = None
    power_of_two: bool | None = None
    even: bool | None = None
    nbytes_below: int | None = None
    nbytes_at_most: int | None = None
    total_below: int | None = None
    block_below: int | None = None
    startups_below: float | None = None
    startups_a_rank_below: float | None = None
    block_startups_below: float | None = None
    placed: bool | None = None
    consecutive: bool | None = None
    sizes_known: bool | None = None
    divides: bool | None = None
    when: When | None = None
    count_at_least: int | Literal["p", "power of two"] | None = None
    commutative: bool | None = None
    predefined_op: bool | None = None
    in_place: bool | None = None
    objects: bool | None = None

    @cached_property
    def conditions(self) -> dict[str, Any]:
        """The conditions that are not None, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name in TESTS}
        return {name: value for name, value in values.items() if value is not None}

    @cached_property
    def _tests(self) -> list[tuple[Callable[[Facts, Any], bool], Any]]:
        return [(TESTS[name], value) for name, value in self.conditions.items()]

    def holds(self, facts: Facts) -> bool:
        """Return whether all conditions hold."""
        for test, value in self._tests:  # noqa: SIM110  # all(...) takes twice as long, and some tables have 60 rules
            if not test(facts, value):
                return False
        return True
