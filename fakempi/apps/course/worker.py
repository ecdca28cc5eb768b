"""The process that runs a student's program. The program has no access to its streams of requests and answers.

    python -m fakempi.apps.course.worker FILE SECONDS MEGABYTES

Standard input and output are redirected before any code of the student runs. The program's output is discarded, except that
of `print` during a request. Each answer repeats the request's number, which is random, so that a program cannot prepare
answers in advance. This process does not know the expected results.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import IO

from fakempi.apps.course import cpu_limit
from fakempi.apps.course.limits import READY, CheckLimits
from fakempi.apps.course.running import answer
from fakempi.apps.course.tamper_check import TamperCheck
from fakempi.core.world import run


def main() -> None:
    """Answer requests until there are no more."""
    file, seconds, megabytes = sys.argv[1:]
    requests, answers = _private_streams()
    run(lambda comm: comm.allgather(comm.rank), 2, check_buffers=True, timeout=60)  # load lazy modules first
    CheckLimits(float(seconds), int(megabytes)).impose()
    cpu_limit.impose(float(seconds))
    tamper_check = TamperCheck()
    answers.write(f"{READY}\n")
    answers.flush()
    for line in requests:
        request = json.loads(line)
        reply = answer(Path(file), request)
        changed = tamper_check.changed()
        if changed:
            sentence = f"the program changes {changed}, which is not part of the exercise."
            reply = {"wrong": {"kind": "changed", "sentence": sentence}}
        answers.write(json.dumps({**reply, "number": request["number"]}) + "\n")
        answers.flush()
    os._exit(0)  # does not wait for threads that the program has started


def _private_streams() -> tuple[IO[str], IO[str]]:
    """Return the streams of requests and answers, and redirect standard streams to the null device."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for usual in (0, 1, 2):
        os.dup2(nothing, usual)
    return requests, answers


if __name__ == "__main__":
    main()
