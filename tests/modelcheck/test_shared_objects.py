"""Python objects that ranks share: if one changes, the search omits nothing and is not reported as exhausted."""

import builtins
import os
import random
import string
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.apps.cli import main as cli

ANY = MPI.ANY_SOURCE
ORDER: list[int] = []
COUNT = 0
FACTOR = 3
TABLE = {"a": (1, 2)}
FIELD = np.zeros(4)
DRAWN = random.Random(0)


class Board:
    """A class whose attribute all ranks can set."""

    last: ClassVar[int] = 0
    notes: ClassVar[dict[int, int]] = {}


def both_receive(comm: Any, put: Any, get: Any) -> None:
    """Ranks 0 and 1 each receive two messages in any order; rank 1 fails if rank 0 had finished with the second sender
    before.

    The choices of the two ranks are independent with respect to MPI, so a reduced search tries one order of them.
    """
    if comm.rank < 2:
        last = [comm.recv(source=ANY) for _ in range(2)][-1]
        if comm.rank == 0:
            put(last)
        else:
            assert get() != 2 or last != 2
    else:
        comm.isend(comm.rank, 0)
        comm.isend(comm.rank, 1)


def finds_failure(main: Any, *args: Any, **options: Any) -> bool:
    """Whether a search finds the failure; if not, it must not be exhausted."""
    found = fakempi.explore(main, 4, *args, buffering="infinite", strict=False, runs=400, **options)
    assert not found.exhausted, found
    assert any("share" in word for word in found.limits), found.limits
    return bool(found.failures)


def global_list(comm: Any) -> None:
    """A list that a helper function uses."""
    ORDER.clear() if comm.rank == 0 else None
    both_receive(comm, lambda last: ORDER.append(last), lambda: ORDER[-1] if ORDER else 0)


def write(last: int) -> None:
    """Rebind a global variable."""
    global COUNT
    COUNT = last


def read() -> int:
    """Return it, and reset it."""
    return COUNT


def global_variable(comm: Any) -> None:
    """Used only in functions that are called."""
    if comm.rank == 0:
        write(0)
    both_receive(comm, write, read)


def class_attribute(comm: Any) -> None:
    """Set on the class."""
    if comm.rank == 0:
        Board.last = 0
    both_receive(comm, lambda last: setattr(Board, "last", last), lambda: Board.last)


def default_argument(comm: Any, memory: Any = np.zeros(1, int)) -> None:  # noqa: B008
    """An array."""
    if comm.rank == 0:
        memory[0] = 0
    both_receive(comm, lambda last: memory.__setitem__(0, last), lambda: memory[0])


def other_module(comm: Any) -> None:
    """A variable of a module that is imported in a function."""
    import state_of_a_program as state  # type: ignore[import-not-found]

    if comm.rank == 0:
        state.last = 0
    both_receive(comm, lambda last: setattr(state, "last", last), lambda: state.last)


def environment_variable(comm: Any) -> None:
    """Set by `os.environ`."""
    if comm.rank == 0:
        os.environ["LAST"] = "0"
    both_receive(comm, lambda last: os.environ.__setitem__("LAST", str(last)), lambda: int(os.environ["LAST"]))


def working_directory(comm: Any) -> None:
    """Changed by `os.chdir`."""
    if comm.rank == 0:
        os.chdir(os.environ["DIRECTORY"])
    both_receive(comm, lambda last: os.chdir(str(last)), lambda: int(os.path.basename(os.getcwd())))


SHARED = [global_list, global_variable, class_attribute, default_argument, other_module, environment_variable]


@pytest.mark.parametrize("main", [*SHARED, working_directory])
def test_communication_through_a_shared_object_is_found(
    main: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The failure shows in one order of independent choices only."""
    for last in "23":
        (tmp_path / "0" / last).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "0")
    monkeypatch.setenv("DIRECTORY", str(tmp_path / "0"))
    monkeypatch.setenv("LAST", "")
    module = ModuleType("state_of_a_program")
    module.last = 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert finds_failure(main)


def test_closures_and_arguments_are_shared_too() -> None:
    """Everything that the function can reach."""
    last = 0

    def closure(comm: Any) -> None:
        def put(value: int) -> None:
            nonlocal last
            last = value

        if comm.rank == 0:
            put(0)
        both_receive(comm, put, lambda: last)

    def argument(comm: Any, board: Any) -> None:
        if comm.rank == 0:
            board.clear()
        both_receive(comm, lambda value: board.update(last=value), lambda: board.get("last", 0))

    assert finds_failure(closure)
    assert finds_failure(argument, {})
    assert fakempi.explore(argument, 4, {}, buffering="infinite", strict=False, ignore_shared=True).exhausted


def test_a_shared_random_generator_counts_as_changed() -> None:
    """Of `random`, of numpy, or of the program."""

    def of_python(comm: Any) -> float:
        both_receive(comm, lambda last: None, lambda: 0)
        return random.random()

    def of_numpy(comm: Any) -> float:
        both_receive(comm, lambda last: None, lambda: 0)
        return float(np.random.rand())

    def of_the_program(comm: Any) -> float:
        both_receive(comm, lambda last: None, lambda: 0)
        return DRAWN.random()

    for main in (of_python, of_numpy, of_the_program):
        finds_failure(main)


def test_objects_that_cannot_be_compared_count_as_changed() -> None:
    """The verdict names the reason."""
    tickets = iter(range(10**9))

    def main(comm: Any) -> int:
        both_receive(comm, lambda last: None, lambda: 0)
        return next(tickets)

    found = fakempi.explore(main, 4, buffering="infinite", strict=False, runs=30)
    words = "ranks share Python objects that change (an iterator (range_iterator)); the order of changes is not explored"
    assert words in found.limits


def scale(values: Any) -> Any:
    """Local functions, constants, numpy and MPI: nothing changes."""
    return FACTOR * np.asarray(values) + TABLE["a"][0] + FIELD[0]


def typical(comm: Any, factor: int = 2) -> float:
    """A rank of an ordinary test."""
    rng = np.random.default_rng(comm.rank)
    if comm.rank:
        comm.send(scale([comm.rank] * factor), 0)
        return float(rng.random())
    return float(sum(comm.recv(source=ANY).sum() for _ in range(comm.size - 1)))


def test_an_ordinary_program_keeps_the_reductions() -> None:
    """Constants, tables and arrays that do not change do not count."""
    found = fakempi.explore(typical, 4, 3, buffering="infinite")
    assert (found.exhausted, found.failures, found.limits) == (True, [], [])
    full = fakempi.explore(typical, 4, 3, buffering="infinite", reduce=False)
    assert found.runs + found.ended_early <= full.runs


def test_both_groups_cost_their_sum_if_nothing_is_shared() -> None:
    """The same program without the shared object: two orders each, in three runs."""

    def main(comm: Any) -> None:
        both_receive(comm, lambda last: None, lambda: 0)

    found = fakempi.explore(main, 4, buffering="infinite", strict=False)
    assert (found.exhausted, found.runs) == (True, 3)


def noticed(main: Any, reason: str) -> bool:
    """Whether a search without choices notices that ranks share an object, names it, and is not exhausted."""
    found = fakempi.explore(main, 2, strict=False)
    (limit,) = found.limits
    return not found.exhausted and limit.startswith("ranks share Python objects that change (") and reason in limit


def test_changes_that_are_undone_before_the_next_choice_are_noticed() -> None:
    """A rank waits while the object is changed, and restores it before the run ends."""

    def main(comm: Any) -> int:
        if comm.rank == 0:
            write(1)
            comm.Barrier()
            write(0)
        else:
            seen = read()
            comm.Barrier()
            return seen
        return 0

    write(0)
    assert noticed(main, "write")


def test_names_in_builtins_and_in_the_standard_library_are_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ranks of scripts share only names in dictionaries. Imports add submodules, which do not count."""

    def of(module: ModuleType) -> Any:
        def main(comm: Any) -> None:
            if comm.rank == 0:
                module.shared_by_ranks = 1  # type: ignore[attr-defined]
            comm.Barrier()
            if comm.rank == 0:
                del module.shared_by_ranks

        return main

    for module in (builtins, string):
        assert noticed(of(module), f"{module.__name__}.shared_by_ranks")

    def imports(comm: Any) -> None:
        import xml.dom.minidom  # noqa: F401

        comm.Barrier()

    for name in [name for name in sys.modules if name.startswith("xml")]:
        monkeypatch.delitem(sys.modules, name)
    assert fakempi.explore(imports, 2).exhausted
    script = tmp_path / "script.py"
    for name in ("builtins", "string"):
        text = f"import {name}\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\n{name}.rank = comm.rank\ncomm.Barrier()\n"
        script.write_text(text)
        assert cli(["check", "-n", "2", str(script)]) == 0
        assert "share" not in capsys.readouterr().out
    script.write_text("import string\nfrom mpi4py import MPI\nvars(string)['rank'] = MPI.COMM_WORLD.rank\n")
    try:
        assert cli(["check", "-n", "2", str(script)]) == 4
    finally:
        del string.rank  # type: ignore[attr-defined]  # the script has added it
    assert "ranks share Python objects that change (string.rank)" in capsys.readouterr().out
