"""A program with a mistake, and the smallest number of ranks on which it fails."""

from __future__ import annotations

from dataclasses import dataclass

START = "import sys\nimport numpy as np\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\nrank, size = comm.rank, comm.size\n"


@dataclass(frozen=True)
class NumberedProgram:
    """A program in two versions.

    Attributes
    ----------
    smallest : the smallest number of ranks on which the wrong version fails
    wrong, right : the texts below START; `right` is the corrected version
    visible : whether the mistake is visible in the source, without knowing the numbers: a reader sees that some ranks may
        skip a collective call, that sends form a cycle, that a request or a buffer is misused
    in_some_schedules : whether the wrong version succeeds in some schedules, so that a single run may miss it
    """

    smallest: int
    wrong: str
    right: str
    visible: bool = False
    in_some_schedules: bool = False

    def source(self, right: bool = False) -> str:
        """Return the whole text of a version."""
        return START + (self.right if right else self.wrong).lstrip("\n")
