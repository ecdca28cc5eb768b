"""The process that runs a student's program: requests come in and answers go out on streams that the program does not have.

    python -m fakempi.learn.worker FILE SECONDS MEGABYTES

Standard input and output are put aside before any line of the student's is run; what that prints goes nowhere, unless it is
printed by `print` while a request is answered. Each answer repeats the request's number, which was drawn by chance, so that
nothing written in advance is one. Nothing here knows what a right answer is.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from time import process_time
from typing import IO

from fakempi.learn.limits import READY, Limits
from fakempi.learn.running import answer
from fakempi.learn.seals import Seals
from fakempi.world import run


def main() -> None:
    """Answer requests until there are no more."""
    file, seconds, megabytes = sys.argv[1:]
    requests, answers = _aside()
    run(lambda comm: comm.allgather(comm.rank), 2, buffers=True, timeout=60)  # what is loaded late is loaded before limits
    Limits(float(seconds), int(megabytes)).impose()
    seals = Seals()
    answers.write(f"{READY} {process_time()}\n")
    answers.flush()
    for line in requests:
        request = json.loads(line)
        told = answer(Path(file), request)
        broken = seals.broken()
        if broken:
            told = {"wrong": {"kind": "changed", "sentence": f"the program changes {broken}, which is not its own."}}
        answers.write(json.dumps({**told, "number": request["number"]}) + "\n")
        answers.flush()
    os._exit(0)  # whatever threads the program has left behind


def _aside() -> tuple[IO[str], IO[str]]:
    """The streams to the one who judges, and nothing in their usual places."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for usual in (0, 1, 2):
        os.dup2(nothing, usual)
    return requests, answers


if __name__ == "__main__":
    main()
