"""Fixtures that need a communicator. pytest creates fixtures once, before the ranks run, so these are created later.

`comm` is a placeholder until the ranks run. A fixture that uses it, directly or through another fixture, is deferred as
well: every rank creates its own instance and tears it down at its end, as a process under mpiexec does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from inspect import isgeneratorfunction
from typing import Any

import pytest


class DeferredFixture:
    """A deferred fixture: its function, the fixtures that it uses, and whether it is a method."""

    def __init__(
        self,
        name: str,
        make: Callable[..., Any] | None = None,
        uses: Mapping[str, Any] | None = None,
        method: bool = False,
    ) -> None:
        self._name, self._make, self._uses, self._method = name, make, uses or {}, method

    def __repr__(self) -> str:
        return f"<{self._name} of each rank>"

    def __getattr__(self, attribute: str) -> Any:
        raise AttributeError(
            f"fixture {self._name!r} has no {attribute!r} before the ranks run. "
            "Use it as an argument of the test or of another fixture."
        )


def defer_if_needed(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> DeferredFixture | None:
    """Return a placeholder for a fixture that uses deferred fixtures; None for other fixtures."""
    uses = {name: request.getfixturevalue(name) for name in fixturedef.argnames}
    if not any(isinstance(value, DeferredFixture) for value in uses.values()):
        return None
    return _placeholder(fixturedef, request, uses)


def _placeholder(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest, uses: dict[str, Any]
) -> DeferredFixture:
    make: Any = fixturedef.func
    method = request.instance is not None and hasattr(type(request.instance), make.__name__)
    placeholder = DeferredFixture(str(fixturedef.argname), getattr(make, "__func__", make) if method else make, uses, method)
    fixturedef.cached_result = (placeholder, fixturedef.cache_key(request), None)  # type: ignore[arg-type]  # pytest's internal types
    return placeholder


class RankFixtures:
    """The fixtures of one rank, created on first use and torn down in reverse order.

    If the test is a method, the rank has its own instance.
    """

    def __init__(self, comm: Any, instance: Any = None) -> None:
        self.created: dict[int, Any] = {}
        self.comm, self.shared = comm, instance
        self.instance = copy(instance)
        self.open: list[Any] = []

    def __enter__(self) -> RankFixtures:
        return self

    def __exit__(self, *_: object) -> None:
        while self.open:
            next(self.open.pop(), None)

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call a function of the test on this rank, with this rank's fixtures in place of placeholders."""
        __tracebackhide__ = True
        if getattr(function, "__self__", None) is self.shared is not None:
            function, args = function.__func__, (self.shared, *args)  # type: ignore[attr-defined]  # a bound method, as checked above
        own = [self.instance if self.shared is not None and value is self.shared else value for value in args]
        return function(*own, **{name: self.value(value) for name, value in kwargs.items()})

    def value(self, value: Any) -> Any:
        """Return this rank's fixture for a placeholder; any other value is returned unchanged."""
        if isinstance(value, pytest.CaptureFixture):
            from fakempi.apps.testing.output import RankCapture  # few tests need it

            return self.created.setdefault(id(value), RankCapture(value, self.comm.Get_rank()))
        if not isinstance(value, DeferredFixture):
            return value
        if value._make is None:
            return self.comm
        if id(value) not in self.created:
            make = value._make
            args = (self.instance,) if value._method else ()
            result = make(*args, **{name: self.value(requested) for name, requested in value._uses.items()})
            if isgeneratorfunction(make):
                self.open.append(result)
                result = next(result)
            self.created[id(value)] = result
        return self.created[id(value)]
