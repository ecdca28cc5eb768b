"""What becomes of an error in a function that a program handed to MPI."""

from __future__ import annotations

import traceback

from fakempi.error_classes import ERR_OTHER
from fakempi.errors import MPIError


def told(what: str, reason: Exception) -> tuple[int, str]:
    """The code and the sentence of the MPI call that has called the function; the traceback goes to stderr.

    A C library can pass on no more than an error code, so mpi4py prints what it has caught. Programs are used to that.
    """
    traceback.print_exception(reason)
    code = reason.Get_error_code() if isinstance(reason, MPIError) else ERR_OTHER
    return code, f"{what} failed with {type(reason).__name__}: {reason}"
