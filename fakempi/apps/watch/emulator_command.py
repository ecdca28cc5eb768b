"""The command that runs a program of `mpiexec` on the emulator."""

from __future__ import annotations

import os
from collections.abc import Sequence

LAUNCHERS = ("mpiexec", "mpirun", "srun", "orterun", "prterun")
COUNTS = ("-n", "-np", "--n", "--np", "-c", "--ntasks")


def emulator_command(command: Sequence[str]) -> list[str]:
    """Return `fakempi check -n 4 work.py` for `mpiexec -n 4 python work.py`; empty if the command is not of this form.

    >>> emulator_command(["mpiexec", "-n", "4", "python", "-m", "pytest", "tests"])
    ['fakempi', 'run', '-n', '4', '-m', 'pytest', 'tests']
    """
    words = list(command)
    launcher = next((place for place, word in enumerate(words) if os.path.basename(word).split(".")[0] in LAUNCHERS), None)
    if launcher is None or ":" in words:
        return []
    words = words[launcher + 1 :]
    count = next((words[place + 1] for place, word in enumerate(words[:-1]) if word in COUNTS), "")
    start = next((place for place, word in enumerate(words) if os.path.basename(word).startswith("python")), None)
    if start is None or not count:
        return []
    rest = words[start + 1 :]
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        del rest[: 2 if rest[0] in ("-W", "-X") else 1]
    if rest[:2] == ["-m", "mpi4py"]:
        rest = rest[2:]
    if rest[:1] == ["-m"]:
        return ["fakempi", "run", "-n", count, *rest]
    return ["fakempi", "check", "-n", count, *rest] if rest and rest[0].endswith(".py") else []
