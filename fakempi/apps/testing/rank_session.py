"""The configuration of a pytest session that runs one test on a rank: that of the session around the test.

Options that conftest defines have the same values. Options of installed plugins have them only while the test is set up,
runs and is torn down, so that a rank writes no report and starts no workers.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Generator, Iterable, Mapping
from typing import Any

import pytest

from fakempi.apps.testing import environment
from fakempi.apps.testing.markers import HELP, OVERRIDE

OURS = __name__.partition(".")[0]

BLOCKED = (
    OURS, f"{OURS}.apps.pytest_plugin", "cacheprovider", "debugging", "faulthandler", "stepwise", "pastebin",
    "threadexception", "unraisableexception",
)  # fmt: skip
"""Plugins that a rank does not load: they act on the whole process, or store results of the session around the test."""

NOT_ON_A_RANK = (
    OURS, "pytest_timeout", "pytest_rerunfailures", "flaky", "pytest_randomly", "pytest_random_order", "pytest_cov",
    "pytest_sugar", "pytest_instafail", "_hypothesis_pytestplugin", *(name.partition(".")[0] for name in environment.OTHERS),
)  # fmt: skip
"""Installed packages with plugins that act on the test as a whole, so that the session around it applies them."""


def arguments(config: pytest.Config) -> list[str]:
    """Return the arguments of pytest on a rank, without the test: those of the session around the test."""
    option = config.option
    ini = (*(option.override_ini or ()), "addopts=", "required_plugins=", "strict_config=false")
    return [
        f"--rootdir={config.rootpath}", f"--import-mode={option.importmode}", f"--assert={option.assertmode}",
        f"--verbosity={option.verbose}",
        *(f"-p{name}" for name in option.plugins if name not in BLOCKED),
        *(f"-o{line}" for line in ini),
        *(f"-W{line}" for line in option.pythonwarnings or ()),
        *(["--noconftest"] if option.noconftest else []),
        *(["--runxfail"] if option.runxfail else []),
        *([] if option.confcutdir is None else [f"--confcutdir={option.confcutdir}"]),
        *([] if config.inipath is None else [f"-c{config.inipath}"]),
    ]  # fmt: skip


class OptionValues:
    """The options of the session around the test, on a rank.

    Attributes
    ----------
    values : the options of the session around the test
    of_pytest : names of the options that pytest defines, which are arguments
    of_plugins : names of the options that conftest does not define
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.of_pytest: set[str] = set()
        self.of_plugins: set[str] = set()

    def accept_lines(self, parser: pytest.Parser, names: Iterable[str]) -> None:
        """Accept the lines of the configuration file of the session around the test."""
        for name in set(names).difference(parser._inidict):
            parser.addini(name, "of a plugin that a rank does not load", default=None)

    def configure(self, config: pytest.Config, comm: Any, numbers: str, markers: Iterable[str], *fixtures: object) -> None:
        """Prepare the session of a rank: communicator, markers, fixtures, and the options that conftest has defined."""
        config.stash[environment.ENVIRONMENT] = environment.Environment(comm=comm)
        config.stash[OVERRIDE] = numbers
        for plugin in (*fixtures, self):
            config.pluginmanager.register(plugin)
        for line in (*HELP, *markers):
            config.addinivalue_line("markers", line)
        options = vars(config.option)
        given = {name: self.values.get(name, options[name]) for name in set(options).difference(self.of_plugins)}
        config.option = Namespace(**{**options, **given, "trace": False, "usepdb": False})  # also of a blocked plugin

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Set the options of plugins as long as fixtures and the test may use them."""
        before = item.config.option
        names = self.of_plugins.difference(self.of_pytest).intersection(self.values)
        given = {name: self.values[name] for name in names if hasattr(before, name)}
        item.config.option = Namespace(**{**vars(before), **given})
        try:
            return (yield)
        finally:
            item.config.option = before
