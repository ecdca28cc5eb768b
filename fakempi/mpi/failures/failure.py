"""What an operation ends with that cannot be done, because a process has died or a communicator was revoked."""

from __future__ import annotations

from typing import NoReturn

from fakempi.errors import MPIError
from fakempi.mpi.base.complain import complaint


class Failure:
    """Stands in a message for its content; whoever takes it out is told."""

    __slots__ = ("code", "sentence")

    nbytes = 0

    def __init__(self, code: int, sentence: str) -> None:
        self.code, self.sentence = code, sentence

    def complaint(self) -> MPIError:
        """The error to raise, where the program is."""
        return complaint(self.code, self.sentence)

    def tobytes(self) -> NoReturn:
        """There are none."""
        raise self.complaint()

    __iter__ = tobytes  # nor is there an object in it
