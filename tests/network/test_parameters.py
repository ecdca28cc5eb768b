"""Cost models state their parameters: the repr creates an equal model, and another value of any parameter another one."""

from __future__ import annotations

import pickle
from inspect import signature
from typing import Any

import pytest

import fakempi
from fakempi import CostModel, Dragonfly, FatTree, FileServer, Hockney, LogGP, Torus, TwoGroups, TwoLevel, ZeroCost
from fakempi.core.network.models.multi_level import Level, MultiLevel, PiecewiseLinear
from fakempi.core.options import cost_model

NAMES = {**vars(fakempi.MPI), **{each.__name__: each for each in (
    Dragonfly, FatTree, FileServer, Hockney, LogGP, Torus, TwoGroups, TwoLevel, ZeroCost, MultiLevel, Level, PiecewiseLinear,
)}}  # fmt: skip
LINE = PiecewiseLinear([(0, 1, 0.5)])
OTHER: dict[str, Any] = {
    "duplex": False, "static": True, "intra": Hockney(1, 0), "inter": Hockney(2, 0), "files": FileServer(t_s=5),
    "placement": (0, 1), "shape": (3, 2), "children": (3, 3), "links": 7, "link_t_w": (1, 2), "network_gap": None,
    "levels": {"node": Level(LINE), "network": Level(PiecewiseLinear([(0, 2, 0.5)]))},
}  # fmt: skip
REQUIRED: dict[str, Any] = {"first": 3, "levels": {"node": Level(LINE), "network": Level(LINE)}}
MODELS = (Hockney, LogGP, ZeroCost, TwoLevel, Torus, FatTree, Dragonfly, TwoGroups, MultiLevel)


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_the_repr_creates_an_equal_model_and_any_other_value_makes_a_difference(kind: Any) -> None:
    """Each parameter in turn, also those that all models have."""
    names = [name for name in signature(kind.__init__).parameters if name not in ("self", "provenance")]
    required = {name: REQUIRED[name] for name in names if name in REQUIRED}
    default = kind(**required)
    assert repr(kind()) == f"{kind.__name__}()" if not required else "=" in repr(default)
    for name in names:
        value = OTHER.get(name, 5 if name != "links" else 2)
        if kind is FatTree and name == "links":
            value = (2, 4)
        changes = {"links": (2, 4)} if kind is FatTree and name == "children" else {}
        model = kind(**{**required, **changes, name: value})
        assert name in repr(model)
        for copy in (eval(repr(model), NAMES), pickle.loads(pickle.dumps(model))):
            assert (copy, repr(copy), hash(copy)) == (model, repr(model), hash(model))
        assert (model == default) is (name in REQUIRED and value == REQUIRED[name])


def test_models_are_equal_in_any_notation_and_user_defined_ones_too() -> None:
    """A number and a tuple of one number, a default and the same value; values without a truth value are different."""

    class Mine(CostModel):
        def __init__(self, arity: Any = 2, *rest: int, **more: int) -> None:
            self.arity = arity

    assert Torus(8) == Torus((8,)) != Torus((8, 1))
    assert TwoLevel(intra=Hockney(5e-7, 2e-10)) == TwoLevel() != LogGP()
    assert (repr(Mine()), repr(Mine(3, 4, x=5))) == ("Mine()", "Mine(3, 4, x=5)")
    assert eval(repr(Mine(3, 4, x=5)), {"Mine": Mine}) == Mine(3, 4, x=5)
    assert Mine(3, 4) == Mine(3, 4) != Mine(3, 5)
    assert Mine(True) != Mine(1)
    assert len({Mine(), Mine(2), Mine(3)}) == 2
    with pytest.raises(TypeError, match="takes no arguments"):
        type("Empty", (CostModel,), {})(1)


def test_switches_are_true_or_false() -> None:
    """Not a text, which would be true."""
    with pytest.raises(TypeError, match=r"^FatTree: static='no' is not True or False\.$"):
        FatTree(static="no")  # type: ignore[arg-type]  # for the test
    with pytest.raises(TypeError, match=r"^Hockney: duplex='no' is not True or False\.$"):
        Hockney(duplex="no")  # type: ignore[arg-type]


def test_the_common_parameters_are_passed_by_keyword() -> None:
    """After the leading parameters of each model, which are its own."""
    for kind, own in {Hockney: (1, 0), LogGP: (1, 0, 1, 0), Torus: (4, 2), ZeroCost: ()}.items():
        assert kind(*own, eager_limit=0).eager_limit == 0
        with pytest.raises(TypeError, match="positional argument"):
            kind(*own, 0)


def test_every_model_has_a_file_server_as_a_parameter() -> None:
    """It is part of the repr and of equality, and has a text form."""
    server = FileServer(t_s=1)
    for name, kind in {"loggp": LogGP, "zero_cost": ZeroCost, "torus": Torus, "two_level": TwoLevel}.items():
        model: Any = kind
        assert cost_model(f"{name}:files.t_s=1") == model(files=server) != model()
        assert repr(model(files=server)) == f"{kind.__name__}(files=FileServer(t_s=1))"


def test_a_missing_model_within_a_model_is_the_default() -> None:
    """None, as for every parameter with a default that depends on others."""
    for kind in (TwoLevel, Torus, FatTree, Dragonfly):
        model: Any = kind
        assert model(intra=None) == model()
    assert TwoLevel(inter=None) == TwoLevel()  # type: ignore[arg-type]  # the earlier type
