"""dask-mpi: a scheduler on rank 0, a client on rank 1, workers on the others; they communicate by sockets."""

import logging

from dask_mpi import initialize
from distributed import Client

logging.disable(logging.CRITICAL)
initialize(nthreads=1, dashboard=False)

with Client() as client:
    client.wait_for_workers(2)
    print(client.gather(client.map(lambda x: x * x, range(5))))
