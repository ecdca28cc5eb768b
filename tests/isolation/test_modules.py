"""Every rank has its own `__main__` and its own copies of the script's modules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program
from tests.isolation.harness import COMM, Capture, play


def test_globals_of_the_script_are_private_to_each_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """A counter that every rank increments is separate on each rank, although all wait in between."""
    script = """
    count = 0
    def count_up():
        global count
        count += 1
        comm.Barrier()
    for _ in range(comm.rank + 1):
        count += 1
    count_up()
    print(comm.rank, count)
    """
    assert play(tmp_path, script, 4, backend).returns == [0] * 4
    assert sorted(capsys.readouterr().out.splitlines()) == ["0 2", "1 3", "2 4", "3 5"]


def test_modules_next_to_the_script_are_private_to_each_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """With packages and submodules, and the communicator that a module binds when it is imported."""
    script = """
    import state, kit.tools
    import kit.tools as tools
    state.seen.append(comm.rank)
    comm.Barrier()
    assert state.seen == [comm.rank] and state.comm.Get_rank() == comm.rank and tools.kit_rank() == comm.rank
    assert kit.tools is tools and tools.state is state
    print(id(state), id(tools))
    """
    siblings = {
        "state.py": "seen = []",
        "kit/__init__.py": "rank = comm.rank",
        "kit/tools.py": "import state\nfrom . import rank\nfrom kit import rank as r\ndef kit_rank(): return max(rank, r)",
    }
    play(tmp_path, script, 3, backend, siblings=siblings)
    assert len({tuple(line.split()) for line in capsys.readouterr().out.splitlines()}) == 3


def test_a_module_may_communicate_while_it_is_imported(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """By statement or by name: other ranks import their copies before the first import ends."""
    script = """
    import importlib
    import meeting
    other = importlib.import_module("kit.meeting")
    print(comm.rank, meeting.total, other.total)
    """
    text = "total = comm.allreduce(comm.rank)\ncomm.Barrier()\n"
    play(tmp_path, script, 4, backend, siblings={"meeting.py": text, "kit/__init__.py": text, "kit/meeting.py": text})
    assert sorted(capsys.readouterr().out.splitlines()) == [f"{rank} 6 6" for rank in range(4)]


def test_classes_of_the_script_are_pickled_by_reference(tmp_path: Path, backend: Any) -> None:
    """A received object has the receiver's class, not the sender's."""
    script = """
    from dataclasses import dataclass
    from enum import Enum
    from typing import get_type_hints, NamedTuple
    import shapes
    @dataclass
    class Point:
        x: "int"
    class Color(Enum):
        RED = 1
    class Pair(NamedTuple):
        a: int
    assert get_type_hints(Point) == {"x": int}
    for thing in (Point(3), Color.RED, Pair(1), shapes.Square(2)):
        got = comm.sendrecv(thing, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        assert type(got) is type(thing) and got == thing
    everybodys = comm.allgather(Point(comm.rank))
    assert all(type(point) is Point for point in everybodys)
    assert [point.x for point in everybodys] == list(range(comm.size))
    """
    square = "class Square:\n    def __init__(self, a): self.a = a\n    def __eq__(self, other): return self.a == other.a"
    play(tmp_path, script, 3, backend, siblings={"shapes.py": square})


def test_the_main_module_is_that_of_the_running_rank(tmp_path: Path, backend: Any) -> None:
    """Before and after waiting, and with the names that Python gives it."""
    script = """
    import sys, __main__
    mine = comm.rank
    for _ in range(3):
        assert sys.modules["__main__"] is __main__ and __main__.mine == comm.rank
        comm.Barrier()
    assert __name__ == "__main__" and __spec__ is None and __main__.__file__ == __file__ == sys.argv[0]
    """
    play(tmp_path, script, 3, backend)


def test_arguments_and_search_path_are_private_to_each_rank(tmp_path: Path, backend: Any) -> None:
    """As after `python work.py a b`."""
    script = """
    import os, sys
    assert sys.argv[1:] == ["a", "b"] and sys.path[0] == os.path.dirname(sys.argv[0])
    sys.argv.append(str(comm.rank))
    sys.path.append(f"/nowhere/{comm.rank}")
    comm.Barrier()
    assert sys.argv[3:] == [str(comm.rank)] and sys.path[-1] == f"/nowhere/{comm.rank}"
    sys.argv = ["new", comm.rank]
    comm.Barrier()
    assert sys.argv == ["new", comm.rank]
    """
    play(tmp_path, script, 3, backend, "a", "b")


def test_modules_other_than_sys_may_have_a_path(tmp_path: Path, backend: Any) -> None:
    """Importlib creates them by calling `type(sys)`; a submodule `path`, as in pytest, once replaced every rank's
    `sys.path`.
    """
    script = """
    import sys, kit.path, kit.argv, os
    made = type(sys)("made")
    made.path = 1
    assert type(kit) is type(made) is type(os) and isinstance(kit, type(sys)) and not isinstance(1, type(sys))
    assert isinstance(sys.path, list) and isinstance(sys.argv, list) and kit.path.rank == kit.argv.rank == comm.rank
    """
    siblings = {"kit/__init__.py": "", "kit/path.py": "rank = comm.rank", "kit/argv.py": "rank = comm.rank"}
    assert play(tmp_path, script, 2, backend, siblings=siblings).returns == [0, 0]


def test_attributes_of_sys_are_private_to_each_rank(tmp_path: Path, backend: Any) -> None:
    """Set, deleted, or replaced temporarily as tests do; modules can still be pickled."""
    script = """
    import pickle, runpy, sys
    from unittest import mock
    was, rank = list(sys.argv), comm.rank
    with mock.patch.object(sys, "argv", ["other", rank]), mock.patch.object(sys, "path", [*sys.path, str(rank)]):
        comm.Barrier()
        assert sys.argv == ["other", rank] and sys.path[-1] == str(rank)
    assert sys.argv == was and sys.path[-1] != str(rank)
    hook = lambda *what: None
    if rank:
        sys.excepthook = hook
    comm.Barrier()
    assert (sys.excepthook is hook) == bool(rank)
    del sys.argv
    comm.Barrier()
    assert not hasattr(sys, "argv")
    sys.argv = was
    assert pickle.loads(pickle.dumps(sys)) is sys
    main = sys.modules["__main__"]
    if rank == 1:
        sys.modules["__main__"] = mock.sentinel.main
    comm.Barrier()
    assert sys.modules["__main__"] is (mock.sentinel.main if rank == 1 else main)
    sys.modules["__main__"] = main
    """
    play(tmp_path, script, 3, backend)


def test_modules_that_are_loaded_and_removed_are_private_to_each_rank(tmp_path: Path, backend: Any) -> None:
    """Loaded at different times, removed, replaced by themselves, or not loaded because of an error."""
    script = """
    import importlib.util, sys
    for turn in range(comm.size + 1):
        if turn == comm.rank:
            import state, itself
            try:
                import broken
            except ZeroDivisionError:
                pass
            assert importlib.util.find_spec("later").name == "later"
        comm.Barrier()
        assert ("state" in sys.modules) == (turn >= comm.rank) == ("itself" in sys.modules)
        assert "broken" not in sys.modules and "later" not in sys.modules
    assert sys.modules["state"] is state and state.comm.rank == itself.rank == comm.rank
    del sys.modules["state"]
    comm.Barrier()
    assert "state" not in sys.modules
    import state as again, later
    comm.Barrier()
    assert again is sys.modules["state"] is not state and later.comm.rank == comm.rank
    """
    siblings = {
        "state.py": "", "broken.py": "1 / 0", "later.py": "",
        "itself.py": "import sys, types\nsys.modules[__name__] = types.SimpleNamespace(rank=comm.rank)",
    }  # fmt: skip
    play(tmp_path, script, 3, backend, siblings=siblings)


def test_a_module_is_run_by_name(tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """From the current directory, with its package imported, by relative imports; a package by its `__main__`."""
    package = tmp_path / "kit"
    package.mkdir()
    (package / "__init__.py").write_text(COMM + "rank = comm.bcast(comm.rank, root=comm.size - 1)\n")
    (package / "work.py").write_text("import sys\nfrom . import rank\nprint(__name__, __package__, rank, sys.argv[1:])\n")
    (package / "__main__.py").write_text("print('main', __package__)\n")
    monkeypatch.chdir(tmp_path)
    fakempi.run(Program(["-m", "kit.work", "x"]), 2, backend=backend)
    fakempi.run(Program(["-m", "kit"]), 1, backend=backend)
    fakempi.run(Program(["-m", "mpi4py", "kit/__main__.py"]), 1, backend=backend)
    fakempi.run(Program(["-c", "import sys; print(sys.argv)", "y"]), 1, backend=backend)
    lines = ["__main__ kit 1 ['x']"] * 2 + ["main kit", "main None", "['-c', 'y']"]
    assert capsys.readouterr().out.splitlines() == lines


def test_a_nonblocking_collective_has_the_modules_of_its_rank(tmp_path: Path, backend: Any) -> None:
    """A function of the script that a child task calls sees the rank's `__main__`."""
    script = """
    import sys
    import numpy as np
    seen = set()
    def add(a, b, datatype):
        import __main__
        seen.add(__main__.comm.rank)
        np.frombuffer(b, "i8")[:] += np.frombuffer(a, "i8")
    op = MPI.Op.Create(add, commute=True)
    x, y = np.array([comm.rank]), np.zeros(1, int)
    requests = [comm.Iallreduce(x, y, op=op)]
    comm.Barrier()
    MPI.Request.Waitall(requests)
    assert y[0] == 6 and seen == {comm.rank}
    """
    play(tmp_path, script, 4, backend)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["nowhere.py"], "^program: no such file: 'nowhere.py'.$"),
        (["-m"], "^program: -m must be followed by a module name.$"),
        ([], "^program: no such file: ''.$"),
    ],
)
def test_commands_that_cannot_be_run_are_rejected(command: list[str], words: str) -> None:
    """Before the run starts."""
    with pytest.raises(ValueError, match=words):
        Program(command)


def test_a_missing_module_ends_the_run(backend: Any) -> None:
    """With Python's message."""
    with pytest.raises(fakempi.RankError, match="No module named 'fakempi_nowhere'"):
        fakempi.run(Program(["-m", "fakempi_nowhere"]), 2, backend=backend)


def test_modules_stay_private_if_ranks_add_finders(tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as pytest's, which finds test modules first: a finder of one rank serves that rank, a shared one serves all."""
    script = """
    import sys
    from importlib.machinery import PathFinder
    class Mine:
        def __init__(self): self.rank = comm.rank
        def find_spec(self, name, path=None, target=None):
            if name == "state":
                assert self.rank == comm.rank
                return PathFinder.find_spec(name, path, target)
            return None
    sys.meta_path.insert(0, Mine())
    if comm.rank == 1:
        find = lambda self, name, path=None, target=None: None
        sys.meta_path.append(type("Single", (), {"__module__": "a_shared_package", "find_spec": find})())
    comm.Barrier()
    assert [type(finder).__name__ for finder in sys.meta_path].count("Single") == 1
    import state
    state.seen.append(comm.rank)
    comm.Barrier()
    assert state.seen == [comm.rank]
    """
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])  # the finder of the shared package stays after the run
    play(tmp_path, script, 3, backend, siblings={"state.py": "seen = []"})


REPLACED = """
    import importlib.util, string, sys, types
    from unittest import mock
    rank = comm.rank

    stub = sys.modules["stub"] = types.ModuleType("stub")
    comm.Barrier()
    stub.value = rank
    sys.modules.setdefault("other", types.ModuleType("other")).value = rank
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("made", None))
    sys.modules.update(made=made)
    made.value = rank
    if rank == 1:
        sys.modules["string"] = types.SimpleNamespace(replaced=True)
        sys.modules["mine"] = types.ModuleType("mine")
    with mock.patch.dict(sys.modules, stubbed=types.SimpleNamespace(value=rank)), mock.patch.dict("sys.modules", named=stub):
        comm.Barrier()
        import named, stubbed
        assert named is stub and stubbed.value == rank
        comm.Barrier()
    assert "stubbed" not in sys.modules and "named" not in sys.modules
    import made as made_again, other, stub as stub_again
    assert stub_again is stub and made_again is made and stub.value == other.value == made.value == rank
    assert ("mine" in sys.modules) == ("mine" in list(sys.modules)) == (rank == 1)
    before = string
    import string
    assert (string is before) == (rank != 1) and hasattr(string, "replaced") == (rank == 1)
    assert isinstance(sys.modules, dict) and sys.modules is sys.modules and dict(sys.modules) == sys.modules.copy()
    if rank == 2:
        del sys.modules["colorsys"]
        import colorsys
    comm.Barrier()
    assert (sys.modules["colorsys"] is not COLORS[0]) == (rank == 2)
"""


def test_a_module_that_a_rank_puts_into_the_table_of_modules_is_its_own(tmp_path: Path, backend: Any) -> None:
    """Programs replace packages by stubs, `del sys.modules[...]` imports a module again. The run restores the table."""
    import colorsys
    import string

    before = dict(sys.modules)
    play(tmp_path, REPLACED.replace("rank = comm", "import colorsys; COLORS = [colorsys]; comm.Barrier(); rank = comm", 1),
         3, backend)  # fmt: skip
    assert sys.modules["string"] is string
    assert sys.modules["colorsys"] is colorsys
    assert not {"stub", "other", "made", "mine", "stubbed", "named"} & sys.modules.keys() - before.keys()


def test_a_finder_that_the_program_defines_belongs_to_its_rank(tmp_path: Path) -> None:
    """Its modules are private, also if its loader assigns their attributes."""
    run = play(
        tmp_path,
        """
        import sys
        from importlib.machinery import ModuleSpec
        class Mine:
            def find_spec(self, name, path=None, target=None):
                return ModuleSpec(name, self) if name in ("generated", "later") else None
            def create_module(self, spec): return None
            def exec_module(self, module): module.value = comm.rank
        if comm.rank:
            sys.meta_path.insert(0, Mine())
        comm.Barrier()
        try:
            import generated
        except ImportError:
            assert comm.rank == 0
        else:
            comm.Get_size()
            assert generated.value == comm.rank
        own = comm.allgather(sum(type(finder) is Mine for finder in sys.meta_path))
        if comm.rank == 1:
            sys.meta_path.pop(0)
        comm.Barrier()
        try:
            import later
        except ImportError:
            assert comm.rank < 2
        sys.exit(own != [0, 1, 1])
        """,
        3,
    )
    assert run.returns == [0, 0, 0]
