"""Shared fixtures: the backends, and the number of Hypothesis examples."""

from __future__ import annotations

import gc
import os
import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from tests.helpers.shared_rewriting import begin_at_the_end, restore_order

gc.disable()  # until all tests are collected: nothing of them is garbage, and the collector visits them again and again

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
STORED = {} if os.access(Path(__file__).parents[1], os.W_OK) else {"database": None}  # no warning that nothing can be stored
settings.register_profile("here", UNHURRIED, max_examples=12, **STORED)
settings.register_profile("ci", UNHURRIED, max_examples=12, derandomize=True, database=None)
settings.register_profile("thorough", UNHURRIED, max_examples=1000)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "here")
settings.load_profile(PROFILE)

if PROFILE != "thorough":
    # Else Hypothesis also draws constants of our sources, for which each worker parses a thousand files in a fresh clone.
    with suppress(ImportError):
        from hypothesis.internal.conjecture import providers

        setattr(providers, "_get_local_constants", lambda: providers._local_constants)  # noqa: B010 (a function)

for name in ("CI", "BUILD_NUMBER", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)  # with the first two, pytest prints more, also in the tests of the plugin
os.environ |= {"COLUMNS": "80", "TERM": "xterm-256color"}  # text has the same width, whatever the terminal

if fused := os.environ.get("FAKEMPI_TEST_FUSED"):  # the whole suite has to pass with "never" and with "auto"
    from fakempi.core.world import run

    assert run.__kwdefaults__ is not None
    run.__kwdefaults__["fused"] = fused


def pytest_configure(config: pytest.Config) -> None:
    """Each test file is compiled by one worker."""
    begin_at_the_end(config)


def pytest_collection_finish() -> None:
    """Exclude modules and tests from garbage collections: else each of the thousands of `gc.collect()` takes 0.3 s."""
    gc.collect()
    gc.freeze()
    gc.enable()


SAMPLES = "slow and sample"
"""The selection of slow tests in `.ci/run`."""

GREENLET = find_spec("greenlet") is not None

BACKENDS = [
    pytest.param(
        "greenlets", marks=pytest.mark.skipif(not GREENLET, reason="there is no greenlet: python -m pip install greenlet")
    ),
    "threads",
]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs wait for minutes for a thread outside of them: on a busy machine it may have no turn for seconds."""
    monkeypatch.setattr("fakempi.extensions.threads.ending.MAX_WAIT", 200.0)


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """The backend of ranks: the test runs on each. Session-wide, so that Hypothesis tests can use it."""
    return str(request.param)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """As many as this process may use: the number of physical cores, which psutil counts, may be larger or smaller."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") or usable)


def parameters(item: pytest.Item) -> dict[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draw the cases of the quick set by the names of the tests, and mark the others slow.

    A test with a fixture or parameter `backend` runs on one backend, a test marked `quick(n)` with n of its cases.
    """
    restore_order(config, items)
    drawn: dict[str, list[tuple[int, pytest.Item]]] = {}
    for item in items:
        name, backend = item.nodeid, parameters(item).get("backend")
        if GREENLET and backend in ("greenlets", "threads"):
            name = re.sub("greenlets|threads", "*", name)
            if backend == ("greenlets", "threads")[crc32(name.encode()) % 2]:
                item.add_marker(pytest.mark.slow)
                continue
        if item.get_closest_marker("quick") and not item.get_closest_marker("slow"):
            drawn.setdefault(item.nodeid.partition("[")[0], []).append((crc32(name.encode()), item))
    for cases in drawn.values():
        (count,) = cases[0][1].get_closest_marker("quick").args  # type: ignore[union-attr]  # they have it
        for _, item in sorted(cases, key=lambda case: case[0])[count:]:
            item.add_marker(pytest.mark.slow)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without samples if only those are requested: importing all test files takes 10 s."""
    if config.option.markexpr == SAMPLES and collection_path.name.startswith("test_") and collection_path.suffix == ".py":
        return None if "mark.sample" in collection_path.read_text(encoding="utf-8") else True
    return None
