from concurrent.futures import ThreadPoolExecutor, as_completed
from mpi4py import MPI

comm = MPI.COMM_WORLD
with ThreadPoolExecutor(3, thread_name_prefix=f"r{comm.rank}") as pool:
    futures = {pool.submit(pow, 2, i): i for i in range(5)}
    found = sorted((futures[f], f.result()) for f in as_completed(futures))
    bad = pool.submit(int, "x")
print(comm.rank, found, type(bad.exception()).__name__, comm.allreduce(len(found)))
# when: full
