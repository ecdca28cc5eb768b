"""An option of a run is declared once, in `RunOptions`: the signatures of `run` and `explore` agree with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, signature
from typing import Any

import pytest

import fakempi
from fakempi.core import world
from fakempi.core.arguments import PassedOptions, RunOptions
from fakempi.core.options import algorithms
from fakempi.modelcheck.search import explore
from fakempi.modelcheck.search.options import SearchOptions

HIGHER = {"schedule"}
"""Options with a type of a higher package."""

BOTH = {"strict", "ignore"}
"""Options of runs that `explore` names."""


def keywords(function: Callable[..., object]) -> dict[str, Parameter]:
    """The keyword-only parameters of a function."""
    found = signature(function).parameters
    return {name: parameter for name, parameter in found.items() if parameter.kind is Parameter.KEYWORD_ONLY}


def test_run_has_the_options_with_their_types_and_defaults() -> None:
    """In the same order."""
    given, declared = keywords(fakempi.run), {option.name: option for option in fields(RunOptions)}
    assert [*given] == [*declared]
    assert {name: one.default for name, one in given.items()} == {name: one.default for name, one in declared.items()}
    types = {name: one.type for name, one in declared.items() if name not in HIGHER}
    assert {name: one.annotation for name, one in given.items() if name not in HIGHER} == types


def test_explore_has_the_options_of_a_search_with_their_types_and_defaults() -> None:
    """And whether findings are failures, and which are not."""
    given, declared = keywords(fakempi.explore), {option.name: option for option in fields(SearchOptions)}
    assert [name for name in given if name not in BOTH] == [*declared]
    assert {name: given[name].default for name in declared} == {name: one.default for name, one in declared.items()}
    assert {name: given[name].annotation for name in declared} == {name: one.type for name, one in declared.items()}


def test_explore_passes_on_the_other_options_of_runs() -> None:
    """But not those that decide the order of events."""
    declared = {option.name: option.type for option in fields(RunOptions)}
    named = {name: declared.pop(name) for name in ("seed", "schedule", *BOTH)}
    assert {name: one.__forward_arg__ for name, one in PassedOptions.__annotations__.items()} == declared
    assert keywords(fakempi.explore)["ignore"].annotation == named["ignore"]


VALUES: dict[str, Any] = {
    "cost": fakempi.Hockney(t_s=1), "backend": "threads", "trace": True, "seed": 3, "algorithms": "mpich", "strict": True,
    "progress": "always", "timeout": 9.0, "cpu_scale": 2.0, "kill": {0: 1.0}, "detection_delay": 7.0, "check_buffers": True,
    "poll_cost": 5.0, "schedule": "z:1", "fused": "never", "ignore": "message-lost",
}  # fmt: skip


def test_each_option_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its name, from both functions."""
    received: list[RunOptions] = []
    monkeypatch.setattr(world, "run_with", lambda options, *_: received.append(options))
    fakempi.run(print, 2, **VALUES)
    assert {name: getattr(received[0], name) for name in VALUES} == VALUES
    assert VALUES.keys() == {option.name for option in fields(RunOptions)}
    monkeypatch.setattr(explore, "explore_with", lambda search, options, *_: received.append(options))
    passed = {name: value for name, value in VALUES.items() if name in {*PassedOptions.__annotations__, *BOTH}}
    fakempi.explore(print, 2, **passed)
    assert {name: getattr(received[1], name) for name in passed} == passed


@pytest.mark.parametrize("name", ["schedule", "budget"])
def test_explore_rejects_other_options(name: str) -> None:
    """With Python's sentence, which names the function that the program calls."""
    with pytest.raises(TypeError, match=rf"^explore\(\) got an unexpected keyword argument '{name}'$"):
        fakempi.explore(print, 2, **{name: "z:1"})  # type: ignore[arg-type]  # what the test is about


def test_options_of_a_command_line_are_parsed_and_empty_ones_have_their_defaults() -> None:
    """Other names are ignored; named arguments replace values."""
    words = {"cost": "hockney:t_s=2", "algorithms": "bcast=chain", "seed": 0, "schedule": None, "kill": "", "ranks": "4"}
    options = RunOptions.from_command_line(words, strict=True, timeout=None)
    cost, table = fakempi.Hockney(t_s=2), algorithms("bcast=chain")
    assert options == RunOptions(cost=cost, algorithms=table, seed=0, strict=True)
