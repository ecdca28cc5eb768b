"""I/O servers with Create_intercomm"""

# ranks: 4
from mpi4py import MPI

comm = MPI.COMM_WORLD
server = comm.rank >= 3
local = comm.Split(server)
inter = local.Create_intercomm(0, comm, 0 if server else 3, tag=9)
print(comm.rank, inter.Get_size(), inter.Get_remote_size(), inter.is_inter)
if server:
    s = MPI.Status()
    for _ in range(inter.remote_size):
        x = inter.recv(source=MPI.ANY_SOURCE, status=s)
        print("wrote", x, s.source)
    inter.bcast("done", root=MPI.ROOT)
else:
    inter.send({"from": local.rank}, 0)
    print(inter.bcast(None, root=0))
m = inter.Merge(server)
print(m.rank, m.size)
m.Free()
inter.Free()
