"""Attributes of objects: keys, inheritance, deletion, and values per rank on objects that all ranks share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakempi.errors import MPIError, MPITypeError
from fakempi.errors.classes import ERR_ARG, ERR_COMM, ERR_KEYVAL, ERR_OTHER
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.attributes import Attributed
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.base.mpi_errors import mpi_error
from tests.helpers.runs import fails

NO_KEYVAL = "it was never created, was freed, or belongs to another run."

ALWAYS: Any = True  # accepted as a copy function, as by mpi4py, whose stubs do not mention it


class Comm(Attributed):
    """A stand-in for a communicator."""

    __slots__ = ("_attributes", "alive")

    def __init__(self) -> None:
        self._attributes = None
        self.alive = True

    def _check_alive(self) -> None:
        if not self.alive:
            raise mpi_error(ERR_COMM, "the communicator is null.")

    def _predefined_attr(self, keyval: int) -> Any:
        return {c.TAG_UB: 2**31 - 1, c.WTIME_IS_GLOBAL: True}.get(keyval)

    def dup(self) -> Comm:
        other = Comm()
        self._copy_attributes_to(other)
        return other

    def free(self) -> None:
        self._delete_attributes()
        self.alive = False


class Intracomm(Comm):
    """A subclass, which has the keys of communicators."""

    __slots__ = ()


class Datatype(Attributed):
    """A stand-in for a predefined datatype, which all ranks share."""

    __slots__ = ("_attributes",)
    _shared = True


@contextmanager
def running(number: int, attributes: dict[int, Any] | None = None) -> Iterator[SimpleNamespace]:
    """Simulate a running rank."""
    process = SimpleNamespace(number=number, name=f"rank {number}", attributes=attributes, universe=None)
    os_thread.loop = cast(Any, SimpleNamespace)(running=SimpleNamespace(owner=process))
    try:
        yield process
    finally:
        os_thread.loop = None


@pytest.fixture
def log() -> list[tuple[Any, ...]]:
    return []


@pytest.fixture
def keyval(log: list[tuple[Any, ...]]) -> Iterator[int]:
    """A key that records the arguments of its functions."""

    def copy(what: Comm, keyval: int, value: Any) -> Any:
        log.append(("copy", what, keyval, value))
        return value

    def delete(what: Comm, keyval: int, value: Any) -> None:
        log.append(("delete", what, keyval, value))

    keyval = Comm.Create_keyval(copy, delete)
    yield keyval
    assert Comm.Free_keyval(keyval) == c.KEYVAL_INVALID


def test_a_value_is_found_under_its_key_only(keyval: int) -> None:
    """Unset attributes are None."""
    one, other = Comm(), Comm()
    one.Set_attr(keyval, "value")
    assert one.Get_attr(keyval) == "value"
    assert other.Get_attr(keyval) is None


def test_objects_without_attributes_store_nothing(keyval: int) -> None:
    """Get, delete, duplicate and free cost no memory."""
    comm = Comm()
    comm.Get_attr(keyval)
    comm.Delete_attr(keyval)
    assert comm.dup()._attributes is None
    comm._delete_attributes()
    assert comm._attributes is None


def test_replacing_a_value_deletes_the_old_one_first(keyval: int, log: list[Any]) -> None:
    """The delete function gets the old value."""
    comm = Comm()
    comm.Set_attr(keyval, 1)
    comm.Set_attr(keyval, 2)
    assert log == [("delete", comm, keyval, 1)]
    assert comm.Get_attr(keyval) == 2


def test_deleting_calls_the_function_once(keyval: int, log: list[Any]) -> None:
    """Deleting a missing value is allowed and calls nothing."""
    comm = Comm()
    comm.Set_attr(keyval, 1)
    comm.Delete_attr(keyval)
    comm.Delete_attr(keyval)
    assert log == [("delete", comm, keyval, 1)]
    assert comm.Get_attr(keyval) is None


def test_a_duplicate_inherits_by_the_copy_function(keyval: int, log: list[Any]) -> None:
    """The function gets the original."""
    comm = Comm()
    comm.Set_attr(keyval, "value")
    assert comm.dup().Get_attr(keyval) == "value"
    assert log == [("copy", comm, keyval, "value")]


@pytest.mark.parametrize(
    ("copy_fn", "inherited"),
    [(None, None), (False, None), (True, 7), (lambda *_: NotImplemented, None), (lambda _o, _k, value: value + 1, 8)],
)
def test_inherited_values_of_a_duplicate(copy_fn: Any, inherited: int | None) -> None:
    """Nothing, the same value, or the result of the function."""
    keyval = Comm.Create_keyval(copy_fn)
    comm = Comm()
    comm.Set_attr(keyval, 7)
    assert comm.dup().Get_attr(keyval) == inherited


def test_copying_and_freeing_proceed_from_the_latest_to_the_first(log: list[Any]) -> None:
    """The order that MPI requires where it specifies one, and MPICH's."""
    keys = [Comm.Create_keyval(lambda _, k, v: log.append(k), lambda _, k, v: log.append(-k)) for _ in range(3)]
    comm = Comm()
    for keyval in keys:
        comm.Set_attr(keyval, None)
    comm.dup()
    comm.free()
    assert log == [keys[2], keys[1], keys[0], -keys[2], -keys[1], -keys[0]]


def test_a_freed_key_remains_in_its_values(log: list[Any]) -> None:
    """Its functions still run when objects are duplicated and freed, but its handle is invalid."""
    keyval = Comm.Create_keyval(ALWAYS, lambda _, k, v: log.append(v))
    comm = Comm()
    comm.Set_attr(keyval, "value")
    Comm.Free_keyval(keyval)
    other = comm.dup()
    other.free()
    comm.free()
    assert log == ["value", "value"]
    with fails(f"Get_attr: there is no keyval {keyval}: {NO_KEYVAL}", ERR_KEYVAL):
        Comm().Get_attr(keyval)


def test_a_freed_key_can_be_used_as_long_as_it_has_values(log: list[Any]) -> None:
    """By its old number: values are found, replaced, set elsewhere and deleted; with the last of them the key is removed."""
    keyval = Comm.Create_keyval(ALWAYS, lambda *what: log.append(what))
    one, other = Comm(), Comm()
    one.Set_attr(keyval, "first")
    assert Comm.Free_keyval(keyval) == c.KEYVAL_INVALID
    assert (one.Get_attr(keyval), other.Get_attr(keyval)) == ("first", None)
    one.Set_attr(keyval, "second")
    other.Set_attr(keyval, "third")
    with fails(f"Free_keyval: keyval {keyval} has already been freed.", ERR_KEYVAL):
        Comm.Free_keyval(keyval)
    one.Delete_attr(keyval)
    assert (one.Get_attr(keyval), other.Get_attr(keyval)) == (None, "third")
    other.free()
    assert [what[2] for what in log] == ["first", "second", "third"]
    calls: list[Callable[[], object]] = [
        lambda: one.Get_attr(keyval), lambda: one.Set_attr(keyval, 1), lambda: one.Delete_attr(keyval),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(MPIError, match=r"there is no keyval"):
            call()


def test_a_nopython_key_holds_integers() -> None:
    """As a C program would read them."""
    keyval = Comm.Create_keyval(ALWAYS, nopython=True)
    comm = Comm()
    comm.Set_attr(keyval, True)
    assert comm.Get_attr(keyval) == 1
    assert comm.dup().Get_attr(keyval) == 1
    with fails("Set_attr: a nopython keyval holds integers, not 'a'.", ERR_ARG, MPITypeError):
        comm.Set_attr(keyval, "a")


def test_subclasses_share_the_keys_of_their_kind() -> None:
    """A key made by Intracomm is a communicator's key."""
    keyval = Intracomm.Create_keyval()
    comm = Comm()
    comm.Set_attr(keyval, 1)
    assert comm.Get_attr(keyval) == 1


def test_predefined_keys_cannot_be_changed() -> None:
    """TAG_UB and similar keys."""
    comm = Intracomm()
    assert comm.Get_attr(c.TAG_UB) == 2**31 - 1
    assert comm.Get_attr(c.WTIME_IS_GLOBAL) is True
    assert comm.Get_attr(c.APPNUM) is None
    for name, call in (
        ("Set_attr", lambda: comm.Set_attr(c.TAG_UB, 1)),
        ("Delete_attr", lambda: comm.Delete_attr(c.TAG_UB)),
        ("Free_keyval", lambda: Comm.Free_keyval(c.TAG_UB)),
    ):
        with fails(f"{name}: keyval TAG_UB is predefined and read-only.", ERR_KEYVAL):
            call()


def test_keys_of_another_kind_are_rejected() -> None:
    """A datatype's key on a communicator, a communicator's on a datatype."""
    keyval = Datatype.Create_keyval()
    with fails(f"Get_attr: keyval {keyval} belongs to Datatype, not to Comm.", ERR_KEYVAL):
        Comm().Get_attr(keyval)
    with fails(f"Free_keyval: keyval {keyval} belongs to Datatype, not to Comm.", ERR_KEYVAL):
        Comm.Free_keyval(keyval)
    with fails("Get_attr: keyval TAG_UB belongs to Comm, not to Datatype.", ERR_KEYVAL):
        Datatype().Get_attr(c.TAG_UB)


def test_invalid_keys_are_rejected() -> None:
    """Unknown, invalid, and not an integer."""
    comm = Comm()
    with fails(f"Set_attr: there is no keyval 12345: {NO_KEYVAL}", ERR_KEYVAL):
        comm.Set_attr(12345, 1)
    with fails("Get_attr: the keyval is KEYVAL_INVALID: it was never created, or was freed.", ERR_KEYVAL):
        comm.Get_attr(c.KEYVAL_INVALID)
    with fails("Get_attr: keyval is 'x', not an integer.", ERR_KEYVAL, MPITypeError):
        comm.Get_attr("x")  # type: ignore[arg-type]


def test_functions_must_be_functions() -> None:
    """The error is raised at once, not at the first duplication."""
    with fails("Create_keyval: copy_fn is 3, which cannot be called.", ERR_ARG, MPITypeError):
        Comm.Create_keyval(3)  # type: ignore[arg-type]
    with fails("Create_keyval: delete_fn is 'f', which cannot be called.", ERR_ARG, MPITypeError):
        Comm.Create_keyval(None, "f")  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["Get_attr", "Delete_attr"])
def test_freed_objects_have_no_attributes(call: str, keyval: int) -> None:
    """The class reports the reason; here it is a stand-in, so no call is named."""
    comm = Comm()
    comm.free()
    with fails("MPI: the communicator is null.", ERR_COMM):
        getattr(comm, call)(keyval)


def test_a_function_that_fails_fails_the_call(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is chained, and its traceback is on stderr as in mpi4py; the value is removed nevertheless."""

    def broken(*_: Any) -> None:
        raise ZeroDivisionError("by zero")

    keyval = Comm.Create_keyval(broken, broken)
    comm = Comm()
    comm.Set_attr(keyval, 1)
    words = f"function of keyval {keyval} failed with ZeroDivisionError: by zero"
    with fails(f"Comm: the copy {words}", ERR_OTHER):
        comm.dup()
    with fails(f"Delete_attr: the delete {words}", ERR_OTHER):
        comm.Delete_attr(keyval)
    assert comm.Get_attr(keyval) is None
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.count("in broken") == shown.count("ZeroDivisionError: by zero") == 2


def test_attributes_of_a_shared_object_are_private_to_each_rank() -> None:
    """A predefined datatype is one object here, and one per process under MPI."""
    keyval = Datatype.Create_keyval()
    byte = Datatype()
    byte.Set_attr(keyval, "outside")
    with running(0) as zero:
        assert byte.Get_attr(keyval) is None
        byte.Set_attr(keyval, "zero")
    with running(1):
        assert byte.Get_attr(keyval) is None
        byte.Set_attr(keyval, "one")
    with running(0, zero.attributes):
        assert byte.Get_attr(keyval) == "zero"
        byte.Delete_attr(keyval)
        assert byte.Get_attr(keyval) is None
    assert byte.Get_attr(keyval) == "outside"
    byte._delete_attributes()
    assert byte.Get_attr(keyval) is None


def test_errors_name_the_rank() -> None:
    """Inside a run."""
    with running(3), fails(f"Get_attr on rank 3: there is no keyval 9: {NO_KEYVAL}", ERR_KEYVAL):
        Comm().Get_attr(9)
