"""Common part of communicators: duplicates, names, info, attributes, error handlers, handles, free and abort."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.errors import Aborted
from tests.helpers.runs import fails, run


class Mine(MPI.Intracomm):
    """A user-defined communicator class."""

    def right(self) -> int:
        """The neighbor."""
        return int((self.Get_rank() + 1) % self.Get_size())


class Careful(MPI.Intracomm):
    """A class that duplicates the communicator that it is made from."""

    def __new__(cls, comm: Any = None) -> Any:
        """A duplicate."""
        return super().__new__(cls, None if comm is None else comm.Dup())


# -- duplicates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["Dup", "Clone", "Idup", "Dup_with_info", "Idup_with_info"])
def test_a_duplicate_has_the_same_ranks_and_its_own_messages(backend: Any, call: str) -> None:
    """Messages on one communicator do not match receives on another."""

    def main(comm: Any) -> Any:
        arguments = (MPI.Info.Create(),) if "info" in call else ()
        other = getattr(comm, call)(*arguments)
        if call.startswith("I"):
            other, request = other
            request.Wait()
        dest, source = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        requests = [comm.isend("original", dest), other.isend("duplicate", dest)]
        received = other.recv(source=source), comm.recv(source=source)
        MPI.Request.Waitall(requests)
        return received, other.Compare(comm) == MPI.CONGRUENT, other == comm, (other.rank, other.size)

    assert run(main, 3, backend) == [(("duplicate", "original"), True, False, (rank, 3)) for rank in range(3)]


def test_several_idups_may_be_pending() -> None:
    """They are matched by their order."""

    def main(comm: Any) -> Any:
        (one, first), (two, second) = comm.Idup(), comm.Idup()
        MPI.Request.Waitall([second, first])
        other = 1 - comm.rank
        requests = [one.isend("one", other), two.isend("two", other)]
        received = two.recv(), one.recv()
        MPI.Request.Waitall(requests)
        return received

    assert run(main, 2) == [("two", "one")] * 2


def test_idup_completes_when_all_have_called_it() -> None:
    """Until then its request is pending, and the rank can do other work."""

    def main(comm: Any) -> Any:
        if comm.rank:
            fakempi.compute(1)
        _, request = comm.Idup()
        early = request.Test()
        request.Wait()
        return early, MPI.Wtime()

    assert run(main, 2) == [(False, 1.0), (True, 1.0)]


def test_compare() -> None:
    """The same communicator, the same ranks, another order, other ranks."""

    def main(comm: Any) -> Any:
        backwards = comm.Split(0, -comm.rank)
        alone = comm.Split(comm.rank)
        return [comm.Compare(other) for other in (comm, MPI.Intracomm(comm), comm.Dup(), backwards, alone)]

    expected = [MPI.IDENT, MPI.IDENT, MPI.CONGRUENT, MPI.SIMILAR, MPI.UNEQUAL]
    assert run(main, 3) == [expected] * 3


def test_compare_rejects_null_communicators() -> None:
    """On either side."""

    def main(comm: Any) -> None:
        with fails("Compare on rank 0: cannot compare with None, which is not a communicator.", MPI.ERR_COMM, TypeError):
            comm.Compare(None)
        words = "Compare on rank 0: the communicator is null: it was freed, or this rank is not in it."
        with fails(words, MPI.ERR_COMM):
            comm.Compare(MPI.COMM_NULL)

    run(main, 1)


# -- names and info ------------------------------------------------------------------------------------------------


def test_names() -> None:
    """Predefined communicators have a name; others have none until a rank sets it for itself; a duplicate inherits none.
    """

    def main(comm: Any) -> Any:
        names = [comm.name, MPI.COMM_SELF.name, MPI.COMM_NULL.name, comm.Dup().name, comm.Split(0).Get_name()]
        mine = comm.Dup()
        mine.Set_name(f"of rank {comm.rank}")
        comm.name = "the world"
        return names, mine.name, mine.Dup().name, comm.Get_name()

    names = ["MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL", "", ""]
    assert run(main, 2) == [(names, f"of rank {rank}", "", "the world") for rank in range(2)]


def test_a_name_does_not_outlive_the_run() -> None:
    """Each run has a new world."""

    def main(comm: Any) -> str:
        before = comm.name
        comm.name = "x"
        return str(before)

    assert run(main, 1) == run(main, 1) == ["MPI_COMM_WORLD"]


def test_info() -> None:
    """Info is stored and returned as a copy; a duplicate gets it only if it is passed to Dup."""

    def main(comm: Any) -> Any:
        mine = comm.Dup()
        mine.Set_info(MPI.Info.Create({"key": "value"}))
        mine.Get_info().Set("key", "changed")
        other = mine.Dup(MPI.Info.Create({"other": "one"}))
        third = mine.Dup_with_info(MPI.Info.Create({"third": "one"}))
        mine.info = mine.info
        return [dict(each.Get_info()) for each in (comm, mine, mine.Dup(), other, third)]

    assert run(main, 1) == [[{}, {"key": "value"}, {}, {"other": "one"}, {"third": "one"}]]


# -- attributes ----------------------------------------------------------------------------------------------------


def test_attributes_are_freed_with_their_communicator() -> None:
    """The copy function decides what a duplicate gets, the delete function is called at Free; Split inherits none."""

    def main(comm: Any) -> Any:
        log: list[Any] = []

        def copied(what: Any, keyval: int, value: int) -> int:
            log.append(("copy", what == mine, value))
            return value + 1

        key = MPI.Comm.Create_keyval(copied, lambda what, keyval, value: log.append(("delete", value)))
        always: Any = True  # accepted, as by mpi4py, whose stubs do not mention it
        plain, passed = MPI.Comm.Create_keyval(), MPI.Comm.Create_keyval(always)
        mine = comm.Dup()
        for keyval, value in ((key, 1), (plain, 2), (passed, 3)):
            mine.Set_attr(keyval, value)
        other = mine.Dup()
        got = [other.Get_attr(keyval) for keyval in (key, plain, passed)]
        inherited = mine.Split(0).Get_attr(key)
        other.Free()
        mine.Set_attr(key, 10)
        mine.Delete_attr(key)
        left = mine.Get_attr(key)
        return got, inherited, left, log

    log = [("copy", True, 1), ("delete", 2), ("delete", 1), ("delete", 10)]
    assert run(main, 2) == [([2, None, 3], None, None, log)] * 2


def test_idup_copies_attributes_too() -> None:
    """When it is called."""

    def main(comm: Any) -> Any:
        key = MPI.Comm.Create_keyval(lambda what, keyval, value: value * 2)
        mine = comm.Dup()
        mine.Set_attr(key, 4)
        other, request = mine.Idup()
        request.Wait()
        return other.Get_attr(key)

    assert run(main, 2) == [8, 8]


def test_attributes_of_the_world_are_private_to_each_rank() -> None:
    """Although all ranks use the same name."""

    def main(comm: Any) -> Any:
        key = MPI.Comm.Create_keyval()
        MPI.COMM_WORLD.Set_attr(key, comm.rank)
        return comm.Get_attr(key)

    assert run(main, 3) == [0, 1, 2]


def test_the_attributes_that_mpi_defines() -> None:
    """The largest tag, the rank for input and output, one clock for all, the universe size, the application number."""

    def main(comm: Any) -> Any:
        keys = (MPI.TAG_UB, MPI.IO, MPI.WTIME_IS_GLOBAL, MPI.UNIVERSE_SIZE, MPI.APPNUM, MPI.LASTUSEDCODE)
        return [comm.Dup().Get_attr(key) for key in keys]

    tag, io, clock, universe, application, code = run(main, 2)[0]
    assert (tag, io, clock, universe, application) == (2**31 - 1, MPI.ANY_SOURCE, True, 2, 0)
    assert code >= MPI.ERR_LASTCODE


def test_a_copy_function_that_fails_makes_dup_fail() -> None:
    """The error has the reason."""

    def main(comm: Any) -> None:
        def broken(*_: Any) -> None:
            raise KeyError("x")

        key = MPI.Comm.Create_keyval(broken)
        mine = comm.Dup()
        mine.Set_attr(key, 1)
        words = f"Dup on rank 0: the copy function of keyval {key} failed with KeyError: 'x'"
        with fails(words, MPI.ERR_OTHER):
            mine.Dup()

    run(main, 1)


# -- error handlers ------------------------------------------------------------------------------------------------


def test_errors_are_exceptions_by_default() -> None:
    """ERRORS_RETURN everywhere; as in mpi4py a new communicator does not inherit its parent's handler."""

    def main(comm: Any) -> Any:
        mine = comm.Dup()
        mine.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        others = [comm, mine.Dup(), mine.Split(0), mine.Create(mine.group), mine.Create_group(mine.group)]
        handlers = [other.Get_errhandler() == MPI.ERRORS_RETURN for other in others]
        return handlers, mine.Get_errhandler() == MPI.ERRORS_ARE_FATAL

    assert run(main, 2) == [([True] * 5, True)] * 2


@pytest.mark.parametrize("handler", [MPI.ERRORS_ARE_FATAL, MPI.ERRORS_ABORT], ids=["fatal", "abort"])
def test_a_fatal_error_ends_the_run_although_the_program_catches_it(backend: Any, handler: MPI.Errhandler) -> None:
    """The run ends with the error; no rank continues."""
    gone_on = []

    def main(comm: Any) -> None:
        comm.Set_errhandler(handler)
        try:
            if comm.rank == 1:
                comm.Send(b"x", 9)
            comm.Recv(bytearray(1))
        except MPI.Exception:
            comm.Recv(bytearray(1))
            gone_on.append(comm.rank)

    with pytest.raises(fakempi.RankError, match="^rank 1 failed with MPIError: Send on rank 1: dest 9 is not in") as caught:
        run(main, 3, backend)
    assert caught.value.rank == 1
    assert gone_on == []


def test_a_user_defined_handler_is_called_and_then_the_error_is_raised() -> None:
    """With the communicator and the error code; Call_errhandler only calls it."""

    def main(comm: Any) -> Any:
        mine, calls = comm.Dup(), []

        def handler(what: Any, code: int) -> None:
            calls.append((what == mine, MPI.Get_error_class(code)))

        mine.Set_errhandler(MPI.Comm.Create_errhandler(handler))
        with pytest.raises(MPI.Exception, match="^Send on rank 0: "):
            mine.Send(b"x", 9)
        with pytest.raises(MPI.Exception, match="^Recv on rank 0: "):
            mine.Recv(bytearray(1), tag=-9)
        mine.Call_errhandler(MPI.ERR_OTHER)
        return calls

    assert run(main, 1) == [[(True, MPI.ERR_RANK), (True, MPI.ERR_TAG), (True, MPI.ERR_OTHER)]]


def test_calling_a_handler() -> None:
    """ERRORS_RETURN has no effect, ERRORS_ARE_FATAL ends the run."""

    def main(comm: Any) -> None:
        comm.Call_errhandler(MPI.ERR_TAG)
        comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        comm.Call_errhandler(MPI.ERR_TAG)

    with pytest.raises(fakempi.RankError, match="^rank 0 failed with MPIError: tag out of range$"):
        run(main, 1)


def test_null_is_rejected_as_a_handler() -> None:
    """So is an object that is not a handler."""

    def main(comm: Any) -> None:
        words = "Set_errhandler on rank 0: the error handler is null: ERRHANDLER_NULL, or freed."
        with fails(words, MPI.ERR_ERRHANDLER):
            comm.Set_errhandler(MPI.ERRHANDLER_NULL)
        with fails("Set_errhandler on rank 0: cannot create an Errhandler from 5.", MPI.ERR_ERRHANDLER, TypeError):
            comm.Set_errhandler(5)
        words = "Create_errhandler on rank 0: errhandler_fn is 5, which cannot be called."
        with fails(words, MPI.ERR_ARG, TypeError):
            MPI.Comm.Create_errhandler(5)  # type: ignore[arg-type]

    run(main, 1)


# -- free and abort ------------------------------------------------------------------------------------------------


def test_free_makes_a_handle_null() -> None:
    """Once; `free` in lower case accepts null and predefined handles."""

    def main(comm: Any) -> Any:
        for call in ("Free", "free", "Disconnect"):
            mine = comm.Dup()
            getattr(mine, call)()
            assert mine == MPI.COMM_NULL
            assert not mine
            mine.free()
            with pytest.raises(MPI.Exception, match="^Free on rank 0: the communicator is null"):
                mine.Free()
        MPI.COMM_NULL.free()
        comm.free()
        MPI.COMM_SELF.free()
        return bool(comm), bool(MPI.COMM_SELF)

    assert run(main, 1) == [(True, True)]


@pytest.mark.parametrize("name", ["COMM_WORLD", "COMM_SELF"])
@pytest.mark.parametrize("call", ["Free", "Disconnect"])
def test_predefined_communicators_cannot_be_freed(name: str, call: str) -> None:
    """Through any handle."""

    def main(comm: Any) -> None:
        for handle in (getattr(MPI, name), MPI.Intracomm(getattr(MPI, name))):
            with fails(f"{call} on rank 0: {name} cannot be freed.", MPI.ERR_COMM):
                getattr(handle, call)()

    run(main, 1)


def test_abort_ends_the_run(backend: Any) -> None:
    """On all ranks, with the error code; `finally` blocks run, even if a program catches the exception."""
    cleaned = []

    def main(comm: Any) -> None:
        try:
            if comm.rank == 1:
                fakempi.compute(1)
                try:
                    comm.Abort(3)
                except BaseException:
                    comm.Recv(bytearray(1))
            comm.Recv(bytearray(1))
        finally:
            cleaned.append(comm.rank)

    with pytest.raises(fakempi.RankError, match=r"^rank 1 failed with Aborted: Abort\(3\) was called") as caught:
        run(main, 3, backend)
    assert isinstance(caught.value.exception, Aborted)
    assert caught.value.exception.errorcode == 3
    assert sorted(cleaned) == [0, 1, 2]


def test_any_communicator_can_abort() -> None:
    """Even COMM_NULL."""
    for pick in (lambda comm: comm.Dup(), lambda comm: MPI.COMM_NULL, lambda comm: MPI.COMM_SELF):
        with pytest.raises(fakempi.RankError, match=r"Abort\(0\) was called"):
            run(lambda comm, pick=pick: pick(comm).Abort(), 1)


# -- handles -------------------------------------------------------------------------------------------------------


def test_handles_of_one_communicator_are_equal_and_share_its_state(backend: Any) -> None:
    """Name, attributes, info, error handler, messages."""

    def main(comm: Any) -> Any:
        key = MPI.Comm.Create_keyval()
        mine = comm.Dup()
        same = MPI.Intracomm(mine)
        base = MPI.Comm(same)
        same.Set_name("shared")
        base.Set_attr(key, 5)
        mine.Set_info(MPI.Info.Create({"k": "v"}))
        base.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        base.send("x", (comm.rank + 1) % comm.size)
        facts = mine == same == base, mine is same, mine.name, base.name, mine.Get_attr(key), same.Get_attr(key)
        handlers = [each.Get_errhandler() == MPI.ERRORS_ARE_FATAL for each in (mine, same, base)]
        return facts, dict(same.info), handlers, same.recv(), [type(each).__name__ for each in (same, base)]

    facts = (True, False, "shared", "shared", 5, 5)
    assert run(main, 2, backend) == [(facts, {"k": "v"}, [True] * 3, "x", ["Intracomm", "Comm"])] * 2


def test_a_plain_handle_has_the_methods_of_all_communicators() -> None:
    """The results are plain handles, as in mpi4py."""

    def main(comm: Any) -> Any:
        plain = MPI.Comm(comm)
        made = [plain.Split(comm.rank % 2, 0), plain.Create(comm.group), plain.Dup(), plain.Split_type(MPI.UNDEFINED)]
        return [(type(each) is MPI.Comm, each.size if each else 0) for each in made], plain.is_intra

    assert run(main, 3)[0] == ([(True, 2), (True, 3), (True, 3), (True, 0)], True)


def test_communicators_of_a_user_defined_class() -> None:
    """Duplicates have that class, other results do not."""

    def main(comm: Any) -> Any:
        mine = Mine(comm)
        duplicates = [mine.Dup(), mine.Clone(), mine.Idup()[0]]
        others = [mine.Split(0), mine.Create(mine.group), mine.Create_group(mine.group)]
        received = mine.sendrecv(mine.rank, mine.right(), source=MPI.ANY_SOURCE)
        return mine == comm, {type(each) for each in duplicates}, {type(each) for each in others}, received

    assert run(main, 2) == [(True, {Mine}, {MPI.Intracomm}, 1 - rank) for rank in range(2)]


def test_a_class_may_define_how_its_objects_are_created() -> None:
    """Its persistent requests are not affected."""

    def main(comm: Any) -> Any:
        mine = Careful(comm)
        received = bytearray(1)
        requests = [mine.Recv_init(received, 0), mine.Send_init(b"x", 0)]
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        return type(mine) is Careful, mine != comm, bool(Careful()), bytes(received)

    assert run(main, 1) == [(True, True, False, b"x")]


def test_handles_convert_to_integers() -> None:
    """Each rank gets its own handle back."""

    def main(comm: Any) -> Any:
        mine = comm.Dup()
        same = MPI.Comm.fromhandle(mine.handle), MPI.Intracomm.f2py(mine.py2f())
        return [(each == mine, each.rank) for each in same], MPI.Comm.fromhandle(0) == MPI.COMM_NULL

    assert run(main, 2) == [([(True, rank)] * 2, True) for rank in range(2)]


def test_other_objects_cannot_become_communicators() -> None:
    """A TypeError."""
    for kind in (MPI.Comm, MPI.Intracomm, MPI.Intercomm):
        with fails(f"{kind.__name__}: cannot create a {kind.__name__} from 5.", MPI.ERR_COMM, TypeError):
            kind(5)  # type: ignore[arg-type]


def test_null_handles() -> None:
    """Equal, false, not hashable or ordered."""
    nulls = [MPI.COMM_NULL, MPI.Comm(), MPI.Intracomm(), MPI.Intercomm(), MPI.Intracomm(MPI.COMM_NULL)]
    assert all(each == MPI.COMM_NULL and not each for each in nulls)
    assert MPI.COMM_NULL != MPI.GROUP_NULL
    assert pickle.loads(pickle.dumps(MPI.COMM_NULL)) is MPI.COMM_NULL
    assert copy.copy(MPI.COMM_NULL) is MPI.COMM_NULL
    assert type(pickle.loads(pickle.dumps(MPI.Intracomm()))) is MPI.Intracomm
    with pytest.raises(TypeError):
        hash(MPI.COMM_NULL)
    with pytest.raises(TypeError):
        MPI.COMM_NULL < MPI.COMM_NULL  # noqa: B015


def test_a_communicator_cannot_be_pickled() -> None:
    """Except predefined ones; other handles of those keep their class."""

    def main(comm: Any) -> Any:
        words = "Intracomm on rank 0: a communicator cannot be pickled: it is only valid in this process."
        with fails(words, MPI.ERR_COMM, ValueError):
            pickle.dumps(comm.Dup())
        again = [pickle.loads(pickle.dumps(each)) for each in (comm, MPI.COMM_SELF, Mine(comm))]
        return again[0] is comm, again[1] is MPI.COMM_SELF, type(again[2]) is Mine, again[2] == comm

    assert run(main, 1) == [(True,) * 4]


def test_the_parent_is_null_without_spawn() -> None:
    """There are no parents."""

    def main(comm: Any) -> Any:
        parent = MPI.Comm.Get_parent()
        return type(parent) is MPI.Intercomm, parent == MPI.COMM_NULL, comm.Get_parent() == MPI.COMM_NULL

    assert run(main, 1) == [(True, True, True)]


def test_there_is_no_topology_by_default() -> None:
    """Unless one was created."""

    def main(comm: Any) -> Any:
        return comm.Get_topology() == MPI.UNDEFINED, comm.topology == MPI.UNDEFINED, comm.is_topo

    assert run(main, 1) == [(True, True, False)]


# -- missing and different calls -----------------------------------------------------------------------------------


def test_different_calls_are_reported() -> None:
    """Both calls, and their places."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Dup()
        else:
            comm.Split(0)

    words = (
        r"^rank 1 failed with MPIError: Split on rank 1: this rank calls Split at test_comm\.py:\d+, but rank 0 of the "
        r"same communicator called Dup at test_comm\.py:\d+: all ranks must make the same collective calls in the same "
        r"order\.$"
    )
    with pytest.raises(fakempi.RankError, match=words):
        run(main, 2)


def test_a_missing_rank_is_named() -> None:
    """In a deadlock report."""

    def main(comm: Any) -> None:
        if comm.rank != 2:
            comm.Dup()

    with pytest.raises(fakempi.DeadlockError, match=r"ranks 0-1: Dup\(waits for rank 2\) at .*; rank 2 has ended$"):
        run(main, 3)


def test_creating_communicators_takes_no_time_and_ends_for_all_at_once() -> None:
    """It completes when the last rank has called."""

    def main(comm: Any) -> float:
        fakempi.compute(comm.rank)
        comm.Dup().Split(0)
        return MPI.Wtime()

    assert run(main, 3) == [2.0] * 3
