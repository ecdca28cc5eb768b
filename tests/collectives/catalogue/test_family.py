"""Families: algorithms of several modules that share a function and differ in the code that it calls."""

from __future__ import annotations

import importlib
import inspect
import sys
from types import ModuleType
from typing import Any, Literal, get_type_hints

import pytest

import fakempi
from collectives import Case, UnsupportedCaseError, find
from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.family import chosen, member
from collectives.patterns.plans.swing import swing_plan

Way = Literal["up", "down"]


def shared(calls: list[Any], comm: Any, *, way: Way = "up", depth: int = 2) -> None:
    """Record the parameters of a call."""
    calls.append((way, depth))


def family(module: str, calls: list[Any], **claims: Any) -> Algorithm:
    """Declare a barrier that calls `shared`."""

    @member(module, shared, **claims)
    def run(comm: Any, *, tag: int = 0, **parameters: Any) -> None:
        """Enter the barrier."""
        shared(calls, comm, **parameters)

    return run


@pytest.fixture
def module() -> Any:
    """A module of an algorithm, as the import makes it."""
    made = ModuleType("collectives.intra.barrier.tried", "Rounds   none\nTime     0")
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


def test_a_member_belongs_to_the_module_that_declares_it(module: ModuleType) -> None:
    """Name, card and parameters are those of a function in the module with all its arguments."""
    tried = family(module.__name__, [])
    assert repr(tried) == "<intra barrier tried>"
    assert (tried.run.__module__, tried.run.__name__) == (module.__name__, "barrier_tried")
    assert tried.card == {"Rounds": "none", "Time": "0"}
    assert tried.parameters == {"way": "up", "depth": 2}
    assert module.ALGORITHM is tried
    assert list(inspect.signature(tried.run).parameters) == ["comm", "way", "depth", "tag"]
    assert get_type_hints(inspect.unwrap(tried.run))["way"] == Way


def test_parameters_reach_the_shared_code_after_the_check(module: ModuleType) -> None:
    """A value that is not passed is the default of the shared code."""
    calls: list[Any] = []
    tried = family(module.__name__, calls, why_unsupported=lambda case: "too deep" if case.parameters["depth"] > 5 else None)

    def main(comm: Any) -> None:
        tried(comm, way="down")
        with pytest.raises(UnsupportedCaseError, match=r"^barrier tried: too deep$"):
            tried(comm, depth=6)

    fakempi.run(main, 1)
    assert calls == [("down", 2)]


def test_claims_read_the_values_that_a_case_has() -> None:
    """`chosen` has no values of other parameters."""
    assert chosen(swing_plan.steps, Case(4, parameters={"k": 3})) == {"dims": ()}
    assert chosen(swing_plan.steps, Case(4, parameters={"dims": (2, 2)})) == {"dims": (2, 2)}


def test_members_of_one_family_are_different_algorithms() -> None:
    """Each has the card of its own module."""
    ring, bruck = find("allgather", "ring"), find("allgather", "bruck")
    assert ring.run is not bruck.run
    assert ring.card["Rounds"] != bruck.card["Rounds"]
    assert importlib.import_module("collectives.intra.allgather.ring").__doc__ != sys.modules[bruck.run.__module__].__doc__
