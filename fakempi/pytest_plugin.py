"""The pytest plugin: a marked test runs on virtual ranks, with a communicator as its `comm`.

    @pytest.mark.mpi(ranks=[1, 3, 1000])
    def test_everybody_knows_the_sum(comm):
        assert comm.allreduce(comm.rank) == comm.size * (comm.size - 1) // 2

Nothing but pytest is imported before the first marked test runs, so that test runs without any pay nothing.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator
from contextlib import suppress
from inspect import iscoroutinefunction
from time import monotonic
from typing import Any

import pytest

from fakempi import own_collectives
from fakempi.testing import alias, folders, given, situation
from fakempi.testing.fixtures import Later, is_private, put_off, put_off_in_any_case, start_anew
from fakempi.testing.limits import OUTCOME, TIMER, in_place_of_pytest_timeout
from fakempi.testing.markers import HELP, ISOLATIONS, isolated, marker_of, not_on_ranks, parametrize, skip_unless

BUFFERING = {"zero": 0, "eager": 65536, "infinite": 1 << 62}
ALIAS = pytest.StashKey[alias.Alias]()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Options for every marked test: what messages cost, what ranks run on, and how tolerant the emulator is."""
    group = parser.getgroup("mpi", "tests on virtual MPI ranks (fakempi)")
    group.addoption("--mpi-cost", metavar="MODEL", help="cost model, as in fakempi run: hockney:t_s=1e-6,t_w=1e-9")
    group.addoption("--mpi-algorithms", metavar="TABLE", help="as in fakempi run: mpich, or allgather=ring,bcast=chain")
    group.addoption("--mpi-carrier", choices=["auto", "greenlets", "threads"], default="auto", help="what ranks run on")
    group.addoption(
        "--mpi-buffering",
        choices=list(BUFFERING),
        help="zero: every send waits for its receive, so that unsafe sends show; eager: as most libraries, up to 64 KiB; "
        "infinite: no send waits",
    )
    group.addoption("--mpi-strict", action="store_true", help="findings, which are warnings, make tests fail")
    group.addoption("--mpi-seed", type=int, metavar="N", help="break ties between ranks at random, to see other schedules")
    group.addoption("--mpi-timeout", type=float, metavar="SECONDS", help="end a test on ranks that takes longer")
    group.addoption(
        "--mpi-isolation",
        choices=ISOLATIONS,
        default="none",
        help="module: each rank has its own test module, conftest and modules of the project, as processes would",
    )
    words = "what `import mpi4py` finds: the emulator, what is installed, or (auto) the emulator where there is no MPI"
    group.addoption("--mpi4py", choices=alias.CHOICES, help=words)
    parser.addini("mpi4py", words, default="auto")
    _install_early(parser, pluginmanager.get_plugin("pytestconfig"))


def _install_early(parser: pytest.Parser, config: pytest.Config | None) -> None:
    """Decide at once what mpi4py is: plugins that are loaded later may import it, and fail where there is no MPI."""
    if config is None or situation.running() is not None:
        return
    with suppress(AttributeError, KeyError, ValueError):  # there may be no ini file yet
        added = [*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *config.getini("addopts")]
        typed = parser.parse_known_args([*added, *config.invocation_params.args]).mpi4py
        _install(config, typed or config.getini("mpi4py"))


def _install(config: pytest.Config, choice: str) -> None:
    if ALIAS not in config.stash:
        config.stash[ALIAS] = alias.Alias(choice)
        config.stash[ALIAS].install()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """Before anything imports mpi4py, decide what that is; and where pytest's own ranks share one output, which is its."""
    choice = early_config.known_args_namespace.mpi4py or early_config.getini("mpi4py")
    if choice not in alias.CHOICES:
        raise pytest.UsageError(f"mpi4py = {choice} in the ini file: there are {', '.join(alias.CHOICES)}")
    if situation.running() is not None:  # where it is emulated anyway
        if early_config.known_args_namespace.capture == "fd":
            early_config.known_args_namespace.capture = "sys"  # ranks share the files, and have streams of their own
        situation.keep_modules_private()
    else:
        _install(early_config, choice)
    without = choice == "emulated" or (ALIAS in early_config.stash and early_config.stash[ALIAS].found_wanting)
    early_config.stash[situation.SITUATION] = situation.find_out(early_config, bool(without))
    if not situation.of(early_config).taken_off:
        _register_fixtures(early_config)
    return (yield)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind, where pytest was called by a program."""
    if ALIAS in config.stash:
        config.stash[ALIAS].remove()


@pytest.hookimpl(trylast=True)  # when whoever reports is there
def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known, and complain at once of options that no test could run with."""
    for line in HELP:
        config.addinivalue_line("markers", line)
    if config.getoption("--mpi-cost") or config.getoption("--mpi-algorithms"):
        _options(config)
    if situation.of(config).process is not None:
        from fakempi.testing.session import OnEveryRank

        config.pluginmanager.register(OnEveryRank(config, situation.of(config).process))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say where marked tests do not run on virtual ranks."""
    words = situation.of(config).in_words()
    return f"fakempi: {words}" if words else None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say where an mpi4py that is installed was not used."""
    if ALIAS in config.stash and config.stash[ALIAS].found_wanting:
        terminalreporter.write_line(
            f"fakempi: mpi4py is installed without an MPI library ({config.stash[ALIAS].found_wanting}): it was emulated"
        )


def pytest_sessionstart(session: pytest.Session) -> None:
    """If a plugin was taken off that has fixtures of the same names, ours come only now: the last are those that count."""
    _register_fixtures(session.config)


def _register_fixtures(config: pytest.Config) -> None:
    plugins, owner = config.pluginmanager, situation.of(config).owners.get("mpi")
    if owner is None and not plugins.is_registered(folders):
        plugins.register(folders)
    if owner != "pytest-isolate-mpi" and not plugins.is_registered(given):
        plugins.register(given)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each number of ranks."""
    mark = marker_of(metafunc.definition)
    if mark is not None and mark.name not in situation.of(metafunc.config).owners:
        parametrize(metafunc, mark)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that are not for ranks are not run on them."""
    where = situation.of(config)
    for item in items:
        if "mpi" not in where.owners and (where.comm is not None or _marker(item) is not None):
            not_on_ranks(item)


def _marker(item: pytest.Item) -> pytest.Mark | None:
    """The marker of a test that runs on ranks, unless another plugin runs it."""
    mark = marker_of(item)
    return None if mark is None or mark.name in situation.of(item.config).owners else mark


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where pytest itself runs on ranks, there are as many as there are. With private modules, fixtures are private too."""
    comm, mark = situation.of(item.config).comm, _marker(item)
    if comm is not None and mark is not None:
        skip_unless(item, mark, comm.Get_size())
    elif mark is not None and _isolated(item, mark):
        start_anew(item)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
    """Put off what asks for a communicator, until there is one; where modules are private, all that is made in them."""
    item: Any = getattr(request, "_pyfuncitem", None)
    mark = None if item is None or situation.of(request.config).comm is not None else _marker(item)
    if mark is not None and _isolated(item, mark) and is_private(fixturedef, request.config):
        return put_off_in_any_case(fixturedef, request, item)
    return put_off(fixturedef, request) if "comm" in request.fixturenames else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Methods of a TestCase are called on ranks too. Complain of a test that does not say how many ranks it wants."""
    mark = _marker(item)
    if mark is None:
        if any(isinstance(value, Later) for value in getattr(item, "funcargs", {}).values()):
            pytest.fail("comm: on how many ranks? Mark the test, for instance with @pytest.mark.mpi(ranks=3)", pytrace=False)
    elif situation.of(item.config).comm is None and _is_case(item):
        item.runtest = lambda: _call(item, mark, "unittest")  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a marked test on every rank."""
    __tracebackhide__ = True
    mark = _marker(pyfuncitem)
    if mark is None or situation.of(pyfuncitem.config).comm is not None:
        return None
    _call(pyfuncitem, mark, "function")
    return True


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Generator[None, Any, Any]:
    """Remember how long pytest-timeout lets a test run."""
    item.stash[TIMER] = (settings, monotonic())
    return (yield)


def _is_case(item: pytest.Item) -> bool:
    """Whether it is a method of a unittest.TestCase; those are called by unittest, not by pytest."""
    unittest = sys.modules.get("unittest")
    return unittest is not None and isinstance(getattr(item, "instance", None), unittest.TestCase)


def _isolated(item: pytest.Item, mark: pytest.Mark) -> bool:
    return isolated(mark, item.config.getoption("--mpi-isolation"))


def _call(item: Any, mark: pytest.Mark, how: str) -> None:
    __tracebackhide__ = True
    if iscoroutinefunction(item.obj):
        pytest.fail(f"{item.name} is a coroutine function, which ranks cannot run", pytrace=False)
    with in_place_of_pytest_timeout(item):
        from fakempi.testing.calls import OnRanks

        getattr(OnRanks(item, mark, _options(item.config), _isolated(item, mark)), how)()


def _options(config: pytest.Config) -> dict[str, Any]:
    """The options for `fakempi.run`."""
    own_collectives.keep_apart()  # from here on, ours are imported, and the project's own folder is on the path
    from fakempi.options import algorithms, cost_model

    table, chosen = None, config.getoption("--mpi-algorithms")
    try:
        cost = cost_model(config.getoption("--mpi-cost") or "hockney")
        if chosen:
            from fakempi.tuning import resolve  # which imports all algorithms

            table = resolve(algorithms(chosen, str(config.invocation_params.dir)), cost.linear)
    except (ValueError, TypeError) as error:
        raise pytest.UsageError(str(error)) from None
    if config.getoption("--mpi-buffering"):
        cost.eager_limit = BUFFERING[config.getoption("--mpi-buffering")]
    return {
        "cost": cost,
        "algorithms": table,
        "carrier": config.getoption("--mpi-carrier"),
        "strict": config.getoption("--mpi-strict"),
        "buffers": True,  # findings are what tests are for
        "seed": config.getoption("--mpi-seed"),
    }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say once which ranks failed, and how to see it again."""
    report = yield
    outcome = item.stash.get(OUTCOME, None)
    if outcome is not None and report.when == "call" and report.failed:
        sections = dict(report.sections)
        for stream in ("stdout", "stderr"):
            title, text = f"Captured {stream} call", outcome.written(stream)
            if title in sections and text is not None:
                sections[title] = text
        if call.excinfo is not None and call.excinfo.value in (outcome.stuck, outcome.found):  # whose traceback would lead
            report.longrepr = outcome.why_stuck if outcome.stuck else str(outcome.found)  # into the emulator
        report.sections = [*sections.items(), ("MPI", outcome.in_words(_replay(item), alias.warning()))]
    return report


def _replay(item: pytest.Item) -> str:
    """The command that runs this one test again in the same way, in any folder."""
    name = item.nodeid.partition("::")[2]
    words = ["pytest", shlex.quote(f"{item.path}::{name}")]
    if item.config.getoption("rootdir") is not None:
        words.append(shlex.quote(f"--rootdir={item.config.rootpath}"))
    if item.config.getoption("inifilename") is not None:
        words += ["-c", shlex.quote(str(item.config.inipath))]
    defaults = {"carrier": "auto", "isolation": "none"}
    for option in ("cost", "algorithms", "buffering", "seed", "carrier", "timeout", "isolation"):
        value = item.config.getoption(f"--mpi-{option}")
        if value != defaults.get(option):
            words.append(shlex.quote(f"--mpi-{option}={f'{value:g}' if isinstance(value, float) else value}"))
    if item.config.getoption("--mpi4py"):
        words.append(f"--mpi4py={item.config.getoption('--mpi4py')}")
    return " ".join([*words, *["--mpi-strict"] * bool(item.config.getoption("--mpi-strict"))])
