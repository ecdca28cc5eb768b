"""Splits of a thousand ranks and more: the same groups as at small scale, once each."""

from __future__ import annotations

from typing import Any

import pytest

from collectives import Algorithm
from tests.collectives.split.harness import SPLITS, every, expected, run_split


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", SPLITS, ids=every)
def test_a_thousand_ranks_are_split(algorithm: Algorithm) -> None:
    """Into eleven groups, with keys that repeat; hashes, which would sort by bitonic then, without."""
    colors = [rank * 7 % 11 for rank in range(1024)]
    keys = [None if algorithm.name.startswith("hash") else rank * 5 % 17 for rank in range(1024)]
    assert run_split(algorithm, colors, keys).returns == expected(colors, keys)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", SPLITS, ids=every)
def test_a_thousand_threads_are_split_as_greenlets_are(algorithm: Algorithm) -> None:
    """The same groups at the same times."""
    colors, keys = [rank // 24 for rank in range(1024)], [None] * 1024
    runs = [run_split(algorithm, colors, keys, carrier=carrier) for carrier in ("greenlets", "threads")]
    assert runs[0].returns == runs[1].returns == expected(colors, keys)
    assert runs[0].clocks == runs[1].clocks


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", SPLITS, ids=every)
def test_four_thousand_ranks_are_split(algorithm: Algorithm) -> None:
    """By host name, or by its number where names do not fit; hashes, which would sort by bitonic then, without keys."""
    hosts = [rank * 31 % 4096 // 64 for rank in range(4096)]
    radix = algorithm.name == "radix"
    colors: list[Any] = hosts if radix else [f"node{host}" for host in hosts]
    keys = [None if algorithm.name.startswith("hash") else rank * 5 % 17 for rank in range(4096)]
    options: dict[str, Any] = {} if radix else {"widths": (8, 0)}
    assert run_split(algorithm, colors, keys, **options).returns == expected(colors, keys)
