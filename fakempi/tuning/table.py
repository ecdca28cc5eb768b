"""A table: for each operation the rules in order, of which the first that holds is taken.

Catalogue, policy and algorithm are three things: `collectives` says what there is and what it fits, a table says what
is taken when. A rule that holds for a case that its algorithm does not fit is an error, never a reason to look further; but
a rule whose algorithm serves no objects is not meant for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from inspect import signature
from typing import Any, Final

from collectives import CATALOGUE, Algorithm, DoesNotFit, fitting
from collectives.between.groups import Part
from collectives.chain.chain import Chain
from collectives.entries import named
from collectives.split import UNDEFINED
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.tuning.asked import chosen
from fakempi.tuning.objects import for_pickles, unsuited
from fakempi.tuning.parts import by_table, completed
from fakempi.tuning.rule import Computed, Facts, Rule
from fakempi.tuning.words import SPLIT, Key, listed, spelled

REMEMBERED: Final = 4096
"""Choices that a table keeps at hand; then it starts anew. Programs have few different calls, or any number."""

PARTS_BY: Final[dict[str, Table]] = {}
"""Algorithms whose names promise the parts of one table, whichever table is in use."""


@dataclass(frozen=True)
class Choice:
    """An algorithm and the parameters to call it with."""

    algorithm: Algorithm
    parameters: Mapping[str, Any]

    @property
    def fixed(self) -> dict[str, Any]:
        """The parameters that no facts are needed for."""
        return {name: value for name, value in self.parameters.items() if not isinstance(value, Computed)}

    def on(self, comms: Sequence[Any], *, first: bool = True, **options: Any) -> Callable[..., Any]:
        """The algorithm on a communicator, or on those between two groups and of the own one: a function of the buffers.

        `first` is whether the own group comes first of two. A parameter of that name says it of the one that does.
        """
        options.update(self.parameters)
        if len(comms) > 1:
            if "first" in self.algorithm.parameters:
                options["first"] = first == bool(self.parameters.get("first", True))
            if "root" in options and options["root"] is None:
                options["root"] = Part.ROOT
        return partial(self.algorithm.run, *comms, **options)

    def with_parts(self, text: Callable[[Algorithm], Callable[..., Any]]) -> Choice:
        """The same, where each of the algorithms that it consists of has the text that is made for it."""
        parts = {name: self.parameters.get(name, default) for name, default in self.algorithm.parameters.items()}
        changed = {name: replace(part, run=text(part)) for name, part in parts.items() if isinstance(part, Algorithm)}
        return Choice(self.algorithm, {**self.parameters, **changed})

    def split(
        self, comm: Any, color: Any, key: Any, tag: int, *, whole: bool, compare: tuple[Any, Any] = (None, None)
    ) -> tuple[int, int] | None:
        """Rank and size in the group of this colour, by an algorithm that splits; None for one without a colour.

        `whole` if colours and keys are whole numbers; `compare` has functions for those that are not strings or bytes
        either. All ranks say both alike.
        """
        options, taken = dict(self.parameters), _parameters_of(self.algorithm.run)
        if any(compare):
            if "compare" not in taken:
                words = f"split {self.algorithm.name}: it takes no functions that compare, which colours or keys here need."
                raise MPIValueError(ERR_ARG, words)
            options["compare"] = compare
        if whole and "widths" in taken:
            options["widths"] = (0, 0)  # nobody has to ask
        try:
            chain = self.algorithm.run(comm, UNDEFINED if color is None else color, key, tag=tag, **options)
        except DoesNotFit as error:
            raise MPIValueError(ERR_ARG, f"{error}.") from None
        return None if chain is None else (chain.rank, chain.size)

    def make(self, comm: Any, *args: Any, tag: int, place: tuple[int, int, int, int] | None = None, **options: Any) -> Any:
        """What a rank is told by an algorithm that makes communicators.

        `place`, for some ranks of `comm` alone: rank and size among them, and the neighbours to the left and right, or -1.
        """
        group = comm
        if place is not None:
            rank, size, left, right = place
            group = Chain(comm, rank, size, comm.Get_rank(), left, right, tag)
        return self.algorithm.run(group, *args, tag=tag, **options, **self.parameters)

    def access(self, comm: Any, file: Any, runs: Any, data: Any, *, tag: int, **known: Any) -> None:
        """An access of all ranks to a file; `known` is what parameters are, if there are such, that nobody asked for."""
        known = {name: value for name, value in known.items() if name in self.algorithm.parameters}
        self.algorithm.run(comm, file, runs, data, tag=tag, **{**known, **self.parameters})


def two_phase(operation: str) -> Choice:
    """What a program's hints ask for, where the run asks for nothing."""
    return choice_of(("files", operation), Rule("two_phase"))


@cache
def _parameters_of(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(signature(function).parameters)


@dataclass(frozen=True, eq=False)
class Table:
    """Rules by kind and operation; the last of each operation has no conditions.

    For the operations in `forced` somebody asked for the one algorithm.
    """

    name: str
    rules: Mapping[Key, tuple[Rule, ...]]
    forced: frozenset[Key] = frozenset()
    _choices: dict[Key, list[tuple[Rule, Choice]]] = field(init=False, repr=False, default_factory=dict)
    _made: dict[Facts, Choice] = field(init=False, repr=False, default_factory=dict)
    _parts: dict[Any, Algorithm] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for key, rules in self.rules.items():
            if not rules or rules[-1].conditions:
                raise MPIValueError(ERR_ARG, f"table {self.name}: the last rule of {spelled(key)} must always hold")
            self._choices[key] = [(rule, choice_of(key, rule)) for rule in rules]

    @property
    def splits(self) -> bool:
        """Whether an algorithm for splits was asked for."""
        return SPLIT in self._choices

    @property
    def weighs(self) -> frozenset[str]:
        """Operations within a group for which an algorithm may be taken that wants to know what each rank takes to send."""
        return frozenset(
            operation
            for (kind, operation), choices in self._choices.items()
            if kind == "intra" and any("costs" in choice.algorithm.parameters for _, choice in choices)
        )

    def choose(self, facts: Facts) -> Choice:
        """The choice of the first rule that holds; raise if its algorithm does not fit."""
        choice = self._made.get(facts)
        if choice is None:
            choice = self._decide(facts)
            if len(self._made) >= REMEMBERED:
                self._made.clear()
            self._made[facts] = choice
        return choice

    def _decide(self, facts: Facts) -> Choice:
        key = facts.kind, facts.operation
        if key not in self._choices:
            raise MPIValueError(ERR_ARG, f"table {self.name} has no rules for {spelled(key)}")
        holding = (choice for rule, choice in self._choices[key] if rule.holds(facts))
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
        if reason := unsuited(algorithm, parameters, facts) or algorithm.fits(facts.case(parameters=parameters)):
            asker = "was asked for" if key in self.forced else f"is what table {self.name} takes here"
            fit = [each for each in fitting(facts.operation, facts.case(), facts.kind) if not unsuited(each, {}, facts)]
            names = [each.name for each in fit if each.name != algorithm.name]
            raise refusal(key, f"{algorithm.name} {asker}", reason, names, objects=facts.combines_objects)
        return Choice(algorithm, parameters)

    def completed(self, algorithm: Algorithm, parameters: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
        """The parameters that are asked for, and in place of all others what suits the call (`tuning.parts`)."""
        return completed(algorithm, parameters, facts, PARTS_BY.get(algorithm.name, self)._part)

    def _part(self, part: Algorithm, whole: Facts) -> Algorithm:
        """What stands in place of a part: this table's choice, if it has rules for that."""
        key = part.kind, part.operation
        if key not in self._choices:
            return part
        known = key, whole.predefined_op, whole.startup_bytes
        if known not in self._parts:
            self._parts[known] = by_table(part, whole, self._take)
        return self._parts[known]

    def _take(self, facts: Facts) -> tuple[Algorithm, Mapping[str, Any]]:
        choice = self.choose(facts)
        return choice.algorithm, choice.parameters

    def _for_pickles(self, key: Key) -> Choice | None:
        """How the pickles of objects go, if allgather was asked for and allgatherv was not; the key is that of either."""
        kind, operation = key[0], key[1].removesuffix("v")
        asked, key = (kind, operation), (kind, f"{operation}v")
        if asked not in self.forced or key in self.forced or key not in self._choices:
            return None
        ((rule, choice),) = self._choices[asked]
        name, names = choice.algorithm.name, for_pickles(*key)
        if name in names and choice.algorithm is named(*asked, name):  # one of one's own has no twin for pickles
            return choice_of(key, replace(rule, name=name))
        known = named(*key, name) is not None
        reason = "only the root knows their sizes" if known else f"there is no {spelled(key)} {name}"
        both = [each.name for each in CATALOGUE if (each.kind, each.operation) == asked and each.name in names]
        words = f"pickles are blocks of different sizes, and {reason}"
        error = refusal(asked, f"{name} was asked for", words, both, objects=True)
        raise MPIValueError(ERR_ARG, f"{error} Who asks for {spelled(key)} too says how the pickles go.")


def refusal(key: Key, asked: str, reason: str, fit: Sequence[str], *, objects: bool = False) -> MPIValueError:
    """The error for an algorithm that does not fit: why, and which others do."""
    one, many = ("serves objects", "serve objects") if objects else ("fits", "fit")
    others = f"{listed(fit)} {one if len(fit) == 1 else many}" if fit else f"no other {one}"
    return MPIValueError(ERR_ARG, f"{spelled(key)}: {asked}, but {reason}; {others}.")


def choice_of(key: Key, rule: Rule) -> Choice:
    """What a rule names; what it computes is computed for each call."""
    computed = {name: value for name, value in rule.parameters.items() if isinstance(value, Computed)}
    fixed = {name: value for name, value in rule.parameters.items() if name not in computed}
    algorithm, parameters = chosen(key, (rule.name, fixed))
    return Choice(algorithm, {**parameters, **computed})
