"""Objects that are described by their parameters: one form of checks, repr and equality for all cost models."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import MISSING, Field
from inspect import Parameter, signature
from math import inf
from numbers import Integral, Real
from typing import Any, TypeVar

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG

Time = float

MAX_SECONDS = 1e100
"""The largest number of seconds that is accepted, so that sums and products are finite."""

P = TypeVar("P", bound="Parametrized")


class Parametrized:
    """An object whose repr has the parameters that differ from their defaults, and that equals those with the same ones.

    The value of a parameter is the attribute of the same name, or what was passed if there is none. A dataclass excludes
    parameters without influence on a run by `field(compare=False)`.
    """

    _passed: dict[str, Any]

    def __new__(cls: type[P], *args: Any, **kwargs: Any) -> P:
        """Remember the arguments; `__init__` reports those that do not fit."""
        if cls.__init__ is object.__init__ and (args or kwargs):
            raise TypeError(f"{cls.__name__}() takes no arguments")
        self = super().__new__(cls)
        self._passed = {}
        if args or kwargs:  # not in a copy, which explored runs make
            with suppress(TypeError):
                passed = signature(cls.__init__).bind(None, *args, **kwargs).arguments
                self._passed = dict(list(passed.items())[1:])  # without `self`
        return self

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return the parameters of `__init__`."""
        return list(signature(cls.__init__).parameters.values())[1:]

    def _fields(self) -> dict[str, Field[Any]]:
        return getattr(self, "__dataclass_fields__", {})

    def _parameters(self) -> list[tuple[Parameter, Any]]:
        """Return the parameters that are compared, and their values."""
        fields = self._fields()
        return [
            (each, getattr(self, each.name, self._passed.get(each.name, each.default)))
            for each in self.parameters()
            if each.name not in fields or fields[each.name].compare
        ]

    def __repr__(self) -> str:
        shown: list[str] = []
        parameters = self._parameters()
        rest = next((value for each, value in parameters if each.kind is Parameter.VAR_POSITIONAL and value), None)
        for parameter, value in parameters:
            if parameter.kind is Parameter.VAR_POSITIONAL:
                shown += map(repr, rest if isinstance(rest, tuple) else ())
            elif isinstance(rest, tuple) and parameter.kind is Parameter.POSITIONAL_OR_KEYWORD:
                shown.append(repr(value))  # Python has no names before the arguments of `*args`
            elif parameter.kind is Parameter.VAR_KEYWORD:
                shown += [f"{name}={each!r}" for name, each in (value if isinstance(value, dict) else {}).items()]
            elif not self._is_default(parameter, value):
                shown.append(f"{parameter.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _is_default(self, parameter: Parameter, value: Any) -> bool:
        default = parameter.default
        if default is None and parameter.name not in self._passed:
            return True  # the value that `__init__` takes instead
        field = self._fields().get(parameter.name)
        if field is not None and field.default_factory is not MISSING:
            default = field.default_factory()
        return default is not Parameter.empty and _equal(value, default)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self._parameters(), other._parameters()
        return all(_equal(one, two) for (_, one), (_, two) in zip(mine, theirs, strict=True))

    def __hash__(self) -> int:
        return hash(type(self))


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
    except Exception:  # an object of the user without a truth value of equality, such as an array
        return False


def check(model: str, minimum: int = 0, **numbers: Any) -> None:
    """Raise an error for a number that is invalid or below the minimum. With a minimum of 1, it must be an integer."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, Real):
            raise MPITypeError(ERR_ARG, f"{model}: {name}={number!r} is not a number.")
        problem = _problem(number, minimum, name == "eager_limit")
        if problem:
            value = f"{name}={number!r}" if isinstance(number, float) or abs(number) < MAX_SECONDS else name  # type: ignore[operator]  # a number, as checked above
            raise MPIValueError(ERR_ARG, f"{model}: {value} {problem}.")


def _problem(number: Any, minimum: int, may_be_infinite: bool) -> str:
    """Return the problem with a number; empty if there is none."""
    if number != number:
        return "is not a number"
    if number < minimum:
        return "is negative" if minimum == 0 else f"is less than {minimum}"
    if minimum and not isinstance(number, Integral):
        return "is not an integer"
    if number <= MAX_SECONDS or (may_be_infinite and number == inf):
        return ""
    return "is not finite" if number == inf else f"is more than {MAX_SECONDS:g}"
