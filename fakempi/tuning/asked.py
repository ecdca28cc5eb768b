"""What is asked for, as an algorithm and its parameters: the one place where that is read, whoever asks.

An algorithm is asked for by its name, by the path of a file that defines it, or as the object itself; with parameters by one
of these and a mapping: `("chain", {"segment_bytes": 4096})`. A parameter takes what the algorithm's function says it takes:
numbers, lists, functions. If it is an algorithm, it is asked for in the same way. Where it may be a function, the rules for
block sizes have names: `"sqrt"`, `("smallest", {"at_least": 4096})`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, Final, TypeAlias

from collectives import CATALOGUE, Algorithm
from collectives.block_sizes import RULES
from collectives.catalogue.bound import bound
from collectives.entries import named
from collectives.loading import LoadError, is_path, load
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.tuning.hints import MISFIT, fitted, hint_of, hints_of, in_words, takes_functions
from fakempi.tuning.words import Key, listed, spelled, unknown

Costs: TypeAlias = tuple[Any, Any] | None
"""t_s and t_w of every message; None where they differ, or nobody knows."""

COSTS: Final = ("t_s", "t_w")


def chosen(key: Key, value: Any, costs: Costs = None, place: str | None = None) -> tuple[Algorithm, dict[str, Any]]:
    """The algorithm for an operation, and the parameters to call it with; `place` is how complaints begin."""
    place = place or spelled(key)
    match value:
        case (what, Mapping() as parameters):
            algorithm = _algorithm(place, key, what)
            return algorithm, {name: value_of(algorithm, name, each, costs) for name, each in parameters.items()}
    return _algorithm(place, key, value), {}


def _algorithm(place: str, key: Key, what: Any) -> Algorithm:
    """The algorithm of that name, of that file, or itself."""
    if is_path(what):
        try:
            found = load(what)
        except LoadError as error:
            raise MPIValueError(ERR_ARG, f"{place}: {error}") from error
    elif isinstance(what, Algorithm):
        found = what
    elif isinstance(what, str):
        return _named(place, key, what)
    else:
        ways = "by name, by a file's path or as an Algorithm, alone or with a mapping of parameters"
        raise MPITypeError(ERR_ARG, f"{place}: an algorithm is asked for {ways}, not by {what!r}.")
    if (found.kind, found.operation) != key:
        shown, right = f"{found.name} of {what}" if is_path(what) else found.name, spelled((found.kind, found.operation))
        raise MPITypeError(ERR_ARG, f"{place}: {shown} is for {right}, not for {spelled(key)}.")
    return found


def _named(place: str, key: Key, name: str) -> Algorithm:
    found = named(*key, name)
    if found is not None:
        return found
    names = [each.name for each in CATALOGUE if (each.kind, each.operation) == key]
    if names:
        raise unknown(f"{place}: there is no algorithm", name, names)
    operations = {spelled((each.kind, each.operation)) for each in CATALOGUE}
    raise unknown("algorithms: there is no operation", spelled(key), sorted(operations))


def value_of(algorithm: Algorithm, name: str, value: Any, costs: Costs = None) -> Any:
    """A parameter's value as the algorithm takes it."""
    place = f"{algorithm.operation}: {algorithm.name}"
    if name not in algorithm.parameters:
        raise unknown(f"{place} has no parameter", name, algorithm.parameters)
    default = algorithm.parameters[name]
    if isinstance(default, Algorithm):  # it is a part, which nobody will tell its parameters
        part = chosen((default.kind, default.operation), value, costs, f"{algorithm.name}'s {name}")
        return bound(*part)
    hint = hint_of(algorithm.run, name, default)
    found = fitted(value, hint)
    if found is not MISFIT:
        return found
    place, rules = f"{place} takes as {name}", takes_functions(hint)
    match value:
        case str() if rules:
            return _rule(place, hint, value, {}, costs)
        case (str() as rule, Mapping() as arguments) if rules:
            return _rule(place, hint, rule, arguments, costs)
    more = [f"a rule ({listed(RULES, 'or')})"] if rules else []
    raise MPITypeError(ERR_ARG, f"{place} {in_words(hint, *more)}, not {value!r}.")


def _rule(place: str, hint: Any, name: str, arguments: Mapping[str, Any], costs: Costs) -> Callable[..., Any]:
    """A rule for the size of blocks, by its name; costs that are not given are the run's."""
    if name not in RULES:
        raise unknown(f"{place} {in_words(hint, 'a rule')}, and there is no rule", name, RULES)
    rule, place = RULES[name], f"{place} the rule {name}, which"
    wanted, hints = signature(rule).parameters, hints_of(rule)
    given = {each: value for each, value in zip(COSTS, costs or (), strict=False) if each in wanted}
    for each, value in arguments.items():
        if each not in wanted:
            raise unknown(f"{place} has no parameter", each, wanted)
        given[each] = fitted(value, hints[each])
        if given[each] is MISFIT:
            raise MPITypeError(ERR_ARG, f"{place} takes as {each} {in_words(hints[each])}, not {value!r}.")
    missing = [each for each in wanted if each not in given and wanted[each].default is Parameter.empty]
    if missing:
        why = " here, where not all messages cost the same" if missing[0] in COSTS else ""
        raise MPIValueError(ERR_ARG, f"{place} must be given {listed(missing)}{why}.")
    return rule(**given)
