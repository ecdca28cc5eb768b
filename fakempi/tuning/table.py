"""Table: an ordered list of rules for each operation; the first rule that holds determines the algorithm.

`collectives` defines the algorithms and the cases that they fit; a table chooses among them. If a rule holds and its
algorithm does not fit, that is an error, and no further rule is tried. Calls on objects are an exception: for these, rules
whose algorithm does not support objects are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from inspect import signature
from typing import Any, Final

from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError, fitting
from collectives.catalogue.array_round import with_combinations
from collectives.catalogue.schedule import Combining, LinearPhase, NonblockingRound, PrepostedRound, Streams
from collectives.chain.chain import Chain
from collectives.entries import named
from collectives.inter_patterns.groups import RootRole
from collectives.split import UNDEFINED
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.tuning.objects import for_pickles, unsuited
from fakempi.tuning.parsing import SPLIT, Key, listed, spelled
from fakempi.tuning.parts import by_table, completed
from fakempi.tuning.requests import chosen
from fakempi.tuning.rule import Computed, Facts, Rule

MAX_CACHED: Final = 4096
"""Choices that a table caches before it clears the cache. Most programs have few different calls."""

PARTS_BY: Final[dict[str, Callable[[], Table]]] = {}
"""Algorithms whose parts always come from one table, because they are named after it; functions that return the table."""


@dataclass(frozen=True)
class Choice:
    """An algorithm and the parameters to call it with."""

    algorithm: Algorithm
    parameters: Mapping[str, Any]
    user_defined: bool = False  # whether the algorithm, or a part of it, may be user-defined

    @property
    def fixed(self) -> dict[str, Any]:
        """The parameters that do not depend on the facts."""
        return {name: value for name, value in self.parameters.items() if not isinstance(value, Computed)}

    def on(self, comms: Sequence[Any], *, first: bool = True, **options: Any) -> Callable[..., Any]:
        """Return the algorithm as a function of the buffers; `comms` is a communicator, or an inter- and a local one.

        `first` is whether the local group is the first of the two. A parameter of that name refers to the first group.
        """
        options.update(self.parameters)
        if len(comms) > 1:
            if "first" in self.algorithm.parameters:
                options["first"] = first == bool(self.parameters.get("first", True))
            if "root" in options and options["root"] is None:
                options["root"] = RootRole.ROOT
        return partial(self.algorithm.run, *comms, **options)

    def phases(self, p: int, **known: Any) -> Iterator[tuple[Any, bool, bool, Sequence[tuple[int, int]]]]:
        """Return the phases of the schedule: their transfers, as `with_combinations` returns them, and how these are posted.

        How they are posted: whether the phase is a round, whether no send is buffered, and the receives of `Streams`.
        `known` are attributes of a `Case`. Raises UnsupportedCaseError if there is no schedule, if it has `PrepostedRound`
        rounds or `Combining` phases, or if it may be user-defined, because then no test has compared it with the
        algorithm's code.
        """
        if self.user_defined:
            raise UnsupportedCaseError(f"{self.algorithm!r}, or a part of it, may be user-defined")
        parameters = dict(self.parameters)
        if q := known.get("q"):
            first = bool(parameters.get("first", True))  # as in `on`
            for own, other, comes_first in ((q, p, not first), (p, q, first)):
                if "first" in self.algorithm.parameters:
                    parameters["first"] = comes_first
                # The code of each group checks the case without sizes, which may be stricter, and raises an error.
                bare = Case(own, q=other, commutative=known["commutative"], parameters=dict(parameters))
                if reason := self.algorithm.why_unsupported(bare):
                    raise UnsupportedCaseError(f"{self.algorithm!r} may not fit: {reason}")
        case = Case(p, parameters=parameters, **known)
        if q and (reason := self.algorithm.why_unsupported(case)):
            raise UnsupportedCaseError(f"{self.algorithm!r} does not fit: {reason}")
        schedule = self.algorithm.schedule_for(case)
        if schedule is None:
            raise UnsupportedCaseError(f"{self.algorithm!r} has no schedule")
        for transfers in schedule:
            if isinstance(transfers, PrepostedRound):
                raise UnsupportedCaseError(f"{self.algorithm!r} posts receives before their round")
            if isinstance(transfers, Combining):
                raise UnsupportedCaseError(f"{self.algorithm!r} combines data after its messages")
            is_round = not isinstance(transfers, (LinearPhase, NonblockingRound, Streams))
            received = transfers.received if isinstance(transfers, Streams) else ()
            yield with_combinations(transfers), is_round, getattr(transfers, "synchronous", False), received

    def for_objects(self, text: Callable[[Algorithm], Callable[..., Any]]) -> Choice:
        """Return the choice with the function of each part replaced by `text(part)`."""
        parts = {name: self.parameters.get(name, default) for name, default in self.algorithm.parameters.items()}
        changed = {name: replace(part, run=text(part)) for name, part in parts.items() if isinstance(part, Algorithm)}
        return Choice(self.algorithm, {**self.parameters, **changed})

    def split(
        self, comm: Any, color: Any, key: Any, tag: int, *, whole: bool, compare: tuple[Any, Any] = (None, None)
    ) -> tuple[int, int] | None:
        """Run a split; return rank and size in the group of this color, or None for a rank without a color.

        `whole` is whether colors and keys are integers; `compare` has functions for values that are not integers, strings
        or bytes. Both are equal on all ranks.
        """
        options, taken = dict(self.parameters), _parameters_of(self.algorithm.run)
        if any(compare):
            if "compare" not in taken:
                message = (
                    f"split {self.algorithm.name} supports only integers, strings and bytes, because it has no parameter "
                    "compare."
                )
                raise MPIValueError(ERR_ARG, message)
            options["compare"] = compare
        if whole and "widths" in taken:
            options["widths"] = (0, 0)  # saves the allreduce that finds the widths
        try:
            chain = self.algorithm.run(comm, UNDEFINED if color is None else color, key, tag=tag, **options)
        except UnsupportedCaseError as error:
            raise MPIValueError(ERR_ARG, f"{error}.") from None
        return None if chain is None else (chain.rank, chain.size)

    def make(self, comm: Any, *args: Any, tag: int, place: tuple[int, int, int, int] | None = None, **options: Any) -> Any:
        """Run an algorithm of kind "comm_creation" and return its result.

        `place` is for a subset of the ranks of `comm`: rank and size in it, and the left and right neighbor, or -1.
        """
        group = comm
        if place is not None:
            rank, size, left, right = place
            group = Chain(comm, rank, size, comm.Get_rank(), left, right, tag)
        return self.algorithm.run(group, *args, tag=tag, **options, **self.parameters)

    def access(self, comm: Any, file: Any, runs: Any, data: Any, *, tag: int, **known: Any) -> None:
        """Run a collective file access; `known` has values for parameters that were not requested."""
        known = {name: value for name, value in known.items() if name in self.algorithm.parameters}
        self.algorithm.run(comm, file, runs, data, tag=tag, **{**known, **self.parameters})


def two_phase(operation: str) -> Choice:
    """Return two-phase access, the choice for a program's file hints if the run requests no algorithm."""
    return choice_of(("files", operation), Rule("two_phase"))


@cache
def _parameters_of(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(signature(function).parameters)


@dataclass(frozen=True, eq=False)
class Table:
    """Rules by kind and operation; the last rule of each operation has no conditions.

    For the operations in `forced` the user requested the algorithm; `base` is the table without these requests. The
    algorithms of an operation are loaded when a choice needs them; before that if `has_known_names` is false, so that an
    unknown name is an error at once.
    """

    name: str
    rules: Mapping[Key, tuple[Rule, ...]]
    forced: frozenset[Key] = frozenset()
    base: Table | None = None
    has_known_names: bool = False
    _choices: dict[Key, list[tuple[Rule, Choice]]] = field(init=False, repr=False, default_factory=dict)
    _made: dict[Facts, Choice] = field(init=False, repr=False, default_factory=dict)
    _parts: dict[Any, Algorithm] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for key, rules in self.rules.items():
            if not rules or rules[-1].conditions:
                raise MPIValueError(ERR_ARG, f"table {self.name}: the last rule of {spelled(key)} must always hold")
            if not self.has_known_names:
                self._of(key)

    def _of(self, key: Key) -> list[tuple[Rule, Choice]]:
        """Return the rules of an operation, each with its choice."""
        if key not in self._choices:
            self._choices[key] = [(rule, choice_of(key, rule)) for rule in self.rules[key]]
        return self._choices[key]

    def load(self) -> None:
        """Load the algorithms of all operations."""
        for key in self.rules:
            self._of(key)

    @cached_property
    def has_user_defined(self) -> bool:
        """Whether a rule names an algorithm that is not one of the package."""
        choices = [choice for key in self.rules for _, choice in self._of(key)]
        return any(is_user_defined(choice.algorithm, choice.parameters) for choice in choices)

    @property
    def splits(self) -> bool:
        """Whether an algorithm for splits was requested."""
        return SPLIT in self.rules

    def needs_send_costs(self, operation: str) -> bool:
        """Whether an algorithm of an operation within a group has a parameter `costs`, the send costs of each rank."""
        key = ("intra", operation)
        return key in self.rules and any("costs" in choice.algorithm.parameters for _, choice in self._of(key))

    def choose(self, facts: Facts) -> Choice:
        """Return the choice of the first rule that holds. Raises MPIValueError if its algorithm does not fit."""
        choice = self._made.get(facts)
        if choice is None:
            choice = self._decide(facts)
            if len(self._made) >= MAX_CACHED:
                self._made.clear()
            self._made[facts] = choice
        return choice

    def _decide(self, facts: Facts) -> Choice:
        key = facts.kind, facts.operation
        if key not in self.rules:
            raise MPIValueError(ERR_ARG, f"table {self.name} has no rules for {spelled(key)}")
        holding = (choice for rule, choice in self._of(key) if rule.holds(facts))
        choice = next(holding)
        if facts.objects:
            served = (each for each in (choice, *holding) if not unsuited(each.algorithm, each.fixed, facts))
            pickles = self._for_pickles(key)
            if pickles is None or pickles.algorithm.operation != facts.operation:
                pickles = next(served, choice)
            choice = pickles
        algorithm, parameters = choice.algorithm, choice.parameters
        parameters = {name: value.of(facts) if isinstance(value, Computed) else value for name, value in parameters.items()}
        parameters = self.completed(algorithm, parameters, facts)
        root = {} if algorithm.root is None else {"root": algorithm.root}  # each call checks its root
        case = facts.case(parameters=parameters, **root)
        if reason := unsuited(algorithm, parameters, facts) or algorithm.why_unsupported(case):
            reason_for_choice = "was requested" if key in self.forced else f"was chosen by table {self.name}"
            fit = [each for each in fitting(facts.operation, facts.case(), facts.kind) if not unsuited(each, {}, facts)]
            names = [each.name for each in fit if each.name != algorithm.name]
            raise rejected(key, f"{algorithm.name} {reason_for_choice}", reason, names, objects=facts.combines_objects)
        parts = any(isinstance(value, Algorithm) for value in parameters.values()) and self.has_user_defined
        return Choice(algorithm, parameters, parts or is_user_defined(algorithm, parameters))

    def completed(self, algorithm: Algorithm, parameters: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
        """Return the requested parameters, completed for the call (`tuning.parts`)."""
        table = PARTS_BY.get(algorithm.name, lambda: self)()
        return completed(algorithm, parameters, facts, table._part)

    def _part(self, part: Algorithm, whole: Facts) -> Algorithm:
        """Return the substitute for a part: this table's choice, if it has rules for the part's operation."""
        key = part.kind, part.operation
        if key not in self.rules:
            return part
        # A node-aware algorithm runs parts of the same operation on some ranks; these would have parts again, and so on.
        if self.base is not None and any(has_parts_for_nodes(choice.algorithm) for _, choice in self._of(key)):
            return self.base._part(part, whole)
        known = key, whole.predefined_op, whole.startup_bytes
        if known not in self._parts:
            self._parts[known] = by_table(part, whole, self._take)
        return self._parts[known]

    def _take(self, facts: Facts) -> tuple[Algorithm, Mapping[str, Any]]:
        choice = self.choose(facts)
        return choice.algorithm, choice.parameters

    def _for_pickles(self, key: Key) -> Choice | None:
        """Return the choice for pickles if, for example, allgather was requested but not allgatherv; `key` is either's."""
        kind, operation = key[0], key[1].removesuffix("v")
        requested, key = (kind, operation), (kind, f"{operation}v")
        if requested not in self.forced or key in self.forced or key not in self.rules:
            return None
        ((rule, choice),) = self._of(requested)
        name, names = choice.algorithm.name, for_pickles(*key)
        # A user-defined algorithm has no counterpart for pickles, even if there is one of the same name.
        if name in names and choice.algorithm is named(*requested, name):
            return choice_of(key, replace(rule, name=name))
        known = named(*key, name) is not None
        reason = "only the root knows their sizes" if known else f"there is no {spelled(key)} {name}"
        both = [each.name for each in CATALOGUE if (each.kind, each.operation) == requested and each.name in names]
        message = f"pickles are blocks of different sizes, and {reason}"
        error = rejected(requested, f"{name} was requested", message, both, objects=True)
        advice = f"Specify {spelled(key)} as well to choose the algorithm for pickled objects."
        raise MPIValueError(ERR_ARG, f"{error} {advice}")


def is_user_defined(algorithm: Algorithm, parameters: Mapping[str, Any]) -> bool:
    """Return whether the code or the schedule of an algorithm, or of a part of it, is not one of the package."""
    for function in (algorithm.run, algorithm.schedule):
        while isinstance(function, partial):
            function = function.func
        if function is not None and not function.__module__.startswith(("collectives.", "fakempi.")):
            return True
    parts = (value for value in {**algorithm.parameters, **parameters}.values() if isinstance(value, Algorithm))
    return any(is_user_defined(part, {}) for part in parts)


def rejected(key: Key, choice: str, reason: str, fit: Sequence[str], *, objects: bool = False) -> MPIValueError:
    """Return the error for an algorithm that does not fit, with the reason and the algorithms that fit."""
    one, several = ("supports objects", "support objects") if objects else ("fits", "fit")
    others = f"{listed(fit)} {one if len(fit) == 1 else several}" if fit else f"no other {one}"
    return MPIValueError(ERR_ARG, f"{spelled(key)}: {choice}, but {reason}; {others}.")


def choice_of(key: Key, rule: Rule) -> Choice:
    """Return the choice that a rule names; Computed parameters are evaluated for each call."""
    computed = {name: value for name, value in rule.parameters.items() if isinstance(value, Computed)}
    fixed = {name: value for name, value in rule.parameters.items() if name not in computed}
    algorithm, parameters = chosen(key, (rule.name, fixed))
    return Choice(algorithm, {**parameters, **computed})


def has_parts_for_nodes(algorithm: Algorithm) -> bool:
    """Return whether an algorithm runs others on the ranks of each node, and on one rank of each node."""
    parts = any(isinstance(default, Algorithm) for default in algorithm.parameters.values())
    return parts and "nodes" in algorithm.parameters
