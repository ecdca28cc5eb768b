"""The content of a message that cannot be delivered, because a process has died or a communicator was revoked."""

from __future__ import annotations

from typing import NoReturn

from fakempi.errors import MPIError
from fakempi.mpi.base.mpi_errors import mpi_error


class FailedPayload:
    """Replaces the content of a message; reading it raises the error."""

    __slots__ = ("code", "sentence")

    nbytes = 0

    def __init__(self, code: int, sentence: str) -> None:
        self.code, self.sentence = code, sentence

    def mpi_error(self) -> MPIError:
        """Return the error to raise in the program."""
        return mpi_error(self.code, self.sentence)

    def tobytes(self) -> NoReturn:
        """Raise the error."""
        raise self.mpi_error()

    __iter__ = tobytes
