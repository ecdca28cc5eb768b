"""The pytest plugin: a marked test runs on virtual ranks, with a communicator as its `comm`.

    @pytest.mark.mpi(ranks=[1, 3, 1000])
    def test_sum(comm):
        assert comm.allreduce(comm.rank) == comm.size * (comm.size - 1) // 2

Before the first marked test runs, the plugin imports only pytest and a few small modules of fakempi, so that test sessions
without marked tests lose little time. `--mpi-cost` and `--mpi-algorithms` are exceptions: they are checked at the start.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Generator
from contextlib import ExitStack
from functools import partial
from time import monotonic
from typing import Any

import pytest

from fakempi.apps.testing import alias, environment
from fakempi.apps.testing.fixtures import comms, paths
from fakempi.apps.testing.fixtures.deferred import DeferredFixture
from fakempi.apps.testing.isolation import is_case, is_isolated, isolate, set_up, unsupported_coroutine
from fakempi.apps.testing.limits import OUTCOME, TIMER, in_place_of_pytest_timeout
from fakempi.apps.testing.markers import (
    HELP,
    ISOLATIONS,
    NUMBER,
    is_one_test,
    marker_of,
    misspelled,
    not_on_ranks,
    override,
    parametrize,
    skip_unless,
)
from fakempi.apps.testing.mpi4py_choice import ALIAS, after_collection, emulate_for_marked, header, install, install_early
from fakempi.apps.testing.world_reads import follow_world, reads_of
from fakempi.core import collectives_package

BUFFERING = {"zero": 0, "eager": 65536, "infinite": 1 << 62}
SKIPPED = (
    "{name} skips itself when it is imported, and uses COMM_WORLD, which has 1 rank until the ranks of a test run: its "
    "tests did not run. Move the condition to the marks of the tests, or use fakempi run -n N -m pytest"
)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options for marked tests."""
    group = parser.getgroup("mpi", "tests on virtual MPI ranks (fakempi)")
    help_text = "run marked tests on these numbers of ranks, smallest first, in place of those of their markers: 1..8 or 2,4"
    group.addoption("--mpi-ranks", metavar="N", help=help_text)
    group.addoption("--mpi-cost", metavar="MODEL", help="cost model, as in fakempi run: hockney:t_s=1e-6,t_w=1e-9")
    group.addoption("--mpi-algorithms", metavar="TABLE", help="algorithms: mpich, or allgather=ring,bcast=chain")
    group.addoption("--mpi-backend", choices=["auto", "greenlets", "threads"], default="auto", help="what runs the ranks")
    group.addoption(
        "--mpi-buffering",
        choices=list(BUFFERING),
        help="zero: every send waits for its receive, which shows unsafe sends; eager: sends up to 64 KiB are buffered, as "
        "in most libraries; infinite: every send is buffered",
    )
    group.addoption("--mpi-strict", action="store_true", help="report findings as failures instead of warnings")
    help_text = "suppress findings of this kind, or kinds with commas: message-lost,file-leak"
    group.addoption("--mpi-ignore", metavar="KIND", action="append", default=[], help=help_text)
    group.addoption("--mpi-seed", type=int, metavar="N", help="break ties between ranks at random, with this seed")
    help_text = "run each marked test in every schedule that can give a different result, up to N runs"
    group.addoption("--mpi-explore", type=int, metavar="N", default=0, help=help_text)
    group.addoption("--mpi-schedule", metavar="TOKEN", help="run marked tests in this schedule, such as z:0.0.2.1")
    group.addoption("--mpi-timeout", type=float, metavar="SECONDS", help="time limit of each marked test")
    group.addoption(
        "--mpi-isolation",
        choices=ISOLATIONS,
        default="auto",
        help="module: each rank has private copies of the test module, conftest and the project's modules; none: all ranks "
        "share them; auto: private copies if one of these modules or a fixture uses COMM_WORLD before the ranks run",
    )
    help_text = (
        "module that `import mpi4py` loads: the emulator, the installed mpi4py, or (auto) the emulator if tests are marked "
        "to run on ranks and no launcher such as mpiexec has started pytest, or if there is no MPI library"
    )
    group.addoption("--mpi4py", choices=alias.CHOICES, help=help_text)
    parser.addini("mpi4py", help_text, default="auto")
    if not environment.has_pytest_mpi():
        group.addoption("--with-mpi", action="store_true", help="for pytest-mpi; here marked tests always run")
        group.addoption("--only-mpi", action="store_true", help="skip tests that are not marked to run on ranks")
    install_early(parser, pluginmanager.get_plugin("pytestconfig"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """Decide what `import mpi4py` loads, detect how pytest was started, and register fixtures."""
    without_mpi = install(early_config)
    if environment.rank_of_child() is not None:
        pass  # mpi4py is that of the process
    elif environment.running() is not None:  # in `fakempi run -m pytest` mpi4py is always emulated
        if early_config.known_args_namespace.capture == "fd":
            early_config.known_args_namespace.capture = "sys"  # ranks share file descriptors, but have private streams
        environment.keep_modules_private()
    else:
        follow_world(early_config)
    early_config.stash[environment.ENVIRONMENT] = environment.detect(early_config, without_mpi)
    if not environment.of(early_config).removed_others:
        _register_fixtures(early_config)
    return (yield)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the mpi4py finder, in case pytest was called by a program."""
    if ALIAS in config.stash:
        config.stash[ALIAS].remove()


@pytest.hookimpl(trylast=True)  # after the terminal reporter
def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and reject an invalid `--mpi-cost` or `--mpi-algorithms` before any test runs."""
    for line in HELP:
        config.addinivalue_line("markers", line)
    if config.getoption("fulltrace"):
        from fakempi.errors.tracebacks import all_shown

        frames = ExitStack()
        frames.enter_context(all_shown(True))
        config.add_cleanup(frames.close)
    if config.getoption("--mpi-cost") or config.getoption("--mpi-algorithms") or config.getoption("--mpi-ignore"):
        _options(config)
    if config.getoption("--mpi-ranks"):
        override(config, config.getoption("--mpi-ranks"))
    if environment.of(config).comm is not None:
        config.pluginmanager.register(SkipOtherSizes())
    if environment.of(config).process is not None:
        if environment.rank_of_child() is None:
            from fakempi.apps.testing.session import RankSession as Session
        else:
            from fakempi.apps.testing.child_session import ChildSession as Session

        config.pluginmanager.register(Session(config, environment.of(config).process))
    elif environment.RECORD in os.environ:
        from fakempi.apps.testing.records.outcomes import OutcomeRecorder, requested

        config.pluginmanager.register(OutcomeRecorder(requested(), config))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Report in the header if marked tests do not run on virtual ranks, and what `import mpi4py` loads."""
    report = environment.of(config).report()
    return [*([f"fakempi: {report}"] if report else []), *header(config)]


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> str | None:
    """Report that ranks cannot use the modules of this process."""
    on_virtual_ranks = environment.of(config).comm is None and any(_marker(item) is not None for item in items)
    return after_collection(config) if on_virtual_ranks else None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report suppressions that match nothing, and whether an installed mpi4py was not used."""
    suppressing = sys.modules.get("fakempi.apps.testing.suppressing")  # imported with the first marked test
    if suppressing is not None and (text := suppressing.unused(config, terminalreporter)):
        terminalreporter.write_line(f"fakempi: {text}")
    if ALIAS in config.stash and config.stash[ALIAS].unusable:
        terminalreporter.write_line(
            f"fakempi: mpi4py is emulated; the installed mpi4py has no MPI library ({config.stash[ALIAS].unusable})"
        )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Register fixtures late: pytest also collects those of unregistered plugins, and of equal names the last one counts."""
    _register_fixtures(session.config)


def _register_fixtures(config: pytest.Config) -> None:
    plugins, owner = config.pluginmanager, environment.of(config).owners.get("mpi")
    if owner is None and not plugins.is_registered(paths):
        plugins.register(paths)
    if owner != "pytest-isolate-mpi" and not plugins.is_registered(comms):
        plugins.register(comms)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize a marked test by its numbers of ranks."""
    mark = marker_of(metafunc.definition)
    if mark is not None and mark.name not in environment.of(metafunc.config).owners:
        try:
            parametrize(metafunc, mark)
        except pytest.UsageError as error:  # pytest would show our frames, and not the test
            raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Apply the markers of pytest-mpi to tests on ranks, and record which files contain tests."""
    where = environment.of(config)
    reads_of(config).test_files.update(str(item.path) for item in items)
    for item in items:
        if config.getoption("only_mpi", False) and "mpi" not in where.owners and marker_of(item) is None:
            item.add_marker(pytest.mark.skip(reason="--only-mpi: not marked to run on ranks"))
        if "mpi" not in where.owners and (where.comm is not None or _marker(item) is not None):
            not_on_ranks(item)


def _marker(item: pytest.Item) -> pytest.Mark | None:
    """Return the marker of a test that this plugin runs on ranks."""
    mark = marker_of(item)
    return None if mark is None or mark.name in environment.of(item.config).owners else mark


def pytest_collection_finish(session: pytest.Session) -> None:
    """From here on, only modules and fixtures can use COMM_WORLD before ranks run."""
    reads_of(session.config).collecting = False
    if environment.of(session.config).comm is None and any(_marker(item) is not None for item in session.items):
        emulate_for_marked(session.config)


class SkipOtherSizes:
    """Skips tests for other numbers of ranks, if pytest runs on ranks."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip the test before its fixtures are set up."""
        mark = _marker(item)
        if mark is not None:
            skip_unless(item, mark, environment.of(item.config).comm.Get_size())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run one test on several numbers of ranks, smallest first."""
    mark = None if environment.of(item.config).comm is not None else _marker(item)
    if mark is None or not is_one_test(mark):
        return None
    from fakempi.apps.testing.each_number import run_on_each

    run_on_each(item, mark, nextitem)
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Isolate a test that needs private modules, before or after its setup."""
    mark = None if environment.of(item.config).comm is not None else _marker(item)
    if mark is None:
        return (yield)
    if mark.kwargs.get("processes"):  # the process of a rank sets up the fixtures
        isolate(item, partial(_call, item, mark, "unittest" if is_case(item) else "function"))
        return (yield)
    return (yield from set_up(item, mark, partial(_call, item, mark, "private")))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Warn about a module that skips itself after it has found one rank: its marked tests never run."""
    report = yield
    line = reads_of(collector.config).places.get(str(collector.path)) if isinstance(collector, pytest.Module) else None
    if report.skipped and line is not None:
        text = SKIPPED.format(name=collector.path.name)
        try:
            warnings.warn_explicit(pytest.PytestWarning(text), None, str(collector.path), line)
        except pytest.PytestWarning:  # a filter makes warnings errors; an exception here would end pytest
            report.outcome, report.longrepr = "failed", text
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
    """Record fixtures that use COMM_WORLD before the ranks run."""
    reads = reads_of(request.config)
    before = reads.count
    try:
        with reads.of_setup():
            return (yield)
    finally:
        if reads.count > before:
            reads.fixtures.add(fixturedef)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Call methods of a TestCase on ranks, and reject tests that use `comm` without a marker."""
    mark = _marker(item)
    if mark is None:
        if any(isinstance(value, DeferredFixture) for value in getattr(item, "funcargs", {}).values()):
            other = marker_of(item)
            owner = None if other is None else environment.of(item.config).owners.get(other.name)
            mark_it = "comm needs a number of ranks: mark the test, such as @pytest.mark.mpi(ranks=3)" + misspelled(item)
            run_it = f"comm needs virtual ranks, but {owner} runs this test: pass --mpi4py=emulated"
            pytest.fail(run_it if owner else mark_it, pytrace=False)
    elif environment.of(item.config).comm is None and (sentence := unsupported_coroutine(item)):
        pytest.fail(sentence, pytrace=False)  # now: plugins such as anyio would run it, on one rank
    elif environment.of(item.config).comm is None and is_case(item) and not is_isolated(item):
        item.runtest = lambda: _call(item, mark, "unittest")  # type: ignore[method-assign]  # an item of unittest runs on all ranks


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a marked test on every rank."""
    __tracebackhide__ = True
    mark = _marker(pyfuncitem)
    if mark is None or environment.of(pyfuncitem.config).comm is not None:
        return None
    _call(pyfuncitem, mark, "function")
    return True


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Generator[None, Any, Any]:
    """Record the time limit of pytest-timeout."""
    item.stash[TIMER] = (settings, monotonic())
    return (yield)


def _call(item: Any, mark: pytest.Mark, how: str) -> None:
    __tracebackhide__ = True
    with in_place_of_pytest_timeout(item):
        from fakempi.apps.testing.calls import RankCall
        from fakempi.apps.testing.suppressing import called

        called(item)
        getattr(RankCall(item, mark, _options(item.config), is_isolated(item)), how)()


def _options(config: pytest.Config) -> Any:
    """Return the options of runs (`RunOptions`)."""
    collectives_package.load_despite_shadowing()  # from here on the project's directory is on the path
    from fakempi.apps.testing.suppressing import rules_of
    from fakempi.core.arguments import RunOptions
    from fakempi.core.options import algorithms, cost_model

    table, chosen = None, config.getoption("--mpi-algorithms")
    try:
        cost = cost_model(config.getoption("--mpi-cost") or "hockney")
        if chosen:
            from fakempi.tuning import resolve  # imports all algorithms

            table = resolve(algorithms(chosen, str(config.invocation_params.dir)), cost.linear)
    except (ValueError, TypeError) as error:
        raise pytest.UsageError(str(error)) from None
    if config.getoption("--mpi-buffering"):
        cost.eager_limit = BUFFERING[config.getoption("--mpi-buffering")]
    values = {name: config.getoption(f"--mpi-{name}") for name in ("backend", "strict", "seed", "schedule")}
    # tests look for errors, so check buffers, too
    return RunOptions(cost, algorithms=table, ignore=rules_of(config), check_buffers=True, **values)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add a section with the failed ranks and the command that repeats the test."""
    if call.excinfo is not None and "fakempi.errors" in sys.modules:
        from fakempi.errors.tracebacks import shorten

        shorten(call.excinfo.value)
    outcome = item.stash.get(OUTCOME, None)
    root = str(item.config.rootpath)
    shown = outcome and call.excinfo and outcome.in_place_of_traceback(call.excinfo.value, str(item.path), root)
    if shown:
        item.repr_failure = lambda *_: shown  # type: ignore[method-assign]  # pytest would parse 14 files, which takes 0.1 s
    report = yield
    if shown:
        del item.repr_failure  # the item may run again
    if outcome is not None and outcome.xpassed and report.when == "call" and report.passed:
        report.wasxfail = outcome.xpassed
    if outcome is not None and report.when == "call" and report.failed:
        sections = dict(report.sections)
        for stream in ("stdout", "stderr"):
            title, text = f"Captured {stream} call", outcome.written(stream)
            if title in sections and text is not None:
                sections[title] = text
        text = outcome.with_paths(outcome.report(_replay(item, outcome.schedule), alias.warning()), root)
        report.sections = [*sections.items(), ("MPI", text)]
    return report


def _replay(item: pytest.Item, schedule: str) -> str:
    """Return the command that repeats this test with the same options, from any directory."""
    name = item.nodeid.partition("::")[2]
    arguments = ["pytest", shlex.quote(f"{item.path}::{name}")]
    if item.config.getoption("rootdir") is not None:
        arguments.append(shlex.quote(f"--rootdir={item.config.rootpath}"))
    if item.config.getoption("inifilename") is not None:
        arguments += ["-c", shlex.quote(str(item.config.inipath))]
    defaults = {"backend": "auto", "isolation": "auto"}
    for option in ("cost", "algorithms", "buffering", "seed", "backend", "timeout", "isolation"):
        value = item.config.getoption(f"--mpi-{option}")
        if value != defaults.get(option):
            arguments.append(shlex.quote(f"--mpi-{option}={f'{value:g}' if isinstance(value, float) else value}"))
    if NUMBER in item.stash:
        arguments.append(f"--mpi-ranks={item.stash[NUMBER]}")
    if item.config.getoption("--mpi4py"):
        arguments.append(f"--mpi4py={item.config.getoption('--mpi4py')}")
    if schedule:
        arguments.append(f"--mpi-schedule={schedule}")
    arguments += [shlex.quote(f"--mpi-ignore={kinds}") for kinds in item.config.getoption("--mpi-ignore")]
    return " ".join([*arguments, *["--mpi-strict"] * bool(item.config.getoption("--mpi-strict"))])
