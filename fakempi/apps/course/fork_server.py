"""A process that has loaded the emulator, and forks a worker for each check: a start takes milliseconds instead of a second.

    python -m fakempi.apps.course.fork_server DESCRIPTOR

It reads requests from a socket, as JSON. `start` arrives with two file descriptors, the worker's streams, and is answered
with the worker's process id; `wait` is answered with its exit status. It never runs code of a student itself.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys

from fakempi.apps.course.tamper_check import TamperCheck
from fakempi.apps.course.worker import load, serve
from fakempi.apps.course.worker_job import WorkerJob

MAX_REQUEST = 65536


def main() -> None:
    """Serve requests until the socket is closed."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    load()
    tamper_check = TamperCheck()
    gc.collect()
    gc.freeze()  # collections in the workers then leave the shared memory alone
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, MAX_REQUEST, 2)
        if not message:
            return
        request = json.loads(message)
        if "wait" in request:
            reply = _wait(int(request["wait"]))
        else:
            process = os.fork()
            if process == 0:
                connection.close()
                _work(WorkerJob.from_text(request["start"]), descriptors, tamper_check)
            for descriptor in descriptors:
                os.close(descriptor)
            reply = process
        connection.sendall(f"{reply}\n".encode())


def _work(job: WorkerJob, descriptors: list[int], tamper_check: TamperCheck) -> None:
    """Be a worker; does not return."""
    try:
        os.setsid()  # the grader kills the whole group
        requests, answers = (os.fdopen(one, mode, encoding="utf-8") for one, mode in zip(descriptors, "rw", strict=True))
        serve(job, requests, answers, tamper_check)
    finally:
        os._exit(1)


def _wait(process: int) -> int:
    """Return the exit status as `Popen.returncode` has it: negative for a signal."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except ChildProcessError:
        return 0


if __name__ == "__main__":
    main()
