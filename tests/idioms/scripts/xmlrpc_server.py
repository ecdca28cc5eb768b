"""XML-RPC: rank 0 serves a fixed number of requests in the main thread."""

from xmlrpc.server import SimpleXMLRPCServer
from xmlrpc.client import ServerProxy
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    s = SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
    s.register_function(lambda r: r * 10, "times")
    comm.bcast(s.server_address[1])
    for _ in range(comm.size - 1):
        s.handle_request()
    s.server_close()
else:
    port = comm.bcast(None)
    print(comm.rank, ServerProxy(f"http://127.0.0.1:{port}").times(comm.rank))
