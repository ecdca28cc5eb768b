"""What a parameter takes, read off the annotation of the function that has it: a value as that has it, and words for it."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from fakempi.tuning.words import listed

ANYTHING: Final = (Any, object, Hashable, inspect.Parameter.empty)


class Misfit(Enum):
    """There is no such value."""

    MISFIT = 0


MISFIT: Final = Misfit.MISFIT


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function; none where they cannot be made out."""
    try:
        return get_type_hints(inspect.unwrap(function))
    except Exception:  # whatever an annotation of somebody else's may raise
        return {}


def hint_of(function: Callable[..., Any], name: str, default: Any) -> Any:
    """What a parameter takes; without an annotation, what is of its default's type, and lists and functions."""
    kind = Any if default is None else type(default)
    return hints_of(function).get(name, kind | Sequence[Any] | Callable if kind in (bool, int, float, str) else kind)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """What a hint consists of: int | None is int, None.

    >>> alternatives(int | None), alternatives(int)
    ((<class 'int'>, <class 'NoneType'>), (<class 'int'>,))
    """
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def fitted(value: Any, hint: Any) -> Any:
    """The value as the hint has it, lists as tuples, or MISFIT.

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
    if takes_lists(kind):
        return _all_fitted(value, inner[0] if inner else Any)
    if kind in ANYTHING:
        every = _all_fitted(value, Any)  # a list that is to be a name must be hashable
        return value if every is MISFIT else every
    return value if not isinstance(kind, type) or isinstance(value, kind) else MISFIT


def _all_fitted(values: Any, hint: Any) -> Any:
    if isinstance(values, str) or not (isinstance(values, Sequence) or getattr(values, "ndim", None)):  # or an array
        return MISFIT
    found = tuple(fitted(each, hint) for each in values)
    return MISFIT if MISFIT in found else found


def takes_lists(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Sequence) and not issubclass(kind, str)


def takes_functions(hint: Any) -> bool:
    return any((get_origin(each) or each) is Callable for each in alternatives(hint))


def in_words(hint: Any, *more: str) -> str:
    """What a hint stands for.

    >>> in_words(int | Sequence[int], "a rule"), in_words(bool | None), in_words(Literal["rank", "target"])
    ('a whole number, a list or a rule', 'true, false or none', 'rank or target')
    """
    return listed([*dict.fromkeys(word for each in alternatives(hint) for word in _words(each)), *more], "or")


def _words(hint: Any) -> Sequence[str]:
    kind = get_origin(hint) or hint
    if kind is Literal:
        return [str(each) for each in get_args(hint)]
    if takes_lists(kind):
        return ["a list"]
    return WORDS.get(kind, [f"of type {getattr(kind, '__name__', kind)}"])


WORDS: Final[dict[Any, list[str]]] = {
    int: ["a whole number"], float: ["a number"], bool: ["true", "false"], str: ["a word"], NoneType: ["none"],
    Callable: ["a function"],
}  # fmt: skip
