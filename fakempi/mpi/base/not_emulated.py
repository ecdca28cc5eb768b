"""What mpi4py has and fakempi has not: the names are there, and every call of them says that it is not emulated.

Tables of names by topic. Whoever emulates a call takes it out of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from fakempi.mpi.base.identity import Handled

FILES = "files that ranks share"


def _refusal(name: str, topic: str) -> Callable[..., NoReturn]:
    """A function that refuses."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name} is not emulated: fakempi has no {topic}.")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Not emulated: {topic}."
    return refuse


class Refusing:
    """Gives a class calls that refuse: `class File(Refusing, name="File", calls={topic: "Open Close ..."})`."""

    __slots__ = ()

    def __init_subclass__(cls, /, name: str = "", calls: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for topic, names in (calls or {}).items():
            for call in names.split():
                setattr(cls, call, staticmethod(_refusal(f"MPI.{name}.{call}", topic)))


# -- whole classes ------------------------------------------------------------------------------------------------


class Absent(Refusing, Handled):
    """A class of which there are only null handles, for programs that compare with them."""

    __slots__ = ("__weakref__",)
    __hash__ = None

    def __new__(cls, other: Any = None) -> Any:
        if other is not None and not (isinstance(other, Absent) and issubclass(cls, type(other))):
            raise TypeError(f"cannot make a {cls.__name__} of {other!r}")
        return super().__new__(cls)

    def __reduce__(self) -> Any:
        name = f"{type(self).__name__.upper()}_NULL"
        return name if self is globals().get(name) else (type(self), ())

    def _stands_for(self) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) or NotImplemented

    def free(self) -> None:
        """Nothing: there is nothing to free."""


_ERRHANDLERS = "Create_errhandler Get_errhandler Set_errhandler Call_errhandler"


class File(
    Absent,
    name="File",
    calls={
        FILES: "Open Close Delete Set_size Preallocate Get_size Get_amode Get_group Set_info Get_info Set_view Get_view "
        "Read_at Read_at_all Write_at Write_at_all Iread_at Iread_at_all Iwrite_at Iwrite_at_all Read Read_all Write "
        "Write_all Iread Iread_all Iwrite Iwrite_all Seek Get_position Get_byte_offset Read_shared Write_shared "
        "Iread_shared Iwrite_shared Read_ordered Write_ordered Seek_shared Get_position_shared Read_at_all_begin "
        "Read_at_all_end Write_at_all_begin Write_at_all_end Read_all_begin Read_all_end Write_all_begin Write_all_end "
        "Read_ordered_begin Read_ordered_end Write_ordered_begin Write_ordered_end Get_type_extent Set_atomicity "
        f"Get_atomicity Sync {_ERRHANDLERS}"
    },
):
    """A file that all ranks share: not emulated."""

    __slots__ = ()
    __module__ = "fakempi.MPI"


FILE_NULL = File()

# -- functions ----------------------------------------------------------------------------------------------------

Register_datarep = _refusal("MPI.Register_datarep", FILES)
