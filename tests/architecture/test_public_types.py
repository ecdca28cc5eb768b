"""No public signature has the type `Any`, with the listed exceptions."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import collectives

PUBLIC = ("fakempi", "fakempi.compare", "collectives", "collectives.schedules")

EXCEPTIONS = {
    "algorithm",  # the arguments of functions differ between operations
    "Algorithm",  # `run`: its result depends on the operation: none, a `Chain` of a split, or a new communicator
    "Algorithm.__init__",
    "Algorithm.parameter",  # the value of a parameter, see `collectives.catalogue.case.Parameters`
}


def annotations_of(value: object) -> dict[str, str]:
    """The annotations of a function, a property's function or a class, as text."""
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    return {name: str(text) for name, text in getattr(function, "__annotations__", {}).items()}


def members(module: str) -> Iterator[tuple[str, object]]:
    """Public classes and functions of a module, and the public members of these classes; not those of `MPI`."""
    names = vars(importlib.import_module(module)).get("__all__", collectives.__all__)
    for name in names:
        value = getattr(importlib.import_module(module), name)
        yield name, value
        if inspect.isclass(value):
            for member, own in vars(value).items():
                if member == "__init__" or not member.startswith("_"):
                    yield f"{name}.{member}", own


def untyped() -> set[str]:
    """Public names with `Any` in an annotation."""
    return {
        name
        for module in PUBLIC
        for name, value in members(module)
        for part, text in annotations_of(value).items()
        if "Any" in text and not part.startswith("_")
    }


def test_public_signatures_have_no_any() -> None:
    """`fakempi.MPI` is not included: tests/static_types compares it with the types of mpi4py."""
    assert untyped() == EXCEPTIONS
