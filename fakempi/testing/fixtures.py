"""Fixtures that need a communicator: pytest sets fixtures up once, before any rank is there, so these are set up later.

`comm` stands for a communicator until the ranks run. A fixture that asks for it, or for one that asks for it, is put off
in the same way: every rank sets up its own, and takes it down at its end, as every process would under mpiexec.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from inspect import isgeneratorfunction
from pathlib import Path
from typing import Any

import pytest

PRIVATE = pytest.StashKey[dict[str, bool]]()
"""By the name of a module, whether it is the project's."""


class Later:
    """A fixture that every rank makes for itself: the function, what it asks for, and whether it is a method."""

    def __init__(
        self,
        name: str,
        make: Callable[..., Any] | None = None,
        asks: Mapping[str, Any] | None = None,
        method: bool = False,
    ) -> None:
        self._name, self._make, self._asks, self._method = name, make, asks or {}, method

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
    return _stands_for(fixturedef, request, asks)


def put_off_in_any_case(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest, item: pytest.Item) -> Later:
    """Every rank makes it, out of what every rank makes or what there is; and for this test alone."""
    later = _stands_for(fixturedef, request, {name: request.getfixturevalue(name) for name in fixturedef.argnames})
    item.addfinalizer(lambda: fixturedef.finish(request))  # type: ignore[arg-type]
    return later


def _stands_for(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest, asks: dict[str, Any]) -> Later:
    make: Any = fixturedef.func
    method = request.instance is not None and hasattr(type(request.instance), make.__name__)
    later = Later(str(fixturedef.argname), getattr(make, "__func__", make) if method else make, asks, method)
    fixturedef.cached_result = (later, fixturedef.cache_key(request), None)  # type: ignore[arg-type]
    return later


def is_private(fixturedef: pytest.FixtureDef[Any], config: pytest.Config) -> bool:
    """Whether a fixture is made in a module of the project, of which ranks may have copies."""
    known, name = config.stash.setdefault(PRIVATE, {}), fixturedef.func.__module__
    if name not in known:
        from fakempi.script.imports import loaded_from

        known[name] = name in loaded_from(str(config.rootpath))
    return known[name] or is_conftest(getattr(fixturedef.func, "__globals__", {}).get("__file__", ""), config)


def is_conftest(file: str, config: pytest.Config) -> bool:
    """Whether it is one of the project's. Of those with one name, one alone is in `sys.modules`: the file has to tell."""
    path = Path(file)
    return path.name == "conftest.py" and path.is_relative_to(config.rootpath)


def start_anew(item: Any) -> None:
    """Before a test whose fixtures every rank makes: whatever was made of them for others, once for all, is taken down."""
    for several in item._fixtureinfo.name2fixturedefs.values():
        for fixturedef in several:
            if fixturedef.cached_result is not None and is_private(fixturedef, item.config):
                fixturedef.finish(item._request)


class OnThisRank:
    """One rank's own fixtures, made when first asked for and taken down in the opposite order.

    If the test is a method, the rank has its own instance: what it sets on `self` is not another rank's. `copy_of` gives the
    rank's copy of a function, where modules are private.
    """

    def __init__(self, comm: Any, instance: Any = None, copy_of: Callable[[Any], Any] | None = None) -> None:
        self.made: dict[int, Any] = {}
        self.comm, self.shared, self.copy_of = comm, instance, copy_of
        self.instance = None if instance is None else copy(instance)
        if copy_of is not None and instance is not None:
            self.instance.__class__ = copy_of(type(instance))
        self.open: list[Any] = []

    def __enter__(self) -> OnThisRank:
        return self

    def __exit__(self, *_: object) -> None:
        while self.open:
            next(self.open.pop(), None)

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call a function of the test's on this rank, with its own things in the places of those that stand for them."""
        __tracebackhide__ = True
        if getattr(function, "__self__", None) is self.shared is not None:
            function, args = function.__func__, (self.shared, *args)  # type: ignore[attr-defined]
        own = [self.instance if self.shared is not None and value is self.shared else value for value in args]
        return self._mine(function)(*own, **{name: self.value(value) for name, value in kwargs.items()})

    def _mine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function if self.copy_of is None else self.copy_of(function)

    def value(self, value: Any) -> Any:
        """This rank's own fixture, or the value itself if it is shared by all ranks."""
        if not isinstance(value, Later):
            return value
        if value._make is None:
            return self.comm
        if id(value) not in self.made:
            make = self._mine(value._make)
            args = (self.instance,) if value._method else ()
            result = make(*args, **{name: self.value(asked) for name, asked in value._asks.items()})
            if isgeneratorfunction(make):
                self.open.append(result)
                result = next(result)
            self.made[id(value)] = result
        return self.made[id(value)]
