"""sockets between ranks on localhost"""

# ranks: 2
import socket
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    s = socket.create_server(("127.0.0.1", 0))
    comm.send(s.getsockname()[1], 1)
    c, _ = s.accept()
    print(c.recv(100))
    c.sendall(b"answer")
    c.close()
    s.close()
else:
    with socket.create_connection(("127.0.0.1", comm.recv(source=0))) as c:
        c.sendall(b"question")
        print(c.recv(100))
comm.Barrier()
