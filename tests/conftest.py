"""What all tests share: the carriers, and how many examples Hypothesis tries."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # whatever else the machine does
settings.register_profile("here", UNHURRIED, max_examples=25)
settings.register_profile("ci", UNHURRIED, max_examples=25, derandomize=True, database=None)
settings.register_profile("thorough", UNHURRIED, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "here"))

if paper := os.environ.get("FAKEMPI_TEST_PAPER"):  # the whole suite has to pass with "never" and with "auto"
    from fakempi.world import run

    assert run.__kwdefaults__ is not None
    run.__kwdefaults__["paper"] = paper

CARRIERS = [
    pytest.param("greenlets", marks=pytest.mark.skipif(find_spec("greenlet") is None, reason="greenlet is missing")),
    "threads",
]


@pytest.fixture(scope="session", params=CARRIERS)
def carrier(request: pytest.FixtureRequest) -> str:
    """What ranks run on: the test is done on each. Session-wide, so that Hypothesis can use it too."""
    return str(request.param)
