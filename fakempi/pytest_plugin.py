"""The pytest plugin: a marked test runs on virtual ranks, with a communicator as its `comm`.

    @pytest.mark.mpi(ranks=[1, 3, 1000])
    def test_everybody_knows_the_sum(comm):
        assert comm.allreduce(comm.rank) == comm.size * (comm.size - 1) // 2

Nothing but pytest is imported before the first marked test runs, so that test runs without any pay nothing.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

import pytest

from fakempi.testing import alias, folders, given, situation
from fakempi.testing.fixtures import Later, OnThisRank, put_off
from fakempi.testing.markers import HELP, marker_of, not_on_ranks, parametrize, size_of, skip_unless

BUFFERING = {"zero": 0, "eager": 65536, "infinite": 1 << 62}
OUTCOME = pytest.StashKey[Any]()
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
    group.addoption("--mpi-strict", action="store_true", help="complain of what MPI libraries let pass")
    group.addoption("--mpi-seed", type=int, metavar="N", help="break ties between ranks at random, to see other schedules")
    words = "what `import mpi4py` finds: the emulator, what is installed, or (auto) the emulator where there is no MPI"
    group.addoption("--mpi4py", choices=alias.CHOICES, help=words)
    parser.addini("mpi4py", words, default="auto")
    _install_early(parser, pluginmanager.get_plugin("pytestconfig"))


def _install_early(parser: pytest.Parser, config: pytest.Config | None) -> None:
    """If mpi4py is to be emulated, let it be so at once: plugins that are loaded after this one may import it."""
    if config is None or situation.running() is not None:
        return
    with suppress(AttributeError, KeyError, ValueError):  # there may be no ini file yet
        added = [*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *config.getini("addopts")]
        if (parser.parse_known_args([*added, *config.invocation_params.args]).mpi4py or config.getini("mpi4py")) == "emulated":
            config.stash[ALIAS] = alias.Alias("emulated")
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
    elif ALIAS not in early_config.stash:
        early_config.stash[ALIAS] = alias.Alias(choice)
        early_config.stash[ALIAS].install()
    early_config.stash[situation.SITUATION] = situation.find_out(early_config, choice)
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
    """Fixtures: the last to come are those that count, if another plugin has some of the same names."""
    owners = situation.of(session.config).owners
    if "mpi" not in owners:
        session.config.pluginmanager.register(folders)
    if owners.get("mpi") != "pytest-isolate-mpi":
        session.config.pluginmanager.register(given)


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
    """Where pytest itself runs on ranks, there are as many as there are."""
    comm, mark = situation.of(item.config).comm, _marker(item)
    if comm is not None and mark is not None:
        skip_unless(item, mark, comm.Get_size())


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
    """Put off what asks for a communicator, until there is one."""
    return put_off(fixturedef, request) if "comm" in request.fixturenames else None


def pytest_runtest_call(item: pytest.Item) -> None:
    """Complain of a test that asks for a communicator and does not say how many ranks it wants."""
    if _marker(item) is None and any(isinstance(value, Later) for value in getattr(item, "funcargs", {}).values()):
        pytest.fail("comm: on how many ranks? Mark the test, for instance with @pytest.mark.mpi(ranks=3)", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a marked test on every rank."""
    mark = _marker(pyfuncitem)
    if mark is None or situation.of(pyfuncitem.config).comm is not None:
        return None
    function = pyfuncitem.obj
    if iscoroutinefunction(function):
        pytest.fail(f"{pyfuncitem.name} is a coroutine function, which ranks cannot run", pytrace=False)
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    if hasattr(function, "hypothesis"):  # its values are drawn once, for all ranks alike
        with _inner_test(function.hypothesis, pyfuncitem, size_of(pyfuncitem, mark)):
            function(**arguments)
    else:
        _call(function, (), arguments, pyfuncitem, size_of(pyfuncitem, mark))
    return True


@contextmanager
def _inner_test(hypothesis: Any, item: pytest.Function, size: int) -> Iterator[None]:
    """While this lasts, each example that Hypothesis tries runs on all ranks."""
    inner = hypothesis.inner_test

    @wraps(inner)
    def on_all_ranks(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        _call(inner, args, kwargs, item, size)

    hypothesis.inner_test = on_all_ranks
    try:
        yield
    finally:
        hypothesis.inner_test = inner


def _call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], item: pytest.Function, size: int) -> None:
    __tracebackhide__ = True
    from fakempi.testing.outcome import on_every_rank

    def on_this_rank(comm: Any) -> None:
        __tracebackhide__ = True
        with OnThisRank(comm) as own:
            function(*args, **own.all(kwargs))

    outcome = on_every_rank(on_this_rank, size, _options(item.config))
    item.stash[OUTCOME] = outcome
    if outcome.verdict is not None:
        raise outcome.verdict


def _options(config: pytest.Config) -> dict[str, Any]:
    """The options for `fakempi.run`."""
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
        if call.excinfo is not None and call.excinfo.value is outcome.stuck:
            report.longrepr = str(outcome.stuck)  # its traceback would lead into the emulator
        report.sections = [*sections.items(), ("MPI", outcome.in_words(_replay(item), alias.warning()))]
    return report


def _replay(item: pytest.Item) -> str:
    """The command that runs this one test again in the same way."""
    words = [f"pytest '{item.nodeid}'"]
    for name in ("cost", "algorithms", "buffering", "seed"):
        value = item.config.getoption(f"--mpi-{name}")
        if value is not None:
            words.append(f"--mpi-{name}={value}")
    if item.config.getoption("--mpi-carrier") != "auto":
        words.append(f"--mpi-carrier={item.config.getoption('--mpi-carrier')}")
    return " ".join([*words, *["--mpi-strict"] * bool(item.config.getoption("--mpi-strict"))])
