"""Cost models: the cost of a transfer, invalid arguments, and the machines of the papers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import fakempi
from fakempi import CostModel, Hockney, LogGP, TwoLevel, ZeroCost, presets


def test_hockney_is_start_up_and_bytes() -> None:
    """The same for the ports and for both sides, between all processes."""
    model = Hockney(t_s=5, t_w=2)
    assert model.transfer(0, 1, 10) == model.transfer(7, 3, 10) == (25, 25, 25)
    assert model.transfer(0, 1, 0) == (5, 5, 5)


def test_hockney_keeps_exact_numbers_exact() -> None:
    """No number becomes a float."""
    seventh: Any = Fraction(1, 7)
    assert Hockney(3 * seventh, seventh).transfer(0, 1, 3) == (6 * seventh,) * 3


def test_the_default_is_a_microsecond_and_a_gigabyte_per_second() -> None:
    """With an eager limit of 64 KiB, full duplex, one port."""
    model = Hockney()
    assert model.transfer(0, 1, 1000)[0] == pytest.approx(2e-6)
    assert (model.eager_limit, model.duplex, model.ports, model.compute_per_byte) == (65536, True, 1, 0)


def test_zero_cost_is_zero() -> None:
    """For any size."""
    assert ZeroCost().transfer(0, 1, 1 << 40) == (0, 0, 0)


def test_loggp_has_three_end_times() -> None:
    """Port max(o, g) + (n-1) G, sender o + (n-1) G, receiver additionally L + o; an empty message has no (n-1) G."""
    model = LogGP(L=100, o=3, g=10, G=2)
    assert model.transfer(0, 1, 6) == (20, 13, 116)
    assert model.transfer(0, 1, 1) == model.transfer(0, 1, 0) == (10, 3, 106)
    assert LogGP(L=100, o=30, g=10, G=2).transfer(0, 1, 1) == (30, 30, 160)


def test_two_levels_are_two_hockneys() -> None:
    """By the nodes of the two processes."""
    model = TwoLevel(4, intra=Hockney(1, 0), inter=Hockney(100, 1))
    assert model.transfer(0, 3, 10)[0] == model.transfer(5, 5, 10)[0] == 1
    assert model.transfer(3, 4, 10)[0] == model.transfer(0, 9, 10)[0] == 110


def test_nodes_are_filled_in_order_or_as_placed() -> None:
    """Names of nodes are those of the placement, or numbers."""
    filled, placed = TwoLevel(3), TwoLevel(placement=["a", 5, "a"])
    assert [filled.node(process) for process in range(7)] == [0, 0, 0, 1, 1, 1, 2]
    assert filled.node_name(6) == "node2"
    assert [placed.node(process) for process in range(3)] == ["a", 5, "a"]
    assert [placed.node_name(process) for process in range(3)] == ["a", "node5", "a"]
    assert Hockney().node_name(12) == "node0"


def test_a_placement_that_is_too_short_is_rejected_before_the_run() -> None:
    """With both numbers."""
    with pytest.raises(ValueError, match=r"^TwoLevel: placement has nodes for 2 ranks, and none for rank 2\.$"):
        fakempi.run(lambda comm: None, 3, cost=TwoLevel(placement=[0, 1]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hockney(t_s=-1), r"^Hockney: t_s=-1 is negative\.$"),
        (lambda: Hockney(t_w=-0.5), r"^Hockney: t_w=-0\.5 is negative\.$"),
        (lambda: Hockney(t_s=float("nan")), r"^Hockney: t_s=nan is not a number\.$"),
        (lambda: Hockney(eager_limit=-1), r"^Hockney: eager_limit=-1 is negative\.$"),
        (lambda: Hockney(ports=0), r"^Hockney: ports=0 is less than 1\.$"),
        (lambda: Hockney(compute_per_byte=-1), r"^Hockney: compute_per_byte=-1 is negative\.$"),
        (lambda: ZeroCost(eager_limit=-3), r"^ZeroCost: eager_limit=-3 is negative\.$"),
        (lambda: LogGP(L=-1), r"^LogGP: L=-1 is negative\.$"),
        (lambda: LogGP(o=-1), r"^LogGP: o=-1 is negative\.$"),
        (lambda: LogGP(g=-1), r"^LogGP: g=-1 is negative\.$"),
        (lambda: LogGP(G=-1), r"^LogGP: G=-1 is negative\.$"),
        (lambda: TwoLevel(0), r"^TwoLevel: ranks_per_node=0 is less than 1\.$"),
        (lambda: TwoLevel(network_ports=0), r"^TwoLevel: network_ports=0 is less than 1\.$"),
    ],
)
def test_invalid_numbers_are_rejected(make: Callable[[], Any], words: str) -> None:
    """By their names, when the model is created."""
    with pytest.raises(fakempi.MPI.Exception, match=words) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert caught.value.Get_error_class() == fakempi.MPI.ERR_ARG


def test_a_model_without_transfer_cost_raises() -> None:
    """The message has the name of the model."""

    class Lazy(CostModel):
        pass

    with pytest.raises(NotImplementedError, match=r"^Lazy does not define the cost of a transfer: override transfer\(\)$"):
        Lazy().transfer(0, 1, 1)


@pytest.mark.parametrize("model", [Hockney(), ZeroCost(), LogGP(), TwoLevel(4), TwoLevel(placement=[0, 0])])
def test_models_show_their_numbers(model: CostModel) -> None:
    """In their repr."""
    assert repr(model).startswith(f"{type(model).__name__}(")


NAMES = ["cori", "dawn", "sierra", "sx8", "blue_gene_p", "gigabit", "infiniband", "sicortex"]


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_is_a_machine_with_a_source(name: str) -> None:
    """Start-up is more expensive between nodes than within; the docstring has the source of the figures, or "estimate"."""
    preset = presets.PRESETS[name]
    model = preset(2)
    assert model.transfer(0, 2, 0)[0] > model.transfer(0, 1, 0)[0] > 0
    assert model.transfer(0, 2, 10**6)[0] > model.transfer(0, 2, 0)[0]
    words = " ".join((preset.__doc__ or "").split()).lower()
    assert "estimate" in words or "dawn" in words
    assert preset(4, eager_limit=7).eager_limit == 7


def test_presets_are_listed_by_their_names() -> None:
    """All of them, and no others."""
    assert {name: function.__name__ for name, function in presets.PRESETS.items()} == {
        name: name for name in NAMES
    }
