"""Fixtures that need a communicator: pytest sets fixtures up once, before any rank is there, so these are set up later.

`comm` stands for a communicator until the ranks run. A fixture that asks for it, or for one that asks for it, is put off
in the same way: every rank sets up its own, and takes it down at its end, as every process would under mpiexec.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isgeneratorfunction
from typing import Any

import pytest


class Later:
    """A fixture that every rank makes for itself: the function, and what it asks for."""

    def __init__(self, name: str, make: Callable[..., Any] | None = None, asks: Mapping[str, Any] | None = None) -> None:
        self._name, self._make, self._asks = name, make, asks or {}

    def __repr__(self) -> str:
        return f"<{self._name} of each rank>"

    def __getattr__(self, attribute: str) -> Any:
        raise AttributeError(
            f"fixture {self._name!r} is there only while the ranks run: it has no {attribute!r} yet. "
            "Ask for it by an argument of the test, or of another fixture."
        )


def put_off(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Later | None:
    """What stands for this fixture until the ranks run, if it asks for something that they make; else None."""
    asks = {name: request.getfixturevalue(name) for name in fixturedef.argnames}
    if not any(isinstance(value, Later) for value in asks.values()):
        return None
    make: Any = fixturedef.func
    if request.instance is not None and hasattr(type(request.instance), make.__name__):
        make = make.__get__(request.instance)
    later = Later(str(fixturedef.argname), make, asks)
    fixturedef.cached_result = (later, fixturedef.cache_key(request), None)  # type: ignore[arg-type]
    return later


class OnThisRank:
    """One rank's own fixtures, made when first asked for and taken down in the opposite order."""

    def __init__(self, comm: Any) -> None:
        self.made: dict[int, Any] = {}
        self.comm = comm
        self.open: list[Any] = []

    def __enter__(self) -> OnThisRank:
        return self

    def __exit__(self, *_: object) -> None:
        while self.open:
            next(self.open.pop(), None)

    def all(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call, with this rank's own fixtures in their places."""
        return {name: self.value(value) for name, value in values.items()}

    def value(self, value: Any) -> Any:
        """This rank's own fixture, or the value itself if it is shared by all ranks."""
        if not isinstance(value, Later):
            return value
        if value._make is None:
            return self.comm
        if id(value) not in self.made:
            result = value._make(**self.all(value._asks))
            if isgeneratorfunction(value._make):
                self.open.append(result)
                result = next(result)
            self.made[id(value)] = result
        return self.made[id(value)]
