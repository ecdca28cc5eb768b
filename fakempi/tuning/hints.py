"""Check and convert parameter values by the annotations of a function, and describe annotations in messages."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from fakempi.tuning.parsing import listed


class Misfit(Enum):
    """The result for a value of the wrong type."""

    MISFIT = 0


MISFIT: Final = Misfit.MISFIT


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function; an empty dictionary if they cannot be evaluated."""
    try:
        return get_type_hints(inspect.unwrap(function))
    except Exception:  # evaluating a user's annotation may raise anything
        return {}


def hint_of(function: Callable[..., Any], name: str, default: Any) -> Any:
    """Return a parameter's annotation. Without one, it is the type of the default value, a list, or a function."""
    kind = Any if default is None else type(default)
    return hints_of(function).get(name, kind | Sequence[Any] | Callable if kind in (bool, int, float, str) else kind)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union: int | None has int and None.

    >>> alternatives(int | None), alternatives(int)
    ((<class 'int'>, <class 'NoneType'>), (<class 'int'>,))
    """
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def fitted(value: Any, hint: Any) -> Any:
    """Return the value converted to the type of the hint, or MISFIT. A list becomes a tuple where it must be hashable.

    >>> fitted([1, "a"], Sequence[Hashable]), fitted(True, int), fitted(3, float), fitted(None, int | None)
    ((1, 'a'), <Misfit.MISFIT: 0>, 3, None)
    """
    for each in alternatives(hint):
        found = _fitted(value, get_origin(each) or each, get_args(each))
        if found is not MISFIT:
            return found
    return MISFIT


def _fitted(value: Any, kind: Any, inner: tuple[Any, ...]) -> Any:
    if kind in (int, float) and isinstance(value, bool):
        return MISFIT
    if kind is int:
        try:
            return operator.index(value)
        except TypeError:
            return MISFIT
    if kind is float:
        return value if isinstance(value, Real) else MISFIT
    if kind is Literal:
        return value if value in inner else MISFIT
    if kind is Hashable:
        return _all_fitted(value, Hashable) if _is_list(value) else value
    if _takes_lists(kind):
        found = _all_fitted(value, inner[0] if inner else Any) if _is_list(value) else MISFIT
        return list(found) if kind is list and found is not MISFIT else found
    try:
        return value if isinstance(value, kind) else MISFIT
    except TypeError:  # Any, or a protocol, which isinstance does not support
        return value


def _all_fitted(values: Any, hint: Any) -> Any:
    found = tuple(fitted(each, hint) for each in values)
    return MISFIT if any(each is MISFIT for each in found) else found


def _is_list(value: Any) -> bool:
    """Return whether a value is a list, a tuple or an array."""
    return (isinstance(value, Sequence) and not isinstance(value, str)) or bool(getattr(value, "ndim", 0))


def _takes_lists(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Sequence) and not issubclass(kind, str)


def takes_functions(hint: Any) -> bool:
    """Return whether the hint accepts a function."""
    return any((get_origin(each) or each) is Callable for each in alternatives(hint))


def description(hint: Any, *more: str) -> str:
    """Describe a hint for a message.

    >>> description(int | Sequence[int], "a rule"), description(bool | None), description(Literal["rank", "target"])
    ('an integer, a list or a rule', 'True, False or None', 'rank or target')
    """
    return listed([*dict.fromkeys(name for each in alternatives(hint) for name in _descriptions(each)), *more], "or")


def _descriptions(hint: Any) -> Sequence[str]:
    kind = get_origin(hint) or hint
    if kind is Literal:
        return [str(each) for each in get_args(hint)]
    if _takes_lists(kind):
        return ["a list"]
    return DESCRIPTIONS.get(kind, [f"of type {getattr(kind, '__name__', kind)}"])


DESCRIPTIONS: Final[dict[Any, list[str]]] = {
    int: ["an integer"], float: ["a number"], bool: ["True", "False"], str: ["a string"], NoneType: ["None"],
    Callable: ["a function"],
}  # fmt: skip
