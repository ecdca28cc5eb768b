"""Fits: a known model is recovered from its times, errors are stated at held-out sizes, and choices are explained."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakempi.core.network.models.multi_level import PiecewiseLinear
from fakempi.errors import MPIValueError
from fakempi.machines.calibration import calibrate
from fakempi.machines.held_out import held_out_errors
from fakempi.machines.piecewise_fit import fit_piecewise
from fakempi.machines.samples import Sample
from tests.helpers.breadth import examples

SIZES = [2**k for k in range(23)]


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(6, 16), st.floats(1e-7, 1e-5), st.floats(1e-11, 1e-9), st.floats(1.5, 4), st.floats(0.2, 0.8),
)  # fmt: skip
def test_a_known_model_is_recovered(switch: int, t_s: float, t_w: float, jump: float, faster: float) -> None:
    """Two protocols with a jump between them: every time within 2 %, and the switch between the two sizes around it."""
    limit = 2**switch
    after = jump * (t_s + limit * t_w) - limit * t_w * faster
    known = PiecewiseLinear([(0, t_s, t_w), (limit + 1, after, t_w * faster)])
    found = fit_piecewise(SIZES, [known(size) for size in SIZES])
    assert all(abs(found(size) / known(size) - 1) < 0.02 for size in SIZES)
    assert any(limit < piece.start <= 2 * limit for piece in found.pieces)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.floats(0, 1e-4), min_size=23, max_size=23), st.integers(0, 2**22), st.integers(0, 2**22))
def test_costs_rise_within_each_piece(steps: list[float], one: int, other: int) -> None:
    """No coefficient is negative. Between pieces a cost may fall, as measured ones do where a faster protocol starts."""
    found = fit_piecewise(SIZES, list(1e-7 + np.cumsum(steps)))
    low, high = sorted((one, other))
    starts = [piece.start for piece in found.pieces]
    assert starts == sorted(set(starts))
    if not any(low < start <= high for start in starts):
        assert found(low) <= found(high)
    assert all(piece.t_s >= 0 and piece.t_w >= 0 for piece in found.pieces)


def test_noise_does_not_add_pieces() -> None:
    """Half a percent of noise on one line gives one piece."""
    noise = 1 + 0.005 * np.sin(np.arange(23.0) * 7)
    assert len(fit_piecewise(SIZES, list((1e-6 + np.array(SIZES) * 1e-10) * noise)).pieces) == 1


def test_a_faster_protocol_for_long_messages_is_kept() -> None:
    """The cost falls from one size to the next, as on the cluster in benchmarks/data."""
    times = [1e-6 + size * (3e-10 if size <= 131072 else 6e-11) for size in SIZES]
    found = fit_piecewise(SIZES, times)
    assert found(131072) > 2 * found(262144)


def test_errors_are_those_of_sizes_that_the_fit_has_not_seen() -> None:
    """A size whose time is twice as long as that of its neighbors has an error of a half; the others have none."""
    times = [1e-6 + size * 1e-9 for size in SIZES]
    times[10] *= 2
    held = held_out_errors(SIZES, times, 1)
    by_size = dict(zip(held.sizes, held.errors, strict=True))
    assert sorted(by_size) == SIZES[1:-1]
    assert by_size[SIZES[10]] == pytest.approx(0.5, abs=1e-3)
    assert [(one.low, one.high) for one in held.ranges()] == [(2, 1024), (2048, 65536), (131072, 2**21)]


def samples(level: str, kind: str, t_s: float, t_w: float, pairs: int = 1) -> list[Sample]:
    """Times of all sizes on a line."""
    return [Sample(level, kind, size, t_s + size * t_w, pairs) for size in SIZES]


def test_a_calibration_has_levels_gaps_and_placement() -> None:
    """Reductions give the cost per byte, and the outermost level the eager limit."""
    measured = [
        *samples("node", "time", 5e-7, 1e-10), *samples("network", "time", 2e-6, 1e-10),
        *samples("network", "gap", 3e-7, 8e-11), *samples("network", "overhead", 2e-7, 1e-11),
        Sample("node", "reduction", 1000, 2e-7), Sample("network", "eager", 8192, 1.0),
        Sample("network", "eager", 8256, 0.0), Sample("node", "eager", 64, 1.0),
    ]  # fmt: skip
    found = calibrate(measured, ranks_per_node=16)
    model = found.model
    assert list(model.levels) == ["node", "network"]
    assert model.transfer(0, 16, 1000) == pytest.approx((3.8e-7, 2.1e-7, 2.1e-6))
    assert model.transfer(0, 1, 1000) == pytest.approx((6e-7,) * 3)
    assert (model.eager_limit, model.compute_per_byte, model.ranks_per_node) == (8192, 2e-10, 16)
    assert [report.held_out.median < 1e-4 for report in found.levels] == [True, True]
    assert dict(model.provenance)["overheads"].startswith("node: not measured, a message holds its ports until it arrives; ")


def test_the_eager_limit_is_inferred_from_a_jump() -> None:
    """If nothing else is known; without a jump it is the default, and the file says so."""
    jump = [Sample("network", "time", size, (1e-6 if size <= 8192 else 5e-6) + size * 1e-10) for size in SIZES]
    assert calibrate(jump).model.eager_limit == 8192
    smooth = calibrate(samples("network", "time", 1e-6, 1e-10))
    assert (smooth.model.eager_limit, smooth.eager) == (65536, "not measured: the default")


@pytest.mark.quick(1)
@pytest.mark.parametrize(("rate", "ports"), [(1.0, 1), (2.1, 2), (8.0, None)])
def test_concurrent_pairs_give_the_number_of_ports(rate: float, ports: int | None) -> None:
    """Up to 8 pairs that together have 1, 2.1 or 8 times the bandwidth of one."""
    measured = samples("network", "time", 1e-6, 1e-10)
    for pairs in (1, 2, 4, 8):
        for size in (8, 2**20):
            measured.append(Sample("network", "concurrent", size, 1e-6 * size * pairs / min(pairs, rate), pairs))
    level = calibrate(measured).model.levels["network"]
    assert level.ports == ports
    if ports:
        assert level.port_t_w == pytest.approx(1e-6 * ports / rate, rel=1e-3)


@pytest.mark.parametrize(
    ("measured", "error"),
    [
        ([], "there are no one-way times of messages: add ping-pongs, such as the output of osu_latency."),
        (samples("node", "time", 1e-6, 0)[:3], ": level node has 3 sizes (1, 2, 4 bytes), and a fit needs at least 4: "),
        (samples("node", "time", 1.0, 0), ": 1 s for 1 B on level node is too long for a message: times must be "),
        (
            [*samples("node", "time", 1e-6, 0), *samples("node", "time", 1.1e-6, 0), Sample("node", "time", 8, 1.0)],
            ": 1 s for 8 B on level node, and 1e-06 s in another row: the rows have different units, or ",
        ),
    ],
)
def test_samples_that_cannot_be_used_are_rejected(measured: list[Sample], error: str) -> None:
    """One sentence each."""
    with pytest.raises(MPIValueError) as raised:
        calibrate(measured)
    assert str(raised.value).startswith(error)
