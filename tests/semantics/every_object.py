"""A program that creates MPI objects of each kind, most of which it never frees."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from fakempi import MPI

Refs = list["weakref.ref[Any]"]


class HeldObject:
    """An object that an MPI object or a stack refers to."""


class EveryObject:
    """The objects of one rank. `seen` adds an object to `refs`; `numbers` has the numbers by which programs know some."""

    def __init__(self, comm: Any, refs: Refs, path: str) -> None:
        self.comm, self.refs, self.path = comm, refs, path
        self.right, self.left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        self.numbers: list[int] = []
        self.kept: list[Any] = []

    def seen(self, created: Any) -> Any:
        self.refs.append(weakref.ref(created))
        return created

    def keep(self, created: Any) -> Any:
        """See an object that stays on the stack of the rank until its end."""
        self.kept.append(created)
        return self.seen(created)

    def function(self) -> Callable[..., Any]:
        """A callback that refers to an object."""
        held = self.seen(HeldObject())
        return self.seen(lambda *args, **options: held and NotImplemented)  # type: ignore[no-any-return]  # it is a function

    def array(self, size: int = 2) -> Any:
        return self.seen(np.zeros(size))

    def attributes(self) -> None:
        """Keys of each kind of object, some freed; values on objects that live longer and shorter than the run."""
        window = self.keep(MPI.Win.Create(self.array(), comm=self.comm))
        for kind, owner in ((MPI.Comm, self.comm), (MPI.Datatype, MPI.INT), (MPI.Win, window)):
            kept, freed = (kind.Create_keyval(self.function(), self.function()) for _ in range(2))
            for keyval in (kept, freed):
                owner.Set_attr(keyval, self.seen(HeldObject()))
            kind.Free_keyval(freed)
            self.numbers += [kept, freed]

    def errors(self) -> int:
        """Error handlers that are called, and an error code with a string."""
        comm = self.keep(self.comm.Dup())
        comm.Set_errhandler(self.seen(MPI.Comm.Create_errhandler(self.function())))
        with suppress(MPI.Exception):
            comm.Send(self.array(), 99)
        errorclass = MPI.Add_error_class()
        code = MPI.Add_error_code(errorclass)
        MPI.Add_error_string(code, f"error {code}")
        self.numbers += [errorclass, code]
        return code

    def types_and_operations(self) -> None:
        vector = self.keep(MPI.DOUBLE.Create_vector(2, 1, 3).Commit())
        self.keep(MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.INT, vector]).Commit())
        self.comm.Sendrecv([self.array(9), 1, vector], self.right, 0, [self.array(9), 1, vector], self.left, 0)
        operation = self.keep(MPI.Op.Create(self.function()))
        self.comm.Allreduce(self.array(), self.array(), operation)
        self.comm.allreduce(self.comm.rank, op=MPI.Op.Create(self.function()))
        info, group = self.keep(MPI.Info.Create({"a": "b"})), self.keep(self.comm.Get_group().Excl([0]))
        self.numbers += [each.py2f() for each in (vector, operation, info, group, self.comm, MPI.INT)]

    def communicators(self) -> None:
        self.keep(self.comm.Split(self.comm.rank % 2)).Set_name("half")
        self.keep(self.comm.Create_cart([self.comm.size], [True]))
        graph = self.keep(self.comm.Create_dist_graph_adjacent([self.left], [self.right]))
        graph.neighbor_allgather(self.seen(HeldObject()).__class__)
        session = self.keep(MPI.Session.Init())
        session.Set_errhandler(MPI.Session.Create_errhandler(self.function()))
        self.keep(MPI.Intracomm.Create_from_group(MPI.Group.Create_from_session_pset(session, "mpi://WORLD"), "tag"))
        MPI.Publish_name(f"service {self.comm.rank}", MPI.Open_port())

    def files_and_windows(self) -> None:
        file = self.keep(MPI.File.Open(self.comm, self.path, MPI.MODE_CREATE | MPI.MODE_RDWR))
        file.Set_errhandler(MPI.File.Create_errhandler(self.function()))
        self.seen(file.Iwrite_at(16 * self.comm.rank, self.array())).Wait()
        self.seen(file.Iread_at(16 * self.comm.rank, self.array()))
        for window in (
            MPI.Win.Create(self.array(8), comm=self.comm),
            MPI.Win.Allocate(64, comm=self.comm),
            MPI.Win.Allocate_shared(64, comm=self.comm),
        ):
            self.keep(window).Fence()
            window.Put(self.array(1), self.right)
            window.Fence(MPI.MODE_NOSUCCEED)
            window.Lock(self.left, MPI.LOCK_SHARED)
            self.seen(window.Rget(self.array(1), self.left))
            window.Unlock(self.left)
        self.keep(MPI.Win.Create_dynamic(comm=self.comm)).Attach(self.array(16))

    def requests(self) -> None:
        """Requests that complete, and others that never do."""
        comm, right, left = self.comm, self.right, self.left
        MPI.Request.Waitall([self.seen(comm.Isend(self.array(), right, 1)), self.seen(comm.Irecv(self.array(), left, 1))])
        persistent = [self.seen(comm.Send_init(self.array(), right, 2)), self.seen(comm.Recv_init(self.array(), left, 2))]
        persistent += [self.seen(comm.Psend_init(self.array(), 2, right, 3)), comm.Precv_init(self.array(), 2, left, 3)]
        persistent += [self.seen(comm.Allreduce_init(self.array(), self.array()))]
        MPI.Prequest.Startall(persistent)
        persistent[2].Pready_range(0, 1)
        MPI.Request.Waitall(persistent)
        self.seen(comm.Iallreduce(self.array(), self.array())).Wait()
        self.seen(comm.Irecv(self.array(), left, 4))
        self.seen(comm.Isend(self.array(), right, 5))
        comm.send(self.seen(HeldObject()).__class__, right, 6)
        self.seen(comm.mprobe(left, 6))
        complete = self.seen(MPI.Grequest.Start(self.function(), self.function(), self.function()))
        complete.Complete()
        complete.Wait()
        self.keep(MPI.Grequest.Start(self.function(), self.function(), self.function()))
        MPI.Attach_buffer(self.seen(np.zeros(1000, np.uint8)))
        comm.Bsend(self.array(), right, 7)
        self.kept[0].Lock_all()

    def create(self) -> int:
        """Create everything; return an error code with a string."""
        self.attributes()
        code = self.errors()
        self.types_and_operations()
        self.communicators()
        self.files_and_windows()
        self.requests()
        return code


def program(comm: Any, refs: Refs, path: str, ending: str) -> list[int]:
    """Create objects of each kind on each rank, and end in one of several ways. Return their numbers."""
    objects = EveryObject(comm, refs, path)
    code = objects.create()
    comm.Barrier()
    if ending == "fails" and comm.rank == 1:
        raise MPI.Exception(code)
    if ending == "is interrupted" and comm.rank == 1:
        raise KeyboardInterrupt
    if ending == "aborts" and comm.rank == 1:
        comm.Abort(3)
    if ending == "hangs":
        comm.recv(source=objects.left, tag=8)
    return objects.numbers
