"""Generator of the programs: each `Case` has a name, a category, a number of ranks, a main function and the expected kinds.

A correct program expects no kind. Each rank exposes `N` items of 4 bytes, and `AT` is the item that both accesses use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI

N, AT = 100, 20
INITIAL = {"Put": 12345, "Get": 54321, "Accumulate": 12345}


@dataclass(frozen=True)
class Case:
    """One program and its verdict."""

    name: str
    category: str
    ranks: int
    main: Callable[[Any], None]
    kinds: tuple[str, ...] = ()  # any of these is correct; empty: no finding is allowed
    origin: str = "MBI"  # "MBI", "MBI calls it wrong" of a program that MPI allows, or "own"

    @property
    def is_wrong(self) -> bool:
        """Whether a finding, or an error, is expected."""
        return bool(self.kinds)


class Rank:
    """The objects of one rank of a program."""

    def __init__(self, comm: Any, call: str = "Put", nbytes: int = 4 * N, unit: int = 4) -> None:
        self.comm, self.rank = comm, comm.rank
        self.memory = np.zeros(nbytes // 4, "i4")
        self.local = np.full(1, INITIAL.get(call, 54321), "i4")
        self.win = MPI.Win.Create(self.memory, unit, comm=comm)
        self.group = self.win.Get_group()
        self.target = 1
        self.type: Any = MPI.INT

    def access(self, call: str, local: Any = None, at: int = AT) -> None:
        """A one-sided operation of one item on the target."""
        where = [at, 1, self.type]
        getattr(self.win, call)([self.local if local is None else local, 1, MPI.INT], self.target, where)

    def free(self) -> None:
        """The end of a correct program."""
        self.group.Free()
        self.win.Free()


# -- epochs ------------------------------------------------------------------------------------------------------------


class Fence:
    """All ranks together."""

    def open(self, one: Rank) -> None:
        """Begin."""
        one.win.Fence()

    close = open


class Lock:
    """A shared lock on the target."""

    def open(self, one: Rank) -> None:
        """Begin."""
        one.win.Lock(one.target, MPI.LOCK_SHARED)

    def close(self, one: Rank) -> None:
        """End."""
        one.win.Unlock(one.target)


class LockAll:
    """A shared lock on all ranks."""

    def open(self, one: Rank) -> None:
        """Begin."""
        one.win.Lock_all()

    def close(self, one: Rank) -> None:
        """End."""
        one.win.Unlock_all()


class Groups:
    """Post, Start, Complete, Wait among all ranks. MBI has no program with these."""

    def open(self, one: Rank) -> None:
        """Begin."""
        one.win.Post(one.group)
        one.win.Start(one.group)

    def close(self, one: Rank) -> None:
        """End."""
        one.win.Complete()
        one.win.Wait()


EPOCHS: dict[str, Any] = {"fence": Fence(), "lock": Lock(), "lock_all": LockAll()}
CALLS = ("Get", "Put")


# -- invalid arguments (24 + 6 + 3 wrong, 1 correct) -------------------------------------------------------------------


def null_type(one: Rank) -> None:
    """The target's datatype is null."""
    one.type = MPI.DATATYPE_NULL


def freed_type(one: Rank) -> None:
    """The target's datatype was freed."""
    one.type = MPI.INT.Create_contiguous(2).Commit()
    one.type.Free()


def _argument(comm: Any, epoch: Any, call: str, spoil: Callable[[Rank], None], everywhere: bool) -> None:
    one = Rank(comm, call)
    one.target = (comm.rank + 1) % comm.size
    epoch.open(one)
    if everywhere or comm.rank == 0:
        spoil(one)
        one.access(call)
    epoch.close(one)
    one.free()


def arguments() -> Iterator[Case]:
    """A datatype that cannot be used; all ranks use it, or rank 0."""
    for (name, epoch), call, spoil, everywhere in product(EPOCHS.items(), CALLS, (null_type, freed_type), (True, False)):
        title = f"{spoil.__name__}_{name}_{call}_{'all' if everywhere else 'rank_0'}"
        main = partial(_argument, epoch=epoch, call=call, spoil=spoil, everywhere=everywhere)
        yield Case(title, "invalid datatype", 2, main, ("ERR_TYPE",))


def _null_base(comm: Any, epoch: Any) -> None:
    win = MPI.Win.Create(MPI.memory.fromaddress(0, 40), comm=comm)  # C's NULL and 40 are rejected there
    epoch.open(win)
    epoch.close(win)
    win.Free()


def _sized(comm: Any, items: int | None) -> None:
    memory = None if items is None else np.zeros(items, "i4")
    win = MPI.Win.Create(memory, comm=comm)
    win.Fence()
    if comm.rank == 0:
        win.Put(np.arange(10, dtype="i4"), 1)
    win.Fence()
    win.Free()


def bases() -> Iterator[Case]:
    """A window on no memory, or on too little for the access. `Win.Create` takes the size from the memory."""
    for (name, epoch), call in product(EPOCHS.items(), CALLS):
        yield Case(f"null_base_{name}_{call}", "invalid base", 2, partial(_null_base, epoch=epoch), ("ValueError",))
    yield Case("null_base_Put", "invalid base", 2, partial(_null_base, epoch=EPOCHS["fence"]), ("ValueError",))
    yield Case("missing_base_Put", "invalid base", 2, partial(_sized, items=None), ("ERR_RMA_RANGE",))
    yield Case("short_base_Put", "invalid base", 2, partial(_sized, items=5), ("ERR_RMA_RANGE",))
    yield Case("base_Put_ok", "invalid base", 2, partial(_sized, items=10))


# -- local concurrency (18 + 8 wrong, 18 correct) ----------------------------------------------------------------------


def store(one: Rank) -> None:
    """Write to the local buffer."""
    one.local[0] = 8


def load(one: Rank) -> None:
    """Read the local buffer."""
    int(one.local[0])


def load_store(one: Rank) -> None:
    """Read the local buffer, and write to it if it is even."""
    if one.local[0] % 2 == 0:
        one.local[0] += 1


def _steps(comm: Any, epoch: Any, call: str, steps: list[Callable[[Rank], None]]) -> None:
    one = Rank(comm, call)
    epoch.open(one)
    if comm.rank == 0:
        for step in steps:
            step(one)
    epoch.close(one)
    one.free()


def _accessing(call: str) -> Callable[[Rank], None]:
    return lambda one: one.access(call)


IN_USE = ("buffer-in-use", "buffer-overlap")


def local_concurrency(epochs: dict[str, Any] = EPOCHS) -> Iterator[Case]:
    """The local buffer of an operation is reused before the epoch ends."""
    plain: dict[str, Callable[[Rank], None]] = {"store": store, "load": load, "load_store": load_store}
    calls = {call: _accessing(call) for call in CALLS}
    pairs = [("Get", "Put"), ("Get", "store"), ("Get", "load"), ("Get", "Get"), ("Get", "load_store"), ("Put", "store")]
    for name, epoch in epochs.items():
        for first, second in pairs:
            steps = [calls[first], (plain | calls)[second]]
            main = partial(_steps, epoch=epoch, call=first)
            yield Case(f"local_{name}_{first}_{second}", "local concurrency", 2, partial(main, steps=steps), IN_USE)
            if second in plain:
                steps = steps[::-1]
                yield Case(f"local_{name}_{second}_{first}_ok", "local concurrency", 2, partial(main, steps=steps))
        for call in CALLS:
            main = partial(_steps, epoch=epoch, call=call, steps=[calls[call]])
            yield Case(f"local_{name}_{call}_ok", "local concurrency", 2, main)


def _send(comm: Any, what: Any, dest: int, blocking: bool) -> Any:
    return (comm.Send if blocking else comm.Isend)(what, dest)


def _receive(comm: Any, what: Any, source: int, blocking: bool) -> Any:
    return (comm.Recv if blocking else comm.Irecv)(what, source)


def _finish(request: Any) -> None:
    if request is not None:
        request.Wait()


def _get_and_send(comm: Any, fenced: bool, sends: bool, receives: bool, call: str = "Get") -> None:
    one = Rank(comm, call)
    if fenced:
        one.win.Fence()
    if comm.rank == 0:
        with nullcontext() if fenced else _locked(one.win, 1):
            one.access(call)
            request = _send(comm, one.local, 2, sends)
        _finish(request)
    elif comm.rank == 2:
        _finish(_receive(comm, np.zeros(1, "i4"), 0, receives))
    if fenced:
        one.win.Fence()
    one.free()


class _locked:
    def __init__(self, win: Any, target: int, lock_type: int = MPI.LOCK_EXCLUSIVE) -> None:
        self.win, self.target, self.lock_type = win, target, lock_type

    def __enter__(self) -> None:
        self.win.Lock(self.target, self.lock_type)

    def __exit__(self, *_: object) -> None:
        self.win.Unlock(self.target)


def local_messages() -> Iterator[Case]:
    """The buffer that a Get fills is sent before the epoch ends. A buffer that a Put reads may be sent."""
    for fenced, sends, receives in product((True, False), repeat=3):
        words = f"{'fence' if fenced else 'lock'}_{'Send' if sends else 'Isend'}_{'Recv' if receives else 'Irecv'}"
        main = partial(_get_and_send, fenced=fenced, sends=sends, receives=receives)
        yield Case(f"local_{words}", "local concurrency", 3, main, IN_USE)
        yield Case(f"local_Put_{words}_ok", "local concurrency", 3, partial(main, call="Put"), origin="own")


# -- global concurrency (8 + 21 + 3 wrong, 3 correct) ------------------------------------------------------------------


def _message_and_window(comm: Any, call: str, sends: bool, receives: bool) -> None:
    one, own = Rank(comm, call), np.zeros(1, "i4")
    if comm.rank == 0:
        with _locked(one.win, 1):
            one.access(call)
            one.local[0] = 12345
    elif comm.rank == 2:
        _finish(_send(comm, np.full(1, 2, "i4"), 1, sends))
    elif comm.rank == 1:
        own[0] = one.memory[AT]
        request = _receive(comm, own, 2, receives)
        one.memory[AT] = own[0]
        _finish(request)
    one.free()


def global_messages() -> Iterator[Case]:
    """A rank stores a received value in its window, without a lock, while another rank holds the lock for the same item."""
    for call, sends, receives in product(CALLS, (True, False), (True, False)):
        title = f"global_{call}_{'Send' if sends else 'Isend'}_{'Recv' if receives else 'Irecv'}"
        main = partial(_message_and_window, call=call, sends=sends, receives=receives)
        yield Case(title, "global concurrency", 4, main, ("window-race", "buffer-in-use"))


def window_store(one: Rank) -> None:
    """Write to the memory of the window."""
    one.memory[AT] = 12346


def window_load(one: Rank) -> None:
    """Read the memory of the window."""
    int(one.memory[AT])


def _from_window(call: str) -> Callable[[Rank], None]:
    return lambda one: one.access(call, one.memory[AT : AT + 1], 0)


def _remote_and_local(comm: Any, epoch: Any, call: str, local: Callable[[Rank], None], others: bool = False) -> None:
    one = Rank(comm, call)
    one.target = 1 - comm.rank
    epoch.open(one)
    if comm.rank == 0:
        one.access(call, at=0 if others else AT)
    else:
        local(one)
    epoch.close(one)
    one.free()


def remote_and_local(epochs: dict[str, Any] = EPOCHS) -> Iterator[Case]:
    """Rank 0 accesses an item of rank 1, which uses it, too: by a store, a load, or as the local buffer of an operation.

    MBI also calls a Get concurrent with a load, or with a Put from that memory, an error. Both only read, so they are
    correct.
    """
    plain: dict[str, Callable[[Rank], None]] = {"store": window_store, "load": window_load}
    calls = {call: _from_window(call) for call in CALLS}
    for (name, epoch), call in product(epochs.items(), CALLS):
        for local, step in (plain | calls).items():
            main = partial(_remote_and_local, epoch=epoch, call=call, local=step)
            wrong = call == "Put" or local in ("store", "Get")
            origin = "own" if (call, local) == ("Put", "Get") else "MBI" if wrong else "MBI calls it wrong"
            title, kinds = f"remote_{name}_{call}_{local}", ("window-race",) if wrong else ()
            yield Case(title + "_ok" * (not wrong), "global concurrency", 2, main, kinds, origin)
            if call == "Put":
                apart = partial(main, others=True)
                yield Case(f"{title}_apart_ok", "global concurrency", 2, apart, origin="own")


def _two_origins(comm: Any, epoch: Any, calls: tuple[str, str], apart: bool = False) -> None:
    one = Rank(comm)
    epoch.open(one)
    if comm.rank in (0, 2):
        one.access(calls[comm.rank // 2], at=AT + comm.rank * apart)
    epoch.close(one)
    one.free()


def two_origins(epochs: dict[str, Any] = EPOCHS) -> Iterator[Case]:
    """Two ranks access one item of a third."""
    pairs = [("Put", "Put"), ("Put", "Get"), ("Get", "Put"), ("Get", "Get"), ("Put", "Accumulate"), ("Accumulate", "Get"),
             ("Accumulate", "Accumulate")]  # fmt: skip
    for (name, epoch), calls in product(epochs.items(), pairs):
        wrong = calls[0] != calls[1] or "Put" in calls
        main = partial(_two_origins, epoch=epoch, calls=calls)
        title, kinds = f"origins_{name}_{calls[0]}_{calls[1]}", ("window-race",) if wrong else ()
        origin = {("Put", "Put"): "MBI", ("Get", "Get"): "MBI calls it wrong"}.get(calls, "own")
        yield Case(title + "_ok" * (not wrong), "global concurrency", 3, main, kinds, origin)
        yield Case(f"{title}_apart_ok", "global concurrency", 3, partial(main, apart=True), origin="own")


# -- epochs (30 wrong, 6 correct) --------------------------------------------------------------------------------------


class _Nothing:
    def open(self, one: Rank) -> None:
        """A phase without a call."""

    close = open


NOTHING = _Nothing()


def _lifecycle(comm: Any, outer: tuple[Any, Any], inner: Any, call: str) -> None:
    one = Rank(comm, call)
    outer[0].open(one)
    if comm.rank == 0:
        inner.open(one)
        one.access(call)
        inner.close(one)
    outer[1].close(one)
    one.free()


def lifecycles() -> Iterator[Case]:
    """An epoch that is not opened, not closed, or opened inside another one."""
    kinds = ("epoch", "ERR_RMA_SYNC", "ERR_NOT_SAME")
    for (name, epoch), call in product(EPOCHS.items(), CALLS):
        main = partial(_lifecycle, inner=NOTHING, call=call)
        yield Case(f"epoch_{name}_{call}_ok", "epochs", 2, partial(main, outer=(epoch, epoch)))
        yield Case(f"epoch_not_opened_{name}_{call}", "epochs", 2, partial(main, outer=(NOTHING, epoch)), kinds)
        yield Case(f"epoch_not_closed_{name}_{call}", "epochs", 2, partial(main, outer=(epoch, NOTHING)), kinds)
        for other, inner in EPOCHS.items():
            main = partial(_lifecycle, outer=(epoch, epoch), inner=inner, call=call)
            yield Case(f"epoch_{other}_in_{name}_{call}", "epochs", 2, main, kinds)


# -- additional programs -----------------------------------------------------------------------------------------------


def _in_window(comm: Any, how: str, call: str, apart: bool) -> None:
    """Rank 0 accesses memory that rank 1 uses later as the buffer of a message or of a collective call."""
    one = Rank(comm, call)
    mine = one.memory[AT : AT + 1]
    one.win.Fence()
    if comm.rank == 0:
        one.access(call, at=0 if apart else AT)
    other = np.zeros(1, "i4")
    fakempi.compute(1)
    if how == "Bcast":
        comm.Bcast(mine if comm.rank == 1 else other, root=2)
    elif how == "Allreduce":
        comm.Allreduce(np.ones(1, "i4"), mine if comm.rank == 1 else other)
    elif comm.rank == 1:
        _finish(getattr(comm, how)(mine, 2))
    elif comm.rank == 2:
        if "end" in how:
            comm.Recv(other, 1)
        else:
            comm.Send(np.ones(1, "i4"), 1)
    one.win.Fence()
    one.free()


def buffers_in_windows() -> Iterator[Case]:
    """A call that writes to window memory conflicts with any access to it, one that reads it with a Put."""
    writing, reading = ("Recv", "Irecv", "Bcast", "Allreduce"), ("Send", "Ssend", "Isend")
    for how, call in product(writing + reading, ("Put", "Get", "Accumulate")):
        wrong = how in writing or call != "Get"
        main, kinds = partial(_in_window, how=how, call=call), ("window-race",) if wrong else ()
        title = f"buffer_{how}_{call}"
        yield Case(title + "_ok" * (not wrong), "buffers in windows", 3, partial(main, apart=False), kinds, "own")
        yield Case(f"{title}_apart_ok", "buffers in windows", 3, partial(main, apart=True), (), "own")


def cases() -> list[Case]:
    """All programs."""
    groups = {"groups": Groups()}
    made = (
        arguments(), bases(), local_concurrency(), local_messages(), global_messages(), remote_and_local(), two_origins(),
        lifecycles(), buffers_in_windows(),
    )  # fmt: skip
    more = (local_concurrency(groups), remote_and_local(groups), two_origins(groups))
    return [case for some in made for case in some] + [replace(case, origin="own") for some in more for case in some]
