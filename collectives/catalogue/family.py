"""Families: algorithms of one operation that differ only in the code that they call, each declared in its own module.

A family is a function that makes the algorithm of the module that calls it; the module's docstring is the card:

    allgather_ring = allgather(__name__, gather_around, **GATHER_AROUND_CLAIMS)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Parameter, signature
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.catalogue.declaration import algorithm


def member(module: str, code: Callable[..., Any], **claims: Any) -> Callable[[Callable[..., Any]], Algorithm]:
    """Declare the function below as the algorithm of a module.

    The function has the arguments of the operation and passes its last argument, `**parameters`, to `code`, whose
    keyword-only arguments are the algorithm's parameters.
    """

    def declared(function: Callable[..., Any]) -> Algorithm:
        operation, name = module.split(".")[-2:]
        *own, tag, _ = signature(function).parameters.values()
        added = [one for one in signature(code).parameters.values() if one.kind is Parameter.KEYWORD_ONLY]
        made: Any = function
        made.__module__, made.__name__ = module, f"{operation}_{name}"
        made.__qualname__ = made.__name__
        made.__signature__ = signature(function).replace(parameters=[*own, *added, tag])
        made.__code__ = function.__code__.replace(co_name=made.__name__)  # traces and tracebacks name the algorithm
        made.__wrapped__ = getattr(code, "func", code)  # has the parameters' annotations; `func` of a functools.partial
        return algorithm(**claims)(made)

    return declared


@cache
def defaults_of(code: Callable[..., Any]) -> dict[str, Any]:
    """Return the keyword-only arguments of a function with their defaults: the parameters of its family's algorithms."""
    return {one.name: one.default for one in signature(code).parameters.values() if one.kind is Parameter.KEYWORD_ONLY}


def chosen(code: Callable[..., Any], case: Case) -> dict[str, Any]:
    """Return the values that a case has for the keyword-only arguments of a function."""
    return {name: case.parameters.get(name, default) for name, default in defaults_of(code).items()}
