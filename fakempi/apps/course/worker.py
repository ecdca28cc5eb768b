"""The process that runs a student's program. The program has no access to its streams of requests and answers.

    python -m fakempi.apps.course.worker JOB

JOB is a `WorkerJob` as JSON. Standard input and output are redirected before any code of the student runs. The program's
output is discarded, except that of `print` during a request. Each answer repeats the request's number, which is random, so
that a program cannot prepare answers in advance. This process does not know the expected results. The last request of a
check asks whether the program has changed fakempi: after each run, this took a tenth of the time.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import IO, Any

from fakempi.apps.course import cpu_limit
from fakempi.apps.course.limits import READY
from fakempi.apps.course.running import answer
from fakempi.apps.course.sandbox import confine
from fakempi.apps.course.tamper_check import TamperCheck
from fakempi.apps.course.worker_job import WorkerJob

HELLO = Path(__file__).parent / "exercises" / "01_hello" / "solution.py"


def main() -> None:
    """Answer requests until there are no more."""
    job = WorkerJob.from_text(sys.argv[1])
    requests, answers = private_streams()
    load()
    serve(job, requests, answers, TamperCheck())


def load() -> None:
    """Run each kind of request once: modules that are imported late would take time in each check again."""
    request: dict[str, Any] = {"function": "hello", "ranks": 2, "arguments": None, "with_comm": True, "picture": 0}
    for more in ({"cost": "hockney", "schedules": 0, "picture": 60}, {"cost": None, "schedules": 2}):
        answer(HELLO, {**request, **more})
    answer(HELLO, {**request, "function": "absent", "cost": "hockney", "schedules": 0})


def serve(job: WorkerJob, requests: IO[str], answers: IO[str], tamper_check: TamperCheck) -> None:
    """Confine this process, and answer requests until there are no more; then end it."""
    os.chdir(job.file.parent)
    job.limits.impose()
    confine(job.file.parent, job.hidden)
    cpu_limit.impose(job.limits.seconds)
    answers.write(f"{READY}\n")
    answers.flush()
    for line in requests:
        request = json.loads(line)
        reply = {"changed": tamper_check.changed()} if request.get("last") else answer(job.file, request)
        answers.write(json.dumps({**reply, "number": request["number"]}) + "\n")
        answers.flush()
    os._exit(0)  # does not wait for threads that the program has started


def private_streams() -> tuple[IO[str], IO[str]]:
    """Return the streams of requests and answers, and redirect standard streams to the null device."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for usual in (0, 1, 2):
        os.dup2(nothing, usual)
    return requests, answers


if __name__ == "__main__":
    main()
