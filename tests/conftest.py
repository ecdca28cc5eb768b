"""Shared fixtures: the backends, and the number of Hypothesis examples."""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

gc.disable()  # until all tests are collected: nothing of them is garbage, and the collector visits them again and again

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
settings.register_profile("here", UNHURRIED, max_examples=12)
settings.register_profile("ci", UNHURRIED, max_examples=12, derandomize=True, database=None)
settings.register_profile("thorough", UNHURRIED, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "here"))

for name in ("CI", "BUILD_NUMBER"):  # with these, pytest prints more, also in the tests of the plugin
    os.environ.pop(name, None)

if fused := os.environ.get("FAKEMPI_TEST_FUSED"):  # the whole suite has to pass with "never" and with "auto"
    from fakempi.core.world import run

    assert run.__kwdefaults__ is not None
    run.__kwdefaults__["fused"] = fused



def pytest_collection_finish() -> None:
    """Exclude modules and tests from garbage collections: else each of the thousands of `gc.collect()` takes 0.3 s."""
    gc.collect()
    gc.freeze()
    gc.enable()


BACKENDS = [
    pytest.param("greenlets", marks=pytest.mark.skipif(find_spec("greenlet") is None, reason="greenlet is missing")),
    "threads",
]


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """The backend of ranks: the test runs on each. Session-wide, so that Hypothesis tests can use it."""
    return str(request.param)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without slow tests if only those are requested: importing all test files takes 20 s."""
    if config.option.markexpr == "slow" and collection_path.name.startswith("test_") and collection_path.suffix == ".py":
        return None if "slow" in collection_path.read_text(encoding="utf-8") else True
    return None
