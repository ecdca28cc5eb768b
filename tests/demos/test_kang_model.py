"""Times that the demo of Kang et al.'s figures computes without messages equal those of emulated runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from collectives import find
from fakempi import Hockney, TwoLevel

pytestmark = pytest.mark.slow  # ten seconds together

ROOT = Path(__file__).parents[2]
COST = TwoLevel(4, intra=Hockney(2.0**-20, 2.0**-31), inter=Hockney(2.0**-19, 2.0**-32), eager_limit=0)  # sums are exact


@pytest.fixture(scope="module")
def kang() -> Iterator[Any]:
    """The module demos/kang_settings.py, imported as in the demo."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "demos"))
        yield import_module("kang_settings")


def both(kang: Any, number: int, name: str, largest: int) -> tuple[float, float]:
    """The times of one call on 32 nodes of 4 ranks, with computed rings and with all messages."""
    algorithm = find(kang.operation(number), name, kind="inter")
    case, block = kang.setting(number, 128, largest), 4096
    ring = "blocked_ring" if number in (2, 3, 4) else "ring"
    rings = kang.ShortRings(case.p, COST, block)
    short = kang.simulate(algorithm, case, COST, kang.short(rings, algorithm, ring))
    return short, kang.simulate(algorithm, case, COST, kang.plain(algorithm, ring, block))


@pytest.mark.parametrize("number", range(1, 9))
def test_root_gathering_with_computed_rings_takes_the_same_time(kang: Any, number: int) -> None:
    """Outside the rings there is one message at a time, so no message crosses them."""
    short, whole = both(kang, number, "root_gathering_mpich", 12288)
    assert short == whole


@pytest.mark.parametrize("number", range(5, 9))
def test_a_computed_gather_along_a_ring_takes_the_same_time(kang: Any, number: int) -> None:
    """MPICH's gather according to the paper, to the left; empty blocks are not sent."""
    short, whole = both(kang, number, "root_gathering_ring", 12288)
    assert short == whole


def test_a_slow_hop_affects_only_rings(kang: Any) -> None:
    """The ratio to full duplex falls if that also uses a ring, and rises otherwise."""
    old, ring, bruck = (
        [kang.with_slow_hop(16, h, *how) for h in (1, 8)]
        for how in (("root_gathering_ring",), ("full_duplex", "ring"), ("full_duplex", "bruck"))
    )
    assert old[1] / ring[1] < old[0] / ring[0]
    assert old[1] / bruck[1] > old[0] / bruck[0]


@pytest.mark.parametrize("name", ["full_duplex", "two_stage"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_equal_exchanges_and_computed_rings_take_the_same_time(kang: Any, number: int, name: str) -> None:
    """The ring of a node begins when its last exchange has ended."""
    short, whole = both(kang, number, name, 12288)
    assert short == whole


@pytest.mark.parametrize(
    ("number", "name"), [(4, "full_duplex"), (4, "two_stage"), *((number, "full_duplex") for number in (5, 6, 7, 8))]
)
def test_computed_rings_omit_queueing_if_exchanges_cross_a_ring(kang: Any, number: int, name: str) -> None:
    """Some ranks of a node start the ring while others still exchange: never longer, and at most 2 % shorter."""
    short, whole = both(kang, number, name, 12288)
    assert 0.98 * whole <= short <= whole


def test_groups_that_share_a_node_raise_an_error(kang: Any) -> None:
    """Their rings would queue for its port."""
    with pytest.raises(ValueError, match=r"^ranks 49 and 50 are in different groups on one node, 12"):
        kang.ShortRings(50, COST, 4096)


def test_one_rank_per_node_agrees_with_the_claims(kang: Any) -> None:
    """Both methods of the demo agree where both apply."""
    algorithm, cluster = find("allgather", "full_duplex", kind="inter"), kang.Cluster(64, 1)
    case = kang.setting(2, 64, 65536)
    parameters = kang.plain(algorithm, "blocked_ring", 65536)
    claimed = kang.seconds(kang.Job(2, cluster, 65536, "full_duplex"))
    assert kang.simulate(algorithm, case, cluster.cost, parameters) == pytest.approx(claimed, rel=1e-12)


def test_the_page_has_the_ratios_that_the_demo_prints(kang: Any) -> None:
    """The published ratios, 64 x 1 for all settings, 64 x 32 for the first; the picture is from 18_step_by_step."""
    page = (ROOT / "docs" / "papers" / "kang.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| [1-8] \| .*$", page, re.M)]
    rows = [row for row in rows if len(row) == 7]
    assert {int(row[0]): float(row[3]) for row in rows} == kang.PUBLISHED

    def ratio(number: int, cluster: Any) -> str:
        jobs = [kang.Job(number, cluster, 2**23, name) for name in ("root_gathering_mpich", "full_duplex")]
        old, new = map(kang.seconds, jobs)
        return f"{old / new:.2f}"

    assert [row[4] for row in rows] == [ratio(number, kang.Cluster(64, 1)) for number in kang.PUBLISHED]
    assert rows[0][6] == ratio(1, kang.Cluster(64, 32))
    steps = (ROOT / "demos" / "18_step_by_step.out").read_text(encoding="utf-8")
    picture = next(block for block in page.split("```text\n") if block.startswith("t = 9")).split("```")[0]
    printed = "".join(line.rstrip() + "\n" for line in steps.splitlines())
    assert picture in printed


def stored() -> str:
    """The output of `demos/20_kang_figures.py --full`."""
    return (ROOT / "benchmarks" / "kang_figures.out").read_text(encoding="utf-8")


def test_the_stored_ratios_of_fig_5_are_computed_again(kang: Any) -> None:
    """256 x 1 at 8 MB per node, settings 5 to 8, three ways to gather."""
    cluster, size = kang.Cluster(256, 1), kang.SIZES[-1]
    names = {"root_gathering_mpich": "root gathering", "root_gathering_ring": "by a ring", "wmpi": "remote gather"}
    figure = stored()[stored().index("Fig. 5 · 256 ranks") :]
    for number in range(5, 9):
        part = figure[figure.index(f"\nsetting {number}") :]
        new = kang.seconds(kang.Job(number, cluster, size, "full_duplex"))
        for algorithm, name in names.items():
            line = re.search(rf"\n {name} .*", part)
            assert line is not None
            ratio = kang.seconds(kang.Job(number, cluster, size, algorithm)) / new
            assert re.findall(r"[\d.]+", line[0])[8] == f"{ratio:.2f}"  # after the times of eight sizes


def test_the_stored_effects_of_the_inner_allgather_are_computed_again(kang: Any) -> None:
    """Settings 2 to 4 relative to the bound and by block size, and one hop that is eight times slower."""
    cluster, size = kang.Cluster(64, 1), kang.SIZES[-1]
    for number in (2, 3, 4):
        bounds = [f"{kang.to_bound(number, 256, name):.3f}" for name in ("ring", "bruck", "blocked_ring")]
        assert re.search(rf"\n{number}  25:7.* {' +'.join(bounds)}", stored())
        old, new = (kang.seconds(kang.Job(number, cluster, size, name)) for name in ("root_gathering_mpich", "full_duplex"))
        times = [new, *(kang.with_default_blocks(number, cluster, name) for name in ("blocked_ring", "ring"))]
        speedups = [f"{old / time:.2f}" for time in times]
        assert re.search(rf"\n{number}  25:7.* {' +'.join(speedups)}", stored())
    old = kang.with_slow_hop(64, 8, "root_gathering_ring")
    inner = [f"{old / kang.with_slow_hop(64, 8, 'full_duplex', name):.2f}" for name in ("ring", "bruck")]
    assert re.search(rf"\n +8 .* {' +'.join(inner)}", stored())


def test_the_default_run_computes_all_ratios_of_the_page_but_two(kang: Any) -> None:
    """It omits settings 6 and 7 on 2,048 ranks, and has no point that --full lacks."""
    demo = import_module("20_kang_figures")
    jobs = {figures: set(demo.jobs_of(None, clusters, kang.Cluster(64, 32, True))) for figures, clusters in (
        ("short", demo.SHORT), ("full", demo.FULL),
    )}  # fmt: skip
    ratios = {
        kang.Job(number, cluster, kang.SIZES[-1], name)
        for number in kang.PUBLISHED
        for cluster in kang.CLUSTERS
        for name in ("root_gathering_mpich", "full_duplex")
    }
    assert jobs["short"] < jobs["full"] >= ratios
    assert {(job.number, job.cluster.ranks) for job in ratios - jobs["short"]} == {(6, 2048), (7, 2048)}
