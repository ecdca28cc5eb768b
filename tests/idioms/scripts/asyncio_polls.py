"""asyncio: a coroutine polls Iprobe; TaskGroup; timeouts; queues; subprocess."""

import asyncio
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD


async def recv(source):
    while not comm.iprobe(source=source):
        await asyncio.sleep(0.001)
    return comm.recv(source=source)


async def main():
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    request = comm.isend(comm.rank, right)
    t = asyncio.create_task(recv(left))
    q = asyncio.Queue()
    await q.put(await t)
    request.wait()
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.01)
    except asyncio.TimeoutError:
        print("timeout")
    p = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6*7)", stdout=asyncio.subprocess.PIPE)
    out, _ = await p.communicate()
    print(comm.rank, await q.get(), out.strip(), p.returncode)


asyncio.run(main())
