"""Exceptions on their way from a worker: with the traceback that they have there."""

from __future__ import annotations

import traceback
from typing import Any

from fakempi import MPI


class RemoteTraceback(Exception):
    """The cause of an exception that a worker has raised: where it was raised there."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class Failure:
    """An exception to be sent, which arrives as the exception itself."""

    def __init__(self, error: BaseException, comm: MPI.Comm) -> None:
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.text = f'\nOn worker {comm.Get_rank()} of {comm.Get_size()}:\n"""\n{lines}"""'
        self.error = error.with_traceback(None)
        error.__cause__ = error.__context__ = None
        try:
            MPI.pickle.loads(MPI.pickle.dumps(error))
        except Exception as why:
            self.error = RuntimeError(f"{type(error).__name__}: {error} (it cannot be pickled: {why})")

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.error, self.text)


def _arrived(error: BaseException, text: str) -> BaseException:
    error.__cause__ = RemoteTraceback(text)
    return error
