"""The loop of a worker: receive a task, execute it, send the result."""

from __future__ import annotations

from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.futures.rank_data import as_worker
from fakempi.isolation.mpi4py.futures.remote_errors import PicklableError
from fakempi.isolation.mpi4py.futures.startup import await_start
from fakempi.isolation.mpi4py.futures.tasks import TASK_ERRORS


def serve(comm: Any, workers: MPI.Intracomm) -> None:
    """Execute tasks of the master, the remote rank of an intercommunicator; `workers` contains all workers."""
    channel = await_start(comm)
    if channel is None:
        return
    with as_worker(workers):
        while True:
            try:
                task = channel.recv(None, 0)
            except TASK_ERRORS as error:  # unpickling failed
                _send(channel, None, error)
                continue
            if task is None:
                break
            _execute(channel, *task)
            del task
    channel.Disconnect()


def _execute(channel: Any, function: Any, args: Any, kwargs: Any) -> None:
    try:
        result = function(*args, **kwargs)
    except TASK_ERRORS as error:
        _send(channel, None, error)
    else:
        _send(channel, result, None)


def _send(channel: Any, result: Any, error: BaseException | None) -> None:
    """Send a result, or an exception if there is one or if the result cannot be pickled."""
    if error is None:
        try:
            channel.send((result, None), 0)
        except TASK_ERRORS as failure:
            error = failure
    if error is not None:
        channel.send((None, PicklableError(error, channel)), 0)
