"""Start a recording in the ranks of a real MPI, run the program, and end the recording."""

from __future__ import annotations

import atexit
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from secrets import token_hex
from time import gmtime, strftime

from fakempi.apps.launched import parse, run
from fakempi.apps.record.log import RankFile
from fakempi.apps.record.rank_of_mpi import RankOfMPI
from fakempi.apps.record.wrapping import wrap_all

HELP = "Record the MPI calls of a program on a real MPI, one file per rank, for `fakempi replay`."


def main(arguments: list[str]) -> int:
    """Run `[-o DIR] script.py [arguments]` or `[-o DIR] -m module [arguments]`, and record it."""
    parser = ArgumentParser("python -m fakempi.record", description=HELP)
    parser.add_argument(
        "-o", "--output", default="recording", metavar="DIR", help="directory of the files (default: recording)"
    )
    options, program = parse(parser, arguments, ("-o", "--output"))
    if sys.implementation.name != "cpython":
        parser.error("the recorder replaces methods of compiled types, which needs CPython.")
    recording = ProgramRecording(options.output)
    try:
        run(options.module, program)
    except SystemExit as exit:
        recording.how = "completed" if exit.code in (None, 0) else f"exit {exit.code}".replace("\n", " ")[:100]
        raise
    except BaseException as error:
        recording.how = type(error).__name__
        raise
    return 0


class ProgramRecording:
    """The recording of this rank; `how` is how the program ended."""

    def __init__(self, directory: str) -> None:
        self.how = "completed"
        self._recording = start_recording(directory)
        atexit.register(self._end)  # first, so that the program's own functions run before, which may communicate

    def _end(self) -> None:
        for name, count in self._recording.other_threads.items():
            self._recording.log.define(f"thread {count} {name}")
        self._recording.log.end(self.how)


def start_recording(directory: str) -> RankOfMPI:
    """Replace the methods of mpi4py, and open this rank's file; all ranks of COMM_WORLD call this."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    identity = world.bcast(token_hex(8), 0)
    if rank == 0:
        problem = _prepare(directory, ranks)
    failed = world.bcast(problem if rank == 0 else None, 0)
    if failed:
        raise SystemExit(f"python -m fakempi.record: {failed}" if rank == 0 else 1)
    os.makedirs(directory, exist_ok=True)  # on the disk of this node
    header = {
        "rank": rank, "ranks": ranks, "run": identity, "program": " ".join(sys.argv), "host": os.uname().nodename,
        "library": MPI.Get_library_version().splitlines()[0].strip("\0 ")[:100], "clock": "ns",
        "mpi4py": sys.modules["mpi4py"].__version__, "python": sys.version.split()[0],
        "started": strftime("%Y-%m-%dT%H:%M:%SZ", gmtime()),
    }  # fmt: skip
    log = RankFile(os.path.join(directory, f"rank-{rank}.txt"), header)
    recording = RankOfMPI(MPI, log, sys.modules["mpi4py"].rc.irecv_bufsz)
    world.Barrier()  # files begin at about the same time
    wrap_all(recording)
    os.register_at_fork(after_in_child=recording.log.forget)
    recording.log.last = recording.log.now()
    return recording


def _prepare(directory: str, ranks: int) -> str | None:
    """Create the directory, and remove the files of an earlier recording with more ranks; returns what is wrong."""
    try:
        os.makedirs(directory, exist_ok=True)
        for path in Path(directory).glob("rank-*.txt"):
            number = path.name[5:-4]
            if number.isdigit() and int(number) >= ranks:
                path.unlink()
    except OSError as error:
        return f"cannot write to {directory}: {error.strerror}"
    return None
