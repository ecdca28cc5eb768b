"""The curves of the blocked ring: claimed and emulated points agree, and the stored output has the same times."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.scripts import BENCHMARKS, imported


@pytest.fixture(scope="module")
def curves() -> Any:
    """The script benchmarks/blocked_ring_curves.py as a module."""
    return imported("blocked_ring_curves")["blocked_ring_curves"]


@pytest.mark.parametrize("block", [0, 700])
@pytest.mark.parametrize("cores", [1, 2])
def test_an_emulated_point_agrees_with_its_claim(curves: Any, cores: int, block: int) -> None:
    """Exactly with one process per node; with two processes it takes at most the claimed time."""
    emulated = curves.Point("infiniband", 4, cores, "spike", 10_000, block, curves.EMULATED)
    claimed = curves.seconds(emulated._replace(how=curves.CLAIMED))
    assert curves.seconds(emulated) == pytest.approx(claimed, rel=1e-9 if cores == 1 else 0.5)


def test_the_stored_output_has_the_times_of_the_three_rules(curves: Any) -> None:
    """One row of the table is recomputed: 1 MiB on one process."""
    printed = (BENCHMARKS / "blocked_ring_curves.out").read_text(encoding="utf-8").splitlines()
    line = next(line for line in printed if line.startswith("broadcast")).split()
    times = [curves.seconds(curves.infiniband("broadcast", 2**20, at)) for at in curves.rules("broadcast", 2**20).values()]
    assert line[5::2] == [*map(curves.digits, times)]


def test_plots_request_the_points_they_need(curves: Any) -> None:
    """All points are either claimed or emulated, on known machines."""
    requests = curves.Requests()
    for part in curves.PARTS:
        assert list(part(requests))
    assert {point.how for point in requests} == {curves.CLAIMED, curves.EMULATED}
    assert {point.machine for point in requests} == {"sx8", "gigabit", "infiniband"}
