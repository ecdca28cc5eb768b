"""What a worker does: take a task, execute it, send what came of it, until there is none."""

from __future__ import annotations

from typing import Any

from fakempi import MPI
from fakempi.mpi4py.futures.failures import Failure
from fakempi.mpi4py.futures.greeting import listen
from fakempi.mpi4py.futures.own import as_worker
from fakempi.mpi4py.futures.tasks import CAUGHT


def serve(comm: Any, workers: MPI.Intracomm) -> None:
    """Be a worker of the one on the other side of an intercommunicator, among these."""
    line = listen(comm)
    if line is None:
        return
    with as_worker(workers):
        while True:
            try:
                task = line.recv(None, 0)
            except CAUGHT as error:  # it cannot be unpickled
                _send(line, None, error)
                continue
            if task is None:
                break
            _execute(line, *task)
            del task
    line.Disconnect()


def _execute(line: Any, function: Any, args: Any, kwargs: Any) -> None:
    try:
        result = function(*args, **kwargs)
    except CAUGHT as error:
        _send(line, None, error)
    else:
        _send(line, result, None)


def _send(line: Any, result: Any, error: BaseException | None) -> None:
    """Send a result, or the exception in place of one; also if the result cannot be pickled."""
    if error is None:
        try:
            line.send((result, None), 0)
        except CAUGHT as failure:
            error = failure
    if error is not None:
        line.send((None, Failure(error, line)), 0)
