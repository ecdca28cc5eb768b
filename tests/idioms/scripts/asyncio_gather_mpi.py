import asyncio
from mpi4py import MPI

comm = MPI.COMM_WORLD


async def receive():
    request = comm.irecv(source=(comm.rank - 1) % comm.size)
    while True:
        done, value = request.test()
        if done:
            return value
        await asyncio.sleep(0)


async def ticker():
    for _ in range(3):
        await asyncio.sleep(0.001)
    return "ticked"


async def main():
    comm.isend({"from": comm.rank}, dest=(comm.rank + 1) % comm.size).wait()
    return await asyncio.gather(receive(), ticker())


print(comm.rank, asyncio.run(main()))
# when: full
