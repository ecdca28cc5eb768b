"""NaN, negative, infinite and enormous numbers are rejected with a sentence, wherever they come from."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.core.network.cost import CostModel, Link
from fakempi.core.options import MODELS, cost_model, groups, number
from tests.helpers.loops import for_each

NAN, INF, HUGE = float("nan"), float("inf"), 10**400
WRONG = [NAN, INF, -1, HUGE]
COSTS = ("t_s", "t_w", "t_hop", "gap", "L", "o", "g", "G", "global_t_w", "network_gap", "compute_per_byte")
COUNTS = ("ports", "network_ports", "ranks_per_node", "groups", "routers", "nodes", "local_links", "global_links")


def exchange(comm: Any) -> None:
    """A message in each direction around a ring."""
    comm.sendrecv(b"x", (comm.rank + 1) % comm.size)


def parameters(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The bundled models."""
    found = [(model, name) for model, make in MODELS.items() for name in inspect.signature(make).parameters if name in names]
    return [pair for pair in found if pair[0] != "two_groups"]


@for_each(("model", "name"), parameters(COSTS))
def test_a_cost_is_finite_and_not_negative(model: str, name: str) -> None:
    """For every model and machine."""
    for value, words in zip(WRONG, ("nan is not a number", "inf is not finite", "-1 is negative", None), strict=True):
        with pytest.raises(MPI.Exception, match=rf"{name}={words}\.$" if words else rf"{name} is more than 1e\+100\.$"):
            MODELS[model](**{name: value})


@for_each(("model", "name"), parameters(COUNTS))
def test_a_count_is_an_integer(model: str, name: str) -> None:
    """For example a number of ports."""
    for value in (NAN, INF, 0, 1.5, True, HUGE):
        with pytest.raises(MPI.Exception, match=name):
            MODELS[model](**{name: value})


def test_an_eager_limit_may_be_infinite() -> None:
    """It is no time: all sends are buffered then."""
    assert fakempi.run(exchange, 2, cost=fakempi.Hockney(eager_limit=INF)).messages == 2  # type: ignore[arg-type]


class Own(CostModel):
    """A user-defined model."""

    def __init__(self, seconds: Any = 1e-6, link: Any = (), **attributes: Any) -> None:
        self.seconds, self.ends = seconds, link
        vars(self).update(attributes)

    def transfer(self, source: int, dest: int, nbytes: int) -> Any:
        """Return the given value."""
        return self.seconds, self.seconds, self.seconds

    def route(self, source: int, dest: int) -> Any:
        """Return one link, if there is any."""
        return ["link"] if self.ends else None

    def link(self, name: Any) -> Link:
        """Return the given value."""
        return Link(*self.ends)


@pytest.mark.parametrize(
    ("seconds", "words"), [(NAN, "nan"), (INF, "inf"), (-1, "-1"), (HUGE, "more than 1e+100"), (-1e-300, "-1e-300")]
)
def test_costs_of_a_user_defined_model_are_checked(backend: Any, seconds: Any, words: str) -> None:
    """No rank is blamed."""
    call = r"transfer\(0, 1, \d+\) at test_\w+\.py:\d+"
    text = rf"^cost model Own: {call} returned {re.escape(words)} seconds until its ports"
    with pytest.raises(fakempi.RunError, match=text):
        fakempi.run(exchange, 2, cost=Own(seconds), backend=backend)


@pytest.mark.parametrize("link", [(NAN,), (INF,), (0, INF), (0, 1.5), (0, 1, INF), (0, 1, -1), (HUGE,), ("x",)])
def test_links_of_a_user_defined_model_are_checked(link: Any) -> None:
    """Hold time and width."""
    with pytest.raises(fakempi.RunError, match=r"^cost model Own: link\('link'\) raised MPI(Value|Type)Error at "):
        fakempi.run(exchange, 2, cost=Own(link=link))


@pytest.mark.parametrize(("attribute", "value"), [
    ("compute_per_byte", INF), ("ports", 1.5), ("network_ports", INF), ("places", -1), ("places", "x"), ("linear", (INF, 0)),
    ("linear", (0, NAN)), ("linear", 5), ("linear", (1,)), ("eager_limit", NAN), ("eager_limit", -1),
])  # fmt: skip
def test_attributes_of_a_user_defined_model_are_checked(attribute: str, value: Any) -> None:
    """Before any rank runs."""
    with pytest.raises(MPI.Exception, match=r"^Own: \w+=.*\.$"):
        fakempi.run(exchange, 2, cost=Own(**{attribute: value}))


@pytest.mark.parametrize("seconds", [*WRONG, "x", None])
def test_invalid_computing_times_are_rejected(seconds: Any) -> None:
    """Infinite, negative, or NaN."""
    with pytest.raises(fakempi.RankError, match="failed with MPI(Value|Type)Error: compute on rank 0: cannot compute for "):
        fakempi.run(lambda comm: fakempi.compute(seconds), 1)


@for_each("option", ["cpu_scale", "poll_cost", "timeout"])
@for_each("value", [NAN, -1, HUGE, "x", True])
def test_options_of_a_run_are_checked(option: str, value: Any) -> None:
    """As text, and as values."""
    with pytest.raises(MPI.Exception, match=rf"^run: {option} must be a .* not "):
        fakempi.run(exchange, 2, **{option: value})


@pytest.mark.parametrize(("digits", "words"), [(10, "10,000,000,000"), (5000, "more than 10^18")])
def test_too_many_ranks_are_rejected(digits: int, words: str) -> None:
    """Before memory is allocated."""
    message = f"run: nprocs is {words}; there can be at most 10,000,000 ranks."
    with pytest.raises(MPI.Exception, match=re.escape(message)):
        fakempi.run(exchange, 10**digits)


def test_too_many_ranks_are_rejected_as_text() -> None:
    """A single number, and the end of a range."""
    for text in ("1..99999999999", "9" * 80, "4+99999999999", "4k..99G"):
        with pytest.raises(MPI.Exception, match=r"ranks are too many; the maximum is 10,000,000\.$"):
            groups(text)


@pytest.mark.parametrize(("text", "words"), [
    ("hockney:t_s=1,,", "hockney:t_s=1,,: '' is not a parameter with a value, such as t_s=1e-6."),
    ("hockney:,t_s=1", "hockney:,t_s=1: '' is not a parameter with a value, such as t_s=1e-6."),
    ("hockney:t_s=1,t_s=2", "hockney:t_s=1,t_s=2: t_s is given twice."),
    ("loggp:L=inf", "LogGP: L=inf is not finite."),
    ("hockney:t_s=1e400", "Hockney: t_s=inf is not finite."),
    ("hockney:t_s=nan", "Hockney: t_s=nan is not a number."),
    ("hockney:t_s=true", "Hockney: t_s=True is not a number."),
    ("hockney:ports=1.5", "Hockney: ports=1.5 is not an integer."),
    ("torus:shape=1.5", "torus:shape=1.5: 'float' object is not iterable."),
    ("two_groups:t_s=1", "two_groups:t_s=1: TwoGroups.__init__() missing 1 required positional argument: 'first'."),
])  # fmt: skip
def test_text_of_users_is_checked(text: str, words: str) -> None:
    """One sentence each."""
    with pytest.raises(MPI.Exception, match=f"^{re.escape(words)}$"):
        cost_model(text)


def test_numbers_of_any_length_are_parsed() -> None:
    """Python's limit for integers is 4,300 digits."""
    assert number("9" * 5000) == INF
    with pytest.raises(MPI.Exception, match=r"^'x{40}\.\.\.' is not a number\.$"):
        number("x" * 5000)
