"""Memory that a program passes to a call, with the types of `mpi4py.typing`."""

from __future__ import annotations

import sys
from typing import Any, Dict, Protocol, Tuple, TypeAlias, Union  # noqa: UP035


class SupportsBuffer(Protocol):
    """An object that supports Python's buffer protocol.

    Before Python 3.12 no type describes such objects, so this Protocol has no members and every object matches it, as in
    mpi4py.
    """

    if sys.version_info >= (3, 12):

        def __buffer__(self, flags: int, /) -> memoryview:
            """Return the memory."""


class SupportsDLPack(Protocol):
    """An object that supports DLPack."""

    def __dlpack__(self, /, *, stream: int | Any | None = None) -> object:
        """Return the memory as a capsule."""

    def __dlpack_device__(self) -> Tuple[int, int]:  # noqa: UP006
        """Return the type and the number of the device that has the memory."""


class SupportsCAI(Protocol):
    """An object that supports the CUDA array interface."""

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:  # noqa: UP006
        """The description of the memory."""


Buffer: TypeAlias = Union[SupportsBuffer, SupportsDLPack, SupportsCAI]  # noqa: UP007
