"""Objects that are described by their parameters: one form of repr and equality for all cost models."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any, ClassVar, TypeVar

P = TypeVar("P", bound="Parametrized")


class Parametrized:
    """An object whose repr has the parameters that differ from their defaults, and that equals those with the same ones.

    The value of a parameter is the attribute of the same name, or what was passed if there is none.
    """

    not_compared: ClassVar[tuple[str, ...]] = ()
    """Parameters without influence on a run."""

    stored_as: ClassVar[dict[str, str]] = {}
    """Parameters whose attributes have other names."""

    _passed: dict[str, Any]

    def __new__(cls: type[P], *args: Any, **kwargs: Any) -> P:
        """Remember the arguments; `__init__` reports those that do not fit."""
        if cls.__init__ is object.__init__ and (args or kwargs):
            raise TypeError(f"{cls.__name__}() takes no arguments")
        self = super().__new__(cls)
        try:
            passed = signature(cls.__init__).bind(None, *args, **kwargs).arguments
            self._passed = dict(list(passed.items())[1:])  # without `self`
        except TypeError:
            self._passed = {}
        return self

    def _parameters(self) -> list[tuple[Parameter, Any]]:
        """Return the parameters of `__init__` and their values."""
        found = []
        for each in list(signature(type(self).__init__).parameters.values())[1:]:
            if each.name not in self.not_compared:
                value = self._passed.get(each.name, each.default)
                found.append((each, getattr(self, self.stored_as.get(each.name, each.name), value)))
        return found

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
