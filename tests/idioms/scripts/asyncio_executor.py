"""asyncio and run_in_executor"""

import asyncio
import time
from mpi4py import MPI

comm = MPI.COMM_WORLD


def block(x):
    time.sleep(0.001)
    return x * 2


async def recv():
    req = comm.irecv(source=(comm.rank - 1) % comm.size)
    while not (done := req.test())[0]:
        await asyncio.sleep(0.001)
    return done[1]


async def main():
    loop = asyncio.get_running_loop()
    q = asyncio.Queue()
    await q.put(1)
    send = comm.isend(comm.rank, (comm.rank + 1) % comm.size)
    got = await asyncio.gather(
        loop.run_in_executor(None, block, comm.rank), asyncio.to_thread(block, 5), asyncio.wait_for(recv(), 20)
    )
    send.wait()
    p = await asyncio.create_subprocess_exec("echo", str(comm.rank), stdout=asyncio.subprocess.PIPE)
    out = (await p.communicate())[0]
    return got, await q.get(), out


print(asyncio.run(main()))
