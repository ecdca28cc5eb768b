"""asyncio streams between ranks."""

import asyncio
from mpi4py import MPI

comm = MPI.COMM_WORLD


async def handle(reader, writer):
    line = await reader.readline()
    writer.write(b"echo " + line)
    await writer.drain()
    writer.close()


async def serve():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    comm.bcast(server.sockets[0].getsockname()[1])
    async with server:
        reqs = [comm.irecv(source=s, tag=3) for s in range(1, comm.size)]
        while not all(r.Get_status() for r in reqs):
            await asyncio.sleep(0.005)
        print(sorted(r.wait() for r in reqs))


async def client(port):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    w.write(b"r%d\n" % comm.rank)
    text = (await r.readline()).decode().strip()
    w.close()
    comm.send(text, 0, tag=3)


if comm.rank == 0:
    asyncio.run(serve())
else:
    asyncio.run(client(comm.bcast(None)))
