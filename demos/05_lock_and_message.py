"""Detect a deadlock of a lock and a message: every rank has a server thread, and one line is in the wrong place.

    python demos/05_lock_and_message.py
"""

from threading import Lock, Thread

from screen import arguments

import fakempi

REQUEST, REPLY = 1, 2


def serve(comm, counts, lock):
    """Server thread of a rank: send its count to each rank that requests it, until it receives None."""
    while (client := comm.recv(tag=REQUEST)) is not None:
        with lock:
            comm.send(counts[0], dest=client, tag=REPLY)


def query(comm, other):
    """Request the count of another rank."""
    comm.send(comm.Get_rank(), dest=other, tag=REQUEST)
    return comm.recv(source=other, tag=REPLY)


def add_up(comm, careful):
    """Increment the count and query all other ranks: after releasing the lock (careful), or while holding it."""
    rank, lock, counts = comm.Get_rank(), Lock(), [comm.Get_rank()]
    others = [other for other in range(comm.Get_size()) if other != rank]
    server = Thread(target=serve, args=(comm, counts, lock), name="server")
    server.start()
    with lock:
        counts[0] += 1
        if not careful:
            replies = [query(comm, other) for other in others]
    if careful:
        replies = [query(comm, other) for other in others]
    comm.Barrier()
    comm.send(None, dest=rank, tag=REQUEST)
    server.join()
    return counts[0] + sum(replies)


arguments(__doc__)
print("the lock is released before the queries")
print(fakempi.run(add_up, 4, True).returns)

print("\nthe lock is held during the queries")
try:
    fakempi.run(add_up, 4, False)
except fakempi.DeadlockError as deadlock:
    print(deadlock)
