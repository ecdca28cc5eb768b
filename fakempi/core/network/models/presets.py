"""Machines of the four papers as cost models. Numbers that are not stated to be published are estimates.

None of the papers prints start-up times or bandwidths, so most numbers here are estimates of the right magnitude: use them
for the shape of a curve, not for absolute times. Each function takes the number of ranks per node, and passes other keywords
to the model: with `network_gap=None`, a transfer holds a network port during its start-up time, too.

Examples
--------
>>> import fakempi
>>> fakempi.run(lambda comm: comm.Barrier(), 64, cost=fakempi.presets.cori(ranks_per_node=32)).messages
384
"""

from __future__ import annotations

from typing import Any

from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.models.two_level import TwoLevel

GAP = 1e-7
"""Seconds between two messages at a network port: ten million messages per second, an estimate for all machines."""


def _machine(ranks_per_node: int, *, network_gap: float | None = GAP, **options: Any) -> TwoLevel:
    return TwoLevel(ranks_per_node, network_gap=network_gap, **options)


def cori(ranks_per_node: int = 1, **options: Any) -> TwoLevel:
    """Cori, Cray XC40 with the Aries dragonfly (Kang 2019). Estimate: 1.3 us and 8 GB/s between nodes, 0.5 us and 5 GB/s
    within one."""
    return _machine(ranks_per_node, intra=Hockney(5e-7, 2e-10), inter=Hockney(1.3e-6, 1.25e-10), **options)


def dawn(ranks_per_node: int = 4, network_ports: int = 6, **options: Any) -> TwoLevel:
    """Dawn, IBM Blue Gene/P with 4 cores per node (Moody 2011). Link bandwidth 425 MB/s as IBM published it for Blue Gene/P
    (IBM Blue Gene team, IBM J. Res. Dev. 52, 2008, doi 10.1147/rd.521.0199), and six links per node, of the 3-D torus; 3 us
    start-up and the intra-node figures are estimates. Only nodes' ports are shared; `fakempi.Torus` models links."""
    options["network_ports"] = network_ports
    return _machine(ranks_per_node, intra=Hockney(1.5e-6, 1e-9), inter=Hockney(3e-6, 1 / 425e6), **options)


def sierra(ranks_per_node: int = 12, **options: Any) -> TwoLevel:
    """Sierra, LLNL's InfiniBand QDR cluster of 12-core nodes (Moody 2011). Estimate: 1.6 us and 3.2 GB/s between nodes,
    0.5 us and 4 GB/s within one."""
    return _machine(ranks_per_node, intra=Hockney(5e-7, 2.5e-10), inter=Hockney(1.6e-6, 1 / 3.2e9), **options)


def sx8(ranks_per_node: int = 1, **options: Any) -> TwoLevel:
    """NEC SX-8 with the IXS crossbar, 8 processors per node (Träff 2008). 16 GB/s each way is NEC's published figure; 5 us
    start-up and the intra-node figures are estimates."""
    return _machine(ranks_per_node, intra=Hockney(2e-6, 3e-11), inter=Hockney(5e-6, 1 / 16e9), **options)


def blue_gene_p(ranks_per_node: int = 1, **options: Any) -> TwoLevel:
    """Blue Gene/P (Träff 2008): the same machine type as `dawn`, by default with one rank per node."""
    return dawn(ranks_per_node, **options)


def gigabit(ranks_per_node: int = 1, **options: Any) -> TwoLevel:
    """A cluster with gigabit Ethernet. Bandwidth 1 Gbit/s is the standard's; 50 us start-up and the intra-node figures are
    estimates."""
    return _machine(ranks_per_node, intra=Hockney(1e-6, 5e-10), inter=Hockney(50e-6, 8e-9), **options)


def infiniband(ranks_per_node: int = 2, **options: Any) -> TwoLevel:
    """A Linux cluster with InfiniBand of 2008 (Träff 2008, 16 nodes of 2). 1 GB/s is the standard's figure for 4x at single
    data rate; 4 us start-up and the intra-node figures are estimates."""
    return _machine(ranks_per_node, intra=Hockney(1e-6, 5e-10), inter=Hockney(4e-6, 1e-9), **options)


def sicortex(ranks_per_node: int = 1, **options: Any) -> TwoLevel:
    """SiCortex SC5832, 972 nodes of 6 cores (Träff 2008). Estimate: 1.5 us and 1.5 GB/s between nodes, 1 us and 1 GB/s
    within one, whose cores are slow."""
    return _machine(ranks_per_node, intra=Hockney(1e-6, 1e-9), inter=Hockney(1.5e-6, 1 / 1.5e9), **options)


PRESETS = {
    "cori": cori,
    "dawn": dawn,
    "sierra": sierra,
    "sx8": sx8,
    "blue_gene_p": blue_gene_p,
    "gigabit": gigabit,
    "infiniband": infiniband,
    "sicortex": sicortex,
}
"""Name -> function."""
