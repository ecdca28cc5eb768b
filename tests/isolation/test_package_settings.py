# ruff: noqa: E501  # a row of the table is one line
"""Settings of well-known packages, separate for each rank: every row of the table in docs/run_a_script.md."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

import fakempi
from fakempi.isolation import Program
from tests.isolation.harness import COMM, Capture


class Row(NamedTuple):
    """Code that sets a value that depends on the rank `r`, and expressions that read it without changing it.

    Some settings have an effect only if another package is installed, too.
    """

    set: str
    read: str
    also: str = ""


MATPLOTLIB = "import matplotlib as mpl; mpl.use('Agg'); import matplotlib.pyplot as plt\n"
TORCH = "import torch\n"

ROWS: dict[str, list[Row]] = {
    "torch": [
        Row(TORCH + "torch.manual_seed(r); torch.randn(r)", "torch.initial_seed(), torch.get_rng_state().tolist()"),
        Row(TORCH + "torch.set_default_dtype([torch.float64, torch.float32, torch.bfloat16][r])", "torch.get_default_dtype()"),
        Row(TORCH + "torch.set_grad_enabled(r == 1)", "torch.is_grad_enabled()"),
        Row(TORCH + "torch.no_grad().__enter__() if r else None", "torch.is_grad_enabled(), torch.ones(1, requires_grad=True).exp().requires_grad"),
        Row(TORCH + "guard = torch.inference_mode(r == 1); guard.__enter__()", "torch.is_inference_mode_enabled(), torch.ones(1).is_inference()"),
        Row(TORCH + "torch.set_default_device('meta') if r else None", "torch.ones(1).device"),
        Row(TORCH + "guard = torch.device('meta'); guard.__enter__() if r else None", "torch.ones(1).device"),
        Row(TORCH + "torch.autocast('cpu', torch.bfloat16, enabled=r == 1).__enter__()", "(torch.ones(2, 2) @ torch.ones(2, 2)).dtype"),
        Row(TORCH + "torch.autograd.set_detect_anomaly(r == 1)", "torch.is_anomaly_enabled()"),
        Row(TORCH + "torch.set_printoptions(precision=r + 1)", "str(torch.tensor(1 / 3))"),
        Row(TORCH + "torch.use_deterministic_algorithms(r > 0, warn_only=r == 1)", "torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()"),
        Row(TORCH + "torch.set_float32_matmul_precision(['highest', 'high', 'medium'][r])", "torch.get_float32_matmul_precision()"),
        Row(TORCH + "torch.set_warn_always(r == 1)", "torch.is_warn_always_enabled()"),
    ],
    "matplotlib": [
        Row(MATPLOTLIB + "plt.figure(); comm.Barrier(); plt.title(f'rank {r}')", "plt.gca().get_title(), plt.get_fignums()[0]"),
        Row(MATPLOTLIB + "plt.figure(r); plt.figure(5 + r); plt.close(r)", "plt.get_fignums(), plt.gcf().number"),
        Row(MATPLOTLIB + "mpl.rcParams['lines.linewidth'] = r", "plt.rcParams['lines.linewidth'], plt.plot([1])[0].get_linewidth()"),
        Row(MATPLOTLIB + "plt.rc('font', size=5 + r); plt.rcParams.update({'axes.grid': r == 1})", "mpl.rcParams['font.size'], mpl.rcParams['axes.grid']"),
        Row(MATPLOTLIB + "plt.style.use(['ggplot', 'default', 'dark_background'][r])", "mpl.rcParams['axes.facecolor']"),
        Row(MATPLOTLIB + "context = plt.rc_context({'font.size': 5 + r}); context.__enter__()", "mpl.rcParams['font.size']"),
        Row(MATPLOTLIB + "context = plt.rc_context({'font.size': 5 + r}); context.__enter__(); comm.Barrier(); context.__exit__(None, None, None); mpl.rcParams['font.size'] += r", "mpl.rcParams['font.size']"),
        Row(MATPLOTLIB + "plt.ion() if r else plt.ioff()", "plt.isinteractive()"),
        Row(MATPLOTLIB + "mpl.colormaps.register(mpl.colors.ListedColormap([['r', 'g', 'b'][r]]), name='mine')", "mpl.colormaps['mine'](0)"),
    ],
    "pandas": [
        Row("import pandas as pd; pd.set_option('display.max_rows', 5 + r)", "pd.get_option('display.max_rows'), pd.options.display.max_rows"),
        Row("import pandas as pd; pd.options.display.precision = 1 + r", "str(pd.Series([1 / 3]))"),
        Row("import pandas as pd; context = pd.option_context('display.width', 50 + r); context.__enter__()", "pd.get_option('display.width')"),
        Row("import pandas as pd; pd.set_option('compute.use_numexpr', r == 1)", "pd.core.computation.expressions.USE_NUMEXPR", also="numexpr"),
        Row("import pandas as pd; pd.set_option('display.width', 7); pd.reset_option('display.width') if r else None", "pd.get_option('display.width')"),
    ],
    "xarray": [
        Row("import xarray as xr; xr.set_options(arithmetic_join=['inner', 'outer', 'exact'][r])", "xr.get_options()['arithmetic_join']"),
        Row("import xarray as xr; context = xr.set_options(display_width=50 + r); context.__enter__()", "xr.get_options()['display_width']"),
    ],
    "sklearn": [Row("import sklearn; sklearn.set_config(working_memory=5 + r)", "sklearn.get_config()['working_memory']")],
    "sympy": [
        Row("import sympy; from sympy.core.parameters import global_parameters; sympy.evaluate(r == 1).__enter__()", "global_parameters.evaluate, str(sympy.Symbol('x') + sympy.Symbol('x'))"),
        Row("import sympy.core.random as random; random.seed(r)", "random.rng.getstate()"),
        Row("import sympy; sympy.StrPrinter.set_global_settings(order=['lex', 'rev-lex', 'none'][r])", "sympy.StrPrinter._global_settings['order']"),
    ],
    "mpmath": [
        Row("import mpmath; mpmath.mp.dps = 20 + r", "mpmath.mp.dps, mpmath.mp.prec, str(mpmath.mpf(1) / 3)"),
        Row("import mpmath; context = mpmath.workprec(60 + r); context.__enter__()", "mpmath.mp.prec"),
    ],
    "dask": [
        Row("import dask; dask.config.set(scheduler=f'kind {r}')", "dask.config.get('scheduler')"),
        Row("import dask; dask.config.set({'some.thing': r, f'own.part{r}': 1})", "dask.config.get('some.thing'), dask.config.get('own')"),
    ],
    "astropy": [
        Row("import astropy.cosmology as c; c.default_cosmology.set(['Planck13', 'Planck15', 'WMAP9'][r])", "c.default_cosmology.get().name"),
        Row("import astropy; astropy.conf.max_lines = 50 + r", "astropy.conf.max_lines"),
        Row("import astropy; context = astropy.conf.set_temp('max_width', 70 + r); context.__enter__()", "astropy.conf.max_width"),
        Row("from astropy.utils import iers; iers.conf.auto_max_age = 10.0 + r", "iers.conf.auto_max_age"),
        Row("import astropy.units as u; u.set_enabled_units([[u.m], [u.s], [u.kg]][r])", "str(u.core.get_current_unit_registry().all_units)"),
    ],
    "pint": [Row("import pint; pint.set_application_registry(pint.UnitRegistry()); pint.get_application_registry().rank = r", "pint.get_application_registry().rank")],
    "h5py": [Row("import h5py; h5py.get_config().complex_names = (f'r{r}', 'i')", "h5py.get_config().complex_names")],
    "scipy": [
        Row("import scipy.special as sp; sp.seterr(singular=['raise', 'warn', 'ignore'][r])", "sp.geterr()['singular']"),
        Row("import scipy.special as sp; sp.errstate(loss=['raise', 'warn', 'ignore'][r]).__enter__()", "sp.geterr()['loss']"),
        Row("import scipy.stats, numpy as np; np.random.seed(r)", "np.random.get_state()[1][:3], np.random.mtrand._rand.get_state()[1][:3]"),
    ],
    "numexpr": [Row("import numexpr, numpy as np; x = np.full(2, r); numexpr.evaluate(['x + 1', 'x * 9', '5 - x'][r])", "numexpr.re_evaluate({'x': np.full(2, r)})")],
    "jax": [
        Row("import jax; jax.config.update('jax_enable_x64', r == 1)", "jax.numpy.ones(1).dtype, jax.config.jax_enable_x64"),
        Row("import jax; context = jax.default_matmul_precision(['float32', 'bfloat16', 'highest'][r]); context.__enter__()", "jax.config.jax_default_matmul_precision"),
        Row("import jax; context = jax.enable_x64(r == 1); context.__enter__()", "jax.numpy.ones(1).dtype"),
    ],
    "numba": [
        Row("import numba; numba.config.DISABLE_JIT = r", "numba.config.DISABLE_JIT"),
        Row("import numba, numpy as np\n@numba.njit\ndef seed(n):\n    np.random.seed(n)\nseed(r)\nfrom numba import _helperlib as h", "hash(str(h.rnd_get_state(h.rnd_get_np_state_ptr())))"),
    ],
    "PIL": [Row("import PIL.Image, PIL.ImageFile; PIL.Image.MAX_IMAGE_PIXELS = 1000 + r; PIL.ImageFile.LOAD_TRUNCATED_IMAGES = r", "PIL.Image.MAX_IMAGE_PIXELS, PIL.ImageFile.LOAD_TRUNCATED_IMAGES")],
    "networkx": [Row("import networkx as nx, random; random.seed(r); first = nx.gnp_random_graph(9, .5).edges; random.seed(r)", "hash(random.getstate()), hash(random._inst.getstate())")],
    "seaborn": [Row("import seaborn; seaborn.set_theme(style=['dark', 'white', 'ticks'][r])", "seaborn.axes_style()")],
    "polars": [Row("import polars as pl; pl.Config.set_tbl_rows(2 + r)", "str(pl.DataFrame({'a': range(20)}))")],
    "numpy": [
        Row("import numpy as np; np.seterr(divide=['raise', 'warn', 'ignore'][r])", "np.geterr()"),
        Row("import numpy as np; np.errstate(over=['raise', 'warn', 'ignore'][r]).__enter__()", "np.geterr()"),
        Row("import numpy as np; np.set_printoptions(precision=1 + r)", "str(np.ones(1) / 3)"),
        Row("import numpy as np; np.random.seed(r)", "np.random.get_state()[1][:3]"),
        Row("import numpy as np; np.setbufsize(8192 + 16 * r)", "np.getbufsize()"),
    ],
}  # fmt: skip
"""By package."""

CASES = [(package, i) for package, rows in ROWS.items() for i in range(len(rows))]


def needed(package: str) -> None:
    """Skip the test if a package is not installed."""
    if importlib.util.find_spec(package) is None:
        distribution = {"sklearn": "scikit-learn", "PIL": "pillow"}.get(package, package)
        pytest.skip(f"{package} is not installed: python -m pip install {distribution}")


def run_text(tmp_path: Path, text: str, ranks: int, backend: Any) -> None:
    """Run a script."""
    (tmp_path / "work.py").write_text(COMM + "r = comm.rank\n" + text)
    fakempi.run(Program([str(tmp_path / "work.py")]), ranks, backend=backend)


@pytest.mark.slow
@pytest.mark.parametrize(("package", "row"), CASES)
def test_each_rank_has_its_own_settings_of_a_package(tmp_path: Path, backend: Any, package: str, row: int) -> None:
    """A value that a rank has set is the same after the other ranks have set theirs, and after more switches."""
    for name in filter(None, (package, ROWS[package][row].also)):
        needed(name)
    script = f"{ROWS[package][row].set}\ndef read():\n    return repr(({ROWS[package][row].read},))\n"
    script += "first = read()\ncomm.Barrier()\nfor i in range(3):\n    assert read() == first, (read()[:99], first[:99])\n    comm.Barrier()\n"
    script += "assert len(set(comm.allgather(first))) > 1, first[:99]\n"
    run_text(tmp_path, script, 3, backend)


def test_every_package_of_the_page_is_tested() -> None:
    """The table in docs/run_a_script.md names the packages of `ROWS`."""
    page = (Path(fakempi.__file__).parents[1] / "docs" / "run_a_script.md").read_text(encoding="utf-8")
    lines = page.partition("<!-- settings: packages -->")[2].partition("\n\n")[0].splitlines()[3:]
    assert {name for line in lines for name in line.split("|")[1].strip().split(", ")} == set(ROWS)


def test_each_rank_draws_the_numbers_that_it_would_draw_alone(tmp_path: Path, backend: Any) -> None:
    """With its own seed, and without a seed."""
    needed("torch")
    script = """
    import torch
    for seed in (None, r):
        if seed is not None:
            torch.manual_seed(seed)
        numbers = []
        for i in range(9):
            comm.Barrier()
            numbers += torch.randn(1).tolist()
        generator = torch.Generator().manual_seed(torch.initial_seed())
        assert numbers == [torch.randn(1, generator=generator).item() for i in range(9)]
        assert (len(set(map(tuple, comm.allgather(numbers)))) == 1) == (seed is None)
    """
    run_text(tmp_path, dedent(script), 3, backend)


@pytest.mark.slow
def test_ranks_compile_a_function_of_jax_one_after_the_other(tmp_path: Path, backend: Any) -> None:
    """Also if jax finds its devices in the first compilation, for which it starts a thread."""
    needed("jax")
    script = "import jax\nassert jax.jit(lambda x: 2 * x)(jax.numpy.ones(2)).sum() == 4\n"
    run_text(tmp_path, script, 3, backend)


def test_calls_whose_effect_cannot_be_exchanged_are_reported(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """With the name that users know."""
    needed("torch")
    run_text(tmp_path, "import torch\ntorch.set_flush_denormal(False)\n", 2, backend)
    assert capsys.readouterr().err == (
        "fakempi: rank 0 calls torch.set_flush_denormal (work.py:5), which applies to all ranks, because they share a process. "
        "fakempi run --processes gives each rank a process.\n"
    )


@pytest.mark.slow
def test_servers_of_dask_are_reported(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Schedulers and workers are servers; dask-mpi starts them on ranks."""
    needed("distributed")
    script = "import asyncio\nfrom distributed.core import Server\nasync def make():\n    Server({})\nasyncio.run(make())\n"
    run_text(tmp_path, script, 2, backend)
    assert "calls distributed.Server (work.py:7), which applies to all ranks" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["random", "numpy"])
def test_packages_that_use_the_object_of_the_default_generator_use_that_of_the_rank(
    tmp_path: Path, backend: Any, kind: str
) -> None:
    """As scipy, sklearn and networkx do."""
    shared = {"random": "random._inst.random()", "numpy": "np.random.mtrand._rand.random_sample()"}[kind]
    own = {"random": "random.Random(r).random()", "numpy": "np.random.RandomState(r).random_sample()"}[kind]
    seed = {"random": "random.seed(r)", "numpy": "np.random.seed(r)"}[kind]
    check = "isinstance(np.random.mtrand._rand, np.random.RandomState) and isinstance(random._inst, random.Random)"
    run_text(
        tmp_path, f"import random, numpy as np\n{seed}\ncomm.Barrier()\nassert {shared} == {own} and {check}\n", 3, backend
    )
