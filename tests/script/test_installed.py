"""Installed packages: those that lead to mpi4py are each rank's own, all others are shared."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

import fakempi
from fakempi.script import program
from tests.script.harness import COMM, Capture, play

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
    """Writes packages to where pip would. After the test none of them is loaded any more."""
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


def test_what_measures_a_process_is_each_ranks_own(tmp_path: Path, carrier: str, install: Install) -> None:
    """Coverage that `-m pytest --cov` starts on every rank, each of which stops its own."""
    install({"coverage/__init__.py": "running = []\n"})
    script = """
    import coverage
    coverage.running.append(comm.rank)
    comm.Barrier()
    assert coverage.running.pop() == comm.rank
    """
    assert play(tmp_path, script, 2, carrier).returns == [0, 0]


def test_what_a_package_asks_when_it_is_imported_is_the_ranks_own(tmp_path: Path, carrier: str, install: Install) -> None:
    """Its rank at the top, a duplicate and a split, in submodules, by relative imports and by name."""
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
    play(tmp_path, script, 4, carrier)


def test_packages_that_import_such_packages_are_the_ranks_own_too(tmp_path: Path, carrier: str, install: Install) -> None:
    """Over any number of steps, also in circles; but not those that do so only when a function is called."""
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
    play(tmp_path, script, 3, carrier)


@pytest.mark.parametrize("how", ["import_module('mpi4py.MPI')", "__import__('mpi4py.MPI').MPI"])
def test_an_import_by_a_call_counts(tmp_path: Path, carrier: str, install: Install, how: str) -> None:
    """In a function too, whose answer the package keeps."""
    keep = f"kept or kept.append({how}.COMM_WORLD.rank)"
    install({"caller.py": f"from importlib import import_module\nkept = []\ndef rank():\n    {keep}\n    return kept[0]"})
    script = "import caller\nassert caller.rank() == comm.rank\ncomm.Barrier()\nassert caller.rank() == comm.rank"
    play(tmp_path, script, 3, carrier)


def test_everything_else_is_shared(tmp_path: Path, carrier: str, install: Install) -> None:
    """A package that has nothing to do with MPI, numpy, rich and the standard library are the same objects on all ranks."""
    install({"plain/__init__.py": "# as in mpi4py\nclass Thing: pass\n", "plain/part.py": "", **KIT})
    script = """
    import json, kit, numpy, rich.text, plain.part, collections
    ids = [id(module) for module in (json, numpy, rich, rich.text, plain, plain.part)]
    assert all(each == ids for each in comm.allgather(ids)) and len(set(comm.allgather(id(kit)))) == comm.size
    """
    play(tmp_path, script, 3, carrier)


def test_classes_of_private_and_shared_modules_go_together(tmp_path: Path, carrier: str, install: Install) -> None:
    """Objects arrive as the receiver's class; a shared base is the same for all."""
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
    play(tmp_path, script, 3, carrier)


def test_a_namespace_may_have_both_kinds(tmp_path: Path, carrier: str, install: Install) -> None:
    """Portions of a package without files are private or shared each for itself."""
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
    play(tmp_path, script, 3, carrier)


def test_data_files_and_reloading_work(tmp_path: Path, carrier: str, install: Install) -> None:
    """Resources are read beside the package; what is loaded again is read again."""
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
    play(tmp_path, script, 3, carrier)


def test_a_package_that_was_loaded_before_is_loaded_anew(tmp_path: Path, carrier: str, install: Install) -> None:
    """The caller has its own, before and after, whatever it is."""
    install({"early.py": "def f(): import mpi4py\nseen = []\n", "calm.py": "seen = []\n"})
    early, calm = importlib.import_module("early"), importlib.import_module("calm")
    script = """
    import early, calm
    early.seen.append(comm.rank)
    calm.seen.append(0)
    comm.Barrier()
    assert early.seen == [comm.rank]
    """
    play(tmp_path, script, 3, carrier)
    assert early.seen == []
    assert calm.seen == [0, 0, 0]
    assert sys.modules["early"] is early


def test_one_can_choose(tmp_path: Path, carrier: str, install: Install, capsys: Capture) -> None:
    """`share` and `private`, by name, in place of what is found."""
    install({"calm.py": "seen = []\n", "kept.py": "import mpi4py\nseen = []\n", "space/part.py": "seen = []\n"})
    (tmp_path / "mine.py").write_text("seen = []\n")
    text = "from mpi4py import MPI\nimport calm, kept, mine, space.part\n" + "comm = MPI.COMM_WORLD\n"
    text += "modules = calm, kept, mine, space.part\nfor module in modules: module.seen.append(comm.rank)\n"
    (tmp_path / "work.py").write_text(text + "comm.Barrier()\nprint([len(module.seen) for module in modules])\n")
    for share, private, lengths in (((), (), [3, 1, 1, 3]), (("kept", "mine"), ("calm", "space.part"), [1, 3, 3, 1])):
        fakempi.run(program([str(tmp_path / "work.py")], share=share, private=private), 3, carrier=carrier)
        assert capsys.readouterr().out.splitlines() == [str(lengths)] * 3


@pytest.mark.parametrize(
    ("share", "private", "words"),
    [
        ([], ["nowhere"], "^program: private nowhere: there is no such package or module.$"),
        (["kit.tools"], [], "^program: share kit.tools: kit is private or shared as a whole.$"),
        ([], ["numpy"], "^program: private numpy: the emulator itself needs it, and all ranks share it.$"),
        (["kit"], ["kit"], "^program: private kit: it is to be shared, too.$"),
    ],
)
def test_what_cannot_be_chosen_is_refused(install: Install, share: list[str], private: list[str], words: str) -> None:
    """Before anything starts."""
    install(KIT)
    with pytest.raises(ValueError, match=words):
        program(["-c", "pass"], share=share, private=private)


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
    """Three compiled modules: one binds COMM_WORLD, one asks for its rank, one calls an MPI library."""
    folder = tmp_path_factory.mktemp("compiled")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        pytest.skip("nothing to compile with")
    for name, ask, mark in (("fast", "", ""), ("asks", "#define ASK", ""), ("linked", "", "MPI_Comm_rank")):
        source = folder / f"{name}.c"
        source.write_text(ask + SOURCE.replace("NAME", name).replace("MARK", f'"{mark}"'))
        target = folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        flags = ["-O0", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}"]
        if sys.platform == "darwin":
            flags += ["-undefined", "dynamic_lookup"]
        subprocess.run([compiler, *flags, str(source), "-o", str(target)], check=True)
    return folder


def installed_compiled(compiled: Path, install: Install, name: str) -> None:
    """A package around a compiled module."""
    site = install({"wrap/__init__.py": COMM + f"from . import {name} as fast\nrank = comm.rank\n"})
    for file in compiled.glob(f"{name}.*"):
        shutil.copy(file, site / "wrap")


def test_compiled_modules_are_shared_in_packages_that_are_not(
    tmp_path: Path, carrier: str, install: Install, compiled: Path
) -> None:
    """One module for all ranks, an attribute of each rank's package; the handle that it has serves every rank."""
    installed_compiled(compiled, install, "fast")
    script = """
    import wrap, wrap.fast
    assert len(set(comm.allgather(id(wrap.fast)))) == 1 and len(set(comm.allgather(id(wrap)))) == comm.size
    assert wrap.rank == comm.rank == wrap.fast.world.rank and wrap.fast.keep(1) == 1
    """
    play(tmp_path, script, 3, carrier)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("asks", "import of wrap.asks: it is compiled, so all ranks share it, and it asks for its rank or calls MPI while "
                 "it is imported: the answer would be the first rank's on all. If it may be: fakempi run --share wrap."),
        ("linked", "wrap.linked is compiled for an MPI library, which knows nothing of the ranks of this run. If it can do "
                   "without: fakempi run --share wrap."),
    ],
)  # fmt: skip
def test_compiled_modules_that_would_have_one_ranks_answers_are_refused(
    tmp_path: Path, carrier: str, install: Install, compiled: Path, name: str, words: str
) -> None:
    """As far as that can be noticed; whoever knows better says so."""
    installed_compiled(compiled, install, name)
    with pytest.raises(fakempi.RankError, match="rank 0 failed") as failure:
        play(tmp_path, "import wrap", 3, carrier)
    assert words in str(failure.value.__cause__)
    fakempi.run(program([str(tmp_path / "work.py")], share=["wrap"]), 2, carrier=carrier)


def test_a_package_that_is_shared_by_choice_follows_the_running_rank(
    tmp_path: Path, carrier: str, install: Install
) -> None:
    """One that binds COMM_WORLD when it is imported, once, has the communicator of whoever calls it."""
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
    fakempi.run(program([str(tmp_path / "work.py")], share=["common"]), 3, carrier=carrier)
