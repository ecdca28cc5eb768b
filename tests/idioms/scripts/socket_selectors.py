"""Sockets with timeouts, select and selectors between ranks; connect with retries."""

import socket
import select
import selectors
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    s = socket.create_server(("127.0.0.1", 0))
    s.settimeout(20)
    comm.bcast(s.getsockname()[1])
    conns = [s.accept()[0] for _ in range(comm.size - 1)]
    sel = selectors.DefaultSelector()
    for c in conns:
        sel.register(c, selectors.EVENT_READ)
    got = []
    while len(got) < len(conns):
        for key, _ in sel.select(20):
            got.append(key.fileobj.recv(100).decode())
            sel.unregister(key.fileobj)
    print(sorted(got))
    for c in conns:
        c.sendall(b"bye")
        c.close()
    s.close()
else:
    port = comm.bcast(None)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as c:
        c.sendall(f"hello {comm.rank}".encode())
        r, _, _ = select.select([c], [], [], 20)
        print(comm.rank, bool(r), c.makefile("rb").read())
