"""The local group of an intercommunicator."""

from __future__ import annotations

from collectives.tools.protocol import Comm, Intercomm


def check_local(inter: Intercomm, local: Comm) -> None:
    """Raise ValueError if `local` is not the local group of `inter`, as far as sizes and ranks show."""
    in_local, own = (local.Get_rank(), local.Get_size()), (inter.Get_rank(), inter.Get_size())
    if in_local != own:
        raise ValueError(
            f"local must be the local group of the intercommunicator, where this process is rank {own[0]} of {own[1]}, "
            f"but in local it is rank {in_local[0]} of {in_local[1]}"
        )
