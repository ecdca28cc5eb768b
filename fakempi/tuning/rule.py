"""The facts of a call, and a rule: the name of an algorithm and the conditions under which it is taken."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import sub
from statistics import median_low
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from collectives import Algorithm, Case
from collectives.between.joined import STARTUP_BYTES
from collectives.tools.numbers import ceil_div

BLOCKS: Final = frozenset({"gather", "scatter", "allgather", "alltoall", "reduce_scatter_block"})
"""Operations whose `nbytes` is one rank's block."""

TOTALS: Final = frozenset({"gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter"})
"""Operations whose `nbytes` is the sum of blocks of different sizes."""

UNSHARED: Final = frozenset({"gatherv", "scatterv", "alltoallv", "alltoallw"})
"""Operations whose sizes not all ranks know: were rules to look at bytes or count, ranks would choose differently."""

ROOTED: Final = frozenset({"bcast", "gather", "gatherv", "scatter", "scatterv", "reduce"})
"""Operations with a root."""

REDUCING: Final = frozenset({"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"})
"""Operations that have an op."""

COMBINING: Final = frozenset({"reduce", "allreduce", "scan", "exscan"})
"""Reductions that there are for objects."""

BETWEEN_GROUPS: Final = tuple(
    ("inter", operation)
    for operation in (
        "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
        "alltoallw", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
    )
)  # fmt: skip
"""What an intercommunicator does: everything but scan and exscan."""

MOST: Final = 1 << 40
"""The most that `startup_bytes` is: where bytes cost nothing."""

Price: TypeAlias = Callable[[int, int, int], Sequence[Any]]
"""How long a transfer holds its ports, and more, by its two ends and its bytes."""

ASKED_ABOUT: Final = 64
"""The most receivers for which a sender's price is looked up: on 4,096 ranks all of them would be 16 million prices."""

LEAST: Final = 256
"""The least that it counts for where messages are cut: if starts were free, into single bytes, which are emulated each."""


class Placement:
    """The nodes of a communicator's ranks. Compared by identity, since it is part of a key that each call looks up."""

    __slots__ = ("names",)

    def __init__(self, names: Sequence[Hashable]) -> None:
        self.names = tuple(names)

    @classmethod
    def of(cls, names: Sequence[Hashable]) -> Placement | None:
        """None where all ranks are on one node, or each on its own: then nodes make no difference.

        >>> Placement.of([0, 0, 1, 1]).names, Placement.of([0, 1, 2]), Placement.of([0, 0, 0])
        ((0, 0, 1, 1), None, None)
        """
        return cls(names) if 1 < len(set(names)) < len(names) else None


class Sizes:
    """The bytes of all blocks, where these differ and all ranks know them. Compared by identity, for the same reason.

    >>> sizes = Sizes.of([6, 0, 1, 1])
    >>> sizes.total, sizes.largest, sizes.smallest, sizes.first, sizes.empty, sizes.runs, sizes is Sizes.of([6, 0, 1, 1])
    (8, 6, 0, 6, 1, 13, True)
    """

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.all = sizes

    @staticmethod
    def of(sizes: Iterable[int]) -> Sizes:
        """One object for equal sizes, so that what is worked out once serves all ranks."""
        return _sizes(tuple(sizes))

    @cached_property
    def total(self) -> int:
        """Of all."""
        return sum(self.all)

    @cached_property
    def largest(self) -> int:
        """The most that a rank has."""
        return max(self.all)

    @cached_property
    def smallest(self) -> int:
        """The least."""
        return min(self.all)

    @property
    def first(self) -> int:
        """Rank 0's."""
        return self.all[0]

    @cached_property
    def empty(self) -> int:
        """How many have nothing."""
        return self.all.count(0)

    @cached_property
    def runs(self) -> int:
        """The bytes of the longest run of one block, and of 2, 4 ... one after the other, as long as there are more."""
        p = len(self.all)
        sums = list(accumulate(self.all * 2, initial=0))
        lengths = [min(1 << k, p - (1 << k)) for k in range((p - 1).bit_length())]
        return sum(max(map(sub, sums[length : length + p], sums)) for length in lengths)


@lru_cache(maxsize=64)
def _sizes(sizes: tuple[int, ...]) -> Sizes:
    return Sizes(sizes)


class SendCosts:
    """What each rank of a communicator takes to send a message. Compared by identity, for the same reason.

    It is the median of what it would take to send to the others: one of the prices, so that ranks which are alike are
    exactly alike.

    >>> SendCosts.of(lambda source, dest, nbytes: (source + nbytes, 0, 0), [3, 5, 4], 10).all
    (13, 15, 14)
    """

    __slots__ = ("all",)

    def __init__(self, costs: Iterable[Any]) -> None:
        self.all = tuple(costs)

    @classmethod
    def of(cls, price: Price, processes: Sequence[int], nbytes: int) -> SendCosts:
        """Of processes that send so many bytes, by the cost model's prices; one alone has none."""
        some = processes[:: ceil_div(len(processes), ASKED_ABOUT)]
        others = ((each, [other for other in some if other != each]) for each in processes)
        return cls(median_low(price(each, other, nbytes)[0] for other in them) if them else 0 for each, them in others)


def startup_bytes(costs: tuple[Any, Any] | None) -> int:
    """What travels while a message starts, t_s / t_w; where not all messages cost the same, a usual number.

    >>> startup_bytes((1e-6, 1e-9)), startup_bytes((0, 1)), startup_bytes((1, 0)), startup_bytes(None)
    (1000, 0, 1099511627776, 1000)
    """
    if costs is None:
        return STARTUP_BYTES
    t_s, t_w = costs
    return min(round(t_s / t_w), MOST) if t_w else MOST


class Facts(NamedTuple):
    """What a choice depends on; the same on every rank that takes part.

    A named tuple, because one is made for each call on each rank, and it is the key to the choices already made.
    `nbytes` is of one rank's block (`BLOCKS`), the sum of all blocks (`TOTALS`), or else of the whole message; `count`
    is the same in elements, and matters for reductions, where all ranks must give the same; `in_place` matters where
    they must agree on it (alltoall and its kin).

    `objects` is for calls on Python objects (`tuning.objects`): a reduction of one element whose size, that of a pickle,
    differs from rank to rank, so that `nbytes` is 0; or the pickles of all ranks, which are blocks of different sizes.

    Between two groups (kind "inter") p and nbytes are those of the group with the root, or, where there is none, of the one
    that comes first in the communicator; q and nbytes_b those of the other. They are 0 where not all ranks know them.

    `sizes` are those of blocks that differ in size, where all ranks know all of them.
    `startup_bytes` is t_s / t_w of the machine: a message is short or long beside that. `nodes` is where the ranks are.
    `costs` is what each takes to send the message, if that is not the same for all and the algorithm wants to know.
    """

    operation: str
    p: int
    nbytes: int = 0
    count: int = 0  # type: ignore[assignment]  # hides tuple.count, which nobody misses
    commutative: bool = True
    predefined_op: bool = True
    kind: str = "intra"
    in_place: bool = False
    q: int = 0
    nbytes_b: int = 0
    objects: bool = False
    sizes: Sizes | None = None
    startup_bytes: int = STARTUP_BYTES
    nodes: Placement | None = None
    costs: SendCosts | None = None

    @property
    def cut_bytes(self) -> int:
        """`startup_bytes` for whoever cuts messages."""
        return max(self.startup_bytes, LEAST)

    @property
    def ranks(self) -> int:
        """How many take part: of a call with a root between groups, the root and the other group."""
        if not self.q:
            return self.p
        return self.q + 1 if self.operation in ROOTED else self.p + self.q

    @property
    def total(self) -> int:
        """Bytes of all blocks together."""
        return self.nbytes * self.p if self.operation in BLOCKS else self.nbytes

    @property
    def combines_objects(self) -> bool:
        """Whether it is one object of each rank that is combined, and not pickles that are moved."""
        return self.objects and self.operation in COMBINING

    @property
    def block(self) -> int:
        """Bytes of a rank's block, on average."""
        return self.nbytes // self.p if self.operation in TOTALS else self.nbytes

    def case(self, **more: Any) -> Case:
        """The case that an algorithm's claims are about; root, counts, itemsize, parameters ... are passed along."""
        known: dict[str, Any] = {"p": self.p, "commutative": self.commutative, "in_place": self.in_place}
        if more.get("counts") is None and more.get("traffic") is None:
            known["m"] = self.nbytes
        if self.q:
            sums = self.operation in TOTALS  # of blocks that the case is not told of
            known.update(q=self.q, m=0 if sums else self.nbytes, m_b=0 if sums else self.nbytes_b)
            more["parameters"] = {"first": True, **more.get("parameters", {})}  # which comes first is known
        return Case(**{**known, **more})


def _enough(facts: Facts, least: int | str) -> bool:
    """Whether there are that many elements: a number of them, one for each rank, or one for each of 2^floor(log2 p)."""
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
    "sizes_known": lambda facts, wanted: (facts.sizes is not None) == wanted,
    "when": lambda facts, when: when.of(facts),
    "divides": lambda facts, wanted: (max(facts.p, facts.q) % min(facts.p, facts.q) == 0) == wanted,
    "count_at_least": _enough,
    "commutative": lambda facts, wanted: facts.commutative == wanted,
    "predefined_op": lambda facts, wanted: facts.predefined_op == wanted,
    "in_place": lambda facts, wanted: facts.in_place == wanted,
    "objects": lambda facts, wanted: facts.objects == wanted,
}
"""What each condition asks; a rule has a field for each.

Those with `startups` compare bytes with `startup_bytes`: a message, a block, or a message with as many start-ups as there
are ranks. `divides` is of the sizes of two groups. `when` is for what takes a formula.
"""


class When(NamedTuple):
    """A condition that takes a formula; the words say it."""

    words: str
    of: Callable[[Facts], bool]

    def __repr__(self) -> str:
        return self.words


class Computed(NamedTuple):
    """A parameter's value that depends on the facts; the words say how."""

    words: str
    of: Callable[[Facts], Any]

    def __repr__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Rule:
    """Take this algorithm, with these parameters, where all conditions hold. None is no condition.

    An algorithm goes by its name, or is handed over itself; parameters are as in `asked`, or `Computed`.

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
        """The conditions that there are, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name in TESTS}
        return {name: value for name, value in values.items() if value is not None}

    @cached_property
    def _tests(self) -> list[tuple[Callable[[Facts, Any], bool], Any]]:
        return [(TESTS[name], value) for name, value in self.conditions.items()]

    def holds(self, facts: Facts) -> bool:
        """Whether all conditions do."""
        for test, value in self._tests:  # noqa: SIM110  # all(...) takes twice as long, and grids have 60 rules
            if not test(facts, value):
                return False
        return True
