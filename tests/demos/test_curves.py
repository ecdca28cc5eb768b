"""The curves of the blocked ring: points are claimed and emulated alike, and what was printed is what they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scripts import BENCHMARKS, imported


@pytest.fixture(scope="module")
def curves() -> Any:
    """benchmarks/blocked_ring_curves.py, which is a script."""
    return imported("blocked_ring_curves")["blocked_ring_curves"]


@pytest.mark.parametrize("block", [0, 700])
@pytest.mark.parametrize("cores", [1, 2])
def test_a_point_is_emulated_as_it_is_claimed(curves: Any, cores: int, block: int) -> None:
    """Exactly so with one process a node, and in no more time with two."""
    emulated = curves.Point("infiniband", 4, cores, "spike", 10_000, block, curves.EMULATED)
    claimed = curves.seconds(emulated._replace(how=curves.CLAIMED))
    assert curves.seconds(emulated) == pytest.approx(claimed, rel=1e-9 if cores == 1 else 0.5)


def test_what_was_printed_has_the_times_of_the_three_rules(curves: Any) -> None:
    """One line of the table, computed anew: 1 MiB that one process has."""
    printed = (BENCHMARKS / "blocked_ring_curves.out").read_text(encoding="utf-8").splitlines()
    line = next(line for line in printed if line.startswith("broadcast")).split()
    times = [curves.seconds(curves.infiniband("broadcast", 2**20, at)) for at in curves.rules("broadcast", 2**20).values()]
    assert line[5::2] == [*map(curves.digits, times)]


def test_pictures_say_which_points_they_need(curves: Any) -> None:
    """All that are drawn, and no point that is not known how to be found."""
    asked = curves.Asked()
    for part in curves.PARTS:
        assert list(part(asked))
    assert {point.how for point in asked} == {curves.CLAIMED, curves.EMULATED}
    assert {point.machine for point in asked} == {"sx8", "gigabit", "infiniband"}
