"""The settings of packages: the functions that change them, and how to read and replace them.

Each entry was tested with the package (tests/isolation/test_package_settings.py). Functions that a version of a package
does not have are ignored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, NamedTuple

from fakempi.isolation.settings.exchange import AllNames, Attribute, ClassAttribute, ProcessSetting, Value
from fakempi.isolation.settings.packages import jax
from fakempi.isolation.settings.tracked import DictContents, Tracked

Settings = Iterable[ProcessSetting]
SettingsOf = Callable[[Any, tuple[Any, ...]], Settings]


class Changing(NamedTuple):
    """Functions of a module, and the settings that they change.

    Attributes
    ----------
    functions : names in the module: functions, methods of a class, or properties
    settings : returns the settings from the module and the arguments
    on_threads : the same if each rank has an OS thread, None if it is `settings`
    """

    functions: tuple[str, ...]
    settings: SettingsOf
    on_threads: SettingsOf | None = None


def by_thread(module: Any, args: tuple[Any, ...]) -> Settings:
    """Return no settings: what belongs to an OS thread is separate if each rank has one."""
    return ()


def _value(name: str, read: str, write: Callable[[Any, Any], Any]) -> SettingsOf:
    """Return a setting that a function of the module without arguments returns, and `write(module, value)` sets."""
    get = attrgetter(read)
    return lambda module, args: [Value(name, get(module), lambda value: write(module, value))]


# -- matplotlib -----------------------------------------------------------------------------------------------------------


def _parameters(module: Any, args: tuple[Any, ...]) -> Settings:
    """`matplotlib.rcParams`, not its copies. Before version 3.10, `rc_context` wrote to it by `dict.update`."""
    if args[0] is not module.rcParams:
        return []
    tracked = DictContents("matplotlib.rcParams", module.rcParams)
    return [tracked if hasattr(module.RcParams, "_update_raw") else Value(tracked.key, tracked.get, tracked.set)]


def _colormaps(module: Any, args: tuple[Any, ...]) -> Settings:
    return [DictContents(f"matplotlib.colormaps {id(args[0])}", args[0]._cmaps)]


# -- pandas, xarray, sklearn, sympy, dask ---------------------------------------------------------------------------------


def _pandas(module: Any, args: tuple[Any, ...]) -> Settings:
    """All options. Some have functions that store the value elsewhere, too."""

    def call_back() -> None:
        for name, option in module._registered_options.items():
            if option.cb is not None and name.startswith("compute."):
                option.cb(name)

    return [DictContents("pandas.options", module._global_config, call_back)]


def _xarray(module: Any, args: tuple[Any, ...]) -> Settings:
    return [DictContents("xarray.options", module.OPTIONS)]


def _sklearn(module: Any, args: tuple[Any, ...]) -> Settings:
    config = module._get_threadlocal_config()
    return [DictContents(f"sklearn.config {id(config)}", config)]


def _sympy(module: Any, args: tuple[Any, ...]) -> Settings:
    """The parameters that `evaluate` and others set. Cached results were computed with those of the previous rank."""
    values = vars(module.global_parameters)
    return [DictContents(f"sympy.parameters {id(values)}", values, sys.modules["sympy.core.cache"].clear_cache)]


def _sympy_random(module: Any, args: tuple[Any, ...]) -> Settings:
    return [Value("sympy.random", module.rng.getstate, module.rng.setstate)]


def _sympy_printing(module: Any, args: tuple[Any, ...]) -> Settings:
    return [DictContents("sympy.printing", module.Printer._global_settings)]


def _dask(module: Any, args: tuple[Any, ...]) -> Settings:
    return [DictContents("dask.config", module.config)]


# -- others ---------------------------------------------------------------------------------------------------------------


def _science_state(module: Any, args: tuple[Any, ...]) -> Settings:
    return [ClassAttribute(args[0], "_value")]


def _astropy_item(module: Any, args: tuple[Any, ...]) -> Settings:
    """An item of `astropy.conf`, or of the `conf` of a package of astropy."""
    item = args[0]
    return [Attribute(module.get_config(item.module, rootname=item.rootname), item.name)]


def _units(module: Any, args: tuple[Any, ...]) -> Settings:
    registries = module._unit_registries
    return [Tracked("astropy.units", registries.copy, lambda value: registries.__setitem__(slice(None), value))]


def _mpmath(module: Any, args: tuple[Any, ...]) -> Settings:
    context = args[0]

    def write(value: tuple[Any, ...]) -> None:
        context._prec, context._dps, context._prec_rounding[:] = value

    return [Tracked(("mpmath", id(context)), lambda: (context._prec, context._dps, context._prec_rounding.copy()), write)]


def _pint(module: Any, args: tuple[Any, ...]) -> Settings:
    application = module.application_registry
    return [Tracked("pint.application", application.get, lambda value: object.__setattr__(application, "_registry", value))]


def _h5py(module: Any, args: tuple[Any, ...]) -> Settings:
    config = module.get_config.__wrapped__()
    names = [name for name in ("complex_names", "bool_names", "track_order") if hasattr(config, name)]

    def write(value: tuple[Any, ...]) -> None:
        for name, one in zip(names, value, strict=True):
            if getattr(config, name) != one:
                setattr(config, name, one)

    return [Value("h5py.config", lambda: tuple([getattr(config, name) for name in names]), write)]


def _scipy_errors(module: Any, args: tuple[Any, ...]) -> Settings:
    set_errors = getattr(module.seterr, "__wrapped__", module.seterr)
    return [Tracked("scipy.special", module.geterr, lambda value: set_errors(**value))]


def _torch_printing(module: Any, args: tuple[Any, ...]) -> Settings:
    return [AllNames(vars(module.PRINT_OPTS))]


def _torch_algorithms(module: Any, args: tuple[Any, ...]) -> Settings:
    enabled, only_warns = module.are_deterministic_algorithms_enabled, module.is_deterministic_algorithms_warn_only_enabled
    set_both = module._C._set_deterministic_algorithms
    return [
        Value("torch.algorithms", lambda: (enabled(), only_warns()), lambda value: set_both(value[0], warn_only=value[1]))
    ]


def _anyio_runner(module: Any, args: tuple[Any, ...]) -> Settings:
    """The event loop of tests, which the plugin keeps as long as a fixture uses it."""
    return [Attribute(vars(module), name) for name in ("_current_runner", "_runner_stack", "_runner_leases")]


def _set_precision(torch: Any, value: str) -> None:
    torch._C._set_float32_matmul_precision(value)


def _set_warnings(torch: Any, value: bool) -> None:
    torch._C._set_warnAlways(value)


CHANGED: dict[str, tuple[Changing, ...]] = {
    "matplotlib": (
        Changing(("RcParams._set", "RcParams._update_raw", "RcParams.__setitem__", "RcParams.__delitem__"), _parameters),
    ),
    "matplotlib.cm": (Changing(("ColormapRegistry.register", "ColormapRegistry.unregister"), _colormaps),),
    "matplotlib._pylab_helpers": (
        Changing(
            ("Gcf.set_active", "Gcf._set_new_active_manager", "Gcf.destroy", "Gcf.destroy_fig", "Gcf.destroy_all"),
            lambda module, args: [ClassAttribute(module.Gcf, "figs")],
        ),
    ),
    "pandas._config.config": (Changing(("set_option", "_set_option", "_set_option_impl"), _pandas),),
    "xarray.core.options": (Changing(("set_options._apply_update",), _xarray),),
    "sklearn._config": (Changing(("set_config",), _sklearn, by_thread),),
    "sympy.core.parameters": (Changing(("_global_parameters.__setattr__",), _sympy, by_thread),),
    "sympy.core.random": (Changing(("seed",), _sympy_random),),
    "sympy.printing.printer": (Changing(("Printer.set_global_settings",), _sympy_printing),),
    "dask.config": (Changing(("set.__init__", "set.__exit__", "refresh", "update_defaults", "pop"), _dask),),
    "astropy.utils.state": (
        Changing(("ScienceState.set",), _science_state),
        Changing(("_ScienceStateContext.__exit__",), lambda module, args: [ClassAttribute(args[0]._parent, "_value")]),
    ),
    "astropy.config.configuration": (Changing(("ConfigItem.set",), _astropy_item),),
    "astropy.units.core": (Changing(("_UnitContext.__init__", "_UnitContext.__exit__"), _units),),
    "mpmath.ctx_mp_python": (Changing(("PythonMPContext.prec", "PythonMPContext.dps"), _mpmath),),
    "pint": (Changing(("ApplicationRegistry.set",), _pint),),
    "h5py.h5": (Changing(("get_config",), _h5py),),
    "scipy.special._ufuncs": (Changing(("seterr", "errstate.__enter__", "errstate.__exit__"), _scipy_errors, by_thread),),
    "jax._src.config": (
        Changing(("Config.update", "State._set", "Flag._set"), jax.configuration, jax.of_process),
        Changing(("StateContextManager.__enter__", "StateContextManager.__exit__"), jax.configuration, by_thread),
    ),
    "anyio.pytest_plugin": (Changing(("get_runner",), _anyio_runner),),
    "torch._tensor_str": (Changing(("set_printoptions",), _torch_printing),),
    "torch": (
        Changing(("use_deterministic_algorithms", "set_deterministic_debug_mode"), _torch_algorithms),
        Changing(
            ("set_float32_matmul_precision",),
            _value("torch.precision", "get_float32_matmul_precision", _set_precision),
        ),
        Changing(("set_warn_always",), _value("torch.warn", "is_warn_always_enabled", _set_warnings)),
    ),
}  # fmt: skip
"""By module, whose functions are replaced when it is loaded."""

REPORTED: dict[str, dict[str, str]] = {
    "distributed.core": {"Server.__init__": "distributed.Server"},  # of one process: event loops, connections, clients
    "jax._src.distributed": {"initialize": "jax.distributed.initialize"},
    "polars.functions.random": {"set_random_seed": "polars.set_random_seed"},
    "tensorflow.python.framework.random_seed": dict.fromkeys(("set_seed", "set_random_seed"), "tensorflow.random.set_seed"),
    "torch": {"set_flush_denormal": "torch.set_flush_denormal"},
    "torch.distributed.distributed_c10d": {"init_process_group": "torch.distributed.init_process_group"},
}
"""Functions that change a state which cannot be exchanged, with the names that users know: the first call is reported."""
