"""A communicator of a recorded run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Communicator:
    """The members of a communicator as ranks of the world, in the order of their ranks; `remote` has the other group."""

    members: npt.NDArray[np.int32]
    remote: npt.NDArray[np.int32]

    @property
    def peers(self) -> int:
        """The number of ranks that messages can be sent to."""
        return len(self.remote) or len(self.members)
