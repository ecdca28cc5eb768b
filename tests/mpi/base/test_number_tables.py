"""Keys, error codes and handles belong to the run in which a program numbers them."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI

MODULE = "imported_by_a_rank"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module that creates a key, a class and a code when it is imported."""
    lines = ["from fakempi import MPI", "KEY = MPI.Comm.Create_keyval()", "CLASS = MPI.Add_error_class()"]
    lines += ["CODE = MPI.Add_error_code(CLASS)", "MPI.Add_error_string(CODE, 'from a module')"]
    (tmp_path / f"{MODULE}.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield MODULE
    sys.modules.pop(MODULE, None)


def numbers(comm: Any) -> list[int]:
    """New numbers of each kind."""
    errorclass = MPI.Add_error_class()
    keyvals = [kind.Create_keyval() for kind in (MPI.Comm, MPI.Datatype, MPI.Win)]
    handles = [each.py2f() for each in (comm, MPI.INT, comm.Dup(), MPI.Info.Create())]
    return [errorclass, MPI.Add_error_code(errorclass), comm.Get_attr(MPI.LASTUSEDCODE), *keyvals, *handles]


def test_each_run_has_the_same_numbers(backend: Any) -> None:
    """Also when code outside runs creates and removes others in between."""
    first = fakempi.run(numbers, 3, backend=backend).returns
    assert len({number for row in first for number in row}) > 3 * 6
    for _ in range(3):
        MPI.Comm.Free_keyval(MPI.Comm.Create_keyval())
        MPI.Remove_error_class(MPI.Add_error_class())
        MPI.Info.Create().py2f()
        assert fakempi.run(numbers, 3, backend=backend).returns == first


def test_each_explored_schedule_has_the_same_numbers() -> None:
    """Keys in the results do not differ between schedules."""

    def main(comm: Any) -> Any:
        if comm.rank:
            comm.send(None, 0)
        else:
            comm.recv()
            comm.recv()
        return MPI.Comm.Create_keyval() if comm.rank == 0 else None

    result = fakempi.explore(main, 3, compare="returns", strict=False)
    assert result.exhausted
    assert result.runs > 1
    assert result.failures == []


def test_keys_and_codes_that_are_older_than_a_run_are_valid_in_it(backend: Any) -> None:
    """A module that creates them is imported once. A run frees them for itself only."""
    keyval, errorclass = MPI.Comm.Create_keyval(), MPI.Add_error_class()
    MPI.Add_error_string(errorclass, "old")

    def main(comm: Any) -> Any:
        new = MPI.Comm.Create_keyval(), MPI.Add_error_class()
        assert not {keyval, errorclass} & set(new)
        comm.Set_attr(keyval, comm.rank)
        seen = comm.Get_attr(keyval), MPI.Get_error_string(errorclass)
        comm.Delete_attr(keyval)
        comm.Barrier()
        if comm.rank == 0:
            MPI.Comm.Free_keyval(keyval)
            MPI.Remove_error_string(errorclass)
            MPI.Remove_error_class(errorclass)
        return seen

    for _ in range(2):
        assert fakempi.run(main, 2, backend=backend).returns == [(0, "old"), (1, "old")]
    assert MPI.COMM_SELF.Get_attr(keyval) is None
    assert MPI.Get_error_string(errorclass) == "old"
    MPI.Comm.Free_keyval(keyval)
    MPI.Remove_error_string(errorclass)
    MPI.Remove_error_class(errorclass)


def test_keys_and_codes_of_a_run_are_unknown_after_it(backend: Any) -> None:
    """Their numbers are used again, and no value of an earlier run is seen under them."""
    datatype = MPI.INT.Dup()

    def main(comm: Any, value: str | None) -> Any:
        keyval = MPI.Datatype.Create_keyval(lambda *args: "copied", lambda *args: deleted.append(value))
        seen = datatype.Get_attr(keyval), datatype.Dup().Get_attr(keyval)
        if value is None:
            datatype.Delete_attr(keyval)
        else:
            datatype.Set_attr(keyval, value)
        return keyval, MPI.Add_error_class(), seen

    deleted: list[str | None] = []
    runs = [fakempi.run(main, 1, value, backend=backend).returns[0] for value in ("first", "second", None)]
    assert [run[2] for run in runs] == [(None, None)] * 3
    assert len({run[:2] for run in runs}) == 1
    assert deleted == []
    keyval, errorclass, _ = runs[0]
    with pytest.raises(MPI.Exception, match="there is no keyval"):
        datatype.Get_attr(keyval)
    assert MPI.Get_error_class(errorclass) == MPI.ERR_UNKNOWN


def test_an_exception_keeps_the_text_of_its_code(backend: Any) -> None:
    """Also after the run that has added the code."""

    def main(comm: Any) -> None:
        code = MPI.Add_error_code(MPI.ERR_IO)
        MPI.Add_error_string(code, "the disk is on fire")
        raise MPI.Exception(code)

    with pytest.raises(fakempi.RankError, match="the disk is on fire") as caught:
        fakempi.run(main, 1, backend=backend)
    error: Any = caught.value.exception
    assert (error.Get_error_class(), error.Get_error_string()) == (MPI.ERR_IO, "the disk is on fire")


def test_what_a_module_creates_when_a_rank_imports_it_is_kept(backend: Any, module: str) -> None:
    """Under the same numbers, since later runs do not import it again."""

    def main(comm: Any) -> Any:
        before = MPI.Comm.Create_keyval(), MPI.Add_error_class()
        imported = __import__(module)
        comm.Set_attr(imported.KEY, "value")
        assert comm.Get_attr(imported.KEY) == "value"
        after = MPI.Comm.Create_keyval(), MPI.Add_error_class()
        return before, after, imported.KEY, imported.CODE, MPI.Get_error_string(imported.CODE)

    runs = [fakempi.run(main, 2, backend=backend).returns for _ in range(3)]
    assert runs[1:] == runs[:1] * 2
    assert runs[0][0][4] == "from a module"
    assert MPI.Get_error_class(runs[0][0][3]) == sys.modules[module].CLASS
    MPI.Comm.Free_keyval(sys.modules[module].KEY)


def test_a_run_inside_a_run_continues_its_numbers(backend: Any) -> None:
    """Objects of the outer rank are valid inside; those of the inner run are not valid outside."""

    def main(comm: Any) -> Any:
        keyval, errorclass, handle = MPI.Comm.Create_keyval(), MPI.Add_error_class(), MPI.INT.py2f()

        def inner(inside: Any) -> Any:
            inside.Set_attr(keyval, "inside")
            MPI.Add_error_string(errorclass, "changed inside")
            assert MPI.Datatype.f2py(handle) == MPI.INT
            return inside.Get_attr(keyval), MPI.Comm.Create_keyval(), MPI.Add_error_class()

        (value, other, code), *_ = fakempi.run(inner, 2, backend=backend).returns
        assert value == "inside"
        assert (other, code) != (keyval, errorclass)
        assert (comm.Get_attr(keyval), MPI.Get_error_string(errorclass)) == (None, "")
        with pytest.raises(MPI.Exception, match="there is no keyval"):
            comm.Get_attr(other)
        return keyval, other, code

    first, *others = [fakempi.run(main, 1, backend=backend).returns for _ in range(2)]
    assert others == [first]


def test_the_code_of_a_program_is_freed(backend: Any) -> None:
    """Tables of call sites, of window accesses and of polling loops do not keep it."""
    text = """if True:
    def main(comm):
        comm.Barrier()
        window = MPI.Win.Create(bytearray(8), comm=comm)
        window.Fence()
        window.Put(bytearray(1), 0)
        window.Fence()
        window.Free()
        request = comm.Ibarrier()
        while not request.Test():
            pass
        comm.Send(bytearray(1), comm.rank, tag=window == 3)
    """
    names: dict[str, Any] = {"MPI": MPI, "__name__": "program"}
    exec(text, names)
    code = weakref.ref(names["main"].__code__)
    with pytest.raises(fakempi.DeadlockError, match="Send"):
        fakempi.run(names["main"], 2, backend=backend, cost=fakempi.Hockney(eager_limit=0))
    names.clear()
    gc.collect()
    assert code() is None
