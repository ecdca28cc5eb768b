"""Programs with windows, sessions and partitions that run on the emulator and on a real MPI, for the table of `programs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.real_mpi.programs import neighbors, outcome, program


@program
def puts_and_gets_between_fences(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    memory, got = np.full(6, -1, "i4"), np.zeros(2, "i4")
    win = MPI.Win.Create(memory, 4, comm=comm)
    win.Fence()
    win.Put(np.arange(3, dtype="i4") + 10 * comm.rank, right, 1)
    win.Fence()
    win.Get(got, right, [2, 2, MPI.INT])
    win.Fence(MPI.MODE_NOSUCCEED)
    seen = [win.Get_attr(MPI.WIN_SIZE), win.Get_attr(MPI.WIN_DISP_UNIT), win.flavor == MPI.WIN_FLAVOR_CREATE, win.group_size]
    win.Free()
    return [memory.tolist(), got.tolist(), seen, bool(win), left]


@program
def a_matrix_is_put_in_transposed(comm: Any, MPI: Any) -> Any:
    n = comm.size
    win = MPI.Win.Allocate(4 * n * n, 4, comm=comm)
    matrix = np.frombuffer(win.tomemory(), "i4").reshape(n, n)
    column = MPI.INT.Create_vector(n, 1, n).Commit()
    win.Fence()
    for target in range(n):
        win.Put(np.arange(n, dtype="i4") + 100 * comm.rank, target, [comm.rank, 1, column])
    win.Fence()
    found = matrix.tolist()
    column.Free()
    win.Free()
    return found


@program
def accumulates_with_every_operation(comm: Any, MPI: Any) -> Any:
    seen = []
    for op in (MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN, MPI.BAND, MPI.BOR, MPI.BXOR, MPI.LAND, MPI.LOR, MPI.LXOR):
        memory = np.arange(1, 5, dtype="i4")
        win = MPI.Win.Create(memory, 4, comm=comm)
        win.Fence()
        win.Accumulate(np.arange(4, dtype="i4") + comm.rank, 0, op=op)
        win.Fence()
        win.Free()
        seen.append(memory.tolist())
    return seen


@program
def a_counter_under_locks(comm: Any, MPI: Any) -> Any:
    win = MPI.Win.Allocate(8 if comm.rank == 0 else 0, 8, comm=comm)
    one, got, mine = np.ones(1, "i8"), np.zeros(1, "i8"), []
    if comm.rank == 0:
        np.frombuffer(win.tomemory(), "i8")[:] = 5
    comm.Barrier()
    for _ in range(3):
        win.Lock(0, MPI.LOCK_SHARED)
        win.Fetch_and_op(one, got, 0)
        win.Unlock(0)
        mine.append(int(got[0]))
    numbers = sorted(sum(comm.allgather(mine), []))  # noqa: RUF017
    win.Free()
    return [numbers, mine == sorted(mine)]


@program
def one_swap_wins(comm: Any, MPI: Any) -> Any:
    win = MPI.Win.Allocate(4 if comm.rank == 0 else 0, 4, comm=comm)
    if comm.rank == 0:
        np.frombuffer(win.tomemory(), "i4")[:] = 0
    comm.Barrier()
    mine, zero, found = (np.array([value], "i4") for value in (comm.rank + 1, 0, -1))
    win.Lock_all()
    win.Compare_and_swap(mine, zero, found, 0)
    win.Unlock_all()
    seen = comm.allgather(int(found[0]))
    win.Free()
    return [seen.count(0), len(set(seen) - {0})]


@program
def requests_and_flushes(comm: Any, MPI: Any) -> Any:
    _, right = neighbors(comm)
    memory = np.zeros(4, "i4")
    win = MPI.Win.Create(memory, 4, comm=comm)
    got, before = np.zeros(1, "i4"), np.zeros(1, "i4")
    win.Lock_all()
    win.Rput(np.array([7], "i4"), right).Wait()
    win.Flush(right)
    win.Rget(got, right).Wait()
    win.Rget_accumulate(np.array([5], "i4"), before, right, 1).Wait()
    win.Raccumulate(np.array([2], "i4"), right, 1).Wait()
    win.Flush_all()
    win.Flush_local_all()
    win.Unlock_all()
    comm.Barrier()
    win.Free()
    return [got.tolist(), before.tolist(), memory.tolist()]


@program
def post_start_complete_wait(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    memory = np.zeros(1, "i4")
    win = MPI.Win.Create(memory, 4, comm=comm)
    group = win.Get_group()
    win.Post(group.Incl([left]))
    win.Start(group.Incl([right]))
    win.Put(np.array([comm.rank + 1], "i4"), right)
    win.Complete()
    done = win.Wait()
    win.Free()
    return [memory.tolist(), done]


@program
def a_dynamic_window(comm: Any, MPI: Any) -> Any:
    _, right = neighbors(comm)
    memory = np.arange(4, dtype="i4") * (comm.rank + 1)
    win = MPI.Win.Create_dynamic(comm=comm)
    win.Attach(memory)
    addresses = comm.allgather(MPI.Get_address(memory))
    got = np.zeros(2, "i4")
    win.Fence()
    win.Get(got, right, addresses[right] + 4)
    win.Fence()
    win.Detach(memory)
    base = [win.Get_attr(MPI.WIN_BASE), win.Get_attr(MPI.WIN_SIZE)]
    win.Free()
    return [got.tolist(), base]


@program
def shared_memory(comm: Any, MPI: Any) -> Any:
    win = MPI.Win.Allocate_shared(4 * (comm.rank + 1), 4, comm=comm)
    np.frombuffer(win.tomemory(), "i4")[:] = comm.rank + 1
    win.Fence()
    seen = []
    for rank in range(comm.size):
        part, unit = win.Shared_query(rank)
        seen.append([np.frombuffer(part, "i4").tolist(), unit])
    win.Fence()
    win.Free()
    return seen


@program
def rejected_window_calls(comm: Any, MPI: Any) -> Any:
    win = MPI.Win.Allocate(8, 8, comm=comm)
    buffer = np.zeros(2, "i4")
    win.Fence()
    seen = [
        outcome(MPI, lambda: win.Put([buffer, 1, MPI.INT, 0, 0], 0)),
        outcome(MPI, lambda: win.Put(buffer, 0, {})),
        outcome(MPI, lambda: win.Put(buffer, 0, (0, 1, MPI.INT, 1))),
        outcome(MPI, lambda: win.Fetch_and_op(buffer, buffer[:1], 0)),
        outcome(MPI, lambda: MPI.WIN_NULL.Free()),
    ]
    win.Fence()
    win.Free()
    return seen


@program
def proc_null_and_empty(comm: Any, MPI: Any) -> Any:
    null, last = MPI.PROC_NULL, comm.size - 1
    memory = np.zeros(2 if comm.rank == last else 0, "i4")
    win = MPI.Win.Create(memory, 4, comm=comm)
    one, found = np.ones(1, "i4"), np.full(1, 7, "i4")
    win.Lock_all()
    win.Get(found, null)
    MPI.Request.Waitall([win.Rput(one, null), win.Rget(found, null), win.Raccumulate(one, null)])
    win.Put(one[:0], last, 2)
    win.Accumulate([one, 0, MPI.INT], last)
    win.Flush_all()
    win.Unlock_all()
    win.Lock(null)
    win.Unlock(null)
    win.Fence()
    if comm.rank == 0:
        win.Put([one, MPI.INT], last, [1, 1, MPI.INT])
    win.Fence()
    seen = [memory.tolist(), found.tolist(), win.attrs[1:], win.group_size, win.flavor == MPI.WIN_FLAVOR_CREATE]
    win.Free()
    return seen


# -- sessions ----------------------------------------------------------------------------------------------------------


@program
def a_communicator_of_a_session(comm: Any, MPI: Any) -> Any:
    session = MPI.Session.Init()
    sizes = [session.Get_pset_info(name).Get("mpi_size") for name in ("mpi://WORLD", "mpi://SELF")]
    group = session.Create_group("mpi://WORLD")
    made = MPI.Intracomm.Create_from_group(group, "of the test")
    total = made.allreduce(made.rank + 1)
    same = MPI.Group.Compare(group, comm.Get_group()) == MPI.IDENT
    made.Free()
    group.Free()
    session.Finalize()
    unknown = outcome(MPI, lambda: MPI.SESSION_NULL.Get_num_psets())
    return [sizes, total, same, bool(session), unknown]


# -- partitions --------------------------------------------------------------------------------------------------------


@program
def partitions_around_a_ring(comm: Any, MPI: Any) -> Any:
    left, right = neighbors(comm)
    data, found, seen = np.zeros(6, "i4"), np.full(6, -1, "i4"), []
    send, receive = comm.Psend_init(data, 3, right, 2), comm.Precv_init(found, 3, left, 2)
    for number in range(2):
        MPI.Prequest.Startall([send, receive])
        data[:] = np.arange(6) + 100 * comm.rank + 10 * number
        send.Pready(2)
        send.Pready_range(0, 1)
        while not all(receive.Parrived(partition) for partition in range(3)):
            pass
        MPI.Request.Waitall([send, receive])
        seen.append(found.tolist())
    send.Free()
    receive.Free()
    return [seen, bool(send)]


# -- failures, as far as MPICH supports them ------------------------------------------------------------------------------


@program
def no_rank_has_failed(comm: Any, MPI: Any) -> Any:
    smaller = comm.Shrink()
    seen = [comm.Is_revoked(), comm.Get_failed().Get_size(), comm.Ack_failed(), comm.Agree(6 if comm.rank else 3)]
    seen += [smaller.size, smaller.rank, smaller.allreduce(1)]
    smaller.Free()
    return seen
