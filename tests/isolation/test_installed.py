"""Installed packages: packages that store objects of mpi4py are private to each rank, all others are shared."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program
from tests.isolation.harness import COMM, Capture, play

Install = Callable[[Mapping[str, str]], Path]

KIT = {
    "kit/__init__.py": """
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.Get_rank()
        dup = MPI.COMM_WORLD.Dup()
        half = MPI.COMM_WORLD.Split(rank % 2, rank)
        from . import tools
        from .inner.deep import where
        """,
    "kit/tools.py": "seen = []\ndef add():\n    from kit import rank\n    seen.append(rank)\n    return seen\n",
    "kit/inner/__init__.py": "from ..tools import seen\n",
    "kit/inner/deep.py": "from .. import rank as r\nfrom . import seen\ndef where(): return r, seen\n",
    "kit/late.py": """
        value = None
        def get():
            global value
            if value is None:
                import kit.inner.deep as deep
                value = deep.where()[0]
            return value
        """,
    "kit/data/words.txt": "hello",
    "kit/data/__init__.py": "",
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install packages in a temporary directory; after the test none of them is imported any more."""
    site = tmp_path / "lib" / "site-packages"
    site.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(site))

    def write(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = site / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        importlib.invalidate_caches()
        return site

    yield write
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def test_coverage_is_private_to_each_rank(tmp_path: Path, backend: Any, install: Install) -> None:
    """Coverage that `-m pytest --cov` starts on every rank; each rank stops its own instance."""
    install({"coverage/__init__.py": "running = []\n"})
    script = """
    import coverage
    coverage.running.append(comm.rank)
    comm.Barrier()
    assert coverage.running.pop() == comm.rank
    """
    assert play(tmp_path, script, 2, backend).returns == [0, 0]


def test_the_import_of_a_package_sees_the_importing_rank(tmp_path: Path, backend: Any, install: Install) -> None:
    """Its rank at module level, a duplicate and a split, in submodules, by relative imports and by name."""
    install(KIT)
    script = """
    import importlib, kit, kit.late
    from kit import rank, tools as same
    from kit.inner import deep
    assert kit.rank == rank == kit.dup.rank == comm.rank and kit.half.rank == comm.rank // 2
    assert importlib.import_module("kit.tools") is kit.tools is same and deep.where is kit.where
    assert same.add() == [rank] and kit.late.get() == rank
    comm.Barrier()
    assert kit.tools.seen == [rank] == kit.where()[1] and kit.dup.allreduce(1) == comm.size and kit.late.get() == rank
    assert kit.half.allgather(kit.rank) == list(range(rank % 2, comm.size, 2))
    """
    play(tmp_path, script, 4, backend)


def test_packages_that_import_private_packages_are_private_too(tmp_path: Path, backend: Any, install: Install) -> None:
    """Through any number of imports, also in cycles; but not if they are imported only when a function is called."""
    install({
        "deep1.py": "try:\n    from mpi4py import MPI\n    rank = MPI.COMM_WORLD.rank\nexcept ImportError:\n    rank = 0\n",
        "deep2/__init__.py": "import os, deep1\nimport deep3\ndef get(): return deep1.rank, deep3.rank()\n",
        "deep3/__init__.py": "import deep2\ndef rank(): return deep2.deep1.rank\n",
        "deep3/more.py": "",
        "deep4.py": "seen = []\ndef later():\n    import deep1\n    return deep1.rank\n",
        "deep5.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import deep1\nseen = []\n'import mpi4py'\n",
    })  # fmt: skip
    script = """
    import deep2, deep3.more, deep4, deep5
    assert deep2.get() == (comm.rank, comm.rank) and deep4.later() == comm.rank
    for module in (deep4, deep5):
        module.seen.append(comm.rank)
    comm.Barrier()
    assert sorted(deep4.seen) == sorted(deep5.seen) == list(range(comm.size))
    """
    play(tmp_path, script, 3, backend)


@pytest.mark.parametrize("how", ["import_module('mpi4py.MPI')", "__import__('mpi4py.MPI').MPI"])
def test_an_import_by_a_call_counts(tmp_path: Path, backend: Any, install: Install, how: str) -> None:
    """Also in a function whose result the package stores."""
    keep = f"kept or kept.append({how}.COMM_WORLD.rank)"
    install({"caller.py": f"from importlib import import_module\nkept = []\ndef rank():\n    {keep}\n    return kept[0]"})
    script = "import caller\nassert caller.rank() == comm.rank\ncomm.Barrier()\nassert caller.rank() == comm.rank"
    play(tmp_path, script, 3, backend)


def test_other_packages_are_shared(tmp_path: Path, backend: Any, install: Install) -> None:
    """A package without MPI, numpy, rich and the standard library are the same objects on all ranks."""
    install({"plain/__init__.py": "# as in mpi4py\nclass Thing: pass\n", "plain/part.py": "", **KIT})
    script = """
    import json, kit, numpy, rich.text, plain.part, collections
    ids = [id(module) for module in (json, numpy, rich, rich.text, plain, plain.part)]
    assert all(each == ids for each in comm.allgather(ids)) and len(set(comm.allgather(id(kit)))) == comm.size
    """
    play(tmp_path, script, 3, backend)


def test_classes_of_private_and_shared_modules_work_together(tmp_path: Path, backend: Any, install: Install) -> None:
    """Objects arrive with the receiver's class; a shared base class is the same for all ranks."""
    install({
        "base.py": "class Base: pass\n",
        "shapes.py": COMM + "from base import Base\nclass Square(Base):\n    def __init__(self, a): self.a = a\n",
    })  # fmt: skip
    script = """
    from base import Base
    from shapes import Square
    got = comm.sendrecv(Square(comm.rank), (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
    assert type(got) is Square and isinstance(got, Base) and got.a == (comm.rank - 1) % comm.size
    assert [type(each) for each in comm.allgather(Base())] == [Base] * comm.size
    """
    play(tmp_path, script, 3, backend)


def test_a_namespace_package_may_have_both_kinds(tmp_path: Path, backend: Any, install: Install) -> None:
    """Portions of a package without files are private or shared independently."""
    install({
        "space/own/__init__.py": COMM + "rank = comm.rank\n", "space/common/__init__.py": "from . import part\nseen = []\n",
        "space/common/part.py": "", "user.py": "from space import own\n", "no_user.py": "import space.common\n",
    })  # fmt: skip
    script = """
    import space.own, user, no_user
    import space.common
    import space.common.part as part
    assert space.own.rank == user.own.rank == comm.rank and space.common.part is part
    ids = comm.allgather([id(space.common), id(no_user)])
    assert all(each == ids[0] for each in ids) and not hasattr(space, "nothing")
    """
    play(tmp_path, script, 3, backend)


def test_a_shared_package_may_import_a_namespace_package(
    tmp_path: Path, backend: Any, install: Install, capsys: Capture
) -> None:
    """Without a report, because a namespace has no values: matplotlib imports mpl_toolkits."""
    install({"plots/__init__.py": "import plots_kit.three\nseen = []\n", "plots_kit/three/__init__.py": "seen = []\n"})
    play(tmp_path, "import plots\nassert len(set(comm.allgather(id(plots.seen)))) == 1\n", 2, backend)
    assert capsys.readouterr().err == ""


def test_a_report_names_the_portion_of_a_namespace_package_that_can_be_chosen(
    tmp_path: Path, backend: Any, install: Install, capsys: Capture
) -> None:
    """Not the namespace; the advice works."""
    install(
        {
            "spaced/own/__init__.py": "import mpi4py\n",
            "spaced/common/__init__.py": "seen = []\n",
            "plotter.py": "import sys\ndef late():\n    __import__('spaced.own')\n",
            "space_user.py": "import plotter; plotter.late()\nseen = []\n",
        }
    )
    (tmp_path / "work.py").write_text("from mpi4py import MPI\nimport space_user, spaced.common\n")
    fakempi.run(Program([str(tmp_path / "work.py")]), 2, backend=backend)
    report = capsys.readouterr().err
    assert "it imports spaced.own, of which" in report
    assert "--share spaced.own " in report
    for name in ("spaced.own", "spaced"):
        fakempi.run(Program([str(tmp_path / "work.py")], share=[name]), 2, backend=backend)
        assert capsys.readouterr().err == ""


def test_a_namespace_package_in_another_one(tmp_path: Path, backend: Any, install: Install) -> None:
    """An import is scanned before the packages without files that contain it are imported (as opentelemetry.util.types)."""
    install({
        "outer/inner/own/__init__.py": COMM + "rank = comm.rank\n", "outer/inner/common.py": "seen = []\n",
        "user/__init__.py": "from outer.inner.own import rank\nfrom outer.inner import common\n",
    })  # fmt: skip
    script = """
    import user
    assert user.rank == comm.rank and len(set(comm.allgather(id(user.common)))) == 1
    """
    play(tmp_path, script, 3, backend)


def test_data_files_and_reloading_work(tmp_path: Path, backend: Any, install: Install) -> None:
    """Resources are read next to the package; a reloaded module is read again."""
    site = install(KIT)
    script = f"""
    import importlib, importlib.resources, inspect, kit.late, pkgutil, pathlib
    assert (importlib.resources.files("kit.data") / "words.txt").read_text() == "hello"
    assert pkgutil.get_data("kit", "data/words.txt") == b"hello" and "rank" in inspect.getsource(kit)
    kit.late.get()
    comm.Barrier()
    if comm.rank == 1:
        pathlib.Path({str(site / "kit" / "late.py")!r}).write_text("new_value = 'as it is now'")
    comm.Barrier()
    before = kit.late
    if comm.rank:
        assert importlib.reload(kit.late) is before and before.new_value
    assert hasattr(before, "new_value") == bool(comm.rank)
    """
    play(tmp_path, script, 3, backend)


def test_a_package_that_was_imported_before_is_imported_again(tmp_path: Path, backend: Any, install: Install) -> None:
    """The caller keeps its modules, before and after."""
    install({"early.py": "try: import mpi4py\nexcept ImportError: pass\nseen = []\n", "calm.py": "seen = []\n"})
    early, calm = importlib.import_module("early"), importlib.import_module("calm")
    script = """
    import early, calm
    early.seen.append(comm.rank)
    calm.seen.append(0)
    comm.Barrier()
    assert early.seen == [comm.rank]
    """
    play(tmp_path, script, 3, backend)
    assert early.seen == []
    assert calm.seen == [0, 0, 0]
    assert sys.modules["early"] is early


def test_the_user_can_choose(tmp_path: Path, backend: Any, install: Install, capsys: Capture) -> None:
    """`share` and `private`, by name, instead of the default."""
    install({"calm.py": "seen = []\n", "kept.py": "import mpi4py\nseen = []\n", "space/part.py": "seen = []\n"})
    (tmp_path / "mine.py").write_text("seen = []\n")
    text = "from mpi4py import MPI\nimport calm, kept, mine, space.part\n" + "comm = MPI.COMM_WORLD\n"
    text += "modules = calm, kept, mine, space.part\nfor module in modules: module.seen.append(comm.rank)\n"
    (tmp_path / "work.py").write_text(text + "comm.Barrier()\nprint([len(module.seen) for module in modules])\n")
    for share, private, lengths in (((), (), [3, 1, 1, 3]), (("kept", "mine"), ("calm", "space.part"), [1, 3, 3, 1])):
        fakempi.run(Program([str(tmp_path / "work.py")], share=share, private=private), 3, backend=backend)
        assert capsys.readouterr().out.splitlines() == [str(lengths)] * 3


def test_the_user_can_choose_all_portions_of_a_namespace_package(
    tmp_path: Path, backend: Any, install: Install, capsys: Capture
) -> None:
    """By its name."""
    install({"spacious/own/__init__.py": "import mpi4py\nseen = []\n", "spacious/common.py": "seen = []\n"})
    text = COMM + "import spacious.own as own, spacious.common as common\nfor module in own, common: module.seen.append(1)\n"
    (tmp_path / "work.py").write_text(text + "comm.Barrier()\nprint(len(own.seen), len(common.seen))\n")
    for share, private, lengths in (((), ("spacious",), "1 1"), (("spacious",), (), "3 3")):
        fakempi.run(Program([str(tmp_path / "work.py")], share=share, private=private), 3, backend=backend)
        assert capsys.readouterr().out.splitlines() == [lengths] * 3


@pytest.mark.parametrize(
    ("share", "private", "words"),
    [
        ([], ["nowhere"], "^program: private nowhere: there is no such package or module.$"),
        (["kit.tools"], [], "^program: share kit.tools: choose the whole package kit instead.$"),
        ([], ["numpy"], "^program: private numpy: all ranks share it, because the emulator depends on it.$"),
        (["kit"], ["kit"], "^program: private kit: it is also in share.$"),
        (["kit.data.none"], [], "^program: share kit.data.none: choose the whole package kit instead.$"),
    ],
)
def test_invalid_choices_are_rejected(install: Install, share: list[str], private: list[str], words: str) -> None:
    """Before the run starts."""
    install(KIT)
    with pytest.raises(ValueError, match=words):
        Program(["-c", "pass"], share=share, private=private)


SOURCE = """
#include <Python.h>
static PyObject *module, *kept;
static PyObject *keep(PyObject *self, PyObject *value) { Py_XSETREF(kept, Py_NewRef(value)); return Py_NewRef(kept); }
static PyMethodDef methods[] = {{"keep", keep, METH_O, ""}, {NULL}};
static int setup(PyObject *self) {
    PyObject *mpi = PyImport_ImportModule("mpi4py.MPI"), *world = mpi ? PyObject_GetAttrString(mpi, "COMM_WORLD") : NULL;
    if (!world) return -1;
#ifdef ASK
    PyObject *rank = PyObject_GetAttrString(world, "rank");
    if (!rank) return -1;
#endif
    return PyModule_AddObject(self, "world", world);
}
static PyModuleDef_Slot slots[] = {{Py_mod_exec, setup}, {0, NULL}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "NAME", "", 0, methods, slots};
const char *mark = MARK;
PyMODINIT_FUNC PyInit_NAME(void) { return PyModuleDef_Init(&definition); }
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three compiled modules: one binds COMM_WORLD, one calls Get_rank, one calls an MPI library."""
    directory = tmp_path_factory.mktemp("compiled")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        pytest.skip("there is no C compiler, or no Python.h: apt-get install gcc python3-dev")
    for name, ask, mark in (("fast", "", ""), ("asks", "#define ASK", ""), ("linked", "", "MPI_Comm_rank")):
        source = directory / f"{name}.c"
        source.write_text(ask + SOURCE.replace("NAME", name).replace("MARK", f'"{mark}"'))
        target = directory / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        flags = ["-O0", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}"]
        if sys.platform == "darwin":
            flags += ["-undefined", "dynamic_lookup"]
        subprocess.run([compiler, *flags, str(source), "-o", str(target)], check=True, timeout=270)
    return directory


def installed_compiled(compiled: Path, install: Install, name: str) -> None:
    """A package around a compiled module."""
    site = install({"wrap/__init__.py": COMM + f"from . import {name} as fast\nrank = comm.rank\n"})
    for file in compiled.glob(f"{name}.*"):
        shutil.copy(file, site / "wrap")


@pytest.mark.quick(1)
def test_a_package_with_compiled_modules_is_shared_by_default(
    tmp_path: Path, backend: Any, install: Install, compiled: Path
) -> None:
    """It calls Get_rank when it is imported, which is rejected; `private` gives each rank its Python modules."""
    installed_compiled(compiled, install, "fast")
    script = """
    import wrap, wrap.fast
    assert len(set(comm.allgather(id(wrap.fast)))) == 1 and len(set(comm.allgather(id(wrap)))) == comm.size
    assert wrap.rank == comm.rank == wrap.fast.world.rank and wrap.fast.keep(1) == 1
    """
    with pytest.raises(fakempi.RankError) as failure:
        play(tmp_path, script, 3, backend)
    assert str(failure.value.__cause__).startswith("import of wrap: all ranks share this package, and it queries its rank")
    fakempi.run(Program([str(tmp_path / "work.py")], private=["wrap"]), 3, backend=backend)


def test_a_package_with_compiled_modules_that_only_keeps_a_communicator_is_shared(
    tmp_path: Path, backend: Any, install: Install, compiled: Path
) -> None:
    """Python and compiled modules are the same objects on all ranks, and their communicator is the running rank's."""
    site = install({"wrap/__init__.py": COMM + "from . import fast\ndef where(): return comm.rank\n"})
    for file in compiled.glob("fast.*"):
        shutil.copy(file, site / "wrap")
    script = """
    import wrap
    assert len(set(comm.allgather(id(wrap)))) == len(set(comm.allgather(id(wrap.fast)))) == 1
    assert wrap.where() == wrap.fast.world.rank == comm.rank
    """
    play(tmp_path, script, 3, backend)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("asks", "import of wrap.asks: all ranks share this extension module, and it queries its rank or calls MPI while it "
                 "is imported: all ranks would use the result of the first rank. Use the option --processes to run each "
                 "rank in a process, or accept it with the option --share wrap"),
        ("linked", "wrap.linked is compiled for an MPI library, which cannot communicate with the ranks of this run. If "
                   "the module works without MPI, load it with the option --share wrap"),
    ],
)  # fmt: skip
def test_compiled_modules_that_would_store_the_result_of_one_rank_are_rejected(
    tmp_path: Path, backend: Any, install: Install, compiled: Path, name: str, words: str
) -> None:
    """As far as that can be detected; `share` overrides the check."""
    installed_compiled(compiled, install, name)
    with pytest.raises(fakempi.RankError, match="rank 0 failed") as failure:
        play(tmp_path, "import wrap", 3, backend)
    assert words in str(failure.value.__cause__)
    fakempi.run(Program([str(tmp_path / "work.py")], share=["wrap"]), 2, backend=backend)


def test_a_package_that_is_shared_by_choice_uses_the_running_rank(tmp_path: Path, backend: Any, install: Install) -> None:
    """A package that binds COMM_WORLD once, when it is imported, has the communicator of the calling rank."""
    install({"common.py": COMM + "seen = []\ndef later():\n    return MPI.COMM_WORLD.rank\n"})
    script = """
    from mpi4py import MPI
    import common
    comm = MPI.COMM_WORLD
    common.seen.append(comm.rank)
    comm.Barrier()
    assert sorted(common.seen) == list(range(comm.size))
    assert common.comm.Get_rank() == common.later() == comm.rank and common.comm == comm
    """
    (tmp_path / "work.py").write_text(dedent(script))
    fakempi.run(Program([str(tmp_path / "work.py")], share=["common"]), 3, backend=backend)
