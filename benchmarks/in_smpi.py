"""Run C programs (smpi/programs.c) under SimGrid's SMPI, with linear costs equal to fakempi's default cost model.

On Debian and Ubuntu: apt-get install libsimgrid-dev. Version 3.32 was used.

Features of SMPI that are not needed are off: computing is not timed, globals are not privatized, and nothing is logged. Its
messages have 16 bytes more than their contents, so 8 bytes take t_s + 24 t_w.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "smpi" / "programs.c"
SECONDS = 300
"""Time limit of a run."""

PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="machine" prefix="rank" suffix="" radical="0-{last}"
           speed="1Gf" bw="1GBps" lat="0.5us" sharing_policy="SPLITDUPLEX"/>
</platform>
"""
"""One link out of each rank and one into it: a microsecond plus a nanosecond per byte, one way."""

OPTIONS = [
    "-no-privatize",
    "--log=root.thresh:critical",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/wtime:0",
    "--cfg=smpi/bw-factor:0:1",           # no correction factors of a real network
    "--cfg=smpi/lat-factor:0:1",
    "--cfg=network/model:CM02",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/crosstraffic:0",
    "--cfg=smpi/barrier:ompi_bruck",      # ten rounds for 1,024 ranks, as fakempi's default
    "--cfg=smpi/allreduce:rdb",
    "--cfg=smpi/allgather:rdb",
    "--cfg=contexts/stack-size:128",      # KiB
]  # fmt: skip


def installed() -> bool:
    """Whether smpicc and smpirun are installed."""
    return bool(shutil.which("smpicc") and shutil.which("smpirun"))


def version() -> str:
    """Version of SimGrid, such as 3.32."""
    done = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0].removeprefix("SimGrid version ")


def build(directory: Path) -> None:
    """Compile the programs into a directory."""
    subprocess.run(["smpicc", "-O2", "-Wall", SOURCE, "-o", directory / "programs"], capture_output=True, check=True)


def simulated(directory: Path, name: str, ranks: int, rounds: int) -> tuple[float, float]:
    """CPU seconds and simulated seconds of a program in the directory, for this number of rounds."""
    platform, hosts = directory / f"{ranks}.xml", directory / f"{ranks}.hosts"
    platform.write_text(PLATFORM.format(last=ranks - 1))
    hosts.write_text("".join(f"rank{rank}\n" for rank in range(ranks)))
    placement = ["-np", str(ranks), "-platform", platform, "-hostfile", hosts]
    command = ["smpirun", *placement, *OPTIONS, directory / "programs", str(rounds), name]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=directory, start_new_session=True) as process:
        try:
            output, errors = process.communicate(timeout=SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # smpirun is a script: its children would keep running
            raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output, errors)
    cpu, seconds = map(float, output.split())
    return cpu, seconds
