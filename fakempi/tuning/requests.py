"""Convert a request to an algorithm and its parameters, for all callers.

A request is the name of an algorithm, the path of a file that defines it, or an Algorithm; with parameters it is a pair of
one of these and a mapping: `("chain", {"segment_bytes": 4096})`. The annotations of the algorithm's function determine the
type of a parameter: numbers, lists, functions. A parameter that is an algorithm takes a request again. A parameter
that accepts a function also accepts the name of a rule for block sizes: `"sqrt"`, `("smallest", {"at_least": 4096})`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from os import PathLike
from typing import Any, Final, TypeAlias

from collectives import CATALOGUE, Algorithm
from collectives.block_sizes import RULES
from collectives.catalogue.bound import bound
from collectives.entries import named
from collectives.loading import LoadError, is_path, load
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.tuning.hints import MISFIT, description, fitted, hint_of, hints_of, takes_functions
from fakempi.tuning.parsing import Key, listed, spelled, unknown

Costs: TypeAlias = tuple[Any, Any] | None
"""t_s and t_w of every message; None if messages have different costs, or the costs are unknown."""

AlgorithmName: TypeAlias = str | PathLike[str] | Algorithm
"""The name of an algorithm, the path of a file that defines ALGORITHM, or an Algorithm."""

AlgorithmRequest: TypeAlias = AlgorithmName | tuple[AlgorithmName, Mapping[str, object]]
"""An algorithm, or a pair of an algorithm and its parameters."""

COSTS: Final = ("t_s", "t_w")


def chosen(key: Key, value: Any, costs: Costs = None, place: str | None = None) -> tuple[Algorithm, dict[str, Any]]:
    """Return the requested algorithm and its parameters; `place` is the start of error messages."""
    place = place or spelled(key)
    match value:
        case (requested, Mapping() as parameters):
            algorithm = _algorithm(place, key, requested)
            return algorithm, {name: value_of(algorithm, name, each, costs) for name, each in parameters.items()}
    return _algorithm(place, key, value), {}


def _algorithm(place: str, key: Key, request: Any) -> Algorithm:
    """Return the algorithm of a name, of a file, or the given one."""
    if is_path(request):
        try:
            algorithm = load(request)
        except LoadError as error:
            raise MPIValueError(ERR_ARG, f"{place}: {error}") from error
    elif isinstance(request, Algorithm):
        algorithm = request
    elif isinstance(request, str):
        return _named(place, key, request)
    else:
        forms = "a name, the path of a file or an Algorithm, optionally in a pair with a mapping of parameters"
        raise MPITypeError(ERR_ARG, f"{place}: an algorithm must be {forms}, not {request!r}.")
    if (algorithm.kind, algorithm.operation) != key:
        name = f"{algorithm.name} of {request}" if is_path(request) else algorithm.name
        actual = spelled((algorithm.kind, algorithm.operation))
        raise MPITypeError(ERR_ARG, f"{place}: {name} is for {actual}, not for {spelled(key)}.")
    return algorithm


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
    """Return a parameter's value, converted to the type of the parameter."""
    place = f"{algorithm.operation}: {algorithm.name}"
    if name not in algorithm.parameters:
        raise unknown(f"{place} has no parameter", name, algorithm.parameters)
    default = algorithm.parameters[name]
    if isinstance(default, Algorithm):  # a part: bind its parameters now
        part = chosen((default.kind, default.operation), value, costs, f"{algorithm.name}'s {name}")
        return bound(*part)
    hint = hint_of(algorithm.run, name, default)
    found = fitted(value, hint)
    if found is not MISFIT:
        return found
    place, rules = f"{place}: {name}", takes_functions(hint)
    match value:
        case str() if rules:
            return _rule(place, hint, value, {}, costs)
        case (str() as rule, Mapping() as arguments) if rules:
            return _rule(place, hint, rule, arguments, costs)
    more = [f"a rule ({listed(RULES, 'or')})"] if rules else []
    raise MPITypeError(ERR_ARG, f"{place} must be {description(hint, *more)}, not {value!r}.")


def _rule(place: str, hint: Any, name: str, arguments: Mapping[str, Any], costs: Costs) -> Callable[..., Any]:
    """Return the rule for block sizes of that name; costs that are not given are those of the run."""
    if name not in RULES:
        raise unknown(f"{place} must be {description(hint, 'a rule')}; there is no rule", name, RULES)
    rule, place = RULES[name], f"{place}: rule {name}"
    parameters, hints = signature(rule).parameters, hints_of(rule)
    values = {each: value for each, value in zip(COSTS, costs or (), strict=False) if each in parameters}
    for each, value in arguments.items():
        if each not in parameters:
            raise unknown(f"{place} has no parameter", each, parameters)
        values[each] = fitted(value, hints[each])
        if values[each] is MISFIT:
            raise MPITypeError(ERR_ARG, f"{place}: {each} must be {description(hints[each])}, not {value!r}.")
    missing = [each for each in parameters if each not in values and parameters[each].default is Parameter.empty]
    if missing:
        why = ", because messages have different costs in this run" if missing[0] in COSTS else ""
        raise MPIValueError(ERR_ARG, f"{place} needs {listed(missing)}{why}.")
    return rule(**values)
