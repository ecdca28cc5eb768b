"""What people type: cost models, algorithms, sizes and numbers of ranks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from fakempi import Dragonfly, FatTree, Free, Hockney, LogGP, Torus, TwoGroups, TwoLevel
from fakempi.options import algorithms, cost_model, groups, number, sizes


def test_models_and_machines_go_by_name() -> None:
    """With the values that the classes have."""
    assert repr(cost_model("hockney")) == repr(Hockney())
    assert repr(cost_model("loggp:L=1,o=2,g=3,G=4,eager_limit=0")) == repr(LogGP(1, 2, 3, 4, eager_limit=0))
    assert repr(cost_model("Free")) == repr(Free())
    assert isinstance(cost_model("cori:ranks_per_node=32"), TwoLevel)
    half = cost_model("hockney:duplex=false,ports=2,t_s=1/3")
    assert (half.duplex, half.ports, getattr(half, "t_s", None)) == (False, 2, Fraction(1, 3))


def test_a_two_level_model_has_models_within() -> None:
    """What is not said is as by default."""
    model: Any = cost_model("two-level:ranks_per_node=2,intra.t_s=1,inter.t_w=2,placement=a+a+b")
    assert (model.intra.t_s, model.intra.t_w) == (1, TwoLevel().intra.t_w)
    assert (model.inter.t_s, model.inter.t_w) == (TwoLevel().inter.t_s, 2)
    assert model.placement == ("a", "a", "b")


def test_networks_have_numbers_with_an_x_between() -> None:
    """A shape, or the links of each level; one alone is a number."""
    assert repr(cost_model("torus:shape=8x8x8,ranks_per_node=4")) == repr(Torus((8, 8, 8), 4))
    assert repr(cost_model("fat-tree:children=4x2,links=1x2,static=yes")) == repr(FatTree((4, 2), links=(1, 2), static=True))
    assert repr(cost_model("torus:shape=16")) == repr(Torus(16))
    assert repr(cost_model("dragonfly:groups=3,global_links=2")) == repr(Dragonfly(3, global_links=2))
    assert repr(cost_model("two_groups:first=3,bridges=1e-9x2e-9")) == repr(TwoGroups(3, (1e-9, 2e-9)))
    assert cost_model("two_level:network_gap=none").network_gap is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hockny", "cost model 'hockny' is unknown: did you mean hockney? There are hockney, two_level, loggp, free, "),
        ("hockney:t_x=1", "hockney:t_x=1: parameter 't_x' is unknown: did you mean t_w? There are t_s, t_w, eager_limit,"),
        ("hockney:t_s", "hockney:t_s: 't_s' should be a parameter and its value, such as t_s=1e-6."),
        ("hockney:t_s=fast", "'fast' is not a number."),
        ("two_level:intra.x=1", "two_level:intra.x=1: parameter 'intra.x' is unknown: "),
        ("cori:intra.t_s=1", "cori:intra.t_s=1: parameter 'intra.t_s' is unknown: "),
        ("hockney:t_s=-1", "Hockney: t_s=-1 is negative."),
    ],
)
def test_what_cannot_be_read_is_told(text: str, words: str) -> None:
    """With what there is."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the words are compared below
        cost_model(text)
    assert str(caught.value).startswith(words)


def test_algorithms_are_tables_and_names() -> None:
    """As `run` takes them."""
    assert algorithms("mpich") == "mpich"
    assert algorithms("allgather=ring") == {"allgather": "ring"}
    assert algorithms("inter:allgather=full_duplex, bcast=chain(segment_bytes=4k,x=1)") == {
        "inter:allgather": "full_duplex", "bcast": ("chain", {"segment_bytes": 4096, "x": 1}),
    }  # fmt: skip
    with pytest.raises(ValueError, match="should be an operation and an algorithm, such as allgather=ring"):
        algorithms("allgather=a b")


def test_sizes_and_ranks() -> None:
    """Lists, ranges of powers of two, units, and two groups."""
    assert sizes("0, 1k,2KiB,1m") == [0, 1024, 2048, 2**20]
    assert sizes("0..4,10") == [0, 1, 2, 4, 10]
    assert sizes("3..20") == [3, 6, 12]
    assert groups("2..8,6+2") == [(2, 0), (4, 0), (8, 0), (6, 2)]
    assert number("1e-6") == 1e-6
    for wrong in ("x", "1.5", "-1", "8..2", "true"):
        with pytest.raises(ValueError, match=r"is not a|put the smaller first"):
            sizes(wrong)
    with pytest.raises(ValueError, match="0 ranks are too few; there must be at least 1"):
        groups("0")
