"""A cost model of one's own in a run: it is believed as far as it makes sense, and blamed by name and line otherwise."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

import fakempi
from fakempi import CostModel, Hockney, TwoLevel


def exchange(comm: Any) -> None:
    """Everybody sends to everybody, and takes no notice of what goes wrong."""
    for _ in range(3):
        with suppress(BaseException):
            requests = [comm.Isend(b"", dest) for dest in range(comm.size)]
            for source in range(comm.size):
                comm.Recv(bytearray(0), source)
            fakempi.MPI.Request.waitall(requests)


class Wrong(CostModel):
    """Says whatever it is told to."""

    def __init__(self, said: Any, port: int = 1) -> None:
        self.said, self.ports = said, port

    def transfer(self, source: int, dest: int, nbytes: int) -> Any:
        """The third answer is the wrong one."""
        return self.said if (source, dest) == (1, 0) else (1, 1, 1)


LINE = Wrong.transfer.__code__.co_firstlineno
NAN = float("nan")
NOT_THREE = "and not three numbers: the seconds until its ports are free, its sender is done, all has arrived."


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize(
    ("said", "words"),
    [
        ((-1, 0, 0), "-1 seconds until its ports are free."),
        ((0, NAN, 0), "nan seconds until its sender is done."),
        ((0, 0, float("inf")), "inf seconds until all has arrived."),
        (3, f"3, {NOT_THREE}"),
        ((1, 2), f"(1, 2), {NOT_THREE}"),
        (("a", 1, 1), f"('a', 1, 1), {NOT_THREE}"),
    ],
)
def test_a_price_that_makes_no_sense_ends_the_run(carrier: str, ports: int, said: Any, words: str) -> None:
    """Though ranks catch everything: time would run backwards, or nowhere."""
    with pytest.raises(fakempi.RunError) as caught:
        fakempi.run(exchange, 2, cost=Wrong(said, ports), carrier=carrier)
    start = f"cost model Wrong: transfer(1, 0, 0) at test_models_of_ones_own.py:{LINE} gave "
    assert str(caught.value) == start + words
    assert type(caught.value) is fakempi.RunError


class Falls(CostModel):
    """Raises in something that it calls."""

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """By a detour."""
        return self.far(source - dest), 1, 1

    def far(self, distance: int) -> float:
        """Fails for one's left neighbour."""
        return 1 // (distance != 1)


def test_a_model_that_raises_is_named_with_its_line(carrier: str) -> None:
    """Its own last line, and the call that was made; no rank is to blame."""
    line = Falls.far.__code__.co_firstlineno + 2
    with pytest.raises(fakempi.RunError) as caught:
        fakempi.run(exchange, 3, cost=Falls(), carrier=carrier)
    place = f"test_models_of_ones_own.py:{line}"
    assert str(caught.value).startswith(f"cost model Falls: transfer(1, 0, 0) raised ZeroDivisionError at {place}: ")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert fakempi.run(lambda comm: comm.allreduce(1), 3, carrier=carrier).returns == [3, 3, 3]


def test_a_model_that_cannot_place_a_process_is_named(carrier: str) -> None:
    """When the run begins, if it is the last one; else when it is asked for."""

    class Placed(Hockney):
        def __init__(self, nodes: dict[int, Any]) -> None:
            super().__init__()
            self.nodes = nodes

        def node(self, process: int) -> Any:
            return self.nodes[process]

    blamed = r"^cost model Placed: node\({}\) raised {} at test_models_of_ones_own\.py:\d+: {}\.$"
    with pytest.raises(ValueError, match=blamed.format(2, "KeyError", 2)):
        fakempi.run(exchange, 3, cost=Placed({0: 0, 1: 0}), carrier=carrier)
    with pytest.raises(fakempi.RunError, match=blamed.format(1, "KeyError", 1)):
        fakempi.run(exchange, 3, cost=Placed({0: 0, 2: 0}), carrier=carrier)
    with pytest.raises(fakempi.RunError, match=r"node\(1\) raised TypeError at guard\.py:\d+: unhashable type: 'list'\.$"):
        fakempi.run(exchange, 3, cost=Placed({0: 0, 1: [], 2: 0}), carrier=carrier)


def test_a_model_of_ones_own_within_one_of_ours_is_looked_at(carrier: str) -> None:
    """A two-level model asks it."""

    class Odd(Hockney):
        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            return -1, -1, -1

    with pytest.raises(fakempi.RunError, match=r"^cost model TwoLevel: transfer\(0, 0, 0\) at two_level\.py:\d+ gave -1 s"):
        fakempi.run(exchange, 3, cost=TwoLevel(intra=Odd()), carrier=carrier)
