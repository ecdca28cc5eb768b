"""socketserver.TCPServer that handles a request in the main thread of rank 0, clients on other ranks"""

import socketserver
import socket
from mpi4py import MPI

comm = MPI.COMM_WORLD


class H(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline().upper())


if comm.rank == 0:
    with socketserver.TCPServer(("127.0.0.1", 0), H) as s:
        s.timeout = 30
        comm.bcast(s.server_address)
        for _ in range(comm.size - 1):
            s.handle_request()
else:
    addr = comm.bcast(None)
    with socket.create_connection(tuple(addr)) as c:
        c.sendall(f"abc{comm.rank}\n".encode())
        print(c.makefile().readline().strip())
