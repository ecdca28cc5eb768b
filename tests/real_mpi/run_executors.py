"""Print results of `explore`, `verify` and `sweep` as JSON: on an executor of mpi4py or Dask, or in this process."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any

import fakempi
from collectives import find, verify
from fakempi.compare import sweep
from tests.modelcheck.classics import order_of_waitany, wildcard_order

KILLED_AT = 5
"""The job of Dask at whose submission a worker is killed: one of the search, while others are waiting or running."""


@contextmanager
def dask(*, kill: bool = False) -> Any:
    """Yield the executor of a Dask cluster with two worker processes on this machine, of which one may be killed."""
    distributed: Any = import_module("distributed")
    local = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None)
    with local, distributed.Client(local) as client:
        executor = client.get_executor()
        if kill:
            submit, (victim, _) = executor.submit, sorted(client.run(os.getpid).values())

            numbers = count(1)

            def submit_and_kill(*arguments: Any, **options: Any) -> Any:
                if next(numbers) == KILLED_AT:
                    os.kill(victim, signal.SIGKILL)
                return submit(*arguments, **options)

            executor.submit = submit_and_kill
        yield executor


def pool() -> AbstractContextManager[Executor]:
    """Return the executor of mpi4py."""
    from mpi4py.futures import MPIPoolExecutor

    executor: AbstractContextManager[Executor] = MPIPoolExecutor()
    return executor


def results(executor: Executor | None) -> Any:
    """Return results of the three functions."""
    searches = [
        fakempi.explore(main, 3, None, repaired, executor=executor)
        for main in (wildcard_order, order_of_waitany)
        for repaired in (False, True)
    ]
    counterexamples = verify(find("barrier", "dissemination"), ranks=4, cases=20, executor=executor)
    table = sweep("bcast", [4, 6], [8], cost="hockney:eager_limit=0", measure=True, executor=executor)
    return [
        [[str(found), found.runs, found.ended_early] for found in searches],
        list(map(str, counterexamples)),
        list(table),
    ]


EXECUTORS: dict[str, Callable[[], AbstractContextManager[Executor | None]]]
EXECUTORS = {"dask": dask, "dask, one killed": partial(dask, kill=True), "mpi": pool, "none": nullcontext}

if __name__ == "__main__":
    with EXECUTORS[sys.argv[1]]() as one:
        json.dump(results(one), sys.stdout)
