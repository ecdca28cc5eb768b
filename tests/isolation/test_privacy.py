"""Which installed packages ranks share: privacy does not spread through packages that only mention mpi4py."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program
from fakempi.isolation.packages.dependency_scan import ImportGraph, Unit
from tests.isolation.harness import COMM, IN_PROCESSES, Capture, play
from tests.isolation.test_installed import Install, install

__all__ = ["install"]


def shared_on(tmp_path: Path, names: str, *, script: str = "", ranks: int = 2) -> dict[str, bool]:
    """Run a script that imports modules, and return for each whether all ranks have the same."""
    code = f"""
    {script}
    import sys, {names}
    found = {{name: len(set(comm.allgather(id(sys.modules[name])))) == 1 for name in "{names}".split(", ")}}
    import json, pathlib
    pathlib.Path(__file__).with_name("found.json").write_text(json.dumps(found))
    """
    play(tmp_path, code, ranks)
    found: dict[str, bool] = importlib.import_module("json").loads((tmp_path / "found.json").read_text())
    return found


def test_packages_that_only_mention_mpi4py_are_shared(tmp_path: Path, install: Install) -> None:
    """In a function, in an optional submodule, in a test, in a comment, or by testing whether it is installed."""
    install({
        "called.py": "def f():\n    from mpi4py import MPI\n    return MPI.COMM_WORLD.rank\n",
        "optional/__init__.py": "", "optional/mpi.py": COMM + "rank = comm.rank\n",
        "tested/__init__.py": "", "tested/tests/__init__.py": "", "tested/tests/test_it.py": "import mpi4py\n",
        "looking.py": "from importlib.util import find_spec\nhas = find_spec('mpi4py') is not None\n",
        "method.py": "class A:\n    def f(self):\n        import mpi4py\n        self.x = mpi4py\n",
        "user.py": "import called, optional, tested, looking, method\n",
        "binds.py": COMM + "rank = comm.rank\n", "caller.py": "def f():\n    import binds\n",
        "importer.py": "import binds\n",
        "cached.py": "from functools import cache\n@cache\ndef f():\n    import mpi4py.MPI as m\n    return m.COMM_SELF\n",
        "globals_.py": "kept = None\ndef f():\n    global kept\n    from mpi4py import MPI\n    kept = MPI\n",
        "item.py": "kept = {}\ndef f():\n    from mpi4py import MPI\n    kept['rank'] = MPI.COMM_WORLD.rank\n",
        "function.py": "def f():\n    from mpi4py import MPI\n    f.comm = MPI.COMM_WORLD\n",
        "class_.py": "class A:\n    kept = []\ndef f():\n    from mpi4py import MPI\n    A.kept.append(MPI.COMM_WORLD)\n",
    })  # fmt: skip
    shared = "called, optional, tested, looking, method, user, caller"
    private = "binds, importer, cached, globals_, item, function, class_"
    found = shared_on(tmp_path, f"{shared}, {private}")
    assert [name for name, one in found.items() if one] == shared.split(", ")


def test_coverage_does_not_make_its_importers_private(tmp_path: Path, install: Install) -> None:
    """Coverage is private to each rank, and packages that import it are shared as before."""
    install({"coverage/__init__.py": "running = []\n", "fast.py": "try:\n    import coverage\nexcept ImportError: pass\n",
             "frames.py": "import fast\n"})  # fmt: skip
    assert shared_on(tmp_path, "coverage, fast, frames") == {"coverage": False, "fast": True, "frames": True}


def test_privacy_does_not_pass_through_packages_with_compiled_modules(
    tmp_path: Path, install: Install, capsys: Capture
) -> None:
    """They are shared, and so are packages that import them. One that imports a private package is reported."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    install({"binds.py": COMM + "rank = comm.rank\n", "solid/__init__.py": "import binds\n", f"solid/core{suffix}": "",
             "above.py": "import solid\n"})  # fmt: skip
    assert shared_on(tmp_path, "above, solid, binds") == {"above": True, "solid": True, "binds": False}
    error = capsys.readouterr().err
    assert error.count("all ranks share the package solid, but it imports binds, of which each rank has a private copy") == 1


def test_an_import_of_a_submodule_anywhere_in_the_program_counts(tmp_path: Path, install: Install) -> None:
    """Later, in a function, or in a module next to the script: its package is private from the start."""
    files = {
        "kit/__init__.py": "",
        "kit/mpi.py": COMM + "rank = comm.rank\n",
        "kit/sub/__init__.py": "from ..mpi import rank\n",
    }
    install(files)
    for how in ("from kit import mpi", "import kit.mpi as mpi", "from kit.sub import rank", "import kit.sub.anything"):
        script = f"import kit\ndef later():\n    {how}\nassert len(set(comm.allgather(id(kit)))) == comm.size"
        play(tmp_path, script, 2)
    play(tmp_path, "import kit, helper\nassert helper.f() == comm.rank", 2, siblings={
        "helper.py": "def f():\n    import kit.mpi\n    return kit.mpi.rank\n"})  # fmt: skip


def test_a_shared_package_that_calls_get_rank_when_imported_is_rejected(tmp_path: Path, install: Install) -> None:
    """Also through a function of another module, and from an imported name; the message names both solutions."""
    install({
        "kit/__init__.py": "", "kit/tool.py": "from mpi4py import MPI\ndef rank(): return MPI.COMM_WORLD.Get_rank()\n",
        "kit/a.py": "from .tool import rank\nme = rank()\n",
        "kit/b.py": "from mpi4py.MPI import COMM_WORLD as c\nme = c.rank\n",
        "kit/c.py": "from mpi4py import MPI\ntwin = MPI.COMM_WORLD.Dup()\n",
        "kit/d.py": COMM + "def f(): return comm.rank\n",
    })  # fmt: skip
    for name in "abc":
        script = f"import importlib, kit\nimportlib.import_module('kit.' + {name!r})"
        with pytest.raises(fakempi.RankError) as failure:
            play(tmp_path, script, 2)
        assert str(failure.value.__cause__).endswith(
            "fakempi run --private kit gives each rank a private copy of its Python modules; "
            "--share kit accepts the result of one rank; --processes gives each rank a process."
        )
        fakempi.run(Program([str(tmp_path / "work.py")], private=["kit"]), 2)
        if name != "c":  # which all ranks have to execute
            fakempi.run(Program([str(tmp_path / "work.py")], share=["kit"]), 2)
    play(tmp_path, "import importlib, kit\nd = importlib.import_module('kit.d')\nassert d.f() == comm.rank", 2)


def test_a_shared_package_that_keeps_its_rank_in_a_global_variable_is_reported(
    tmp_path: Path, install: Install, capsys: Capture
) -> None:
    """With both solutions; not if it only uses the communicator."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    keeps = "def start():\n    global rank\n    from mpi4py import MPI\n    rank = MPI.COMM_WORLD.rank\n"
    uses = "def start():\n    from mpi4py import MPI\n    return MPI.COMM_WORLD.rank\n"
    install({"one/__init__.py": keeps, f"one/core{suffix}": "", "two/__init__.py": uses, f"two/core{suffix}": ""})
    play(tmp_path, "import one, two\none.start()\nassert two.start() == comm.rank", 3)
    error = capsys.readouterr().err
    assert error.count("all ranks share the package one, and one (__init__.py:4) sets a global variable") == 1
    assert "two" not in error


@pytest.mark.skipif(IN_PROCESSES, reason="each rank has its own modules")
def test_failures_that_may_come_from_sharing_a_package_are_explained(
    tmp_path: Path, install: Install, capsys: Capture
) -> None:
    """A package with compiled modules that uses mpi4py, or a name that ranks register twice; no other failure."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    add = (
        "kept = {}\ndef add(x):\n    if x in kept:\n        raise KeyError(f'{x} is already registered')\n    kept[x] = 1\n"
    )
    uses = "kept = {}\ndef start():\n    from mpi4py import MPI\n    kept[MPI.COMM_WORLD.rank, len(kept)]\n"
    install({"registry.py": add, "plain.py": "def fail():\n    raise ValueError('already negative')\n",
             "one/__init__.py": uses, f"one/core{suffix}": ""})  # fmt: skip

    def failure(script: str, ranks: int = 2) -> str:
        with pytest.raises(fakempi.RankError):
            play(tmp_path, script, ranks)
        return capsys.readouterr().err

    assert "the package one: it uses mpi4py and has compiled modules" in failure("comm.Barrier()\nimport one\none.start()")
    assert "the package registry: all ranks of this process share it" in failure("import registry\nregistry.add('x')")
    assert failure("import one\none.start()", 1) == ""
    assert failure("import registry, plain\nregistry.add(comm.rank)\ncomm.Barrier()\nraise KeyError('already')") == ""


def test_modules_that_a_custom_loader_makes_belong_to_their_package(tmp_path: Path, install: Install, backend: Any) -> None:
    """A package with a loader and no location, such as six.moves, is no namespace package; also in a private package."""
    maker = """
    import sys, types
    from importlib.machinery import ModuleSpec
    __path__ = []
    class Maker:
        def find_spec(self, name, path=None, target=None):
            return ModuleSpec(name, self, is_package=name.endswith(".moves")) if name.startswith(__name__ + ".") else None
        def create_module(self, spec):
            module = types.ModuleType(spec.name)
            module.range = range
            module.made = []
            return module
        def exec_module(self, module): pass
    sys.meta_path.append(Maker())
    """
    install({"sixth.py": maker, "vendor/__init__.py": "import mpi4py\n", "vendor/sixth.py": maker})
    script = """
    from sixth.moves import range as one
    from vendor.sixth.moves import range as two
    import sixth.moves.urllib, sixth.moves, vendor.sixth.moves
    assert one is two is range
    assert len(set(comm.allgather(id(sixth.moves)))) == 1 and len(set(comm.allgather(id(vendor.sixth.moves)))) == comm.size
    """
    play(tmp_path, script, 3, backend)


def test_zipped_lazy_and_editable_modules_are_imported(tmp_path: Path, install: Install, backend: Any) -> None:
    """From an archive, by a lazy loader, and by a finder that maps names to directories elsewhere."""
    import zipfile

    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        archive.writestr("zipped/__init__.py", COMM + "from .part import rank\n")
        archive.writestr("zipped/part.py", COMM + "rank = comm.rank\n")
    (tmp_path / "elsewhere" / "mapped").mkdir(parents=True)
    (tmp_path / "elsewhere" / "mapped" / "__init__.py").write_text(COMM + "rank = comm.rank\n")
    finder = f"""
    import sys
    from importlib.util import spec_from_file_location
    class Editable:
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            directory = {str(tmp_path / "elsewhere" / "mapped")!r}
            if name == "mapped":
                return spec_from_file_location(name, directory + "/__init__.py", submodule_search_locations=[directory])
    sys.meta_path.append(Editable)
    """
    install({"editable.py": finder, "slow.py": "value = 1\n"})
    script = f"""
    import sys, editable, importlib.util
    sys.path.append({str(tmp_path / "code.zip")!r})
    import zipped, mapped
    spec = importlib.util.find_spec("slow")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    slow = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(slow)
    assert zipped.rank == mapped.rank == comm.rank and slow.value == 1
    """
    play(tmp_path, script, 3, backend)


def graph(files: Mapping[str, str], tmp_path: Path, roots: tuple[str, ...]) -> set[str]:
    """The private modules among modules that are given as sources."""
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    units = {name: Unit(name, str(tmp_path / f"{name}.py")) for name in files}
    found = ImportGraph(lambda name: units.get(name.partition(".")[0]), lambda unit: None)
    found.add(roots)
    return {name for name in files if found.is_private(units[name], name)}


def test_private_modules_are_those_from_which_a_binding_one_is_reached(tmp_path: Path) -> None:
    """On random graphs of imports, with cycles, in any order of queries: compared with an exhaustive search."""
    import random

    for seed in range(60):
        draw = random.Random(seed)
        names = [f"m{seed}x{i}" for i in range(draw.randrange(1, 9))]
        edges = {name: draw.sample(names, draw.randrange(min(3, len(names)) + 1)) for name in names}
        binding = set(draw.sample(names, draw.randrange(2)))
        files = {
            name: "".join(f"import {other}\n" for other in edges[name])
            + ("import mpi4py\n" if name in binding else "def f():\n    import mpi4py\n")
            for name in names
        }
        expected = set(binding)
        while more := {name for name in names if name not in expected and expected & set(edges[name])}:
            expected |= more
        draw.shuffle(names)
        assert graph(dict(sorted(files.items())), tmp_path, tuple(names[: draw.randrange(3)])) == expected


@pytest.fixture(autouse=True)
def _meta_path() -> Iterator[None]:
    before = list(sys.meta_path)
    yield
    sys.meta_path[:] = before
    for name in [name for name in sys.modules if name.startswith(("sixth", "vendor"))]:
        del sys.modules[name]


def test_star_import_gives_the_names_of_mpi4py(tmp_path: Path, backend: Any) -> None:
    """All public names, including COMM_WORLD and COMM_SELF of the running rank, and no others."""
    script = """
    names = {}
    exec("from mpi4py.MPI import *", names)
    names.pop("__builtins__")
    from fakempi import MPI as ours
    assert set(names) == set(ours.__all__) and set(ours.__all__) <= set(dir(MPI))
    assert names["COMM_WORLD"].rank == comm.rank and names["COMM_SELF"].size == 1
    from mpi4py.MPI import *
    assert COMM_WORLD.allgather(COMM_WORLD.rank) == list(range(comm.size)) and COMM_SELF is MPI.COMM_SELF
    """
    play(tmp_path, script, 3, backend)


def test_ranks_wait_for_a_shared_module_that_another_rank_is_importing(
    tmp_path: Path, install: Install, backend: Any
) -> None:
    """The import lets other ranks run; no rank sees the module half-initialized, also in import cycles."""
    install({
        "slow.py": "import time\ntime.sleep(1)\nimport circle\ntime.sleep(1)\nvalue = 1\n",
        "circle.py": "import time\ntime.sleep(1)\nimport slow\nother = 2\n",
    })  # fmt: skip
    script = """
    import time
    time.sleep(0.5 * comm.rank)
    if comm.rank % 2:
        import slow
    import circle, slow
    assert slow.value == 1 and circle.other == 2
    """
    for ranks in (2, 3, 5):
        play(tmp_path, dedent(script), ranks, backend)
        for name in ("slow", "circle"):
            sys.modules.pop(name, None)


def test_ranks_are_not_switched_during_an_import(tmp_path: Path, install: Install, backend: Any) -> None:
    """A module that takes ten thousand locks while it is imported is not interrupted."""
    body = "import threading\nlock = threading.Lock()\nfor i in range(30000):\n    with lock: pass\nvalue = 1\n"
    install(
        {
            "locks.py": "import order\norder.seen.append('begin')\n" + body + "order.seen.append('end')\n",
            "order.py": "seen = []\n",
        }
    )
    script = """
    import time, order
    if comm.rank:
        order.seen.append(comm.rank)
    else:
        import locks
    comm.Barrier()
    assert order.seen.index("end") - order.seen.index("begin") == 1
    """
    play(tmp_path, script, 3, backend)


def test_each_rank_has_its_own_modules_that_the_program_makes(tmp_path: Path, backend: Any) -> None:
    """Another rank's module was imported, and an import that one rank had blocked failed on all."""
    script = """
    import importlib.machinery, importlib.util, os, sys, types

    path = os.path.join(os.path.dirname(__file__), f"settings{comm.rank}.txt")
    with open(path, "w") as file:
        file.write(f"rank = {comm.rank}")
    loader = importlib.machinery.SourceFileLoader("made_of_file", path)
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("made_of_file", loader))
    sys.modules[made.__name__] = made
    sys.modules["made_here"] = types.ModuleType("made_here")
    sys.modules["made_here"].rank = comm.rank
    if comm.rank == 1:
        sys.modules["wave"] = None
    comm.barrier()
    loader.exec_module(made)
    import made_here, made_of_file
    assert made_of_file is made and made_of_file.rank == made_here.rank == comm.rank
    try:
        import wave
        blocked = False
    except ImportError:
        blocked = True
    assert blocked == (comm.rank == 1)
    comm.barrier()
    del sys.modules["made_here"]
    assert "made_here" not in sys.modules
    """
    assert play(tmp_path, script, 3, backend).returns == [0, 0, 0]
