"""The interpreter state of one rank that runs a script: modules, arguments, streams, random generators, exit functions.

The state is exchanged at every switch, which takes about a tenth of the time of a message in a ring. To keep this time
short, `sys.argv` and `sys.path` are computed on access (`SysModule`), assignments to `sys` are recorded when they happen,
and for most scripts a switch only exchanges `__main__` and the root logger.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from importlib import import_module
from operator import itemgetter
from types import FrameType, ModuleType
from typing import Any, ClassVar

from fakempi.mpi.base.call_site import frame_at

SYS_ATTRIBUTES = ("argv", "path", "stdin", "stdout", "stderr", "excepthook")
"""Attributes of `sys` that have a separate value on every rank."""

COMPUTED, STORED = SYS_ATTRIBUTES[:2], SYS_ATTRIBUTES[2:]
"""Attributes computed on access; attributes stored in `sys`, because C code reads them there."""

_sys, _logging, _modules = vars(sys), vars(logging), sys.modules  # dictionaries, for speed: used at every switch


class RankState:
    """The interpreter state of a rank.

    Attributes
    ----------
    argv, path, stdin, stdout, stderr, excepthook : its values of these attributes of `sys`
    default_streams : whether the last four of these have their initial values
    main : its `__main__` if a switch only exchanges this module, `root` and `settings`, else None
    root : its root logger
    private : names of its private modules, loaded or being loaded
    modules : its private modules; valid while other ranks run
    exit_functions : functions to call when it exits, in order of registration
    outputs : its output streams (`RankStream`), by the stream that all ranks share
    generators : its random number generators, by the function that makes them
    codes : exit codes by process number, shared by all ranks of a program
    directory : its working directory (`Directory`), None until a rank changes its directory
    variables : environment variables that it has set (`Variables`), None until a rank sets one
    signal_handlers : its handlers by signal, if it has set any
    settings : its values of other settings of the process (`ProcessSetting`), None until a rank changes one
    """

    __slots__ = (
        *SYS_ATTRIBUTES, "codes", "default_streams", "exit_functions", "directory", "generators", "get_modules", "label",
        "loaded_count", "loaded_modules", "main", "modules", "names", "number", "outputs", "private", "root",
        "settings", "signal_handlers", "variables",
    )  # fmt: skip

    argv: Any
    path: Any
    stdin: Any
    stdout: Any
    stderr: Any
    excepthook: Any

    def __init__(self, number: int, label: str, values: tuple[Any, ...]) -> None:
        self.number, self.label = number, label
        for name, value in zip(SYS_ATTRIBUTES, values or map(_sys.get, SYS_ATTRIBUTES), strict=True):
            setattr(self, name, value)
        self.default_streams = bool(values)
        self.root: Any = _logging["root"]
        self.private: set[str] = _PrivateNames(self)
        self.modules: dict[str, ModuleType] = {}
        self.exit_functions: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self.outputs: dict[int, Any] = {}
        self.generators: dict[Any, Any] = {}
        self.codes: dict[int, int] = {}
        self.directory: Any = None
        self.variables: Any = None
        self.settings: dict[Any, Any] | None = None
        self.signal_handlers: dict[int, Any] = {}
        self.main: Any = None
        self.names: tuple[str, ...] | None = None  # of its private modules when they were last removed
        self.loaded_count = -1  # len(private) at that time, -1 if some were not loaded
        self.get_modules: Any = None  # itemgetter that returns the modules with these names
        self.loaded_modules: Any = None  # the result of `get_modules`

    def owns(self, namespace: dict[str, Any]) -> bool:
        """Return whether these are the globals of one of its private modules."""
        return namespace.get("__name__") in self.private

    def record_loaded(self) -> None:
        """Record which private modules are loaded, while they are installed."""
        self.modules = {name: _modules[name] for name in self.private if name in _modules}
        self._index()

    def adopt(self, name: str, module: ModuleType) -> None:
        """Keep a shared module that another rank replaces, while that rank runs."""
        self.private.add(name)
        self.modules = {**self.modules, name: module}

    def _index(self) -> None:
        self.names = _interned_names.setdefault(frozenset(self.modules), tuple(self.modules))
        # The first name is repeated, because itemgetter of a single name does not return a tuple.
        self.get_modules = itemgetter(*self.names, self.names[0]) if self.names else lambda modules: ()
        self.loaded_modules = self.get_modules(_modules)
        self.loaded_count = len(self.private) if len(self.private) == len(self.names) else -1
        unchanged = self.default_streams and self.directory is None and self.variables is None
        self.main = self.modules["__main__"] if unchanged and self.names == ("__main__",) else None


class _PrivateNames(set[str]):
    """Names of the private modules of a rank; adding one disables the fast exchange."""

    def __init__(self, state: RankState) -> None:
        super().__init__()
        self.state = state

    def add(self, name: str) -> None:
        """Add a module that is about to be loaded."""
        self.state.main = None
        super().add(name)


_interned_names: dict[frozenset[str], tuple[str, ...]] = {}
"""One tuple of names for all ranks that have loaded the same modules, so that identity implies equality."""


def exchange(at: RankState, to: RankState) -> None:
    """Replace the state of one rank in the interpreter by that of another."""
    if not (at.default_streams and to.default_streams):
        for name in STORED:
            _sys[name] = getattr(to, name)
    _logging["root"] = to.root
    if at.directory is not to.directory:
        to.directory.enter()
    if at.variables is not to.variables:
        to.variables.replace(at.variables)
    if at.settings is not to.settings:
        exchange_settings(at, to)
    _exchange_modules(at, to)


def exchange_settings(at: RankState, to: RankState) -> None:
    """Store the settings of one rank, and install those of another. All ranks have values of the same settings."""
    values: dict[Any, Any] = at.settings or {}
    for setting in values:
        values[setting] = setting.read()
    for setting, value in (to.settings or {}).items():
        if not setting.is_same(values[setting], value):
            setting.write(value)


def _exchange_modules(at: RankState, to: RankState) -> None:
    try:
        if at.loaded_count != len(at.private) or at.get_modules(_modules) != at.loaded_modules:
            at.record_loaded()
    except KeyError:  # the program has removed a module
        at.record_loaded()
    if to.names is not at.names:
        for name in at.modules:
            if name not in to.modules:
                del _modules[name]
    _modules.update(to.modules)


def _computed(name: str) -> property:
    """Return a property of `sys` with the value of the running rank."""

    def get(self: SysModule) -> Any:
        return getattr(SysModule.running(), name)

    def set(self: SysModule, value: Any) -> None:
        setattr(SysModule.running(), name, value)

    def delete(self: SysModule) -> None:
        delattr(SysModule.running(), name)

    return property(get, set, delete)


class _SysModuleType(type):
    """Makes `type(sys)` behave like `ModuleType`: importlib calls `type(sys)` for every module that it loads."""

    def __call__(cls, *args: Any, **named: Any) -> ModuleType:
        return ModuleType(*args, **named)  # a `SysModule` would share its `path` with `sys`

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, ModuleType)


class SysModule(ModuleType, metaclass=_SysModuleType):
    """The class of the module `sys` while scripts run: assignments apply to the running rank."""

    running: ClassVar[Callable[[], RankState]]
    before_change: ClassVar[Callable[[ModuleType, str, Any, FrameType], None]]
    view_for: ClassVar[Callable[[FrameType], dict[str, Any] | None]]
    argv, path = _computed("argv"), _computed("path")

    @property
    def modules(self) -> dict[str, Any]:
        """The table of modules, for programs a view of it."""
        table: dict[str, Any] = _sys["modules"]
        view = SysModule.view_for(frame_at(1)) if table is _modules else None
        return table if view is None else view

    @modules.setter
    def modules(self, table: dict[str, Any]) -> None:
        _sys["modules"] = table

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in SYS_ATTRIBUTES:
            SysModule.before_change(self, name, value, frame_at(1))
        if name == "meta_path" and hasattr(self.meta_path, "replaced"):
            value = self.meta_path.replaced(value)
        super().__setattr__(name, value)
        if name in STORED:
            state = SysModule.running()
            setattr(state, name, value)
            state.default_streams, state.main = False, None

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)  # cloudpickle recognizes modules by their exact class


def share_sys(
    running: Callable[[], RankState],
    before_change: Callable[[ModuleType, str, Any, FrameType], None],
    view_for: Callable[[FrameType], dict[str, Any] | None],
) -> None:
    """Make attributes of `sys` those of the running rank, which `running` returns.

    `before_change` is called before an assignment to any other attribute. `view_for` returns what a caller gets as
    `sys.modules`, None for the table itself.
    """
    SysModule.running, SysModule.before_change = staticmethod(running), staticmethod(before_change)
    SysModule.view_for = staticmethod(view_for)
    sys.__class__ = SysModule
    for name in COMPUTED:
        _sys.pop(name, None)  # vars(sys) must not show stale values


def unshare_sys(outside: RankState) -> None:
    """Restore `sys`, also after an incomplete `share_sys`; `outside` has the original values."""
    sys.__class__ = ModuleType
    for name in COMPUTED:
        if name not in _sys and hasattr(outside, name):
            _sys[name] = getattr(outside, name)
