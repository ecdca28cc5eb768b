"""Every rank has its own event loop."""

import asyncio

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

async def work(number):
    await asyncio.sleep(0)
    return number * rank


async def main():
    return await asyncio.gather(*(work(i) for i in range(3)))


print(rank, comm.allreduce(sum(asyncio.run(main()))))
