"""Splits of 1,024 and 4,096 ranks."""

from __future__ import annotations

from typing import Any

import pytest

from collectives import Algorithm, find
from tests.collectives.split.harness import SPLITS, expected, name_of, run_split
from tests.helpers.breadth import breadth


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", SPLITS, ids=name_of)
def test_a_thousand_ranks_are_split(algorithm: Algorithm) -> None:
    """Eleven groups, with repeated keys; hashes without keys, because they would use bitonic otherwise."""
    colors = [rank * 7 % 11 for rank in range(1024)]
    keys = [None if algorithm.name.startswith("hash") else rank * 5 % 17 for rank in range(1024)]
    assert run_split(algorithm, colors, keys).returns == expected(colors, keys)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", SPLITS, ids=name_of)
def test_both_backends_split_hundreds_of_ranks_equally(algorithm: Algorithm) -> None:
    """The groups and the clocks of all ranks are equal."""
    size = breadth(256, 1024)
    colors, keys = [rank // 24 for rank in range(size)], [None] * size
    runs = [run_split(algorithm, colors, keys, backend=backend) for backend in ("greenlets", "threads")]
    assert runs[0].returns == runs[1].returns == expected(colors, keys)
    assert runs[0].clocks == runs[1].clocks


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", breadth([find("split", "best")], SPLITS), ids=name_of)
def test_four_thousand_ranks_are_split(algorithm: Algorithm) -> None:
    """By host name, or by host number for radix; hashes without keys, because they would use bitonic otherwise."""
    hosts = [rank * 31 % 4096 // 64 for rank in range(4096)]
    radix = algorithm.name == "radix"
    colors: list[Any] = hosts if radix else [f"node{host}" for host in hosts]
    keys = [None if algorithm.name.startswith("hash") else rank * 5 % 17 for rank in range(4096)]
    options: dict[str, Any] = {} if radix else {"widths": (8, 0)}
    assert run_split(algorithm, colors, keys, **options).returns == expected(colors, keys)
