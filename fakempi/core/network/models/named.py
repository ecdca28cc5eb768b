"""Cost models and machines, by the names that users type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fakempi.core.network.cost import CostModel
from fakempi.core.network.models.dragonfly import Dragonfly
from fakempi.core.network.models.fat_tree import FatTree
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.models.loggp import LogGP
from fakempi.core.network.models.presets import PRESETS
from fakempi.core.network.models.torus import Torus
from fakempi.core.network.models.two_groups import TwoGroups
from fakempi.core.network.models.two_level import TwoLevel
from fakempi.core.network.models.zero_cost import ZeroCost

MODELS: Mapping[str, Callable[..., CostModel]] = {
    "hockney": Hockney, "two_level": TwoLevel, "loggp": LogGP, "zero_cost": ZeroCost, "torus": Torus, "fat_tree": FatTree,
    "dragonfly": Dragonfly, "two_groups": TwoGroups, **PRESETS,
}  # fmt: skip
