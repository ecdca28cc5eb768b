"""A lock and a message that wait for each other: a server thread on every rank, and one line in the wrong place.

    python demos/17_lock_and_message.py
"""

from threading import Lock, Thread

from screen import asked

import fakempi

QUESTION, ANSWER = 1, 2


def serve(comm, counts, lock):
    """A thread of every rank: tells its count to whoever asks, until nobody does any more."""
    while (asker := comm.recv(tag=QUESTION)) is not None:
        with lock:
            comm.send(counts[0], dest=asker, tag=ANSWER)


def ask(comm, other):
    """Another rank's count."""
    comm.send(comm.Get_rank(), dest=other, tag=QUESTION)
    return comm.recv(source=other, tag=ANSWER)


def add_up(comm, careful):
    """Everybody counts, and asks all others: when it has given the lock back, or while it has it in its hands."""
    rank, lock, counts = comm.Get_rank(), Lock(), [comm.Get_rank()]
    others = [other for other in range(comm.Get_size()) if other != rank]
    server = Thread(target=serve, args=(comm, counts, lock), name="server")
    server.start()
    with lock:
        counts[0] += 1
        if not careful:
            answers = [ask(comm, other) for other in others]
    if careful:
        answers = [ask(comm, other) for other in others]
    comm.Barrier()
    comm.send(None, dest=rank, tag=QUESTION)
    server.join()
    return counts[0] + sum(answers)


asked(__doc__)
print("the lock is given back before anybody asks")
print(fakempi.run(add_up, 4, True).returns)

print("\nthe lock is held until all have answered")
try:
    fakempi.run(add_up, 4, False)
except fakempi.DeadlockError as deadlock:
    print(deadlock)
