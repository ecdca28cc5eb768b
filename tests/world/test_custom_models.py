"""A user-defined cost model in a run: valid values are used, invalid ones are reported with name and line."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

import fakempi
from fakempi import CostModel, Hockney, TwoLevel
from tests.helpers.loops import for_each


def exchange(comm: Any) -> None:
    """All ranks send to all, and catch every exception."""
    for _ in range(3):
        with suppress(BaseException):
            requests = [comm.Isend(b"", dest) for dest in range(comm.size)]
            for source in range(comm.size):
                comm.Recv(bytearray(0), source)
            fakempi.MPI.Request.waitall(requests)


class Wrong(CostModel):
    """Returns the given value."""

    def __init__(self, said: Any, port: int = 1) -> None:
        self.said, self.ports = said, port

    def transfer(self, source: int, dest: int, nbytes: int) -> Any:
        """The third value is wrong."""
        return self.said if (source, dest) == (1, 0) else (1, 1, 1)


LINE = Wrong.transfer.__code__.co_firstlineno
NAN = float("nan")
NOT_THREE = "which is not three numbers: the seconds until its ports are free, its send ends, it arrives."


@for_each("ports", [1, 2])
@for_each(
    ("said", "words"),
    [
        ((-1, 0, 0), "-1 seconds until its ports are free."),
        ((0, NAN, 0), "nan seconds until its send ends."),
        ((0, 0, float("inf")), "inf seconds until it arrives."),
        (3, f"3, {NOT_THREE}"),
        ((1, 2), f"(1, 2), {NOT_THREE}"),
        (("a", 1, 1), f"('a', 1, 1), {NOT_THREE}"),
    ],
)
def test_an_invalid_cost_ends_the_run(backend: Any, ports: int, said: Any, words: str) -> None:
    """Although ranks catch every exception: time would run backward or become infinite."""
    with pytest.raises(fakempi.RunError) as caught:
        fakempi.run(exchange, 2, cost=Wrong(said, ports), backend=backend)
    start = f"cost model Wrong: transfer(1, 0, 0) at test_custom_models.py:{LINE} returned "
    assert str(caught.value) == start + words
    assert type(caught.value) is fakempi.RunError


class HelperRaises(CostModel):
    """Raises in a function that it calls."""

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """Through another function."""
        return self.far(source - dest), 1, 1

    def far(self, distance: int) -> float:
        """Fails for the left neighbor."""
        return 1 // (distance != 1)


def test_a_model_that_raises_is_named_with_its_line(backend: Any) -> None:
    """Its last line, and the method; no rank is blamed."""
    line = HelperRaises.far.__code__.co_firstlineno + 2
    with pytest.raises(fakempi.RunError) as caught:
        fakempi.run(exchange, 3, cost=HelperRaises(), backend=backend)
    place = f"test_custom_models.py:{line}"
    assert str(caught.value).startswith(f"cost model HelperRaises: transfer(1, 0, 0) raised ZeroDivisionError at {place}: ")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert fakempi.run(lambda comm: comm.allreduce(1), 3, backend=backend).returns == [3, 3, 3]


def test_a_model_that_cannot_place_a_process_is_named(backend: Any) -> None:
    """When the run starts, for the last process; otherwise when it is called."""

    class Placed(Hockney):
        def __init__(self, nodes: dict[int, Any]) -> None:
            super().__init__()
            self.nodes = nodes

        def node(self, process: int) -> Any:
            return self.nodes[process]

    blamed = r"^cost model Placed: node\({}\) raised {} at test_custom_models\.py:\d+: {}\.$"
    with pytest.raises(ValueError, match=blamed.format(2, "KeyError", 2)):
        fakempi.run(exchange, 3, cost=Placed({0: 0, 1: 0}), backend=backend)
    with pytest.raises(fakempi.RunError, match=blamed.format(1, "KeyError", 1)):
        fakempi.run(exchange, 3, cost=Placed({0: 0, 2: 0}), backend=backend)
    with pytest.raises(fakempi.RunError, match=r"node\(1\) raised TypeError at guard\.py:\d+: unhashable type: 'list'\.$"):
        fakempi.run(exchange, 3, cost=Placed({0: 0, 1: [], 2: 0}), backend=backend)


def test_a_user_defined_model_inside_a_bundled_one_is_checked(backend: Any) -> None:
    """A two-level model calls it."""

    class Odd(Hockney):
        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            return -1, -1, -1

    message = r"^cost model TwoLevel: transfer\(0, 0, 0\) at two_level\.py:\d+ returned -1 s"
    with pytest.raises(fakempi.RunError, match=message):
        fakempi.run(exchange, 3, cost=TwoLevel(intra=Odd()), backend=backend)
